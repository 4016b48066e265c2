"""From probabilities and costs to actions, and what miscalibration costs."""

"""From scores that are off to probabilities: calibrators, and what they are made of."""

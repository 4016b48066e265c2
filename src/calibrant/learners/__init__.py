"""Learn: classifiers that are calibrated by construction."""

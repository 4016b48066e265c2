"""What is measured on the rows at hand: the calibration error, and where it lies."""

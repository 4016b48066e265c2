"""What can be guaranteed about the true calibration error c(f), and how many labels that takes."""

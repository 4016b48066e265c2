"""Where predictions come from: a source has `start`, `zoom`, `total` and `release`."""

"""Where predictions come from: each source answers `tally` and `zoom`."""

"""Everything that can be said about predictions, put together."""

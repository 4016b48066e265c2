"""Files: read part by part, written whole or not at all."""

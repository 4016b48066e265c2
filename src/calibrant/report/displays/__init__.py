"""Displays: the pictures of an audit, one module each: its description, and who draws it."""

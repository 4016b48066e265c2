"""The version, in the one place that the build and the code read it from."""

__version__ = "0.1.0"

from reference.sqlite import file  # noqa: F401

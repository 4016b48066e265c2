"""Rows in an engine: dataframes through narwhals, databases through SQLAlchemy."""

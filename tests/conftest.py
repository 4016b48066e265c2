import pytest
from hypothesis import settings

# Fixed examples: a failure here is a failure everywhere.
settings.register_profile("fixed", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("fixed")


@pytest.fixture
def tiny_steps(monkeypatch):
    """Chunks of three rows, and every cell split again and again before a row is looked at."""
    from calibrant.sources import arrays, columns

    monkeypatch.setattr(columns, "CHUNK", 3)
    monkeypatch.setattr(arrays, "_FEW_ROWS", 0)
    monkeypatch.setattr(arrays, "_FINER_BITS", 6)

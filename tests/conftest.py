import pytest
from hypothesis import settings

from reference.engines import SERVED

# Fixed examples: a failure here is a failure everywhere.
settings.register_profile("fixed", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("fixed")


@pytest.fixture
def tiny_steps(monkeypatch):
    """Chunks of three rows, and every cell split again and again before a row is looked at."""
    from calibrant.data.memory import columns
    from calibrant.data.memory import source as arrays

    monkeypatch.setattr(columns, "CHUNK", 3)
    monkeypatch.setattr(arrays, "_FEW_ROWS", 0)
    monkeypatch.setattr(arrays, "_FINER_BITS", 6)


def pytest_collection_modifyitems(items):
    """Mark the tests of engines with a server, which run in a process of their own."""
    for item in items:
        values = getattr(item, "callspec", None) and item.callspec.params
        for engine, wrap in SERVED.items():
            asked = values and (values.get("engine") == engine or _among(wrap, values.values()))
            if asked or item.path.stem == f"test_{engine}":
                item.add_marker(pytest.mark.engines)
                item.add_marker(engine)


def _among(wanted, values):
    return any(value is wanted for value in values)

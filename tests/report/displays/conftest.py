import matplotlib as mpl
import pytest
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def _clean():
    """Draw without a screen; leave no figure and no setting behind."""
    pyplot.switch_backend("agg")
    before = dict(mpl.rcParams)
    yield
    pyplot.close("all")
    assert dict(mpl.rcParams) == before

"""The cost curve: what is drawn is what the audit says."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import calibrant as cb
from calibrant.simulate import overconfident

AUDIT = cb.audit(*overconfident().draw(2000, seed=1)[:2])


def test_what_is_drawn_is_what_the_frame_says():
    display = cb.CostDisplay.from_audit(AUDIT).plot(Figure(figsize=(6, 5)).subplots())
    lines = {line.get_label(): line for line in display.ax_.lines}
    assert lines["cost now"].get_ydata().tolist() == AUDIT.curves.cost.cost.tolist()
    for name in ("always", "never"):
        line, costs = lines[f"{name} act"], getattr(AUDIT.curves.cost, name)
        at = line.get_xdata()
        assert line.get_ydata() == pytest.approx(np.interp(at, AUDIT.curves.cost.p, costs))

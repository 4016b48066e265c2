"""The certificate and the test of an audit, or why there is none."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.simulate import overconfident


def test_the_test_is_run_or_its_absence_explained():
    y_true, y_prob, _ = overconfident().draw(3000, seed=1)
    found = cb.audit(y_true, y_prob)
    alone = cb.calibration_test(y_true, y_prob)
    assert found.test.p_value == pytest.approx(alone.p_value, rel=1e-9)
    assert found.certificate.upper == cb.certify(y_true, y_prob).upper
    assert found.provenance.seed is None  # nothing was drawn
    assert cb.audit(y_true[:500], y_prob[:500]).provenance.seed == 0
    rare = cb.simulate.rare(1e-4).draw(80_000, seed=1)
    few = cb.audit(rare.y_true, rare.y_prob)
    assert few.test.method == "exact"
    weighted = cb.audit(rare.y_true, rare.y_prob, sample_weight=np.full(80_000, 2))
    repeated = cb.audit(np.repeat(rare.y_true, 2), np.repeat(rare.y_prob, 2))
    for found in (weighted, repeated):
        assert found.test is None
        assert "No test: with so few rows or events" in found.warnings[-1]


def test_rows_that_a_calibrator_was_fitted_to_are_asked_about():
    y_true, y_prob, _ = overconfident().draw(300, seed=1)
    fitted = cb.IsotonicCalibrator().fit(y_prob, y_true)
    own = cb.audit(y_true, fitted.predict(y_prob))
    assert own.calibration_error < 1e-12
    assert (own.certificate, own.test) == (None, None)
    assert own.question in own.summary
    assert "were these the rows that a calibrator was fitted to?" in own.question
    for text in (repr(own), own.to_markdown(), own.to_html(), own.to_json()):
        assert "were these the rows that a calibrator was fitted to?" in text
        assert "confidence the true calibration error is at most" not in text
        assert "No sign of miscalibration" not in text
    assert own.advice.recommended is None
    assert own.advice.summary[0].startswith("Nothing to advise")
    assert "Leave the scores as they are" not in own.to_html()
    assert own.missing["certified_upper"] == own.missing["test_p_value"] == own.question
    bounded = cb.audit(y_true, fitted.predict(y_prob), method="isotonic")
    assert bounded.certificate.upper > 0.2
    assert bounded.question is None
    others = overconfident().draw(300, seed=2)
    fresh = cb.audit(others.y_true, fitted.predict(others.y_prob))
    assert fresh.question is None
    assert fresh.certificate is not None
    for kept in (np.float32(fitted.predict(y_prob)), fitted.predict(y_prob).round(9)):
        assert cb.audit(y_true, kept.astype(float)).question is not None
    tiny = cb.audit(np.zeros(1000), np.full(1000, 1e-9))
    assert tiny.question is None
    clustered = cb.audit(
        y_true, fitted.predict(y_prob), clusters=np.arange(300) // 2, estimand="cluster"
    )
    assert "isotonic" not in clustered.question
    few = cb.audit([0, 1] * 24, [0.5] * 48)
    assert few.question is None
    assert few.certificate is not None
    many = cb.audit([0, 1] * 25, [0.5] * 50)
    assert many.question is not None
    soft = cb.audit(np.full(100, 0.3), np.full(100, 0.3))
    assert soft.question is None

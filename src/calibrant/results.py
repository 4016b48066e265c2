"""What the functions of `calibrant` return: for annotations, and to look up what a field means.

Examples
--------
>>> import calibrant as cb
>>> from calibrant.results import Interval
>>> isinstance(cb.worst_interval([0, 1, 1], [0.2, 0.3, 0.9]), Interval)
True
"""

from calibrant.auditing.advice import Advice, Trial
from calibrant.auditing.comparison import Comparison, Difference, ModelFinding
from calibrant.auditing.curves import Curves, DifferenceCurve, Histogram, ReliabilityCurve
from calibrant.auditing.groups import GroupFinding
from calibrant.auditing.result import DataFacts, Provenance
from calibrant.auditing.verdict import Verdict
from calibrant.certificates.bands import Band
from calibrant.certificates.certificate import Certificate
from calibrant.certificates.complexity import Complexity
from calibrant.certificates.testing import CalibrationTest
from calibrant.certificates.training import TrainingCertificate
from calibrant.decisions.curve import CostCurve, NetBenefit
from calibrant.decisions.price import Price
from calibrant.decisions.ratio import LossRatio
from calibrant.decisions.regret import DecisionCost
from calibrant.measures.clinical import Estimate
from calibrant.measures.cumulative import CumulativeCurve
from calibrant.measures.decomposition import ScoreParts
from calibrant.measures.family import Measures
from calibrant.measures.interval import Interval

__all__ = [
    "Advice",
    "Band",
    "CalibrationTest",
    "Certificate",
    "Comparison",
    "Complexity",
    "CostCurve",
    "CumulativeCurve",
    "Curves",
    "DataFacts",
    "DecisionCost",
    "Difference",
    "DifferenceCurve",
    "Estimate",
    "GroupFinding",
    "Histogram",
    "Interval",
    "LossRatio",
    "Measures",
    "ModelFinding",
    "NetBenefit",
    "Price",
    "Provenance",
    "ReliabilityCurve",
    "ScoreParts",
    "TrainingCertificate",
    "Trial",
    "Verdict",
]

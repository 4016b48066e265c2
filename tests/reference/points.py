"""Laws on points, of many points and of few."""

from calibrant.experiments.points import PointLaw

N = 50
POINTS = 10 * N**2 + 1
LAW = PointLaw(POINTS, lambda x: 0.1 + 0.8 * x / (POINTS - 1))
ONE_ATOM = PointLaw(1, [0.4])
FEW_ATOMS = PointLaw(4, [0.2, 0.4, 0.6, 0.8], masses=[0.4, 0.3, 0.2, 0.1])
#: Deviations that a difference may have by chance.
SURE = 4.0

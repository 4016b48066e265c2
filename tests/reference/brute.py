"""Answers from the definitions, in exact fractions, by looking at every interval."""

from fractions import Fraction

TOLERANCE = Fraction(1, 10**12)


def walk(y_true, y_prob, weight=None):
    """Distinct scores in order, and the exact S - F before and after each."""
    weight = [1] * len(y_prob) if weight is None else weight
    steps = {}
    for y, f, w in zip(y_true, y_prob, weight, strict=True):
        if w > 0:
            step = Fraction(w) * (Fraction(y) - Fraction(f))
            steps[float(f) + 0.0] = steps.get(float(f) + 0.0, 0) + step
    scores = sorted(steps)
    levels = [Fraction(0)]
    for score in scores:
        levels.append(levels[-1] + steps[score])
    return scores, levels


def total(y_prob, weight=None):
    return sum(map(Fraction, [1] * len(y_prob) if weight is None else weight))


def error(y_true, y_prob, weight=None):
    """c_emp: the largest |observed - predicted| over all intervals, over the total weight."""
    _, levels = walk(y_true, y_prob, weight)
    pairs = ((i, j) for i in range(len(levels)) for j in range(i + 1, len(levels)))
    return max(abs(levels[j] - levels[i]) for i, j in pairs) / total(y_prob, weight)


def _first_worst(levels, start, stop, slack):
    """Among the intervals within `slack` of the worst: the lowest p1, then the lowest p2."""
    pairs = [(i, j) for i in range(start, stop + 1) for j in range(i + 1, stop + 1)]
    best = max(abs(levels[j] - levels[i]) for i, j in pairs)
    ends = min((i, j) for i, j in pairs if abs(levels[j] - levels[i]) >= best - slack)
    return best, ends


def worst_intervals(y_true, y_prob, weight=None, k=1, share=TOLERANCE):
    """Greedy, disjoint: a list of (p1, p2, excess), worst first."""
    scores, levels = walk(y_true, y_prob, weight)
    whole = total(y_prob, weight)
    stretches, found = [(0, len(scores))], []
    while stretches and len(found) < k:
        worst = [(*_first_worst(levels, *ends, share * whole), ends) for ends in stretches]
        top = max(value for value, _, _ in worst)
        value, (i, j), stretch = min(
            (entry for entry in worst if entry[0] >= top - share * whole),
            key=lambda entry: entry[2],
        )
        if found and value <= share * whole:
            break
        p1 = None if i == 0 else scores[i - 1]
        found.append((p1, scores[j - 1], (levels[j] - levels[i]) / whole))
        stretches.remove(stretch)
        stretches += [(a, b) for a, b in ((stretch[0], i), (j, stretch[1])) if a < b]
    return found


def unambiguous_intervals(*args, **kwargs):
    """The worst intervals, or None if they hang on whether 1e-12 is a tie or not."""
    low = worst_intervals(*args, **kwargs, share=TOLERANCE / 8)
    high = worst_intervals(*args, **kwargs, share=TOLERANCE * 8)
    return low if low == high else None

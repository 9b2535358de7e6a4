"""Golden values of `statistics`: scipy, scikit-learn and the krippendorff package, and the seeded bootstrap.

    pip install scipy==1.17.1 scikit-learn==1.9.1 krippendorff==0.9.0 numpy
    python statistics_values.py > statistics_values.json
"""

import json
import random

import krippendorff
import numpy as np
from scipy import stats
from sklearn.metrics import cohen_kappa_score

RESAMPLES = 2000
MASK = (1 << 64) - 1


class SplitMix:
    """Steele, Lea and Flood 2014."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, n):
        return (self.next() * n) >> 64


def bootstrap(rows, seed, statistic):
    source = SplitMix(seed)
    n = len(rows)
    drawn = sorted(statistic([rows[source.below(n)] for _ in range(n)]) for _ in range(RESAMPLES))
    # Python rounds halves to even; no place here is a half.
    at = lambda share: drawn[round(share * (RESAMPLES - 1))]
    return {"value": statistic(rows), "low": at(0.025), "high": at(0.975)}


def harmonic(rows):
    a = sum(row[0] for row in rows) / len(rows)
    b = sum(row[1] for row in rows) / len(rows)
    return 2 * a * b / (a + b) if a + b else 0.0


def number(value):
    return None if value is None or np.isnan(value) else float(value)


def main():
    draw = random.Random(7)
    correlations = []
    for n in (2, 3, 5, 8, 30):
        for levels in (2, 5, 1000):
            a = [float(draw.randrange(levels)) for _ in range(n)]
            b = [x + draw.randrange(levels) * 0.7 for x in a]
            if len(set(a)) == 1 or len(set(b)) == 1:
                continue
            correlations.append(
                {
                    "a": a,
                    "b": b,
                    "pearson": number(stats.pearsonr(a, b).statistic),
                    "spearman": number(stats.spearmanr(a, b).statistic),
                    "kendall": number(stats.kendalltau(a, b).statistic),
                }
            )
    kappas = []
    for n, levels in ((4, 2), (20, 2), (30, 3), (60, 5)):
        a = [draw.randrange(levels) for _ in range(n)]
        b = [x if draw.random() < 0.6 else draw.randrange(levels) for x in a]
        kappas.append(
            {
                "pairs": list(zip(a, b)),
                "none": number(cohen_kappa_score(a, b)),
                "linear": number(cohen_kappa_score(a, b, weights="linear", labels=list(range(levels)))),
                "quadratic": number(cohen_kappa_score(a, b, weights="quadratic", labels=list(range(levels)))),
            }
        )
    alphas = []
    for raters, units in ((2, 6), (3, 12), (4, 30), (5, 50)):
        truth = [draw.randrange(1, 6) for _ in range(units)]
        ratings = [
            [
                np.nan if draw.random() < 0.3 else float(t if draw.random() < 0.6 else draw.randrange(1, 6))
                for t in truth
            ]
            for _ in range(raters)
        ]
        case = {"units": [[r[u] for r in ratings if not np.isnan(r[u])] for u in range(units)]}
        for level in ("nominal", "ordinal", "interval"):
            case[level] = number(krippendorff.alpha(np.array(ratings), level_of_measurement=level))
        alphas.append(case)
    signs = [
        {"wins": w, "losses": l, "p": float(stats.binomtest(w, w + l, 0.5).pvalue) if w + l else 1.0}
        for w, l in ((0, 0), (1, 0), (5, 5), (7, 2), (2, 7), (30, 12), (70, 24), (600, 500), (1400, 1600))
    ]
    rows = [[round(draw.random(), 3), round(draw.random(), 3)] for _ in range(40)]
    firsts = [row[0] for row in rows]
    bootstraps = {
        "rows": rows,
        "seed": 11,
        "mean": bootstrap(firsts, 11, lambda v: sum(v) / len(v)),
        "harmonic": bootstrap(rows, 11, harmonic),
        "ratio": bootstrap(rows, 11, lambda v: sum(r[0] for r in v) / sum(r[1] for r in v)),
    }
    known = stats.bootstrap((firsts,), np.mean, method="percentile", n_resamples=20000, rng=1)
    bootstraps["scipy"] = [float(known.confidence_interval.low), float(known.confidence_interval.high)]
    print(
        json.dumps(
            {
                "correlations": correlations,
                "kappas": kappas,
                "alphas": alphas,
                "signs": signs,
                "bootstraps": bootstraps,
            }
        )
    )


main()

"""Fits when an evidence-first answer abstains: logistic regressions on abstention.tsv.

The table: questions asked of the starter papers (starter/papers.jsonl.gz), whether these can answer them, and what the
program measured (`Diagnosis`). 60 answerable and 45 unanswerable questions are ours; the others, nearly all about
papers that are not there, come from PubMedQA (MIT), BioASQ (CC BY 2.5) and ScholarQA-CS (ODC-BY), judged by hand.
A question about a neighbouring subject counts as unanswerable.

Run: python3 fit_abstention.py   (numpy, scikit-learn)
Prints the weights, rounded in abstain.rs, and cross-fitted rates: each half of the questions judged by the other's fit.
"""

from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

THRESHOLD = 0.4


def main() -> None:
    rows = [line.split("\t") for line in Path(__file__).with_name("abstention.tsv").read_text().splitlines()[1:]]
    y = np.array([int(row[0]) for row in rows])
    half = np.array([sum(map(ord, row[7])) % 2 for row in rows])
    for name, columns in [("with encoder", (2, 3, 4)), ("without encoder", (5, 6))]:
        x = np.array([[float(row[column]) for column in columns] for row in rows])
        fit = lambda of: LogisticRegression(C=30, class_weight="balanced").fit(x[of], y[of])
        p = np.zeros(len(y))
        for side in (0, 1):
            p[half != side] = fit(half == side).predict_proba(x[half != side])[:, 1]
        abstained = p < THRESHOLD
        whole = fit(np.full(len(y), True))
        print(f"{name}: intercept {whole.intercept_[0]:.1f}, weights {np.round(whole.coef_[0], 1)}")
        print(
            f"  cross-fitted, {len(y)} questions, {y.sum()} answerable: abstention precision "
            f"{(abstained & (y == 0)).sum() / abstained.sum():.3f}, recall {(abstained & (y == 0)).sum() / (y == 0).sum():.3f}, "
            f"answerable questions answered {(~abstained & (y == 1)).sum() / y.sum():.3f}"
        )


main()

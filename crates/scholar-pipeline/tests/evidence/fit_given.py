"""Fits when an answer from given passages is held back: logistic regressions on given.tsv.

The table: questions of PubMedQA (MIT), SciFact (CC BY), CACM and Scholar-Multi (ODC-BY), each asked of the passages that
people chose for it (own), of those of the question most like it (near) and of another's (far); what the program measured
(`Diagnosis`). Made by `openscholar bench abstention multi --passages 10` and `bench abstention pubmedqa scifact cacm --limit 100`,
sets without a sentence that can be shown left out.

Run: python3 fit_given.py   (numpy, scikit-learn)
Fitted on the first three; Scholar-Multi is held out. Prints the weights, rounded in abstain.rs, and shares answered.
"""

from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

THRESHOLD = 0.4
HELD_OUT = "Scholar-Multi"


def main() -> None:
    rows = [line.split("\t") for line in Path(__file__).with_name("given.tsv").read_text().splitlines()[1:]]
    sets = np.array([row[0] for row in rows])
    whose = np.array([row[1] for row in rows])
    for name, columns in [("with encoder", (2, 3, 4)), ("without encoder", (3, 4))]:
        x = np.array([[float(row[column]) for column in columns] for row in rows])
        fitted = sets != HELD_OUT
        fit = LogisticRegression(C=30, class_weight="balanced").fit(x[fitted], whose[fitted] == "own")
        print(f"{name}: intercept {fit.intercept_[0]:.1f}, weights {np.round(fit.coef_[0], 2)}")
        answered = fit.predict_proba(x)[:, 1] >= THRESHOLD
        for set_name in dict.fromkeys(sets):
            shares = [f"{kind} {answered[(sets == set_name) & (whose == kind)].mean():.2f}" for kind in ("own", "near", "far")]
            print(f"  {set_name}, answered: {', '.join(shares)}")


main()

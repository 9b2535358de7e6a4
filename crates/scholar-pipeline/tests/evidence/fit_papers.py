#!/usr/bin/env python3
"""Fits the weights of `PaperModel` (modes/evidence/papers.rs) on the development questions.

    openscholar bench answerable QUESTIONS.tsv --split dev --out DIR
    fit_papers.py DIR/answerable.json [--without-models]

Each row is a paper that was weighed for a question: right if it is among the papers that answer it and was not taken out. A
logistic regression with an L2 penalty, questions cross-fitted in five folds by name; it prints the weights and, at thresholds of
the best paper's probability, the shares of right decisions of the cross-fitted model. Needs numpy.
"""
import json, sys
import numpy as np
from logistic import auroc, cross_fitted, fit

NAMES = ["rank", "title_similarity", "title_lead", "sentence_similarity", "answers", "coverage", "missing"]
WITHOUT = {"title_similarity", "title_lead", "sentence_similarity", "answers"}

def features(signs, names):
    value = dict(signs, rank=1.0 / (1.0 + signs["rank"] / 6.0))
    return [1.0] + [value[name] for name in names]

def main():
    rows = json.load(open(sys.argv[1]))["rows"]
    names = [n for n in NAMES if "--without-models" not in sys.argv or n not in WITHOUT]
    asked, x, y = [], [], []
    for at, row in enumerate(rows):
        gold = set() if row["condition"] == "near" else set(row["gold"])
        for paper in row["diagnosis"]["papers"]:
            asked.append(at); x.append(features(paper["signs"], names)); y.append(float(paper["id"] in gold))
    asked, x, y = np.array(asked), np.array(x), np.array(y)
    ids = sorted({row["id"] for row in rows})
    fold = np.array([ids.index(rows[at]["id"]) % 5 for at in asked])
    p = cross_fitted(x, y, fold)
    w = fit(x, y)
    print("weights", dict(zip(["intercept"] + names, np.round(w, 2))))
    best = np.array([p[asked == at].max() if (asked == at).any() else 0.0 for at in range(len(rows))])
    kinds = np.array([row["condition"] for row in rows])
    print("threshold  answerable answered  near abstained  off abstained")
    for t in np.arange(0.1, 0.75, 0.05):
        a, n, o = (best[kinds == c] for c in ("answerable", "near", "off"))
        print(f"{t:.2f}  {np.mean(a >= t):.3f}  {np.mean(n < t):.3f}  {np.mean(o < t):.3f}")
    print("papers", len(y), "right", int(y.sum()), "AUROC cross-fitted", round(auroc(p, y == 1), 4))

main()

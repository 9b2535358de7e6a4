#!/usr/bin/env python3
"""Fits the weights of `PaperModel` (modes/evidence/papers.rs) on development questions.

    openscholar bench answerable answerable-questions.tsv --split dev --out A
    openscholar bench answerable answerable-development.tsv --split dev --out B
    fit_papers.py A/answerable.json B/answerable.json [--without-models]

Each row is a paper that was scored for a question: right if it is among the papers that answer it and was not taken out. A
logistic regression with an L2 penalty over standardised signs (mean 0, deviation 1), questions cross-fitted in five folds drawn
40 times; it prints the weights and, for the questions of each file at thresholds of the best paper's probability, the mean shares
of right decisions of the cross-fitted model. Needs numpy.
"""
import json, sys
import numpy as np
from logistic import auroc, cross_fitted, fit, standardised

FOLDS, DRAWS = 5, 40
# Of 1, 5, 10 and 20 the results of all but the first are the same.
PENALTY = 10.0

NAMES = ["rank", "title_lead", "abstract_similarity", "abstract_lead", "sentence_similarity", "answers", "coverage",
         "coverage_z", "missing"]
WITHOUT = {"title_lead", "abstract_similarity", "abstract_lead", "sentence_similarity", "answers"}

def features(signs, names):
    value = dict(signs, rank=1.0 / (1.0 + signs["rank"] / 6.0))
    return [1.0] + [value[name] for name in names]

def main():
    files = [name for name in sys.argv[1:] if not name.startswith("--")]
    read = [json.load(open(name))["rows"] for name in files]
    rows = [row for of_file in read for row in of_file]
    source = np.repeat(np.arange(len(read)), [len(of_file) for of_file in read])
    names = [n for n in NAMES if "--without-models" not in sys.argv or n not in WITHOUT]
    asked, x, y = [], [], []
    for at, row in enumerate(rows):
        gold = set() if row["condition"] == "near" else set(row["gold"])
        for paper in row["diagnosis"]["papers"]:
            # Without a sentence that may be shown its probability is 0, whatever the weights.
            if paper["probability"] == 0.0: continue
            asked.append(at); x.append(features(paper["signs"], names)); y.append(float(paper["id"] in gold))
    asked, x, y = np.array(asked), np.array(x), np.array(y)
    z, unscaled = standardised(x)
    weights = unscaled(fit(z, y, PENALTY))
    print("weights", dict(zip(["intercept"] + names, np.round(weights, 2).tolist())))
    keys = [(file, row["id"]) for file, row in zip(source, rows)]
    ids = sorted(set(keys))
    of = np.array([ids.index(key) for key in keys])[asked]
    kinds = np.array([row["condition"] for row in rows])
    thresholds = np.arange(0.3, 0.6, 0.02)
    best, papers = [], []
    for draw in range(DRAWS):
        fold = (np.random.default_rng(draw).permutation(len(ids)) % FOLDS)[of]
        p = cross_fitted(z, y, fold, PENALTY)
        best.append([p[asked == at].max() if (asked == at).any() else 0.0 for at in range(len(rows))])
        papers.append(auroc(p, y == 1))
    best = np.array(best)
    for file, name in enumerate(files):
        a, n, o = (best[:, (source == file) & (kinds == c)] for c in ("answerable", "near", "off"))
        print(name, a.shape[1], n.shape[1], o.shape[1])
        print("threshold  answerable answered  near abstained  off abstained")
        for t in thresholds: print(f"{t:.2f}  {np.mean(a >= t):.3f}  {np.mean(n < t):.3f}  {np.mean(o < t):.3f}")
        told = [np.mean(of_a[:, None] > of_n[None, :]) for of_a, of_n in zip(a, n)]
        print("best papers of answerable and near questions: AUROC", round(float(np.mean(told)), 3))
    print("papers", len(y), "right", int(y.sum()), "AUROC cross-fitted", round(float(np.mean(papers)), 4))

main()

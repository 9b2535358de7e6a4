#!/usr/bin/env python3
"""Fits the weights of `scholar_pipeline::tabulate::fitted`.

    openscholar bench tables --candidates candidates.jsonl ...
    python3 fit.py candidates.jsonl ../../src/tabulate/fitted/weights.json

Each line of the input is a candidate of a development article: paper, prop, features by name, and f1, the overlap of its
words with the prompt most like it. One logistic regression a property predicts f1; the candidates of a paper weigh one
together, and those with an overlap more than the rest, because only the best of a paper is shown. Prints the mean overlap
of the chosen candidates in ten-fold cross-validation over papers. Needs numpy.
"""

import json
import sys
import zlib
from collections import defaultdict

import numpy as np

FITTED = ("trial.intervention", "trial.comparator", "trial.outcome")
FOLDS = 10
# Chosen by cross-validation on the development half from 0.3, 1, 3 and 10.
RIDGE = 1.0
# Features seen in fewer candidates are left out.
FEWEST = 8


def read(path):
    papers = defaultdict(lambda: defaultdict(list))
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["prop"] in FITTED and row.get("f1") is not None:
                papers[row["prop"]][row["paper"]].append(row)
    return papers


def fit(x, y, weight, ridge):
    """Newton's method for logistic regression with soft labels; the last column is the bias, which is not shrunk."""
    beta = np.zeros(x.shape[1])
    penalty = np.full(x.shape[1], ridge)
    penalty[-1] = 1e-6
    for _ in range(30):
        p = 1 / (1 + np.exp(-(x @ beta)))
        gradient = x.T @ (weight * (p - y)) + penalty * beta
        curvature = (x * (weight * p * (1 - p))[:, None]).T @ x + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        beta -= step
        if np.abs(step).max() < 1e-6:
            break
    return beta


def matrix(rows, names):
    at = {name: n for n, name in enumerate(names)}
    x = np.zeros((len(rows), len(names) + 1))
    x[:, -1] = 1
    for n, row in enumerate(rows):
        for name, value in row["features"].items():
            if name in at:
                x[n, at[name]] = value
    return x


def training(papers, ids, names):
    rows = [row for paper in ids for row in papers[paper]]
    y = np.array([row["f1"] for row in rows])
    weight = np.array([1.0 / np.sqrt(len(papers[paper])) for paper in ids for _ in papers[paper]])
    return matrix(rows, names), y, weight


def main():
    source, target = sys.argv[1:3]
    ridge = float(sys.argv[3]) if len(sys.argv) > 3 else RIDGE
    weights = {}
    for prop, papers in sorted(read(source).items()):
        counts = defaultdict(int)
        for rows in papers.values():
            for row in rows:
                for name in row["features"]:
                    counts[name] += 1
        names = sorted(name for name, count in counts.items() if count >= FEWEST)
        ids = sorted(papers)
        fold = {paper: zlib.crc32(paper.encode()) % FOLDS for paper in ids}
        chosen, before, most, predicted = [], [], [], []
        for held in range(FOLDS):
            train = [paper for paper in ids if fold[paper] != held]
            beta = fit(*training(papers, train, names), ridge)
            for paper in (paper for paper in ids if fold[paper] == held):
                rows = papers[paper]
                scores = matrix(rows, names) @ beta
                chosen.append(rows[int(np.argmax(scores))]["f1"])
                predicted.append(1 / (1 + np.exp(-scores.max())))
                before.append(max(rows, key=lambda row: row["score"])["f1"])
                most.append(max(row["f1"] for row in rows))
        print(f"{prop}: n {len(ids)}, best rule {np.mean(before):.3f}, fitted {np.mean(chosen):.3f}, "
              f"best candidate {np.mean(most):.3f}, predicted {np.mean(predicted):.3f}")
        beta = fit(*training(papers, ids, names), ridge)
        own = {name: round(float(value), 3) for name, value in zip(names, beta) if abs(value) >= 0.0005}
        own["bias"] = round(float(beta[-1]), 3)
        weights[prop] = own
    with open(target, "w", encoding="utf-8") as file:
        json.dump(weights, file, indent=1, sort_keys=True, ensure_ascii=False)
        file.write("\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Fits the weights of `scholar_pipeline::tabulate::fitted`.

    openscholar bench tables --candidates candidates.jsonl ...
    python3 fit.py candidates.jsonl ../../src/tabulate/fitted/weights.json

Each line of the input is a candidate of a development article: paper, prop, features by name, and f1, the overlap of its
words with the prompt most like it. One linear model a property ranks the candidates of a paper: the softmax of its scores is
drawn to the softmax of f1 over the paper's candidates (cross-entropy, L2 penalty). A logistic regression then turns the score
of the best candidate into the overlap to expect of it, from scores that the models of ten-fold cross-validation over papers
gave to papers they had not seen. Prints the mean overlap of the chosen candidates in that cross-validation. Needs numpy.
"""

import json
import sys
import zlib
from collections import defaultdict

import numpy as np

FITTED = ("trial.intervention", "trial.comparator", "trial.outcome")
FOLDS = 10
# Chosen by cross-validation on the development half, from temperatures 0.15 and 0.3 and penalties 1, 3 and 10.
TEMPERATURE = 0.3
RIDGE = 3.0
STEPS = 250
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


def matrix(rows, names):
    at = {name: n for n, name in enumerate(names)}
    x = np.zeros((len(rows), len(names)))
    for n, row in enumerate(rows):
        for name, value in row["features"].items():
            if name in at:
                x[n, at[name]] = value
    return x


def rank(x, f1, paper):
    """Adam on the listwise loss; `paper` numbers the papers from 0."""
    n = paper.max() + 1
    target = np.exp(f1 / TEMPERATURE)
    target /= np.bincount(paper, target, n)[paper]
    beta, first, second = (np.zeros(x.shape[1]) for _ in range(3))
    for step in range(1, STEPS + 1):
        score = x @ beta
        most = np.full(n, -np.inf)
        np.maximum.at(most, paper, score)
        e = np.exp(score - most[paper])
        p = e / np.bincount(paper, e, n)[paper]
        gradient = x.T @ (p - target) + RIDGE * beta
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        beta -= 0.05 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return beta


def calibrate(score, f1):
    """Slope and bias by which the logistic function of a score predicts f1."""
    x = np.stack([score, np.ones_like(score)], axis=1)
    beta = np.zeros(2)
    for _ in range(50):
        p = 1 / (1 + np.exp(-(x @ beta)))
        curvature = (x * (p * (1 - p))[:, None]).T @ x + 1e-6 * np.eye(2)
        beta -= np.linalg.solve(curvature, x.T @ (p - f1))
    return beta


def fit(x, f1, ids):
    return rank(
        np.concatenate([x[paper] for paper in ids]),
        np.concatenate([f1[paper] for paper in ids]),
        np.concatenate([np.full(len(f1[paper]), n) for n, paper in enumerate(ids)]),
    )


def main():
    source, target = sys.argv[1:3]
    weights = {}
    for prop, papers in sorted(read(source).items()):
        counts = defaultdict(int)
        for rows in papers.values():
            for row in rows:
                for name in row["features"]:
                    counts[name] += 1
        names = sorted(name for name, count in counts.items() if count >= FEWEST)
        ids = sorted(papers)
        x = {paper: matrix(papers[paper], names) for paper in ids}
        f1 = {paper: np.array([row["f1"] for row in papers[paper]]) for paper in ids}
        fold = {paper: zlib.crc32(paper.encode()) % FOLDS for paper in ids}
        best, chosen, most = [], [], []
        for held in range(FOLDS):
            beta = fit(x, f1, [paper for paper in ids if fold[paper] != held])
            for paper in (paper for paper in ids if fold[paper] == held):
                scores = x[paper] @ beta
                best.append(scores.max())
                chosen.append(f1[paper][int(np.argmax(scores))])
                most.append(f1[paper].max())
        slope, bias = calibrate(np.array(best), np.array(chosen))
        print(f"{prop}: n {len(ids)}, chosen {np.mean(chosen):.3f}, best candidate {np.mean(most):.3f}, "
              f"slope {slope:.2f}, bias {bias:.2f}")
        slope = max(slope, 0.05)
        beta = fit(x, f1, ids) * slope
        own = {name: round(float(value), 4) for name, value in zip(names, beta) if abs(value) >= 0.00005}
        own["bias"] = round(float(bias), 4)
        weights[prop] = own
    with open(target, "w", encoding="utf-8") as file:
        json.dump(weights, file, indent=1, sort_keys=True, ensure_ascii=False)
        file.write("\n")


if __name__ == "__main__":
    main()

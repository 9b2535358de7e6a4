#!/usr/bin/env python3
"""Fits `CriterionModel::FITTED` and `Thresholds::FITTED` (src/screen/model.rs) on the development half of the labelled pairs.

    openscholar bench screening DIR --labels crates/scholar-bench/data/screening --pairs-only --out OUT
    fit_criteria.py OUT/screening.json [PENALTY]

A logistic regression with an L2 penalty (default 0.3) of met against not met; pairs labelled unclear take no part in the fit. The
topics are cross-fitted, one left out at a time, and the thresholds are read off the cross-fitted probabilities. Needs numpy.
"""
import json, os, sys
import numpy as np
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "evidence"))
from logistic import auroc, cross_fitted, fit

NAMES = ["sentence_similarity", "support", "only_design", "partly_design"]

def features(signs):
    odds = np.clip(signs["support"], 1e-4, 1 - 1e-4)
    design = signs["design"]
    only, partly = (design, 0.0) if signs["only_design"] else (0.0, design)
    return [1.0, signs["sentence_similarity"], np.log(odds / (1 - odds)), only, partly]

def main():
    penalty = float(sys.argv[2]) if len(sys.argv) > 2 else 0.3
    rows = [r for r in json.load(open(sys.argv[1]))["pairs"] if r["half"] == "dev" and r["decided"].get("signs")]
    x = np.array([features(r["decided"]["signs"]) for r in rows])
    label = np.array([r["pair"]["label"] for r in rows])
    kind = np.array([r["pair"]["kind"] for r in rows])
    topics = sorted({r["pair"]["topic"] for r in rows})
    fold = np.array([topics.index(r["pair"]["topic"]) for r in rows])
    told = label != "unclear"
    y = (label == "met").astype(float)
    fitted = lambda: fit(x[told], y[told], penalty)
    p = np.zeros(len(y))
    for k in range(len(topics)):
        w = fit(x[told & (fold != k)], y[told & (fold != k)], penalty)
        p[fold == k] = 1 / (1 + np.exp(-x[fold == k] @ w))
    print("weights", dict(zip(["intercept"] + NAMES, np.round(fitted(), 2).tolist())))
    print("pairs", len(y), "told", int(told.sum()), "AUROC cross-fitted", round(auroc(p[told], y[told] == 1), 3))
    for n, name in enumerate(NAMES):
        print("  alone", name, round(auroc(x[told][:, n + 1] + 1e-9 * np.arange(told.sum()), y[told] == 1), 3))
    scarce = np.array([r["decided"]["signs"]["coverage"] <= 0.2 for r in rows])
    print("threshold  from it on: right of n    up to it: right of n (contrary design)  right of n (none, few words)   exclude criteria: right of n (none)")
    contrary = x[:, 3] + x[:, 4] < 0
    for t in np.arange(0.05, 1.0, 0.05):
        up, c = p >= t, (p <= t) & contrary
        n, e = (p <= t) & ~contrary & scarce & (kind == "include"), (p <= t) & ~contrary & (kind == "exclude")
        cell = lambda m, l: f"{int((label[m] == l).sum())} of {int(m.sum())}"
        print(f"{t:.2f}  {cell(up, 'met')}   {cell(c, 'not_met')}   {cell(n, 'not_met')}   {cell(e, 'not_met')}")

main()

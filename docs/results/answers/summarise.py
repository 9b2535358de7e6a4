#!/usr/bin/env python3
"""Computes the tables of docs/results/answers.md from the ratings in this folder: python3 summarise.py

Intervals are bootstrap 95 % over questions, 5,000 resamples, seed 1. Needs numpy.
"""
import json
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
COUNTS = ["on_target", "background", "off_topic", "unclear", "wrong_heading", "free_text_wrong"]


def rows(name):
    return [json.loads(line) for line in (HERE / name).read_text().splitlines() if line.strip()]


def interval(values):
    random = np.random.default_rng(1)
    values = np.array(values, float)
    means = [random.choice(values, len(values)).mean() for _ in range(5000)]
    low, high = np.percentile(means, [2.5, 97.5])
    return f"{values.mean():.2f} ({low:.2f} to {high:.2f})"


def evidence(name, key, order):
    sides = {}
    for row in rows(name):
        which = key[f"{order}/{row['id']}"]
        sides[row["id"]] = {which[side]: row[side] for side in "AB"} | {"prefer": which.get(row["prefer"], "tie")}
    print(name)
    for group in ["n", "c", "f", "g", "p", "q", "r", "s", "v", "w", "x", "y", "u", "z", "h", "i", "j", "k", "l", "m", ""]:
        ids = [one for one in sides if one.startswith(group)]
        if not ids:
            continue
        before, after = ([sides[one][side]["usefulness"] for one in ids] for side in ["before", "after"])
        prefers = [sides[one]["prefer"] for one in ids]
        print(f"  {group or 'all'}: n {len(ids)}, before {interval(before)}, after {interval(after)}, "
              f"paired {interval(np.array(after) - np.array(before))}, prefer before {prefers.count('before')}, "
              f"after {prefers.count('after')}, tie {prefers.count('tie')}")
        for side in ["before", "after"]:
            total = {count: sum(sides[one][side][count] for one in ids) for count in COUNTS}
            quoted = sum(total[count] for count in COUNTS[:4])
            print(f"    {side}: of {quoted} quoted sentences {total}")


def plans(judge, key):
    rated = {"draft": [], "quotes": []}
    preferred = []
    for row in rows(f"plans-judge{judge}.jsonl"):
        which = key[f"order{judge}/{row['id']}"]
        for side in "AB":
            rated[which[side]].append(row[side])
        preferred.append(which.get(row["prefer"], "tie"))
    for plan, of in rated.items():
        means = {what: round(float(np.mean([one[what] for one in of])), 2) for what in of[0]}
        print(f"plans, judge {judge}: {plan} preferred {preferred.count(plan)} of {len(of)}, {means}")


def broad(name, judge, key, weights):
    """Rubric coverage and usefulness of broad questions; those of Scholar-CS, which begin with c, apart."""
    groups = {}
    for row in rows(f"{name}-judge{judge}.jsonl"):
        which = key[f"order{judge}/{row['id']}"]
        of = {which[side]: row[side] for side in "AB"} | {"prefer": which.get(row["prefer"], "tie")}
        groups.setdefault("Scholar-CS" if row["id"].startswith("c") else "new", []).append(of)
    for group, of in groups.items():
        def coverage(row):
            graded = row["grades"]
            return sum(weights[one] * grade for one, grade in graded.items()) / sum(weights[one] for one in graded)
        prefers = [row["prefer"] for row in of]
        print(f"{name}, judge {judge}, {group}, {len(of)}: preferred before {prefers.count('before')}, "
              f"after {prefers.count('after')}, tie {prefers.count('tie')}")
        for what, value in [("rubric coverage", coverage), ("usefulness", lambda row: row["usefulness"])]:
            before, after = ([value(row[side]) for row in of] for side in ["before", "after"])
            paired = [new - old for old, new in zip(before, after)]
            print(f"    {what}: before {interval(before)}, after {interval(after)}, paired {interval(paired)}")
        for side in ["before", "after"]:
            total = {count: sum(row[side][count] for row in of) for count in COUNTS[:5]}
            print(f"    {side}: of {sum(total[one] for one in COUNTS[:4])} quoted sentences {total}")


def criteria():
    """Weights of all criteria: those of the questions here, and Scholar-CS's, with c in front."""
    split = [line.split("\t") for line in (HERE / "broad-rubrics.tsv").read_text().splitlines() if line[0] != "#"]
    public = [line.split("\t") for line in (HERE / "scholar-cs-grades.tsv").read_text().splitlines() if line[0] != "#"]
    return {row[0]: float(row[1]) for row in split} | {f"c{row[0]}": float(row[1]) for row in public}


def main():
    key = json.loads((HERE / "key.json").read_text())
    for prefix, run in [("first-draft-", "first-draft"), ("", "final"), ("second-", "second"), ("fresh-", "fresh"), ("fresh-2-", "fresh-2"),
                        ("fresh-3-", "fresh-3"), ("fresh-4-", "fresh-4"), ("fresh-5-", "fresh-5"), ("fresh-6-", "fresh-6"), ("fresh-7-", "fresh-7"),
                        ("fresh-8-", "fresh-8"), ("fresh-9-", "fresh-9")]:
        for judge in "12":
            evidence(f"{prefix}judge{judge}.jsonl", key[run], f"order{judge}")
    for judge in "12":
        plans(judge, key["plans"])
    weights = criteria()
    for name, judge in [(f"broad-{nth}", judge) for nth in range(1, 6) for judge in "12"]:
        broad(name, judge, key[name], weights)
    for version, reader in [(version, reader) for version in ["reports", "reports-2"] for reader in "12"]:
        rated = rows(f"{version}-reader{reader}.jsonl")
        means = {what: interval([row[what] for row in rated]) for what in ["organisation", "trust", "coverage"]}
        uncited = [sum(row[what] for row in rated) for what in ["uncited_needing_citation", "uncited_total"]]
        print(f"{version}, reader {reader}: {means}, uncited in need of a citation {uncited[0]} of {uncited[1]}")
    for version in ["reports", "reports-2"]:
        support = [row["support"] for row in rows(f"{version}-support.jsonl")]
        print(f"{version}, support:", {verdict: support.count(verdict) for verdict in sorted(set(support))})


main()

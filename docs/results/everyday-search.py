#!/usr/bin/env python3
"""Makes a collection in BEIR layout of the questions in everyday-search.tsv over titles and abstracts of the starter papers.

    everyday-search.py FOLDER
    openscholar bench retrieval FOLDER
    openscholar bench answerable FOLDER/answerable.tsv --split dev

A question's only right document is the paper that it was written after.
"""
import gzip, json, sys
from pathlib import Path

WORDS = 400

def main():
    here, folder = Path(__file__).resolve().parent, Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    starter = here.parent.parent / "starter" / "papers.jsonl.gz"
    with gzip.open(starter, "rt", encoding="utf-8") as papers, (folder / "corpus.jsonl").open("w", encoding="utf-8") as corpus:
        for line in papers:
            paper = json.loads(line)
            sections = paper["sections"]
            abstract = 1 if sections and sections[0].get("heading") == "Abstract" else 2
            text = " ".join(section["text"] for section in sections[:abstract]).split()[:WORDS]
            row = {"_id": paper["meta"]["id"], "title": paper["meta"]["title"], "text": " ".join(text)}
            corpus.write(json.dumps(row) + "\n")
    questions = [line.rstrip("\n").split("\t") for line in (here / "everyday-search.tsv").open(encoding="utf-8")][1:]
    with (folder / "queries.jsonl").open("w", encoding="utf-8") as queries, (folder / "qrels.tsv").open("w") as qrels:
        qrels.write("query-id\tcorpus-id\tscore\n")
        for name, _, question, paper, _ in questions:
            queries.write(json.dumps({"_id": name, "text": question}) + "\n")
            qrels.write(f"{name}\t{paper}\t1\n")
    with (folder / "answerable.tsv").open("w", encoding="utf-8") as table:
        table.write("id\tsplit\tset\tfield\tkind\tquestion\tgold\n")
        for name, split, question, paper, _ in questions:
            field = "nlp" if paper.startswith("acl:") else "other"
            table.write(f"{name}\t{split}\tanswerable\t{field}\t-\t{question}\t{paper}\n")

main()

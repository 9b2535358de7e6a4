#!/usr/bin/env python3
"""Makes papers.jsonl.gz and counts.json, the starter papers, from three public collections.

usage: starter/make.py DATA_DIR

DATA_DIR holds `papers/acl_anthology.jsonl.gz` (ACL Anthology metadata), `papers/arxiv_sample.jsonl.gz` (arXiv
metadata) and `fulltext/pmc_rct_ccby.jsonl.gz` (randomised trials of the PubMed Central open-access subset), one JSON
object a line. Python's standard library and cargo are enough. Licences and sources are in NOTICE beside this file.

The output is one paper a line in this project's own format (docs/data-formats.md), sorted by identifier, and depends
on nothing but the input: within a topic, candidates are taken in the order of a hash of their identifier, so that
years and venues mix without anyone choosing.

Text is cleaned, never rewritten: single spaces, NFC, soft hyphens and markers of direction removed; words that have
lost the space between them are divided, by the same rules as on ingestion (scholar-core, `text::lost_spaces`);
abstracts with formulas are left out rather than repaired; in PMC texts, glued headings get their colon and space back, and
paragraphs in which table cells or list items have run together are dropped.
"""
import collections
import gzip
import hashlib
import io
import json
import pathlib
import re
import subprocess
import sys

from clean import abstract_of_trial, has_markup, plain_math, section_text, sentence_spaces, tidy_heading, typography
from topics import ACL_TOPICS, ACL_VENUES, ACL_TOTAL, ARXIV_QUOTAS, PMC_TOPICS

HERE = pathlib.Path(__file__).parent
# CC BY or CC0, stated by its address: rows that only say "CC BY" or whose address says something else are left out.
OPEN = re.compile(r"^https?://(www\.)?creativecommons\.org/(licenses/by/\d(\.\d)?(/(legalcode|deed\.\w+)?)?|publicdomain/zero/1\.0/?)$")
# What the repair of lost spaces could not decide, as in `models.OpenOmni`.
RUN_TOGETHER = re.compile(r"(?<!www)[a-z]{3}[.:;?!][A-Z]\w+ ")
DROPPED_SECTION = re.compile(
    r"competing interest|conflicts? of interest|author.{0,3} ?(contribution|information)|^contributors|abbreviation"
    r"|acknowledge?ment|pre-?publication|supplement|supporting information|additional (file|information)|funding|financial"
    r"|disclosure|ethic|consent|trial (status|registration)|erratum|appendix|endnote|availability|key (messages|points)"
    r"|^references$|data sharing|declaration|footnote|research in context|highlights|peer review|sponsor",
    re.IGNORECASE,
)


def rows(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def shuffled(papers):
    """The papers in an order that depends on their identifiers alone."""
    return sorted(papers, key=lambda paper: hashlib.sha256(paper["meta"]["id"].encode()).digest())


def doi_id(text):
    """`doi:…` as the reader in scholar-core accepts it, or None."""
    doi = re.sub(r"^(https?://(dx\.)?doi\.org/|doi:)", "", (text or "").strip().lower())
    if doi.startswith("10.") and "/" in doi and not re.search(r"\s", doi):
        return f"doi:{doi}"
    return None


def reads_well(text, fewest, most):
    """One or more whole sentences of prose of a sane length."""
    words = text.split()
    return (
        fewest <= len(words) <= most
        and text[0].isupper()
        and text[-1] in ".!?)”\""
        and not has_markup(text)
        and not RUN_TOGETHER.search(text)
        and max(map(len, words)) <= 60
        and sum(c.isascii() for c in text) / len(text) > 0.97
    )


def paper(meta, sections, references=()):
    """One line of the output; fields in the order of the Rust types, empty ones left out."""
    meta = {key: value for key, value in meta.items() if value not in (None, "", [])}
    out = {"meta": meta, "sections": [{"heading": h, "text": t} for h, t in sections]}
    if references:
        out["references"] = list(references)
    return out


def fits_topic(title, pattern):
    return re.search(pattern, title, re.IGNORECASE) is not None


def take_by_topic(papers, topics, seen_titles, first=frozenset()):
    """At most the quota of every topic, those in `first` before others; the first topic a title matches is its topic."""
    taken = collections.defaultdict(list)
    rest = []
    for one in sorted(shuffled(papers), key=lambda one: one["meta"]["id"] not in first):
        title = one["meta"]["title"]
        key = re.sub(r"\W+", "", title.lower())
        if key in seen_titles:
            continue
        topic = next((name for name, pattern, _ in topics if fits_topic(title, pattern)), None)
        if topic is None:
            rest.append((key, one))
        elif len(taken[topic]) < next(quota for name, _, quota in topics if name == topic):
            taken[topic].append(one)
            seen_titles.add(key)
    return taken, rest


def acl(data, seen_titles):
    papers = []
    for row in rows(data / "papers/acl_anthology.jsonl.gz"):
        if row["year"] < 2019 or not ACL_VENUES.intersection(row["venues"]) or row.get("language") not in (None, "eng"):
            continue
        # LREC proceedings (also the joint one) are CC BY-NC, whatever else they are filed under.
        if "lrec" in row["venues"]:
            continue
        title, text = typography(row["title"]), sentence_spaces(typography(row.get("abstract") or ""))
        if not row.get("authors") or has_markup(title) or not reads_well(text or "-", 70, 256):
            continue
        doi = doi_id(row.get("doi"))
        meta = {
            "id": f"acl:{row['id']}",
            "external_ids": [doi] if doi else [],
            "title": title,
            "authors": [typography(name).rstrip(", ") for name in row["authors"]],
            "year": row["year"],
            "venue": typography(row["booktitle"]),
            "url": f"https://aclanthology.org/{row['id']}/",
            "licence": "CC BY 4.0",
        }
        papers.append(paper(meta, [("Abstract", text)]))
    taken, rest = take_by_topic(papers, ACL_TOPICS, seen_titles)
    chosen = [one for topic in taken.values() for one in topic]
    for key, one in rest:
        if len(chosen) >= ACL_TOTAL:
            break
        if key not in seen_titles:
            seen_titles.add(key)
            chosen.append(one)
    return chosen, {name: len(taken[name]) for name, _, _ in ACL_TOPICS}


def arxiv(data, seen_titles):
    papers = []
    for row in rows(data / "papers/arxiv_sample.jsonl.gz"):
        if row["year"] < 2016:
            continue
        title, text = plain_math(typography(row["title"])), sentence_spaces(plain_math(typography(row["abstract"])))
        if has_markup(title) or not reads_well(text or "-", 70, 256) or re.search(r"withdrawn", text + (row.get("comments") or ""), re.IGNORECASE):
            continue
        doi = doi_id(row.get("doi"))
        authors = [name.strip() for name in re.split(r",| and ", typography(row["authors"])) if name.strip()]
        if not authors or "\\" in row["authors"] or "(" in row["authors"]:
            continue
        meta = {
            "id": f"arxiv:{row['id']}",
            "external_ids": [doi] if doi else [],
            "title": title,
            "authors": authors,
            "year": row["year"],
            "published": row["created"],
            "venue": f"arXiv {row['primary']}",
            "url": f"https://arxiv.org/abs/{row['id']}",
            "licence": "CC0 1.0",
        }
        papers.append((row["primary"], paper(meta, [("Abstract", text)])))
    chosen, counts = [], collections.Counter()
    by_id = {one["meta"]["id"]: category for category, one in papers}
    for one in shuffled(one for _, one in papers):
        category = by_id[one["meta"]["id"]]
        area = next((area for area in ARXIV_QUOTAS if category == area or category.startswith(area + ".")), None)
        key = re.sub(r"\W+", "", one["meta"]["title"].lower())
        if area is None or counts[area] >= ARXIV_QUOTAS[area] or key in seen_titles:
            continue
        counts[area] += 1
        seen_titles.add(key)
        chosen.append(one)
    return chosen, dict(sorted(counts.items()))


def cited(reference):
    doi = doi_id(reference.get("doi"))
    if doi:
        return doi
    pmid = str(reference.get("pmid") or "")
    return f"pmid:{int(pmid)}" if pmid.isascii() and pmid.isdigit() else None


def trial(row):
    """A PMC full text as a paper, or None if it is not open, not a report of results, or its text came out damaged."""
    licence = row.get("license_url") or ""
    title = typography(row["title"])
    if not OPEN.match(licence) or row["year"] < 2005 or not row.get("authors") or has_markup(title):
        return None
    if re.search(r"protocol|rationale and design|design of|erratum|corrigendum|correction|feasibility|pilot", title, re.IGNORECASE):
        return None
    doi = doi_id(row.get("doi"))
    abstract = abstract_of_trial(row.get("abstract") or "")
    if doi is None or not abstract or not reads_well(abstract, 120, 450):
        return None
    sections, dropped, kept = [("Abstract", abstract)], 0, 0
    for section in row.get("sections") or []:
        heading = tidy_heading(section.get("title") or "")
        if DROPPED_SECTION.search(heading):
            continue
        text, bad = section_text(section["text"])
        dropped += bad
        if not heading or len(text.split()) < 40:
            continue
        kept += len(text.split())
        sections.append((heading, text))
    headings = " ".join(heading.lower() for heading, _ in sections)
    whole = "result" in headings and ("discussion" in headings or "conclusion" in headings)
    if not whole or not 1_200 <= kept <= 4_200 or dropped > 0.08 * kept:
        return None
    version = re.search(r"/(\d(?:\.\d)?)", licence.split("creativecommons.org")[1])
    name = "CC0" if "publicdomain" in licence else "CC BY"
    number = version.group(1)
    meta = {
        "id": f"pmcid:{row['id']}",
        "external_ids": [doi] + ([f"pmid:{int(row['pmid'])}"] if row.get("pmid") else []),
        "title": re.sub(r"\s*\[?(ISRCTN|NCT)\d+\]?$", "", title).rstrip("."),
        "authors": [typography(name).rstrip(", ") for name in row["authors"]],
        "year": row["year"],
        "venue": typography(row["journal"]),
        "url": f"https://pmc.ncbi.nlm.nih.gov/articles/{row['id']}/",
        "licence": f"{name} {number if '.' in number else number + '.0'}",
    }
    references = list(dict.fromkeys(filter(None, map(cited, row.get("references") or []))))
    return paper(meta, sections, references)


def pmc(data, seen_titles):
    papers = list(filter(None, map(trial, rows(data / "fulltext/pmc_rct_ccby.jsonl.gz"))))
    # Papers that cite one another come first, so that the citation graph has edges inside.
    owner = {name: one["meta"]["id"] for one in papers for name in one["meta"]["external_ids"]}
    edges = {(one["meta"]["id"], owner[name]) for one in papers for name in one.get("references", []) if name in owner}
    linked = {end for edge in edges for end in edge}
    taken, _ = take_by_topic(papers, PMC_TOPICS, seen_titles, first=linked)
    return [one for topic in taken.values() for one in topic], {name: len(taken[name]) for name, _, _ in PMC_TOPICS}


def put_lost_spaces(papers):
    """Puts the spaces that words lost into the sections of `papers`, as scholar-core does it; what was divided."""
    command = ["cargo", "run", "--quiet", "--locked", "-p", "scholar-core", "--example", "lost_spaces"]
    lines = "".join(json.dumps(one) + "\n" for one in papers).encode()
    done = subprocess.run(command, cwd=HERE.parent, input=lines, capture_output=True)
    if done.returncode != 0:
        sys.exit(done.stderr.decode())
    for one, line in zip(papers, done.stdout.splitlines(), strict=True):
        one["sections"] = json.loads(line)["sections"]
    # Cargo may write to standard error too.
    return [json.loads(line) for line in done.stderr.decode().splitlines() if line.startswith("{")]


def main(data):
    seen_titles = set()
    parts = {}
    topics = {}
    for name, make in [("pmc", pmc), ("acl", acl), ("arxiv", arxiv)]:
        parts[name], topics[name] = make(data, seen_titles)
    papers = sorted((one for part in parts.values() for one in part), key=lambda one: one["meta"]["id"])
    repairs = put_lost_spaces(papers)
    lines = "".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in papers).encode()
    packed = io.BytesIO()
    # No file name and no time in the header: the same input gives the same bytes.
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, compresslevel=9, mtime=0) as out:
        out.write(lines)
    (HERE / "papers.jsonl.gz").write_bytes(packed.getvalue())
    known = {i for one in papers for i in [one["meta"]["id"], *one["meta"].get("external_ids", [])]}
    counts = {
        "papers": len(papers),
        "by_source": {name: len(part) for name, part in sorted(parts.items())},
        "by_licence": dict(sorted(collections.Counter(one["meta"]["licence"] for one in papers).items())),
        "by_topic": topics,
        "years": [min(one["meta"]["year"] for one in papers), max(one["meta"]["year"] for one in papers)],
        "sections": sum(len(one["sections"]) for one in papers),
        "words": sum(len(s["text"].split()) for one in papers for s in one["sections"]),
        "spaces_repaired": len(repairs),
        "references": sum(len(one.get("references", [])) for one in papers),
        "references_among_these_papers": sum(r in known for one in papers for r in one.get("references", [])),
        "sha256_uncompressed": hashlib.sha256(lines).hexdigest(),
    }
    (HERE / "counts.json").write_text(json.dumps(counts, indent=2) + "\n")
    print(json.dumps(counts, indent=1), len(packed.getvalue()), file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))

"""Makes the excerpts in this folder from ScholarQABench's public files: excerpt.py FOLDER (standard library only)."""
import json, os, sys

source, here = sys.argv[1], os.path.dirname(os.path.abspath(__file__))


def rows(name):
    return [json.loads(line) for line in open(os.path.join(source, name))]


def write(name, lines):
    path = os.path.join(here, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.writelines(line + "\n" for line in lines)


def short(rows, n, key=lambda row: len(json.dumps(row))):
    return sorted(rows, key=key)[:n]


def dump(row):
    return json.dumps(row, ensure_ascii=False)


scifact = rows("single_paper_tasks/scifact_test.jsonl")
counts = {}
for row in scifact:
    counts.setdefault(row["input"], []).append(row)
twice = short([same for same in counts.values() if len(same) > 1], 1)[0]
true = short([r for r in scifact if r["answer"] == "true" and r["input"] != twice[0]["input"]], 2)
false = short([r for r in scifact if r["answer"] == "false" and r["input"] != twice[0]["input"]], 2)
write("single_paper_tasks/scifact_test.jsonl", map(dump, true + false + twice[:2]))

pubmed = rows("single_paper_tasks/pubmed_test.jsonl")
objects = [r for r in pubmed if isinstance(r["gold_ctx"][0]["text"], dict)]
texts = [r for r in pubmed if isinstance(r["gold_ctx"][0]["text"], str)]
write("single_paper_tasks/pubmed_test.jsonl", map(dump, [short(objects, 1)[0], short(texts, 1)[0], short(objects, 2)[1]]))

for field in ["bio", "neuro"]:
    write(f"scholarqabench_{field}.jsonl", map(dump, rows(f"scholarqabench_{field}.jsonl")[:4]))

multi = short(rows("scholarqa_multi_public.jsonl"), 3)
text = json.dumps(multi[2]["ctxs"][-1]["text"], ensure_ascii=False)
# As upstream: one list, and a bare NaN for a passage that was lost.
one = json.dumps(multi, ensure_ascii=False, indent=1)
write("scholarqa_multi/human_answers.json", [one.replace(text, "NaN")])

write("scholarqa_cs_rubrics_public.jsonl", map(dump, short(rows("scholarqa_cs_rubrics_public.jsonl"), 3)))

related = short(rows("relatedwork_deepscholar_public.jsonl"), 3, key=lambda r: len(r["related_works_tex"]))
for row in related:
    row["citations"] = row["citations"][:3]
write("relatedwork_deepscholar_public.jsonl", map(dump, related))

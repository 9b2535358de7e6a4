"""What make.py chooses: venues, topics (first match counts) and how many papers of each."""

# Proceedings that the ACL itself publishes under CC BY 4.0. Left out on purpose: LREC and LREC-COLING (CC BY-NC),
# the journal Computational Linguistics and EAMT (CC BY-NC-ND), and events whose terms are not stated.
ACL_VENUES = {"acl", "emnlp", "naacl", "eacl", "aacl", "findings", "tacl", "conll", "bionlp", "blackboxnlp", "sdp", "wmt", "clinicalnlp", "gem", "repl4nlp"}
ACL_TOTAL = 3_000

# (name, pattern on the title, how many)
ACL_TOPICS = [
    ("retrieval-augmented generation", r"retrieval[- ]augment|\bRAG\b|retrieve[- ](then|and)|augmented generation|attribut(ed|ion) .*(generation|answer)", 180),
    ("hallucination and factuality", r"hallucinat|factual|faithful", 160),
    ("scientific text", r"scientific|scholarly|citation|research paper|academic|peer review|literature review|related work", 150),
    ("biomedical and clinical", r"biomedic|clinical|medic(al|ine)|health|patient|radiolog|pubmed|drug", 170),
    ("retrieval", r"dense retriev|passage retriev|re-?rank|information retrieval|document retriev|\bretriev(al|er)|\bsearch\b", 150),
    ("fact checking", r"fact[- ]?(check|verif)|claim|misinformation|fake news|rumou?r", 90),
    ("question answering", r"question answering|\bQA\b|reading comprehension|multi-?hop|questions?\b", 170),
    ("summarisation", r"summari[sz]", 160),
    ("low-resource languages", r"low[- ]resource|under-?resourced|african|indigenous|endangered|indic\b|dialect|arabic|hindi", 150),
    ("machine translation", r"translat", 180),
    ("multilingual", r"multilingual|cross-?lingual", 110),
    ("bias and fairness", r"\bbias|fairness|gender|stereotyp|debias", 130),
    ("harmful language", r"hate|toxic|offensive|abusive|safety|jailbreak|harmful", 90),
    ("evaluation", r"evaluat|benchmark|metric|human judg|annotat", 180),
    ("reasoning", r"reason|chain[- ]of[- ]thought|math", 140),
    ("alignment and prompting", r"instruction|prompt|in-context|alignment|preference|RLHF|human feedback", 140),
    ("dialogue", r"dialog|conversation|chatbot", 150),
    ("information extraction", r"named entity|\bNER\b|relation extract|event extract|information extraction|entity link|coreference|knowledge graph", 180),
    ("efficiency", r"distill|prun|quanti[sz]|compress|efficien|parameter-efficient|adapter|\bLoRA\b", 110),
    ("interpretability", r"interpret|probing|explain|attention head|mechanis|explanation", 100),
    ("code", r"\bcode\b|program|SQL", 70),
    ("vision and speech", r"multi-?modal|vision|image|visual|speech|video", 100),
    ("long context and pre-training", r"long[- ](context|document)|pre-?train|tokeni[sz]", 90),
    ("sentiment and society", r"sentiment|emotion|stance|sarcasm|opinion|legal|financ|educat", 90),
]

# First the exact category, then the archive: `cs.CL` before `cs`.
ARXIV_QUOTAS = {
    "cs.CL": 60, "cs.IR": 50, "cs.LG": 70, "stat.ML": 40, "cs.AI": 40, "cs.CV": 40, "cs.HC": 25, "cs.DL": 20, "cs.CR": 25,
    "cs.SE": 25, "cs.SI": 25, "cs.CY": 20, "cs.NE": 20, "cs.RO": 20, "cs.DB": 20, "cs": 30, "q-bio": 45, "stat": 20, "physics": 20,
    "quant-ph": 8, "eess": 10, "econ": 5,
}

PMC_TOPICS = [
    ("malaria and parasites", r"malaria|plasmodium|artemether|helminth|schistosom", 18),
    ("vaccines", r"vaccin|immuni[sz]ation|immunogenic", 16),
    ("lungs", r"\bCOPD\b|pulmonary|asthma|respirat|bronch", 16),
    ("diabetes", r"diabet|insulin|glyc(a?)em|HbA1c", 24),
    ("cancer", r"cancer|tumou?r|carcinoma|chemotherap|leuk|lymphoma|radiother", 24),
    ("blood pressure and heart", r"hypertens|blood pressure|cardi|heart|coronary|myocardial|atrial|cholesterol|statin", 26),
    ("smoking and alcohol", r"smok|tobacco|alcohol|drinking", 8),
    ("sleep", r"sleep|insomnia", 6),
    ("stroke and brain", r"stroke|alzheimer|dementia|parkinson|migraine|brain", 10),
    ("obesity", r"obes|weight (loss|gain|management)|overweight", 10),
    ("depression and mind", r"depress|anxiety|psycho|cognitive|mental|schizo|stress", 20),
    ("HIV and other infections", r"\bHIV\b|antiretroviral|tubercul|hepatitis|sepsis|antibiotic|infection|influenza|pneumonia", 14),
    ("exercise and muscle", r"exercise|training|physical activity|physiotherap|strength|muscle|yoga|walking|sport", 18),
    ("nutrition", r"diet|nutri|vitamin|supplement|protein|probiotic|omega|micronutrient|food|feeding", 20),
    ("mothers and children", r"pregnan|infant|neonat|child|birth|maternal|breast-?feed", 10),
    ("pain and surgery", r"pain|analges|anesth|anaesth|surg|postoperative|arthr", 16),
]

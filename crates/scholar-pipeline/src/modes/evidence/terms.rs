//! Stems as this mode compares them: spelling variants folded, numbers left out, abbreviations resolved.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use scholar_core::text::words::content_stems;

use super::pattern::pattern;
use crate::proof::stems::science_idf;

/// The content stems of `text` in order, without numbers, British and American spelling alike.
pub(crate) fn stems(text: &str) -> Vec<String> {
    content_stems(&joined_compounds(text))
        .into_iter()
        .filter(|stem| stem.chars().any(char::is_alphabetic))
        .map(|stem| fold_spelling(&stem))
        .collect()
}

/// [`stems`] without order.
pub(crate) fn stem_set(text: &str) -> BTreeSet<String> {
    stems(text).into_iter().collect()
}

/// Prefixes that are written together, with a hyphen or apart, and the stems they stand before.
const COMPOUNDS: [(&str, &[&str]); 7] = [
    ("code", &["switch", "mix"]),
    ("cross", &["lingu", "lingual", "modal"]),
    ("de", &["identif", "bias", "nois"]),
    ("fine", &["tun", "tune"]),
    ("mono", &["lingu", "lingual"]),
    ("multi", &["lingu", "lingual", "modal"]),
    ("pre", &["train"]),
];

/// `text` with `pre-training`, `fine tuned`, `cross-lingual` as one word, as others write them.
pub(crate) fn joined_compounds(text: &str) -> Cow<'_, str> {
    static APART: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(code|cross|fine|mono|multi|pre)[-‐‑ ](switch|mix|lingual|modal|train|tun)|\b(de)[-‐‑](identif|bias|nois)",
        )
    });
    APART.replace_all(text, "$1$2$3$4")
}

/// How rare a folded stem is in scientific abstracts; about 1 for `effect`, 4 for `translation`, 8.5 for a stem that is in none.
pub(crate) fn weight(stem: &str) -> f32 {
    let idf = science_idf();
    let variants = [format!("{stem}is"), format!("{stem}iz"), stem.replacen("or", "our", 1)];
    let own =
        variants.iter().fold(idf.weight(stem), |least, variant| least.min(idf.weight(variant)));
    // Most texts write a compound in two words: the rarer of them says how rare it is.
    let of_compound = COMPOUNDS.iter().find_map(|(prefix, rests)| {
        let rest = stem.strip_prefix(prefix).filter(|rest| rests.contains(rest))?;
        let rests =
            rests.iter().filter(|other| other.starts_with(rest) || rest.starts_with(**other));
        let rest = rests.map(|rest| idf.weight(rest)).fold(f32::MAX, f32::min);
        Some(rest.max(idf.weight(prefix)))
    });
    of_compound.map_or(own, |compound| own.min(compound))
}

/// `summaris` and `summar`, `tumour` and `tumor`, and what [`SPELLINGS`] has, are one.
fn fold_spelling(stem: &str) -> String {
    let mut folded = stem.to_owned();
    let root = folded.strip_suffix("is").or_else(|| folded.strip_suffix("iz"));
    if let Some(root) = root.filter(|root| root.chars().count() >= 4) {
        folded = root.to_owned();
    }
    if folded.chars().count() >= 6 {
        folded = folded.replacen("our", "or", 1);
    }
    if let Some((_, american)) = SPELLED_STEMS.iter().find(|(british, _)| *british == folded) {
        return (*american).to_owned();
    }
    for (british, american) in SPELLINGS {
        // Most stems have none: nothing is copied for them.
        if folded.contains(british) {
            folded = folded.replacen(british, american, 1);
        }
    }
    folded
}

/// Letters that British and American spelling write differently, wherever they stand in a stem: `apnoea`, `oestrogen`,
/// `anaesthesia`, `foetal`, `sulphate`, `defence`, `labelled`.
const SPELLINGS: [(&str, &str); 17] = [
    ("aem", "em"),
    ("paed", "ped"),
    ("oed", "ed"),
    ("noea", "nea"),
    ("rhoea", "rhea"),
    ("oestr", "estr"),
    ("oesoph", "esoph"),
    ("foet", "fet"),
    ("naesth", "nesth"),
    ("gynaec", "gynec"),
    ("caesar", "cesar"),
    ("aetiol", "etiol"),
    ("faec", "fec"),
    ("sulph", "sulf"),
    ("defenc", "defens"),
    ("labell", "label"),
    ("modell", "model"),
];

/// Whole stems that are written differently: `fibr` of `fibrosis` is another.
const SPELLED_STEMS: [(&str, &str); 4] =
    [("fibr", "fiber"), ("centr", "center"), ("litr", "liter"), ("titr", "titer")];

/// Abbreviations a set of texts defines: folded stem of the short form to the stems of the long one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Abbreviations(BTreeMap<String, BTreeSet<String>>);

impl Abbreviations {
    /// Reads `long form (SHORT)` wherever the initials fit.
    pub(crate) fn of_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        static DEFINITION: LazyLock<Regex> = LazyLock::new(|| {
            pattern(r"((?:[\p{L}][\p{L}\d-]*[ ]+){1,7})\(([A-Z][A-Za-z0-9-]{1,8})\)")
        });
        let mut found = BTreeMap::new();
        for text in texts {
            for definition in DEFINITION.captures_iter(text) {
                let short = definition[2].trim_end_matches('s').to_owned();
                if let Some(long) = long_form(&definition[1], &short) {
                    let key = stems(&short).into_iter().next();
                    let long: BTreeSet<String> = stems(&long).into_iter().collect();
                    if let Some(key) = key.filter(|_| long.len() >= 2) {
                        found.entry(key).or_insert(long);
                    }
                }
            }
        }
        Self(found)
    }

    /// Other ways to say `stem` in a question with the stems `all`: each is a set of stems that must all be there.
    pub(crate) fn alternatives(&self, stem: &str, all: &BTreeSet<String>) -> Vec<BTreeSet<String>> {
        let long = self.0.get(stem).cloned();
        let shorts = self.0.iter().filter(|(_, long)| {
            let shared = long.intersection(all).count();
            long.contains(stem) && shared >= 2 && shared * 3 >= long.len() * 2
        });
        long.into_iter().chain(shorts.map(|(short, _)| BTreeSet::from([short.clone()]))).collect()
    }
}

/// The words at the end of `before` whose initials spell `short`; small words may be skipped.
fn long_form(before: &str, short: &str) -> Option<String> {
    let letters: Vec<char> =
        short.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    let words: Vec<&str> = before.split([' ', '-']).filter(|word| !word.is_empty()).collect();
    let mut from = words.len();
    for letter in letters.iter().rev() {
        loop {
            from = from.checked_sub(1)?;
            let word = words[from];
            if word.to_lowercase().starts_with(*letter) {
                break;
            }
            if !matches!(word, "of" | "and" | "for" | "the" | "in" | "to" | "with" | "on") {
                return None;
            }
        }
    }
    (letters.len() >= 2).then(|| words[from..].join(" "))
}

/// Whether a word names nothing that a paper could lack: it says how much or how (`fastest`, `newer`, `accurately`), or stands for
/// another word (`I’m`, `ones`, `themselves`).
pub(crate) fn names_nothing(word: &str) -> bool {
    const COMPARATIVES: [&str; 12] = [
        "bigger", "cheaper", "earlier", "easier", "faster", "larger", "longer", "newer", "older",
        "shorter", "slower", "smaller",
    ];
    const PRONOUNS: [&str; 9] = [
        "herself",
        "himself",
        "itself",
        "myself",
        "ones",
        "ourselves",
        "themselves",
        "yourself",
        "yourselves",
    ];
    word.contains(['\'', '’'])
        || word.ends_with("est")
        || word.ends_with("ly")
        || COMPARATIVES.contains(&word)
        || PRONOUNS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_variants_are_one_stem() {
        for (british, american) in [
            ("summarisation", "summarization"),
            ("tumours", "tumor"),
            ("glycaemic", "glycemic"),
            ("behavioural", "behavioral"),
            ("generalise", "generalize"),
            ("apnoea", "apnea"),
            ("dyspnoea", "dyspnea"),
            ("diarrhoea", "diarrhea"),
            ("oestrogens", "estrogen"),
            ("foetal", "fetal"),
            ("anaesthesia", "anesthesia"),
            ("defences", "defense"),
            ("labelled", "labeled"),
            ("modelling", "modeling"),
            ("fibre", "fiber"),
            ("centres", "center"),
        ] {
            assert_eq!(stems(british), stems(american), "{british}");
        }
        assert_eq!(stems("in 2020, 3.5 % of GPT-4"), ["gpt"]);
        assert!(weight("effect") < weight("translat") && weight("translat") < weight("zyxwv"));
        assert!(weight(&stems("exercise")[0]) < 7.0, "a folded stem keeps its weight");
    }

    #[test]
    fn compounds_are_one_stem_however_they_are_written() {
        for [a, b] in [
            ["pre-training", "pretrained"],
            ["fine-tuned models", "finetuning a model"],
            ["fine tuning", "finetune"],
            ["cross-lingual", "crosslingual"],
        ] {
            assert_eq!(stem_set(a), stem_set(b), "{a}");
        }
        let pretrain = weight(&stems("pretraining")[0]);
        assert!(weight("train") < pretrain && pretrain < weight("retriev"), "{pretrain}");
    }

    #[test]
    fn abbreviations_are_read_where_initials_fit() {
        let known = Abbreviations::of_texts([
            "patients with chronic obstructive pulmonary disease (COPD) and others",
            "Large Language Models (LLMs) and Retrieval-Augmented Generation (RAG)",
            "an unrelated remark (NLP)",
        ]);
        let all = stem_set("COPD exercise");
        assert_eq!(
            known.alternatives("copd", &all),
            [stem_set("chronic obstructive pulmonary disease")]
        );
        let all = stem_set("retrieval augmented generation in language models");
        assert_eq!(known.alternatives("retriev", &all), [stem_set("rag")]);
        assert_eq!(known.alternatives("languag", &all), [stem_set("llm")]);
        assert!(known.alternatives("nlp", &all).is_empty());
    }

    #[test]
    fn words_of_degree_and_pronouns_are_not_reported_missing() {
        let nothing = ["fastest", "newer", "accurately", "I’m", "ones", "themselves"];
        assert!(nothing.into_iter().all(names_nothing));
        assert!(!["zebras", "rest-cure", "tirzepatide"].into_iter().any(names_nothing));
    }
}

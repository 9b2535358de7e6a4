//! Synthetic prompts from papers: titles, questions and keywords made of titles, sentences of abstracts, openings of
//! abstracts, citing sentences, and who cites whom.
//!
//! So that short queries of people and long ones of programs are both represented: a title looks for its abstract
//! without the title; a sentence for the abstract it was taken out of; a template around a title, or a part of it,
//! is a question; three to six rare words are keywords; a sentence looks for a bare title, as of papers without an
//! abstract; the first half of an abstract looks for the other; a review looks for what it cites.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use regex::Regex;
use scholar_core::text::words::is_stop_word;

use super::super::abstracts::sentences;
use super::super::error::DataError;
use super::super::nearest::Nearest;
use super::super::source::{PaperText, Source, SourceName, keep_commercial, read_papers};
use super::super::wording::{first_words, key, stems, tokens};
use super::{Form, Planner, Prompt};

const MIN_ABSTRACT_WORDS: usize = 60;

/// Questions around a topic. Ours; wordings of people who search, from telegraphic to whole sentences.
const QUESTIONS: [&str; 10] = [
    "what is known about {t}",
    "{t}: what has been found?",
    "papers on {t}",
    "I am interested in {t}",
    "what are the main results on {t}",
    "studies of {t}",
    "how has {t} been investigated",
    "Any articles about {t}?",
    "find work dealing with {t}",
    "which methods exist for {t}",
];

/// Fields of arXiv whose questions resemble those of engineers and scientists at large.
const FIELDS: [&str; 9] =
    ["physics", "cs", "stat", "cond-mat", "eess", "q-bio", "nlin", "math.NA", "math.OC"];

/// At most so many citing sentences of a collection, one of each paper.
const CITING: usize = 700;

static CITATION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\[(\d{1,3})\]").ok());
static MARKERS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\s*\[[\d,\s–-]+\]").ok());

/// What is made of a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Title,
    Question,
    Keywords,
    Sentence,
    BareTitle,
    Half,
    Nothing,
}

/// Kinds with their shares of the papers; the rest only stands in the pool.
const SHARES: [(Kind, f64); 6] = [
    (Kind::Question, 0.14),
    (Kind::Sentence, 0.12),
    (Kind::Keywords, 0.08),
    (Kind::Title, 0.05),
    (Kind::BareTitle, 0.05),
    (Kind::Half, 0.03),
];

pub(super) fn papers(source: &Source, planner: &mut Planner<'_>) -> Result<(), DataError> {
    let name = source.name;
    let mut papers = read_papers(&source.files[0], planner.settings.max_rejected_fraction)?;
    papers.retain(|paper| paper.text.split_whitespace().count() >= MIN_ABSTRACT_WORDS);
    if name == SourceName::Arxiv {
        papers.retain(|paper| FIELDS.iter().any(|field| paper.field.starts_with(field)));
    }
    keep_commercial(name, &mut papers, &mut planner.plan.ledger);
    let mut seen = BTreeSet::new();
    papers.retain(|paper| {
        let is_measured =
            planner.evaluation.paper(&paper.title) || planner.evaluation.passage(&paper.text);
        if is_measured {
            planner.plan.ledger.reject(name.name(), "evaluation: judged paper", &paper.title);
        }
        !is_measured && seen.insert(key(&paper.title))
    });
    planner.random.shuffle(&mut papers);
    papers.truncate(planner.settings.max_papers);
    let pool = planner.pool(match name {
        SourceName::Pmc | SourceName::Openalex => "medicine",
        other => other.name(),
    });
    if name == SourceName::Openalex {
        citations(&papers, pool, planner);
        return Ok(());
    }
    let texts: Vec<&str> = papers.iter().map(|paper| paper.text.as_str()).collect();
    let rarity = Nearest::of(texts);
    for paper in &papers {
        let kind = draw(planner);
        from_paper(name, paper, kind, pool, &rarity, planner);
    }
    if name == SourceName::Pmc {
        citing(&papers, planner);
    }
    Ok(())
}

fn draw(planner: &mut Planner<'_>) -> Kind {
    let mut chance = planner.random.unit();
    for (kind, share) in SHARES {
        if chance < share {
            return kind;
        }
        chance -= share;
    }
    Kind::Nothing
}

fn from_paper(
    name: SourceName,
    paper: &PaperText,
    kind: Kind,
    pool: usize,
    rarity: &Nearest,
    planner: &mut Planner<'_>,
) {
    let all = sentences(&paper.text);
    let mut text = paper.text.clone();
    let (query, label, form) = match kind {
        Kind::Title => (Some(paper.title.clone()), "title", Form::Text),
        Kind::Question => (Some(question(&paper.title, planner)), "question", Form::Text),
        Kind::Keywords => (keywords(paper, rarity, planner), "keywords", Form::Whole),
        Kind::Sentence if all.len() >= 4 => {
            let at = planner.random.below(all.len());
            // One in ten keeps its sentence, so that copies count, too.
            if planner.chance(0.9) {
                text = all
                    .iter()
                    .filter(|other| **other != all[at])
                    .cloned()
                    .collect::<Vec<_>>()
                    .join(" ");
            }
            (sentence(&all[at]), "sentence", Form::Whole)
        }
        Kind::BareTitle if !all.is_empty() => {
            let at = planner.random.below(all.len().min(3));
            (sentence(&all[at]), "sentence for a title", Form::Title)
        }
        Kind::Half if all.len() >= 4 => {
            text = all[all.len() / 2..].join(" ");
            (Some(all[..all.len() / 2].join(" ")), "abstract", Form::Whole)
        }
        Kind::Sentence | Kind::BareTitle | Kind::Half | Kind::Nothing => (None, "", Form::Whole),
    };
    let at = planner.document(pool, &paper.id, &paper.title, &text);
    if let Some(query) = query {
        planner.ask(Prompt {
            source: name,
            kind: label,
            query,
            pool,
            positives: vec![at],
            related: vec![at],
            form,
            labelled: false,
        });
    }
}

fn sentence(text: &str) -> Option<String> {
    (8..=60).contains(&text.split_whitespace().count()).then(|| text.to_owned())
}

/// A template around the title, or around one side of its colon, or around some words in a row of it.
fn question(title: &str, planner: &mut Planner<'_>) -> String {
    let sides: Vec<&str> = title.split([':', '?']).map(str::trim).collect();
    let long = |side: &&str| side.split_whitespace().count() >= 3;
    let sides: Vec<&str> = sides.into_iter().filter(long).collect();
    let side = if sides.is_empty() { title } else { sides[planner.random.below(sides.len())] };
    let words: Vec<String> = side.split_whitespace().map(uncapitalised).collect();
    let mut words = words.as_slice();
    if words.len() > 7 && planner.chance(0.5) {
        let from = planner.random.below(words.len() - 6);
        let long = 6 + planner.random.below(3);
        words = &words[from..words.len().min(from + long)];
    }
    while let [first, rest @ ..] = words
        && is_stop_word(first)
    {
        words = rest;
    }
    while let [rest @ .., last] = words
        && is_stop_word(last)
    {
        words = rest;
    }
    let form = QUESTIONS[planner.random.below(QUESTIONS.len())];
    form.replace("{t}", words.join(" ").trim_end_matches('.'))
}

/// Lower case where only the first letter is a capital: abbreviations stay.
fn uncapitalised(word: &str) -> String {
    let rest: String = word.chars().skip(1).collect();
    if rest.chars().any(char::is_uppercase) || rest.is_empty() {
        return word.to_owned();
    }
    word.to_lowercase()
}

/// Three to six of the rarest words of title and opening that another paper has, too.
fn keywords(paper: &PaperText, rarity: &Nearest, planner: &mut Planner<'_>) -> Option<String> {
    let title = tokens(&paper.title);
    let opening = first_words(&paper.text, 80);
    let mut words: Vec<(f64, String)> = Vec::new();
    for word in title.iter().cloned().chain(tokens(&opening)) {
        let is_word = word.chars().count() > 2 && !word.chars().all(|c| c.is_ascii_digit());
        if !is_word || is_stop_word(&word) || words.iter().any(|(_, seen)| *seen == word) {
            continue;
        }
        let stem = scholar_core::text::words::stem(&word);
        let weight = rarity.rarity(&stem) * if title.contains(&word) { 1.5 } else { 1.0 };
        words.push((weight, word));
    }
    words.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    // The two rarest are often names that no one would type.
    let mut words: Vec<String> = words.into_iter().skip(1).take(9).map(|(_, word)| word).collect();
    planner.random.shuffle(&mut words);
    words.truncate(3 + planner.random.below(4));
    (words.len() >= 3).then(|| words.join(" "))
}

/// Works look for what they cite among the works that are here.
fn citations(papers: &[PaperText], pool: usize, planner: &mut Planner<'_>) {
    let place: HashMap<&str, usize> = papers
        .iter()
        .map(|paper| {
            let at = planner.document(pool, &paper.id, &paper.title, &paper.text);
            (paper.id.as_str(), at)
        })
        .collect();
    for paper in papers {
        let own = place[paper.id.as_str()];
        let cited: BTreeSet<usize> = paper
            .cites
            .iter()
            .filter_map(|id| place.get(id.as_str()).copied())
            .filter(|at| *at != own)
            .collect();
        if cited.is_empty() {
            continue;
        }
        let chance = planner.random.unit();
        let (kind, query) = if chance < 0.6 {
            ("review", paper.title.clone())
        } else {
            ("abstract of a review", first_words(&paper.text, 100))
        };
        let positives: Vec<usize> = cited.iter().copied().collect();
        planner.ask(Prompt {
            source: SourceName::Openalex,
            kind,
            query,
            pool,
            related: positives.iter().copied().chain([own]).collect(),
            positives,
            form: Form::Whole,
            labelled: true,
        });
    }
}

/// Sentences of full texts that cite one work look for its title.
fn citing(papers: &[PaperText], planner: &mut Planner<'_>) {
    let (Some(citation), Some(markers)) = (CITATION.as_ref(), MARKERS.as_ref()) else { return };
    let pool = planner.pool("cited titles");
    let mut place: HashMap<String, usize> = HashMap::new();
    let mut made = 0;
    for paper in papers {
        let mut found: Vec<(String, String)> = Vec::new();
        for sentence in paper.sections.iter().flat_map(|text| sentences(text)) {
            let numbers: Vec<usize> = citation
                .captures_iter(&sentence)
                .filter_map(|found| found[1].parse().ok())
                .collect();
            let [number] = numbers[..] else { continue };
            let long = sentence.split_whitespace().count();
            let title = number.checked_sub(1).and_then(|at| paper.reference_titles.get(at));
            let Some(title) = title.filter(|title| title.split_whitespace().count() >= 5) else {
                continue;
            };
            let common = stems(title).intersection(&stems(&sentence)).count();
            if (10..=60).contains(&long) && common >= 2 && !planner.evaluation.paper(title) {
                let bare = markers.replace_all(&sentence, "").into_owned();
                found.push((bare, title.clone()));
            }
        }
        planner.random.shuffle(&mut found);
        for (n, (sentence, title)) in found.into_iter().take(3).enumerate() {
            let at = match place.get(&title) {
                Some(at) => *at,
                None => planner.document(pool, &format!("cited {title}"), &title, ""),
            };
            place.insert(title, at);
            if n == 0 && made < CITING {
                made += 1;
                planner.ask(Prompt {
                    source: SourceName::Pmc,
                    kind: "citing sentence",
                    query: sentence,
                    pool,
                    positives: vec![at],
                    related: vec![at],
                    form: Form::Title,
                    labelled: true,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::evaluation::Evaluation;
    use crate::data::ranking::plan;
    use crate::data::split::Settings;

    #[test]
    fn papers_become_prompts_of_every_kind() {
        let folder = tempfile::tempdir().expect("temp dir");
        fs_err::create_dir(folder.path().join("papers")).expect("created");
        let topics =
            ["salt", "tea", "sleep", "wind tunnels", "compilers", "stars", "rivers", "glass"];
        let mut rows = String::new();
        for n in 0..300 {
            let (a, b) = (topics[n % 8], topics[(n / 8) % 8]);
            let text = format!(
                "Little is known of {a} in the presence of {b} under condition {n}. We measured {a} with instrument \
                 number {n} over many weeks and in several places. The results differ between {a} and {b} by a factor \
                 of {n}. A model with two parameters explains most of the difference that we observed. It predicts \
                 what happens to {b} when {a} is taken away, and further measurements agree with it in group {n}."
            );
            let row = serde_json::json!({
                "id": format!("p{n}"), "year": if n == 1 { 2015 } else { 2016 }, "title": format!("Measurements of {a} and {b} in {n} places"), "abstract": text,
            });
            rows.push_str(&row.to_string());
            rows.push('\n');
        }
        fs_err::write(folder.path().join("papers/acl_anthology.jsonl"), rows).expect("written");
        let source = Source::below(folder.path(), SourceName::Acl).expect("there");
        let mut evaluation = Evaluation::default();
        evaluation.add_title("Measurements of salt and salt in 0 places");
        let plan = plan(&[source], &evaluation, &Settings::paper()).expect("planned");
        let kinds: BTreeSet<&str> = plan.prompts.iter().map(|prompt| prompt.kind).collect();
        assert_eq!(kinds.len(), 6, "{kinds:?}");
        assert_eq!(plan.pools[0].documents.len(), 298);
        assert_eq!(plan.ledger.removed()["acl"]["licence: ACL paper before 2016"], 1);
        assert_eq!(plan.ledger.removed()["acl"]["evaluation: judged paper"], 1);
        for prompt in &plan.prompts {
            let answer = plan.pools[0].documents[prompt.positives[0]].passage(prompt.form);
            if prompt.kind == "title" {
                assert!(!answer.contains("Measurements of"), "{answer}");
            }
        }
    }

    #[test]
    fn abbreviations_keep_their_capitals() {
        assert_eq!(uncapitalised("Retrieval"), "retrieval");
        assert_eq!(uncapitalised("IL-6"), "IL-6");
        assert_eq!(uncapitalised("A"), "A");
    }
}

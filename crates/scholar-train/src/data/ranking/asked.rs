//! Prompts of questions that people asked: `BioASQ`, PubMedQA, Evidence Inference.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::abstracts::sentences;
use super::super::error::DataError;
use super::super::lines::read_rows;
use super::super::source::{BioAsqRow, PubMedQaRow, Source, SourceName, Trials};
use super::super::wording::first_words;
use super::{Form, Planner, Prompt};

/// How often the first sentence of an ideal answer is looked for, too.
const STATEMENT_SHARE: f64 = 0.35;

/// How the parts of a comparison are put together.
const COMPARISONS: [&str; 4] = [
    "effect of {i} compared with {c} on {o}",
    "Does {i} change {o} compared with {c}?",
    "{i} versus {c}: {o}",
    "{i} {o}",
];

#[derive(Default)]
struct Snippets {
    title: String,
    /// Text by place in the abstract.
    texts: BTreeMap<(u64, String), ()>,
}

impl Snippets {
    /// Snippets in reading order, without those that lie within another.
    fn text(&self) -> String {
        let texts: Vec<&str> = self.texts.keys().map(|(_, text)| text.as_str()).collect();
        let kept: Vec<&str> = texts
            .iter()
            .filter(|text| {
                !texts.iter().any(|other| other.len() > text.len() && other.contains(**text))
            })
            .copied()
            .collect();
        kept.join(" ")
    }
}

/// Questions look for the papers whose snippets answer them, all snippets of a paper in one passage.
pub(super) fn bioasq(source: &Source, planner: &mut Planner<'_>) -> Result<(), DataError> {
    let rows: Vec<BioAsqRow> = read_rows(
        &source.files[0],
        planner.settings.max_rejected_fraction,
        |_: &BioAsqRow| Ok(()),
    )?
    .values()
    .collect();
    let mut papers: BTreeMap<String, Snippets> = BTreeMap::new();
    for snippet in rows.iter().flat_map(|row| &row.snippets) {
        let paper = papers.entry(snippet.document.clone()).or_default();
        let text = first_words(&snippet.text, usize::MAX);
        if snippet.begin_section == "title" {
            paper.title = text;
        } else {
            paper.texts.insert((snippet.offset_in_begin_section, text), ());
        }
    }
    let pool = planner.pool("medicine");
    let place: HashMap<String, usize> = papers
        .iter()
        .map(|(name, paper)| {
            (name.clone(), planner.document(pool, name, &paper.title, &paper.text()))
        })
        .collect();
    for row in rows {
        let answering: BTreeSet<usize> = row
            .snippets
            .iter()
            .filter_map(|snippet| place.get(&snippet.document).copied())
            .collect();
        let named = row.documents.iter().filter_map(|name| place.get(name).copied());
        let related: BTreeSet<usize> = answering.iter().copied().chain(named).collect();
        let prompt = Prompt {
            source: SourceName::Bioasq,
            kind: "question",
            query: row.body.clone(),
            pool,
            positives: answering.into_iter().collect(),
            related: related.into_iter().collect(),
            form: Form::Whole,
            labelled: true,
        };
        let answer = row.ideal_answer.first().and_then(|text| sentences(text).into_iter().next());
        let statement = answer
            .filter(|text| (8..=45).contains(&text.split_whitespace().count()))
            .filter(|_| planner.chance(STATEMENT_SHARE));
        if let Some(statement) = statement {
            planner.ask(Prompt { kind: "statement", query: statement, ..prompt.clone() });
        }
        planner.ask(prompt);
    }
    Ok(())
}

/// Titles that ask look for the abstract without its conclusion.
pub(super) fn pubmedqa(source: &Source, planner: &mut Planner<'_>) -> Result<(), DataError> {
    let rows =
        read_rows(&source.files[0], planner.settings.max_rejected_fraction, |_: &PubMedQaRow| {
            Ok(())
        })?;
    let pool = planner.pool("medicine");
    for row in rows.values() {
        if let Some(conflict) = planner.evaluation.query(&row.question) {
            let source = SourceName::Pubmedqa.name();
            planner.plan.ledger.reject(source, conflict.rule(), &row.question);
            continue;
        }
        let paper = format!("pubmed {}", row.pmid);
        let at = planner.document(pool, &paper, "", &row.contexts.join(" "));
        let source = SourceName::Pubmedqa;
        planner.ask(Prompt::of_document(source, "question", row.question, pool, at));
    }
    Ok(())
}

/// Comparisons look for the sentence that decides them and for the trial's abstract.
pub(super) fn comparisons(source: &Source, planner: &mut Planner<'_>) -> Result<(), DataError> {
    let bad = planner.settings.max_rejected_fraction;
    let Trials { prompts, articles } = Trials::read(source, bad, &mut planner.plan.ledger)?;
    let pool = planner.pool("medicine");
    let mut abstracts: HashMap<String, Option<usize>> = HashMap::new();
    for row in prompts {
        let trial = articles.get(&row.pmcid);
        let whole = *abstracts.entry(row.pmcid.clone()).or_insert_with(|| {
            trial
                .filter(|article| {
                    !article.text.is_empty()
                        && !planner.evaluation.paper(&article.title)
                        && !planner.evaluation.passage(&article.text)
                })
                .map(|article| planner.document(pool, &row.pmcid, &article.title, &article.text))
        });
        let title = trial.map_or("", |article| article.title.as_str());
        let decides = row.prose(10).into_iter().next();
        let decides = decides.map(|text| planner.document(pool, &row.pmcid, title, &text));
        let form = COMPARISONS[planner.random.below(COMPARISONS.len())];
        let query = form
            .replace("{i}", &row.intervention)
            .replace("{c}", &row.comparator)
            .replace("{o}", &row.outcome);
        let positives: Vec<usize> = decides.into_iter().chain(whole).collect();
        planner.ask(Prompt {
            source: SourceName::Evinf,
            kind: "comparison",
            query,
            pool,
            related: positives.clone(),
            positives,
            form: Form::Whole,
            labelled: true,
        });
    }
    Ok(())
}

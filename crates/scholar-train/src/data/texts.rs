//! Texts for contrastive pre-training of encoders: titles with abstracts, and sections where there are full texts.

use scholar_core::random::SplitMix64;

use super::duplicates::Duplicates;
use super::error::DataError;
use super::evaluation::Evaluation;
use super::ledger::Ledger;
use super::rows::TextRow;
use super::source::{Source, SourceName, keep_commercial, read_papers};
use super::split::{Settings, Splits};

/// Shorter texts have no two crops.
const MIN_WORDS: usize = 40;

/// Reads the papers of `sources` without anything of `evaluation`. Collections of questions and claims have no texts
/// of their own and are refused.
///
/// # Errors
/// When a source cannot be read or has no papers, or nothing is kept.
pub fn text_rows(
    sources: &[Source],
    evaluation: &Evaluation,
    settings: &Settings,
) -> Result<Splits<TextRow>, DataError> {
    let mut ledger = Ledger::default();
    let mut seen = Duplicates::default();
    let mut rows: Vec<(String, TextRow)> = Vec::new();
    for source in sources {
        let name = source.name.name();
        if !has_papers(source.name) {
            return Err(DataError::Source {
                name: name.to_owned(),
                problem: "has no papers to pre-train on".to_owned(),
            });
        }
        let mut papers = read_papers(&source.files[0], settings.max_rejected_fraction)?;
        keep_commercial(source.name, &mut papers, &mut ledger);
        SplitMix64::stream(settings.seed, super::wording::hash([name])).shuffle(&mut papers);
        papers.truncate(settings.max_papers);
        for paper in papers {
            let opening = format!("{} {}", paper.title, paper.text);
            for text in std::iter::once(opening).chain(paper.sections) {
                let rule = if text.split_whitespace().count() < MIN_WORDS {
                    Some("too short")
                } else if evaluation.paper(&paper.title) || evaluation.passage(&text) {
                    Some("evaluation: judged paper, or 13 words of a query in a row")
                } else {
                    seen.is_repeated(&text).then_some("near-duplicate")
                };
                match rule {
                    Some(rule) => ledger.reject(name, rule, &text),
                    None => {
                        ledger.keep(name, "text");
                        let source = Some(name.to_owned());
                        rows.push((
                            paper.id.clone(),
                            TextRow { id: paper.id.clone(), text, source },
                        ));
                    }
                }
            }
        }
    }
    SplitMix64::new(settings.seed).shuffle(&mut rows);
    Splits::split(rows, ledger, settings)
}

/// Whether a source has papers with texts of their own.
pub fn has_papers(source: SourceName) -> bool {
    matches!(
        source,
        SourceName::Pmc
            | SourceName::Openalex
            | SourceName::Acl
            | SourceName::Arxiv
            | SourceName::Starter
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_papers_have_texts_and_repetitions_are_left_out() {
        let folder = tempfile::tempdir().expect("temp dir");
        fs_err::create_dir_all(folder.path().join("papers")).expect("created");
        let text = "salt water boils later than fresh water and this is measured here with care "
            .repeat(4);
        let row = |id: &str, text: &str| {
            serde_json::json!({"id": id, "title": "Salt water", "abstract": text}).to_string()
        };
        let other =
            text.replace("salt", "tea").replace("boils", "cools").replace("measured", "told");
        let rows =
            [row("a", &text), row("b", &text), row("c", &other), row("d", "short")].join("\n");
        fs_err::write(folder.path().join("papers/arxiv_sample.jsonl"), rows).expect("written");
        let source = Source::below(folder.path(), SourceName::Arxiv).expect("there");
        let settings = Settings { dev_fraction: 0.0, ..Settings::paper() };
        let made = text_rows(&[source], &Evaluation::default(), &settings).expect("made");
        assert_eq!(made.train.len(), 2);
        assert_eq!(made.ledger.removed()["arxiv"]["near-duplicate"], 1);
        assert_eq!(made.ledger.removed()["arxiv"]["too short"], 1);
        let claims = Source { name: SourceName::Citint, files: Vec::new() };
        assert!(text_rows(&[claims], &Evaluation::default(), &settings).is_err());
    }
}

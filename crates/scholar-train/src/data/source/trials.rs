//! Evidence Inference's prompts, with the articles of the trials that they are about.

use std::collections::HashMap;

use super::super::error::DataError;
use super::super::ledger::Ledger;
use super::super::lines::read_rows;
use super::licence::{UNKNOWN, keep_commercial};
use super::{PaperText, PromptRow, Source, SourceName, read_papers};

/// Prompts whose article is CC BY or CC0.
#[derive(Debug)]
pub(crate) struct Trials {
    /// The prompts, in the order of the file.
    pub prompts: Vec<PromptRow>,
    /// The articles, by PMC id.
    pub articles: HashMap<String, PaperText>,
}

impl Trials {
    /// Reads both files of `source`. The evidence of a prompt is text of its article, so prompts of articles that are
    /// not among the full texts, whose licences are known, are left out and counted in `ledger`.
    ///
    /// # Errors
    /// As [`read_rows`].
    pub(crate) fn read(
        source: &Source,
        max_rejected_fraction: f64,
        ledger: &mut Ledger,
    ) -> Result<Self, DataError> {
        let rows = read_rows(&source.files[0], max_rejected_fraction, |_: &PromptRow| Ok(()))?;
        let mut articles = read_papers(&source.files[1], max_rejected_fraction)?;
        keep_commercial(SourceName::Evinf, &mut articles, ledger);
        let articles: HashMap<String, PaperText> =
            articles.into_iter().map(|paper| (paper.id.clone(), paper)).collect();
        let mut prompts = Vec::new();
        for row in rows.values() {
            if articles.contains_key(&row.pmcid) {
                prompts.push(row);
            } else {
                ledger.reject(SourceName::Evinf.name(), UNKNOWN, &row.outcome);
            }
        }
        Ok(Self { prompts, articles })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_of_articles_without_a_known_licence_are_left_out() {
        let folder = tempfile::tempdir().expect("temp dir");
        let prompt = |article: &str| {
            serde_json::json!({
                "pmcid": article, "outcome": "Pain", "intervention": "Tea", "comparator": "Water", "annotations": [],
            })
        };
        let article = |id: &str, licence: &str| serde_json::json!({"id": id, "title": "A trial", "abstract": "x", "license": licence});
        let write = |name: &str, rows: &[serde_json::Value]| {
            let path = folder.path().join(name);
            let lines: Vec<String> = rows.iter().map(ToString::to_string).collect();
            fs_err::write(&path, lines.join("\n")).expect("written");
            path
        };
        let prompts = write("prompts.jsonl", &[prompt("PMC1"), prompt("PMC2"), prompt("PMC3")]);
        let articles =
            write("articles.jsonl", &[article("PMC1", "CC BY"), article("PMC2", "CC BY-NC")]);
        let source = Source { name: SourceName::Evinf, files: vec![prompts, articles] };
        let mut ledger = Ledger::default();
        let trials = Trials::read(&source, 0.0, &mut ledger).expect("read");
        let kept: Vec<&str> = trials.prompts.iter().map(|row| row.pmcid.as_str()).collect();
        assert_eq!(kept, ["PMC1"]);
        assert_eq!(ledger.removed()["evinf"][UNKNOWN], 2);
    }
}

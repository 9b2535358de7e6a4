//! What differs between two runs.

use std::collections::BTreeSet;
use std::process::ExitCode;

use scholar_core::text::untrusted;
use serde::Serialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::error::CommandError;
use crate::output::document::AnswerDocument;
use crate::output::markdown;
use crate::printer::{Style, Styled};
use crate::runs::{ANSWER_FILE, RunFolder, RunRecord};

/// In what two runs differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Difference {
    /// Settings that differ, as `path: left → right`.
    pub(crate) settings: Vec<String>,
    /// Papers that only one of them cites.
    pub(crate) papers_only_left: Vec<String>,
    /// And only the other.
    pub(crate) papers_only_right: Vec<String>,
    /// Sentences that only one of them has, with their citations.
    pub(crate) sentences_only_left: Vec<String>,
    /// And only the other.
    pub(crate) sentences_only_right: Vec<String>,
}

/// Compares two runs that have answers.
pub(crate) fn difference(left: &str, right: &str, app: &App) -> Result<Difference, CommandError> {
    let read = |name: &str| -> Result<(RunRecord, AnswerDocument), CommandError> {
        let folder = RunFolder::find(&app.home, name)?;
        Ok((folder.record()?, folder.read_json(ANSWER_FILE)?))
    };
    let ((left_run, left), (right_run, right)) = (read(left)?, read(right)?);
    let mut settings = Vec::new();
    compare("question", &json!(left_run.question), &json!(right_run.question), &mut settings);
    compare("datastore", &json!(left_run.datastore), &json!(right_run.datastore), &mut settings);
    compare("models", &json!(left_run.models), &json!(right_run.models), &mut settings);
    compare("config", &left_run.config, &right_run.config, &mut settings);
    let sentences = |document: &AnswerDocument| -> Vec<String> {
        document.answer.sentences.iter().map(markdown::marked).collect()
    };
    let papers = |document: &AnswerDocument| -> BTreeSet<String> {
        document.answer.references.iter().map(|reference| reference.paper_id.to_string()).collect()
    };
    let (left_sentences, right_sentences) = (sentences(&left), sentences(&right));
    let (left_papers, right_papers) = (papers(&left), papers(&right));
    Ok(Difference {
        settings,
        papers_only_left: left_papers.difference(&right_papers).cloned().collect(),
        papers_only_right: right_papers.difference(&left_papers).cloned().collect(),
        sentences_only_left: only(&left_sentences, &right_sentences),
        sentences_only_right: only(&right_sentences, &left_sentences),
    })
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    #[serde(flatten)]
    difference: Difference,
}

pub(super) fn run(left: &str, right: &str, app: &App) -> Result<ExitCode, CommandError> {
    let difference = difference(left, right, app)?;
    if app.printer.json {
        app.printer.json(&Report { schema: "openscholar.diff/1", difference })?;
        return Ok(ExitCode::SUCCESS);
    }
    for setting in &difference.settings {
        app.printer.out(&format!("  {}", untrusted(setting).line()))?;
    }
    let mut same = difference.settings.is_empty();
    for (sign, style, lines) in [
        ("-", Style::Red, difference.papers_only_left),
        ("+", Style::Green, difference.papers_only_right),
        ("-", Style::Red, difference.sentences_only_left),
        ("+", Style::Green, difference.sentences_only_right),
    ] {
        same &= lines.is_empty();
        for line in lines {
            let line = format!("{sign} {}", untrusted(&line).line());
            app.printer.out_styled(Styled::new().styled(style, line))?;
        }
    }
    if same {
        app.printer.out("the runs do not differ")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn only(these: &[String], those: &[String]) -> Vec<String> {
    these.iter().filter(|line| !those.contains(line)).cloned().collect()
}

/// Collects the leaves in which two JSON values differ, as `path: left → right`.
fn compare(path: &str, left: &Value, right: &Value, differences: &mut Vec<String>) {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for key in keys {
                let value = |map: &serde_json::Map<String, Value>| {
                    map.get(key).cloned().unwrap_or(Value::Null)
                };
                compare(&format!("{path}.{key}"), &value(left), &value(right), differences);
            }
        }
        _ if left == right => {}
        _ => differences.push(format!("{path}: {left} → {right}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_name_their_path() {
        let mut found = Vec::new();
        compare(
            "config",
            &json!({"a": {"b": 1}, "c": 2}),
            &json!({"a": {"b": 3}, "c": 2, "d": null}),
            &mut found,
        );
        assert_eq!(found, ["config.a.b: 1 → 3"]);
    }
}

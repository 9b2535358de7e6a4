//! What annotators said, as comma-separated values for spreadsheets.

use super::{Rated, Record, Scores, Shown};

/// The records in our columns, a header first.
pub fn ours<'a>(records: impl Iterator<Item = &'a Record>) -> String {
    table(&OURS, records.map(our_row))
}

/// The records with the texts of their two answers, in the columns of the original's table.
pub fn upstream<'a>(records: impl Iterator<Item = (&'a Record, [String; 2])>) -> String {
    let rows = records.enumerate();
    table(&UPSTREAM, rows.map(|(at, (record, texts))| upstream_row(at, record, texts)))
}

const OURS: [&str; 26] = [
    "instance",
    "question",
    "annotator",
    "version",
    "latest",
    "started",
    "submitted",
    "system_a",
    "system_b",
    "words_a",
    "words_b",
    "citations_a",
    "citations_b",
    "organization_a",
    "coverage_a",
    "relevance_a",
    "usefulness_a",
    "organization_b",
    "coverage_b",
    "relevance_b",
    "usefulness_b",
    "preference",
    "preferred_system",
    "explanation",
    "quality",
    "comment",
];

/// Columns of the original's table `evaluation_record`, scores under the names it gives them.
const UPSTREAM: [&str; 22] = [
    "id",
    "instance_index",
    "instance_id",
    "prompt",
    "model_a",
    "model_b",
    "completion_a",
    "completion_b",
    "fluency_model_a",
    "fluency_model_b",
    "sufficient_model_a",
    "sufficient_model_b",
    "relevant_model_a",
    "relevant_model_b",
    "completion_a_is_acceptable",
    "completion_b_is_acceptable",
    "preference",
    "explanation",
    "instance_quality",
    "comment",
    "evaluator",
    "timestamp",
];

fn scores(rated: &Rated) -> [String; 4] {
    rated
        .scores
        .map(Scores::all)
        .map_or_else(Default::default, |all| all.map(|score| score.to_string()))
}

fn our_row(record: &Record) -> Vec<String> {
    let [a, b] = &record.answers;
    let (preference, preferred) = match record.preference {
        Some(Shown::A) => ("a", a.system.as_str()),
        Some(Shown::B) => ("b", b.system.as_str()),
        Some(Shown::Tie) => ("tie", ""),
        None => ("", ""),
    };
    let mut row = vec![
        record.instance.clone(),
        record.question.clone(),
        record.annotator.clone(),
        record.version.to_string(),
        record.latest.to_string(),
        record.started.clone(),
        record.submitted.clone(),
        a.system.clone(),
        b.system.clone(),
        a.words.to_string(),
        b.words.to_string(),
        a.citations.to_string(),
        b.citations.to_string(),
    ];
    row.extend(scores(a));
    row.extend(scores(b));
    row.extend([preference, preferred].map(str::to_owned));
    row.extend([
        record.explanation.clone(),
        record.quality.clone().unwrap_or_default(),
        record.comment.clone(),
    ]);
    row
}

fn upstream_row(at: usize, record: &Record, [text_a, text_b]: [String; 2]) -> Vec<String> {
    let [a, b] = &record.answers;
    let preference = match record.preference {
        Some(Shown::A) => "a-is-better",
        Some(Shown::Tie) => "tie",
        Some(Shown::B) => "b-is-better",
        None => "",
    };
    let mut row = vec![
        (at + 1).to_string(),
        at.to_string(),
        record.instance.clone(),
        record.question.clone(),
        a.system.clone(),
        b.system.clone(),
        text_a,
        text_b,
    ];
    for (of_a, of_b) in scores(a).into_iter().zip(scores(b)) {
        row.extend([of_a, of_b]);
    }
    row.extend([
        preference.to_owned(),
        record.explanation.clone(),
        record.quality.clone().unwrap_or_default(),
        record.comment.clone(),
        record.annotator.clone(),
        record.submitted.replace('T', " ").trim_end_matches('Z').to_owned(),
    ]);
    row
}

/// RFC 4180, with a line break after each row.
fn table(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: Vec<String>| {
        cells.iter().map(|text| cell(text)).collect::<Vec<_>>().join(",") + "\r\n"
    };
    let head = line(header.iter().map(|name| (*name).to_owned()).collect());
    rows.fold(head, |text, row| text + &line(row))
}

/// Text that a spreadsheet would compute gets an apostrophe in front: annotators are strangers.
fn cell(text: &str) -> String {
    let guarded = match text.chars().next() {
        Some('=' | '+' | '-' | '@' | '\t' | '\r') => format!("'{text}"),
        _ => text.to_owned(),
    };
    if guarded.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", guarded.replace('"', "\"\""))
    } else {
        guarded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        let row = ["plain", "a,b", "say \"x\"", "=1+1", "@x,\n", ""].map(str::to_owned).to_vec();
        assert_eq!(
            table(&["h"], std::iter::once(row)),
            "h\r\nplain,\"a,b\",\"say \"\"x\"\"\",'=1+1,\"'@x,\n\",\r\n"
        );
    }
}

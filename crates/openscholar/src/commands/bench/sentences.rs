//! Ranking, calibration and roles of a sentence classifier on labelled rows, and its speed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use scholar_core::SentenceRole;
use scholar_core::{EmbeddedText, PassageKind, SentenceClassifier as _, SentenceInContext};
use scholar_models::SentenceHeads;
use scholar_train::data::read_rows;
use scholar_train::data::sentences::SentenceRow;
use scholar_train::sentences::{
    AnswerMeasures, Encoded, KnownVectors, RoleMeasures, SentenceMeasures, measure,
};

use crate::app::App;
use crate::error::CommandError;
use crate::progress;
use crate::wiring::models;

/// Sentences whose classification is timed: those of thirty passages.
const TIMED: usize = 600;
/// Timed repetitions; the best counts.
const ROUNDS: usize = 5;

pub(super) fn run(
    rows: &[PathBuf],
    model: &str,
    headings: bool,
    out: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let folder = app.block_on(models::ensure(app, model))??;
    let heads = SentenceHeads::open(&folder)?;
    let name = heads.info().encoder.clone();
    let encoder = app.block_on(models::encoder(app, &name, models::Reading::WHOLE))??;
    let mut measured: Vec<SentenceMeasures> = Vec::new();
    let mut speed = None;
    let mut known = KnownVectors::default();
    for path in rows {
        let read: Vec<SentenceRow> = read_rows(path, 0.0, SentenceRow::check)?.values().collect();
        let bar = progress::counted(&app.printer, "texts", Some(0)).with_message("encoding");
        let encoded = Encoded::encode(&read, encoder.as_ref(), &mut known, &mut |done, total| {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        })?;
        bar.finish_and_clear();
        measured.extend(measure(&heads, &read, &encoded, headings)?);
        if speed.is_none() {
            speed = Some(milliseconds(&heads, &read, &encoded)?);
        }
    }
    let json = serde_json::json!({
        "schema": "openscholar.bench-sentences/1",
        "model": super::short(model),
        "headings": headings,
        "collections": measured,
        "milliseconds": speed,
    });
    let text = markdown(super::short(model), headings, &measured, speed, &super::machine(app));
    super::publish("sentences", &text, &json, out, app)
}

/// Time to classify [`TIMED`] sentences on one thread, vectors given.
fn milliseconds(
    heads: &SentenceHeads,
    rows: &[SentenceRow],
    encoded: &Encoded,
) -> Result<f64, CommandError> {
    let asked = rows.iter().find(|row| !row.question.is_empty());
    let Some(first) = asked.or(rows.first()) else { return Ok(0.0) };
    let question = match first.question.as_str() {
        "" => encoded.passage(&first.sentences[0].text),
        question => encoded.question(question),
    };
    let all: Vec<SentenceInContext<'_>> = rows
        .iter()
        .flat_map(|row| row.sentences.iter().enumerate().map(move |at| (row, at)))
        .cycle()
        .take(TIMED)
        .map(|(row, (nth, one))| {
            let sentence: EmbeddedText<'_> = encoded.passage(&one.text);
            SentenceInContext {
                sentence,
                before: Some(sentence.vector),
                after: Some(sentence.vector),
                title: (!row.title.is_empty()).then(|| encoded.passage(&row.title)),
                kind: PassageKind::Abstract,
                section: &one.section,
                nth,
                of: row.sentences.len(),
            }
        })
        .collect();
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        heads.classify(question, &all)?;
        best = best.min(begun.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(best)
}

fn markdown(
    model: &str,
    headings: bool,
    measured: &[SentenceMeasures],
    speed: Option<f64>,
    machine: &str,
) -> String {
    let shown = if headings { "shown" } else { "not shown" };
    let mut text = format!(
        "# Sentences: {model}\n\n{machine}. Headings and labels of abstracts are {shown}.\n\n## Which sentences answer\n\n\
         P@1, MRR and nDCG@10 are means over passages with a sentence that answers and one that does not; pooled P@1 is over \
         questions, all sentences of the passages of several papers together.\n\n\
         | collection | scorer | sentences | answer | AUROC | passages | P@1 | MRR | nDCG@10 | questions | pooled P@1 | ECE |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n"
    );
    for SentenceMeasures { source, answers, .. } in measured {
        for one in answers {
            answer_row(&mut text, source, one);
        }
    }
    text.push_str("\n## Roles\n");
    for SentenceMeasures { source, roles, .. } in measured {
        if let Some(roles) = roles {
            role_table(&mut text, source, roles);
        }
    }
    if let Some(speed) = speed {
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "\n## Speed\n\n{TIMED} sentences on one thread, vectors given: {speed:.1} ms.\n"
        );
    }
    text
}

fn answer_row(text: &mut String, source: &str, one: &AnswerMeasures) {
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |v| format!("{v:.3}"));
    let _ = writeln!(
        text,
        "| {source} | {} | {} | {} | {} | {} | {:.3} | {:.3} | {:.3} | {} | {:.3} | {} |",
        one.scorer.name(),
        one.sentences,
        one.positives,
        number(one.auroc),
        one.passages,
        one.precision_at_1,
        one.mrr,
        one.ndcg,
        one.questions,
        one.question_precision_at_1,
        number(one.ece),
    );
}

fn role_table(text: &mut String, source: &str, roles: &RoleMeasures) {
    let _ = write!(
        text,
        "\n{source}: {} sentences, accuracy {:.3}, macro-F1 {:.3}; finding (result or conclusion) against the rest: precision \
         {:.3}, recall {:.3}.\n\n| true \\\\ given |",
        roles.sentences,
        roles.accuracy,
        roles.macro_f1,
        roles.finding_precision,
        roles.finding_recall
    );
    for role in SentenceRole::ALL {
        let _ = write!(text, " {} |", role.as_str());
    }
    text.push_str("\n|---|---|---|---|---|---|\n");
    for (role, row) in SentenceRole::ALL.iter().zip(&roles.confusion) {
        let _ = write!(text, "| {} |", role.as_str());
        for count in row {
            let _ = write!(text, " {count} |");
        }
        text.push('\n');
    }
}

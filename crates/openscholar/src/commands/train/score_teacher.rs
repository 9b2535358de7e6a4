//! `openscholar train score-teacher`: a larger model's scores of the passages of training rows, for distillation.
//!
//! Scores are written as logits, ready for softmax: those of a cross-encoder as they are, cosines of an encoder divided by
//! [`TEMPERATURE`].

use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use scholar_core::text::whole_lines;
use scholar_core::{Encoder as _, Side};
use scholar_models::catalog::Purpose;
use scholar_models::{CrossEncoderOptions, LocalCrossEncoder, LocalEncoder};
use scholar_train::data::{RerankRow, read_rows};

use crate::app::App;
use crate::args::TrainScoreTeacherArgs;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::progress;
use crate::wiring::models;

/// What cosines are divided by. Source: the temperature contrastive encoders are trained at.
const TEMPERATURE: f32 = 0.05;
/// Rows that are scored before they are written.
const PART: usize = 128;

pub(super) fn run(args: &TrainScoreTeacherArgs, app: &App) -> Result<ExitCode, CommandError> {
    let TrainScoreTeacherArgs { rows: path, teacher, out, bad_rows } = args;
    let read = read_rows(path, *bad_rows, RerankRow::check)?;
    let bad = read.bad.iter().map(|bad| (path.as_path(), bad.line, bad.problem.as_str()));
    super::say_left_out(bad, app);
    let left_out = read.bad.len();
    let rows: Vec<RerankRow> = read.values().collect();
    let done = begun(out, &rows)?;
    let mut file = fs_err::OpenOptions::new()
        .create(true)
        .append(true)
        .open(out)
        .map_err(|source| CommandError::unwritable(out, source))?;
    let mut teacher = Teacher::open(teacher, app)?;
    if done > 0 && done < rows.len() {
        app.printer.say(&format!("{done} of {} rows are scored, going on", rows.len()));
    }
    let bar = progress::counted(&app.printer, "rows", Some(rows.len() as u64));
    bar.set_position(done as u64);
    for part in rows[done..].chunks(PART) {
        if app.stop.requested() {
            let what = "interrupted; rows scored so far are saved";
            return Err(CommandError::new(ErrorKind::Interrupted, what)
                .with_hint("the same command scores the others"));
        }
        let mut text = Vec::new();
        for row in teacher.scored(part)? {
            serde_json::to_writer(&mut text, &row).user(|| "cannot write JSON".to_owned())?;
            text.push(b'\n');
        }
        let written = file.write_all(&text).and_then(|()| file.sync_data());
        written.map_err(|source| CommandError::unwritable(out, source))?;
        bar.inc(part.len() as u64);
    }
    bar.finish_and_clear();
    if app.printer.json {
        app.printer.json(&serde_json::json!({
            "schema": "openscholar.train-score-teacher/1",
            "teacher": args.teacher,
            "rows": rows.len(),
            "left_out": left_out,
            "out": out,
        }))?;
    } else {
        app.printer.out(&format!("{} rows with scores of {}", rows.len(), args.teacher))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How many of `rows` the file at `path` holds with scores; a last line that was torn is cut off.
fn begun(path: &Path, rows: &[RerankRow]) -> Result<usize, CommandError> {
    let text = match fs_err::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error).user(|| "the scored rows cannot be read".to_owned()),
    };
    let whole = whole_lines(&text);
    let mut count = 0;
    for line in whole.split_inclusive(|byte| *byte == b'\n') {
        let scored: Option<RerankRow> = serde_json::from_slice(line).ok();
        let is_it = scored.zip(rows.get(count)).is_some_and(|(scored, row)| {
            let texts = (&scored.query, &scored.pos, &scored.neg);
            texts == (&row.query, &row.pos, &row.neg) && scored.is_scored()
        });
        if !is_it {
            let line = count + 1;
            let what = format!("{}:{line} is not row {line} with scores", path.display());
            return Err(CommandError::user(what).with_hint("name another file with --out"));
        }
        count += 1;
    }
    if whole.len() < text.len() {
        let file = fs_err::OpenOptions::new().write(true).open(path);
        file.and_then(|file| file.set_len(whole.len() as u64))
            .map_err(|source| CommandError::unwritable(path, source))?;
    }
    Ok(count)
}

/// Who scores.
enum Teacher {
    /// By cosines. Passages come back in many rows, so their vectors are kept.
    Encoder { encoder: Arc<LocalEncoder>, known: HashMap<String, Vec<f32>> },
    /// By logits.
    Cross(LocalCrossEncoder),
}

impl Teacher {
    fn open(name: &str, app: &App) -> Result<Self, CommandError> {
        if models::local(name)?.is_none() {
            match models::entry(app, name)?.purpose {
                Purpose::Encoder | Purpose::Reranker => {}
                Purpose::Attributor | Purpose::Generator | Purpose::SentenceClassifier => {
                    return Err(CommandError::user(format!("{name} does not score passages"))
                        .with_hint("openscholar models list shows the use of each model"));
                }
            }
        }
        let folder = app.block_on(models::ensure(app, name))??;
        if models::classifies(&folder) {
            let options = CrossEncoderOptions::project(app.threads());
            return Ok(Self::Cross(LocalCrossEncoder::open(&folder, name, options)?));
        }
        let encoder = models::encoder_in(app, &folder, name, models::Reading::WHOLE)?;
        Ok(Self::Encoder { encoder, known: HashMap::new() })
    }

    /// `rows` with scores.
    fn scored(&mut self, rows: &[RerankRow]) -> Result<Vec<RerankRow>, CommandError> {
        let scores = match self {
            Self::Encoder { encoder, known } => cosines(encoder, known, rows)?,
            Self::Cross(model) => {
                let logits = |row: &RerankRow| {
                    let passages: Vec<&str> = passages(row).collect();
                    model.logits(&row.query, &passages)
                };
                rows.iter().map(logits).collect::<Result<_, _>>()?
            }
        };
        let scored = rows.iter().zip(scores).map(|(row, mut scores)| {
            let neg_scores = scores.split_off(row.pos.len());
            RerankRow { pos_scores: scores, neg_scores, ..row.clone() }
        });
        let scored: Vec<RerankRow> = scored.collect();
        let numbers = |row: &RerankRow| {
            row.pos_scores.iter().chain(&row.neg_scores).all(|score| score.is_finite())
        };
        match scored.iter().find(|row| !numbers(row)) {
            Some(row) => Err(CommandError::user(format!(
                "the teacher's score of a passage for {:?} is not a number",
                row.query
            ))
            .with_hint("check its folder: openscholar models verify, or name another teacher")),
            None => Ok(scored),
        }
    }
}

fn passages(row: &RerankRow) -> impl Iterator<Item = &str> {
    row.pos.iter().chain(&row.neg).map(String::as_str)
}

fn cosines(
    encoder: &LocalEncoder,
    known: &mut HashMap<String, Vec<f32>>,
    rows: &[RerankRow],
) -> Result<Vec<Vec<f32>>, CommandError> {
    let queries: Vec<&str> = rows.iter().map(|row| row.query.as_str()).collect();
    let queries = encoder.encode(Side::Query, &queries)?.unit_rows();
    let mut open: Vec<&str> = rows.iter().flat_map(passages).collect();
    open.retain(|text| !known.contains_key(*text));
    open.sort_unstable();
    open.dedup();
    let fresh = encoder.encode(Side::Passage, &open)?.unit_rows();
    known.extend(open.into_iter().map(str::to_owned).zip(fresh));
    let score = |query: &[f32], passage: &str| {
        let vector = known.get(passage).map(Vec::as_slice).unwrap_or_default();
        query.iter().zip(vector).map(|(a, b)| a * b).sum::<f32>() / TEMPERATURE
    };
    let of_row = |(row, query): (&RerankRow, &Vec<f32>)| {
        passages(row).map(|passage| score(query, passage)).collect()
    };
    Ok(rows.iter().zip(&queries).map(of_row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(query: &str, scores: &[f32]) -> RerankRow {
        RerankRow {
            query: query.to_owned(),
            pos: vec!["right".to_owned()],
            neg: vec!["wrong".to_owned()],
            pos_scores: scores.to_vec(),
            neg_scores: scores.to_vec(),
            source: None,
        }
    }

    #[test]
    fn what_was_begun_goes_on_behind_its_last_whole_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("taught.jsonl");
        let rows = [row("a", &[]), row("b", &[])];
        assert_eq!(begun(&path, &rows).expect("nothing yet"), 0);
        let line = serde_json::to_string(&row("a", &[0.5])).expect("JSON");
        fs_err::write(&path, format!("{line}\n{{\"query\": \"b")).expect("written");
        assert_eq!(begun(&path, &rows).expect("one"), 1);
        assert_eq!(fs_err::read_to_string(&path).expect("there"), format!("{line}\n"));
        assert!(begun(&path, &[]).is_err(), "more rows than there are");
        for held in [row("c", &[0.5]), row("a", &[])] {
            let line = serde_json::to_string(&held).expect("JSON");
            fs_err::write(&path, format!("{line}\n")).expect("written");
            let error = begun(&path, &rows).expect_err("another row, or none that is scored");
            assert!(error.to_string().contains("taught.jsonl:1 is not row 1"), "{error}");
        }
    }
}

//! Whether the cells of `papers table` say what people took out of the papers.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use scholar_bench::tables::Half;
use scholar_bench::tables::arms::{self, ArmRow, Overlap, PROPERTIES, Prompts, System};
use scholar_bench::tables::cells::{CellRow, CellVerdict, LabelledCell};
use scholar_bench::tables::report::TablesReport;
use scholar_core::text::PassageRules;
use scholar_core::text::passages::cut;
use scholar_core::{Encoder as _, PaperId, Passage};
use scholar_datastore::ingest::{Format, Limits, PaperReader};
use scholar_pipeline::tabulate::{CellModels, Column, Property, extract, sheet, tabulate};

use crate::app::App;
use crate::args::BenchTablesArgs;
use crate::config::DEFAULT_ENCODER;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::progress;
use crate::wiring::{models, sentences};

/// Largest file of prompts or labels, in bytes.
const LARGEST: usize = 256 << 20;

pub(super) fn run(args: &BenchTablesArgs, app: &App) -> Result<ExitCode, CommandError> {
    let read = |path| scholar_datastore::files::read_text(path, LARGEST);
    let prompts = Prompts::read(&read(&args.prompts)?)
        .user(|| format!("{} is no file of prompts", args.prompts.display()))?;
    let labels = match &args.labels {
        Some(path) => LabelledCell::read(&read(path)?)
            .user(|| format!("{} is no file of labels", path.display()))?,
        None => Vec::new(),
    };
    let mut columns: Vec<Property> = PROPERTIES.to_vec();
    for label in &labels {
        if !columns.contains(&label.property) {
            columns.push(label.property);
        }
    }
    let articles = articles(args, &prompts, &labels)?;
    let name = app.config.encoder.as_deref().unwrap_or(DEFAULT_ENCODER);
    let encoder = app.block_on(models::encoder(app, name, models::Reading::WHOLE))??;
    let classifier = app.block_on(sentences::open(app, encoder.info()))??;
    let models = CellModels { encoder: Some(encoder.clone()), classifier };
    let mut sink = args.candidates.as_ref().map(fs_err::File::create).transpose();
    let sink = match &mut sink {
        Ok(sink) => sink.as_mut(),
        Err(error) => {
            return Err(CommandError::user(format!("the candidates cannot be written: {error}")));
        }
    };
    let measured =
        Measuring { prompts: &prompts, labels: &labels, columns: &columns, models: &models }
            .all(&articles, sink, app)?;
    let file = |path: &std::path::Path| {
        path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    };
    let labelled = args.labels.as_ref().map(|path| format!(" --labels {}", file(path)));
    let text = format!(
        "# Cells of tables of papers\n\nCommand: `openscholar bench tables --articles {} --prompts {}{}`\n\n\
         Machine: {}. Rules without a language model, {:.1} papers a second.\n\n{}",
        file(&args.articles),
        file(&args.prompts),
        labelled.unwrap_or_default(),
        super::machine(app),
        measured.papers_per_second,
        measured.markdown()
    );
    // The baselines are made again from the articles; the cells are what a reader wants to look at.
    let cells: Vec<&ArmRow> =
        measured.arms.iter().filter(|row| row.system == System::Table).collect();
    let json = serde_json::json!({
        "schema": "openscholar.bench-tables/1", "arms": cells, "cells": measured.cells,
        "papers_per_second": measured.papers_per_second,
    });
    super::publish("tables", &text, &json, args.out.as_deref(), app)
}

/// The passages of the articles that have prompts or labels, cut as a datastore cuts them.
fn articles(
    args: &BenchTablesArgs,
    prompts: &BTreeMap<PaperId, Prompts>,
    labels: &[LabelledCell],
) -> Result<Vec<(PaperId, Vec<Passage>)>, CommandError> {
    let mut articles = Vec::new();
    for paper in PaperReader::open(&args.articles, Some(Format::Pmc), Limits::standard())? {
        let paper = paper?;
        let id = &paper.meta.id;
        if prompts.contains_key(id) || labels.iter().any(|label| label.paper == *id) {
            articles.push((id.clone(), cut(&paper, PassageRules::sections())));
        }
        if articles.len() >= args.limit.unwrap_or(usize::MAX) {
            break;
        }
    }
    if articles.is_empty() {
        return Err(CommandError::user(format!(
            "{} has no article with prompts or labels",
            args.articles.display()
        )));
    }
    Ok(articles)
}

struct Measuring<'a> {
    prompts: &'a BTreeMap<PaperId, Prompts>,
    labels: &'a [LabelledCell],
    columns: &'a [Property],
    models: &'a CellModels,
}

impl Measuring<'_> {
    fn all(
        &self,
        articles: &[(PaperId, Vec<Passage>)],
        mut sink: Option<&mut fs_err::File>,
        app: &App,
    ) -> Result<TablesReport, CommandError> {
        let columns: Vec<Column> = self.columns.iter().copied().map(Column::of).collect();
        let bar = progress::counted(&app.printer, "articles", u64::try_from(articles.len()).ok());
        let mut report =
            TablesReport { arms: Vec::new(), cells: Vec::new(), papers_per_second: 0.0 };
        let mut spent = Duration::ZERO;
        for (id, passages) in articles {
            if app.until_stopped().is_break() {
                return Err(CommandError::new(ErrorKind::Interrupted, "interrupted"));
            }
            let began = Instant::now();
            let cells = tabulate(passages, &columns, self.models)?.cells;
            spent += began.elapsed();
            if let Some(prompts) = self.prompts.get(id) {
                report.arms.extend(arms::rows(id, passages, &cells, prompts));
            }
            for label in self.labels.iter().filter(|label| label.paper == *id) {
                let at = self.columns.iter().position(|column| *column == label.property);
                let cell = at.and_then(|at| cells.get(at)).and_then(Option::as_ref);
                report.cells.push(CellRow::new(label, cell));
            }
            if let Some(sink) = sink.as_deref_mut().filter(|_| Half::of(id) == Half::Development) {
                self.write_candidates(id, passages, sink)
                    .user(|| "the candidates cannot be written".to_owned())?;
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        let count = u32::try_from(articles.len()).unwrap_or(u32::MAX);
        report.papers_per_second = f64::from(count) / spent.as_secs_f64().max(1e-9);
        Ok(report)
    }

    /// One line a candidate: what it is, what speaks for it, and how like a prompt or label it is.
    fn write_candidates(
        &self,
        id: &PaperId,
        passages: &[Passage],
        sink: &mut fs_err::File,
    ) -> std::io::Result<()> {
        let lines = sheet::lines(passages);
        let scored = extract::scored(&lines, self.columns);
        for one in scored.values().flatten() {
            let property = one.candidate.property;
            let line = &lines[one.candidate.line];
            let text = &line.passage.text[one.candidate.span.clone()];
            let at = PROPERTIES.iter().position(|known| *known == property);
            let overlap = self.prompts.get(id).zip(at);
            let overlap = overlap.map(|(prompts, at)| Overlap::of(text, prompts.of(at)).f1);
            let label = self.labels.iter().find(|one| one.paper == *id && one.property == property);
            let features: BTreeMap<&str, f32> =
                one.features.iter().map(|(name, value)| (name.as_str(), *value)).collect();
            let row = serde_json::json!({
                "paper": id, "prop": property.key(), "text": text, "score": one.score, "features": features,
                "f1": overlap, "label": label.map(|label| CellVerdict::of(Some(text), &label.values)),
            });
            writeln!(sink, "{row}")?;
        }
        Ok(())
    }
}

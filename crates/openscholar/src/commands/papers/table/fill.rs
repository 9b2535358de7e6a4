//! Fills the rows of a table, paper by paper, with what is known already and a model or rules for the rest.

use std::sync::Arc;

use scholar_core::{
    Encoder as _, EncoderInfo, Generator, GeneratorStrength, Notice, NoticeKind, PaperMeta, Passage,
};
use scholar_pipeline::prompts::TABLE_CELLS;
use scholar_pipeline::tabulate::{
    Cell, CellModels, Column, PaperCells, RULES_VERSION, TableRow, generate, tabulate,
};
use scholar_pipeline::{Budget, Event, Meter, ModeChoice};

use super::cache::{CellCache, PaperCache};
use super::of_model;
use crate::app::App;
use crate::args::{TableArgs, TableMode};
use crate::commands::papers::audience::Audience;
use crate::error::{CommandError, ErrorKind};
use crate::progress;
use crate::stop::unless_stopped;
use crate::wiring::{OpenDatastore, generator, sentences};

/// Rows, and what is to be said of all of them.
pub(super) struct Filled {
    pub(super) rows: Vec<TableRow>,
    pub(super) method: String,
    pub(super) notices: Vec<Notice>,
    /// Of the model, if one filled them.
    pub(super) meter: Option<Arc<Meter>>,
}

/// What fills cells.
enum Filler {
    Model(Arc<dyn Generator>, Arc<Meter>),
    Rules(CellModels),
}

impl Filler {
    /// Its name in the table and in the cache: models by name and prompt, rules by version and models.
    fn name(&self) -> String {
        match self {
            Self::Model(generator, _) => {
                format!("{} with {}", generator.info().model, TABLE_CELLS.fingerprint())
            }
            Self::Rules(CellModels { encoder, classifier }) => {
                let encoder = encoder.as_ref().map_or("no encoder", |one| one.info().name.as_str());
                let classifier =
                    classifier.as_ref().map_or("no classifier", |one| one.info().name.as_str());
                format!("{RULES_VERSION}, {encoder}, {classifier}")
            }
        }
    }

    async fn cells(
        &self,
        passages: &[Passage],
        columns: &[Column],
    ) -> Result<PaperCells, CommandError> {
        match self {
            Self::Model(model, _) => {
                let (cells, _) = generate::tabulate(passages, columns, model.as_ref()).await?;
                Ok(cells)
            }
            Self::Rules(models) => Ok(tabulate(passages, columns, models)?),
        }
    }
}

/// What rows are filled with.
pub(super) struct Filling<'a> {
    pub(super) datastore: &'a OpenDatastore,
    pub(super) columns: &'a [Column],
    pub(super) args: &'a TableArgs,
    pub(super) audience: &'a Audience,
    pub(super) app: &'a App,
}

impl Filling<'_> {
    /// Fills a row for each of `papers`. Who asks for its end ends it between two papers; what is done stays in the cache.
    pub(super) async fn fill(&self, papers: Vec<PaperMeta>) -> Result<Filled, CommandError> {
        let Self { datastore, columns, args, audience, app } = *self;
        let mut notices = Vec::new();
        let filler = open(datastore, args, &mut notices, app).await?;
        for notice in &notices {
            audience.notice(notice);
        }
        let method = filler.name();
        let folder = args.out.clone().unwrap_or_else(|| app.home.data().join("tables"));
        let cache = CellCache::open(&folder)?;
        app.heed_signals()?;
        let total = papers.len();
        let bar = progress::counted(&audience.printer, "papers", u64::try_from(total).ok());
        let mut rows: Vec<TableRow> = Vec::with_capacity(total);
        for paper in papers {
            let passages = datastore.store.passages_of(&paper.id)?;
            let known = cache.paper(&passages);
            let work = row(&paper, &passages, columns, &filler, known);
            let Some(row) = unless_stopped(audience.ends(app), work).await else {
                bar.finish_and_clear();
                return Err(interrupted(rows.len(), total));
            };
            let row = row?;
            audience.observer.on_event(&read(&row, rows.len() + 1, total));
            rows.push(row);
            bar.inc(1);
            if audience.has_ended(app) && rows.len() < total {
                bar.finish_and_clear();
                return Err(interrupted(rows.len(), total));
            }
        }
        bar.finish_and_clear();
        for row in &rows {
            for notice in &row.notices {
                let message = format!("{}: {}", row.paper.id, notice.message);
                audience.notice(&Notice { message, ..notice.clone() });
            }
        }
        let meter = match filler {
            Filler::Model(_, meter) => Some(meter),
            Filler::Rules(_) => None,
        };
        Ok(Filled { rows, method, notices, meter })
    }
}

/// What is told of a row that is done.
fn read(row: &TableRow, done: usize, of: usize) -> Event {
    let filled = row.cells.iter().filter(|cell| cell.is_some()).count();
    Event::PaperRead {
        done,
        of,
        title: row.paper.display_title().into_owned(),
        result: format!("{filled} of {} cells", row.cells.len()),
    }
}

fn interrupted(done: usize, total: usize) -> CommandError {
    CommandError::interrupted_resumable(format!(
        "interrupted after {done} of {total} papers; their cells are kept"
    ))
}

async fn row(
    paper: &PaperMeta,
    passages: &[Passage],
    columns: &[Column],
    filler: &Filler,
    mut known: PaperCache,
) -> Result<TableRow, CommandError> {
    let method = &filler.name();
    let mut notices: Vec<Notice> = Vec::new();
    if known.broken {
        let message = "the kept cells of this paper cannot be read and are made anew";
        notices.push(Notice::new(NoticeKind::Skipped, message));
    }
    let open: Vec<Column> =
        columns.iter().filter(|column| known.get(method, column).is_none()).cloned().collect();
    if !open.is_empty() {
        let made = filler.cells(passages, &open).await?;
        known.keep(method, &open, &made.cells, &made.notices)?;
    }
    let mut cells: Vec<Option<Cell>> = Vec::with_capacity(columns.len());
    for column in columns {
        let Some(one) = known.get(method, column) else {
            return Err(CommandError::new(ErrorKind::Bug, "a finished cell is missing"));
        };
        cells.push(one.cell.clone());
        for notice in &one.notices {
            if !notices.contains(notice) {
                notices.push(notice.clone());
            }
        }
    }
    Ok(TableRow { paper: paper.clone(), cells, notices })
}

/// The model where one is asked for or strong enough, rules otherwise; a notice says which.
async fn open(
    datastore: &OpenDatastore,
    args: &TableArgs,
    notices: &mut Vec<Notice>,
    app: &App,
) -> Result<Filler, CommandError> {
    if args.mode != TableMode::Evidence
        && let Some((model, meter)) = model(args, notices, app).await?
    {
        notices.push(of_model(Some(model.as_ref())));
        return Ok(Filler::Model(model, meter));
    }
    notices.push(of_model(None));
    let info: &EncoderInfo = datastore.encoder.info();
    let classifier = sentences::open(app, info).await?;
    Ok(Filler::Rules(CellModels { encoder: Some(datastore.encoder.clone()), classifier }))
}

async fn model(
    args: &TableArgs,
    notices: &mut Vec<Notice>,
    app: &App,
) -> Result<Option<(Arc<dyn Generator>, Arc<Meter>)>, CommandError> {
    let answer = args.reader.answer();
    let asked = args.mode == TableMode::Generative;
    let use_of = generator::Use { mode: ModeChoice::Auto, small_writes: asked };
    // What it says of answers does not hold for tables.
    let mut of_answers = Vec::new();
    let writer = generator::open(app, &answer, use_of, &mut of_answers).await?;
    let Some(model) = writer.generator else {
        if asked {
            return Err(CommandError::user("--mode generative needs a language model")
                .with_hint("pass --base-url URL --model NAME, or --mode evidence"));
        }
        return Ok(None);
    };
    if !asked && model.info().strength == GeneratorStrength::Small {
        notices.push(
            Notice::new(
                NoticeKind::Skipped,
                format!("{} is small: rules fill the cells", model.info().model),
            )
            .with_hint("pass --mode generative to use it all the same"),
        );
        return Ok(None);
    }
    let budget = Budget {
        max_cost: args.reader.max_cost,
        max_tokens: args.reader.max_tokens,
        max_calls: args.reader.max_calls,
        max_seconds: None,
        reserved_calls: 0,
    };
    if budget.max_cost.is_some() && model.info().usd_per_million.is_none() {
        return Err(CommandError::user(
            "--max-cost cannot be enforced: the price of the model is unknown",
        )
        .with_hint(format!("add its price to {}", app.home.price_file().display())));
    }
    let meter = Meter::start_with(budget, app.clock(), Some(App::alarm()));
    Ok(Some((meter.wrap(model), meter)))
}

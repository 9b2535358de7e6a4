//! `openscholar papers table`.

mod cache;
mod columns;
mod fill;
pub(crate) mod output;

use std::process::ExitCode;
use std::sync::Arc;

use scholar_core::{
    Generator, Notice, NoticeKind, PaperMeta, Query, Question, SearchFilter, SearchMode,
    SearchRequest,
};
use scholar_pipeline::Meter;
use scholar_pipeline::tabulate::{Column, TABLE_SCHEMA, Table};

use super::address;
use super::audience::Audience;
use crate::app::App;
use crate::args::{TableArgs, TableFormatArg};
use crate::error::{CommandError, EXIT_MISSING_EVIDENCE};
use crate::wiring::OpenDatastore;
use fill::{Filled, Filling};

/// Passages looked through for each paper of a search.
const PASSAGES_OF_PAPER: usize = 8;

pub(super) fn run(name: &str, args: TableArgs, app: &App) -> Result<ExitCode, CommandError> {
    if args.format == Some(TableFormatArg::Docx) && args.output.is_none() {
        return Err(CommandError::user("a DOCX file cannot be printed")
            .with_hint("name a file: --output table.docx"));
    }
    let columns = columns::read(&args.columns)?;
    app.home.datastore(name)?;
    let audience = Audience::terminal(app);
    let made = make(name, &args, columns, &audience, app);
    let (document, _) = app.block_on_to_the_end(made)??;
    output::write(&document, &args, app)?;
    let is_empty = document.rows.iter().all(|row| row.cells.iter().all(Option::is_none));
    Ok(if is_empty { ExitCode::from(EXIT_MISSING_EVIDENCE) } else { ExitCode::SUCCESS })
}

/// The table of the papers that `args` name, and the meter of the model if one filled it. What of `args` says where the table
/// goes is not looked at.
pub(crate) async fn make(
    name: &str,
    args: &TableArgs,
    columns: Vec<Column>,
    audience: &Audience,
    app: &App,
) -> Result<(Table, Option<Arc<Meter>>), CommandError> {
    let datastore = OpenDatastore::open(app, name).await?;
    let papers = papers(&datastore, name, args).await?;
    let filling = Filling { datastore: &datastore, columns: &columns, args, audience, app };
    let Filled { rows, method, notices, meter } = filling.fill(papers).await?;
    let (schema, datastore) = (TABLE_SCHEMA.to_owned(), name.to_owned());
    Ok((Table { schema, datastore, method, columns, rows, notices }, meter))
}

/// The rows' papers: those named, those of the search, or all that pass the filters.
async fn papers(
    datastore: &OpenDatastore,
    name: &str,
    args: &TableArgs,
) -> Result<Vec<PaperMeta>, CommandError> {
    let filter = SearchFilter::from(args.filter.clone());
    let mut papers: Vec<PaperMeta> = Vec::new();
    if let Some(query) = &args.query {
        let question =
            Question::new(query).map_err(|error| CommandError::user(error.to_string()))?;
        let request = SearchRequest {
            query: Query::from(&question),
            top_k: args.top.saturating_mul(PASSAGES_OF_PAPER),
            mode: SearchMode::Hybrid,
            filter,
        };
        for hit in datastore.retriever.search(&request).await? {
            if papers.len() < args.top && papers.iter().all(|known| known.id != hit.paper.id) {
                papers.push(PaperMeta::clone(&hit.paper));
            }
        }
    } else if args.ids.is_empty() {
        datastore.store.each_paper(|paper| {
            if filter.accepts(&paper) {
                papers.push(paper);
            }
            Ok(())
        })?;
    } else {
        for id in &args.ids {
            let paper = stored(datastore, name, id)?;
            if filter.accepts(&paper) && papers.iter().all(|known| known.id != paper.id) {
                papers.push(paper);
            }
        }
    }
    if papers.is_empty() {
        return Err(CommandError::user(format!("{name} has no such paper"))
            .with_hint("openscholar papers list"));
    }
    Ok(papers)
}

fn stored(datastore: &OpenDatastore, name: &str, named: &str) -> Result<PaperMeta, CommandError> {
    let id = address::stored(&datastore.store, name, named)?;
    let paper = datastore.store.paper(&id)?;
    paper.map(|paper| paper.meta).ok_or_else(|| {
        CommandError::user(format!("{name} has no paper {id}")).with_hint("openscholar papers list")
    })
}

/// The notice that says why no model fills the cells, or which one does.
fn of_model(generator: Option<&dyn Generator>) -> Notice {
    match generator {
        Some(generator) => Notice::new(
            NoticeKind::Weak,
            format!(
                "{} filled the cells; every one is located in its paper, and none was judged",
                generator.info().model
            ),
        ),
        None => Notice::new(
            NoticeKind::Weak,
            "rules filled the cells: docs/results/tables.md says how often they are right",
        ),
    }
}

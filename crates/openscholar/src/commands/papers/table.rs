//! `openscholar papers table`.

mod cache;
mod columns;
mod fill;
mod output;

use std::process::ExitCode;

use scholar_core::{
    Generator, Notice, NoticeKind, PaperMeta, Query, Question, SearchFilter, SearchMode,
    SearchRequest,
};
use scholar_pipeline::tabulate::{Cell, Column};
use serde::Serialize;

use super::address;
use crate::app::App;
use crate::args::{TableArgs, TableFormatArg};
use crate::error::{CommandError, EXIT_MISSING_EVIDENCE};
use crate::wiring::OpenDatastore;
use fill::Filled;

/// Passages looked through for each paper of a search.
const PASSAGES_OF_PAPER: usize = 8;

/// A table with everything a reader should know of it.
#[derive(Debug, Serialize)]
struct TableDocument {
    schema: &'static str,
    datastore: String,
    /// What filled the cells.
    method: String,
    columns: Vec<Column>,
    rows: Vec<TableRow>,
    notices: Vec<Notice>,
}

/// A paper and its cells, in the order of the columns; `None` is absent.
#[derive(Debug, Serialize)]
struct TableRow {
    paper: PaperMeta,
    cells: Vec<Option<Cell>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notices: Vec<Notice>,
}

pub(super) fn run(name: &str, args: TableArgs, app: &App) -> Result<ExitCode, CommandError> {
    if args.format == Some(TableFormatArg::Docx) && args.output.is_none() {
        return Err(CommandError::user("a DOCX file cannot be printed")
            .with_hint("name a file: --output table.docx"));
    }
    let columns = columns::read(&args.columns)?;
    app.home.datastore(name)?;
    let document = app.block_on_to_the_end(make(name, &args, columns, app))??;
    output::write(&document, &args, app)?;
    let is_empty = document.rows.iter().all(|row| row.cells.iter().all(Option::is_none));
    Ok(if is_empty { ExitCode::from(EXIT_MISSING_EVIDENCE) } else { ExitCode::SUCCESS })
}

async fn make(
    name: &str,
    args: &TableArgs,
    columns: Vec<Column>,
    app: &App,
) -> Result<TableDocument, CommandError> {
    let datastore = OpenDatastore::open(app, name).await?;
    let papers = papers(&datastore, name, args).await?;
    let Filled { rows, method, notices } =
        fill::fill(&datastore, papers, &columns, args, app).await?;
    Ok(TableDocument {
        schema: "openscholar.table/1",
        datastore: name.to_owned(),
        method,
        columns,
        rows,
        notices,
    })
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

//! `openscholar search QUERY`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::ExitCode;

use scholar_core::text::untrusted;
use scholar_core::{
    Explanation, Notice, PaperId, PaperMeta, Query, Retrieved, SearchFilter, SearchRequest,
    Searched,
};
use scholar_formats::export::{self, ListFormat};
use scholar_pipeline::retrieve::sources::SourcesConfig;
use serde::Serialize;

use crate::app::App;
use crate::args::{PapersFormatArg, SearchArgs, SearchByArg};
use crate::commands::papers::bare;
use crate::commands::papers::list::{CSV_HEADER, csv_cells};
use crate::error::CommandError;
use crate::output::csv;
use crate::printer::{Style, Styled};
use crate::wiring::{self, Sources};

/// Passages the reranker sees, so that it has something to choose from.
const RERANK_DEPTH: usize = 100;
/// Passages looked at for each paper that is listed.
const PASSAGES_A_PAPER: usize = 5;
/// Characters of a passage shown to people.
const SNIPPET_CHARS: usize = 300;

/// A hit as printed.
#[derive(Debug, Serialize)]
struct Hit {
    rank: usize,
    #[serde(flatten)]
    found: Retrieved,
    #[serde(skip_serializing_if = "Option::is_none")]
    rerank_score: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rerank_explanation: Option<Explanation>,
    /// With one row a paper, how many of its passages were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    passages: Option<usize>,
}

impl From<Retrieved> for Hit {
    fn from(found: Retrieved) -> Self {
        Self { rank: 0, found, rerank_score: None, rerank_explanation: None, passages: None }
    }
}

pub(crate) fn run(args: SearchArgs, app: &App) -> Result<ExitCode, CommandError> {
    let SearchArgs {
        query,
        top_k,
        mode,
        rerank,
        reranker,
        by,
        format,
        explain,
        exact,
        datastore,
        search_sources,
        filter,
    } = args;
    super::papers::refuse_json_with_format(format.is_some(), app)?;
    if format.is_some() && by == SearchByArg::Passage {
        return Err(CommandError::usage("--format lists papers").with_hint("add --by paper"));
    }
    let rerank = rerank || reranker.is_some();
    let question = scholar_core::Question::new(&query)
        .map_err(|error| CommandError::user(error.to_string()))?;
    let query = Query::from(&question);
    if top_k == 0 {
        return Err(CommandError::user("--top-k must be at least 1"));
    }
    let name = app.datastore_name(datastore.as_deref());
    let (hits, notices) = app.block_on(async {
        let mut datastore = wiring::OpenDatastore::open(app, &name).await?;
        if exact {
            datastore = datastore.exact(app)?;
        }
        let request = SearchRequest {
            query: query.clone(),
            top_k: match by {
                SearchByArg::Paper => (top_k * PASSAGES_A_PAPER).max(RERANK_DEPTH),
                SearchByArg::Passage if rerank => top_k.max(RERANK_DEPTH),
                SearchByArg::Passage => top_k,
            },
            mode: mode.into(),
            filter: SearchFilter::from(filter),
        };
        let about_filter = if search_sources.asks_others() {
            None
        } else {
            datastore.check_filter(&request.filter, &name)?
        };
        let sources = Sources::open(app, &search_sources, SourcesConfig::quick())?;
        let retriever = sources.retriever(&datastore, &query);
        let Searched { hits: found, notices } = retriever.retriever.explore(&request).await?;
        let notices: Vec<Notice> =
            about_filter.iter().chain(&sources.notices).chain(&notices).cloned().collect();
        for notice in &notices {
            app.printer.notice(notice);
        }
        let mut hits: Vec<Hit> = found.into_iter().map(Hit::from).collect();
        if rerank {
            rerank_hits(&mut hits, &query, &datastore, reranker.as_deref(), app).await?;
        }
        if by == SearchByArg::Paper {
            keep_best_of_papers(&mut hits);
        }
        hits.truncate(top_k);
        for (idx, hit) in hits.iter_mut().enumerate() {
            hit.rank = idx + 1;
        }
        Ok::<_, CommandError>((hits, notices))
    })??;
    let shown = Shown { query: &query, datastore: &name, hits: &hits, notices: &notices };
    shown.print(format, explain, app)?;
    Ok(ExitCode::SUCCESS)
}

/// Results as they are printed.
struct Shown<'a> {
    query: &'a Query,
    datastore: &'a str,
    hits: &'a [Hit],
    notices: &'a [Notice],
}

impl Shown<'_> {
    fn print(
        &self,
        format: Option<PapersFormatArg>,
        explain: bool,
        app: &App,
    ) -> Result<(), CommandError> {
        if let Some(format) = format {
            let papers = self.hits.iter().map(|hit| hit.found.paper.as_ref().clone()).collect();
            app.printer.out(listed(self.hits, papers, format).trim_end())?;
        } else if app.printer.json {
            app.printer.json(&serde_json::json!({
                "schema": "openscholar.search/1", "query": self.query, "datastore": self.datastore, "hits": self.hits,
                "notices": self.notices,
            }))?;
        } else {
            for hit in self.hits {
                app.printer.out_styled(&render(hit, explain))?;
            }
            if self.hits.is_empty() {
                app.printer.say("nothing found");
            }
        }
        Ok(())
    }
}

/// Orders hits by what the reranker says of their passages.
async fn rerank_hits(
    hits: &mut [Hit],
    query: &Query,
    datastore: &wiring::OpenDatastore,
    named: Option<&str>,
    app: &App,
) -> Result<(), CommandError> {
    let (reranker, notice) = wiring::reranker::open(app, datastore, named, None).await?;
    if let Some(notice) = notice {
        app.printer.say(&notice.message);
    }
    let passages: Vec<Retrieved> = hits.iter().map(|hit| hit.found.clone()).collect();
    let scores = reranker.explain(query, &passages).await?;
    for (hit, score) in hits.iter_mut().zip(scores) {
        hit.rerank_score = Some(score.value);
        hit.rerank_explanation = Some(score);
    }
    hits.sort_by(|a, b| b.rerank_score.unwrap_or(0.0).total_cmp(&a.rerank_score.unwrap_or(0.0)));
    app.printer.say(&format!("reranked by {}", reranker.info().name));
    Ok(())
}

/// Keeps the best passage of each paper, and how many of its passages were found.
fn keep_best_of_papers(hits: &mut Vec<Hit>) {
    let mut counts: BTreeMap<PaperId, usize> = BTreeMap::new();
    for hit in hits.iter() {
        *counts.entry(hit.found.paper.id.clone()).or_default() += 1;
    }
    let mut seen: BTreeSet<PaperId> = BTreeSet::new();
    hits.retain(|hit| seen.insert(hit.found.paper.id.clone()));
    for hit in hits {
        hit.passages = counts.get(&hit.found.paper.id).copied();
    }
}

/// The papers as a list that other programs read.
fn listed(hits: &[Hit], papers: Vec<PaperMeta>, format: PapersFormatArg) -> String {
    match format {
        PapersFormatArg::Bibtex => export::papers(&bare(papers), ListFormat::Bibtex),
        PapersFormatArg::Csv => {
            let header =
                ["rank", "score"].iter().chain(&CSV_HEADER).chain(&["passages", "best_passage"]);
            let mut text = csv::row(&header.collect::<Vec<_>>());
            for hit in hits {
                let score = hit.rerank_score.unwrap_or_else(|| hit.found.score.value());
                let mut cells = vec![hit.rank.to_string(), format!("{score:.4}")];
                cells.extend(csv_cells(&hit.found.paper));
                cells.push(hit.passages.unwrap_or(1).to_string());
                cells.push(hit.found.passage.text.clone());
                text.push_str(&csv::row(&cells));
            }
            text
        }
    }
}

fn render(hit: &Hit, explain: bool) -> Styled {
    let Hit { rank, found, rerank_score, rerank_explanation, passages } = hit;
    let paper = &found.paper;
    let year = paper.year.map_or_else(|| "n.d.".to_owned(), |year| year.to_string());
    let rerank = rerank_score.map(|score| format!(", reranked {score:.3}")).unwrap_or_default();
    let others = passages.map(|count| format!(", {count} passages")).unwrap_or_default();
    let from = match found.found_by.is_empty() {
        true => String::new(),
        false => format!(", from {}", untrusted(&found.found_by.join(", ")).line()),
    };
    let mut text = Styled::from(format!("{rank:>2}. ").as_str());
    text.styled(Style::Strong, untrusted(&paper.display_title()).line().to_string());
    let _infallible = writeln!(
        text,
        " ({year})\n    {} · score {:.4}{rerank}{others}{from}",
        untrusted(&found.passage.id.to_string()).line(),
        found.score.value()
    );
    let kind = match found.passage.kind {
        kind if kind.is_prose() => String::new(),
        kind => format!("[{}] ", kind.name()),
    };
    let snippet: String = found.passage.text.chars().take(SNIPPET_CHARS).collect();
    let _infallible = writeln!(
        text,
        "    {kind}{}{}",
        untrusted(&snippet).line(),
        if snippet.len() < found.passage.text.len() { " …" } else { "" }
    );
    let lines = if explain { usize::MAX } else { 1 };
    for explanation in rerank_explanation.iter().chain([&found.explanation]) {
        for line in explanation.to_string().lines().take(lines) {
            text.plain("    ").styled(Style::Faint, line).plain("\n");
        }
    }
    text
}

//! `openscholar search QUERY`.

use std::fmt::Write as _;
use std::process::ExitCode;

use scholar_core::text::untrusted;
use scholar_core::{Explanation, Notice, Query, Retrieved, SearchFilter, SearchRequest, Searched};
use scholar_pipeline::retrieve::sources::SourcesConfig;
use serde::Serialize;

use crate::app::App;
use crate::args::SearchArgs;
use crate::error::CommandError;
use crate::printer::{Style, Styled};
use crate::wiring::{self, Sources};

/// Passages the reranker sees, so that it has something to choose from.
const RERANK_DEPTH: usize = 100;
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
}

impl From<Retrieved> for Hit {
    fn from(found: Retrieved) -> Self {
        Self { rank: 0, found, rerank_score: None, rerank_explanation: None }
    }
}

pub(crate) fn run(args: SearchArgs, app: &App) -> Result<ExitCode, CommandError> {
    let SearchArgs {
        query,
        top_k,
        mode,
        rerank,
        reranker,
        explain,
        exact,
        datastore,
        search_sources,
        filter,
    } = args;
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
            top_k: if rerank { top_k.max(RERANK_DEPTH) } else { top_k },
            mode: mode.into(),
            filter: SearchFilter::from(filter),
        };
        let sources = Sources::open(app, &search_sources, SourcesConfig::quick())?;
        let retriever = sources.retriever(&datastore, &query);
        let Searched { hits: found, notices } = retriever.retriever.explore(&request).await?;
        let notices: Vec<Notice> = sources.notices.iter().chain(&notices).cloned().collect();
        for notice in &notices {
            app.printer.notice(notice);
        }
        let mut hits: Vec<Hit> = found.into_iter().map(Hit::from).collect();
        if rerank {
            let (reranker, notice) =
                wiring::reranker::open(app, &datastore, reranker.as_deref(), None).await?;
            if let Some(notice) = notice {
                app.printer.say(&notice.message);
            }
            let passages: Vec<Retrieved> = hits.iter().map(|hit| hit.found.clone()).collect();
            let scores = reranker.explain(&query, &passages).await?;
            for (hit, score) in hits.iter_mut().zip(scores) {
                hit.rerank_score = Some(score.value);
                hit.rerank_explanation = Some(score);
            }
            hits.sort_by(|a, b| {
                b.rerank_score.unwrap_or(0.0).total_cmp(&a.rerank_score.unwrap_or(0.0))
            });
            app.printer.say(&format!("reranked by {}", reranker.info().name));
        }
        hits.truncate(top_k);
        for (idx, hit) in hits.iter_mut().enumerate() {
            hit.rank = idx + 1;
        }
        Ok::<_, CommandError>((hits, notices))
    })??;
    if app.printer.json {
        app.printer.json(&serde_json::json!({
            "schema": "openscholar.search/1", "query": query, "datastore": name, "hits": hits,
            "notices": notices,
        }))?;
    } else {
        for hit in &hits {
            app.printer.out_styled(&render(hit, explain))?;
        }
        if hits.is_empty() {
            app.printer.say("nothing found");
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn render(hit: &Hit, explain: bool) -> Styled {
    let Hit { rank, found, rerank_score, rerank_explanation } = hit;
    let paper = &found.paper;
    let year = paper.year.map_or_else(|| "n.d.".to_owned(), |year| year.to_string());
    let rerank = rerank_score.map(|score| format!(", reranked {score:.3}")).unwrap_or_default();
    let mut text = Styled::from(format!("{rank:>2}. ").as_str());
    text.styled(Style::Strong, untrusted(&paper.display_title()).line().to_string());
    let _infallible = writeln!(
        text,
        " ({year})\n    {} · score {:.4}{rerank}",
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

//! `openscholar papers references|cited-by|related ID --sources …`: the citation graph as others know it.

use std::process::ExitCode;
use std::time::Duration;

use scholar_clients::semantic_scholar::{Listed, RecommendFrom, S2Edge, S2Paper};
use scholar_clients::{Fetcher, OpenAlex, SemanticScholar};
use scholar_core::{Notice, NoticeKind, Paper, PaperId, PortError, PortErrorKind, SearchFilter};
use scholar_pipeline::retrieve::sources::{Candidate, Provenance, reconcile};
use serde_json::{Value, json};

use super::keep;
use crate::app::App;
use crate::args::{GraphSourceArg, GraphSourceArgs};
use crate::error::CommandError;
use crate::output::added;
use crate::output::table::Table;
use crate::wiring::graph::{cited, unknown};
use crate::wiring::sources;

/// Characters of a title shown to people.
const TITLE_CHARS: usize = 70;

/// How the papers asked for are tied to a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    References,
    CitedBy,
    Related,
}

impl Relation {
    fn name(self) -> &'static str {
        match self {
            Self::References => "references",
            Self::CitedBy => "cited-by",
            Self::Related => "related",
        }
    }

    /// The schema of what is printed, which keeps the name that programs know.
    fn schema(self) -> String {
        let name = if self == Self::CitedBy { "citers" } else { self.name() };
        format!("openscholar.{name}-found/1")
    }
}

/// What is asked about a paper.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) relation: Relation,
    pub(super) id: &'a PaperId,
    /// Most papers of an answer.
    pub(super) limit: usize,
}

/// What one source lists, with what it says of each citation.
#[derive(Default)]
struct Listing {
    papers: Vec<(Paper, Value)>,
    notices: Vec<Notice>,
}

/// Asks `beyond.sources` for at most `limit` papers around `id`, prints them, and adds them to a datastore if that is wanted.
pub(super) fn run(
    name: &str,
    question: Question<'_>,
    graph_sources: &GraphSourceArgs,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let Question { relation, id, limit } = question;
    let GraphSourceArgs { sources, offline, before, save } = graph_sources;
    let filter = SearchFilter { published_before: *before, ..SearchFilter::none() };
    let Answers { found, mut notices, citations } = app.block_on(async {
        let seconds = app.config.sources.deadline_seconds.unwrap_or(sources::DEADLINE_SECONDS);
        let fetcher = sources::fetcher(app, *offline)?.within(Duration::from_secs(seconds));
        ask_all(question, sources, &fetcher, &filter).await
    })??;
    let mut candidates = reconcile(found);
    candidates.truncate(limit);
    notices.sort_by(|a, b| a.message.cmp(&b.message));
    notices.dedup();
    for notice in &notices {
        app.printer.notice(notice);
    }
    print(
        question,
        &Printed { candidates: &candidates, notices: &notices, citations: &citations },
        app,
    )?;
    if let Some(into) = save {
        let into = into.as_deref().unwrap_or(name);
        let papers: Vec<Paper> = candidates.into_iter().map(|one| one.paper).collect();
        if !papers.is_empty() {
            let source = format!("papers {} {id}", relation.name());
            let done = app.block_on_to_the_end(keep::add(into, papers, &source, false, app))??;
            added::report(&format!("saved to {into}"), &done, app);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Citations as their sources describe them, by the paper at the other end.
type Citations = Vec<(PaperId, Value)>;

/// What all sources list.
#[derive(Default)]
struct Answers {
    found: Vec<(Provenance, Paper)>,
    notices: Vec<Notice>,
    citations: Citations,
}

/// What all sources list. One that fails is a notice; when all fail, the first failure is the error.
async fn ask_all(
    question: Question<'_>,
    sources: &[GraphSourceArg],
    fetcher: &Fetcher,
    filter: &SearchFilter,
) -> Result<Answers, CommandError> {
    let Question { relation, id, limit: _ } = question;
    let mut answers = Answers::default();
    let Answers { found, notices, citations } = &mut answers;
    let (mut failure, mut answered) = (None, false);
    for source in sources {
        let name = source.name();
        let listing = match source {
            GraphSourceArg::S2 => {
                let client = SemanticScholar::new(fetcher.clone());
                semantic_scholar(&client, question, filter).await
            }
            GraphSourceArg::Openalex => {
                let client = OpenAlex::new(fetcher.clone());
                openalex(&client, question, filter).await
            }
        };
        match listing {
            Ok(Listing { papers, notices: said }) => {
                answered = true;
                notices.extend(said);
                for (rank, (paper, citation)) in papers.into_iter().enumerate() {
                    if !citation.is_null() {
                        citations.push((paper.meta.id.clone(), citation));
                    }
                    let text = format!("{} {id}", relation.name());
                    found.push((
                        Provenance { source: name.to_owned(), text, rank: rank + 1 },
                        paper,
                    ));
                }
            }
            Err(error) => {
                let message = format!("source {name} was skipped: {error}");
                let mut notice = Notice::new(NoticeKind::SourceDown, message);
                notice.hint = error.hint().map(str::to_owned);
                notices.push(notice);
                failure.get_or_insert(error);
            }
        }
    }
    match failure {
        Some(error) if !answered => Err(error.into()),
        _ => Ok(answers),
    }
}

async fn semantic_scholar(
    client: &SemanticScholar,
    question: Question<'_>,
    filter: &SearchFilter,
) -> Result<Listing, PortError> {
    let Question { relation, id, limit } = question;
    let edges = |listed: Listed<S2Edge>| Listing {
        papers: listed.items.into_iter().map(edge).collect(),
        notices: listed.notices,
    };
    match relation {
        Relation::References => Ok(edges(client.references(id, limit, filter).await?)),
        Relation::CitedBy => Ok(edges(client.citations(id, limit, filter).await?)),
        Relation::Related => {
            // Papers of all years are recommended in computer science alone, of other fields the recent ones.
            let all = RecommendFrom::AllComputerScience;
            let mut listed = client.recommend_for(id, all, limit, filter).await?;
            if listed.items.is_empty() {
                listed = client.recommend_for(id, RecommendFrom::Recent, limit, filter).await?;
            }
            let papers = listed.items.into_iter().map(|S2Paper { paper, .. }| (paper, Value::Null));
            Ok(Listing { papers: papers.collect(), notices: listed.notices })
        }
    }
}

fn edge(edge: S2Edge) -> (Paper, Value) {
    let S2Edge { paper, influential, contexts, intents } = edge;
    let citation = json!({"influential": influential, "contexts": contexts, "intents": intents});
    (paper.paper, citation)
}

async fn openalex(
    client: &OpenAlex,
    question: Question<'_>,
    filter: &SearchFilter,
) -> Result<Listing, PortError> {
    let Question { relation, id, limit } = question;
    if relation == Relation::Related {
        let what = "OpenAlex names no related papers";
        return Err(
            PortError::new(PortErrorKind::Rejected, what).with_hint("leave it out of --sources")
        );
    }
    let work = client.work(id).await?.ok_or_else(|| unknown(id))?;
    let meta = &work.paper.meta;
    let (papers, notices): (Vec<Paper>, _) = if relation == Relation::References {
        let (mut papers, notices) = cited(client, &work.paper.references).await?;
        papers.retain(|paper| filter.accepts(&paper.meta));
        papers.truncate(limit);
        (papers, notices)
    } else {
        let own = meta.ids().find(|id| matches!(id, PaperId::OpenAlex(_)));
        let listed = client.citing(own.unwrap_or(&meta.id), filter, limit).await?;
        (listed.works.into_iter().map(|work| work.paper).collect(), listed.notices)
    };
    Ok(Listing { papers: papers.into_iter().map(|paper| (paper, Value::Null)).collect(), notices })
}

/// What is shown.
struct Printed<'a> {
    candidates: &'a [Candidate],
    notices: &'a [Notice],
    citations: &'a Citations,
}

fn print(question: Question<'_>, printed: &Printed<'_>, app: &App) -> Result<(), CommandError> {
    let Question { relation, id, limit: _ } = question;
    let Printed { candidates, notices, citations } = printed;
    let by = |candidate: &Candidate| -> Vec<String> {
        let mut names: Vec<String> = candidate.found.iter().map(|way| way.source.clone()).collect();
        names.sort();
        names.dedup();
        names
    };
    if app.printer.json {
        let papers: Vec<Value> = candidates
            .iter()
            .map(|candidate| {
                let meta = &candidate.paper.meta;
                let citation = citations.iter().find(|(cited, _)| meta.ids().any(|id| id == cited));
                let citation = citation.map(|(_, citation)| citation);
                json!({"paper": meta, "found_by": by(candidate), "citation": citation})
            })
            .collect();
        return app.printer.json(&json!({
            "schema": relation.schema(), "id": id, "papers": papers, "notices": notices,
        }));
    }
    let mut table = Table::with_header(["id", "year", "cited", "title", "found by"]);
    for candidate in *candidates {
        let meta = &candidate.paper.meta;
        table.add_row([
            meta.id.to_string(),
            meta.year.map(|year| year.to_string()).unwrap_or_default(),
            meta.citation_count.map(|count| count.to_string()).unwrap_or_default(),
            meta.display_title().chars().take(TITLE_CHARS).collect::<String>(),
            by(candidate).join(", "),
        ]);
    }
    app.printer.out(&table.to_string())?;
    let what = match relation {
        Relation::References => "that it cites",
        Relation::CitedBy => "that cite it",
        Relation::Related => "like it",
    };
    app.printer.say(&format!("{} papers {what}", candidates.len()));
    Ok(())
}

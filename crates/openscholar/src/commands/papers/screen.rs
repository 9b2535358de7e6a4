//! `openscholar papers screen`.

mod by_hand;
pub(crate) mod criteria_file;
pub(crate) mod output;
pub(crate) mod prisma;
mod screener;
mod select;
pub(crate) mod state;

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering as MemoryOrdering};

use futures::StreamExt as _;
use scholar_core::{Encoder as _, Notice, NoticeKind, PaperId, PortError, SearchFilter, Side};
use scholar_datastore::Datastore;
use scholar_pipeline::budget::BudgetExceeded;
use scholar_pipeline::screen::{
    Criteria, Criterion, CriterionDecision, Decision, PaperDecision, Ranked, RankedBy, RankedPaper,
    Ranking, RankingQuery, Relevance, ScreenPaper, ScreenedPaper as Row, Screening, rank,
};
use scholar_pipeline::{Event, Meter};

use super::audience::Audience;
use super::{address, open};
use crate::app::App;
use crate::args::{ScreenArgs, ScreenFormatArg, ScreenModeArg, ScreenModelArgs};
use crate::error::CommandError;
use crate::wiring::OpenDatastore;
use crate::{progress, runs};
use screener::Screener;
use select::{Candidate, Selected};
use state::State;

/// The paper as it is screened; `None` where the datastore has none of that name.
pub(crate) fn read_paper(
    store: &Datastore,
    id: &PaperId,
) -> Result<Option<ScreenPaper>, CommandError> {
    let Some(paper) = store.paper(id)? else { return Ok(None) };
    let passages = store.passages_of(&paper.meta.id)?;
    Ok(Some(ScreenPaper { id: paper.meta.id, title: paper.meta.title, passages }))
}

/// Vectors scaled to length 1; one of zeros stays as it is.
pub(crate) fn unit_vectors(vectors: Vec<Option<Vec<f32>>>) -> Vec<Option<Vec<f32>>> {
    let unit = |vector: Vec<f32>| {
        let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        if norm > 0.0 { vector.iter().map(|value| value / norm).collect() } else { vector }
    };
    vectors.into_iter().map(|vector| vector.map(unit)).collect()
}

pub(super) fn run(name: &str, args: ScreenArgs, app: &App) -> Result<ExitCode, CommandError> {
    let criteria = criteria_file::read(&args.criteria)?;
    let folder = args.out.clone().unwrap_or_else(|| criteria_file::folder_beside(&args.criteria));
    if !args.set.is_empty() || args.decisions.is_some() {
        let store = open(name, app)?;
        let mut state = State::open(&folder)?;
        return match &args.decisions {
            Some(path) => by_hand::read(path, &store, &mut state, app),
            None => {
                let set = args.set.into_iter().map(|(named, decision)| {
                    Ok((address::stored(&store, name, &named)?, decision))
                });
                let set = set.collect::<Result<Vec<_>, CommandError>>()?;
                by_hand::set(set, args.reason.as_deref(), &store, &mut state, app)
            }
        };
    }
    let state = State::open(&folder)?;
    let datastore = app.block_on(OpenDatastore::open(app, name))??;
    let how = How { mode: args.mode, model: &args.model, limit: args.limit };
    let audience = Audience::terminal(app);
    let opening = Work::open(&criteria, &datastore, how, &audience, app);
    let mut work = app.block_on(opening)??;
    let filter = SearchFilter::from(args.filter.clone());
    let ids = address::all_stored(&datastore.store, name, &args.ids)?;
    app.heed_signals()?;
    let (ranked, state) =
        app.block_on_to_the_end(Box::pin(work.screen(&ids, &filter, state)))??;
    for notice in &work.notices {
        app.printer.notice(notice);
    }
    if let Some(spent) = work.screener.spent() {
        app.printer.say(&format!("the model: {spent}"));
    }
    let results = ranked.decided(&criteria.criteria, |id| state.person(id));
    show(&args, &results, &work, &folder)
}

/// How papers are decided on.
#[derive(Clone, Copy)]
pub(crate) struct How<'a> {
    pub(crate) mode: ScreenModeArg,
    pub(crate) model: &'a ScreenModelArgs,
    /// Papers that are decided on at most, the likeliest first.
    pub(crate) limit: Option<usize>,
}

/// What a screening is done with.
pub(crate) struct Work<'a> {
    criteria: &'a Criteria,
    datastore: &'a OpenDatastore,
    screener: Screener,
    limit: Option<usize>,
    audience: &'a Audience,
    app: &'a App,
    /// What a person should know.
    pub(crate) notices: Vec<Notice>,
}

/// What the order of the papers is made of, besides the decisions.
struct Ordering {
    query: RankingQuery,
    /// Embeddings of the query's texts, of length 1.
    queries: Vec<Vec<f32>>,
    /// Embedding of each paper, of length 1.
    vectors: Vec<Option<Vec<f32>>>,
}

impl Ordering {
    fn rank(&self, candidates: &[Candidate], scores: &[Option<f32>]) -> Vec<RankedBy> {
        let papers: Vec<Ranking<'_>> = candidates
            .iter()
            .zip(&self.vectors)
            .zip(scores)
            .map(|((paper, vector), score)| Ranking {
                text: &paper.head,
                vector: vector.as_deref(),
                score: *score,
            })
            .collect();
        rank(&self.query, &self.queries, &papers)
    }
}

/// A paper to be decided on, with the decisions on its criteria that still hold.
type Pending<'a> = (&'a Candidate, Vec<Option<CriterionDecision>>);

impl<'a> Work<'a> {
    /// Opens the models.
    pub(crate) async fn open(
        criteria: &'a Criteria,
        datastore: &'a OpenDatastore,
        how: How<'_>,
        audience: &'a Audience,
        app: &'a App,
    ) -> Result<Self, CommandError> {
        let How { mode, model, limit } = how;
        let mut notices = Vec::new();
        let opening = Screener::open(mode, model, criteria, datastore, app, &mut notices);
        let screener = Box::pin(opening).await?;
        Ok(Self { criteria, datastore, screener, limit, audience, app, notices })
    }

    /// What decides, with the names of its models.
    pub(crate) fn method(&self) -> String {
        self.screener.method()
    }

    /// The meter of the model that decides, if one does.
    pub(crate) fn meter(&self) -> Option<&Meter> {
        self.screener.meter()
    }

    /// Decides on the papers among `ids` (all, if empty) that `filter` accepts, and ranks them. What was decided on before, here or
    /// by a person, is not decided on again.
    ///
    /// # Errors
    /// When something fails, or the audience ends it; what was decided is kept.
    pub(crate) async fn screen(
        &mut self,
        ids: &[PaperId],
        filter: &SearchFilter,
        mut state: State,
    ) -> Result<(Ranked, State), CommandError> {
        let selected = select::select(&self.datastore.store, ids, filter)?;
        let ordering = self.ordering(&selected.candidates)?;
        let told = self.decide_all(&selected.candidates, &ordering, &mut state).await?;
        self.notices.extend(told);
        Ok((self.ranked(selected, &ordering, &state), state))
    }

    fn ordering(&self, candidates: &[Candidate]) -> Result<Ordering, CommandError> {
        let query = RankingQuery::of(self.criteria);
        let texts: Vec<&str> = query.texts.iter().map(String::as_str).collect();
        let queries = self.datastore.encoder.encode(Side::Query, &texts)?.unit_rows();
        let ids: Vec<PaperId> = candidates.iter().map(|paper| paper.meta.id.clone()).collect();
        let vectors = unit_vectors(self.datastore.store.first_vectors(&ids)?);
        Ok(Ordering { query, queries, vectors })
    }

    /// Decides on the papers on which neither the program nor a person has decided, at most `limit`, the likeliest first; what a
    /// person should know of it.
    async fn decide_all(
        &self,
        candidates: &[Candidate],
        ordering: &Ordering,
        state: &mut State,
    ) -> Result<Vec<Notice>, CommandError> {
        let method = self.screener.method();
        let mut pending = self.pending(candidates, ordering, &method, state)?;
        pending.truncate(self.limit.unwrap_or(usize::MAX));
        let total = pending.len();
        let bar = progress::counted(&self.audience.printer, "papers", u64::try_from(total).ok())
            .with_message("screening");
        let (mut done, mut unread) = (0_usize, 0_usize);
        let halted = AtomicBool::new(false);
        let decide = async |(paper, known)| {
            // After a failure nothing is begun; what was begun is kept.
            if halted.load(MemoryOrdering::Relaxed) {
                return Ok(None);
            }
            let (decision, left) = self.decide(paper, known, &method).await?;
            Ok(Some((paper, decision, left)))
        };
        let work = async {
            let decided = futures::stream::iter(pending)
                .map(decide)
                .buffer_unordered(self.screener.at_once());
            futures::pin_mut!(decided);
            let mut stopped = None;
            while let Some(outcome) = decided.next().await {
                match outcome {
                    Ok(Some((paper, decision, left))) => {
                        done += 1;
                        unread += usize::from(left > 0);
                        bar.inc(1);
                        self.audience.observer.on_event(&read(paper, &decision, done, total));
                        state.keep_program(App::now(), decision)?;
                    }
                    Ok(None) => {}
                    Err(error) => {
                        halted.store(true, MemoryOrdering::Relaxed);
                        stopped.get_or_insert(error);
                    }
                }
            }
            stopped.map_or(Ok(()), Err::<(), Stopped>)
        };
        let ended = tokio::select! {
            // What the work itself says of its end is better than what is said here.
            biased;
            ended = work => Some(ended),
            () = self.audience.ends(self.app) => None,
        };
        bar.finish_and_clear();
        let mut notices = Vec::new();
        if unread > 0 {
            notices.push(Notice::new(
                NoticeKind::Truncated,
                format!("{unread} long papers were read in part: the abstract and the passages nearest to the criteria"),
            ));
        }
        let kept = || format!("{done} of {total} papers are screened and kept");
        match ended {
            Some(Ok(())) => Ok(notices),
            Some(Err(Stopped::Budget(exceeded))) => {
                notices.push(
                    Notice::new(NoticeKind::Budget, format!("{exceeded}; {}", kept()))
                        .with_hint("raise the limit and run the same command again"),
                );
                Ok(notices)
            }
            Some(Err(Stopped::Failed(error))) => Err(error.with_hint(format!(
                "{}; run the same command again: it continues where it stopped",
                kept()
            ))),
            None => Err(CommandError::interrupted_resumable(format!("interrupted; {}", kept()))),
        }
    }

    /// The papers on which neither the program nor a person has decided, the likeliest first, with the decisions that still hold.
    fn pending<'c>(
        &self,
        candidates: &'c [Candidate],
        ordering: &Ordering,
        method: &str,
        state: &mut State,
    ) -> Result<Vec<Pending<'c>>, CommandError> {
        let ranked = ordering.rank(candidates, &vec![None; candidates.len()]);
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by(|a, b| ranked[*b].total.total_cmp(&ranked[*a].total).then(a.cmp(b)));
        let mut pending = Vec::new();
        for at in order {
            let paper = &candidates[at];
            if state.person(&paper.meta.id).is_some() {
                continue;
            }
            let known = state.known(&paper.meta.id, &paper.text_digest, method, self.criteria);
            if known.iter().all(Option::is_some) {
                let decisions = known.into_iter().flatten().collect();
                let again = self.decision(paper, method, decisions);
                // Renamed or reordered criteria need no model.
                if state.program(&paper.meta.id) != Some(&again) {
                    state.keep_program(App::now(), again)?;
                }
            } else {
                pending.push((paper, known));
            }
        }
        Ok(pending)
    }

    /// The decision on one paper, and how many of its passages were not read.
    async fn decide(
        &self,
        paper: &Candidate,
        known: Vec<Option<CriterionDecision>>,
        method: &str,
    ) -> Result<(PaperDecision, usize), Stopped> {
        let criteria = &self.criteria.criteria;
        let asked: Vec<&Criterion> = criteria
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none())
            .map(|(criterion, _)| criterion)
            .collect();
        let read = read_paper(&self.datastore.store, &paper.meta.id).map_err(Stopped::Failed)?;
        let read = read.unwrap_or_else(|| ScreenPaper {
            id: paper.meta.id.clone(),
            title: paper.meta.title.clone(),
            passages: Vec::new(),
        });
        let screened = self.screener.screen(&read, &asked).await.map_err(Stopped::of)?;
        let mut fresh = screened.decisions.into_iter();
        let decisions = known.into_iter().filter_map(|known| known.or_else(|| fresh.next()));
        Ok((self.decision(paper, method, decisions.collect()), screened.unread))
    }

    fn decision(
        &self,
        paper: &Candidate,
        method: &str,
        decisions: Vec<CriterionDecision>,
    ) -> PaperDecision {
        let id = paper.meta.id.clone();
        PaperDecision::new(id, paper.text_digest.clone(), method, decisions, self.criteria)
    }

    fn ranked(&self, selected: Selected, ordering: &Ordering, state: &State) -> Ranked {
        let Selected { candidates, duplicates, counts } = selected;
        let method = self.screener.method();
        let program = |paper: &Candidate| {
            // What another method or an older text led to does not count.
            state
                .program(&paper.meta.id)
                .filter(|known| known.method == method && known.text_digest == paper.text_digest)
        };
        let scores: Vec<Option<f32>> = candidates
            .iter()
            .map(|paper| program(paper).filter(|_| paper.has_text).map(|known| known.score))
            .collect();
        let ranked = ordering.rank(&candidates, &scores);
        let labels: Vec<(usize, bool)> = candidates
            .iter()
            .enumerate()
            .filter_map(|(at, paper)| match state.person(&paper.meta.id)?.decision {
                Decision::Include => Some((at, true)),
                Decision::Exclude => Some((at, false)),
                Decision::Unclear => None,
            })
            .collect();
        let vectors: Vec<Option<&[f32]>> = ordering.vectors.iter().map(Option::as_deref).collect();
        let totals: Vec<f32> = ranked.iter().map(|one| one.total).collect();
        let texts: Vec<&str> = candidates.iter().map(|paper| paper.head.as_str()).collect();
        let learned = Relevance::new(&texts, &vectors, &totals).scores(&labels);
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by(|a, b| learned[*b].total_cmp(&learned[*a]).then(a.cmp(b)));
        let paper = |at: usize| {
            let paper = &candidates[at];
            RankedPaper {
                paper: paper.meta.clone(),
                has_text: paper.has_text,
                ranked_by: ranked[at],
                program: program(paper).cloned(),
            }
        };
        let papers = order.into_iter().map(paper).collect();
        Ranked { papers, counts, duplicates, learnt_from: labels.len() }
    }
}

/// What is told of a paper that is decided on.
fn read(paper: &Candidate, decision: &PaperDecision, done: usize, of: usize) -> Event {
    let title = paper.meta.display_title().into_owned();
    let result = format!("{} ({})", decision.decision.name(), decision.reason);
    Event::PaperRead { done, of, title, result }
}

/// Why a screening ended early.
enum Stopped {
    Budget(BudgetExceeded),
    Failed(CommandError),
}

impl Stopped {
    fn of(error: PortError) -> Self {
        match BudgetExceeded::behind(&error) {
            Some(exceeded) => Self::Budget(exceeded),
            None => Self::Failed(error.into()),
        }
    }
}

impl From<CommandError> for Stopped {
    fn from(error: CommandError) -> Self {
        Self::Failed(error)
    }
}

fn show(
    args: &ScreenArgs,
    results: &Screening,
    work: &Work<'_>,
    folder: &Path,
) -> Result<ExitCode, CommandError> {
    let Screening { papers: rows, flow: counts, duplicates, learnt_from, notices: _ } = results;
    let (app, criteria) = (work.app, work.criteria);
    if let Some(path) = &args.prisma {
        runs::write_file(path, prisma::svg(&criteria.title, counts).as_bytes())?;
        app.printer.say(&format!("flow diagram written to {}", path.display()));
    }
    let only: Vec<Decision> = args.only.iter().map(|only| Decision::from(*only)).collect();
    let shown: Vec<&Row> = rows
        .iter()
        .filter(|row| only.is_empty() || row.decision.is_some_and(|one| only.contains(&one)))
        .collect();
    if app.printer.json && args.format.is_none() {
        app.printer.json(&serde_json::json!({
            "schema": "openscholar.screening/1", "title": criteria.title,
            "criteria": criteria.criteria, "method": work.screener.method(),
            "folder": folder.display().to_string(), "flow": counts, "learnt_from": learnt_from,
            "papers": shown, "duplicates": duplicates, "notices": work.notices,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let flow = prisma::text(counts);
    let text = match args.format {
        None => {
            app.printer.out(&output::table(&shown, args.rows))?;
            app.printer.out(flow.trim_end())?;
            if shown.len() > args.rows {
                app.printer.hint(&format!(
                    "{} of {} papers shown; --rows N shows more, --format csv --output FILE all",
                    args.rows,
                    shown.len()
                ));
            }
            if *learnt_from > 0 {
                app.printer
                    .say(&format!("ranked with the help of {learnt_from} decisions of yours"));
            }
            return Ok(ExitCode::SUCCESS);
        }
        Some(ScreenFormatArg::Csv) => output::csv(criteria, &shown),
        Some(ScreenFormatArg::Markdown) => output::markdown(criteria, &shown, &flow),
        Some(ScreenFormatArg::Ris) => output::ris(&work.datastore.store, &shown)?,
    };
    match &args.output {
        Some(path) => {
            runs::write_file(path, text.as_bytes())?;
            app.printer.say(&format!("written to {}", path.display()));
        }
        None => app.printer.out(text.trim_end())?,
    }
    Ok(ExitCode::SUCCESS)
}

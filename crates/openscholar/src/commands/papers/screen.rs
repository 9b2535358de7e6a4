//! `openscholar papers screen`.

mod by_hand;
pub(crate) mod criteria_file;
mod output;
mod prisma;
mod screener;
mod select;
mod state;

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering as MemoryOrdering};

use futures::StreamExt as _;
use scholar_core::{Encoder as _, Notice, NoticeKind, PaperId, PortError, SearchFilter, Side};
use scholar_datastore::Datastore;
use scholar_pipeline::budget::BudgetExceeded;
use scholar_pipeline::screen::{
    Criteria, Criterion, CriterionDecision, Decision, FlowCounts, PaperDecision, RankedBy, Ranking,
    RankingQuery, Relevance, ScreenPaper, rank,
};

use super::{address, open};
use crate::app::App;
use crate::args::{ScreenArgs, ScreenFormatArg};
use crate::error::{CommandError, ErrorKind};
use crate::wiring::OpenDatastore;
use crate::{progress, runs};
use output::Row;
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
    let mut state = State::open(&folder)?;
    let datastore = app.block_on(OpenDatastore::open(app, name))??;
    let mut notices = Vec::new();
    let screener = app.block_on(Screener::open(
        args.mode,
        &args.model,
        &criteria,
        &datastore,
        app,
        &mut notices,
    ))??;
    let filter = SearchFilter::from(args.filter.clone());
    let ids = address::all_stored(&datastore.store, name, &args.ids)?;
    let selected = select::select(&datastore.store, &ids, &filter)?;
    let work = Work { criteria: &criteria, datastore: &datastore, screener: &screener, app };
    let ordering = work.ordering(&selected.candidates)?;
    work.screen(&selected.candidates, &ordering, args.limit, &mut state, &mut notices)?;
    for notice in &notices {
        app.printer.notice(notice);
    }
    if let Some(spent) = screener.spent() {
        app.printer.say(&format!("the model: {spent}"));
    }
    let results = work.results(selected, &ordering, &state);
    show(&args, &results, &work, &folder, &notices)
}

/// What a screening is done with.
struct Work<'a> {
    criteria: &'a Criteria,
    datastore: &'a OpenDatastore,
    screener: &'a Screener,
    app: &'a App,
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

/// Everything there is to show.
struct Results {
    rows: Vec<Row>,
    counts: FlowCounts,
    duplicates: Vec<scholar_pipeline::screen::Duplicate>,
    /// How many decisions of a person the order has learnt from.
    learnt_from: usize,
}

impl Work<'_> {
    fn ordering(&self, candidates: &[Candidate]) -> Result<Ordering, CommandError> {
        let query = RankingQuery::of(self.criteria);
        let texts: Vec<&str> = query.texts.iter().map(String::as_str).collect();
        let queries = self.datastore.encoder.encode(Side::Query, &texts)?.unit_rows();
        let ids: Vec<PaperId> = candidates.iter().map(|paper| paper.meta.id.clone()).collect();
        let vectors = unit_vectors(self.datastore.store.first_vectors(&ids)?);
        Ok(Ordering { query, queries, vectors })
    }

    /// Decides on the papers on which neither the program nor a person has decided, at most `limit`, the likeliest first.
    fn screen(
        &self,
        candidates: &[Candidate],
        ordering: &Ordering,
        limit: Option<usize>,
        state: &mut State,
        notices: &mut Vec<Notice>,
    ) -> Result<(), CommandError> {
        let method = self.screener.method();
        let mut pending = self.pending(candidates, ordering, &method, state)?;
        pending.truncate(limit.unwrap_or(usize::MAX));
        let total = pending.len();
        let bar = progress::counted(&self.app.printer, "papers", u64::try_from(total).ok())
            .with_message("screening");
        let (mut done, mut unread) = (0_usize, 0_usize);
        self.app.heed_signals()?;
        let halted = AtomicBool::new(false);
        let ended = self.app.block_on(async {
            let decide = async |(paper, known)| {
                // After a failure nothing is begun; what was begun is kept.
                if halted.load(MemoryOrdering::Relaxed) {
                    return Ok(None);
                }
                self.decide(paper, known, &method).await.map(Some)
            };
            let decided = futures::stream::iter(pending)
                .map(decide)
                .buffer_unordered(self.screener.at_once());
            futures::pin_mut!(decided);
            let mut stopped = None;
            while let Some(outcome) = decided.next().await {
                match outcome {
                    Ok(Some((decision, left))) => {
                        state.keep_program(App::now(), decision)?;
                        done += 1;
                        unread += usize::from(left > 0);
                        bar.inc(1);
                    }
                    Ok(None) => {}
                    Err(error) => {
                        halted.store(true, MemoryOrdering::Relaxed);
                        stopped.get_or_insert(error);
                    }
                }
            }
            stopped.map_or(Ok(()), Err::<(), Stopped>)
        });
        bar.finish_and_clear();
        if unread > 0 {
            notices.push(Notice::new(
                NoticeKind::Truncated,
                format!("{unread} long papers were read in part: the abstract and the passages nearest to the criteria"),
            ));
        }
        let kept = || format!("{done} of {total} papers are screened and kept");
        match ended {
            Ok(Ok(())) => Ok(()),
            Ok(Err(Stopped::Budget(exceeded))) => {
                notices.push(
                    Notice::new(NoticeKind::Budget, format!("{exceeded}; {}", kept()))
                        .with_hint("raise the limit and run the same command again"),
                );
                Ok(())
            }
            Ok(Err(Stopped::Failed(error))) => Err(error.with_hint(format!(
                "{}; run the same command again: it continues where it stopped",
                kept()
            ))),
            Err(error) if error.kind == ErrorKind::Interrupted => {
                Err(CommandError::interrupted_resumable(format!("interrupted; {}", kept())))
            }
            Err(error) => Err(error),
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

    fn results(&self, selected: Selected, ordering: &Ordering, state: &State) -> Results {
        let Selected { candidates, duplicates, mut counts } = selected;
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
        let mut places: Vec<usize> = vec![0; candidates.len()];
        for (place, at) in order.into_iter().enumerate() {
            places[at] = place + 1;
        }
        let mut rows: Vec<Row> = candidates
            .into_iter()
            .enumerate()
            .map(|(at, paper)| {
                let program = program(&paper);
                let person = state.person(&paper.meta.id);
                let (decision, by, reason, excluded_by) = match (person, program) {
                    (Some(one), _) => {
                        let reason = one.reason.clone();
                        (Some(one.decision), Some("person"), reason.clone(), reason)
                    }
                    (None, Some(one)) => {
                        let reason = Some(one.reason.clone());
                        (Some(one.decision), Some("program"), reason, one.excluded_by.clone())
                    }
                    (None, None) => (None, None, None, None),
                };
                match decision {
                    Some(decision) => {
                        counts.count(decision, excluded_by.as_deref(), person.is_some());
                        let unread = decision == Decision::Unclear && !paper.has_text;
                        counts.without_text += usize::from(unread);
                    }
                    None => counts.not_screened += 1,
                }
                Row {
                    rank: places[at],
                    decision,
                    by,
                    reason,
                    score: program.map(|one| one.score),
                    ranked_by: ranked[at],
                    criteria: program.map(|one| one.criteria.clone()).unwrap_or_default(),
                    paper: paper.meta,
                }
            })
            .collect();
        rows.sort_by_key(|row| row.rank);
        let place = |reason: &String| {
            self.criteria.criteria.iter().position(|criterion| criterion.id == *reason)
        };
        counts.reasons.sort_by(|a, b| {
            let last = usize::MAX;
            (place(&a.0).unwrap_or(last), &a.0).cmp(&(place(&b.0).unwrap_or(last), &b.0))
        });
        Results { rows, counts, duplicates, learnt_from: labels.len() }
    }
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
    results: &Results,
    work: &Work<'_>,
    folder: &Path,
    notices: &[Notice],
) -> Result<ExitCode, CommandError> {
    let Results { rows, counts, duplicates, learnt_from } = results;
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
            "papers": shown, "duplicates": duplicates, "notices": notices,
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

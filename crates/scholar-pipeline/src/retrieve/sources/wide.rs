//! The retriever over the datastore and every enabled source.

mod linked;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt as _;
use futures::stream;
use parking_lot::Mutex;
use scholar_core::text::passages::{PassageRules, cut};
use scholar_core::{
    Explanation, FindBy, FindRequest, Found, Notice, NoticeKind, Paper, PaperId, PaperMeta,
    PaperSource, Passage, PassageId, PortError, PortErrorKind, Query, RetrievalScore, Retrieved,
    Retriever, SearchRequest, Searched,
};

use super::SourcesConfig;
use super::keywords::keywords;
use super::passages::{coverage, nearest};
use super::reconcile::{Candidate, KnownPapers, Provenance, is_same, join_meta, reconcile};
pub(super) use linked::Spoken;

/// The constant of reciprocal rank fusion. Source: Cormack, Clarke and Büttcher 2009.
const RRF_K: f32 = 60.0;

/// The datastore, if there is one, and sources beyond it. Serves one question.
pub struct WideRetriever {
    store: Option<Arc<dyn Retriever>>,
    sources: Vec<Arc<dyn PaperSource>>,
    question: Query,
    config: SourcesConfig,
    name: String,
    kept: Mutex<Kept>,
}

/// What was found so far.
#[derive(Default)]
struct Kept {
    papers: Vec<KeptPaper>,
    /// Finds them.
    known: KnownPapers,
    /// Which sources found papers that the store has: by the store's name of the paper.
    in_store: BTreeMap<PaperId, BTreeSet<String>>,
}

/// A found paper. Its passages never change during a run: evidence may point into them.
struct KeptPaper {
    paper: Paper,
    meta: Arc<PaperMeta>,
    passages: Vec<Passage>,
    /// Those of them that join the pool, by their places; empty of a paper that links alone led to.
    near: Vec<usize>,
    found: Vec<Provenance>,
}

/// One text for one source.
struct Task {
    source: usize,
    request: FindRequest,
}

impl WideRetriever {
    /// Looks for `question` in `store` and `sources`, in this order.
    pub fn new(
        store: Option<Arc<dyn Retriever>>,
        sources: Vec<Arc<dyn PaperSource>>,
        question: Query,
        config: SourcesConfig,
    ) -> Self {
        let names = store.iter().map(|store| store.name().to_owned());
        let names: Vec<String> =
            names.chain(sources.iter().map(|source| source.name().to_owned())).collect();
        let name = names.join(" + ");
        Self { store, sources, question, config, name, kept: Mutex::default() }
    }

    /// The papers that sources found and the datastore's hits did not have, with the text that was read, in order of
    /// finding.
    pub fn found_papers(&self) -> Vec<Paper> {
        self.kept.lock().papers.iter().map(|kept| kept.paper.clone()).collect()
    }

    /// Requests that are under way at once.
    pub(super) fn concurrency(&self) -> usize {
        self.config.concurrency.max(1)
    }

    /// What every source is asked for `request`, sources in their order.
    fn tasks(&self, request: &SearchRequest) -> Vec<Task> {
        let is_first = request.query == self.question;
        // Those of the feedback rounds; keywords have no question mark.
        let is_question = is_first || request.query.as_str().trim_end().ends_with('?');
        let words = match (is_first, is_question) {
            (true, _) => keywords(&request.query, self.config.keywords),
            (false, true) => keywords(&request.query, 1),
            (false, false) => vec![request.query.clone()],
        };
        let task = |source, text: &Query, by| Task {
            source,
            request: FindRequest {
                text: text.clone(),
                by,
                filter: request.filter.clone(),
                limit: self.config.found,
            },
        };
        let mut tasks = Vec::new();
        for (at, source) in self.sources.iter().enumerate() {
            if source.takes(FindBy::Keywords) {
                tasks.extend(words.iter().map(|text| task(at, text, FindBy::Keywords)));
            } else if source.takes(FindBy::Question) && is_question {
                tasks.push(task(at, &request.query, FindBy::Question));
            }
        }
        tasks
    }

    /// Asks all sources. What they found and said, and the failure if nobody answered.
    async fn find(
        &self,
        tasks: Vec<Task>,
        notices: &mut Vec<Notice>,
    ) -> (Vec<(Provenance, Paper)>, Option<PortError>) {
        let run = tasks.into_iter().enumerate().map(|(nth, task)| {
            let source = Arc::clone(&self.sources[task.source]);
            async move {
                let result = source.find(&task.request).await;
                (nth, source.name().to_owned(), task.request, result)
            }
        });
        let mut results: Vec<_> =
            stream::iter(run).buffer_unordered(self.config.concurrency.max(1)).collect().await;
        results.sort_by_key(|(nth, ..)| *nth);
        let (mut all, mut failures, mut answered) = (Vec::new(), Vec::new(), false);
        for (_, source, sent, result) in results {
            match result {
                Ok(found) => {
                    answered = true;
                    let Found { papers, notices: said } = found;
                    notices.extend(said);
                    all.extend(self.chosen(papers, &source, &sent));
                }
                Err(error) => {
                    notices.push(failed(&source, sent.text.as_str(), &error));
                    failures.push((source, error));
                }
            }
        }
        (all, if answered { None } else { nobody_answered(failures) })
    }

    /// Of one source's list, what the filter accepts and the configuration keeps.
    fn chosen(
        &self,
        papers: Vec<Paper>,
        source: &str,
        sent: &FindRequest,
    ) -> Vec<(Provenance, Paper)> {
        let ranked = papers.into_iter().enumerate().map(|(at, paper)| {
            let way = Provenance {
                source: source.to_owned(),
                text: sent.text.as_str().to_owned(),
                rank: at + 1,
            };
            (way, paper)
        });
        // The sources filter too; a cutoff is too important to be left to them.
        let mut ranked: Vec<_> =
            ranked.filter(|(_, paper)| sent.filter.accepts(&paper.meta)).collect();
        if sent.by == FindBy::Keywords {
            ranked.sort_by_key(|(_, paper)| std::cmp::Reverse(paper.meta.citation_count));
        }
        ranked.truncate(self.config.kept);
        ranked.sort_by_key(|(way, _)| way.rank);
        ranked
    }

    /// Splits candidates into those already kept or stored, whose provenance grows, and new ones.
    fn new_ones(&self, candidates: Vec<Candidate>, stored: &[Retrieved]) -> Vec<Candidate> {
        let mut kept = self.kept.lock();
        let mut new = Vec::new();
        for candidate in candidates {
            let meta = &candidate.paper.meta;
            if let Some(hit) = stored.iter().find(|hit| is_same(&hit.paper, meta)) {
                let names = candidate.found.iter().map(|way| way.source.clone());
                kept.in_store.entry(hit.paper.id.clone()).or_default().extend(names);
            } else if let Some(known) =
                kept.papers.iter_mut().find(|known| is_same(&known.paper.meta, meta))
            {
                known.found.extend(candidate.found);
                if known.near.is_empty() {
                    let most = self.config.passages_per_paper;
                    known.near = nearest(&self.question, &known.passages, most);
                }
            } else {
                new.push(candidate);
            }
        }
        new
    }

    /// Asks for the whole text of the papers nearest to the question.
    async fn read_whole(&self, candidates: &mut [Candidate], notices: &mut Vec<Notice>) {
        let heads: Vec<Passage> = candidates.iter().map(|one| head(&one.paper)).collect();
        let near = coverage(&self.question, &heads.iter().collect::<Vec<_>>());
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by(|a, b| near[*b].total_cmp(&near[*a]).then(a.cmp(b)));
        order.truncate(self.config.full_texts);
        let run = order.into_iter().map(|at| {
            let meta = candidates[at].paper.meta.clone();
            async move { (at, self.whole_text(&meta).await) }
        });
        let mut texts: Vec<_> =
            stream::iter(run).buffer_unordered(self.config.concurrency.max(1)).collect().await;
        texts.sort_by_key(|(at, _)| *at);
        for (at, (text, said)) in texts {
            notices.extend(said);
            if let Some(Paper { meta, sections, references, records: _ }) = text {
                let paper = &mut candidates[at].paper;
                join_meta(&mut paper.meta, meta);
                paper.sections = sections;
                if !references.is_empty() {
                    paper.references = references;
                }
            }
        }
    }

    /// The whole text from the first source that has it open.
    async fn whole_text(&self, meta: &PaperMeta) -> (Option<Paper>, Vec<Notice>) {
        let mut notices = Vec::new();
        for source in &self.sources {
            match source.full_text(meta).await {
                Ok(Some(paper)) if !paper.sections.is_empty() => return (Some(paper), notices),
                Ok(_) => {}
                Err(error) => {
                    let what = format!("the whole text of \"{}\"", meta.display_title());
                    notices.push(failed(source.name(), &what, &error));
                }
            }
        }
        (None, notices)
    }

    /// Keeps new papers and returns their names.
    fn keep(&self, candidates: Vec<Candidate>) {
        let mut kept = self.kept.lock();
        for Candidate { paper, found } in candidates {
            let passages = cut(&paper, PassageRules::sections());
            let near = nearest(&self.question, &passages, self.config.passages_per_paper);
            let meta = Arc::new(paper.meta.clone());
            let place = kept.papers.len();
            kept.known.add(&meta, place);
            kept.papers.push(KeptPaper { paper, meta, passages, near, found });
        }
    }

    /// Passages of kept papers that were found for `asked`, best first; of all kept papers when it is `None`.
    fn kept_hits(
        &self,
        request: &SearchRequest,
        texts: Option<&BTreeSet<String>>,
    ) -> Vec<Retrieved> {
        let kept = self.kept.lock();
        let mut hits = Vec::new();
        for paper in &kept.papers {
            let ways: Vec<&Provenance> = paper
                .found
                .iter()
                .filter(|way| texts.is_none_or(|texts| texts.contains(&way.text)))
                .collect();
            if ways.is_empty() || !request.filter.accepts(&paper.meta) {
                continue;
            }
            let found_by: BTreeSet<String> =
                paper.found.iter().map(|way| way.source.clone()).collect();
            let value: f32 = ways.iter().map(|way| reciprocal(way.rank)).sum();
            for place in &paper.near {
                let passage = paper.passages[*place].clone();
                hits.push(hit(passage, &paper.meta, value, &ways, &found_by));
            }
        }
        hits.sort_by(|a, b| b.score.cmp(&a.score).then_with(|| a.passage.id.cmp(&b.passage.id)));
        hits
    }

    /// Hits of the store with what else found their papers.
    fn marked(&self, mut hits: Vec<Retrieved>) -> Vec<Retrieved> {
        let kept = self.kept.lock();
        for hit in &mut hits {
            if let Some(names) = kept.in_store.get(&hit.paper.id) {
                hit.found_by = names.iter().cloned().collect();
            }
        }
        hits
    }
}

#[async_trait]
impl Retriever for WideRetriever {
    fn name(&self) -> &str {
        &self.name
    }

    async fn search(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        let stored = match &self.store {
            Some(store) => store.search(request).await?,
            None => Vec::new(),
        };
        let stored = self.marked(stored);
        Ok(interleaved(stored, self.kept_hits(request, None), request.top_k))
    }

    async fn explore(&self, request: &SearchRequest) -> Result<Searched, PortError> {
        let mut notices = Vec::new();
        let tasks = self.tasks(request);
        let texts: BTreeSet<String> =
            tasks.iter().map(|task| task.request.text.as_str().to_owned()).collect();
        let stored = async {
            match &self.store {
                Some(store) => store.search(request).await.map(Some),
                None => Ok(None),
            }
        };
        let (stored, (found, unasked)) = futures::join!(stored, self.find(tasks, &mut notices));
        let stored = match (stored, unasked) {
            (Ok(Some(hits)), _) => hits,
            (Ok(None), None) => Vec::new(),
            (Ok(None), Some(error)) => return Err(error),
            (Err(error), _) if found.is_empty() => return Err(error),
            (Err(error), _) => {
                let name = self.store.as_ref().map(|store| store.name().to_owned());
                let name = name.unwrap_or_default();
                notices.push(failed(&name, request.query.as_str(), &error));
                Vec::new()
            }
        };
        let mut new = self.new_ones(reconcile(found), &stored);
        self.read_whole(&mut new, &mut notices).await;
        self.keep(new);
        let kept = self.kept_hits(request, Some(&texts));
        let hits = interleaved(self.marked(stored), kept, request.top_k);
        Ok(Searched { hits, notices })
    }

    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        let found = {
            let kept = self.kept.lock();
            kept.papers.iter().find_map(|paper| {
                let passage = paper.passages.iter().find(|passage| passage.id == *id)?;
                Some((passage.clone(), PaperMeta::clone(&paper.meta)))
            })
        };
        match (found, &self.store) {
            (Some(found), _) => Ok(Some(found)),
            (None, Some(store)) => store.passage(id).await,
            (None, None) => Ok(None),
        }
    }
}

/// Title and abstract as one passage, to compare papers by.
fn head(paper: &Paper) -> Passage {
    let text = paper.abstract_text().unwrap_or_default().to_owned();
    Passage {
        id: PassageId { paper: paper.meta.id.clone(), ordinal: 0 },
        title: paper.meta.title.clone(),
        section: String::new(),
        kind: scholar_core::PassageKind::Abstract,
        span: scholar_core::CharSpan::new(0, text.chars().count()),
        text,
        places: Vec::new(),
    }
}

fn hit(
    passage: Passage,
    paper: &Arc<PaperMeta>,
    value: f32,
    ways: &[&Provenance],
    found_by: &BTreeSet<String>,
) -> Retrieved {
    let mut explanation =
        Explanation::new(value, "found beyond the datastore: sum of 1 / (60 + rank)");
    for way in ways {
        let reason =
            format!("{} names the paper in place {} for \"{}\"", way.source, way.rank, way.text);
        explanation = explanation.with(Explanation::new(reciprocal(way.rank), reason));
    }
    Retrieved {
        passage,
        paper: Arc::clone(paper),
        score: finite(value),
        explanation,
        found_by: found_by.iter().cloned().collect(),
    }
}

/// Both lists in turn by their ranks, the store first; scores become comparable within the result.
fn interleaved(stored: Vec<Retrieved>, found: Vec<Retrieved>, top_k: usize) -> Vec<Retrieved> {
    if found.is_empty() {
        return stored;
    }
    let ranked = |hits: Vec<Retrieved>, list: &'static str| {
        hits.into_iter().enumerate().map(move |(at, mut hit)| {
            let value = reciprocal(at + 1);
            hit.score = finite(value);
            let reason = format!("1 / (60 + {}), its place {list}", at + 1);
            let before = std::mem::replace(&mut hit.explanation, Explanation::new(value, reason));
            hit.explanation.details.push(before);
            (at, hit)
        })
    };
    let mut all: Vec<(usize, Retrieved)> = ranked(stored, "in the datastore's list")
        .chain(ranked(found, "among what the sources found"))
        .collect();
    all.sort_by_key(|(at, _)| *at);
    all.truncate(top_k);
    all.into_iter().map(|(_, hit)| hit).collect()
}

#[expect(clippy::cast_precision_loss, reason = "ranks stay far below 2^24")]
fn reciprocal(rank: usize) -> f32 {
    1.0 / (RRF_K + rank as f32)
}

fn finite(value: f32) -> RetrievalScore {
    RetrievalScore::new(value).expect("a sum of few reciprocals is finite")
}

/// Why there is no answer at all: the first failure of every source. Each reply that nobody can read is an upstream that is
/// not to be had; what a person can change stays refused if it is so everywhere.
fn nobody_answered(failures: Vec<(String, PortError)>) -> Option<PortError> {
    let mut firsts: Vec<(String, PortError)> = Vec::new();
    for (source, error) in failures {
        if firsts.iter().all(|(known, _)| *known != source) {
            firsts.push((source, error));
        }
    }
    let kinds: Vec<PortErrorKind> = firsts.iter().map(|(_, error)| error.kind()).collect();
    let kind = match kinds.as_slice() {
        [] => return None,
        [PortErrorKind::Corrupt] => PortErrorKind::Unavailable,
        [kind] => *kind,
        kinds if kinds.iter().all(|kind| *kind == PortErrorKind::Rejected) => {
            PortErrorKind::Rejected
        }
        _ => PortErrorKind::Unavailable,
    };
    let reasons: Vec<String> =
        firsts.iter().map(|(source, error)| format!("{source}: {error}")).collect();
    let mut hints: Vec<&str> = firsts.iter().filter_map(|(_, error)| error.hint()).collect();
    hints.dedup();
    let hint = hints.join("; ");
    let error = PortError::new(kind, format!("no source answered: {}", reasons.join("; ")));
    Some(if hint.is_empty() { error } else { error.with_hint(hint) })
}

fn failed(source: &str, what: &str, error: &PortError) -> Notice {
    let verb = match error.kind() {
        PortErrorKind::RateLimited { .. } => "is limited and was skipped",
        PortErrorKind::Transient
        | PortErrorKind::Unavailable
        | PortErrorKind::Rejected
        | PortErrorKind::Corrupt => "was skipped",
    };
    let mut notice = Notice::new(
        NoticeKind::SourceDown,
        format!("source {source} {verb} for \"{what}\": {error}"),
    );
    notice.hint = error.hint().map(str::to_owned);
    notice
}

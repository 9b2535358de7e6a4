//! The citation graph of the datastore and of the sources that know one, as one.
//!
//! 1. The datastore and every source are asked for the links of every paper, at once.
//! 2. Of one paper and direction, records of one neighbour are joined, the datastore's first.
//! 3. The most cited stay, and those that sources found are kept for the run: their passages can be cited and proven.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt as _;
use futures::stream;
use scholar_core::{
    CitationGraph, Explanation, LinkDirection, Neighbour, NeighbourRequest, Neighbours, Notice,
    NoticeKind, Paper, PaperId, PaperMeta, PortError, RetrievalScore, Retrieved, SearchFilter,
};

use super::WideRetriever;
use super::reconcile::{Candidate, KnownPapers, Provenance, reconcile};
use super::wide::Spoken;

/// A paper that a source lists around another.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkedPaper {
    /// What the source says of it, its abstract included.
    pub paper: Paper,
    /// Whether the source calls the citation influential; `None` where it says nothing about that.
    pub influential: Option<bool>,
}

/// What a source lists around a paper.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LinkedPapers {
    /// In any order, each once.
    pub papers: Vec<LinkedPaper>,
    /// What a person should know.
    pub notices: Vec<Notice>,
}

/// A source beyond the datastore that knows who cites whom.
#[async_trait]
pub trait LinkSource: Send + Sync {
    /// Name that notices and found papers give it.
    fn name(&self) -> &str;

    /// Papers that the paper called `names`, one of which is enough, cites or is cited by; about `limit`, the most cited
    /// first if the source can tell. `None` when the source has no register of any of the names.
    ///
    /// # Errors
    /// When the source cannot be asked, or does not know the paper.
    async fn links(
        &self,
        names: &[PaperId],
        direction: LinkDirection,
        limit: usize,
        filter: &SearchFilter,
    ) -> Result<Option<LinkedPapers>, PortError>;
}

/// The datastore's graph, if it is asked, and those of sources. Serves one question.
pub struct WideGraph {
    store: Option<Arc<dyn CitationGraph>>,
    sources: Vec<Arc<dyn LinkSource>>,
    wide: Arc<WideRetriever>,
    name: String,
}

/// What one source said of one paper in one direction.
type Reply = Result<Option<LinkedPapers>, PortError>;

/// One question to one source.
struct Task {
    /// Place of the paper in the request.
    at: usize,
    direction: LinkDirection,
    source: Arc<dyn LinkSource>,
    names: Arc<Vec<PaperId>>,
    limit: usize,
    filter: Arc<SearchFilter>,
}

impl Task {
    async fn run(self) -> (usize, LinkDirection, Reply) {
        let Self { at, direction, source, names, limit, filter } = self;
        (at, direction, source.links(&names, direction, limit, &filter).await)
    }
}

/// A neighbour before its text is looked up.
enum Found {
    /// The datastore's, complete.
    Stored(Neighbour),
    /// Sources', and whether one of them calls the citation influential.
    Listed(Candidate, Option<bool>),
}

impl Found {
    fn meta(&self) -> &PaperMeta {
        match self {
            Self::Stored(neighbour) => &neighbour.found.paper,
            Self::Listed(candidate, _) => &candidate.paper.meta,
        }
    }
}

impl WideGraph {
    /// Follows links in `store` and `sources`, in this order; `wide` keeps what the sources list.
    pub fn new(
        store: Option<Arc<dyn CitationGraph>>,
        sources: Vec<Arc<dyn LinkSource>>,
        wide: Arc<WideRetriever>,
    ) -> Self {
        let names = store.iter().map(|store| store.name().to_owned());
        let names: Vec<String> =
            names.chain(sources.iter().map(|source| source.name().to_owned())).collect();
        Self { store, sources, wide, name: names.join(" + ") }
    }

    /// Every source's reply by paper, direction and source, in this order.
    async fn ask(
        &self,
        request: &NeighbourRequest,
    ) -> BTreeMap<(usize, LinkDirection), Vec<Reply>> {
        let NeighbourRequest { papers, directions, per_paper, filter } = request;
        let directions: BTreeSet<LinkDirection> = directions.iter().copied().collect();
        let filter = Arc::new(filter.clone());
        let mut tasks = Vec::new();
        for (at, paper) in papers.iter().enumerate() {
            let names = Arc::new(self.wide.names_of(paper).await);
            for direction in &directions {
                for source in &self.sources {
                    tasks.push(Task {
                        at,
                        direction: *direction,
                        source: Arc::clone(source),
                        names: Arc::clone(&names),
                        limit: *per_paper,
                        filter: Arc::clone(&filter),
                    });
                }
            }
        }
        // In order: the sources of one paper and direction are told apart by their places.
        let mut replies = stream::iter(tasks).map(Task::run).buffered(self.wide.concurrency());
        let mut by_place: BTreeMap<(usize, LinkDirection), Vec<Reply>> = BTreeMap::new();
        while let Some((at, direction, reply)) = replies.next().await {
            by_place.entry((at, direction)).or_default().push(reply);
        }
        by_place
    }

    /// The neighbours of one paper in one direction, of `all` the most cited, and what was left out and cut.
    async fn chosen(
        &self,
        of: &PaperId,
        direction: LinkDirection,
        mut all: Vec<Found>,
        request: &NeighbourRequest,
    ) -> Neighbours {
        all.sort_by_cached_key(|one| {
            let meta = one.meta();
            (Reverse(meta.citation_count.unwrap_or(0)), meta.id.clone())
        });
        let mut chosen = Neighbours::default();
        let mut seen: BTreeSet<PaperId> = BTreeSet::new();
        for one in all {
            if chosen.found.len() >= request.per_paper {
                chosen.cut += 1;
                continue;
            }
            let neighbour = match one {
                Found::Stored(neighbour) => Some(neighbour),
                Found::Listed(Candidate { paper, found: ways }, influential) => {
                    let spoken = self.wide.keep_linked(paper, ways.clone()).await;
                    spoken.map(|spoken| {
                        let found = retrieved(of, direction, &ways, spoken);
                        Neighbour { of: of.clone(), direction, found, influential }
                    })
                }
            };
            let accepted = |one: &Neighbour| request.filter.accepts(&one.found.paper);
            let Some(neighbour) = neighbour.filter(accepted) else {
                chosen.left_out += 1;
                continue;
            };
            // A record of the datastore or of an earlier step may know more names than the source that listed it.
            let meta = &neighbour.found.paper;
            if !meta.ids().any(|id| seen.contains(id)) {
                seen.extend(meta.ids().cloned());
                chosen.found.push(neighbour);
            }
        }
        chosen
    }
}

/// The datastore's neighbours and those that sources list, each once, and how many of the latter were left out.
fn merged(
    of: &PaperId,
    direction: LinkDirection,
    stored: Vec<Neighbour>,
    listed: Vec<(&str, Vec<LinkedPaper>)>,
    filter: &SearchFilter,
) -> (Vec<Found>, usize) {
    let mut left_out = 0;
    let mut influence: BTreeMap<PaperId, bool> = BTreeMap::new();
    let mut found = Vec::new();
    for (source, papers) in listed {
        for (at, LinkedPaper { paper, influential }) in papers.into_iter().enumerate() {
            // The sources filter too; a cutoff is too important to be left to them.
            if !filter.accepts(&paper.meta) || paper.meta.ids().any(|id| id == of) {
                left_out += 1;
                continue;
            }
            if let Some(says) = influential {
                for id in paper.meta.ids() {
                    *influence.entry(id.clone()).or_default() |= says;
                }
            }
            let text = format!("{} {of}", verb(direction));
            found.push((Provenance { source: source.to_owned(), text, rank: at + 1 }, paper));
        }
    }
    let mut all: Vec<Found> = stored.into_iter().map(Found::Stored).collect();
    let mut known = KnownPapers::default();
    for (place, one) in all.iter().enumerate() {
        known.add(one.meta(), place);
    }
    for candidate in reconcile(found) {
        let meta = &candidate.paper.meta;
        let influential = meta.ids().find_map(|id| influence.get(id).copied());
        let places = known.places(meta, |at| all.get(at).map(Found::meta));
        match places.first().and_then(|place| all.get_mut(*place)) {
            Some(Found::Stored(neighbour)) => {
                neighbour.influential = influential;
                let known = neighbour.found.found_by.drain(..);
                let sources = candidate.found.into_iter().map(|way| way.source);
                let names: BTreeSet<String> = known.chain(sources).collect();
                neighbour.found.found_by = names.into_iter().collect();
            }
            _ => all.push(Found::Listed(candidate, influential)),
        }
    }
    (all, left_out)
}

#[async_trait]
impl CitationGraph for WideGraph {
    fn name(&self) -> &str {
        &self.name
    }

    async fn neighbours(&self, request: &NeighbourRequest) -> Result<Neighbours, PortError> {
        let store = async {
            match &self.store {
                Some(store) => Some(store.neighbours(request).await),
                None => None,
            }
        };
        let (stored, mut replies) = futures::join!(store, self.ask(request));
        let mut result = Neighbours::default();
        let mut standing = Standing::default();
        let mut of_store: BTreeMap<(PaperId, LinkDirection), Vec<Neighbour>> = BTreeMap::new();
        match stored {
            Some(Ok(Neighbours { found, left_out, cut, notices })) => {
                standing.answered = true;
                result = Neighbours { found: Vec::new(), left_out, cut, notices };
                for one in found {
                    of_store.entry((one.of.clone(), one.direction)).or_default().push(one);
                }
            }
            Some(Err(error)) => {
                let name = self.store.as_ref().map_or("", |store| store.name());
                standing.failed(name, error);
            }
            None => {}
        }
        let directions: BTreeSet<LinkDirection> = request.directions.iter().copied().collect();
        for (at, paper) in request.papers.iter().enumerate() {
            for direction in &directions {
                let replies = replies.remove(&(at, *direction)).unwrap_or_default();
                let mut listed = Vec::new();
                for (source, reply) in self.sources.iter().zip(replies) {
                    match reply {
                        Ok(Some(LinkedPapers { papers, notices })) => {
                            standing.answered = true;
                            result.notices.extend(notices);
                            listed.push((source.name(), papers));
                        }
                        Ok(None) => standing.unnamed(source.name(), paper),
                        Err(error) => standing.failed(source.name(), error),
                    }
                }
                let stored = of_store.remove(&(paper.clone(), *direction)).unwrap_or_default();
                let filter = &request.filter;
                let (all, refused) = merged(paper, *direction, stored, listed, filter);
                let chosen = self.chosen(paper, *direction, all, request).await;
                result.found.extend(chosen.found);
                result.left_out += refused + chosen.left_out;
                result.cut += chosen.cut;
            }
        }
        standing.settle(&mut result.notices)?;
        let mut said = BTreeSet::new();
        result.notices.retain(|notice| said.insert(notice.message.clone()));
        Ok(result)
    }
}

/// Which sources answered, and what became of the others: one notice each, however many papers were asked about.
#[derive(Default)]
struct Standing {
    answered: bool,
    failures: BTreeMap<String, Vec<PortError>>,
    unnamed: BTreeMap<String, BTreeSet<PaperId>>,
}

impl Standing {
    fn failed(&mut self, source: &str, error: PortError) {
        self.failures.entry(source.to_owned()).or_default().push(error);
    }

    fn unnamed(&mut self, source: &str, paper: &PaperId) {
        self.answered = true;
        self.unnamed.entry(source.to_owned()).or_default().insert(paper.clone());
    }

    /// # Errors
    /// The first failure, when nobody answered.
    fn settle(self, notices: &mut Vec<Notice>) -> Result<(), PortError> {
        let Self { answered, failures, unnamed } = self;
        for (source, papers) in unnamed {
            let n = papers.len();
            notices.push(Notice::new(
                NoticeKind::Skipped,
                format!("source {source} has no register of the identifiers of {n} papers, so it was not asked for their links"),
            ));
        }
        let mut first = None;
        for (source, errors) in failures {
            let n = errors.len();
            let Some(error) = errors.into_iter().next() else { continue };
            let mut notice = Notice::new(
                NoticeKind::SourceDown,
                format!(
                    "source {source} did not tell {n} times what a paper cites or is cited by: {error}"
                ),
            );
            notice.hint = error.hint().map(str::to_owned);
            notices.push(notice);
            first.get_or_insert(error);
        }
        match first {
            Some(error) if !answered => Err(error),
            _ => Ok(()),
        }
    }
}

fn verb(direction: LinkDirection) -> &'static str {
    match direction {
        LinkDirection::References => "cited by",
        LinkDirection::Citations => "cites",
    }
}

fn retrieved(
    of: &PaperId,
    direction: LinkDirection,
    ways: &[Provenance],
    (paper, passage): Spoken,
) -> Retrieved {
    let names: BTreeSet<String> = ways.iter().map(|way| way.source.clone()).collect();
    let found_by: Vec<String> = names.into_iter().collect();
    let reason = format!("{} {of}, says {}", verb(direction), found_by.join(" and "));
    let score = RetrievalScore::new(0.0).expect("zero is finite");
    Retrieved { passage, paper, score, explanation: Explanation::new(0.0, reason), found_by }
}

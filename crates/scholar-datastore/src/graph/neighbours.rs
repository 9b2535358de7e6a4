//! One hop through the graph with texts to read: the [`CitationGraph`] port, of one datastore or of several as one.
//!
//! 1. All identifiers of the paper started from, in whichever datastore it is.
//! 2. Its links: reference terms that name it, or references that are stored somewhere.
//! 3. Their citation counts and the filter, from columns of each paper's first passage, which is stored right after it.
//! 4. Most cited first, loaded one by one until there are enough.
//!
//! Complexity: two column reads for each link; stored JSON is read for the neighbours that come back, once each, and a term
//! is looked up where the abstract is not a paper's first passage. Where counts are equal, identifiers of those that tie are
//! read too.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::{
    CitationGraph, Explanation, LinkDirection, Neighbour, NeighbourRequest, Neighbours, PaperId,
    PaperMeta, Passage, PassageKind, PortError, RetrievalScore, Retrieved, SearchFilter,
};
use tantivy::columnar::Column;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet as _, TantivyError, Term};

use super::Graph;
use crate::error::Error;
use crate::filter::{Accepted, is_accepted};
use crate::lexical::lookup::alive_documents;
use crate::schema::column;
use crate::search::pool::SearchPool;
use crate::store::Datastore;

/// Name of the port.
const NAME: &str = "datastore";

/// One datastore of a [`StoredGraph`].
#[derive(Debug, Clone)]
pub struct GraphMember {
    /// Its name, which neighbours from it carry.
    pub name: String,
    /// What is asked.
    pub store: Arc<Datastore>,
}

/// The graphs of several datastores as one: a paper of one may cite or be cited by papers of another.
///
/// A paper that several have is taken from the one in which it is most cited, of equal ones from the one named first.
#[derive(Debug, Clone)]
pub struct StoredGraph {
    members: Arc<Vec<GraphMember>>,
    pool: Arc<SearchPool>,
}

impl StoredGraph {
    /// The graph of `members`, which is read on the threads of `pool`.
    pub fn new(members: Vec<GraphMember>, pool: Arc<SearchPool>) -> Self {
        Self { members: Arc::new(members), pool }
    }

    fn hop(&self, request: &NeighbourRequest) -> Result<Neighbours, Error> {
        // Hits of a single datastore carry no name either.
        let is_named = self.members.len() > 1;
        let named = |member: &'_ GraphMember| is_named.then(|| member.name.clone());
        let stores: Vec<(Option<String>, &Datastore)> =
            self.members.iter().map(|member| (named(member), &*member.store)).collect();
        hop(&stores, request)
    }
}

#[async_trait]
impl CitationGraph for StoredGraph {
    fn name(&self) -> &str {
        NAME
    }

    async fn neighbours(&self, request: &NeighbourRequest) -> Result<Neighbours, PortError> {
        let (graph, request) = (self.clone(), request.clone());
        Ok(self.pool.run(move || graph.hop(&request)).await??)
    }
}

// Some milliseconds on the caller's thread; a server shares threads, and asks a [`StoredGraph`].
#[async_trait]
impl CitationGraph for Datastore {
    fn name(&self) -> &str {
        NAME
    }

    async fn neighbours(&self, request: &NeighbourRequest) -> Result<Neighbours, PortError> {
        Ok(hop(&[(None, self)], request)?)
    }
}

fn hop(
    stores: &[(Option<String>, &Datastore)],
    request: &NeighbourRequest,
) -> Result<Neighbours, Error> {
    let NeighbourRequest { papers, directions, per_paper, filter } = request;
    let members = stores
        .iter()
        .map(|(name, store)| Member::open(store, name.clone(), filter))
        .collect::<Result<Vec<_>, _>>()?;
    let directions: BTreeSet<LinkDirection> = directions.iter().copied().collect();
    let mut step = Step {
        members,
        per_paper: *per_paper,
        filter,
        texts: BTreeMap::new(),
        result: Neighbours::default(),
    };
    for paper in papers {
        let seed = step.seed(paper)?;
        for direction in &directions {
            step.follow(&seed, *direction)?;
        }
    }
    Ok(step.result)
}

/// A paper to start from.
struct Seed<'a> {
    id: &'a PaperId,
    /// Every identifier that it is known under.
    names: BTreeSet<String>,
    /// Where it is, for each member.
    places: Vec<Option<DocAddress>>,
}

/// A stored paper at the other end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Link {
    member: usize,
    address: DocAddress,
}

/// Metadata and the passage that speaks for the paper.
type Text = (Arc<PaperMeta>, Passage);

/// What is done for one request.
struct Step<'a> {
    members: Vec<Member<'a>>,
    per_paper: usize,
    filter: &'a SearchFilter,
    /// What was loaded: papers linked to several are read once.
    texts: BTreeMap<Link, Option<Text>>,
    result: Neighbours,
}

impl Step<'_> {
    fn seed<'b>(&self, id: &'b PaperId) -> Result<Seed<'b>, Error> {
        let mut names = BTreeSet::from([id.to_string()]);
        let mut places = vec![None; self.members.len()];
        // What one member calls it may be what another has it under.
        for _ in 0..self.members.len() {
            for (member, place) in self.members.iter().zip(&mut places) {
                if place.is_none() {
                    let own = id.to_string();
                    let ordered = [&own].into_iter().chain(&names);
                    if let Some((address, known)) = member.find(ordered)? {
                        *place = Some(address);
                        names.extend(known);
                    }
                }
            }
        }
        Ok(Seed { id, names, places })
    }

    fn follow(&mut self, seed: &Seed<'_>, direction: LinkDirection) -> Result<(), Error> {
        let links = match direction {
            LinkDirection::References => self.cited(seed)?,
            LinkDirection::Citations => self.citing(seed)?,
        };
        let mut counted: Vec<(u64, Link)> = Vec::with_capacity(links.len());
        for link in links {
            match self.members[link.member].citations(link.address)? {
                Some(count) => counted.push((count, link)),
                None => self.result.left_out += 1,
            }
        }
        counted.sort_unstable_by_key(|(count, link)| (Reverse(*count), *link));
        let counted = self.distinct(counted)?;
        let mut taken = Vec::new();
        let mut seen: BTreeSet<PaperId> = BTreeSet::new();
        for tied in counted.chunk_by(|a, b| a.0 == b.0) {
            if taken.len() >= self.per_paper {
                self.result.cut += tied.len();
                continue;
            }
            let links: Vec<Link> = tied.iter().map(|(_, link)| *link).collect();
            for (link, text) in self.by_identifier(links, self.per_paper - taken.len())? {
                if taken.len() >= self.per_paper {
                    self.result.cut += 1;
                    continue;
                }
                let text = match text {
                    Some(text) => Some(text),
                    None => self.text(link)?,
                };
                let Some((paper, passage)) = text else {
                    self.result.left_out += 1;
                    continue;
                };
                // Under two names in two datastores.
                if paper.ids().any(|id| seen.contains(id)) {
                    continue;
                }
                seen.extend(paper.ids().cloned());
                let found = self.retrieved(seed.id, direction, link.member, (paper, passage))?;
                taken.push(Neighbour { of: seed.id.clone(), direction, found, influential: None });
            }
        }
        self.result.found.extend(taken);
        Ok(())
    }

    /// `links` by the papers' identifiers, with what had to be read for that: their texts, where all of them can come back.
    /// Otherwise identifiers alone are read, as a text takes longer.
    fn by_identifier(
        &mut self,
        links: Vec<Link>,
        room: usize,
    ) -> Result<Vec<(Link, Option<Text>)>, Error> {
        if links.len() > room {
            let mut named: Vec<(PaperId, Link)> =
                self.ids(&links)?.into_iter().zip(links).collect();
            named.sort_unstable();
            return Ok(named.into_iter().map(|(_, link)| (link, None)).collect());
        }
        let mut texts = Vec::with_capacity(links.len());
        for link in links {
            match self.text(link)? {
                Some(text) => texts.push((link, text)),
                None => self.result.left_out += 1,
            }
        }
        texts.sort_by(|(a_link, (a, _)), (b_link, (b, _))| (&a.id, a_link).cmp(&(&b.id, b_link)));
        Ok(texts.into_iter().map(|(link, text)| (link, Some(text))).collect())
    }

    fn retrieved(
        &self,
        seed: &PaperId,
        direction: LinkDirection,
        member: usize,
        (paper, passage): Text,
    ) -> Result<Retrieved, Error> {
        let how = match direction {
            LinkDirection::References => "cited by",
            LinkDirection::Citations => "cites",
        };
        let member = &self.members[member];
        let score = RetrievalScore::new(0.0)
            .map_err(|error| Error::corrupt(member.graph.store.root(), error.to_string()))?;
        let explanation = Explanation::new(0.0, format!("{how} {seed}"));
        let found_by = member.name.iter().cloned().collect();
        Ok(Retrieved { passage, paper, score, explanation, found_by })
    }

    /// Stored papers that `seed` cites; what no member has is left out.
    fn cited(&mut self, seed: &Seed<'_>) -> Result<BTreeSet<Link>, Error> {
        let mut names: BTreeSet<String> = BTreeSet::new();
        for (member, place) in self.members.iter().zip(&seed.places) {
            if let Some(address) = place {
                names.extend(member.reference_names(*address)?);
            }
        }
        let mut links = BTreeSet::new();
        for name in names.iter().filter(|name| !seed.names.contains(*name)) {
            let mut is_stored = false;
            for (at, member) in self.members.iter().enumerate() {
                if let Some(address) = member.resolve(name)? {
                    is_stored = true;
                    links.insert(Link { member: at, address });
                }
            }
            self.result.left_out += usize::from(!is_stored);
        }
        Ok(without(seed, links))
    }

    /// Stored papers that cite `seed`.
    fn citing(&self, seed: &Seed<'_>) -> Result<BTreeSet<Link>, Error> {
        let mut links = BTreeSet::new();
        for (at, member) in self.members.iter().enumerate() {
            let citing = member.citing(&seed.names)?;
            links.extend(citing.into_iter().map(|address| Link { member: at, address }));
        }
        Ok(without(seed, links))
    }

    /// Of several members' links to one paper the first.
    fn distinct(&self, mut counted: Vec<(u64, Link)>) -> Result<Vec<(u64, Link)>, Error> {
        if self.members.len() > 1 {
            let links: Vec<Link> = counted.iter().map(|(_, link)| *link).collect();
            let mut ids = self.ids(&links)?.into_iter();
            let mut known = BTreeSet::new();
            counted.retain(|_| ids.next().is_some_and(|id| known.insert(id)));
        }
        Ok(counted)
    }

    /// Own identifiers of `links`, in their order.
    fn ids(&self, links: &[Link]) -> Result<Vec<PaperId>, Error> {
        let mut ids: BTreeMap<Link, PaperId> = BTreeMap::new();
        for (at, member) in self.members.iter().enumerate() {
            let of_it = links.iter().filter(|link| link.member == at).map(|link| link.address);
            let addresses: BTreeSet<DocAddress> = of_it.collect();
            let addresses: Vec<DocAddress> = addresses.into_iter().collect();
            let named = member.ids(&addresses)?;
            let links = addresses.into_iter().map(|address| Link { member: at, address });
            ids.extend(links.zip(named));
        }
        let lost = || Error::corrupt(self.members[0].graph.store.root(), "a paper has no name");
        links.iter().map(|link| ids.get(link).cloned().ok_or_else(lost)).collect()
    }

    fn text(&mut self, link: Link) -> Result<Option<Text>, Error> {
        if let Some(known) = self.texts.get(&link) {
            return Ok(known.clone());
        }
        let text = self.members[link.member].text(link.address)?;
        // Passages of a paper that two segments share do not follow it, so what was read for it may be another's.
        let text = text.filter(|(paper, _)| self.filter.accepts(paper));
        self.texts.insert(link, text.clone());
        Ok(text)
    }
}

fn without(seed: &Seed<'_>, mut links: BTreeSet<Link>) -> BTreeSet<Link> {
    links.retain(|link| seed.places[link.member] != Some(link.address));
    links
}

/// One datastore with its columns and the filter looked up.
struct Member<'a> {
    name: Option<String>,
    graph: Graph<'a>,
    /// For each segment.
    accepted: Vec<Accepted>,
    citations: Vec<Column<u64>>,
    ordinals: Vec<Column<u64>>,
}

impl<'a> Member<'a> {
    fn open(
        store: &'a Datastore,
        name: Option<String>,
        filter: &SearchFilter,
    ) -> Result<Self, Error> {
        let graph = store.graph()?;
        let (mut accepted, mut citations, mut ordinals) = (Vec::new(), Vec::new(), Vec::new());
        store.reading(|| {
            for reader in graph.snapshot.searcher.segment_readers() {
                let mut open = || -> Result<(), TantivyError> {
                    accepted.push(Accepted::new(reader, store.fields(), filter)?);
                    citations.push(reader.fast_fields().u64(column::CITATIONS)?);
                    ordinals.push(reader.fast_fields().u64(column::ORDINAL)?);
                    Ok(())
                };
                open().map_err(graph.failed())?;
            }
            Ok(())
        })?;
        Ok(Self { name, graph, accepted, citations, ordinals })
    }

    /// The paper that the first of `names` stands for, with all its names.
    fn find<'n>(
        &self,
        names: impl Iterator<Item = &'n String>,
    ) -> Result<Option<(DocAddress, BTreeSet<String>)>, Error> {
        self.graph.store.reading(|| {
            for name in names {
                if let Some(address) = self.graph.resolve(name)? {
                    return Ok(Some((address, self.graph.place_at(address)?.names)));
                }
            }
            Ok(None)
        })
    }

    fn resolve(&self, name: &str) -> Result<Option<DocAddress>, Error> {
        self.graph.store.reading(|| self.graph.resolve(name))
    }

    fn reference_names(&self, address: DocAddress) -> Result<Vec<String>, Error> {
        self.graph.store.reading(|| self.graph.reference_names(address))
    }

    fn citing(&self, names: &BTreeSet<String>) -> Result<Vec<DocAddress>, Error> {
        self.graph.store.reading(|| self.graph.citing(names))
    }

    /// Own identifiers of the papers at `addresses`, which ascend.
    fn ids(&self, addresses: &[DocAddress]) -> Result<Vec<PaperId>, Error> {
        self.graph.store.reading(|| {
            let names = self.graph.names_at(addresses)?;
            names.iter().map(|name| self.graph.parse(name)).collect()
        })
    }

    /// How often the paper is cited, 0 when that is not known; `None` when it has no passage or the filter refuses it.
    fn citations(&self, paper: DocAddress) -> Result<Option<u64>, Error> {
        self.graph.store.reading(|| {
            let Some(passage) = self.first_passage(paper)? else { return Ok(None) };
            let is_in = is_accepted(&self.accepted, passage);
            let column = &self.citations[passage.segment_ord as usize];
            Ok(is_in.then(|| column.first(passage.doc_id).unwrap_or(0)))
        })
    }

    /// A passage of the paper: all have the same columns.
    fn first_passage(&self, paper: DocAddress) -> Result<Option<DocAddress>, Error> {
        if let Some(following) = self.following_passage(paper) {
            return Ok(Some(following));
        }
        // It has none, or the segment was full between it and its passages.
        Ok(self.passages(&self.graph.name_at(paper)?, paper)?.first().copied())
    }

    /// The passage stored right after the paper: its first, unless the segment was full between them.
    fn following_passage(&self, paper: DocAddress) -> Option<DocAddress> {
        let DocAddress { segment_ord, doc_id } = paper;
        let reader = &self.graph.snapshot.searcher.segment_readers()[segment_ord as usize];
        let next = doc_id + 1;
        let is_passage = |doc| self.ordinals[segment_ord as usize].first(doc).is_some();
        (next < reader.max_doc() && !reader.is_deleted(next) && is_passage(next))
            .then(|| DocAddress::new(segment_ord, next))
    }

    /// Passages of the paper at `own` whose identifier is `name`, in order of storing.
    fn passages(&self, name: &str, own: DocAddress) -> Result<Vec<DocAddress>, Error> {
        let owner = Term::from_field_text(self.graph.store.fields().owner, name);
        let found = alive_documents(&self.graph.snapshot.searcher, &owner);
        let mut found = found.map_err(self.graph.failed())?;
        found.retain(|address| *address != own);
        Ok(found)
    }

    /// The abstract of the paper, else its first prose.
    fn text(&self, paper: DocAddress) -> Result<Option<Text>, Error> {
        let Graph { store, snapshot, .. } = &self.graph;
        store.reading(|| {
            let meta = store.load_head(snapshot, paper)?;
            // Nearly always an abstract comes first and lies in the same block of the file: no term has to be looked up.
            if let Some(following) = self.following_passage(paper) {
                let passage = store.load_passage(snapshot, following)?;
                let is_abstract = passage.kind == PassageKind::Abstract;
                if is_abstract && passage.id.paper == meta.id && passage.id.ordinal == 0 {
                    return Ok(Some((Arc::new(meta), passage)));
                }
            }
            let passages = self.passages(&meta.id.to_string(), paper)?;
            let Some(first) = passages.first() else { return Ok(None) };
            let first = store.load_passage(snapshot, *first)?;
            let chosen = if first.kind == PassageKind::Abstract {
                Some(first)
            } else {
                self.first_prose(&passages)?
            };
            Ok(chosen.map(|passage| (Arc::new(meta), passage)))
        })
    }

    fn first_prose(&self, passages: &[DocAddress]) -> Result<Option<Passage>, Error> {
        let Graph { store, snapshot, .. } = &self.graph;
        // In the order in which they are preferred.
        for kind in PassageKind::ALL.into_iter().filter(|kind| kind.is_prose()) {
            let mut found = self
                .of_kind(passages, kind)
                .map_err(self.graph.failed())?
                .into_iter()
                .map(|address| store.load_passage(snapshot, address))
                .collect::<Result<Vec<_>, _>>()?;
            found.sort_by(|a, b| a.id.cmp(&b.id));
            if let Some(first) = found.into_iter().next() {
                return Ok(Some(first));
            }
        }
        Ok(None)
    }

    /// Of `passages`, which ascend, the first of `kind` in each segment.
    fn of_kind(
        &self,
        passages: &[DocAddress],
        kind: PassageKind,
    ) -> Result<Vec<DocAddress>, TantivyError> {
        let term = Term::from_field_text(self.graph.store.fields().part, kind.name());
        let readers = self.graph.snapshot.searcher.segment_readers();
        let mut found = Vec::new();
        for of_segment in passages.chunk_by(|a, b| a.segment_ord == b.segment_ord) {
            let Some(DocAddress { segment_ord, .. }) = of_segment.first().copied() else {
                continue;
            };
            let index = readers[segment_ord as usize].inverted_index(term.field())?;
            let Some(mut postings) = index.read_postings(&term, IndexRecordOption::Basic)? else {
                continue;
            };
            let is_one = |address: &&DocAddress| {
                let doc = address.doc_id;
                (if postings.doc() < doc { postings.seek(doc) } else { postings.doc() }) == doc
            };
            found.extend(of_segment.iter().find(is_one).copied());
        }
        Ok(found)
    }
}

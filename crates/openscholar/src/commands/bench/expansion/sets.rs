//! Papers, links and queries of the sets.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use scholar_bench::expansion::ExpansionQuery;
use scholar_bench::retrieval::Collection;
use scholar_core::{Encoder as _, Paper, PaperId, Query, Section, SplitMix64};
use scholar_datastore::ingest::{Format, Limits, PaperReader};
use scholar_datastore::{AddOptions, BuildRules, Datastore};
use scholar_models::LocalEncoder;
use serde::Deserialize;

use crate::app::App;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::progress;
use crate::wiring::OpenDatastore;

/// Fewest references to papers of the file that make a work a query.
const FEWEST_REFERENCES: usize = 5;
/// Says which half of what a paper cites is its links.
const SEED: u64 = 7;

/// A datastore with links, and queries.
pub(super) struct ExpansionSet {
    pub(super) name: String,
    /// What was done to the data, for people.
    pub(super) about: String,
    pub(super) datastore: OpenDatastore,
    pub(super) queries: Vec<ExpansionQuery>,
    /// Whether half of the queries are for development.
    pub(super) splits: bool,
}

/// Works that ought to find what they cite; and topics over the same works.
pub(super) fn works(
    file: &Path,
    topics: Option<&Path>,
    encoder: &Arc<LocalEncoder>,
    app: &App,
) -> Result<Vec<ExpansionSet>, CommandError> {
    let name = stem(file);
    let papers = read(file, Format::OpenAlex)?;
    let store = build(&name, papers, encoder, app)?;
    let datastore = OpenDatastore::with(app, store, Arc::clone(encoder))?;
    let store = Arc::clone(&datastore.store);
    let mut ids = Vec::new();
    store.each_paper(|meta| {
        ids.push(meta.id);
        Ok(())
    })?;
    let graph = store.graph()?;
    let mut queries = Vec::new();
    for id in &ids {
        let references = graph.references(id)?.unwrap_or_default();
        let gold: BTreeSet<PaperId> = references
            .into_iter()
            .filter(|linked| linked.stored && linked.id != *id)
            .map(|linked| linked.id)
            .collect();
        if gold.len() < FEWEST_REFERENCES {
            continue;
        }
        let Some(Paper { meta, sections, .. }) = store.paper(id)? else { continue };
        let text = sections.first().map(|section| section.text.as_str()).unwrap_or_default();
        if let Some(query) = Query::new(&format!("{} {text}", meta.title)) {
            let exclude = meta.ids().cloned().collect();
            queries.push(ExpansionQuery { id: id.to_string(), query, gold, exclude });
        }
    }
    let mut sets = vec![ExpansionSet {
        name: name.clone(),
        about: format!(
            "Query: title and abstract of each work with {FEWEST_REFERENCES} references or more to works of the file. To be found: these references. \
             The work itself and all its links are taken out for its query."
        ),
        datastore,
        queries,
        splits: true,
    }];
    if let Some(folder) = topics {
        let collection = Collection::load(folder)?;
        let queries = topics_of(&collection, &store)?;
        let store = Datastore::open(store.root())?;
        sets.push(ExpansionSet {
            name: collection.name,
            about: format!(
                "Query: the description of a systematic review. To be found: the papers that it included, among all works of {name}, whose links are \
                 used. Too few queries to choose anything with; all are reported."
            ),
            datastore: OpenDatastore::with(app, store, Arc::clone(encoder))?,
            queries,
            splits: false,
        });
    }
    Ok(sets)
}

fn topics_of(
    collection: &Collection,
    store: &Datastore,
) -> Result<Vec<ExpansionQuery>, CommandError> {
    let mut queries = Vec::new();
    for topic in &collection.queries {
        let grades = collection.grades.get(&topic.id);
        let mut gold = BTreeSet::new();
        for (name, _) in grades.into_iter().flatten().filter(|(_, grade)| **grade > 0) {
            let id: PaperId = format!("openalex:{name}").parse().user(|| {
                format!("{} has the document {name}, which is no OpenAlex work", collection.name)
            })?;
            // Under the identifier that the datastore files it under.
            gold.extend(store.paper(&id)?.map(|paper| paper.meta.id));
        }
        let (id, query) = (topic.id.clone(), topic.query.clone());
        queries.push(ExpansionQuery { id, query, gold, exclude: BTreeSet::new() });
    }
    Ok(queries)
}

/// A row of a file of queries.
#[derive(Deserialize)]
struct QueryRow {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    text: String,
}

/// Abstracts that ought to find one half of what their papers cite; the other halves are links.
pub(super) fn cited(
    folder: &Path,
    others: Option<usize>,
    encoder: &Arc<LocalEncoder>,
    app: &App,
) -> Result<ExpansionSet, CommandError> {
    let collection = Collection::load(folder)?;
    let path = folder.join("queries.jsonl");
    let text = scholar_datastore::files::read_text(&path, 1 << 30)?;
    let rows = text.lines().filter(|line| !line.trim().is_empty()).map(|line| {
        serde_json::from_str::<QueryRow>(line).user(|| format!("cannot read {}", path.display()))
    });
    let rows: BTreeMap<String, QueryRow> =
        rows.map(|row| row.map(|row| (row.id.clone(), row))).collect::<Result<_, _>>()?;
    let mut papers: BTreeMap<PaperId, Paper> = BTreeMap::new();
    for paper in read(&collection.corpus, Format::Beir)? {
        papers.insert(paper.meta.id.clone(), paper);
    }
    let of = papers.len();
    if let Some(others) = others {
        keep_judged(&mut papers, &collection, others);
    }
    let corpus = papers.len();
    let mut queries = Vec::new();
    for (nth, query) in (0_u64..).zip(&collection.queries) {
        let grades = collection.grades.get(&query.id).into_iter().flatten();
        let own = PaperId::Local(query.id.clone());
        let mut judged: Vec<PaperId> = grades
            .filter(|(_, grade)| **grade > 0)
            .map(|(name, _)| PaperId::Local(name.clone()))
            .filter(|id| *id != own && papers.contains_key(id))
            .collect();
        judged.sort();
        SplitMix64::stream(SEED, nth).shuffle(&mut judged);
        let links = judged.split_off(judged.len().div_ceil(2));
        let row = rows.get(&query.id);
        let paper = papers.entry(own.clone()).or_insert_with(|| {
            let title = row.map(|row| row.title.clone()).unwrap_or_default();
            let text = row.map(|row| row.text.clone()).unwrap_or_default();
            Paper {
                meta: scholar_core::PaperMeta::new(own.clone(), title),
                sections: vec![Section::new(scholar_core::paper::ABSTRACT_HEADING, text)],
                references: Vec::new(),
                records: Vec::new(),
            }
        });
        paper.references = links;
        let exclude = paper.meta.ids().cloned().collect();
        let gold = judged.into_iter().collect();
        queries.push(ExpansionQuery {
            id: query.id.clone(),
            query: query.query.clone(),
            gold,
            exclude,
        });
    }
    queries.retain(|query| !query.gold.is_empty());
    let name = collection.name;
    let store_name = others.map_or_else(|| name.clone(), |others| format!("{name}-{others}"));
    let store = build(&store_name, papers.into_values().collect(), encoder, app)?;
    Ok(ExpansionSet {
        name,
        about: format!(
            "Corpus: {corpus} of {of} documents, those that are relevant to a query and others drawn at random. \
             Query: the abstract of a paper. The papers of all queries are in the datastore too, each with a half of what it cites as \
                its links (drawn at random); to be found is the other half. The paper of a query and its links are taken out for its query, \
                so that the links which are left are those of other papers. The other papers of the corpus have none: links lead from and to \
             the papers of queries alone."
        ),
        datastore: OpenDatastore::with(app, store, Arc::clone(encoder))?,
        queries,
        splits: true,
    })
}

/// Leaves the documents that are judged, and `others`.
fn keep_judged(papers: &mut BTreeMap<PaperId, Paper>, collection: &Collection, others: usize) {
    let judged: BTreeSet<PaperId> = collection
        .grades
        .values()
        .flat_map(|grades| grades.keys())
        .map(|name| PaperId::Local(name.clone()))
        .collect();
    let mut rest: Vec<PaperId> =
        papers.keys().filter(|id| !judged.contains(*id)).cloned().collect();
    SplitMix64::new(SEED).shuffle(&mut rest);
    for id in rest.into_iter().skip(others) {
        papers.remove(&id);
    }
}

fn stem(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.split('.').next().unwrap_or_default().to_owned()
}

fn read(file: &Path, format: Format) -> Result<Vec<Paper>, CommandError> {
    let mut reader = PaperReader::open(file, Some(format), Limits::standard())?;
    Ok(reader.by_ref().collect::<Result<Vec<Paper>, _>>()?)
}

/// The papers as a datastore, kept below the data folder so that a second measurement starts at once.
fn build(
    name: &str,
    papers: Vec<Paper>,
    encoder: &LocalEncoder,
    app: &App,
) -> Result<Datastore, CommandError> {
    let fingerprint: String = encoder.info().fingerprint.chars().take(8).collect();
    let path = app.home.data().join("bench").join(format!("expansion-{name}-{fingerprint}"));
    let store = Datastore::open_or_create(&path, encoder.info(), BuildRules::collection())?;
    let bar = progress::counted(&app.printer, "passages", Some(papers.len() as u64))
        .with_message(format!("encoding {name}"));
    let papers = papers.into_iter().map(Ok::<Paper, scholar_datastore::Error>);
    let mut writer = store.writer()?;
    let options = AddOptions { keep_duplicates: true, ..AddOptions::standard(name) };
    let done = writer.add(papers, encoder, &options, &mut |done| {
        bar.set_position(done.passages_added);
        app.until_stopped()
    })?;
    drop(writer);
    bar.finish_and_clear();
    if done.interrupted {
        let message = "interrupted; the next start continues";
        return Err(CommandError::new(ErrorKind::Interrupted, message));
    }
    Ok(store)
}

//! Metadata and texts of papers by their identifiers. Providers state them; nothing is made up.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use scholar_clients::arxiv::ArxivRef;
use scholar_clients::fetch::{Fetcher, Provider};
use scholar_clients::open_access;
use scholar_clients::semantic_scholar::{Batch, BulkOrder};
use scholar_clients::{Arxiv, Crossref, FullTexts, OpenAlex, Pubmed, SemanticScholar, Unpaywall};
use scholar_core::text::normalise::title_key;
use scholar_core::{
    Catalog, NoticeKind, Paper, PaperId, PaperMeta, PortError, PortErrorKind, RecordSource,
    SearchFilter, SourceRecord,
};
use scholar_formats::library::works::titles_overlap;
use scholar_formats::{Document, DocumentFormat, ReadLimits};
use scholar_pipeline::retrieve::sources::{Provenance, merge_meta, reconcile};

use super::inputs::Input;
use super::{Item, Taken, read};

/// What Semantic Scholar said of many identifiers at once.
#[derive(Default)]
pub(super) struct Known {
    /// What was asked, with the paper where there is one.
    asked: HashMap<PaperId, Option<Paper>>,
}

impl Known {
    /// Asks about the identifiers among `inputs`, where there are several: one request for 500 of them.
    pub(super) async fn of(inputs: &[Input], fetcher: &Fetcher, taken: &mut Taken) -> Self {
        let is_named = |input: &Input| match input {
            Input::Identifier(id) if is_public(id) => Some(id.clone()),
            _ => None,
        };
        let ids: Vec<PaperId> = inputs.iter().filter_map(is_named).collect();
        if ids.len() < 2 {
            return Self::default();
        }
        match SemanticScholar::new(fetcher.within(PATIENCE)).batch(&ids).await {
            Ok(Batch { papers, notices }) => {
                taken.notices.extend(notices);
                let papers = papers.into_iter().map(|found| found.map(|found| found.paper));
                Self { asked: ids.into_iter().zip(papers).collect() }
            }
            // Told once; each paper's own registry is asked all the same.
            Err(error) => {
                let message = format!("{} papers were not looked up at once: {error}", ids.len());
                taken.note(NoticeKind::Skipped, message, error.hint());
                Self { asked: ids.into_iter().map(|id| (id, None)).collect() }
            }
        }
    }
}

/// What a bulk search at Semantic Scholar lists, the most cited first: metadata and abstracts.
pub(super) async fn bulk(expression: &str, limit: usize, fetcher: &Fetcher, taken: &mut Taken) {
    let began = Instant::now();
    let origin = format!("bulk:{expression}");
    let (order, all) = (BulkOrder::MostCited, SearchFilter::none());
    let client = SemanticScholar::new(fetcher.clone());
    match client.search_bulk(expression, order, limit, &all).await {
        Ok(listed) if listed.items.is_empty() => {
            taken.notices.extend(listed.notices);
            taken.fail(&origin, "no paper matches", Some("use fewer words, or | between them"));
        }
        Ok(listed) => {
            taken.notices.extend(listed.notices);
            let share = began.elapsed() / u32::try_from(listed.items.len()).unwrap_or(u32::MAX);
            taken.items.extend(listed.items.into_iter().filter_map(|found| {
                let by = "Semantic Scholar".to_owned();
                let record = registered(by.clone(), None, found.paper);
                Item::new(origin.clone(), by, vec![record], (0, share))
            }));
        }
        Err(error) => taken.fail(&origin, &error.to_string(), error.hint()),
    }
}

/// A paper by its name in a registry, with its text where that is open.
pub(super) async fn paper(id: &PaperId, known: &Known, fetcher: &Fetcher, taken: &mut Taken) {
    let began = Instant::now();
    let (found, failures) = ask_all(id, known, fetcher).await;
    let Some(candidate) = reconcile(found).into_iter().next() else {
        let (why, hint) = match failures.first() {
            Some((_, error)) => (error.to_string(), error.hint().map(str::to_owned)),
            None => ("no registry knows it".to_owned(), Some("check the identifier".to_owned())),
        };
        taken.fail(&id.to_string(), &why, hint.as_deref());
        return;
    };
    for (who, error) in failures {
        let message = format!("could not look up {id} at {who}: {error}");
        taken.note(NoticeKind::Skipped, message, error.hint());
    }
    let mut by: Vec<String> = candidate.found.iter().map(|way| way.source.clone()).collect();
    let registries = by.join(" + ");
    let mut paper = candidate.paper;
    let mut references = Vec::new();
    match FullTexts::new(fetcher).of(&paper.meta).await {
        Ok(Some(whole)) => {
            by.push("full text".to_owned());
            merge_meta(&mut paper.meta, whole.meta);
            paper.sections = whole.sections;
            if !whole.references.is_empty() {
                paper.references = whole.references;
            }
        }
        Ok(None) => {
            if let Some(document) = open_pdf(&paper.meta, fetcher, taken).await {
                by.push("open PDF".to_owned());
                paper.sections = document.paper.sections;
                references = document.references;
                if paper.references.is_empty() {
                    paper.references = document.paper.references;
                }
                taken.notices.extend(document.notices);
            }
        }
        Err(error) => {
            let message = format!("the whole text of {id} was not read: {error}");
            taken.note(NoticeKind::Skipped, message, error.hint());
        }
    }
    let mut record = registered(registries, Some(id.clone()), paper);
    record.references = references;
    let cost = (0, began.elapsed());
    taken.items.extend(Item::new(id.to_string(), by.join(" + "), vec![record], cost));
}

/// What the registries `names` say, `asked` for an identifier or a title.
fn registered(names: String, asked: Option<PaperId>, paper: Paper) -> SourceRecord {
    let Paper { meta, sections, references: cited, records: _ } = paper;
    let source = RecordSource::Registry { names, asked };
    SourceRecord { sections, cited, ..SourceRecord::new(source, meta) }
}

/// The paper with this title, as Semantic Scholar's title match finds it; one with another title is told and not taken.
pub(super) async fn titled(title: &str, fetcher: &Fetcher, taken: &mut Taken) {
    let origin = format!("title:{title}");
    match SemanticScholar::new(fetcher.clone()).match_title(title).await {
        Ok(Some(found)) => {
            let meta = found.paper.meta;
            if title_key(&meta.title) == title_key(title) {
                paper(&best_known(&meta), &Known::default(), fetcher, taken).await;
                return;
            }
            let why = format!("the closest title is \"{}\"", meta.title);
            let hint = format!("if that is the paper, add {}", best_known(&meta));
            taken.fail(&origin, &why, Some(&hint));
        }
        Ok(None) => taken.fail(&origin, "no paper has a title like it", Some("check the title")),
        Err(error) => taken.fail(&origin, &error.to_string(), error.hint()),
    }
}

/// The identifier that most registries know the paper by.
fn best_known(meta: &PaperMeta) -> PaperId {
    let doi = meta.ids().find(|id| matches!(id, PaperId::Doi(_)));
    let arxiv = || meta.ids().find(|id| matches!(id, PaperId::Arxiv(_)));
    doi.or_else(arxiv).unwrap_or(&meta.id).clone()
}

/// The text of the first open PDF that can be fetched and read: OpenAlex's locations, then Unpaywall's.
async fn open_pdf(meta: &PaperMeta, fetcher: &Fetcher, taken: &mut Taken) -> Option<Document> {
    let mut places = Vec::new();
    // Asked before for the metadata: this comes from the stored replies.
    if let Ok(Some(work)) = OpenAlex::new(fetcher.clone()).work(&meta.id).await {
        places.extend(work.open);
    }
    if let Some(doi) =
        meta.doi().filter(|_| fetcher.config().missing(Provider::Unpaywall).is_none())
    {
        match Unpaywall::new(fetcher.clone()).lookup(doi).await {
            Ok(open) => places.extend(open.into_iter().flat_map(|open| open.locations)),
            Err(error) => taken.note(NoticeKind::Skipped, error.to_string(), error.hint()),
        }
    }
    for place in places {
        match open_access::pdf(fetcher, &place).await {
            Ok(Some(bytes)) => {
                match read::blocking(DocumentFormat::Pdf, bytes, ReadLimits::default()).await {
                    Ok(document) => return Some(document),
                    Err(failure) => {
                        let message =
                            format!("an open PDF of {} was not read: {}", meta.id, failure.why);
                        taken.note(NoticeKind::Skipped, message, failure.hint.as_deref());
                    }
                }
            }
            Ok(None) => {}
            Err(error) => taken.note(NoticeKind::Skipped, error.to_string(), error.hint()),
        }
    }
    None
}

/// Completes the metadata of documents that state an identifier and not all of title, authors and year. The first
/// failure to reach anybody ends the asking, with one notice: a folder on a train must not wait for every file.
pub(super) async fn complete(fetcher: &Fetcher, taken: &mut Taken) {
    for at in 0..taken.items.len() {
        let meta = &taken.items[at].paper.meta;
        let whole = !meta.title.is_empty() && !meta.authors.is_empty() && meta.year.is_some();
        if whole {
            continue;
        }
        let (id, failures) = match meta.ids().find(|id| !matches!(id, PaperId::Local(_))) {
            Some(id) => (Some(id.clone()), Vec::new()),
            None => by_title(meta, fetcher).await,
        };
        let (found, failures) = match &id {
            Some(id) => ask_all(id, &Known::default(), fetcher).await,
            None => (Vec::new(), failures),
        };
        if let Some(known) = reconcile(found).into_iter().next() {
            let item = &mut taken.items[at];
            if let Err(why) = fits(&item.paper.meta, &known.paper.meta) {
                let message = format!("{}: left as it is: {why}", item.origin);
                let hint = "if it is that paper, say so with `papers merge`";
                taken.note(NoticeKind::Skipped, message, Some(hint));
                continue;
            }
            let names: BTreeSet<String> = known.found.into_iter().map(|way| way.source).collect();
            let names = names.into_iter().collect::<Vec<_>>().join(" + ");
            // Their abstracts are no better than the document's own text, and stay with them.
            item.put(registered(names, id, known.paper));
            continue;
        }
        let unreachable = failures.iter().find(|(_, error)| {
            matches!(error.kind(), PortErrorKind::Unavailable | PortErrorKind::Transient)
        });
        if let Some((_, error)) = unreachable {
            let message = format!("metadata of identified documents were not completed: {error}");
            let hint = error.hint().map(str::to_owned);
            taken.note(
                NoticeKind::Skipped,
                message,
                hint.as_deref().or(Some("pass --no-lookup to leave them as they are")),
            );
            return;
        }
    }
}

/// The identifier of the paper with the title of `meta`, which states none, as Semantic Scholar's title match finds it.
async fn by_title(meta: &PaperMeta, fetcher: &Fetcher) -> (Option<PaperId>, Vec<Failure>) {
    if title_key(&meta.title).split(' ').count() < TITLE_WORDS {
        return (None, Vec::new());
    }
    match SemanticScholar::new(fetcher.within(PATIENCE)).match_title(&meta.title).await {
        Ok(found) => {
            let same = found.map(|found| found.paper.meta).filter(|it| fits(meta, it).is_ok());
            (same.map(|meta| best_known(&meta)), Vec::new())
        }
        Err(error) => (None, vec![("Semantic Scholar", error)]),
    }
}

/// Fewest words of a title that a registry is asked for.
const TITLE_WORDS: usize = 4;

/// Whether what a registry says can be of the document: a number that was misread is the number of another paper.
fn fits(own: &PaperMeta, known: &PaperMeta) -> Result<(), String> {
    match titles_overlap(own, known) {
        Some(overlap) if overlap < LEAST_OVERLAP => Err(format!(
            "the registries have \"{}\" under {}, which is another title",
            known.title, known.id
        )),
        _ => Ok(()),
    }
}

/// Share of the words of two titles that a document and a registry's record have in common at least.
const LEAST_OVERLAP: f64 = 0.7;

type Failure = (&'static str, PortError);

/// The longest that the metadata of one paper are waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether `id` is of a registry that Semantic Scholar knows.
fn is_public(id: &PaperId) -> bool {
    !matches!(id, PaperId::OpenAlex(_) | PaperId::Local(_))
}

/// What the registries that understand `id` know of it, the publishers' own first.
async fn ask_all(
    id: &PaperId,
    known: &Known,
    fetcher: &Fetcher,
) -> (Vec<(Provenance, Paper)>, Vec<Failure>) {
    // Registries that hang must not add up.
    let fetcher = fetcher.within(PATIENCE);
    let own = || fetcher.clone();
    let mut all = Answers { id, found: Vec::new(), failures: Vec::new() };
    match id {
        PaperId::Doi(doi) => {
            let work = Crossref::new(own()).work(doi).await;
            all.add("Crossref", work.map(|work| work.map(|work| work.paper)));
        }
        PaperId::Arxiv(_) => {
            let wanted: Vec<ArxivRef> = ArxivRef::latest(id).into_iter().collect();
            let entries = Arxiv::new(own()).papers(&wanted).await;
            let first = entries.map(|entries| entries.into_iter().flatten().next());
            all.add("arXiv", first.map(|entry| entry.map(|entry| entry.paper)));
        }
        PaperId::Pmid(pmid) => {
            let records = Pubmed::new(own()).records(&[*pmid]).await;
            all.add("PubMed", records.map(|(papers, _)| papers.into_iter().flatten().next()));
        }
        PaperId::Pmcid(_)
        | PaperId::CorpusId(_)
        | PaperId::OpenAlex(_)
        | PaperId::Acl(_)
        | PaperId::Local(_) => {}
    }
    if matches!(id, PaperId::Doi(_) | PaperId::Pmid(_) | PaperId::Pmcid(_) | PaperId::OpenAlex(_)) {
        let work = OpenAlex::new(own()).work(id).await;
        all.add("OpenAlex", work.map(|work| work.map(|work| work.paper)));
    }
    let has_abstract = all.found.iter().any(|(_, paper)| paper.abstract_text().is_some());
    if let Some(answer) = known.asked.get(id) {
        all.add("Semantic Scholar", Ok(answer.clone()));
    } else if !has_abstract && is_public(id) {
        all.add("Semantic Scholar", Catalog::paper(&SemanticScholar::new(own()), id).await);
    }
    (all.found, all.failures)
}

struct Answers<'a> {
    id: &'a PaperId,
    found: Vec<(Provenance, Paper)>,
    failures: Vec<Failure>,
}

impl Answers<'_> {
    fn add(&mut self, who: &'static str, answer: Result<Option<Paper>, PortError>) {
        match answer {
            Ok(Some(paper)) => {
                let way = Provenance { source: who.to_owned(), text: self.id.to_string(), rank: 1 };
                self.found.push((way, paper));
            }
            Ok(None) => {}
            Err(error) => self.failures.push((who, error)),
        }
    }
}

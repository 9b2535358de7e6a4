//! What can be asked here, of what and how.

use std::sync::Arc;

use clap::ValueEnum as _;
use scholar_datastore::Datastore;
use scholar_pipeline::modes::MODES;
use scholar_server::backend::{DatastoreOffer, ModeOffer, Offer, SourceOffer};

use super::desk::{Desk, Known};
use crate::app::App;
use crate::args::{AnswerArgs, SourceArg};
use crate::error::CommandError;
use crate::wiring::generator;

/// Questions of one datastore.
const N_EXAMPLES: usize = 12;
/// Papers whose titles are looked at.
const MOST_PAPERS: usize = 1_500;
/// Shortest and longest title that is shown as a question, in characters.
const QUESTION_CHARS: std::ops::RangeInclusive<usize> = 25..=140;

/// The names that are served: those given, or all, the usual one first.
pub(super) fn served(given: &[String], app: &App) -> Result<Vec<String>, CommandError> {
    if !given.is_empty() {
        for name in given {
            if name != crate::starter::NAME {
                app.existing_datastore(name)?;
            }
        }
        return Ok(given.to_vec());
    }
    let usual = app.datastore_name(None);
    let all = app.datastore_names()?;
    // One that is configured and not there is told at once; the starter papers are built where they are missing.
    for member in app.datastore_members(&usual) {
        if member != crate::starter::NAME {
            app.existing_datastore(&member)?;
        }
    }
    let others: Vec<String> = all.into_iter().filter(|name| *name != usual).collect();
    Ok(std::iter::once(usual).chain(others).collect())
}

impl Desk {
    /// The datastores that can be asked: those that were there, and those made here since.
    pub(super) fn served(&self) -> Vec<String> {
        let mut names = self.names.clone();
        let made = self.made.lock();
        names.extend(made.iter().filter(|name| !self.names.contains(name)).cloned());
        names
    }

    /// The datastore of a request: the one that it names, if that is served, or the usual one.
    pub(super) fn datastore_named(&self, named: Option<&str>) -> Result<String, CommandError> {
        let served = self.served();
        match named {
            None => served
                .into_iter()
                .next()
                .ok_or_else(|| CommandError::user("no datastore is served")),
            Some(name) if served.iter().any(|one| one == name) => Ok(name.to_owned()),
            Some(name) => Err(CommandError::user(format!("there is no datastore {name:?} here"))
                .with_hint(format!("there are: {}", served.join(", ")))),
        }
    }

    /// Notes that papers were added to a datastore, which may be new.
    pub(super) fn has_made(&self, name: &str) {
        let mut made = self.made.lock();
        if !made.iter().any(|one| one == name) {
            made.push(name.to_owned());
        }
    }

    /// Whether papers of this datastore may be shown.
    pub(super) fn is_served(&self, name: &str) -> bool {
        let members = |served: &String| self.app.datastore_members(served);
        self.served()
            .iter()
            .any(|served| served == name || members(served).iter().any(|one| one == name))
    }

    /// A datastore as it is now; one that cannot be read is left out, and the log says why.
    fn datastore(&self, name: &str) -> Option<DatastoreOffer> {
        match self.look(name) {
            Ok(offer) => Some(offer),
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    name,
                    "a datastore is not offered"
                );
                None
            }
        }
    }

    fn look(&self, name: &str) -> Result<DatastoreOffer, CommandError> {
        let known = self.offered.lock().get(name).cloned();
        let stores = match &known {
            Some(known) => known.stores.clone(),
            None => self.open_for_looking(name)?,
        };
        let mut commit = 0_u64;
        for store in &stores {
            commit = commit.wrapping_add(store.commit()?);
        }
        if let Some(known) = known.filter(|known| known.commit == commit) {
            return Ok(known.offer);
        }
        let (mut papers, mut passages) = (0, 0);
        for store in &stores {
            let (n_papers, n_passages) = store.counts()?;
            papers += n_papers;
            passages += n_passages;
        }
        let mut examples = Vec::new();
        for store in &stores {
            examples.extend(questions(store)?);
        }
        examples.truncate(N_EXAMPLES);
        let offer = DatastoreOffer { name: name.to_owned(), papers, passages, examples };
        let known = Known { stores, commit, offer: offer.clone() };
        self.offered.lock().insert(name.to_owned(), known);
        Ok(offer)
    }

    fn open_for_looking(&self, name: &str) -> Result<Vec<Arc<Datastore>>, CommandError> {
        let members = self.app.datastore_members(name);
        let open = |member: &String| {
            let folder = self.app.existing_datastore(member)?;
            Ok(Arc::new(Datastore::open_unchecked(&folder)?))
        };
        members.iter().map(open).collect()
    }
}

/// Questions that titles of papers ask: their papers answer them.
fn questions(store: &Datastore) -> Result<Vec<String>, CommandError> {
    let mut found: Vec<String> = Vec::new();
    for paper in store.first_papers(MOST_PAPERS)? {
        // The question alone, of a title with something in front of it.
        let title = paper.title;
        let question = title.rsplit_once(": ").map_or(title.as_str(), |(_, last)| last).trim();
        let is_one = question.matches('?').count() == 1
            && QUESTION_CHARS.contains(&question.chars().count())
            && question.ends_with('?')
            && question.split_whitespace().count() >= 5;
        if is_one && !found.iter().any(|known| known == question) {
            let mut chars = question.chars();
            let first: String =
                chars.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
            found.push(format!("{first}{}", chars.as_str()));
        }
    }
    found.truncate(N_EXAMPLES);
    Ok(found)
}

pub(super) fn offer(desk: &Desk) -> Offer {
    let app = &desk.app;
    let datastores = desk.served().iter().filter_map(|name| desk.datastore(name)).collect();
    let configured = generator::configured(app, &AnswerArgs::default());
    let modes = MODES.iter().map(|mode| ModeOffer {
        name: mode.name.to_owned(),
        title: mode.title.to_owned(),
        summary: mode.summary.to_owned(),
        is_available: !mode.needs_generator || configured.is_some(),
    });
    let used = &app.config.sources.used;
    let sources =
        SourceArg::value_variants().iter().filter(|source| **source != SourceArg::Datastore);
    let sources = sources.map(|source| SourceOffer {
        name: source.name().to_owned(),
        title: title(*source).to_owned(),
        is_usual: used.iter().any(|name| name == source.name()),
    });
    Offer {
        datastores,
        modes: modes.collect(),
        sources: sources.collect(),
        generator: configured.map(|configured| configured.model),
        offline: app.offline,
    }
}

fn title(source: SourceArg) -> &'static str {
    match source {
        SourceArg::Datastore => "stored papers",
        SourceArg::S2 => "Semantic Scholar",
        SourceArg::Snippets => "Semantic Scholar’s full-text snippets",
        SourceArg::Web => "the web’s academic sites",
        SourceArg::Openalex => "OpenAlex",
        SourceArg::Arxiv => "arXiv",
        SourceArg::Pubmed => "PubMed and PubMed Central",
    }
}

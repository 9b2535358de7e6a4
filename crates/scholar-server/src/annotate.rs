//! Web pages on which experts compare the answers of two systems, blind.
//!
//! [`Study`] serves one [`Store`]: each annotator has a secret address, sees the questions given to them in an order of
//! their own, and judges both answers. Which answer is A is drawn for each annotator and question from the study's seed
//! and never changes. Nothing that leaves the server names a system or an instance; both answers come in one page and
//! are made by the same code, so that neither names nor times tell them apart.
//!
//! A study may have reports on research plans instead of answers ([`Kind::Review`]): each annotator sees one of two systems' reports on
//! a plan, as often the one's as the other's, and answers the items of `ScholarEval`'s user study.
//!
//! Source: the paper's expert evaluation and its annotation application, whose defects have regression tests here.
//! [`material`] makes comparisons of predictions. It is *not* for statistics, which are `scholar-bench`.

mod draw;
mod form;
pub mod material;
mod model;
mod page;
mod review;
mod routes;
mod rubrics;
mod store;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::net::TcpListener;

use crate::gate::Hosts;
use crate::serve::{Limits, Stopped, accept};

pub use model::{
    Annotator, Answer, Aspect, Evaluation, Instance, Kind, Preference, Quality, Ratings, Reference,
    Scores,
};
pub use review::{Guess, ReviewRatings, ReviewScore};
pub use rubrics::{Level, Rubric, rubrics};
pub use store::{Added, NewAnnotator, Store, StoreError, StoreErrorKind};

/// Turns an answer's Markdown into HTML that is safe to show: the first argument is the text, the second gives the
/// address within the page of a citation number that has a reference.
pub type Render = dyn Fn(&str, &dyn Fn(usize) -> Option<String>) -> String + Send + Sync;

/// Effects that the pages need: clock, random names, rendering.
#[derive(Clone)]
pub struct Environment {
    /// The current time, UTC, as text.
    pub now: Arc<dyn Fn() -> String + Send + Sync>,
    /// Makes a name that has never been used before.
    pub fresh: Arc<dyn Fn() -> String + Send + Sync>,
    /// Turns an answer's Markdown into safe HTML.
    pub render: Arc<Render>,
}

/// What the handlers share.
pub(crate) struct Shared {
    /// The studies; an annotator is one's alone.
    stores: Vec<Mutex<Store>>,
    environment: Environment,
    /// What the addresses of all pages begin with.
    base: &'static str,
}

/// A study's web server.
pub struct Study {
    shared: Arc<Shared>,
    hosts: Hosts,
}

/// What the addresses of studies begin with where they are pages among others.
pub(crate) const WITHIN: &str = "/annotate";

/// Studies that are pages of another server.
pub struct Studies(Arc<Shared>);

/// How far a study is. Neither its name nor those of the people in it are any business of whoever reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StudyCounts {
    /// Comparisons, or reports.
    pub(crate) instances: usize,
    /// People who judge them.
    pub(crate) annotators: usize,
    /// Judgements that were asked for.
    pub(crate) assigned: usize,
    /// Those that were given.
    pub(crate) done: usize,
}

impl Studies {
    /// Pages over `stores`, whose addresses begin with `/annotate/a/`.
    pub fn new(stores: Vec<Store>, environment: Environment) -> Self {
        let stores = stores.into_iter().map(Mutex::new).collect();
        Self(Arc::new(Shared { stores, environment, base: WITHIN }))
    }

    /// The routes of the annotators' pages.
    pub(crate) fn router(&self) -> axum::Router {
        routes::within(&self.0)
    }

    /// How far each study is. Waits for the disk.
    pub(crate) fn counts(&self) -> Result<Vec<StudyCounts>, StoreError> {
        let counts = |store: &Mutex<Store>| {
            let store = store.lock();
            let annotators = store.annotators()?;
            Ok(StudyCounts {
                instances: store.instances()?.len(),
                annotators: annotators.len(),
                assigned: sum(annotators.iter().map(|one| one.assigned)),
                done: sum(annotators.iter().map(|one| one.done)),
            })
        };
        self.0.stores.iter().map(counts).collect()
    }
}

fn sum(counts: impl Iterator<Item = u32>) -> usize {
    counts.map(|count| usize::try_from(count).unwrap_or(usize::MAX)).sum()
}

/// Rooms full of annotators, not crowds.
const LIMITS: Limits = Limits {
    max_connections: 256,
    header_timeout: Duration::from_secs(15),
    write_timeout: Duration::from_secs(20),
    drain: Duration::from_secs(10),
};

impl Study {
    /// A server over `store` that answers for this machine's own names and `hosts`.
    pub fn new(store: Store, environment: Environment, hosts: Hosts) -> Self {
        let stores = vec![Mutex::new(store)];
        Self { shared: Arc::new(Shared { stores, environment, base: "" }), hosts }
    }

    /// Answers until `stop` is ready, then ends what was begun.
    ///
    /// # Errors
    /// When the listener's address cannot be told.
    pub async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()>,
    ) -> io::Result<Stopped> {
        let router = routes::router(&self.shared, self.hosts);
        accept(router, listener, LIMITS, &Arc::default(), stop).await
    }
}

//! What the server's pages need of this program: it starts runs, and reads runs and papers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use scholar_datastore::Datastore;
use scholar_server::OnQuery;
use scholar_server::backend::{DatastoreOffer, QuotedIn, SearchedDatastores, Status};
use tokio::runtime::Handle;

use crate::app::App;
use crate::runs::RunFolder;

/// Datastores that are searched as one.
#[derive(Clone)]
pub(super) struct Group {
    pub(super) searched: SearchedDatastores,
    pub(super) stores: Vec<Arc<Datastore>>,
    pub(super) made: Instant,
}

/// What is known of a datastore at one commit.
#[derive(Clone)]
pub(super) struct Known {
    pub(super) stores: Vec<Arc<Datastore>>,
    pub(super) commit: u64,
    pub(super) offer: DatastoreOffer,
}

/// The program as the server sees it.
pub(super) struct Desk {
    pub(super) app: Arc<App>,
    /// Datastores that can be asked, the usual one first.
    pub(super) names: Vec<String>,
    /// Runs on which threads that wait drive their work.
    pub(super) handle: Handle,
    /// Sees every question. Nobody does unless the server's owner asks for it.
    pub(super) on_query: Option<OnQuery>,
    /// Folders of questions that wait, locked for this process.
    pub(super) reserved: Mutex<HashMap<String, RunFolder>>,
    /// Datastores that were made here, after the others were listed.
    pub(super) made: Mutex<Vec<String>>,
    /// Quotations of runs that are over.
    pub(super) quoted: Mutex<HashMap<String, Arc<Vec<QuotedIn>>>>,
    /// What was said of the datastores, by their commits.
    pub(super) offered: Mutex<HashMap<String, Known>>,
    /// What searches datastores, by their names.
    pub(super) searched: Mutex<HashMap<Vec<String>, Group>>,
    /// The state of everything as it was a moment ago: looking takes a process of another program.
    pub(super) looked: Mutex<Option<(Instant, Status)>>,
}

impl Desk {
    pub(super) fn new(
        app: Arc<App>,
        names: Vec<String>,
        handle: Handle,
        on_query: Option<OnQuery>,
    ) -> Self {
        let (reserved, offered) = (Mutex::default(), Mutex::default());
        let (made, quoted, searched) = (Mutex::default(), Mutex::default(), Mutex::default());
        let looked = Mutex::default();
        Self { app, names, handle, on_query, reserved, made, quoted, offered, searched, looked }
    }
}

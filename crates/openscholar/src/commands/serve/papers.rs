//! Papers of the datastores that are served.

use std::sync::Arc;

use scholar_core::{PaperId, PassageId};
use scholar_datastore::Datastore;
use scholar_server::backend::{BackendError, CitedPassage, PaperView};

use super::desk::Desk;
use super::told;
use crate::error::CommandError;
use crate::wiring::OpenDatastore;

/// The datastores that `name` means, a group included, each one of those that are served.
fn stores(desk: &Desk, name: &str) -> Result<Vec<Arc<Datastore>>, BackendError> {
    let members = desk.app.datastore_members(name);
    if members.is_empty() || members.iter().any(|member| !desk.is_served(member)) {
        return Err(BackendError::not_found("there is no such datastore here"));
    }
    let opened = |member: &String| -> Result<Arc<Datastore>, BackendError> {
        let open = OpenDatastore::open(&desk.app, member);
        let opened = desk.handle.block_on(open).map_err(|error| told(&error))?;
        Ok(opened.store)
    };
    members.iter().map(opened).collect()
}

pub(super) fn paper(
    desk: &Desk,
    datastore: &str,
    paper: &PaperId,
) -> Result<PaperView, BackendError> {
    let failed = |error: scholar_datastore::Error| told(&CommandError::from(error));
    for store in stores(desk, datastore)? {
        if let Some(found) = store.paper(paper).map_err(failed)? {
            let passages = store.passages_of(&found.meta.id).map_err(failed)?;
            return Ok(PaperView { paper: found, passages });
        }
    }
    Err(BackendError::not_found("there is no such paper in this datastore"))
}

pub(super) fn passage(
    desk: &Desk,
    datastore: &str,
    passage: &PassageId,
) -> Result<Option<CitedPassage>, BackendError> {
    let failed = |error: scholar_datastore::Error| told(&CommandError::from(error));
    for store in stores(desk, datastore)? {
        if let Some((passage, paper)) = store.passage(passage).map_err(failed)? {
            return Ok(Some(CitedPassage { passage, paper }));
        }
    }
    Ok(None)
}

//! Which datastores a search asks: all that are served, or those that it names.

use std::sync::Arc;
use std::time::{Duration, Instant};

use scholar_core::Retriever;
use scholar_server::backend::SearchedDatastores;

use super::desk::{Desk, Group};
use crate::error::CommandError;
use crate::wiring::OpenDatastore;

/// Combinations that are remembered; somebody may ask for all there are.
const MOST_KEPT: usize = 64;
/// Until a datastore that could not be opened is tried again.
const PAUSE: Duration = Duration::from_secs(60);

impl Desk {
    /// What searches the datastores called `asked`, or all that are served where none is.
    pub(super) async fn open_among(&self, asked: &[String]) -> Result<Group, CommandError> {
        let names = self.members_of(asked)?;
        let known = self.searched.lock().get(&names).cloned();
        let lasts =
            |group: &Group| group.searched.left_out.is_empty() || group.made.elapsed() < PAUSE;
        if let Some(known) = known.filter(lasts) {
            return Ok(known);
        }
        let mut opened: Vec<(String, OpenDatastore)> = Vec::new();
        let mut failed: Vec<(String, CommandError)> = Vec::new();
        for name in &names {
            match OpenDatastore::open(&self.app, name).await {
                Ok(one) => opened.push((name.clone(), one)),
                // What was asked for is not left out silently.
                Err(error) if !asked.is_empty() => return Err(error),
                Err(error) => failed.push((name.clone(), error)),
            }
        }
        let stores = opened.iter().map(|(_, one)| Arc::clone(&one.store)).collect();
        let found: Vec<String> = opened.iter().map(|(name, _)| name.clone()).collect();
        let retriever: Arc<dyn Retriever> = match &opened[..] {
            [] => {
                let none = || CommandError::user("no datastore is served");
                return Err(failed.pop().map_or_else(none, |(_, error)| error));
            }
            [(_, one)] => Arc::clone(&one.retriever),
            _ => Arc::new(OpenDatastore::group(&self.app, opened)?),
        };
        let mut left_out = Vec::new();
        for (name, error) in failed {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, name, "a datastore is not searched");
            left_out.push(name);
        }
        let searched = SearchedDatastores { names: found, left_out, retriever };
        let group = Group { searched, stores, made: Instant::now() };
        let mut kept = self.searched.lock();
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(names, group.clone());
        Ok(group)
    }

    /// The datastores that names mean, groups taken apart, in the order in which they are served.
    fn members_of(&self, asked: &[String]) -> Result<Vec<String>, CommandError> {
        let mut served: Vec<String> = Vec::new();
        for name in self.served() {
            for member in self.app.datastore_members(&name) {
                if !served.contains(&member) {
                    served.push(member);
                }
            }
        }
        if asked.is_empty() {
            return Ok(served);
        }
        let mut wanted: Vec<String> = Vec::new();
        for name in asked {
            let members = self.app.datastore_members(name);
            if members.is_empty() || members.iter().any(|member| !served.contains(member)) {
                let error = CommandError::user(format!("there is no datastore {name:?} here"));
                return Err(error.with_hint(format!("there are: {}", served.join(", "))));
            }
            wanted.extend(members);
        }
        served.retain(|name| wanted.contains(name));
        Ok(served)
    }
}

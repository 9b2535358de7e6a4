//! What `datastore info` and `datastore plan` say a search needs, beside what it took.

use scholar_datastore::DatastoreInfo;
use serde::Serialize;

use crate::commands::bench::status_bytes;
use crate::commands::datastore::plan::search_memory_bytes;

/// Resident bytes of this process.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Resident {
    /// Its own: allocations and stacks.
    anonymous_bytes: u64,
    /// Pages of mapped files it touched, which the system takes back when others need the room.
    mapped_bytes: u64,
}

impl Resident {
    /// Now; `None` where the system does not tell.
    pub(super) fn now() -> Option<Self> {
        Some(Self {
            anonymous_bytes: status_bytes("RssAnon:")?,
            mapped_bytes: status_bytes("RssFile:")?,
        })
    }
}

/// Estimates and measurements.
#[derive(Debug, Serialize)]
pub(super) struct Memory {
    /// Before the datastore was opened: the program, and what is left of the encoder.
    before: Resident,
    /// After all searches that use inverted indexes.
    after: Resident,
    /// By `datastore info`: allocated once and for one query at a time.
    allocated_bytes: u64,
    /// By `datastore info`: mapped files that every query reads all over.
    hot_bytes: u64,
    /// By `datastore info`: mapped files of which a query reads a little.
    cold_bytes: u64,
    /// By `datastore plan` for as many passages: index and program.
    planned_bytes: f64,
}

impl Memory {
    pub(super) fn new(before: Resident, after: Resident, info: &DatastoreInfo) -> Self {
        let need = info.memory;
        Self {
            before,
            after,
            allocated_bytes: need.allocated_bytes + need.per_query_bytes,
            hot_bytes: need.hot_bytes,
            cold_bytes: need.cold_bytes,
            planned_bytes: search_memory_bytes(info.passages as f64, info.encoder.dim as f64),
        }
    }

    pub(super) fn markdown(&self) -> String {
        let Self { before, after, allocated_bytes, hot_bytes, cold_bytes, planned_bytes } = self;
        let mega = |bytes: u64| format!("{:.0} MB", bytes as f64 / 1e6);
        let grown = |of: fn(&Resident) -> u64| mega(of(after).saturating_sub(of(before)));
        let anonymous = |resident: &Resident| resident.anonymous_bytes;
        let mapped = |resident: &Resident| resident.mapped_bytes;
        format!(
            "\n| memory | estimated | measured |\n|---|---|---|\n\
             | allocated for the datastore and a query | {} | {} more than before it was opened |\n\
             | its files, mapped | {} that every query reads, a part of {} besides | {} more than before |\n\
             | the process in all, as `datastore plan` has it: its own and what every query reads | {:.0} MB | {} of its own, and {} of \
             mapped files, which the system takes back when others need the room |\n",
            mega(*allocated_bytes),
            grown(anonymous),
            mega(*hot_bytes),
            mega(*cold_bytes),
            grown(mapped),
            planned_bytes / 1e6,
            mega(after.anonymous_bytes),
            mega(after.mapped_bytes),
        )
    }
}

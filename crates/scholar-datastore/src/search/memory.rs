//! A budget for the memory that searching keeps mapped.
//!
//! Vectors and codes are read through memory maps, and the system counts what was touched as this process's. It takes the
//! pages back when memory is short; who wants a bound before that states one, and pages are given back after the search
//! that exceeded it: vectors first, then codes. They stay in the system's cache as long as nobody else needs the room.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::store::Snapshot;

/// Searches between two looks at what is resident: a look costs more than a small search may.
const SEARCHES_PER_LOOK: u64 = 8;

/// The budget of one retriever.
#[derive(Debug, Default)]
pub(crate) struct MemoryBudget {
    searches: AtomicU64,
}

impl MemoryBudget {
    /// Called after a search.
    pub(crate) fn keep(&self, most_bytes: u64, snapshot: &Snapshot) {
        if !self.searches.fetch_add(1, Ordering::Relaxed).is_multiple_of(SEARCHES_PER_LOOK) {
            return;
        }
        for codes in [false, true] {
            if resident_bytes().is_none_or(|resident| resident <= most_bytes) {
                return;
            }
            snapshot.dense.iter().for_each(|segment| segment.release(codes));
        }
    }
}

/// Resident memory of this process; `None` where the system does not tell through a file.
fn resident_bytes() -> Option<u64> {
    let status = fs_err::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

//! What `datastore info` and `datastore plan` say a search needs, beside what it took.

use scholar_bench::performance::search::{MemoryComparison, ResidentMemory};
use scholar_datastore::DatastoreInfo;

use crate::commands::bench::status_bytes;
use crate::commands::datastore::plan::search_memory_bytes;

/// Of this process, now; `None` where the system does not tell.
pub(super) fn resident() -> Option<ResidentMemory> {
    Some(ResidentMemory {
        anonymous_bytes: status_bytes("RssAnon:")?,
        mapped_bytes: status_bytes("RssFile:")?,
    })
}

pub(super) fn compared(
    before: ResidentMemory,
    after: ResidentMemory,
    info: &DatastoreInfo,
) -> MemoryComparison {
    let need = info.memory;
    MemoryComparison {
        before,
        after,
        allocated_bytes: need.allocated_bytes + need.per_query_bytes,
        hot_bytes: need.hot_bytes,
        cold_bytes: need.cold_bytes,
        planned_bytes: search_memory_bytes(info.passages as f64, info.encoder.dim as f64),
    }
}

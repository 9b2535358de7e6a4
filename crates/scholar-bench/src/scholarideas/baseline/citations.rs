//! Citations in the form `[(author, YYYY-MM)](link)`.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::scholarideas::links::links_of;

/// How a report cites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Citations {
    /// Different links.
    pub links: usize,
    /// Citations in the form that was asked for, each place counted.
    pub dated: usize,
    /// Of them, with a month after that of the cut-off.
    pub late: usize,
}

impl Citations {
    /// Of `text`, where papers may have appeared up to `cutoff`.
    pub(super) fn of(text: &str, cutoff: Date) -> Self {
        let months: Vec<(i16, i8)> = text
            .match_indices(")](http")
            .filter_map(|(end, _)| {
                let label = &text[text[..end].rfind("[(")? + "[(".len()..end];
                month(label.rsplit(',').next()?.trim())
            })
            .collect();
        let late = months.iter().filter(|month| **month > (cutoff.year(), cutoff.month()));
        Self { links: links_of(text).len(), dated: months.len(), late: late.count() }
    }
}

/// `2023-05`.
fn month(text: &str) -> Option<(i16, i8)> {
    let (year, month) = text.split_once('-')?;
    let day = Date::new(year.parse().ok()?, month.parse().ok()?, 1).ok()?;
    Some((day.year(), day.month()))
}

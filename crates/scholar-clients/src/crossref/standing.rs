//! Whether papers were retracted, corrected or called into question.

use std::collections::BTreeMap;

use futures::{StreamExt as _, stream};
use jiff::civil::Date;
use scholar_core::{Notice, NoticeKind, PaperId, PortError, Retraction};

use super::convert::{CrossrefUpdate, list};
use super::{Crossref, KEPT};
use crate::fetch::{FetchRequest, Provider};
use crate::request;

/// DOIs named in one question for notices about them.
const DOIS_PER_REQUEST: usize = 20;

/// Rows of one answer: more notices than papers are possible.
const ROWS: usize = 200;

/// Records asked for at the same time. The governor has the last word.
const AT_ONCE: usize = 4;

/// What Crossref knows about the standing of one paper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The worst that was recorded; `Unknown` where Crossref has no record of the DOI.
    pub status: Retraction,
    /// Day of the notice that says so.
    pub date: Option<Date>,
    /// The notice that says so.
    pub notice: Option<PaperId>,
}

impl Standing {
    const UNKNOWN: Self = Self { status: Retraction::Unknown, date: None, notice: None };

    /// Takes over what is worse, and of two notices of one kind the earlier.
    fn add(&mut self, update: &CrossrefUpdate) {
        let Some(status) = update.standing else { return };
        let earlier = match (update.date, self.date) {
            (Some(new), Some(old)) => new < old,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if status > self.status || (status == self.status && earlier) {
            *self = Self { status, date: update.date, notice: Some(update.notice.clone()) };
        }
    }
}

impl Crossref {
    /// The standing of papers, in the order of `dois`: from their own records (`updated-by`) and from the notices that
    /// name them (`update-to`), which publishers may have deposited alone. A paper that could not be asked about is
    /// `Unknown`, with one notice for all of them.
    pub async fn standings(&self, dois: &[&str]) -> (Vec<Standing>, Vec<Notice>) {
        let mut known: BTreeMap<String, Standing> = BTreeMap::new();
        let mut failed: Option<PortError> = None;
        let mut missed = 0;
        let mut unique: Vec<&str> = dois.to_vec();
        unique.sort_unstable();
        unique.dedup();
        let records: Vec<_> = stream::iter(unique.iter().copied())
            .map(|doi| async move { (doi, self.work(doi).await) })
            .buffered(AT_ONCE)
            .collect()
            .await;
        for (doi, record) in records {
            match record {
                Ok(Some(work)) => {
                    let mut standing = Standing { status: Retraction::Clean, ..Standing::UNKNOWN };
                    let own = PaperId::Doi(doi.to_owned());
                    for update in work.updates.iter().filter(|update| update.paper == own) {
                        standing.add(update);
                    }
                    // The mark in a title has no notice of its own.
                    if work.paper.meta.retraction > standing.status {
                        standing.status = work.paper.meta.retraction;
                    }
                    known.insert(doi.to_owned(), standing);
                }
                Ok(None) => {}
                Err(error) => {
                    missed += 1;
                    failed = failed.or(Some(error));
                }
            }
        }
        let recorded: Vec<String> = known.keys().cloned().collect();
        for batch in recorded.chunks(DOIS_PER_REQUEST) {
            match self.notices_about(batch).await {
                Ok(updates) => {
                    for update in updates {
                        if let PaperId::Doi(doi) = &update.paper
                            && let Some(standing) = known.get_mut(doi)
                        {
                            standing.add(&update);
                        }
                    }
                }
                Err(error) => {
                    missed += batch.len();
                    failed = failed.or(Some(error));
                }
            }
        }
        let standings =
            dois.iter().map(|doi| known.get(*doi).cloned().unwrap_or(Standing::UNKNOWN)).collect();
        (standings, failed.map(|error| unasked(missed, &error)).into_iter().collect())
    }

    /// The updates that any notice declares about these DOIs.
    async fn notices_about(&self, dois: &[String]) -> Result<Vec<CrossrefUpdate>, PortError> {
        // A comma would end the condition.
        let conditions: Vec<String> = dois
            .iter()
            .filter(|doi| !doi.contains(','))
            .map(|doi| format!("updates:{doi}"))
            .collect();
        if conditions.is_empty() {
            return Ok(Vec::new());
        }
        let request = FetchRequest::get(Provider::Crossref, "/works")
            .query("filter", conditions.join(","))
            .query("rows", ROWS.to_string())
            .cache(KEPT);
        let (works, _) = request::ask(&self.fetcher, &request, list).await?;
        Ok(works.into_iter().flat_map(|work| work.updates).collect())
    }
}

fn unasked(count: usize, error: &PortError) -> Notice {
    let message =
        format!("whether {count} papers were retracted could not be completely checked: {error}");
    let notice = Notice::new(NoticeKind::Skipped, message);
    match error.hint() {
        Some(hint) => notice.with_hint(hint),
        None => notice,
    }
}

//! Links of a report that lead nowhere.
//!
//! Steps: [`links_of`] takes the distinct web addresses from the text; [`check_links`] has each looked at as the [`Policy`] says; the
//! rate is invalid links over links, over all reports and as a mean over reports.
//!
//! [`Policy::Paper`] counts what is surely gone, so its rate is a lower bound: whoever refuses programs, or does not answer, is
//! not counted. [`Policy::Strict`] counts everything that a reader could not open. [`Policy::Offline`] asks nobody: a link is valid if it
//! belongs to the report's evidence.
//!
//! Source: arXiv 2510.16234, table 2; the strict rules are those of the reference script, without its rule that a page served by a
//! certain network is invalid. Asking is [`LinkProbe`]'s affair.

mod log;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use futures::StreamExt as _;
use serde::{Deserialize, Serialize};

use super::links::links_of;
use super::model::IdeaId;
use super::reports::Reports;
use crate::statistics::{Estimate, SEED, Share, estimate, estimate_by, ratio};

pub use log::{LinkLog, LogLine};
pub use rules::{doi_of, is_bot_wall, is_soft_404};

/// What makes a link invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Only the statuses 404, 410 and 500 or more.
    Paper,
    /// Everything that a reader could not open.
    Strict,
    /// That it is not in the evidence; nobody is asked.
    Offline,
}

/// How a link is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// `HEAD`: the status.
    Head,
    /// `GET` of the first byte: the status, where `HEAD` is not allowed.
    FirstByte,
    /// `GET`: the status and the page.
    Page,
}

/// What came of asking, after redirects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkReply {
    /// There was a reply.
    Answered {
        /// HTTP status.
        status: u16,
        /// The page as text, of [`Ask::Page`] only; untrusted.
        page: String,
    },
    /// There was none in time.
    TimedOut,
    /// There was none: no such host, no connection, a broken one, too many redirects; in a few words without the address.
    Failed(String),
}

/// Looks at links. Whoever implements it keeps a pace for each host.
#[async_trait]
pub trait LinkProbe: Send + Sync {
    /// What `url` says; never an error.
    async fn ask(&self, url: &str, how: Ask) -> LinkReply;

    /// What the resolver of DOIs says of one; never an error.
    async fn resolve(&self, doi: &str) -> LinkReply;
}

/// Whether a link counts as invalid, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkVerdict {
    /// HTTP status; `None` without a reply, or where nobody was asked.
    pub status: Option<u16>,
    /// Whether it counts as valid.
    pub valid: bool,
    /// In a few words.
    pub reason: String,
}

/// A link of a report with its verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedLink {
    /// The report's idea.
    pub idea: IdeaId,
    /// The address.
    pub url: String,
    /// What was found.
    #[serde(flatten)]
    pub verdict: LinkVerdict,
}

/// How many links of the reports are invalid.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Invalidity {
    /// How it was decided.
    pub policy: Policy,
    /// Distinct links that are invalid, over all reports; a link of two reports counts twice.
    pub links: Share,
    /// The same share with an interval that draws ideas; `None` without links.
    pub rate: Option<Estimate>,
    /// Mean over the reports that have links, with its interval.
    pub per_report: Option<Estimate>,
    /// Reports without a link.
    pub without_links: usize,
    /// How many links have each reason, the invalid ones only.
    pub reasons: BTreeMap<String, usize>,
    /// Every link, by idea and in the order of the text.
    pub checked: Vec<CheckedLink>,
}

/// Checks every link of `reports` by asking, `parallel` at a time. What `log` knows is not asked again, and what is found is handed to
/// `keep` as soon as it is.
///
/// With [`Policy::Offline`] nobody is asked: see [`offline`].
pub async fn check_links(
    reports: &Reports,
    policy: Policy,
    probe: &dyn LinkProbe,
    log: &LinkLog,
    parallel: usize,
    keep: &(dyn Fn(&CheckedLink) + Sync),
) -> Invalidity {
    // An address of several reports is asked once.
    let mut asked: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    let all = links_by_report(reports);
    for (idea, url) in &all {
        if log.verdict(*idea, url).is_none() && seen.insert(url.clone()) {
            asked.push(url.clone());
        }
    }
    let mut verdicts: BTreeMap<String, LinkVerdict> = BTreeMap::new();
    let mut replies = futures::stream::iter(asked)
        .map(|url| async move {
            let verdict = rules::verdict(&url, policy, probe).await;
            (url, verdict)
        })
        .buffered(parallel.max(1));
    while let Some((url, verdict)) = replies.next().await {
        for (idea, _) in all.iter().filter(|(_, other)| *other == url) {
            keep(&CheckedLink { idea: *idea, url: url.clone(), verdict: verdict.clone() });
        }
        verdicts.insert(url, verdict);
    }
    let checked = all.into_iter().filter_map(|(idea, url)| {
        let verdict = log.verdict(idea, &url).or_else(|| verdicts.get(&url)).cloned()?;
        Some(CheckedLink { idea, url, verdict })
    });
    Invalidity::of(policy, reports, checked.collect())
}

/// Checks the links against the evidence of each report; `None` names the first report that does not tell its evidence.
///
/// # Errors
/// The idea whose report has no evidence.
pub fn offline(reports: &Reports) -> Result<Invalidity, IdeaId> {
    let mut checked = Vec::new();
    for (idea, report) in reports {
        let evidence = report.evidence.as_ref().ok_or(*idea)?;
        for url in links_of(&report.text) {
            let valid = evidence.contains(&url);
            let reason = if valid { "in the evidence" } else { "not in the evidence" };
            let verdict = LinkVerdict { status: None, valid, reason: reason.to_owned() };
            checked.push(CheckedLink { idea: *idea, url, verdict });
        }
    }
    Ok(Invalidity::of(Policy::Offline, reports, checked))
}

fn links_by_report(reports: &Reports) -> Vec<(IdeaId, String)> {
    let of = |(idea, report): (&IdeaId, &super::reports::Report)| {
        let idea = *idea;
        links_of(&report.text).into_iter().map(move |url| (idea, url))
    };
    reports.iter().flat_map(of).collect()
}

impl Invalidity {
    fn of(policy: Policy, reports: &Reports, checked: Vec<CheckedLink>) -> Self {
        let mut by_report: BTreeMap<IdeaId, (f64, f64)> = BTreeMap::new();
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        for link in &checked {
            let (invalid, links) = by_report.entry(link.idea).or_default();
            *links += 1.0;
            if !link.verdict.valid {
                *invalid += 1.0;
                *reasons.entry(link.verdict.reason.clone()).or_default() += 1;
            }
        }
        let rows: Vec<(f64, f64)> = by_report.values().copied().collect();
        let shares: Vec<f64> = rows.iter().map(|(invalid, links)| invalid / links).collect();
        let invalid = checked.iter().filter(|link| !link.verdict.valid).count();
        Self {
            policy,
            links: Share::of(invalid, checked.len()),
            rate: estimate_by(&rows, SEED, crate::statistics::ratio_of_means),
            per_report: estimate(&shares, SEED),
            without_links: reports.len() - by_report.len(),
            reasons,
            checked,
        }
    }

    /// Invalid links in percent; `None` without links.
    pub fn percent(&self) -> Option<f64> {
        (self.links.n > 0).then(|| 100.0 * ratio(self.links.hits, self.links.n))
    }
}

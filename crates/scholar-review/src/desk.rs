//! What every step of a review works with, and the books on what went wrong.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use scholar_core::{NoticeKind, PaperId};
use scholar_pipeline::Frame;

use crate::config::ReviewConfig;
use crate::cutoff::{Guard, LeftOut, Refusal};
use crate::idea::Idea;
use crate::report::{Failure, ReviewModule};

/// One review under work.
pub(crate) struct Desk<'a> {
    pub(crate) frame: &'a Frame<'a>,
    pub(crate) idea: &'a Idea,
    pub(crate) config: &'a ReviewConfig,
    pub(crate) guard: Guard,
    refused: Mutex<BTreeSet<(&'static str, Refusal, PaperId)>>,
    failures: Mutex<Vec<Failure>>,
}

impl<'a> Desk<'a> {
    pub(crate) fn new(frame: &'a Frame<'a>, idea: &'a Idea, config: &'a ReviewConfig) -> Self {
        Self {
            frame,
            idea,
            config,
            guard: Guard::of(idea, config.cutoff),
            refused: Mutex::default(),
            failures: Mutex::default(),
        }
    }

    /// Lists an item that failed.
    pub(crate) fn failed(&self, module: ReviewModule, stage: &str, item: &str, reason: &str) {
        let failure = Failure {
            module,
            stage: stage.to_owned(),
            item: item.to_owned(),
            reason: reason.to_owned(),
        };
        let message = format!("{} of {item} failed: {reason}", stage.replace('_', " "));
        let kind = match self.frame.over_budget() {
            Some(_) => NoticeKind::Budget,
            None => NoticeKind::Skipped,
        };
        self.frame.notice(scholar_core::Notice::new(kind, message));
        self.failures.lock().push(failure);
    }

    /// Counts a paper that was refused.
    pub(crate) fn refuse(&self, route: &'static str, why: Refusal, paper: &PaperId) {
        self.refused.lock().insert((route, why, paper.clone()));
    }

    /// Failures by module, stage and item, whatever ran first.
    pub(crate) fn failures(&self) -> Vec<Failure> {
        let mut failures = self.failures.lock().clone();
        failures.sort_by(|a, b| {
            (a.module, &a.stage, &a.item, &a.reason).cmp(&(b.module, &b.stage, &b.item, &b.reason))
        });
        failures
    }

    /// Papers refused, by route and reason.
    pub(crate) fn left_out(&self) -> Vec<LeftOut> {
        let mut all: Vec<LeftOut> = Vec::new();
        for (route, why, _) in &*self.refused.lock() {
            match all.last_mut() {
                Some(last) if last.route == *route && last.why == *why => last.papers += 1,
                _ => all.push(LeftOut { route: (*route).to_owned(), why: *why, papers: 1 }),
            }
        }
        all
    }
}

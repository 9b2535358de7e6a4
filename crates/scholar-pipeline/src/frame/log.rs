//! The log of a run.

use parking_lot::Mutex;
use scholar_core::{Notice, TokenUsage};

use crate::event::{Event, Observer};

/// Passes every event on, and keeps all but text pieces. The same notice is given once: several queries meet the same
/// trouble.
pub struct Log<'a> {
    observer: &'a dyn Observer,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    events: Vec<Event>,
    notices: Vec<Notice>,
}

impl<'a> Log<'a> {
    pub(super) fn new(observer: &'a dyn Observer) -> Self {
        Self { observer, kept: Mutex::default() }
    }

    /// Model calls that began for purposes that `of` accepts, and the tokens of those that ended.
    pub(crate) fn calls(&self, of: impl Fn(&str) -> bool) -> (u64, TokenUsage) {
        let (mut calls, mut used) = (0, TokenUsage::default());
        for event in &self.kept.lock().events {
            match event {
                Event::Generating { purpose, .. } if of(purpose) => calls += 1,
                Event::Generated { purpose, usage } if of(purpose) => used += *usage,
                _ => {}
            }
        }
        (calls, used)
    }

    /// Events and notices in order of occurrence.
    pub(super) fn into_kept(self) -> (Vec<Event>, Vec<Notice>) {
        let Kept { events, notices } = self.kept.into_inner();
        (events, notices)
    }
}

impl Observer for Log<'_> {
    fn on_event(&self, event: &Event) {
        if let Event::Noticed { notice } = event {
            let notices = &mut self.kept.lock().notices;
            if notices.contains(notice) {
                return;
            }
            notices.push(notice.clone());
        }
        self.observer.on_event(event);
        let mut kept = self.kept.lock();
        if !matches!(event, Event::Text { .. }) {
            kept.events.push(event.clone());
        }
    }
}

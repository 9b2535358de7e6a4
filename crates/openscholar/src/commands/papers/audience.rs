//! Who hears of work on papers, one after the other, and who may end it: the terminal, or a page of `serve`.

use std::sync::Arc;

use scholar_core::Notice;
use scholar_pipeline::{Event, Observer};
use scholar_server::Cancel;

use crate::app::App;
use crate::printer::Printer;

/// See the module.
#[derive(Clone)]
pub(crate) struct Audience {
    pub(crate) printer: Printer,
    /// Hears of every paper that is done.
    pub(crate) observer: Arc<dyn Observer>,
    /// What ends the work between two papers; a signal does so where this is missing.
    pub(crate) cancel: Option<Cancel>,
}

impl Audience {
    /// The terminal.
    pub(crate) fn terminal(app: &App) -> Self {
        Self { printer: app.printer.clone(), observer: Arc::new(()), cancel: None }
    }

    /// Ready when the work is to end.
    pub(crate) async fn ends(&self, app: &App) {
        match &self.cancel {
            Some(cancel) => {
                let _whatever_the_reason = cancel.wait().await;
            }
            None => app.stop.wait().await,
        }
    }

    /// Whether the work is to end.
    pub(crate) fn has_ended(&self, app: &App) -> bool {
        match &self.cancel {
            Some(cancel) => cancel.reason().is_some(),
            None => app.stop.requested(),
        }
    }

    /// Tells what a person should know.
    pub(crate) fn notice(&self, notice: &Notice) {
        self.printer.notice(notice);
        self.observer.on_event(&Event::Noticed { notice: notice.clone() });
    }
}

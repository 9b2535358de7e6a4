//! Progress bars with rates, on stderr, on terminals only; plain lines otherwise.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use scholar_core::text::untrusted;

use scholar_datastore::dense::ivf::IvfProgress;

use crate::printer::Printer;

/// A progress bar whose messages are shown and not obeyed, as all that [`crate::printer`] prints: names of files and of
/// models stand in them.
#[derive(Debug, Clone)]
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// With this message.
    pub(crate) fn with_message(self, message: impl AsRef<str>) -> Self {
        self.set_message(message);
        self
    }

    /// From now on with this message.
    pub(crate) fn set_message(&self, message: impl AsRef<str>) {
        self.0.set_message(untrusted(message.as_ref()).line().to_string());
    }

    /// How much there is.
    pub(crate) fn set_length(&self, length: u64) {
        self.0.set_length(length);
    }

    /// How much is done.
    pub(crate) fn set_position(&self, position: u64) {
        self.0.set_position(position);
    }

    /// So much more is done.
    pub(crate) fn inc(&self, more: u64) {
        self.0.inc(more);
    }

    /// Counts what `items` gives.
    pub(crate) fn wrap_iter<T>(&self, items: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
        self.0.wrap_iter(items)
    }

    /// Does `work`, which prints, while the bar is out of the way.
    pub(crate) fn suspend<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.suspend(work)
    }

    /// Takes the bar away.
    pub(crate) fn finish_and_clear(&self) {
        self.0.finish_and_clear();
    }
}

/// A bar over counted things (`passages`, `papers`).
pub(crate) fn counted(printer: &Printer, what: &str, total: Option<u64>) -> Bar {
    bar(
        printer,
        total,
        &format!(
            "{{msg}} {{wide_bar}} {{human_pos}}/{{human_len}} {what} ({{per_sec}}, {{eta}} left)"
        ),
        &format!("{{spinner}} {{msg}} {{human_pos}} {what} ({{per_sec}})"),
    )
}

/// A bar over bytes.
pub(crate) fn bytes(printer: &Printer, total: Option<u64>) -> Bar {
    bar(
        printer,
        total,
        "{msg} {wide_bar} {bytes}/{total_bytes} ({bytes_per_sec}, {eta} left)",
        "{spinner} {msg} {bytes} ({bytes_per_sec})",
    )
}

/// Shows how far the making of an inverted index is.
pub(crate) fn show_index(bar: &Bar, step: IvfProgress) {
    bar.set_message(format!("{:?}", step.stage).to_lowercase());
    bar.set_length(step.total as u64);
    bar.set_position(step.done as u64);
}

/// A spinner with a changing message.
pub(crate) fn spinner(printer: &Printer) -> Bar {
    let bar = bar(printer, None, "{msg}", "{spinner} {msg} {elapsed}");
    bar.0.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn bar(printer: &Printer, total: Option<u64>, with_total: &str, without: &str) -> Bar {
    let bar = match total {
        _ if !printer.chatty() => ProgressBar::hidden(),
        Some(total) => ProgressBar::new(total),
        None => ProgressBar::new_spinner(),
    };
    let template = if total.is_some() { with_total } else { without };
    let style =
        ProgressStyle::with_template(template).expect("the templates above are well-formed");
    Bar(bar.with_style(style.progress_chars("━╸ ")))
}

//! Progress bars with rates, on stderr, on terminals only; plain lines otherwise.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use scholar_datastore::dense::ivf::IvfProgress;

use crate::printer::Printer;

/// A bar over counted things (`passages`, `papers`).
pub(crate) fn counted(printer: &Printer, what: &str, total: Option<u64>) -> ProgressBar {
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
pub(crate) fn bytes(printer: &Printer, total: Option<u64>) -> ProgressBar {
    bar(
        printer,
        total,
        "{msg} {wide_bar} {bytes}/{total_bytes} ({bytes_per_sec}, {eta} left)",
        "{spinner} {msg} {bytes} ({bytes_per_sec})",
    )
}

/// Shows how far the making of an inverted index is.
pub(crate) fn show_index(bar: &ProgressBar, step: IvfProgress) {
    bar.set_message(format!("{:?}", step.stage).to_lowercase());
    bar.set_length(step.total as u64);
    bar.set_position(step.done as u64);
}

/// A spinner with a changing message.
pub(crate) fn spinner(printer: &Printer) -> ProgressBar {
    let bar = bar(printer, None, "{msg}", "{spinner} {msg} {elapsed}");
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn bar(printer: &Printer, total: Option<u64>, with_total: &str, without: &str) -> ProgressBar {
    let bar = match total {
        _ if !printer.chatty() => ProgressBar::hidden(),
        Some(total) => ProgressBar::new(total),
        None => ProgressBar::new_spinner(),
    };
    let template = if total.is_some() { with_total } else { without };
    let style =
        ProgressStyle::with_template(template).expect("the templates above are well-formed");
    bar.with_style(style.progress_chars("━╸ "))
}

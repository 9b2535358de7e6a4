//! Results go to stdout, everything else to stderr.

use std::error::Error as _;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use scholar_core::Notice;

use crate::args::GlobalArgs;
use crate::error::{CommandError, ErrorKind};

/// How to print.
#[expect(clippy::struct_excessive_bools, reason = "four independent facts about two streams")]
#[derive(Debug, Clone)]
pub(crate) struct Printer {
    /// Results as JSON.
    pub(crate) json: bool,
    quiet: bool,
    colour_out: bool,
    colour_err: bool,
}

impl Printer {
    pub(crate) fn new(global: &GlobalArgs, no_color: bool) -> Self {
        Self {
            json: global.json,
            quiet: global.quiet,
            colour_out: !no_color && io::stdout().is_terminal(),
            colour_err: !no_color && io::stderr().is_terminal(),
        }
    }

    /// Whether progress and notices are wanted.
    pub(crate) fn chatty(&self) -> bool {
        !self.quiet
    }

    /// Whether a person watches stderr live.
    pub(crate) fn live(&self) -> bool {
        self.chatty() && io::stderr().is_terminal()
    }

    /// Writes `text` and a line break to stdout. A closed pipe is success: nobody reads on.
    #[expect(clippy::unused_self, reason = "whoever prints results holds a printer")]
    pub(crate) fn out(&self, text: &str) -> Result<(), CommandError> {
        let mut stdout = io::stdout().lock();
        let written = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other.map_err(|source| {
                CommandError::new(ErrorKind::User, "cannot write to standard output")
                    .with_source(source)
            }),
        }
    }

    /// Writes `value` as JSON to stdout.
    pub(crate) fn json(&self, value: &impl serde::Serialize) -> Result<(), CommandError> {
        let text = serde_json::to_string_pretty(value).map_err(|source| {
            CommandError::new(ErrorKind::Bug, "cannot write JSON").with_source(source)
        })?;
        self.out(&text)
    }

    /// A line for the person watching.
    pub(crate) fn say(&self, text: &str) {
        if self.chatty() {
            // Nothing is lost when stderr is gone.
            let _ignored = writeln!(io::stderr(), "{text}");
        }
    }

    /// A notice.
    pub(crate) fn notice(&self, notice: &Notice) {
        let hint = notice.hint.as_ref().map(|hint| format!(" (hint: {hint})")).unwrap_or_default();
        self.say(&format!("{} {}{hint}", self.paint_err("33", "note:"), notice.message));
    }

    /// An error with causes and hints; returns its exit code.
    pub(crate) fn error(&self, error: &CommandError) -> ExitCode {
        let mut text = format!("{} {error}", self.paint_err("1;31", "error:"));
        let mut cause = error.source();
        while let Some(source) = cause {
            let _infallible = write!(text, "\n  because {source}");
            cause = source.source();
        }
        for hint in &error.hints {
            let _infallible = write!(text, "\n{} {hint}", self.paint_err("36", "hint:"));
        }
        let _ignored = writeln!(io::stderr(), "{text}");
        if self.json {
            let hints = &error.hints;
            let report = serde_json::json!({"schema": "openscholar.error/1", "error": error.to_string(),
                "exit_code": error.code(), "hints": hints});
            let _ignored = writeln!(io::stdout(), "{report}");
        }
        ExitCode::from(error.code())
    }

    /// `text` in the ANSI style `code` when stdout is a terminal.
    pub(crate) fn paint_out(&self, code: &str, text: &str) -> String {
        paint(self.colour_out, code, text)
    }

    /// `text` in the ANSI style `code` when stderr is a terminal.
    pub(crate) fn paint_err(&self, code: &str, text: &str) -> String {
        paint(self.colour_err, code, text)
    }
}

fn paint(on: bool, code: &str, text: &str) -> String {
    if on { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}

//! The one door to stdout and stderr: results go to the one, everything else to the other.
//!
//! Whatever comes here may hold text of strangers, so nothing of it is obeyed: control characters, overrides of the
//! writing direction and the like are shown as a sign ([`mod@scholar_core::text::untrusted`]), and escape sequences come
//! from [`Style`] alone. JSON escapes them instead, without loss. Log lines ([`LogLines`]), panics
//! ([`print_panics`]) and what `clap` says ([`usage`]) take the same door; progress bars have their own
//! ([`crate::progress`]). A test of the repository looks for prints that go around it.

mod styled;

use std::error::Error as _;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use scholar_core::Notice;
use scholar_core::text::untrusted;

use crate::args::GlobalArgs;
use crate::error::{CommandError, ErrorKind};
use crate::output::json::Json;

pub(crate) use styled::{Style, Styled};

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

    /// The same without a word on stderr: nobody watches a run of a server there.
    pub(crate) fn silent(&self) -> Self {
        Self { json: false, quiet: true, ..self.clone() }
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
        to_stdout(&untrusted(text).block().to_string())
    }

    /// The same with styles, where stdout is a terminal.
    pub(crate) fn out_styled(&self, text: &Styled) -> Result<(), CommandError> {
        to_stdout(&text.rendered(self.colour_out))
    }

    /// Writes JSON to stdout for another program, byte for byte, as what is signed must be; on a terminal it is escaped, which
    /// says the same.
    #[expect(clippy::unused_self, reason = "whoever prints results holds a printer")]
    pub(crate) fn exact_json(&self, json: &[u8]) -> Result<(), CommandError> {
        let mut stdout = io::stdout().lock();
        let written = if stdout.is_terminal() {
            let shown = Json::written(&String::from_utf8_lossy(json));
            writeln!(stdout, "{}", shown.as_str())
        } else {
            stdout.write_all(json)
        };
        reported(written.and_then(|()| stdout.flush()))
    }

    /// Writes `value` as JSON to stdout.
    pub(crate) fn json(&self, value: &impl serde::Serialize) -> Result<(), CommandError> {
        self.out_json(&Json::pretty(value)?)
    }

    /// Writes JSON to stdout, whose own escapes keep it exact.
    #[expect(clippy::unused_self, reason = "whoever prints results holds a printer")]
    pub(crate) fn out_json(&self, json: &Json) -> Result<(), CommandError> {
        to_stdout(json.as_str())
    }

    /// A line for the person watching.
    pub(crate) fn say(&self, text: &str) {
        self.say_styled(&text.into());
    }

    fn say_styled(&self, text: &Styled) {
        if self.chatty() {
            to_stderr(&(text.rendered(self.colour_err) + "\n"));
        }
    }

    /// A piece of a text that is being written.
    pub(crate) fn stream(&self, delta: &str) {
        to_stderr(&Styled::new().styled(Style::Faint, delta).rendered(self.colour_err));
    }

    /// A notice.
    pub(crate) fn notice(&self, notice: &Notice) {
        let mut text = Styled::new();
        text.styled(Style::Yellow, "note:");
        let _infallible = write!(text, " {}", within(&notice.message));
        if let Some(hint) = &notice.hint {
            let _infallible = write!(text, " (hint: {})", within(hint));
        }
        self.say_styled(&text);
    }

    /// Something that can be done, where nothing failed.
    pub(crate) fn hint(&self, hint: &str) {
        let mut text = Styled::new();
        text.styled(Style::Cyan, "hint:");
        let _infallible = write!(text, " {}", within(hint));
        self.say_styled(&text);
    }

    /// An error with causes and hints; returns its exit code.
    pub(crate) fn error(&self, error: &CommandError) -> ExitCode {
        let mut text = Styled::new();
        text.styled(Style::Error, "error:");
        let _infallible = write!(text, " {}", within(&error.to_string()));
        let mut cause = error.source();
        while let Some(source) = cause {
            let _infallible = write!(text, "\n  because {}", within(&source.to_string()));
            cause = source.source();
        }
        for hint in &error.hints {
            text.plain("\n").styled(Style::Cyan, "hint:");
            let _infallible = write!(text, " {}", within(hint));
        }
        to_stderr(&(text.rendered(self.colour_err) + "\n"));
        if self.json {
            let report = serde_json::json!({"schema": "openscholar.error/1", "error": error.to_string(),
                "exit_code": error.code(), "hints": error.hints});
            // Who does not read it has the exit code.
            let _ignored = Json::line(&report).and_then(|report| self.out_json(&report));
        }
        ExitCode::from(error.code())
    }
}

/// What `clap` says of a command line that is none, or its help; returns the exit code.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let code = ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    if error.use_stderr() && error.kind() != HELP_INSTEAD {
        // Quotes arguments, which may be names of files.
        to_stderr(&untrusted(&error.render().to_string()).block().to_string());
    } else {
        // Help and version are this program's own words; nothing is lost when nobody reads them.
        let _ignored = error.print();
    }
    code
}

/// Says that `word` is no command, and what may be meant. Exit code 2.
pub(crate) fn unknown_command(word: &str, near: &[String]) -> ExitCode {
    let mut text = format!("error: no command `{word}`");
    if !near.is_empty() {
        let names: Vec<String> = near.iter().map(|name| format!("`openscholar {name}`")).collect();
        text = format!("{text}; did you mean {}?", names.join(" or "));
    }
    text = format!(
        "{text}\n  hint: `openscholar --help` lists the commands; to ask about one word, write openscholar ask {word:?}\n"
    );
    to_stderr(&untrusted(&text).block().to_string());
    ExitCode::from(2)
}

/// A command without its verb is answered by the help text, on stderr.
const HELP_INSTEAD: clap::error::ErrorKind =
    clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;

/// From now on a panic's message, which may quote what was being read, takes this door.
pub(crate) fn print_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        let mut text = format!("thread '{}' {panic}\n", thread.name().unwrap_or("unnamed"));
        let trace = std::backtrace::Backtrace::capture();
        if trace.status() == std::backtrace::BacktraceStatus::Captured {
            let _infallible = writeln!(text, "stack backtrace:\n{trace}");
        }
        to_stderr(&untrusted(&text).block().to_string());
    }));
}

/// Where log lines go: to stderr, as everything of this door. Their levels have no colour, because colours would be
/// escape sequences among text of strangers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogLines;

impl io::Write for LogLines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        to_stderr(&untrusted(&String::from_utf8_lossy(line)).block().to_string());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Text within a message of ours. Its further lines are indented: none can look like an error or a hint of this program.
fn within(text: &str) -> String {
    untrusted(text.trim_end()).block().to_string().replace('\n', "\n    ")
}

fn to_stdout(text: &str) -> Result<(), CommandError> {
    let mut stdout = io::stdout().lock();
    reported(writeln!(stdout, "{text}").and_then(|()| stdout.flush()))
}

/// A closed pipe is success: nobody reads on.
fn reported(written: io::Result<()>) -> Result<(), CommandError> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|source| {
            CommandError::new(ErrorKind::User, "cannot write to standard output")
                .with_source(source)
        }),
    }
}

fn to_stderr(text: &str) {
    // Nothing is lost when stderr is gone.
    let _ignored = io::stderr().lock().write_all(text.as_bytes());
}

//! Runs the built program in an empty home.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An empty home folder and the program.
pub(crate) struct Program {
    home: tempfile::TempDir,
}

impl Program {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().expect("a temporary folder") }
    }

    /// A path in the home folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Runs it with the home folder as its only environment.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        Self::command(self.home.path()).args(args).output().expect("the program starts")
    }

    /// The command with `home` as its home.
    pub(crate) fn command(home: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_openscholar"));
        command.env_clear().env("HOME", home).env("PATH", "/nonexistent");
        command
    }
}

/// Exit code, stdout and stderr as text.
pub(crate) fn text(output: &Output) -> (i32, String, String) {
    (
        output.status.code().expect("not killed"),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

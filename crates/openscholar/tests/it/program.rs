//! Runs the built program in a home of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// A question the fixture papers answer.
pub(crate) const QUESTION: &str =
    "How can hallucinations in neural machine translation be explained, reduced and detected?";

/// Name of the datastore of [`Program::with_papers`].
pub(crate) const STORE: &str = "papers";

/// An empty home folder and the program.
pub(crate) struct Program {
    home: tempfile::TempDir,
}

impl Program {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().expect("a temporary folder") }
    }

    /// A home whose default datastore holds the forty fixture papers, encoded by a tiny model given as a folder.
    pub(crate) fn with_papers() -> Self {
        static BUILT: OnceLock<Program> = OnceLock::new();
        let built = BUILT.get_or_init(|| {
            let program = Self::new();
            program.configure();
            let papers = corpus().to_string_lossy().into_owned();
            program.succeeds(&["datastore", "build", STORE, &papers]);
            program
        });
        let program = Self::new();
        copy(built.home.path(), program.home.path());
        program
    }

    /// Writes a config file: the tiny encoder alone, the default datastore [`STORE`], and short pauses between attempts.
    pub(crate) fn configure(&self) {
        let config = format!(
            "datastore = \"{STORE}\"\nencoder = {:?}\nreranker = \"own\"\nthreads = 1\n[evidence]\nabstain_below = 0.2\n[generator]\nmodel = \"scripted\"\nattempts = 3\nretry_pause_ms = 1\n",
            encoder().to_string_lossy()
        );
        let path = self.path(".config/openscholar/config.toml");
        fs_err::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs_err::write(path, config).expect("written");
    }

    /// A path in the home folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// A path in the data folder.
    pub(crate) fn data(&self, name: &str) -> PathBuf {
        self.path(".local/share/openscholar").join(name)
    }

    /// Runs it with the home folder as its only environment.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        Self::command(self.home.path()).args(args).output().expect("the program starts")
    }

    /// Runs it, which must succeed, and returns what it printed.
    pub(crate) fn succeeds(&self, args: &[&str]) -> String {
        let (code, stdout, stderr) = text(&self.run(args));
        assert_eq!(code, 0, "{args:?}\n{stderr}\n{stdout}");
        stdout
    }

    /// Runs it with `--json`, which must end with `code`, and returns the JSON it printed.
    pub(crate) fn json(&self, code: i32, args: &[&str]) -> Value {
        let (got, stdout, stderr) = text(&self.run(&[&["--json"], args].concat()));
        assert_eq!(got, code, "{args:?}\n{stderr}\n{stdout}");
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{args:?}: {error}\n{stdout}"))
    }

    /// Runs it, which must fail with `code` and say all of `says` on stderr; returns stderr.
    pub(crate) fn fails(&self, code: i32, args: &[&str], says: &[&str]) -> String {
        let (got, _, stderr) = text(&self.run(args));
        said(code, args, says, got, &stderr);
        stderr
    }

    /// Runs it with every file limited to `blocks` of 512 bytes: a write beyond fails as on a full disk.
    pub(crate) fn run_with_small_files(&self, blocks: u32, args: &[&str]) -> Output {
        let mut shell = Command::new("/bin/sh");
        // A signal ignored here stays ignored in the program, which then sees the error instead.
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        shell.env_clear().env("HOME", self.home.path()).env("OPENSCHOLAR_LOCAL_PORTS", "none");
        shell.args(["-c", &script]);
        shell.arg(env!("CARGO_BIN_EXE_openscholar")).args(args).output().expect("a shell")
    }

    /// Starts it and lets it run.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = Self::command(self.home.path());
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the program starts")
    }

    /// The command with `home` as its home.
    pub(crate) fn command(home: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_openscholar"));
        command.env_clear().env("HOME", home).env("PATH", "/nonexistent");
        // Whether a model server runs on this machine changes no test.
        command.env("OPENSCHOLAR_LOCAL_PORTS", "none");
        command
    }

    /// Names of all runs, oldest first.
    pub(crate) fn runs(&self) -> Vec<String> {
        let listed = self.json(0, &["runs", "list"]);
        let runs = listed["runs"].as_array().expect("a list");
        runs.iter().rev().map(|run| run["id"].as_str().expect("an id").to_owned()).collect()
    }

    /// A JSON file of a run.
    pub(crate) fn run_json(&self, run: &str, file: &str) -> Value {
        let text = fs_err::read_to_string(self.data("runs").join(run).join(file)).expect("there");
        serde_json::from_str(&text).expect("JSON")
    }
}

/// Compares what a failed command said with what it should.
pub(crate) fn said(code: i32, args: &[&str], says: &[&str], got: i32, stderr: &str) {
    assert_eq!(got, code, "{args:?}\n{stderr}");
    for words in says {
        assert!(stderr.contains(words), "{args:?}: {words:?} is missing in\n{stderr}");
    }
    assert!(!stderr.contains("panicked"), "{args:?}\n{stderr}");
}

/// The fixture papers.
pub(crate) fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scholar-testing/fixtures/corpus.jsonl")
}

/// A tiny seeded encoder.
pub(crate) fn encoder() -> PathBuf {
    models().join("golden/tiny-bert-encoder")
}

/// Where the tiny models lie.
pub(crate) fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scholar-models/tests")
}

/// Copies what is in `from` into `to`.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs_err::create_dir_all(to).expect("created");
    for entry in fs_err::read_dir(from).expect("readable") {
        let entry = entry.expect("readable");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs_err::copy(entry.path(), target).expect("copied");
        }
    }
}

/// `n` papers with the fixtures' texts under identifiers and titles of their own, as JSON lines.
pub(crate) fn many_papers(n: usize) -> String {
    let papers = scholar_testing::corpus::papers();
    let lines = papers.iter().cycle().take(n).enumerate().map(|(at, paper)| {
        let mut paper = paper.clone();
        paper.meta.id = format!("doi:10.1000/many.{at}").parse().expect("an identifier");
        paper.meta.external_ids.clear();
        // The same title and text would be a duplicate.
        paper.meta.title = format!("{} ({at})", paper.meta.title);
        serde_json::to_string(&paper).expect("serialises") + "\n"
    });
    lines.collect()
}

/// Exit code, stdout and stderr as text.
pub(crate) fn text(output: &Output) -> (i32, String, String) {
    (
        output.status.code().expect("not killed"),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

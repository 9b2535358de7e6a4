//! Another process: this test program once more, told line by line what to do.

use std::io::{BufRead as _, BufReader, Write as _};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use scholar_core::SearchMode;
use scholar_datastore::{
    CompactOptions, CompactReport, Datastore, DatastoreWriter, Error, MergePolicy, SearchConfig,
};

use super::kill::Batch;
use super::{request, retriever};

/// The word that makes [`other`] a process to be told what to do. The test runner takes it for a filter.
const ROLE: &str = "as-another-process";
/// Begins every line that is meant for the other side: the test runner prints lines of its own.
const MARK: &str = "> ";

/// A process that runs until it is told otherwise, or dropped.
pub(crate) struct Other {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Other {
    pub(crate) fn start() -> Self {
        let program = std::env::current_exe().expect("this program");
        let mut child = Command::new(program)
            .args(["process::other", ROLE, "--exact", "--nocapture", "--test-threads=1"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, stdin, stdout }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn tell(&mut self, words: &str) {
        let stdin = self.stdin.as_mut().expect("open");
        writeln!(stdin, "{words}").and_then(|()| stdin.flush()).expect("it listens");
    }

    /// The next thing it says; `None` when it has ended.
    pub(crate) fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.stdout.read_line(&mut line).expect("readable") == 0 {
                return None;
            }
            if let Some(said) = line.strip_prefix(MARK) {
                return Some(said.trim_end().to_owned());
            }
        }
    }

    /// Tells it something and hears the answer.
    pub(crate) fn ask(&mut self, words: &str) -> String {
        self.tell(words);
        self.hear().expect("it answers")
    }

    /// Ends it at once, wherever it is. What it had said is still to be heard.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("reaped");
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn say(words: &str) {
    let mut stdout = std::io::stdout().lock();
    // The runner's own line may not be finished.
    writeln!(stdout, "\n{MARK}{words}").and_then(|()| stdout.flush()).expect("it is heard");
}

/// What the other process does, line by line. In an ordinary run of the tests it does nothing.
#[test]
fn other() {
    if !std::env::args().any(|argument| argument == ROLE) {
        return;
    }
    let mut store: Option<Datastore> = None;
    let mut writer: Option<DatastoreWriter> = None;
    for line in std::io::stdin().lines() {
        let line = line.expect("text");
        let (verb, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match (verb, &store) {
            ("open", _) => {
                store = Some(Datastore::open(Path::new(rest)).expect("opens"));
                say("opened");
            }
            ("papers", Some(store)) => say(&store.counts().expect("read").0.to_string()),
            ("find", Some(store)) => {
                let again = Datastore::open(store.root()).expect("opens");
                let retriever = retriever(again, SearchConfig::tuned());
                let request = request(rest, SearchMode::Hybrid, 1);
                let hits = retriever.search_blocking(&request).expect("searched");
                say(&hits.first().map_or("nothing".to_owned(), |hit| hit.paper.id.to_string()));
            }
            ("write", Some(store)) => match store.writer() {
                Ok(opened) => {
                    writer = Some(opened);
                    say("writing");
                }
                Err(error) => say(&error.to_string()),
            },
            ("add" | "merge" | "compact", Some(store)) => {
                let first = rest.parse().expect("a number");
                let mut writer = store.writer().expect("writer");
                say("writing");
                write_for_ever(&mut writer, (verb, store.root()), first);
            }
            other => panic!("{other:?} is not understood"),
        }
    }
    drop(writer);
}

/// Writes batch after batch, and says so after each.
fn write_for_ever(writer: &mut DatastoreWriter, (verb, root): (&str, &Path), first: u64) -> ! {
    for number in first.. {
        let batch = Batch::new(number);
        match verb {
            "merge" => {
                // Named for the process too: one that was killed left the same part.
                let part = format!("part-{number}-{}", std::process::id());
                batch.merge(writer, &root.with_file_name(part));
            }
            _ => batch.write(writer),
        }
        say(&number.to_string());
        if verb == "compact" {
            compact(writer);
        }
    }
    unreachable!("numbers do not end")
}

/// As a large datastore is compacted, at a size where segments have a few dozen rows.
pub(crate) fn compact(writer: &mut DatastoreWriter) {
    compact_with(writer).expect("compacted");
}

/// The same, where it may be refused.
pub(crate) fn compact_with(writer: &mut DatastoreWriter) -> Result<CompactReport, Error> {
    let policy = MergePolicy { factor: 2, smallest: 8, largest: 1 << 20, indexed_from: 24 };
    let options = CompactOptions { policy, nlist: Some(3), bits: None };
    writer.compact(&options, &mut |_| ControlFlow::Continue(()))
}

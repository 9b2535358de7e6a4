//! Killed at any moment and run again, an operation ends in what it ends in undisturbed: papers, passages, and what
//! searches find.
//!
//! A kill counts when it hit: the process had the writer's lock, died of the signal, and its work was not done. Later kills
//! are tried until so many have hit; what follows a kill is the next attempt, which goes on with what the last one left.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Arc;
use std::thread::park_timeout;
use std::time::{Duration, Instant};

use scholar_core::{
    Embeddings, Encoder, EncoderInfo, Paper, PaperId, PaperMeta, Passage, PortError, Query,
    SearchFilter, SearchMode, SearchRequest, Section, Side,
};
use scholar_datastore::{
    AddOptions, BuildRules, Datastore, DenseSearch, Depth, Descriptor, Error, HybridRetriever,
    SearchConfig, SearchPool, descriptor,
};
use scholar_testing::FakeEncoder;

use crate::program::{Program, copy, text};

/// Kills of each operation that hit.
const KILLS: usize = 100;
/// Attempts for them. Most hit.
const ATTEMPTS: usize = 10 * KILLS;
/// Between two looks at the lock.
const LOOK: Duration = Duration::from_micros(200);

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: Duration) -> Duration {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = u32::try_from(self.0 >> 48).expect("16 bits");
        most * share / (1 << 16)
    }
}

/// Something that is killed.
struct Operation {
    program: Program,
    args: Vec<String>,
    /// How it ends when nobody disturbs it.
    code: i32,
    /// The datastore it works on, by name.
    name: &'static str,
    /// The one whose lock it takes.
    locks: &'static str,
    /// Puts everything as it is before.
    begin: Box<dyn Fn(&Program)>,
    /// Whether its work is done.
    is_done: Box<dyn Fn(&Program) -> bool>,
}

/// What a datastore holds and answers.
#[derive(PartialEq)]
struct Content {
    papers: BTreeMap<PaperId, (Paper, Vec<Passage>)>,
    found: Vec<String>,
}

/// Stands for the encoder of any datastore: what it finds is senseless, but the same each time.
struct Stand {
    info: EncoderInfo,
    fake: FakeEncoder,
}

impl Encoder for Stand {
    fn info(&self) -> &EncoderInfo {
        &self.info
    }

    fn encode(&self, side: Side, texts: &[&str]) -> Result<Embeddings, PortError> {
        self.fake.encode(side, texts)
    }
}

/// Every paper that is stored, of a datastore that is whole.
fn papers(path: &Path) -> BTreeMap<PaperId, (Paper, Vec<Passage>)> {
    let store = Datastore::open(path).expect("opens");
    store.verify(Depth::Checksums, None).expect("whole");
    let mut papers = BTreeMap::new();
    store
        .each_paper(|meta| {
            let paper = store.paper(&meta.id)?.expect("listed");
            let passages = store.passages_of(&meta.id)?;
            assert!(papers.insert(meta.id, (paper, passages)).is_none(), "stored twice");
            Ok(())
        })
        .expect("readable");
    papers
}

impl Content {
    fn of(path: &Path) -> Self {
        let store = Arc::new(Datastore::open(path).expect("opens"));
        let info = store.descriptor().encoder.clone();
        let encoder = Arc::new(Stand { fake: FakeEncoder::new(info.dim), info });
        let pool = Arc::new(SearchPool::new(1, 4).expect("threads"));
        let config = SearchConfig { dense: DenseSearch::Exact, ..SearchConfig::tuned() };
        let retriever = HybridRetriever::new(store, encoder, config, pool).expect("fits");
        let mut found = Vec::new();
        for query in ["word3 of paper", "title 17", "helices text0", "topic5 word11"] {
            for mode in [SearchMode::Dense, SearchMode::Lexical, SearchMode::Hybrid] {
                let query = Query::new(query).expect("a query");
                let filter = SearchFilter::none();
                let request = SearchRequest { query, top_k: 20, mode, filter };
                let hits = retriever.search_blocking(&request).expect("searched").into_iter();
                found.extend(
                    hits.map(|hit| format!("{mode:?} {} {:.3}", hit.passage.id, hit.score.value())),
                );
            }
        }
        Self { papers: papers(path), found }
    }
}

impl Operation {
    fn datastore(&self) -> PathBuf {
        self.program.data("datastores").join(self.name)
    }

    fn is_done(&self) -> bool {
        (self.is_done)(&self.program)
    }

    fn start(&self) -> Child {
        self.program.start(&self.args.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Waits until the process has the lock, or has ended; whether it had it.
    fn has_begun(&self, child: &mut Child) -> bool {
        let lock = self.program.data("datastores").join(self.locks).join("writer.lock");
        let holder = format!("process {} ", child.id());
        loop {
            if fs_err::read_to_string(&lock).is_ok_and(|named| named.starts_with(&holder)) {
                return true;
            }
            if child.try_wait().expect("a child").is_some() {
                return false;
            }
            park_timeout(LOOK);
        }
    }

    /// Lets it end by itself.
    fn finish(&self) {
        let (code, _, stderr) = text(&self.start().wait_with_output().expect("ends"));
        assert_eq!(code, self.code, "{:?}\n{stderr}", self.args);
        assert!(self.is_done(), "{:?}\n{stderr}", self.args);
    }

    /// What it ends in undisturbed, and how long it takes from the lock on.
    fn undisturbed(&self) -> (Content, Duration) {
        (self.begin)(&self.program);
        let mut child = self.start();
        assert!(self.has_begun(&mut child), "it takes the lock of {}", self.locks);
        let began = Instant::now();
        let output = child.wait_with_output().expect("ends");
        let took = began.elapsed();
        let (code, _, stderr) = text(&output);
        assert_eq!(code, self.code, "{:?}\n{stderr}", self.args);
        assert!(self.is_done());
        (Content::of(&self.datastore()), took)
    }

    /// Kills it until [`KILLS`] have hit, and compares what it ends in. Returns how many came too late.
    fn survives(&self, seed: u64) -> usize {
        let (whole, mut reach) = self.undisturbed();
        let compare = || {
            self.finish();
            let content = Content::of(&self.datastore());
            assert!(content.papers == whole.papers, "other papers than undisturbed");
            assert_eq!(content.found, whole.found);
        };
        let mut dice = Dice(seed);
        let (mut hits, mut ended) = (0, 0);
        (self.begin)(&self.program);
        for _ in 0..ATTEMPTS {
            let mut child = self.start();
            let begun = self.has_begun(&mut child);
            park_timeout(dice.below(reach));
            child.kill().expect("killed, or ended before");
            let killed = child.wait_with_output().expect("ends").status.signal() == Some(9);
            if begun && killed && !self.is_done() {
                hits += 1;
                // Later moments are reached for, so that all of it is tried, and the ends of what others left.
                reach = reach.mul_f64(1.05);
                self.is_sound(&whole);
            } else {
                ended += 1;
                reach = reach.mul_f64(0.9);
                compare();
                (self.begin)(&self.program);
            }
            if hits == KILLS {
                compare();
                return ended;
            }
        }
        panic!("only {hits} of {ATTEMPTS} kills hit");
    }

    /// What a kill left is part of the whole.
    fn is_sound(&self, whole: &Content) {
        let path = self.datastore();
        // Before it is created or upgraded there is nothing to read.
        if Descriptor::read(&path).is_err() {
            return;
        }
        for (id, paper) in papers(&path) {
            assert!(whole.papers.get(&id) == Some(&paper), "{id} is another paper");
        }
    }
}

/// A short paper, or one of several passages.
fn paper(number: u64) -> Paper {
    let meta = PaperMeta::new(PaperId::Pmid(number), format!("Title {number}"));
    let words: Vec<String> = match number % 5 {
        0 => (0..300).map(|word| format!("word{}", (word * number) % 40)).collect(),
        _ => vec![format!("word{} of paper {number} on topic{}", number % 13, number % 7)],
    };
    Paper {
        meta,
        sections: vec![Section::new("Abstract", words.join(" "))],
        references: vec![],
        records: Vec::new(),
    }
}

/// Stores papers as one commit.
fn store(path: &Path, numbers: std::ops::Range<u64>) -> Datastore {
    let encoder = FakeEncoder::new(16);
    let rules = BuildRules::sections();
    let store = Datastore::open_or_create(path, encoder.info(), rules).expect("created");
    let papers = numbers.map(|number| Ok::<Paper, Error>(paper(number)));
    let options = AddOptions::standard("test");
    let mut writer = store.writer().expect("writer");
    writer.add(papers, &encoder, &options, &mut |_| ControlFlow::Continue(())).expect("added");
    store
}

fn remove(path: &Path) {
    if path.exists() {
        fs_err::remove_dir_all(path).expect("removed");
    }
}

fn count(program: &Program, name: &str) -> u64 {
    let path = program.data("datastores").join(name);
    Datastore::open(&path).map_or(0, |store| store.counts().expect("read").0)
}

#[test]
fn a_build_survives_kills() {
    let program = Program::new();
    program.configure();
    let mut args = vec!["datastore".to_owned(), "build".to_owned(), "built".to_owned()];
    for file in 0..6 {
        let path = program.path(&format!("{file}.jsonl"));
        let papers = (file * 5..file * 5 + 5).map(paper);
        let lines = papers.map(|paper| serde_json::to_string(&paper).expect("serialises") + "\n");
        fs_err::write(&path, lines.collect::<String>()).expect("written");
        args.push(path.to_string_lossy().into_owned());
    }
    let operation = Operation {
        program,
        args,
        code: 0,
        name: "built",
        locks: "built",
        begin: Box::new(|program| remove(&program.data("datastores").join("built"))),
        is_done: Box::new(|program| count(program, "built") == 30),
    };
    eprintln!("build: {KILLS} kills hit, {} came too late", operation.survives(1));
}

#[test]
fn a_merge_survives_kills() {
    let program = Program::new();
    program.configure();
    let mut args = vec!["datastore".to_owned(), "merge".to_owned(), "joined".to_owned()];
    for part in 0..6 {
        let name = format!("part{part}");
        // Neighbours have papers in common.
        store(&program.data("datastores").join(&name), part * 8..part * 8 + 10);
        args.push(name);
    }
    let operation = Operation {
        program,
        args,
        code: 0,
        name: "joined",
        locks: "joined",
        begin: Box::new(|program| remove(&program.data("datastores").join("joined"))),
        is_done: Box::new(|program| count(program, "joined") == 50),
    };
    eprintln!("merge: {KILLS} kills hit, {} came too late", operation.survives(2));
}

/// Dense and lexical segments of a commit.
fn segments(path: &Path) -> (usize, usize) {
    let store = Datastore::open(path).expect("opens");
    let meta = fs_err::read(path.join("lexical/meta.json")).expect("read");
    let meta: serde_json::Value = serde_json::from_slice(&meta).expect("JSON");
    let lexical = meta["segments"].as_array().expect("a list").len();
    (store.info().expect("info").dense_segments, lexical)
}

#[test]
fn compacting_survives_kills() {
    let program = Program::new();
    program.configure();
    let before = program.path("before");
    for commit in 0..14 {
        store(&before, commit * 4..commit * 4 + 4);
    }
    let mut writer = Datastore::open(&before).and_then(|store| store.writer()).expect("writer");
    let gone: Vec<PaperId> = (0..56).step_by(6).map(PaperId::Pmid).collect();
    assert_eq!(writer.remove(&gone).expect("noted"), gone.len());
    writer.commit().expect("committed");
    drop(writer);
    let (dense, lexical) = segments(&before);
    assert!(dense > 2 && lexical > 2, "{dense} dense, {lexical} lexical segments");
    let args = ["datastore", "compact", "many", "--indexed-from", "20"].map(str::to_owned);
    let operation = Operation {
        program,
        args: args.to_vec(),
        code: 0,
        name: "many",
        locks: "many",
        begin: Box::new(move |program| {
            let path = program.data("datastores").join("many");
            remove(&path);
            copy(&before, &path);
        }),
        is_done: Box::new(|program| segments(&program.data("datastores").join("many")) == (1, 1)),
    };
    eprintln!("compact: {KILLS} kills hit, {} came too late", operation.survives(3));
}

/// Puts a datastore of the first format where the starter papers are, as an older program left it.
fn put_first_format(program: &Program) {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scholar-datastore/tests/compat/v1");
    for name in [STARTER, UPGRADING, OLDER] {
        remove(&program.data("datastores").join(name));
    }
    let path = program.data("datastores").join(STARTER);
    copy(&stored, &path);
    fs_err::write(path.join("starter.complete"), "5 papers\n").expect("written");
}

const STARTER: &str = "starter";
const UPGRADING: &str = "starter.upgrading";
const OLDER: &str = "starter.older-format";

/// Whether there is nothing but the upgraded datastore.
fn is_upgraded(program: &Program) -> bool {
    let at = |name: &str| program.data("datastores").join(name);
    let new = Descriptor::read(&at(STARTER));
    new.is_ok_and(|new| new.format == descriptor::FORMAT_VERSION)
        && at(STARTER).join("starter.complete").is_file()
        && !at(UPGRADING).exists()
        && !at(OLDER).exists()
}

/// Searching upgrades first. Then it fails: nobody has the encoder of the first format's test.
fn upgrading(program: Program) -> Operation {
    program.configure();
    Operation {
        program,
        args: ["search", "--datastore", STARTER, "helices"].map(str::to_owned).to_vec(),
        code: 1,
        name: STARTER,
        locks: UPGRADING,
        begin: Box::new(put_first_format),
        is_done: Box::new(is_upgraded),
    }
}

#[test]
fn an_upgrade_survives_kills() {
    let late = upgrading(Program::new()).survives(4);
    eprintln!("upgrade: {KILLS} kills hit, {late} came too late");
}

#[test]
fn an_upgrade_that_was_killed_between_its_last_steps_is_finished() {
    let operation = upgrading(Program::new());
    let (whole, _) = operation.undisturbed();
    let at = |name: &str| operation.program.data("datastores").join(name);
    let upgraded = operation.program.path("upgraded");
    copy(&at(STARTER), &upgraded);
    for is_put in [false, true] {
        put_first_format(&operation.program);
        fs_err::rename(at(STARTER), at(OLDER)).expect("put aside");
        copy(&upgraded, &at(if is_put { STARTER } else { UPGRADING }));
        operation.finish();
        assert!(Content::of(&at(STARTER)) == whole, "is_put: {is_put}");
    }
    // Killed while it removed the older one.
    fs_err::create_dir_all(at(OLDER).join("dense")).expect("created");
    operation.finish();
}

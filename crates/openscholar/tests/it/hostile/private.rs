//! Run folders, logs, signals, models and model servers.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use scholar_core::text::hex;
use scholar_testing::Behaviour;
use sha2::{Digest as _, Sha256};

use crate::generative::ask;
use crate::model::Model;
use crate::program::{Program, QUESTION, STORE, copy, models, text};

#[cfg(unix)]
mod closed {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::process::{Command, Output, Stdio};

    use crate::generative::ask;
    use crate::model::Model;
    use crate::program::{Program, QUESTION, STORE, text};
    use crate::stopped::signal;

    fn mode(path: &Path) -> u32 {
        fs_err::metadata(path).expect("there").permissions().mode() & 0o777
    }

    /// The program under a umask that closes nothing.
    fn open_handed(program: &Program, args: &[&str]) -> Command {
        let mut shell = Command::new("/bin/sh");
        shell.env_clear().env("HOME", program.path("")).env("OPENSCHOLAR_LOCAL_PORTS", "none");
        shell.args(["-c", "umask 000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_openscholar")]);
        shell.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        shell
    }

    fn succeeds(program: &Program, args: &[&str]) -> Output {
        let output = open_handed(program, args).output().expect("a shell");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// Every file below `folder` is for its owner alone; how many there are.
    fn closed(folder: &Path) -> usize {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
        let mut files = 0;
        for entry in fs_err::read_dir(folder).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                files += closed(&path);
            } else {
                assert_eq!(mode(&path), 0o600, "{}", path.display());
                files += 1;
            }
        }
        files
    }

    #[test]
    fn run_folders_are_for_their_owner_and_results_for_whom_the_umask_says() {
        let program = Program::with_papers();
        let (model, answer) = (Model::honest(), program.path("answer.md"));
        let url = model.base_url();
        let to = answer.to_string_lossy().into_owned();
        succeeds(&program, &[&ask(&url)[..], &["--output", &to]].concat());
        let runs = program.data("runs");
        assert!(closed(&runs) >= 7, "a run leaves its files");
        assert_eq!(mode(&answer), 0o666);

        // As an earlier version left it.
        fs_err::set_permissions(&runs, std::fs::Permissions::from_mode(0o755)).expect("changed");
        let told = program.succeeds(&["doctor", "--offline"]);
        let hint = format!("chmod go= {}", runs.display());
        assert!(told.contains("open to other users") && told.contains(&hint), "{told}");
        succeeds(&program, &["ask", QUESTION, "--generator", "none"]);
        assert_eq!(mode(&runs), 0o700);
        assert!(!program.succeeds(&["doctor", "--offline"]).contains(&hint));
    }

    #[test]
    fn a_home_that_the_program_makes_is_closed_and_one_that_is_there_stays_shared() {
        let papers = crate::program::corpus().to_string_lossy().into_owned();
        for (made_before, expected) in [(false, 0o700), (true, 0o775)] {
            let program = Program::new();
            program.configure();
            let home = program.data("");
            if made_before {
                fs_err::create_dir_all(&home).expect("created");
                let shared = std::fs::Permissions::from_mode(0o775);
                fs_err::set_permissions(&home, shared).expect("changed");
            }
            succeeds(&program, &["datastore", "build", STORE, &papers]);
            assert_eq!(mode(&home), expected);
        }
    }

    #[test]
    fn a_log_of_queries_is_for_its_owner() {
        let program = Program::with_papers();
        let log = program.path("queries.jsonl");
        let to = log.to_string_lossy().into_owned();
        let serve = ["datastore", "serve", STORE, "--listen", "127.0.0.1:0", "--log-queries", &to];
        let mut child = open_handed(&program, &serve).spawn().expect("a shell");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("readable");
        assert!(line.contains("http://"), "{line}");
        assert_eq!(mode(&log), 0o600);
        signal(&child, "TERM");
        assert_eq!(child.wait().expect("ends").code(), Some(0));
    }

    #[test]
    fn a_key_file_that_others_can_read_is_told() {
        let program = Program::with_papers();
        let (model, key) = (Model::honest(), program.path("key"));
        fs_err::write(&key, "sk-1234\n").expect("written");
        let config = program.path(".config/openscholar/config.toml");
        let settings = fs_err::read_to_string(&config).expect("there");
        let settings = format!("{settings}key_file = {:?}\n", key.to_string_lossy());
        fs_err::write(&config, settings).expect("written");
        let warning = format!("{} can be read by other users", key.display());
        for (mode, told) in [(0o644, true), (0o600, false)] {
            fs_err::set_permissions(&key, std::fs::Permissions::from_mode(mode)).expect("changed");
            let (code, _, stderr) = text(&program.run(&ask(&model.base_url())));
            assert_eq!(code, 0, "{stderr}");
            assert_eq!(stderr.contains(&warning), told, "{mode:o}: {stderr}");
            let doctor = program.succeeds(&["doctor", "--offline"]);
            assert_eq!(doctor.contains("open to other users"), told, "{mode:o}: {doctor}");
        }
    }
}

/// Runs whose process is there, gone, and of a version without locks.
#[cfg(unix)]
#[test]
fn a_run_is_running_as_long_as_its_process_lives() {
    use crate::stopped::signal;
    let program = Program::with_papers();
    let (tell, told) = std::sync::mpsc::channel();
    let tell = parking_lot::Mutex::new(tell);
    let model = Model::with(move |called, before| {
        let now = called == "draft" && before == 0;
        if now {
            tell.lock().send(()).expect("the test listens");
        }
        now.then(|| Behaviour::HangAfter("Exposure bias".to_owned()))
    });
    let child = program.start(&ask(&model.base_url()));
    told.recv_timeout(std::time::Duration::from_secs(60)).expect("the call comes");
    let run = program.runs().pop().expect("a run");
    let status = || program.json(0, &["runs", "list"])["runs"][0]["status"].clone();
    assert_eq!(status(), "running");
    program.fails(1, &["runs", "show", &run], &["is being answered", "hint: wait"]);
    program.fails(1, &["ask", "--resume", &run], &["another process", "hint: wait"]);

    signal(&child, "KILL");
    child.wait_with_output().expect("ends");
    assert_eq!(program.run_json(&run, "run.json")["status"], "running", "nobody could write more");
    assert_eq!(status(), "interrupted");
    let resume = format!("openscholar ask --resume {run}");
    program.fails(1, &["runs", "show", &run], &["was interrupted before", &resume]);

    fs_err::remove_file(program.data("runs").join(&run).join("lock")).expect("there");
    assert_eq!(status(), "interrupted", "as an earlier version leaves it");
    crate::generative::assert_answer(&program.json(0, &["ask", "--resume", &run]));
}

/// A hub that nobody may ask: whoever connects is found out.
struct Untouched(TcpListener);

impl Untouched {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free loopback port");
        listener.set_nonblocking(true).expect("a socket");
        Self(listener)
    }

    fn address(&self) -> String {
        format!("http://{}", self.0.local_addr().expect("bound"))
    }

    fn assert_untouched(&self) {
        let asked = self.0.accept().expect_err("nobody was to be asked");
        assert_eq!(asked.kind(), std::io::ErrorKind::WouldBlock);
    }
}

/// Puts the files of `from` into the models folder under `name`, and an entry with their checksums into the catalog.
fn installed(program: &Program, name: &str, purpose: &str, from: &[&Path]) {
    let folder = program.data("models").join(name);
    fs_err::create_dir_all(&folder).expect("created");
    let files: String = from
        .iter()
        .map(|path| {
            let bytes = fs_err::read(path).expect("there");
            let file = path.file_name().expect("a name").to_string_lossy().into_owned();
            fs_err::write(folder.join(&file), &bytes).expect("written");
            let digest = hex(&Sha256::digest(&bytes));
            format!("{{ path = \"{file}\", size = {}, sha256 = \"{digest}\" }},", bytes.len())
        })
        .collect();
    let entry = format!(
        "[[model]]\nname = \"{name}\"\npurpose = \"{purpose}\"\nsummary = \"for tests\"\narchitecture = \"bert\"\n\
         dim = 32\nmax_tokens = 48\nlicence = \"CC0\"\nfiles = [{files}]\n\
         [[model.source]]\nkind = \"hub\"\nrepo = \"tests/{name}\"\nrevision = \"main\"\n"
    );
    fs_err::write(program.path(".config/openscholar/models.toml"), entry).expect("written");
}

/// Changes one byte in the middle, or cuts the file short.
fn damage(path: &Path, cut: bool) {
    let mut bytes = fs_err::read(path).expect("there");
    let middle = bytes.len() / 2;
    if cut {
        bytes.truncate(middle);
    } else {
        bytes[middle] ^= 1;
    }
    fs_err::write(path, bytes).expect("written");
}

/// A home with a model of the catalog called `tiny`, and a datastore encoded by it.
fn with_installed_encoder() -> Program {
    let program = Program::new();
    program.configure();
    let golden = models().join("golden/tiny-bert-encoder");
    let files =
        ["config.json", "pytorch_model.bin", "tokenizer.json"].map(|file| golden.join(file));
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    installed(&program, "tiny", "encoder", &files);
    let papers = crate::program::corpus().to_string_lossy().into_owned();
    program.succeeds(&["datastore", "build", STORE, &papers, "--encoder", "tiny"]);
    program
}

#[test]
fn a_damaged_encoder_is_an_error_and_nothing_is_fetched_in_its_place() {
    let program = with_installed_encoder();
    program.succeeds(&["search", "exposure bias"]);

    let hub = Untouched::new();
    let weights = program.data("models/tiny/pytorch_model.bin");
    let from = models().join("golden/tiny-bert-encoder").to_string_lossy().into_owned();
    for cut in [false, true] {
        damage(&weights, cut);
        for args in [&["search", "exposure bias"][..], &["ask", QUESTION, "--generator", "none"]] {
            let mut command = Program::command(&program.path(""));
            command.env("HF_ENDPOINT", hub.address()).args(args);
            let (code, _, stderr) = text(&command.output().expect("starts"));
            assert_eq!(code, 1, "{args:?}: {stderr}");
            for words in ["tiny", "damaged", "pytorch_model.bin", "openscholar models pull tiny"] {
                assert!(stderr.contains(words), "{args:?}: {words:?} is missing in\n{stderr}");
            }
        }
        hub.assert_untouched();
        let listed = program.succeeds(&["models", "list"]);
        assert_eq!(listed.contains("damaged"), cut, "sizes tell: {listed}");
        // The way out works, although the size is right.
        program.succeeds(&["models", "pull", "tiny", "--from", &from]);
        program.succeeds(&["search", "exposure bias"]);
        assert!(program.succeeds(&["models", "verify", "tiny"]).contains("whole"));
    }
}

#[test]
fn a_damaged_generator_is_an_error_where_an_absent_one_is_done_without() {
    let program = Program::with_papers();
    let config = program.path(".config/openscholar/config.toml");
    let settings = fs_err::read_to_string(&config).expect("there");
    fs_err::write(&config, settings.replace("\"scripted\"", "\"tiny-writer\"")).expect("written");
    let file = models().join("gguf/golden/tiny-llama-f32.gguf");
    installed(&program, "tiny-writer", "generator", &[&file]);
    let here = program.data("models/tiny-writer").join("tiny-llama-f32.gguf");
    for cut in [false, true] {
        damage(&here, cut);
        let says = ["tiny-llama-f32.gguf", "damaged", "openscholar models pull tiny-writer"];
        program.fails(1, &["ask", QUESTION, "--mode", "evidence"], &says);
        fs_err::copy(&file, &here).expect("copied");
    }
    fs_err::remove_dir_all(here.parent().expect("a folder")).expect("removed");
    let args = ["ask", QUESTION, "--mode", "evidence", "--offline"];
    let (code, _, stderr) = text(&program.run(&args));
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("the embedded model is not used"), "{stderr}");
}

/// What the program carries needs nobody: it is written anew, and that is said.
#[test]
fn a_damaged_model_that_the_program_carries_is_written_anew() {
    let program = Program::with_papers();
    let config = program.path(".config/openscholar/config.toml");
    let settings = fs_err::read_to_string(&config).expect("there");
    fs_err::write(&config, settings.replace("\"own\"", "\"auto\"")).expect("written");
    let hub = Untouched::new();
    let search = || {
        let mut command = Program::command(&program.path(""));
        command.env("HF_ENDPOINT", hub.address()).args(["search", "exposure bias", "--rerank"]);
        text(&command.output().expect("starts"))
    };
    let (code, whole, stderr) = search();
    assert!(code == 0 && !stderr.contains("rewritten"), "{stderr}");
    let weights = program.data("models/scholar-reranker-mini/model.safetensors");
    let before = fs_err::read(&weights).expect("there");
    damage(&weights, false);
    let (code, again, stderr) = search();
    assert_eq!((code, again), (0, whole), "{stderr}");
    assert!(stderr.contains("scholar-reranker-mini") && stderr.contains("rewritten"), "{stderr}");
    assert_eq!(fs_err::read(&weights).expect("there"), before);
    hub.assert_untouched();
}

#[test]
fn a_model_server_that_redirects_elsewhere_gets_no_prompt_there() {
    let program = Program::with_papers();
    let other = Model::honest();
    let target = other.base_url().replace("http://", "http://someone:s3cret@");
    for status in [301, 302, 303, 307, 308] {
        let location = format!("{target}/chat/completions?key=s3cret");
        let first = Model::with(move |_, _| Some(Behaviour::Redirect(status, location.clone())));
        let (from, to) = (first.base_url(), other.base_url());
        let stderr = program.fails(1, &ask(&from), &[&from, &to, "another server", "--base-url"]);
        assert!(!stderr.contains("s3cret"), "{stderr}");
        assert_eq!(first.purposes(), ["keywords", "draft"], "neither is tried again");
    }
    assert!(other.bodies().is_empty(), "neither prompt nor key");
    // The way out: name that server.
    program.succeeds(&ask(&other.base_url()));
}

#[test]
fn a_copied_home_keeps_its_models() {
    let program = with_installed_encoder();
    // Other times of change, the same bytes.
    let elsewhere = Program::new();
    copy(&program.path(""), &elsewhere.path(""));
    elsewhere.succeeds(&["search", "exposure bias"]);
}

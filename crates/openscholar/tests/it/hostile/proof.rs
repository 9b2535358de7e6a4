//! Proofs that were edited, sources that changed since, signatures.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use scholar_testing::Behaviour;
use ssh_key::private::Ed25519Keypair;
use ssh_key::{LineEnding, PrivateKey};

use crate::generative::ask;
use crate::model::Model;
use crate::program::{Program, QUESTION, STORE, text};

/// A home with a generative run.
fn one_run() -> (Program, String) {
    let program = Program::with_papers();
    let model = Model::honest();
    program.succeeds(&ask(&model.base_url()));
    let run = program.runs().pop().expect("a run");
    (program, run)
}

/// From the text of a file to another one.
type Edit = fn(&str) -> String;

fn edit(program: &Program, run: &str, file: &str, change: impl Fn(&str) -> String) {
    let path = program.data("runs").join(run).join(file);
    let before = fs_err::read_to_string(&path).expect("there");
    let after = change(&before);
    assert_ne!(before, after, "{file}");
    fs_err::write(&path, after).expect("written");
}

/// A private key with this seed, kept as ssh wants it, and the path of its public key.
fn keys(program: &Program, name: &str, seed: u8) -> (PathBuf, PathBuf) {
    let mut key = PrivateKey::from(Ed25519Keypair::from_seed(&[seed; 32]));
    key.set_comment(format!("{name}@example.org"));
    let (private, public) = (program.path(name), program.path(&format!("{name}.pub")));
    let text = key.to_openssh(LineEnding::LF).expect("written");
    fs_err::write(&private, text.as_bytes()).expect("written");
    let text = key.public_key().to_openssh().expect("written");
    fs_err::write(&public, text).expect("written");
    share(&private, 0o600);
    (private, public)
}

fn share(path: &Path, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("set");
    }
    #[cfg(not(unix))]
    let _ = (path, mode);
}

/// What was reported: a false sentence in proof and answer verified, replayed and was shown.
#[test]
fn an_edited_run_neither_verifies_nor_replays() {
    let (program, run) = one_run();
    let verified = program.succeeds(&["runs", "verify", &run]);
    assert!(verified.contains("bound: ") && verified.contains("unsigned"), "{verified}");
    let word: Edit = |text| text.replacen("partially to blame", "not at all to blame", 1);
    let append: Edit = |text| text.to_owned() + "All of it is false.\n";
    let renumber: Edit = |text| text.replacen("\"number\": 1", "\"number\": 2", 1);
    let cases: [(&[(&str, Edit)], &str); 4] = [
        (&[("proof.json", word), ("answer.md", word)], "“partially” → “not at all”"),
        (&[("answer.md", append)], "line added"),
        (&[("proof.json", renumber)], "[2]"),
        (&[("events.jsonl", word)], "events.jsonl, line"),
    ];
    for (edits, says) in cases {
        let folder = program.data("runs").join(&run);
        let whole: Vec<(PathBuf, Vec<u8>)> = edits
            .iter()
            .map(|(file, _)| folder.join(file))
            .map(|path| (path.clone(), fs_err::read(&path).expect("there")))
            .collect();
        for (file, change) in edits {
            edit(&program, &run, file, change);
        }
        let (code, stdout, stderr) = text(&program.run(&["runs", "verify", &run]));
        assert_eq!(code, 1, "{stdout}{stderr}");
        assert!(stdout.contains(says), "{says:?} is missing in\n{stdout}");
        let (code, _, stderr) = text(&program.run(&["runs", "replay", &run]));
        assert_eq!(code, 1, "{stderr}");
        for (path, bytes) in whole {
            fs_err::write(path, bytes).expect("written");
        }
    }
    let report = program.json(0, &["runs", "verify", &run]);
    assert_eq!(report["schema"], "openscholar.proof-report/2");
    assert_eq!(
        (&report["bound"], &report["signature"]["status"]),
        (&true.into(), &"unsigned".into())
    );
    assert_eq!(report["datastore"]["commit"], report["datastore"]["recorded_commit"]);
}

#[test]
fn a_proof_outlives_its_datastore() {
    let (program, run) = one_run();
    // A commit of something else: the quotations are compared all the same.
    program.succeeds(&["papers", "remove", "acl:2022.gebnlp-1.2"]);
    program.succeeds(&["datastore", "compact", STORE]);
    let later = program.succeeds(&["runs", "verify", &run]);
    assert!(
        later.contains("when the question was asked") && later.contains("everything holds"),
        "{later}"
    );
    fs_err::remove_dir_all(program.data("datastores").join(STORE)).expect("removed");
    let gone = program.succeeds(&["runs", "verify", &run]);
    assert!(gone.contains("not compared with datastore papers"), "{gone}");
    program.fails(1, &["runs", "verify", &run, "--datastore", STORE], &["no datastore"]);
    edit(&program, &run, "answer.md", |text| text.replacen("blame", "thank", 1));
    let (code, stdout, _) = text(&program.run(&["runs", "verify", &run]));
    assert!(code == 1 && stdout.contains("“blame”"), "{stdout}");
}

#[test]
fn a_signature_says_whose_proof_it_is() {
    let program = Program::with_papers();
    let (private, public) = keys(&program, "mine", 7);
    let (other, other_public) = keys(&program, "other", 8);
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let (private, public) = (path(&private), path(&public));
    program.succeeds(&["ask", QUESTION, "--generator", "none", "--sign", &private]);
    program.succeeds(&["ask", QUESTION, "--generator", "none"]);
    let [run, unsigned] = program.runs().try_into().expect("two runs");
    let listed = program.json(0, &["runs", "list"]);
    assert_eq!(
        (&listed["runs"][1]["signed"], &listed["runs"][0]["signed"]),
        (&true.into(), &false.into())
    );

    let verified = program.succeeds(&["runs", "verify", &run]);
    assert!(verified.contains("signed with SHA256:"), "{verified}");
    let known = program.succeeds(&["runs", "verify", &run, "--signer", &public]);
    assert!(known.contains("signed by mine@example.org with SHA256:"), "{known}");
    for (run, signer, says) in
        [(&run, path(&other_public), "not the signer's"), (&unsigned, public.clone(), "unsigned")]
    {
        let (code, stdout, _) = text(&program.run(&["runs", "verify", run, "--signer", &signer]));
        assert!(code == 1 && stdout.contains(says), "{stdout}");
    }
    program.succeeds(&["runs", "sign", &unsigned, &path(&other)]);
    program.succeeds(&["runs", "verify", &unsigned, "--signer", &path(&other_public)]);
    if !verified_by_ssh_keygen(&program, &run, &public) {
        eprintln!("skipped: ssh-keygen is not installed");
    }

    // Another proof under the same signature; and one that does not hold is not signed.
    edit(&program, &run, "proof.json", |text| text.replacen("translation", "transduction", 1));
    let (code, stdout, _) = text(&program.run(&["runs", "verify", &run]));
    assert!(code == 1 && stdout.contains("not of this proof"), "{stdout}");
    program.fails(1, &["runs", "sign", &run, &private], &["not signed", "openscholar runs verify"]);
    #[cfg(unix)]
    {
        share(Path::new(&private), 0o640);
        let before = program.runs().len();
        let args = ["ask", QUESTION, "--generator", "none", "--sign", &private];
        program.fails(1, &args, &["may be read by others", "chmod 600"]);
        assert_eq!(program.runs().len(), before, "nothing was asked");
    }
}

/// The signed bytes and the signature are what OpenSSH's own program takes; `false` where it is not installed.
fn verified_by_ssh_keygen(program: &Program, run: &str, public: &str) -> bool {
    use std::io::Write as _;
    let signed = program.run(&["runs", "show", run, "--proof"]).stdout;
    let allowed = program.path("allowed");
    let key = fs_err::read_to_string(public).expect("there");
    fs_err::write(&allowed, format!("me {key}")).expect("written");
    let mut command = Command::new("ssh-keygen");
    command.args(["-Y", "verify", "-I", "me", "-n", "openscholar-proof", "-f"]).arg(&allowed);
    command.arg("-s").arg(program.data("runs").join(run).join("proof.json.sig"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else { return false };
    child.stdin.take().expect("piped").write_all(&signed).expect("written");
    let output = child.wait_with_output().expect("ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

/// Answers that end early, or rest on nothing, have proofs that say just that.
#[test]
fn runs_that_were_cut_or_had_no_passages_verify() {
    let program = Program::with_papers();
    let alone = "Exposure bias is partially to blame for hallucinations.";
    let model = Model::with(move |purpose, _| {
        (purpose == "unknown").then(|| Behaviour::Text(alone.to_owned()))
    });
    let url = model.base_url();
    let whole = ask(&url);
    program.succeeds(&[&whole[..], &["--max-calls", "2"]].concat());
    let mut alone = whole.clone();
    alone[3] = "no-retrieval";
    program.succeeds(&alone);
    program.run(&["ask", "xyzzy qwertz?", "--generator", "none"]);
    let runs = program.runs();
    assert_eq!(runs.len(), 3);
    for run in &runs {
        let report = program.json(0, &["runs", "verify", run]);
        assert_eq!((&report["bound"], &report["derived"]), (&true.into(), &true.into()), "{run}");
        assert_eq!(program.json(0, &["runs", "replay", run])["identical"], true);
    }
    let alone = program.succeeds(&["runs", "verify", &runs[1]]);
    assert!(alone.contains("sentence 1 has no proof"), "{alone}");
    let folder = program.data("runs").join(&runs[0]);
    fs_err::remove_file(folder.join("proof.json")).expect("removed");
    edit(&program, &runs[0], "run.json", |text| text.replacen("\"done\"", "\"interrupted\"", 1));
    program.fails(1, &["runs", "verify", &runs[0]], &["did not end", "ask --resume"]);
}

//! Model servers of this machine: named with the options that use them, and sent nothing.

use std::process::Output;

use scholar_testing::{Behaviour, StandIn};
use serde_json::Value;

use crate::model::{Model, dead_address};
use crate::program::{Program, QUESTION, text};

/// Must not be sent to a server that nobody chose.
const KEY: &str = "k3y-that-nobody-may-see";

/// Papers and no model; nothing but the machine at hand is ever asked.
struct Bench {
    program: Program,
    services: StandIn,
    server: Model,
    /// What else listens where model servers do.
    others: [Model; 2],
}

impl Bench {
    fn new() -> Self {
        let program = Program::with_papers();
        let config = program.path(".config/openscholar/config.toml");
        let text = fs_err::read_to_string(&config).expect("readable");
        fs_err::write(&config, text.replace("model = \"scripted\"\n", "")).expect("written");
        let [server, page, hanging] = [Model::honest(), Model::honest(), Model::honest()];
        server.server().list_models(&["qwen3:8b", "llama3.2:3b"]);
        page.server().answer_models_with(Behaviour::WrongJson);
        hanging.server().answer_models_with(Behaviour::Hang);
        let services = StandIn::start().expect("a loopback port");
        Self { program, services, server, others: [page, hanging] }
    }

    /// Adds a line to the `[generator]` table, the last of the config file.
    fn set(&self, line: &str) {
        let config = self.program.path(".config/openscholar/config.toml");
        let text = fs_err::read_to_string(&config).expect("readable");
        fs_err::write(&config, format!("{text}{line}\n")).expect("written");
    }

    fn run_with(&self, ports: Option<&str>, args: &[&str]) -> Output {
        let mut command = Program::command(&self.program.path(""));
        command.env_remove("OPENSCHOLAR_LOCAL_PORTS");
        command.envs(ports.map(|ports| ("OPENSCHOLAR_LOCAL_PORTS", ports)));
        command.envs(self.services.settings()).env("HF_ENDPOINT", dead_address());
        command.env("OPENAI_API_KEY", KEY).args(args).output().expect("the program starts")
    }

    /// Runs it where a page, a server that hangs and a model server listen.
    fn run(&self, args: &[&str]) -> Output {
        let [page, hanging] = &self.others;
        let ports = [page, hanging, &self.server].map(|model| model.server().port().to_string());
        self.run_with(Some(&ports.join(",")), args)
    }

    /// Runs it until the server was heard in time, which a busy machine may miss; returns exit code, stdout and stderr.
    fn heard(&self, says: &str, run: impl Fn(&Self) -> Output) -> (i32, String, String) {
        let mut last = None;
        for _ in 0..5 {
            let (code, stdout, stderr) = text(&run(self));
            if format!("{stdout}{stderr}").contains(says) {
                return (code, stdout, stderr);
            }
            last = Some((code, stdout, stderr));
        }
        panic!("{says:?} is missing in {last:#?}");
    }

    fn options(&self) -> String {
        format!("--base-url {} --model qwen3:8b", self.server.base_url())
    }

    /// Every request was for the list of models and without a key; how many there were.
    fn requests(&self) -> usize {
        let all = self.others.iter().chain([&self.server]);
        let requests: Vec<_> = all.flat_map(|model| model.server().requests()).collect();
        for request in &requests {
            assert_eq!(request.path, "/v1/models");
            assert_eq!((&request.authorization, &request.body), (&None, &Value::Null));
        }
        requests.len()
    }
}

#[test]
fn doctor_names_servers_their_models_and_the_options() {
    let bench = Bench::new();
    let address = bench.server.base_url().replace("http://", "").replace("/v1", "");
    let line = format!(
        "model server at {address}: qwen3:8b, llama3.2:3b; to let it write: {}",
        bench.options()
    );
    let (code, stdout, stderr) = bench.heard(&line, |bench| bench.run(&["doctor"]));
    assert_eq!((code, stdout.matches("model server at").count()), (0, 1), "{stdout}{stderr}");
    assert!(stdout.contains("language model server: none configured"), "{stdout}");

    let asked = bench.requests();
    assert!(!text(&bench.run(&["doctor", "--offline"])).1.contains("model server at"));
    let none = bench.run_with(Some("none"), &["doctor"]);
    assert!(!text(&none).1.contains("model server at"));
    bench.set(&format!("local_ports = [{}]", bench.server.server().port()));
    bench.heard(&line, |bench| bench.run_with(None, &["doctor"]));
    let asked_by_the_file = bench.requests();
    assert!(asked_by_the_file > asked);
    // A model that is configured leaves nothing to look for.
    bench.set("model = \"scripted\"");
    assert!(!text(&bench.run_with(None, &["doctor"])).1.contains("model server at"));
    assert_eq!(bench.requests(), asked_by_the_file, "nobody else asked");

    let (code, _, stderr) = text(&bench.run_with(Some("ollama"), &["runs", "list"]));
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("OPENSCHOLAR_LOCAL_PORTS is \"ollama\""), "{stderr}");
}

#[test]
fn a_question_without_a_model_says_once_where_one_is() {
    let bench = Bench::new();
    let hint = format!("to let it write: {}\n", bench.options());
    let (code, stdout, stderr) = bench.heard(&hint, |bench| bench.run(&["ask", QUESTION]));
    assert_eq!((code, stderr.matches("hint: model server at").count()), (0, 1), "{stderr}");
    assert!(!stdout.contains("model server at"), "{stdout}");
    let (_, stdout, _) = bench.heard(&hint, |bench| bench.run(&["--json", "ask", QUESTION]));
    let document: Value = serde_json::from_str(&stdout).expect("JSON alone");
    assert!(!document.to_string().contains("model server at"), "{document:#}");

    let asked = bench.requests();
    for unasked in [
        &["--quiet", "ask", QUESTION] as &[&str],
        &["ask", QUESTION, "--offline"],
        &["ask", QUESTION, "--generator", "none"],
        &["ask", QUESTION, "--model", "absent.gguf"],
        &["search", "exposure bias"],
    ] {
        let (_, _, stderr) = text(&bench.run(unasked));
        assert!(!stderr.contains("model server at"), "{unasked:?}: {stderr}");
    }
    assert_eq!(bench.requests(), asked, "nobody is asked");
}

#[test]
fn a_mode_without_its_model_fails_with_the_options_that_name_one() {
    let bench = Bench::new();
    let options = bench.options();
    let [instead, model] = [
        format!("{options} instead of --generator none"),
        "hint: it has qwen3:8b, llama3.2:3b: --model qwen3:8b".to_owned(),
    ];
    let base_url = bench.server.base_url();
    let generative = ["ask", QUESTION, "--mode", "generative"];
    let cases: [(&[&str], &str, &str); 4] = [
        (&["--generator", "server"], "no language model server is named", &options),
        (&["--generator", "none"], "needs a language model", &instead),
        (&["--base-url", &base_url], "no model of the server is named", &model),
        (&[], "cannot download", &options),
    ];
    for (more, says, hint) in cases {
        let args = [&generative[..], more].concat();
        let (code, _, stderr) = bench.heard(hint, |bench| bench.run(&args));
        assert!(code != 0 && stderr.contains(says), "{args:?} {code}: {stderr}");
        let offline = [&args[..], &["--offline"]].concat();
        let (_, _, stderr) = text(&bench.run(&offline));
        assert!(!stderr.contains("qwen3"), "{offline:?}: {stderr}");
    }
    bench.requests();
}

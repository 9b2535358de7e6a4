//! A language model server that plays its part in the whole loop, and misbehaves where a test wants it to.

use std::sync::Arc;

use parking_lot::Mutex;
use scholar_testing::{Behaviour, ScriptedLmServer};
use serde_json::Value;
use tokio::runtime::Runtime;

/// The first draft: one sentence with too many citations, one without.
pub(crate) const DRAFT: &str = "[Response_Start]Exposure bias is partially to blame for hallucinations in neural machine translation [0]. \
Training with Minimum Risk Training avoids exposure bias and can mitigate hallucinations [0][999].

Annotated data with hallucinations is extremely scarce.[Response_End]";

const FEEDBACK: &str = "[Response_Start]
Feedback: Say how hallucinations in chart summarization are mitigated. Question: How can hallucinations in chart summarization be mitigated?
Feedback: The last paragraph is thin; merge it.
[Response_End]";

/// The draft with what the first item asks for; `{n}` is the number of the passage found for it.
const REVISED: &str = "[Response_Start]Exposure bias is partially to blame for hallucinations in neural machine translation [0]. \
Training with Minimum Risk Training avoids exposure bias and can mitigate hallucinations [0].

A natural language inference based method to preprocess the training data significantly reduces hallucinations [{n}].

Annotated data with hallucinations is extremely scarce.[Response_End]";

/// What a call is for, in the order of the loop.
pub(crate) const LOOP: [&str; 6] =
    ["keywords", "draft", "feedback", "edit_with_retrieval", "edit", "posthoc"];

/// The server with the runtime it lives in.
pub(crate) struct Model {
    server: ScriptedLmServer,
    purposes: Arc<Mutex<Vec<&'static str>>>,
    _runtime: Runtime,
}

impl Model {
    /// Answers every call of the loop.
    pub(crate) fn honest() -> Self {
        Self::with(|_, _| None)
    }

    /// Asks `instead` for each call what to do; it gets the purpose and how many calls of it were before.
    pub(crate) fn with(
        instead: impl Fn(&'static str, usize) -> Option<Behaviour> + Send + Sync + 'static,
    ) -> Self {
        let runtime = Runtime::new().expect("threads");
        let server = runtime.block_on(ScriptedLmServer::start());
        let purposes = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&purposes);
        server.respond_with(move |request| {
            let purpose = purpose_of(request);
            let before = {
                let mut seen = seen.lock();
                seen.push(purpose);
                seen.iter().filter(|other| **other == purpose).count() - 1
            };
            instead(purpose, before).unwrap_or_else(|| Behaviour::Text(reply(purpose, request)))
        });
        Self { server, purposes, _runtime: runtime }
    }

    /// `http://127.0.0.1:PORT/v1`.
    pub(crate) fn base_url(&self) -> String {
        self.server.base_url()
    }

    /// The server, to script it further.
    pub(crate) fn server(&self) -> &ScriptedLmServer {
        &self.server
    }

    /// What the calls so far were for.
    pub(crate) fn purposes(&self) -> Vec<&'static str> {
        self.purposes.lock().clone()
    }

    /// The bodies of the calls so far.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.server.requests().into_iter().map(|request| request.body).collect()
    }
}

/// An address at which nobody listens.
pub(crate) fn dead_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free loopback port");
    format!("http://{}/v1", listener.local_addr().expect("bound"))
}

fn prompt(request: &Value) -> String {
    let messages = request["messages"].as_array().expect("messages");
    let contents = messages.iter().filter_map(|message| message["content"].as_str());
    contents.collect::<Vec<_>>().join("\n")
}

fn purpose_of(request: &Value) -> &'static str {
    let prompt = prompt(request);
    let known = [
        ("queries for a search engine", "keywords"),
        ("Review the answer", "feedback"),
        ("newly found references", "edit_with_retrieval"),
        ("Change only what the feedback asks for", "edit"),
        ("Add missing citations", "posthoc"),
        ("Write several paragraphs", "draft"),
        ("You check scientific citations", "judge"),
    ];
    let found = known.into_iter().find(|(words, _)| prompt.contains(words));
    found.map_or("unknown", |(_, purpose)| purpose)
}

fn reply(purpose: &str, request: &Value) -> String {
    let prompt = prompt(request);
    match purpose {
        "keywords" => {
            "[Response_Start]hallucination detection translation, exposure bias[Response_End]"
                .to_owned()
        }
        "draft" => DRAFT.to_owned(),
        "feedback" => FEEDBACK.to_owned(),
        "edit_with_retrieval" => {
            let chart = |line: &&str| {
                line.starts_with('[') && line.contains("Tackling Hallucinations in Neural Chart")
            };
            let line = prompt.lines().find(chart).expect("the chart paper is a new reference");
            REVISED.replace("{n}", &line[1..line.find(']').expect("numbered")])
        }
        // No verdict: the small judge decides all.
        "judge" => r#"{"verdicts": []}"#.to_owned(),
        "edit" => "[Response_Start]Too short [0].[Response_End]".to_owned(),
        "posthoc" => prompt.rsplit("Text: ").next().unwrap_or_default().to_owned(),
        other => panic!("a call for {other}: {prompt}"),
    }
}

//! The generator against a server that is honest, slow, broken or lying.

use std::time::Duration;

use parking_lot::Mutex;
use scholar_clients::{HttpClient, OpenAiConfig, OpenAiGenerator, RetryPolicy, SecretString};
use scholar_core::{
    FinishReason, Generation, GenerationRequest, Generator as _, Message, OutputShape, PortError,
    PortErrorKind, Sampling,
};
use scholar_testing::{Behaviour, ScriptedLmServer};
use serde_json::{Value, json};

const KEY: &str = "sk-very-secret";

fn config(base_url: &str) -> OpenAiConfig {
    let mut config = OpenAiConfig::new(base_url, "m").expect("an address");
    config.key = Some(SecretString::from(KEY));
    config.retry = RetryPolicy { base: Duration::from_millis(1), ..RetryPolicy::interactive() };
    config
}

fn generator(config: OpenAiConfig) -> OpenAiGenerator {
    OpenAiGenerator::new(HttpClient::new().expect("a client"), config).expect("a generator")
}

fn text_request() -> GenerationRequest {
    GenerationRequest {
        purpose: "draft".to_owned(),
        messages: vec![Message::system("be brief"), Message::user("three small words")],
        sampling: Sampling {
            stop: vec!["[End]".to_owned()],
            seed: Some(1),
            ..Sampling::greedy(50)
        },
        shape: OutputShape::Text,
    }
}

fn json_request() -> GenerationRequest {
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    GenerationRequest {
        shape: OutputShape::Json { name: "count".to_owned(), schema },
        ..text_request()
    }
}

/// Generates once, and checks that what was streamed is the beginning of what was returned.
async fn generate(
    generator: &OpenAiGenerator,
    request: &GenerationRequest,
) -> Result<Generation, PortError> {
    let streamed = Mutex::new(String::new());
    let result = generator.generate(request, &|text| streamed.lock().push_str(text)).await;
    if let (Ok(generation), OutputShape::Text) = (&result, &request.shape) {
        assert_eq!(*streamed.lock(), generation.text);
    }
    if let Err(error) = &result {
        let shown = format!("{error} {error:?} {:?}", error.hint());
        assert!(!shown.contains(KEY), "{shown}");
    }
    result
}

async fn after(
    behaviours: Vec<Behaviour>,
    request: &GenerationRequest,
) -> (Result<Generation, PortError>, Vec<Value>) {
    let server = ScriptedLmServer::start().await;
    behaviours.into_iter().for_each(|behaviour| server.push(behaviour));
    let result = generate(&generator(config(&server.base_url())), request).await;
    assert_eq!(server.unused(), 0, "every scripted reply was asked for");
    let requests = server.requests();
    assert!(requests.iter().all(|r| r.authorization.as_deref() == Some("Bearer sk-very-secret")));
    (result, requests.into_iter().map(|r| r.body).collect())
}

fn text(text: &str) -> Behaviour {
    Behaviour::Text(text.to_owned())
}

#[tokio::test]
async fn honest_replies_come_through_whole() {
    let long = "naïve α-helix 蛋白质 ".repeat(20);
    let cases = [
        (text("one two"), "one two", FinishReason::Stop, false),
        (Behaviour::Fragmented(long.clone()), long.as_str(), FinishReason::Stop, false),
        (
            Behaviour::Slow("a b c".to_owned(), Duration::from_millis(2)),
            "a b c",
            FinishReason::Stop,
            false,
        ),
        (Behaviour::IgnoresStream("whole".to_owned()), "whole", FinishReason::Stop, false),
        (Behaviour::NoUsage("un counted".to_owned()), "un counted", FinishReason::Stop, true),
        (
            Behaviour::Finishes("cut".to_owned(), "length".to_owned()),
            "cut",
            FinishReason::Length,
            false,
        ),
        (
            Behaviour::Finishes("so".to_owned(), "content_filter".to_owned()),
            "so",
            FinishReason::Filtered,
            false,
        ),
        (
            Behaviour::Finishes("ok".to_owned(), "eos_token".to_owned()),
            "ok",
            FinishReason::Stop,
            false,
        ),
        (text("answer [End] tail"), "answer ", FinishReason::Stop, true),
        (
            Behaviour::cites_unknown_reference(),
            "Retrieval reduces hallucination in most settings [999].",
            FinishReason::Stop,
            false,
        ),
        (
            Behaviour::OtherModel { text: "x".to_owned(), model: "m-2024-08-06".to_owned() },
            "x",
            FinishReason::Stop,
            false,
        ),
    ];
    for (behaviour, expect, finish, estimated) in cases {
        let (result, bodies) = after(vec![behaviour.clone()], &text_request()).await;
        let reply = result.unwrap_or_else(|error| panic!("{behaviour:?}: {error}"));
        assert_eq!((reply.text.as_str(), reply.finish), (expect, finish), "{behaviour:?}");
        assert_eq!(reply.usage_estimated, estimated, "{behaviour:?}");
        if !estimated {
            assert_eq!(reply.usage.prompt, 5, "{behaviour:?}");
        }
        assert!(reply.usage.completion > 0 && reply.model.starts_with('m'));
        assert_eq!(bodies[0]["seed"], 1);
    }
}

#[tokio::test]
async fn passing_failures_are_tried_again() {
    let cases = [
        Behaviour::ServerError,
        Behaviour::RateLimited(None),
        Behaviour::RateLimited(Some("0.01".to_owned())),
        Behaviour::Status(503, "loading".to_owned()),
        Behaviour::TruncatedStream("dense".to_owned()),
        Behaviour::BrokenStream("dense".to_owned()),
        Behaviour::ErrorInStream("dense".to_owned()),
    ];
    for behaviour in cases {
        let (result, bodies) =
            after(vec![behaviour.clone(), text("dense retrieval")], &text_request()).await;
        assert_eq!(
            result.unwrap_or_else(|error| panic!("{behaviour:?}: {error}")).text,
            "dense retrieval"
        );
        assert_eq!(bodies.len(), 2, "{behaviour:?}");
    }
}

#[tokio::test]
async fn final_failures_are_named_and_not_repeated() {
    let status = |code: u16, body: &str| Behaviour::Status(code, body.to_owned());
    let cases = [
        (
            Behaviour::WrongJson,
            PortErrorKind::Corrupt,
            "not a chat completion",
            "OpenAI-compatible",
        ),
        (Behaviour::ToolCall, PortErrorKind::Rejected, "call a tool", "tool calling off"),
        (Behaviour::Empty, PortErrorKind::Corrupt, "without any text", ""),
        (
            Behaviour::Finishes(String::new(), "length".to_owned()),
            PortErrorKind::Corrupt,
            "without any text",
            "token limit",
        ),
        (Behaviour::Huge(3 << 20), PortErrorKind::Corrupt, "more than 2097152 bytes", ""),
        (
            Behaviour::OtherModel { text: "x".to_owned(), model: "m-mini".to_owned() },
            PortErrorKind::Rejected,
            "`m-mini` instead of `m`",
            "--model m-mini",
        ),
        (
            status(401, r#"{"error":{"message":"bad key sk-very-secret"}}"#),
            PortErrorKind::Rejected,
            "refused the key",
            "OPENAI_API_KEY",
        ),
        (status(404, r#"{"error":"no model m"}"#), PortErrorKind::Rejected, "no model m", "/v1"),
        (
            status(400, r#"{"error":{"message":"prompt sk-very-secret is too long"}}"#),
            PortErrorKind::Rejected,
            "[key] is too long",
            "fewer passages",
        ),
        (
            status(429, r#"{"error":{"code":"insufficient_quota"}}"#),
            PortErrorKind::Rejected,
            "no credit",
            "",
        ),
        (status(418, ""), PortErrorKind::Rejected, "418", ""),
    ];
    for (behaviour, kind, message, hint) in cases {
        let (result, bodies) = after(vec![behaviour.clone()], &text_request()).await;
        let error = result.expect_err("must fail");
        assert_eq!(error.kind(), kind, "{behaviour:?}: {error}");
        assert!(error.to_string().contains(message), "{behaviour:?}: {error}");
        assert!(
            error.hint().unwrap_or_default().contains(hint),
            "{behaviour:?}: {:?}",
            error.hint()
        );
        assert!(error.to_string().contains("127.0.0.1"), "{error}");
        assert_eq!(bodies.len(), 1, "{behaviour:?}");
    }
}

#[tokio::test]
async fn refused_options_are_dropped_for_good_and_said() {
    for (field, said) in [
        ("stream_options", "estimated"),
        ("seed", "not reproducible"),
        ("max_tokens", "max_completion_tokens"),
        ("stream", "one piece"),
    ] {
        let server = ScriptedLmServer::start().await;
        let field_or_hint = if field == "max_tokens" { "max_tokens" } else { field };
        server.always(Behaviour::RefusesField {
            field: field_or_hint.to_owned(),
            text: "ok".to_owned(),
        });
        if field == "max_tokens" {
            let body = r#"{"error":{"message":"Use 'max_completion_tokens' instead."}}"#;
            server.push(Behaviour::Status(400, body.to_owned()));
        }
        let generator = generator(config(&server.base_url()));
        for _ in 0..2 {
            assert_eq!(
                generate(&generator, &text_request()).await.expect("a reply").text,
                "ok",
                "{field}"
            );
        }
        let notices = generator.notices();
        assert!(notices.iter().any(|notice| notice.message.contains(said)), "{field}: {notices:?}");
        let bodies = server.requests();
        assert!(bodies.last().expect("asked").body.get(field).is_none(), "{field}");
    }
}

#[tokio::test]
async fn json_goes_down_the_ladder_and_is_always_checked_here() {
    let server = ScriptedLmServer::start().await;
    let refuses = |kind: &str| Behaviour::RefusesField {
        field: format!("response_format={kind}"),
        text: "Sure:\n```json\n{\"n\": 3}\n```".to_owned(),
    };
    server.push(refuses("json_schema"));
    server.push(refuses("json_object"));
    server.always(refuses("json_object"));
    let model = generator(config(&server.base_url()));
    let reply = generate(&model, &json_request()).await.expect("valid JSON");
    assert_eq!(reply.text, "{\"n\": 3}");
    assert_eq!(model.notices().len(), 2);
    let forms: Vec<Value> =
        server.requests().iter().map(|r| r.body["response_format"]["type"].clone()).collect();
    assert_eq!(forms, [json!("json_schema"), json!("json_object"), Value::Null]);
    let asked = server.requests()[2].body["messages"][1]["content"].to_string();
    assert!(asked.contains("JSON Schema"), "{asked}");

    for (reply, part) in [("{\"n\": \"3\"}", "`/n`"), ("no idea", "no JSON")] {
        let (result, _) = after(vec![text(reply)], &json_request()).await;
        let error = result.expect_err("breaks the schema");
        assert_eq!(error.kind(), PortErrorKind::Corrupt);
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        assert!(error.to_string().contains("`count`") && cause.contains(part), "{error}: {cause}");
    }
}

#[tokio::test]
async fn choices_are_scored_by_log_probability() {
    let server = ScriptedLmServer::start().await;
    server
        .push(Behaviour::LogProbabilities(vec![("Yes".to_owned(), -0.1), ("No".to_owned(), -2.4)]));
    server.push(text("Yes"));
    let model = generator(config(&server.base_url()));
    let messages = [Message::user("Is it?")];
    let scores = model.choose("judge", &messages, &["yes", "no"]).await.expect("scores");
    assert!(scores[0] > -0.2 && scores[1] < -2.0, "{scores:?}");
    let error =
        model.choose("judge", &messages, &["yes", "no"]).await.expect_err("no probabilities");
    assert_eq!(error.kind(), PortErrorKind::Rejected);
    assert_eq!(server.requests()[0].body["top_logprobs"], 20);
}

#[tokio::test]
async fn dead_and_hanging_servers_end_in_time_with_the_next_step() {
    let server = ScriptedLmServer::start().await;
    let base_url = server.base_url();
    for behaviour in [Behaviour::Hang, Behaviour::HangAfter("begun".to_owned())] {
        server.push(behaviour);
        let mut config = config(&base_url);
        config.idle_timeout = Duration::from_millis(100);
        let error = generate(&generator(config), &text_request()).await.expect_err("silence");
        assert_eq!(error.kind(), PortErrorKind::Unavailable);
        assert!(error.to_string().contains("sent nothing for 0.1 s"), "{error}");
    }
    server.push(Behaviour::Slow("word ".repeat(1000), Duration::from_millis(20)));
    let mut hurried = config(&base_url);
    hurried.retry.deadline = Duration::from_millis(150);
    let error = generate(&generator(hurried), &text_request()).await.expect_err("too slow");
    assert!(error.to_string().contains("no complete reply"), "{error}");
    server.push(Behaviour::RateLimited(Some("3600".to_owned())));
    let error =
        generate(&generator(config(&base_url)), &text_request()).await.expect_err("an hour");
    assert_eq!(
        error.kind(),
        PortErrorKind::RateLimited { retry_after: Some(Duration::from_secs(3600)) }
    );

    drop(server);
    let dead = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = dead.local_addr().expect("bound");
    drop(dead);
    let model = generator(config(&format!("http://user:{KEY}@{address}/v1")));
    let error = generate(&model, &text_request()).await.expect_err("dead");
    assert_eq!(error.kind(), PortErrorKind::Unavailable);
    assert_eq!(error.hint(), Some("start it or pass --base-url"));
    assert!(error.to_string().contains(&address.to_string()), "{error}");
    assert!(!format!("{:?}", config(&format!("http://{address}/v1"))).contains(KEY));
}

#[test]
fn addresses_are_checked_before_use() {
    for bad in ["", "localhost:8000/v1", "ftp://x/v1", "http://", "not a url"] {
        let error = OpenAiConfig::new(bad, "m").expect_err("no web address");
        assert!(error.hint().is_some_and(|hint| hint.contains("http://")), "{bad}");
    }
    assert!(OpenAiConfig::new("http://x/v1", " ").is_err());
    for good in ["http://x/v1", "http://x/v1/", "https://x/v1/chat/completions"] {
        let generator = generator(OpenAiConfig::new(good, "m").expect("an address"));
        assert!(generator.address().ends_with("x/v1/chat/completions"), "{}", generator.address());
    }
}

/// Wherever a server sends a request, neither prompt nor key leave it; within itself it may move the whole request.
#[tokio::test]
async fn redirects_to_another_server_are_refused_and_within_one_the_request_stays_whole() {
    let other = ScriptedLmServer::start().await;
    other.always(text("stolen"));
    let moved = other.base_url().replace("http://", "http://me:s3cret@");
    let moved = format!("{moved}/chat/completions?token=s3cret");
    for status in [301, 302, 303, 307, 308] {
        let redirect = Behaviour::Redirect(status, moved.clone());
        let (result, bodies) = after(vec![redirect], &text_request()).await;
        let error = result.expect_err("refused");
        assert_eq!(error.kind(), PortErrorKind::Rejected, "{error}");
        let hint = error.hint().expect("a next step");
        let base = other.base_url();
        assert!(error.to_string().contains(&format!("{base}/chat/completions")), "{error}");
        assert!(hint.ends_with(&format!("--base-url {base}")), "{hint}");
        assert!(!format!("{error} {hint}").contains("s3cret"), "{error} {hint}");
        assert_eq!(bodies.len(), 1, "not tried again");
    }
    assert_eq!(other.requests(), []);

    let itself = || Behaviour::Redirect(307, "/v1/chat/completions".to_owned());
    let (result, bodies) = after(vec![itself(), itself(), text("one two")], &text_request()).await;
    assert_eq!(result.expect("a reply").text, "one two");
    assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]), "the same request");
    let (result, _) =
        after(vec![Behaviour::Redirect(302, "/v1/x".to_owned())], &text_request()).await;
    let error = result.expect_err("a request without its body is another one");
    assert!(error.to_string().contains("leave the prompt behind"), "{error}");
    let (result, _) = after((0..6).map(|_| itself()).collect(), &text_request()).await;
    let error = result.expect_err("round and round");
    assert!(error.to_string().contains("more than 5 times"), "{error}");
    let nowhere = Behaviour::Redirect(307, "http://[".to_owned());
    let (result, _) = after(vec![nowhere], &text_request()).await;
    let error = result.expect_err("nowhere");
    assert!(error.to_string().contains("without an address"), "{error}");
}

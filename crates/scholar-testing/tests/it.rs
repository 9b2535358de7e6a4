//! The scripted server on a real socket, spoken to in plain HTTP.

use scholar_testing::{Behaviour, ScriptedLmServer};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Posts `body` and returns the whole answer, head and body.
async fn post(server: &ScriptedLmServer, body: &Value) -> String {
    let address = server.base_url().replace("http://", "").replace("/v1", "");
    let mut socket = tokio::net::TcpStream::connect(&address).await.expect("connected");
    let body = body.to_string();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nauthorization: Bearer k\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all(format!("{head}{body}").as_bytes()).await.expect("sent");
    let mut answer = Vec::new();
    // A broken stream ends in an error here; what came before it is the answer.
    let _ = socket.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

fn request(stream: bool) -> Value {
    json!({"model": "m", "stream": stream, "stream_options": {"include_usage": true},
           "response_format": {"type": "json_schema"}, "messages": [{"role": "user", "content": "three small words"}]})
}

#[tokio::test]
async fn behaves_as_told_and_records() {
    let server = ScriptedLmServer::start().await;
    let refuses =
        |field: &str| Behaviour::RefusesField { field: field.to_owned(), text: "ok".to_owned() };
    let cases: Vec<(Behaviour, bool, &str, &str)> = vec![
        (
            Behaviour::Text("one two".to_owned()),
            false,
            "200 OK",
            r#""prompt_tokens":3,"completion_tokens":2"#,
        ),
        (Behaviour::Text("one two".to_owned()), true, "text/event-stream", "data: [DONE]"),
        (Behaviour::TruncatedStream("one".to_owned()), true, "200 OK", r#"{"content":"one"}"#),
        (Behaviour::BrokenStream("one".to_owned()), true, "200 OK", r#"{"content":"one"}"#),
        (Behaviour::ErrorInStream("one".to_owned()), true, "200 OK", "the engine failed"),
        (Behaviour::RateLimited(Some("7".to_owned())), true, "429", "retry-after: 7"),
        (Behaviour::ServerError, true, "500", "out of order"),
        (Behaviour::WrongJson, true, "200 OK", "<html>"),
        (Behaviour::ToolCall, true, "200 OK", "tool_calls"),
        (
            Behaviour::OtherModel { text: "x".to_owned(), model: "n".to_owned() },
            false,
            "200 OK",
            r#""model":"n""#,
        ),
        (
            Behaviour::IgnoresStream("whole".to_owned()),
            true,
            "application/json",
            r#""content":"whole""#,
        ),
        (refuses("response_format=json_schema"), false, "400", "unsupported: response_format"),
        (refuses("response_format=json_object"), false, "200 OK", r#""content":"ok""#),
        (refuses("tools"), false, "200 OK", r#""content":"ok""#),
        (
            Behaviour::LogProbabilities(vec![("yes".to_owned(), -0.1)]),
            false,
            "200 OK",
            "top_logprobs",
        ),
        (Behaviour::cites_unknown_reference(), false, "200 OK", "[999]"),
    ];
    let n_cases = cases.len();
    for (behaviour, stream, head, part) in cases {
        server.push(behaviour.clone());
        let answer = post(&server, &request(stream)).await;
        assert!(answer.contains(head) && answer.contains(part), "{behaviour:?} gave {answer}");
    }
    server.push(Behaviour::NoUsage("x".to_owned()));
    assert!(!post(&server, &request(true)).await.contains("prompt_tokens"));
    assert!(post(&server, &request(true)).await.contains("418"), "nothing scripted");
    server.respond_with(|body| Behaviour::Text(format!("{} asked", body["model"])));
    assert!(post(&server, &request(false)).await.contains("asked"));
    let requests = server.requests();
    assert_eq!(requests.len(), n_cases + 3);
    assert_eq!(requests[0].authorization.as_deref(), Some("Bearer k"));
    assert_eq!((requests[0].path.as_str(), server.unused()), ("/v1/chat/completions", 0));
}

//! Model servers among other listeners on this machine.

use std::net::TcpListener;

use scholar_clients::local_servers::{LocalServer, MAX_LIST_BYTES, at, find};
use scholar_clients::{HttpClient, Url};
use scholar_testing::{Behaviour, ScriptedLmServer};

fn http() -> HttpClient {
    HttpClient::new().expect("a client")
}

#[tokio::test]
async fn what_lists_models_is_found_and_asked_for_nothing_else() {
    let [first, second] = [ScriptedLmServer::start().await, ScriptedLmServer::start().await];
    first.list_models(&["qwen3:8b", "nomic-embed-text", "llama3.2:3b"]);
    second.list_models(&["mistral-7b"]);
    let server = |server: &ScriptedLmServer, models: &[&str]| LocalServer {
        base_url: server.base_url(),
        usual_program: None,
        models: models.iter().map(|name| (*name).to_owned()).collect(),
    };
    let expect = [server(&second, &["mistral-7b"]), server(&first, &["qwen3:8b", "llama3.2:3b"])];
    let found = find(&http(), &[second.port(), first.port()]).await;
    assert_eq!(found, expect, "in the order of the ports");
    for server in [first, second] {
        let requests = server.requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        assert_eq!((requests[0].path.as_str(), &requests[0].authorization), ("/v1/models", &None));
    }
}

#[tokio::test]
async fn nothing_else_is_a_model_server() {
    let elsewhere = ScriptedLmServer::start().await;
    let long = format!(
        r#"{{"data": [{{"id": "qwen3:8b", "description": "{}"}}]}}"#,
        "x".repeat(MAX_LIST_BYTES)
    );
    let list = r#"{"data": [{"id": "qwen3:8b"}]}"#.to_owned();
    let mut servers = Vec::new();
    for behaviour in [
        Behaviour::WrongJson,
        Behaviour::Status(200, long),
        Behaviour::Status(200, r#"{"object": "list", "data": null}"#.to_owned()),
        Behaviour::Status(401, list.clone()),
        Behaviour::Status(404, list.clone()),
        Behaviour::Redirect(307, format!("{}/models", elsewhere.base_url())),
        Behaviour::HangAfter(String::new()),
        Behaviour::Hang,
    ] {
        let server = ScriptedLmServer::start().await;
        server.answer_models_with(behaviour);
        servers.push(server);
    }
    let honest = ScriptedLmServer::start().await;
    // Accepted by the system, read by nobody.
    let mute = TcpListener::bind("127.0.0.1:0").expect("a free loopback port");
    let closed = TcpListener::bind("127.0.0.1:0").expect("a free loopback port");
    let [mute_port, closed_port] =
        [&mute, &closed].map(|listener| listener.local_addr().expect("bound").port());
    drop(closed);
    let ports: Vec<u16> = servers
        .iter()
        .map(ScriptedLmServer::port)
        .chain([mute_port, closed_port, honest.port()])
        .collect();
    let found = find(&http(), &ports).await;
    let found: Vec<&str> = found.iter().map(|server| server.base_url.as_str()).collect();
    assert_eq!(found, [honest.base_url()]);
    assert!(servers.iter().all(|server| server.requests().len() == 1), "each was asked once");
    assert!(elsewhere.requests().is_empty(), "no redirect is followed");
}

#[tokio::test]
async fn no_other_machine_is_asked_and_no_credentials_are_sent() {
    let server = ScriptedLmServer::start().await;
    let with_key = server.base_url().replace("http://", "http://me:secret@");
    for address in [with_key.as_str(), "https://127.0.0.1:1/v1", "http://model-server.example/v1"] {
        let url = Url::parse(address).expect("an address");
        assert_eq!(at(&http(), &url).await, None, "{address}");
    }
    assert!(server.requests().is_empty());
    let url = Url::parse(&format!("{}/?key=secret", server.base_url())).expect("an address");
    let found = at(&http(), &url).await.expect("found");
    assert_eq!((found.base_url, found.models), (server.base_url(), vec!["scripted".to_owned()]));
}

//! A client for servers on loopback: blocking, one connection per request, nothing hidden.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use crate::wait::PATIENCE;

/// A whole reply of a server under test.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpReply {
    /// HTTP status of the first line.
    pub status: u16,
    /// Names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// The body as text.
    pub body: String,
}

impl HttpReply {
    /// The first header of that name, given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// When it is something else.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("the body is JSON")
    }
}

/// `GET path`.
///
/// # Panics
/// When nobody answers.
pub fn get(address: SocketAddr, path: &str) -> HttpReply {
    request(address, "GET", path, "")
}

/// `POST path` with a JSON body.
///
/// # Panics
/// When nobody answers.
pub fn post(address: SocketAddr, path: &str, body: &str) -> HttpReply {
    request(address, "POST", path, body)
}

/// Any method.
///
/// # Panics
/// When nobody answers.
pub fn request(address: SocketAddr, method: &str, path: &str, body: &str) -> HttpReply {
    finish(begin(address, method, path, body))
}

/// Sends a request whose reply is read later, with [`finish`].
///
/// # Panics
/// When nobody listens.
pub fn begin(address: SocketAddr, method: &str, path: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("somebody listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("the head is taken");
    // A server may refuse a body before it has read it.
    let _refused = stream.write_all(body.as_bytes());
    stream
}

/// Reads the reply to the end of the connection.
///
/// # Panics
/// When it is no HTTP reply.
pub fn finish(mut stream: TcpStream) -> HttpReply {
    let mut bytes = Vec::new();
    // A reset after a refusal loses nothing of what was read.
    let _reset = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).expect("replies are text");
    let (head, body) = text.split_once("\r\n\r\n").expect("a reply has a head");
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).expect("a status line");
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    HttpReply { status: status.parse().expect("a number"), headers, body: body.to_owned() }
}

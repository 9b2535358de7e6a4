//! A real browser, driven through `ChromeDriver`.
//!
//! `WebDriver` is JSON over HTTP, and the dozen commands needed here are less code than a client crate is to build.
//! Without a browser tests are skipped, and say so; where `OPENSCHOLAR_BROWSER` is `required`, they fail instead.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A fault would otherwise hang the test.
const PATIENCE: Duration = Duration::from_secs(60);

/// Keys without a letter, as `WebDriver` writes them.
pub(crate) const TAB: &str = "\u{e004}";
pub(crate) const ENTER: &str = "\u{e007}";
pub(crate) const SHIFT: &str = "\u{e008}";
pub(crate) const CONTROL: &str = "\u{e009}";
pub(crate) const RIGHT: &str = "\u{e014}";
pub(crate) const SPACE: &str = " ";

/// One browser window with an empty profile.
pub(crate) struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
    profile: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            // Closes the browser; when that fails, the driver's end below does.
            let path = format!("/session/{}", self.session);
            let _closed = request(self.address, "DELETE", &path, "");
        }
        let _ended = self.driver.kill();
        let _reaped = self.driver.wait();
    }
}

impl Browser {
    /// Starts one; `None`, with a line on standard error, where there is none.
    pub(crate) fn start() -> Option<Self> {
        #[expect(clippy::disallowed_methods, reason = "how the checks demand a browser of tests")]
        let required = std::env::var("OPENSCHOLAR_BROWSER").is_ok_and(|value| value == "required");
        let there = |program: &str| {
            let mut command = Command::new(program);
            command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        let chromium =
            ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| there(name));
        let Some(chromium) = chromium.filter(|_| there("chromedriver")) else {
            assert!(
                !required,
                "OPENSCHOLAR_BROWSER is required, and chromium or chromedriver is missing"
            );
            let _ignored = writeln!(
                io::stderr(),
                "skipped: no browser here; install the packages chromium and chromium-driver"
            );
            return None;
        };
        let profile = tempfile::tempdir().expect("a temporary folder");
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .env("HOME", profile.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        let port = port(&mut driver);
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut browser = Self { driver, address, session: String::new(), profile };
        let binary = Command::new("/bin/sh")
            .args(["-c", &format!("command -v {chromium}")])
            .output()
            .expect("a shell");
        let args = [
            "--headless".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-quic".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--window-size=1280,900".to_owned(),
            format!("--user-data-dir={}", browser.profile.path().join("profile").display()),
        ];
        let binary = String::from_utf8_lossy(&binary.stdout).trim().to_owned();
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"binary": binary, "args": args}}}});
        let reply = request(address, "POST", "/session", &wanted.to_string()).expect("a reply");
        let session = reply["value"]["sessionId"].as_str();
        browser.session = session.unwrap_or_else(|| panic!("no session: {reply}")).to_owned();
        Some(browser)
    }

    fn ask(&self, method: &str, command: &str, body: &Value) -> Result<Value, Value> {
        let path = format!("/session/{}/{command}", self.session);
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let mut reply = request(self.address, method, &path, &body).expect("a reply");
        let value = reply["value"].take();
        if value.get("error").is_some() { Err(value) } else { Ok(value) }
    }

    fn command(&self, method: &str, command: &str, body: &Value) -> Value {
        self.ask(method, command, body).unwrap_or_else(|error| panic!("{command}: {error:#}"))
    }

    /// Opens an address and waits until the page is there.
    pub(crate) fn open(&self, url: &str) {
        self.command("POST", "url", &json!({ "url": url }));
    }

    /// Loads the page anew.
    pub(crate) fn reload(&self) {
        self.command("POST", "refresh", &json!({}));
    }

    /// The address of the page.
    pub(crate) fn url(&self) -> String {
        self.command("GET", "url", &json!({})).as_str().expect("an address").to_owned()
    }

    /// The page as the browser holds it.
    pub(crate) fn source(&self) -> String {
        self.command("GET", "source", &json!({})).as_str().expect("a page").to_owned()
    }

    /// What `expression` is in the page.
    pub(crate) fn value(&self, expression: &str) -> Value {
        let script = format!("return ({expression});");
        self.command("POST", "execute/sync", &json!({"script": script, "args": []}))
    }

    /// The same, as text.
    pub(crate) fn words(&self, expression: &str) -> String {
        self.value(expression)
            .as_str()
            .unwrap_or_else(|| panic!("{expression} is no text"))
            .to_owned()
    }

    /// Waits until `expression` is true; a page that is just being left has no value.
    pub(crate) fn until(&self, expression: &str) {
        let began = Instant::now();
        let script = format!("return Boolean({expression});");
        while self.ask("POST", "execute/sync", &json!({"script": script, "args": []}))
            != Ok(true.into())
        {
            assert!(
                began.elapsed() < PATIENCE,
                "never: {expression}\n{}\n{}",
                self.url(),
                self.source()
            );
        }
    }

    /// Presses keys one after the other.
    pub(crate) fn press(&self, keys: &[&str]) {
        let strokes = keys.iter().flat_map(|key| {
            [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})]
        });
        self.act(strokes.collect());
    }

    /// Presses a key while another is held.
    pub(crate) fn chord(&self, held: &str, key: &str) {
        let stroke = |kind: &str, key: &str| json!({"type": kind, "value": key});
        self.act(vec![
            stroke("keyDown", held),
            stroke("keyDown", key),
            stroke("keyUp", key),
            stroke("keyUp", held),
        ]);
    }

    /// Types text where the focus is.
    pub(crate) fn write(&self, text: &str) {
        let letters: Vec<String> = text.chars().map(String::from).collect();
        self.press(&letters.iter().map(String::as_str).collect::<Vec<_>>());
    }

    fn act(&self, strokes: Vec<Value>) {
        let actions = json!({"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]});
        self.command("POST", "actions", &actions);
    }

    /// Makes the page as large as a phone's, or of another size.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        let command = json!({"cmd": "Emulation.setDeviceMetricsOverride", "params": size});
        self.command("POST", "goog/cdp/execute", &command);
    }

    /// What the browser complained about: errors of scripts, breaches of the page's policy, failed requests.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let log = self.command("POST", "se/log", &json!({"type": "browser"}));
        let entries = log.as_array().expect("a list").iter();
        entries.map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

/// Sends a command and reads the reply, as long as it says it is: the driver keeps connections open whatever is asked.
fn request(address: SocketAddr, method: &str, path: &str, body: &str) -> io::Result<Value> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )?;
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
            None if line.trim_end().is_empty() => break,
            _ => {}
        }
    }
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// The port that the driver says it listens on.
fn port(driver: &mut Child) -> u16 {
    let mut stdout = BufReader::new(driver.stdout.take().expect("piped"));
    let mut said = String::new();
    loop {
        let mut line = String::new();
        let n = stdout.read_line(&mut line).expect("readable");
        assert!(n > 0, "chromedriver ended: {said}");
        if let Some((_, rest)) = line.split_once("successfully on port ") {
            let digits = rest.trim().trim_end_matches('.');
            // Whatever it says later has somewhere to go.
            std::thread::spawn(move || io::copy(&mut stdout, &mut io::sink()));
            return digits.parse().expect("a port");
        }
        said.push_str(&line);
    }
}

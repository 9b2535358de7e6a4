//! A real browser, driven through `ChromeDriver`.
//!
//! `WebDriver` is JSON over HTTP, and the few commands needed here are less code than a client crate is to build.
//! Without a browser tests are skipped, and say so; where `OPENSCHOLAR_BROWSER` is `required`, they fail instead.
#![expect(clippy::panic, reason = "helpers of tests fail as tests do")]

mod wire;

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::material;
use crate::wait::PATIENCE;
use wire::{decoded, port, request};

/// Between two looks at a page: each takes time from what the page waits for.
const PAUSE: Duration = Duration::from_millis(50);

/// The key Tab as `WebDriver` writes it, as those below.
pub const TAB: &str = "\u{e004}";
/// The key Enter.
pub const ENTER: &str = "\u{e007}";
/// The key Shift.
pub const SHIFT: &str = "\u{e008}";
/// The key Control.
pub const CONTROL: &str = "\u{e009}";
/// The key Escape.
pub const ESCAPE: &str = "\u{e00c}";
/// The arrow to the right.
pub const RIGHT: &str = "\u{e014}";
/// The space bar.
pub const SPACE: &str = " ";

/// Opens what is folded, so that a check sees it, too.
const UNFOLD: &str = "for (const one of document.querySelectorAll('details')) one.open = true; \
                      document.querySelector('main [popover]')?.showPopover();";
/// What axe-core finds, a line for each fault: the rule, then the elements.
const VIOLATIONS: &str = "return axe.run(document, {resultTypes: ['violations']}).then((found) => \
    found.violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.map((node) => \
    `${node.html.slice(0, 200)} (${[...node.any, ...node.all, ...node.none].map((check) => check.message).join('; ')})`).join(' | ')}`));";

/// How often a driver that finds its port taken is started.
const STARTS: usize = 5;

/// A driver, and the port that it listens on.
///
/// Told to take any free port, `ChromeDriver` may take one that is free on IPv6 and ends when another program has it on IPv4;
/// then it is started again, and takes another.
fn driver(home: &Path) -> (Child, u16) {
    let mut said = String::new();
    for _ in 0..STARTS {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .env("HOME", home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        match port(&mut driver) {
            Ok(port) => return (driver, port),
            Err(lines) => {
                // It may have said something else and still run.
                let _ended = driver.kill();
                let _reaped = driver.wait();
                said = lines;
                if !said.contains("port not available") {
                    break;
                }
            }
        }
    }
    panic!("chromedriver ended: {said}");
}

/// One browser window with an empty profile.
pub struct Browser {
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
    pub fn start() -> Option<Self> {
        let there = |program: &str| {
            let mut command = Command::new(program);
            command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        let chromium =
            ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| there(name));
        let Some(chromium) = chromium.filter(|_| there("chromedriver")) else {
            material::no_browser();
            return None;
        };
        let profile = tempfile::tempdir().expect("a temporary folder");
        let (driver, port) = driver(profile.path());
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
    pub fn open(&self, url: &str) {
        self.command("POST", "url", &json!({ "url": url }));
    }

    /// Loads the page anew.
    pub fn reload(&self) {
        self.command("POST", "refresh", &json!({}));
    }

    /// The address of the page.
    pub fn url(&self) -> String {
        self.command("GET", "url", &json!({})).as_str().expect("an address").to_owned()
    }

    /// The page as the browser holds it.
    pub fn source(&self) -> String {
        self.command("GET", "source", &json!({})).as_str().expect("a page").to_owned()
    }

    /// What `expression` is in the page.
    pub fn value(&self, expression: &str) -> Value {
        let script = format!("return ({expression});");
        self.command("POST", "execute/sync", &json!({"script": script, "args": []}))
    }

    /// The same, as text.
    pub fn words(&self, expression: &str) -> String {
        self.value(expression)
            .as_str()
            .unwrap_or_else(|| panic!("{expression} is no text"))
            .to_owned()
    }

    /// Waits until `expression` is true; a page that is just being left has no value.
    pub fn until(&self, expression: &str) {
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
            std::thread::park_timeout(PAUSE);
        }
    }

    /// Presses keys one after the other.
    pub fn press(&self, keys: &[&str]) {
        let strokes = keys.iter().flat_map(|key| {
            [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})]
        });
        self.act(strokes.collect());
    }

    /// Presses a key while another is held.
    pub fn chord(&self, held: &str, key: &str) {
        let stroke = |kind: &str, key: &str| json!({"type": kind, "value": key});
        self.act(vec![
            stroke("keyDown", held),
            stroke("keyDown", key),
            stroke("keyUp", key),
            stroke("keyUp", held),
        ]);
    }

    /// Types text where the focus is.
    pub fn write(&self, text: &str) {
        let letters: Vec<String> = text.chars().map(String::from).collect();
        self.press(&letters.iter().map(String::as_str).collect::<Vec<_>>());
    }

    fn act(&self, strokes: Vec<Value>) {
        let actions = json!({"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]});
        self.command("POST", "actions", &actions);
    }

    /// Makes the page as large as a phone's, or of another size.
    pub fn resize(&self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.tell("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Sends a command of the developer tools.
    fn tell(&self, command: &str, params: &Value) {
        self.command("POST", "goog/cdp/execute", &json!({"cmd": command, "params": params}));
    }

    /// Shows pages in dark colours, or in light ones.
    pub fn darken(&self, is_dark: bool) {
        let scheme = if is_dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.tell("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// Lets pages that are opened from now on run scripts, or not. [`Self::value`] works in any case.
    pub fn allow_scripts(&self, are_allowed: bool) {
        let off = json!({"value": !are_allowed});
        self.tell("Emulation.setScriptExecutionDisabled", &off);
    }

    /// The name that the driver gives to the first element that fits.
    fn element(&self, selector: &str) -> String {
        let asked = json!({"using": "css selector", "value": selector});
        let found = self.ask("POST", "element", &asked);
        let found = found.unwrap_or_else(|_| panic!("no {selector} in\n{}", self.source()));
        let name = found.as_object().and_then(|found| found.values().next());
        name.and_then(Value::as_str).expect("a name").to_owned()
    }

    /// Clicks on the first element that fits, as a mouse does: it must be in sight and uncovered.
    pub fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.command("POST", &format!("element/{element}/click"), &json!({}));
    }

    /// Types into the first element that fits, or gives it files by their paths.
    pub fn fill(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.command("POST", &format!("element/{element}/value"), &json!({ "text": text }));
    }

    /// Drops files on the middle of the first element that fits, as from a desktop.
    pub fn drop_files(&self, selector: &str, files: &[&Path]) {
        let middle = format!(
            "(() => {{ const one = document.querySelector({}); one.scrollIntoView({{block: 'center'}}); \
             const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()",
            json!(selector)
        );
        let middle = self.value(&middle);
        let data = json!({"items": [], "files": files, "dragOperationsMask": 1});
        for kind in ["dragEnter", "dragOver", "drop"] {
            let event = json!({"type": kind, "x": middle[0], "y": middle[1], "data": data});
            self.tell("Input.dispatchDragEvent", &event);
        }
    }

    /// The page as a picture (PNG).
    pub fn picture(&self) -> Vec<u8> {
        decoded(self.command("GET", "screenshot", &json!({})).as_str().expect("a picture"))
    }

    /// What axe-core, whose script this is, finds wrong in the page as it is, or with everything unfolded that can be.
    pub fn violations(&self, axe: &str, unfolded: bool) -> Vec<String> {
        let run = |script: &str| {
            self.command("POST", "execute/sync", &json!({"script": script, "args": []}))
        };
        run(axe);
        if unfolded {
            run(UNFOLD);
        }
        let faults = run(VIOLATIONS);
        let faults = faults.as_array().expect("a list").iter();
        faults.map(|fault| fault.as_str().unwrap_or_default().to_owned()).collect()
    }

    /// What the browser complained about: errors of scripts, breaches of the page's policy, failed requests.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.command("POST", "se/log", &json!({"type": "browser"}));
        let entries = log.as_array().expect("a list").iter();
        entries.map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

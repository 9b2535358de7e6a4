//! `openscholar serve` as many people at once meet it: a process of its own in a home of its own, over the datastore and the models
//! of this home.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures::future::join_all;
use scholar_bench::performance::serve::site::{
    Dawdling, Latencies, PageTimings, Rude, SiteReport, Together,
};
use scholar_clients::load::{
    Dawdled, LoadReport, Watched, dawdle, get_all, get_text, post_at_rate, post_json, watch_streams,
};
use scholar_clients::{HttpClient, Url};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

use super::titles;
use crate::app::App;
use crate::commands::bench::status_of;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::wiring::OpenDatastore;

/// What is asked while others search.
const QUESTION: &str = "How can hallucinations of language models be detected?";
/// Pages that are timed at rest: so many requests of each.
const AT_REST: usize = 50;
/// Clients that fetch pages while memory is looked at.
const READERS: usize = 8;
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);
/// A byte of a slow client.
const BYTE: Duration = Duration::from_secs(1);
/// Clients of each rude kind.
const RUDE: usize = 100;
/// Bytes of a body that is far too long.
const TOO_LONG: usize = 10_000_000;
/// Those that send one, a few at a time: they share the machine.
const LARGE: usize = 20;
/// Searches of somebody polite beside them, a second.
const POLITE: f64 = 5.0;

/// How much is asked of the server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SiteLoad {
    /// Streams of events that stay open.
    pub(crate) streams: usize,
    /// Searches a second.
    pub(crate) rate: f64,
    /// For so many seconds.
    pub(crate) seconds: u64,
    /// Requests over which memory is looked at.
    pub(crate) pages: usize,
    /// Seconds until clients that dawdle are to be gone; 0: there are none.
    pub(crate) dawdle_seconds: u64,
}

/// A server in a process of its own, which ends with this.
struct Serving {
    child: Child,
    address: SocketAddr,
    _home: tempfile::TempDir,
}

impl Serving {
    async fn start(name: &str, app: &App) -> Result<Self, CommandError> {
        let home = tempfile::tempdir().user(|| "cannot make a folder for the server".to_owned())?;
        for folder in [app.home.datastores(), app.home.models()] {
            if let Some(last) = folder.file_name()
                && folder.is_dir()
            {
                link(&folder, &home.path().join(last))?;
            }
        }
        let program = std::env::current_exe().user(|| "cannot find this program".to_owned())?;
        let mut command = Command::new(program);
        command.args(["serve", "--listen", "127.0.0.1:0", "--offline", "--datastore", name]);
        command.arg("--threads").arg(app.threads().to_string());
        command.arg("--home").arg(home.path());
        let config = app.home.config_file();
        if config.is_file() {
            command.arg("--config").arg(config);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let mut child = command.spawn().user(|| "cannot start the server".to_owned())?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout)
                .read_line(&mut line)
                .await
                .user(|| "cannot read what the server says".to_owned())?;
        }
        let address = line.trim().rsplit("http://").next().and_then(|text| text.parse().ok());
        let address = address.ok_or_else(|| {
            CommandError::user("the server does not start")
                .with_hint(format!("openscholar serve --datastore {name} says why"))
        })?;
        Ok(Self { child, address, _home: home })
    }

    fn url(&self, path: &str) -> Result<Url, CommandError> {
        Url::parse(&format!("http://{}{path}", self.address)).user(|| "no address".to_owned())
    }

    fn bytes(&self, name: &str) -> Option<u64> {
        status_of(&self.child.id()?.to_string(), name)
    }
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> Result<(), CommandError> {
    std::os::unix::fs::symlink(from, to).user(|| format!("cannot link {}", to.display()))
}

#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> Result<(), CommandError> {
    std::os::windows::fs::symlink_dir(from, to).user(|| format!("cannot link {}", to.display()))
}

pub(super) async fn measure(
    name: &str,
    datastore: &OpenDatastore,
    load: SiteLoad,
    app: &App,
) -> Result<SiteReport, CommandError> {
    let SiteLoad { streams, rate, seconds, pages, dawdle_seconds } = load;
    let (http, serving) = (HttpClient::new()?, Serving::start(name, app).await?);
    let titles = titles(datastore)?;
    app.printer.say("a question, and pages at rest");
    let load_before = load_average();
    let first = answered(&http, &serving).await?;
    let answer = format!("/runs/{first}");
    let mut at_rest = Vec::new();
    for (page, path) in [
        ("page of an answer", answer.as_str()),
        ("page for asking", "/"),
        ("page of all runs", "/runs"),
        ("page of the library", "/library"),
    ] {
        let urls = [serving.url(path)?];
        get_all(&http, &urls, 1, 1).await;
        let latencies = latencies(&get_all(&http, &urls, AT_REST, 1).await);
        at_rest.push(PageTimings { page, latencies });
    }
    app.printer
        .say(&format!("{streams} streams, {rate} searches/s and a question for {seconds} s"));
    let searches = searches(&titles, rate * seconds as f64);
    let together = together(&http, &serving, load, (&searches, &answer)).await?;
    app.printer.say(&format!("{pages} requests"));
    let urls = [answer.as_str(), "/", "/runs", "/library", "/v1/offer", "/v1/runs", "/status"];
    let urls = urls.map(|path| serving.url(path));
    let urls = urls.into_iter().collect::<Result<Vec<Url>, _>>()?;
    let search = serving.url("/v1/search")?;
    let some = async |n: usize| {
        let (read, searched) = (n - n / 8, n / 8);
        let bodies = self::searches(&titles, searched as f64);
        let pages_of = get_all(&http, &urls, read, READERS).await;
        let found = scholar_clients::load::post_all(&http, &search, &bodies, READERS).await;
        pages_of.errors() + found.errors()
    };
    // What a process keeps for ever it has after as many; what grows goes on growing.
    let mut failed = some(pages).await;
    let mut memory = vec![(0, serving.bytes("VmRSS:"))];
    for step in 1..=4 {
        failed += some(pages * step / 4 - pages * (step - 1) / 4).await;
        memory.push((pages * step / 4, serving.bytes("VmRSS:")));
    }
    if failed > 0 {
        return Err(CommandError::user(format!("{failed} of {} requests failed", 2 * pages)));
    }
    let dawdling = if dawdle_seconds == 0 {
        None
    } else {
        app.printer.say("clients that dawdle");
        let patience = Duration::from_secs(dawdle_seconds);
        Some(rudely(&http, &serving, &titles, patience).await?)
    };
    Ok(SiteReport { load_before, together, pages: at_rest, memory, dawdling })
}

/// Processes that ran or waited for a core in the last minute.
fn load_average() -> Option<f64> {
    let text = fs_err::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}

fn latencies(report: &LoadReport) -> Latencies {
    Latencies {
        answered: report.statuses.get(&200).copied().unwrap_or_default(),
        errors: report.errors(),
        p50_ms: report.percentile_ms(0.5),
        p95_ms: report.percentile_ms(0.95),
        p99_ms: report.percentile_ms(0.99),
    }
}

fn searches(titles: &[String], n: f64) -> Vec<String> {
    let body = |title: &String| json!({"query": title, "top_k": super::PASSAGES}).to_string();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of requests that one machine sends"
    )]
    let n = n.max(1.0) as usize;
    titles.iter().cycle().take(n).map(body).collect()
}

/// Asks the question; the name of its run.
async fn ask(http: &HttpClient, serving: &Serving) -> Result<String, CommandError> {
    let body = json!({"question": QUESTION, "mode": "evidence"});
    let reply: Value = post_json(http, &serving.url("/v1/ask")?, &body).await?;
    let run = reply["run"].as_str().map(str::to_owned);
    run.ok_or_else(|| CommandError::new(ErrorKind::Bug, "a question got no run"))
}

/// Waits for the end of a run.
async fn over(http: &HttpClient, serving: &Serving, run: &str) -> Result<(), CommandError> {
    loop {
        let text = get_text(http, &serving.url(&format!("/v1/runs/{run}?wait=50"))?).await?;
        let reply: Value = serde_json::from_str(&text).user(|| "a run is no JSON".to_owned())?;
        match reply["state"].as_str() {
            Some("queued" | "running") => {}
            Some("done") => return Ok(()),
            _ => return Err(CommandError::user(format!("a question failed: {}", reply["error"]))),
        }
    }
}

async fn answered(http: &HttpClient, serving: &Serving) -> Result<String, CommandError> {
    let run = ask(http, serving).await?;
    over(http, serving, &run).await?;
    Ok(run)
}

/// Streams, searches, one question after the other, and a page now and then.
async fn together(
    http: &HttpClient,
    serving: &Serving,
    load: SiteLoad,
    (searches, answer): (&[String], &str),
) -> Result<Together, CommandError> {
    let SiteLoad { streams, rate, seconds, pages: _, dawdle_seconds: _ } = load;
    let (newest, watched) = watch::channel(None);
    let seen = Watched::default();
    let search = serving.url("/v1/search")?;
    let page = [serving.url(answer)?];
    let mut open = Vec::new();
    let mut question_s = Vec::new();
    let mut shown: Vec<LoadReport> = Vec::new();
    let watching = join_all((0..streams).map(|_| watch_streams(http, &watched, &seen)));
    // The one after the next waits already, so that there is always a stream to change to.
    let asking = async {
        let mut run = ask(http, serving).await?;
        loop {
            newest.send_replace(Some(serving.url(&format!("/v1/runs/{run}/events"))?));
            let next = ask(http, serving).await?;
            let began = Instant::now();
            over(http, serving, &run).await?;
            question_s.push(began.elapsed().as_secs_f64());
            run = next;
        }
    };
    let looking = async {
        loop {
            tokio::time::sleep(PAUSE).await;
            open.push(seen.open.load(Ordering::Relaxed));
        }
    };
    let reading = async {
        loop {
            shown.push(get_all(http, &page, 1, 1).await);
            tokio::time::sleep(PAUSE * 5).await;
        }
    };
    let searching = async {
        // Who comes first opens streams.
        let all = async {
            while seen.open.load(Ordering::Relaxed) < streams {
                tokio::time::sleep(PAUSE).await;
            }
        };
        let _as_many_as_there_are = tokio::time::timeout(Duration::from_secs(20), all).await;
        post_at_rate(http, &search, searches, rate).await
    };
    let done = tokio::select! {
        done = searching => done,
        failed = asking => return failed,
        _ = watching => return Err(CommandError::new(ErrorKind::Bug, "nobody watches")),
        () = looking => return Err(CommandError::new(ErrorKind::Bug, "nobody looks")),
        () = reading => return Err(CommandError::new(ErrorKind::Bug, "nobody reads")),
    };
    // Until the streams were open there was no load.
    let began = open.iter().position(|n| *n >= streams).unwrap_or_default();
    let open = &open[began.min(open.len())..];
    let all = open.iter().filter(|n| **n >= streams).count();
    let n = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let page = LoadReport::joined(&shown);
    Ok(Together {
        streams,
        fewest_open: open.iter().min().copied().unwrap_or_default(),
        all_open: n(all) / n(open.len()).max(1.0),
        stream_mb: seen.bytes.load(Ordering::Relaxed) as f64 / 1e6,
        rate,
        seconds: seconds as f64,
        searches: latencies(&done),
        questions: question_s.len(),
        // From 0.0 on: the sum of no numbers is -0.0, which prints with its sign.
        question_s: question_s.iter().fold(0.0, |sum, s| sum + s) / n(question_s.len()).max(1.0),
        answer_page: latencies(&page),
    })
}

/// Clients of every rude kind at once, and one that is polite.
async fn rudely(
    http: &HttpClient,
    serving: &Serving,
    titles: &[String],
    patience: Duration,
) -> Result<Dawdling, CommandError> {
    let address = serving.address;
    let head = |method: &str, path: &str, length: usize| {
        format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        )
        .into_bytes()
    };
    let large = |path: &str, told: usize| {
        let mut sent = head("POST", path, told);
        sent.resize(sent.len() + TOO_LONG, b' ');
        sent
    };
    let chunked = |path: &str| {
        let mut sent = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n{TOO_LONG:x}\r\n"
        )
        .into_bytes();
        sent.resize(sent.len() + TOO_LONG, b' ');
        sent
    };
    let slow_head = format!("GET / HTTP/1.1\r\nhost: {address}\r\nx-slow: ").into_bytes();
    let kinds: [(&'static str, Vec<u8>, Option<Duration>, usize); 7] = [
        ("send a head at a byte a second", slow_head, Some(BYTE), RUDE),
        ("say nothing", Vec::new(), None, RUDE),
        ("send a search at a byte a second", head("POST", "/v1/search", 1_000), Some(BYTE), RUDE),
        ("send a question at a byte a second", head("POST", "/v1/ask", 1_000), Some(BYTE), RUDE),
        ("send a search of 10 MB", large("/v1/search", TOO_LONG), None, LARGE),
        ("send a question of 10 MB without a length", chunked("/v1/ask"), None, LARGE),
        ("send a form of 10 MB", large("/ask", TOO_LONG), None, LARGE),
    ];
    // The most so far is that of the measurements before.
    let process = serving.child.id().unwrap_or_default();
    let _kept = fs_err::write(format!("/proc/{process}/clear_refs"), "5");
    let before = serving.bytes("VmRSS:");
    let dawdling = join_all(kinds.iter().map(async |(kind, sent, pause, clients)| {
        let all = (0..*clients).map(|_| dawdle(address, sent, *pause, patience));
        summary(kind, &join_all(all).await)
    }));
    let searches = searches(titles, POLITE * 20.0);
    let search = serving.url("/v1/search")?;
    let polite = post_at_rate(http, &search, &searches, POLITE);
    let (rude, polite) = futures::future::join(dawdling, polite).await;
    let bytes = [before, serving.bytes("VmHWM:")];
    Ok(Dawdling { rude, polite: latencies(&polite), bytes })
}

fn summary(kind: &'static str, clients: &[Dawdled]) -> Rude {
    let mut rude =
        Rude { kind, clients: clients.len(), ended: 0, slowest_s: 0.0, statuses: [].into() };
    for Dawdled { ended_after_s, status } in clients {
        if let Some(seconds) = ended_after_s {
            rude.ended += 1;
            rude.slowest_s = rude.slowest_s.max(*seconds);
        }
        if let Some(status) = status {
            *rude.statuses.entry(*status).or_default() += 1;
        }
    }
    rude
}

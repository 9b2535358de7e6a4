//! `bench scholarideas invalidity`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use async_trait::async_trait;
use parking_lot::Mutex;
use scholar_bench::scholarideas::invalidity::{
    Ask, CheckedLink, Invalidity, LinkLog, LinkProbe, LinkReply, LogLine, Policy, check_links,
    offline,
};
use scholar_bench::scholarideas::published::{Table, table};
use scholar_bench::scholarideas::reports::{Reports, read_reports};
use scholar_bench::statistics::Estimate;
use scholar_clients::Fetcher;
use scholar_clients::fetch::{Look, Looked};

use crate::app::App;
use crate::args::{InvalidityArgs, PolicyArg};
use crate::commands::bench::publish;
use crate::error::{CommandError, Context as _};
use crate::progress;
use crate::wiring::sources;

/// Looks at links through the one way out.
struct FetcherProbe(Fetcher);

#[async_trait]
impl LinkProbe for FetcherProbe {
    async fn ask(&self, url: &str, how: Ask) -> LinkReply {
        let look = match how {
            Ask::Head => Look::Head,
            Ask::FirstByte => Look::FirstByte,
            Ask::Page => Look::Page,
        };
        reply(self.0.look(url, look).await)
    }

    async fn resolve(&self, doi: &str) -> LinkReply {
        reply(self.0.resolve_doi(doi).await)
    }
}

fn reply(looked: Looked) -> LinkReply {
    match looked {
        Looked::Answered { status, page } => LinkReply::Answered { status, page },
        Looked::TimedOut => LinkReply::TimedOut,
        Looked::Failed(why) => LinkReply::Failed(why),
    }
}

pub(super) fn run(args: &InvalidityArgs, app: &App) -> Result<ExitCode, CommandError> {
    let reports = read_reports(&args.reports)
        .user(|| format!("{} has no reports", args.reports.display()))?;
    let found = match args.policy {
        PolicyArg::Offline => offline(&reports).map_err(|id| {
            CommandError::user(format!("the report on {id} does not tell its evidence")).with_hint(
                "put evidence.txt (a link a line) or report.json beside it, or pass --policy paper",
            )
        })?,
        PolicyArg::Paper => asked(args, &reports, Policy::Paper, app)?,
        PolicyArg::Strict => asked(args, &reports, Policy::Strict, app)?,
    };
    let text = markdown(&args.reports.display().to_string(), &found);
    let mut json = serde_json::to_value(&found).user(|| "cannot write JSON".to_owned())?;
    json["schema"] = "openscholar.scholarideas-invalidity/1".into();
    publish("invalidity", &text, &json, args.out.as_deref(), app)
}

/// Asks for every link that the log does not have.
fn asked(
    args: &InvalidityArgs,
    reports: &Reports,
    policy: Policy,
    app: &App,
) -> Result<Invalidity, CommandError> {
    if app.offline {
        return Err(CommandError::user("links cannot be asked for with --offline")
            .with_hint("--policy offline compares them with the reports' evidence"));
    }
    let name = if policy == Policy::Strict { "links-strict.log" } else { "links-paper.log" };
    let path = args.log.clone().unwrap_or_else(|| args.reports.join(name));
    let known = if path.is_file() {
        LinkLog::read(&scholar_datastore::files::read_text(&path, super::LARGEST)?)
    } else {
        LinkLog::default()
    };
    let file = fs_err::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(|source| CommandError::unwritable(&path, source))?;
    let file = Mutex::new(file);
    app.block_on(async {
        let probe = FetcherProbe(sources::fetcher(app, false)?);
        let bar = progress::counted(&app.printer, "links", None);
        let keep = |link: &CheckedLink| {
            let line = LogLine { time: &App::now(), link }.to_string();
            // A disk that is full costs a second question, nothing else.
            let _ignored = writeln!(file.lock(), "{line}");
            bar.inc(1);
        };
        let found = check_links(reports, policy, &probe, &known, args.parallel, &keep).await;
        bar.finish_and_clear();
        app.printer.say(&format!("log: {}", path.display()));
        Ok(found)
    })?
}

fn markdown(reports: &str, found: &Invalidity) -> String {
    let percent = |value: Option<Estimate>| {
        value.map_or_else(
            || "–".to_owned(),
            |one| {
                format!(
                    "{:.1} % ({:.1}–{:.1})",
                    100.0 * one.mean,
                    100.0 * one.low,
                    100.0 * one.high
                )
            },
        )
    };
    let rule = match found.policy {
        Policy::Paper => {
            "Invalid are the statuses 404, 410 and 500 or more; what refuses programs or does not answer is not counted, so this is a lower bound."
        }
        Policy::Strict => "Invalid is what a reader could not open.",
        Policy::Offline => "Invalid is what is not in the report's evidence; nobody was asked.",
    };
    let mut text = format!(
        "# Invalid links\n\n{rule}\n\n| reports | links | invalid | of all links | a report | reports without links |\n|---|---|---|---|---|---|\n\
         | **{reports}** | {} | {} | {} | {} | {} |\n",
        found.links.n,
        found.links.hits,
        percent(found.rate),
        percent(found.per_report),
        found.without_links
    );
    let published = table(Table::Invalidity);
    for system in published.names() {
        let rate = published.cell(system, "ref_invalid_pct");
        // Writing to a string cannot fail.
        let _infallible = writeln!(text, "| {system} † | | | {rate} % † | | |");
    }
    if !found.reasons.is_empty() {
        text.push_str("\n| why | links |\n|---|---|\n");
        for (reason, links) in &found.reasons {
            let _infallible = writeln!(text, "| {} | {links} |", reason.replace('|', " "));
        }
    }
    text.push_str("\n† published: arXiv 2510.16234, table 2, by the paper's rule.\n");
    text
}

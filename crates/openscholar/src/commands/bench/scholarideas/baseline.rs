//! `bench scholarideas baseline`.

use std::path::Path;
use std::process::ExitCode;

use futures::StreamExt as _;
use scholar_bench::judge::memory::Memory;
use scholar_bench::scholarideas::baseline::{Baseline, BaselineError, BaselineRecord};
use scholar_bench::scholarideas::{Idea, IdeaId};
use scholar_bench::scholarqa::report::document::slug;
use scholar_core::TokenUsage;
use scholar_datastore::files;

use super::{LARGEST, chain, dataset, written};
use crate::app::App;
use crate::args::BaselineArgs;
use crate::commands::bench::judging;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::{progress, runs};

/// Schema of the summary.
const SCHEMA: &str = "openscholar.scholarideas-baseline/1";
/// The report on an idea, in the idea's folder.
const REPORT: &str = "report.md";
/// How it came about, beside it.
const RECORD: &str = "baseline.json";

/// What became of one idea.
#[derive(serde::Serialize)]
struct Line {
    id: IdeaId,
    /// Calls made for it now.
    calls: usize,
    report: Option<BaselineRecord>,
    failed: Option<String>,
}

pub(super) fn run(args: &BaselineArgs, app: &App) -> Result<ExitCode, CommandError> {
    let dataset = dataset(&args.ideas)?;
    let out = args.out.as_path();
    fs_err::create_dir_all(out).map_err(|source| CommandError::unwritable(out, source))?;
    let lines = app.block_on_to_the_end(async {
        let hint = "pass --base-url URL --model NAME";
        let generator = judging::generator(&args.model.answer(), "baseline", hint, app).await?;
        let model = generator.info().model.clone();
        let path = out.join(format!("replies-{}.jsonl", slug(&model)));
        let said = Memory::open(&path).map_err(|source| CommandError::unwritable(&path, source))?;
        let baseline = Baseline { generator: generator.as_ref(), said: &said };
        let bar = progress::counted(&app.printer, "ideas", Some(dataset.ideas.len() as u64));
        let work = futures::stream::iter(&dataset.ideas)
            .map(|idea| one(idea, out, &model, &baseline))
            .buffered(args.parallel.max(1));
        written(work, &bar, "the reports", app).await
    })??;
    let failed = lines.iter().filter(|line| line.failed.is_some()).count();
    let calls: usize = lines.iter().map(|line| line.calls).sum();
    let mut usage = TokenUsage::default();
    lines.iter().filter_map(|line| line.report.as_ref()).for_each(|one| usage += one.usage);
    if app.printer.json {
        app.printer.json(&serde_json::json!({
            "schema": SCHEMA, "ideas": lines.len(), "failed": failed, "calls": calls, "usage": usage, "reports": lines,
        }))?;
    } else {
        app.printer.out(&lines.iter().map(told).collect::<Vec<_>>().join("\n"))?;
        app.printer.say(&format!(
            "{calls} calls now; all reports together took {} tokens of prompts and {} of replies",
            usage.prompt, usage.completion
        ));
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(ErrorKind::Unavailable.code()) })
}

fn told(line: &Line) -> String {
    match (&line.report, &line.failed) {
        (Some(BaselineRecord { citations, .. }), _) => format!(
            "{}\t{} links\t{} dated citations, {} too late{}",
            line.id,
            citations.links,
            citations.dated,
            citations.late,
            if line.calls == 0 { "\tnothing asked" } else { "" }
        ),
        (None, why) => format!("{}\tfailed: {}", line.id, why.as_deref().unwrap_or_default()),
    }
}

/// One idea; what the model cannot do is told, what the disk cannot do ends the run.
async fn one(
    idea: &Idea,
    out: &Path,
    model: &str,
    baseline: &Baseline<'_>,
) -> Result<Line, CommandError> {
    let id = idea.id;
    let folder = &out.join(id.to_string());
    if let Some(report) = stored(folder, model)? {
        return Ok(Line { id, calls: 0, report: Some(report), failed: None });
    }
    match baseline.write(idea).await {
        Ok(written) => {
            fs_err::create_dir_all(folder)
                .map_err(|source| CommandError::unwritable(folder, source))?;
            let record = serde_json::to_string_pretty(&written.record)
                .user(|| "cannot write JSON".to_owned())?;
            runs::write_atomic(&folder.join(REPORT), written.text.as_bytes())?;
            runs::write_atomic(&folder.join(RECORD), format!("{record}\n").as_bytes())?;
            Ok(Line { id, calls: written.calls, report: Some(written.record), failed: None })
        }
        Err(error @ (BaselineError::Asked { .. } | BaselineError::Reply { .. })) => {
            Ok(Line { id, calls: 0, report: None, failed: Some(chain(&error)) })
        }
    }
}

/// The record of the report that an earlier run wrote into `folder`. One of another model or by other prompts must not be mixed in.
fn stored(folder: &Path, model: &str) -> Result<Option<BaselineRecord>, CommandError> {
    let path = folder.join(RECORD);
    if !path.is_file() || !folder.join(REPORT).is_file() {
        return Ok(None);
    }
    let text = files::read_text(&path, LARGEST)?;
    let record: BaselineRecord = serde_json::from_str(&text)
        .user(|| format!("{} is no record of a report", path.display()))?;
    if record.is_of(model) {
        return Ok(Some(record));
    }
    let message = format!("{} is by {} or by other prompts", folder.display(), record.model);
    Err(CommandError::user(message).with_hint("name another --out for each model"))
}

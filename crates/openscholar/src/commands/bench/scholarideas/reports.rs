//! `bench scholarideas reports`: reviews of this program as reports that judges read, and a table of what the runs read and wrote.

mod checked;

use std::fmt::Write as _;
use std::process::ExitCode;

use scholar_bench::scholarideas::{Dataset, Idea, IdeaId};
use scholar_core::paper::display_title;
use scholar_core::{Answer, Citation, PaperMeta, Reference};
use scholar_review::{Review, cite};

use super::dataset;
use crate::app::App;
use crate::args::ReportsArgs;
use crate::error::CommandError;
use crate::output::review::ReviewDocument;
use crate::runs::{self, REVIEW_FILE, RunFolder, Verb};

use checked::Checked;

/// The table, in the folder of the reports.
const TABLE: &str = "runs.md";
/// Schema of the summary.
const SCHEMA: &str = "openscholar.scholarideas-reports/1";

pub(super) fn run(args: &ReportsArgs, app: &App) -> Result<ExitCode, CommandError> {
    let dataset = dataset(&args.ideas)?;
    let mut reports: Vec<(IdeaId, String, Written, Checked)> = Vec::new();
    for run in &args.runs {
        let folder = RunFolder::find(&app.home, run)?;
        let record = folder.record()?;
        if record.verb != Verb::Review {
            return Err(CommandError::user(format!("run {} is no review", record.id)));
        }
        let idea = idea_of(&dataset, &record.question).ok_or_else(|| {
            let message = format!("run {} reviews no idea that is meant", record.id);
            CommandError::user(message).with_hint("the text of the idea must be that of DATA")
        })?;
        let id = idea.id;
        if let Some((_, other, ..)) = reports.iter().find(|(known, ..)| *known == id) {
            let message = format!("runs {other} and {} both review {id}", record.id);
            return Err(CommandError::user(message));
        }
        let review: ReviewDocument = folder.read_json(REVIEW_FILE)?;
        let checked = Checked::of(&review, idea, &folder)?;
        reports.push((id, record.id, Written::of(review.review), checked));
    }
    reports.sort_by_key(|(id, ..)| *id);
    let mut written = Vec::new();
    for (id, run, written_of, checked) in &reports {
        let answer = &written_of.answer;
        let folder = args.out.join(id.to_string());
        fs_err::create_dir_all(&folder)
            .map_err(|source| CommandError::unwritable(&folder, source))?;
        let links: Vec<String> = answer.references.iter().filter_map(link).collect();
        runs::write_atomic(&folder.join("report.md"), text(written_of).as_bytes())?;
        let evidence: String = links.iter().map(|link| format!("{link}\n")).collect();
        runs::write_atomic(&folder.join("evidence.txt"), evidence.as_bytes())?;
        written.push(serde_json::json!({
            "id": id, "run": run, "sentences": answer.sentences.len(),
            "references": answer.references.len(), "links": links.len(), "checked": checked,
        }));
    }
    let rows: Vec<(IdeaId, Checked)> =
        reports.iter().map(|(id, _, _, checked)| (*id, checked.clone())).collect();
    runs::write_atomic(&args.out.join(TABLE), checked::markdown(&rows).as_bytes())?;
    if app.printer.json {
        app.printer.json(&serde_json::json!({"schema": SCHEMA, "reports": written}))?;
    } else {
        let told: Vec<String> = reports
            .iter()
            .map(|(id, run, one, checked)| {
                let sentences = one.answer.sentences.len();
                let (late, stray) = (checked.late.len(), checked.stray.len());
                format!(
                    "{id}\t{run}\t{sentences} sentences\t{late} late papers\t{stray} stray links"
                )
            })
            .collect();
        app.printer.out(&told.join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A review with its sentences as an answer.
struct Written {
    answer: Answer,
    review: Review,
}

impl Written {
    fn of(review: Review) -> Self {
        Self { answer: review.to_answer(), review }
    }

    /// Authors and date of a paper; the month, too, where it is known.
    fn named(&self, reference: &Reference) -> (String, String) {
        let paper = self.review.papers().find(|paper| paper.id == reference.paper_id);
        let paper = paper.cloned().unwrap_or_else(|| PaperMeta {
            authors: reference.authors.clone(),
            year: reference.year,
            ..PaperMeta::new(reference.paper_id.clone(), reference.title.clone())
        });
        (cite::authors(&paper), cite::date(&paper))
    }
}

/// The idea of that text, whatever space is around it.
fn idea_of<'d>(dataset: &'d Dataset, text: &str) -> Option<&'d Idea> {
    dataset.ideas.iter().find(|idea| idea.text.trim() == text.trim())
}

/// What a judge reads: headings, sentences with links, references. No quotations, verdicts, notes or usage: they tell the system.
fn text(written: &Written) -> String {
    let answer = &written.answer;
    let mut text = String::new();
    let mut heading: Option<&str> = None;
    for (at, sentence) in answer.sentences.iter().enumerate() {
        let own = sentence.heading.as_deref();
        if at == 0 || own != heading {
            let space = if at == 0 { "" } else { "\n\n" };
            // Writing to a string cannot fail.
            let _infallible = write!(text, "{space}## {}\n\n", own.unwrap_or("Review"));
            heading = own;
        } else {
            text.push_str(if sentence.paragraph_start { "\n\n" } else { " " });
        }
        let bare = sentence.text.trim_end_matches('.');
        text.push_str(bare);
        for citation in &sentence.citations {
            text.push(' ');
            text.push_str(&cited(written, *citation));
        }
        text.push_str(&sentence.text[bare.len()..]);
    }
    if !answer.references.is_empty() {
        text.push_str("\n\n## References\n\n");
    }
    for reference in &answer.references {
        let title = display_title(&reference.title, &reference.paper_id);
        let address = link(reference).unwrap_or_default();
        let (authors, date) = written.named(reference);
        let _infallible =
            writeln!(text, "- {authors} ({date}). {}. {address}", title.trim_end_matches('.'));
    }
    text
}

/// `[(authors, 2023-05)](link)`, without a link where the paper has no address.
fn cited(written: &Written, citation: Citation) -> String {
    let Some(reference) = written.answer.references.iter().find(|one| one.number == citation)
    else {
        return String::new();
    };
    let (authors, date) = written.named(reference);
    match link(reference) {
        Some(link) => format!("[({authors}, {date})]({link})"),
        None => format!("({authors}, {date})"),
    }
}

/// The page about a paper.
fn link(reference: &Reference) -> Option<String> {
    let doi = || reference.doi.as_ref().map(|doi| format!("https://doi.org/{doi}"));
    reference.url.clone().or_else(doi).or_else(|| reference.paper_id.url())
}

//! `bench scholarideas pairwise`.

use std::fmt::Write as _;
use std::process::ExitCode;

use scholar_bench::scholarideas::pairwise::agreement::{PairAgreement, agreement, read_labels};
use scholar_bench::scholarideas::pairwise::judge::{PairwiseRun, compare_all};
use scholar_bench::scholarideas::published::{Table, table as published};

use super::{dataset, names_of, reports, table};
use crate::app::App;
use crate::args::PairwiseArgs;
use crate::commands::bench::{judging, publish};
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::progress;
use crate::stop::unless_stopped;

pub(super) fn run(args: &PairwiseArgs, app: &App) -> Result<ExitCode, CommandError> {
    let dataset = dataset(&args.ideas)?;
    let names = names_of(&args.names, &[&args.a, &args.b])?;
    let (a, b) = (reports(&args.a, &dataset, app)?, reports(&args.b, &dataset, app)?);
    let labels = match &args.labels {
        Some(path) => {
            let rows = table(path)?;
            Some(
                read_labels(&rows, [&names[0], &names[1]])
                    .map_err(|error| CommandError::user(format!("{}, {error}", path.display())))?,
            )
        }
        None => None,
    };
    let out = args.out.as_path();
    fs_err::create_dir_all(out).map_err(|source| CommandError::unwritable(out, source))?;
    let compared = app.block_on_to_the_end(async {
        let hint = "pass --base-url URL --model NAME";
        let generator = judging::generator(&args.model.answer(), "pairwise", hint, app).await?;
        let judge = judging::remembering(generator, out)?;
        let bar = progress::counted(&app.printer, "pairs", Some(0)).with_message("judging");
        let progress = |done: usize, total: usize| {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        };
        let run = PairwiseRun { seed: args.seed, parallel: args.parallel, progress: &progress };
        let work = compare_all(&judge, &dataset, (&names[0], &a), (&names[1], &b), run);
        let Some(compared) = unless_stopped(app.stop.wait(), work).await else {
            let said = "interrupted; what the judge said so far is kept";
            return Err(CommandError::interrupted_resumable(said));
        };
        bar.finish_and_clear();
        Ok(compared)
    })??;
    let agreed = labels.map(|labels| agreement(&compared, &labels));
    let mut text = format!("# Pairs of reports\n\n{}", compared.markdown());
    if let Some(agreed) = &agreed {
        text += &people(agreed);
    }
    text +=
        "\n† published: arXiv 2510.16234, figure 4 and table 6, other ideas and another judge.\n";
    let mut json = serde_json::to_value(&compared).user(|| "cannot write JSON".to_owned())?;
    json["people"] = serde_json::json!(agreed);
    let code = publish("pairwise", &text, &json, Some(out), app)?;
    let whole = compared.incomplete.is_none();
    Ok(if whole { code } else { ExitCode::from(ErrorKind::Unavailable.code()) })
}

/// How the judge agrees with people, beside the paper's judge.
fn people(agreed: &[PairAgreement]) -> String {
    let mut text = String::from(
        "\n## Judge and people\n\n| criterion | pairs | without majority | same label | κ | same label † | κ † |\n|---|---|---|---|---|---|---|\n",
    );
    let paper = published(Table::Pairwise);
    let number =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |one| format!("{one:.2}"));
    for one in agreed {
        // Writing to a string cannot fail.
        let _infallible = writeln!(
            text,
            "| {} | {} | {} | {} % | {} | {} % † | {} † |",
            one.criterion,
            one.n,
            one.without_majority,
            number(one.percent),
            number(one.kappa),
            paper.cell(&one.criterion, "agree_pct"),
            paper.cell(&one.criterion, "kappa"),
        );
    }
    text
}

//! The language model that judges: within its budget, and not asked the same twice.

use std::path::Path;
use std::sync::Arc;

use scholar_bench::judge::memory::Memory;
use scholar_bench::judge::model::ModelJudge;
use scholar_bench::scholarqa::report::document::slug;
use scholar_core::Generator;
use scholar_pipeline::budget::Budget;
use scholar_pipeline::{Meter, ModeChoice};

use crate::app::App;
use crate::args::AnswerArgs;
use crate::error::CommandError;
use crate::wiring::generator;

/// The model of `args`, within the budget of `args`; `who` wants it, and `hint` says how to name one.
pub(super) async fn generator(
    args: &AnswerArgs,
    who: &str,
    hint: &str,
    app: &App,
) -> Result<Arc<dyn Generator>, CommandError> {
    let mut notices = Vec::new();
    let judges = generator::Use { mode: ModeChoice::Auto, small_writes: true };
    let opened = generator::open(app, args, judges, &mut notices).await?;
    notices.iter().for_each(|notice| app.printer.notice(notice));
    let generator = opened
        .generator
        .ok_or_else(|| CommandError::user(format!("{who} requires a model")).with_hint(hint))?;
    let unpriced = generator.info().usd_per_million.is_none();
    if args.max_cost.is_some() && unpriced {
        return Err(CommandError::user(
            "--max-cost cannot be enforced: the price of the model is unknown",
        )
        .with_hint(format!("add its price to {}", app.home.price_file().display())));
    }
    let budget = Budget {
        max_cost: args.max_cost,
        max_tokens: args.max_tokens,
        max_seconds: args.max_seconds.map(seconds),
        max_calls: args.max_calls,
        reserved_calls: 0,
    };
    Ok(Meter::start_with(budget, app.clock(), Some(App::alarm())).wrap(generator))
}

#[expect(clippy::cast_precision_loss, reason = "a deadline in seconds is far below 2^52")]
fn seconds(value: u64) -> f64 {
    value as f64
}

/// A judge that remembers in `folder` what it said.
pub(super) fn remembering(
    generator: Arc<dyn Generator>,
    folder: &Path,
) -> Result<ModelJudge, CommandError> {
    let path = folder.join(format!("replies-{}.jsonl", slug(&generator.info().model)));
    let said = Memory::open(&path).map_err(|source| CommandError::unwritable(&path, source))?;
    Ok(ModelJudge::new(generator).remembering(said))
}

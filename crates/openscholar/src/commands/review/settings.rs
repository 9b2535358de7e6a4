//! From arguments to the resolved settings of a review.

use jiff::civil::Date;
use scholar_review::{Cutoff, DateBound, ModeWanted, ReviewConfig, UnknownDates};

use crate::args::{AnswerArgs, ReviewArgs};
use crate::commands::ask::settings::seconds;
use crate::error::{CommandError, Context as _};
use crate::runs::RunRecord;

/// Below so many calls in all, none is reserved.
const FEW_CALLS: u64 = 20;

/// Preset, then flags. `now` is the time of day at which the run begins.
pub(super) fn resolve(args: &ReviewArgs, now: &str) -> Result<ReviewConfig, CommandError> {
    let mut config = ReviewConfig::named(&args.preset).ok_or_else(|| {
        CommandError::user(format!("reviews have no preset {:?}", args.preset))
            .with_hint("the presets are lean, paper and upstream")
    })?;
    if !args.answer.settings.is_empty()
        || args.answer.top_k.is_some()
        || args.answer.top_n.is_some()
    {
        return Err(CommandError::user("--set, --top-k and --top-n are settings of answers")
            .with_hint("choose a preset of reviews: --preset lean, paper or upstream"));
    }
    config.mode = args.mode.into();
    config.modules = args.module.into();
    config.cutoff = cutoff(args, now)?;
    if let Some(points) = args.points {
        if config.mode == ModeWanted::Evidence {
            return Err(CommandError::user("--points takes a language model")
                .with_hint("leave out --points, or --mode evidence"));
        }
        config.appraisal_points = points.into();
    }
    if let Some(search) = args.answer.search {
        config.search_mode = search.into();
    }
    if args.seed.is_some() {
        config.sampling.seed = args.seed;
    }
    raise_budget(&mut config, &args.answer)?;
    Ok(config)
}

fn cutoff(args: &ReviewArgs, now: &str) -> Result<Option<Cutoff>, CommandError> {
    let Some(day) = args.cutoff else { return Ok(None) };
    let today: Option<Date> = now.get(..10).and_then(|day| day.parse().ok());
    if today.is_some_and(|today| day > today) {
        return Err(CommandError::user(format!("the cut-off {day} is in the future"))
            .with_hint("leave --cutoff out to read everything"));
    }
    let bound = if args.preset == "upstream" { DateBound::Inclusive } else { DateBound::Strict };
    let unknown = if args.include_unknown { UnknownDates::Keep } else { UnknownDates::Drop };
    Ok(Some(Cutoff { day, bound, unknown }))
}

/// The settings that a run recorded.
pub(super) fn of_record(record: &RunRecord) -> Result<ReviewConfig, CommandError> {
    serde_json::from_value(record.config.clone())
        .user(|| format!("the settings of run {} are of another version of the program", record.id))
}

/// Limits named on the command line take the place of the preset's or the run's.
pub(super) fn raise_budget(
    config: &mut ReviewConfig,
    args: &AnswerArgs,
) -> Result<(), CommandError> {
    let AnswerArgs { max_cost, max_tokens, max_seconds, max_calls, .. } = args;
    let budget = &mut config.budget;
    budget.max_cost = max_cost.or(budget.max_cost);
    budget.max_tokens = max_tokens.or(budget.max_tokens);
    budget.max_calls = max_calls.or(budget.max_calls);
    budget.max_seconds = max_seconds.map(seconds).or(budget.max_seconds);
    // Of a few calls none is kept for the last step, and none where that is left out.
    let few = budget.max_calls.is_some_and(|calls| calls < FEW_CALLS);
    if few || config.appraisal_points == 0 {
        budget.reserved_calls = 0;
    }
    if budget.max_cost.is_some_and(|cost| !cost.is_finite() || cost < 0.0) {
        return Err(CommandError::user("--max-cost must be a number of dollars, 0 or more"));
    }
    Ok(())
}

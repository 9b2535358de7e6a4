//! From arguments and config file to the resolved settings of a run.

use clap::ValueEnum as _;
use scholar_core::{AnswerMode, SearchFilter};
use scholar_pipeline::config::scirag::SciragConfig;
use scholar_pipeline::config::{
    AnswerForm, AnswerLength, AskConfig, ModeChoice, SettingError, Settings, Task, WritingConfig,
    WritingPlan,
};

use crate::args::{AnswerArgs, AskArgs, GeneratorChoice, LengthArg, PlanArg, SourceArg, TaskArg};
use crate::error::CommandError;
use crate::runs::WiringRecord;

/// Preset, then flags. Every flag of [`AskArgs`] that belongs to the algorithm is read here; the rest is wiring.
pub(super) fn resolve(args: &AskArgs, file: &Settings) -> Result<AskConfig, CommandError> {
    let task = Task::from(args.task);
    let scirag = is_scirag(args, file);
    let mut config = match args.preset.as_str() {
        "report" if scirag => AskConfig::scirag(SciragConfig::default(), task),
        "paper" if scirag => AskConfig::scirag(SciragConfig::paper(), task),
        "upstream" if scirag => AskConfig::scirag(SciragConfig::upstream(), task),
        "lean" if scirag => AskConfig::scirag(SciragConfig::lean(), task),
        other if scirag => {
            return Err(CommandError::user(format!("SciRAG has no preset {other:?}"))
                .with_hint("with --mode scirag the presets are report, paper, upstream and lean"));
        }
        "report" | "paper" if args.task == TaskArg::SinglePaper => {
            AskConfig::single_paper_task(task)
        }
        "report" => AskConfig::report(),
        "paper" => AskConfig::paper(),
        "single-paper" => AskConfig::single_paper_task(task),
        "nature" => AskConfig::nature(),
        "upstream" => AskConfig::upstream(),
        other => {
            return Err(CommandError::user(format!("there is no preset {other:?}"))
                .with_hint("the presets are report, paper, nature, single-paper and upstream"));
        }
    };
    config.task = task;
    let AnswerArgs { top_k, top_n, search, settings, .. } = &args.answer;
    config = overridden(config, file, settings)?;
    if args.mode != ModeChoice::Auto {
        config.mode = args.mode;
    }
    config.retrieval.filter = SearchFilter::from(args.filter.clone());
    if !scirag && !args.exploration.is_empty() {
        return Err(CommandError::user(
            "--planner, --tree, --max-depth, --expansion and --rerank are switches of SciRAG",
        )
        .with_hint("add --mode scirag, or leave them out"));
    }
    args.exploration.apply(&mut config.scirag);
    set(&mut config.retrieval.top_k, *top_k);
    set(&mut config.retrieval.search_mode, search.map(Into::into));
    set(&mut config.ranking.top_n, *top_n);
    set(&mut config.ranking.norm_cite, args.norm_cite);
    set(&mut config.feedback.items, args.feedback);
    set(&mut config.writing.length, args.length.map(Into::into));
    set(&mut config.writing.plan, args.plan.map(Into::into));
    check_form(&config.writing)?;
    if args.seed.is_some() {
        config.sampling.seed = args.seed;
    }
    raise_budget(&mut config, args)?;
    Ok(config)
}

/// Whether the mode named on the command line, else in the config file, is SciRAG.
fn is_scirag(args: &AskArgs, file: &Settings) -> bool {
    let scirag = ModeChoice::Named(AnswerMode::Scirag);
    let of_file = file.get("mode").and_then(serde_json::Value::as_str);
    let name = scholar_pipeline::modes::of(AnswerMode::Scirag).name;
    args.mode == scirag || (args.mode == ModeChoice::Auto && of_file == Some(name))
}

/// `config` with the settings of the config file, then those of `--set`.
pub(crate) fn overridden(
    config: AskConfig,
    file: &Settings,
    named: &[String],
) -> Result<AskConfig, CommandError> {
    let unusable = |error: SettingError| {
        CommandError::user(error.to_string()).with_hint(
            "docs/configuration.md lists the settings, docs/deviations.md what they mean",
        )
    };
    let mut config = config.with(file).map_err(unusable)?;
    for setting in named {
        config = config.with_setting(setting).map_err(unusable)?;
    }
    Ok(config)
}

/// Limits named on the command line take the place of those in `config`: a resumed run may be given more.
pub(super) fn raise_budget(config: &mut AskConfig, args: &AskArgs) -> Result<(), CommandError> {
    let AnswerArgs { max_cost, max_tokens, max_seconds, max_calls, .. } = &args.answer;
    let budget = &mut config.budget;
    budget.max_cost = max_cost.or(budget.max_cost);
    budget.max_tokens = max_tokens.or(budget.max_tokens);
    budget.max_calls = max_calls.or(budget.max_calls);
    budget.max_seconds = max_seconds.map(seconds).or(budget.max_seconds);
    check(config)
}

/// The arguments of a resumed run: what they leave open is wired as it was.
pub(crate) fn rewire(
    mut answer: AnswerArgs,
    wiring: WiringRecord,
) -> Result<AnswerArgs, CommandError> {
    let WiringRecord {
        generator,
        model,
        base_url,
        strength,
        judge,
        judge_model,
        reranker,
        no_rerank,
        sources,
        offline,
        looking,
    } = wiring;
    if answer.generator.is_none()
        && let Some(name) = &generator
    {
        answer.generator = Some(GeneratorChoice::from_str(name, false).map_err(|problem| {
            CommandError::user(format!("the run was written by generator {name:?}: {problem}"))
        })?);
    }
    answer.model = answer.model.take().or(model);
    answer.base_url = answer.base_url.take().or(base_url);
    answer.strength = answer.strength.take().or(strength);
    answer.judge_model = answer.judge_model.take().or(judge_model);
    // Both cannot be named; a model that judges has its name from the server.
    answer.judge = answer.judge.take().or(judge).filter(|_| answer.judge_model.is_none());
    answer.reranker = answer.reranker.take().or(reranker);
    answer.no_rerank |= no_rerank && answer.reranker.is_none();
    for name in sources {
        answer.search_sources.sources.push(SourceArg::from_str(&name, false).map_err(
            |problem| CommandError::user(format!("the run looked at a source {name:?}: {problem}")),
        )?);
    }
    answer.search_sources.offline |= offline;
    answer.search_sources.full_texts =
        answer.search_sources.full_texts.or(looking.map(|looking| looking.full_texts));
    Ok(answer)
}

/// Plan and length are not chosen where the published form has neither.
fn check_form(writing: &WritingConfig) -> Result<(), CommandError> {
    let published = WritingConfig::paper();
    let chosen = (writing.plan, writing.length) != (published.plan, published.length);
    if writing.form == AnswerForm::Paper && chosen {
        return Err(CommandError::user(
            "the published form of an answer has no plan and no length to choose",
        )
        .with_hint("leave out --preset, or write --set writing.form=report"));
    }
    Ok(())
}

fn check(config: &AskConfig) -> Result<(), CommandError> {
    let zero = |name: &str| CommandError::user(format!("{name} must be at least 1"));
    if config.retrieval.top_k == 0 {
        return Err(zero("--top-k"));
    }
    if config.ranking.top_n == 0 {
        return Err(zero("--top-n"));
    }
    if config.ranking.top_n > config.retrieval.top_k {
        return Err(CommandError::user(
            "--top-n is larger than --top-k: there would be nothing to choose from",
        ));
    }
    if config.budget.max_cost.is_some_and(|cost| !cost.is_finite() || cost < 0.0) {
        return Err(CommandError::user("--max-cost must be a number of dollars, 0 or more"));
    }
    Ok(())
}

fn set<T>(setting: &mut T, flag: Option<T>) {
    if let Some(value) = flag {
        *setting = value;
    }
}

#[expect(clippy::cast_precision_loss, reason = "a deadline in seconds is far below 2^52")]
pub(crate) fn seconds(value: u64) -> f64 {
    value as f64
}

impl From<LengthArg> for AnswerLength {
    fn from(length: LengthArg) -> Self {
        match length {
            LengthArg::Short => Self::Short,
            LengthArg::Medium => Self::Medium,
            LengthArg::Long => Self::Long,
        }
    }
}

impl From<PlanArg> for WritingPlan {
    fn from(plan: PlanArg) -> Self {
        match plan {
            PlanArg::Draft => Self::Draft,
            PlanArg::Quotes => Self::Quotes,
        }
    }
}

impl From<TaskArg> for Task {
    fn from(task: TaskArg) -> Self {
        match task {
            TaskArg::Default => Self::Default,
            TaskArg::Claim => Self::ClaimFull,
            TaskArg::Boolean => Self::BooleanQuestionFull,
            TaskArg::SinglePaper => Self::SinglePaperQa,
            TaskArg::RelatedWork => Self::Summarization,
        }
    }
}

//! What decides: a language model, or signs.

use std::sync::Arc;

use scholar_core::{AnswerMode, GeneratorStrength, Notice, NoticeKind, PortError};
use scholar_pipeline::screen::{
    Criteria, Criterion, EvidenceScreener, GenerativeScreener, ScreenPaper, Screened,
};
use scholar_pipeline::{Budget, Meter, ModeChoice};

use crate::app::App;
use crate::args::{AnswerArgs, GeneratorChoice, PaperModelArgs, ScreenModeArg, ScreenModelArgs};
use crate::error::CommandError;
use crate::wiring::generator::{self, Use};
use crate::wiring::{OpenDatastore, judge, reranker};

/// Calls of a server's model at a time.
const CALLS: usize = 4;

/// An opened way of deciding.
pub(super) enum Screener {
    Evidence(EvidenceScreener),
    Generative {
        screener: GenerativeScreener,
        /// Papers that are asked about at a time.
        at_once: usize,
        meter: Arc<Meter>,
    },
}

impl Screener {
    /// Opens what `mode` asks for; by `auto` a strong model that is configured, else signs.
    pub(super) async fn open(
        mode: ScreenModeArg,
        args: &ScreenModelArgs,
        criteria: &Criteria,
        datastore: &OpenDatastore,
        app: &App,
        notices: &mut Vec<Notice>,
    ) -> Result<Self, CommandError> {
        let reader = &args.reader;
        let answer = reader.answer();
        let wants_model = match mode {
            ScreenModeArg::Evidence => false,
            ScreenModeArg::Generative => true,
            ScreenModeArg::Auto => is_named(app, reader, &answer),
        };
        if wants_model {
            let mode_of_answers = ModeChoice::Named(AnswerMode::Generative);
            let of = Use { mode: mode_of_answers, small_writes: false };
            let opened = generator::open(app, &answer, of, &mut Vec::new()).await?.generator;
            match opened {
                Some(model)
                    if mode == ScreenModeArg::Generative
                        || model.info().strength == GeneratorStrength::Strong =>
                {
                    let at_once = if model.info().local { 1 } else { CALLS };
                    let meter = Meter::start_with(budget(reader), app.clock(), Some(App::alarm()));
                    let screener = GenerativeScreener::new(meter.wrap(model), &criteria.title);
                    return Ok(Self::Generative { screener, at_once, meter });
                }
                Some(model) => {
                    let message =
                        format!("{} is small, so code decides in place of it", model.info().model);
                    notices.push(
                        Notice::new(NoticeKind::Skipped, message)
                            .with_hint("pass --mode generative to ask it all the same"),
                    );
                }
                None if mode == ScreenModeArg::Generative => {
                    return Err(CommandError::user("--mode generative needs a language model")
                        .with_hint("pass --base-url URL --model NAME, or --generator embedded"));
                }
                None => {}
            }
        }
        let (reranker, notice) = reranker::open(app, datastore, None, None).await?;
        notices.extend(notice);
        let (attributor, notice) = judge::open(app, args.judge.as_deref(), None, None).await?;
        notices.extend(notice);
        let encoder = datastore.encoder.clone();
        Ok(Self::Evidence(EvidenceScreener::new(encoder, Some(reranker), attributor)))
    }

    /// What decides, with the names of its models.
    pub(super) fn method(&self) -> String {
        match self {
            Self::Evidence(screener) => screener.method(),
            Self::Generative { screener, .. } => screener.method(),
        }
    }

    /// Papers that are decided on at a time.
    pub(super) fn at_once(&self) -> usize {
        match self {
            // Its models have all threads.
            Self::Evidence(_) => 1,
            Self::Generative { at_once, .. } => *at_once,
        }
    }

    /// Decides on a paper by each of `criteria`.
    pub(super) async fn screen(
        &self,
        paper: &ScreenPaper,
        criteria: &[&Criterion],
    ) -> Result<Screened, PortError> {
        match self {
            Self::Evidence(screener) => screener.screen(paper, criteria).await,
            Self::Generative { screener, .. } => screener.screen(paper, criteria).await,
        }
    }

    /// The meter of the model, if one decides.
    pub(super) fn meter(&self) -> Option<&Meter> {
        match self {
            Self::Evidence(_) => None,
            Self::Generative { meter, .. } => Some(meter),
        }
    }

    /// What the model's calls cost, in words.
    pub(super) fn spent(&self) -> Option<String> {
        let spent = self.meter()?.spent();
        let usd = spent.usd.map(|usd| format!(", ${usd:.4}")).unwrap_or_default();
        Some(format!("{} calls, {} tokens{usd}", spent.calls, spent.usage.total()))
    }
}

/// Whether the command line names a model, or a server is configured. A configured embedded model is small: it is asked only by name.
fn is_named(app: &App, args: &PaperModelArgs, answer: &AnswerArgs) -> bool {
    match args.generator {
        Some(choice) => choice != GeneratorChoice::None,
        None if args.model.is_some() => true,
        None => {
            app.config.generator.kind.as_deref() != Some("none")
                && generator::base_url(app, answer).is_some()
        }
    }
}

fn budget(args: &PaperModelArgs) -> Budget {
    Budget {
        max_cost: args.max_cost,
        max_tokens: args.max_tokens,
        max_seconds: None,
        max_calls: args.max_calls,
        reserved_calls: 0,
    }
}

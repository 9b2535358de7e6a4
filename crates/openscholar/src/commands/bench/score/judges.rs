//! Who judges a run: opened as the arguments say.

use std::path::Path;
use std::sync::Arc;

use scholar_bench::attribution::measure;
use scholar_bench::judge::model::ModelJudge;
use scholar_bench::judge::support::AttributorJudge;
use scholar_bench::metrics::hallucination::TitleLookup;
use scholar_bench::metrics::hallucination::lookup::PortLookup;
use scholar_bench::metrics::hallucination::memory::RememberedLookup;
use scholar_bench::scholarqa::cache::CachedJudge;
use scholar_bench::scholarqa::score::Judges;
use scholar_core::{Attributor, Encoder as _, Generator, GeneratorStrength};
use scholar_pipeline::prompts::{JUDGE_VERDICT, JUDGE_YES_NO};
use scholar_pipeline::proof::GeneratorAttributor;

use super::{Subject, titles};
use crate::app::App;
use crate::args::{AnswerArgs, BenchScoreArgs};
use crate::commands::bench::judging;
use crate::error::{CommandError, Context as _};
use crate::wiring::{judge, models};

/// Everybody who judges.
pub(super) struct Opened {
    attributor: Option<Arc<dyn Attributor>>,
    /// Fingerprints of the prompts the attributor asks with.
    prompts: Vec<String>,
    /// Who grades and compares.
    pub(super) model: Option<ModelJudge>,
    lookup: Option<RememberedLookup<PortLookup>>,
}

impl Opened {
    /// Opens them; what the model says and which titles were found is remembered in the subject's folder.
    pub(super) async fn open(
        args: &BenchScoreArgs,
        subject: &Subject,
        app: &App,
    ) -> Result<Self, CommandError> {
        let folder = subject.folder.as_path();
        let lookup = titles::open(args, subject, app).await?;
        let mut opened = Self { attributor: None, prompts: Vec::new(), model: None, lookup };
        match args.judge.as_str() {
            "none" => {}
            "embedded" | "lm" => {
                let generator = generator(args, app).await?;
                let prompt = match generator.info().strength {
                    GeneratorStrength::Small => JUDGE_YES_NO,
                    GeneratorStrength::Strong => JUDGE_VERDICT,
                };
                opened.prompts.push(prompt.fingerprint());
                opened.attributor =
                    Some(Arc::new(GeneratorAttributor::new(Arc::clone(&generator))));
                if grades(args) {
                    opened.model = Some(judging::remembering(generator, folder)?);
                }
                return Ok(opened);
            }
            name => opened.attributor = Some(judge::alone(app, name).await?),
        }
        if grades(args) {
            opened.model = Some(judging::remembering(generator(args, app).await?, folder)?);
        }
        Ok(opened)
    }

    /// Calls `score` with the judges, the citation judge remembering in the file at `verdicts`.
    pub(super) async fn with_judges<T>(
        &self,
        verdicts: &Path,
        score: impl AsyncFnOnce(Judges<'_>) -> T,
    ) -> Result<T, CommandError> {
        let lookup = self.lookup.as_ref().map(|lookup| lookup as &dyn TitleLookup);
        let Some(attributor) = &self.attributor else {
            let judges = Judges { support: None, model: self.model.as_ref(), lookup };
            return Ok(score(judges).await);
        };
        let judge = AttributorJudge::new(attributor.as_ref());
        let cached = CachedJudge::new(&judge, self.prompts.clone(), Some(verdicts))?;
        let judges = Judges { support: Some(&cached), model: self.model.as_ref(), lookup };
        Ok(score(judges).await)
    }

    /// How the citation judge agrees with people, where labelled pairs are named.
    pub(super) async fn agreement(
        &self,
        args: &BenchScoreArgs,
        app: &App,
    ) -> Result<Option<serde_json::Value>, CommandError> {
        let (Some(dir), Some(attributor)) = (&args.labels, &self.attributor) else {
            return Ok(None);
        };
        app.printer.say("measuring the judge against labelled pairs");
        let encoder = models::default_encoder(app).await?;
        let report = measure(attributor.as_ref(), Some(encoder.as_ref()), dir, args.labels_limit)
            .await
            .user(|| format!("the judge cannot be measured on {}", dir.display()))?;
        app.printer.say(&format!("the encoder of the pairs is {}", encoder.info().name));
        serde_json::to_value(report).map(Some).user(|| "cannot write JSON".to_owned())
    }
}

/// Whether a model gives grades.
pub(super) fn grades(args: &BenchScoreArgs) -> bool {
    args.judge == "lm" || args.grade
}

/// Options that nobody would heed are said before anything is judged.
pub(super) fn check(args: &BenchScoreArgs) -> Result<(), CommandError> {
    if args.against.is_some() && !grades(args) {
        return Err(CommandError::user("--against needs a model that compares")
            .with_hint("pass --grade, or --judge lm"));
    }
    if args.labels.is_some() && args.judge == "none" {
        return Err(CommandError::user("--labels measures a judge, and --judge none names none")
            .with_hint("leave --labels or --judge none out"));
    }
    let asked = args.judge == "lm" || (args.grade && args.judge != "embedded");
    if args.base_url.is_some() && !asked {
        return Err(CommandError::user("--base-url names a server that nothing here uses")
            .with_hint("pass --judge lm, or --grade with another judge"));
    }
    Ok(())
}

/// The judging model, within its budget.
async fn generator(args: &BenchScoreArgs, app: &App) -> Result<Arc<dyn Generator>, CommandError> {
    let who = if grades(args) { "--grade" } else { "--judge" };
    let hint = "pass --base-url URL --model NAME with --judge lm, or --judge lexical alone";
    judging::generator(&AnswerArgs::from(args), who, hint, app).await
}

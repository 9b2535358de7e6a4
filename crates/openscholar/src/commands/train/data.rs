//! `openscholar train data`: rows for trainers, with a data card.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use scholar_core::Encoder as _;
use scholar_datastore::ingest::{Format, Limits, PaperReader};
use scholar_datastore::{AddOptions, BuildRules, Datastore};
use scholar_models::LocalEncoder;
use scholar_models::gguf::GgufGenerator;
use scholar_train::data::ranking::mining::{self, Grader, MiningRules};
use scholar_train::data::ranking::{self, Plan, Pool};
use scholar_train::data::sentences::{SentenceSplits, has_sentences, sentence_rows};
use scholar_train::data::{
    Account, AttributionRow, DataCard, Evaluation, RerankRow, Settings, Source, SourceName, Splits,
    TextRow, attribution_rows, has_papers, refuse_leaks, text_rows, write_all, write_rows,
};
use serde::Serialize;

use crate::app::App;
use crate::args::{
    DataPresetArg, GradeArg, QuestionsArg, TrainDataArgs, TrainDecontaminateArgs, TrainsArg,
};
use crate::config::{DEFAULT_ENCODER, DEFAULT_GENERATOR};
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::wiring::{OpenDatastore, models};
use crate::{progress, runs};

/// Folders of a data folder that hold what models are measured on.
const MEASURED: [&str; 3] = ["retrieval", "claims", "scholarqabench"];

/// Held-out queries of a pool that become a collection: every candidate of every one is read.
const JUDGED: usize = 60;

pub(super) fn run(args: &TrainDataArgs, app: &App) -> Result<ExitCode, CommandError> {
    let sources = sources(args)?;
    let evaluation = evaluation(args)?;
    let settings = settings(args);
    app.printer.say(&format!(
        "collections: {}, evaluation queries to keep out: {}",
        sources.len(),
        evaluation.len()
    ));
    let job = Job { args, sources, evaluation, settings, app };
    let card = match args.trains {
        TrainsArg::Attributor => {
            let made: Splits<AttributionRow> =
                attribution_rows(&job.sources, &job.evaluation, &job.settings)?;
            job.write(&made, ATTRIBUTOR)?
        }
        TrainsArg::Encoder => {
            let made: Splits<TextRow> = text_rows(&job.sources, &job.evaluation, &job.settings)?;
            job.write(&made, ENCODER)?
        }
        TrainsArg::Sentences => {
            let SentenceSplits { splits, test } =
                sentence_rows(&job.sources, &job.evaluation, &job.settings)?;
            let card = job.write(&splits, SENTENCES)?;
            write_rows(&args.out.join("test.jsonl"), &test)?;
            app.printer.say(&format!("{} rows for measuring in test.jsonl", test.len()));
            card
        }
        TrainsArg::Reranker => {
            let made = job.groups()?;
            let method = match args.grade {
                GradeArg::Rules => RERANKER,
                GradeArg::Model => RERANKER_BY_MODEL,
            };
            job.write(&made, method)?
        }
    };
    show(&card, &args.out, app)
}

/// Holds rows against evaluation sets.
pub(super) fn decontaminate(
    args: &TrainDecontaminateArgs,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let mut evaluation = Evaluation::default();
    for path in &args.evaluation {
        evaluation.read(path)?;
    }
    for path in &args.rows {
        let rows = refuse_leaks(path, &evaluation, 0.0)?;
        let (path, queries) = (path.display(), evaluation.len());
        app.printer.out(&format!("{path}: {rows} rows repeat none of {queries} queries"))?;
    }
    Ok(ExitCode::SUCCESS)
}

const ATTRIBUTOR: &str = "Labels of people where there are such (SciFact, citation integrity, CL-SciSumm, Evidence \
    Inference, BioASQ); conclusions, results and titles of papers support themselves, their opposites (one word of \
    direction exchanged, a verb denied, a number changed) contradict, and papers on the topic decide nothing.";
const ENCODER: &str = "Titles with abstracts, and sections of full texts.";
const SENTENCES: &str = "Whether a sentence answers: people's marks (BioASQ snippets, SciFact rationales, Evidence Inference, conclusions \
    of PubMedQA), other sentences of the same paper and sentences of other papers do not; for titles of ACL (from 2016 on) and \
    arXiv papers that ask or name a task, what the wording shows to be a result or a proposal does. Roles: labels of \
    structured abstracts, taken off the text, headings of full texts, and for ACL and arXiv unmistakable wording. Rows are \
    papers with all their sentences.";
const RERANKER: &str = "Negatives mined with the program's own search; grades by rule (4 and 5 positive, 1 and 2 \
    negative, 3 dropped): 5 what people or the making of the query say, 3 what may answer, 2 what was found besides.";
const RERANKER_BY_MODEL: &str = "Negatives mined with the program's own search; grades by rule, and of what the \
    rules let pass by the embedded language model (1 and 2 stay as negatives).";

fn sources(args: &TrainDataArgs) -> Result<Vec<Source>, CommandError> {
    let fits = |name: SourceName| match args.trains {
        TrainsArg::Encoder => has_papers(name),
        TrainsArg::Sentences => has_sentences(name),
        TrainsArg::Reranker | TrainsArg::Attributor => true,
    };
    if args.source.is_empty() {
        // What comes with the program is made of the other collections.
        let all = SourceName::ALL.into_iter().filter(|name| *name != SourceName::Starter);
        let found: Vec<Source> = all
            .filter(|name| fits(*name))
            .filter_map(|name| Source::below(&args.data, name).ok())
            .collect();
        if found.is_empty() {
            return Err(CommandError::user(format!("{} has no collection", args.data.display()))
                .with_hint("name collections with --source to see which file is missing"));
        }
        return Ok(found);
    }
    let mut found = Vec::new();
    for name in &args.source {
        let name = SourceName::named(name).ok_or_else(|| {
            CommandError::user(format!("there is no collection {name:?}"))
                .with_hint("`openscholar train data --help` names them")
        })?;
        found.push(Source::below(&args.data, name)?);
    }
    Ok(found)
}

fn evaluation(args: &TrainDataArgs) -> Result<Evaluation, CommandError> {
    let mut evaluation = Evaluation::default();
    if args.evaluation.is_empty() {
        for folder in MEASURED.map(|name| args.data.join(name)) {
            if folder.is_dir() && !args.no_evaluation {
                evaluation.read(&folder)?;
            }
        }
    }
    for path in &args.evaluation {
        evaluation.read(path)?;
    }
    if evaluation.is_empty() && !args.no_evaluation {
        return Err(CommandError::user("no evaluation sets were found to decontaminate against")
            .with_hint("name evaluation sets with --evaluation, or say --no-evaluation"));
    }
    Ok(evaluation)
}

fn settings(args: &TrainDataArgs) -> Settings {
    let preset = match args.preset {
        DataPresetArg::Paper => Settings::paper(),
        DataPresetArg::Small => Settings::small(),
    };
    Settings {
        seed: args.seed,
        max_rejected_fraction: args.bad_rows,
        max_papers: args.max_papers.unwrap_or(preset.max_papers),
        ..preset
    }
}

struct Job<'a> {
    args: &'a TrainDataArgs,
    sources: Vec<Source>,
    evaluation: Evaluation,
    settings: Settings,
    app: &'a App,
}

impl Job<'_> {
    fn write<T: Serialize>(
        &self,
        made: &Splits<T>,
        method: &str,
    ) -> Result<DataCard, CommandError> {
        let trains = match self.args.trains {
            TrainsArg::Reranker => "reranker",
            TrainsArg::Attributor => "attributor",
            TrainsArg::Encoder => "encoder",
            TrainsArg::Sentences => "sentence classifier",
        };
        let names: Vec<&str> = self.sources.iter().map(|source| source.name.name()).collect();
        // Without the folders of this machine: what they hold stands in the card with digests.
        let command = format!(
            "openscholar train data {} --data DIR --out DIR --source {} --max-papers {} --seed {}",
            self.args.trains.name(),
            names.join(","),
            self.settings.max_papers,
            self.settings.seed
        );
        let program = format!(
            "openscholar {}, commit {}",
            env!("CARGO_PKG_VERSION"),
            env!("OPENSCHOLAR_COMMIT")
        );
        let account = Account { trains, command: &command, program: &program, method };
        let Self { sources, evaluation, settings, .. } = self;
        Ok(write_all(&self.args.out, made, sources, evaluation, settings, account)?)
    }

    fn groups(&self) -> Result<Splits<RerankRow>, CommandError> {
        let mut plan = ranking::plan(&self.sources, &self.evaluation, &self.settings)?;
        let encoder = self.app.config.encoder.as_deref().unwrap_or(DEFAULT_ENCODER).to_owned();
        let encoder =
            self.app.block_on(models::encoder(self.app, &encoder, models::Reading::WHOLE))??;
        let (grade, questions) = (self.args.grade, self.args.questions);
        let model = if grade == GradeArg::Model || questions == QuestionsArg::Model {
            Some(self.app.block_on(embedded(self.app))??)
        } else {
            None
        };
        if let Some(model) = model.as_ref().filter(|_| questions == QuestionsArg::Model) {
            let written =
                self.app.block_on(ranking::ask_model(&mut plan, model, &self.evaluation))??;
            self.app.printer.say(&format!("{written} questions by the language model"));
        }
        let grader = match model.as_ref() {
            Some(model) if grade == GradeArg::Model => Grader::Model(model),
            _ => Grader::Rules,
        };
        let rules = MiningRules { mode: self.args.mode.into(), ..MiningRules::paper() };
        let mut ledger = std::mem::take(&mut plan.ledger);
        let mut rows = Vec::new();
        for pool in 0..plan.pools.len() {
            let store = self.store(&plan, pool, &encoder)?;
            let datastore = OpenDatastore::with(self.app, store, Arc::clone(&encoder))?;
            let asked = plan.prompts.iter().filter(|prompt| prompt.pool == pool).count();
            let bar = progress::counted(&self.app.printer, "queries", Some(asked as u64))
                .with_message(format!("searching {}", plan.pools[pool].name));
            let mut seen = |done: usize| bar.set_position(done as u64);
            let retriever = datastore.retriever.as_ref();
            let (mined, account) = self
                .app
                .block_on(mining::mine(&plan, pool, retriever, &rules, grader, &mut seen))??;
            bar.finish_and_clear();
            rows.extend(mined);
            ledger.merge(account);
        }
        let made = mining::finish(rows, ledger, &self.settings)?;
        for pool in 0..plan.pools.len() {
            self.collection(&plan, pool, &made.dev)?;
        }
        Ok(made)
    }

    /// Held-out queries of a pool as a collection in BEIR layout, for measuring rankings while training and for fitting weights.
    fn collection(
        &self,
        plan: &Plan,
        pool: usize,
        held_out: &[RerankRow],
    ) -> Result<(), CommandError> {
        let Some((queries, grades)) = mining::judged(plan, pool, held_out, JUDGED) else {
            return Ok(());
        };
        let corpus = mining::corpus(&plan.pools[pool]);
        let folder = self.args.out.join("collections").join(named(&plan.pools[pool], &corpus));
        fs_err::create_dir_all(&folder)
            .map_err(|source| CommandError::unwritable(&folder, source))?;
        let files =
            [("corpus.jsonl", &corpus), ("queries.jsonl", &queries), ("qrels.tsv", &grades)];
        files
            .into_iter()
            .try_for_each(|(name, text)| runs::write_atomic(&folder.join(name), text.as_bytes()))
    }

    /// A pool as a datastore below the output folder; an interrupted build goes on.
    fn store(
        &self,
        plan: &Plan,
        pool: usize,
        encoder: &LocalEncoder,
    ) -> Result<Datastore, CommandError> {
        let pool = &plan.pools[pool];
        let corpus = mining::corpus(pool);
        let folder = self.args.out.join("pools");
        fs_err::create_dir_all(&folder)
            .map_err(|source| CommandError::unwritable(&folder, source))?;
        let file = folder.join(format!("{}.jsonl", named(pool, &corpus)));
        runs::write_atomic(&file, corpus.as_bytes())?;
        let store = Datastore::open_or_create(
            &file.with_extension(""),
            encoder.info(),
            BuildRules::collection(),
        )?;
        let mut reader = PaperReader::open(&file, Some(Format::Beir), Limits::standard())?;
        let total = pool.documents.len() as u64;
        let bar = progress::counted(&self.app.printer, "passages", Some(total))
            .with_message(format!("encoding {}", pool.name));
        let mut writer = store.writer()?;
        let options = AddOptions::standard(&pool.name);
        let done = writer.add(reader.by_ref(), encoder, &options, &mut |done| {
            bar.set_position(done.passages_added);
            self.app.until_stopped()
        })?;
        bar.finish_and_clear();
        if done.interrupted {
            let message = "interrupted; the same command resumes";
            return Err(CommandError::new(ErrorKind::Interrupted, message));
        }
        Ok(store)
    }
}

/// Of a pool's files: its name, and what tells it from the pool of other settings.
fn named(pool: &Pool, corpus: &str) -> String {
    let digest = scholar_train::data::wording::hash([corpus]);
    format!("{}-{digest:016x}", pool.name.replace(' ', "-"))
}

async fn embedded(app: &App) -> Result<GgufGenerator, CommandError> {
    let name = app.config.generator.model.as_deref().unwrap_or(DEFAULT_GENERATOR);
    let path = models::gguf(app, name).await?;
    Ok(GgufGenerator::open(&path, models::gguf_options(app, name))?)
}

fn show(card: &DataCard, out: &Path, app: &App) -> Result<ExitCode, CommandError> {
    if app.printer.json {
        let value = serde_json::to_value(card).user(|| "cannot write JSON".to_owned())?;
        app.printer.json(&value)?;
    } else {
        app.printer.out(card.markdown().trim_end())?;
        app.printer.say(&format!("written to {}", out.display()));
    }
    Ok(ExitCode::SUCCESS)
}

//! Tables and screenings of the server: made by the code of `papers table` and `papers screen`, and kept below the data folder.
//!
//! ```text
//! tables/<run>/table.json            openscholar.table/1
//! screenings/<run>/criteria.toml     as for papers screen, with --out of this folder
//!                  decisions.jsonl   as papers screen keeps them
//!                  screening.json    the order of the papers, and what the program decided
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use scholar_core::{Notice, PaperId, Query, Question, SearchFilter};
use scholar_datastore::Datastore;
use scholar_pipeline::Meter;
use scholar_pipeline::screen::{Criteria, Criterion, Decision, PersonDecision, Ranked};
use scholar_pipeline::tabulate::Table;
use scholar_server::backend::{
    AskFilter, BackendError, Export, ReadBy, Reserved, RunUsage, ScreeningFile, ScreeningRequest,
    ScreeningView, TableFile, TableRequest, USUAL_TOP, Workbench,
};
use serde::{Deserialize, Serialize};

use super::desk::Desk;
use super::told;
use crate::app::App;
use crate::args::{
    FilterArgs, PaperModelArgs, ScreenModeArg, ScreenModelArgs, TableArgs, TableFormatArg,
    TableMode,
};
use crate::commands::papers::address;
use crate::commands::papers::audience::Audience;
use crate::commands::papers::screen::state::{State, of_people};
use crate::commands::papers::screen::{How, Work, output as screened, prisma};
use crate::commands::papers::table::{self, output};
use crate::error::CommandError;
use crate::proof::derive;
use crate::runs::{self, RunFolder};
use crate::wiring::OpenDatastore;

/// What names of tables begin with, and the folder of all of them.
const TABLE: (&str, &str) = ("table-", "tables");
/// The same of screenings.
const SCREENING: (&str, &str) = ("screening-", "screenings");
const TABLE_FILE: &str = "table.json";
const SCREENING_FILE: &str = "screening.json";
const CRITERIA_FILE: &str = "criteria.toml";
/// Hexadecimal digits of a name that tell apart what began in one second.
const DIGITS: usize = 8;
/// Largest datastore that is screened as a whole: every paper of it is read to be ranked.
const MOST_SCREENED: u64 = 20_000;

/// A screening as it is kept.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    title: String,
    datastore: String,
    criteria: Vec<Criterion>,
    method: String,
    ranked: Ranked,
    notices: Vec<Notice>,
}

/// Checks what a table is to be made of, and makes its folder.
pub(super) fn reserve_table(
    desk: &Desk,
    request: &TableRequest,
) -> Result<(Reserved, Option<Query>), CommandError> {
    request.check().map_err(refused)?;
    let query = request.query.as_deref().map(Question::new).transpose();
    let query = query.map_err(|error| CommandError::user(error.to_string()))?;
    desk.papers_of(request.datastore.as_deref(), &request.papers)?;
    let reserved = Reserved { run: desk.make_folder(TABLE)?, title: request.title() };
    Ok((reserved, query.as_ref().map(Query::from)))
}

/// Checks what is to be screened, and makes its folder.
pub(super) fn reserve_screening(
    desk: &Desk,
    request: &ScreeningRequest,
) -> Result<Reserved, CommandError> {
    let criteria = request.check().map_err(refused)?;
    let (name, store, _) = desk.papers_of(request.datastore.as_deref(), &request.papers)?;
    let (papers, _) = store.counts()?;
    if request.papers.is_empty() && papers > MOST_SCREENED {
        let message = format!(
            "{name} has {papers} papers, more than the {MOST_SCREENED} that are screened at once"
        );
        return Err(CommandError::user(message)
            .with_hint("name papers, or use openscholar papers screen on the server"));
    }
    let run = desk.make_folder(SCREENING)?;
    let text = toml::to_string(&criteria).map_err(|source| {
        CommandError::user("the criteria cannot be written down").with_source(source)
    })?;
    let path = desk.app.home.data().join(SCREENING.1).join(&run).join(CRITERIA_FILE);
    runs::write_atomic(&path, text.as_bytes())?;
    Ok(Reserved { run, title: criteria.title })
}

/// Gives up a folder whose work never began; whether it was one of these.
pub(super) fn release(desk: &Desk, run: &str) -> bool {
    let folder = [TABLE, SCREENING].into_iter().find_map(|kind| desk.sheet(kind, run).ok());
    if let Some(folder) = &folder {
        let _gone = fs_err::remove_dir_all(folder);
    }
    folder.is_some()
}

/// Makes a table. What an earlier process filled is not filled again: the cells are kept.
pub(super) fn make_table(
    desk: &Desk,
    run: &str,
    request: &TableRequest,
    audience: &Audience,
) -> Result<RunUsage, CommandError> {
    let began = Instant::now();
    let columns = request.check().map_err(refused)?;
    let (name, _, ids) = desk.papers_of(request.datastore.as_deref(), &request.papers)?;
    let args = TableArgs {
        ids: ids.iter().map(ToString::to_string).collect(),
        columns: String::new(),
        query: request.query.clone(),
        top: request.top.unwrap_or(USUAL_TOP),
        mode: match request.mode {
            None => TableMode::Auto,
            Some(ReadBy::Generative) => TableMode::Generative,
            Some(ReadBy::Evidence) => TableMode::Evidence,
        },
        reader: reader(request.max_cost_usd),
        format: None,
        output: None,
        out: None,
        filter: filter(&request.filter),
    };
    // Boxed: it holds everything a table needs.
    let work = Box::pin(table::make(&name, &args, columns, audience, &desk.app));
    let (made, meter) = desk.handle.block_on(work)?;
    write(&desk.sheet(TABLE, run)?.join(TABLE_FILE), &made)?;
    Ok(usage(&made.method, meter.as_deref(), began))
}

/// Screens, and keeps the order of the papers. What was decided before is not decided again.
pub(super) fn screen(
    desk: &Desk,
    run: &str,
    request: &ScreeningRequest,
    audience: &Audience,
) -> Result<RunUsage, CommandError> {
    let began = Instant::now();
    let criteria = request.check().map_err(refused)?;
    let (name, _, ids) = desk.papers_of(request.datastore.as_deref(), &request.papers)?;
    let folder = desk.sheet(SCREENING, run)?;
    let model = ScreenModelArgs { reader: reader(request.max_cost_usd), judge: None };
    let mode = match request.mode {
        None => ScreenModeArg::Auto,
        Some(ReadBy::Generative) => ScreenModeArg::Generative,
        Some(ReadBy::Evidence) => ScreenModeArg::Evidence,
    };
    let how = How { mode, model: &model, limit: request.limit };
    let filter = SearchFilter::from(filter(&request.filter));
    let app = &*desk.app;
    let work = async {
        let datastore = OpenDatastore::open(app, &name).await?;
        let mut work = Work::open(&criteria, &datastore, how, audience, app).await?;
        let (ranked, _state) = work.screen(&ids, &filter, State::open(&folder)?).await?;
        let usage = usage(&work.method(), work.meter(), began);
        Ok::<_, CommandError>((ranked, work.method(), work.notices, usage))
    };
    let (ranked, method, notices, usage) = desk.handle.block_on(Box::pin(work))?;
    let Criteria { title, criteria } = criteria;
    let kept = Kept { title, datastore: name, criteria, method, ranked, notices };
    write(&folder.join(SCREENING_FILE), &kept)?;
    Ok(usage)
}

fn usage(method: &str, meter: Option<&Meter>, began: Instant) -> RunUsage {
    let spent = meter.map(Meter::spent);
    RunUsage {
        model: spent.is_some().then(|| method.to_owned()),
        calls: spent.as_ref().map_or(0, |spent| spent.calls),
        tokens: spent.as_ref().map_or(0, |spent| spent.usage.total()),
        cost_usd: spent.map_or(Some(0.0), |spent| spent.usd),
        total_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        first_evidence_ms: None,
        first_sentence_ms: None,
    }
}

fn reader(max_cost: Option<f64>) -> PaperModelArgs {
    PaperModelArgs {
        generator: None,
        model: None,
        base_url: None,
        strength: None,
        max_cost,
        max_tokens: None,
        max_calls: None,
    }
}

fn filter(filter: &AskFilter) -> FilterArgs {
    let AskFilter { year_from, year_to, venues, min_citations, without_retracted, include_unknown } =
        filter;
    FilterArgs {
        before: None,
        year_from: *year_from,
        year_to: *year_to,
        venue: venues.clone(),
        min_citations: *min_citations,
        licence: Vec::new(),
        include_unknown: *include_unknown,
        without_retracted: *without_retracted,
        paper: Vec::new(),
        exclude: Vec::new(),
        exclude_title: Vec::new(),
    }
}

/// What decided, without the folders in which its models lie: where that is on the server is no business of whoever reads a page.
fn without_folders(method: &str) -> String {
    let name = |word: &str| {
        let path = Path::new(word);
        let is_path = path.is_absolute() || word.starts_with('.');
        path.file_name().filter(|_| is_path).map(|name| name.to_string_lossy().into_owned())
    };
    let words = method.split(' ').map(|word| name(word).unwrap_or_else(|| word.to_owned()));
    words.collect::<Vec<_>>().join(" ")
}

/// A refusal of a request as an error of this program.
fn refused(error: BackendError) -> CommandError {
    let refused = CommandError::user(error.message);
    match error.hint {
        Some(hint) => refused.with_hint(hint),
        None => refused,
    }
}

fn write(path: &Path, value: &impl Serialize) -> Result<(), CommandError> {
    runs::write_atomic(path, json(value)?.as_bytes())
}

fn json(value: &impl Serialize) -> Result<String, CommandError> {
    derive::pretty(value)
        .map_err(|source| CommandError::user("it cannot be written as JSON").with_source(source))
}

impl Desk {
    /// The datastore of a request, which must be one and no group, and the papers of it that the names mean: no name is the path of a
    /// file here.
    fn papers_of(
        &self,
        named: Option<&str>,
        papers: &[String],
    ) -> Result<(String, Arc<Datastore>, Vec<PaperId>), CommandError> {
        let name = self.datastore_named(named)?;
        let members = self.app.datastore_members(&name);
        let [one] = &members[..] else {
            return Err(CommandError::user(format!("{name:?} is several datastores"))
                .with_hint(format!("choose one of {}", members.join(", "))));
        };
        let opened = self.handle.block_on(OpenDatastore::open(&self.app, one))?;
        let ids = papers.iter().map(|text| address::sent(&opened.store, one, text));
        let ids = ids.collect::<Result<_, _>>()?;
        Ok((one.clone(), opened.store, ids))
    }

    /// A new folder; its name.
    fn make_folder(&self, (prefix, parent): (&str, &str)) -> Result<String, CommandError> {
        let parent = self.app.home.data().join(parent);
        let unwritable = |source| CommandError::unwritable(&parent, source);
        crate::private::create_missing(&parent).map_err(unwritable)?;
        let stamp: String = App::now().chars().filter(char::is_ascii_digit).collect();
        let secret = crate::private::secret().map_err(unwritable)?;
        let digits = secret.get(..DIGITS).unwrap_or(&secret);
        let run = format!("{prefix}{stamp}-{digits}");
        crate::private::create_folder(&parent.join(&run)).map_err(unwritable)?;
        Ok(run)
    }

    /// The folder of a run by its whole name: what is in an address is no path.
    fn sheet(&self, (prefix, parent): (&str, &str), run: &str) -> Result<PathBuf, CommandError> {
        let is_name = run.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let path = self.app.home.data().join(parent).join(run);
        match run.starts_with(prefix) && is_name && path.is_dir() {
            true => Ok(path),
            false => Err(CommandError::user("there is no such run")),
        }
    }

    /// What is kept of a run under this name; `None` if nothing is yet.
    fn read<T: serde::de::DeserializeOwned>(
        &self,
        kind: (&str, &str),
        run: &str,
        file: &str,
    ) -> Result<Option<T>, BackendError> {
        let folder = self.sheet(kind, run);
        let folder = folder.map_err(|_| BackendError::not_found("there is no such run"))?;
        let folder = RunFolder::at(folder);
        match folder.file(file).is_file() {
            true => folder.read_json(file).map(Some).map_err(|error| told(&error)),
            false => Ok(None),
        }
    }

    fn kept(&self, run: &str) -> Result<Option<(Kept, PathBuf)>, BackendError> {
        let kept = self.read::<Kept>(SCREENING, run, SCREENING_FILE)?;
        let folder = self.sheet(SCREENING, run).map_err(|error| told(&error))?;
        Ok(kept.map(|kept| (kept, folder)))
    }
}

impl Workbench for Desk {
    fn table(&self, run: &str) -> Result<Option<Table>, BackendError> {
        self.read(TABLE, run, TABLE_FILE)
    }

    fn export_table(&self, run: &str, format: TableFile) -> Result<Export, BackendError> {
        let none = || BackendError::not_found("this table is not made yet");
        let table = self.table(run)?.ok_or_else(none)?;
        let bytes = match format {
            TableFile::Json => json(&table).map(String::into_bytes),
            TableFile::Csv => output::exported(&table, TableFormatArg::Csv),
            TableFile::Docx => output::exported(&table, TableFormatArg::Docx),
            TableFile::Markdown => output::exported(&table, TableFormatArg::Markdown),
            TableFile::Html => output::exported(&table, TableFormatArg::Html),
        };
        bytes.map(|bytes| Export { bytes }).map_err(|error| told(&error))
    }

    fn screening(&self, run: &str) -> Result<Option<ScreeningView>, BackendError> {
        let Some((kept, folder)) = self.kept(run)? else { return Ok(None) };
        let people = of_people(&folder).map_err(|error| told(&error))?;
        let Kept { title, datastore, criteria, method, ranked, notices } = kept;
        let mut screening = ranked.decided(&criteria, |paper| people.get(paper));
        screening.notices = notices;
        let method = without_folders(&method);
        Ok(Some(ScreeningView { title, datastore, criteria, method, screening }))
    }

    fn export_screening(&self, run: &str, format: ScreeningFile) -> Result<Export, BackendError> {
        let none = || BackendError::not_found("these papers are not screened yet");
        let view = self.screening(run)?.ok_or_else(none)?;
        let ScreeningView { title, criteria, screening, .. } = view;
        let criteria = Criteria { title, criteria };
        let rows: Vec<_> = screening.papers.iter().collect();
        let text = match format {
            ScreeningFile::Csv => screened::csv(&criteria, &rows),
            ScreeningFile::Markdown => {
                screened::markdown(&criteria, &rows, &prisma::text(&screening.flow))
            }
            ScreeningFile::Prisma => prisma::svg(&criteria.title, &screening.flow),
        };
        Ok(Export { bytes: text.into_bytes() })
    }

    fn decide(
        &self,
        run: &str,
        paper: &PaperId,
        decision: Decision,
        reason: Option<&str>,
    ) -> Result<(), BackendError> {
        let none = || BackendError::not_found("there is no such paper in this screening");
        let (kept, folder) = self.kept(run)?.ok_or_else(none)?;
        if !kept.ranked.papers.iter().any(|one| one.paper.id == *paper) {
            return Err(none());
        }
        let keep = || -> Result<(), CommandError> {
            let mut state = State::open(&folder)?;
            let reason = reason.map(str::to_owned);
            let decided = PersonDecision { paper: paper.clone(), decision, reason };
            match state.person(paper) == Some(&decided) {
                true => Ok(()),
                false => state.keep_person(App::now(), decided),
            }
        };
        keep().map_err(|error| {
            // Where the folder lies is no business of whoever decides.
            tracing::warn!(error = &error as &dyn std::error::Error, run, "a decision is not kept");
            told(&CommandError::user("this decision could not be kept: the papers are being screened, or the disk is full")
                .with_hint("decide when the screening is over, or stop it first"))
        })
    }
}

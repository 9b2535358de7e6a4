//! Tables and screenings: what is asked for, and what came of it.

use scholar_core::PaperId;
use scholar_pipeline::screen::{Criteria, Criterion, CriterionKind, Decision, Screening};
use scholar_pipeline::tabulate::{Column, Table};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::request::check_list;
use super::{AskFilter, BackendError, BackendErrorKind, Export};

/// Papers that are named at most, and rows of a table.
pub const MOST_ROWS: usize = 500;
/// Longest name of a paper, criterion or column, in characters.
const MOST_CHARS: usize = 2_000;
/// Papers of a search where nothing else is said.
pub const USUAL_TOP: usize = 10;
/// Characters of an identifier that is made of a criterion's text.
const ID_CHARS: usize = 24;

/// What came of tables and screenings. The methods may wait for the disk.
pub trait Workbench: Send + Sync + 'static {
    /// The table of a run; `None` as long as there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    fn table(&self, run: &str) -> Result<Option<Table>, BackendError>;

    /// A table as a file.
    ///
    /// # Errors
    /// When there is none, or it cannot be written in this format.
    fn export_table(&self, run: &str, format: TableFile) -> Result<Export, BackendError>;

    /// The screening of a run, with what people decided since; `None` as long as there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    fn screening(&self, run: &str) -> Result<Option<ScreeningView>, BackendError>;

    /// A screening as a file.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    fn export_screening(&self, run: &str, format: ScreeningFile) -> Result<Export, BackendError>;

    /// Keeps what a person decided on a paper of a screening, which no later run changes.
    ///
    /// # Errors
    /// When there is no such paper, or the screening is under way.
    fn decide(
        &self,
        run: &str,
        paper: &PaperId,
        decision: Decision,
        reason: Option<&str>,
    ) -> Result<(), BackendError>;
}

/// What reads the papers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadBy {
    /// A language model, whose words are located in the paper.
    Generative,
    /// Rules and small models.
    Evidence,
}

impl ReadBy {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Evidence, Self::Generative];

    /// As requests and the command line have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Generative => "generative",
            Self::Evidence => "evidence",
        }
    }
}

/// A table to be made of papers: body of `POST /v1/tables`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TableRequest {
    /// Columns: presets (`trial`, `method`, `dataset`), properties (`trial.n`, `follow-up`), questions (`dose=Which dose was given?`).
    #[schema(example = json!(["n", "intervention", "dose=Which dose was given?"]))]
    pub columns: Vec<String>,
    /// Its rows: identifiers, citation keys, or words of titles. Either these or `query`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub papers: Vec<String>,
    /// Its rows: the papers that this search finds, the best first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub query: Option<String>,
    /// Papers of the search; left out, 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub top: Option<usize>,
    /// Datastore of the papers; left out, the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub datastore: Option<String>,
    /// Conditions on papers.
    #[serde(default, skip_serializing_if = "AskFilter::is_none")]
    pub filter: AskFilter,
    /// What fills the cells; left out, a strong model if there is one, else rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub mode: Option<ReadBy>,
    /// US dollars that may be spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub max_cost_usd: Option<f64>,
}

impl TableRequest {
    /// The columns, and everything else checked as far as that goes without a datastore.
    ///
    /// # Errors
    /// When something of the request cannot be meant.
    pub fn check(&self) -> Result<Vec<Column>, BackendError> {
        let Self { columns, papers, query, top, datastore: _, filter, mode: _, max_cost_usd } =
            self;
        check_texts("column", columns)?;
        check_papers(papers)?;
        check_filter(filter)?;
        check_budget(*max_cost_usd)?;
        let columns = Column::of_parts(columns.iter().map(String::as_str))
            .map_err(|error| invalid(error.to_string()))?;
        match query {
            Some(_) if !papers.is_empty() => {
                return Err(invalid("the papers are named, or a search finds them, not both"));
            }
            Some(query) if query.trim().is_empty() || query.chars().count() > MOST_CHARS => {
                return Err(invalid("the search is empty, or too long"));
            }
            None if papers.is_empty() => {
                return Err(invalid("no papers are named, and nothing is searched for")
                    .with_hint("name papers, or say what to search for"));
            }
            _ => {}
        }
        if top.is_some_and(|top| !(1..=MOST_ROWS).contains(&top)) {
            return Err(invalid(format!("a table has 1 to {MOST_ROWS} rows")));
        }
        Ok(columns)
    }

    /// What it is called in lists.
    pub fn title(&self) -> String {
        match (&self.query, self.papers.as_slice()) {
            (Some(query), _) => query.trim().to_owned(),
            (None, [one]) => one.clone(),
            (None, [first, rest @ ..]) => format!("{first} and {} more", rest.len()),
            (None, []) => String::new(),
        }
    }
}

/// A criterion of a screening.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CriterionRequest {
    /// Its short name; left out, made of its first words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub id: Option<String>,
    /// What a paper must meet, or must not.
    #[schema(example = "Reports data on humans")]
    pub text: String,
    /// Whether a paper that meets it is left out; otherwise it must be met.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub excludes: bool,
}

/// Papers to be screened by criteria: body of `POST /v1/screenings`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScreeningRequest {
    /// What the review is about.
    #[schema(example = "Pharmacokinetics of emicizumab in humans")]
    pub title: String,
    /// What papers are held against.
    pub criteria: Vec<CriterionRequest>,
    /// The papers: identifiers, citation keys, or words of titles; left out, all of the datastore.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub papers: Vec<String>,
    /// Datastore of the papers; left out, the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub datastore: Option<String>,
    /// Conditions on papers.
    #[serde(default, skip_serializing_if = "AskFilter::is_none")]
    pub filter: AskFilter,
    /// What decides; left out, a strong model if there is one, else rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub mode: Option<ReadBy>,
    /// Papers that are decided on at most, the likeliest first; left out, all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub limit: Option<usize>,
    /// US dollars that may be spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub max_cost_usd: Option<f64>,
}

impl ScreeningRequest {
    /// The criteria, and everything else checked as far as that goes without a datastore.
    ///
    /// # Errors
    /// When something of the request cannot be meant.
    pub fn check(&self) -> Result<Criteria, BackendError> {
        let Self { title, criteria, papers, datastore: _, filter, mode: _, limit, max_cost_usd } =
            self;
        check_papers(papers)?;
        check_filter(filter)?;
        check_budget(*max_cost_usd)?;
        if *limit == Some(0) {
            return Err(invalid("at least one paper is decided on"));
        }
        if title.chars().count() > MOST_CHARS {
            return Err(invalid(format!("the title has more than {MOST_CHARS} characters")));
        }
        if criteria.is_empty() {
            return Err(invalid("no criterion is named")
                .with_hint("say what papers must report, or must not"));
        }
        let mut named: Vec<Criterion> = Vec::new();
        for CriterionRequest { id, text, excludes } in criteria {
            if text.chars().count() > MOST_CHARS {
                let message = format!("a criterion has more than {MOST_CHARS} characters");
                return Err(invalid(message));
            }
            let kind = match excludes {
                true => CriterionKind::Exclude,
                false => CriterionKind::Include,
            };
            let id = match id {
                Some(id) => id.trim().to_owned(),
                None => free_id(text, &named),
            };
            named.push(Criterion { id, text: text.trim().to_owned(), kind });
        }
        let criteria = Criteria { title: title.trim().to_owned(), criteria: named };
        criteria.check().map_err(|error| invalid(error.to_string()))?;
        Ok(criteria)
    }
}

/// A short name of a criterion that none of `known` has: its first words.
fn free_id(text: &str, known: &[Criterion]) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut id = String::new();
    for word in words {
        if !id.is_empty() && id.chars().count() + word.chars().count() >= ID_CHARS {
            break;
        }
        if !id.is_empty() {
            id.push('-');
        }
        id.extend(word.chars().take(ID_CHARS));
    }
    if id.is_empty() {
        id.push_str("criterion");
    }
    let is_free = |id: &str| known.iter().all(|criterion| criterion.id != id);
    let numbered = (2..).map(|n| format!("{id}-{n}"));
    let mut all = std::iter::once(id.clone()).chain(numbered);
    all.find(|id| is_free(id)).unwrap_or(id)
}

fn invalid(why: impl Into<String>) -> BackendError {
    BackendError::new(BackendErrorKind::Invalid, why)
}

fn check_texts(what: &str, texts: &[String]) -> Result<(), BackendError> {
    match texts.iter().find(|text| text.chars().count() > MOST_CHARS) {
        Some(_) => Err(invalid(format!("a {what} has more than {MOST_CHARS} characters"))),
        None => Ok(()),
    }
}

fn check_papers(papers: &[String]) -> Result<(), BackendError> {
    if papers.len() > MOST_ROWS {
        return Err(invalid(format!("more than {MOST_ROWS} papers are named")));
    }
    check_texts("paper's name", papers)
}

fn check_filter(filter: &AskFilter) -> Result<(), BackendError> {
    check_list(&filter.venues)?;
    match (filter.year_from, filter.year_to) {
        (Some(from), Some(to)) if from > to => {
            Err(invalid(format!("no year is from {from} and to {to}")))
        }
        _ => Ok(()),
    }
}

fn check_budget(usd: Option<f64>) -> Result<(), BackendError> {
    match usd.is_some_and(|usd| !usd.is_finite() || usd < 0.0) {
        true => Err(invalid("a budget is a number of dollars, 0 or more")),
        false => Ok(()),
    }
}

/// A screening with what people decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScreeningView {
    /// What the review is about.
    pub title: String,
    /// Where its papers are stored.
    pub datastore: String,
    /// What papers are held against.
    pub criteria: Vec<Criterion>,
    /// What decides, with the names of its models.
    pub method: String,
    /// The papers and their numbers.
    #[serde(flatten)]
    pub screening: Screening,
}

macro_rules! files {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $key:literal, $kind:literal, $ending:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[$of])* $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// As addresses have it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $key,)* }
            }

            /// The format of that name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }

            /// Its media type.
            pub fn media_type(self) -> &'static str {
                match self { $(Self::$variant => $kind,)* }
            }

            /// What a file's name ends in.
            pub fn ending(self) -> &'static str {
                match self { $(Self::$variant => $ending,)* }
            }
        }
    };
}

files! {
    /// Formats of a table.
    TableFile {
        /// Cells with their quotations and places.
        Csv = "csv", "text/csv; charset=utf-8", "csv";
        /// Word document with footnotes.
        Docx = "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx";
        /// Markdown with footnotes.
        Markdown = "markdown", "text/markdown; charset=utf-8", "md";
        /// One HTML file.
        Html = "html", "text/html; charset=utf-8", "html";
        /// Everything, for programs.
        Json = "json", "application/json", "json";
    }
}

files! {
    /// Formats of a screening.
    ScreeningFile {
        /// With columns for your own decisions.
        Csv = "csv", "text/csv; charset=utf-8", "csv";
        /// With quotations.
        Markdown = "markdown", "text/markdown; charset=utf-8", "md";
        /// The PRISMA 2020 flow diagram.
        Prisma = "prisma", "image/svg+xml", "svg";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TableRequest {
        let columns = vec!["n".to_owned(), "dose=Which dose, and how often?".to_owned()];
        TableRequest { columns, query: Some("aspirin".to_owned()), ..TableRequest::default() }
    }

    #[test]
    fn a_table_has_columns_and_papers_or_a_search() {
        let columns = table().check().expect("columns");
        assert_eq!(columns[1].question, "Which dose, and how often?");
        let wrong = [
            TableRequest { columns: Vec::new(), ..table() },
            TableRequest { query: None, ..table() },
            TableRequest { papers: vec!["pmid:1".to_owned()], ..table() },
            TableRequest { top: Some(0), ..table() },
            TableRequest { top: Some(501), ..table() },
            TableRequest { query: None, papers: vec![String::new(); 501], ..table() },
            TableRequest { max_cost_usd: Some(f64::NAN), ..table() },
            TableRequest { columns: vec!["x".repeat(2_001)], ..table() },
        ];
        for request in wrong {
            assert_eq!(request.check().expect_err("refused").kind, BackendErrorKind::Invalid);
        }
    }

    #[test]
    fn criteria_without_a_name_get_one_of_their_own() {
        let criterion =
            |text: &str, excludes| CriterionRequest { id: None, text: text.to_owned(), excludes };
        let request = ScreeningRequest {
            title: "Bleeding".to_owned(),
            criteria: vec![
                criterion("Reports data on humans", false),
                criterion("Reports data on humans, again", true),
                criterion("Ü", false),
            ],
            ..ScreeningRequest::default()
        };
        let criteria = request.check().expect("criteria");
        let ids: Vec<&str> = criteria.criteria.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["reports-data-on-humans", "reports-data-on-humans-2", "criterion"]);
        assert_eq!(criteria.criteria[1].kind, CriterionKind::Exclude);
        let none = ScreeningRequest { criteria: Vec::new(), ..request };
        assert!(none.check().is_err());
    }

    #[test]
    fn formats_have_names_of_their_own() {
        for one in TableFile::ALL {
            assert_eq!(TableFile::named(one.name()), Some(*one));
        }
        assert_eq!(ScreeningFile::named("exe"), None);
    }
}

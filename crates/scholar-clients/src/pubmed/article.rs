//! PubMed's records as papers. Source: NLM's description of the elements of `PubmedArticleSet`.

use jiff::civil::Date;
use scholar_core::paper::{ABSTRACT_HEADING, Retraction};
use scholar_core::{Notice, Paper, PaperId, PaperMeta, Section};

use super::search::expect;
use crate::parse::{ReplyError, add_id, rows, valid_year};
use crate::xml::{Element, document};

/// Reads the answer of `efetch` for PubMed.
///
/// # Errors
/// [`ReplyError`] when it is not a set of records, or none of them can be read.
pub fn article_set(bytes: &[u8]) -> Result<(Vec<Paper>, Vec<Notice>), ReplyError> {
    let tree = expect(bytes, "PubmedArticleSet")?;
    let root = document(&tree);
    let records: Vec<Element<'_>> = root
        .elements()
        .filter(|record| matches!(record.name(), "PubmedArticle" | "PubmedBookArticle"))
        .collect();
    rows("PubMed", records, |record| {
        if record.name() == "PubmedBookArticle" { book(record) } else { article(record) }
    })
}

fn article(record: Element<'_>) -> Result<Paper, String> {
    let citation = record.first("MedlineCitation").ok_or("a record has no `MedlineCitation`")?;
    let id = pmid(citation)?;
    let article =
        citation.first("Article").ok_or_else(|| format!("the record {id} has no `Article`"))?;
    let title = article
        .text_of("ArticleTitle")
        .or_else(|| article.text_of("VernacularTitle"))
        .unwrap_or_default();
    let mut meta = PaperMeta::new(id.clone(), whole_title(&title));
    let data = record.first("PubmedData");
    let ids = data.and_then(|data| data.first("ArticleIdList"));
    add_article_ids(&mut meta, ids);
    for location in article.all("ELocationID") {
        let valid = location.attribute("ValidYN") != Some("N");
        if valid
            && location.attribute("EIdType") == Some("doi")
            && let Ok(doi) = PaperId::doi(&location.text())
        {
            add_id(&mut meta, doi);
        }
    }
    meta.authors = authors(article.first("AuthorList"));
    meta.venue = article.path(&["Journal", "Title"]).map(Element::text).filter(|t| !t.is_empty());
    let issue = article.path(&["Journal", "JournalIssue", "PubDate"]);
    let electronic = article.all("ArticleDate").find_map(day_of);
    date(&mut meta, issue, electronic);
    meta.retraction = standing(citation, article);
    let sections = abstract_section(article.first("Abstract"));
    let references = data
        .into_iter()
        .flat_map(|data| data.all("ReferenceList"))
        .flat_map(|list| list.all("Reference"))
        .filter_map(|reference| cited(reference.first("ArticleIdList")?))
        .collect();
    Ok(Paper { meta, sections, references, records: Vec::new() })
}

fn book(record: Element<'_>) -> Result<Paper, String> {
    let document = record.first("BookDocument").ok_or("a book's record has no `BookDocument`")?;
    let id = pmid(document)?;
    let book = document.first("Book");
    let title = document
        .text_of("ArticleTitle")
        .or_else(|| book.and_then(|book| book.text_of("BookTitle")))
        .unwrap_or_default();
    let mut meta = PaperMeta::new(id, whole_title(&title));
    add_article_ids(&mut meta, document.first("ArticleIdList"));
    meta.authors = authors(document.first("AuthorList"));
    if meta.authors.is_empty() {
        meta.authors = authors(book.and_then(|book| book.first("AuthorList")));
    }
    meta.venue = book.and_then(|book| book.text_of("BookTitle"));
    date(&mut meta, book.and_then(|book| book.first("PubDate")), None);
    let sections = abstract_section(document.first("Abstract"));
    Ok(Paper { meta, sections, references: Vec::new(), records: Vec::new() })
}

fn pmid(element: Element<'_>) -> Result<PaperId, String> {
    let text = element.text_of("PMID").ok_or("a record has no `PMID`")?;
    text.parse()
        .map(PaperId::Pmid)
        .map_err(|_| format!("the element `PMID`: {text:?} is not a number"))
}

/// Translated titles stand in brackets.
fn whole_title(title: &str) -> &str {
    let bare = title.strip_suffix('.').unwrap_or(title);
    let inner = bare.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
    inner.filter(|inner| !inner.contains(['[', ']'])).unwrap_or(title)
}

fn add_article_ids(meta: &mut PaperMeta, list: Option<Element<'_>>) {
    for id in list.into_iter().flat_map(|list| list.all("ArticleId")) {
        let text = id.text();
        let id = match id.attribute("IdType") {
            Some("doi") => PaperId::doi(&text).ok(),
            Some("pmc") => PaperId::pmcid(&text).ok(),
            _ => None,
        };
        if let Some(id) = id {
            add_id(meta, id);
        }
    }
}

/// The first identifier of a reference.
fn cited(list: Element<'_>) -> Option<PaperId> {
    list.all("ArticleId").find_map(|id| {
        let text = id.text();
        match id.attribute("IdType") {
            Some("pubmed") => text.parse().ok().map(PaperId::Pmid),
            Some("doi") => PaperId::doi(&text).ok(),
            Some("pmc") => PaperId::pmcid(&text).ok(),
            _ => None,
        }
    })
}

fn authors(list: Option<Element<'_>>) -> Vec<String> {
    let authors = list.into_iter().flat_map(|list| list.all("Author"));
    let valid = authors.filter(|author| author.attribute("ValidYN") != Some("N"));
    valid
        .filter_map(|author| {
            if let Some(group) = author.text_of("CollectiveName") {
                return Some(group);
            }
            let last = author.text_of("LastName")?;
            let given = author.text_of("ForeName").or_else(|| author.text_of("Initials"));
            let suffix = author.text_of("Suffix");
            let parts = [given, Some(last), suffix];
            Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
        })
        .collect()
}

/// Every part of the abstract, each begun by its label as printed.
fn abstract_section(element: Option<Element<'_>>) -> Vec<Section> {
    let mut parts = Vec::new();
    for part in element.into_iter().flat_map(|element| element.all("AbstractText")) {
        let text = part.text();
        match part.attribute("Label").map(str::trim) {
            _ if text.is_empty() => {}
            Some(label) if !label.is_empty() && label != "UNLABELLED" => {
                let colon = if label.ends_with(':') { "" } else { ":" };
                parts.push(format!("{label}{colon} {text}"));
            }
            _ => parts.push(text),
        }
    }
    if parts.is_empty() {
        return Vec::new();
    }
    vec![Section::new(ABSTRACT_HEADING, parts.join(" "))]
}

/// The first of electronic day and day of the issue; without a day, the year of the issue.
fn date(meta: &mut PaperMeta, issue: Option<Element<'_>>, electronic: Option<Date>) {
    meta.published = match (electronic, issue.and_then(day_of)) {
        (Some(electronic), Some(printed)) => Some(electronic.min(printed)),
        (electronic, printed) => electronic.or(printed),
    };
    meta.year = match meta.published {
        Some(day) => Some(day.year()),
        None => issue.and_then(year_of),
    };
}

fn day_of(date: Element<'_>) -> Option<Date> {
    let year = date.text_of("Year")?.parse().ok()?;
    let month = month(&date.text_of("Month")?)?;
    let day = date.text_of("Day")?.parse().ok()?;
    Date::new(year, month, day).ok()
}

fn month(text: &str) -> Option<i8> {
    const NAMES: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let lower = text.to_ascii_lowercase();
    let at = NAMES.iter().position(|name| lower.starts_with(name))?;
    i8::try_from(at + 1).ok()
}

/// The year of an issue. Of `1998 Dec-1999 Jan` the later one: a strict cutoff must not let in what may be younger.
fn year_of(date: Element<'_>) -> Option<i16> {
    let text = date.text_of("Year").or_else(|| date.text_of("MedlineDate"))?;
    let years = text.split(|c: char| !c.is_ascii_digit()).filter(|run| run.len() == 4);
    years.filter_map(|run| run.parse().ok().and_then(valid_year)).max()
}

/// What PubMed records against the article. Notices about other articles (`RetractionOf`) do not count.
fn standing(citation: Element<'_>, article: Element<'_>) -> Retraction {
    let retracted = article.first("PublicationTypeList").is_some_and(|list| {
        list.all("PublicationType").any(|t| t.text() == "Retracted Publication")
    });
    if retracted {
        return Retraction::Retracted;
    }
    let corrections = citation.first("CommentsCorrectionsList");
    let worst = corrections
        .into_iter()
        .flat_map(|list| list.all("CommentsCorrections"))
        .filter_map(|entry| match entry.attribute("RefType")? {
            "RetractionIn" => Some((3, Retraction::Retracted)),
            // A part is retracted: what is cited from it may stand or not.
            "PartialRetractionIn" | "ExpressionOfConcernIn" => Some((2, Retraction::Concern)),
            "ErratumIn" | "CorrectedandRepublishedIn" => Some((1, Retraction::Corrected)),
            _ => None,
        })
        .max_by_key(|(weight, _)| *weight);
    worst.map_or(Retraction::Clean, |(_, standing)| standing)
}

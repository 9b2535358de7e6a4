//! Citation styles: CSL through hayagriva.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use hayagriva::archive::{ArchivedStyle, locales};
use hayagriva::citationberg::json::{
    DateValue, Item as CslItem, LiteralName, NameItem, NameValue, Value, VecDate, VecDateRange,
};
use hayagriva::citationberg::{
    CitationFormat, FontStyle, FontVariant, FontWeight, IndependentStyle, Locale, Style,
    StyleCategory, StyleClass, TextDecoration, VerticalAlign,
};
use hayagriva::{
    BibliographyDriver, BibliographyRequest, CitationItem, CitationRequest, ElemChild,
    ElemChildren, ElemMeta, Formatting,
};

use super::csl;
use super::item::{Item, one_line};
use crate::error::{FormatError, FormatErrorKind};

/// Styles that a person may name, with the names people use; every style of hayagriva's archive works as well.
/// Vancouver is Springer's, because hayagriva leaves out the authors in the one of the archive.
pub const STYLES: [(&str, &str); 7] = [
    ("apa", "apa"),
    ("ieee", "ieee"),
    ("vancouver", "springer-vancouver"),
    ("nature", "nature"),
    ("chicago", "chicago-author-date"),
    ("acm", "association-for-computing-machinery"),
    ("mla", "modern-language-association"),
];

/// Largest style in bytes, and deepest nesting of its elements and of macros in each other.
const STYLE_BYTES: usize = 2 << 20;
const DEPTH: usize = 64;

/// Words of every language that styles ask for, unpacked once.
static LOCALES: LazyLock<Vec<Locale>> = LazyLock::new(locales);

/// How citations and references are written.
#[derive(Clone)]
pub struct CitationStyle {
    name: String,
    style: Box<IndependentStyle>,
}

impl std::fmt::Debug for CitationStyle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CitationStyle({})", self.name)
    }
}

/// In which form a style cites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CitesBy {
    /// `[1]`.
    Number,
    /// A raised number.
    Raised,
    /// `(Lovelace, 1843)`.
    Author,
    /// In a footnote.
    Note,
}

/// How a piece of text looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub(crate) struct Look {
    pub(crate) italic: bool,
    pub(crate) bold: bool,
    pub(crate) small_caps: bool,
    pub(crate) underlined: bool,
    pub(crate) raised: Option<bool>,
}

/// Where a piece of text leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Link {
    /// To the reference at this place among those given, from 0.
    Reference(usize),
    /// An address outside of the document.
    Url(String),
}

/// A piece of text with one look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) text: String,
    pub(crate) look: Look,
    pub(crate) link: Option<Link>,
}

/// One entry of the list of references.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StyledEntry {
    /// Its place among the references given, from 0.
    pub(crate) reference: usize,
    /// Its number or label, where the style has one beside the text.
    pub(crate) label: Vec<Run>,
    pub(crate) text: Vec<Run>,
}

/// What a style made of citations and references.
#[derive(Debug, Clone, Default)]
pub(crate) struct Formatted {
    /// One for each cluster given.
    pub(crate) citations: Vec<Vec<Run>>,
    /// In the order of the style.
    pub(crate) entries: Vec<StyledEntry>,
}

/// What names in the CSL repository begin with.
const REPOSITORY: &str = "http://www.zotero.org/styles/";

impl CitationStyle {
    /// A style that comes with the program: one of [`STYLES`], or by its name in the CSL repository.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn named(name: &str) -> Result<Self, FormatError> {
        let wanted = name.trim().to_lowercase();
        let id = STYLES.iter().find(|(short, _)| *short == wanted).map_or(wanted.as_str(), |s| s.1);
        let known: Vec<&str> = STYLES.iter().map(|(short, _)| *short).collect();
        let unknown = || {
            FormatError::new(
                FormatErrorKind::Unsupported,
                "CSL",
                format!("no style is called {name:?}"),
            )
            .with_hint(format!("use {}, or a path to a .csl file", known.join(", ")))
        };
        // The processor has names of its own for a third of them.
        let in_repository = || ArchivedStyle::by_id(&format!("{REPOSITORY}{id}"));
        let archived = ArchivedStyle::by_name(id).or_else(in_repository);
        let archived = archived.or_else(|| ArchivedStyle::by_id(name.trim()));
        match archived.ok_or_else(unknown)?.get() {
            Style::Independent(style) => Ok(Self { name: wanted, style: Box::new(style) }),
            Style::Dependent(_) => Err(unknown()),
        }
    }

    /// A style of the person's own: the bytes of a `.csl` file.
    ///
    /// # Errors
    /// When it is no independent CSL style, or nests without end.
    pub fn from_csl(bytes: &[u8]) -> Result<Self, FormatError> {
        let fail = |kind, message: String| FormatError::new(kind, "CSL", message);
        let text = crate::encoding::decode(bytes, STYLE_BYTES, "CSL")?.text;
        let depth = nesting(&text);
        if depth > DEPTH {
            let message = format!("its elements or macros nest deeper than {DEPTH}");
            return Err(fail(FormatErrorKind::TooLarge, message));
        }
        let style = Style::from_xml(&text)
            .map_err(|error| fail(FormatErrorKind::Malformed, one_line(&error.to_string())))?;
        match style {
            Style::Independent(style) => {
                let name = one_line(&style.info.title.value);
                Ok(Self { name, style: Box::new(style) })
            }
            Style::Dependent(style) => {
                let parent = &style.parent_link.href;
                let message = format!("it only names another style, {parent}");
                Err(fail(FormatErrorKind::Unsupported, message).with_hint("use that style's file"))
            }
        }
    }

    /// Name of the style, as `--style` takes it.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn cites_by(&self) -> CitesBy {
        if self.style.settings.class == StyleClass::Note {
            return CitesBy::Note;
        }
        let format = self.style.info.category.iter().find_map(|category| match category {
            StyleCategory::CitationFormat { format } => Some(*format),
            StyleCategory::Field { .. } => None,
        });
        let raised = self.style.citation.layout.vertical_align == Some(VerticalAlign::Sup);
        match format {
            Some(CitationFormat::AuthorDate | CitationFormat::Author | CitationFormat::Label) => {
                CitesBy::Author
            }
            Some(CitationFormat::Note) => CitesBy::Note,
            _ if raised => CitesBy::Raised,
            _ => CitesBy::Number,
        }
    }

    /// Writes `clusters` of places among `items` (from 0) and the list of all items.
    ///
    /// # Errors
    /// When the style makes the processor fail.
    pub(crate) fn format(
        &self,
        items: &[Item],
        clusters: &[Vec<usize>],
    ) -> Result<Formatted, FormatError> {
        // Somebody's style file must not end the program, whatever the processor thinks of it.
        catch_unwind(AssertUnwindSafe(|| self.render(items, clusters))).map_err(|_| {
            let message = format!("the style {:?} cannot be applied", self.name);
            FormatError::new(FormatErrorKind::Unsupported, "CSL", message)
                .with_hint("use another style")
        })
    }

    fn render(&self, items: &[Item], clusters: &[Vec<usize>]) -> Formatted {
        let entries: Vec<CslItem> =
            items.iter().enumerate().map(|(at, item)| csl_item(at, item)).collect();
        let locales: &[Locale] = &LOCALES;
        let mut driver = BibliographyDriver::new();
        let notes = self.cites_by() == CitesBy::Note;
        for (number, cluster) in clusters.iter().enumerate() {
            let cited = cluster.iter().filter_map(|at| entries.get(*at));
            let cited = cited.map(CitationItem::with_entry).collect();
            let note = notes.then_some(number + 1);
            driver.citation(CitationRequest::new(cited, &self.style, None, locales, note));
        }
        // Those that no sentence cites stand in the list all the same.
        let hidden = entries.iter().map(|entry| CitationItem::new(entry, None, None, true, None));
        driver.citation(CitationRequest::new(hidden.collect(), &self.style, None, locales, None));
        let request =
            BibliographyRequest { style: &self.style, locale: None, locale_files: locales };
        let rendered = driver.finish(request);
        let citations = rendered.citations.iter().zip(clusters).map(|(citation, cluster)| {
            let mut runs = Vec::new();
            flatten(&citation.citation, None, cluster, &mut runs);
            runs
        });
        let list = rendered.bibliography.map(|list| list.items).unwrap_or_default();
        let entries = list.into_iter().filter_map(|item| {
            let (mut label, mut text) = (Vec::new(), Vec::new());
            if let Some(first) = &item.first_field {
                child(first, None, &[], &mut label);
            }
            flatten(&item.content, None, &[], &mut text);
            Some(StyledEntry { reference: item.key.parse().ok()?, label, text })
        });
        Formatted { citations: citations.collect(), entries: entries.collect() }
    }
}

/// The item as the processor takes it; its key is its place.
fn csl_item(at: usize, item: &Item) -> CslItem {
    let mut fields: BTreeMap<String, Value> = BTreeMap::new();
    let mut set = |name: &str, text: Option<String>| {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            fields.insert(name.to_owned(), Value::String(text));
        }
    };
    set("id", Some(at.to_string()));
    set("type", Some(csl::kind(item).to_owned()));
    // Its language is not known; a known one that is English would let styles change the capitals of its title.
    set("language", Some("und".to_owned()));
    set("title", Some(item.title.clone()));
    set("container-title", item.venue.clone());
    if item.venue.is_none()
        && let Some(number) = item.arxiv()
    {
        set("publisher", Some("arXiv".to_owned()));
        set("number", Some(format!("arXiv:{number}")));
    }
    set("DOI", item.doi().map(str::to_owned));
    set("URL", item.link());
    let authors: Vec<NameValue> = item.authors.iter().map(csl_name).collect();
    if !authors.is_empty() {
        fields.insert("author".to_owned(), Value::Names(authors));
    }
    if let Some(parts) = csl::issued(item) {
        let date_parts = VecDateRange(vec![VecDate(parts)]);
        let date = DateValue::DateParts { date_parts, literal: None, season: None, circa: false };
        fields.insert("issued".to_owned(), Value::Date(date));
    }
    CslItem(fields)
}

fn csl_name(name: &crate::names::Name) -> NameValue {
    match &name.given {
        None => NameValue::Literal(LiteralName { literal: name.family.clone() }),
        Some(given) => NameValue::Item(NameItem {
            family: name.family.clone(),
            given: Some(given.clone()),
            non_dropping_particle: None,
            dropping_particle: None,
            suffix: name.suffix.clone(),
            comma_suffix: None,
        }),
    }
}

fn flatten(children: &ElemChildren, link: Option<&Link>, cluster: &[usize], runs: &mut Vec<Run>) {
    for one in &children.0 {
        child(one, link, cluster, runs);
    }
}

/// Appends an element; inside the part of one cited item everything leads to its reference.
fn child(element: &ElemChild, link: Option<&Link>, cluster: &[usize], runs: &mut Vec<Run>) {
    match element {
        ElemChild::Text(text) => push(runs, &text.text, look(text.formatting), link.cloned()),
        ElemChild::Elem(inner) => {
            let own = match &inner.meta {
                Some(ElemMeta::Entry(at)) => cluster.get(*at).map(|at| Link::Reference(*at)),
                _ => None,
            };
            flatten(&inner.children, own.as_ref().or(link), cluster, runs);
        }
        ElemChild::Markup(text) => push(runs, text, Look::default(), link.cloned()),
        ElemChild::Link { text, url } => {
            let link = link.cloned().unwrap_or_else(|| Link::Url(url.clone()));
            push(runs, &text.text, look(text.formatting), Some(link));
        }
        ElemChild::Transparent { .. } => {}
    }
}

fn push(runs: &mut Vec<Run>, text: &str, look: Look, link: Option<Link>) {
    match runs.last_mut() {
        Some(last) if last.look == look && last.link == link => last.text.push_str(text),
        _ if text.is_empty() => {}
        _ => runs.push(Run { text: text.to_owned(), look, link }),
    }
}

fn look(formatting: Formatting) -> Look {
    Look {
        italic: formatting.font_style == FontStyle::Italic,
        bold: formatting.font_weight == FontWeight::Bold,
        small_caps: formatting.font_variant == FontVariant::SmallCaps,
        underlined: formatting.text_decoration == TextDecoration::Underline,
        raised: match formatting.vertical_align {
            VerticalAlign::Sup => Some(true),
            VerticalAlign::Sub => Some(false),
            _ => None,
        },
    }
}

/// How deep elements nest in each other, or macros call each other if that is more; macros that call themselves nest
/// without end.
fn nesting(xml: &str) -> usize {
    let xml = xml.replace(['\n', '\r', '\t'], " ");
    let mut calls: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let (mut open, mut deepest, mut current) = (0_usize, 0, "");
    for tag in xml.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap_or(tag);
        if tag.starts_with(['?', '!']) {
            continue;
        }
        if tag.starts_with('/') {
            open = open.saturating_sub(1);
            if tag.starts_with("/macro") {
                current = "";
            }
            continue;
        }
        if tag.starts_with("macro") {
            current = attribute(tag, "name").unwrap_or_default();
        } else if let Some(called) = attribute(tag, "macro") {
            calls.entry(current).or_default().push(called);
        }
        if !tag.ends_with('/') {
            open += 1;
            deepest = deepest.max(open);
        }
    }
    // The longest way through calls, by going one call further each time.
    let mut reached: Vec<&str> = calls.keys().copied().collect();
    let mut length = 0;
    while !reached.is_empty() && length <= DEPTH {
        let next = reached.iter().filter_map(|name| calls.get(name)).flatten().copied();
        let next: std::collections::BTreeSet<&str> = next.collect();
        reached = next.into_iter().collect();
        length += 1;
    }
    deepest.max(length)
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}="))?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    rest[1..].split(quote).next()
}

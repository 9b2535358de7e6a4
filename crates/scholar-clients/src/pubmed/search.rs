//! What `esearch` and `elink` answer.

use scholar_formats::xml::Tree;

use crate::parse::ReplyError;
use crate::xml::{self, Element};

/// Identifiers that match a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdList {
    /// How many match in all.
    pub count: u64,
    /// Those of this page, in the server's order.
    pub ids: Vec<u64>,
    /// How the server understood the search.
    pub understood: Option<String>,
    /// Words that it does not know or left out.
    pub ignored: Vec<String>,
}

/// Reads the answer of `esearch`.
///
/// # Errors
/// [`ReplyError::Refused`] with the server's words, [`ReplyError::Shape`] for anything else.
pub fn id_list(bytes: &[u8]) -> Result<IdList, ReplyError> {
    let tree = expect(bytes, "eSearchResult")?;
    let root = xml::document(&tree);
    if let Some(error) = root.text_of("ERROR") {
        return Err(ReplyError::Refused(error));
    }
    let count = root
        .text_of("Count")
        .and_then(|count| count.parse().ok())
        .ok_or_else(|| ReplyError::shape("the element `Count` is missing or no number"))?;
    let mut ignored = Vec::new();
    for list in root.all("ErrorList").chain(root.all("WarningList")) {
        for element in list.elements().filter(|element| element.name() != "OutputMessage") {
            ignored.push(element.text());
        }
    }
    ignored.retain(|text| !text.is_empty());
    let ids = match root.first("IdList") {
        Some(list) => list.all("Id").map(number).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    Ok(IdList { count, ids, understood: root.text_of("QueryTranslation"), ignored })
}

/// What one set of records is linked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkSet {
    /// The records asked for.
    pub from: Vec<u64>,
    /// Name of each link with the records it leads to.
    pub links: Vec<(String, Vec<u64>)>,
}

impl LinkSet {
    /// The records that the link of that name leads to.
    pub fn to(&self, name: &str) -> impl Iterator<Item = u64> {
        let found: Vec<u64> = self
            .links
            .iter()
            .filter(|(link, _)| link == name)
            .flat_map(|(_, ids)| ids.iter().copied())
            .collect();
        found.into_iter()
    }
}

/// Reads the answer of `elink`.
///
/// # Errors
/// As [`id_list`].
pub fn link_sets(bytes: &[u8]) -> Result<Vec<LinkSet>, ReplyError> {
    let tree = expect(bytes, "eLinkResult")?;
    let root = xml::document(&tree);
    if let Some(error) = root.text_of("ERROR") {
        return Err(ReplyError::Refused(error));
    }
    let mut sets = Vec::new();
    for set in root.all("LinkSet") {
        if let Some(error) = set.text_of("ERROR") {
            return Err(ReplyError::Refused(error));
        }
        let from = match set.first("IdList").or_else(|| set.first("IdCheckList")) {
            Some(list) => list.all("Id").map(number).collect::<Result<_, _>>()?,
            None => Vec::new(),
        };
        let mut links = Vec::new();
        for database in set.all("LinkSetDb") {
            let name = database.text_of("LinkName").unwrap_or_default();
            let ids = database.all("Link").filter_map(|link| link.first("Id")).map(number);
            links.push((name, ids.collect::<Result<_, _>>()?));
        }
        sets.push(LinkSet { from, links });
    }
    Ok(sets)
}

/// The document, if its root element has that name. The servers answer some failures with a page of the same kind.
pub(super) fn expect(bytes: &[u8], name: &str) -> Result<Tree, ReplyError> {
    let tree = xml::parse(bytes)?;
    let root = xml::document(&tree);
    if root.name() == name {
        return Ok(tree);
    }
    if let Some(error) = root.text_of("ERROR") {
        return Err(ReplyError::Refused(error));
    }
    Err(ReplyError::Shape(format!("the root element is {:?}, not {name:?}", root.name())))
}

fn number(id: Element<'_>) -> Result<u64, ReplyError> {
    let text = id.text();
    text.parse()
        .map_err(|_| ReplyError::Shape(format!("the element `Id`: {text:?} is not a number")))
}

//! What `esearch` and `elink` answer.

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
    let root = expect(bytes, "eSearchResult")?;
    if let Some(error) = root.child_text("ERROR") {
        return Err(ReplyError::Refused(error));
    }
    let count = root
        .child_text("Count")
        .and_then(|count| count.parse().ok())
        .ok_or_else(|| ReplyError::shape("the element `Count` is missing or no number"))?;
    let mut ignored = Vec::new();
    for list in root.all("ErrorList").chain(root.all("WarningList")) {
        for element in list.elements().filter(|element| element.name != "OutputMessage") {
            ignored.push(element.text());
        }
    }
    ignored.retain(|text| !text.is_empty());
    let ids = match root.child("IdList") {
        Some(list) => list.all("Id").map(number).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    Ok(IdList { count, ids, understood: root.child_text("QueryTranslation"), ignored })
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
    let root = expect(bytes, "eLinkResult")?;
    if let Some(error) = root.child_text("ERROR") {
        return Err(ReplyError::Refused(error));
    }
    let mut sets = Vec::new();
    for set in root.all("LinkSet") {
        if let Some(error) = set.child_text("ERROR") {
            return Err(ReplyError::Refused(error));
        }
        let from = match set.child("IdList").or_else(|| set.child("IdCheckList")) {
            Some(list) => list.all("Id").map(number).collect::<Result<_, _>>()?,
            None => Vec::new(),
        };
        let mut links = Vec::new();
        for database in set.all("LinkSetDb") {
            let name = database.child_text("LinkName").unwrap_or_default();
            let ids = database.all("Link").filter_map(|link| link.child("Id")).map(number);
            links.push((name, ids.collect::<Result<_, _>>()?));
        }
        sets.push(LinkSet { from, links });
    }
    Ok(sets)
}

/// The root element, if it has that name. The servers answer some failures with a page of the same kind.
pub(super) fn expect(bytes: &[u8], name: &str) -> Result<Element, ReplyError> {
    let root = xml::parse(bytes)?;
    if root.name == name {
        return Ok(root);
    }
    if let Some(error) = root.child_text("ERROR") {
        return Err(ReplyError::Refused(error));
    }
    Err(ReplyError::Shape(format!("the root element is {:?}, not {name:?}", root.name)))
}

fn number(id: &Element) -> Result<u64, ReplyError> {
    let text = id.text();
    text.parse().map_err(|_| ReplyError::Shape(format!("the element `Id`: {text:?} is no number")))
}

//! Crossref's JSON, as far as it is read.

use jiff::civil::Date;
use serde::Deserialize;
use serde_json::Value;

/// Every answer in JSON.
#[derive(Deserialize)]
pub(super) struct Envelope {
    pub(super) status: String,
    #[serde(rename = "message-type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) message: Value,
}

/// The message of a list.
#[derive(Deserialize)]
pub(super) struct WorkList {
    pub(super) items: Vec<Value>,
}

#[derive(Deserialize)]
pub(super) struct WireWork {
    #[serde(rename = "DOI")]
    pub(super) doi: String,
    #[serde(default)]
    pub(super) title: Option<Vec<String>>,
    #[serde(default)]
    pub(super) subtitle: Option<Vec<String>>,
    #[serde(default)]
    pub(super) author: Option<Vec<Contributor>>,
    #[serde(default, rename = "container-title")]
    pub(super) container: Option<Vec<String>>,
    #[serde(default)]
    pub(super) institution: Option<Vec<Institution>>,
    #[serde(default, rename = "abstract")]
    pub(super) summary: Option<String>,
    #[serde(default)]
    pub(super) issued: Option<Day>,
    #[serde(default)]
    pub(super) published: Option<Day>,
    #[serde(default, rename = "published-online")]
    pub(super) online: Option<Day>,
    #[serde(default, rename = "published-print")]
    pub(super) print: Option<Day>,
    #[serde(default)]
    pub(super) posted: Option<Day>,
    #[serde(default, rename = "is-referenced-by-count")]
    pub(super) cited: Option<u32>,
    #[serde(default)]
    pub(super) license: Option<Vec<Licence>>,
    #[serde(default)]
    pub(super) reference: Option<Vec<Reference>>,
    #[serde(default, rename = "type")]
    pub(super) kind: Option<String>,
    #[serde(default, rename = "update-to")]
    pub(super) update_to: Option<Vec<Update>>,
    #[serde(default, rename = "updated-by")]
    pub(super) updated_by: Option<Vec<Update>>,
}

#[derive(Deserialize)]
pub(super) struct Contributor {
    #[serde(default)]
    pub(super) given: Option<String>,
    #[serde(default)]
    pub(super) family: Option<String>,
    #[serde(default)]
    pub(super) suffix: Option<String>,
    #[serde(default)]
    pub(super) name: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Institution {
    #[serde(default)]
    pub(super) name: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Licence {
    #[serde(rename = "URL")]
    pub(super) url: String,
    #[serde(default, rename = "content-version")]
    pub(super) version: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Reference {
    #[serde(default, rename = "DOI")]
    pub(super) doi: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Update {
    #[serde(rename = "DOI")]
    pub(super) doi: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) updated: Option<Day>,
}

/// `{"date-parts": [[2015, 5, 4]]}`; month and day may be missing, and an unknown date is `[[null]]`.
#[derive(Deserialize)]
pub(super) struct Day {
    #[serde(default, rename = "date-parts")]
    parts: Vec<Vec<Option<i64>>>,
}

impl Day {
    fn part(&self, at: usize) -> Option<i64> {
        self.parts.first()?.get(at).copied().flatten()
    }

    pub(super) fn year(&self) -> Option<i16> {
        self.part(0).and_then(crate::parse::valid_year)
    }

    pub(super) fn day(&self) -> Option<Date> {
        let month = i8::try_from(self.part(1)?).ok()?;
        let day = i8::try_from(self.part(2)?).ok()?;
        Date::new(self.year()?, month, day).ok()
    }
}

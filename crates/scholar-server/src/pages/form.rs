//! The form of a question: from its fields to a request, and back where it cannot be taken.

use crate::backend::{AskFilter, AskRequest, Length};
use crate::error::ApiError;

/// The fields as they were sent: an empty one is one that was left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(super) fn new(fields: Vec<(String, String)>) -> Self {
        Self(fields)
    }

    /// The value of a field, if it has one.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(field, _)| field == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// The values of a field that may be sent several times.
    pub(super) fn all(&self, name: &str) -> Vec<String> {
        let found = self.0.iter().filter(|(field, _)| field == name);
        found.map(|(_, value)| value.trim().to_owned()).filter(|value| !value.is_empty()).collect()
    }

    fn number<T: std::str::FromStr>(&self, name: &str, label: &str) -> Result<Option<T>, ApiError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.parse().map(Some).map_err(|_| {
            ApiError::bad_request(format!("“{label}” is {value:?}, which is no number that fits"))
        })
    }

    /// A request with nothing but the question, where the rest makes no sense.
    pub(super) fn question(&self) -> AskRequest {
        let question = self.get("question").unwrap_or_default().to_owned();
        AskRequest { question, ..AskRequest::default() }
    }

    /// The request that they mean.
    pub(super) fn request(&self) -> Result<AskRequest, ApiError> {
        let length = self.get("length").map(|name| {
            let found = Length::ALL.into_iter().find(|length| length.name() == name);
            found.ok_or_else(|| ApiError::bad_request(format!("there is no length {name:?}")))
        });
        let venues = self.get("venue").unwrap_or_default();
        let venues = venues.split(',').map(|venue| venue.trim().to_owned());
        Ok(AskRequest {
            question: self.get("question").unwrap_or_default().to_owned(),
            datastore: self.get("datastore").map(str::to_owned),
            mode: self.get("mode").map(str::to_owned),
            length: length.transpose()?,
            sources: self.all("source"),
            filter: AskFilter {
                year_from: self.number("year_from", "from year")?,
                year_to: self.number("year_to", "to year")?,
                venues: venues.filter(|venue| !venue.is_empty()).collect(),
                min_citations: self.number("min_citations", "fewest citations")?,
                without_retracted: self.get("without_retracted").is_some(),
                include_unknown: self.get("include_unknown").is_some(),
            },
            follows: self.get("follows").map(str::to_owned),
            max_cost_usd: self.number("max_cost_usd", "US dollars")?,
            max_seconds: self.number("max_seconds", "seconds")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(pairs: &[(&str, &str)]) -> Fields {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Fields::new(pairs.iter().map(own).collect())
    }

    #[test]
    fn empty_fields_are_left_out_and_a_wrong_number_is_named() {
        let sent = fields(&[
            ("question", " Why? "),
            ("mode", ""),
            ("length", "short"),
            ("source", "s2"),
            ("source", "arxiv"),
            ("venue", "Nature, , ACL"),
            ("year_from", "2020"),
            ("year_to", ""),
            ("without_retracted", "on"),
        ]);
        let expect = AskRequest {
            question: "Why?".to_owned(),
            length: Some(Length::Short),
            sources: vec!["s2".to_owned(), "arxiv".to_owned()],
            filter: AskFilter {
                year_from: Some(2020),
                venues: vec!["Nature".to_owned(), "ACL".to_owned()],
                without_retracted: true,
                ..AskFilter::default()
            },
            ..AskRequest::default()
        };
        assert_eq!(sent.request().expect("a request"), expect);
        let wrong = fields(&[("question", "Why?"), ("year_from", "MMXX")]);
        assert!(wrong.request().expect_err("no number").message.contains("from year"));
    }
}

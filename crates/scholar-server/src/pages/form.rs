//! The forms of questions and reviews: from their fields to requests, and back where they cannot be taken.

use crate::backend::{
    AskFilter, AskRequest, Length, ReviewForm, ReviewHalf, ReviewPreset, ReviewRequest,
};
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

    pub(super) fn number<T: std::str::FromStr>(
        &self,
        name: &str,
        label: &str,
    ) -> Result<Option<T>, ApiError> {
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

    /// The choice that a field names; none where it is left out.
    fn choice<T: Copy>(
        &self,
        name: &str,
        all: &[T],
        named: impl Fn(T) -> &'static str,
    ) -> Result<Option<T>, ApiError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let found = all.iter().copied().find(|one| named(*one) == value);
        found
            .map(Some)
            .ok_or_else(|| ApiError::bad_request(format!("there is no {name} {value:?}")))
    }

    /// A review of the idea and nothing else, where the rest makes no sense.
    pub(super) fn idea(&self) -> ReviewRequest {
        let idea = self.get("idea").unwrap_or_default().to_owned();
        ReviewRequest { idea, ..ReviewRequest::default() }
    }

    /// The review that they mean.
    pub(super) fn review(&self) -> Result<ReviewRequest, ApiError> {
        let cutoff = self.get("cutoff").map(|day| {
            day.parse().map_err(|_| {
                ApiError::bad_request(format!("“cut-off date” is {day:?}, which is no date"))
                    .with_hint("write it as 2024-06-01")
            })
        });
        Ok(ReviewRequest {
            datastore: self.get("datastore").map(str::to_owned),
            module: self.choice("module", &ReviewHalf::ALL, ReviewHalf::name)?,
            mode: self.choice("mode", &ReviewForm::ALL, ReviewForm::name)?,
            preset: self.choice("preset", &ReviewPreset::ALL, ReviewPreset::name)?,
            cutoff: cutoff.transpose()?,
            include_unknown: self.get("include_unknown").is_some(),
            points: self.number("points", "points about the plan")?,
            sources: self.all("source"),
            max_cost_usd: self.number("max_cost_usd", "US dollars")?,
            max_calls: self.number("max_calls", "model calls")?,
            max_seconds: self.number("max_seconds", "seconds")?,
            ..self.idea()
        })
    }

    /// The conditions on papers that they mean.
    pub(super) fn filter(&self) -> Result<AskFilter, ApiError> {
        let venues = self.get("venue").unwrap_or_default();
        let venues = venues.split(',').map(|venue| venue.trim().to_owned());
        Ok(AskFilter {
            year_from: self.number("year_from", "from year")?,
            year_to: self.number("year_to", "to year")?,
            venues: venues.filter(|venue| !venue.is_empty()).collect(),
            min_citations: self.number("min_citations", "fewest citations")?,
            without_retracted: self.get("without_retracted").is_some(),
            include_unknown: self.get("include_unknown").is_some(),
        })
    }

    /// The request that they mean.
    pub(super) fn request(&self) -> Result<AskRequest, ApiError> {
        let length = self.get("length").map(|name| {
            let found = Length::ALL.into_iter().find(|length| length.name() == name);
            found.ok_or_else(|| ApiError::bad_request(format!("there is no length {name:?}")))
        });
        Ok(AskRequest {
            question: self.get("question").unwrap_or_default().to_owned(),
            datastore: self.get("datastore").map(str::to_owned),
            mode: self.get("mode").map(str::to_owned),
            length: length.transpose()?,
            sources: self.all("source"),
            filter: self.filter()?,
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
        let plan = [("idea", " We plan.\n"), ("preset", ""), ("module", "soundness")];
        let review = fields(&[&plan[..], &[("cutoff", "2024-06-01"), ("points", "3")]].concat());
        let review = review.review().expect("a review");
        assert_eq!((review.idea.as_str(), review.points), ("We plan.", Some(3)));
        assert_eq!((review.module, review.preset), (Some(ReviewHalf::Soundness), None));
        for (field, value) in [("cutoff", "soon"), ("mode", "magic"), ("points", "999")] {
            assert!(fields(&[("idea", "x"), (field, value)]).review().is_err(), "{field}");
        }
        let wrong = fields(&[("question", "Why?"), ("year_from", "MMXX")]);
        assert!(wrong.request().expect_err("no number").message.contains("from year"));
    }
}

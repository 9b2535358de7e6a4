//! The forms of tables and screenings: from their fields to requests, and back where they cannot be taken.

use super::form::Fields;
use crate::backend::{AskFilter, CriterionRequest, ReadBy, ScreeningRequest, TableRequest};
use crate::error::ApiError;

impl Fields {
    /// The table that they mean.
    pub(super) fn table(&self) -> Result<TableRequest, ApiError> {
        Ok(TableRequest {
            top: self.number("top", "papers, at most")?,
            filter: self.filter()?,
            max_cost_usd: self.number("max_cost_usd", "US dollars")?,
            ..self.rest_of_table()
        })
    }

    /// The same without what is a number, where one of them makes no sense.
    pub(super) fn rest_of_table(&self) -> TableRequest {
        let mut columns = self.all("column");
        columns.extend(self.lines("own_columns"));
        TableRequest {
            columns,
            papers: self.papers(),
            query: self.get("query").map(str::to_owned),
            top: None,
            datastore: self.get("datastore").map(str::to_owned),
            filter: AskFilter::default(),
            mode: self.read_by(),
            max_cost_usd: None,
        }
    }

    /// The screening that they mean.
    pub(super) fn screening(&self) -> Result<ScreeningRequest, ApiError> {
        Ok(ScreeningRequest {
            limit: self.number("limit", "papers to decide on")?,
            filter: self.filter()?,
            max_cost_usd: self.number("max_cost_usd", "US dollars")?,
            ..self.rest_of_screening()
        })
    }

    /// The same without what is a number.
    pub(super) fn rest_of_screening(&self) -> ScreeningRequest {
        let of = |name: &str, excludes: bool| {
            let lines = self.lines(name).into_iter();
            lines.map(move |line| criterion(&line, excludes)).collect::<Vec<_>>()
        };
        let mut criteria = of("include", false);
        criteria.extend(of("exclude", true));
        ScreeningRequest {
            title: self.get("title").unwrap_or_default().to_owned(),
            criteria,
            papers: self.papers(),
            datastore: self.get("datastore").map(str::to_owned),
            filter: AskFilter::default(),
            mode: self.read_by(),
            limit: None,
            max_cost_usd: None,
        }
    }

    fn read_by(&self) -> Option<ReadBy> {
        let name = self.get("mode")?;
        ReadBy::ALL.into_iter().find(|one| one.name() == name)
    }

    /// Papers that were named in the box, and those that were chosen in the library.
    fn papers(&self) -> Vec<String> {
        let mut papers = self.lines("papers");
        papers.extend(self.all("paper"));
        papers
    }

    /// The lines of a field that are not empty.
    fn lines(&self, name: &str) -> Vec<String> {
        let lines = self.get(name).unwrap_or_default().lines().map(str::trim);
        lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }
}

/// A line of criteria: `population: reports data on humans`, or the text alone.
fn criterion(line: &str, excludes: bool) -> CriterionRequest {
    let is_id = |id: &str| {
        !id.is_empty()
            && id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c))
    };
    match line.split_once(':') {
        Some((id, text)) if is_id(id.trim()) && !text.trim().is_empty() => CriterionRequest {
            id: Some(id.trim().to_owned()),
            text: text.trim().to_owned(),
            excludes,
        },
        _ => CriterionRequest { id: None, text: line.to_owned(), excludes },
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
    fn lines_and_checked_boxes_become_columns_papers_and_criteria() {
        let sent = fields(&[
            ("column", "trial.n"),
            ("column", "trial.funding"),
            ("own_columns", "Dose = Which dose, and how often?\r\n\r\n  method\r\n"),
            ("papers", "pmid:1\r\nA title\n"),
            ("paper", "pmid:2"),
            ("top", "5"),
            ("mode", "evidence"),
        ]);
        let table = sent.table().expect("a request");
        let columns = ["trial.n", "trial.funding", "Dose = Which dose, and how often?", "method"];
        assert_eq!(table.columns, columns);
        assert_eq!(table.papers, ["pmid:1", "A title", "pmid:2"]);
        assert_eq!((table.top, table.mode), (Some(5), Some(ReadBy::Evidence)));
        let wrong = fields(&[("query", "aspirin"), ("top", "ten")]);
        assert!(wrong.table().is_err());
        assert_eq!(wrong.rest_of_table().query.as_deref(), Some("aspirin"));
        let sent = fields(&[
            ("title", "Bleeding"),
            ("include", "population: reports data on humans\nDoses are told: in mg"),
            ("exclude", "is a review"),
        ]);
        let criteria = sent.screening().expect("a request").criteria;
        let shown: Vec<(Option<&str>, &str, bool)> = criteria
            .iter()
            .map(|one| (one.id.as_deref(), one.text.as_str(), one.excludes))
            .collect();
        let expect = [
            (Some("population"), "reports data on humans", false),
            (None, "Doses are told: in mg", false),
            (None, "is a review", true),
        ];
        assert_eq!(shown, expect);
    }
}

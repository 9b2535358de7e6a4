//! Papers of any collection as titles, abstracts, sections and references.

use std::path::Path;

use serde_json::Value;

use super::super::abstracts::flat;
use super::super::error::DataError;
use super::super::lines::read_rows;
use super::super::wording::first_words;

/// What training data needs of a paper.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaperText {
    /// Name in its collection.
    pub id: String,
    /// Title, single-spaced, never empty.
    pub title: String,
    /// Abstract as written, single spaces, labels kept.
    pub labelled: String,
    /// Abstract without section labels such as `METHODS:`.
    pub text: String,
    /// Texts of the sections in the order of the paper.
    pub sections: Vec<String>,
    /// Titles of its references in order; empty where unknown.
    pub reference_titles: Vec<String>,
    /// Works it cites, by name in the collection.
    pub cites: Vec<String>,
    /// First field of study, where the collection tells.
    pub field: String,
    /// Year of publication, where the collection tells.
    pub year: Option<i64>,
    /// Its own licence as the collection writes it, empty where unknown.
    pub licence: String,
}

/// Reads papers: this project's rows, the ACL Anthology's, arXiv's, OpenAlex's works and PMC full texts. A row
/// without a title is left out; at most `max_rejected_fraction` of the rows may be no objects.
///
/// # Errors
/// As [`read_rows`].
pub fn read_papers(path: &Path, max_rejected_fraction: f64) -> Result<Vec<PaperText>, DataError> {
    let rows = read_rows(path, max_rejected_fraction, |row: &Value| {
        row.is_object().then_some(()).ok_or_else(|| "not an object".to_owned())
    })?;
    Ok(rows.values().filter_map(|row| paper(&row)).collect())
}

fn paper(row: &Value) -> Option<PaperText> {
    // This project's own rows keep what is known of a paper in `meta`, and its abstract among the sections.
    let meta = if row["meta"]["title"].is_string() { &row["meta"] } else { row };
    let title = spaced(meta["title"].as_str()?);
    if title.is_empty() {
        return None;
    }
    let labelled = spaced(&abstract_of(row));
    let texts = |field: &str, inner: &str| -> Vec<String> {
        let items = row[field].as_array().into_iter().flatten();
        items.map(|item| spaced(item[inner].as_str().unwrap_or_default())).collect()
    };
    let cites = row["referenced_works"].as_array().into_iter().flatten();
    Some(PaperText {
        id: meta["id"].as_str().map_or_else(|| meta["id"].to_string(), str::to_owned),
        text: flat(&labelled),
        title,
        labelled,
        sections: texts("sections", "text"),
        reference_titles: texts("references", "title"),
        cites: cites.filter_map(Value::as_str).map(str::to_owned).collect(),
        field: row["primary"].as_str().unwrap_or_default().to_owned(),
        year: meta["year"].as_i64().or_else(|| meta["publication_year"].as_i64()),
        licence: licence(row).to_owned(),
    })
}

/// The paper's own licence: PMC's rows have one, OpenAlex's have that of the published version.
fn licence(row: &Value) -> &str {
    let own = row["license"].as_str();
    own.or_else(|| row["primary_location"]["license"].as_str()).unwrap_or_default()
}

fn abstract_of(row: &Value) -> String {
    if let Some(text) = row["abstract"].as_str() {
        return text.to_owned();
    }
    let mut sections = row["sections"].as_array().into_iter().flatten();
    if let Some(section) = sections.find(|section| section["heading"] == "Abstract") {
        return section["text"].as_str().unwrap_or_default().to_owned();
    }
    let Some(inverted) = row["abstract_inverted_index"].as_object() else {
        return String::new();
    };
    let mut words: Vec<(u64, &str)> = Vec::new();
    for (word, places) in inverted {
        let places = places.as_array().into_iter().flatten();
        words.extend(places.filter_map(Value::as_u64).map(|place| (place, word.as_str())));
    }
    words.sort_unstable();
    words.into_iter().map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}

fn spaced(text: &str) -> String {
    first_words(text, usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_all_collections_are_papers() {
        let folder = tempfile::tempdir().expect("temp dir");
        let path = folder.path().join("papers.jsonl");
        let rows = concat!(
            r#"{"id":"W1","title":"Salt","abstract_inverted_index":{"rises.":[1],"Pressure":[0]},"referenced_works":["W2"],"publication_year":1999,"primary_location":{"license":"cc-by-nc"}}"#,
            "\n",
            r#"{"id":"PMC1","title":"A  trial","abstract":"AimWe ask.ConclusionIt works.","sections":[{"title":"x","text":"Body [1]."}],"year":2005,"license":"CC BY","references":[{"title":"Cited"},{}]}"#,
            "\n",
            r#"{"id":"a/1","title":"Stars","abstract":"They burn.","primary":"astro-ph"}"#,
            "\n",
            r#"{"meta":{"id":"acl:1","title":"Ours"},"sections":[{"heading":"Abstract","text":"Kept."}]}"#,
            "\n",
            r#"{"id":"none","abstract":"untitled"}"#,
            "\n",
        );
        fs_err::write(&path, rows).expect("written");
        let papers = read_papers(&path, 0.0).expect("read");
        assert_eq!(papers.len(), 4);
        assert_eq!((papers[3].id.as_str(), papers[3].text.as_str()), ("acl:1", "Kept."));
        assert_eq!((papers[0].text.as_str(), papers[0].cites.len()), ("Pressure rises.", 1));
        assert_eq!(papers[1].text, "We ask. It works.");
        assert_eq!(papers[1].title, "A trial");
        assert_eq!(papers[1].reference_titles, ["Cited", ""]);
        assert_eq!(papers[2].field, "astro-ph");
        let known = papers.iter().map(|paper| (paper.year, paper.licence.as_str()));
        let expected = [(Some(1999), "cc-by-nc"), (Some(2005), "CC BY"), (None, ""), (None, "")];
        assert!(known.eq(expected));
    }
}

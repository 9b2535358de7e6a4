//! The invented library behind the stand-in: fourteen papers in two clusters, twenty passages.

use std::sync::LazyLock;

use serde::Deserialize;

use super::search::rank;

const WORLD: &str = include_str!("../../fixtures/standin/world.json");

/// What every imitated service knows: papers, who cites whom, notices.
#[derive(Debug, Deserialize)]
pub struct World {
    /// A date with one paper exactly on it and two after it.
    pub cutoff: String,
    /// Papers in the order of the file.
    pub papers: Vec<WorldPaper>,
}

/// One paper, in no service's words.
#[derive(Debug, Deserialize)]
pub struct WorldPaper {
    /// Name by which others of the file refer to it.
    pub key: String,
    /// Title in plain text.
    pub title: String,
    /// Abstract in plain text; some papers have none.
    #[serde(rename = "abstract")]
    pub summary: Option<String>,
    /// Authors, given name first.
    pub authors: Vec<String>,
    /// Day of publication, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Year of publication; some papers have none.
    pub year: Option<i16>,
    /// Journal or conference, empty where none.
    pub venue: String,
    /// How often it was cited.
    pub citations: u32,
    /// Semantic Scholar's corpus id.
    pub corpus: u64,
    /// Number of the OpenAlex work, without `W`.
    pub openalex: u64,
    /// DOI without an address in front.
    pub doi: Option<String>,
    /// arXiv id without version.
    pub arxiv: Option<String>,
    /// `PubMed` id, where the paper is in `PubMed`.
    pub pmid: Option<u64>,
    /// PMC id as a number, without `PMC`.
    pub pmcid: Option<u64>,
    /// Licence of a free copy, if there is one.
    pub open_access: Option<Licence>,
    /// What was published about it later.
    pub status: Option<Status>,
    /// Whole text by headed sections, in order.
    pub sections: Vec<WorldSection>,
    /// Keys of the papers it cites.
    pub references: Vec<String>,
    /// Those of them that are important to it.
    pub influential: Vec<String>,
}

/// Terms of a free copy.
#[derive(Debug, Deserialize)]
pub struct Licence {
    /// As a person would write it.
    pub licence: String,
}

/// A notice about a paper.
#[derive(Debug, Deserialize)]
pub struct Status {
    /// `retraction`, `correction` or `expression_of_concern`, as Crossref names them.
    pub kind: String,
    /// Day of the notice.
    pub date: String,
}

/// A headed section of a paper's text.
#[derive(Debug, Deserialize)]
pub struct WorldSection {
    /// Heading as printed, without a number.
    pub heading: String,
    /// Text below the heading, with citation markers.
    pub text: String,
    /// Markers in the text with the key of the cited paper, if it is known; `None`: nobody looked.
    pub mentions: Option<Vec<(String, Option<String>)>>,
}

/// The library.
///
/// # Panics
/// Never: the file is part of this crate and read by its tests.
pub fn world() -> &'static World {
    static READ: LazyLock<World> =
        LazyLock::new(|| serde_json::from_str(WORLD).expect("world.json is a World"));
    &READ
}

impl World {
    /// The paper of that short name.
    pub fn get(&self, key: &str) -> Option<&WorldPaper> {
        self.papers.iter().find(|work| work.key == key)
    }

    /// The papers that cite `key`.
    pub fn citing(&self, key: &str) -> impl Iterator<Item = &WorldPaper> {
        self.papers.iter().filter(move |work| work.references.iter().any(|cited| cited == key))
    }

    /// Papers that match a few words by title and abstract, best first.
    pub(super) fn search(&self, query: &str) -> Vec<(&WorldPaper, f64)> {
        let texts: Vec<String> = self.papers.iter().map(WorldPaper::about).collect();
        let ranked = rank(query, &texts).into_iter();
        ranked.filter_map(|(at, score)| Some((self.papers.get(at)?, score))).collect()
    }
}

impl WorldPaper {
    /// Title and abstract.
    pub(super) fn about(&self) -> String {
        format!("{} {}", self.title, self.summary.as_deref().unwrap_or_default())
    }

    /// The day, else the first day of the year: what services compare with.
    pub(super) fn day(&self) -> Option<String> {
        self.date.clone().or_else(|| Some(format!("{}-01-01", self.year?)))
    }

    /// Whether the day lies within `from:to`, both inclusive and either open, each a year, month or day.
    pub(super) fn within(&self, range: &str) -> bool {
        let (from, to) = range.split_once(':').unwrap_or((range, range));
        let Some(day) = self.day() else { return false };
        let after = from.is_empty() || day.as_str() >= from;
        // `2020` includes all of 2020.
        after && (to.is_empty() || day.as_str() <= format!("{to}~").as_str())
    }

    /// Given names and family name of an author.
    pub(super) fn split_name(name: &str) -> (&str, &str) {
        name.rsplit_once(' ').unwrap_or(("", name))
    }

    /// Where its free copy is on the server at `base`.
    pub(super) fn pdf(&self, base: &str) -> Option<String> {
        self.open_access.as_ref().map(|_| format!("{base}/pdf/{}.pdf", self.key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_has_every_edge_case() {
        let World { cutoff, papers } = world();
        assert!(papers.len() >= 12);
        assert_eq!(papers.iter().map(|work| work.sections.len()).sum::<usize>(), 20);
        let dates = || papers.iter().filter_map(|work| work.date.as_ref());
        assert_eq!(dates().filter(|date| *date == cutoff).count(), 1);
        assert_eq!(dates().filter(|date| *date > cutoff).count(), 2);
        assert!(papers.iter().any(|work| work.summary.is_none()));
        assert!(papers.iter().any(|work| work.date.is_none() && work.year.is_none()));
        assert!(papers.iter().any(|work| work.date.is_none() && work.year.is_some()));
        assert!(papers.iter().any(|work| work.citations < 10));
        let kinds: Vec<_> = papers.iter().filter_map(|work| work.status.as_ref()).collect();
        assert_eq!(kinds.len(), 3);
        let sections = || papers.iter().flat_map(|work| &work.sections);
        assert!(sections().any(|part| part.mentions.is_none()));
        let mentions = || sections().filter_map(|part| part.mentions.as_ref()).flatten();
        assert!(mentions().any(|(_, cited)| cited.is_none()));
        for (marker, cited) in mentions() {
            assert!(sections().any(|part| part.text.contains(marker)));
            assert!(cited.as_ref().is_none_or(|key| world().get(key).is_some()));
        }
        for key in papers.iter().flat_map(|work| work.references.iter().chain(&work.influential)) {
            assert!(world().get(key).is_some(), "{key}");
        }
        assert!(world().citing("sleep2").count() >= 2, "cited twice");
    }

    #[test]
    fn search_is_ranked_and_ranges_are_inclusive() {
        let found: Vec<_> = world()
            .search("memory consolidation sleep")
            .iter()
            .map(|(w, _)| w.key.as_str())
            .collect();
        assert!(found.contains(&"sleep1") && found.contains(&"retract"), "{found:?}");
        assert!(!found.contains(&"hyb"));
        let feedback = world().get("feedback").expect("there");
        assert!(feedback.within(":2022-06-01") && !feedback.within(":2022-05-31"));
        assert!(feedback.within("2022:2022") && !feedback.within("2023:"));
    }
}

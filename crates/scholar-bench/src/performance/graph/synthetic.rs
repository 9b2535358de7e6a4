//! A made citation graph as large as wanted, whose numbers of citations follow a power law.
//!
//! Papers are made one after another, and each cites earlier ones: with one half of its references any of them, with the
//! other half what an earlier reference, drawn at random, leads to, so that a paper is cited the more the more it is cited.
//!
//! Source: Price 1976, with as many references to any paper as to a cited one: a power law with exponent 3.

use std::fmt::Write as _;

use scholar_core::paper::ABSTRACT_HEADING;
use scholar_core::{Paper, PaperId, PaperMeta, Section, SplitMix64};

/// References of a paper: from the first to the second number, each as often.
const REFERENCES: (usize, usize) = (4, 20);
/// Words of an abstract.
const WORDS: usize = 24;
/// Different words.
const VOCABULARY: usize = 20_000;
const FIRST_YEAR: i16 = 1980;
const YEARS: usize = 45;

/// Who cites whom among made papers, by their numbers.
#[derive(Debug)]
pub struct SyntheticGraph {
    /// Where the references of each paper begin; one more than papers.
    starts: Vec<usize>,
    references: Vec<u32>,
    citations: Vec<u32>,
    seed: u64,
}

impl SyntheticGraph {
    /// The graph of `papers` papers, the same for the same seed.
    pub fn new(papers: u32, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut graph = Self {
            starts: vec![0],
            references: Vec::new(),
            citations: vec![0; papers as usize],
            seed,
        };
        let mut drawn: Vec<u32> = Vec::new();
        for paper in 0..papers {
            let (least, most) = REFERENCES;
            let wanted = (least + random.below(most - least + 1)).min(paper as usize);
            drawn.clear();
            for _ in 0..wanted {
                let is_any = graph.references.is_empty() || random.below(2) == 0;
                let cited = if is_any {
                    u32::try_from(random.below(paper as usize)).unwrap_or_default()
                } else {
                    graph.references[random.below(graph.references.len())]
                };
                if !drawn.contains(&cited) {
                    drawn.push(cited);
                }
            }
            for cited in &drawn {
                graph.citations[*cited as usize] += 1;
            }
            graph.references.extend(&drawn);
            graph.starts.push(graph.references.len());
        }
        graph
    }

    /// References of all papers.
    pub fn edges(&self) -> usize {
        self.references.len()
    }

    /// The papers with their references, numbers of citations and abstracts, in the order in which they were made.
    pub fn papers(&self) -> impl Iterator<Item = Paper> + '_ {
        let numbers = (0_u32..).zip(&self.citations).zip(self.starts.windows(2));
        numbers.map(|((number, citations), range)| {
            let cited = &self.references[range[0]..range[1]];
            self.paper(number, *citations, cited)
        })
    }

    /// The identifier of paper `number`.
    pub fn id(number: u32) -> PaperId {
        PaperId::CorpusId(u64::from(number))
    }

    fn paper(&self, number: u32, citations: u32, cited: &[u32]) -> Paper {
        let mut random = SplitMix64::stream(self.seed, u64::from(number));
        let mut text = String::new();
        for _ in 0..WORDS {
            // Half of the words from a tenth of the vocabulary.
            let rare = random.below(2) == 0;
            let word = random.below(if rare { VOCABULARY } else { VOCABULARY / 10 });
            // Writing to a string cannot fail.
            let _infallible = write!(text, "word{word} ");
        }
        let mut meta = PaperMeta::new(Self::id(number), format!("Made paper {number}"));
        let share = number as usize * YEARS / self.citations.len().max(1);
        meta.year = i16::try_from(share).ok().map(|years| FIRST_YEAR + years);
        meta.citation_count = Some(citations);
        Paper {
            meta,
            sections: vec![Section::new(ABSTRACT_HEADING, text.trim_end())],
            references: cited.iter().map(|number| Self::id(*number)).collect(),
            records: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_follow_a_power_law_and_the_seed_decides() {
        let graph = SyntheticGraph::new(20_000, 5);
        let per_paper = crate::statistics::ratio(graph.edges(), 20_000);
        assert!((10.0..12.5).contains(&per_paper), "{per_paper}");
        let mut citations = graph.citations.clone();
        citations.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
        let most: u32 = citations[..200].iter().sum();
        let all: u32 = citations.iter().sum();
        // A hundredth of the papers has an eighth of the citations and more; of a random graph it would have a fiftieth.
        assert!(f64::from(most) / f64::from(all) > 0.12, "{most} of {all}");
        assert_eq!(SyntheticGraph::new(20_000, 5).references, graph.references);
        assert_ne!(SyntheticGraph::new(20_000, 6).references, graph.references);
    }

    #[test]
    fn papers_cite_earlier_ones_once_each_and_counts_are_theirs() {
        let graph = SyntheticGraph::new(500, 1);
        let papers: Vec<Paper> = graph.papers().collect();
        assert_eq!(papers.len(), 500);
        for (number, paper) in (0_u32..).zip(&papers) {
            assert_eq!(paper.meta.id, SyntheticGraph::id(number));
            let mut cited = paper.references.clone();
            cited.sort();
            cited.dedup();
            assert_eq!(cited.len(), paper.references.len());
            assert!(cited.iter().all(|id| *id < paper.meta.id), "{number}");
            let citing =
                papers.iter().filter(|one| one.references.contains(&paper.meta.id)).count();
            assert_eq!(paper.meta.citation_count, u32::try_from(citing).ok());
        }
        assert_eq!((papers[0].meta.year, papers[499].meta.year), (Some(1980), Some(2024)));
    }
}

//! How rare a stem is in scientific abstracts at large: the weights of every lexical comparison here.
//!
//! A table instead of the passages at hand, so that a judgement does not depend on what else was retrieved and the
//! calibration of [`super::lexical`] holds. Made by `crates/scholar-bench/examples/stem_frequencies.rs` from arXiv, ACL
//! Anthology, OpenAlex and PMC abstracts.

use std::sync::LazyLock;

use scholar_core::text::words::Idf;

/// Texts the counts of the table are scaled to.
const N_TEXTS: u32 = 100_000;
/// Texts an unlisted stem is taken to be in: less than any listed one.
const UNLISTED_COUNT: u32 = 20;

const TABLE: &str = include_str!("stem_frequencies.tsv");

/// Inverse document frequencies of stems in 100,000 scientific abstracts.
pub fn science_idf() -> &'static Idf {
    static IDF: LazyLock<Idf> = LazyLock::new(|| {
        let counts = TABLE.lines().filter_map(|line| {
            let (stem, count) = line.split_once('\t')?;
            Some((stem.to_owned(), count.parse().ok()?))
        });
        Idf::of_counts(N_TEXTS, UNLISTED_COUNT, counts)
    });
    &IDF
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole_and_rare_stems_weigh_more() {
        assert!(TABLE.lines().all(|line| {
            line.split_once('\t').is_some_and(|(_, count)| count.parse::<u32>().is_ok())
        }));
        let idf = science_idf();
        assert!(idf.weight("model") < idf.weight("retriev"));
        assert!(idf.weight("retriev") < idf.weight("levitatedxyz"));
    }
}

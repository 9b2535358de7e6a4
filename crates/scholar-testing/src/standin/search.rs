//! Ranking that every service of the stand-in shares.

use std::collections::BTreeMap;

use crate::words::stems;

/// Positions of the matching texts, best first; ties keep their order. A BM25 with the usual constants.
pub(super) fn rank(query: &str, texts: &[String]) -> Vec<(usize, f64)> {
    let documents: Vec<Vec<String>> = texts.iter().map(|text| stems(text)).collect();
    let wanted = stems(query);
    let mut holders: BTreeMap<&str, usize> = BTreeMap::new();
    for word in &wanted {
        let count = documents.iter().filter(|words| words.contains(word)).count();
        holders.insert(word, count);
    }
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let total = number(documents.len());
    let mean = number(documents.iter().map(Vec::len).sum()) / total.max(1.0);
    let score = |words: &Vec<String>| -> f64 {
        let weight = |word: &String| {
            let holders = number(holders.get(word.as_str()).copied().unwrap_or(0));
            let rarity = ((total - holders + 0.5) / (holders + 0.5)).ln_1p();
            let count = number(words.iter().filter(|known| *known == word).count());
            let length = number(words.len()) / mean.max(1.0);
            rarity * count * 1.9 / (count + 0.9 * (0.6 + 0.4 * length))
        };
        wanted.iter().map(weight).sum()
    };
    let mut ranked: Vec<(usize, f64)> =
        documents.iter().map(score).enumerate().filter(|(_, score)| *score > 0.0).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked
}

//! Replies that were damaged on the way: every reader returns, whatever came.

use scholar_clients::{arxiv, crossref, openalex, pubmed, unpaywall, web};

const SAMPLES: [&[u8]; 6] = [
    include_bytes!("../data/openalex_page.json"),
    include_bytes!("../data/arxiv_entry.xml"),
    include_bytes!("../data/arxiv_error.xml"),
    include_bytes!("../data/crossref_corrected.json"),
    include_bytes!("../data/pubmed_set.xml"),
    br#"{"hits":[{"url":"https://arxiv.org/abs/2411.14199v2"}],"results":{"web":[{"url":"https://doi.org/10.1%2Fx"}]},"type":"search","doi":"10.1/a","is_oa":true}"#,
];

/// Bytes that mean something in JSON and XML, and some that are no UTF-8.
const TELLING: &[u8] = b"<>&;/\"'{}[]:,0-9e\\\xff\x00\xc3\xed";

/// A sequence of numbers that is the same everywhere (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) >> 33).unwrap_or(0) % limit.max(1)
    }
}

fn damaged(sample: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = sample.to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bytes.len());
        let end = (at + numbers.below(60)).min(bytes.len());
        match numbers.below(4) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            _ if !bytes.is_empty() => bytes[at] = TELLING[numbers.below(TELLING.len())],
            _ => {}
        }
    }
    bytes
}

/// How many of the readers take `bytes` for a good reply.
fn readers_that_agree(bytes: &[u8]) -> usize {
    let page = web::you(bytes).map(|(results, _)| web::papers(&results, 10)).is_ok();
    let results = [
        openalex::page(bytes).is_ok(),
        openalex::single(bytes).is_ok(),
        arxiv::feed(bytes).is_ok(),
        pubmed::article_set(bytes).is_ok(),
        pubmed::id_list(bytes).is_ok(),
        pubmed::link_sets(bytes).is_ok(),
        crossref::single(bytes).is_ok(),
        crossref::list(bytes).is_ok(),
        unpaywall::open_access(bytes).is_ok(),
        web::brave(bytes).is_ok(),
        page,
    ];
    results.into_iter().filter(|good| *good).count()
}

#[test]
fn no_damage_stops_a_reader() {
    let whole: usize = SAMPLES.iter().map(|sample| readers_that_agree(sample)).sum();
    assert_eq!(whole, 7, "each sample has its reader, the last one three; the error has none");
    let mut numbers = Numbers(7);
    let (mut good, mut tried) = (0, 0);
    for sample in SAMPLES {
        for _ in 0..300 {
            good += readers_that_agree(&damaged(sample, &mut numbers)).min(1);
            tried += 1;
        }
    }
    assert!(
        good > 0 && good < tried,
        "{good} of {tried}: damage is neither nothing nor everything"
    );
}

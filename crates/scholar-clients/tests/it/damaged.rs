//! Replies that were damaged on the way: every reader returns, whatever came.

use scholar_clients::{arxiv, crossref, openalex, pubmed, unpaywall, web};
use scholar_testing::mutate::{Random, mutate};

const SAMPLES: [&[u8]; 6] = [
    include_bytes!("../data/openalex_page.json"),
    include_bytes!("../data/arxiv_entry.xml"),
    include_bytes!("../data/arxiv_error.xml"),
    include_bytes!("../data/crossref_corrected.json"),
    include_bytes!("../data/pubmed_set.xml"),
    br#"{"hits":[{"url":"https://arxiv.org/abs/2411.14199v2"}],"results":{"web":[{"url":"https://doi.org/10.1%2Fx"}]},"type":"search","doi":"10.1/a","is_oa":true}"#,
];

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
    let mut random = Random::new(7);
    let (mut good, mut tried) = (0, 0);
    for sample in SAMPLES {
        for _ in 0..300 {
            good += readers_that_agree(&mutate(&[sample.to_vec()], &mut random)).min(1);
            tried += 1;
        }
    }
    assert!(
        good > 0 && good < tried,
        "{good} of {tried}: damage is neither nothing nor everything"
    );
}

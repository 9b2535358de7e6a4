//! Search against a model of it: plain arithmetic over the same papers.

use proptest::prelude::*;
use scholar_core::{
    Encoder as _, Paper, PaperId, Retraction, Retrieved, Retriever as _, SearchFilter, SearchMode,
    SearchRequest, Side,
};
use scholar_datastore::{Datastore, HybridRetriever, SearchConfig};

use super::{add, create, encoder, paper, request, retriever};

fn search(retriever: &HybridRetriever, request: &SearchRequest) -> Vec<Retrieved> {
    futures::executor::block_on(retriever.search(request)).expect("searched")
}

fn ids(hits: &[Retrieved]) -> Vec<String> {
    hits.iter().map(|hit| hit.passage.id.to_string()).collect()
}

fn filled(papers: Vec<Paper>) -> (tempfile::TempDir, Datastore) {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut writer = store.writer().expect("writer");
    // Several commits, so that there are several segments on both sides.
    for part in papers.chunks(papers.len().div_ceil(3).max(1)) {
        add(&mut writer, part.to_vec());
    }
    drop(writer);
    (folder, store)
}

#[test]
fn both_sides_find_and_explain() {
    let (_folder, store) = filled(vec![
        paper(1, "Protein folding", "chaperones help proteins fold"),
        paper(2, "Speech recognition", "acoustic models of speech"),
        paper(3, "Protein design", "design of proteins with networks"),
    ]);
    for config in [SearchConfig::tuned(), SearchConfig::reciprocal_rank()] {
        let retriever = retriever(Datastore::open(store.root()).expect("opens"), config);
        for mode in [SearchMode::Lexical, SearchMode::Dense, SearchMode::Hybrid] {
            let hits = search(&retriever, &request("how do chaperones fold proteins", mode, 2));
            assert_eq!(hits[0].paper.id, PaperId::Pmid(1), "{mode:?}");
            for hit in &hits {
                let tree = &hit.explanation;
                assert!((tree.value - hit.score.value()).abs() < 1e-6);
                if mode == SearchMode::Hybrid {
                    let sum: f32 = tree.details.iter().map(|part| part.value).sum();
                    assert!((sum - tree.value).abs() < 1e-5, "{tree}");
                    assert_eq!(tree.details.len(), 2);
                }
            }
        }
        let tree = search(&retriever, &request("chaperones", SearchMode::Hybrid, 1));
        let printed = tree[0].explanation.to_string();
        assert!(printed.contains("chaperon") && printed.contains("rank 1"), "{printed}");
    }
}

#[test]
fn a_batch_finds_what_each_query_finds_alone() {
    let papers: Vec<Paper> = (0..40)
        .map(|n| paper(n, &format!("Title {}", n % 7), &format!("w{} w{} w{}", n % 5, n % 11, n)))
        .collect();
    let (_folder, store) = filled(papers);
    let retriever = retriever(store, SearchConfig::tuned());
    let modes = [SearchMode::Hybrid, SearchMode::Lexical, SearchMode::Dense];
    let requests: Vec<SearchRequest> =
        (0..12).map(|n| request(&format!("title w{n} w{}", n % 4), modes[n % 3], 1 + n)).collect();
    let together = futures::executor::block_on(retriever.search_batch(&requests));
    assert_eq!(together.len(), requests.len());
    for (request, found) in requests.iter().zip(together) {
        assert_eq!(found.expect("searched"), search(&retriever, request), "{request:?}");
    }
    assert!(futures::executor::block_on(retriever.search_batch(&[])).is_empty());
}

#[test]
fn nothing_to_find_is_an_empty_list() {
    let folder = tempfile::tempdir().expect("temp dir");
    let retriever_ = retriever(create(folder.path()), SearchConfig::tuned());
    for mode in [SearchMode::Lexical, SearchMode::Dense, SearchMode::Hybrid] {
        assert!(search(&retriever_, &request("anything", mode, 5)).is_empty());
    }
    let (_folder, store) = filled(vec![paper(1, "One", "alpha")]);
    let retriever = retriever(store, SearchConfig::tuned());
    assert!(search(&retriever, &request("omega", SearchMode::Lexical, 5)).is_empty());
    assert!(search(&retriever, &request("alpha", SearchMode::Hybrid, 0)).is_empty());
    assert_eq!(search(&retriever, &request("!? …", SearchMode::Hybrid, 5)).len(), 1);
}

#[test]
fn ties_are_broken_by_passage_id() {
    let papers = [5, 3, 9, 1, 7].map(|n| paper(n, "Same", "the same words here")).to_vec();
    let (_folder, store) = filled(papers);
    let retriever = retriever(store, SearchConfig::tuned());
    for mode in [SearchMode::Lexical, SearchMode::Dense, SearchMode::Hybrid] {
        let hits = search(&retriever, &request("same words", mode, 3));
        assert_eq!(ids(&hits), ["pmid:1#0", "pmid:3#0", "pmid:5#0"], "{mode:?}");
    }
}

#[test]
fn the_dense_scan_is_exact() {
    let papers: Vec<Paper> = (0..60)
        .map(|n| paper(n, &format!("Title {}", n % 7), &format!("w{} w{} w{}", n % 5, n % 11, n)))
        .collect();
    let (_folder, store) = filled(papers.clone());
    let query = "title w3 w4 w7";
    let hits =
        search(&retriever(store, SearchConfig::tuned()), &request(query, SearchMode::Dense, 20));
    let encoder = encoder();
    let q = encoder.encode(Side::Query, &[query]).expect("encoded").values;
    let mut expect: Vec<f32> = papers
        .iter()
        .map(|paper| {
            let text = format!("{} {}", paper.meta.title, paper.text());
            let row = encoder.encode(Side::Passage, &[&text]).expect("encoded").values;
            row.iter().zip(&q).map(|(a, b)| a * b).sum()
        })
        .collect();
    expect.sort_by(|a, b| b.total_cmp(a));
    let scores: Vec<f32> = hits.iter().map(|hit| hit.score.value()).collect();
    scholar_testing::assert_all_close(&scores, &expect[..20], 2e-3);
}

#[test]
fn bm25_follows_its_formula() {
    let (_folder, store) = filled(vec![
        paper(1, "alpha", "beta beta gamma"),
        paper(2, "delta", "alpha beta"),
        paper(3, "delta", "epsilon zeta eta theta"),
    ]);
    let config = SearchConfig::tuned();
    let hits = search(&retriever(store, config), &request("alpha beta", SearchMode::Lexical, 9));
    let scholar_datastore::lexical::Bm25 { k1, b, title_weight } = config.bm25;
    // Lengths are 3 + w, 2 + w and 4 + w; both terms occur in two of three passages.
    let mean = (3.0 + 2.0 + 4.0) / 3.0 + title_weight;
    let idf = (1.0_f32 + (3.0 - 2.0 + 0.5) / (2.0 + 0.5)).ln();
    let part = |tf: f32, length: f32| {
        idf * tf / (tf + k1 * (1.0 - b + b * (length + title_weight) / mean))
    };
    let expect = [part(title_weight, 3.0) + part(2.0, 3.0), part(1.0, 2.0) + part(1.0, 2.0)];
    let scores: Vec<f32> = hits.iter().map(|hit| hit.score.value()).collect();
    scholar_testing::assert_all_close(&scores, &expect, 1e-5);
}

#[test]
fn stopping_early_changes_no_result() {
    // Word n is in every n-th paper or so: lists of all lengths, as in language.
    let papers: Vec<Paper> = (0..900_u64)
        .map(|n| {
            let words =
                (1..60_u64).filter(|word| (n * 7_919 + word * 104_729) % 1_009 < 1_009 / word);
            let text: Vec<String> = words
                .map(|word| format!("w{word} ").repeat(1 + (n % word.min(4)) as usize))
                .collect();
            paper(n, &format!("w{} w{}", n % 5 + 1, n % 50 + 1), &text.concat())
        })
        .collect();
    let (_folder, store) = filled(papers);
    let few = SearchFilter { year_from: Some(2018), ..SearchFilter::none() };
    let at_depth = |depth: usize, query: &str, filter: &SearchFilter| {
        let store = Datastore::open(store.root()).expect("opens");
        let retriever = retriever(store, SearchConfig { depth, ..SearchConfig::tuned() });
        let mut request = request(query, SearchMode::Lexical, 10);
        request.filter = filter.clone();
        let hits = search(&retriever, &request);
        let scores: Vec<f32> = hits.iter().map(|hit| hit.score.value()).collect();
        (ids(&hits), scores)
    };
    for filter in [SearchFilter::none(), few] {
        for query in [
            "w1 w2 w3 w50",
            "w58 w1",
            "w7 w7 w20 w2",
            "w1",
            "w40 w41 w42 w1 w2 w3 w4",
            "w59 nowhere",
        ] {
            let (ids, scores) = at_depth(10, query, &filter);
            let (all_ids, all_scores) = at_depth(100_000, query, &filter);
            assert_eq!(ids, all_ids, "{query}");
            scholar_testing::assert_all_close(&scores, &all_scores, 1e-5);
        }
    }
}

fn some_paper() -> impl Strategy<Value = Paper> {
    let venue = prop_oneof![
        Just(None),
        Just(Some("ACL 2020".to_owned())),
        Just(Some("Nature Methods".to_owned())),
        Just(Some("ÉCOLE".to_owned())),
    ];
    let day = prop_oneof![Just(None), (1_i8..13, 1_i8..28).prop_map(Some)];
    let title = prop_oneof![Just("Some title"), Just("Some other title"), Just("SOME-TITLE.")];
    let licence =
        prop_oneof![Just(None), Just(Some("CC BY 4.0")), Just(Some("cc-by-nc")), Just(Some("CC0"))];
    let retraction = prop_oneof![
        Just(Retraction::Unknown),
        Just(Retraction::Corrected),
        Just(Retraction::Retracted)
    ];
    let seen = (venue, title, licence, retraction);
    (prop::option::of(2015_i16..2024), seen, prop::option::of(0_u32..50), day, 0_u64..6).prop_map(
        |(year, (venue, title, licence, retraction), citations, day, external)| {
            let mut paper = paper(0, title, "words of some text");
            paper.meta.year = year;
            paper.meta.venue = venue;
            paper.meta.licence = licence.map(str::to_owned);
            paper.meta.retraction = retraction;
            paper.meta.citation_count = citations;
            paper.meta.published = day.and_then(|(month, day)| {
                jiff::civil::Date::new(year.unwrap_or(2018), month, day).ok()
            });
            paper.meta.external_ids = vec![PaperId::CorpusId(external)];
            paper
        },
    )
}

fn some_filter() -> impl Strategy<Value = SearchFilter> {
    let venues = prop_oneof![
        Just(vec![]),
        Just(vec!["acl".to_owned()]),
        Just(vec!["école".to_owned(), "NATURE".to_owned()]),
    ];
    let titles = prop_oneof![3 => Just(None), 1 => Just(Some("some title"))];
    let papers = prop::collection::btree_set(
        prop_oneof![(0_u64..12).prop_map(PaperId::Pmid), (0_u64..6).prop_map(PaperId::CorpusId)],
        0..8,
    );
    (
        prop::option::of((2015_i16..2024, 1_i8..13, 1_i8..28)),
        prop::option::of(2014_i16..2024),
        prop::option::of(2014_i16..2024),
        venues,
        prop::option::of(0_u32..50),
        (prop::option::of(papers.clone()), papers, titles),
        (
            prop_oneof![3 => Just(None), 1 => Just(Some("cc-by")), 1 => Just(Some("cc0-1.0"))],
            any::<bool>(),
            any::<bool>(),
        ),
    )
        .prop_map(
            |(
                before,
                year_from,
                year_to,
                venues,
                min_citations,
                named,
                (licence, without_retracted, include_unknown),
            )| {
                let (papers, exclude, titles) = named;
                SearchFilter {
                    published_before: before.and_then(|(year, month, day)| {
                        jiff::civil::Date::new(year, month, day).ok()
                    }),
                    year_from,
                    year_to,
                    venues,
                    min_citations,
                    licences: licence.into_iter().map(str::to_owned).collect(),
                    include_unknown,
                    without_retracted,
                    papers,
                    exclude: exclude.into_iter().take(3).collect(),
                    exclude_titles: titles.into_iter().map(str::to_owned).collect(),
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn filters_accept_what_the_domain_accepts(
        papers in prop::collection::vec(some_paper(), 1..12),
        filters in prop::collection::vec(some_filter(), 1..12),
    ) {
        let papers: Vec<Paper> = (0_u64..)
            .zip(papers)
            .map(|(n, mut paper)| {
                paper.meta.id = PaperId::Pmid(n);
                paper
            })
            .collect();
        let (_folder, store) = filled(papers.clone());
        let retriever = retriever(store, SearchConfig::tuned());
        // Once more in the end, when they are remembered or were forgotten.
        for filter in filters.iter().chain(&filters) {
            let mut expect: Vec<String> = papers
                .iter()
                .filter(|paper| filter.accepts(&paper.meta))
                .map(|paper| format!("{}#0", paper.meta.id))
                .collect();
            expect.sort();
            for mode in [SearchMode::Dense, SearchMode::Lexical, SearchMode::Hybrid] {
                let request = SearchRequest {
                    filter: filter.clone(),
                    ..request("some words", mode, 50)
                };
                let mut found = ids(&search(&retriever, &request));
                found.sort();
                prop_assert_eq!(&found, &expect, "{:?} {:?}", mode, filter);
            }
        }
    }
}

#[test]
fn years_beside_all_years_that_are_known_find_nothing() {
    let mut dated = paper(1, "Some title", "some words");
    dated.meta.year = Some(2018);
    let (_folder, store) = filled(vec![dated]);
    let retriever = retriever(store, SearchConfig::tuned());
    for (year_from, year_to, expect) in
        [(None, Some(2014), 0), (Some(2019), None, 0), (None, Some(2018), 1), (Some(2018), None, 1)]
    {
        let filter = SearchFilter { year_from, year_to, ..SearchFilter::none() };
        for mode in [SearchMode::Dense, SearchMode::Lexical, SearchMode::Hybrid] {
            let request = SearchRequest { filter: filter.clone(), ..request("words", mode, 9) };
            let found = ids(&search(&retriever, &request));
            assert_eq!(found.len(), expect, "{mode:?} {filter:?} {found:?}");
        }
    }
}

#[test]
fn a_filter_asked_before_sees_new_commits() {
    let (_folder, store) = filled((0..3).map(|n| paper(n, "Old words", "some words")).collect());
    let writing = Datastore::open(store.root()).expect("opens");
    let retriever = retriever(store, SearchConfig::tuned());
    let filter =
        SearchFilter { exclude: [PaperId::Pmid(0)].into_iter().collect(), ..SearchFilter::none() };
    for mode in [SearchMode::Dense, SearchMode::Lexical, SearchMode::Hybrid] {
        let request = SearchRequest { filter: filter.clone(), ..request("words", mode, 9) };
        let before = ids(&search(&retriever, &request));
        assert_eq!(before, ids(&search(&retriever, &request)), "{mode:?}");
        let new = before.len() as u64 + 1;
        let mut writer = writing.writer().expect("writer");
        add(&mut writer, vec![paper(new, "New words", "some words")]);
        drop(writer);
        let after = ids(&search(&retriever, &request));
        assert!(after.contains(&format!("pmid:{new}#0")), "{mode:?} {after:?}");
        assert_eq!(after.len(), before.len() + 1, "{mode:?}");
    }
}

#[test]
fn papers_are_found_by_title_in_any_printing() {
    let papers = vec![
        paper(1, "Attention Is All You Need", "words of some text"),
        paper(2, "Attention: is all (you) need?", "words of another text"),
        paper(3, "Attention is not all you need", "words of a third text"),
    ];
    let (_folder, store) = filled(papers);
    let found = store.papers_titled("ATTENTION — is all you need").expect("reads");
    let ids: Vec<String> = found.iter().map(|meta| meta.id.to_string()).collect();
    assert_eq!(ids, ["pmid:1", "pmid:2"]);
    store
        .writer()
        .and_then(|mut writer| {
            writer.remove(&[PaperId::Pmid(1)])?;
            writer.commit()
        })
        .expect("removes");
    assert_eq!(store.papers_titled("attention is all you need").expect("reads").len(), 1);
    assert!(store.papers_titled("").expect("reads").is_empty());
}

#[test]
fn papers_without_passages_are_found_by_title_until_they_have_some() {
    let bare = |n| {
        let mut paper = paper(n, "Attention Is All You Need", "");
        paper.sections.clear();
        paper
    };
    let (_folder, store) = filled(vec![bare(1), bare(2), paper(3, "Something else", "words")]);
    let titled = || -> Vec<String> {
        let found = store.papers_titled("attention is all you need?").expect("reads");
        found.iter().map(|meta| meta.id.to_string()).collect()
    };
    assert_eq!(titled(), ["pmid:1", "pmid:2"]);
    let mut writer = store.writer().expect("writer");
    add(&mut writer, vec![paper(2, "Attention Is All You Need", "words of its text")]);
    writer.remove(&[PaperId::Pmid(1)]).expect("removes");
    writer.commit().expect("commits");
    assert_eq!(titled(), ["pmid:2"], "once, by its passage");
}

//! Semantic Scholar's client against the stand-in.

use futures::future::join_all;
use jiff::civil::Date;
use scholar_clients::semantic_scholar::{BulkOrder, RecommendFrom, SnippetKind};
use scholar_clients::{FetchConfig, SemanticScholar};
use scholar_core::text::normalise::title_key;
use scholar_core::{
    FindBy, FindRequest, NoticeKind, PaperId, PaperSource as _, PortErrorKind, Query, SearchFilter,
};
use scholar_testing::standin::world::{World, world};
use scholar_testing::{Calls, Fault, StandIn};
use serde_json::{Value, json};

use crate::standin::{Day, config, fetcher};

fn client(server: &StandIn) -> SemanticScholar {
    let config: FetchConfig = config(server, &Day::default());
    SemanticScholar::new(fetcher(config))
}

fn server() -> StandIn {
    StandIn::start().expect("a free loopback port")
}

fn id(key: &str) -> PaperId {
    PaperId::CorpusId(world().get(key).expect("in the library").corpus)
}

fn before_cutoff() -> SearchFilter {
    let cutoff: Date = world().cutoff.parse().expect("a date");
    SearchFilter { published_before: Some(cutoff), ..SearchFilter::none() }
}

fn keywords(text: &str, filter: SearchFilter) -> FindRequest {
    let text = Query::new(text).expect("words");
    FindRequest { text, by: FindBy::Keywords, filter, limit: 10 }
}

#[tokio::test(start_paused = true)]
async fn found_papers_carry_what_is_known_of_them() {
    let server = server();
    let client = client(&server);
    let found = client
        .find(&keywords("sleep-dependent memory", SearchFilter::none()))
        .await
        .expect("found");
    let paper = found.papers.iter().find(|paper| paper.meta.id == id("sleep1")).expect("the trial");
    let World { papers, .. } = world();
    let work = papers.iter().find(|work| work.key == "sleep1").expect("in the library");
    let meta = &paper.meta;
    let others = [
        PaperId::doi(work.doi.as_deref().expect("a DOI")).expect("a DOI"),
        PaperId::Pmid(work.pmid.expect("a PMID")),
        PaperId::Pmcid(work.pmcid.expect("a PMCID")),
    ];
    assert!(others.iter().all(|id| meta.external_ids.contains(id)), "{:?}", meta.external_ids);
    assert_eq!(meta.external_ids.len(), 3);
    assert_eq!((&meta.title, &meta.authors, meta.year), (&work.title, &work.authors, work.year));
    assert_eq!(meta.published.map(|day| day.to_string()), work.date);
    assert_eq!(
        (meta.venue.as_ref(), meta.citation_count),
        (Some(&work.venue), Some(work.citations))
    );
    assert_eq!(paper.abstract_text(), work.summary.as_deref());
    assert!(found.papers.iter().any(|paper| paper.sections.is_empty()), "one has no abstract");
    let query = &server.log()[0].query;
    assert!(query.contains("query=sleep+dependent+memory"), "hyphens match nothing: {query}");
    assert!(client.takes(FindBy::Keywords) && !client.takes(FindBy::Question));
}

#[tokio::test(start_paused = true)]
async fn a_cutoff_is_strict_in_every_list() {
    let server = server();
    let client = client(&server);
    let filter = before_cutoff();
    let cutoff = filter.published_before.expect("a cutoff");
    let mut lists = vec![
        client.search("retrieval passages citations", 10, &filter).await.expect("search").items,
        client.search("sleep memory", 10, &filter).await.expect("search").items,
        client.search_bulk("sleep", BulkOrder::Id, 10, &filter).await.expect("bulk").items,
        client
            .recommend_for(&id("rag1"), RecommendFrom::Recent, 10, &filter)
            .await
            .expect("like it")
            .items,
        client
            .recommend(&[id("sleep1"), id("rerank")], &[id("hyb")], 10, &filter)
            .await
            .expect("like them")
            .items,
    ];
    let edges = client.citations(&id("rag1"), 10, &filter).await.expect("citations").items;
    lists.push(edges.into_iter().map(|edge| edge.paper).collect());
    let all = client.citations(&id("rag1"), 10, &SearchFilter::none()).await.expect("citations");
    let known: Vec<_> = all.items.iter().map(|edge| &edge.paper.paper.meta.id).collect();
    assert_eq!(known, [&id("rerank"), &id("feedback"), &id("cite")], "without a cutoff");
    for list in &lists {
        assert!(!list.is_empty());
        for found in list {
            let latest = found.paper.meta.latest_day().expect("unknown dates do not pass");
            assert!(latest < cutoff, "{}", found.paper.meta.title);
        }
    }
    let log = server.log();
    let searches = log.iter().filter(|request| request.path.contains("/search"));
    assert!(
        searches
            .into_iter()
            .all(|request| request.query.contains("publicationDateOrYear=%3A2022-05-31"))
    );
}

#[tokio::test(start_paused = true)]
async fn the_paper_under_evaluation_is_nowhere() {
    let server = server();
    let client = client(&server);
    let own = world().get("rag1").expect("in the library");
    let filter = SearchFilter {
        exclude: [id("rag1")].into(),
        // Its preprint has another identifier and the same title.
        exclude_titles: [title_key(&own.title)].into(),
        ..SearchFilter::none()
    };
    let everything =
        client.search(&own.title, 10, &SearchFilter::none()).await.expect("found").items;
    assert!(
        everything
            .iter()
            .filter(|found| title_key(&found.paper.meta.title) == title_key(&own.title))
            .count()
            == 2
    );
    let cleaned = client.search(&own.title, 10, &filter).await.expect("found").items;
    let references = client.references(&id("rerank"), 10, &filter).await.expect("references").items;
    let snippets =
        client.snippets("retrieval of passages", 20, &filter).await.expect("snippets").items;
    assert!(!cleaned.is_empty() && !references.is_empty() && !snippets.is_empty());
    let titles = cleaned.iter().map(|found| &found.paper.meta.title);
    let titles = titles.chain(references.iter().map(|edge| &edge.paper.paper.meta.title));
    for title in titles.chain(snippets.iter().map(|snippet| &snippet.paper.title)) {
        assert_ne!(title_key(title), title_key(&own.title));
    }
}

#[tokio::test(start_paused = true)]
async fn what_snippets_do_not_state_is_looked_up_before_they_are_believed() {
    let server = server();
    let client = client(&server);
    let own = world().get("rag1").expect("in the library");
    // The service is not asked for venues, so only what is known of the paper can decide.
    let venue = SearchFilter { venues: vec![own.venue.to_uppercase()], ..before_cutoff() };
    let query = "retrieval of passages";
    let all = client.snippets(query, 20, &SearchFilter::none()).await.expect("snippets").items;
    assert!(all.iter().all(|snippet| snippet.paper.venue.is_none()), "else this shows nothing");
    assert!(server.asked("/s2/graph/v1/paper/batch").is_empty());
    let kept = client.snippets(query, 20, &venue).await.expect("snippets").items;
    assert!(!kept.is_empty() && kept.len() < all.len(), "{} of {}", kept.len(), all.len());
    assert!(kept.iter().all(|snippet| venue.accepts(&snippet.paper)));
    assert_eq!(server.asked("/s2/graph/v1/paper/batch").len(), 1, "one call for all");
}

#[tokio::test(start_paused = true)]
async fn bulk_search_turns_pages_and_a_match_may_be_absent() {
    let server = server();
    let client = client(&server);
    let found = client
        .search_bulk("memory sleep retrieval", BulkOrder::MostCited, 100, &SearchFilter::none())
        .await;
    let found = found.expect("found");
    let counts: Vec<_> = found.items.iter().map(|paper| paper.paper.meta.citation_count).collect();
    assert!(counts.len() > 5 && counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
    assert_eq!(found.total, u64::try_from(counts.len()).ok());
    assert_eq!(server.log().len(), counts.len().div_ceil(5), "pages of five");
    let close = client.match_title("slow waves and memory consolidation").await.expect("asked");
    let close = close.expect("matched");
    assert_eq!((close.paper.meta.id, close.match_score.is_some()), (id("sleep2"), true));
    assert!(client.match_title("gravitational lensing").await.expect("asked").is_none());
    assert!(client.paper(&PaperId::CorpusId(1)).await.expect("asked").is_none());
    assert!(client.paper(&PaperId::OpenAlex(1)).await.expect("not asked").is_none());
}

#[tokio::test(start_paused = true)]
async fn batches_hold_five_hundred_distinct_papers_and_keep_their_order() {
    let server = server();
    let client = client(&server);
    let known: Vec<PaperId> =
        world().papers.iter().map(|work| PaperId::CorpusId(work.corpus)).collect();
    let mut ids: Vec<PaperId> = (1..=1100).map(PaperId::CorpusId).collect();
    for (at, paper) in known.iter().enumerate() {
        ids.insert(at * 70, paper.clone());
    }
    ids.extend(known.iter().cloned());
    ids.push(PaperId::OpenAlex(5));
    let batch = client.batch(&ids).await.expect("looked up");
    assert_eq!(batch.papers.len(), ids.len());
    for (asked, paper) in ids.iter().zip(&batch.papers) {
        let found = paper.as_ref().map(|paper| &paper.paper.meta.id);
        assert_eq!(found, known.contains(asked).then_some(asked), "{asked}");
    }
    let sizes: Vec<usize> = server
        .log()
        .iter()
        .map(|request| {
            let body: Value = serde_json::from_str(&request.body).expect("JSON");
            body["ids"].as_array().expect("a list").len()
        })
        .collect();
    assert_eq!(sizes, [500, 500, 114]);
    assert!(batch.notices.iter().any(|notice| notice.message.contains("no names for 1")));

    server.reset();
    server.fault("/batch", Calls::All, Fault::Nulls);
    let holes = client.batch(&known).await.expect("looked up");
    assert_eq!(holes.papers.len(), known.len());
    for (asked, paper) in known.iter().zip(&holes.papers) {
        assert!(paper.as_ref().is_none_or(|paper| &paper.paper.meta.id == asked));
    }
    assert_eq!(holes.papers.iter().flatten().count(), known.len() / 2);
}

#[tokio::test(start_paused = true)]
async fn a_failing_call_costs_its_own_papers_only() {
    let server = server();
    let client = client(&server);
    let ids: Vec<PaperId> = (1..=600).map(PaperId::CorpusId).chain([id("hyb")]).collect();
    server.fault("/batch", Calls::Nth(1), Fault::Status(400, r#"{"error": "too odd"}"#.to_owned()));
    let batch = client.batch(&ids).await.expect("the second call is answered");
    assert!(batch.papers.last().is_some_and(Option::is_some));
    let [notice] = &batch.notices[..] else { panic!("{:?}", batch.notices) };
    assert_eq!(notice.kind, NoticeKind::Skipped);
    assert!(
        notice.message.contains("500 papers") && notice.message.contains("too odd"),
        "{}",
        notice.message
    );
    server.fault("/batch", Calls::All, Fault::Html);
    assert_eq!(client.batch(&ids).await.expect_err("both failed").kind(), PortErrorKind::Corrupt);
}

#[tokio::test(start_paused = true)]
async fn one_failing_keyword_discards_no_other() {
    let server = server();
    server.fault("query=caffeine", Calls::All, Fault::Status(500, String::new()));
    server.fault("query=retrieval", Calls::First(1), Fault::RateLimited(Some("9".to_owned())));
    let client = client(&server);
    let requests: Vec<FindRequest> =
        ["retrieval", "caffeine", "memory"].map(|word| keywords(word, SearchFilter::none())).into();
    let found = join_all(requests.iter().map(|request| client.find(request))).await;
    let [first, second, third] = &found[..] else { panic!("three keywords, three outcomes") };
    assert!(first.as_ref().is_ok_and(|found| found.papers.len() >= 3));
    assert!(third.as_ref().is_ok_and(|found| found.papers.len() > 3));
    let error = second.as_ref().expect_err("it failed every time");
    assert_eq!(error.kind(), PortErrorKind::Transient);
    assert_eq!(server.asked("/s2").iter().filter(|r| r.query.contains("caffeine")).count(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_reply_without_its_list_is_no_empty_one() {
    let server = server();
    let client = client(&server);
    let all = SearchFilter::none();
    let says = |body: &str| Fault::Status(200, body.to_owned());
    server.fault("/s2/", Calls::All, says("{\"total\": 0, \"offset\": 0}"));
    let nothing = client.search("n0 r3sult", 10, &all).await.expect("this is how nothing looks");
    assert!(nothing.items.is_empty() && nothing.notices.is_empty());
    for body in ["{}", "{\"total\": 3}", "{\"total\": 1, \"data\": [null]}"] {
        server.reset();
        server.fault("/s2/", Calls::All, says(body));
        let errors = [
            client.search("sleep", 10, &all).await.map(|_| ()),
            client.search_bulk("sleep", BulkOrder::Id, 10, &all).await.map(|_| ()),
        ];
        for error in errors {
            let error = error.expect_err(body);
            assert_eq!(error.kind(), PortErrorKind::Corrupt);
            assert!(error.to_string().contains("field `data`"), "{error}");
        }
    }
    server.reset();
    server.fault("/s2/", Calls::All, says("{}"));
    assert!(client.snippets("sleep", 10, &all).await.is_err());
    assert!(client.recommend(&[id("rag1")], &[], 10, &all).await.is_err());
    assert!(client.paper(&id("rag1")).await.is_err());
    let withheld = client.references(&id("rerank"), 10, &all).await.expect("data may be null");
    assert!(withheld.notices[0].message.contains("withheld"), "{:?}", withheld.notices);
    server.reset();
    server.fault("/s2/", Calls::All, Fault::Nulls);
    let half = client.search("sleep", 10, &all).await.expect("half of it can be read");
    assert!(half.notices.iter().any(|notice| notice.message.contains("were null")));
}

#[tokio::test(start_paused = true)]
async fn snippets_are_parts_of_papers() {
    let server = server();
    let source = scholar_clients::SnippetSource::new(client(&server));
    let text = Query::new("weighted sum of dense retrieval scores").expect("words");
    let request =
        FindRequest { text, by: FindBy::Question, filter: SearchFilter::none(), limit: 10 };
    let found = source.find(&request).await.expect("found").papers;
    let paper = found.iter().find(|paper| paper.meta.id == id("rag1")).expect("the method's");
    assert!(paper.sections.iter().any(|section| section.heading == "Method"));
    assert!(paper.references.contains(&id("hyb")), "the paper that it mentions");
    let ids: std::collections::BTreeSet<_> = found.iter().map(|paper| &paper.meta.id).collect();
    assert_eq!(ids.len(), found.len(), "each paper once");
}

#[tokio::test(start_paused = true)]
async fn edges_tell_what_is_important_and_catalogs_answer_identifiers() {
    let server = server();
    let client = client(&server);
    let edges = client
        .references(&id("rerank"), 10, &SearchFilter::none())
        .await
        .expect("references")
        .items;
    let seen: Vec<_> =
        edges.iter().map(|edge| (&edge.paper.paper.meta.id, edge.influential)).collect();
    assert_eq!(seen, [(&id("rag1"), true), (&id("hyb"), false)]);
    let ids = scholar_core::Catalog::citations(&client, &id("sleep2")).await.expect("citations");
    assert_eq!(ids.len(), world().citing("sleep2").count());
    let trial = world().get("sleep1").expect("in the library");
    let by_pmid = client.paper(&PaperId::Pmid(trial.pmid.expect("a PMID"))).await.expect("asked");
    assert_eq!(by_pmid.map(|found| found.paper.meta.id), Some(id("sleep1")));
    assert!(
        scholar_core::Catalog::references(&client, &PaperId::CorpusId(1)).await.is_err(),
        "unknown is not without references"
    );
}

#[tokio::test(start_paused = true)]
async fn snippets_keep_sentences_and_the_papers_they_mention() {
    let server = server();
    let client = client(&server);
    let found =
        client.snippets("weighted sum of dense retrieval scores", 20, &SearchFilter::none()).await;
    let found = found.expect("found").items;
    let method = found.iter().find(|s| s.section.as_deref() == Some("Method")).expect("the method");
    assert_eq!((method.kind, &method.paper.id), (SnippetKind::Body, &id("rag1")));
    let cut = |range: &std::ops::Range<usize>| -> String {
        method.text.chars().skip(range.start).take(range.len()).collect()
    };
    let [mention] = &method.mentions[..] else { panic!("{:?}", method.mentions) };
    assert_eq!((cut(&mention.range).as_str(), mention.paper.as_ref()), ("[1]", Some(&id("hyb"))));
    assert_eq!(method.sentences.iter().map(cut).collect::<Vec<_>>().join(" "), method.text);
    let mentions =
        client.snippets("feedback interactive search query", 20, &SearchFilter::none()).await;
    let mentions = mentions.expect("found").items;
    assert!(mentions.iter().flat_map(|s| &s.mentions).any(|mention| mention.paper.is_none()));
    let bare = client
        .snippets("unsupported statements fell on 300 questions", 20, &SearchFilter::none())
        .await;
    let bare = bare.expect("annotations may be null").items;
    assert!(bare.iter().any(|s| s.section.as_deref() == Some("Results") && s.sentences.is_empty()));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_identifier_or_date_is_left_out_with_a_notice() {
    let server = server();
    let odd = json!([
        {"paperId": "a".repeat(40), "corpusId": 7, "title": " Odd\n ids ", "publicationDate": "soon", "authors": [{"name": null}],
         "externalIds": {"DOI": "11.1/x", "ArXiv": "2399.00001v3", "PubMed": "12x", "MAG": "5", "CorpusId": 7}},
        {"paperId": null, "title": "Nameless"},
        {"paperId": "B".repeat(40), "title": null, "abstract": "", "externalIds": null},
        null,
    ]);
    server.fault("/paper/search", Calls::First(1), Fault::List(odd));
    let client = client(&server);
    let found = client.search("sleep", 10, &SearchFilter::none()).await.expect("readable");
    let [first, second] = &found.items[..] else { panic!("{:?}", found.items) };
    assert_eq!(first.paper.meta.title, "Odd ids");
    assert_eq!(first.paper.meta.id, PaperId::CorpusId(7));
    assert_eq!(first.paper.meta.external_ids, [PaperId::Arxiv("2399.00001".to_owned())]);
    assert_eq!(second.paper.meta.id, PaperId::Local(format!("s2-{}", "B".repeat(40))));
    let said: Vec<&str> = found.notices.iter().map(|notice| notice.message.as_str()).collect();
    for part in [
        "\"11.1/x\" as `externalIds.DOI`",
        "\"12x\" as `externalIds.PubMed`",
        "\"soon\"",
        "\"Nameless\"",
    ] {
        assert!(said.iter().any(|message| message.contains(part)), "{part}: {said:?}");
    }
    server.fault("/paper/search", Calls::All, Fault::List(json!([{"title": "x", "year": "2020"}])));
    let error = client.search("memory", 10, &SearchFilter::none()).await.expect_err("no year");
    assert!(error.to_string().contains("data[0].year"), "{error}");
}

//! Searches for papers against a site on this machine.

use std::sync::Arc;

use jiff::civil::Date;
use scholar_clients::{
    Arxiv, ArxivSource, Fetcher, FullTexts, HttpClient, Latexml, OpenAlex, OpenAlexSource,
    Provider, Pubmed, PubmedSource, SecretString, WebSource,
};
use scholar_core::{
    FindBy, FindRequest, PaperId, PaperSource as _, PortErrorKind, Query, SearchFilter,
};

use crate::site::{SeenRequest, Site};

const JSON: &str = "application/json";
const XML: &str = "text/xml";
const ARXIV: &str = include_str!("../data/arxiv_entry.xml");
const PUBMED: &str = include_str!("../data/pubmed_set.xml");

fn wanted(text: &str, by: FindBy, filter: SearchFilter, limit: usize) -> FindRequest {
    FindRequest { text: Query::new(text).expect("a query"), by, filter, limit }
}

fn work(number: u32, date: &str) -> String {
    let year = &date[..4];
    format!(
        r#"{{"id":"https://openalex.org/W{number}","title":"Work {number}","publication_year":{year},"publication_date":"{date}"}}"#
    )
}

#[tokio::test]
async fn openalex_is_asked_for_days_before_the_cutoff_and_its_answer_is_checked() {
    let site = Site::start(|asked: &SeenRequest| {
        let (next, works) = match asked.param("cursor") {
            // A server that does not keep to the bound.
            Some("*") => (r#""c2""#, [work(1, "2024-03-01"), work(2, "2024-02-28")]),
            _ => ("null", [work(3, "2024-02-27"), work(4, "2023-05-05")]),
        };
        let works = works.join(",");
        (200, JSON, format!(r#"{{"meta":{{"count":4,"next_cursor":{next}}},"results":[{works}]}}"#))
    })
    .await;
    let mut config = site.config();
    config.email = Some(SecretString::from("me@example.org"));
    let fetcher = Fetcher::new(HttpClient::new().expect("TLS"), config);
    let source = OpenAlexSource::new(OpenAlex::new(fetcher.clone()), FullTexts::new(&fetcher));
    let filter = SearchFilter {
        published_before: Some(Date::constant(2024, 3, 1)),
        exclude: [PaperId::OpenAlex(3)].into(),
        ..SearchFilter::none()
    };
    let request = wanted("citation accuracy", FindBy::Keywords, filter, 2);
    let found = source.find(&request).await.expect("an answer");
    let ids: Vec<String> = found.papers.iter().map(|p| p.meta.id.to_string()).collect();
    assert_eq!(
        ids,
        ["openalex:W2", "openalex:W4"],
        "the day itself and the excluded paper are out"
    );
    let asked = site.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].path, "/works");
    assert_eq!(asked[0].param("search"), Some("citation accuracy"));
    assert!(asked[0].param("filter").is_some_and(|f| f.contains("to_publication_date:2024-02-29")));
    assert_eq!(asked[0].param("mailto"), Some("me@example.org"));
    assert_eq!(asked[1].param("cursor"), Some("c2"));
    assert!(!source.takes(FindBy::Question));
}

#[tokio::test]
async fn openalex_works_come_in_the_order_asked_and_unknown_ones_are_none() {
    let site = Site::start(|asked: &SeenRequest| {
        if asked.path == "/works" {
            let works = [work(9, "2020-02-02"), work(7, "2020-02-02")].join(",");
            return (200, JSON, format!(r#"{{"meta":{{"count":2}},"results":[{works}]}}"#));
        }
        (404, "text/html", "<!doctype html><title>404 Not Found</title>".to_owned())
    })
    .await;
    let client = OpenAlex::new(site.fetcher());
    let ids = [7, 8, 9].map(PaperId::OpenAlex);
    let (found, _) = client.works(&ids).await.expect("an answer");
    let known: Vec<Option<String>> =
        found.iter().map(|work| work.as_ref().map(|w| w.paper.meta.id.to_string())).collect();
    assert_eq!(known, [Some("openalex:W7".to_owned()), None, Some("openalex:W9".to_owned())]);
    assert_eq!(site.asked().len(), 1, "one request for all");
    assert_eq!(site.asked()[0].param("filter"), Some("openalex:W7|W8|W9"));
    assert_eq!(client.work(&PaperId::Pmid(1)).await.expect("an answer"), None);
    assert_eq!(site.asked()[1].path, "/works/pmid:1");
    let refused = client.citing(&PaperId::Pmid(1), &SearchFilter::none(), 5).await;
    assert_eq!(refused.err().map(|e| e.kind()), Some(PortErrorKind::Rejected));
}

#[tokio::test]
async fn arxiv_asks_for_any_word_when_not_all_occur() {
    let site = Site::start(|asked: &SeenRequest| {
        let all = asked.param("search_query").is_some_and(|query| query.contains(" AND all:"));
        let empty = "<feed xmlns:o='u'><o:totalResults>0</o:totalResults></feed>";
        (200, "application/atom+xml", if all { empty.to_owned() } else { ARXIV.to_owned() })
    })
    .await;
    let source = ArxivSource::new(Arxiv::new(site.fetcher()), Latexml::new(site.fetcher()));
    let request = wanted("random walks unicorn", FindBy::Keywords, SearchFilter::none(), 5);
    let found = source.find(&request).await.expect("an answer");
    assert_eq!(found.papers.len(), 1);
    let queries: Vec<String> =
        site.asked().iter().filter_map(|a| a.param("search_query").map(str::to_owned)).collect();
    assert_eq!(
        queries,
        ["all:random AND all:walks AND all:unicorn", "all:random OR all:walks OR all:unicorn"]
    );
}

#[tokio::test]
async fn pubmed_searches_fetches_and_filters() {
    let site = Site::start(|asked: &SeenRequest| {
        if asked.path.ends_with("esearch.fcgi") {
            let list = "<eSearchResult><Count>3</Count><IdList><Id>102</Id><Id>999</Id><Id>101</Id></IdList>\
                <ErrorList><PhraseNotFound>zzz</PhraseNotFound></ErrorList></eSearchResult>";
            return (200, XML, list.to_owned());
        }
        (200, XML, PUBMED.to_owned())
    })
    .await;
    let source = PubmedSource::new(Pubmed::new(site.fetcher()));
    let filter = SearchFilter {
        published_before: Some(Date::constant(2019, 12, 10)),
        ..SearchFilter::none()
    };
    let found =
        source.find(&wanted("tests zzz", FindBy::Keywords, filter, 5)).await.expect("an answer");
    let ids: Vec<String> = found.papers.iter().map(|p| p.meta.id.to_string()).collect();
    assert_eq!(ids, ["pmid:102", "pmid:101"], "in the order of the search");
    assert!(found.notices.iter().any(|notice| notice.message.contains("zzz")));
    let asked = site.asked();
    assert_eq!(asked[0].param("maxdate"), Some("2019/12/09"));
    assert_eq!(asked[1].param("id"), Some("102,999,101"));
    assert_eq!(asked.len(), 2, "one fetch for all");
}

/// Answers like You.com, arXiv and NCBI; `broken` is the path of who does not.
async fn academic_site(broken: &'static str) -> Site {
    Site::start(move |asked: &SeenRequest| {
        if asked.path == broken {
            return (500, "text/plain", "down".to_owned());
        }
        let page = match asked.path.as_str() {
            "/v1/search" => {
                r#"{"results":{"web":[{"url":"https://pubmed.ncbi.nlm.nih.gov/102/"},
                {"url":"https://arxiv.org/pdf/1605.08386v1"},{"url":"https://example.org/blog"},
                {"url":"https://www.ncbi.nlm.nih.gov/pmc/articles/PMC7001/"},{"url":"https://arxiv.org/abs/1605.08386"},
                {"url":"https://pubmed.ncbi.nlm.nih.gov/101/"}]}}"#
            }
            "/api/query" => return (200, "application/atom+xml", ARXIV.to_owned()),
            "/entrez/eutils/elink.fcgi" => {
                let links = "<eLinkResult><LinkSet><IdList><Id>7001</Id></IdList><LinkSetDb><LinkName>pmc_pubmed</LinkName>\
                    <Link><Id>101</Id></Link></LinkSetDb></LinkSet></eLinkResult>";
                return (200, XML, links.to_owned());
            }
            _ => return (200, XML, PUBMED.to_owned()),
        };
        (200, JSON, page.to_owned())
    })
    .await
}

fn with_key(site: &Site) -> Fetcher {
    let mut config = site.config();
    config.keys.insert(Provider::You, SecretString::from("k3y"));
    Fetcher::new(HttpClient::new().expect("TLS"), config)
}

#[tokio::test]
async fn pages_of_the_web_become_papers_of_their_registries_in_rank_order() {
    let site = academic_site("").await;
    let source = WebSource::new(&with_key(&site));
    assert!(source.takes(FindBy::Question) && !source.takes(FindBy::Keywords));
    let request = wanted("Do walks mix fast?", FindBy::Question, SearchFilter::none(), 10);
    let found = source.find(&request).await.expect("an answer");
    let ids: Vec<String> = found.papers.iter().map(|p| p.meta.id.to_string()).collect();
    assert_eq!(ids, ["pmid:102", "arxiv:1605.08386", "pmid:101"], "one paper named twice is one");
    assert!(found.notices.iter().any(|notice| notice.message.starts_with("1 of 6 pages")));
    let asked = site.asked();
    let query = asked[0].param("query").expect("a query");
    assert!(query.starts_with("(site:arxiv.org OR ") && query.ends_with(") Do walks mix fast?"));
    let key = asked[0].headers.get("x-api-key").and_then(|value| value.to_str().ok());
    assert_eq!(key, Some("k3y"));
    assert!(asked[1..].iter().all(|other| other.headers.get("x-api-key").is_none()));
}

#[tokio::test]
async fn one_registry_that_fails_costs_its_papers_only() {
    let site = academic_site("/api/query").await;
    let source = WebSource::new(&with_key(&site));
    let request = wanted("Do walks mix fast?", FindBy::Question, SearchFilter::none(), 10);
    let found = source.find(&request).await.expect("PubMed answers");
    let ids: Vec<String> = found.papers.iter().map(|p| p.meta.id.to_string()).collect();
    assert_eq!(ids, ["pmid:102", "pmid:101"]);
    let told = |text: &str| found.notices.iter().any(|notice| notice.message.contains(text));
    assert!(told("could not be looked up at arXiv") && told("arxiv:1605.08386"));
}

#[tokio::test]
async fn web_search_without_a_key_says_which_to_set() {
    let site = academic_site("").await;
    let source = WebSource::new(&site.fetcher());
    let request = wanted("question", FindBy::Question, SearchFilter::none(), 10);
    let error = source.find(&request).await.expect_err("refused");
    assert_eq!(error.kind(), PortErrorKind::Rejected);
    assert!(
        error.hint().is_some_and(|hint| hint.contains("YDC_API_KEY") && hint.contains("BRAVE"))
    );
    assert!(site.asked().is_empty());
}

#[tokio::test]
async fn brave_and_the_old_you_com_are_asked_when_the_new_one_is_not_there() {
    let site = Site::start(|asked: &SeenRequest| match asked.path.as_str() {
        "/search" => (503, "text/plain", String::new()),
        "/res/v1/web/search" => {
            let page = r#"{"type":"search","web":{"results":[{"url":"https://arxiv.org/abs/1605.08386"}]}}"#;
            (200, JSON, page.to_owned())
        }
        "/api/query" => (200, "application/atom+xml", ARXIV.to_owned()),
        _ => (404, "text/plain", String::new()),
    })
    .await;
    let mut config = site.config();
    for engine in [Provider::You, Provider::Brave] {
        config.keys.insert(engine, SecretString::from("k3y"));
    }
    let fetcher = Fetcher::new(HttpClient::new().expect("TLS"), config);
    let source = Arc::new(WebSource::new(&fetcher));
    let request = wanted("question", FindBy::Question, SearchFilter::none(), 10);
    let found = source.find(&request).await.expect("Brave answers");
    assert_eq!(found.papers.len(), 1);
    assert!(found.notices.iter().any(|notice| notice.message.contains("You.com")));
    let paths: Vec<String> = site.asked().into_iter().map(|asked| asked.path).collect();
    assert_eq!(paths, ["/v1/search", "/search", "/res/v1/web/search", "/api/query"]);
}

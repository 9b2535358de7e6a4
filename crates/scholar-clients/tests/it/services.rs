//! Crossref, Unpaywall, LaTeXML's pages, GROBID and Zotero against a site on this machine.

use scholar_clients::{
    Crossref, Fetcher, Grobid, HttpClient, Latexml, SecretString, Unpaywall, Zotero,
};
use scholar_core::{PaperId, PortErrorKind, Retraction};
use scholar_formats::PrintedReference;

use crate::site::{SeenRequest, Site};

const JSON: &str = "application/json";

fn record(doi: &str, rest: &str) -> String {
    format!(
        r#"{{"DOI":"{doi}","title":["A study of things and their names"],"author":[{{"given":"Ada","family":"Byron"}}],"issued":{{"date-parts":[[2019]]}}{rest}}}"#
    )
}

fn ok(kind: &str, message: &str) -> (u16, &'static str, String) {
    (200, JSON, format!(r#"{{"status":"ok","message-type":"{kind}","message":{message}}}"#))
}

#[tokio::test]
async fn standings_come_from_records_and_from_notices() {
    let site = Site::start(|asked: &SeenRequest| match asked.path.as_str() {
        "/works/10.1/clean" => ok("work", &record("10.1/clean", "")),
        "/works/10.1/silent" => ok("work", &record("10.1/silent", "")),
        "/works/10.1/corrected" => {
            let by = r#","updated-by":[{"DOI":"10.1/e","type":"correction","updated":{"date-parts":[[2020,5,6]]}}]"#;
            ok("work", &record("10.1/corrected", by))
        }
        "/works/10.1/down" => (500, "text/plain", String::new()),
        "/works" => {
            let to = r#","update-to":[{"DOI":"10.1/silent","type":"retraction","updated":{"date-parts":[[2021,1,2]]}},
                {"DOI":"10.1/corrected","type":"new_version"}]"#;
            ok("work-list", &format!(r#"{{"items":[{}]}}"#, record("10.1/notice", to)))
        }
        _ => (404, "text/plain", "Resource not found.".to_owned()),
    })
    .await;
    let dois =
        ["10.1/silent", "10.1/clean", "10.1/corrected", "10.1/nobody", "10.1/down", "10.1/clean"];
    let (standings, notices) = Crossref::new(site.fetcher()).standings(&dois).await;
    let statuses: Vec<Retraction> = standings.iter().map(|standing| standing.status).collect();
    use Retraction::{Clean, Corrected, Retracted, Unknown};
    assert_eq!(statuses, [Retracted, Clean, Corrected, Unknown, Unknown, Clean]);
    assert_eq!(standings[0].notice, Some(PaperId::Doi("10.1/notice".to_owned())));
    assert_eq!(standings[0].date.map(|day| day.to_string()).as_deref(), Some("2021-01-02"));
    assert_eq!(standings[2].date.map(|day| day.to_string()).as_deref(), Some("2020-05-06"));
    assert_eq!(notices.len(), 1);
    assert!(notices[0].message.contains("1 papers"), "{}", notices[0].message);
    let asked = site.asked();
    let works = asked.iter().filter(|asked| asked.path != "/works").count();
    assert_eq!(works, 5, "each once");
    let filter = asked.iter().find_map(|asked| asked.param("filter").map(str::to_owned));
    assert_eq!(
        filter.as_deref(),
        Some("updates:10.1/clean,updates:10.1/corrected,updates:10.1/silent")
    );
}

#[tokio::test]
async fn a_reference_is_only_what_is_confirmed() {
    let site = Site::start(|asked: &SeenRequest| {
        if asked.path == "/works" {
            let other = record("10.1/other", "").replace("things", "other things");
            return ok("work-list", &format!(r#"{{"items":[{other},{}]}}"#, record("10.1/it", "")));
        }
        ok("work", &record("10.1/stated", ""))
    })
    .await;
    let client = Crossref::new(site.fetcher());
    let printed = |text: &str| PrintedReference { text: text.to_owned(), ..Default::default() };
    let found = |reference: PrintedReference| {
        let client = client.clone();
        async move {
            let work = client.referenced(&reference).await.expect("an answer");
            work.map(|work| work.paper.meta.id.to_string())
        }
    };
    let right = printed("Byron, A. (2019) A study of things and their names. J. Names 1");
    assert_eq!(found(right.clone()).await.as_deref(), Some("doi:10.1/it"));
    assert_eq!(site.asked()[0].param("query.bibliographic"), Some(right.text.as_str()));
    let wrong = printed("Byron, A. (2009) A study of things and their names. J. Names 1");
    assert_eq!(found(wrong).await, None, "ten years apart");
    let stated = PaperId::Doi("10.1/stated".to_owned());
    let with_doi = PrintedReference { ids: vec![stated], ..printed("whatever it says") };
    assert_eq!(found(with_doi).await.as_deref(), Some("doi:10.1/stated"));
    assert_eq!(found(printed("")).await, None);
    assert_eq!(site.asked().len(), 3, "nothing to search for is not searched for");
}

#[tokio::test]
async fn unpaywall_needs_an_address_and_may_not_know() {
    let site = Site::start(|asked: &SeenRequest| match asked.path.as_str() {
        "/v2/10.1/a" => {
            let body = r#"{"doi":"10.1/a","is_oa":true,"oa_locations":[{"url_for_pdf":"https://a.example/a.pdf"}]}"#;
            (200, JSON, body.to_owned())
        }
        _ => (404, JSON, r#"{"error":true,"message":"unknown"}"#.to_owned()),
    })
    .await;
    let error = Unpaywall::new(site.fetcher()).lookup("10.1/a").await.expect_err("refused");
    assert!(error.hint().is_some_and(|hint| hint.contains("OPENSCHOLAR_EMAIL")), "{error:?}");
    assert!(site.asked().is_empty());
    let mut config = site.config();
    config.email = Some(SecretString::from("me@example.org"));
    let client = Unpaywall::new(Fetcher::new(HttpClient::new().expect("TLS"), config));
    let open = client.lookup("10.1/a").await.expect("an answer").expect("known");
    assert_eq!(open.locations.len(), 1);
    assert_eq!(client.lookup("10.1/b").await.expect("an answer"), None);
    assert_eq!(site.asked()[0].param("email"), Some("me@example.org"));
}

#[tokio::test]
async fn pages_that_are_not_latexml_are_no_texts() {
    let site = Site::start(|asked: &SeenRequest| {
        if asked.path.ends_with("2411.14199") {
            return (
                200,
                "text/html",
                "<!doctype html><html><body>Abstract page</body></html>".to_owned(),
            );
        }
        (404, "text/html", "<!doctype html><title>No HTML</title>".to_owned())
    })
    .await;
    let client = Latexml::new(site.fetcher());
    assert_eq!(client.document("2411.14199").await.expect("an answer"), None);
    assert_eq!(client.document("hep-th/9901001").await.expect("an answer"), None);
    let paths: Vec<String> = site.asked().into_iter().map(|asked| asked.path).collect();
    assert_eq!(paths.len(), 4, "both places are asked for both");
    assert_eq!(paths[3], "/html/hep-th/9901001");
}

#[tokio::test]
async fn grobid_is_sent_a_form_and_what_is_no_pdf_is_not() {
    let site = Site::start(|asked: &SeenRequest| match asked.path.as_str() {
        "/api/isalive" => (200, "text/plain", "true".to_owned()),
        _ if asked.body.windows(5).any(|part| part == b"EMPTY") => {
            (204, "text/plain", String::new())
        }
        _ => (200, "application/xml", "<TEI xmlns=\"http://www.tei-c.org/ns/1.0\"/>".to_owned()),
    })
    .await;
    let client = Grobid::new(site.fetcher());
    assert!(client.is_configured());
    assert!(client.is_alive().await.expect("an answer"));
    let tei = client.tei(b"%PDF-1.5 \xff\x00 words").await.expect("an answer").expect("text");
    assert!(tei.starts_with(b"<TEI"));
    let asked = &site.asked()[1];
    assert_eq!(
        (asked.method.as_str(), asked.path.as_str()),
        ("POST", "/api/processFulltextDocument")
    );
    let kind = asked.headers.get("content-type").and_then(|v| v.to_str().ok()).expect("a type");
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").expect("a form");
    let body = String::from_utf8_lossy(&asked.body);
    assert_eq!(body.matches(&format!("--{boundary}")).count(), 11, "ten parts and the end");
    assert!(asked.body.windows(17).any(|part| part == b"%PDF-1.5 \xff\x00 words"));
    assert!(body.contains("name=\"consolidateHeader\"\r\n\r\n0\r\n"));
    assert_eq!(client.tei(b"%PDF-1.5 EMPTY").await.expect("an answer"), None);
    let before = site.asked().len();
    let error = client.tei(b"<html>").await.expect_err("refused");
    assert_eq!(error.kind(), PortErrorKind::Rejected);
    assert_eq!(site.asked().len(), before);
}

#[tokio::test]
async fn zotero_is_read_page_by_page() {
    let site = Site::start(|asked: &SeenRequest| {
        let row =
            |n: usize| format!(r#"{{"key":"K{n}","data":{{"itemType":"book","title":"B{n}"}}}}"#);
        match asked.path.as_str() {
            "/api/users/0/items" => {
                let start: usize = asked.param("start").and_then(|s| s.parse().ok()).unwrap_or(0);
                let rows: Vec<String> = (start..250.min(start + 100)).map(row).collect();
                (200, JSON, format!("[{}]", rows.join(",")))
            }
            "/api/users/0/collections" => {
                let rows = r#"[{"key":"C1","data":{"name":"Mine","parentCollection":false}},
                    {"key":"C2","data":{"name":"Deep","parentCollection":"C1"}}]"#;
                (200, JSON, rows.to_owned())
            }
            "/api/users/0/items/K1/file/view/url" => {
                (200, "text/plain", "file:///data/me/paper%20one.pdf\n".to_owned())
            }
            "/api/users/0/collections/C1/items" => (200, JSON, format!("[{}]", row(5))),
            _ => (404, "text/plain", "Not found".to_owned()),
        }
    })
    .await;
    let client = Zotero::new(site.fetcher());
    let items = client.items(None).await.expect("an answer");
    assert_eq!(items.len(), 250);
    assert_eq!(items[249]["key"], "K249");
    assert_eq!(site.asked().len(), 3);
    assert_eq!(
        site.asked()[0].headers.get("zotero-api-version").and_then(|v| v.to_str().ok()),
        Some("3")
    );
    let collections = client.collections().await.expect("an answer");
    assert_eq!(collections[1].parent.as_deref(), Some("C1"));
    assert_eq!(collections[0].parent, None);
    assert_eq!(client.items(Some("C1")).await.expect("an answer").len(), 1);
    let file = client.file("K1").await.expect("an answer").expect("a file");
    assert_eq!(file.path(), "/data/me/paper%20one.pdf");
    assert_eq!(client.file("K2").await.expect("an answer"), None);
    let error = client.children("../../x").await.expect_err("refused");
    assert_eq!(error.kind(), PortErrorKind::Rejected);
}

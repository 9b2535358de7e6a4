//! The stand-in as its clients see it.

use serde_json::Value;

use super::world::world;
use super::*;
use crate::http::{get, post};

#[test]
fn recordings_are_repeated_as_they_were() {
    let server = StandIn::start().expect("a free loopback port");
    let lines = include_str!("../../fixtures/standin/recordings.jsonl");
    let mut repeated = 0;
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let url = line["url"].as_str().expect("an address");
        let Some(rest) = url.strip_prefix("https://api.semanticscholar.org") else { continue };
        let path = format!("/s2{rest}").replace(' ', "%20");
        let reply = match line["method"].as_str() {
            Some("POST") => post(server.address(), &path, &line["request_body"].to_string()),
            _ => get(server.address(), &path),
        };
        assert_eq!(Value::from(reply.status), line["status"], "{url}");
        assert_eq!(reply.json(), line["body"], "{url}");
        repeated += 1;
    }
    assert_eq!(repeated, 26);
    assert!(Recordings::embedded().len() > repeated);
    assert!(Recordings::read("no JSON\n{}\n").is_empty());
}

#[test]
fn every_service_tells_of_the_same_paper() {
    let server = StandIn::start().expect("a free loopback port");
    let work = world().get("sleep1").expect("in the library");
    let doi = work.doi.as_deref().expect("a DOI");
    let (pmid, pmcid) = (work.pmid.expect("a PMID"), work.pmcid.expect("a PMCID"));
    let arxiv = world().get("rag1").and_then(|work| work.arxiv.as_deref()).expect("an arXiv id");
    let paths = [
        format!("/s2/graph/v1/paper/DOI:{doi}?fields=title"),
        format!("/openalex/works/https://doi.org/{doi}"),
        format!("/openalex/works?filter=doi:{doi}&select=title"),
        "/openalex/works?search=sleep%20consolidation&per-page=3".to_owned(),
        format!("/crossref/works/{doi}"),
        "/crossref/works?query.bibliographic=sleep+adolescents".to_owned(),
        format!("/unpaywall/v2/{doi}?email=a@b.example"),
        format!("/pubmed/entrez/eutils/efetch.fcgi?db=pubmed&id={pmid}&retmode=xml"),
        format!("/pubmed/entrez/eutils/efetch.fcgi?db=pmc&id=PMC{pmcid}"),
    ];
    for path in &paths {
        let reply = get(server.address(), path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        // One word of a title stands in italics where the service writes mixed content.
        let plain = reply.body.replace("<i>", "").replace("</i>", "");
        assert!(plain.contains(&work.title), "{path}: {plain}");
    }
    let found = get(server.address(), "/pubmed/entrez/eutils/esearch.fcgi?term=sleep&retmode=json");
    let ids = found.json()["esearchresult"]["idlist"].clone();
    assert!(ids.as_array().is_some_and(|ids| ids.contains(&Value::from(pmid.to_string()))));
    for path in [
        format!("/arxiv/api/query?id_list={arxiv}v1"),
        "/arxiv/api/query?search_query=all:passage+AND+submittedDate:[201801010000+TO+202001010000]".to_owned(),
        format!("/ar5iv/html/{arxiv}"),
        format!("/arxiv_html/html/{arxiv}v2"),
    ] {
        let body = get(server.address(), &path).body;
        assert!(body.contains("Passage Retrieval for Scientific Question Answering"), "{path}: {body}");
    }
    let pdf = get(server.address(), "/pdf/sleep1.pdf").body;
    assert!(pdf.starts_with("%PDF-1.4") && pdf.contains("Memory Consolidation"));
    let tei = post(server.address(), "/grobid/api/processFulltextDocument", &pdf);
    assert!(tei.body.contains("<head>Methods</head>"), "{}", tei.body);
    let status = |path: &str| get(server.address(), path).status;
    assert_eq!([status("/you/v1/search"), status("/brave/res/v1/web/search")], [401, 422]);
    assert_eq!(
        [status(&format!("/doi/{doi}")), status("/doi/10.1/x"), status("/link/410")],
        [302, 404, 410]
    );
}

#[test]
fn log_and_faults_are_forgotten_on_demand() {
    let server = StandIn::start().expect("a free loopback port");
    server.fault("/openalex", Calls::Nth(2), Fault::RateLimited(Some("3".to_owned())));
    let ask = || get(server.address(), "/openalex/works/W9900000001?select=id");
    let statuses = [ask().status, ask().status, ask().status];
    assert_eq!(statuses, [200, 429, 200]);
    let log = get(server.address(), "/__log").json();
    let statuses: Vec<_> =
        log.as_array().expect("a list").iter().map(|r| r["status"].clone()).collect();
    assert_eq!(statuses, [200, 429, 200]);
    assert_eq!(log[1]["query"], "select=id");
    server.fault("/", Calls::All, Fault::Status(500, String::new()));
    get(server.address(), "/__reset");
    assert!(server.log().is_empty());
    assert_eq!(ask().status, 200);
}

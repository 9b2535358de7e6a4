//! Whole texts from PMC and LaTeXML's pages, and open PDFs.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use scholar_clients::fetch::{Broken, FetchConfig, Incoming, Outgoing, Transport};
use scholar_clients::{Fetcher, FullTexts, Latexml, OpenLocation, Pubmed, Url, open_access};
use scholar_core::{PaperId, PaperMeta, PortErrorKind};

use crate::site::{SeenRequest, Site};

fn jats(pmcid: u64, body: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><pmc-articleset><article article-type=\"research-article\"><front><article-meta>\
         <article-id pub-id-type=\"pmcid\">PMC{pmcid}</article-id><article-id pub-id-type=\"doi\">10.1000/pmc</article-id>\
         <title-group><article-title>As PMC prints it</article-title></title-group>\
         <abstract><p>Short words.</p></abstract></article-meta></front>{body}</article></pmc-articleset>"
    )
}

const BODY: &str =
    "<body><sec><title>Methods</title><p>We measured H<sub>2</sub>O twice.</p></sec></body>";

const PAGE: &str = "<!DOCTYPE html><html><body><div class=\"ltx_page_main\"><article class=\"ltx_document\">\
    <h1 class=\"ltx_title ltx_title_document\">As arXiv prints it</h1>\
    <section class=\"ltx_section\" id=\"S1\"><h2 class=\"ltx_title ltx_title_section\">1 Introduction</h2>\
    <div class=\"ltx_para\" id=\"S1.p1\"><p class=\"ltx_p\">Walks mix fast.</p></div></section>\
    </article></div></body></html>";

fn known(ids: [PaperId; 2]) -> PaperMeta {
    let [id, other] = ids;
    let mut meta = PaperMeta::new(id, "As the search knows it");
    meta.external_ids.push(other);
    meta.citation_count = Some(7);
    meta
}

fn both() -> PaperMeta {
    known([PaperId::Arxiv("1605.08386".to_owned()), PaperId::Pmcid(7001)])
}

#[tokio::test]
async fn a_text_in_pmc_joins_what_is_known() {
    let site = Site::start(|_: &SeenRequest| (200, "text/xml", jats(7001, BODY))).await;
    let paper = Pubmed::new(site.fetcher()).paper(&both()).await.expect("read").expect("a text");
    assert_eq!(paper.meta.title, "As the search knows it");
    assert_eq!(paper.meta.citation_count, Some(7));
    assert!(paper.meta.external_ids.contains(&PaperId::Doi("10.1000/pmc".to_owned())));
    assert_eq!(paper.abstract_text(), Some("Short words."));
    let methods = paper.sections.iter().find(|section| section.heading.contains("Methods"));
    assert_eq!(methods.map(|section| section.text.as_str()), Some("We measured H2O twice."));
    let asked = &site.asked()[0];
    assert_eq!((asked.param("db"), asked.param("id")), (Some("pmc"), Some("7001")));
}

#[tokio::test]
async fn texts_that_are_missing_or_anothers_are_not_taken() {
    let site = Site::start(|asked: &SeenRequest| {
        let reply = match asked.param("id") {
            Some("1") => jats(1, ""),
            Some("2") => jats(3, BODY),
            _ => "<pmc-articleset/>".to_owned(),
        };
        (200, "text/xml", reply)
    })
    .await;
    let client = Pubmed::new(site.fetcher());
    let meta = |pmcid| PaperMeta::new(PaperId::Pmcid(pmcid), "t");
    assert_eq!(client.paper(&meta(1)).await.expect("read"), None, "an abstract is no text");
    let error = client.paper(&meta(2)).await.expect_err("another paper's");
    assert_eq!(error.kind(), PortErrorKind::Corrupt);
    assert!(error.to_string().contains("PMC3"), "{error}");
    assert_eq!(client.paper(&meta(4)).await.expect("read"), None);
    assert_eq!(client.paper(&PaperMeta::new(PaperId::Pmid(1), "t")).await.expect("read"), None);
}

#[tokio::test]
async fn arxiv_helps_out_when_pmc_does_not_answer() {
    let site = Site::start(|asked: &SeenRequest| match asked.path.as_str() {
        "/html/1605.08386" => (200, "text/html", PAGE.to_owned()),
        _ => (500, "text/plain", String::new()),
    })
    .await;
    let texts = FullTexts::new(&site.fetcher());
    let paper = texts.of(&both()).await.expect("arXiv has it").expect("a text");
    assert!(paper.sections.iter().any(|section| section.text == "Walks mix fast."), "{paper:?}");
    assert_eq!(paper.meta.id.to_string(), "arxiv:1605.08386");
    let only_pmc = PaperMeta::new(PaperId::Pmcid(7001), "t");
    assert!(texts.of(&only_pmc).await.is_err(), "nobody knows whether there is a text");
    let neither = PaperMeta::new(PaperId::Pmid(1), "t");
    assert_eq!(texts.of(&neither).await.expect("nothing to ask"), None);
    assert!(Latexml::new(site.fetcher()).document("1605.08386").await.is_ok_and(|d| d.is_some()));
}

/// A network on which every address answers with a PDF.
#[derive(Default)]
struct Pdfs(Mutex<Vec<String>>);

#[async_trait]
impl Transport for Pdfs {
    async fn send(&self, request: Outgoing) -> Result<Incoming, Broken> {
        self.0.lock().push(request.url.to_string());
        Ok(Incoming { status: 200, headers: Vec::new(), body: b"%PDF-1.4 x".to_vec() })
    }
}

#[tokio::test]
async fn open_pdfs_are_fetched_from_the_internet_only() {
    let network = Arc::new(Pdfs::default());
    let config = FetchConfig::interactive(Arc::new(jiff::Timestamp::default));
    let fetcher = Fetcher::with_transport(Arc::clone(&network) as Arc<dyn Transport>, config);
    let at = |address: &str| OpenLocation {
        pdf: Some(Url::parse(address).expect("an address")),
        page: None,
        licence: None,
        version: None,
        host: None,
    };
    let pdf = open_access::pdf(&fetcher, &at("https://a.example/x.pdf")).await.expect("fetched");
    assert_eq!(pdf.as_deref(), Some(&b"%PDF-1.4 x"[..]));
    for inside in [
        "http://127.0.0.1/x.pdf",
        "http://localhost:8080/x.pdf",
        "http://192.168.1.1/x.pdf",
        "http://169.254.169.254/latest/meta-data",
        "http://[fe80::1]/x.pdf",
        "http://[::ffff:10.0.0.1]/x.pdf",
    ] {
        let error = open_access::pdf(&fetcher, &at(inside)).await.expect_err(inside);
        assert_eq!(error.kind(), PortErrorKind::Rejected, "{inside}");
    }
    assert_eq!(*network.0.lock(), ["https://a.example/x.pdf"]);
    let page_only = OpenLocation { pdf: None, ..at("https://a.example/x") };
    assert_eq!(open_access::pdf(&fetcher, &page_only).await.expect("nothing"), None);
}

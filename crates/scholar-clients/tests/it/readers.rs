//! The readers of replies over what providers really sent.

use scholar_clients::{ReplyError, arxiv, crossref, openalex, pubmed};
use scholar_core::{PaperId, PaperMeta, Retraction};

const OPENALEX: &[u8] = include_bytes!("../data/openalex_page.json");
const ARXIV: &[u8] = include_bytes!("../data/arxiv_entry.xml");
const ARXIV_OLD: &[u8] = include_bytes!("../data/arxiv_old_style.xml");
const ARXIV_ERROR: &[u8] = include_bytes!("../data/arxiv_error.xml");
const CROSSREF: &[u8] = include_bytes!("../data/crossref_corrected.json");
const PUBMED: &[u8] = include_bytes!("../data/pubmed_set.xml");

fn ids(meta: &PaperMeta) -> Vec<String> {
    meta.ids().map(ToString::to_string).collect()
}

#[test]
fn an_openalex_page_has_works_with_text_ids_and_open_copies() {
    let page = openalex::page(OPENALEX).expect("readable");
    assert_eq!((page.count, page.works.len(), page.notices.len()), (2, 2, 0));
    let work = &page.works[0];
    let meta = &work.paper.meta;
    assert_eq!(meta.title, "Augmenting large language models with chemistry tools");
    assert!(ids(meta).contains(&"doi:10.1038/s42256-024-00832-8".to_owned()), "{:?}", ids(meta));
    assert_eq!(meta.authors.len(), 4);
    assert_eq!(meta.year, Some(2024));
    assert!(meta.published.is_some() && meta.citation_count.is_some());
    assert_eq!(meta.retraction, Retraction::Clean);
    let text = work.paper.abstract_text().expect("an abstract");
    assert!(
        text.starts_with("Large language models (LLMs)") || text.starts_with("Abstract"),
        "{text}"
    );
    assert!(!work.open.is_empty() && work.open.iter().all(|o| o.pdf.is_some() || o.page.is_some()));
    assert_eq!(work.paper.references.len(), 5);
    // The preprint: its DOI is arXiv's, so its arXiv id is known too.
    let preprint = ids(&page.works[1].paper.meta);
    assert!(preprint.contains(&"arxiv:2304.05376".to_owned()), "{preprint:?}");
}

#[test]
fn an_abstract_with_absurd_positions_is_refused_and_costs_only_itself() {
    let good = r#"{"id":"https://openalex.org/W1","title":"Good"}"#;
    let far = r#"{"id":"https://openalex.org/W2","abstract_inverted_index":{"a":[4000000000]}}"#;
    let body = format!(r#"{{"meta":{{"count":2}},"results":[{far},{good}]}}"#);
    let page = openalex::page(body.as_bytes()).expect("one is good");
    assert_eq!(page.works.len(), 1);
    let message = &page.notices[0].message;
    assert!(
        message.contains("abstract_inverted_index") && message.contains("4000000000"),
        "{message}"
    );
    assert!(
        matches!(openalex::page(br#"{"results":[]}"#), Err(ReplyError::Shape(what)) if what.contains("meta"))
    );
}

#[test]
fn arxiv_entries_keep_versions_apart_from_ids() {
    let page = arxiv::feed(ARXIV).expect("readable");
    let entry = &page.entries[0];
    assert_eq!(entry.paper.meta.id.to_string(), "arxiv:1605.08386");
    assert_eq!(entry.version, Some(1));
    assert_eq!(entry.paper.meta.title, "Heat-bath random walks with Markov bases");
    assert_eq!(
        entry.paper.meta.published.map(|day| day.to_string()).as_deref(),
        Some("2016-05-26")
    );
    assert_eq!(entry.categories, ["math.CO", "math.ST"]);
    assert!(ids(&entry.paper.meta).contains(&"doi:10.48550/arxiv.1605.08386".to_owned()));
    let old = arxiv::feed(ARXIV_OLD).expect("readable");
    assert_eq!(old.entries[0].paper.meta.id.to_string(), "arxiv:astro-ph/0601001");
    assert_eq!(old.entries[0].journal_ref.as_deref(), Some("ActaAstron.56:1-50,2006"));
    assert_eq!(old.entries[0].paper.meta.authors[0], "Andrew Gould");
}

#[test]
fn arxiv_errors_are_errors_although_they_come_as_entries() {
    match arxiv::feed(ARXIV_ERROR) {
        Err(ReplyError::Refused(what)) => assert_eq!(what, "incorrect id format for abc"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(arxiv::feed(b"<html></html>"), Err(ReplyError::Shape(_))));
    assert!(matches!(arxiv::feed(&ARXIV[..ARXIV.len() / 2]), Err(ReplyError::Shape(_))));
}

#[test]
fn a_corrected_paper_is_one() {
    let work = crossref::single(CROSSREF).expect("readable");
    let meta = &work.paper.meta;
    assert_eq!(meta.id, PaperId::Doi("10.1073/pnas.1414271111".to_owned()));
    assert_eq!(meta.retraction, Retraction::Corrected);
    let update = &work.updates[0];
    assert_eq!(update.notice, PaperId::Doi("10.1073/pnas.1507001112".to_owned()));
    assert_eq!(update.date.map(|day| day.to_string()).as_deref(), Some("2015-05-04"));
    assert_eq!(meta.authors[0], "Eleftherios A. Makris");
    assert_eq!(meta.published.map(|day| day.to_string()).as_deref(), Some("2014-10-27"));
}

#[test]
fn crossref_notices_speak_about_others() {
    let body = br#"{"status":"ok","message-type":"work","message":{"DOI":"10.1/notice","title":["Retraction: X"],
        "issued":{"date-parts":[[null]]},
        "update-to":[{"DOI":"10.1/X","type":"retraction","updated":{"date-parts":[[2020,2,30]]}}]}}"#;
    let notice = crossref::single(body).expect("readable");
    assert_eq!(notice.paper.meta.retraction, Retraction::Clean, "the notice itself stands");
    assert_eq!(notice.updates[0].paper, PaperId::Doi("10.1/x".to_owned()));
    assert_eq!(notice.updates[0].standing, Some(Retraction::Retracted));
    assert_eq!(notice.updates[0].date, None, "there is no 30 February");
    assert_eq!(notice.paper.meta.year, None);
    let marked = br#"{"status":"ok","message-type":"work","message":{"DOI":"10.1/a","title":["RETRACTED: A study"]}}"#;
    let marked = crossref::single(marked).expect("readable");
    assert_eq!(marked.paper.meta.retraction, Retraction::Retracted);
    let failed =
        br#"{"status":"failed","message-type":"validation-failure","message":[{"type":"x"}]}"#;
    assert!(matches!(crossref::single(failed), Err(ReplyError::Refused(_))));
}

#[test]
fn pubmed_records_keep_all_of_their_text() {
    let (papers, notices) = pubmed::article_set(PUBMED).expect("readable");
    assert_eq!(papers.len(), 3);
    assert!(notices[0].message.contains("1 of 4") && notices[0].message.contains("broken"));
    let first = &papers[0];
    assert_eq!(first.meta.title, "Effect of CO2 on E. coli & others.");
    assert_eq!(
        first.abstract_text(),
        Some("BACKGROUND: Levels of 13C rose. RESULTS: We found p < 0.05 in all nested parts.")
    );
    assert_eq!(first.meta.authors, ["Marie Curie", "The Test Group"]);
    assert_eq!(ids(&first.meta), ["pmid:101", "pmcid:PMC7001", "doi:10.1000/test.101"]);
    assert_eq!(first.meta.published.map(|day| day.to_string()).as_deref(), Some("2019-12-09"));
    assert_eq!(first.meta.year, Some(2019), "as of the first appearance");
    assert_eq!(
        first.meta.retraction,
        Retraction::Corrected,
        "what it retracts itself is another's"
    );
    assert_eq!(first.references, [PaperId::Pmid(55)]);
    let second = &papers[1];
    assert_eq!(second.meta.title, "A translated title");
    assert_eq!((second.meta.year, second.meta.published), (Some(1999), None));
    assert_eq!(second.meta.retraction, Retraction::Retracted);
    assert_eq!(papers[2].meta.venue.as_deref(), Some("A Book of Tests"));
}

#[test]
fn pubmed_searches_and_links_are_lists_of_numbers() {
    let list = b"<eSearchResult><Count>63</Count><IdList><Id>5</Id><Id>3</Id></IdList><ErrorList>\
        <PhraseNotFound>abcXYZ</PhraseNotFound></ErrorList><WarningList><OutputMessage>No items found.</OutputMessage>\
        </WarningList></eSearchResult>";
    let list = pubmed::id_list(list).expect("readable");
    assert_eq!((list.count, list.ids), (63, vec![5, 3]));
    assert_eq!(list.ignored, ["abcXYZ"]);
    let refused = b"<eSearchResult><ERROR>Invalid db name</ERROR></eSearchResult>";
    assert!(
        matches!(pubmed::id_list(refused), Err(ReplyError::Refused(what)) if what == "Invalid db name")
    );
    let odd = b"<eSearchResult><Count>1</Count><IdList><Id>x</Id></IdList></eSearchResult>";
    assert!(matches!(pubmed::id_list(odd), Err(ReplyError::Shape(_))));
    let links = b"<eLinkResult><LinkSet><DbFrom>pmc</DbFrom><IdList><Id>7001</Id></IdList><LinkSetDb><DbTo>pubmed</DbTo>\
        <LinkName>pmc_pubmed</LinkName><Link><Id>101</Id></Link></LinkSetDb></LinkSet></eLinkResult>";
    let sets = pubmed::link_sets(links).expect("readable");
    assert_eq!(sets[0].from, [7001]);
    assert_eq!(sets[0].to("pmc_pubmed").collect::<Vec<_>>(), [101]);
    assert_eq!(sets[0].to("pmc_refs_pubmed").count(), 0);
}

//! NCBI's E-utilities: esearch, efetch and elink for `pubmed` and `pmc`.

use serde_json::json;

use scholar_core::text::untrusted::escape_html;

use super::exchange::{Reply, Request, pairs};
use super::world::{World, WorldPaper};

pub(super) fn answer(world: &World, request: &Request<'_>) -> Reply {
    // Long lists of identifiers come in the body.
    let form = pairs(&String::from_utf8_lossy(request.body));
    let request = &Request {
        method: request.method,
        path: request.path,
        query: request.query.iter().cloned().chain(form).collect(),
        headers: request.headers,
        body: request.body,
        base: request.base,
    };
    match request.path {
        "/entrez/eutils/esearch.fcgi" => search(world, request),
        "/entrez/eutils/efetch.fcgi" => fetch(world, request),
        "/entrez/eutils/elink.fcgi" => link(world, request),
        _ => Reply::new(404, "text/html", "<html><title>404</title></html>"),
    }
}

fn id_in(work: &WorldPaper, db: &str) -> Option<u64> {
    if db == "pmc" { work.pmcid } else { work.pmid }
}

/// Records of one database and the same works in the other, one set for each `id`.
fn link(world: &World, request: &Request<'_>) -> Reply {
    let (from, to) =
        (request.param("dbfrom").unwrap_or("pubmed"), request.param("db").unwrap_or("pmc"));
    let name = request.param("linkname").unwrap_or_default();
    let ids = request.query.iter().filter(|(key, _)| key == "id").map(|(_, value)| value);
    let set = |id: &String| {
        let same = |work: &&WorldPaper| id_in(work, from).is_some_and(|own| own.to_string() == *id);
        let linked = world.papers.iter().find(same).and_then(|work| id_in(work, to));
        let links = linked.map(|linked| {
            format!("<LinkSetDb><DbTo>{to}</DbTo><LinkName>{}</LinkName><Link><Id>{linked}</Id></Link></LinkSetDb>", escape_html(name))
        });
        format!(
            "<LinkSet><DbFrom>{}</DbFrom><IdList><Id>{}</Id></IdList>{}</LinkSet>",
            escape_html(from),
            escape_html(id),
            links.unwrap_or_default()
        )
    };
    let sets: String = ids.map(set).collect();
    let body =
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<eLinkResult>{sets}</eLinkResult>\n");
    Reply::new(200, "text/xml; charset=UTF-8", body)
}

fn search(world: &World, request: &Request<'_>) -> Reply {
    let db = request.param("db").unwrap_or("pubmed");
    let term = request.param("term").unwrap_or_default();
    let plain = term.replace(['(', ')', '"'], " ");
    let words: Vec<&str> = plain
        .split_whitespace()
        .filter(|word| !matches!(*word, "AND" | "OR" | "NOT") && !word.contains('['))
        .collect();
    let day =
        |name: &str| request.param(name).map(|text| text.replace('/', "-")).unwrap_or_default();
    let range = format!("{}:{}", day("mindate"), day("maxdate"));
    let found = world.search(&words.join(" ")).into_iter().map(|(work, _)| work);
    let ids: Vec<String> = found
        .filter(|work| range == ":" || work.within(&range))
        .filter_map(|work| id_in(work, db))
        .map(|id| id.to_string())
        .collect();
    let (start, most) = (request.number("retstart", 0), request.number("retmax", 20));
    let page: Vec<&String> = ids.iter().skip(start).take(most).collect();
    if request.param("retmode") == Some("json") {
        return Reply::json(&json!({
            "header": {"type": "esearch", "version": "0.3"},
            "esearchresult": {
                "count": ids.len().to_string(),
                "retmax": page.len().to_string(),
                "retstart": start.to_string(),
                "idlist": page,
                "translationset": [],
                "querytranslation": term,
            },
        }));
    }
    let list: Vec<String> = page.iter().map(|id| format!("<Id>{id}</Id>")).collect();
    Reply::xml(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<!DOCTYPE eSearchResult PUBLIC \"-//NLM//DTD esearch 20060628//EN\" \"https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20060628/esearch.dtd\">\n<eSearchResult><Count>{}</Count><RetMax>{}</RetMax><RetStart>{start}</RetStart><IdList>{}</IdList><TranslationSet/><QueryTranslation>{}</QueryTranslation></eSearchResult>\n",
        ids.len(),
        page.len(),
        list.concat(),
        escape_html(term)
    ))
}

fn fetch(world: &World, request: &Request<'_>) -> Reply {
    let db = request.param("db").unwrap_or("pubmed");
    let wanted = request.param("id").unwrap_or_default().split(',');
    let wanted = wanted.filter_map(|id| id.trim().trim_start_matches("PMC").parse::<u64>().ok());
    let found: Vec<&WorldPaper> = wanted
        .filter_map(|id| world.papers.iter().find(|work| id_in(work, db) == Some(id)))
        .collect();
    let (root, render): (_, fn(&World, &WorldPaper) -> String) = match db {
        "pmc" => ("pmc-articleset", jats),
        _ => ("PubmedArticleSet", citation),
    };
    let articles: Vec<String> = found.into_iter().map(|work| render(world, work)).collect();
    Reply::xml(format!("<?xml version=\"1.0\" ?>\n<{root}>{}</{root}>\n", articles.concat()))
}

/// Text with mixed content: the second word of every sentence in italics, as species and genes are.
fn mixed(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let mark = |(at, word): (usize, &&str)| match at {
        1 => format!("<i>{}</i>", escape_html(word)),
        _ => escape_html(word),
    };
    words.iter().enumerate().map(mark).collect::<Vec<_>>().join(" ")
}

fn date_parts(day: &str) -> String {
    let mut parts = day.split('-');
    let mut tag = |name: &str| {
        parts.next().map(|text| format!("<{name}>{text}</{name}>")).unwrap_or_default()
    };
    format!("{}{}{}", tag("Year"), tag("Month"), tag("Day"))
}

fn citation(_: &World, work: &WorldPaper) -> String {
    let pmid = work.pmid.unwrap_or_default();
    let year = work.year.map(|year| format!("<Year>{year}</Year>")).unwrap_or_default();
    // One labelled section for each sentence, as structured abstracts have.
    let summary = work.summary.as_ref().map(|text| {
        let labels = ["BACKGROUND", "RESULTS", "CONCLUSIONS"];
        let sentences = text.split_inclusive(". ").zip(labels.iter().cycle());
        let part = |(sentence, label): (&str, &&str)| {
            format!(
                "<AbstractText Label=\"{label}\" NlmCategory=\"{label}\">{}</AbstractText>",
                mixed(sentence.trim())
            )
        };
        format!("<Abstract>{}</Abstract>", sentences.map(part).collect::<String>())
    });
    let authors: String = work
        .authors
        .iter()
        .map(|name| {
            let (given, family) = WorldPaper::split_name(name);
            format!(
                "<Author ValidYN=\"Y\"><LastName>{}</LastName><ForeName>{}</ForeName></Author>",
                escape_html(family),
                escape_html(given)
            )
        })
        .collect();
    let day = work.date.as_deref().map(date_parts);
    let article_date =
        day.map(|parts| format!("<ArticleDate DateType=\"Electronic\">{parts}</ArticleDate>"));
    let kind = match &work.status {
        Some(status) if status.kind == "retraction" => {
            "<PublicationType UI=\"D016441\">Retracted Publication</PublicationType>"
        }
        _ => "",
    };
    let pmc = work.pmcid.map(|id| format!("<ArticleId IdType=\"pmc\">PMC{id}</ArticleId>"));
    let doi = work
        .doi
        .as_ref()
        .map(|doi| format!("<ArticleId IdType=\"doi\">{}</ArticleId>", escape_html(doi)));
    format!(
        "<PubmedArticle><MedlineCitation Status=\"MEDLINE\" Owner=\"NLM\"><PMID Version=\"1\">{pmid}</PMID><Article PubModel=\"Print-Electronic\"><Journal><JournalIssue CitedMedium=\"Internet\"><PubDate>{year}</PubDate></JournalIssue><Title>{venue}</Title></Journal><ArticleTitle>{title}</ArticleTitle>{summary}<AuthorList CompleteYN=\"Y\">{authors}</AuthorList><PublicationTypeList><PublicationType UI=\"D016428\">Journal Article</PublicationType>{kind}</PublicationTypeList>{article_date}</Article></MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType=\"pubmed\">{pmid}</ArticleId>{doi}{pmc}</ArticleIdList></PubmedData></PubmedArticle>",
        venue = escape_html(&work.venue),
        title = mixed(&work.title),
        summary = summary.unwrap_or_default(),
        article_date = article_date.unwrap_or_default(),
        doi = doi.unwrap_or_default(),
        pmc = pmc.unwrap_or_default(),
    )
}

/// A whole article as PMC gives it; the body only where it is free.
fn jats(world: &World, work: &WorldPaper) -> String {
    let id = |kind: &str, value: Option<String>| {
        value
            .map(|value| {
                format!("<article-id pub-id-type=\"{kind}\">{}</article-id>", escape_html(&value))
            })
            .unwrap_or_default()
    };
    let authors: String = work
        .authors
        .iter()
        .map(|name| {
            let (given, family) = WorldPaper::split_name(name);
            format!("<contrib contrib-type=\"author\"><name><surname>{}</surname><given-names>{}</given-names></name></contrib>", escape_html(family), escape_html(given))
        })
        .collect();
    let sections: String = work
        .sections
        .iter()
        .map(|part| {
            format!(
                "<sec><title>{}</title><p>{}</p></sec>",
                escape_html(&part.heading),
                mixed(&part.text)
            )
        })
        .collect();
    let body =
        if work.open_access.is_some() { format!("<body>{sections}</body>") } else { String::new() };
    let cited = work.references.iter().filter_map(|key| world.get(key)).enumerate();
    let references: String = cited
        .map(|(at, cited)| {
            let doi = cited.doi.as_ref().map(|doi| format!("<pub-id pub-id-type=\"doi\">{}</pub-id>", escape_html(doi)));
            format!("<ref id=\"B{}\"><element-citation><article-title>{}</article-title>{}</element-citation></ref>", at + 1, escape_html(&cited.title), doi.unwrap_or_default())
        })
        .collect();
    let day = work.date.as_deref().map(|day| date_parts(day).to_lowercase());
    format!(
        "<article article-type=\"research-article\"><front><journal-meta><journal-title-group><journal-title>{venue}</journal-title></journal-title-group></journal-meta><article-meta>{pmid}{pmc}{doi}<title-group><article-title>{title}</article-title></title-group><contrib-group>{authors}</contrib-group><pub-date pub-type=\"epub\">{day}</pub-date><abstract><p>{summary}</p></abstract></article-meta></front>{body}<back><ref-list>{references}</ref-list></back></article>",
        venue = escape_html(&work.venue),
        pmid = id("pmid", work.pmid.map(|id| id.to_string())),
        pmc = id("pmcid", work.pmcid.map(|id| format!("PMC{id}"))),
        doi = id("doi", work.doi.clone()),
        title = mixed(&work.title),
        day = day.unwrap_or_default(),
        summary = mixed(work.summary.as_deref().unwrap_or_default()),
    )
}

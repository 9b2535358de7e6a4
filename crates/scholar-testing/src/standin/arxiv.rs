//! arXiv's query API: Atom.

use scholar_core::text::untrusted::escape_html;

use super::exchange::{Reply, Request};
use super::world::{World, WorldPaper};

pub(super) fn answer(world: &World, request: &Request<'_>) -> Reply {
    if request.path.trim_end_matches('/') != "/api/query" {
        return Reply::new(404, "text/html", "<html><title>404</title></html>");
    }
    let on_arxiv = |work: &&WorldPaper| work.arxiv.is_some();
    let ids = request.param("id_list").unwrap_or_default();
    let query = request.param("search_query").unwrap_or_default();
    let mut found: Vec<&WorldPaper> = if ids.is_empty() {
        let (words, range) = understood(query);
        let ranked = world.search(&words).into_iter().map(|(work, _)| work);
        let within = |work: &&WorldPaper| range.as_ref().is_none_or(|range| work.within(range));
        ranked.filter(on_arxiv).filter(within).collect()
    } else {
        let bare = |id: &str| id.split('v').next().unwrap_or(id).to_owned();
        let wanted = ids.split(',').map(|id| bare(id.trim()));
        wanted
            .filter_map(|id| {
                world.papers.iter().find(|work| work.arxiv.as_deref() == Some(id.as_str()))
            })
            .collect()
    };
    let total = found.len();
    let (start, most) = (request.number("start", 0), request.number("max_results", 10));
    found = found.into_iter().skip(start).take(most).collect();
    let entries: Vec<String> = found.into_iter().map(entry).collect();
    let body = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom">
  <title type="html">ArXiv Query: search_query={}&amp;id_list={}</title>
  <id>http://arxiv.org/api/standin</id>
  <updated>2024-01-01T00:00:00-05:00</updated>
  <opensearch:totalResults>{total}</opensearch:totalResults>
  <opensearch:startIndex>{start}</opensearch:startIndex>
  <opensearch:itemsPerPage>{most}</opensearch:itemsPerPage>
{}</feed>
"#,
        escape_html(query),
        escape_html(ids),
        entries.concat()
    );
    Reply::new(200, "application/atom+xml; charset=UTF-8", body)
}

/// The words of a query in arXiv's syntax, and its range of dates as `from:to`.
fn understood(query: &str) -> (String, Option<String>) {
    let mut rest = query.to_owned();
    let mut range = None;
    if let Some(start) = rest.find("submittedDate:[")
        && let Some(length) = rest.get(start..).and_then(|tail| tail.find(']'))
    {
        let inner = rest.get(start + 15..start + length).unwrap_or_default().to_owned();
        let day = |text: &str| {
            let part = |from, to| text.trim().get(from..to).unwrap_or_default().to_owned();
            format!("{}-{}-{}", part(0, 4), part(4, 6), part(6, 8))
        };
        range = inner.split_once(" TO ").map(|(from, to)| format!("{}:{}", day(from), day(to)));
        rest.replace_range(start..=start + length, " ");
    }
    let words = rest.split(|c: char| c.is_whitespace() || "()\"+".contains(c));
    let words = words.filter(|word| !matches!(*word, "AND" | "OR" | "ANDNOT"));
    let words: Vec<&str> =
        words.map(|word| word.split_once(':').map_or(word, |(_, word)| word)).collect();
    (words.join(" "), range)
}

fn entry(work: &WorldPaper) -> String {
    let id = work.arxiv.as_deref().unwrap_or_default();
    let day = work.day().unwrap_or_default();
    let authors: Vec<String> = work
        .authors
        .iter()
        .map(|name| {
            format!("    <author>\n      <name>{}</name>\n    </author>\n", escape_html(name))
        })
        .collect();
    let doi = work.doi.as_ref().map(|doi| {
        format!(
            "    <arxiv:doi>{doi}</arxiv:doi>\n    <link title=\"doi\" href=\"https://doi.org/{doi}\" rel=\"related\"/>\n",
            doi = escape_html(doi)
        )
    });
    format!(
        r#"  <entry>
    <id>http://arxiv.org/abs/{id}v2</id>
    <updated>{day}T12:00:00Z</updated>
    <published>{day}T12:00:00Z</published>
    <title>{title}</title>
    <summary>  {summary}
</summary>
{authors}    <arxiv:comment>Invented</arxiv:comment>
{doi}    <arxiv:journal_ref>{venue}</arxiv:journal_ref>
    <link href="http://arxiv.org/abs/{id}v2" rel="alternate" type="text/html"/>
    <link title="pdf" href="http://arxiv.org/pdf/{id}v2" rel="related" type="application/pdf"/>
    <arxiv:primary_category term="cs.IR" scheme="http://arxiv.org/schemas/atom"/>
    <category term="cs.IR" scheme="http://arxiv.org/schemas/atom"/>
  </entry>
"#,
        title = escape_html(&work.title),
        summary = escape_html(work.summary.as_deref().unwrap_or_default()),
        authors = authors.concat(),
        doi = doi.unwrap_or_default(),
        venue = escape_html(&work.venue),
    )
}

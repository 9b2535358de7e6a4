//! Reads recorded replies of OpenAlex, arXiv, PubMed, Crossref, Unpaywall and Brave with the readers of this crate, and
//! counts what they make of them.
//!
//! `cargo run -p scholar-clients --example read_recordings -- FOLDER`, where `FOLDER` holds `all_interactions.jsonl.gz`
//! (lines with `host`, `url`, `status`, `body`), `entrez/*.xml` and `brave/web.json`.
#![expect(clippy::print_stdout, reason = "the table is the result")]

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use scholar_clients::{ReplyError, arxiv, crossref, openalex, pubmed, unpaywall, web};
use scholar_core::{PaperMeta, Retraction};
use serde_json::Value;

/// Reasons printed for each kind.
const SHOWN: usize = 3;

/// What happened to the replies of one kind.
#[derive(Default)]
struct Tally {
    read: usize,
    papers: usize,
    with_abstract: usize,
    with_date: usize,
    notices: usize,
    refused: Vec<String>,
    unreadable: Vec<String>,
    standings: BTreeMap<String, usize>,
}

impl Tally {
    fn add(&mut self, url: &str, result: Result<(Vec<scholar_core::Paper>, usize), ReplyError>) {
        match result {
            Ok((papers, notices)) => {
                self.read += 1;
                self.notices += notices;
                self.papers += papers.len();
                self.with_abstract += papers.iter().filter(|p| p.abstract_text().is_some()).count();
                let dated = |meta: &PaperMeta| meta.latest_day().is_some();
                self.with_date += papers.iter().filter(|p| dated(&p.meta)).count();
                for paper in &papers {
                    if paper.meta.retraction != Retraction::Unknown {
                        let name = format!("{:?}", paper.meta.retraction);
                        *self.standings.entry(name).or_default() += 1;
                    }
                }
            }
            Err(ReplyError::Refused(what)) => self.refused.push(format!("{url}: {what}")),
            Err(ReplyError::Shape(what)) => self.unreadable.push(format!("{url}: {what}")),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("give the folder of recordings")?;
    let folder = Path::new(&folder);
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let file = fs_err::File::open(folder.join("all_interactions.jsonl.gz"))?;
    for line in BufReader::new(MultiGzDecoder::new(file)).lines() {
        let row: Value = serde_json::from_str(&line?)?;
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let (host, url) = (text("host"), text("url"));
        let body = match &row["body"] {
            Value::String(body) => body.clone(),
            other => other.to_string(),
        };
        if let Some((kind, result)) = recorded(&host, &url, &row["body"], body.as_bytes()) {
            let status = row["status"].as_u64().map_or("-".to_owned(), |status| status.to_string());
            tallies.entry(format!("{kind} {status}")).or_default().add(&url, result);
        }
    }
    for entry in fs_err::read_dir(folder.join("entrez"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = fs_err::read(&path)?;
        let (kind, result) = if name.starts_with("esearch") {
            ("PubMed esearch", pubmed::id_list(&bytes).map(|_| (Vec::new(), 0)))
        } else if name.starts_with("elink") {
            ("PubMed elink", pubmed::link_sets(&bytes).map(|_| (Vec::new(), 0)))
        } else if name.starts_with("pubmed") && name.ends_with(".xml") {
            ("PubMed efetch", pubmed::article_set(&bytes).map(|(p, n)| (p, n.len())))
        } else {
            continue;
        };
        tallies.entry(kind.to_owned()).or_default().add(&name, result);
    }
    let bytes = fs_err::read(folder.join("brave/web.json"))?;
    let result = web::brave(&bytes).map(|(results, notices)| {
        println!("Brave: {} results, {:?}", results.len(), web::papers(&results, 10));
        (Vec::new(), notices.len())
    });
    tallies.entry("Brave".to_owned()).or_default().add("web.json", result);
    for (kind, tally) in &tallies {
        println!(
            "{kind}: {} read, {} refused, {} unreadable; {} papers, {} with abstract, {} dated, {} notices, {:?}",
            tally.read,
            tally.refused.len(),
            tally.unreadable.len(),
            tally.papers,
            tally.with_abstract,
            tally.with_date,
            tally.notices,
            tally.standings,
        );
        for what in tally.refused.iter().chain(&tally.unreadable).take(SHOWN) {
            println!("    {}", what.chars().take(240).collect::<String>());
        }
    }
    Ok(())
}

type Read = Result<(Vec<scholar_core::Paper>, usize), ReplyError>;

/// What is made of one recorded reply; `None` for those this crate never asks for.
fn recorded(host: &str, url: &str, body: &Value, bytes: &[u8]) -> Option<(&'static str, Read)> {
    match host {
        "api.openalex.org" if url.contains("/works?") => {
            let read = openalex::page(bytes).map(|page| {
                (page.works.into_iter().map(|work| work.paper).collect(), page.notices.len())
            });
            Some(("OpenAlex list", read))
        }
        "api.openalex.org" => {
            Some(("OpenAlex work", openalex::single(bytes).map(|work| (vec![work.paper], 0))))
        }
        "export.arxiv.org" => {
            let read = arxiv::feed(bytes).map(|page| {
                (page.entries.into_iter().map(|entry| entry.paper).collect(), page.notices.len())
            });
            Some(("arXiv", read))
        }
        "api.unpaywall.org" if !url.contains("/v2/search") => {
            Some(("Unpaywall", unpaywall::open_access(bytes).map(|_| (Vec::new(), 0))))
        }
        "api.crossref.org" => match body["message-type"].as_str() {
            Some("work") => {
                Some(("Crossref work", crossref::single(bytes).map(|w| (vec![w.paper], 0))))
            }
            Some("work-list") => {
                let read = crossref::list(bytes).map(|(works, notices)| {
                    (works.into_iter().map(|work| work.paper).collect(), notices.len())
                });
                Some(("Crossref list", read))
            }
            Some("validation-failure" | "resource-failure" | "exception") => {
                Some(("Crossref failure", crossref::single(bytes).map(|w| (vec![w.paper], 0))))
            }
            Some(_) => {
                Some(("Crossref other", crossref::single(bytes).map(|w| (vec![w.paper], 0))))
            }
            None => Some(("Crossref text", crossref::single(bytes).map(|w| (vec![w.paper], 0)))),
        },
        _ => None,
    }
}

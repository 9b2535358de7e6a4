//! From identifiers of several registries to papers.

use std::collections::BTreeMap;

use scholar_core::{Notice, NoticeKind, Paper, PaperId, PortError};

use crate::arxiv::{Arxiv, ArxivRef};
use crate::fetch::Fetcher;
use crate::openalex::OpenAlex;
use crate::pubmed::Pubmed;

/// Looks papers up where they are registered, in batches.
#[derive(Clone)]
pub(super) struct Lookup {
    arxiv: Arxiv,
    pubmed: Pubmed,
    openalex: OpenAlex,
}

/// Papers by the identifier they were asked for by.
#[derive(Default)]
struct Known {
    papers: BTreeMap<PaperId, Paper>,
    failures: Vec<(&'static str, PortError)>,
    notices: Vec<Notice>,
}

impl Lookup {
    pub(super) fn new(fetcher: &Fetcher) -> Self {
        Self {
            arxiv: Arxiv::new(fetcher.clone()),
            pubmed: Pubmed::new(fetcher.clone()),
            openalex: OpenAlex::new(fetcher.clone()),
        }
    }

    /// The papers with these identifiers, in their order. A registry that cannot be asked costs its papers and a
    /// notice; an error only if nothing else was found.
    pub(super) async fn papers(
        &self,
        ids: &[PaperId],
    ) -> Result<(Vec<Paper>, Vec<Notice>), PortError> {
        let mut known = Known::default();
        self.ask_arxiv(ids, &mut known).await;
        self.ask_pubmed(ids, &mut known).await;
        self.ask_openalex(ids, &mut known).await;
        let Known { mut papers, failures, mut notices } = known;
        let mut found: Vec<Paper> = Vec::new();
        let mut missing = Vec::new();
        for id in ids {
            match papers.remove(id) {
                Some(paper) if !found.iter().any(|other| other.meta.id == paper.meta.id) => {
                    found.push(paper);
                }
                Some(_) => {}
                None => missing.push(id.to_string()),
            }
        }
        for (name, error) in &failures {
            let message =
                format!("papers found on the web could not be looked up at {name}: {error}");
            let notice = Notice::new(NoticeKind::SourceDown, message);
            notices.push(match error.hint() {
                Some(hint) => notice.with_hint(hint),
                None => notice,
            });
        }
        if !missing.is_empty() {
            let message =
                format!("no metadata for papers found on the web: {}", missing.join(", "));
            notices.push(Notice::new(NoticeKind::Skipped, message));
        }
        if found.is_empty()
            && let Some((_, error)) = failures.into_iter().next()
        {
            return Err(error);
        }
        Ok((found, notices))
    }

    async fn ask_arxiv(&self, ids: &[PaperId], known: &mut Known) {
        let refs: Vec<ArxivRef> = ids.iter().filter_map(ArxivRef::latest).collect();
        if refs.is_empty() {
            return;
        }
        match self.arxiv.papers(&refs).await {
            Ok(entries) => {
                for (asked, entry) in refs.into_iter().zip(entries) {
                    if let Some(entry) = entry {
                        known.papers.insert(PaperId::Arxiv(asked.id), entry.paper);
                    }
                }
            }
            Err(error) => known.failures.push(("arXiv", error)),
        }
    }

    /// PMIDs and PMCIDs: the latter are first translated.
    async fn ask_pubmed(&self, ids: &[PaperId], known: &mut Known) {
        let mut asked: Vec<(u64, PaperId)> = Vec::new();
        let mut pmcids = Vec::new();
        for id in ids {
            match id {
                PaperId::Pmid(pmid) => asked.push((*pmid, id.clone())),
                PaperId::Pmcid(pmcid) => pmcids.push(*pmcid),
                _ => {}
            }
        }
        if !pmcids.is_empty() {
            match self.pubmed.links("pmc_pubmed", &pmcids).await {
                Ok(links) => {
                    for (pmcid, pmids) in links {
                        // A PMC article is one record of PubMed; anything else would be a guess.
                        if let [pmid] = pmids[..] {
                            asked.push((pmid, PaperId::Pmcid(pmcid)));
                        }
                    }
                }
                Err(error) => known.failures.push(("PubMed", error)),
            }
        }
        if asked.is_empty() {
            return;
        }
        let pmids: Vec<u64> = asked.iter().map(|(pmid, _)| *pmid).collect();
        match self.pubmed.records(&pmids).await {
            Ok((papers, notices)) => {
                known.notices.extend(notices);
                for ((_, id), paper) in asked.into_iter().zip(papers) {
                    if let Some(paper) = paper {
                        known.papers.insert(id, paper);
                    }
                }
            }
            Err(error) => known.failures.push(("PubMed", error)),
        }
    }

    async fn ask_openalex(&self, ids: &[PaperId], known: &mut Known) {
        let wanted = |id: &&PaperId| matches!(id, PaperId::Doi(_) | PaperId::OpenAlex(_));
        let asked: Vec<PaperId> = ids.iter().filter(wanted).cloned().collect();
        if asked.is_empty() {
            return;
        }
        match self.openalex.works(&asked).await {
            Ok((works, notices)) => {
                known.notices.extend(notices);
                for (id, work) in asked.into_iter().zip(works) {
                    if let Some(work) = work {
                        known.papers.insert(id, work.paper);
                    }
                }
            }
            Err(error) => known.failures.push(("OpenAlex", error)),
        }
    }
}

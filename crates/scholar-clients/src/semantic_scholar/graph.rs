//! Papers by identifier, and what lies around them.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{Notice, PaperId, PortError, PortErrorKind, SearchFilter};
use serde_json::json;

use super::paper::{self, S2Edge, S2Paper};
use super::wire::{Page, WireEdge, WirePaper, WireRecommended};
use super::{FIELDS, Listed, PAPERS, SEARCHES, SemanticScholar, get, keep, s2_id, skipped};
use crate::fetch::{FetchRequest, Provider};

/// The service's limits.
const MAX_BATCH: usize = 500;
const MAX_EDGES_PAGE: usize = 1000;
const MAX_RECOMMENDED: usize = 500;
/// The service refuses offsets beyond this.
const MAX_OFFSET: usize = 9000;

/// The answer to a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// One entry for each identifier asked for, in order; `None` for what the service does not know or was not asked.
    pub papers: Vec<Option<S2Paper>>,
    /// Identifiers that could not be asked for.
    pub notices: Vec<Notice>,
}

/// Which papers recommendations are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecommendFrom {
    /// Papers of the last months.
    Recent,
    /// All of computer science.
    AllComputerScience,
}

impl SemanticScholar {
    /// The paper of that name; `None` when the service does not know it.
    ///
    /// # Errors
    /// When the service cannot be asked or its reply cannot be read.
    pub async fn paper(&self, id: &PaperId) -> Result<Option<S2Paper>, PortError> {
        let Some(name) = s2_id(id) else { return Ok(None) };
        let request = get("/graph/v1/paper/")
            .path_value(&name)
            .query("fields", FIELDS)
            .cache(PAPERS)
            .not_found_answers();
        let wire: Option<WirePaper> = self.fetcher.find_json(&request).await?;
        let Some(wire) = wire else { return Ok(None) };
        match paper::read(wire, &mut Vec::new()) {
            Some(paper) => Ok(Some(paper)),
            None => {
                let what = "the field `paperId` of its reply is missing";
                Err(self.fetcher.unreadable(&request, what).await)
            }
        }
    }

    /// The papers of those names, in calls of 500 distinct ones. A call that fails costs its identifiers, with a
    /// notice; when every call fails, that is the error.
    ///
    /// # Errors
    /// As [`SemanticScholar::paper`].
    pub async fn batch(&self, ids: &[PaperId]) -> Result<Batch, PortError> {
        let names: Vec<Option<String>> = ids.iter().map(s2_id).collect();
        let distinct: BTreeSet<&str> = names.iter().flatten().map(String::as_str).collect();
        let distinct: Vec<&str> = distinct.into_iter().collect();
        let mut batch = Batch { papers: Vec::new(), notices: Vec::new() };
        let mut known: BTreeMap<&str, S2Paper> = BTreeMap::new();
        let mut answered = distinct.is_empty();
        let mut failure = None;
        for chunk in distinct.chunks(MAX_BATCH) {
            match self.batch_call(chunk).await {
                Ok(papers) => {
                    answered = true;
                    for (name, wire) in chunk.iter().zip(papers) {
                        let read = wire.and_then(|wire| paper::read(wire, &mut batch.notices));
                        known.extend(read.map(|paper| (*name, paper)));
                    }
                }
                Err(error) => {
                    let notice =
                        skipped(format!("{} papers were not looked up: {error}", chunk.len()));
                    let hint = error.hint().map(str::to_owned);
                    batch.notices.push(Notice { hint, ..notice });
                    failure = Some(error);
                }
            }
        }
        if let (false, Some(error)) = (answered, failure) {
            return Err(error);
        }
        let strangers = names.iter().filter(|name| name.is_none()).count();
        if strangers > 0 {
            let message = format!("Semantic Scholar has no names for {strangers} of the papers");
            batch.notices.push(skipped(message));
        }
        let find = |name: &Option<String>| known.get(name.as_deref()?).cloned();
        batch.papers = names.iter().map(find).collect();
        Ok(batch)
    }

    /// One call; as many entries as `names`.
    async fn batch_call(&self, names: &[&str]) -> Result<Vec<Option<WirePaper>>, PortError> {
        let body = json!({ "ids": names });
        let request =
            FetchRequest::post_json(Provider::SemanticScholar, "/graph/v1/paper/batch", &body)
                .query("fields", FIELDS)
                .cache(PAPERS);
        let papers: Vec<Option<WirePaper>> = match self.fetcher.fetch_json(&request).await {
            Ok(papers) => papers,
            // This is how the service says that it knows none of them.
            Err(error)
                if error.kind() == PortErrorKind::Rejected
                    && error.to_string().contains("No valid paper ids given") =>
            {
                std::iter::repeat_with(|| None).take(names.len()).collect()
            }
            Err(error) => return Err(error),
        };
        if papers.len() == names.len() {
            return Ok(papers);
        }
        let what = format!("its reply has {} entries for {} papers", papers.len(), names.len());
        Err(self.fetcher.unreadable(&request, &what).await)
    }

    /// What `id` cites, up to `limit` papers that `filter` accepts.
    ///
    /// # Errors
    /// As [`SemanticScholar::paper`]; `Rejected` for a paper that the service does not know.
    pub async fn references(
        &self,
        id: &PaperId,
        limit: usize,
        filter: &SearchFilter,
    ) -> Result<Listed<S2Edge>, PortError> {
        self.edges(id, "/references", limit, filter).await
    }

    /// What cites `id`, up to `limit` papers that `filter` accepts.
    ///
    /// # Errors
    /// As [`SemanticScholar::references`].
    pub async fn citations(
        &self,
        id: &PaperId,
        limit: usize,
        filter: &SearchFilter,
    ) -> Result<Listed<S2Edge>, PortError> {
        self.edges(id, "/citations", limit, filter).await
    }

    async fn edges(
        &self,
        id: &PaperId,
        direction: &str,
        limit: usize,
        filter: &SearchFilter,
    ) -> Result<Listed<S2Edge>, PortError> {
        let mut listed = Listed { items: Vec::new(), total: None, notices: Vec::new() };
        let name = s2_id(id).ok_or_else(|| unknown_registry(id))?;
        let fields = format!("isInfluential,contexts,intents,{FIELDS}");
        let page = limit.clamp(1, MAX_EDGES_PAGE);
        let mut offset = 0;
        let mut seen = BTreeSet::new();
        let mut nameless = Vec::new();
        while listed.items.len() < limit {
            let request = get("/graph/v1/paper/")
                .path_value(&name)
                .path_tail(direction)
                .query("fields", fields.as_str())
                .query("limit", page.to_string())
                .query("offset", offset.to_string())
                .cache(PAPERS);
            let reply: Page<Option<WireEdge>> = self.fetcher.fetch_json(&request).await?;
            if reply.data.is_none() {
                let what = "Semantic Scholar lists none of the papers around";
                let message = format!("{what} {id}: its publisher may have withheld them");
                listed.notices.push(skipped(message));
            }
            for wire in reply.data.into_iter().flatten().flatten() {
                let Some(edge) = paper::read_edge(wire, &mut nameless) else { continue };
                let meta = &edge.paper.paper.meta;
                if filter.accepts(meta) && seen.insert(meta.id.clone()) {
                    listed.items.push(edge);
                }
            }
            match reply.next {
                Some(next) if next > offset && next <= MAX_OFFSET => offset = next,
                Some(next) if next > MAX_OFFSET => {
                    let what = format!("only the first {next} papers around {id} can be listed");
                    listed.notices.push(skipped(what));
                    break;
                }
                _ => break,
            }
        }
        // Bibliographies hold many entries that nobody could identify: one notice says how many.
        if !nameless.is_empty() {
            let what = format!(
                "{} remarks on papers around {id}: {}",
                nameless.len(),
                nameless[0].message
            );
            listed.notices.push(skipped(what));
        }
        listed.items.truncate(limit);
        Ok(listed)
    }

    /// Papers like `id`, up to `limit` that `filter` accepts. The paper itself is not among them.
    ///
    /// # Errors
    /// As [`SemanticScholar::references`].
    pub async fn recommend_for(
        &self,
        id: &PaperId,
        from: RecommendFrom,
        limit: usize,
        filter: &SearchFilter,
    ) -> Result<Listed<S2Paper>, PortError> {
        let name = s2_id(id).ok_or_else(|| unknown_registry(id))?;
        let pool = match from {
            RecommendFrom::Recent => "recent",
            RecommendFrom::AllComputerScience => "all-cs",
        };
        let request = get("/recommendations/v1/papers/forpaper/")
            .path_value(&name)
            .query("fields", FIELDS)
            .query("from", pool);
        self.recommended(request, std::slice::from_ref(id), limit, filter).await
    }

    /// Papers like those of `positive` and unlike those of `negative`, up to `limit` that `filter` accepts. None of
    /// the given papers is among them.
    ///
    /// # Errors
    /// As [`SemanticScholar::references`].
    pub async fn recommend(
        &self,
        positive: &[PaperId],
        negative: &[PaperId],
        limit: usize,
        filter: &SearchFilter,
    ) -> Result<Listed<S2Paper>, PortError> {
        let names = |ids: &[PaperId]| -> Result<Vec<String>, PortError> {
            ids.iter().map(|id| s2_id(id).ok_or_else(|| unknown_registry(id))).collect()
        };
        let body = json!({
            "positivePaperIds": names(positive)?,
            "negativePaperIds": names(negative)?,
        });
        let path = "/recommendations/v1/papers/";
        let request =
            FetchRequest::post_json(Provider::SemanticScholar, path, &body).query("fields", FIELDS);
        let given: Vec<PaperId> = positive.iter().chain(negative).cloned().collect();
        self.recommended(request, &given, limit, filter).await
    }

    async fn recommended(
        &self,
        request: FetchRequest,
        given: &[PaperId],
        limit: usize,
        filter: &SearchFilter,
    ) -> Result<Listed<S2Paper>, PortError> {
        // The service takes no filter here, so more is asked for than wanted where there is one.
        let asked = if filter.is_none() {
            limit.saturating_add(given.len())
        } else {
            limit.saturating_mul(4)
        };
        let asked = asked.clamp(1, MAX_RECOMMENDED);
        let request = request.query("limit", asked.to_string()).cache(SEARCHES);
        let reply: WireRecommended = self.fetcher.fetch_json(&request).await?;
        let mut strict = filter.clone();
        strict.exclude.extend(given.iter().cloned());
        let mut listed = Listed { items: Vec::new(), total: None, notices: Vec::new() };
        let Some(papers) = reply.recommended_papers else {
            let what = "the field `recommendedPapers` of its reply is missing";
            return Err(self.fetcher.unreadable(&request, what).await);
        };
        keep(&mut listed, papers.into_iter().map(Some), &strict);
        listed.items.truncate(limit);
        Ok(listed)
    }
}

fn unknown_registry(id: &PaperId) -> PortError {
    let message = format!("Semantic Scholar has no name for {id}");
    PortError::new(PortErrorKind::Rejected, message)
        .with_hint("ask by DOI, arXiv id, PMID, PMCID, ACL id or corpus id")
}

//! Papers in memory as a source beyond the datastore.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use scholar_core::{
    FindBy, FindRequest, Found, Paper, PaperId, PaperMeta, PaperSource, PortError, PortErrorKind,
};

use crate::words::stems;

/// Finds the papers that share most stems with a text, by title and abstract. Fails for texts it was told to fail for.
pub struct MemorySource {
    name: String,
    by: FindBy,
    papers: Vec<Paper>,
    whole: BTreeMap<PaperId, Paper>,
    failing: Vec<(String, PortErrorKind)>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl MemorySource {
    /// Knows `papers` and takes texts of one kind.
    pub fn new(name: &str, by: FindBy, papers: impl IntoIterator<Item = Paper>) -> Self {
        Self {
            name: name.to_owned(),
            by,
            papers: papers.into_iter().collect(),
            whole: BTreeMap::new(),
            failing: Vec::new(),
            asked: Arc::default(),
        }
    }

    /// Has the whole text of this paper open.
    #[must_use]
    pub fn with_whole(mut self, paper: Paper) -> Self {
        self.whole.insert(paper.meta.id.clone(), paper);
        self
    }

    /// Fails for every text that contains `part`.
    #[must_use]
    pub fn failing(mut self, part: &str, kind: PortErrorKind) -> Self {
        self.failing.push((part.to_owned(), kind));
        self
    }

    /// The texts it was asked, in order of arrival; shared with the source.
    pub fn asked(&self) -> Arc<Mutex<Vec<String>>> {
        Arc::clone(&self.asked)
    }
}

#[async_trait]
impl PaperSource for MemorySource {
    fn name(&self) -> &str {
        &self.name
    }

    fn takes(&self, by: FindBy) -> bool {
        by == self.by
    }

    async fn find(&self, request: &FindRequest) -> Result<Found, PortError> {
        let text = request.text.as_str();
        self.asked.lock().push(text.to_owned());
        if let Some((_, kind)) = self.failing.iter().find(|(part, _)| text.contains(part)) {
            return Err(PortError::new(*kind, "told to fail").with_hint("stop telling it"));
        }
        let wanted = stems(text);
        let mut ranked: Vec<(usize, &Paper)> = self
            .papers
            .iter()
            .map(|paper| {
                let has = stems(&format!("{} {}", paper.meta.title, paper.text()));
                (wanted.iter().filter(|stem| has.contains(stem)).count(), paper)
            })
            .filter(|(shared, _)| *shared > 0)
            .collect();
        ranked.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.meta.id.cmp(&b.1.meta.id)));
        ranked.truncate(request.limit);
        let papers = ranked.into_iter().map(|(_, paper)| paper.clone()).collect();
        Ok(Found { papers, notices: Vec::new() })
    }

    async fn full_text(&self, paper: &PaperMeta) -> Result<Option<Paper>, PortError> {
        Ok(paper.ids().find_map(|id| self.whole.get(id)).cloned())
    }
}

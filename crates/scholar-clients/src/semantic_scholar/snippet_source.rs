//! Snippet search behind the port: papers with the passages that were found in them.

use async_trait::async_trait;
use scholar_core::paper::ABSTRACT_HEADING;
use scholar_core::text::normalise::nfc_single_spaced;
use scholar_core::{FindBy, FindRequest, Found, Paper, PaperMeta, PaperSource, PortError, Section};

use super::paper::{Snippet, SnippetKind};
use super::{MAX_SNIPPETS, SemanticScholar};

/// Snippets asked for one paper wanted: a paper that answers has several.
const PER_PAPER: usize = 5;

/// Semantic Scholar's snippet search as a source of papers. What it finds of a paper is a part of its text.
pub struct SnippetSource {
    client: SemanticScholar,
}

impl SnippetSource {
    /// A source over `client`.
    pub fn new(client: SemanticScholar) -> Self {
        Self { client }
    }
}

#[async_trait]
impl PaperSource for SnippetSource {
    fn name(&self) -> &str {
        "snippets"
    }

    fn takes(&self, by: FindBy) -> bool {
        by == FindBy::Question
    }

    async fn find(&self, request: &FindRequest) -> Result<Found, PortError> {
        let most = request.limit.saturating_mul(PER_PAPER).min(MAX_SNIPPETS);
        let listed = self.client.snippets(request.text.as_str(), most, &request.filter).await?;
        let mut papers = papers(listed.items);
        papers.truncate(request.limit);
        Ok(Found { papers, notices: listed.notices })
    }

    /// Snippets are what there is of it.
    async fn full_text(&self, _paper: &PaperMeta) -> Result<Option<Paper>, PortError> {
        Ok(None)
    }
}

/// The papers of snippets, the paper of the best one first; of each the snippets as sections in the order of its text, and
/// the papers that they mention as references.
fn papers(snippets: Vec<Snippet>) -> Vec<Paper> {
    let mut found: Vec<(PaperMeta, Vec<Snippet>)> = Vec::new();
    for snippet in snippets {
        match found.iter_mut().find(|(meta, _)| meta.id == snippet.paper.id) {
            Some((_, own)) => own.push(snippet),
            None => found.push((snippet.paper.clone(), vec![snippet])),
        }
    }
    found.into_iter().map(|(meta, own)| paper(meta, own)).collect()
}

fn paper(meta: PaperMeta, mut snippets: Vec<Snippet>) -> Paper {
    snippets.sort_by_key(|snippet| {
        let start = snippet.offset.as_ref().map_or(usize::MAX, |offset| offset.start);
        (snippet.kind != SnippetKind::Abstract, start)
    });
    let mut paper =
        Paper { meta, sections: Vec::new(), references: Vec::new(), records: Vec::new() };
    for snippet in snippets {
        let heading = match snippet.kind {
            // The title is there already.
            SnippetKind::Title => continue,
            SnippetKind::Abstract => ABSTRACT_HEADING.to_owned(),
            SnippetKind::Body => snippet.section.unwrap_or_default(),
        };
        let text = nfc_single_spaced(&snippet.text);
        // Snippets overlap; one that is within another says nothing new.
        if !text.is_empty() && !paper.sections.iter().any(|section| section.text.contains(&text)) {
            paper.sections.push(Section::new(&heading, &text));
        }
        for mentioned in snippet.mentions.into_iter().filter_map(|mention| mention.paper) {
            if !paper.references.contains(&mentioned) {
                paper.references.push(mentioned);
            }
        }
    }
    paper
}

//! A review as the files that the released code leaves, under its names and in its shapes, for programs that read those.
//!
//! They follow from the review and the calls of its run alone; what a review in another form does not have is not made up: counts of
//! a paper's characters, abstracts, and files of steps that were not taken are left out. Objects name the settings that they were
//! made with under `settings`.
//!
//! Source: specification B1.3.

use std::fmt::Write as _;

use scholar_core::{PaperId, PaperMeta, TokenUsage};
use serde_json::{Map, Value, json};

use crate::cite;
use crate::report::{
    Contribution, EvidenceOrigin, MethodReview, Module, Review, ScoredPaper, Soundness, Statement,
};

/// A file of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artefact {
    /// Its path below the folder of the run: `soundness/methods.json`.
    pub path: String,
    /// All of it.
    pub text: String,
}

/// A call of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct StepCall {
    /// What it was for.
    pub purpose: String,
    /// What it took.
    pub usage: TokenUsage,
    /// US dollars, where the price is known.
    pub usd: Option<f64>,
}

/// The files of `review`; `settings` is the digest of its settings.
pub fn artefacts(review: &Review, calls: &[StepCall], settings: &str) -> Vec<Artefact> {
    let mut files = Files { review, settings, all: Vec::new() };
    if let Some(soundness) = review.soundness.as_ref().and_then(Module::done) {
        files.soundness(soundness);
        files.costs("soundness", calls);
    }
    if let Some(contribution) = review.contribution.as_ref().and_then(Module::done) {
        files.contribution(contribution);
        files.costs("contribution", calls);
    }
    files.all
}

struct Files<'a> {
    review: &'a Review,
    settings: &'a str,
    all: Vec<Artefact>,
}

impl Files<'_> {
    fn text(&mut self, path: &str, text: String) {
        if !text.trim().is_empty() {
            self.all.push(Artefact { path: path.to_owned(), text });
        }
    }

    /// An object with one field beside the settings.
    fn object(&mut self, path: &str, field: &str, value: &Value) {
        let object = json!({ field: value, "settings": self.settings });
        self.text(path, pretty(&object));
    }

    fn list(&mut self, path: &str, values: &[Value]) {
        if !values.is_empty() {
            self.text(path, pretty(&Value::from(values)));
        }
    }

    fn soundness(&mut self, soundness: &Soundness) {
        let reviews = &soundness.reviews;
        self.text("soundness/research_plan.txt", self.review.idea.text.clone());
        let methods: Vec<&str> = reviews.iter().map(|one| one.method.text.as_str()).collect();
        self.object("soundness/methods.json", "clean_methods", &json!(methods));
        let queries = by_method(reviews, |one| json!(one.query));
        self.object("soundness/queries.json", "queries", &queries);
        let read = by_method(reviews, |one| {
            one.evidence.iter().map(|evidence| id(&evidence.paper.id)).collect()
        });
        self.text("soundness/snippet_references.json", pretty(&read));
        let mut papers = Map::new();
        for evidence in reviews.iter().flat_map(|one| &one.evidence) {
            let value =
                json!({"sections_used": evidence.sections, "paper": paper(&evidence.paper)});
            papers.entry(plain(&evidence.paper.id)).or_insert(value);
        }
        self.text("soundness/snippet_papers.json", pretty(&Value::Object(papers)));
        let analysis = by_method(reviews, |one| {
            let told = one.evidence.iter().flat_map(|evidence| {
                let said = evidence.summarised.iter();
                said.map(|said| json!({"corpus_id": id(&evidence.paper.id), "analysis": said}))
            });
            told.collect()
        });
        self.object("soundness/methods_analysis.json", "analysis", &analysis);
        let meta = by_method(reviews, |one| {
            json!({
                "support": self.told(&one.support),
                "contradictions": self.told(&one.contradictions),
                "suggested_action": self.told(&one.suggested_action),
                "soundness_score": one.model_score,
                "n_related_work": one.evidence.len(),
            })
        });
        self.object("soundness/meta_review.json", "analysis", &meta);
        let parts: Vec<String> = reviews.iter().map(|one| self.method(one)).collect();
        self.text("soundness/meta_review.md", parts.concat());
        if let Some(summary) = &soundness.summary {
            let named = [
                ("Strengths", &summary.strengths),
                ("Weaknesses", &summary.weaknesses),
                ("Top 3 Suggestions", &summary.suggestions),
            ];
            let text = self.headed("##", &named);
            self.text("soundness/tldr_soundness.md", text.clone());
            self.text("soundness/tldr_soundness.txt", text);
        }
    }

    fn contribution(&mut self, contribution: &Contribution) {
        self.text("contribution/research_plan.txt", self.review.idea.text.clone());
        let dimensions = contribution.reviews.iter().map(|one| &one.dimension);
        let lines = dimensions.clone().map(|one| {
            let line = json!({"dimension": one.name, "contributions": one.statements});
            format!("{line}\n")
        });
        self.text("contribution/dimensions_contributions.jsonl", lines.collect());
        let mut queries = Map::new();
        for one in dimensions {
            for (statement, own) in one.statements.iter().zip(&one.queries) {
                queries.insert(statement.clone(), json!(own));
            }
        }
        self.object("contribution/contribution_queries.json", "queries", &Value::Object(queries));
        let searched = |one: &&ScoredPaper| matches!(one.origin, EvidenceOrigin::Search { .. });
        let all = &contribution.papers;
        let (found, added): (Vec<_>, Vec<_>) = all.iter().partition(searched);
        let bare = |all: &[&ScoredPaper]| -> Vec<Value> {
            all.iter().map(|one| paper(&one.paper)).collect()
        };
        let rated = |all: &[&ScoredPaper]| -> Vec<Value> {
            all.iter().filter(|one| one.relevance.is_some()).map(|one| scored(one)).collect()
        };
        let every: Vec<&ScoredPaper> = all.iter().collect();
        self.list("contribution/contribution_papers.json", &bare(&found));
        let filtered = rated(&found);
        self.object("contribution/filtered_contribution_papers.json", "papers", &json!(filtered));
        self.list("contribution/augmented_contribution_papers.json", &bare(&added));
        let near = rated(&added);
        self.list("contribution/filtered_augmented_contribution_papers.json", &near);
        let last = rated(&every);
        self.object("contribution/final_contribution_papers.json", "papers", &json!(last));
        let sample: Vec<Value> =
            contribution.comparisons.iter().map(|one| scored(&one.paper)).collect();
        self.list("contribution/sampled_final_contribution_papers.json", &sample);
        self.compared(contribution);
        let parts = contribution.reviews.iter().map(|one| {
            let named = [
                ("Strengths", &one.strengths),
                ("Weaknesses", &one.weaknesses),
                ("Suggestions", &one.suggestions),
            ];
            format!("## {}\n\n{}", one.dimension.heading(), self.headed("###", &named))
        });
        let text: String = parts.collect();
        self.text("contribution/contribution_review.txt", text.clone());
        self.text("contribution/contribution_citation_checked.md", text + &self.references());
    }

    fn compared(&mut self, contribution: &Contribution) {
        let all = &contribution.comparisons;
        if all.is_empty() {
            return;
        }
        let name = |id: &str| {
            let known = contribution.reviews.iter().find(|one| one.dimension.id == id);
            known.map_or_else(|| id.to_owned(), |one| one.dimension.name.clone())
        };
        let of = |one: &crate::report::Comparison| {
            let mut along = Map::new();
            for dimension in &one.dimensions {
                let value =
                    json!({"comparison": dimension.text, "score": dimension.novelty.value()});
                along.insert(name(&dimension.dimension), value);
            }
            json!({"overall_comparison": one.overall, "dimension_comparisons": along})
        };
        let listed: Vec<Value> = all
            .iter()
            .map(|one| json!({"paper": scored(&one.paper), "comparison": of(one)}))
            .collect();
        let path = "contribution/pairwise_comparisons.json";
        self.object(path, "comparisons", &Value::from(listed));
        let context: Vec<Value> = all
            .iter()
            .map(
                |one| json!({"paperReference": reference(&one.paper.paper), "comparison": of(one)}),
            )
            .collect();
        self.list("contribution/contribution_context.json", &context);
    }

    /// What the calls of a module took, in their order.
    fn costs(&mut self, module: &str, calls: &[StepCall]) {
        let mut lines = String::new();
        for call in calls.iter().filter(|call| module_of(&call.purpose) == Some(module)) {
            let line = json!({"step": call.purpose, "cost": call.usd,
                "input_tokens": call.usage.prompt, "output_tokens": call.usage.completion});
            let _infallible = writeln!(lines, "{line}");
        }
        self.text(&format!("{module}/{module}_costs.jsonl"), lines);
    }

    fn method(&self, one: &MethodReview) -> String {
        let named = [
            ("Support", &one.support),
            ("Contradictions", &one.contradictions),
            ("Suggested Action", &one.suggested_action),
        ];
        let text = self.headed("###", &named);
        if text.is_empty() {
            return text;
        }
        format!("## {}\n\n{text}---\n\n", one.method.text)
    }

    /// Those parts that have sentences, under their names.
    fn headed(&self, marks: &str, parts: &[(&str, &Vec<Statement>)]) -> String {
        let mut text = String::new();
        for (name, statements) in parts.iter().filter(|(_, all)| !all.is_empty()) {
            let _infallible = write!(text, "{marks} {name}\n\n{}\n\n", self.told(statements));
        }
        text
    }

    /// Sentences with their citations as links.
    fn told(&self, statements: &[Statement]) -> String {
        let sentences: Vec<String> = statements.iter().map(|one| self.sentence(one)).collect();
        sentences.join(" ")
    }

    fn sentence(&self, statement: &Statement) -> String {
        let sentence = &statement.sentence;
        let bare = sentence.text.trim_end_matches('.');
        let mut text = bare.to_owned();
        for citation in &sentence.citations {
            let cited = self.review.references.iter().find(|one| one.number == *citation);
            let paper =
                cited.and_then(|one| self.review.papers().find(|paper| paper.id == one.paper_id));
            let Some(paper) = paper else { continue };
            let name = cite::citation(paper);
            let _infallible = match paper.link() {
                Some(link) => write!(text, " [{name}]({link})"),
                None => write!(text, " {name}"),
            };
        }
        text.push_str(&sentence.text[bare.len()..]);
        text
    }

    /// The cited papers in order of their numbers.
    fn references(&self) -> String {
        let cited = self
            .review
            .references
            .iter()
            .filter_map(|one| self.review.papers().find(|paper| paper.id == one.paper_id));
        let lines: String = cited.map(|paper| format!("- {}\n", reference(paper))).collect();
        if lines.is_empty() { lines } else { format!("## References\n\n{lines}") }
    }
}

/// Which module's a call was; `None` of neither alone.
fn module_of(purpose: &str) -> Option<&'static str> {
    let purpose = purpose.strip_prefix("repair ").unwrap_or(purpose);
    match purpose.split(' ').next().unwrap_or_default() {
        "methods" | "query" | "summary" | "method" => Some("soundness"),
        "dimensions" | "queries" | "relevance" | "compare" | "synthesis" => Some("contribution"),
        _ => None,
    }
}

/// An object with a field for each method, in their order.
fn by_method(reviews: &[MethodReview], of: impl Fn(&MethodReview) -> Value) -> Value {
    let mut map = Map::new();
    for one in reviews {
        map.insert(one.method.text.clone(), of(one));
    }
    Value::Object(map)
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// A corpus id as a number, as the source has it; any other identifier as it is written.
fn id(id: &PaperId) -> Value {
    match id {
        PaperId::CorpusId(number) => json!(number),
        other => json!(other.to_string()),
    }
}

fn plain(id: &PaperId) -> String {
    match id {
        PaperId::CorpusId(number) => number.to_string(),
        other => other.to_string(),
    }
}

/// A paper under the names of Semantic Scholar's fields.
fn paper(paper: &PaperMeta) -> Value {
    let authors: Vec<Value> = paper.authors.iter().map(|name| json!({ "name": name })).collect();
    json!({
        "paperId": paper.id.to_string(),
        "title": paper.title,
        "authors": authors,
        "year": paper.year,
        "publicationDate": paper.published,
        "venue": paper.venue,
        "citationCount": paper.citation_count,
        "url": paper.link(),
    })
}

fn scored(one: &ScoredPaper) -> Value {
    let mut value = paper(&one.paper);
    value["relevance_score"] = json!(one.relevance);
    value["relevance_rationale"] = json!(one.rationale);
    if let Some(cosine) = one.cosine {
        value["cosine_similarity"] = json!(cosine);
    }
    value
}

/// `Authors. Title. Year. Venue. URL`, without what is not known.
fn reference(paper: &PaperMeta) -> String {
    let year = paper.year.or_else(|| paper.published.map(jiff::civil::Date::year));
    let parts = [
        Some(paper.authors.join(", ")),
        Some(paper.display_title().into_owned()),
        year.map(|year| year.to_string()),
        paper.venue.clone(),
        paper.link(),
    ];
    let parts = parts.into_iter().flatten().map(|part| part.trim_end_matches('.').to_owned());
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(". ")
}

//! Answers with an outline and a tree of retrievals: a made one that looks real, a hostile one, one of any size.
//!
//! Papers, trials and numbers of [`sample`] are invented; its identifiers are of the kinds that lead to no paper.

use scholar_core::{
    Answer, Citation, Contribution, ContributionChain, ContributionEdge, ContributionGraph,
    ContributionSegment, ContributionTarget, DecidedBy, EvidenceOrigin, ExpansionDecision,
    LinkDirection, NodeState, Outline, OutlineSection, PaperId, PassageId, Reference, Relevance,
    TokenUsage, Tree, TreeEvidence, TreeNode,
};

/// Years and titles of forty papers that do not exist.
const TITLES: &str = include_str!("exploration/titles.txt");

/// Nodes of [`sample`]: id, query, state, number of candidates.
const NODES: [(&str, &str, NodeState, usize); 7] = [
    (
        "0",
        "Does aerobic or resistance training improve insulin sensitivity more in older adults?",
        NodeState::Answered,
        8,
    ),
    (
        "1",
        "By which mechanisms does exercise raise insulin sensitivity in ageing muscle?",
        NodeState::Answered,
        8,
    ),
    (
        "1.1",
        "Does contraction signal to GLUT4 independently of insulin, and does that change with age?",
        NodeState::Answered,
        6,
    ),
    ("1.2", "Muscle lipid intermediates after training", NodeState::NoEvidence, 3),
    (
        "2",
        "How large is the effect of each kind of training in randomised trials with clamp outcomes, and how long does it last?",
        NodeState::Answered,
        9,
    ),
    ("2.1", "Agreement of HOMA with the clamp above the age of sixty-five", NodeState::Answered, 6),
    ("3", "Which medicines change the response?", NodeState::Skipped, 0),
];

/// Candidates that the answer of [`sample`] cites, by their place among all.
const CITED: [usize; 12] = [0, 1, 2, 3, 8, 9, 10, 16, 17, 25, 26, 35];

/// Why candidates are kept, as models write it.
const RATIONALES: [&str; 4] = [
    "It measures the outcome directly, in the age group that is asked about, and reports the difference between the two kinds of training with an interval.",
    "Only trial with a clamp before and after detraining.",
    "Explains why the effect is larger where capillary density is low, which the trials do not.",
    "The largest of the trials; its subgroup above seventy is what the question asks about.",
];

/// Why candidates are not.
const DISCARDED: [&str; 3] = [
    "Its participants are younger, and no kind of training is compared with another.",
    "Contradicted by the two larger trials.",
    "About adherence, not about insulin sensitivity.",
];

/// Seven nodes, forty candidates, three contribution graphs; every optional field is there at least once.
pub fn sample() -> Answer {
    let mut lines = TITLES.lines().map(|line| line.split_once('|').expect("year and title"));
    let mut taken = 0;
    let mut references = Vec::new();
    let mut nodes: Vec<TreeNode> = Vec::new();
    for (id, query, state, n_candidates) in NODES {
        let parent = id.rsplit_once('.').map_or("0", |(parent, _)| parent);
        let above = nodes.iter().find(|node| node.id == parent && id != "0");
        let mut path = above.map_or_else(Vec::new, |node: &TreeNode| node.path.clone());
        path.push(query.to_owned());
        let mut evidence: Vec<TreeEvidence> = lines
            .by_ref()
            .take(n_candidates)
            .map(|(year, title)| {
                let at = taken;
                taken += 1;
                let mut one = candidate(at, title);
                one.year = year.parse().ok();
                if CITED.contains(&at) {
                    let number = Citation(references.len() + 1);
                    references.push(reference(number, &one));
                    one.reference = Some(number);
                }
                one
            })
            .collect();
        evidence.sort_by_key(|one| !one.kept);
        if state == NodeState::NoEvidence {
            evidence.iter_mut().for_each(|one| {
                discard(one, "No candidate reports muscle lipids after training alone.");
            });
        }
        nodes.push(node(id, path, state, evidence));
    }
    answer(nodes, references)
}

/// A tree of `n_nodes`, each with `per_node` candidates.
pub fn many(n_nodes: usize, per_node: usize) -> Answer {
    let titles: Vec<&str> = TITLES.lines().map(|line| &line[5..]).collect();
    let mut nodes = Vec::new();
    for at in 0..n_nodes {
        // Three children a node, by the digits of the number in base three.
        let mut id = String::new();
        let mut rest = at;
        while rest > 0 {
            let child = (rest - 1) % 3 + 1;
            id = if id.is_empty() { child.to_string() } else { format!("{child}.{id}") };
            rest = (rest - 1) / 3;
        }
        let id = if id.is_empty() { "0".to_owned() } else { id };
        let first = at * per_node;
        let mut evidence: Vec<TreeEvidence> =
            (first..first + per_node).map(|n| candidate(n, titles[n % titles.len()])).collect();
        evidence.sort_by_key(|one| !one.kept);
        nodes.push(node(&id, vec![format!("Query {at}")], NodeState::Answered, evidence));
    }
    let key = |node: &TreeNode| -> Vec<usize> {
        node.id.split('.').map(|part| part.parse().unwrap_or(0)).collect()
    };
    nodes.sort_by_key(|node| if node.id == "0" { Vec::new() } else { key(node) });
    answer(nodes, Vec::new())
}

/// [`sample`] with `text` in every place that a paper or a model can fill.
pub fn hostile(text: &str) -> Answer {
    let mut answer = sample();
    answer.question = text.to_owned();
    if let Some(outline) = &mut answer.outline {
        outline.text = text.to_owned();
        for section in &mut outline.sections {
            section.heading = text.to_owned();
            section.content = text.to_owned();
        }
    }
    for reference in &mut answer.references {
        reference.title = text.to_owned();
        reference.url = Some(format!("https://example.org/{text}"));
        reference.doi = Some(text.to_owned());
        reference.venue = Some(text.to_owned());
        reference.authors = vec![text.to_owned()];
    }
    for node in answer.tree.iter_mut().flat_map(|tree| &mut tree.nodes) {
        node.path.iter_mut().for_each(|query| text.clone_into(query));
        for field in [&mut node.reason, &mut node.answer] {
            *field = Some(text.to_owned());
        }
        node.gaps = vec![text.to_owned()];
        for (at, one) in node.evidence.iter_mut().enumerate() {
            one.title = text.to_owned();
            one.paper = PaperId::Acl(format!("{text}{at}"));
            one.passages = vec![PassageId { paper: one.paper.clone(), ordinal: 0 }];
            one.rationale = Some(text.to_owned());
            one.discarded = Some(text.to_owned());
            if let EvidenceOrigin::Link { of, .. } = &mut one.origin {
                *of = PaperId::Acl(text.to_owned());
            }
        }
        let Some(graph) = &mut node.contributions else { continue };
        graph.analysis = Some(text.to_owned());
        graph.segments.iter_mut().for_each(|one| text.clone_into(&mut one.description));
        graph.edges.iter_mut().for_each(|one| text.clone_into(&mut one.rationale));
        graph
            .chains
            .iter_mut()
            .filter_map(|one| one.pruned.as_mut())
            .for_each(|why| text.clone_into(why));
    }
    answer
}

fn answer(nodes: Vec<TreeNode>, references: Vec<Reference>) -> Answer {
    let section = |heading: &str, content: &str, share: f32| OutlineSection {
        heading: heading.to_owned(),
        content: content.to_owned(),
        share,
    };
    let sections = vec![
        section("Short answer", "Which kind of training helps more, and how sure that is.", 14.0),
        section(
            "How exercise acts on ageing muscle",
            "GLUT4, blood flow, lipids; what is shown in people.",
            24.0,
        ),
        section(
            "Effects in randomised trials",
            "Size by kind of training, outcome measure and duration.",
            38.0,
        ),
        section("What limits the evidence", "Surrogate outcomes, small trials, medicines.", 24.0),
    ];
    let mut answer = crate::hostile::answer("training");
    answer.question = nodes.first().and_then(|node| node.path.last()).cloned().unwrap_or_default();
    answer.references = references;
    let lines =
        sections.iter().map(|one| format!("{} ({} %): {}", one.heading, one.share, one.content));
    answer.outline = Some(Outline {
        text: lines.collect::<Vec<_>>().join("\n"),
        sections,
        by: DecidedBy::Model,
        renormalised_from: Some(104.0),
    });
    answer.tree = Some(Tree { nodes });
    answer
}

fn reference(number: Citation, of: &TreeEvidence) -> Reference {
    Reference {
        number,
        paper_id: of.paper.clone(),
        title: of.title.clone(),
        authors: vec!["Ada Example".to_owned()],
        year: of.year,
        venue: Some("Journal of Invented Results".to_owned()),
        url: Some(format!("https://example.org/papers/{}", number.0)),
        doi: None,
        found_by: Vec::new(),
    }
}

/// The paper at `at`: every fourth is discarded, every other one is linked to one before it.
fn candidate(at: usize, title: &str) -> TreeEvidence {
    let paper = |at: usize| PaperId::Local(format!("invented-{at}"));
    let direction =
        if at.is_multiple_of(4) { LinkDirection::Citations } else { LinkDirection::References };
    let mut one = TreeEvidence {
        paper: paper(at),
        title: title.to_owned(),
        year: Some(2000),
        passages: vec![PassageId { paper: paper(at), ordinal: 0 }],
        origin: match at {
            0..3 => EvidenceOrigin::Initial,
            _ if at.is_multiple_of(2) => EvidenceOrigin::Link { of: paper(at - 2), direction },
            _ => EvidenceOrigin::Snippet,
        },
        score: Some(0.97 - (at % 40) as f32 * 0.02),
        kept: true,
        rationale: Some(RATIONALES[at % RATIONALES.len()].to_owned()),
        discarded: None,
        reference: None,
    };
    if at % 4 == 3 && at != 3 && at != 35 || at % 5 == 4 && at != 9 {
        discard(&mut one, DISCARDED[at % DISCARDED.len()]);
    }
    one
}

fn discard(one: &mut TreeEvidence, why: &str) {
    one.kept = false;
    one.rationale = None;
    one.discarded = Some(why.to_owned());
}

fn node(id: &str, path: Vec<String>, state: NodeState, evidence: Vec<TreeEvidence>) -> TreeNode {
    let searched = !evidence.is_empty();
    let inner = searched && id != "0";
    let tagged = state == NodeState::Answered && inner;
    let expanded = evidence.iter().any(|one| matches!(one.origin, EvidenceOrigin::Link { .. }));
    let by = match id {
        "2.1" => DecidedBy::Fallback,
        _ => DecidedBy::Model,
    };
    let by = inner.then_some(by);
    let n = evidence.len() as u64;
    TreeNode {
        id: id.to_owned(),
        path,
        state,
        reason: match state {
            NodeState::Answered => None,
            NodeState::NoEvidence => Some("every candidate was discarded".to_owned()),
            NodeState::Failed => Some("the model's server is away".to_owned()),
            NodeState::Skipped => {
                Some("the limit of 40 model calls was reached before it".to_owned())
            }
        },
        decision: inner.then_some(match expanded {
            true => ExpansionDecision::Expanded,
            false => ExpansionDecision::Sufficient,
        }),
        decided_by: by,
        selected_by: by,
        contributions: tagged.then(|| contributions(&evidence)),
        answer: (state == NodeState::Answered).then(|| {
            "Both kinds of training help [0]. Together they help more than either [1].".to_owned()
        }),
        gaps: match id {
            "2" => vec!["No trial follows its participants for longer than two years.".to_owned()],
            _ => Vec::new(),
        },
        calls: if searched { 3 + n / 3 } else { 0 },
        usage: TokenUsage { prompt: 1_240 * n, completion: 96 * n },
        milliseconds: 830 * n,
        evidence,
    }
}

/// One or two segments a candidate; kept ones lead to the query directly, over one other or over two.
fn contributions(evidence: &[TreeEvidence]) -> ContributionGraph {
    let mut graph = ContributionGraph::default();
    for (at, one) in evidence.iter().enumerate() {
        let roles = [Contribution::ALL[(at * 2 + 1) % 5], Contribution::ALL[(at + 3) % 5]];
        for role in roles.into_iter().take(1 + usize::from(at.is_multiple_of(3))) {
            graph.segments.push(ContributionSegment {
                evidence: at,
                role,
                description: format!("{} of the study: what it adds to the question", role.name()),
                relevance: match one.kept {
                    true if at < 2 => Relevance::High,
                    true => Relevance::Medium,
                    false => Relevance::Low,
                },
            });
        }
    }
    let n = graph.segments.len();
    for from in 0..n {
        let to = match from {
            0 | 1 => ContributionTarget::Query,
            _ if from == n - 1 && n > 4 => continue,
            _ => ContributionTarget::Segment(if from.is_multiple_of(3) {
                from - 2
            } else {
                from / 2
            }),
        };
        let rationale = "supports the same conclusion with an independent measurement".to_owned();
        graph.edges.push(ContributionEdge { from, to, rationale });
    }
    if n > 5 {
        let rationale = "the model of the one explains what the other measures".to_owned();
        graph.edges.push(ContributionEdge {
            from: 5,
            to: ContributionTarget::Segment(1),
            rationale: rationale.clone(),
        });
        // A circle, as models make them.
        graph.edges.push(ContributionEdge {
            from: 1,
            to: ContributionTarget::Segment(3),
            rationale,
        });
    }
    for start in 0..n {
        graph.chains.extend(chain(&graph, start, evidence));
    }
    graph.dropped_edges = 1;
    graph.analysis =
        Some("Theory and method agree with the trials; one trial stands alone.".to_owned());
    graph
}

/// The first way from a segment to the query.
fn chain(
    graph: &ContributionGraph,
    start: usize,
    evidence: &[TreeEvidence],
) -> Option<ContributionChain> {
    let mut segments = vec![start];
    loop {
        let last = *segments.last()?;
        match graph.edges.iter().find(|edge| edge.from == last)?.to {
            ContributionTarget::Query => break,
            ContributionTarget::Segment(next) => segments.push(next),
        }
    }
    let discarded = segments.iter().any(|at| !evidence[graph.segments[*at].evidence].kept);
    Some(ContributionChain {
        segments,
        pruned: discarded.then(|| "it leads over a discarded candidate".to_owned()),
    })
}

//! From a model's prose with keys to sentences that are proven.
//!
//! 1. links, addresses and numbers in brackets are taken out: whatever a reader can follow is put in by code;
//! 2. keys such as `[E3]` become the passages of that paper that are nearest to the sentence; keys that nobody gave out go;
//! 3. code tells the role of a sentence: what cites, or speaks of the literature, is a finding and must pass the gates; what
//!    says that nothing was found is a gap, and goes if the evidence has it after all; the rest judges or advises, and must
//!    follow from findings that passed.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::sync::atomic::Ordering;

use regex::{Captures, Regex};
use scholar_core::text::markers::strip_foreign_markers;
use scholar_core::text::normalise::single_spaced;
use scholar_core::text::sentences::sentence_texts;
use scholar_core::text::words::content_stems;
use scholar_core::{AnswerRole, AnswerSentence, Gate, PortError, Reference, Retrieved};
use scholar_pipeline::proof::{DraftSentence, ProvenSentence, finalise, prove};
use scholar_pipeline::write::roles::{
    follows_from, nearest, says_nothing_is_reported, subject_of_gap,
};
use scholar_pipeline::{EvidenceNumber, EvidenceRegistry};

use crate::desk::Desk;
use crate::library::ranked;
use crate::report::{Basis, Statement};

/// Passages of one paper that a sentence is checked against. Ours.
const PASSAGES_PER_KEY: usize = 3;

/// The evidence of one item: what its keys stand for.
#[derive(Default)]
pub(crate) struct Shelf {
    registry: EvidenceRegistry,
    keys: BTreeMap<String, Vec<EvidenceNumber>>,
}

impl Shelf {
    /// Puts passages of a paper under `key`.
    pub(crate) fn put(&mut self, key: &str, passages: &[Retrieved]) {
        let numbers = self.keys.entry(key.to_owned()).or_default();
        for ranked in passages.iter().filter_map(ranked) {
            let number = self.registry.add(ranked);
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
    }

    /// The passages of `key` with most of the words of `sentence`.
    fn nearest(&self, key: &str, sentence: &str) -> Option<Vec<EvidenceNumber>> {
        let stems = content_stems(sentence);
        let mut scored: Vec<(usize, EvidenceNumber)> = self
            .keys
            .get(key)?
            .iter()
            .map(|number| {
                let own = self.registry.get(*number);
                let own = own.map(|one| content_stems(&one.ranked.retrieved.passage.text));
                let own = own.unwrap_or_default();
                (stems.iter().filter(|stem| own.contains(stem)).count(), *number)
            })
            .collect();
        scored.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        Some(scored.into_iter().take(PASSAGES_PER_KEY).map(|(_, number)| number).collect())
    }

    /// Whether a passage has nearly all words of `subject`.
    fn has(&self, subject: &str) -> bool {
        let wanted = content_stems(subject);
        !wanted.is_empty()
            && self.registry.items().iter().any(|one| {
                let own = content_stems(&one.ranked.retrieved.passage.text);
                let found = wanted.iter().filter(|stem| own.contains(stem)).count();
                found * 10 >= wanted.len() * 9
            })
    }
}

/// A part of an item as the model wrote it.
pub(crate) struct Prose {
    /// Under which heading the sentences stand.
    pub(crate) heading: String,
    /// With keys.
    pub(crate) text: String,
    /// Whether it is advice, which may bring in numbers of its own.
    pub(crate) is_advice: bool,
}

/// Sentences that stay, part by part, with references numbered within the item. [`AnswerSentence::follows`] are positions among
/// all of them.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) parts: Vec<Vec<Statement>>,
    pub(crate) references: Vec<Reference>,
}

/// Proves the sentences of `parts` against `shelf`.
///
/// # Errors
/// When the encoder fails that finds evidence.
pub(crate) async fn proven(
    desk: &Desk<'_>,
    shelf: &mut Shelf,
    parts: &[Prose],
) -> Result<Written, PortError> {
    let mut sentences: Vec<Sentence> = Vec::new();
    for (part, prose) in parts.iter().enumerate() {
        sentences.extend(drafted(desk, shelf, prose, part));
    }
    let findings: Vec<usize> = places(&sentences, |one| one.role == AnswerRole::Finding);
    let drafts: Vec<DraftSentence> =
        findings.iter().map(|at| sentences[*at].draft.clone()).collect();
    desk.frame.report_added(&shelf.registry, 0, "evidence of a review");
    if !drafts.is_empty() {
        let proven = prove(desk.frame, &mut shelf.registry, &drafts).await?.sentences;
        let judge_failed = proven.iter().all(|one| one.support.is_none());
        for (at, one) in findings.into_iter().zip(proven) {
            let passed = one.gates.contains(&Gate::L2) || judge_failed;
            if passed && !one.citations.is_empty() {
                sentences[at].proven = Some(one);
            }
        }
    }
    settle(desk, shelf, parts, &mut sentences);
    let before = sentences.len();
    let kept: Vec<usize> = places(&sentences, |one| one.stays);
    Desk::count(&desk.unproven, before - kept.len());
    Ok(written(shelf, parts, &sentences, &kept))
}

struct Sentence {
    part: usize,
    role: AnswerRole,
    draft: DraftSentence,
    proven: Option<ProvenSentence>,
    /// Places of findings that a judgement follows from.
    follows: Vec<usize>,
    stays: bool,
}

fn places(sentences: &[Sentence], is: impl Fn(&Sentence) -> bool) -> Vec<usize> {
    (0..sentences.len()).filter(|at| is(&sentences[*at])).collect()
}

/// The sentences of a part, keys resolved.
fn drafted(desk: &Desk<'_>, shelf: &Shelf, prose: &Prose, part: usize) -> Vec<Sentence> {
    let (text, removed) = without_links(&prose.text);
    let mut lost = removed;
    let mut sentences = Vec::new();
    for (nth, piece) in with_own_keys(sentence_texts(&text)).into_iter().enumerate() {
        let (keys, words) = keys_of(&piece);
        let mut evidence: Vec<EvidenceNumber> = Vec::new();
        for key in keys {
            match shelf.nearest(&key, &words) {
                Some(numbers) => evidence.extend(
                    numbers.into_iter().filter(|n| !evidence.contains(n)).collect::<Vec<_>>(),
                ),
                None => lost += 1,
            }
        }
        if !words.contains(char::is_alphanumeric) {
            continue;
        }
        let role = role(&words, &evidence, prose.is_advice);
        let mut draft = DraftSentence::written(&words);
        draft.evidence = evidence;
        draft.clauses.clear();
        draft.heading = Some(prose.heading.clone());
        draft.paragraph_start = nth == 0;
        sentences.push(Sentence {
            part,
            role,
            draft,
            proven: None,
            follows: Vec::new(),
            stays: false,
        });
    }
    Desk::count(&desk.removed, lost);
    sentences
}

/// What a sentence is, by its words.
fn role(words: &str, cited: &[EvidenceNumber], is_advice: bool) -> AnswerRole {
    if !cited.is_empty() {
        AnswerRole::Finding
    } else if (says_nothing_is_reported(words) || NOVEL.is_match(words)) && !is_advice {
        AnswerRole::Gap
    } else if LITERATURE.is_match(words) {
        AnswerRole::Finding
    } else {
        AnswerRole::Synthesis
    }
}

/// Decides what stays: findings that passed, gaps that the evidence does not fill, judgements that follow from findings.
fn settle(desk: &Desk<'_>, shelf: &Shelf, parts: &[Prose], sentences: &mut [Sentence]) {
    let found = |part: Option<usize>, sentences: &[Sentence]| -> Vec<(usize, String)> {
        let kept = sentences
            .iter()
            .enumerate()
            .filter(|(_, one)| one.proven.is_some() && part.is_none_or(|part| part == one.part));
        kept.map(|(at, one)| (at, one.draft.text.clone())).collect()
    };
    for at in 0..sentences.len() {
        let one = &sentences[at];
        let text = one.draft.text.as_str();
        let (stays, follows) = match one.role {
            AnswerRole::Finding => (one.proven.is_some(), Vec::new()),
            AnswerRole::Gap => (!shelf.has(&subject_of_gap(text)), Vec::new()),
            AnswerRole::Synthesis | AnswerRole::Framing => {
                let is_advice = parts[one.part].is_advice;
                let own = found(Some(one.part), sentences);
                let all = if own.is_empty() && is_advice { found(None, sentences) } else { own };
                let named: Vec<(usize, &str)> =
                    all.iter().map(|(at, text)| (*at, text.as_str())).collect();
                let mut follows = nearest(text, &named);
                if follows.is_empty() {
                    // It stands behind what it is about.
                    let before = named.iter().rev().find(|(place, _)| *place < at);
                    follows.extend(before.or(named.first()).map(|(place, _)| *place));
                }
                let base: Vec<&str> = named.iter().map(|(_, text)| *text).collect();
                let adds = !is_advice && !follows_from(text, &base, &desk.idea.text);
                (!follows.is_empty() && !adds, follows)
            }
        };
        sentences[at].stays = stays;
        sentences[at].follows = follows;
    }
    drop_dangling(sentences);
}

/// Drops judgements that begin with "this" or the like where what they point at, the sentence before them in their part, is gone.
fn drop_dangling(sentences: &mut [Sentence]) {
    for at in 0..sentences.len() {
        let one = &sentences[at];
        let judges = matches!(one.role, AnswerRole::Synthesis | AnswerRole::Framing);
        let before = at.checked_sub(1).map(|before| &sentences[before]);
        let resolved = before.is_some_and(|before| before.part == one.part && before.stays);
        if judges && !resolved && points_back(&one.draft.text) {
            sentences[at].stays = false;
        }
    }
}

/// Whether a sentence begins with a demonstrative that only the sentence before it explains. "This plan" explains itself.
pub(crate) fn points_back(text: &str) -> bool {
    let mut words =
        text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let first = words.next().unwrap_or_default().to_lowercase();
    let second = words.next().unwrap_or_default().to_lowercase();
    ["this", "that", "these", "those", "such"].contains(&first.as_str())
        && !["plan", "idea", "method", "proposal"].contains(&second.as_str())
}

/// The kept sentences with their final positions, citations and bases.
fn written(shelf: &Shelf, parts: &[Prose], sentences: &[Sentence], kept: &[usize]) -> Written {
    let proven: Vec<ProvenSentence> =
        kept.iter().filter_map(|at| sentences[*at].proven.clone()).collect();
    let (told, references) = finalise(&proven, &shelf.registry);
    let mut told = told.into_iter();
    let mut written = Written { parts: vec![Vec::new(); parts.len()], references };
    for at in kept {
        let one = &sentences[*at];
        let mut sentence = match one.proven.as_ref().and_then(|_| told.next()) {
            Some(sentence) => sentence,
            None => AnswerSentence {
                heading: one.draft.heading.clone(),
                paragraph_start: one.draft.paragraph_start,
                ..AnswerSentence::uncited(one.draft.text.clone())
            },
        };
        sentence.role = Some(one.role);
        let place = |finding: &usize| kept.iter().position(|kept| kept == finding);
        sentence.follows = one.follows.iter().filter_map(place).collect();
        let rests_on = bases(shelf, &sentence);
        let part = &mut written.parts[one.part];
        sentence.paragraph_start = part.is_empty();
        part.push(Statement { sentence, rests_on, measured: None });
    }
    written
}

/// The sections that the quotations of a sentence are from.
fn bases(shelf: &Shelf, sentence: &AnswerSentence) -> Vec<Basis> {
    let mut bases: Vec<Basis> = Vec::new();
    for quote in &sentence.quotes {
        let passage = shelf.registry.items().iter().find_map(|one| {
            let passage = &one.ranked.retrieved.passage;
            (passage.id == quote.passage_id).then_some(passage)
        });
        let Some(passage) = passage else { continue };
        let basis = Basis {
            reference: quote.reference,
            section: passage.section.clone(),
            kind: passage.kind,
        };
        if !bases.contains(&basis) {
            bases.push(basis);
        }
    }
    bases
}

static LINK: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\[([^\[\]]*)\]\(\s*[^()\s]*(?:\([^()\s]*\)[^()\s]*)*\s*\)"));
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)<?(?:[a-z][a-z0-9+.-]*://|\bwww\.|\bdoi:\s?10\.|\b10\.\d{4,9}/)[^\s<>]*[^\s<>.,;:)\]]>?|://",
    )
});
static KEYS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\s*[\[(]\s*(?:[ES]\d+)(?:\s*(?:,|;|and|&)\s*[ES]?\d+)*\s*[\])]"));
static KEY: LazyLock<Regex> = LazyLock::new(|| pattern(r"([ES]?)(\d+)"));
/// What says that no paper did something: the form of a strength.
static NOVEL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\W*(?:no|none\ of\ (?:the|these)|neither\ of\ (?:the|these)|not\ one\ of\ (?:the|these))\b[^.;]{0,60}\b(?:stud(?:y|ies)|papers?|works?|approach(?:es)?|methods?|systems?|evidence|comparison)\b",
    )
});
static LITERATURE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\bet al\b|\b(?:prior|previous|earlier|existing|recent|published) (?:work|stud|research|paper|method|approach|result|evidence)|\bstud(?:y|ies) (?:ha[sv]e? )?(?:show|found|report|demonstrat|suggest|confirm)|\bliterature (?:shows|suggests|supports|reports)|\b(?:ha[sv]e?|was|were|is|are) (?:been )?(?:widely |previously )?(?:shown|demonstrated|reported|established)\b|\([^()]*\b(?:19|20)\d\d[a-z]?\)",
    )
});

/// What names work by others, wherever it stands in a sentence.
static AUTHORS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:\p{Lu}[\p{L}'’-]+\ )?\b[Ee]t\ al\b|\(\s*\p{Lu}[\p{L}'’-]+(?:,\ |\ and\ |\ &\ )[^()]{0,60}\b(?:19|20)\d\d[a-z]?\s*\)",
    )
});
/// What says of work by others that it did something. "Compare with existing methods" says nothing of them.
static TOLD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix)
        \b(?:prior|previous|past|earlier|existing|recent|published|related|other)\ (?:[\w-]+\ ){0,2}
            (?:works?|stud(?:y|ies)|research|papers?|methods?|approach(?:es)?|systems?|results?|evidence|findings?|literature)\x20
            (?:also\ |often\ |usually\ |typically\ |consistently\ )?
            (?:ha[sd]|have|do|does|did|already|show|find|found|report|demonstrat|suggest|confirm|indicat|establish|observ|achiev
                |outperform|address|propos|use|rely|relies|explor|studi|examin|investigat|cover|consider|solv|argu|fail)(?:s|es|ed)?\b
        | \b(?:studies|papers|the\ literature)\ (?:ha[sv]e?\ )?(?:already\ |also\ )?
            (?:shown?|shows|found|finds?|report|demonstrat|suggest|confirm|indicat|support|document)\w*\b
        | \b(?:ha[sv]e?|had)\ (?:already\ |previously\ |long\ |often\ |repeatedly\ )*been\ (?:widely\ |well\ |often\ )?
            (?:shown|demonstrated|reported|established|proposed|studied|explored|published|used|documented|observed|found|solved)\b
        | \b(?:is|are)\ (?:well|widely|generally|commonly|already)[\ -](?:known|established|documented|reported|shown|accepted|understood)\b
        | \b(?:shown|done|known|found|proposed|addressed|studied|demonstrated|reported|covered|solved|explored|introduced|observed)\b
            [^.;]{0,40}\b(?:in|by)\ (?:the\ )?(?:literature\b|(?:prior|previous|earlier|existing|recent|published|related)\x20
            (?:works?|stud(?:y|ies)|research|papers?|methods?|approach(?:es)?)\b)
        | \bstate[\ -]of[\ -]the[\ -]art\ (?:[\w-]+\ ){0,2}(?:already|achiev|reach|report|outperform)\w*",
    )
});
/// What makes a clause a question: "why existing methods fail" says nothing of them.
static ASKED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(?:why|whether|how|if|what|which)\b"));

/// Whether a sentence about a plan tells of papers: names their authors, or says what they did. Authors that the plan itself names
/// may be named.
pub(crate) fn tells_of_literature(text: &str, plan: &str) -> bool {
    AUTHORS.find_iter(text).any(|found| !plan.contains(found.as_str()))
        || TOLD.find_iter(text).any(|found| {
            let clause = text[..found.start()].rsplit([',', ';', ':']).next().unwrap_or_default();
            !ASKED.is_match(clause)
        })
}

/// `text` without addresses and without targets of links and numbers in brackets, and how many there were. A link's words stay.
pub(crate) fn without_links(text: &str) -> (String, usize) {
    let links = LINK.find_iter(text).count();
    let text = LINK.replace_all(text, |found: &Captures<'_>| found[1].to_owned());
    let addresses = ADDRESS.find_iter(&text).count();
    let text = ADDRESS.replace_all(&text, "");
    (strip_foreign_markers(&text), links + addresses)
}

/// The keys in brackets of a sentence, each once, and its words without them.
pub(crate) fn keys_of(sentence: &str) -> (Vec<String>, String) {
    let mut keys: Vec<String> = Vec::new();
    for group in KEYS.find_iter(sentence) {
        let mut letter = "E".to_owned();
        for key in KEY.captures_iter(group.as_str()) {
            if !key[1].is_empty() {
                key[1].clone_into(&mut letter);
            }
            let key = format!("{letter}{}", &key[2]);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    let words = single_spaced(&KEYS.replace_all(sentence, ""));
    (keys, words)
}

/// Sentences, where keys that stand behind a full stop belong to the sentence before it.
fn with_own_keys(pieces: Vec<&str>) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for piece in pieces {
        let piece = piece.trim();
        let lead =
            KEYS.find(piece).filter(|found| found.start() == 0).map_or(0, |found| found.end());
        let (keys, rest) = piece.split_at(lead);
        match sentences.last_mut() {
            Some(before) if !keys.is_empty() => {
                before.push(' ');
                before.push_str(keys);
                if !rest.trim().is_empty() {
                    sentences.push(rest.trim().to_owned());
                }
            }
            _ => sentences.push(piece.to_owned()),
        }
    }
    sentences
}

/// How many sentences a review did not show.
pub(crate) fn unproven(desk: &Desk<'_>) -> (usize, usize) {
    (desk.unproven.load(Ordering::Relaxed), desk.removed.load(Ordering::Relaxed))
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

#[cfg(test)]
mod tests;

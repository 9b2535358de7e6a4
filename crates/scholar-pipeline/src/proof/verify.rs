//! Checking a proof again: digests are not believed, quotations are located anew, gates L0 and L1 run again.

use std::collections::BTreeMap;

use scholar_core::text::locate;
use scholar_core::text::markers::strip_foreign_markers;
use scholar_core::text::normalise::{single_spaced, title_key};
use scholar_core::{
    CharSpan, Citation, Gate, PaperId, PaperMeta, PassageId, PortError, PortErrorKind, Quote,
    Reference, Retriever,
};
use serde::Serialize;

use super::canonical::{digest, sha256};
use super::draft::quotations;
use super::file::{
    PROOF_SCHEMA, ProofFile, ProofPassage, ProofSentence, UNBOUND_PROOF_SCHEMA,
    quotations as quoted, verdicts,
};
use super::finalise::reference_of;

/// Other passages of a paper that are searched for words which are no longer where they were.
const MOST_PASSAGES: u32 = 500;

/// What does not hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "problem", rename_all = "snake_case")]
pub enum ProofProblem {
    /// The datastore does not have the passage.
    PassageMissing {
        /// The passage that is quoted.
        passage_id: PassageId,
    },
    /// The proof quotes a passage that it does not embed.
    PassageNotEmbedded {
        /// The passage that is quoted.
        passage_id: PassageId,
    },
    /// The passage's text is not the one that its digest was taken of.
    PassageChanged {
        /// The passage that is quoted.
        passage_id: PassageId,
    },
    /// The datastore is at the commit that the proof names and has another text.
    PassageContradicted {
        /// The passage that is quoted.
        passage_id: PassageId,
        /// The text in the proof.
        embedded: String,
        /// The text in the datastore.
        stored: String,
    },
    /// The passage in the proof does not have these characters at this place.
    QuoteDiffers {
        /// Of which sentence, from 0.
        sentence: usize,
        /// As the proof states it.
        quote: Quote,
        /// What stands there; `None` when the place is past the end.
        found: Option<String>,
    },
    /// The datastore's paper does not have these words.
    QuoteNotInSource {
        /// Of which sentence, from 0.
        sentence: usize,
        /// As the proof states it.
        quote: Quote,
        /// The text in the proof.
        embedded: String,
        /// What the passage says now.
        stored: String,
    },
    /// A quotation names a reference that the list does not have, or that is another paper.
    QuoteOfOtherPaper {
        /// Of which sentence, from 0.
        sentence: usize,
        /// As the proof states it.
        quote: Quote,
    },
    /// A sentence cites a number that the list does not have.
    CitationUnknown {
        /// Which sentence, from 0.
        sentence: usize,
        /// As it stands in the sentence.
        citation: Citation,
    },
    /// A sentence that passed L1 cites a paper of which it quotes nothing.
    CitationUnquoted {
        /// Which sentence, from 0.
        sentence: usize,
        /// As it stands in the sentence.
        citation: Citation,
    },
    /// A sentence is marked as its source's own words and is not.
    NotVerbatim {
        /// Which sentence, from 0.
        sentence: usize,
        /// Text of the sentence.
        text: String,
        /// Its first quotation; empty without one.
        quote: String,
    },
    /// Words between quotation marks that no quoted passage has.
    QuotedWordsMissing {
        /// Which sentence, from 0.
        sentence: usize,
        /// The words between the quotation marks.
        words: String,
    },
    /// A cell of the table quotes what its passage does not have at that place, or quotes another paper than its row's.
    CellUnfounded {
        /// Which row, from 0.
        row: usize,
        /// Which column, from 0.
        column: usize,
        /// What the cell says.
        text: String,
    },
    /// A synthesis follows from sentences that are missing or cite nothing.
    FollowsFromNothing {
        /// Which sentence, from 0.
        sentence: usize,
    },
    /// The numbers of the reference list do not run from 1.
    ReferenceMisnumbered {
        /// The number that should stand there.
        expected: usize,
        /// As the answer prints it.
        printed: Reference,
    },
    /// The datastore says something else of a cited paper.
    ReferenceDiffers {
        /// As the answer prints it.
        printed: Reference,
        /// As the datastore has it now.
        stored: Reference,
    },
    /// A sentence passed a gate in the proof without what the gate requires.
    GateUnfounded {
        /// Which sentence, from 0.
        sentence: usize,
        /// The gate that was claimed.
        gate: Gate,
    },
    /// A sentence does not stand at its own position.
    SentenceMisplaced {
        /// Its position, from 0.
        position: usize,
        /// The position it names.
        index: usize,
    },
    /// A digest in the proof is not that of what it names.
    DigestDiffers {
        /// What the digest is of.
        of: String,
    },
}

/// What a reader should know and is no failure.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "remark", rename_all = "snake_case")]
pub enum ProofRemark {
    /// A sentence without citation, quotation and verdict.
    WithoutProof {
        /// Which sentence, from 0.
        sentence: usize,
    },
    /// The passage has another text since; every quotation of it is still in the paper.
    SourceChanged {
        /// The passage that is quoted.
        passage_id: PassageId,
        /// The text in the proof.
        embedded: String,
        /// The text in the datastore; `None` when the words stand in another passage of the paper now.
        stored: Option<String>,
    },
    /// More is known of the paper since: a registry or a library was asked. What was printed holds.
    MetadataCompleted {
        /// As the answer prints it.
        printed: Reference,
        /// As it is stored.
        stored: Reference,
    },
    /// A cited paper that no quotation leads to, or that nothing could be compared with.
    ReferenceUnchecked {
        /// As the answer prints it.
        printed: Reference,
    },
}

/// The result of checking a proof.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ProofReport {
    /// Sentences in the proof.
    pub sentences: usize,
    /// Quotations that were compared with their sources.
    pub quotes: usize,
    /// Of which hold exactly.
    pub quotes_hold: usize,
    /// Of which were compared with a stored source too, not with the embedded passage alone.
    pub quotes_compared: usize,
    /// References in the proof.
    pub references: usize,
    /// Everything that does not hold.
    pub problems: Vec<ProofProblem>,
    /// What else there is to say.
    pub remarks: Vec<ProofRemark>,
}

impl ProofReport {
    /// Whether there is no problem; remarks do not count.
    pub fn holds(&self) -> bool {
        self.problems.is_empty()
    }
}

/// What a proof is compared with.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// Passages by name; only [`Retriever::passage`] is called.
    pub passages: &'a dyn Retriever,
    /// They are stored in the datastore that the proof names, at the commit that it names.
    pub same_commit: bool,
}

/// Checks `proof` by itself, and every quotation and reference against `sources` where there are any. No judge is
/// asked: verdicts are records.
///
/// # Errors
/// When the store cannot be read or the file is of another schema.
pub async fn verify_proof(
    proof: &ProofFile,
    sources: Option<Sources<'_>>,
) -> Result<ProofReport, PortError> {
    let schema = &proof.schema;
    if schema != PROOF_SCHEMA && schema != UNBOUND_PROOF_SCHEMA {
        let message = format!("proof has schema {schema:?}, this program reads {PROOF_SCHEMA:?}");
        return Err(PortError::new(PortErrorKind::Rejected, message)
            .with_hint("verify it with the version of openscholar that wrote it"));
    }
    let mut check =
        Check { proof, sources, stored: BTreeMap::new(), report: ProofReport::default() };
    check.read_sources().await?;
    check.passages();
    for (position, sentence) in proof.sentences.iter().enumerate() {
        check.sentence(position, sentence).await?;
    }
    check.table();
    check.references();
    check.digests();
    Ok(check.report)
}

/// The quotations of a sentence, then those of what stands in front of it.
fn quotes_of(sentence: &ProofSentence) -> impl Iterator<Item = &Quote> {
    sentence.quotes.iter().chain(sentence.study.iter().map(|detail| &detail.quote))
}

/// A passage of the sources.
struct Stored {
    text: String,
    paper: PaperMeta,
}

impl Stored {
    /// Whether `id` names its paper, which may have got the identifier of a registry since.
    fn is(&self, id: &PaperId) -> bool {
        self.paper.ids().any(|own| own == id)
    }
}

struct Check<'a> {
    proof: &'a ProofFile,
    sources: Option<Sources<'a>>,
    stored: BTreeMap<&'a PassageId, Option<Stored>>,
    report: ProofReport,
}

impl<'a> Check<'a> {
    async fn read_sources(&mut self) -> Result<(), PortError> {
        let Some(sources) = self.sources else { return Ok(()) };
        let rows = self.proof.table.iter().flat_map(|table| &table.rows);
        let cells = rows.flat_map(|row| &row.cells).filter_map(|cell| cell.quote.as_ref());
        let quotes = self.proof.sentences.iter().flat_map(quotes_of);
        for quote in quotes.chain(cells) {
            let id = &quote.passage_id;
            if self.stored.contains_key(id) {
                continue;
            }
            let found = sources.passages.passage(id).await?;
            let stored = found.map(|(passage, paper)| Stored { text: passage.text, paper });
            self.stored.insert(id, stored);
        }
        Ok(())
    }

    fn problem(&mut self, problem: ProofProblem) {
        if !self.report.problems.contains(&problem) {
            self.report.problems.push(problem);
        }
    }

    fn remark(&mut self, remark: ProofRemark) {
        if !self.report.remarks.contains(&remark) {
            self.report.remarks.push(remark);
        }
    }

    fn embedded(&self, id: &PassageId) -> Option<&'a ProofPassage> {
        self.proof.passages.iter().find(|passage| &passage.passage_id == id)
    }

    /// The embedded passages against their digests.
    fn passages(&mut self) {
        for passage in &self.proof.passages {
            let ProofPassage { passage_id, text_sha256, text, .. } = passage;
            let stored = self.stored.get(passage_id).and_then(Option::as_ref);
            let text = text.as_deref().or_else(|| stored.map(|stored| stored.text.as_str()));
            if text.is_some_and(|text| *text_sha256 != sha256(text.as_bytes())) {
                let passage_id = passage_id.clone();
                self.problem(ProofProblem::PassageChanged { passage_id });
            }
        }
    }

    async fn sentence(
        &mut self,
        position: usize,
        sentence: &'a ProofSentence,
    ) -> Result<(), PortError> {
        let bound = self.proof.is_bound();
        if bound && sentence.index != position {
            self.problem(ProofProblem::SentenceMisplaced { position, index: sentence.index });
        }
        let at = sentence.index;
        for quote in quotes_of(sentence) {
            self.report.quotes += 1;
            let before = self.report.problems.len();
            self.quote(at, quote);
            self.compare(at, quote).await?;
            self.report.quotes_hold += usize::from(self.report.problems.len() == before);
        }
        self.citations(sentence);
        self.gates(sentence);
        if sentence.verbatim {
            let quote = sentence.quotes.first().map_or("", |quote| quote.text.as_str());
            if !is_verbatim(&sentence.text, quote) {
                let (text, quote) = (sentence.text.clone(), quote.to_owned());
                self.problem(ProofProblem::NotVerbatim { sentence: at, text, quote });
            }
        }
        for detail in &sentence.study {
            if !is_verbatim(&detail.text, &detail.quote.text) {
                let (text, quote) = (detail.text.clone(), detail.quote.text.clone());
                self.problem(ProofProblem::NotVerbatim { sentence: at, text, quote });
            }
        }
        let unproven = sentence.quotes.is_empty() && sentence.citations.is_empty();
        if bound && unproven && sentence.gates.is_empty() {
            self.remark(ProofRemark::WithoutProof { sentence: at });
        }
        let cites =
            |at: &usize| self.proof.sentences.get(*at).is_some_and(|one| !one.citations.is_empty());
        if !sentence.follows.is_empty() && !sentence.follows.iter().all(cites) {
            self.problem(ProofProblem::FollowsFromNothing { sentence: at });
        }
        self.report.sentences += 1;
        Ok(())
    }

    /// Every cell that says something quotes a passage of the row's paper.
    fn table(&mut self) {
        let rows = self.proof.table.iter().flat_map(|table| &table.rows);
        for (row, one) in rows.enumerate() {
            let paper = self.proof.references.iter().find(|paper| paper.number == one.reference);
            for (column, cell) in one.cells.iter().enumerate() {
                let founded = cell.quote.as_ref().map_or(cell.text.is_empty(), |quote| {
                    let id = &quote.passage_id;
                    let stored = self.stored.get(id).and_then(Option::as_ref);
                    let is_source = |paper: &PaperId| {
                        stored.map_or(*paper == id.paper, |stored| stored.is(paper))
                    };
                    let text = self.embedded(id).and_then(|one| one.text.as_deref());
                    let there =
                        text.and_then(|text| CharSpan::new(quote.start, quote.end).slice(text));
                    quote.reference == one.reference
                        && paper.is_some_and(|paper| is_source(&paper.paper_id))
                        && there == Some(quote.text.as_str())
                });
                if !founded {
                    self.problem(ProofProblem::CellUnfounded {
                        row,
                        column,
                        text: cell.text.clone(),
                    });
                }
            }
        }
    }

    /// The quotation in the embedded passage, of a paper that is in the list.
    fn quote(&mut self, sentence: usize, quote: &Quote) {
        let id = &quote.passage_id;
        let embedded = self.embedded(id);
        if embedded.is_none() {
            self.problem(ProofProblem::PassageNotEmbedded { passage_id: id.clone() });
        }
        let stored = self.stored.get(id).and_then(Option::as_ref);
        let text = embedded
            .and_then(|passage| passage.text.as_deref())
            .or_else(|| stored.map(|stored| stored.text.as_str()));
        if let Some(text) = text {
            let found = CharSpan::new(quote.start, quote.end).slice(text);
            if found != Some(quote.text.as_str()) || quote.text.is_empty() {
                let found = found.map(str::to_owned);
                self.problem(ProofProblem::QuoteDiffers { sentence, quote: quote.clone(), found });
            }
        }
        let stored = self.stored.get(id).and_then(Option::as_ref);
        let is_source =
            |paper: &PaperId| stored.map_or(*paper == id.paper, |stored| stored.is(paper));
        let cited = self.proof.references.iter().find(|one| one.number == quote.reference);
        if cited.is_none_or(|reference| !is_source(&reference.paper_id)) {
            self.problem(ProofProblem::QuoteOfOtherPaper { sentence, quote: quote.clone() });
        }
    }

    /// The quotation in the stored source, which may have changed since.
    async fn compare(&mut self, sentence: usize, quote: &Quote) -> Result<(), PortError> {
        let Some(sources) = self.sources else { return Ok(()) };
        let id = &quote.passage_id;
        let embedded = self.embedded(id).and_then(|passage| passage.text.clone());
        let stored = self.stored.get(id).and_then(Option::as_ref).map(|one| one.text.clone());
        self.report.quotes_compared += usize::from(stored.is_some());
        let Some(embedded) = embedded else {
            // Compared above: there is no other text.
            if stored.is_none() {
                self.problem(ProofProblem::PassageMissing { passage_id: id.clone() });
            }
            return Ok(());
        };
        if stored.as_ref() == Some(&embedded) {
            return Ok(());
        }
        let passage_id = id.clone();
        if let (Some(stored), true) = (&stored, sources.same_commit) {
            let stored = stored.clone();
            self.problem(ProofProblem::PassageContradicted { passage_id, embedded, stored });
            return Ok(());
        }
        if stored.as_deref().is_some_and(|stored| stored.contains(&quote.text)) {
            self.remark(ProofRemark::SourceChanged { passage_id, embedded, stored });
        } else if is_elsewhere(quote, sources.passages).await? {
            self.remark(ProofRemark::SourceChanged { passage_id, embedded, stored: None });
        } else if let Some(stored) = stored {
            let quote = quote.clone();
            self.problem(ProofProblem::QuoteNotInSource { sentence, quote, embedded, stored });
        } else {
            self.problem(ProofProblem::PassageMissing { passage_id });
        }
        Ok(())
    }

    /// Gate L0, and that what passed L1 quotes each paper it cites.
    fn citations(&mut self, sentence: &ProofSentence) {
        let at = sentence.index;
        for citation in &sentence.citations {
            let citation = *citation;
            if self.proof.references.iter().all(|reference| reference.number != citation) {
                self.problem(ProofProblem::CitationUnknown { sentence: at, citation });
            }
            let quoted = sentence.quotes.iter().any(|quote| quote.reference == citation);
            if sentence.gates.contains(&Gate::L2) && !quoted {
                self.problem(ProofProblem::CitationUnquoted { sentence: at, citation });
            }
        }
    }

    /// L1 and L2 need a quotation, L2 a verdict too; words between quotation marks are in a quoted passage.
    fn gates(&mut self, sentence: &ProofSentence) {
        let at = sentence.index;
        let unfounded = |gate: &Gate| match gate {
            Gate::L0 => false,
            Gate::L1 => sentence.quotes.is_empty(),
            Gate::L2 => sentence.quotes.is_empty() || sentence.support.is_none(),
        };
        for gate in sentence.gates.iter().filter(|gate| unfounded(gate)) {
            self.problem(ProofProblem::GateUnfounded { sentence: at, gate: *gate });
        }
        if !sentence.gates.contains(&Gate::L2) || sentence.verbatim {
            return;
        }
        let texts: Vec<&str> = sentence
            .quotes
            .iter()
            .filter_map(|quote| self.embedded(&quote.passage_id)?.text.as_deref())
            .collect();
        let missing = quotations(&sentence.text)
            .into_iter()
            .filter(|words| {
                !texts.is_empty() && texts.iter().all(|text| locate(words, text).is_none())
            })
            .map(str::to_owned)
            .collect::<Vec<_>>();
        for words in missing {
            self.problem(ProofProblem::QuotedWordsMissing { sentence: at, words });
        }
    }

    /// Whether a sentence or a row of the table cites the reference.
    fn is_cited(&self, number: Citation) -> bool {
        let rows = self.proof.table.iter().flat_map(|table| &table.rows);
        self.proof.sentences.iter().any(|one| one.citations.contains(&number))
            || rows.into_iter().any(|row| row.reference == number)
    }

    fn references(&mut self) {
        let printed = &self.proof.references;
        self.report.references = printed.len();
        for (at, printed) in printed.iter().enumerate() {
            if printed.number.0 != at + 1 {
                let printed = printed.clone();
                self.problem(ProofProblem::ReferenceMisnumbered { expected: at + 1, printed });
            }
            let stored = self.stored.values().flatten().find(|one| one.is(&printed.paper_id));
            let Some(stored) = stored else {
                if !self.is_cited(printed.number) {
                    // Of an earlier answer of the thread, whose own proof has it.
                    continue;
                }
                self.remark(ProofRemark::ReferenceUnchecked { printed: printed.clone() });
                continue;
            };
            // Who found it is a matter of the run, not of the store.
            let found_by = printed.found_by.clone();
            let now = Reference { found_by, ..reference_of(printed.number, &stored.paper) };
            if &now != printed {
                let printed = printed.clone();
                let same_commit = self.sources.is_some_and(|sources| sources.same_commit);
                if !same_commit && is_completed(&printed, &now) {
                    self.remark(ProofRemark::MetadataCompleted { printed, stored: now });
                } else {
                    self.problem(ProofProblem::ReferenceDiffers { printed, stored: now });
                }
            }
        }
    }

    /// The digests of what the file itself holds.
    fn digests(&mut self) {
        let ProofFile { sentences, references, digests, .. } = self.proof;
        let Some(digests) = digests.as_ref().filter(|_| self.proof.is_bound()) else {
            if self.proof.is_bound() {
                self.problem(ProofProblem::DigestDiffers { of: "everything".to_owned() });
            }
            return;
        };
        for (of, stored, now) in [
            ("references", &digests.references, digest(references)),
            ("quotations", &digests.quotations, digest(&quoted(sentences))),
            ("verdicts", &digests.verdicts, digest(&verdicts(sentences))),
        ] {
            if now.ok().as_ref() != Some(stored) {
                self.problem(ProofProblem::DigestDiffers { of: of.to_owned() });
            }
        }
    }
}

/// Whether `now` says everything that `printed` says, and more. Anything else could be a forgery that a later commit covers.
fn is_completed(printed: &Reference, now: &Reference) -> bool {
    fn holds<T: PartialEq>(printed: Option<&T>, now: Option<&T>) -> bool {
        printed.is_none() || printed == now
    }
    (printed.title.is_empty() || title_key(&printed.title) == title_key(&now.title))
        && (printed.authors.is_empty() || printed.authors == now.authors)
        && holds(printed.year.as_ref(), now.year.as_ref())
        && holds(printed.venue.as_ref(), now.venue.as_ref())
        && holds(printed.doi.as_ref(), now.doi.as_ref())
        && (holds(printed.url.as_ref(), now.url.as_ref()) || printed.doi.is_none())
}

/// Whether another passage of the same paper has the words now: a paper that was cut anew.
async fn is_elsewhere(quote: &Quote, passages: &dyn Retriever) -> Result<bool, PortError> {
    for ordinal in 0..MOST_PASSAGES {
        let id = PassageId { paper: quote.passage_id.paper.clone(), ordinal };
        let Some((passage, _)) = passages.passage(&id).await? else { break };
        if passage.text.contains(&quote.text) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether `text` is the quotation: without the source's own citation markers and in single spaces, or as
/// [`locate()`] compares, from the first letter to the last.
fn is_verbatim(text: &str, quote: &str) -> bool {
    if text == single_spaced(&strip_foreign_markers(quote)) {
        return true;
    }
    let Some(span) = locate(text, quote) else { return false };
    let outside = |(at, _): &(usize, char)| *at < span.start || *at >= span.end;
    let rest: String = quote.chars().enumerate().filter(outside).map(|(_, c)| c).collect();
    !strip_foreign_markers(&rest).contains(char::is_alphanumeric)
}

#[cfg(test)]
mod tests;

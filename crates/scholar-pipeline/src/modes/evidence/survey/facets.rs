//! The parts of a survey: what the question names is introduced, what it asks for comes next, what else a reader wants last.

use scholar_core::Query;
use scholar_core::text::normalise::lower_first;

use super::super::config::SurveyRules;
use super::super::question::{Aspect, Kind, Reading};
use super::super::slots::FURTHER;
use super::named::concepts;

/// What the sentences of a facet tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tells {
    /// What the thing with this name is.
    WhatItIs(String),
    /// A problem or a limit.
    Limits,
    /// What was proposed.
    Approaches,
    /// What came of it.
    Findings,
    /// A dataset or a benchmark.
    Data,
    /// What else the papers ahead say.
    Rest,
}

/// One part of a survey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facet {
    pub(super) heading: String,
    pub(super) tells: Tells,
    /// Most papers.
    pub(super) most: usize,
}

/// The facets of a survey that answers the question, in order.
pub(super) fn facets(reading: &Reading, rules: &SurveyRules) -> Vec<Facet> {
    let SurveyRules { asked, beside, .. } = *rules;
    let facet = |tells: Tells, heading: &str, most: usize| {
        let heading = heading.to_owned();
        Facet { heading, tells, most }
    };
    // As the question calls them: `Strengths`, `Weaknesses`.
    let named = |aspect: Aspect, otherwise: &str| {
        let part = reading.parts.iter().find(|part| part.aspect == Some(aspect));
        part.map_or_else(|| otherwise.to_owned(), |part| part.heading.clone())
    };
    let limits = |most| facet(Tells::Limits, &named(Aspect::Limits, "Problems and limits"), most);
    let findings = |most| facet(Tells::Findings, &named(Aspect::Effects, "Findings"), most);
    let approaches = |most| facet(Tells::Approaches, "Approaches", most);
    let data = |most| facet(Tells::Data, "Data", most);
    let wants_limits = reading.wants(Aspect::Limits);
    let asked_for = match reading.kind {
        Kind::Limits => vec![limits(asked), approaches(beside)],
        Kind::Data if wants_limits => vec![data(asked), limits(beside)],
        Kind::Data => vec![data(asked), findings(beside)],
        Kind::ProsAndCons if !reading.wants(Aspect::Methods) => {
            vec![findings(asked), limits(asked)]
        }
        _ if reading.wants(Aspect::Methods) => {
            vec![approaches(asked), findings(beside), limits(beside)]
        }
        _ => vec![findings(asked), approaches(beside), limits(beside)],
    };
    // Who asks for problems does not want what else was found.
    let rest = (reading.kind != Kind::Limits).then(|| facet(Tells::Rest, FURTHER, beside));
    let introductions = concepts(reading).into_iter().map(|concept| {
        let heading = what_it_is(&concept);
        Facet { heading, tells: Tells::WhatItIs(concept), most: 1 }
    });
    introductions.chain(asked_for).chain(rest).collect()
}

impl Facet {
    pub(super) fn is_introduction(&self) -> bool {
        matches!(self.tells, Tells::WhatItIs(_))
    }

    /// A search for it, where the question's own does not find it: abstracts that begin with what a thing is, or lacks, say so
    /// in words of their own.
    pub(super) fn query(&self, reading: &Reading) -> Option<Query> {
        match &self.tells {
            Tells::WhatItIs(concept) => Query::new(&format!("What is {concept}?")),
            Tells::Limits => {
                let about = reading.phrases.join(" ");
                Query::new(&format!("limitations and challenges of {about}"))
            }
            Tells::Approaches | Tells::Findings | Tells::Data | Tells::Rest => None,
        }
    }
}

/// `What knowledge editing is`, `What text messages are`.
fn what_it_is(name: &str) -> String {
    let small = |word: &str| {
        let is_name = word.chars().skip(1).any(char::is_uppercase) || word.chars().count() == 1;
        if is_name { word.to_owned() } else { lower_first(word) }
    };
    let name = name.split(' ').map(small).collect::<Vec<_>>().join(" ");
    let is_plural =
        name.ends_with('s') && !["ss", "is", "us"].iter().any(|end| name.ends_with(end));
    format!("What {name} {}", if is_plural { "are" } else { "is" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::evidence::terms::Abbreviations;

    fn headings(question: &str) -> Vec<String> {
        let reading = Reading::of(question, &Abbreviations::default());
        let facets = facets(&reading, &SurveyRules::digest());
        let named = facets.into_iter().filter(|facet| facet.tells != Tells::Rest);
        named.map(|facet| facet.heading).collect()
    }

    #[test]
    fn what_is_named_comes_first_then_what_is_asked_for() {
        assert_eq!(
            headings("What are the open challenges in knowledge editing of large language models?"),
            ["What knowledge editing is", "Problems and limits", "Approaches"]
        );
        assert_eq!(
            headings(
                "What are the leading approaches to simultaneous machine translation and what are their strengths and weaknesses?"
            ),
            ["What simultaneous machine translation is", "Approaches", "Strengths", "Weaknesses"]
        );
        assert_eq!(
            headings("What are the advantages and limitations of acupuncture for pain?"),
            ["What acupuncture is", "Advantages", "Limitations"]
        );
        assert_eq!(
            headings("What datasets exist for event extraction?"),
            ["What event extraction is", "Data", "Findings"]
        );
        assert_eq!(
            headings("What datasets exist for event extraction, and what are their problems?"),
            ["What event extraction is", "Data", "Problems and limits"]
        );
        assert_eq!(
            headings("Give an overview of event extraction from text."),
            ["What event extraction is", "Findings", "Approaches", "Problems and limits"]
        );
    }

    #[test]
    fn headings_are_grammatical() {
        assert_eq!(what_it_is("Federated Learning"), "What federated learning is");
        assert_eq!(what_it_is("text messages"), "What text messages are");
        assert_eq!(what_it_is("XAI analysis"), "What XAI analysis is");
    }
}

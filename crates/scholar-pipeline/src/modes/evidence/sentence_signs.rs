//! Which sentences of a paper answer the question: signs of each, and how probable it is.

use scholar_core::{PassageId, SentenceScores};
use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::informative::{
    Role, compares, defines, offers_data, says_what_came_of_it, says_what_was_done, speaks_of,
};
use super::question::{Aspect, Kind, Reading};
use super::slots::EffectSide;

/// What speaks for and against showing a sentence. What only some questions want counts 0 for the others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SentenceSigns {
    /// Cosine of question and sentence; 0 without an encoder of unit vectors.
    pub similarity: f32,
    /// Z-score of `similarity` among the paper's sentences; 0 likewise.
    pub similarity_z: f32,
    /// Share of the question's topic in sentence or title.
    pub topic: f32,
    /// Share of it in the sentence alone.
    pub own_topic: f32,
    /// Probability, by the sentence classifier, of being a result or a conclusion; 0 without one. What the classifier says of
    /// answering adds nothing to the cosine here.
    pub finding: f32,
    /// Probability of being a conclusion.
    pub conclusion: f32,
    /// Probability of being background.
    pub background: f32,
    /// Probability of saying what the paper offers or how it was done, where methods, data or a definition are asked for.
    pub offer_asked: f32,
    /// How much its wording says, whatever of.
    pub informative: f32,
    /// It sets one thing against another: `than`, `compared with`.
    pub compares: f32,
    /// It says what came of something: `we find`, `reduces`.
    pub outcome: f32,
    /// It says what was done with the subjects: `were randomized`.
    pub procedure: f32,
    /// It introduces a method, and methods or a definition are asked for.
    pub proposes_asked: f32,
    /// It introduces a method or data, and something else is asked for.
    pub proposes_unasked: f32,
    /// It introduces data, and data are asked for.
    pub data_asked: f32,
    /// It tells a limit, and limits are asked for.
    pub limit_asked: f32,
    /// It tells a limit, and something else is asked for.
    pub limit_unasked: f32,
    /// Its wording is that of the aspect asked for.
    pub aspect: f32,
    /// It has a number, and an effect, a comparison or a quantity is asked for.
    pub number_asked: f32,
    /// It takes a side on the effect asked for.
    pub side: f32,
    /// It defines what is asked to be defined.
    pub defines: f32,
    /// It stands in the abstract.
    pub in_abstract: f32,
    /// Share of the abstract's sentences before it.
    pub position: f32,
    /// Its paper cites others for it.
    pub cites: f32,
}

/// How near a sentence is to the question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Similarities {
    /// Cosine, on the common scale; nothing without an encoder of unit vectors.
    pub(crate) similarity: Option<f32>,
    /// Its z-score among the sentences of the paper.
    pub(crate) similarity_z: f32,
}

impl SentenceSigns {
    /// The signs of a sentence with how near it is to the question, its share of the topic and what the classifier says of it.
    pub(crate) fn of(
        candidate: &Candidate,
        Similarities { similarity, similarity_z }: Similarities,
        topic: f32,
        judged: Option<SentenceScores>,
        reading: &Reading,
    ) -> Self {
        let text = candidate.text.as_str();
        let kind = reading.kind;
        let on = |sign: bool| f32::from(u8::from(sign));
        let own = reading.topic.share(|term| on(term.is_in(&candidate.stems)));
        let wants_methods = matches!(kind, Kind::Methods | Kind::Definition | Kind::General);
        let wants_limits = matches!(kind, Kind::Limits | Kind::ProsAndCons | Kind::Causes)
            || reading.wants(Aspect::Limits);
        let wants_numbers = matches!(kind, Kind::Effect | Kind::Quantity | Kind::Comparison);
        let data = offers_data(text);
        let wording = Role::of(text);
        let (approach, limit) = (wording == Role::Approach, wording == Role::Limit);
        let aspect = match kind {
            Kind::Limits => Some(Aspect::Limits),
            Kind::Causes => Some(Aspect::Causes),
            Kind::Data => Some(Aspect::Data),
            Kind::Methods => Some(Aspect::Methods),
            _ => None,
        };
        let role = judged.map(|one| one.role);
        let context = &candidate.context;
        Self {
            similarity: similarity.unwrap_or(0.0),
            similarity_z,
            topic,
            own_topic: own,
            finding: judged.map_or(0.0, |one| one.role.finding()),
            conclusion: role.map_or(0.0, |role| role.conclusion),
            background: role.map_or(0.0, |role| role.background),
            offer_asked: role
                .filter(|_| wants_methods || kind == Kind::Data)
                .map_or(0.0, |role| role.purpose + role.method),
            informative: candidate.informative,
            compares: on(compares(text)),
            outcome: on(says_what_came_of_it(text)),
            procedure: on(says_what_was_done(text)),
            proposes_asked: on(approach && !data && wants_methods),
            proposes_unasked: on(
                (approach && !wants_methods && kind != Kind::Data) || (data && kind != Kind::Data)
            ),
            data_asked: on(data && kind == Kind::Data),
            limit_asked: on(limit && wants_limits),
            limit_unasked: on(limit && !wants_limits),
            aspect: on(aspect.is_some_and(|aspect| speaks_of(text, aspect))),
            number_asked: on(wants_numbers && text.contains(|c: char| c.is_ascii_digit())),
            side: on(kind == Kind::Effect && EffectSide::of(text, reading).is_some()),
            defines: on(kind == Kind::Definition && defines(text, reading)),
            in_abstract: on(context.in_abstract),
            position: context.nth as f32 / context.of.max(2) as f32,
            cites: on(candidate.cites),
        }
    }
}

/// Intercept and weights of a logistic regression over [`SentenceSigns`].
#[derive(Debug, Clone, Copy, PartialEq)]
struct SentenceModel {
    intercept: f32,
    weights: SentenceSigns,
}

impl SentenceModel {
    /// With encoder and sentence classifier. Source: `tests/evidence/fit_sentences.py` over graded sentences of development
    /// questions; 0.44 less on the intercept, so that as many sentences reach the thresholds of `LineRules` as by the weights
    /// before, which were fitted on fewer questions.
    const WITH_MODELS: Self = Self {
        intercept: -3.73,
        weights: SentenceSigns {
            similarity: 0.97,
            similarity_z: 0.18,
            topic: 0.00,
            own_topic: 0.00,
            finding: 0.95,
            conclusion: -0.20,
            background: -0.54,
            offer_asked: 0.36,
            informative: 2.21,
            compares: 0.77,
            outcome: 0.37,
            procedure: -0.58,
            proposes_asked: 0.56,
            proposes_unasked: 0.47,
            data_asked: 1.94,
            limit_asked: 0.43,
            limit_unasked: -0.40,
            aspect: 0.24,
            number_asked: -0.01,
            side: 0.43,
            defines: 2.97,
            in_abstract: 1.07,
            position: -0.02,
            cites: -0.07,
        },
    };

    /// Without them. Source: the same, `--without-models`, before `rated-questions.tsv` was added: what is left to choose a
    /// sentence by its subject are `topic` and `own_topic`, which cannot be fitted on these.
    const WITHOUT_MODELS: Self = Self {
        intercept: -2.78,
        weights: SentenceSigns {
            similarity: 0.00,
            similarity_z: 0.0,
            topic: -0.27,
            own_topic: 1.01,
            finding: 0.00,
            conclusion: 0.00,
            background: 0.00,
            offer_asked: 0.00,
            informative: 2.91,
            compares: 0.0,
            outcome: 0.0,
            procedure: 0.0,
            proposes_asked: 0.54,
            proposes_unasked: -0.94,
            data_asked: 0.48,
            limit_asked: 0.24,
            limit_unasked: -0.08,
            aspect: 0.42,
            number_asked: 0.36,
            side: 0.53,
            defines: 1.36,
            in_abstract: 0.21,
            position: 0.49,
            cites: -0.34,
        },
    };
}

impl SentenceSigns {
    /// Probability that a reader who asked the question takes the sentence, shown under its paper's title, for an answer.
    pub(crate) fn probability(&self, with_models: bool) -> f32 {
        let SentenceModel { intercept, weights } =
            if with_models { SentenceModel::WITH_MODELS } else { SentenceModel::WITHOUT_MODELS };
        let Self {
            similarity,
            similarity_z,
            topic,
            own_topic,
            finding,
            conclusion,
            background,
            offer_asked,
            informative,
            compares,
            outcome,
            procedure,
            proposes_asked,
            proposes_unasked,
            data_asked,
            limit_asked,
            limit_unasked,
            aspect,
            number_asked,
            side,
            defines,
            in_abstract,
            position,
            cites,
        } = weights;
        let sum = intercept
            + similarity * self.similarity
            + similarity_z * self.similarity_z
            + topic * self.topic
            + own_topic * self.own_topic
            + finding * self.finding
            + conclusion * self.conclusion
            + background * self.background
            + offer_asked * self.offer_asked
            + informative * self.informative
            + compares * self.compares
            + outcome * self.outcome
            + procedure * self.procedure
            + proposes_asked * self.proposes_asked
            + proposes_unasked * self.proposes_unasked
            + data_asked * self.data_asked
            + limit_asked * self.limit_asked
            + limit_unasked * self.limit_unasked
            + aspect * self.aspect
            + number_asked * self.number_asked
            + side * self.side
            + defines * self.defines
            + in_abstract * self.in_abstract
            + position * self.position
            + cites * self.cites;
        1.0 / (1.0 + (-sum).exp())
    }
}

/// One sentence of a paper that was scored, for a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SentenceDiagnosis {
    /// Where it stands.
    pub passage: PassageId,
    /// As it would be shown.
    pub text: String,
    /// What speaks for and against it.
    pub signs: SentenceSigns,
    /// Whether it is shown.
    pub shown: bool,
}

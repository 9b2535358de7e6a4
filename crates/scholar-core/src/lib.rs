//! Domain types, ports and text rules of OpenScholar.
//!
//! This crate is the vocabulary of the project: what a [`Paper`], a [`Passage`], a [`Question`] or an [`Answer`] is,
//! which capabilities the algorithms need ([`ports`]), and the rules of text that several crates must share
//! ([`text`]). It is *not* for anything that touches a file, a socket, a tensor, a clock or an async runtime.

pub mod answer;
pub mod citation;
pub mod error;
pub mod explanation;
pub mod exploration;
pub mod filter;
pub mod generation;
pub mod graph;
pub mod ids;
pub mod licence;
pub mod limits;
pub mod notice;
pub mod paper;
pub mod passage;
pub mod place;
pub mod ports;
pub mod question;
pub mod random;
pub mod retrieval;
pub mod score;
pub mod sentence;
pub mod similarity;
pub mod source;
pub mod span;
pub mod support;
pub mod text;

pub use answer::{
    Abstention, Answer, AnswerMode, AnswerRole, AnswerSection, AnswerSentence, AnswerTable, Gate,
    MissingContent, Quote, Reference, SectionKind, StudyDetail, TableCell, TableRow,
};
pub use citation::Citation;
pub use error::{PortError, PortErrorKind, is_out_of_space};
pub use explanation::Explanation;
pub use exploration::{
    Contribution, ContributionChain, ContributionEdge, ContributionGraph, ContributionSegment,
    ContributionTarget, DecidedBy, EvidenceOrigin, ExpansionDecision, NodeState, Outline,
    OutlineSection, Relevance, Tree, TreeEvidence, TreeNode,
};
pub use filter::SearchFilter;
pub use generation::{
    FinishReason, Generation, GenerationRequest, GeneratorInfo, GeneratorStrength, Message,
    OutputShape, Role, Sampling, TokenUsage,
};
pub use graph::{CitationGraph, LinkDirection, Neighbour, NeighbourRequest, Neighbours};
pub use ids::{IdError, PaperId, PassageId};
pub use limits::{Exceeded, Limit, ReadLimits, UnknownLimit};
pub use notice::{Notice, NoticeKind};
pub use paper::record::{
    Confidence, FieldOrigin, FieldSource, MetaField, MetaOrigin, OtherValue, PrintedReference,
    RecordSource, SourceFile, SourceRecord,
};
pub use paper::{Paper, PaperMeta, Retraction, Section};
pub use passage::{Passage, PassageKind};
pub use place::{PageBox, Place};
pub use ports::{
    Attributor, Catalog, CosineScale, Embeddings, Encoder, EncoderInfo, Generator, OnText,
    Reranker, RerankerInfo, Retriever, Side, Similarity, TextPreparation,
};
pub use question::{Query, Question, QuestionError};
pub use random::SplitMix64;
pub use retrieval::{Ranked, Retrieved, SearchMode, SearchRequest, Searched};
pub use score::{NotFinite, RerankScore, RetrievalScore};
pub use sentence::{
    EmbeddedText, RoleProbabilities, SentenceClassifier, SentenceClassifierInfo, SentenceInContext,
    SentenceRole, SentenceScores,
};
pub use source::{FindBy, FindRequest, Found, PaperSource};
pub use span::CharSpan;
pub use support::{ContentCheck, Judgement, Missing, Support, Verdict};

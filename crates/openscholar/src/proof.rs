//! Proofs of answers: what a run folder says is derived again, compared, and signed.
//!
//! [`mod@derive`] makes `answer.json`, `answer.md` and `proof.json` of what the pipeline returned; `ask` writes them, `runs
//! replay` and `runs verify` make them again from the journal. [`check`] names every difference and
//! [`describe`] puts it in words; [`signature`] is OpenSSH's.

pub(crate) mod check;
pub(crate) mod derive;
pub(crate) mod describe;
#[cfg(any(test, feature = "self-test"))]
pub(crate) mod sample;
pub(crate) mod signature;

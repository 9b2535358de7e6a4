//! Proofs that were edited.

//! Encoders and rerankers against what `PyTorch` computes; see `scripts/make_tiny_encoders.py`.

#![expect(
    clippy::panic,
    clippy::print_stderr,
    reason = "a failure is the test's result, a skip must be visible"
)]

mod attributors;
mod cross_encoders;
mod damage;
mod encoders;
mod golden;
mod late_interaction;
mod packing;
mod t5;

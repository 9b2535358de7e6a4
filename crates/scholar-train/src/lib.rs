//! Training of the encoder, the reranker, the attributor and the generator. Empty so far.
//!
//! What will live here: synthetic training data and its filters, losses, and trainers whose forward passes are made of
//! differentiable operations. It is *not* for inference, which is `scholar-models`; nor for benchmarks, which are
//! `scholar-bench`.
//!
//! The crate exists before its contents because directions are cheap now and dear later: it may know `scholar-core`,
//! `scholar-pipeline` and `scholar-models`, and only the binary may know it.

//! Encoders and rerankers against what `PyTorch` computes; see `scripts/make_tiny_encoders.py`.

mod cross_encoders;
mod damage;
mod encoders;
mod golden;

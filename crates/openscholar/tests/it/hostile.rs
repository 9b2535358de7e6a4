//! Input made to break a promise: damaged stores, edited proofs, text that drives a terminal, files that never end,
//! clients that never read. Each case failed once; `cargo test --test it hostile` runs them all.

mod damage;
#[cfg(unix)]
mod interleaving;
#[cfg(unix)]
mod pages;
mod private;
mod proof;
mod reading;
#[cfg(unix)]
mod serve;
mod text;

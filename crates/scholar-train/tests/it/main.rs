//! Trainings from files to model folders, on a tiny network.

mod compat;
mod damage;
mod loops;
mod material;
mod output;

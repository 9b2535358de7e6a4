//! The tree of retrievals as a story, by a model that says what the test wrote. Source: specification A17.

mod broken;
mod budgets;
mod exploring;
mod failing;
mod random;
mod replaying;
mod stage;
mod switches;
mod variants;
mod without_model;
mod writing;

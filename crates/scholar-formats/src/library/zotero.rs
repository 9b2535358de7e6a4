//! Zotero: its database on disk, and items as its interface answers them.

mod database;
mod item;
mod json;

pub use database::read_database;
pub use json::read_json;

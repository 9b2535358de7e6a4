//! Adds, background merges, compactions and deletions in any order, killed at any time, end in the same content.

//! Damaged datastores: nothing damaged is rewritten as good, and damage met while searching is an error.

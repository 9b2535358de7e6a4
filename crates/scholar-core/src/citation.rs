//! Numbers of references.

use serde::{Deserialize, Serialize};

/// A resolved citation: the 1-based number of a [`Reference`](crate::Reference).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Citation(pub usize);

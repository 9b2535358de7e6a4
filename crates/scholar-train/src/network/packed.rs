//! Batches of token ids.

/// A batch of token sequences without padding. There is no attention mask: attention knows where each sequence starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Packed {
    /// Token ids, sequence by sequence.
    pub(crate) ids: Vec<u32>,
    /// Token types, as many.
    pub(crate) types: Vec<u32>,
    /// First token of each sequence, and the number of tokens at the end.
    pub(crate) starts: Vec<usize>,
}

impl Packed {
    /// No sequence yet.
    pub(crate) fn new() -> Self {
        Self { ids: Vec::new(), types: Vec::new(), starts: vec![0] }
    }

    /// Adds a sequence, which has at least one token.
    pub(crate) fn push(&mut self, ids: &[u32], types: &[u32]) {
        assert!(!ids.is_empty() && ids.len() == types.len());
        self.ids.extend_from_slice(ids);
        self.types.extend_from_slice(types);
        self.starts.push(self.ids.len());
    }

    /// Number of sequences.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of tokens of all sequences.
    pub(crate) fn tokens(&self) -> usize {
        self.ids.len()
    }

    /// Position of each token in its sequence, from 0.
    pub(super) fn positions(&self) -> Vec<u32> {
        self.lengths().flat_map(|len| 0..len as u32).collect()
    }

    /// Length of each sequence in tokens.
    fn lengths(&self) -> impl Iterator<Item = usize> + '_ {
        self.starts.windows(2).map(|pair| pair[1] - pair[0])
    }
}

//! Vectors in JSON: little-endian f32 as hexadecimal digits, exact to the bit.

use scholar_core::Embeddings;
use scholar_core::text::hex;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(super) struct HexEmbeddings {
    dim: usize,
    truncated: usize,
    values: String,
}

pub(super) fn to_hex(embeddings: &Embeddings) -> HexEmbeddings {
    let bytes: Vec<u8> = embeddings.values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let values = hex(&bytes);
    HexEmbeddings { dim: embeddings.dim, truncated: embeddings.truncated, values }
}

/// `None` when the digits are not whole numbers of whole rows.
pub(super) fn from_hex(hex: &HexEmbeddings) -> Option<Embeddings> {
    let digits = hex.values.as_bytes();
    if !digits.len().is_multiple_of(8 * hex.dim.max(1)) || hex.dim == 0 {
        return None;
    }
    let values = digits.chunks_exact(8).map(|word| {
        let mut bytes = [0_u8; 4];
        for (byte, pair) in bytes.iter_mut().zip(word.chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).ok()?;
            *byte = u8::from_str_radix(pair, 16).ok()?;
        }
        Some(f32::from_le_bytes(bytes))
    });
    let values: Vec<f32> = values.collect::<Option<_>>()?;
    Some(Embeddings { values, dim: hex.dim, truncated: hex.truncated })
}

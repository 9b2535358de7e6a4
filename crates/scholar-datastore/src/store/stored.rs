//! Stored documents, read without believing the lengths in them.
//!
//! tantivy allocates what a document says its texts are long; a wrong byte makes that terabytes, and a failed allocation
//! ends the process. So lengths are compared with the bytes there are before tantivy reads a document of a file that
//! nobody has checked.

use std::path::Path;

use tantivy::HasLen as _;
use tantivy::columnar::StrColumn;
use tantivy::directory::FileSlice;
use tantivy::error::DataCorruption;
use tantivy::schema::{Field, Value as _};
use tantivy::store::StoreReader;
use tantivy::{DocId, TantivyDocument, TantivyError};

use super::guard::attempt;
use crate::error::Error;

/// Bytes of a field's number and of the kind of its value.
const FIELD_BYTES: usize = 4;
/// The kind of a text; nothing else is stored.
const TEXT: u8 = 0;
/// Set in the last byte of a number.
const LAST: u8 = 0x80;
/// Bytes of the longest number.
const LONGEST_NUMBER: usize = 10;
/// Bytes in which a file of stored documents ends: a version, where the index begins, the compressor, 15 bytes to spare.
const FOOTER_BYTES: usize = 28;
/// Where of them the beginning of the index stands.
const OFFSET: std::ops::Range<usize> = 4..12;

/// The document in place `doc`.
pub(crate) fn document(store: &StoreReader, doc: DocId) -> Result<TantivyDocument, TantivyError> {
    let bytes = store.get_document_bytes(doc)?;
    if !are_texts(bytes.as_slice()) {
        let what = format!("stored document {doc} is longer than its block");
        return Err(TantivyError::DataCorruption(DataCorruption::comment_only(what)));
    }
    store.get(doc)
}

/// Whether the index at the end of `body`, a file of stored documents without its checksum, says no more layers than its bytes
/// can hold: tantivy makes room for as many as it says when it opens the file.
pub(crate) fn index_fits(body: &FileSlice) -> bool {
    let fits = || {
        let end = body.len().checked_sub(FOOTER_BYTES)?;
        let footer = body.read_bytes_slice(end..body.len()).ok()?;
        let offset = footer.as_slice().get(OFFSET)?.try_into().ok()?;
        let start = usize::try_from(u64::from_le_bytes(offset)).ok()?;
        let index =
            body.read_bytes_slice(start..end.min(start.checked_add(LONGEST_NUMBER)?)).ok()?;
        let (layers, _) = number(index.as_slice())?;
        Some(layers <= (end - start) as u64)
    };
    body.len() > FOOTER_BYTES && attempt(fits).flatten().unwrap_or(false)
}

/// Whether `bytes` are a number of texts, none longer than what is left.
fn are_texts(bytes: &[u8]) -> bool {
    let Some((fields, mut rest)) = number(bytes) else { return false };
    for _ in 0..fields {
        let Some((&[TEXT], text)) =
            rest.get(FIELD_BYTES..).and_then(|rest| rest.split_at_checked(1))
        else {
            return false;
        };
        let Some((length, text)) = number(text) else { return false };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let Some((_, after)) = text.split_at_checked(length) else { return false };
        rest = after;
    }
    true
}

/// A number of seven bits a byte, the lowest first, and what comes after it.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (place, byte) in bytes.iter().enumerate().take(LONGEST_NUMBER) {
        let bits = u64::from(byte & !LAST);
        value |= bits.checked_shl(u32::try_from(place * 7).ok()?)?;
        if byte & LAST != 0 {
            return Some((value, &bytes[place + 1..]));
        }
    }
    None
}

/// The JSON in a stored field of a document of the datastore at `root`.
pub(crate) fn parse_stored<T: serde::de::DeserializeOwned>(
    root: &Path,
    document: &TantivyDocument,
    field: Field,
) -> Result<T, Error> {
    let text = document
        .get_first(field)
        .and_then(|value| value.as_str())
        .ok_or_else(|| Error::corrupt(root, "a stored document lacks a field"))?;
    serde_json::from_str(text)
        .map_err(|error| Error::corrupt(root, format!("stored document: {error}")))
}

/// The text of a document in a column of texts.
pub(crate) fn text_in(column: &StrColumn, doc: DocId) -> Option<String> {
    let mut text = String::new();
    let ord = column.ords().first(doc)?;
    column.ord_to_str(ord, &mut text).ok()?.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_of_more_layers_than_bytes_is_not_believed() {
        let file = |index: &[u8], offset: u64| {
            let footer = [&[1, 0, 0, 0][..], &offset.to_le_bytes(), &[0; 16]].concat();
            FileSlice::from([b"documents".as_slice(), index, &footer].concat())
        };
        assert!(index_fits(&file(&[0x81, 0x83, 1, 2, 3], 9)));
        assert!(!index_fits(&file(&[0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0xff], 9)), "petabytes");
        assert!(!index_fits(&file(&[0x86, 0x83, 1, 2, 3], 9)), "one layer too many");
        assert!(!index_fits(&file(&[0x81, 0x83, 1, 2, 3], 10_000)), "outside of the file");
        assert!(!index_fits(&file(&[0x81, 0x83, 1, 2, 3], u64::MAX)));
        assert!(!index_fits(&FileSlice::from(vec![0; 5])), "cut short");
    }

    #[test]
    fn lengths_beyond_the_bytes_are_not_believed() {
        let text = |length: &[u8], text: &[u8]| [&[3, 0, 0, 0, TEXT], length, text].concat();
        let one = |of: Vec<u8>| [vec![0x81], of].concat();
        assert!(are_texts(&one(text(&[0x82], b"ab"))));
        assert!(are_texts(&one(text(&[0x02, 0x81], &[b'x'; 130]))));
        assert!(!are_texts(&one(text(&[0x83], b"ab"))), "one byte too long");
        assert!(!are_texts(&one(text(&[0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0xff], b"ab"))));
        assert!(!are_texts(&one(vec![3, 0, 0, 0, 4, 0x82, b'a', b'b'])), "another kind");
        assert!(!are_texts(&[0x82, 0, 0]), "cut short");
        assert!(!are_texts(&[1; 20]), "a number without an end");
        assert!(are_texts(&[0x80]));
    }
}

//! What can be had of a file's streams, looked at before the interpreter unpacks them.

use std::cell::RefCell;
use std::collections::HashMap;

use hayro_interpret::hayro_syntax::object::{Array, Dict, Name, Object, ObjectIdentifier, Stream};
use hayro_interpret::hayro_syntax::page::Page as PdfPage;
use hayro_interpret::hayro_syntax::{Filter, Pdf};

use super::FORMAT;
use super::unpack::{Packing, Way, packing};
use crate::deadline::{Bounds, Deadline};
use crate::error::FormatError;

/// Longest row of a predictor, in bytes: wider than any image.
const WIDEST: i64 = 1 << 24;

/// How deeply forms in forms are looked for.
const DEEPEST: usize = 8;

/// Whether the bytes already show what would end the process while the file is only opened: a stream that unpacks to more
/// than a computer holds, a table with rows that nobody has.
///
/// # Errors
/// The time is up.
pub(super) fn is_hostile(bytes: &[u8], bounds: &Bounds) -> Result<bool, FormatError> {
    if wide_rows(bytes) {
        return Ok(true);
    }
    for at in positions(bytes, STREAM) {
        if bounds.deadline.is_over() {
            return Err(bounds.deadline.error(FORMAT));
        }
        if is_bomb(bytes, at, bounds.limits.stream_bytes) {
            return Ok(true);
        }
    }
    Ok(false)
}

const STREAM: &[u8] = b"stream";

/// `/Columns` of more digits than any width has.
fn wide_rows(bytes: &[u8]) -> bool {
    const KEY: &[u8] = b"/Columns";
    positions(bytes, KEY).any(|at| {
        let value = bytes[at + KEY.len()..].trim_ascii_start();
        let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
        digits > 8
    })
}

/// Whether a compressed stream that begins at `at` unpacks, or its content unpacks again, to more than `most`.
fn is_bomb(bytes: &[u8], at: usize, most: usize) -> bool {
    if bytes[..at].ends_with(b"end") {
        return false;
    }
    let data = &bytes[at + STREAM.len()..];
    let data = data.strip_prefix(b"\r").unwrap_or(data);
    let data = data.strip_prefix(b"\n").unwrap_or(data);
    data.first().is_some_and(|head| head & 0x0f == 8)
        && [&[Way::Flate][..], &[Way::Flate; 2]]
            .iter()
            .any(|ways| packing(data, ways, most) == Packing::TooLarge)
}

fn positions<'a>(bytes: &'a [u8], key: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let first = key[0];
    let starts = bytes.iter().enumerate().filter(move |(_, byte)| **byte == first);
    starts.map(|(at, _)| at).filter(move |at| bytes[*at..].starts_with(key))
}

/// How the streams of a file are packed.
#[derive(Debug)]
pub(super) struct Streams {
    packings: HashMap<ObjectIdentifier, Packing>,
    /// Forms that were looked through already: many may draw the same one, and each of those many may be drawn by many.
    damaged_forms: RefCell<HashMap<ObjectIdentifier, bool>>,
    deadline: Deadline,
}

impl Streams {
    /// Looks at every stream until the deadline; what was not reached is taken for whole.
    pub(super) fn of(pdf: &Pdf, bounds: &Bounds) -> Self {
        let Bounds { limits, deadline } = bounds;
        let mut packings = HashMap::new();
        for object in pdf.objects() {
            if deadline.is_over() {
                break;
            }
            if let Object::Stream(stream) = object {
                packings.insert(stream.obj_id(), look(&stream, limits.stream_bytes));
            }
        }
        Self { packings, damaged_forms: RefCell::default(), deadline: deadline.clone() }
    }

    /// Whether something in the file is too large to be interpreted at all.
    pub(super) fn too_large(&self) -> bool {
        self.packings.values().any(|packing| *packing == Packing::TooLarge)
    }

    /// Whether a part of what the page draws cannot be had.
    pub(super) fn is_damaged(&self, page: &PdfPage<'_>) -> bool {
        let dict = page.raw();
        let contents: Vec<Option<Stream<'_>>> =
            if let Some(stream) = dict.get::<Stream<'_>>(b"Contents") {
                vec![Some(stream)]
            } else if let Some(array) = dict.get::<Array<'_>>(b"Contents") {
                array.iter::<Object<'_>>().map(Object::into_stream).collect()
            } else {
                // A page without contents is empty, one whose contents are not there is not.
                let named = dict.contains_key(b"Contents");
                let nothing = dict.get::<Object<'_>>(b"Contents");
                return named && !matches!(nothing, Some(Object::Null(_)));
            };
        let broken = |stream: &Option<Stream<'_>>| {
            stream.as_ref().is_none_or(|stream| self.stream_is_damaged(stream))
        };
        if contents.iter().any(broken) {
            return true;
        }
        let forms = &page.resources().x_objects;
        let in_time = |_: &Name<'_>| !self.deadline.is_over();
        let mut damaged = forms
            .keys()
            .take_while(in_time)
            .filter(|name| self.form_is_damaged(forms, name, DEEPEST));
        let drawn = page.page_stream().unwrap_or_default();
        damaged.any(|name| positions(drawn, name.as_ref()).next().is_some())
    }

    fn stream_is_damaged(&self, stream: &Stream<'_>) -> bool {
        self.packings.get(&stream.obj_id()).is_some_and(|packing| *packing != Packing::Whole)
    }

    fn form_is_damaged(&self, forms: &Dict<'_>, name: &Name<'_>, depth: usize) -> bool {
        let Some(form) = forms.get::<Stream<'_>>(name) else { return false };
        let subtype = form.dict().get::<Name<'_>>(b"Subtype");
        if depth == 0 || subtype.as_deref() != Some(b"Form") {
            return false;
        }
        if let Some(known) = self.damaged_forms.borrow().get(&form.obj_id()) {
            return *known;
        }
        // Forms that draw themselves end here.
        self.damaged_forms.borrow_mut().insert(form.obj_id(), false);
        let inner = form.dict().get::<Dict<'_>>(b"Resources").unwrap_or_default();
        let inner = inner.get::<Dict<'_>>(b"XObject").unwrap_or_default();
        let damaged = self.stream_is_damaged(&form)
            || inner
                .keys()
                .take_while(|_| !self.deadline.is_over())
                .any(|name| self.form_is_damaged(&inner, &name, depth - 1));
        self.damaged_forms.borrow_mut().insert(form.obj_id(), damaged);
        damaged
    }
}

fn look(stream: &Stream<'_>, most: usize) -> Packing {
    if too_wide(stream.dict()) {
        return Packing::TooLarge;
    }
    if stated_filters(stream.dict()) > stream.filters().len() {
        // The interpreter passes over filters that it does not know.
        return Packing::Damaged;
    }
    // Images are never unpacked to read a page, and the way of encryption is gone already.
    let (ways, None) = ways(stream) else { return Packing::Whole };
    if stream.dict().get::<Name<'_>>(b"Subtype").as_deref() == Some(b"Image") {
        return Packing::Whole;
    }
    packing(&stream.raw_data(), &ways, most)
}

/// How a stream is packed up to the first filter that is one of images, or of nobody's.
pub(super) fn ways(stream: &Stream<'_>) -> (Vec<Way>, Option<Filter>) {
    let mut ways = Vec::new();
    for filter in stream.filters() {
        ways.push(match filter {
            Filter::AsciiHexDecode => Way::Hex,
            Filter::Ascii85Decode => Way::Ascii85,
            Filter::LzwDecode => Way::Lzw,
            Filter::FlateDecode => Way::Flate,
            Filter::RunLengthDecode => Way::RunLength,
            Filter::CcittFaxDecode
            | Filter::Jbig2Decode
            | Filter::DctDecode
            | Filter::JpxDecode
            | Filter::Crypt => return (ways, Some(filter)),
        });
    }
    (ways, None)
}

fn stated_filters(dict: &Dict<'_>) -> usize {
    let stated = dict.get::<Object<'_>>(b"Filter").or_else(|| dict.get::<Object<'_>>(b"F"));
    match stated {
        Some(Object::Name(_)) => 1,
        Some(Object::Array(names)) => names.iter::<Name<'_>>().count(),
        _ => 0,
    }
}

/// Whether a predictor has rows that no stream has.
pub(super) fn too_wide(dict: &Dict<'_>) -> bool {
    let wide = |parameters: &Dict<'_>| {
        let number = |key: &[u8], otherwise| {
            parameters.get::<i64>(key).unwrap_or(otherwise).saturating_abs()
        };
        let pixel = number(b"Colors", 1).saturating_mul(number(b"BitsPerComponent", 8));
        number(b"Columns", 1).saturating_mul(pixel) / 8 > WIDEST
    };
    [&b"DecodeParms"[..], b"DP"].iter().any(|key| {
        dict.get::<Dict<'_>>(key).is_some_and(|one| wide(&one))
            || dict.get::<Array<'_>>(key).is_some_and(|all| {
                all.iter::<Object<'_>>().any(|one| one.into_dict().is_some_and(|one| wide(&one)))
            })
    })
}

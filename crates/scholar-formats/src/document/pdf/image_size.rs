//! How large an image becomes, looked at before anything unpacks it.
//!
//! The interpreter unpacks an image to whatever size its own header says. Only what its dictionary and its header both
//! say to be within the limit is unpacked.

use hayro_interpret::hayro_syntax::Filter;
use hayro_interpret::hayro_syntax::object::{Array, Dict, Object, Stream};

use super::streams::{too_wide, ways};
use super::unpack::{Packing, packing};

/// Bytes that an image may have beyond its pixels.
const SLACK: usize = 1 << 20;

/// Whether neither the image nor its masks have more than `most` pixels.
pub(super) fn fits(image: &Stream<'_>, most: usize) -> bool {
    let mut keys = [&b"SMask"[..], b"Mask"].into_iter();
    own_fits(image, most)
        && keys.all(|key| {
            let mask = image.dict().get::<Stream<'_>>(key);
            mask.is_none_or(|mask| own_fits(&mask, most))
        })
}

fn own_fits(image: &Stream<'_>, most: usize) -> bool {
    let dict = image.dict();
    let side = |long: &[u8], short: &[u8]| dict.get::<u32>(long).or_else(|| dict.get::<u32>(short));
    let (Some(width), Some(height)) = (side(b"Width", b"W"), side(b"Height", b"H")) else {
        return false;
    };
    if !area_fits(width, height, most) || too_wide(dict) {
        return false;
    }
    let data = image.raw_data();
    let (ways, codec) = ways(image);
    // Sixteen bits of four colours a pixel, and what some writers add behind them.
    let area = usize::try_from(u64::from(width) * u64::from(height)).unwrap_or(usize::MAX);
    let most_bytes = area.saturating_mul(8).saturating_add(SLACK);
    if !ways.is_empty() && packing(&data, &ways, most_bytes) == Packing::TooLarge {
        return false;
    }
    match codec {
        // Their headers decide. A packed one cannot be looked at as it is.
        Some(Filter::JpxDecode) => {
            ways.is_empty() && jpx(&data).is_some_and(|(w, h)| area_fits(w, h, most))
        }
        Some(Filter::Jbig2Decode) => {
            ways.is_empty() && jbig2(&data).is_some_and(|(w, h)| area_fits(w, h, most))
        }
        Some(Filter::CcittFaxDecode) => area_fits(fax_columns(dict), height, most),
        // Their sizes are the dictionary's.
        Some(Filter::DctDecode) | None => true,
        Some(_) => false,
    }
}

/// Width of a fax, which may be other than its dictionary's.
fn fax_columns(dict: &Dict<'_>) -> u32 {
    const STANDARD: u32 = 1_728;
    let columns = |parameters: &Dict<'_>| parameters.get::<u32>(b"Columns").unwrap_or(STANDARD);
    let of_key = |key: &&[u8]| {
        if let Some(one) = dict.get::<Dict<'_>>(key) {
            return Some(columns(&one));
        }
        let all = dict.get::<Array<'_>>(key)?;
        all.iter::<Object<'_>>().filter_map(Object::into_dict).map(|one| columns(&one)).max()
    };
    [&b"DecodeParms"[..], b"DP"].iter().find_map(of_key).unwrap_or(STANDARD)
}

fn area_fits(width: u32, height: u32, most: usize) -> bool {
    u64::from(width) * u64::from(height) <= u64::try_from(most).unwrap_or(u64::MAX)
}

/// Four bytes as a number.
fn number(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(data.get(at..at + 4)?.try_into().ok()?))
}

/// Width and height that the code stream of a JPEG 2000 image states.
fn jpx(data: &[u8]) -> Option<(u32, u32)> {
    const START_AND_SIZE: [u8; 4] = [0xff, 0x4f, 0xff, 0x51];
    let at = data.windows(4).position(|window| window == START_AND_SIZE)?;
    // Behind the marker: length and capabilities.
    Some((number(data, at + 8)?, number(data, at + 12)?))
}

/// Width and height of the page of a JBIG2 image.
fn jbig2(data: &[u8]) -> Option<(u32, u32)> {
    const PAGE_INFORMATION: u8 = 48;
    let mut at = 0;
    loop {
        let segment = number(data, at)?;
        let flags = *data.get(at + 4)?;
        let count = *data.get(at + 5)? >> 5;
        // Few segments are referred to by three bits, many by a number of their own and a bit each.
        let (referred, mut head) = match count {
            7 => {
                let many = usize::try_from(number(data, at + 5)? & 0x1fff_ffff).ok()?;
                (many, at.checked_add(9)?.checked_add(many.div_ceil(8))?)
            }
            few => (usize::from(few), at + 6),
        };
        let size = if segment <= 256 {
            1
        } else if segment <= 65_536 {
            2
        } else {
            4
        };
        head = head.checked_add(referred.checked_mul(size)?)?;
        head = head.checked_add(if flags & 0x40 == 0 { 1 } else { 4 })?;
        let length = number(data, head)?;
        if flags & 0x3f == PAGE_INFORMATION {
            return Some((number(data, head + 4)?, number(data, head + 8)?));
        }
        at = head.checked_add(4)?.checked_add(usize::try_from(length).ok()?)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_say_how_large_an_image_becomes() {
        let mut jpx_image = b"box".to_vec();
        jpx_image.extend([0xff, 0x4f, 0xff, 0x51, 0, 47, 0, 0, 0, 0, 0x40, 0, 0, 0, 0x30, 0]);
        assert_eq!(jpx(&jpx_image), Some((0x4000, 0x3000)));
        assert_eq!(jpx(&jpx_image[..14]), None);
        // A dictionary of two bytes, then the page.
        let mut scan = vec![0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 9, 9];
        scan.extend([0, 0, 0, 1, 48, 0, 1, 0, 0, 0, 19, 0, 0, 0x10, 0, 0, 0, 0x20, 0]);
        assert_eq!(jbig2(&scan), Some((0x1000, 0x2000)));
        assert_eq!(jbig2(&scan[..20]), None);
        // Lengths that lead out of the data, or in circles, end.
        assert_eq!(jbig2(&[0xff; 64]), None);
    }

    #[test]
    fn the_area_counts() {
        assert!(area_fits(1_000, 1_000, 1_000_000));
        assert!(!area_fits(1_000, 1_001, 1_000_000));
        assert!(!area_fits(u32::MAX, u32::MAX, 1_000_000));
    }
}

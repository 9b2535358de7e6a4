//! Images as PNG, in text that a drawing can hold.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// How the bytes of an image are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Samples {
    /// One byte a pixel, black to white.
    Grey,
    /// Three bytes a pixel.
    Rgb,
    /// Four bytes a pixel, the last its opacity.
    Rgba,
}

impl Samples {
    /// Bytes of one pixel.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Grey => 1,
            Self::Rgb => 3,
            Self::Rgba => 4,
        }
    }

    /// The format's number of this type of colour.
    fn colour_type(self) -> u8 {
        match self {
            Self::Grey => 0,
            Self::Rgb => 2,
            Self::Rgba => 6,
        }
    }
}

/// An image of whole rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pixels {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) samples: Samples,
    /// `width * height` pixels.
    pub(super) data: Vec<u8>,
}

impl Pixels {
    /// The image if its bytes are as many as its size says.
    pub(super) fn new(width: u32, height: u32, samples: Samples, data: Vec<u8>) -> Option<Self> {
        let (width, height) = (usize::try_from(width).ok()?, usize::try_from(height).ok()?);
        let expected = width.checked_mul(height)?.checked_mul(samples.bytes())?;
        (expected > 0 && data.len() == expected).then_some(Self { width, height, samples, data })
    }

    /// Every `factor` by `factor` pixels as one, their mean.
    pub(super) fn smaller(self, factor: usize) -> Self {
        if factor <= 1 {
            return self;
        }
        let Self { width, height, samples, data } = self;
        let (new_width, new_height) = (width.div_ceil(factor), height.div_ceil(factor));
        let bytes = samples.bytes();
        let mut out = Vec::with_capacity(new_width * new_height * bytes);
        for top in (0..height).step_by(factor) {
            for left in (0..width).step_by(factor) {
                let (bottom, right) = ((top + factor).min(height), (left + factor).min(width));
                let count = (bottom - top) * (right - left);
                for sample in 0..bytes {
                    let mut sum = 0_usize;
                    for row in top..bottom {
                        let start = (row * width + left) * bytes + sample;
                        let pixels = data[start..].iter().step_by(bytes).take(right - left);
                        sum += pixels.map(|value| usize::from(*value)).sum::<usize>();
                    }
                    out.push(u8::try_from(sum / count).unwrap_or(u8::MAX));
                }
            }
        }
        Self { width: new_width, height: new_height, samples, data: out }
    }

    /// The address of the image itself: `data:image/png;base64,…`. `None` if it is larger than the format allows.
    pub(super) fn address(&self) -> Option<String> {
        let (width, height) = (u32::try_from(self.width).ok()?, u32::try_from(self.height).ok()?);
        let mut head = Vec::with_capacity(13);
        head.extend(width.to_be_bytes());
        head.extend(height.to_be_bytes());
        head.extend([8, self.samples.colour_type(), 0, 0, 0]);
        let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
        chunk(&mut png, *b"IHDR", &head)?;
        chunk(&mut png, *b"IDAT", &self.packed()?)?;
        chunk(&mut png, *b"IEND", &[])?;
        let mut out = "data:image/png;base64,".to_owned();
        base64(&png, &mut out);
        Some(out)
    }

    /// Rows as differences to the pixel before, packed.
    fn packed(&self) -> Option<Vec<u8>> {
        const DIFFERENCES: u8 = 1;
        let bytes = self.samples.bytes();
        let mut packer = ZlibEncoder::new(Vec::new(), Compression::fast());
        let mut packed_row = Vec::with_capacity(self.width * bytes + 1);
        for row in self.data.chunks(self.width * bytes) {
            packed_row.clear();
            packed_row.push(DIFFERENCES);
            packed_row.extend_from_slice(&row[..bytes.min(row.len())]);
            packed_row
                .extend(row.iter().zip(row.iter().skip(bytes)).map(|(a, b)| b.wrapping_sub(*a)));
            packer.write_all(&packed_row).ok()?;
        }
        packer.finish().ok()
    }
}

fn chunk(out: &mut Vec<u8>, name: [u8; 4], data: &[u8]) -> Option<()> {
    let mut check = flate2::Crc::new();
    check.update(&name);
    check.update(data);
    out.extend(u32::try_from(data.len()).ok()?.to_be_bytes());
    out.extend(name);
    out.extend(data);
    out.extend(check.sum().to_be_bytes());
    Some(())
}

fn base64(bytes: &[u8], out: &mut String) {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out.reserve(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let all = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = (all >> (18 - 6 * at)) & 63;
            let letter = usize::try_from(letter).ok().and_then(|at| LETTERS.get(at));
            out.push(if at > three.len() { '=' } else { char::from(*letter.unwrap_or(&b'=')) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::ZlibDecoder;

    use super::*;

    #[test]
    fn bytes_become_text_in_fours() {
        for (bytes, expect) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"foobar", "Zm9vYmFy"),
        ] {
            let mut out = String::new();
            base64(bytes, &mut out);
            assert_eq!(out, expect);
        }
    }

    #[test]
    fn rows_are_packed_as_differences_and_can_be_had_back() {
        let image = Pixels::new(2, 2, Samples::Rgb, (0..12).collect()).expect("fits");
        let mut rows = Vec::new();
        let packed = image.packed().expect("packs");
        ZlibDecoder::new(packed.as_slice()).read_to_end(&mut rows).expect("unpacks");
        assert_eq!(rows, [1, 0, 1, 2, 3, 3, 3, 1, 6, 7, 8, 3, 3, 3]);
        let address = image.address().expect("small");
        assert!(address.starts_with("data:image/png;base64,iVBORw0KGgo"), "{address}");
        assert_eq!(Pixels::new(2, 2, Samples::Rgb, vec![0; 11]), None);
        assert_eq!(Pixels::new(0, 2, Samples::Rgb, vec![]), None);
    }

    #[test]
    fn a_smaller_image_has_the_means_of_the_larger() {
        let image = Pixels::new(3, 2, Samples::Grey, vec![0, 100, 7, 100, 200, 9]).expect("fits");
        let smaller = image.clone().smaller(2);
        assert_eq!((smaller.width, smaller.height, smaller.data), (2, 1, vec![100, 8]));
        assert_eq!(image.clone().smaller(1), image);
    }
}

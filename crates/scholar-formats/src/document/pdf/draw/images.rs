//! Images, made as small as the page shows them.

use hayro_interpret::kurbo::Affine;
use hayro_interpret::{Image, ImageData, LumaData, Paint};

use super::super::image_size;
use super::super::png::{Pixels, Samples};
use super::Painter;
use super::paths::{matrix, number};

/// Most pixels of one image: a page of A4 scanned at 600 dots an inch has 35 million.
const MOST_PIXELS: usize = 40_000_000;

/// Most pixels of all images of a page together.
pub(super) const MOST_PIXELS_OF_A_PAGE: usize = 80_000_000;

/// Pixels a point: as many as a screen of twice the usual density shows at the page's own size.
const PIXELS_A_POINT: f64 = 2.0;

impl<'a> Painter<'a, '_> {
    /// Draws an image. `transform` leads from its pixels, counted from the upper left, to the page.
    pub(super) fn image(&mut self, image: &Image<'a, '_>, transform: Affine) {
        let (width, height) = (image.width(), image.height());
        let area = u64::from(width) * u64::from(height);
        let area = usize::try_from(area).unwrap_or(usize::MAX);
        let fits = area <= self.pixels
            && transform.is_finite()
            && match image {
                Image::Stencil(stencil) => image_size::fits(stencil.stream(), MOST_PIXELS),
                Image::Raster(raster) => image_size::fits(raster.stream(), MOST_PIXELS),
            };
        if !fits {
            self.instead_of_image(width, height, transform);
            return;
        }
        self.pixels -= area;
        let shown = shown(width, height, transform);
        let mut drawn = None;
        match image {
            Image::Stencil(stencil) => {
                stencil.with_stencil(|mask, paint| drawn = stencilled(mask, paint), Some(shown));
            }
            Image::Raster(raster) => {
                raster.with_rgba(|image, alpha| drawn = coloured(image, alpha), Some(shown));
            }
        }
        let address = drawn.and_then(|Drawn { pixels, scale, tint }| {
            let factor = (pixels.width / size(shown.0).max(1))
                .min(pixels.height / size(shown.1).max(1))
                .max(1);
            let pixels = pixels.smaller(factor);
            let pixels = match tint {
                Some(tint) => tinted(&pixels, tint),
                None => pixels,
            };
            let own = Affine::scale_non_uniform(scale.0 * wide(factor), scale.1 * wide(factor));
            Some((pixels.address()?, pixels.width, pixels.height, transform * own))
        });
        let Some((address, width, height, placed)) = address else {
            self.instead_of_image(width, height, transform);
            return;
        };
        let placed = matrix(placed);
        self.write(format_args!(
            r#"<image width="{width}" height="{height}" preserveAspectRatio="none"{placed} href="{address}"/>"#
        ));
    }

    /// A grey area where an image would be.
    fn instead_of_image(&mut self, width: u32, height: u32, transform: Affine) {
        self.missing.images += 1;
        if transform.is_finite() {
            let (width, height) = (number(width.into()), number(height.into()));
            let placed = matrix(transform);
            self.write(format_args!(
                r##"<rect width="{width}" height="{height}" fill="#ccc"{placed}/>"##
            ));
        }
    }
}

/// An unpacked image, and how much larger than its pixels say it is to be drawn.
struct Drawn {
    pixels: Pixels,
    scale: (f64, f64),
    /// The colour of a mask, whose pixels are how much of it is seen.
    tint: Option<[u8; 4]>,
}

fn scales((across, along): (f32, f32)) -> (f64, f64) {
    (across.into(), along.into())
}

/// A mask in one colour. A pattern that shows through one is drawn as grey.
fn stencilled(mask: LumaData, paint: &Paint<'_>) -> Option<Drawn> {
    let tint = match paint {
        Paint::Color(colour) => colour.to_rgba().to_rgba8(),
        Paint::Pattern(_) => [0x80, 0x80, 0x80, 0xff],
    };
    let scale = scales(mask.scale_factors);
    let pixels = Pixels::new(mask.width, mask.height, Samples::Grey, mask.data)?;
    Some(Drawn { pixels, scale, tint: Some(tint) })
}

fn tinted(mask: &Pixels, [red, green, blue, alpha]: [u8; 4]) -> Pixels {
    let seen = |value: &u8| {
        let seen = u16::from(*value) * u16::from(alpha) / u16::from(u8::MAX);
        [red, green, blue, u8::try_from(seen).unwrap_or(u8::MAX)]
    };
    let data = mask.data.iter().flat_map(seen).collect();
    Pixels { width: mask.width, height: mask.height, samples: Samples::Rgba, data }
}

fn coloured(image: ImageData, alpha: Option<LumaData>) -> Option<Drawn> {
    let (width, height) = (image.width(), image.height());
    let scale = scales(image.scale_factors());
    let (samples, data) = match image {
        ImageData::Rgb(rgb) => (Samples::Rgb, rgb.data),
        ImageData::Luma(luma) => (Samples::Grey, luma.data),
    };
    let pixels = Pixels::new(width, height, samples, data)?;
    let pixels = match alpha {
        Some(alpha) => see_through(&pixels, &alpha)?,
        None => pixels,
    };
    Some(Drawn { pixels, scale, tint: None })
}

/// The image with the opacity that `alpha` has at the same place, however many pixels it has.
fn see_through(image: &Pixels, alpha: &LumaData) -> Option<Pixels> {
    let (mask_width, mask_height) = (size(alpha.width), size(alpha.height));
    let mut data = Vec::with_capacity(image.width * image.height * 4);
    for (at, pixel) in image.data.chunks(image.samples.bytes()).enumerate() {
        let (x, y) = (at % image.width, at / image.width);
        let mask_at = y * mask_height / image.height * mask_width + x * mask_width / image.width;
        let [red, green, blue] = match pixel {
            [red, green, blue] => [*red, *green, *blue],
            _ => [*pixel.first()?; 3],
        };
        data.extend([red, green, blue, *alpha.data.get(mask_at)?]);
    }
    let (samples, width, height) = (Samples::Rgba, image.width, image.height);
    Some(Pixels { width, height, samples, data })
}

/// How many pixels across and along are to be seen of an image.
fn shown(width: u32, height: u32, transform: Affine) -> (u32, u32) {
    let [a, b, c, d, ..] = transform.as_coeffs();
    let pixels = |count: u32, length: f64| {
        let wanted = (f64::from(count) * length * PIXELS_A_POINT).ceil();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to the range before"
        )]
        let wanted = wanted.clamp(1.0, f64::from(count)) as u32;
        wanted
    };
    (pixels(width, a.hypot(b)), pixels(height, c.hypot(d)))
}

fn size(side: u32) -> usize {
    usize::try_from(side).unwrap_or(usize::MAX)
}

/// A count of pixels as a length.
fn wide(pixels: usize) -> f64 {
    f64::from(u32::try_from(pixels).unwrap_or(u32::MAX))
}

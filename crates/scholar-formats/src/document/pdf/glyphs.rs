//! Draws pages with the interpreter and keeps their letters.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use hayro_interpret::font::{Glyph as Shape, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::hayro_syntax::page::Page as PdfPage;
use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect};
use hayro_interpret::{
    BlendMode, CacheKey as _, ClipPath, Context, Device, DrawMode, DrawProps, Image,
    ImageDrawProps, InterpreterCache, InterpreterSettings, SoftMask, interpret_page,
};

use scholar_core::Limit;

use super::cells::{self, Row};
use super::lines::Line;
use super::page::{Glyph, Page};
use super::stated::Stated;
use super::streams::{self, Streams};
use super::{FORMAT, layout};
use crate::deadline::Bounds;
use crate::error::{FormatError, FormatErrorKind};

/// All that could be read.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// The pages, without their letters: a book's would fill the memory.
    pub(super) pages: Vec<Page>,
    /// What stands on them, in reading order.
    pub(super) lines: Vec<Line>,
    /// How many letters were drawn.
    pub(super) glyphs: usize,
    /// Pages of which nothing could be had: the interpreter broke, or what they draw cannot be unpacked.
    pub(super) lost: Vec<u32>,
    /// Pages of which a part cannot be unpacked.
    pub(super) damaged: Vec<u32>,
    /// Pages of which a part was left out, because they draw more than the limit.
    pub(super) crowded: Vec<u32>,
    /// The limit for which pages were left out.
    pub(super) cut: Option<Limit>,
    /// Letters of fonts without a mapping, read as TeX's.
    pub(super) guessed: usize,
    /// Letters nobody can tell.
    pub(super) unknown: usize,
    /// What the file's own metadata state.
    pub(super) stated: Stated,
    /// The first page as rows of cells, with its marks.
    pub(super) front: Vec<Row>,
    kinds: Kinds,
}

/// How many characters were drawn, and of which kind.
#[derive(Debug, Default)]
struct Kinds {
    all: usize,
    letters: usize,
    vowels: usize,
}

impl Pages {
    /// Whether letters that were guessed read like a language: mostly letters, and vowels among them as often as in any
    /// European one. Fonts that number their shapes in order of appearance fail this.
    pub(super) fn is_language(&self) -> bool {
        let Kinds { all, letters, vowels } = self.kinds;
        self.guessed * 2 < self.glyphs
            || (letters * 10 > all * 6 && (vowels * 4 > letters) && (vowels * 10 < letters * 6))
    }

    /// Keeps the lines of a page and forgets its letters.
    fn take(&mut self, mut page: Page) {
        self.glyphs += page.glyphs.len();
        let texts = page.glyphs.iter().flat_map(|glyph| glyph.text.chars());
        for c in texts.filter(|c| !c.is_whitespace()) {
            self.kinds.all += 1;
            self.kinds.letters += usize::from(c.is_alphabetic());
            self.kinds.vowels += usize::from("aeiouyAEIOUY".contains(c));
        }
        let lines = layout::read(&page).into_iter().filter(|line| !line.text.is_empty());
        self.lines.extend(lines.map(|line| Line { words: Vec::new(), ..line }));
        if page.number == 1 {
            self.front = cells::rows(&page);
        }
        page.glyphs = Vec::new();
        self.pages.push(page);
    }
}

/// Thrown through the interpreter when a limit is reached; it has no other way to be stopped.
pub(super) struct Enough(pub(super) Limit);

/// A file that is open, and how its streams are packed.
pub(super) struct Opened {
    pub(super) pdf: Pdf,
    pub(super) streams: Streams,
}

fn broken(message: &str) -> FormatError {
    FormatError::new(FormatErrorKind::Malformed, FORMAT, message).with_hint(super::REPAIR)
}

/// Opens a file after a look at what it may do to the reader.
pub(super) fn open(bytes: Vec<u8>, bounds: &Bounds) -> Result<Opened, FormatError> {
    let most = bounds.limits.stream_bytes;
    if streams::is_hostile(&bytes, bounds)? {
        return Err(hostile(most));
    }
    let opened = catch_unwind(AssertUnwindSafe(|| Pdf::new(bytes)));
    let pdf = match opened.map_err(|_| broken("the file breaks the reader"))? {
        Ok(pdf) => pdf,
        Err(LoadPdfError::Decryption(DecryptionError::PasswordProtected)) => {
            return Err(FormatError::new(
                FormatErrorKind::Unsupported,
                FORMAT,
                "the file needs a password",
            )
            .with_hint("save a copy without a password"));
        }
        Err(LoadPdfError::Decryption(_)) => {
            return Err(FormatError::new(
                FormatErrorKind::Unsupported,
                FORMAT,
                "the file is encrypted in an unknown way",
            )
            .with_hint("save a copy without encryption"));
        }
        Err(LoadPdfError::Invalid) => {
            return Err(broken("the file is not a PDF, or is too damaged to read"));
        }
    };
    let streams = catch_unwind(AssertUnwindSafe(|| Streams::of(&pdf, bounds)));
    let streams = streams.map_err(|_| broken("the file breaks the reader"))?;
    if streams.too_large() {
        return Err(hostile(most));
    }
    Ok(Opened { pdf, streams })
}

/// Reads pages until a limit is reached.
pub(super) fn read(bytes: Vec<u8>, bounds: &Bounds) -> Result<Pages, FormatError> {
    let Opened { pdf, streams } = open(bytes, bounds)?;
    let mut cache = InterpreterCache::new();
    let mut read = each(pdf.pages(), bounds, |page, device| {
        let drawn = catch_unwind(AssertUnwindSafe(|| {
            draw(page, &pdf, &cache, device);
            streams.is_damaged(page)
        }));
        if drawn.is_err() {
            cache = InterpreterCache::new();
        }
        drawn
    });
    let stated = catch_unwind(AssertUnwindSafe(|| Stated::of(&pdf, bounds)));
    read.stated = stated.map_err(|_| broken("the file breaks the reader"))?;
    Ok(read)
}

/// The lines of some pages, counted from 1, in reading order with their words.
/// A page that breaks the interpreter or draws more than the limit gives what was read of it.
pub(super) fn lines_of(
    opened: &Opened,
    numbers: impl Iterator<Item = usize>,
    bounds: &Bounds,
) -> Result<Vec<Line>, FormatError> {
    let mut cache = InterpreterCache::new();
    let mut lines = Vec::new();
    let mut bytes_left = bounds.limits.text_bytes;
    for number in numbers {
        let Some(page) = number.checked_sub(1).and_then(|at| opened.pdf.pages().get(at)) else {
            continue;
        };
        let (width, height) = page.render_dimensions();
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let mut device = Collector::new(number, width, height, bounds, bytes_left);
        let drawn = catch_unwind(AssertUnwindSafe(|| draw(page, &opened.pdf, &cache, &mut device)));
        if let Err(thrown) = drawn {
            cache = InterpreterCache::new();
            match thrown.downcast_ref::<Enough>() {
                Some(Enough(Limit::Seconds)) => return Err(bounds.deadline.error(FORMAT)),
                Some(Enough(Limit::TextBytes)) => break,
                _ => {}
            }
        }
        bytes_left = device.bytes_left;
        lines.extend(layout::read(&device.page));
    }
    Ok(lines)
}

fn hostile(most: usize) -> FormatError {
    let limit = Limit::StreamBytes;
    let message =
        format!("a part of it unpacks to more than any paper holds, {most} bytes ({limit})");
    FormatError::new(FormatErrorKind::TooLarge, FORMAT, message).with_hint(limit.hint())
}

/// Draws page after page. `draw` tells whether a part of the page was damaged, or throws [`Enough`] or a panic.
fn each<'a>(
    pages: &'a [PdfPage<'a>],
    bounds: &Bounds,
    mut draw: impl FnMut(&'a PdfPage<'a>, &mut Collector<'_>) -> thread::Result<bool>,
) -> Pages {
    let mut read = Pages::default();
    let mut bytes_left = bounds.limits.text_bytes;
    for (at, page) in pages.iter().enumerate() {
        if bounds.deadline.is_over() {
            read.cut = Some(Limit::Seconds);
            break;
        }
        if at >= bounds.limits.pages {
            read.cut = Some(Limit::Pages);
            break;
        }
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        let (width, height) = page.render_dimensions();
        let mut device = Collector::new(number, width, height, bounds, bytes_left);
        match draw(page, &mut device) {
            Err(thrown) => match thrown.downcast_ref::<Enough>() {
                // What one page draws too much of costs the rest of that page.
                Some(Enough(Limit::Drawings)) => read.crowded.push(number),
                Some(Enough(limit)) => {
                    read.cut = Some(*limit);
                    break;
                }
                None => {
                    read.lost.push(number);
                    continue;
                }
            },
            Ok(true) if device.page.glyphs.is_empty() => read.lost.push(number),
            Ok(true) => read.damaged.push(number),
            Ok(false) => {}
        }
        bytes_left = device.bytes_left;
        read.guessed += device.guessed;
        read.unknown += device.unknown;
        read.take(device.page);
    }
    read
}

fn draw<'a>(
    page: &'a PdfPage<'a>,
    pdf: &'a Pdf,
    cache: &InterpreterCache<'a>,
    device: &mut Collector<'_>,
) {
    let (width, height) = page.render_dimensions();
    let view = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    let upright = Affine::new(page.initial_transform(true).as_coeffs());
    let mut context =
        Context::new(upright, view, cache, pdf.xref(), InterpreterSettings::default());
    interpret_page(page, &mut context, device);
}

/// Listens to what the interpreter draws and keeps the letters.
struct Collector<'b> {
    page: Page,
    bounds: &'b Bounds,
    bytes_left: usize,
    seen: usize,
    guessed: usize,
    unknown: usize,
}

impl<'b> Collector<'b> {
    fn new(number: u32, width: f32, height: f32, bounds: &'b Bounds, bytes_left: usize) -> Self {
        let (width, height) = (f64::from(width), f64::from(height));
        let page = Page { number, width, height, ..Page::default() };
        Self { page, bounds, bytes_left, seen: 0, guessed: 0, unknown: 0 }
    }

    /// Counts something drawn, and stops the interpreter when that or the time is too much.
    fn check(&mut self) {
        self.seen += 1;
        if self.seen > self.bounds.limits.drawings {
            resume_unwind(Box::new(Enough(Limit::Drawings)));
        }
        if self.seen.is_multiple_of(256) && self.bounds.deadline.is_over() {
            resume_unwind(Box::new(Enough(Limit::Seconds)));
        }
    }

    fn letter(&mut self, shape: &Shape<'_>) -> Option<String> {
        let told = shape.as_unicode().map(|text| match text {
            BfString::Char(c) => c.to_string(),
            BfString::String(text) => text,
        });
        if let Some(text) =
            told.filter(|text| !text.chars().any(|c| c == char::REPLACEMENT_CHARACTER))
        {
            return Some(text.chars().map(plain).collect());
        }
        let guess = match shape {
            Shape::Type3(_) => tex_letter(shape.char_code()),
            Shape::Outline(_) => None,
        };
        match guess {
            Some(text) => self.guessed += usize::from(!text.is_empty()),
            None => self.unknown += 1,
        }
        guess.map(str::to_owned)
    }
}

/// A key of a letter's drawing, the same for the same letter of the same font.
fn look(shape: &Shape<'_>) -> u64 {
    let key = match shape {
        Shape::Outline(outline) => outline.identifier().cache_key(),
        Shape::Type3(shape) => shape.cache_key(),
    };
    let [.., a, b, c, d, e, f, g, h] = key.to_be_bytes();
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// Ligatures as letters; what prints nothing as a space.
fn plain(c: char) -> String {
    match c {
        '\u{fb00}' => "ff".into(),
        '\u{fb01}' => "fi".into(),
        '\u{fb02}' => "fl".into(),
        '\u{fb03}' => "ffi".into(),
        '\u{fb04}' => "ffl".into(),
        '\u{fb05}' | '\u{fb06}' => "st".into(),
        '\u{a0}' | '\u{2002}'..='\u{200a}' => " ".into(),
        c if c.is_control() || c == '\u{feff}' => String::new(),
        c => c.to_string(),
    }
}

/// Letters as TeX's text fonts number them (OT1). Bitmap fonts of old papers have no other mapping, and nothing but TeX
/// makes such fonts.
fn tex_letter(code: u32) -> Option<&'static str> {
    const ASCII: &str = "!\u{201d}#$%&\u{2019}()*+,-./0123456789:;\u{a1}=\u{bf}?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\u{201c}]^\u{2d9}\u{2018}abcdefghijklmnopqrstuvwxyz\u{2013}\u{2014}\u{2dd}~\u{a8}";
    match code {
        11 => Some("ff"),
        12 => Some("fi"),
        13 => Some("fl"),
        14 => Some("ffi"),
        15 => Some("ffl"),
        32 => Some(" "),
        33..=127 => {
            let at = usize::try_from(code - 33).ok()?;
            let (start, c) = ASCII.char_indices().nth(at)?;
            ASCII.get(start..start + c.len_utf8())
        }
        _ => None,
    }
}

impl Device<'_> for Collector<'_> {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        for glyph in run.glyphs() {
            self.check();
            let Some(text) = self.letter(glyph) else { continue };
            self.bytes_left = self.bytes_left.saturating_sub(text.len());
            if self.bytes_left == 0 {
                resume_unwind(Box::new(Enough(Limit::TextBytes)));
            }
            let placed = props.transform * glyph.transform();
            let [a, b, ..] = placed.as_coeffs();
            let origin = placed * Point::ZERO;
            let scale = a.hypot(b);
            if !(origin.x.is_finite() && origin.y.is_finite() && scale.is_finite()) {
                continue;
            }
            if a <= 0.0 || b.abs() > a * 0.2 {
                self.page.sideways.push_str(&text);
                continue;
            }
            let (width, size) = match &**glyph {
                Shape::Outline(outline) => {
                    (f64::from(outline.advance_width().unwrap_or(500.0)) * scale, scale * 1000.0)
                }
                Shape::Type3(shape) => {
                    (f64::from(shape.advance_width().unwrap_or(0.0)) * scale, 0.0)
                }
            };
            let inside = (-50.0..=self.page.width + 50.0).contains(&origin.x)
                && (-50.0..=self.page.height + 50.0).contains(&origin.y);
            // Names and addresses stand here, and differ in their fonts.
            let titled = self.page.number == 1 && origin.y < self.page.height * 0.7;
            if inside && width.is_finite() && size < 500.0 {
                self.page.glyphs.push(Glyph {
                    x: origin.x,
                    y: origin.y,
                    width: width.abs(),
                    size,
                    text,
                    look: if titled { look(glyph) } else { 0 },
                });
            }
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {
        self.check();
    }

    fn push_clip_path(&mut self, _: &ClipPath) {
        self.check();
    }

    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {
        self.check();
    }

    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {
        self.check();
    }

    fn pop_clip(&mut self) {}

    fn pop_transparency_group(&mut self) {}
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use scholar_core::ReadLimits;

    use super::*;
    use crate::deadline::Deadline;

    #[test]
    fn a_page_that_breaks_the_interpreter_costs_itself_alone() {
        let pdf = Pdf::new(include_bytes!("../../../tests/data/broken_page.pdf").to_vec());
        let pdf = pdf.expect("opens");
        let bounds = Bounds::default();
        let mut number = 0;
        let read = each(pdf.pages(), &bounds, |_, device| {
            number += 1;
            match number {
                1 => catch_unwind(|| -> bool { panic!("the interpreter breaks") }),
                2 => Ok(true),
                _ => {
                    device.bytes_left = 7;
                    Ok(false)
                }
            }
        });
        assert_eq!((read.lost, read.cut), (vec![1, 2], None));
        assert_eq!(read.pages.last().map(|page| page.number), Some(3));
        let on_others = |limit| {
            each(pdf.pages(), &bounds, |page, _| {
                let first = std::ptr::eq(page, &raw const pdf.pages()[0]);
                if first { Ok(false) } else { Err(Box::new(Enough(limit))) }
            })
        };
        let read = on_others(Limit::TextBytes);
        assert_eq!((read.pages.len(), read.lost, read.cut), (1, vec![], Some(Limit::TextBytes)));
        let read = on_others(Limit::Drawings);
        assert_eq!((read.pages.len(), read.cut), (3, None));
        assert_eq!(read.crowded, [2, 3]);
    }

    #[test]
    fn pages_and_time_are_bounded() {
        let pdf = Pdf::new(include_bytes!("../../../tests/data/broken_page.pdf").to_vec());
        let pdf = pdf.expect("opens");
        let limits = ReadLimits { pages: 1, ..ReadLimits::standard() };
        let read = each(pdf.pages(), &limits.into(), |_, _| Ok(false));
        assert_eq!((read.pages.len(), read.cut), (1, Some(Limit::Pages)));
        // Each look at the clock takes a second.
        let looks = AtomicU64::new(0);
        let elapsed = move || Duration::from_secs(looks.fetch_add(1, Ordering::Relaxed));
        let deadline = Deadline::by(elapsed, Duration::from_secs(2));
        let bounds = Bounds { limits: ReadLimits::standard(), deadline };
        let read = each(pdf.pages(), &bounds, |_, _| Ok(false));
        assert_eq!((read.pages.len(), read.cut), (2, Some(Limit::Seconds)));
    }

    #[test]
    fn tex_fonts_have_ascii_letters_and_ligatures() {
        for (code, letter) in [
            (97, "a"),
            (65, "A"),
            (12, "fi"),
            (123, "\u{2013}"),
            (48, "0"),
            (39, "\u{2019}"),
            (127, "\u{a8}"),
        ] {
            assert_eq!(tex_letter(code), Some(letter), "{code}");
        }
        assert_eq!(tex_letter(3), None);
    }
}

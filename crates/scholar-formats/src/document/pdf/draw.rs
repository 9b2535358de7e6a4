//! A page as a drawing in SVG, for people to look at.
//!
//! The interpreter says what is drawn; what becomes of it is written here and not by a renderer of its own, because a
//! file that nobody vouches for is drawn: the clock is looked at with every letter and line, images are measured before
//! they are unpacked, and the drawing has a size that it cannot exceed. Letters become outlines that are written once
//! and used many times. Nothing of the file becomes markup but numbers, and images as `data:` addresses.

mod images;
mod paints;
mod paths;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_syntax::page::Page as PdfPage;
use hayro_interpret::kurbo::{Affine, BezPath, Rect};
use hayro_interpret::{
    BlendMode, CacheKey as _, ClipPath, Context, Device, DrawMode, DrawProps, FillRule, Image,
    ImageDrawProps, InterpreterCache, InterpreterSettings, MaskType, Paint, SoftMask,
    interpret_page,
};
use scholar_core::{Limit, Notice, NoticeKind, PageBox};

use super::glyphs::{Enough, Opened};
use super::{FORMAT, REPAIR};
use crate::deadline::Bounds;
use crate::error::{FormatError, FormatErrorKind};
use paths::{data, matrix, number, put};

/// One page, drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct PageDrawing {
    /// Which page of the document, from 1.
    pub page: u32,
    /// How many pages the document has.
    pub pages: u32,
    /// Width in points.
    pub width: f32,
    /// Height in points.
    pub height: f32,
    /// What is missing from the drawing, or drawn in a simpler way.
    pub notices: Vec<Notice>,
    /// What stands between the opening and the closing tag.
    content: String,
}

impl PageDrawing {
    /// The drawing with `marks` over it, as a document of its own.
    pub fn svg(&self, marks: &[PageBox]) -> String {
        let (width, height) = (number(self.width.into()), number(self.height.into()));
        let mut out = String::with_capacity(self.content.len() + 1_000);
        out.push_str(r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 "#);
        put(&mut out, format_args!(r#"{width} {height}" width="{width}" height="{height}">"#));
        out.push_str(r##"<rect width="100%" height="100%" fill="#fff"/>"##);
        out.push_str(&self.content);
        if !marks.is_empty() {
            out.push_str(r##"<g id="marks" fill="#ffd33d" fill-opacity="0.4" stroke="#9a5b00" stroke-width="0.8">"##);
            for PageBox { left, top, right, bottom } in marks {
                let (width, height) = (right.saturating_sub(*left), bottom.saturating_sub(*top));
                put(
                    &mut out,
                    format_args!(
                        r#"<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="1"/>"#
                    ),
                );
            }
            out.push_str("</g>");
        }
        out.push_str("</svg>");
        out
    }
}

/// Largest drawing, in bytes. Pages of text have 0.2 MB, crowded plots a few.
const LARGEST: usize = 24 << 20;

/// Draws one page, counted from 1.
pub(super) fn page(
    opened: &Opened,
    wanted: u32,
    bounds: &Bounds,
) -> Result<PageDrawing, FormatError> {
    let pages = u32::try_from(opened.pdf.pages().len()).unwrap_or(u32::MAX);
    let at = usize::try_from(wanted).ok().and_then(|wanted| wanted.checked_sub(1));
    let Some(page) = at.and_then(|at| opened.pdf.pages().get(at)) else {
        let message = format!("there is no page {wanted}; the file has {pages}");
        return Err(FormatError::new(FormatErrorKind::Unsupported, FORMAT, message));
    };
    let cache = InterpreterCache::new();
    let mut painter = Painter::new(page, bounds);
    let drawn = catch_unwind(AssertUnwindSafe(|| {
        interpret(page, opened, &cache, &mut painter);
        opened.streams.is_damaged(page)
    }));
    match drawn {
        Ok(true) => painter.missing.damaged = true,
        Ok(false) => {}
        Err(thrown) => match thrown.downcast_ref::<Enough>() {
            Some(Enough(Limit::Seconds)) => return Err(bounds.deadline.error(FORMAT)),
            // The rest of the page is not drawn.
            Some(Enough(limit)) => painter.missing.limit = Some(*limit),
            None => {
                let message = format!("page {wanted} breaks the reader");
                let error = FormatError::new(FormatErrorKind::Malformed, FORMAT, message);
                return Err(error.with_hint(REPAIR));
            }
        },
    }
    let (width, height) = page.render_dimensions();
    let notices = painter.missing.notices(wanted);
    Ok(PageDrawing { page: wanted, pages, width, height, notices, content: painter.finish() })
}

fn interpret<'a>(
    page: &'a PdfPage<'a>,
    opened: &'a Opened,
    cache: &InterpreterCache<'a>,
    painter: &mut Painter<'a, '_>,
) {
    let (width, height) = page.render_dimensions();
    let view = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    let upright = Affine::new(page.initial_transform(true).as_coeffs());
    let settings = InterpreterSettings::default();
    let mut context = Context::new(upright, view, cache, opened.pdf.xref(), settings);
    interpret_page(page, &mut context, painter);
}

/// What a drawing lacks.
#[derive(Debug, Default)]
struct Missing {
    damaged: bool,
    limit: Option<Limit>,
    images: usize,
    simplified: bool,
}

impl Missing {
    fn notices(&self, page: u32) -> Vec<Notice> {
        let mut notices = Vec::new();
        if self.damaged {
            let message = format!("page {page} is damaged and may lack a part of what it shows");
            notices.push(Notice::new(NoticeKind::Skipped, message).with_hint(REPAIR));
        }
        if let Some(limit) = self.limit {
            let message = format!("page {page} draws more than is shown here ({limit})");
            notices.push(Notice::new(NoticeKind::Truncated, message));
        }
        if self.images > 0 {
            let message = format!(
                "{} images of page {page} are too large or broken, and shown as grey areas",
                self.images
            );
            notices.push(Notice::new(NoticeKind::Skipped, message));
        }
        if self.simplified {
            let message =
                format!("some colours and shadows of page {page} are shown in a simpler way");
            notices.push(Notice::new(NoticeKind::Weak, message));
        }
        notices
    }
}

/// What is written once and used many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Clip,
    Glyph,
    Gradient,
    Mask,
    Pattern,
}

/// The name of something that is used many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Id(Kind, usize);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.0 {
            Kind::Clip => 'c',
            Kind::Glyph => 'g',
            Kind::Gradient => 's',
            Kind::Mask => 'm',
            Kind::Pattern => 't',
        };
        write!(f, "{letter}{}", self.1)
    }
}

/// What is being written, while something apart from it is.
struct Outer {
    out: String,
    clips: Vec<Id>,
    open: Option<Id>,
}

/// Listens to what the interpreter draws and writes it down.
struct Painter<'a, 'b> {
    bounds: &'b Bounds,
    /// What is written now: the page, or the inside of a mask, a pattern, a letter that is a drawing.
    out: String,
    /// What was being written when that began, the page first.
    outer: Vec<Outer>,
    defs: String,
    ids: HashMap<(Kind, u128, Option<Id>), Id>,
    /// Letters without an outline: spaces.
    blank: HashSet<Id>,
    /// Clips that apply, each within the one before.
    clips: Vec<Id>,
    /// The clip whose group is open in `out`.
    open: Option<Id>,
    width: f64,
    height: f64,
    seen: usize,
    /// Pixels of images that may still be unpacked.
    pixels: usize,
    missing: Missing,
    page: std::marker::PhantomData<&'a ()>,
}

impl<'a, 'b> Painter<'a, 'b> {
    fn new(page: &PdfPage<'_>, bounds: &'b Bounds) -> Self {
        let (width, height) = page.render_dimensions();
        Self {
            bounds,
            out: String::new(),
            outer: Vec::new(),
            blank: HashSet::new(),
            defs: String::new(),
            ids: HashMap::new(),
            clips: Vec::new(),
            open: None,
            width: width.into(),
            height: height.into(),
            seen: 0,
            pixels: images::MOST_PIXELS_OF_A_PAGE,
            missing: Missing::default(),
            page: std::marker::PhantomData,
        }
    }

    fn finish(mut self) -> String {
        // What a limit broke off leaves groups open, and what was drawn apart undone.
        if let Some(page) = std::mem::take(&mut self.outer).into_iter().next() {
            (self.out, self.open) = (page.out, page.open);
        }
        self.close();
        let open = self.out.matches("<g").count().saturating_sub(self.out.matches("</g>").count());
        self.out.push_str(&"</g>".repeat(open));
        format!("<defs>{}</defs>{}", self.defs, self.out)
    }

    /// Counts something drawn, and stops the interpreter when that, the drawing or the time is too much.
    fn check(&mut self) {
        self.seen += 1;
        if self.seen > self.bounds.limits.drawings || self.out.len() + self.defs.len() > LARGEST {
            resume_unwind(Box::new(Enough(Limit::Drawings)));
        }
        if self.seen.is_multiple_of(256) && self.bounds.deadline.is_over() {
            resume_unwind(Box::new(Enough(Limit::Seconds)));
        }
    }

    /// The name of what `key` stands for, and whether it is new.
    fn id(&mut self, kind: Kind, key: u128, within: Option<Id>) -> (Id, bool) {
        let next = Id(kind, self.ids.len());
        let id = *self.ids.entry((kind, key, within)).or_insert(next);
        (id, id == next)
    }

    /// Opens the group of the clip that applies, unless it is open.
    fn clip(&mut self) {
        let wanted = self.clips.last().copied();
        if self.open != wanted {
            self.close();
            if let Some(id) = wanted {
                self.write(format_args!(r#"<g clip-path="url(#{id})">"#));
            }
            self.open = wanted;
        }
    }

    fn close(&mut self) {
        if self.open.take().is_some() {
            self.out.push_str("</g>");
        }
    }

    fn write(&mut self, text: fmt::Arguments<'_>) {
        put(&mut self.out, text);
    }

    /// What `draw` draws, apart from the page and from its clips.
    fn apart(&mut self, draw: impl FnOnce(&mut Self)) -> String {
        self.outer.push(Outer {
            out: std::mem::take(&mut self.out),
            clips: std::mem::take(&mut self.clips),
            open: self.open.take(),
        });
        draw(self);
        self.close();
        let drawn = std::mem::take(&mut self.out);
        if let Some(Outer { out, clips, open }) = self.outer.pop() {
            (self.out, self.clips, self.open) = (out, clips, open);
        }
        drawn
    }

    fn push_clip(&mut self, path: &str, key: u128, fill: FillRule) {
        let within = self.clips.last().copied();
        let (id, new) = self.id(Kind::Clip, key, within);
        if new {
            let parent = within.map(|id| format!(r#" clip-path="url(#{id})""#)).unwrap_or_default();
            let rule = if fill == FillRule::EvenOdd { r#" clip-rule="evenodd""# } else { "" };
            put(
                &mut self.defs,
                format_args!(r#"<clipPath id="{id}"{parent}><path d="{path}"{rule}/></clipPath>"#),
            );
        }
        self.clips.push(id);
    }

    /// Draws within a group if a mask or a blend mode asks for one.
    fn in_group(
        &mut self,
        mask: Option<SoftMask<'a>>,
        blend: BlendMode,
        draw: impl FnOnce(&mut Self),
    ) {
        let grouped = mask.is_some() || blend != BlendMode::Normal;
        if grouped {
            self.open_group(1.0, mask, blend);
        }
        draw(self);
        if grouped {
            self.close_group();
        }
    }

    fn open_group(&mut self, opacity: f32, mask: Option<SoftMask<'a>>, blend: BlendMode) {
        let mask = mask.map(|mask| self.mask(&mask));
        self.close();
        self.out.push_str("<g");
        if opacity < 1.0 {
            self.write(format_args!(r#" opacity="{}""#, number(opacity.into())));
        }
        if let Some(id) = mask {
            self.write(format_args!(r#" mask="url(#{id})""#));
        }
        if let Some(name) = paints::blend_name(blend) {
            self.write(format_args!(r#" style="mix-blend-mode:{name}""#));
        }
        self.out.push('>');
    }

    fn close_group(&mut self) {
        self.close();
        self.out.push_str("</g>");
    }

    fn mask(&mut self, mask: &SoftMask<'a>) -> Id {
        self.missing.simplified |= mask.transfer_function().is_some();
        let (id, new) = self.id(Kind::Mask, mask.cache_key(), None);
        if new {
            let inside = self.apart(|painter| mask.interpret(painter));
            let alpha = mask.mask_type() == MaskType::Alpha;
            let kind = if alpha { r#" mask-type="alpha""# } else { "" };
            let (width, height) = (number(self.width), number(self.height));
            let [red, green, blue, _] = mask.background_color().to_rgba().to_rgba8();
            let behind = if alpha || (red, green, blue) == (0, 0, 0) {
                String::new()
            } else {
                format!(
                    r##"<rect width="{width}" height="{height}" fill="#{red:02x}{green:02x}{blue:02x}"/>"##
                )
            };
            put(
                &mut self.defs,
                format_args!(
                    r#"<mask id="{id}" maskUnits="userSpaceOnUse" x="0" y="0" width="{width}" height="{height}"{kind}>{behind}{inside}</mask>"#
                ),
            );
        }
        id
    }

    fn glyph(&mut self, glyph: &Glyph<'a>, own: Affine, props: &DrawProps<'a>, mode: &DrawMode) {
        let placed = props.transform * own;
        if !placed.is_finite() {
            return;
        }
        match (glyph, mode) {
            (Glyph::Outline(outline), DrawMode::Fill(_))
                if matches!(props.paint, Paint::Color(_)) =>
            {
                let (id, new) = self.id(Kind::Glyph, outline.identifier().cache_key(), None);
                if new {
                    let path = data(&outline.outline());
                    if path.is_empty() {
                        self.blank.insert(id);
                    } else {
                        put(&mut self.defs, format_args!(r#"<path id="{id}" d="{path}"/>"#));
                    }
                }
                if !self.blank.contains(&id) {
                    self.write(format_args!(r##"<use href="#{id}"{}/>"##, matrix(placed)));
                }
            }
            (Glyph::Outline(outline), _) => {
                self.path(&(own * outline.outline()), props, mode);
            }
            (Glyph::Type3(drawing), _) => {
                // One drawing for all places: its shape, size and colour make it, not where it stands.
                let [a, b, c, d, x, y] = placed.as_coeffs();
                let shape = Affine::new([a, b, c, d, 0.0, 0.0]);
                let size = [a, b, c, d].map(f64::to_bits);
                let key = drawing.cache_key() ^ props.paint.cache_key().rotate_left(64);
                let key = size.iter().fold(key, |key, bits| {
                    key.wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b) ^ u128::from(*bits)
                });
                let (id, new) = self.id(Kind::Glyph, key, None);
                if new {
                    let inside = self.apart(|painter| {
                        drawing.interpret(painter, Affine::IDENTITY, shape, &props.paint);
                    });
                    put(&mut self.defs, format_args!(r#"<g id="{id}">{inside}</g>"#));
                }
                self.write(format_args!(
                    r##"<use href="#{id}"{}/>"##,
                    matrix(Affine::translate((x, y)))
                ));
            }
        }
    }
}

impl<'a> Device<'a> for Painter<'a, '_> {
    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'a>, mode: &DrawMode) {
        self.check();
        self.in_group(props.soft_mask.clone(), props.blend_mode, |painter| {
            painter.clip();
            painter.path(path, &props, mode);
        });
    }

    fn push_clip_path(&mut self, clip: &ClipPath) {
        self.check();
        self.push_clip(&data(&clip.path), clip.cache_key(), clip.fill);
    }

    fn push_transparency_group(
        &mut self,
        opacity: f32,
        mask: Option<SoftMask<'a>>,
        blend: BlendMode,
    ) {
        self.check();
        self.open_group(opacity, mask, blend);
    }

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, mode: &DrawMode) {
        // Words that a scan's characters were recognised as lie over it unseen.
        if matches!(mode, DrawMode::Invisible) {
            return;
        }
        self.in_group(props.soft_mask.clone(), props.blend_mode, |painter| {
            painter.clip();
            let fill = match (mode, &props.paint) {
                (DrawMode::Fill(_), Paint::Color(colour)) => {
                    Some(paints::attributes("fill", colour))
                }
                _ => None,
            };
            if let Some(fill) = &fill {
                painter.write(format_args!("<g{fill}>"));
            }
            for glyph in run.glyphs() {
                painter.check();
                painter.glyph(glyph, glyph.transform(), &props, mode);
            }
            if fill.is_some() {
                painter.out.push_str("</g>");
            }
        });
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        self.check();
        self.in_group(props.soft_mask.clone(), props.blend_mode, |painter| {
            painter.clip();
            painter.image(&image, props.transform);
        });
    }

    fn pop_clip(&mut self) {
        self.clips.pop();
    }

    fn pop_transparency_group(&mut self) {
        self.close_group();
    }
}

//! What is drawn on a page: letters and where they stand.

/// One letter (or ligature) in points from the top left corner of its page.
#[derive(Debug, Clone)]
pub(super) struct Glyph {
    pub(super) x: f64,
    /// The base line.
    pub(super) y: f64,
    pub(super) width: f64,
    /// Size of the type; 0 where the font does not tell.
    pub(super) size: f64,
    pub(super) text: String,
    /// Which drawing of a font this is: two of the same letter that have the same one are of one font. 0 where nobody
    /// needs to know.
    pub(super) look: u64,
}

/// One page as drawn.
#[derive(Debug, Clone, Default)]
pub(super) struct Page {
    /// From 1.
    pub(super) number: u32,
    pub(super) width: f64,
    pub(super) height: f64,
    /// Upright letters in the order in which they are drawn.
    pub(super) glyphs: Vec<Glyph>,
    /// Letters that stand sideways, such as arXiv's stamp in the margin.
    pub(super) sideways: String,
}

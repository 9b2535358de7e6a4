//! Pieces of SVG. Whatever text comes here is escaped here, and control characters are shown as a sign.

use std::fmt::Write as _;

use scholar_core::text::untrusted::escape_html;

use crate::exploration::shorten;

/// The one style of all drawings; every rule is for what is inside `.exploration`, as a page may hold the drawing.
pub(super) const CSS: &str = include_str!("style.css");

/// Characters of a text under the pointer.
const HOVER: usize = 300;

/// A point, in pixels from the top left.
pub(super) type At = (f64, f64);

/// A drawing that grows downwards.
pub(super) struct Canvas {
    body: String,
    width: f64,
}

impl Canvas {
    pub(super) fn new(width: f64) -> Self {
        Self { body: String::new(), width }
    }

    /// Makes the drawing at least this wide.
    pub(super) fn widen(&mut self, width: f64) {
        self.width = self.width.max(width);
    }

    /// One line of text.
    pub(super) fn text(&mut self, (x, y): At, class: &'static str, text: &str) {
        // Writing to a string cannot fail, here and below. An isolate keeps the direction of the text to itself.
        let _infallible = writeln!(
            self.body,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\" unicode-bidi=\"isolate\">{}</text>",
            escape_html(text)
        );
    }

    /// Begins a group with a text under the pointer; [`Canvas::end`] ends it.
    pub(super) fn begin(&mut self, class: &'static str, hover: &str) {
        let hover = escape_html(&shorten::chars(hover, HOVER));
        let _infallible = writeln!(self.body, "<g class=\"{class}\"><title>{hover}</title>");
    }

    /// Ends the group that was begun last.
    pub(super) fn end(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// A rectangle with round corners.
    pub(super) fn rectangle(&mut self, (x, y): At, (width, height): At, class: &'static str) {
        let _infallible = writeln!(
            self.body,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"4\" class=\"{class}\"/>"
        );
    }

    /// A path by its commands.
    pub(super) fn path(&mut self, commands: &str, class: &'static str) {
        let _infallible = writeln!(self.body, "<path d=\"{commands}\" class=\"{class}\"/>");
    }

    /// A path with a head at its end.
    pub(super) fn arrow(&mut self, commands: &str, is_faint: bool) {
        let (class, head) =
            if is_faint { ("faint-edge", "x-faint-head") } else { ("edge", "x-head") };
        let _infallible = writeln!(
            self.body,
            "<path d=\"{commands}\" class=\"{class}\" marker-end=\"url(#{head})\"/>"
        );
    }

    /// The document, which ends at `height`.
    pub(super) fn finish(self, title: &str, height: f64) -> String {
        let Self { body, width } = self;
        let title = escape_html(&shorten::chars(title, HOVER));
        let marker = |id: &str, class: &str| {
            format!(
                "<marker id=\"{id}\" viewBox=\"0 0 8 8\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"4\" \
                 orient=\"auto\" markerUnits=\"userSpaceOnUse\"><path d=\"M0 0L8 4L0 8z\" class=\"{class}\"/></marker>"
            )
        };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"exploration\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-labelledby=\"x-title\">\n\
             <title id=\"x-title\">{title}</title>\n<style>\n{CSS}</style>\n\
             <defs>{}{}</defs>\n<rect width=\"100%\" height=\"100%\" class=\"ground\"/>\n{body}</svg>\n",
            marker("x-head", "head"),
            marker("x-faint-head", "faint-head"),
        )
    }
}

//! The outline as a bar whose parts are as wide as their shares, and as a list below.

use scholar_core::Outline;

use super::canvas::Canvas;
use super::{MARGIN, WIDTH};
use crate::exploration::{shorten, words};

const BAR: f64 = 34.0;
const ROW: f64 = 20.0;
/// Sections drawn.
const SECTIONS: usize = 20;

/// Draws the panel and returns where it ends.
pub(super) fn draw(canvas: &mut Canvas, outline: &Outline, top: f64) -> f64 {
    let title = format!("Outline, planned {}", words::by(outline.by));
    canvas.text((MARGIN, top + 12.0), "panel", &title);
    let mut top = top + 24.0;
    let room = WIDTH - 2.0 * MARGIN;
    let share = |share: f32| if share.is_finite() { f64::from(share.max(0.0)) } else { 0.0 };
    let shown = &outline.sections[..outline.sections.len().min(SECTIONS)];
    let total: f64 = shown.iter().map(|section| share(section.share)).sum();
    if total > 0.0 {
        let mut left = MARGIN;
        for (at, section) in shown.iter().enumerate() {
            let width = room * share(section.share) / total;
            let class = if at.is_multiple_of(2) { "band-a" } else { "band-b" };
            canvas.begin("section", &format!("{}: {}", section.heading, section.content));
            canvas.rectangle((left, top), (width, BAR), class);
            let label = format!("{} · {:.0} %", at + 1, section.share);
            if shorten::width(&label, 12.0) < width {
                canvas.text((left + width / 2.0, top + BAR / 2.0 + 4.0), "middle", &label);
            }
            canvas.end();
            left += width;
        }
        top += BAR + 8.0;
    }
    for (at, section) in shown.iter().enumerate() {
        let head = format!("{}. {}", at + 1, shorten::pixels(&section.heading, 340.0, 13.4));
        canvas.text((MARGIN, top + 13.0), "strong", &head);
        let content = shorten::pixels(&section.content, room - 460.0, 12.0);
        canvas.text((MARGIN + 370.0, top + 13.0), "soft", &content);
        let percent = format!("{:.0} %", section.share);
        canvas.text((WIDTH - MARGIN, top + 13.0), "end", &percent);
        top += ROW;
    }
    let left_out = outline.sections.len() - shown.len();
    if left_out > 0 {
        canvas.text((MARGIN, top + 13.0), "soft", &format!("and {left_out} more sections"));
        top += ROW;
    }
    top
}

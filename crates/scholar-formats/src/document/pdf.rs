//! PDF: glyphs with their positions from the `hayro` interpreter, everything above them ours.
//!
//! A file is read on a thread of its own. A panic in a dependency costs the page it happens on; the clock is looked at
//! with every glyph; whatever still does not come back is left behind, and the caller gets an error.

mod authors;
mod cells;
mod draw;
mod entries;
mod find;
mod front;
mod furniture;
mod glyphs;
mod image_size;
mod imprint;
mod imprint_patterns;
mod layout;
mod lines;
mod page;
mod paper;
mod person;
mod person_words;
mod png;
mod sequence;
mod stated;
mod streams;
mod tables;
mod title;
mod unpack;
mod venue;

use std::collections::BTreeSet;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use scholar_core::{Limit, Notice, NoticeKind, Place, ReadLimits};

use super::Document;
use super::draft::Draft;
use crate::deadline::Bounds;
use crate::error::{FormatError, FormatErrorKind};

pub use draw::PageDrawing;
pub use find::PageMark;

const FORMAT: &str = "PDF";

/// Stack of the reading thread: forms nest, and the interpreter recurses into them.
const STACK: usize = 64 << 20;

/// How much longer than the limit to wait for the thread, which ends itself at the limit when it can.
const GRACE: Duration = Duration::from_millis(500);

/// Reads a PDF page by page.
pub(super) fn read(bytes: &[u8], bounds: &Bounds) -> Result<Document, FormatError> {
    let draft = on_thread(bytes, bounds, read_here)?;
    Ok(draft.finish(bytes, bounds.limits))
}

/// Draws one page, counted from 1.
pub(super) fn draw_page(
    bytes: &[u8],
    page: u32,
    bounds: &Bounds,
) -> Result<PageDrawing, FormatError> {
    on_thread(bytes, bounds, move |bytes, bounds| {
        draw::page(&glyphs::open(bytes, bounds)?, page, bounds)
    })
}

/// Where a quotation stands on the pages; `places` say where to look first.
pub(super) fn find_quotation(
    bytes: &[u8],
    quotation: &str,
    places: &[Place],
    bounds: &Bounds,
) -> Result<Vec<PageMark>, FormatError> {
    let (quotation, places) = (quotation.to_owned(), places.to_vec());
    on_thread(bytes, bounds, move |bytes, bounds| {
        find_here(&glyphs::open(bytes, bounds)?, &quotation, &places, bounds)
    })
}

fn find_here(
    opened: &glyphs::Opened,
    quotation: &str,
    places: &[Place],
    bounds: &Bounds,
) -> Result<Vec<PageMark>, FormatError> {
    let named: BTreeSet<usize> =
        places.iter().filter_map(|place| usize::try_from(place.page).ok()).collect();
    let near = glyphs::lines_of(opened, named.into_iter(), bounds)?;
    let marks = find::marks(quotation, &find::lines_at(&near, places));
    if !marks.is_empty() {
        return Ok(marks);
    }
    let marks = find::marks(quotation, &near);
    if !marks.is_empty() {
        return Ok(marks);
    }
    let all = 1..=opened.pdf.pages().len().min(bounds.limits.pages);
    let lines = glyphs::lines_of(opened, all, bounds)?;
    if lines.is_empty() {
        return Err(scanned());
    }
    Ok(find::marks(quotation, &lines))
}

/// Does `work` on a thread of its own, which is left behind when it does not come back in time.
fn on_thread<T: Send + 'static>(
    bytes: &[u8],
    bounds: &Bounds,
    work: impl FnOnce(Vec<u8>, &Bounds) -> Result<T, FormatError> + Send + 'static,
) -> Result<T, FormatError> {
    let owned = bytes.to_vec();
    let (send, receive) = mpsc::channel();
    let own_bounds = bounds.clone();
    let work = move || {
        // The caller may be gone; nothing is to be done then.
        let _unheard = send.send(work(owned, &own_bounds));
    };
    let failed = |message: &str| FormatError::new(FormatErrorKind::Malformed, FORMAT, message);
    let thread = thread::Builder::new().name("pdf".into()).stack_size(STACK).spawn(work);
    thread.map_err(|error| failed(&format!("no thread to read it on: {error}")))?;
    match receive.recv_timeout(bounds.limits.time + GRACE) {
        Ok(done) => done,
        Err(mpsc::RecvTimeoutError::Timeout) => Err(bounds.deadline.error(FORMAT)),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            Err(failed("the file breaks the reader").with_hint(REPAIR))
        }
    }
}

/// The whole work, on whatever thread this is.
fn read_here(bytes: Vec<u8>, bounds: &Bounds) -> Result<Draft, FormatError> {
    let mut pages = glyphs::read(bytes, bounds)?;
    if pages.glyphs == 0 {
        return Err(no_text(&pages, bounds));
    }
    if !pages.is_language() {
        return Err(FormatError::new(
            FormatErrorKind::NoText,
            FORMAT,
            "the file does not say which letters its fonts draw",
        )
        .with_hint("recognise its characters first, for example with ocrmypdf --force-ocr"));
    }
    let mut draft = paper::draft(&mut pages, &bounds.deadline)?;
    draft.notices.splice(0..0, notices(&pages, bounds.limits));
    if draft.sections.is_empty() {
        return Err(no_text(&pages, bounds));
    }
    Ok(draft)
}

const REPAIR: &str =
    "open it in a viewer and print it to a new PDF, or use another version of the paper";

fn no_text(pages: &glyphs::Pages, bounds: &Bounds) -> FormatError {
    if pages.cut == Some(Limit::Seconds) {
        bounds.deadline.error(FORMAT)
    } else if let Some(limit) = pages.cut {
        let message = format!("no page could be read within the limit ({limit})");
        FormatError::new(FormatErrorKind::TooLarge, FORMAT, message).with_hint(limit.hint())
    } else if pages.lost.is_empty() {
        scanned()
    } else {
        FormatError::new(FormatErrorKind::Malformed, FORMAT, "no page could be read")
            .with_hint(REPAIR)
    }
}

fn scanned() -> FormatError {
    FormatError::new(
        FormatErrorKind::NoText,
        FORMAT,
        "the pages contain no text; they may be scanned",
    )
    .with_hint("recognise its characters first, for example with ocrmypdf")
}

fn notices(pages: &glyphs::Pages, limits: ReadLimits) -> Vec<Notice> {
    let mut notices = Vec::new();
    let list = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    if !pages.lost.is_empty() {
        let lost = list(&pages.lost);
        let message = format!("PDF pages that could not be read are missing: {lost}");
        notices.push(Notice::new(NoticeKind::Skipped, message).with_hint(REPAIR));
    }
    if !pages.damaged.is_empty() {
        let damaged = list(&pages.damaged);
        let message =
            format!("PDF pages that are damaged may lack a part of their text: {damaged}");
        notices.push(Notice::new(NoticeKind::Skipped, message).with_hint(REPAIR));
    }
    if !pages.crowded.is_empty() {
        let (crowded, most) = (list(&pages.crowded), limits.drawings);
        let limit = Limit::Drawings;
        let message = format!(
            "PDF pages that draw more than {most} letters, lines and forms were read in part ({limit}): {crowded}"
        );
        notices.push(Notice::new(NoticeKind::Truncated, message).with_hint(limit.hint()));
    }
    if let Some(limit) = pages.cut {
        let read = pages.pages.len();
        let message = format!(
            "only the first {read} pages of the PDF were read: it is too long or too slow ({limit})"
        );
        notices.push(Notice::new(NoticeKind::Truncated, message).with_hint(limit.hint()));
    }
    let glyphs = pages.glyphs;
    if pages.guessed * 50 > glyphs {
        notices.push(
            Notice::new(
                NoticeKind::Weak,
                "the PDF does not say which letters its fonts draw; they were read as TeX's fonts number them",
            )
            .with_hint("check quotations against the page"),
        );
    }
    if pages.unknown * 50 > glyphs {
        notices.push(
            Notice::new(
                NoticeKind::Weak,
                format!(
                    "{} characters of the PDF could not be decoded and are missing",
                    pages.unknown
                ),
            )
            .with_hint("use another version of the paper"),
        );
    }
    notices
}

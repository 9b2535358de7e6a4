//! PDF: glyphs with their positions from the `hayro` interpreter, everything above them ours.
//!
//! A file is read on a thread of its own. A panic in a dependency costs the page it happens on; the clock is looked at
//! with every glyph; whatever still does not come back is left behind, and the caller gets an error.

mod authors;
mod cells;
mod entries;
mod front;
mod furniture;
mod glyphs;
mod imprint;
mod imprint_patterns;
mod layout;
mod lines;
mod page;
mod paper;
mod person;
mod person_words;
mod sequence;
mod stated;
mod streams;
mod tables;
mod title;
mod unpack;
mod venue;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use scholar_core::{Limit, Notice, NoticeKind, ReadLimits};

use super::Document;
use super::draft::Draft;
use crate::deadline::Bounds;
use crate::error::{FormatError, FormatErrorKind};

const FORMAT: &str = "PDF";

/// Stack of the reading thread: forms nest, and the interpreter recurses into them.
const STACK: usize = 64 << 20;

/// How much longer than the limit to wait for the thread, which ends itself at the limit when it can.
const GRACE: Duration = Duration::from_millis(500);

/// Reads a PDF page by page.
pub(super) fn read(bytes: &[u8], bounds: &Bounds) -> Result<Document, FormatError> {
    let owned = bytes.to_vec();
    let (send, receive) = mpsc::channel();
    let own_bounds = bounds.clone();
    let work = move || {
        // The caller may be gone; nothing is to be done then.
        let _unheard = send.send(read_here(owned, &own_bounds));
    };
    let failed = |message: &str| FormatError::new(FormatErrorKind::Malformed, FORMAT, message);
    let thread = thread::Builder::new().name("pdf".into()).stack_size(STACK).spawn(work);
    thread.map_err(|error| failed(&format!("no thread to read it on: {error}")))?;
    let draft = match receive.recv_timeout(bounds.limits.time + GRACE) {
        Ok(draft) => draft?,
        Err(mpsc::RecvTimeoutError::Timeout) => return Err(bounds.deadline.error(FORMAT)),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            return Err(failed("the file breaks the reader").with_hint(REPAIR));
        }
    };
    Ok(draft.finish(bytes, bounds.limits))
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
        FormatError::new(
            FormatErrorKind::NoText,
            FORMAT,
            "the pages contain no text; they may be scanned",
        )
        .with_hint("recognise its characters first, for example with ocrmypdf")
    } else {
        FormatError::new(FormatErrorKind::Malformed, FORMAT, "no page could be read")
            .with_hint(REPAIR)
    }
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

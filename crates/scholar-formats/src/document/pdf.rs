//! PDF: glyphs with their positions from the `hayro` interpreter, everything above them ours.
//!
//! A file is read on a thread of its own. A panic in a dependency costs the page it happens on; the clock is looked at
//! with every glyph; whatever still does not come back is left behind, and the caller gets an error.

mod entries;
mod furniture;
mod glyphs;
mod layout;
mod lines;
mod paper;
mod sequence;
mod streams;
mod title;
mod unpack;

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use scholar_core::{Notice, NoticeKind};

use super::{Document, ReadLimits};
use crate::error::{FormatError, FormatErrorKind};

const FORMAT: &str = "PDF";

/// Stack of the reading thread: forms nest, and the interpreter recurses into them.
const STACK: usize = 64 << 20;

/// How much longer than the limit to wait for the thread, which ends itself at the limit when it can.
const GRACE: Duration = Duration::from_millis(500);

/// Reads a PDF page by page.
pub(super) fn read(bytes: &[u8], limits: ReadLimits) -> Result<Document, FormatError> {
    let deadline = Instant::now() + limits.time;
    let owned = bytes.to_vec();
    let (send, receive) = mpsc::channel();
    let work = move || {
        // The caller may be gone; nothing is to be done then.
        let _unheard = send.send(glyphs::read(owned, deadline, limits.text_bytes));
    };
    let failed = |message: &str| FormatError::new(FormatErrorKind::Malformed, FORMAT, message);
    let thread = thread::Builder::new().name("pdf".into()).stack_size(STACK).spawn(work);
    thread.map_err(|error| failed(&format!("no thread to read it on: {error}")))?;
    let pages = match receive.recv_timeout(limits.time + GRACE) {
        Ok(pages) => pages?,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            let message = format!("reading took longer than {} s", limits.time.as_secs());
            return Err(FormatError::new(FormatErrorKind::TooLarge, FORMAT, message));
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            return Err(failed("the file breaks the reader").with_hint(REPAIR));
        }
    };
    if pages.pages.iter().all(|page| page.glyphs.is_empty()) {
        return Err(no_text(&pages, limits));
    }
    if !pages.is_language() {
        return Err(FormatError::new(
            FormatErrorKind::NoText,
            FORMAT,
            "the file does not say which letters its fonts draw",
        )
        .with_hint("recognise its characters first, for example with ocrmypdf --force-ocr"));
    }
    let mut draft = paper::draft(&pages);
    draft.notices.splice(0..0, notices(&pages));
    if draft.sections.is_empty() {
        return Err(no_text(&pages, limits));
    }
    Ok(draft.finish(bytes, limits))
}

const REPAIR: &str =
    "open it in a viewer and print it to a new PDF, or use another version of the paper";

fn no_text(pages: &glyphs::Pages, limits: ReadLimits) -> FormatError {
    if pages.cut {
        let (seconds, bytes) = (limits.time.as_secs(), limits.text_bytes);
        let message = format!("no page could be read within {seconds} s and {bytes} bytes of text");
        FormatError::new(FormatErrorKind::TooLarge, FORMAT, message)
    } else if pages.lost.is_empty() {
        FormatError::new(
            FormatErrorKind::NoText,
            FORMAT,
            "the pages hold no text, as scanned ones do",
        )
        .with_hint("recognise its characters first, for example with ocrmypdf")
    } else {
        FormatError::new(FormatErrorKind::Malformed, FORMAT, "no page could be read")
            .with_hint(REPAIR)
    }
}

fn notices(pages: &glyphs::Pages) -> Vec<Notice> {
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
    if pages.cut {
        let read = pages.pages.len();
        let message =
            format!("only the first {read} pages of the PDF were read: it is too long or too slow");
        notices.push(Notice::new(NoticeKind::Truncated, message));
    }
    let glyphs: usize = pages.pages.iter().map(|page| page.glyphs.len()).sum();
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
                format!("{} letters of the PDF could not be told and are missing", pages.unknown),
            )
            .with_hint("use another version of the paper"),
        );
    }
    notices
}

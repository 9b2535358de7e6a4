//! GROBID: PDFs as TEI, on a server of the person's own.

use std::time::Duration;

use scholar_core::{PortError, PortErrorKind};
use scholar_formats::{Document, DocumentFormat};
use sha2::{Digest as _, Sha256};

use crate::document::read_document;
use crate::fetch::{Accept, CachePolicy, FetchRequest, Fetcher, Provider};

/// The same bytes give the same TEI until the server is updated.
const KEPT: CachePolicy = CachePolicy::days("grobid-v1", 180);

/// Larger files are not sent.
const LARGEST_PDF: usize = 100 << 20;

/// TEI of a book is some megabytes.
const LARGEST_TEI: usize = 64 << 20;

/// A long paper takes GROBID a minute, and it answers only when it is done.
const PATIENCE: Duration = Duration::from_secs(300);

/// Elements whose place on the page is asked for. Source: `teiCoordinates` of the GROBID service.
const COORDINATES: [&str; 6] = ["p", "s", "head", "figure", "formula", "biblStruct"];

/// Asks a GROBID server. Cheap to clone.
#[derive(Clone)]
pub struct Grobid {
    fetcher: Fetcher,
}

impl Grobid {
    /// A client that asks through `fetcher`.
    pub fn new(fetcher: Fetcher) -> Self {
        Self { fetcher }
    }

    /// Whether an address is set: there is no server unless the person runs one.
    pub fn is_configured(&self) -> bool {
        self.fetcher.config().base_url(Provider::Grobid).is_some()
    }

    /// Whether the server answers and is ready.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`].
    pub async fn is_alive(&self) -> Result<bool, PortError> {
        let request = FetchRequest::get(Provider::Grobid, "/api/isalive")
            .accept(Accept::Bytes)
            .max_bytes(1024);
        let reply = self.fetcher.fetch(&request).await?;
        Ok(reply.body.trim_ascii().eq_ignore_ascii_case(b"true"))
    }

    /// The TEI of a PDF with places on the page, as the server wrote it; `Ok(None)` when it finds no text.
    ///
    /// # Errors
    /// `Rejected` for what is no PDF or too large; else as [`Fetcher::fetch`].
    pub async fn tei(&self, pdf: &[u8]) -> Result<Option<Vec<u8>>, PortError> {
        Ok(self.processed(pdf).await?.1)
    }

    /// [`Grobid::tei`], read.
    ///
    /// # Errors
    /// As [`Grobid::tei`]; `Corrupt` for TEI that cannot be read.
    pub async fn document(&self, pdf: &[u8]) -> Result<Option<Document>, PortError> {
        let (request, tei) = self.processed(pdf).await?;
        let Some(tei) = tei else { return Ok(None) };
        match read_document(DocumentFormat::Tei, tei).await {
            Ok(document) => Ok(Some(document)),
            Err(what) => Err(self.fetcher.unreadable(&request, &what).await),
        }
    }

    async fn processed(&self, pdf: &[u8]) -> Result<(FetchRequest, Option<Vec<u8>>), PortError> {
        let rejected = |what: String| PortError::new(PortErrorKind::Rejected, what);
        if !pdf.trim_ascii_start().starts_with(b"%PDF") {
            return Err(rejected("GROBID: the file is not a PDF".to_owned()));
        }
        if pdf.len() > LARGEST_PDF {
            let message = format!(
                "GROBID: the PDF has {} bytes, more than the {LARGEST_PDF} that are sent",
                pdf.len()
            );
            return Err(rejected(message));
        }
        let (content_type, body) = form(pdf);
        let request = FetchRequest::post(
            Provider::Grobid,
            "/api/processFulltextDocument",
            content_type,
            body,
        )
        .accept(Accept::Xml)
        .patience(PATIENCE)
        .max_bytes(LARGEST_TEI)
        .cache(KEPT);
        let fetched = self.fetcher.fetch(&request).await?;
        let empty = fetched.status == 204 || fetched.body.trim_ascii().is_empty();
        Ok((request, (!empty).then_some(fetched.body)))
    }
}

/// A multipart form with the PDF and what is wanted of it. Written by hand: it is twenty lines, and a library's random
/// boundary would give every request another name in the cache.
fn form(pdf: &[u8]) -> (String, Vec<u8>) {
    let boundary = format!("{:x}", Sha256::digest(pdf));
    let mut body = Vec::with_capacity(pdf.len() + 2048);
    let mut field = |name: &str, value: &str| {
        let part = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        );
        body.extend_from_slice(part.as_bytes());
    };
    // Metadata comes from registries, not from GROBID's own guesses at them.
    field("consolidateHeader", "0");
    field("consolidateCitations", "0");
    field("includeRawCitations", "1");
    for element in COORDINATES {
        field("teiCoordinates", element);
    }
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"input\"; filename=\"paper.pdf\"\r\n\
         Content-Type: application/pdf\r\n\r\n"
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(pdf);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body)
}

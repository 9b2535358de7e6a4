//! Prints what is read of PDFs' metadata: `cargo run -p scholar-formats --example read_metadata -- FILE…`.

use std::error::Error;
use std::io::Write as _;
use std::path::Path;

use scholar_formats::document::{DocumentFormat, ReadLimits, read};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    for path in std::env::args().skip(1) {
        let bytes = fs_err::read(&path)?;
        let name = Path::new(&path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let row = match read(DocumentFormat::Pdf, &bytes, ReadLimits::default()) {
            Ok(document) => {
                let meta = &document.paper.meta;
                let fields = document.fields.iter().map(|(field, origin)| {
                    (format!("{field:?}"), format!("{:?} {:?}", origin.origin, origin.confidence))
                });
                serde_json::json!({
                    "file": name, "title": meta.title, "authors": meta.authors, "year": meta.year, "venue": meta.venue,
                    "id": meta.id.to_string(), "ids": meta.external_ids, "file_date": document.file_date,
                    "fields": fields.collect::<std::collections::BTreeMap<_, _>>(),
                })
            }
            Err(error) => serde_json::json!({"file": name, "error": error.to_string()}),
        };
        writeln!(out, "{row}")?;
    }
    Ok(())
}

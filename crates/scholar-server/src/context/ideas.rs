//! Ideas that people paste or send as files: taken from a form within limits, and read as the command line reads them.

use std::sync::Arc;

use axum::extract::Multipart;
use axum::extract::multipart::{Field, MultipartError};
use tokio::sync::SemaphorePermit;

use super::SiteState;
use crate::additions::MOST_IDEA_BYTES;
use crate::error::{ApiError, ErrorCode};

/// Most fields of a form.
const MOST_FIELDS: usize = 64;
/// Longest name of a file that is told, in characters.
const LONGEST_NAME: usize = 100;

/// Fields of a form.
pub(crate) type Filled = Vec<(String, String)>;

/// A form with an idea.
#[derive(Debug)]
pub(crate) struct IdeaForm<'a> {
    /// Its fields but the file.
    fields: Filled,
    /// The file with its name, where one was chosen.
    file: Option<(String, Vec<u8>)>,
    /// Its room, until the file is read.
    _room: SemaphorePermit<'a>,
}

impl SiteState {
    /// Takes in a form. Only a few are taken in at a time, so that what is held is bounded.
    ///
    /// # Errors
    /// More bytes than a form may have, a form that broke off, or too many at once.
    pub(crate) async fn idea_form(&self, mut parts: Multipart) -> Result<IdeaForm<'_>, ApiError> {
        let _room = self.shelving.receive()?;
        let mut form = IdeaForm { fields: Vec::new(), file: None, _room };
        let mut left = MOST_IDEA_BYTES;
        while let Some(part) = parts.next_field().await.map_err(|error| broken(&error))? {
            if form.fields.len() >= MOST_FIELDS {
                return Err(ApiError::bad_request("the form has too many fields"));
            }
            let name = part.name().unwrap_or_default().to_owned();
            let file = part.file_name().map(str::to_owned);
            let bytes = read(part, &mut left).await?;
            match file {
                // A browser sends an empty part where no file was chosen.
                Some(file) if !file.is_empty() || !bytes.is_empty() => {
                    form.file = Some((file, bytes));
                }
                Some(_) => {}
                None => {
                    let value = String::from_utf8(bytes)
                        .map_err(|_| ApiError::bad_request("a field is not UTF-8 text"))?;
                    form.fields.push((name, value));
                }
            }
        }
        Ok(form)
    }

    /// The text of the file of a form, which goes into the field `idea`; a form without one stays as it is.
    ///
    /// # Errors
    /// When the file cannot be read as an idea.
    pub(crate) async fn with_file_read(
        self: &Arc<Self>,
        form: IdeaForm<'_>,
    ) -> Result<Filled, (Filled, ApiError)> {
        let IdeaForm { mut fields, file, _room } = form;
        let Some((name, bytes)) = file else { return Ok(fields) };
        let name = told(&name);
        match self.laborious(move |state| state.backend.idea(&name, bytes)).await {
            Ok(text) => {
                fields.retain(|(name, _)| name != "idea");
                fields.push(("idea".to_owned(), text));
                Ok(fields)
            }
            Err(error) => Err((fields, error)),
        }
    }
}

/// What a file is called in messages: its last part, without anything that cannot be seen.
fn told(sent: &str) -> String {
    let last = sent.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept = last.chars().filter(|c| !c.is_control()).take(LONGEST_NAME);
    let kept: String = kept.collect();
    if kept.is_empty() { "the file".to_owned() } else { kept }
}

async fn read(mut part: Field<'_>, left: &mut usize) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    while let Some(piece) = part.chunk().await.map_err(|error| broken(&error))? {
        *left = left.checked_sub(piece.len()).ok_or_else(too_large)?;
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

fn broken(error: &MultipartError) -> ApiError {
    ApiError::bad_request(format!("the form did not arrive whole: {}", error.body_text()))
}

fn too_large() -> ApiError {
    let message = format!("the form has more than {} MB", MOST_IDEA_BYTES / 1_000_000);
    ApiError::new(ErrorCode::TooLarge, message)
        .with_hint("send the plan alone, or paste its text; openscholar review reads larger files")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_told_by_its_last_name_alone() {
        for (sent, expect) in [
            ("plan.docx", "plan.docx"),
            ("../../etc/passwd", "passwd"),
            ("C:\\Users\\x\\plan.pdf", "plan.pdf"),
            ("a\u{1b}[31mb\n.md", "a[31mb.md"),
            ("", "the file"),
        ] {
            assert_eq!(told(sent), expect);
        }
        assert_eq!(told(&"x".repeat(900)).len(), LONGEST_NAME);
    }
}

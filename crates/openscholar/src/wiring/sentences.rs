//! Opens the sentence classifier that the program carries.

use std::sync::Arc;

use scholar_core::{EncoderInfo, SentenceClassifier};
use scholar_models::SentenceHeads;

use super::models;
use crate::app::App;
use crate::config::{DEFAULT_ENCODER, DEFAULT_SENTENCE_CLASSIFIER};
use crate::error::CommandError;

/// The built-in classifier where it reads vectors of `encoder`; otherwise none, and who wants one says so.
pub(crate) async fn open(
    app: &App,
    encoder: &EncoderInfo,
) -> Result<Option<Arc<dyn SentenceClassifier>>, CommandError> {
    // Its name tells as much before the model is put into place.
    if encoder.name != DEFAULT_ENCODER {
        return Ok(None);
    }
    let open = async {
        let folder = models::ensure(app, DEFAULT_SENTENCE_CLASSIFIER).await?;
        let heads = SentenceHeads::open(&folder)?;
        let fits = heads.info().fits(encoder);
        Ok(fits.then(|| Arc::new(heads) as Arc<dyn SentenceClassifier>))
    };
    app.resident.or_open(&encoder.fingerprint, open).await
}

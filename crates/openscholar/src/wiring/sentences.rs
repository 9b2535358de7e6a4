//! Opens a sentence classifier that the program carries.

use std::sync::Arc;

use scholar_core::{EncoderInfo, SentenceClassifier};
use scholar_models::SentenceHeads;

use super::models;
use crate::app::App;
use crate::config::SENTENCE_CLASSIFIERS;
use crate::error::CommandError;

/// The built-in classifier that reads vectors of `encoder`; otherwise none, and who wants one says so.
pub(crate) async fn open(
    app: &App,
    encoder: &EncoderInfo,
) -> Result<Option<Arc<dyn SentenceClassifier>>, CommandError> {
    // The encoder's name tells as much before the model is put into place.
    let known = SENTENCE_CLASSIFIERS.iter().find(|(of, _)| *of == encoder.name);
    let Some((_, classifier)) = known else { return Ok(None) };
    let open = async {
        let folder = models::ensure(app, classifier).await?;
        let heads = SentenceHeads::open(&folder)?;
        let fits = heads.info().fits(encoder);
        Ok(fits.then(|| Arc::new(heads) as Arc<dyn SentenceClassifier>))
    };
    app.resident.or_open(&encoder.fingerprint, open).await
}

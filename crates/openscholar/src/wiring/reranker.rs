//! Who reads the candidates again: a cross-encoder, a second encoder, or the datastore's own.

use std::sync::Arc;

use scholar_core::{Encoder as _, Notice, NoticeKind, Reranker};
use scholar_models::catalog::Purpose;
use scholar_models::{
    CrossEncoderOptions, LateInteractionOptions, LateInteractionReranker, LocalCrossEncoder,
    LocalEncoder, Reading,
};

use super::models;
use super::shelf::Shelf;
use crate::app::App;
use crate::error::{CommandError, ErrorKind};

/// Name in the config file for reading with the datastore's own encoder: no other model, three times as fast.
pub(crate) const OWN: &str = "own";

/// The reranker the config names, else the default one. A notice says when the default's model could not be had and the
/// datastore's encoder reads instead.
///
/// `cache_bytes` is for token states; `None` is the preset's.
pub(crate) async fn open(
    app: &App,
    shelf: &Shelf,
    cache_bytes: Option<usize>,
) -> Result<(Arc<dyn Reranker>, Option<Notice>), CommandError> {
    let read = |encoder: &Arc<LocalEncoder>, reading| -> Result<Arc<dyn Reranker>, CommandError> {
        let mut options = LateInteractionOptions::project(reading);
        options.cache_bytes = cache_bytes.unwrap_or(options.cache_bytes);
        Ok(Arc::new(LateInteractionReranker::new(Arc::clone(encoder), options)?))
    };
    let own = || read(&shelf.encoder, Reading::Own);
    let is_own = |name: &str| name.eq_ignore_ascii_case(&shelf.encoder.info().name);
    match app.config.reranker.as_deref() {
        Some(OWN) => Ok((own()?, None)),
        Some(name) if is_own(name) => Ok((own()?, None)),
        Some(name) if reads_alone(app, name)? => {
            let encoder = models::encoder(app, name, models::Reading::WHOLE).await?;
            Ok((read(&encoder, Reading::Second)?, None))
        }
        Some(name) => {
            let folder = models::ensure(app, name).await?;
            let options = CrossEncoderOptions::paper(app.threads());
            Ok((Arc::new(LocalCrossEncoder::open(&folder, name, options)?), None))
        }
        None if is_own(crate::config::DEFAULT_READER) => Ok((own()?, None)),
        None => {
            let name = crate::config::DEFAULT_READER;
            match models::encoder(app, name, models::Reading::WHOLE).await {
                Ok(encoder) => Ok((read(&encoder, Reading::Second)?, None)),
                Err(error) if error.kind == ErrorKind::Interrupted => Err(error),
                Err(error) => Ok((own()?, Some(without(name, shelf, &error)))),
            }
        }
    }
}

/// Whether `name` is an encoder of the catalog; a folder is a cross-encoder.
fn reads_alone(app: &App, name: &str) -> Result<bool, CommandError> {
    Ok(models::local(name)?.is_none() && models::entry(app, name)?.purpose == Purpose::Encoder)
}

fn without(name: &str, shelf: &Shelf, error: &CommandError) -> Notice {
    let own = &shelf.encoder.info().name;
    Notice::new(NoticeKind::Skipped, format!("reranked with {own} instead of {name}: {error}"))
        .with_hint(format!(
            "openscholar models pull {name}, or write reranker = \"{OWN}\" into the config file"
        ))
}

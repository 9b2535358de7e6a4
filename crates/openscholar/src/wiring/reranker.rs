//! Who reads the candidates again: a cross-encoder, a second encoder, or the datastore's own.

use std::path::Path;
use std::sync::Arc;

use scholar_core::{Encoder as _, Notice, NoticeKind, Reranker};
use scholar_models::catalog::Purpose;
use scholar_models::{
    CrossEncoderOptions, LateInteractionOptions, LateInteractionReranker, LocalCrossEncoder,
    LocalEncoder, Reading, ReadingWeights, SecondReadingReranker,
};

use super::models;
use super::shelf::Shelf;
use crate::app::App;
use crate::config::{DEFAULT_READER, SHIPPED_RERANKER};
use crate::error::{CommandError, ErrorKind};

/// Name for reading with the datastore's own encoder: no other model, three times as fast.
pub(crate) const OWN: &str = "own";
/// Name for what is used when none is named.
pub(crate) const AUTO: &str = "auto";

/// The reranker `named` on the command line, else by the config, else the default one. A notice says when the default's
/// model could not be had and the datastore's encoder reads instead.
///
/// `cache_bytes` is for token states; `None` is the preset's.
pub(crate) async fn open(
    app: &App,
    shelf: &Shelf,
    named: Option<&str>,
    cache_bytes: Option<usize>,
) -> Result<(Arc<dyn Reranker>, Option<Notice>), CommandError> {
    let readers = Readers { app, shelf, cache_bytes };
    match named.or(app.config.reranker.as_deref()) {
        Some(name) if name != AUTO => Ok((readers.named(name).await?, None)),
        _ => match readers.named(SHIPPED_RERANKER.unwrap_or(DEFAULT_READER)).await {
            Ok(reranker) => Ok((reranker, None)),
            Err(error) if error.kind == ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let name = SHIPPED_RERANKER.unwrap_or(DEFAULT_READER);
                Ok((readers.own()?, Some(without(name, shelf, &error))))
            }
        },
    }
}

struct Readers<'a> {
    app: &'a App,
    shelf: &'a Shelf,
    cache_bytes: Option<usize>,
}

impl Readers<'_> {
    async fn named(&self, name: &str) -> Result<Arc<dyn Reranker>, CommandError> {
        let app = self.app;
        if name == OWN || name.eq_ignore_ascii_case(&self.shelf.encoder.info().name) {
            return self.own();
        }
        if models::local(name)?.is_none() {
            match models::entry(app, name)?.purpose {
                Purpose::Encoder => {
                    let encoder = models::encoder(app, name, models::Reading::WHOLE).await?;
                    return self.late(&encoder, Reading::Second);
                }
                Purpose::Reranker => {}
                Purpose::Attributor | Purpose::Generator => {
                    return Err(CommandError::user(format!("{name} does not rerank"))
                        .with_hint("openscholar models list shows what each model is for"));
                }
            }
        }
        let folder = models::ensure(app, name).await?;
        cross_encoder(&folder, name, app.threads())
    }

    fn own(&self) -> Result<Arc<dyn Reranker>, CommandError> {
        self.late(&self.shelf.encoder, Reading::Own)
    }

    fn late(
        &self,
        encoder: &Arc<LocalEncoder>,
        reading: Reading,
    ) -> Result<Arc<dyn Reranker>, CommandError> {
        let mut options = LateInteractionOptions::project(reading);
        options.cache_bytes = self.cache_bytes.unwrap_or(options.cache_bytes);
        Ok(Arc::new(LateInteractionReranker::new(Arc::clone(encoder), options)?))
    }
}

/// The cross-encoder in `folder`: its logit beside other evidence where `reading.json` says so, else alone.
fn cross_encoder(
    folder: &Path,
    name: &str,
    threads: usize,
) -> Result<Arc<dyn Reranker>, CommandError> {
    let weights = ReadingWeights::read(folder)?;
    let model = LocalCrossEncoder::open(folder, name, CrossEncoderOptions::project(threads))?;
    Ok(match weights {
        Some(weights) => Arc::new(SecondReadingReranker::new(model, weights)?),
        None => Arc::new(model),
    })
}

fn without(name: &str, shelf: &Shelf, error: &CommandError) -> Notice {
    let own = &shelf.encoder.info().name;
    Notice::new(NoticeKind::Skipped, format!("reranked with {own} instead of {name}: {error}"))
        .with_hint(format!(
            "openscholar models pull {name}, or write reranker = \"{OWN}\" into the config file"
        ))
}

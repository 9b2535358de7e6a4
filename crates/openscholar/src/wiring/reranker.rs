//! Opens rerankers: a cross-encoder, alone or fused with a first stage; or late interaction of a trained reranker, of another
//! encoder, or of the datastore's own.

use std::path::Path;
use std::sync::Arc;

use scholar_core::{Encoder as _, Notice, NoticeKind, Reranker};
use scholar_models::catalog::Purpose;
use scholar_models::{
    CrossEncoderOptions, FusionConfig, LateInteractionConfig, LateInteractionOptions,
    LateInteractionReranker, LocalCrossEncoder, LocalEncoder, ScoreFusionReranker, TokenEncoder,
};

use super::models;
use super::open_datastore::OpenDatastore;
use crate::app::App;
use crate::config::DEFAULT_RERANKER;
use crate::error::CommandError;

/// Name for late interaction of the datastore's own encoder: no other model, three times as fast.
pub(crate) const DATASTORE_ENCODER: &str = "datastore-encoder";
/// Its former name.
const OWN: &str = "own";
/// Name for what is used when none is named.
pub(crate) const AUTO: &str = "auto";

/// The reranker `named` on the command line, else by the config, else the default one. A notice says when the default's
/// model could not be had and the datastore's encoder reranks instead.
///
/// `cache_bytes` is for token states; `None` is the preset's.
pub(crate) async fn open(
    app: &App,
    datastore: &OpenDatastore,
    named: Option<&str>,
    cache_bytes: Option<usize>,
) -> Result<(Arc<dyn Reranker>, Option<Notice>), CommandError> {
    let name = named.or(app.config.reranker.as_deref()).unwrap_or(AUTO);
    let encoder = datastore.encoder.info();
    let key = format!("{name} {cache_bytes:?} {} {}", encoder.name, encoder.fingerprint);
    app.resident.or_open(&key, open_anew(app, datastore, named, cache_bytes)).await
}

async fn open_anew(
    app: &App,
    datastore: &OpenDatastore,
    named: Option<&str>,
    cache_bytes: Option<usize>,
) -> Result<(Arc<dyn Reranker>, Option<Notice>), CommandError> {
    let openers = Openers { app, datastore, cache_bytes };
    match named.or(app.config.reranker.as_deref()) {
        Some(name) if name != AUTO => Ok((openers.named(name).await?, None)),
        _ => match openers.named(DEFAULT_RERANKER).await {
            Ok(reranker) => Ok((reranker, None)),
            Err(error) if error.is_final() => Err(error),
            Err(error) => Ok((
                openers.datastore_encoder()?,
                Some(without(DEFAULT_RERANKER, datastore, &error)),
            )),
        },
    }
}

struct Openers<'a> {
    app: &'a App,
    datastore: &'a OpenDatastore,
    cache_bytes: Option<usize>,
}

impl Openers<'_> {
    async fn named(&self, name: &str) -> Result<Arc<dyn Reranker>, CommandError> {
        let app = self.app;
        if self.is_datastore_encoder(name) {
            return self.datastore_encoder();
        }
        if models::local(name)?.is_none() {
            match models::entry(app, name)?.purpose {
                Purpose::Encoder => return self.encoder(name).await,
                Purpose::Reranker => {}
                Purpose::Attributor | Purpose::Generator | Purpose::SentenceClassifier => {
                    return Err(CommandError::user(format!("{name} does not rerank"))
                        .with_hint("openscholar models list shows the use of each model"));
                }
            }
        }
        let folder = models::ensure(app, name).await?;
        if !models::classifies(&folder) {
            return self.late_interaction_in(name, &folder);
        }
        let config = FusionConfig::read(&folder)?;
        let model =
            LocalCrossEncoder::open(&folder, name, CrossEncoderOptions::project(app.threads()))?;
        let Some(FusionConfig { first_stage, weights }) = config else {
            return Ok(Arc::new(model));
        };
        let first_stage = match first_stage {
            None => None,
            Some(name) => Some(self.without_cross_encoder(&name).await?),
        };
        Ok(Arc::new(ScoreFusionReranker::new(model, weights, first_stage)?))
    }

    fn is_datastore_encoder(&self, name: &str) -> bool {
        name == DATASTORE_ENCODER
            || name == OWN
            || name.eq_ignore_ascii_case(&self.datastore.encoder.info().name)
    }

    /// Late interaction of the encoder `name`, or of the datastore's.
    async fn without_cross_encoder(&self, name: &str) -> Result<Arc<dyn Reranker>, CommandError> {
        if self.is_datastore_encoder(name) {
            self.datastore_encoder()
        } else {
            self.encoder(name).await
        }
    }

    async fn encoder(&self, name: &str) -> Result<Arc<dyn Reranker>, CommandError> {
        let folder = models::ensure(self.app, name).await?;
        self.late_interaction_in(name, &folder)
    }

    /// Late interaction of the encoder in `folder`, with its own weights where it has any.
    fn late_interaction_in(
        &self,
        name: &str,
        folder: &Path,
    ) -> Result<Arc<dyn Reranker>, CommandError> {
        let config = LateInteractionConfig::read(folder)?;
        let encoder = models::reader(self.app, folder, name)?;
        let project = || LateInteractionOptions::project(TokenEncoder::Separate);
        self.late_interaction(&encoder, config.map_or_else(project, LateInteractionOptions::of))
    }

    fn datastore_encoder(&self) -> Result<Arc<dyn Reranker>, CommandError> {
        self.late_interaction(
            &self.datastore.encoder,
            LateInteractionOptions::project(TokenEncoder::Retriever),
        )
    }

    fn late_interaction(
        &self,
        encoder: &Arc<LocalEncoder>,
        mut options: LateInteractionOptions,
    ) -> Result<Arc<dyn Reranker>, CommandError> {
        options.cache_bytes = self.cache_bytes.unwrap_or(options.cache_bytes);
        Ok(Arc::new(LateInteractionReranker::new(Arc::clone(encoder), options)?))
    }
}

/// The first stage of a cross-encoder, by late interaction: the encoder `name`, or the datastore's.
pub(crate) async fn first_stage(
    app: &App,
    datastore: &OpenDatastore,
    name: &str,
) -> Result<Arc<dyn Reranker>, CommandError> {
    Openers { app, datastore, cache_bytes: None }.without_cross_encoder(name).await
}

fn without(name: &str, datastore: &OpenDatastore, error: &CommandError) -> Notice {
    let encoder = &datastore.encoder.info().name;
    Notice::new(NoticeKind::Skipped, format!("reranked with {encoder} instead of {name}: {error}"))
        .with_hint(format!(
            "openscholar models pull {name}, or write reranker = \"{DATASTORE_ENCODER}\" into the config file"
        ))
}

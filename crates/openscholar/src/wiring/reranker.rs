//! Who reads the candidates again: a cross-encoder, a second encoder, a reranker that reads apart as an encoder does, or
//! the datastore's own encoder.

use std::path::Path;
use std::sync::Arc;

use scholar_core::{Encoder as _, Notice, NoticeKind, Reranker};
use scholar_models::catalog::Purpose;
use scholar_models::{
    CrossEncoderOptions, LateInteractionOptions, LateInteractionReranker, LateRules,
    LocalCrossEncoder, LocalEncoder, Reading, ReadingRules, SecondReadingReranker,
};

use super::models;
use super::shelf::Shelf;
use crate::app::App;
use crate::config::DEFAULT_RERANKER;
use crate::error::CommandError;

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
        _ => match readers.named(DEFAULT_RERANKER).await {
            Ok(reranker) => Ok((reranker, None)),
            Err(error) if error.is_final() => Err(error),
            Err(error) => Ok((readers.own()?, Some(without(DEFAULT_RERANKER, shelf, &error)))),
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
        if self.is_own(name) {
            return self.own();
        }
        if models::local(name)?.is_none() {
            match models::entry(app, name)?.purpose {
                Purpose::Encoder => return self.second(name).await,
                Purpose::Reranker => {}
                Purpose::Attributor | Purpose::Generator => {
                    return Err(CommandError::user(format!("{name} does not rerank"))
                        .with_hint("openscholar models list shows what each model is for"));
                }
            }
        }
        let folder = models::ensure(app, name).await?;
        if !models::classifies(&folder) {
            // Trained to read query and passage apart.
            return self.apart(name, &folder);
        }
        let rules = ReadingRules::read(&folder)?;
        let model =
            LocalCrossEncoder::open(&folder, name, CrossEncoderOptions::project(app.threads()))?;
        let Some(ReadingRules { beside, weights }) = rules else { return Ok(Arc::new(model)) };
        let beside = match beside {
            None => None,
            Some(beside) => Some(self.without_cross_encoder(&beside).await?),
        };
        Ok(Arc::new(SecondReadingReranker::new(model, weights, beside)?))
    }

    fn is_own(&self, name: &str) -> bool {
        name == OWN || name.eq_ignore_ascii_case(&self.shelf.encoder.info().name)
    }

    /// Late interaction of the encoder `name`, or of the datastore's.
    async fn without_cross_encoder(&self, name: &str) -> Result<Arc<dyn Reranker>, CommandError> {
        if self.is_own(name) { self.own() } else { self.second(name).await }
    }

    async fn second(&self, name: &str) -> Result<Arc<dyn Reranker>, CommandError> {
        let folder = models::ensure(self.app, name).await?;
        self.apart(name, &folder)
    }

    /// Late interaction of the encoder in `folder`, with its own weights where it has any.
    fn apart(&self, name: &str, folder: &Path) -> Result<Arc<dyn Reranker>, CommandError> {
        let rules = LateRules::read(folder)?;
        let encoder = models::reader(self.app, folder, name)?;
        let project = || LateInteractionOptions::project(Reading::Second);
        self.late(&encoder, rules.map_or_else(project, LateInteractionOptions::ruled))
    }

    fn own(&self) -> Result<Arc<dyn Reranker>, CommandError> {
        self.late(&self.shelf.encoder, LateInteractionOptions::project(Reading::Own))
    }

    fn late(
        &self,
        encoder: &Arc<LocalEncoder>,
        mut options: LateInteractionOptions,
    ) -> Result<Arc<dyn Reranker>, CommandError> {
        options.cache_bytes = self.cache_bytes.unwrap_or(options.cache_bytes);
        Ok(Arc::new(LateInteractionReranker::new(Arc::clone(encoder), options)?))
    }
}

/// What reads candidates by late interaction before a cross-encoder: the encoder `name`, or `own`.
pub(crate) async fn beside(
    app: &App,
    shelf: &Shelf,
    name: &str,
) -> Result<Arc<dyn Reranker>, CommandError> {
    Readers { app, shelf, cache_bytes: None }.without_cross_encoder(name).await
}

fn without(name: &str, shelf: &Shelf, error: &CommandError) -> Notice {
    let own = &shelf.encoder.info().name;
    Notice::new(NoticeKind::Skipped, format!("reranked with {own} instead of {name}: {error}"))
        .with_hint(format!(
            "openscholar models pull {name}, or write reranker = \"{OWN}\" into the config file"
        ))
}

//! One source of papers for each name people know it by.

use std::sync::Arc;

use scholar_clients::fetch::{Fetcher, Provider};
use scholar_clients::{
    Arxiv, ArxivSource, FullTexts, Latexml, OpenAlex, OpenAlexSource, Pubmed, PubmedSource,
    SemanticScholar, SnippetSource, WebSource,
};
use scholar_core::{Notice, NoticeKind, PaperSource};

use crate::args::SourceArg;

/// A source, or why there is none; and what would make it better.
pub(crate) struct Opened {
    pub(crate) source: Option<Arc<dyn PaperSource>>,
    pub(crate) notice: Option<Notice>,
}

/// The source of that name.
pub(crate) fn source(named: SourceArg, fetcher: &Fetcher) -> Opened {
    let own = || fetcher.clone();
    let source: Arc<dyn PaperSource> = match named {
        // The datastore is no source beyond itself.
        SourceArg::Datastore => return Opened { source: None, notice: None },
        SourceArg::S2 => Arc::new(SemanticScholar::new(own())),
        SourceArg::Snippets => Arc::new(SnippetSource::new(SemanticScholar::new(own()))),
        SourceArg::Web => return web(fetcher),
        SourceArg::Openalex => {
            Arc::new(OpenAlexSource::new(OpenAlex::new(own()), FullTexts::new(fetcher)))
        }
        SourceArg::Arxiv => Arc::new(ArxivSource::new(Arxiv::new(own()), Latexml::new(own()))),
        SourceArg::Pubmed => Arc::new(PubmedSource::new(Pubmed::new(own()))),
    };
    Opened { source: Some(source), notice: keyless(named, fetcher) }
}

/// Web search answers nobody without a key.
fn web(fetcher: &Fetcher) -> Opened {
    let config = fetcher.config();
    let has_key = [Provider::You, Provider::Brave].iter().any(|one| config.is_known_to(*one));
    if has_key || config.offline {
        return Opened { source: Some(Arc::new(WebSource::new(fetcher))), notice: None };
    }
    let notice =
        Notice::new(NoticeKind::SourceDown, "skipped web: You.com and Brave require a key");
    Opened {
        source: None,
        notice: Some(
            notice.with_hint("set YDC_API_KEY or BRAVE_API_KEY, or leave web out of --sources"),
        ),
    }
}

/// That a source works without a key, and better with one.
fn keyless(named: SourceArg, fetcher: &Fetcher) -> Option<Notice> {
    let provider = match named {
        SourceArg::S2 | SourceArg::Snippets => Provider::SemanticScholar,
        SourceArg::Openalex => Provider::OpenAlex,
        SourceArg::Pubmed => Provider::Pubmed,
        SourceArg::Datastore | SourceArg::Web | SourceArg::Arxiv => return None,
    };
    let config = fetcher.config();
    if config.is_known_to(provider) || config.offline {
        return None;
    }
    let key = provider.key_setting()?;
    let message = format!("{} is used without a key, at its lower rate limit", provider.name());
    Some(Notice::new(NoticeKind::Weak, message).with_hint(format!("set {key}")))
}

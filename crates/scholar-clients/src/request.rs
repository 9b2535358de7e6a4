//! From a request to what its reply says.

use scholar_core::{PortError, PortErrorKind};

use crate::fetch::{FetchRequest, Fetcher};
use crate::parse::ReplyError;

/// What `read` makes of the reply to `request`; `None` for a 404 where the request says that it is an answer. A reply
/// that cannot be read is not kept.
pub(crate) async fn find<T>(
    fetcher: &Fetcher,
    request: &FetchRequest,
    read: impl FnOnce(&[u8]) -> Result<T, ReplyError> + Send,
) -> Result<Option<T>, PortError> {
    let fetched = fetcher.fetch(request).await?;
    if fetched.is_not_found() {
        return Ok(None);
    }
    match read(&fetched.body) {
        Ok(value) => Ok(Some(value)),
        Err(ReplyError::Shape(what)) => Err(fetcher.unreadable(request, &what).await),
        Err(ReplyError::Refused(what)) => {
            let forget = fetcher.unreadable(request, &what).await;
            let name = request.provider().name();
            let message = format!("{name} refuses the request: {what}");
            Err(PortError::new(PortErrorKind::Rejected, message).with_source(forget))
        }
    }
}

/// As [`find`] for requests that always have an answer.
pub(crate) async fn ask<T>(
    fetcher: &Fetcher,
    request: &FetchRequest,
    read: impl FnOnce(&[u8]) -> Result<T, ReplyError> + Send,
) -> Result<T, PortError> {
    match find(fetcher, request, read).await? {
        Some(value) => Ok(value),
        None => Err(fetcher.unreadable(request, "not found (404)").await),
    }
}

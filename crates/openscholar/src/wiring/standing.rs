//! Whether the papers an answer cites still stand.

use scholar_clients::Crossref;
use scholar_clients::crossref::Standing;
use scholar_clients::fetch::Fetcher;
use scholar_core::paper::display_title;
use scholar_core::{Notice, NoticeKind, Reference};

/// One notice for each cited paper that Crossref knows as retracted, corrected or of concern, and one for those it
/// could not be asked about. Nobody is asked when working offline.
pub(crate) async fn notices(references: &[Reference], fetcher: &Fetcher) -> Vec<Notice> {
    if fetcher.config().offline {
        return Vec::new();
    }
    let named: Vec<(&Reference, &str)> =
        references.iter().filter_map(|one| Some((one, one.doi.as_deref()?))).collect();
    if named.is_empty() {
        return Vec::new();
    }
    let dois: Vec<&str> = named.iter().map(|(_, doi)| *doi).collect();
    let (standings, mut notices) = Crossref::new(fetcher.clone()).standings(&dois).await;
    for ((reference, _), standing) in named.into_iter().zip(standings) {
        notices.extend(notice(reference, &standing));
    }
    notices
}

fn notice(reference: &Reference, standing: &Standing) -> Option<Notice> {
    let Standing { status, date, notice } = standing;
    let what = status.happened()?;
    let on = date.map(|date| format!(" on {date}")).unwrap_or_default();
    let by = notice.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
    let title = display_title(&reference.title, &reference.paper_id);
    let message = format!("[{}] \"{}\" {what}{on}{by}", reference.number.0, title);
    Some(Notice::new(NoticeKind::Retraction, message))
}

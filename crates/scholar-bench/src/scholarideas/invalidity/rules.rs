//! Which replies make a link invalid.

use super::{Ask, LinkProbe, LinkReply, LinkVerdict, Policy};

/// A page with less text than this and a word of an error is no page. Source: the reference script.
const SHORT_PAGE: usize = 200;
/// Sentences of pages that say, with a status of success, that there is nothing. Ours.
const NOTHING_HERE: [&str; 8] = [
    "page not found",
    "page cannot be found",
    "page could not be found",
    "page doesn't exist",
    "page does not exist",
    "doi not found",
    "no longer available",
    "404 not found",
];
/// Words of an error on a page with hardly any text.
const ERROR_WORDS: [&str; 5] = ["error", "not found", "404", "unavailable", "forbidden"];
/// Signs of a page that keeps programs out.
const WALL: [&str; 6] = [
    "just a moment",
    "checking your browser",
    "verify you are human",
    "are you a robot",
    "enable javascript and cookies",
    "captcha",
];

/// The verdict on `url`, asked as the policy wants.
pub(super) async fn verdict(url: &str, policy: Policy, probe: &dyn LinkProbe) -> LinkVerdict {
    match policy {
        Policy::Paper | Policy::Offline => paper(url, probe).await,
        Policy::Strict => strict(url, probe).await,
    }
}

fn verdict_of(status: Option<u16>, valid: bool, reason: impl Into<String>) -> LinkVerdict {
    LinkVerdict { status, valid, reason: reason.into() }
}

async fn paper(url: &str, probe: &dyn LinkProbe) -> LinkVerdict {
    let reply = match probe.ask(url, Ask::Head).await {
        LinkReply::Answered { status: 405 | 501, .. } => probe.ask(url, Ask::FirstByte).await,
        reply => reply,
    };
    match reply {
        LinkReply::Answered { status, .. } if is_gone(status) => {
            verdict_of(Some(status), false, format!("status {status}"))
        }
        LinkReply::Answered { status, .. } if status >= 400 => {
            verdict_of(Some(status), true, format!("status {status} is not counted"))
        }
        LinkReply::Answered { status, .. } => verdict_of(Some(status), true, "there"),
        LinkReply::TimedOut => verdict_of(None, true, "no reply in time is not counted"),
        LinkReply::Failed(why) => verdict_of(None, true, format!("no reply is not counted: {why}")),
    }
}

fn is_gone(status: u16) -> bool {
    matches!(status, 404 | 410) || status >= 500
}

async fn strict(url: &str, probe: &dyn LinkProbe) -> LinkVerdict {
    match probe.ask(url, Ask::Page).await {
        LinkReply::Answered { status, page } => {
            if matches!(status, 401 | 403 | 429) || is_bot_wall(&page) {
                return behind_a_wall(url, status, probe).await;
            }
            if status >= 400 {
                return verdict_of(Some(status), false, format!("status {status}"));
            }
            if is_soft_404(&page) {
                return verdict_of(Some(status), false, "the page says that there is nothing");
            }
            verdict_of(Some(status), true, "there")
        }
        LinkReply::TimedOut => verdict_of(None, false, "no reply in time"),
        LinkReply::Failed(why) => verdict_of(None, false, format!("no reply: {why}")),
    }
}

/// Whoever keeps programs out may still be known to the resolver of DOIs.
async fn behind_a_wall(url: &str, status: u16, probe: &dyn LinkProbe) -> LinkVerdict {
    let Some(doi) = doi_of(url) else {
        return verdict_of(Some(status), false, "refused, and it has no DOI");
    };
    match probe.resolve(doi).await {
        LinkReply::Answered { status: found, .. } if found < 400 => {
            verdict_of(Some(status), true, "refused; its DOI resolves")
        }
        LinkReply::Answered { .. } => {
            verdict_of(Some(status), false, "refused, and its DOI does not resolve")
        }
        LinkReply::TimedOut | LinkReply::Failed(_) => {
            verdict_of(Some(status), false, "refused, and nobody resolves its DOI")
        }
    }
}

/// The DOI in an address: from `10.` and at least four digits to the end, query or fragment.
pub fn doi_of(url: &str) -> Option<&str> {
    let starts = url.match_indices("10.").map(|(at, _)| at);
    let doi = starts.filter(|at| url[..*at].ends_with('/') || url[..*at].ends_with('=')).find_map(
        |at| {
            let doi = &url[at..];
            let (registrant, rest) = doi["10.".len()..].split_once('/')?;
            let is_registrant = registrant.len() >= 4
                && registrant.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            (is_registrant && !rest.is_empty()).then_some(doi)
        },
    )?;
    let end = doi.find(['?', '#', '&']).unwrap_or(doi.len());
    Some(doi[..end].trim_end_matches('/')).filter(|doi| doi.contains('/'))
}

/// Whether a page asks for proof of being a person.
pub fn is_bot_wall(page: &str) -> bool {
    // Only at the beginning: a paper may write of such pages.
    let head: String = page.chars().take(4_000).collect::<String>().to_lowercase();
    text_of(page).chars().count() < 2_000 && WALL.iter().any(|sign| head.contains(sign))
}

/// Whether a page says that there is nothing, whatever its status.
pub fn is_soft_404(page: &str) -> bool {
    let text = text_of(page).to_lowercase();
    let short = text.chars().count() < SHORT_PAGE;
    let head: String = text.chars().take(1_000).collect();
    NOTHING_HERE.iter().any(|sentence| head.contains(sentence))
        || (short && ERROR_WORDS.iter().any(|word| text.contains(word)))
}

/// The text of a page without its tags.
fn text_of(page: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for c in page.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => {
                inside = false;
                text.push(' ');
            }
            _ if inside => {}
            _ => text.push(c),
        }
    }
    scholar_core::text::normalise::single_spaced(&text)
}

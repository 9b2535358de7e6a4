//! The page on which a browser signs in with a token.

use maud::{Markup, html};

use super::text::text;

/// The page; `next` is the address to go on to, `is_wrong` says that the token was none.
pub(super) fn page(next: &str, is_wrong: bool) -> Markup {
    html! {
        h1 { "Sign in" }
        p { "This server asks for a token. Whoever runs it has given you one." }
        @if is_wrong { p.notice.bad role="alert" { "That is not a token of this server." } }
        form.sign-in method="post" action="/sign-in" {
            input type="hidden" name="next" value=(text(next));
            label for="token" { "Your token" }
            input #token name="token" type="password" autocomplete="current-password" required;
            button.primary type="submit" { "Sign in" }
        }
    }
}

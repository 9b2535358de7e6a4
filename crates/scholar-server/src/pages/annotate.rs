//! The page that leads to comparing answers.

use maud::{Markup, html};

use super::text::counted;
use crate::annotate::StudyCounts;

/// The page. It names no study, as names of files tell which systems are compared, and none of the people.
pub(super) fn page(studies: &[StudyCounts]) -> Markup {
    html! {
        h1 { "Compare answers" }
        p { "Please open the address that was sent to you: it is yours alone, and tells this server which questions were given to you." }
        ul {
            @for StudyCounts { instances, annotators, assigned, done } in studies {
                li {
                    (counted(*instances, "question", "questions")) ", " (counted(*annotators, "person", "people")) ": "
                    (done) " of " (counted(*assigned, "judgement", "judgements")) " given"
                }
            }
        }
        p.soft { "Whoever runs this server has all addresses: " code { "openscholar bench annotate create --db FILE --url ADDRESS" } " prints them." }
    }
}

//! What can go wrong with an answer.

use std::time::Duration;

use serde_json::Value;

use super::exchange::Reply;

/// Which of the requests to a route are meant, counted from when the fault was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    /// The n-th, from 1.
    Nth(usize),
    /// The first n requests.
    First(usize),
    /// Every request from then on.
    All,
}

/// What happens instead of, or to, the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// 429 with this `Retry-After` header, if any, in the words of Semantic Scholar.
    RateLimited(Option<String>),
    /// This status with this body.
    Status(u16, String),
    /// The right answer after this pause.
    Delay(Duration),
    /// No answer, ever.
    Hang,
    /// The connection ends in the middle of the body.
    Truncated,
    /// The body claims to be compressed and is not.
    BrokenGzip,
    /// 200 with a page for people.
    Html,
    /// Every second entry of the answer's list is null.
    Nulls,
    /// The first entry of the answer's list stands there twice.
    Duplicate,
    /// The answer's list is replaced by this value.
    List(Value),
    /// Redirects that go round in a circle.
    RedirectLoop,
    /// A redirect to this address.
    Redirect(String),
    /// One byte at a time with this pause between them.
    Drip(Duration),
    /// The body is this many bytes longer than it should be.
    Padded(usize),
}

#[derive(Debug)]
struct Planned {
    route: String,
    calls: Calls,
    fault: Fault,
    seen: usize,
}

/// Faults with their counts.
#[derive(Debug, Default)]
pub(super) struct FaultPlan(Vec<Planned>);

impl FaultPlan {
    pub(super) fn add(&mut self, route: &str, calls: Calls, fault: Fault) {
        self.0.push(Planned { route: route.to_owned(), calls, fault, seen: 0 });
    }

    /// The fault for a request to `address` (path and query), which is counted.
    pub(super) fn next(&mut self, address: &str) -> Option<Fault> {
        let mut chosen = None;
        for planned in self.0.iter_mut().filter(|planned| address.contains(&planned.route)) {
            planned.seen += 1;
            let meant = match planned.calls {
                Calls::Nth(n) => planned.seen == n,
                Calls::First(n) => planned.seen <= n,
                Calls::All => true,
            };
            if meant {
                chosen = Some(planned.fault.clone());
            }
        }
        chosen
    }
}

/// Changes the list in a JSON answer: the answer itself, or the first list in it.
pub(super) fn with_list(mut reply: Reply, change: impl FnOnce(&mut Vec<Value>)) -> Reply {
    let Ok(mut value) = serde_json::from_slice::<Value>(&reply.body) else { return reply };
    let list = match &mut value {
        Value::Array(list) => Some(list),
        Value::Object(map) => map.values_mut().find_map(Value::as_array_mut),
        _ => None,
    };
    if let Some(list) = list {
        change(list);
        reply.body = value.to_string().into_bytes();
    }
    reply
}

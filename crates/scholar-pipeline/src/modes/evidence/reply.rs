//! Lists in a small model's JSON.

use serde_json::Value;

/// The field `name` of a JSON object, a list of numbers; text around the object is ignored.
pub(crate) fn numbers(reply: &str, name: &str) -> Option<Vec<usize>> {
    let list = list(reply, name)?;
    Some(list.iter().filter_map(|item| usize::try_from(item.as_u64()?).ok()).collect())
}

fn list(reply: &str, name: &str) -> Option<Vec<Value>> {
    let start = reply.find('{')?;
    let end = reply.rfind('}')?;
    let value: Value = serde_json::from_str(reply.get(start..=end)?).ok()?;
    Some(value.get(name)?.as_array()?.clone())
}

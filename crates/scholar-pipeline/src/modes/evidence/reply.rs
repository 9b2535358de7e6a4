//! Lists in a small model's JSON.

use serde_json::Value;

/// The field `name` of a JSON object, a list of strings; text around the object is ignored.
pub(crate) fn strings(reply: &str, name: &str) -> Option<Vec<String>> {
    let list = list(reply, name)?;
    Some(list.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect())
}

/// The same, a list of numbers.
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

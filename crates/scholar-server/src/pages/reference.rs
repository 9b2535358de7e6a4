//! The interface of programs, described for people: the `OpenAPI` document as a page, without anything from elsewhere.

use maud::{Markup, html};
use serde_json::Value;
use utoipa::openapi::OpenApi;

use super::layout::{self, Frame, Place};
use super::text::text;

/// The page.
pub(super) fn page(document: &OpenApi, has_studies: bool) -> Markup {
    // A document is JSON; what cannot be written has no routes.
    let document = serde_json::to_value(document).unwrap_or_default();
    let paths = document["paths"].as_object().into_iter().flatten();
    let schemas = document["components"]["schemas"].as_object().into_iter().flatten();
    let body = html! {
        h1 { "Interface for programs" }
        p { "Everything that pages do can be done by programs. " a href="/openapi.json" { "openapi.json" } " describes the same for tools." }
        @for (path, operations) in paths {
            @for (method, operation) in operations.as_object().into_iter().flatten() { (described(path, method, operation)) }
        }
        h2 { "Values" }
        @for (name, schema) in schemas {
            details id={ "schema-" (name) } { summary { code { (name) } } @if let Some(words) = schema["description"].as_str() { p { (text(words)) } } (fields(schema)) }
        }
    };
    layout::page(&Frame { has_studies, ..Frame::plain("Interface", Place::Elsewhere) }, &body)
}

fn described(path: &str, method: &str, operation: &Value) -> Markup {
    let words = |field: &str| operation[field].as_str().unwrap_or_default().to_owned();
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    let responses = operation["responses"].as_object().into_iter().flatten();
    html! {
        section.operation {
            h2 { code { (method.to_uppercase()) " " (path) } }
            p { (text(&words("summary"))) ". " (text(&words("description"))) }
            @if body.is_object() { p { "Body: " (kind(body)) } }
            @if operation["parameters"].is_array() { (parameters(operation)) }
            details {
                summary { "Replies" }
                dl {
                    @for (status, response) in responses {
                        dt { code { (status) } }
                        dd {
                            (text(response["description"].as_str().unwrap_or_default()))
                            @for (media, content) in response["content"].as_object().into_iter().flatten() { " (" (media) ": " (kind(&content["schema"])) ")" }
                        }
                    }
                }
            }
        }
    }
}

fn parameters(operation: &Value) -> Markup {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let word =
        |parameter: &Value, field: &str| parameter[field].as_str().unwrap_or_default().to_owned();
    html! {
        dl {
            @for parameter in parameters {
                dt {
                    code { (word(parameter, "name")) } " in the " (word(parameter, "in"))
                    @if parameter["required"] != true { span.soft { " optional" } }
                }
                dd { (kind(&parameter["schema"])) ". " (text(&word(parameter, "description"))) }
            }
        }
    }
}

fn fields(schema: &Value) -> Markup {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let values = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    html! {
        dl {
            @for (name, field) in properties {
                dt { code { (name) } @if !required.contains(&name.as_str()) { span.soft { " optional" } } }
                dd { (kind(field)) @if let Some(words) = field["description"].as_str() { ". " (text(words)) } }
            }
        }
        @for value in values { code { (value) } " " }
    }
}

/// What a value is, in a few words.
fn kind(schema: &Value) -> Markup {
    let named = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let parts =
        ["oneOf", "anyOf", "allOf"].iter().filter_map(|field| schema[*field].as_array()).flatten();
    html! {
        @if let Some(name) = named { a href={ "#schema-" (name) } { code { (name) } } }
        @else if kinds.contains(&"array") { "list of " (kind(&schema["items"])) }
        @else if !kinds.is_empty() { (kinds.join(" or ")) }
        @else { @for (at, part) in parts.enumerate() { @if at > 0 { " or " } (kind(part)) } }
    }
}

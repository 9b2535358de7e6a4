//! Prints the `OpenAPI` document of the search service: `cargo run -p scholar-server --example openapi > docs/openapi.json`.
#![expect(clippy::print_stdout, reason = "this is what it is for")]

fn main() {
    print!("{}", scholar_server::openapi_json());
}

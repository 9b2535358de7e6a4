//! Model servers of this machine that nobody configured: which models they have, and the options that use them.

use scholar_clients::local_servers::{self, LocalServer};
use scholar_clients::{HttpClient, Url};

use crate::app::App;
use crate::args::{AnswerArgs, GeneratorChoice};
use crate::error::CommandError;

/// How many models of a server are named.
const SHOWN_MODELS: usize = 5;

/// The model servers of this machine, in the order of the ports; nobody is asked if requests are forbidden or the search is
/// switched off.
pub(crate) async fn find(app: &App, args: &AnswerArgs) -> Vec<LocalServer> {
    match may_ask(app, args).then(HttpClient::new) {
        Some(Ok(http)) => local_servers::find(&http, &app.local_ports).await,
        // A client that cannot be set up finds nobody: this search is an offer, and fails nothing.
        Some(Err(_)) | None => Vec::new(),
    }
}

fn may_ask(app: &App, args: &AnswerArgs) -> bool {
    let is_offline = args.search_sources.offline || app.offline;
    !is_offline && !app.local_ports.is_empty()
}

/// Adds the servers that could write to an error that says that nothing is named that does.
pub(crate) async fn suggest(error: CommandError, app: &App, args: &AnswerArgs) -> CommandError {
    let wanted = args.model.as_ref().or(app.config.generator.model.as_ref());
    let replaced = match args.generator {
        Some(GeneratorChoice::None) => " instead of --generator none",
        _ => "",
    };
    find(app, args).await.iter().fold(error, |error, server| {
        error.with_hint(offer(server, wanted.map(String::as_str)) + replaced)
    })
}

/// Adds the models of the server at `base_url` to an error that says that none is named, if that is on this machine.
pub(crate) async fn suggest_models(
    error: CommandError,
    app: &App,
    args: &AnswerArgs,
    base_url: &str,
) -> CommandError {
    if !may_ask(app, args) {
        return error;
    }
    let (Ok(url), Ok(http)) = (Url::parse(base_url), HttpClient::new()) else { return error };
    match local_servers::at(&http, &url).await {
        Some(server) => {
            let model = quoted(chosen(&server, None));
            error.with_hint(format!("it has {}: --model {model}", models_of(&server)))
        }
        None => error,
    }
}

/// One line about `found`, about its first server in full; `None` if nothing was found.
pub(crate) fn hint(found: &[LocalServer]) -> Option<String> {
    let (first, others) = found.split_first()?;
    let others = match others.len() {
        0 => String::new(),
        n => format!(" (openscholar doctor lists {n} more)"),
    };
    Some(offer(first, None) + &others)
}

fn offer(server: &LocalServer, wanted: Option<&str>) -> String {
    let (title, models, options) = (title(server), models_of(server), options(server, wanted));
    format!("{title} has {models}; to let it write: {options}")
}

/// What a server is called here. That it is the program of its port is not known.
pub(crate) fn title(server: &LocalServer) -> String {
    let address = server.base_url.trim_start_matches("http://").trim_end_matches("/v1");
    match server.usual_program {
        Some(program) => format!("model server at {address} (the usual port of {program})"),
        None => format!("model server at {address}"),
    }
}

/// The models of a server, the first ones by name.
pub(crate) fn models_of(server: &LocalServer) -> String {
    let shown = server.models.iter().take(SHOWN_MODELS).map(String::as_str);
    let shown = shown.collect::<Vec<_>>().join(", ");
    match server.models.len().saturating_sub(SHOWN_MODELS) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The options that let a server write, with the model `wanted` if it has that, else its first.
pub(crate) fn options(server: &LocalServer, wanted: Option<&str>) -> String {
    format!("--base-url {} --model {}", quoted(&server.base_url), quoted(chosen(server, wanted)))
}

fn chosen<'a>(server: &'a LocalServer, wanted: Option<&str>) -> &'a str {
    let wanted = server.models.iter().find(|name| Some(name.as_str()) == wanted);
    wanted.or(server.models.first()).map_or("NAME", String::as_str)
}

/// `word` as a POSIX shell takes it for one word: a server chooses the names of its models, and people copy lines.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._:/@+-".contains(c);
    if word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(models: &[&str]) -> LocalServer {
        LocalServer {
            base_url: "http://127.0.0.1:11434/v1".to_owned(),
            usual_program: Some("Ollama"),
            models: models.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    #[test]
    fn a_line_has_what_the_server_has_and_what_to_type() {
        let found = [server(&["qwen3:8b", "llama3.2:3b"]), server(&["mistral"])];
        assert_eq!(hint(&[]), None);
        let line = "model server at 127.0.0.1:11434 (the usual port of Ollama) has qwen3:8b, llama3.2:3b; \
                    to let it write: --base-url http://127.0.0.1:11434/v1 --model qwen3:8b";
        assert_eq!(hint(&found[..1]).as_deref(), Some(line));
        let more = format!("{line} (openscholar doctor lists 1 more)");
        assert_eq!(hint(&found), Some(more));
        assert!(options(&found[0], Some("llama3.2:3b")).ends_with("--model llama3.2:3b"));
        assert!(options(&found[0], Some("gpt-4o")).ends_with("--model qwen3:8b"));
        assert_eq!(models_of(&server(&["m"; 8])), "m, m, m, m, m and 3 more");
    }

    #[test]
    fn no_name_of_a_model_is_more_than_one_word_of_a_command() {
        let check = |name: &str, expect: &str| assert_eq!(quoted(name), expect);
        check("hf.co/org/Model_1-GGUF:Q4_K_M", "hf.co/org/Model_1-GGUF:Q4_K_M");
        check("/models/my model.gguf", "'/models/my model.gguf'");
        check("m; rm -r ~", "'m; rm -r ~'");
        check("it's $(x)", r"'it'\''s $(x)'");
    }
}

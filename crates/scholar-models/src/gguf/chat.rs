//! Chat templates: messages become a prompt, with the template's words and the messages' words kept apart.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, ErrorKind, Value, context};
use scholar_core::{Message, Role};

use super::error::GgufError;
use super::file::GgufFile;
use super::vocab::{Piece, Vocabulary};

/// Steps a template may take; a template comes with the file and may not stop the program.
const FUEL: u64 = 200_000;

/// Marks where the content of message `i` goes while the template is rendered. Private-use characters: templates look
/// into contents for markup of their own, never for these.
const OPEN: char = '\u{F8F0}';
const CLOSE: char = '\u{F8F1}';
/// White space around the marker shows whether the template trims contents.
const EDGE: &str = " \n ";

/// What Qwen's files have carried since their first release.
const CHATML: &str = "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
/// The form Llama 3 was trained with.
const LLAMA3: &str = "{{ bos_token }}{% for message in messages %}<|start_header_id|>{{ message['role'] }}<|end_header_id|>\n\n{{ message['content'] | trim }}<|eot_id|>{% endfor %}{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}";

/// A compiled template.
pub(super) struct ChatTemplate {
    environment: Environment<'static>,
    bos: String,
    eos: String,
}

/// Why a conversation could not be written down.
#[derive(Debug, thiserror::Error)]
pub(super) enum ChatError {
    /// The template refused or failed.
    #[error("the model's chat template refuses this conversation")]
    Render(#[source] minijinja::Error),
    /// The template ignores a turn.
    #[error("the model's chat template does not write message {index} exactly once")]
    Dropped {
        /// Position of the message.
        index: usize,
    },
}

impl ChatTemplate {
    /// The template of the file, or the known form of a model family whose special tokens are all there.
    pub(super) fn read(file: &GgufFile, vocabulary: &Vocabulary) -> Result<Self, GgufError> {
        let fault = |reason: String| GgufError::Template { path: file.path.clone(), reason };
        let has = |tokens: &[&str]| tokens.iter().all(|text| vocabulary.special(text).is_some());
        let source = match file.text_opt("tokenizer.chat_template") {
            Some(source) => source,
            None if has(&["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]) => LLAMA3,
            None if has(&["<|im_start|>", "<|im_end|>"]) => CHATML,
            None => {
                return Err(fault(
                    "it carries none, and its special tokens belong to no known form".to_owned(),
                ));
            }
        };
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .build()
            .map_err(|error| fault(format!("it has no syntax: {error:#}")))?;
        environment.set_syntax(syntax);
        environment.set_fuel(Some(FUEL));
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        environment
            .set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function(
            "raise_exception",
            |reason: String| -> Result<Value, minijinja::Error> {
                Err(minijinja::Error::new(ErrorKind::InvalidOperation, reason))
            },
        );
        environment
            .add_template_owned("chat", source.to_owned())
            .map_err(|error| fault(format!("it does not compile: {error:#}")))?;
        Ok(Self {
            environment,
            bos: vocabulary.bos_text().to_owned(),
            eos: vocabulary.eos_text().to_owned(),
        })
    }

    /// The prompt for `messages`, ending where the reply begins.
    pub(super) fn render(&self, messages: &[Message]) -> Result<Vec<Piece>, ChatError> {
        let turns: Vec<Value> = messages
            .iter()
            .enumerate()
            .map(|(i, message)| {
                let role = match message.role {
                    Role::System => "system",
                    Role::User => "user",
                    Role::Assistant => "assistant",
                };
                context! { role, content => format!("{EDGE}{OPEN}{i}{CLOSE}{EDGE}") }
            })
            .collect();
        let rendered = self
            .environment
            .get_template("chat")
            .and_then(|template| {
                template.render(context! {
                    messages => turns,
                    add_generation_prompt => true,
                    bos_token => self.bos.as_str(),
                    eos_token => self.eos.as_str(),
                })
            })
            .map_err(ChatError::Render)?;
        split(&rendered, messages)
    }
}

/// Puts contents where their markers stand.
fn split(rendered: &str, messages: &[Message]) -> Result<Vec<Piece>, ChatError> {
    let mut pieces = Vec::new();
    let mut written = vec![0usize; messages.len()];
    let mut rest = rendered;
    while let Some((before, after)) = rest.split_once(OPEN) {
        let Some((index, after)) = after.split_once(CLOSE) else { break };
        let Some(message) = index.parse::<usize>().ok().and_then(|i| messages.get(i)) else {
            break;
        };
        written[index.parse::<usize>().unwrap_or_default()] += 1;
        let mut content = message.content.as_str();
        let before = before.strip_suffix(EDGE).unwrap_or_else(|| {
            content = content.trim_start();
            before
        });
        rest = after.strip_prefix(EDGE).unwrap_or_else(|| {
            content = content.trim_end();
            after
        });
        pieces.push(Piece::Template(before.to_owned()));
        pieces.push(Piece::Content(content.to_owned()));
    }
    pieces.push(Piece::Template(rest.to_owned()));
    match written.iter().position(|n| *n != 1) {
        Some(index) => Err(ChatError::Dropped { index }),
        None => Ok(pieces),
    }
}

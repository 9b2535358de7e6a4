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

/// The form Gemma was trained with; what a system turn says stands before the first user turn.
const GEMMA: &str = "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'system' %}<start_of_turn>user\n{{ message['content'] | trim }}\n\n{% else %}{% if not (loop.index0 == 1 and messages[0]['role'] == 'system') %}<start_of_turn>{{ 'model' if message['role'] == 'assistant' else 'user' }}\n{% endif %}{{ message['content'] | trim }}<end_of_turn>\n{% endif %}{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}";
/// The form Phi 4 mini was trained with.
const PHI: &str = "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";
/// The form of Mistral's instruction models; what a system turn says stands before the first user turn.
const MISTRAL: &str = "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'system' %}[INST] {{ message['content'] }}\n\n{% elif message['role'] == 'user' %}{% if not (loop.index0 == 1 and messages[0]['role'] == 'system') %}[INST] {% endif %}{{ message['content'] }}[/INST]{% else %} {{ message['content'] }}{{ eos_token }}{% endif %}{% endfor %}";

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
            None if has(&["<start_of_turn>", "<end_of_turn>"]) => GEMMA,
            None if has(&["<|user|>", "<|assistant|>", "<|end|>"]) => PHI,
            None if has(&["[INST]", "[/INST]"]) => MISTRAL,
            None => {
                return Err(fault(
                    "it carries none, and its special tokens belong to no known form".to_owned(),
                ));
            }
        };
        let (bos, eos) = (vocabulary.bos_text(), vocabulary.eos_text());
        Self::compile(source, bos, eos).map_err(fault)
    }

    /// A template, or what is wrong with it.
    fn compile(source: &str, bos: &str, eos: &str) -> Result<Self, String> {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .build()
            .map_err(|error| format!("it has no syntax: {error:#}"))?;
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
            .map_err(|error| format!("it does not compile: {error:#}"))?;
        Ok(Self { environment, bos: bos.to_owned(), eos: eos.to_owned() })
    }

    /// The prompt for `messages`, ending where the reply begins.
    ///
    /// Where the template refuses a system turn, what it says stands before the first user turn.
    pub(super) fn render(&self, messages: &[Message]) -> Result<Vec<Piece>, ChatError> {
        let rendered = self.render_turns(turns(messages));
        let rendered = match (rendered, messages) {
            (Err(_), [first, second, ..])
                if (first.role, second.role) == (Role::System, Role::User) =>
            {
                let mut joined = turns(messages);
                joined.remove(0);
                let content = format!("{}\n\n{}", marker(0), marker(1));
                joined[0] = context! { role => "user", content };
                self.render_turns(joined)
            }
            (rendered, _) => rendered,
        };
        split(&rendered.map_err(ChatError::Render)?, messages)
    }

    fn render_turns(&self, turns: Vec<Value>) -> Result<String, minijinja::Error> {
        self.environment.get_template("chat")?.render(context! {
            messages => turns,
            add_generation_prompt => true,
            // Qwen 3 thinks aloud unless it is told not to: that costs minutes here, and is no part of a reply.
            enable_thinking => false,
            bos_token => self.bos.as_str(),
            eos_token => self.eos.as_str(),
        })
    }
}

fn marker(i: usize) -> String {
    format!("{EDGE}{OPEN}{i}{CLOSE}{EDGE}")
}

fn turns(messages: &[Message]) -> Vec<Value> {
    messages
        .iter()
        .enumerate()
        .map(|(i, message)| {
            let role = match message.role {
                Role::System => "system",
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            context! { role, content => marker(i) }
        })
        .collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(source: &str) -> String {
        let template = ChatTemplate::compile(source, "<s>", "</s>").unwrap();
        let messages = [
            Message::system("be brief"),
            Message::user(" hello "),
            Message { role: Role::Assistant, content: "yes?".to_owned() },
            Message::user("more"),
        ];
        let pieces = template.render(&messages).unwrap();
        let texts = pieces.iter().map(|piece| match piece {
            Piece::Template(text) | Piece::Content(text) => text.as_str(),
        });
        texts.collect()
    }

    #[test]
    fn forms_of_families_write_every_turn() {
        assert_eq!(
            rendered(GEMMA),
            "<s><start_of_turn>user\nbe brief\n\nhello<end_of_turn>\n<start_of_turn>model\nyes?<end_of_turn>\n\
             <start_of_turn>user\nmore<end_of_turn>\n<start_of_turn>model\n"
        );
        assert_eq!(
            rendered(PHI),
            "<|system|>be brief<|end|><|user|> hello <|end|><|assistant|>yes?<|end|><|user|>more<|end|><|assistant|>"
        );
        assert_eq!(
            rendered(MISTRAL),
            "<s>[INST] be brief\n\n hello [/INST] yes?</s>[INST] more[/INST]"
        );
    }

    #[test]
    fn a_refused_system_turn_stands_before_the_first_user_turn() {
        let refusing = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no') }}{% endif %}\
                        {% for m in messages %}[{{ m['role'] }}:{{ m['content'] | trim }}]{% endfor %}";
        assert_eq!(rendered(refusing), "[user:be brief\n\n hello][assistant:yes?][user:more]");
    }

    #[test]
    fn thinking_is_switched_off() {
        let thinking = "{% for m in messages %}{{ m['content'] }}{% endfor %}\
                        {% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>{% endif %}";
        assert!(rendered(thinking).ends_with("<think>\n\n</think>"));
    }
}

//! Is the model that answered the one that was asked?

/// Whether `answered` names the model `asked`, or a dated snapshot of it.
///
/// Servers write the same name with or without the owner (`meta/llama-3` and `llama-3`), with a default tag
/// (`llama3:latest`) and in other case; none of that is another model. Anything else is.
pub(super) fn same_model(asked: &str, answered: &str) -> bool {
    let (asked, answered) = (plain(asked), plain(answered));
    let same = |a: &str, b: &str| a == b || tail(a) == b || tail(b) == a;
    same(&asked, &answered) || without_date(&answered).is_some_and(|name| same(&asked, name))
}

/// `name` without its date (`-2024-08-06`, `-20240806`, `-0613`), `None` when it has none.
pub(crate) fn without_date(name: &str) -> Option<&str> {
    let digits = |text: &str, n: usize| text.len() == n && text.bytes().all(|b| b.is_ascii_digit());
    let (head, last) = name.rsplit_once('-')?;
    let undated = if digits(last, 8) || digits(last, 4) {
        head
    } else {
        let (head, month) = head.rsplit_once('-')?;
        let (head, year) = head.rsplit_once('-')?;
        (digits(last, 2) && digits(month, 2) && digits(year, 4)).then_some(head)?
    };
    (!undated.is_empty()).then_some(undated)
}

fn plain(name: &str) -> String {
    let lower = name.trim().to_lowercase();
    lower.strip_suffix(":latest").unwrap_or(&lower).to_owned()
}

fn tail(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, tail)| tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_are_the_model_and_relatives_are_not() {
        for (asked, answered) in [
            ("gpt-4o", "gpt-4o"),
            ("gpt-4o", "gpt-4o-2024-08-06"),
            ("gpt-4", "gpt-4-0613"),
            ("claude-x", "claude-x-20241022"),
            ("OpenSciLM/Llama-3.1_OpenScholar-8B", "llama-3.1_openscholar-8b"),
            ("llama3", "llama3:latest"),
            ("gpt-4o", "openai/gpt-4o-2024-08-06"),
        ] {
            assert!(same_model(asked, answered), "{asked} {answered}");
        }
        for (asked, answered) in [
            ("gpt-4o", "gpt-4o-mini"),
            ("gpt-4o", "gpt-4o-mini-2024-07-18"),
            ("gpt-4o-2024-08-06", "gpt-4o-2024-05-13"),
            ("gpt-4o-2024-08-06", "gpt-4o"),
            ("a/llama", "b/llama"),
            ("qwen2.5-7b", "qwen2.5-1.5b"),
            ("m", ""),
        ] {
            assert!(!same_model(asked, answered), "{asked} {answered}");
        }
    }
}

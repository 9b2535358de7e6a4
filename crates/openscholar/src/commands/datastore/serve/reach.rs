//! Who may reach a server, and under which names: the rules of everything that listens.

use std::io::Read as _;
use std::net::SocketAddr;
use std::path::Path;

use scholar_clients::Url;
use scholar_server::{Hosts, Tokens};

use crate::error::{CommandError, Context as _};

/// Longest file of tokens.
const MOST_BYTES: u64 = 1 << 20;

/// What stands between a server and whoever reaches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// A token for each client.
    Tokens,
    /// Secret addresses, and a server with TLS in front.
    SecretsOverTls,
    /// Secret addresses that can be read on their way.
    Secrets {
        /// Whether that was asked for.
        insecure: bool,
    },
    /// Nothing.
    None {
        /// Whether that was asked for.
        insecure: bool,
    },
}

/// Refuses an address that other machines reach unless something guards the server, or nothing was asked for by name.
pub(crate) fn check(address: SocketAddr, guard: Guard) -> Result<(), CommandError> {
    if is_loopback(address) {
        return Ok(());
    }
    let (what, how) = match guard {
        Guard::Tokens
        | Guard::SecretsOverTls
        | Guard::Secrets { insecure: true }
        | Guard::None { insecure: true } => return Ok(()),
        Guard::Secrets { insecure: false } => (
            "read the annotators' secret addresses on their way",
            "put a server with TLS in front and name it with --url https://NAME, or pass --insecure",
        ),
        Guard::None { insecure: false } => (
            "search",
            "pass --token-file FILE with a line NAME: TOKEN for each client, or --insecure",
        ),
    };
    Err(CommandError::user(format!("other machines can reach {address}, and could {what}"))
        .with_hint(how)
        .with_hint("listen on 127.0.0.1 to serve this machine alone"))
}

/// What a person should know about a server that other machines reach.
pub(crate) fn note(address: SocketAddr, guard: Guard) -> Option<&'static str> {
    if is_loopback(address) {
        return None;
    }
    match guard {
        Guard::Tokens => Some(
            "note: others in the network can read tokens on their way; put a server with TLS in front",
        ),
        Guard::Secrets { .. } => Some(
            "note: others in the network can read the secret addresses on their way; put a server with TLS in \
             front and name it with --url",
        ),
        Guard::None { .. } => Some("note: anyone who can reach this address can search"),
        Guard::SecretsOverTls => None,
    }
}

fn is_loopback(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// The names given with `--allowed-host`, and the host of the address under which a server is known.
pub(crate) fn hosts(names: &[String], known_as: Option<&Url>) -> Result<Hosts, CommandError> {
    let known_as = known_as.and_then(Url::host_str).map(|host| host.trim_matches(['[', ']']));
    let names = names.iter().map(String::as_str).chain(known_as);
    Hosts::new(names).map_err(|error| {
        CommandError::user(format!("--allowed-host: {error}"))
            .with_hint("give a host name without scheme, port or path, such as search.example.org")
    })
}

/// The tokens in a file that nobody else can read.
pub(crate) fn tokens(path: &Path) -> Result<Tokens, CommandError> {
    Tokens::parse(&token_text(path)?).map_err(|error| {
        CommandError::user(format!("{}: {error}", path.display())).with_hint(
            "write a line NAME: TOKEN for each client; openssl rand -hex 16 generates a token",
        )
    })
}

/// The text of a file that nobody else can read.
pub(crate) fn token_text(path: &Path) -> Result<String, CommandError> {
    let cannot = || format!("cannot read the tokens in {}", path.display());
    let is_file = fs_err::metadata(path).user(cannot)?.is_file();
    if !is_file {
        return Err(CommandError::user(cannot()).with_hint("name a regular file"));
    }
    let file = fs_err::File::open(path).user(cannot)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if file.metadata().user(cannot)?.permissions().mode() & 0o077 != 0 {
            let path = path.display();
            return Err(CommandError::user(format!("others can read the tokens in {path}"))
                .with_hint(format!("run chmod 600 {path}")));
        }
    }
    let mut text = String::new();
    file.take(MOST_BYTES).read_to_string(&mut text).user(cannot)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_answers_for_the_name_it_is_known_as() {
        let url = Url::parse("https://compare.example.org/study").expect("an address");
        let given = ["a.example.org".to_owned()];
        let expect = Hosts::new(["a.example.org", "compare.example.org"]).expect("names");
        assert_eq!(hosts(&given, Some(&url)).expect("names"), expect);
        let url = Url::parse("https://[2001:db8::1]:8443/").expect("an address");
        assert_eq!(
            hosts(&[], Some(&url)).expect("names"),
            Hosts::new(["2001:db8::1"]).expect("names")
        );
        assert!(hosts(&["a:80".to_owned()], None).is_err());
    }

    #[test]
    fn other_machines_reach_a_server_only_through_a_guard_or_when_asked_for() {
        let open = Guard::None { insecure: false };
        let secrets = Guard::Secrets { insecure: false };
        for (address, beyond) in [
            ("127.0.0.1:1", false),
            ("127.9.9.9:1", false),
            ("[::1]:1", false),
            ("[::ffff:127.0.0.1]:1", false),
            ("0.0.0.0:1", true),
            ("[::]:1", true),
            ("192.168.1.7:1", true),
            ("[fe80::1]:1", true),
        ] {
            let address = address.parse().expect("an address");
            for guard in [open, secrets] {
                assert_eq!(check(address, guard).is_err(), beyond, "{address}");
                assert_eq!(note(address, guard).is_some(), beyond, "{address}");
            }
            for guard in [
                Guard::Tokens,
                Guard::SecretsOverTls,
                Guard::Secrets { insecure: true },
                Guard::None { insecure: true },
            ] {
                assert!(check(address, guard).is_ok(), "{address} {guard:?}");
            }
        }
    }
}

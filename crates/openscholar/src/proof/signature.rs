//! Signatures of proofs: Ed25519 in OpenSSH's format, over the canonical JSON of `proof.json`.
//!
//! What is signed can be checked without this program: `runs show RUN --proof` prints the signed bytes, and `ssh-keygen -Y
//! verify -n openscholar-proof` takes them with `proof.json.sig`.

use std::path::Path;

use serde::Serialize;
use ssh_key::{Algorithm, HashAlg, LineEnding, PrivateKey, PublicKey, SshSig};

use crate::error::{CommandError, Context as _};

/// What the signature is for, so that one of something else cannot stand in.
pub(crate) const NAMESPACE: &str = "openscholar-proof";

/// A key to sign with.
pub(crate) struct Signer {
    key: PrivateKey,
}

impl Signer {
    /// Reads a private key; one that others may read is refused, as ssh does.
    pub(crate) fn read(path: &Path) -> Result<Self, CommandError> {
        let named = path.display();
        let text =
            fs_err::read_to_string(path).user(|| "cannot read the key to sign with".to_owned())?;
        refuse_shared(path)?;
        let key = PrivateKey::from_openssh(&text)
            .user(|| format!("{named} is not a private key in OpenSSH's format"))
            .map_err(|error| error.with_hint("create one: ssh-keygen -t ed25519 -N '' -f KEY"))?;
        if key.is_encrypted() {
            return Err(CommandError::user(format!("{named} is locked by a passphrase"))
                .with_hint("sign with a key of its own: ssh-keygen -t ed25519 -N '' -f KEY"));
        }
        if key.algorithm() != Algorithm::Ed25519 {
            let algorithm = key.algorithm();
            return Err(CommandError::user(format!("{named} is a key of {algorithm}"))
                .with_hint("proofs are signed with Ed25519: ssh-keygen -t ed25519 -N '' -f KEY"));
        }
        Ok(Self { key })
    }

    /// The armoured signature of `message`.
    pub(crate) fn sign(&self, message: &[u8]) -> Result<String, CommandError> {
        self.key
            .sign(NAMESPACE, HashAlg::Sha512, message)
            .and_then(|signature| signature.to_pem(LineEnding::LF))
            .user(|| "cannot sign the proof".to_owned())
    }

    /// `SHA256:…`, as ssh-keygen prints it.
    pub(crate) fn fingerprint(&self) -> String {
        self.key.public_key().fingerprint(HashAlg::Sha256).to_string()
    }
}

/// A private key is for its owner alone.
#[cfg(unix)]
fn refuse_shared(path: &Path) -> Result<(), CommandError> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs_err::metadata(path)
        .user(|| "cannot read the key to sign with".to_owned())?
        .permissions()
        .mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let named = path.display();
    Err(CommandError::user(format!("{named} may be read by others (mode {:04o})", mode & 0o7777))
        .with_hint(format!("chmod 600 {named}")))
}

/// Other systems keep permissions elsewhere.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "Unix can refuse")]
fn refuse_shared(_path: &Path) -> Result<(), CommandError> {
    Ok(())
}

/// Whose signature a proof has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(crate) enum Signed {
    /// By nobody.
    Unsigned,
    /// By the key with this fingerprint; no signer was asked for, so that nobody says whose it is.
    Anyone {
        /// `SHA256:…`
        key: String,
    },
    /// By a key of the file that was given.
    Known {
        /// `SHA256:…`
        key: String,
        /// Who the file says it is.
        signer: String,
    },
    /// Not by a key of the file that was given.
    Other {
        /// `SHA256:…`
        key: String,
    },
    /// The signature is of something else, or none.
    Invalid {
        /// The reason, for people.
        why: String,
    },
}

impl Signed {
    /// Whether that is enough, where a signer was asked for or not.
    pub(crate) fn holds(&self, signer_asked: bool) -> bool {
        match self {
            Self::Known { .. } => true,
            Self::Unsigned | Self::Anyone { .. } => !signer_asked,
            Self::Other { .. } | Self::Invalid { .. } => false,
        }
    }
}

/// Checks `signature`, the text of `proof.json.sig`, of `message`.
pub(crate) fn verify(message: &[u8], signature: Option<&str>, signers: Option<&Signers>) -> Signed {
    let Some(text) = signature else { return Signed::Unsigned };
    let invalid = |why: String| Signed::Invalid { why };
    let signature = match SshSig::from_pem(text) {
        Ok(signature) => signature,
        Err(error) => return invalid(format!("not a signature of OpenSSH: {error}")),
    };
    let key = PublicKey::from(signature.public_key().clone());
    if key.algorithm() != Algorithm::Ed25519 {
        return invalid(format!("it uses {}, not Ed25519", key.algorithm()));
    }
    if signature.namespace() != NAMESPACE {
        return invalid(format!(
            "it was made for {:?}, not for {NAMESPACE:?}",
            signature.namespace()
        ));
    }
    if key.verify(NAMESPACE, message, &signature).is_err() {
        return invalid("not of this proof".to_owned());
    }
    let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
    match signers {
        None => Signed::Anyone { key: fingerprint },
        Some(signers) => {
            match signers.0.iter().find(|known| known.key.key_data() == key.key_data()) {
                Some(known) => Signed::Known { key: fingerprint, signer: known.name.clone() },
                None => Signed::Other { key: fingerprint },
            }
        }
    }
}

/// The keys whose signatures count.
#[derive(Debug)]
pub(crate) struct Signers(Vec<KnownKey>);

#[derive(Debug)]
struct KnownKey {
    name: String,
    key: PublicKey,
}

impl Signers {
    /// Reads a public key, or a file of allowed signers (`NAME [namespaces="…"] ssh-ed25519 KEY`).
    pub(crate) fn read(path: &Path) -> Result<Self, CommandError> {
        let text = fs_err::read_to_string(path).user(|| "cannot read the signers".to_owned())?;
        let named = path.display();
        let mut keys = Vec::new();
        for (nth, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let known = Self::line(line).map_err(|why| {
                CommandError::user(format!("{named}, line {}: {why}", nth + 1)).with_hint(
                    "give a public key of Ed25519 (KEY.pub), or lines of NAME ssh-ed25519 KEY",
                )
            })?;
            keys.extend(known);
        }
        if keys.is_empty() {
            return Err(CommandError::user(format!("{named} has no key for {NAMESPACE}"))
                .with_hint("give a public key of Ed25519, for example KEY.pub"));
        }
        Ok(Self(keys))
    }

    /// One line; `None` when its key is for other things.
    fn line(line: &str) -> Result<Option<KnownKey>, String> {
        const TYPE: &str = "ssh-ed25519";
        let at = line.find(TYPE).ok_or_else(|| format!("there is no key of {TYPE}"))?;
        let (before, key) = (line[..at].trim(), &line[at..]);
        let key = PublicKey::from_openssh(key).map_err(|error| error.to_string())?;
        let (name, options) = match before.split_once(char::is_whitespace) {
            Some((name, options)) => (name, options.trim()),
            None => (before, ""),
        };
        let name = if name.is_empty() { key.comment() } else { name }.to_owned();
        let names = match options.strip_prefix("namespaces=") {
            _ if options.is_empty() => return Ok(Some(KnownKey { name, key })),
            Some(names) => names.trim_matches('"'),
            // What narrows a key down must not be passed over.
            None => return Err(format!("the option {options:?} is not supported")),
        };
        if names.contains(['"', ' ']) {
            return Err(format!("the option {options:?} is not supported"));
        }
        let ours = names.split(',').any(|name| name == "*" || name == NAMESPACE);
        Ok(ours.then_some(KnownKey { name, key }))
    }
}

#[cfg(test)]
mod tests;

use std::process::{Command, Stdio};

use super::*;

/// A pair of keys, private and public, always the same.
fn pair() -> (String, String) {
    let pair = ssh_key::private::Ed25519Keypair::from_seed(&[7; 32]);
    let mut key = PrivateKey::from(pair);
    key.set_comment("proofs@example.org");
    let private = key.to_openssh(LineEnding::LF).expect("written").to_string();
    (private, key.public_key().to_openssh().expect("written"))
}

/// A folder with the keys as their owner keeps them, and the private one's path.
fn keys() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("key");
    let (private, public) = pair();
    fs_err::write(&path, private).expect("written");
    share(&path, 0o600);
    fs_err::write(folder.path().join("key.pub"), public).expect("written");
    (folder, path)
}

fn share(path: &Path, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let permissions = std::fs::Permissions::from_mode(mode);
        fs_err::set_permissions(path, permissions).expect("set");
    }
    #[cfg(not(unix))]
    let _ = (path, mode);
}

fn signers(folder: &Path, text: &str) -> Result<Signers, CommandError> {
    let path = folder.join("signers");
    fs_err::write(&path, text).expect("written");
    Signers::read(&path)
}

#[test]
fn a_signature_is_of_one_message_and_one_key() {
    let (folder, path) = keys();
    let signer = Signer::read(&path).expect("a key");
    let signature = signer.sign(b"proof").expect("signed");
    let key = signer.fingerprint();
    assert_eq!(verify(b"proof", None, None), Signed::Unsigned);
    assert_eq!(verify(b"proof", Some(&signature), None), Signed::Anyone { key: key.clone() });
    let known = Signers::read(&folder.path().join("key.pub")).expect("a public key");
    let by = verify(b"proof", Some(&signature), Some(&known));
    assert_eq!(by, Signed::Known { key: key.clone(), signer: "proofs@example.org".to_owned() });
    for (message, signature) in [
        (&b"prooF"[..], signature.clone()),
        (b"proof", signature.replacen('\n', "\nAAAA", 1)),
        (b"proof", "no signature".to_owned()),
        (b"proof", String::new()),
        (b"proof", signature.replace("SSH SIGNATURE", "RSA SIGNATURE")),
    ] {
        let signed = verify(message, Some(&signature), None);
        assert!(matches!(signed, Signed::Invalid { .. }), "{signed:?}");
        assert!(!signed.holds(false) && !signed.holds(true));
    }
    let other = signer.key.sign("file", HashAlg::Sha512, b"proof").expect("signed");
    let other = other.to_pem(LineEnding::LF).expect("armoured");
    let Signed::Invalid { why } = verify(b"proof", Some(&other), None) else { panic!("accepted") };
    assert!(why.contains("made for \"file\""), "{why}");
    assert!(Signed::Unsigned.holds(false) && !Signed::Unsigned.holds(true));
    assert!(Signed::Anyone { key: key.clone() }.holds(false) && !Signed::Other { key }.holds(true));
}

#[test]
fn signers_are_public_keys_and_lists() {
    let (folder, path) = keys();
    let signature = Signer::read(&path).expect("a key").sign(b"x").expect("signed");
    let key = pair().1.split_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>().join(" ");
    for line in [
        format!("me@example.org {key}"),
        format!("# ours\n\nme@example.org namespaces=\"file,openscholar-proof\" {key}"),
        format!("me@example.org namespaces=\"*\" {key} a comment"),
    ] {
        let known = signers(folder.path(), &line).expect("a key");
        let Signed::Known { signer, .. } = verify(b"x", Some(&signature), Some(&known)) else {
            panic!("{line}");
        };
        assert_eq!(signer, "me@example.org");
    }
    let other = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti";
    let known = signers(folder.path(), other).expect("a key");
    assert!(matches!(verify(b"x", Some(&signature), Some(&known)), Signed::Other { .. }));
    for (text, says) in [
        (String::new(), "no key for"),
        (format!("me namespaces=\"file\" {key}"), "no key for"),
        (format!("me cert-authority {key}"), "not supported"),
        (format!("me valid-before=\"20200101\" {key}"), "not supported"),
        (format!("me namespaces=\"*\" valid-before=\"20200101\" {key}"), "not supported"),
        ("me ssh-rsa AAAA".to_owned(), "line 1"),
        ("ssh-ed25519 AAAA".to_owned(), "line 1"),
    ] {
        let error = signers(folder.path(), &text).expect_err("refused").to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
}

#[test]
fn keys_that_cannot_sign_are_refused_with_the_way_out() {
    let (folder, path) = keys();
    #[cfg(unix)]
    {
        share(&path, 0o644);
        let error = Signer::read(&path).err().expect("refused");
        assert!(error.to_string().contains("may be read by others (mode 0644)"), "{error}");
        assert!(error.hints[0].starts_with("chmod 600 "), "{:?}", error.hints);
        share(&path, 0o600);
    }
    let (private, public) = pair();
    for text in ["", "not a key", &public, &private[..100]] {
        fs_err::write(&path, text).expect("written");
        let error = Signer::read(&path).err().expect("refused");
        assert!(error.to_string().contains("not a private key"), "{error}");
    }
    fs_err::write(&path, include_str!("locked_key")).expect("written");
    let error = Signer::read(&path).err().expect("refused").to_string();
    assert!(error.contains("locked by a passphrase"), "{error}");
    let absent = Signer::read(&folder.path().join("none")).err().expect("refused").to_string();
    assert!(absent.contains("cannot read"), "{absent}");
}

/// The program that everybody has agrees, where it is installed.
#[test]
fn ssh_keygen_verifies_what_is_signed_here_and_signs_what_is_verified_here() {
    let ssh_keygen = || {
        let mut command = Command::new("ssh-keygen");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    if ssh_keygen().arg("-?").output().is_err() {
        eprintln!("skipped: ssh-keygen is not installed");
        return;
    }
    let fed = |command: &mut Command, input: &[u8]| {
        use std::io::Write as _;
        let mut child = command.spawn().expect("starts");
        child.stdin.take().expect("piped").write_all(input).expect("written");
        child.wait_with_output().expect("ends")
    };
    let (folder, path) = keys();
    let at = |name: &str| folder.path().join(name);
    fs_err::write(at("allowed"), format!("me {}", pair().1)).expect("written");
    let signature = Signer::read(&path).expect("a key").sign(b"{\"a\":1}").expect("signed");
    fs_err::write(at("sig"), signature).expect("written");
    let check = |message: &[u8]| {
        let mut command = ssh_keygen();
        command.args(["-Y", "verify", "-I", "me", "-n", NAMESPACE]);
        command.arg("-f").arg(at("allowed")).arg("-s").arg(at("sig"));
        fed(&mut command, message)
    };
    let good = check(b"{\"a\":1}");
    assert!(good.status.success(), "{}", String::from_utf8_lossy(&good.stderr));
    assert!(!check(b"{\"a\":2}").status.success());

    let mut command = ssh_keygen();
    command.args(["-Y", "sign", "-n", NAMESPACE]).arg("-f").arg(&path);
    let signed = fed(&mut command, b"theirs");
    let theirs = String::from_utf8_lossy(&signed.stdout);
    let by = verify(b"theirs", Some(&theirs), None);
    assert!(matches!(by, Signed::Anyone { .. }), "{by:?}");
}

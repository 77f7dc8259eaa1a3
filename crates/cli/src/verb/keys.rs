//! Keys that sign and keys that are trusted: made, read, never shown.

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use oauth::jose::{Jwk, JwkSet, Signer};
use serde_json::{Value, json};

use crate::args::sign::{Algorithm, KeygenArgs, SignArgs};
use crate::exit::{self, Exit, usage};
use crate::verb::{given_file, output};

/// The most bytes of a key or a set of keys.
const LONGEST: u64 = 256 << 10;

/// A key that signs, with its name.
pub(super) struct NamedSigner {
    pub(super) signer: Signer,
    pub(super) kid: String,
    /// The public half.
    pub(super) public: Value,
}

/// Makes a key.
pub(crate) fn keygen(args: &KeygenArgs) -> Exit {
    made(args).err().unwrap_or(Exit::Clean)
}

fn made(args: &KeygenArgs) -> Result<(), Exit> {
    if let Some(path) = &args.public {
        output::distinct(&[&args.output, path], &[])?;
    }
    let (signer, text) = match args.alg {
        Algorithm::Eddsa => Signer::fresh_edwards_with_text(),
        Algorithm::Es256 => Signer::fresh_with_text(),
    };
    let key = named(signer);
    let set = format!("{}\n", serde_json::to_string_pretty(&json!({ "keys": [key.public] })).unwrap_or_default());
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&args.output);
    let mut file = file.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            usage(&format!("{} exists", output::shown(&args.output)), "another --output; a key is never overwritten")
        }
        _ => output::unwritable(&args.output, &error.to_string()),
    })?;
    // The public half first: a key that nobody can verify must not stay behind.
    let written = output::publish(args.public.as_deref(), &set).and_then(|()| {
        let written = file.write_all(text.reveal().as_bytes());
        written.map_err(|error| output::unwritable(&args.output, &error.to_string()))
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&args.output);
    }
    written
}

/// A key with its thumbprint as its name.
fn named(signer: Signer) -> NamedSigner {
    let jwk = signer.public();
    let kid = jwk.as_ref().and_then(Jwk::thumbprint).unwrap_or_default();
    let public = serde_json::to_value(jwk.map(|jwk| Jwk { kid: Some(kid.clone()), ..jwk })).unwrap_or_default();
    NamedSigner { signer, kid, public }
}

/// The keys that sign.
pub(super) fn signers(args: &SignArgs) -> Result<Vec<NamedSigner>, Exit> {
    let mut keys = Vec::new();
    for path in &args.key {
        keys.push(read(&file(path)?, &output::shown(path))?);
    }
    for variable in &args.key_env {
        let text = std::env::var(variable).map_err(|_| {
            let what = format!("environment variable {} is not set", wire::escape::line(variable));
            usage(&what, "export it, then run the command again")
        })?;
        keys.push(read(&text, variable)?);
    }
    if args.key_stdin {
        let mut stdin = std::io::stdin();
        if stdin.is_terminal() {
            return Err(usage(
                "--key-stdin reads a pipe, not a terminal",
                "pipe the key in: cat key.pem | proof sign …",
            ));
        }
        let mut text = String::new();
        let read_all = stdin.by_ref().take(LONGEST).read_to_string(&mut text);
        read_all.map_err(|error| usage(&format!("cannot read the key from stdin: {error}"), "pipe in a PEM text"))?;
        keys.push(read(&text, "stdin")?);
    }
    if keys.is_empty() {
        return Err(usage("no key given", "--key FILE, --key-env VAR or --key-stdin; `proof keygen` makes one"));
    }
    Ok(keys)
}

/// The text of a key file that only its owner can read.
fn file(path: &Path) -> Result<String, Exit> {
    let shown = output::shown(path);
    let unreadable = |error: std::io::Error| usage(&format!("cannot read {shown}: {error}"), "check the path");
    let mode = std::fs::metadata(path).map_err(unreadable)?.mode();
    if mode & 0o077 != 0 {
        return Err(usage(
            &format!("others can read the key {shown} (mode {:04o})", mode & 0o777),
            &format!("chmod 600 {shown}"),
        ));
    }
    given_file::text(path, LONGEST).map_err(unreadable)
}

fn read(pem: &str, shown: &str) -> Result<NamedSigner, Exit> {
    exit::learn(pem);
    let signer = Signer::from_pem(pem, "EdDSA").or_else(|_| Signer::from_pem(pem, "ES256"));
    signer.map(named).map_err(|_| {
        let what = format!("{} holds no key that signs manifests", wire::escape::line(shown));
        usage(&what, "a private key in PEM (PKCS #8), Ed25519 or P-256: `proof keygen`")
    })
}

/// The keys of a JWK set. Keys without a name get their thumbprint.
pub(super) fn trusted(path: &Path) -> Result<Vec<Value>, Exit> {
    let shown = output::shown(path);
    let wrong =
        |why: String| usage(&format!("{shown} is not a JWK set: {why}"), "use the public keys of `proof keygen`");
    let text = given_file::text(path, LONGEST).map_err(|error| wrong(error.to_string()))?;
    let value = lock::strict::read(&text, lock::strict::Integers::Doubles).map_err(|why| wrong(why.to_string()))?;
    let set = JwkSet::read(&value).ok_or_else(|| wrong("no list `keys`".to_owned()))?;
    if set.keys.is_empty() {
        return Err(wrong("no public key that is understood".to_owned()));
    }
    let name = |key: Jwk| Jwk { kid: key.kid.clone().or_else(|| key.thumbprint()), ..key };
    Ok(set.keys.into_iter().map(name).filter_map(|key| serde_json::to_value(key).ok()).collect())
}

/// Whether a signature is that of a public key.
pub(super) fn verifies(key: &Value, alg: &str, message: &[u8], signature: &[u8]) -> bool {
    // A key that was published for one name of Ed25519 is one for the other.
    let read = |key: &Value| Jwk::read(key).map(|key| Jwk { alg: key.alg.clone().filter(|_| key.kty != "OKP"), ..key });
    read(key).is_some_and(|key| key.verifies(alg, message, signature))
}

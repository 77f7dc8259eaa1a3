//! Options of `proof keygen`, `proof sign` and `proof verify`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use url::Url;

use super::address::server;
use super::lock::TargetArgs;
use super::output::Destination;

/// Make a key that signs manifests
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof keygen -o signing.pem > keys.json
  proof keygen --alg es256 -o signing.pem --public keys.json

The key (PEM, PKCS #8) goes to a new file that only its owner can read. The
public half is a JWK set; its `kid` is the key's thumbprint (RFC 7638).

Exit codes: 0 made; 2 usage error or a file that exists; 4 bug in proof.")]
pub(crate) struct KeygenArgs {
    /// Algorithm
    #[arg(long, value_enum, default_value = "eddsa")]
    pub(crate) alg: Algorithm,
    /// Write the private key to FILE, which must not exist
    #[arg(long, short, value_name = "FILE", required = true)]
    pub(crate) output: PathBuf,
    /// Write the public key to FILE instead of stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) public: Option<PathBuf>,
}

/// An algorithm that signs.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Algorithm {
    /// Ed25519
    Eddsa,
    /// ECDSA on P-256
    Es256,
}

/// Sign a manifest of a locked server
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof sign --key signing.pem -o manifest.json
  proof sign --key-env SIGNING_KEY --name shop --provider 'Shop Inc.' \\
             --permission orders:write --expires 2027-11-26T00:00:00Z
  vault read -field=pem signing | proof sign --key-stdin -o manifest.json
  proof sign --key old.pem --key new.pem -o manifest.json   Change the key
  proof sign --key signing.pem --dsse manifest.intoto.json

Signs the digests in the lock: JWS (RFC 7515) over canonical JSON (RFC 8785).
Private keys are never passed as command-line arguments.

Exit codes: 0 signed; 2 usage error, invalid lock or key; 4 bug in proof.")]
pub(crate) struct SignArgs {
    /// Private key (PEM, PKCS #8), mode 0600 (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Keys")]
    pub(crate) key: Vec<PathBuf>,
    /// Environment variable with a private key (repeatable)
    #[arg(long, value_name = "VAR", help_heading = "Keys")]
    pub(crate) key_env: Vec<String>,
    /// Read a private key from stdin
    #[arg(long, help_heading = "Keys")]
    pub(crate) key_stdin: bool,
    /// Lock file
    #[arg(long, value_name = "FILE", default_value = "mcp.lock", help_heading = "Manifest")]
    pub(crate) lock: PathBuf,
    /// Name of the server in the lock [default: the only one]
    #[arg(long, value_name = "NAME", help_heading = "Manifest")]
    pub(crate) name: Option<String>,
    /// Name of the server's provider
    #[arg(long, value_name = "NAME", help_heading = "Manifest")]
    pub(crate) provider: Option<String>,
    /// Permission or scope that the server needs; TOOL=SCOPE for one tool
    /// (repeatable)
    #[arg(long, value_name = "[TOOL=]SCOPE", help_heading = "Manifest")]
    pub(crate) permission: Vec<String>,
    /// When the manifest expires, such as 2027-11-26T00:00:00Z
    #[arg(long, value_name = "TIME", help_heading = "Manifest")]
    pub(crate) expires: Option<String>,
    #[command(flatten)]
    pub(crate) to: Destination,
    /// Also write it as an in-toto statement (DSSE) to FILE
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) dsse: Option<PathBuf>,
}

/// Verify a manifest, and that a server is the one that was signed
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof verify manifest.json --keys keys.json
  proof verify manifest.json --keys keys.json -- npx -y my-server@1.2.3
  proof verify manifest.json --lock mcp.lock --pin
  proof verify manifest.json --lock mcp.lock http://127.0.0.1:3000/mcp
  proof verify https://shop.example/mcp --keys keys.json

With the URL of a server, the manifest is the one that it publishes at
/.well-known/mcp-manifest.json, and the server is verified, too.

The state is unsigned, unsupported, unknown-key, verified or tampered. With
--lock, the keys pinned there count, and older manifests are refused. --pin
writes the keys to the lock: on first use those that the manifest names.

Exit codes: 0 verified; 1 any other state, expired, rolled back, or another
server; 2 usage error or invalid file; 3 no MCP answer; 4 bug in proof.")]
pub(crate) struct VerifyArgs {
    /// Manifest or DSSE envelope: a file, the URL of a .json document, or the
    /// URL of a server
    #[arg(value_name = "MANIFEST", value_parser = manifest_or_server)]
    pub(crate) manifest: ManifestPlace,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Public keys to trust: a JWK set
    #[arg(long, value_name = "FILE", help_heading = "Trust")]
    pub(crate) keys: Option<PathBuf>,
    /// Lock with the pinned keys and the digests that were reviewed
    #[arg(long, value_name = "FILE", help_heading = "Trust")]
    pub(crate) lock: Option<PathBuf>,
    /// Name of the server in the lock [default: the manifest's]
    #[arg(long, value_name = "NAME", requires = "lock", help_heading = "Trust")]
    pub(crate) name: Option<String>,
    /// Pin the keys and remember the manifest in the lock
    #[arg(long, requires = "lock", help_heading = "Trust")]
    pub(crate) pin: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "human", help_heading = "Output")]
    pub(crate) format: VerifyFormat,
    #[command(flatten)]
    pub(crate) to: Destination,
}

/// Where a manifest is.
#[derive(Clone)]
pub(crate) enum ManifestPlace {
    /// At the well-known path of the server.
    Auto,
    /// At this address.
    Url(Url),
    /// In this file.
    File(PathBuf),
}

/// A file, the URL of a manifest, or `auto`; `./auto` names a file.
pub(crate) fn manifest(text: &str) -> Result<ManifestPlace, String> {
    if text == "auto" { Ok(ManifestPlace::Auto) } else { place(text, &["http", "https"]) }
}

/// A file, the URL of a manifest, or that of a server.
fn manifest_or_server(text: &str) -> Result<ManifestPlace, String> {
    place(&server(text).unwrap_or_else(|| text.to_owned()), &["http", "https", "ws", "wss"])
}

fn place(text: &str, schemes: &[&str]) -> Result<ManifestPlace, String> {
    if !text.contains("://") {
        return Ok(ManifestPlace::File(text.into()));
    }
    let url = Url::parse(text).ok().filter(|url| schemes.contains(&url.scheme()) && url.has_host());
    url.map(ManifestPlace::Url).ok_or_else(|| format!("expected a file, or a URL with {}://", schemes.join(":// or ")))
}

/// The output format of a verification.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerifyFormat {
    /// Text
    Human,
    /// One JSON document: proof.verification/1
    Json,
}

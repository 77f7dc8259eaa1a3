//! `proof keygen`, `proof sign`, `proof verify`: from a key to a verified server, and what is refused on the way.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::BEFORE;
use crate::locks::{SERVER, locked};
use crate::ran::{PROOF, ends_with, proof};

/// A folder with a locked server, a key, its public half, and a signed manifest.
pub(crate) fn signed() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    ends_with(0, &locked(folder.path(), BEFORE, &[]));
    key(folder.path(), "key", "eddsa");
    sign(folder.path(), &["--key", "key.pem", "--provider", "Shop Inc.", "--permission", "buy=orders:write"]);
    folder
}

pub(crate) fn key(folder: &Path, name: &str, alg: &str) {
    let (file, public) = (format!("{name}.pem"), format!("{name}.json"));
    ends_with(0, &proof(folder, &["keygen", "--alg", alg, "-o", &file, "--public", &public]));
}

pub(crate) fn sign(folder: &Path, arguments: &[&str]) {
    ends_with(0, &proof(folder, &[&["sign", "-o", "manifest.json"], arguments].concat()));
}

fn verify(folder: &Path, arguments: &[&str]) -> Output {
    proof(folder, &[&["verify", "manifest.json"], arguments].concat())
}

pub(crate) fn read(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join(name)).expect(name)).expect(name)
}

pub(crate) fn write(folder: &Path, name: &str, value: &Value) {
    std::fs::write(folder.join(name), value.to_string()).expect(name);
}

#[test]
fn a_key_is_private_and_never_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    for alg in ["eddsa", "es256"] {
        key(folder, alg, alg);
        let file = folder.join(format!("{alg}.pem"));
        assert_eq!(file.metadata().expect("a key").permissions().mode() & 0o777, 0o600);
        let public = read(folder, &format!("{alg}.json"));
        let members: Vec<&String> = public["keys"][0].as_object().expect("a key").keys().collect();
        assert!(!members.iter().any(|member| *member == "d") && public["keys"][0]["kid"].is_string(), "{public}");
    }
    let said = ends_with(2, &proof(folder, &["keygen", "-o", "eddsa.pem"]));
    assert!(said.contains("never overwritten"), "{said}");
}

/// One file for two purposes would lose the key, whatever its path is called.
#[test]
fn no_output_replaces_a_key() {
    let folder = signed();
    let folder = folder.path();
    std::os::unix::fs::symlink("k.pem", folder.join("link")).expect("a link");
    for public in ["k.pem", "./k.pem", "link"] {
        let said = ends_with(2, &proof(folder, &["keygen", "-o", "k.pem", "--public", public]));
        assert!(said.contains("k.pem") && !folder.join("k.pem").exists(), "{public}: {said}");
    }
    // Without its public half, no key stays behind.
    ends_with(2, &proof(folder, &["keygen", "-o", "k.pem", "--public", "none/keys.json"]));
    assert!(!folder.join("k.pem").exists());
    ends_with(0, &proof(folder, &["keygen", "-o", "k.pem", "--public", "/dev/null"]));
    let before = std::fs::read(folder.join("key.pem")).expect("a key");
    for outputs in [&["-o", "./key.pem"][..], &["--dsse", "key.pem"], &["-o", "mcp.lock"], &["-o", "m", "--dsse", "m"]]
    {
        let said = ends_with(2, &proof(folder, &[&["sign", "--key", "key.pem"], outputs].concat()));
        assert!(said.contains("are the same file"), "{said}");
    }
    assert_eq!(std::fs::read(folder.join("key.pem")).expect("a key"), before);
}

#[test]
fn a_server_is_verified_from_key_to_lists() {
    let folder = signed();
    let folder = folder.path();
    let manifest = read(folder, "manifest.json");
    assert_eq!(manifest["tools"][0]["permissions"], json!(["orders:write"]));
    assert_eq!(manifest["provider"]["name"], "Shop Inc.");
    let said = ends_with(0, &verify(folder, &[&["--keys", "key.json"], &SERVER[..]].concat()));
    assert!(said.starts_with("shop 1: verified: signed by the key"), "{said}");
    std::fs::write(folder.join("shop.yaml"), BEFORE.replace("Looks.", "Looks!")).expect("a file");
    let said = ends_with(1, &verify(folder, &[&["--keys", "key.json"], &SERVER[..]].concat()));
    assert!(said.contains("refused: tool look is not the one that was signed"), "{said}");
    // The same as an envelope, by a key of the other kind, from the environment and from stdin.
    key(folder, "curve", "es256");
    let pem = std::fs::read_to_string(folder.join("curve.pem")).expect("a key");
    let mut command = Command::new(PROOF);
    command.args(["sign", "--key-env", "SIGNING", "-o", "manifest.json", "--dsse", "envelope.json"]);
    let signed = command.env("SIGNING", &pem).current_dir(folder).output().expect("it runs");
    ends_with(0, &signed);
    ends_with(0, &proof(folder, &["verify", "envelope.json", "--keys", "curve.json"]));
    ends_with(0, &verify(folder, &["--keys", "curve.json"]));
    let mut command = Command::new(PROOF);
    command.args(["sign", "--key-stdin", "-o", "manifest.json"]).current_dir(folder).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), pem.as_bytes()).expect("it reads");
    ends_with(0, &child.wait_with_output().expect("it ends"));
    ends_with(0, &verify(folder, &["--keys", "curve.json"]));
}

#[test]
fn only_a_verified_manifest_passes() {
    let folder = signed();
    let folder = folder.path();
    let good = read(folder, "manifest.json");
    let state = |expected: &str, arguments: &[&str]| {
        let ran = verify(folder, &[arguments, &["--format", "json"]].concat());
        let report: Value = serde_json::from_slice(&ran.stdout).expect("one JSON document");
        assert_eq!(report["state"], expected, "{report}");
        assert_eq!(ran.status.code(), Some(i32::from(expected != "verified")), "{report}");
    };
    state("verified", &["--keys", "key.json"]);
    state("unknown-key", &[]);
    key(folder, "other", "eddsa");
    state("unknown-key", &["--keys", "other.json"]);
    let edited = |edit: &dyn Fn(&mut Value)| {
        let mut manifest = good.clone();
        edit(&mut manifest);
        write(folder, "manifest.json", &manifest);
    };
    edited(&|v| v["tools"][0]["permissions"] = json!(["everything"]));
    state("tampered", &["--keys", "key.json"]);
    edited(&|v| drop(v.as_object_mut().unwrap().remove("signatures")));
    state("unsigned", &["--keys", "key.json"]);
    // {"alg":"RS256","kid":"k","typ":"JOSE"}, and the same with HS256.
    let header = |header: &'static str| move |v: &mut Value| v["signatures"][0]["protected"] = json!(header);
    edited(&header("eyJhbGciOiJSUzI1NiIsImtpZCI6ImsiLCJ0eXAiOiJKT1NFIn0"));
    state("unsupported", &["--keys", "key.json"]);
    edited(&header("eyJhbGciOiJIUzI1NiIsImtpZCI6ImsiLCJ0eXAiOiJKT1NFIn0"));
    state("tampered", &["--keys", "key.json"]);
    std::fs::write(
        folder.join("manifest.json"),
        good.to_string().replacen("{\"schema\"", "{\"schema\":1,\"schema\"", 1),
    )
    .unwrap();
    assert!(ends_with(2, &verify(folder, &["--keys", "key.json"])).contains("repeated"));
}

#[test]
fn keys_are_pinned_changed_by_both_and_never_rolled_back() {
    let folder = signed();
    let folder = folder.path();
    let lock = ["--lock", "mcp.lock"];
    let with_pin = ["--lock", "mcp.lock", "--pin"];
    ends_with(1, &verify(folder, &lock));
    let said = ends_with(0, &verify(folder, &with_pin));
    assert!(said.contains("pinned on first use"), "{said}");
    ends_with(0, &verify(folder, &lock));
    let first = read(folder, "manifest.json");
    // Another key alone is not taken, and pinning does not change that.
    key(folder, "new", "es256");
    sign(folder, &["--key", "new.pem"]);
    for arguments in [&lock[..], &with_pin[..], &["--lock", "mcp.lock", "--keys", "new.json"][..]] {
        let said = ends_with(1, &verify(folder, arguments));
        assert!(said.contains("unknown-key"), "{said}");
    }
    // Signed by both, the new one is.
    sign(folder, &["--key", "key.pem", "--key", "new.pem"]);
    ends_with(0, &verify(folder, &with_pin));
    sign(folder, &["--key", "new.pem"]);
    ends_with(0, &verify(folder, &lock));
    // A manifest from before is no longer taken, good as its signature is.
    write(folder, "manifest.json", &first);
    let said = ends_with(1, &verify(folder, &lock));
    assert!(said.contains("refused: rollback: issued at"), "{said}");
    // The lock is still one: approvals keep what is pinned.
    let said = ends_with(1, &locked(folder, &BEFORE.replace("Looks.", "Looks!"), &["--check"]));
    assert!(said.contains("immutable version broken"), "{said}");
    ends_with(
        0,
        &locked(folder, &BEFORE.replace("Looks.", "Looks!"), &["--approve", "*", "--by", "a", "--reason", "b"]),
    );
    let servers = read(folder, "mcp.lock")["servers"].clone();
    assert_eq!(servers["shop"]["keys"].as_array().map(Vec::len), Some(2));
    // The same version with other definitions is refused, signed or not.
    sign(folder, &["--key", "new.pem"]);
    let said = ends_with(1, &verify(folder, &lock));
    assert!(said.contains("version 1 was signed before with other definitions"), "{said}");
}

#[test]
fn keys_that_others_can_read_and_texts_that_are_no_keys_are_refused() {
    let folder = signed();
    let folder = folder.path();
    let file = folder.join("key.pem");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("permissions");
    let said = ends_with(2, &proof(folder, &["sign", "--key", "key.pem"]));
    assert!(said.contains("others can read the key") && said.contains("chmod 600"), "{said}");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("permissions");
    std::fs::write(&file, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n").expect("a file");
    assert!(ends_with(2, &proof(folder, &["sign", "--key", "key.pem"])).contains("holds no key that signs"));
    assert!(ends_with(2, &proof(folder, &["sign"])).contains("no key given"));
    assert!(ends_with(2, &proof(folder, &["sign", "--key-env", "NO_SUCH_KEY"])).contains("is not set"));
    assert!(ends_with(2, &verify(folder, &["--keys", "mcp.lock"])).contains("is not a JWK set"));
    std::fs::write(folder.join("manifest.json"), "{}").expect("a file");
    assert!(ends_with(2, &verify(folder, &["--keys", "key.json"])).contains("is not a manifest"));
}

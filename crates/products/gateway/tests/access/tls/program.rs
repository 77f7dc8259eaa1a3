//! The program `proof-gateway` with a certificate: what it checks before it serves, and that it takes other files over.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use net::Children;
use net::client::{Address, HttpAddress, Identity};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{ChildStderr, Command};
use tokio::time::{Duration, timeout};
use url::Url;

use super::pki::{Authority, Made};
use super::{Client, Options, greets};
use crate::LOCAL;

fn configuration(folder: &Path, Identity { certificate, key }: &Identity, upstream: &str, clients: &str) {
    let (certificate, key) = (certificate.display(), key.display());
    let text = format!(
        "listen:\n  address: 127.0.0.1:0\n  tls:\n    certificate: {certificate}\n    key: {key}\n{clients}\
         upstreams: {{ a: {{ url: \"{upstream}\" }} }}\n"
    );
    fs::write(folder.join("gateway.yaml"), text).expect("a file");
}

fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proof-gateway"));
    command.current_dir(folder).args(["--config", "gateway.yaml"]).kill_on_drop(true);
    command
}

async fn checked(folder: &Path) -> (bool, String) {
    let output = program(folder).arg("--check-config").output().await.expect("it runs");
    (output.status.success(), String::from_utf8(output.stderr).expect("a text"))
}

#[tokio::test]
async fn files_are_checked_before_the_gateway_serves() {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path(), "servers", None);
    let good = authority.signs("mcp.example", Made::Usual);
    let check = async |identity: &Identity, clients: &str| {
        configuration(folder.path(), identity, "http://127.0.0.1:9/mcp", clients);
        checked(folder.path()).await
    };
    fs::set_permissions(&good.key, Permissions::from_mode(0o600)).expect("permissions");
    let (fits, said) = check(&good, "").await;
    assert!(fits && said.contains("the certificate of mcp.example expires at 2090-01-01T00:00:00"), "{said}");
    assert!(!said.contains("warning"), "{said}");
    fs::set_permissions(&good.key, Permissions::from_mode(0o644)).expect("permissions");
    let (fits, said) = check(&good, "").await;
    assert!(fits && said.contains("warning: every user of this machine can read "), "{said}");
    let other = authority.signs("other.example", Made::Usual);
    let swapped = Identity { key: other.key.clone(), ..good.clone() };
    let not_pem = Identity { certificate: folder.path().join("gateway.yaml"), ..good.clone() };
    let no_key = Identity { key: good.certificate.clone(), ..good.clone() };
    let roots = |file: &str| format!("    clients: {{ roots: {file} }}\n");
    for (identity, clients, why) in [
        (&swapped, String::new(), "is not the key of the certificate"),
        (&authority.signs("mcp.example", Made::Expired), String::new(), "has expired"),
        (&not_pem, String::new(), "holds no certificate"),
        (&no_key, String::new(), "holds no private key"),
        (&good, roots("missing.pem"), "missing.pem: "),
        (&good, roots("gateway.yaml"), "gateway.yaml: holds no certificate"),
    ] {
        let (fits, said) = check(identity, &clients).await;
        assert!(!fits && said.contains(why) && !said.contains("no mistakes found"), "{why}: {said}");
    }
}

/// Reads what the program says until a line contains `text`; the line.
async fn said(lines: &mut Lines<BufReader<ChildStderr>>, text: &str) -> String {
    let read = async {
        loop {
            let line = lines.next_line().await.expect("a line").unwrap_or_else(|| panic!("it ended before {text}"));
            if line.contains(text) {
                return line;
            }
        }
    };
    timeout(Duration::from_secs(30), read).await.unwrap_or_else(|_| panic!("it does not say {text}"))
}

async fn hang_up(pid: u32) {
    let sent = Command::new("kill").args(["-HUP", &pid.to_string()]).status().await.expect("it runs");
    assert!(sent.success());
}

#[tokio::test]
async fn the_program_takes_other_certificates_over_without_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let [old, new] = ["old", "new"].map(|name| Authority::new(folder.path(), name, None));
    let [used, later] = [&old, &new].map(|authority| authority.signs("127.0.0.1", Made::Usual));
    let client = old.signs("agent.example", Made::Usual);
    let upstream = reference::Server::new(reference::Options::default()).http(LOCAL).await.expect("a free port");
    let clients = format!("    clients: {{ roots: {} }}\n", old.file().display());
    configuration(folder.path(), &used, &format!("http://{}/mcp", upstream.local_addr()), &clients);
    let mut gateway = program(folder.path()).stderr(Stdio::piped()).spawn().expect("it runs");
    let pid = gateway.id().expect("it runs");
    let mut lines = BufReader::new(gateway.stderr.take().expect("its messages")).lines();
    let line = said(&mut lines, " leads to a").await;
    let at = line.split_whitespace().find(|word| word.starts_with("https://")).expect("an address");
    let url = Url::parse(at).expect("a URL");
    let connect = async |authority: &Authority, identity: Option<&Identity>| {
        let (ca, identity) = (Some(authority.file()), identity.cloned());
        let address = HttpAddress { ca, identity, ..HttpAddress::new(url.clone()) };
        Client::connect(Options::new(Address::Http(address), &Children::new())).await
    };
    let first = connect(&old, Some(&client)).await.expect("it is let in");
    assert!(greets(&first).await);
    assert!(connect(&old, None).await.is_err(), "no certificate");
    fs::copy(&later.key, &used.key).expect("a copy");
    hang_up(pid).await;
    said(&mut lines, "is not the key of the certificate").await;
    connect(&old, Some(&client)).await.expect("the old certificate is still there").close().await;
    fs::copy(&later.certificate, &used.certificate).expect("a copy");
    hang_up(pid).await;
    said(&mut lines, "certificate read again").await;
    let second = connect(&new, Some(&client)).await.expect("the new certificate");
    assert!(greets(&second).await);
    assert!(connect(&old, Some(&client)).await.is_err(), "the old certificate is gone");
    for client in [first, second] {
        client.close().await;
    }
    gateway.kill().await.expect("it ends");
}

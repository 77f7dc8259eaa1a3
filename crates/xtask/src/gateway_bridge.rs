//! `cargo xtask bridge`: `proof client` gets tokens of the gateway, whose users sign in at a real provider of OpenID Connect
//! (`oidc-provider`) that registers no clients. A browser without a window answers the page.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};
use serde_json::json;

use crate::gateway_matrix::build;
use crate::peers::{Home, ProcessGroup, free_port, proof, wait_until_listening};
use crate::served::Served;
use crate::words::{Words, help};
use crate::{Verdict, root};

const USAGE: &str = "usage: cargo xtask bridge [--proof PATH] [--gateway PATH]

  --proof PATH     use this binary instead of building `proof` first
  --gateway PATH   use this binary instead of building `proof-gateway` first";

/// What `proof client` exits with where there is no token.
const NOT_AUTHORIZED: i32 = 3;

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let (mut given_proof, mut given_gateway) = (None::<PathBuf>, None::<PathBuf>);
    let mut words = Words::of(args, USAGE);
    while let Some(option) = words.option() {
        match option {
            "--proof" => given_proof = Some(words.value()?.into()),
            "--gateway" => given_gateway = Some(words.value()?.into()),
            _ => return Err(words.unknown()),
        }
    }
    let home = Home::new(&root());
    let (node, scripts) = home.install_provider()?;
    let gateway = match given_gateway {
        Some(path) => path.canonicalize().with_context(|| format!("--gateway {}", path.display()))?,
        None => build()?,
    };
    let proof = proof(given_proof.as_deref())?;
    let folder = root().join("target/bridge");
    fs::create_dir_all(&folder)?;
    let (own, port) = (free_port()?, free_port()?);
    let _provider = provider(&[&node, &scripts], (port, own), &folder)?;
    let mut serve = Command::new(&proof);
    serve.args(["serve", "--http", "127.0.0.1:0"]);
    let server = Served::start(serve)?;
    let _gateway = start(&gateway, server.url(), (port, own), &folder)?;
    let place = Place { proof, node, browser: scripts.join("browser.mjs"), url: format!("http://127.0.0.1:{own}/mcp") };
    for (answer, code) in [("allow", 0), ("deny", NOT_AUTHORIZED), ("allow", 0)] {
        let (status, printed, visited) = place.client(answer)?;
        ensure!(status == Some(code), "{answer}: `proof client` exits with {status:?}, not {code}: {visited}");
        ensure!(printed.contains("echo") == (code == 0), "{answer}: {printed}");
        let at_provider = visited.contains(&format!("127.0.0.1:{port}/auth"));
        ensure!(at_provider == (code == 0), "{answer}: the browser came to {visited}");
        println!("{answer}: {} pages, exit code {code}", visited.lines().count());
    }
    Ok(true)
}

struct Place {
    proof: PathBuf,
    node: PathBuf,
    browser: PathBuf,
    url: String,
}

impl Place {
    /// What `proof client tools` exits with and prints, and where the browser came to on the way.
    fn client(&self, answer: &str) -> anyhow::Result<(Option<i32>, String, String)> {
        let mut command = Command::new(&self.proof);
        command.args(["client", "--oauth=browser", "tools", &self.url]);
        let mut client = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let mut stderr = BufReader::new(client.stderr.take().context("no standard error")?);
        let (mut said, mut address) = (String::new(), None);
        while address.is_none() && stderr.read_line(&mut said)? > 0 {
            address = said.split_whitespace().find(|word| word.contains("/oauth/authorize?")).map(str::to_owned);
        }
        let Some(address) = address else { bail!("`proof client` shows no address, but: {said}") };
        let visited = Command::new(&self.node).arg(&self.browser).args([&address, answer]).output()?;
        let (mut printed, mut rest) = (String::new(), String::new());
        client.stdout.take().context("no standard output")?.read_to_string(&mut printed)?;
        stderr.read_to_string(&mut rest)?;
        let visited = format!("{}{rest}", String::from_utf8_lossy(&visited.stdout));
        Ok((client.wait()?.code(), printed, visited))
    }
}

/// The provider, which knows the gateway at its port alone.
fn provider([node, scripts]: &[&Path; 2], (port, gateway): (u16, u16), folder: &Path) -> anyhow::Result<ProcessGroup> {
    let callback = format!("http://127.0.0.1:{gateway}/oauth/callback");
    let script = scripts.join("provider.mjs");
    let command = [&*node.to_string_lossy(), &*script.to_string_lossy(), &port.to_string(), &callback];
    let none: [(&str, &str); 0] = [];
    let log = File::create(folder.join("provider.log"))?;
    let mut provider = ProcessGroup::start(&command.map(str::to_owned), &none, &log)?;
    wait_until_listening(&mut provider, port).with_context(|| format!("its output lies in {}", folder.display()))?;
    Ok(provider)
}

fn start(program: &Path, server: &str, (provider, own): (u16, u16), folder: &Path) -> anyhow::Result<Served> {
    let config = json!({
        "listen": format!("127.0.0.1:{own}"),
        "upstreams": { "a": { "url": server } },
        "auth": {
            "public_url": format!("http://127.0.0.1:{own}"),
            "bridge": {
                "provider": {
                    "issuer": format!("http://127.0.0.1:{provider}"),
                    "client": { "id": "gateway", "secret": { "from_env": "PROVIDER_SECRET" } },
                },
                "keys": [{ "from_env": "BRIDGE_KEY" }],
                "claims": ["email"],
            },
        },
        "access": [{ "effect": "allow", "when": "claims.email == 'ann@example.com'" }],
    });
    let file = folder.join("gateway.yaml");
    fs::write(&file, config.to_string())?;
    let mut command = Command::new(program);
    command.arg("--config").arg(&file).env("PROVIDER_SECRET", "s3cret-of-the-gateway");
    command.env("BRIDGE_KEY", "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=");
    Served::start(command)
}

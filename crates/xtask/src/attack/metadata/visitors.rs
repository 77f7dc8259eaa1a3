//! Visitors of the address to which a browser comes back with a code.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use super::super::Plan;
use super::super::hostile::http::{Seen, Web};
use super::super::request::{Request, percent};
use super::super::socket::Connection;
use super::Script;

/// A browser comes back to the client while others have connected and say nothing.
pub(super) fn silent(plan: &Plan) -> anyhow::Result<()> {
    let web = Web::start(|seen: &Seen, address| Script::honest(address).answer(seen, address))?;
    let mut client = Command::new(&plan.proof);
    client.args(["client", "tools", "--oauth=browser", &web.url("/mcp")]).current_dir(&plan.folder);
    let mut client = client.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let result = come_back(&mut client, &web);
    let _ = (client.kill(), client.wait());
    result
}

fn come_back(client: &mut Child, web: &Web) -> anyhow::Result<()> {
    let lines = BufReader::new(client.stderr.take().context("no stderr")?).lines();
    let shown = lines.map_while(Result::ok).find(|line| line.trim().starts_with("http://"));
    let shown = Seen { head: format!("GET {}", shown.context("no address was shown")?.trim()), body: Vec::new() };
    let query = |name: &str| shown.query(name).with_context(|| format!("no {name} in it"));
    let (redirect, state) = (query("redirect_uri")?, query("state")?);
    let (host, path) =
        redirect.strip_prefix("http://").and_then(|rest| rest.split_once('/')).context(redirect.clone())?;
    let address: SocketAddr = host.parse()?;
    let silent = (0..8).map(|_| Connection::open(address)).collect::<Result<Vec<_>, _>>()?;
    let back =
        format!("/{path}?code=abc&state={}&iss={}", percent(&state), percent(&format!("http://{}", web.address)));
    let begun = Instant::now();
    let mut browser = Connection::open(address)?;
    browser.send(&Request::new("GET", &back, host).bytes());
    while client.try_wait()?.is_none() {
        ensure!(begun.elapsed() < Duration::from_secs(8), "not after {:.0} s", begun.elapsed().as_secs_f32());
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(silent);
    let used = web.seen().iter().any(|seen| seen.header("authorization").is_some());
    ensure!(used, "no token was used: nothing was tried");
    Ok(())
}

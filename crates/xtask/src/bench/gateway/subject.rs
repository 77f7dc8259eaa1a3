//! What is measured: the server itself, the bare proxy, our gateway, foreign gateways. Each is a process of its own on the
//! first processor; the server behind it and the load share the second one. A foreign gateway that is not installed is
//! skipped.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::load::Endpoint;
use crate::peers::ProcessGroup;
use crate::soak::http::Connection;

/// How long a process may take to listen.
const START: Duration = Duration::from_secs(90);
/// The kernel's unit of processor time.
const TICKS: f64 = 100.0;

/// A running process and its endpoint.
pub(super) struct Subject {
    pub(super) name: &'static str,
    pub(super) endpoint: Endpoint,
    group: ProcessGroup,
}

impl Subject {
    /// Starts a command of ours, which says where it listens.
    pub(super) fn ours(name: &'static str, command: &[String], processor: u32) -> anyhow::Result<Self> {
        let log = log_of(name);
        let group = start(command, processor, &[], &log)?;
        let address = wait(|| {
            let said = fs::read_to_string(&log).ok()?;
            let mut words = said.split_whitespace();
            words.find_map(|word| word.strip_prefix("http://")?.strip_suffix("/mcp")?.parse().ok())
        });
        let address = address.with_context(|| format!("{name} does not listen; see {}", log.display()))?;
        let endpoint = Endpoint { address, path: "/mcp".into(), tool: "echo".into(), headers: String::new() };
        Ok(Self { name, endpoint, group })
    }

    fn foreign(
        name: &'static str,
        command: &[String],
        env: &[(&str, String)],
        endpoint: Endpoint,
    ) -> anyhow::Result<Self> {
        let log = log_of(name);
        let group = start(command, 0, env, &log)?;
        let listens = wait(|| TcpStream::connect(endpoint.address).ok());
        listens.with_context(|| format!("{name} does not listen; see {}", log.display()))?;
        Ok(Self { name, endpoint, group })
    }

    /// The processor time that its processes have used, in seconds.
    pub(super) fn used(&self) -> anyhow::Result<f64> {
        let group = self.group.process();
        let mut ticks = 0;
        for entry in fs::read_dir("/proc")?.flatten() {
            let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
            ticks += ticks_in(&stat, group).unwrap_or_default();
        }
        ensure!(ticks > 0, "{} has ended", self.name);
        Ok(ticks as f64 / TICKS)
    }

    /// The resident memory of its first process, and how much of it is its own, in KiB.
    pub(super) fn memory(&self) -> anyhow::Result<(f64, f64)> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.group.process()))?;
        let kib = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<f64>().ok()
        };
        kib("VmRSS:").zip(kib("RssAnon:")).context("no memory is named")
    }
}

/// User and system time in one line of `/proc/PID/stat`, where the process belongs to `group`.
fn ticks_in(stat: &str, group: u32) -> Option<u64> {
    let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    (number(2)? == u64::from(group)).then(|| Some(number(11)? + number(12)?))?
}

fn log_of(name: &str) -> PathBuf {
    crate::root().join("target").join(format!("bench-{}.log", name.replace(' ', "-")))
}

fn start(command: &[String], processor: u32, env: &[(&str, String)], log: &Path) -> anyhow::Result<ProcessGroup> {
    let pinned = ["taskset".to_owned(), "-c".to_owned(), processor.to_string()];
    let command: Vec<_> = pinned.into_iter().chain(command.iter().cloned()).collect();
    let output = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    ProcessGroup::start(&command, env, &output)
}

fn wait<T>(mut ready: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = Instant::now();
    while begun.elapsed() < START {
        if let Some(found) = ready() {
            return Some(found);
        }
        sleep(Duration::from_millis(20));
    }
    None
}

fn free_port() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// Where foreign gateways are installed.
pub(super) fn installed(name: &str) -> PathBuf {
    crate::root().join("target/bench-peers").join(name)
}

/// mcp-proxy 0.6, installed by `cargo install mcp-proxy --version 0.6.0 --root target/bench-peers/mcp-proxy`.
pub(super) fn mcp_proxy(server: SocketAddr) -> anyhow::Result<Option<Subject>> {
    let program = installed("mcp-proxy/bin/mcp-proxy");
    if !program.is_file() {
        return Ok(None);
    }
    let address = free_port()?;
    let file = installed("mcp-proxy/bench.toml");
    let port = address.port();
    let text = format!(
        "[proxy]\nname = \"bench\"\n[proxy.listen]\nhost = \"127.0.0.1\"\nport = {port}\n[[backends]]\nname = \"b\"\n\
         transport = \"http\"\nurl = \"http://{server}/mcp\"\n[observability]\nlog_level = \"error\"\n"
    );
    fs::write(&file, text)?;
    let command = [program, "--config".into(), file].map(|part| part.to_string_lossy().into_owned());
    let endpoint = Endpoint { address, path: "/".into(), tool: "b/echo".into(), headers: String::new() };
    Subject::foreign("mcp-proxy", &command, &[], endpoint).map(Some)
}

/// ContextForge, installed by `pip install mcp-contextforge-gateway` in a virtual environment.
pub(super) fn context_forge(server: SocketAddr) -> anyhow::Result<Option<Subject>> {
    let folder = installed("contextforge");
    if !folder.join("bin/mcpgateway").is_file() {
        return Ok(None);
    }
    let address = free_port()?;
    let database = folder.join("bench.db");
    let _ = fs::remove_file(&database);
    let secret = "kT9#vQ2!mZ7@xL4$wR8^pN5&hJ3*bF6(";
    let env: Vec<(&str, String)> = [
        ("JWT_SECRET_KEY", secret.to_owned()),
        ("AUTH_ENCRYPTION_SECRET", format!("{secret}e1")),
        ("DATABASE_URL", format!("sqlite:///{}", database.display())),
        ("CACHE_TYPE", "memory".to_owned()),
        ("SSRF_ALLOW_LOCALHOST", "true".to_owned()),
        ("SSRF_ALLOW_PRIVATE_NETWORKS", "true".to_owned()),
        ("RATE_LIMITING_ENABLED", "false".to_owned()),
        ("TOOL_RATE_LIMIT", "1000000000".to_owned()),
        ("MCPGATEWAY_UI_ENABLED", "false".to_owned()),
        ("LOG_LEVEL", "ERROR".to_owned()),
    ]
    .into();
    let bin = |name: &str| folder.join("bin").join(name).to_string_lossy().into_owned();
    let command = [bin("mcpgateway"), "--host".into(), "127.0.0.1".into(), "--port".into(), address.port().to_string()];
    let made = Command::new(bin("python"))
        .args(["-m", "mcpgateway.utils.create_jwt_token", "--username", "admin@example.com", "--exp", "600"])
        .args(["--secret", secret, "--admin"])
        .envs(env.iter().map(|(name, value)| (name, value)))
        .stderr(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&made.stdout).into_owned();
    let token = said.split_whitespace().last().context("no token was made")?;
    let headers = format!("Authorization: Bearer {token}\r\n");
    let mut endpoint = Endpoint { address, path: String::new(), tool: "bench-echo".into(), headers };
    let mut subject = Subject::foreign("ContextForge", &command, &env, endpoint.clone())?;
    endpoint.path = virtual_server(&endpoint, server)?;
    subject.endpoint = endpoint;
    Ok(Some(subject))
}

/// Registers the server and a virtual server with its `echo`; returns the path of that.
fn virtual_server(endpoint: &Endpoint, server: SocketAddr) -> anyhow::Result<String> {
    let ask = |method: &str, path: &str, body: &Value| -> anyhow::Result<Value> {
        let at = Endpoint { path: path.to_owned(), ..endpoint.clone() };
        let request = at.post("", &if body.is_null() { String::new() } else { body.to_string() });
        let request = String::from_utf8_lossy(&request).replacen("POST", method, 1);
        let reply = Connection::open(endpoint.address)?.exchange(request.as_bytes())?;
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        ensure!((200..300).contains(&reply.status), "{path}: {} {text}", reply.status);
        Ok(serde_json::from_str(&text)?)
    };
    let url = format!("http://{server}/mcp");
    ask("POST", "/gateways", &json!({ "name": "bench", "url": url, "transport": "STREAMABLEHTTP" }))?;
    let tools = ask("GET", "/tools", &Value::Null)?;
    let list = tools.as_array().or_else(|| tools.get("data")?.as_array()).context("no list of tools")?;
    let id = list.iter().find(|tool| tool["name"] == endpoint.tool.as_str()).map(|tool| tool["id"].clone());
    let id = id.with_context(|| format!("it has no tool {}", endpoint.tool))?;
    let made = ask("POST", "/servers", &json!({ "server": { "name": "bench", "associated_tools": [id] } }))?;
    let id = made["id"].as_str().context("no id of the virtual server")?;
    Ok(format!("/servers/{id}/mcp"))
}

#[cfg(test)]
mod tests {
    use super::ticks_in;

    #[test]
    fn only_processes_of_the_group_count() {
        let stat = "12 (a) b) S 1 77 77 0 -1 4194560 1 0 0 0 30 12 0 0 20 0 3 0 1 1 1";
        assert_eq!(ticks_in(stat, 77), Some(42));
        assert_eq!(ticks_in(stat, 12), None);
        assert_eq!(ticks_in("", 77), None);
    }
}

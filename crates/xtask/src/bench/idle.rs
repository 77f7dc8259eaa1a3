//! How much memory `proof serve` holds once it has answered and is idle. Does not know the limits

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::served::Served;

/// What a client of 2026-07-28 asks first.
const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
/// The time in which a server settles after its first answer.
const SETTLE: Duration = Duration::from_millis(300);

/// Resident memory of a process, in MiB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Memory {
    /// Heap, stacks and changed data: what the process itself costs.
    pub(super) anonymous: f64,
    /// Pages of the binary and of libraries, which the kernel shares between processes and may drop.
    pub(super) file: f64,
}

/// Over stdio and over HTTP, after one answer each.
pub(super) fn measure(proof: &Path) -> anyhow::Result<(Memory, Memory)> {
    Ok((over_stdio(proof)?, over_http(proof)?))
}

fn over_stdio(proof: &Path) -> anyhow::Result<Memory> {
    let mut command = Command::new(proof);
    command.args(["serve", "--stdio"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = command.spawn().with_context(|| format!("cannot start {}", proof.display()))?;
    // Held open until the memory is read: a server over stdio ends with its input.
    let mut input = server.stdin.take().context("no standard input")?;
    let output = server.stdout.take().context("no standard output")?;
    writeln!(input, "{DISCOVER}")?;
    let mut answer = String::new();
    BufReader::new(output).read_line(&mut answer)?;
    ensure!(answer.contains(r#""result""#), "`proof serve --stdio` answered {answer:?}");
    let memory = settled(server.id());
    drop(input);
    server.wait()?;
    memory
}

fn over_http(proof: &Path) -> anyhow::Result<Memory> {
    let mut command = Command::new(proof);
    command.args(["serve", "--http", "127.0.0.1:0"]);
    let server = Served::start(command)?;
    let mut client = Command::new(proof);
    client.args(["client", "discover", "--revision", "2026-07-28", "--url", server.url()]);
    ensure!(client.stdout(Stdio::null()).status()?.success(), "`proof client discover` failed");
    let memory = settled(server.id())?;
    server.interrupt()?;
    Ok(memory)
}

fn settled(process: u32) -> anyhow::Result<Memory> {
    sleep(SETTLE);
    let path = format!("/proc/{process}/status");
    let status = std::fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
    resident(&status).with_context(|| format!("{path} has no RssAnon or RssFile"))
}

/// Reads the kernel's description of a process.
fn resident(status: &str) -> Option<Memory> {
    let mebibytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.split_whitespace().next()?.parse::<f64>().ok()? / 1024.0)
    };
    Some(Memory { anonymous: mebibytes("RssAnon:")?, file: mebibytes("RssFile:")? })
}

#[cfg(test)]
mod tests {
    use super::{Memory, resident};

    #[test]
    fn both_kinds_of_memory_are_read() {
        let status =
            "Name:\tproof\nVmRSS:\t    5632 kB\nRssAnon:\t    1536 kB\nRssFile:\t    4096 kB\nRssShmem:\t 0 kB\n";
        assert_eq!(resident(status), Some(Memory { anonymous: 1.5, file: 4.0 }));
        assert_eq!(resident("VmRSS:\t5632 kB\nRssFile:\t4096 kB\n"), None);
    }
}

//! `cargo xtask bench stages`: what the stages of a production configuration add to a call through the gateway. Each subject
//! runs alone in its turn; the server behind it, the load, the issuer's keys and the policy server share the second processor.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::ensure;
use serde_json::{Value, json};

use super::load::{Speaks, closed, open};
use super::subject::{self, Subject};
use super::table::median;
use super::{KIB, Options, RATE, TIME, pin_beside_the_server};
use crate::jwt::{Forge, now};
use crate::{Verdict, root};

const ISSUER: &str = "https://issuer.example";
const AUDIENCE: &str = "https://mcp.example/mcp";
const KID: &str = "one";
/// What a user of these stages may expect, in milliseconds: our targets, and the hypothesis that they are compared with.
const TARGETS: (f64, f64) = (0.1, 1.0);
const HYPOTHESIS: f64 = 15.0;

/// Validation of tokens, access rules with conditions, context, sanitizing.
const POLICY: &str = "\
access:
  - { effect: deny, when: 'has(arguments.path) && arguments.path.startsWith(\"/etc\")' }
  - { effect: allow, scopes: [mcp], when: claims.org == \"acme\" && !name.startsWith(\"admin_\") }
context:
  tenant_id: { claim: org, header: X-Tenant-Id }
  user_id: { header: X-User-Id }
  scopes:
sanitize:
  hidden: true
  secrets: true
  personal: [email, phone, iban, card]
  tenants: { fields: [tenant_id], claim: org }
  result_bytes: 2MiB
";

/// A configuration that is measured: its name, and what it has in addition to the upstream.
struct Row {
    name: &'static str,
    stages: String,
    /// Further header lines of each call. What looks like an id differs from call to call.
    headers: &'static str,
    /// Whether the targets are for this one.
    is_judged: bool,
}

fn rows(folder: &Path, keys: SocketAddr) -> Vec<Row> {
    let auth = format!(
        "auth: {{ issuer: {ISSUER}, keys: \"http://{keys}/jwks\", audience: {AUDIENCE}, public_url: \"https://mcp.example\" }}\n"
    );
    let audit = |name: &str, more: &str| format!("audit: {{ folder: {}{more} }}\n", folder.join(name).display());
    let all = |name: &str, more: &str| format!("{auth}{POLICY}{}", audit(name, more));
    let row = |name, stages| Row { name, stages, headers: "", is_judged: false };
    let store = folder.join("answers").display().to_string();
    let keyed = format!(
        "{}store: {store}\nidempotency: {{ writes: optional, entries: 1000000, bytes: 1024MiB }}\n",
        all("keyed", "")
    );
    let remote = format!(
        "{}interceptors:\n  - {{ name: remote, url: \"http://{keys}/policy\", when: [before] }}\n",
        all("remote", "")
    );
    let authzen = |name: &str, more: &str| format!("{}authzen: {{ url: \"http://{keys}\"{more} }}\n", all(name, ""));
    vec![
        row("no stage", String::new()),
        row("token alone", auth.clone()),
        row("token, rules, context, sanitizing", format!("{auth}{POLICY}")),
        Row { is_judged: true, ..row("all six stages", all("all", "")) },
        row("all six, audit required", all("required", ", required: true")),
        row("all six, audit required and synced", all("synced", ", required: true, sync: true")),
        Row { headers: "Idempotency-Key: 1000000000\r\n", ..row("all six, durable key", keyed) },
        row("all six, policy over HTTP", remote),
        row("all six, AuthZEN", authzen("cold", "")),
        row("all six, AuthZEN, decisions cached", authzen("kept", ", cache: 5m")),
    ]
}

/// The times and the processor time of one round.
struct Round {
    p50: f64,
    p99: f64,
    cpu: f64,
}

/// Runs the benchmark and prints its table.
pub(in crate::bench) fn run(args: &[String]) -> Verdict {
    let options = super::options(args)?;
    pin_beside_the_server()?;
    let folder = root().join("target/bench-stages");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let forge = Forge::new()?;
    let keys = helper(&json!({ "keys": [forge.public(KID)] }))?;
    let claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "client_id": "bench", "org": "acme",
        "exp": now() + 7200, "iat": now(), "scope": "mcp" });
    let token = forge.token(&json!({ "alg": "ES256", "typ": "at+jwt", "kid": KID }), &claims);
    let proof = options.proof.to_string_lossy().into_owned();
    let server = Subject::ours("direct", &[proof, "serve".into(), "--http".into(), "127.0.0.1:0".into()], 1)?;
    let mut measured: Vec<(String, bool, Vec<Round>)> = Vec::new();
    let rows = rows(&folder, keys);
    for round in 0..options.rounds {
        note(&mut measured, 0, "direct", false, one(&server)?);
        for (index, row) in rows.iter().enumerate() {
            let mut gateway = start(&options, &folder, &server, row)?;
            gateway.endpoint.headers = format!("Authorization: Bearer {token}\r\n{}", row.headers);
            note(&mut measured, index + 1, row.name, row.is_judged, one(&gateway)?);
        }
        eprintln!("round {} of {}", round + 1, options.rounds);
    }
    print!("{}", render(&measured));
    foreign(&options, &server)
}

fn note(measured: &mut Vec<(String, bool, Vec<Round>)>, index: usize, name: &str, is_judged: bool, round: Round) {
    eprintln!("{name:<36} {:>8.1} µs, p50 {:.3} ms, p99 {:.3} ms", round.cpu, round.p50, round.p99);
    if measured.len() == index {
        measured.push((name.to_owned(), is_judged, Vec::new()));
    }
    measured[index].2.push(round);
}

fn one(subject: &Subject) -> anyhow::Result<Round> {
    let (cpu, _) = closed(&subject.endpoint, Speaks::Modern, KIB, TIME, || subject.used())?;
    let times = open(&subject.endpoint, Speaks::Modern, KIB, RATE, TIME)?;
    Ok(Round { p50: times.quantile(0.5), p99: times.quantile(0.99), cpu })
}

fn start(options: &Options, folder: &Path, server: &Subject, row: &Row) -> anyhow::Result<Subject> {
    let config: PathBuf = folder.join("gateway.yaml");
    let upstream = format!("upstreams:\n  bench: {{ url: \"http://{}/mcp\" }}\n", server.endpoint.address);
    fs::write(&config, format!("{upstream}{}", row.stages))?;
    let command = [&*options.gateway.to_string_lossy(), "--config", &config.to_string_lossy(), "--http", "127.0.0.1:0"]
        .map(str::to_owned);
    Subject::ours("gateway", &command, 0)
}

/// ContextForge with its own tokens, in the same run.
fn foreign(options: &Options, server: &Subject) -> Verdict {
    match subject::context_forge(server.endpoint.address) {
        Ok(Some(peer)) => {
            let rate = |speaks| closed(&peer.endpoint, speaks, KIB, TIME, || peer.used());
            let costs: Vec<f64> =
                (0..options.rounds).map(|_| Ok(rate(Speaks::Legacy)?.0)).collect::<anyhow::Result<_>>()?;
            println!("ContextForge with its tokens, at 2025-11-25: {:.0} µs of processor time a call", median(costs));
        }
        Ok(None) => println!("ContextForge was not measured: not installed in {}", subject::installed("").display()),
        Err(error) => println!("ContextForge was not measured: {error:#}"),
    }
    Ok(true)
}

fn render(measured: &[(String, bool, Vec<Round>)]) -> String {
    let mut out = format!(
        "{:<36} {:>10} {:>20} {:>22}\n{:<36} {:>10} {:>10} {:>9} {:>11} {:>10}\n",
        "",
        "CPU",
        "added to direct",
        "added to no stage",
        "2026-07-28, 1 KiB, 1000 calls/s",
        "per call",
        "p50",
        "p99",
        "p50",
        "p99"
    );
    // Differences are taken round by round: the machine is not the same in each.
    let added = |row: usize, to: usize, of: fn(&Round) -> f64| {
        let pairs = measured[row].2.iter().zip(&measured[to].2);
        median(pairs.map(|(one, other)| of(one) - of(other)).collect())
    };
    for (row, (name, is_judged, rounds)) in measured.iter().enumerate().skip(1) {
        let cpu = median(rounds.iter().map(|round| round.cpu).collect());
        let figures = [0, 1].map(|to| (added(row, to, |r| r.p50), added(row, to, |r| r.p99)));
        let [(d50, d99), (b50, b99)] = figures;
        let verdict = match (is_judged, b50 <= TARGETS.0 && b99 <= TARGETS.1) {
            (false, _) => "",
            (true, true) => "  met",
            (true, false) => "  missed",
        };
        let _ =
            writeln!(out, "{name:<36} {cpu:>7.1} µs {d50:>7.3} ms {d99:>6.3} ms {b50:>8.3} ms {b99:>7.3} ms{verdict}");
    }
    let (p50, p99) = TARGETS;
    let _ =
        writeln!(out, "targets for all six stages, added to no stage: {p50} and {p99} ms; hypothesis: {HYPOTHESIS} ms");
    out
}

/// Serves the issuer's keys and a policy that lets everything pass, each request of a connection in turn.
fn helper(keys: &Value) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let keys = keys.to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let keys = keys.clone();
            thread::spawn(move || answer(stream, &keys));
        }
    });
    Ok(address)
}

fn answer(stream: TcpStream, keys: &str) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let (mut reader, mut writer) = (BufReader::new(stream.try_clone()?), stream);
    loop {
        let (mut first, mut length) = (String::new(), 0);
        ensure!(reader.read_line(&mut first)? > 0, "the connection ended");
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse()?;
            }
        }
        reader.read_exact(&mut vec![0; length])?;
        // It is an interceptor and a policy decision point.
        let body = match first.split(' ').nth(1) {
            Some("/policy") => r#"{"verdict":"continue"}"#,
            Some("/access/v1/evaluation") => r#"{"decision":true}"#,
            _ => keys,
        };
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ";
        writer.write_all(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes())?;
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::load::FIRST_ID;
    use super::{Round, render, rows};

    #[test]
    fn what_is_added_is_compared_round_by_round() {
        let round = |p50: f64| Round { p50, p99: p50 * 2.0, cpu: 10.0 };
        let slow = |values: [f64; 3]| values.map(round).into();
        let measured = vec![
            ("direct".to_owned(), false, slow([0.1, 0.5, 0.1])),
            ("no stage".to_owned(), false, slow([0.2, 0.6, 0.2])),
            ("all six stages".to_owned(), true, slow([0.25, 0.65, 0.25])),
            ("slow".to_owned(), true, slow([0.45, 0.85, 0.45])),
        ];
        let table = render(&measured);
        let line =
            |name: &str| table.lines().find(|line| line.starts_with(name)).map(str::to_owned).unwrap_or_default();
        assert!(line("all six stages").contains("0.150 ms") && line("all six stages").ends_with("  met"), "{table}");
        assert!(line("slow").contains("0.250 ms") && line("slow").ends_with("  missed"), "{table}");
    }

    #[test]
    fn each_call_has_a_key_of_its_own() {
        let all = rows(Path::new("folder"), ([127, 0, 0, 1], 1).into());
        let keyed = all.iter().find(|row| !row.headers.is_empty()).expect("a row");
        assert!(keyed.headers.contains(&FIRST_ID.to_string()));
    }
}

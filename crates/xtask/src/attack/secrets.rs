//! Known secrets, given in every way there is to a peer that repeats them plain and encoded, and secrets of the peer's own. None may
//! stand in anything that a user would pass on: reports of every format, traces, recordings, snapshots, generated files, errors.

pub(crate) mod echo;
pub(super) mod forms;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use self::forms::{base64, found};
use super::Plan;
use super::hostile::http::{Seen, Sent, Web};
use super::program::{Pipe, Run};
use super::request::{Request, call, initialize, initialized};
use super::socket::{PATIENCE, answer};
use super::target::Target;
use super::trial::Trial;

/// Every secret contains it, and nothing else does.
pub(super) const MARK: &str = "Qz7";
/// What is no secret and must arrive: else nothing was tried.
pub(super) const VISIBLE: &str = "visible-marker";
const ABSENT: &str = "absent: plain, Base64, percent, hexadecimal";
/// Seven formats, traces, the snapshot, the generated file, the recording, and errors.
const OUTPUTS: usize = 12;
const FORMATS: [&str; 7] = ["human", "json", "junit", "sarif", "markdown", "tap", "html"];

/// A secret, by the number of its channel: every other one looks like a word.
pub(super) fn secret(number: usize) -> String {
    let tail = (number as u64 + 7).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    if number.is_multiple_of(2) {
        format!("{MARK}{number:02}-{tail:016x}")
    } else {
        format!("{MARK}{number:02}-correct-horse-{}", tail % 997)
    }
}

/// What a user gives to a command.
const GIVEN: &[(&str, usize)] = &[
    ("--env API_KEY=…", 0),
    ("--env DB_PASSWORD=…", 1),
    ("--env DATABASE_URL=postgres://u:…@h/d", 2),
    ("AWS_SECRET_ACCESS_KEY, inherited", 3),
    ("GITHUB_TOKEN, inherited", 4),
    ("OPENAI_API_KEY, inherited", 5),
    ("MY_DB_PASS, inherited", 6),
    ("AZURE_CLIENT_SECRET, inherited", 7),
    ("NPM_CONFIG__AUTH, inherited", 8),
    ("--api-key …, an argument", 10),
    ("--token=…, an argument", 11),
    ("--password …, an argument", 12),
    ("https://u:…@h, an argument", 13),
    ("sh -c 'SERVICE_API_KEY=… command'", 14),
    ("sh -c 'DB_PASSWORD=\"…\" command'", 15),
];

/// A recorder over HTTP is given no header: what a client sends under a name that means nothing, or the server repeats under no
/// name at all, is a text like any other to it.
const UNKNOWN: [usize; 2] = [20, 21];

/// What a user gives for a URL.
const SENT: &[(&str, usize)] = &[
    ("--header 'X-Plain: …'", 20),
    ("--header 'X-Blank:   …'", 21),
    ("--header 'Authorization: Bearer …'", 22),
    ("--header 'Cookie: a=…'", 23),
    ("--header 'X-Api-Key: …'", 24),
    ("--header 'X-Auth-Key: …'", 25),
    ("--header 'Ocp-Apim-Subscription-Key: …'", 26),
    ("--header 'Proxy-Authorization: Basic …'", 27),
    ("?api_key=… in the URL", 28),
    ("?access_token=… in the URL", 29),
    ("http://user:…@host", 30),
];

/// What a peer has of its own: by name, and by shape (those with a blank in the name).
pub(super) const OWN: &[(&str, usize)] = &[
    ("pwd", 40),
    ("db_pass", 41),
    ("auth", 42),
    ("password", 43),
    ("api_key", 44),
    ("access_token", 45),
    ("refresh_token", 46),
    ("client_secret", 47),
    ("private_key", 48),
    ("secret", 49),
    ("apiKey", 50),
    ("x-auth-key", 51),
    ("passwd", 61),
    ("credential", 62),
    ("idToken", 63),
    ("session_token", 64),
    ("signing_key", 65),
    ("encryptionKey", 66),
    ("authToken", 67),
    ("bearer_token", 68),
    ("csrf", 69),
    ("otp", 70),
    ("cookie", 71),
    ("user.jwt", 72),
    ("a key's beginning", 52),
    ("a token's beginning", 53),
    ("another beginning", 54),
    ("a bot's beginning", 55),
    ("a bearer in text", 56),
    ("a user in a URL", 57),
    ("a password in text", 58),
];

/// Something that a user would pass on, and all of its bytes.
struct Output {
    name: String,
    text: String,
    /// What of it a secret can stand in.
    words: String,
}

impl Output {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let words = marked(&text);
        Self { name: name.to_owned(), text, words }
    }
}

/// The words of a text that have the mark in some form, each once: no secret stands anywhere else, and no form has other
/// characters.
fn marked(text: &str) -> String {
    let within = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '/' | '=' | '%');
    let words: BTreeSet<&str> = text.split(|c| !within(c)).collect();
    words.into_iter().filter(|word| found(word, MARK).is_some()).collect::<Vec<_>>().join("\n")
}

pub(super) fn run(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let own = std::env::current_exe()?.display().to_string();
    let (stdio, http) = std::thread::scope(|scope| {
        let stdio = scope.spawn(|| over_stdio(plan, &own));
        let http = scope.spawn(|| over_http(plan));
        (stdio.join(), http.join())
    });
    let joined = |result: std::thread::Result<anyhow::Result<Vec<Output>>>| {
        result.unwrap_or_else(|_| anyhow::bail!("it panicked"))
    };
    let (stdio, http) = (joined(stdio)?, joined(http)?);
    searched(trial, "stdio", GIVEN, &stdio);
    searched(trial, "HTTP", SENT, &http);
    private(trial);
    for (what, args) in errors() {
        let plan = trial.plan;
        let run = Run::new(plan, &[], 20);
        let args: Vec<String> = args.iter().map(|arg| arg.replace("SECRET", &secret(60))).collect();
        trial.one(what, "error text", ABSENT, || {
            let ended = Run { args: args.clone(), ..run }.go(plan)?;
            ensure!(found(&ended.text(), &secret(60)).is_none(), "{}", ended.text());
            Ok(())
        });
    }
    Ok(())
}

fn searched(trial: &mut Trial<'_>, transport: &str, given: &[(&str, usize)], outputs: &[Output]) {
    let names: BTreeSet<&str> = outputs.iter().map(|output| output.name.as_str()).collect();
    trial.one("all outputs", transport, "twelve, each searched for every secret", || {
        ensure!(names.len() == OUTPUTS && outputs.len() == OUTPUTS, "{names:?}");
        Ok(())
    });
    for output in outputs {
        let carries = !FORMATS.contains(&output.name.as_str()) && !output.name.starts_with("stderr");
        trial.one(
            "what is no secret",
            &format!("{}, {transport}", output.name),
            "present, so that something was tried",
            || {
                ensure!(!output.text.is_empty() && (!carries || output.text.contains(VISIBLE)), "absent");
                Ok(())
            },
        );
        let demanded = |number: usize| output.name != "recording" || transport != "HTTP" || !UNKNOWN.contains(&number);
        for (channel, number) in given.iter().chain(OWN).filter(|(_, number)| demanded(*number)) {
            let secret = secret(*number);
            trial.one(channel, &format!("{}, {transport}", output.name), ABSENT, || {
                let plain = secret.replace('-', "");
                let form = found(&output.words, &secret).or_else(|| found(&output.words, &plain));
                ensure!(form.is_none(), "there {}", form.unwrap_or_default());
                Ok(())
            });
        }
    }
}

/// The environment that every run inherits.
fn inherited() -> Vec<(&'static str, String)> {
    let names = [
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "OPENAI_API_KEY",
        "MY_DB_PASS",
        "AZURE_CLIENT_SECRET",
        "NPM_CONFIG__AUTH",
    ];
    names.into_iter().zip(3..).map(|(name, number)| (name, secret(number))).collect()
}

fn over_stdio(plan: &Plan, own: &str) -> anyhow::Result<Vec<Output>> {
    let env = [
        format!("API_KEY={}", secret(0)),
        format!("DB_PASSWORD={}", secret(1)),
        format!("DATABASE_URL=postgres://u:{}@h/d", secret(2)),
    ];
    let script = format!("SERVICE_API_KEY={} DB_PASSWORD=\"{}\" exec \"$@\"", secret(14), secret(15));
    let command = vec![
        "--".to_owned(),
        "sh".to_owned(),
        "-c".to_owned(),
        script,
        "sh".to_owned(),
        own.to_owned(),
        "attack".to_owned(),
        "--play".to_owned(),
        "echo".to_owned(),
        "--api-key".to_owned(),
        secret(10),
        format!("--token={}", secret(11)),
        "--password".to_owned(),
        secret(12),
        format!("https://u:{}@h/x", secret(13)),
    ];
    let given: Vec<String> = env.iter().flat_map(|pair| ["--env".to_owned(), pair.clone()]).collect();
    let target = [given, command.clone()].concat();
    let mut outputs = clients(plan, "stdio", &target)?;
    let file = plan.folder.join("secrets-stdio.jsonl");
    let args = ["record".to_owned(), "-o".to_owned(), file.display().to_string()].into_iter().chain(command);
    let args: Vec<String> = args.collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let env = inherited();
    let mut pipe = Pipe::start_with(plan, &args, &env)?;
    for message in [
        initialize(),
        initialized(),
        call(2, "tools/list", json!({})),
        call(3, "tools/call", json!({ "name": "echo" })),
        call(4, "resources/read", json!({ "uri": "x://r" })),
        call("last", "nothing", json!({})),
    ] {
        pipe.send(format!("{message}\n").as_bytes());
    }
    pipe.until("\"last\"", PATIENCE)?;
    pipe.finish();
    pipe.ends_within(Duration::from_secs(10));
    outputs.push(Output::new("recording", &fs::read(file)?));
    Ok(outputs)
}

fn over_http(plan: &Plan) -> anyhow::Result<Vec<Output>> {
    let web = Web::start(|seen: &Seen, _| {
        if seen.path().0 != "POST" {
            return Sent::response("405 Method Not Allowed", "", b"");
        }
        let message: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
        let given: Vec<String> = seen.head.lines().filter(|line| line.contains(MARK)).map(str::to_owned).collect();
        match answers_or_none(&message, &given) {
            Some(body) => Sent::response("200 OK", "Content-Type: text/event-stream\r\n", body.as_bytes()),
            None => Sent::response("202 Accepted", "", b""),
        }
    })?;
    let headers = headers();
    let query = format!("/mcp?api_key={}&access_token={}", secret(28), secret(29));
    let url = web.url(&query).replacen("http://", &format!("http://user:{}@", secret(30)), 1);
    let mut target: Vec<String> = headers.iter().flat_map(|header| ["--header".to_owned(), header.clone()]).collect();
    target.push(url);
    let mut outputs = clients(plan, "http", &target)?;
    let file = plan.folder.join("secrets-http.jsonl");
    let output = file.display().to_string();
    let mut record = Target::start(
        plan,
        "record",
        &["record", "-o", &output, "--http", "127.0.0.1:0", "--to", &web.url("/mcp")],
        &[],
    )?;
    for message in [
        initialize(),
        initialized(),
        call(2, "tools/list", json!({})),
        call(3, "tools/call", json!({ "name": "echo" })),
        call(4, "nothing", json!({})),
    ] {
        let mut request = Request::post(&query, &record.host(), &message);
        for header in &headers {
            let (name, value) = header.split_once(':').unwrap_or_default();
            request = request.plus(name, value.trim());
        }
        answer(record.address, &request.bytes())?;
    }
    record.signal("INT")?;
    record.ends_within(Duration::from_secs(10))?;
    outputs.push(Output::new("recording", &fs::read(file)?));
    Ok(outputs)
}

fn headers() -> Vec<String> {
    vec![
        format!("X-Plain: {}", secret(20)),
        format!("X-Blank:   {}", secret(21)),
        format!("Authorization: Bearer {}", secret(22)),
        format!("Cookie: a={}", secret(23)),
        format!("X-Api-Key: {}", secret(24)),
        format!("X-Auth-Key: {}", secret(25)),
        format!("Ocp-Apim-Subscription-Key: {}", secret(26)),
        format!("Proxy-Authorization: Basic {}", base64(format!("me:{}", secret(27)).as_bytes())),
    ]
}

fn answers_or_none(message: &Value, given: &[String]) -> Option<String> {
    let answers = echo::answers(message, given);
    let events: Vec<String> = answers.iter().map(|answer| format!("data: {answer}\n\n")).collect();
    (!events.is_empty()).then(|| events.concat())
}

/// Runs every verb that is a client and keeps what it writes.
fn clients(plan: &Plan, name: &str, target: &[String]) -> anyhow::Result<Vec<Output>> {
    let folder = plan.folder.join(format!("secrets-{name}"));
    fs::create_dir_all(&folder)?;
    let at = |file: &str| folder.join(file).display().to_string();
    let mut check: Vec<String> = [
        "check",
        "--revision",
        "2025-11-25",
        "--max-time",
        "15",
        "--safety",
        "-v",
        "--format",
        "human",
        "--save-trace",
    ]
    .map(str::to_owned)
    .to_vec();
    check.push(at("traces"));
    for format in &FORMATS[1..] {
        check.extend(["--also".to_owned(), format!("{format}={}", at(format))]);
    }
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let runs = [
        check,
        words(&["snapshot", "--output", &at("snapshot")]),
        words(&["generate", "--depth", "basic", "-o", &at("generated.mcp.yaml")]),
        words(&["client", "call", "echo", "--log", "debug"]),
        words(&["client", "raw", "nothing"]),
    ];
    let mut outputs = Vec::new();
    let (mut errors, mut results) = (Vec::new(), Vec::new());
    for (number, args) in runs.into_iter().enumerate() {
        let ended =
            Run { args: [args, target.to_vec()].concat(), env: inherited(), ..Run::new(plan, &[], 120) }.go(plan)?;
        ensure!(!ended.late, "a run took too long");
        errors.extend(ended.err);
        if number == 0 {
            outputs.push(Output::new("human", &ended.out));
        } else if number == 4 {
            results.extend(ended.out);
        }
    }
    for format in &FORMATS[1..] {
        outputs.push(Output::new(format, &fs::read(at(format)).with_context(|| format!("no {format}"))?));
    }
    outputs.push(Output::new("traces", &all(&folder.join("traces"))?));
    outputs.push(Output::new("snapshot", &fs::read(at("snapshot")).context("no snapshot")?));
    outputs.push(Output::new("generated file", &fs::read(at("generated.mcp.yaml")).context("no generated file")?));
    errors.extend(results);
    outputs.push(Output::new("stderr and errors", &errors));
    Ok(outputs)
}

/// All files of a folder, one after the other, with their names.
fn all(folder: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("no {}", folder.display()))? {
        let path = entry?.path();
        bytes.extend_from_slice(path.as_os_str().as_encoded_bytes());
        bytes.extend(if path.is_dir() { all(&path)? } else { fs::read(&path)? });
    }
    Ok(bytes)
}

/// Files that may have what a peer said are readable by their owner only.
fn private(trial: &mut Trial<'_>) {
    for name in ["stdio", "http"] {
        let folder = trial.plan.folder.join(format!("secrets-{name}"));
        let files: Vec<PathBuf> =
            FORMATS[1..].iter().map(|format| folder.join(format)).chain(first(&folder.join("traces"))).collect();
        let recording = trial.plan.folder.join(format!("secrets-{name}.jsonl"));
        for file in files.into_iter().chain([recording]) {
            let shown = file.strip_prefix(&trial.plan.folder).unwrap_or(&file).display().to_string();
            trial.one("the mode of a file", &shown, "0600", || {
                let mode = fs::metadata(&file)?.permissions().mode() & 0o777;
                ensure!(mode == 0o600, "{mode:o}");
                Ok(())
            });
        }
    }
}

fn first(folder: &Path) -> Option<PathBuf> {
    fs::read_dir(folder).ok()?.filter_map(Result::ok).map(|entry| entry.path()).find(|path| path.is_file())
}

/// Commands that fail and quote what they were given.
fn errors() -> Vec<(&'static str, Vec<&'static str>)> {
    vec![
        ("a URL that nobody serves", vec!["client", "ping", "http://user:SECRET@127.0.0.1:9/mcp"]),
        ("a URL with a query that nobody serves", vec!["client", "ping", "http://127.0.0.1:9/mcp?api_key=SECRET"]),
        ("a check of such a URL", vec!["check", "--max-time", "5", "http://user:SECRET@127.0.0.1:9/mcp?token=SECRET"]),
        ("a snapshot of such a URL", vec!["snapshot", "http://user:SECRET@127.0.0.1:9/mcp"]),
        (
            "a recorder to such a URL",
            vec![
                "record",
                "-o",
                "/nonexistent/x",
                "--http",
                "127.0.0.1:0",
                "--to",
                "http://user:SECRET@127.0.0.1:9/mcp",
            ],
        ),
        (
            "a command that does not exist",
            vec!["client", "ping", "--env", "API_KEY=SECRET", "--", "/nonexistent", "--token=SECRET"],
        ),
        ("a command that exits", vec!["client", "ping", "--", "sh", "-c", "API_KEY=SECRET; echo $API_KEY >&2; exit 3"]),
        (
            "a check of such a command",
            vec!["check", "--max-time", "5", "--", "sh", "-c", "API_KEY=SECRET; echo $API_KEY >&2; exit 3"],
        ),
        ("an invalid header", vec!["client", "ping", "--header", "Authorization SECRET", "http://127.0.0.1:9/mcp"]),
        (
            "a header with a line end",
            vec!["client", "ping", "--header", "X-Api-Key: SECRET\nx: y", "http://127.0.0.1:9/mcp"],
        ),
    ]
}

//! The way to a command: its program, its start, what it writes before anything is agreed, and how it ends.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use net::Tap;
use net::client::{Address, ChildView, Command, Connection, OpenError, SendError};
use tokio::time::{Instant, sleep};
use wire::trace::{Content, Event, Frame, Header, Trace};
use wire::{Party, RequestId, Revision, Transport};

use crate::Options;
use crate::conversation;
use crate::http::{connect_options, failed, first_message};
use crate::step::StepName;
use crate::walk::{Finding, Walk};

/// How much is read of a script, for its first line.
const FIRST_LINE: usize = 256;
/// How long a command may take to end after its stdin is closed.
const FAREWELL: Duration = Duration::from_secs(2);
/// How often the output is looked at.
const LOOK: Duration = Duration::from_millis(10);
/// How many lines of stderr are shown.
const STDERR: usize = 4;
/// What brings programs that are often missing.
const BRINGS: [(&str, &str); 10] = [
    ("npx", "Node.js"),
    ("node", "Node.js"),
    ("npm", "Node.js"),
    ("bunx", "Bun"),
    ("bun", "Bun"),
    ("deno", "Deno"),
    ("uvx", "uv"),
    ("uv", "uv"),
    ("python", "Python (it may be called python3)"),
    ("docker", "Docker"),
];

/// Walks to a command.
pub(crate) async fn walk(walk: &mut Walk) {
    if began(walk).await.is_some() {
        conversation::walk(walk).await;
    }
    walk.skip_rest(&StepName::TO_COMMAND, "not reached: see the failed step");
}

async fn began(walk: &mut Walk) -> Option<()> {
    let Address::Stdio(command) = walk.options.address.clone() else { return None };
    walk.take(StepName::Program, async { program(&command) }).await?;
    let options = walk.options.clone();
    let tap = Tap::new(Header::server(Transport::Stdio, Revision::NEWEST_LEGACY, "doctor"));
    let connection = walk.take(StepName::Start, started(&options, &tap, walk.step_limit())).await?;
    // A little less than the step's, so that the step says what it waited for.
    let limit = walk.step_limit() * 9 / 10;
    let begun = Instant::now();
    let first = first(&connection, limit).await;
    let waited = begun.elapsed();
    let goes_on = stdout(walk, &connection, first, waited);
    walk.note(StepName::Stderr, stderr(&connection));
    walk.take(StepName::End, ended(&connection)).await;
    connection.kill().await;
    goes_on
}

/// Whether the program is there and may be started.
fn program(command: &Command) -> (Finding, Option<()>) {
    let name = command.program.as_str();
    let Some(path) = found(command) else {
        let fix = match BRINGS.iter().find(|(program, _)| *program == name) {
            Some((_, from)) => format!("install {from}, or give the program's whole path"),
            None => "install it, correct its name, or give the program's whole path".to_owned(),
        };
        let place = if name.contains('/') { "there is no such file" } else { "no folder of PATH has it" };
        return (Finding::failed(format!("`{name}`: {place}"), fix), None);
    };
    let shown = path.display().to_string();
    let Ok(about) = std::fs::metadata(&path) else {
        return (Finding::failed(format!("{shown}: cannot be read"), "check its permissions"), None);
    };
    if about.is_dir() {
        return (Finding::failed(format!("{shown} is a folder"), "name the program in it"), None);
    }
    // To open a named pipe waits for its other end, without a limit.
    if !about.is_file() {
        let what = format!("{shown} is not a regular file, so it cannot be started");
        return (Finding::failed(what, "name a program or a script"), None);
    }
    if about.permissions().mode() & 0o111 == 0 {
        return (Finding::failed(format!("{shown} may not be executed"), format!("chmod +x {shown}")), None);
    }
    match interpreter(&path) {
        Some(missing) if !missing.exists() => {
            let what = format!("{shown} wants the interpreter {}, which does not exist", missing.display());
            (Finding::failed(what, "install it, or correct the first line of the script"), None)
        }
        _ => (Finding::ok(shown), Some(())),
    }
}

/// Where the program is: as a path, or in a folder of PATH.
fn found(command: &Command) -> Option<PathBuf> {
    let name = Path::new(&command.program);
    if command.program.contains('/') {
        let here =
            command.cwd.as_deref().filter(|_| name.is_relative()).map_or_else(|| name.to_owned(), |cwd| cwd.join(name));
        return here.exists().then_some(here);
    }
    let own = command.env.iter().rev().find(|(variable, _)| variable == "PATH").map(|(_, value)| value.into());
    let paths = own.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
    let places: Vec<_> =
        std::env::split_paths(&paths).map(|folder| folder.join(name)).filter(|at| at.is_file()).collect();
    let can_run = |at: &&PathBuf| at.metadata().is_ok_and(|about| about.permissions().mode() & 0o111 != 0);
    places.iter().find(can_run).or(places.first()).cloned()
}

/// The program that a script's first line names.
fn interpreter(script: &Path) -> Option<PathBuf> {
    use std::io::Read as _;
    use std::os::unix::ffi::OsStrExt as _;
    let mut start = Vec::new();
    std::fs::File::open(script).ok()?.take(FIRST_LINE as u64).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let word = line.split(|byte| byte.is_ascii_whitespace()).find(|word| !word.is_empty())?;
    Some(PathBuf::from(OsStr::from_bytes(word)))
}

/// Starts the command and sends the first request.
async fn started(options: &Options, tap: &Tap, limit: Duration) -> (Finding, Option<Connection>) {
    let revision = Revision::NEWEST_LEGACY;
    let connection = match Connection::open(&options.address, revision, tap, &connect_options(options, limit)).await {
        Ok(connection) => connection,
        Err(error) => return (failed(options, &error), None),
    };
    if let Err(SendError::Open(error)) = connection.send(&first_message(revision)).await {
        return (failed(options, &error), None);
    }
    // One that ends at once did not start.
    let until = Instant::now() + limit / 2;
    let has_spoken = |frame: &Frame| frame.from == Party::Server && matches!(frame.content, Content::Line { .. });
    while Instant::now() < until && !tap.snapshot().frames.iter().any(has_spoken) {
        if let Some(error) = exit_of(options, &connection).await {
            let said = lines_of(&tap.snapshot()).first_other.map(|first| format!("on stdout: {first}"));
            return (said.into_iter().fold(failed(options, &error), Finding::and), None);
        }
        sleep(LOOK).await;
    }
    (Finding::ok("it runs"), Some(connection))
}

/// How the command ended, where it did.
async fn exit_of(options: &Options, connection: &Connection) -> Option<OpenError> {
    use std::os::unix::process::ExitStatusExt as _;
    let status = connection.exited(Duration::ZERO).await?;
    let stderr = connection.child().map(ChildView::stderr_tail).unwrap_or_default();
    Some(OpenError::Exited { at: options.address.to_string(), code: status.code(), signal: status.signal(), stderr })
}

/// Waits for the answer; whether it came.
async fn first(connection: &Connection, limit: Duration) -> bool {
    let id = RequestId::from(1);
    let answer = async { connection.response(&id, limit).await.is_some() };
    let ended = async {
        while !connection.is_over() {
            sleep(LOOK).await;
        }
        // What was written last may still be read.
        connection.response(&id, Duration::from_millis(200)).await.is_some()
    };
    tokio::select! {
        came = answer => came,
        came = ended => came,
    }
}

/// What came on stdout; whether the way goes on.
fn stdout(walk: &mut Walk, connection: &Connection, answered: bool, waited: Duration) -> Option<()> {
    let Lines { messages, others, first_other } = lines_of(&connection.tap().snapshot());
    let finding = match (answered, first_other) {
        (_, Some(first)) => {
            let fix = "write nothing but messages to stdout; banners and logs belong on stderr (console.error, \
                       print(…, file=sys.stderr))";
            let count = if others == 1 { "1 line is".to_owned() } else { format!("{others} lines are") };
            let finding = Finding::failed(format!("{count} no JSON-RPC; the first: {first}"), fix);
            if answered { finding.and("the answer came all the same; strict clients give up before") } else { finding }
        }
        (true, None) if messages == 1 => Finding::ok("1 message, nothing else"),
        (true, None) => Finding::ok(format!("{messages} messages, nothing else")),
        (false, None) if connection.is_over() => {
            let fix = "run the command by itself and see why it ends";
            Finding::failed("it closed its stdout before it answered", fix)
        }
        (false, None) => {
            let fix = "does it read stdin, and is it an MCP server over stdio? Wait longer where it is slow to start";
            Finding::failed(format!("no answer within {:.1} s", waited.as_secs_f64()), fix)
        }
    };
    walk.note_after(StepName::Stdout, finding, waited);
    answered.then_some(())
}

/// What a command wrote to stdout.
#[derive(Default)]
struct Lines {
    /// How many lines are messages.
    messages: usize,
    /// How many are not.
    others: usize,
    /// The first that is not: all of it, because half a secret is not recognized. The walk shortens it.
    first_other: Option<String>,
}

fn lines_of(trace: &Trace) -> Lines {
    let mut lines = Lines::default();
    for frame in trace.frames.iter().filter(|frame| frame.from == Party::Server) {
        let Content::Line { bytes, .. } = &frame.content else { continue };
        if matches!(Event::of(frame), Event::Malformed(_)) {
            lines.others += 1;
            lines.first_other.get_or_insert_with(|| String::from_utf8_lossy(bytes).into_owned());
        } else {
            lines.messages += 1;
        }
    }
    lines
}

fn stderr(connection: &Connection) -> Finding {
    let tail = connection.child().map(ChildView::stderr_tail).unwrap_or_default();
    let lines: Vec<_> = tail.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return Finding::ok("nothing");
    }
    let count = if lines.len() == 1 { "1 line".to_owned() } else { format!("{} lines", lines.len()) };
    let last = &lines[lines.len().saturating_sub(STDERR)..];
    last.iter().fold(Finding::ok(count), |finding, line| finding.and(*line))
}

/// Closes the command's stdin, and waits for its end.
async fn ended(connection: &Connection) -> (Finding, Option<()>) {
    use std::os::unix::process::ExitStatusExt as _;
    let before = connection.exited(Duration::ZERO).await;
    if let Ok(child) = connection.child()
        && before.is_none()
    {
        child.close_stdin().await;
    }
    let when = if before.is_some() { "by itself" } else { "after its stdin was closed" };
    let seen = match connection.exited(FAREWELL).await {
        None => "it goes on after its stdin is closed, and is killed".to_owned(),
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("code {code} {when}"),
            (None, signal) => format!("signal {} {when}", signal.unwrap_or_default()),
        },
    };
    (Finding::ok(seen), Some(()))
}

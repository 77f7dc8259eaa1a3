//! Exit codes and messages on stderr. The exit codes are public, documented in `docs/check.md`,
//! tested.

use std::borrow::Cow;
use std::fmt;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::{Arc, PoisonError, RwLock};

use net::Children;
use report::render::message::message;
use report::render::text::WIDTH;
use wire::redact::Redactor;

/// The exit code of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The check passed.
    Clean,
    /// The check failed.
    Finding,
    /// The command line, or a file it names, is wrong.
    Usage,
    /// No MCP answer in any era: not started, not reached, not MCP.
    NoAnswer,
    /// A bug in proof.
    Bug,
    /// The exit code of another process.
    As(u8),
    /// A signal of this number ended it: 128 more, as shells have it.
    Interrupted(u8),
}

impl Exit {
    fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Finding => 1,
            Self::Usage => 2,
            Self::NoAnswer => 3,
            Self::Bug => 4,
            Self::As(code) => code,
            Self::Interrupted(signal) => 128 + signal,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// The redactor of all messages.
static REDACTOR: RwLock<Option<Arc<Redactor>>> = RwLock::new(None);

fn current_redactor() -> Option<Arc<Redactor>> {
    REDACTOR.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Redacts the secrets that `redactor` knows in all further messages.
pub(crate) fn conceal(redactor: Redactor) {
    *REDACTOR.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(redactor));
}

/// Redacts a secret that this run fetched for itself in everything that follows: messages, reports, files.
pub(crate) fn learn(secret: &str) {
    if let Some(redactor) = current_redactor() {
        redactor.learn(secret);
    }
}

/// `text` without the known secrets.
pub(crate) fn concealed(text: &str) -> Cow<'_, str> {
    match current_redactor() {
        Some(redactor) => Cow::Owned(redactor.redact_known(text).into_owned()),
        None => Cow::Borrowed(text),
    }
}

/// Prints a line to stderr, with known secrets redacted and what a terminal obeys escaped, and messages broken at its width.
/// Ignores a closed stderr.
pub(crate) fn tell(line: impl fmt::Display) {
    let text = concealed(&line.to_string()).into_owned();
    let _ = writeln!(std::io::stderr(), "{}", message(&wire::escape::lines(&text), width()));
}

/// The narrowest terminal for which messages are broken.
const NARROWEST: usize = 40;

/// How wide messages are.
fn width() -> usize {
    let size = terminal_size::terminal_size_of(std::io::stderr());
    size.map_or(WIDTH, |(terminal_size::Width(columns), _)| usize::from(columns).max(NARROWEST))
}

/// Prints a question to stderr, without a line break.
pub(crate) fn prompt(question: &str) {
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "{}", wire::escape::lines(&concealed(question))).and_then(|()| stderr.flush());
}

/// Prints a message that may quote a peer: redacts everything that looks like a secret. Advice (`try:`)
/// is our own text.
pub(crate) fn tell_redacted(text: &str) {
    let redact = |line: &str| if line.starts_with("  try: ") { line.to_owned() } else { redacted(line) };
    tell(text.lines().map(redact).collect::<Vec<_>>().join("\n"));
}

/// A text without what looks like a secret. Redact before a text is wrapped: a secret may have blanks.
pub(crate) fn redacted(text: &str) -> String {
    current_redactor().map_or_else(|| text.to_owned(), |redactor| redactor.redact_text(text).into_owned())
}

/// Prints what is wrong with the command line; returns the exit code.
pub(crate) fn usage(what: &str, remedy: &str) -> Exit {
    tell(format_args!("error: {what}\n  try: {remedy}"));
    Exit::Usage
}

/// Reports a panic on any thread as a bug in proof, kills all children, and ends the process. Nothing unwinds: the release
/// profile aborts on a panic, and a task that died unnoticed could leave a verdict on half a trace.
pub(crate) fn end_on_panic(children: Children) {
    std::panic::set_hook(Box::new(move |panic| {
        tell(bug(panic));
        children.kill_all();
        end(Exit::Bug)
    }));
}

#[expect(clippy::exit, reason = "a panic hook has no caller to return an exit code to")]
fn end(exit: Exit) -> ! {
    std::process::exit(exit.code().into())
}

fn bug(panic: &impl fmt::Display) -> String {
    format!("error: a bug in proof: {panic}\n  try: report it, with the command line and these lines")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{bug, end_on_panic};

    /// Set where the test below runs as a child of itself: on which thread to panic.
    const THREAD: &str = "PROOF_TEST_PANIC_ON";

    fn panicking() {
        panic!("on purpose");
    }

    #[test]
    fn a_panic_on_any_thread_is_our_own_bug() {
        if let Ok(thread) = std::env::var(THREAD) {
            end_on_panic(net::Children::new());
            if thread == "another" {
                let _ = std::thread::spawn(panicking).join();
            } else {
                panicking();
            }
            return;
        }
        for thread in ["this", "another"] {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", "exit::tests::a_panic_on_any_thread_is_our_own_bug", "--nocapture"]);
            let ran = child.env(THREAD, thread).output().unwrap();
            let told = String::from_utf8_lossy(&ran.stderr);
            assert_eq!(ran.status.code(), Some(4), "{told}");
            assert!(told.contains("error: a bug in proof: ") && told.contains("on purpose"), "{told}");
        }
    }

    #[test]
    fn a_panic_is_reported_with_advice() {
        assert_eq!(
            bug(&"panicked at here:1:2:\nthere"),
            "error: a bug in proof: panicked at here:1:2:\nthere\n  try: report it, with the command line and these lines"
        );
    }
}

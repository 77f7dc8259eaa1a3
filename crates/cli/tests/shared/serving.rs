//! A process that listens, says first where, and ends with its test.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// It, for as long as this is held.
pub(crate) struct Serving {
    pub(crate) child: Child,
    /// The first address that it names: `http://HOST:PORT/…`.
    pub(crate) url: String,
}

impl Serving {
    /// Starts it, and waits until it says that it listens.
    #[track_caller]
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary runs");
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("a line");
        let url = line.split_whitespace().find(|word| word.starts_with("http://")).map(str::to_owned);
        // What else it says is drained, or it would stand still one day; the thread ends with it.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let serving = Self { child, url: url.unwrap_or_default() };
        assert_ne!(serving.url, "", "{line:?}");
        serving
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! What a running gateway, its clients and its upstreams say to each other, read from the gateway's own socket: only the user that runs
//! the gateway can open it. Sends one word, which changes nothing there.

use std::sync::Arc;

use console::{Console, GatewaySides, Place, Side};
use net::{LocalStream, connect_local, local_sockets};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use wire::trace::file::read_frame;

use crate::exit::{Exit, tell, usage};

/// The program whose sockets are looked for.
const PROGRAM: &str = "proof-gateway";
/// The word that is answered by what crosses.
const WORD: &[u8] = b"live\n";
/// The longest line: a message of 16 MiB, in the escapes of a text.
const LONGEST: u64 = 128 << 20;
const REMEDY: &str = "start `proof gateway` as the same user, or name a folder of recordings: --gateway DIR";

/// A running gateway that shows its messages.
pub(super) struct Live {
    lines: Lines<BufReader<LocalStream>>,
    greeting: Greeting,
}

/// The first line.
#[derive(Deserialize)]
struct Greeting {
    process: u32,
    /// Where its clients reach it.
    at: String,
    /// Its clock.
    now: u64,
}

/// What a later line says: a message of a side, or how many were missed.
#[derive(Deserialize)]
struct Line<'l> {
    #[serde(default)]
    missed: u64,
    side: Option<SideNames>,
    #[serde(default)]
    exchange: u64,
    #[serde(default)]
    within: u64,
    #[serde(borrow)]
    frame: Option<&'l RawValue>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SideNames {
    Upstream { upstream: String },
    Client { principal: Option<String>, server: String },
}

impl From<SideNames> for Side {
    fn from(names: SideNames) -> Self {
        match names {
            SideNames::Upstream { upstream } => Self::Upstream(upstream),
            SideNames::Client { principal, server } => Self::Client { principal, server },
        }
    }
}

/// Lines of bounded length.
struct Lines<R>(R);

impl<R: AsyncBufRead + Unpin> Lines<R> {
    /// The next line; `None` at the end.
    async fn next(&mut self) -> std::io::Result<Option<String>> {
        let mut line = Vec::new();
        (&mut self.0).take(LONGEST).read_until(b'\n', &mut line).await?;
        if line.pop() == Some(b'\n') {
            return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
        }
        Ok(None)
    }
}

impl Live {
    /// Connects to the gateway of this process, or to the only one of this user.
    pub(super) async fn open(process: Option<u32>) -> Result<Self, Exit> {
        let mut stream = connect(process).await?;
        let broken = |error: std::io::Error| usage(&format!("the gateway does not answer: {error}"), REMEDY);
        stream.write_all(WORD).await.map_err(broken)?;
        let mut lines = Lines(BufReader::new(stream));
        let first = lines.next().await.map_err(broken)?.unwrap_or_default();
        let Ok(greeting) = serde_json::from_str(&first) else {
            let refused: serde_json::Value = serde_json::from_str(&first).unwrap_or_default();
            let why = refused["error"].as_str().unwrap_or("it ended");
            let what = format!("the gateway shows nothing: {}", wire::escape::line(why));
            return Err(usage(&what, "close another `proof inspect --gateway`, or update the gateway"));
        };
        Ok(Self { lines, greeting })
    }

    /// Shows messages as they come, until the gateway ends.
    pub(super) async fn follow(mut self, console: Arc<Console>) {
        let label = format!("gateway {} ({})", self.greeting.process, self.greeting.at);
        let mut sides = console.add_gateway(&label, self.greeting.now);
        let why = loop {
            match self.lines.next().await {
                Ok(Some(line)) => {
                    if let Err(why) = show(&mut sides, &line) {
                        break format!("a line of the gateway cannot be read: {}", wire::escape::line(&why));
                    }
                }
                Ok(None) => break "the gateway has ended".to_owned(),
                Err(error) => break format!("the gateway cannot be read: {error}"),
            }
            // A flood must not keep the page waiting.
            tokio::task::yield_now().await;
        };
        sides.over(&why);
        tell(format_args!("{why}; nothing more of it is shown\n  try: start `proof inspect --gateway` again"));
    }
}

fn show(sides: &mut GatewaySides, line: &str) -> Result<(), String> {
    let line: Line<'_> = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if line.missed > 0 {
        sides.missed(line.missed);
    }
    if let (Some(side), Some(frame)) = (line.side, line.frame) {
        let place = Place { side: side.into(), exchange: line.exchange, within: line.within };
        sides.take(&place, &read_frame(frame.get())?);
    }
    Ok(())
}

async fn connect(process: Option<u32>) -> Result<LocalStream, Exit> {
    let all = local_sockets(PROGRAM).map_err(|error| usage(&format!("cannot look for gateways: {error}"), REMEDY))?;
    let mut open = Vec::new();
    for (number, path) in all {
        let is_meant = process.is_none_or(|process| process == number);
        // A process that was killed leaves its socket.
        if is_meant && let Ok(stream) = connect_local(&path).await {
            open.push((number, stream));
        }
    }
    match (open.pop(), open.as_slice()) {
        (Some((_, stream)), []) => Ok(stream),
        (None, _) => {
            let which = process.map(|process| format!(" as process {process}")).unwrap_or_default();
            Err(usage(&format!("no gateway of this user runs{which}"), REMEDY))
        }
        (Some((last, _)), others) => {
            let numbers = others.iter().map(|(number, _)| number).chain([&last]);
            let numbers = numbers.map(ToString::to_string).collect::<Vec<_>>().join(", ");
            Err(usage(&format!("several gateways run: {numbers}"), "name one by its process: --gateway PID"))
        }
    }
}

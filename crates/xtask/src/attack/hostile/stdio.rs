//! The hostile MCP server as a child process of what is attacked: `cargo xtask attack --play TRICK`. Also other processes that do
//! not behave.

use std::io::{BufRead as _, Write as _};
use std::time::Duration;

use serde_json::Value;

use super::mcp::{Reaction, react};
use crate::Verdict;
use crate::attack::reports::peers as markup;
use crate::attack::secrets::echo;

/// Plays a trick until the client has enough.
pub(crate) fn play(words: &[String]) -> Verdict {
    let trick = words.first().map(String::as_str).unwrap_or_default();
    match trick {
        "echo" => return echo::play(words),
        "markup" => return markup::server(words),
        "visitor" => return markup::client(words),
        _ => {}
    }
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line.unwrap_or_default()) else { continue };
        if trick == "error-without-end" && message["method"] != "initialize" {
            let noise = "\u{1b}[31mnoise\u{9b}2J ".repeat(4000);
            while std::io::stderr().write_all(noise.as_bytes()).is_ok() {}
        }
        // A client that has had enough closes the pipe.
        if write(&mut output, &react(trick, &message)).is_err() {
            return Ok(true);
        }
    }
    // Nothing but a signal that cannot be refused ends this one.
    if trick == "stays" {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    Ok(true)
}

fn write(output: &mut impl std::io::Write, reaction: &Reaction) -> std::io::Result<()> {
    for (at, message) in reaction.messages.iter().enumerate() {
        output.write_all(message)?;
        if !(reaction.cut && at + 1 == reaction.messages.len()) {
            output.write_all(b"\n")?;
        }
    }
    output.flush()?;
    while !reaction.endless.is_empty() {
        std::thread::sleep(reaction.pause);
        output.write_all(&reaction.endless)?;
        if !reaction.cut {
            output.write_all(b"\n")?;
        }
        output.flush()?;
    }
    Ok(())
}

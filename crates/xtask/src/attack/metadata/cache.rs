//! A cache of tokens that is no regular file: opening a pipe waits for its other end.

use std::process::Command;

use anyhow::ensure;

use super::super::Plan;
use super::super::hostile::http::{Seen, Web};
use super::super::program::Run;
use super::super::trial::Attempt;
use super::{MOST, Script, asked};

/// Files that are none, each opened once a token is needed.
pub(super) fn odd_files(plan: &Plan) -> Vec<Attempt<'_>> {
    let (fifo, link) = (plan.folder.join("cache-pipe"), plan.folder.join("cache-link"));
    let made = Command::new("mkfifo").arg(&fifo).status().is_ok_and(|status| status.success());
    let made = made && std::os::unix::fs::symlink(&fifo, &link).is_ok();
    let files = [
        ("a pipe", fifo.display().to_string()),
        ("a link to a pipe", link.display().to_string()),
        ("a device without end", "/dev/zero".to_owned()),
        ("a folder", plan.folder.display().to_string()),
    ];
    let verbs: [&[&str]; 3] =
        [&["client", "tools"], &["check", "--max-time", "5", "--revision", "2025-11-25"], &["snapshot"]];
    let mut attempts = Vec::new();
    for (what, file) in files {
        for verb in verbs {
            let file = file.clone();
            attempts.push(Attempt::new(
                format!("{what} as the cache of tokens"),
                verb[0],
                "an error in time, no token is sent",
                move || {
                    ensure!(made, "mkfifo made no pipe");
                    let web = Web::start(|seen: &Seen, address| Script::honest(address).answer(seen, address))?;
                    let url = web.url("/mcp");
                    let args = [verb, &["--oauth", "--oauth-cache", &file, "--timeout", "3", &url]].concat();
                    let ended = Run::new(plan, &args, 30).go(plan)?;
                    ended.sound(MOST)?;
                    ensure!(ended.code != Some(0), "it went on");
                    ensure!(asked(&web), "no token was needed: nothing was tried");
                    Ok(())
                },
            ));
        }
    }
    attempts
}

//! `proof test --wait`: waits for the servers that a test file names and does not start.

use std::time::{Duration, Instant};

use ::suite::test::Suite;
use net::client::is_up_within;

use crate::args::reach::unanswered;
use crate::exit::{Exit, usage};

/// How long the last of several servers is asked at least.
const LEAST: Duration = Duration::from_millis(100);

/// Waits until every server of others answers, all together for no longer than `patience`.
pub(super) async fn servers(patience: Option<Duration>, suites: &[Suite]) -> Result<(), Exit> {
    let Some(patience) = patience else { return Ok(()) };
    let urls: Vec<_> = suites.iter().flat_map(Suite::urls_of_others).collect();
    if urls.is_empty() {
        let what = "--wait needs a server with a URL: proof starts the others itself";
        return Err(usage(what, "--timeout S, which includes the start of a command"));
    }
    let begun = Instant::now();
    for url in urls {
        let (asked, left) = (url.clone(), patience.saturating_sub(begun.elapsed()).max(LEAST));
        // It blocks; a signal ends the program all the same.
        let waiting = tokio::task::spawn_blocking(move || is_up_within(&asked, left));
        if !waiting.await.unwrap_or_default() {
            return Err(unanswered(&url, patience));
        }
    }
    Ok(())
}

//! An error of the client as the page gets it.

use client::{Advice, ClientError};
use net::server::http::StatusCode;
use page::Failure;

/// With advice in the program's words.
pub(crate) fn of_client(error: &ClientError, words: impl Fn(&Advice) -> String) -> Failure {
    let described = error.describe(words);
    let mut failure = Failure::new(StatusCode::BAD_GATEWAY, "", "");
    for line in described.lines() {
        if let Some(at) = line.strip_prefix("  at ") {
            at.clone_into(&mut failure.at);
        } else if let Some(remedy) = line.strip_prefix("  try: ") {
            remedy.clone_into(&mut failure.remedy);
        } else {
            let space = if failure.what.is_empty() { "" } else { "\n" };
            failure.what = format!("{}{space}{}", failure.what, line.trim());
        }
    }
    failure
}

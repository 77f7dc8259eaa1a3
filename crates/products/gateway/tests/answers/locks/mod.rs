//! Servers that are held against a lock: what differs is withheld from lists and calls, and nothing that was kept of it is
//! used.

mod changes;
mod kept;
mod outside;
mod primitives;
mod program;
mod shop;
mod signed;
mod texts;
mod uris;

use serde_json::{Value, json};

use crate::scene::Raw;

/// The names of a list, and what it says of what is withheld.
async fn listed(client: &Raw, method: &str) -> (Vec<String>, Value) {
    let answer = client.ask(method, json!({}), &[]).await;
    let result = answer["result"].as_object().unwrap_or_else(|| panic!("no list: {answer}"));
    let (_, items) = result.iter().find(|(_, value)| value.is_array()).expect("a list");
    let key = if method == "resources/list" { "uri" } else { "name" };
    let name = |item: &Value| item[key].as_str().unwrap_or_default().to_owned();
    let names = items.as_array().into_iter().flatten().map(name).collect();
    (names, answer["result"]["_meta"]["dev.proofhouse/withheld"].clone())
}

/// Asks until something is so, for some seconds; the last answer where it never is.
async fn until<T>(mut asked: impl AsyncFnMut() -> T, is_so: impl Fn(&T) -> bool) -> T {
    for _ in 0..200 {
        let answer = asked().await;
        if is_so(&answer) {
            return answer;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    asked().await
}

/// The row and the message of an error.
fn refusal(answer: &Value) -> (&str, &str) {
    let row = answer["error"]["data"]["failure"].as_str().unwrap_or_else(|| panic!("no row in {answer}"));
    (row, answer["error"]["message"].as_str().unwrap_or_default())
}

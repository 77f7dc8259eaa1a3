//! How long a client waits between two polls of a task: as the server says, or else longer and longer. Must not know what a
//! poll is.

use std::time::Duration;

use serde_json::Value;

/// The first pause where the server does not say.
const FIRST: Duration = Duration::from_secs(1);
/// The shortest that a server gets: no server is polled without a pause.
const SHORTEST: Duration = Duration::from_millis(10);
/// The longest where the server does not say.
const LONGEST: Duration = Duration::from_secs(30);

/// The pauses between polls of one task.
#[derive(Debug)]
pub(crate) struct Pauses(Duration);

impl Pauses {
    /// Those of a task that was not polled yet.
    pub(crate) const fn new() -> Self {
        Self(FIRST)
    }

    /// The pause before the next poll, of a task that was last shown as `task`.
    pub(crate) fn next(&mut self, task: &Value) -> Duration {
        if let Some(asked) = millis(task, ["pollInterval", "pollIntervalMs"]) {
            return asked.max(SHORTEST);
        }
        let pause = self.0;
        self.0 = (pause * 2).min(LONGEST);
        // A task that ends in a pause must still be there after it.
        let lasting = millis(task, ["ttl", "ttlMs"]).map_or(LONGEST, |lasting| (lasting / 4).max(FIRST));
        pause.min(lasting)
    }
}

fn millis(task: &Value, names: [&str; 2]) -> Option<Duration> {
    let value = names.into_iter().find_map(|name| task.get(name));
    value.and_then(Value::as_u64).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Pauses;

    fn pauses<const N: usize>(task: &Value) -> [u128; N] {
        let mut pauses = Pauses::new();
        std::array::from_fn(|_| pauses.next(task).as_millis())
    }

    #[test]
    fn pauses_grow_from_one_second_to_thirty() {
        let expected = [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000];
        assert_eq!(pauses(&json!({ "status": "working" })), expected);
        assert_eq!(pauses(&json!({ "pollInterval": null, "ttl": null })), expected);
    }

    #[test]
    fn a_server_that_says_a_pause_gets_it() {
        assert_eq!(pauses(&json!({ "pollInterval": 250, "ttl": 1000 })), [250, 250, 250]);
        assert_eq!(pauses(&json!({ "pollIntervalMs": 60_000 })), [60_000, 60_000]);
        let mut pauses = Pauses::new();
        let mut next = |task| pauses.next(&task).as_millis();
        let seen = [next(json!({})), next(json!({ "pollInterval": 5 })), next(json!({})), next(json!({}))];
        assert_eq!(seen, [1000, 10, 2000, 4000]);
    }

    #[test]
    fn no_pause_is_longer_than_a_quarter_of_the_tasks_life() {
        assert_eq!(pauses(&json!({ "ttl": 20_000 })), [1000, 2000, 4000, 5000, 5000]);
        assert_eq!(pauses(&json!({ "ttlMs": 100 })), [1000, 1000]);
    }
}

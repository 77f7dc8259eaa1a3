//! Rows 45–52: questions in the middle of a request.

use super::{Row, absent, degraded, flight, impossible, lossless, store};

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "45",
        "A server of 2026-07-28 asks an older client",
        degraded("All questions go to the client at once, on the stream of its request. The request is sent again with the answers, at most 16 times. A client's error cannot be passed on."),
        absent("No server of 2026-07-28."),
    )
    .instead("A form counts as cancelled. Any other refused question ends the request with an error that names it."),
    Row::new(
        "46",
        "`requestState`",
        lossless("Goes back to the server byte for byte; the client never sees it."),
        lossless("Between two parties of 2026-07-28 it is untouched. Towards an older server it is the gateway's own (row 48)."),
    ),
    Row::new(
        "47",
        "`input_required` without questions",
        flight("The gateway sends the request again after 0.1 s, then after twice as long each time, at most 5 s."),
        absent("Older servers do not send it. Between two parties of 2026-07-28 it passes."),
    ),
    Row::new(
        "48",
        "An older server asks a client of 2026-07-28",
        absent("No client of 2026-07-28."),
        flight("The request stays open at the server. The client gets the questions as `input_required` with a state that nobody can guess. The next request must ask for the same and come from the same principal; missing answers are asked for again."),
    )
    .missing("The stored outcome for a second identical retry."),
    Row::new(
        "49",
        "The waiting request is gone",
        absent("Nothing waits."),
        impossible("A state of this gateway that it no longer knows is refused: sent again, the request would run twice."),
    )
    .instead("-32602, which says that the outcome is unknown.")
    .missing("Other replicas."),
    Row::new(
        "50",
        "Which request asks",
        lossless("A server of 2026-07-28 asks in the response itself."),
        degraded("A question on the stream of a request belongs to it. Elsewhere it belongs to the only request that can ask: each session of a client that can be asked runs one such request at a time, and the gateway opens further sessions up to a limit."),
    )
    .instead("Fewer requests at a time in one session."),
    Row::new(
        "51",
        "Questions outside `tools/call`, `prompts/get` and `resources/read`",
        lossless("A server of 2026-07-28 has none."),
        impossible("The gateway answers for the client. An older client with a session of its own at an older server is asked on its GET stream."),
    )
    .instead("The server gets no roots, a cancelled form, or error -1 for sampling."),
    Row::new(
        "52",
        "The client never comes back",
        store("An older client that is gone cancels the request."),
        degraded("After 10 minutes the server gets a cancelled form, or an error, and then the cancellation of the request."),
    )
    .instead("Nothing: the client is gone. The log and the counter tell."),
];

//! Rows 60a–60g: tasks of 2025-11-25 and of the extension to 2026-07-28.

use super::{Row, degraded, flight, impossible, lossless, owner, store};

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "60a",
        "A call becomes a task",
        degraded("For 2025-11-25, a server with the extension declares `tasks` without `list`, and its tools say that a call may become a task (`execution`). Where the client asks for a task, the task of the server becomes one of 2025-11-25, and a plain result becomes a task that is done. The server decides alone: `task` is removed. With several servers, or one without the extension, tasks are not declared, and the client gets the plain result."),
        store("For a client that declares the extension, the gateway asks a server of 2025-11-25 for a task where the tool runs only as one, or may and takes long as `tasks` knows. The task of the server becomes one of the extension, for an hour at most, under an id of the gateway that holds for its principal alone. The extension is declared where such a server is there and none of 2026-07-28 that has it, too. At the limit of 1,024 tasks of one principal, with an interceptor that sees results, and for a call whose answer is kept, row 60f."),
    )
    .instead("The plain result, or -32603 which says that the task cannot be followed.")
    .missing("For clients of 2025-11-25, tasks with several servers."),
    Row::new(
        "60b",
        "State and result of a task",
        flight("`tasks/get` is the server's, without what the extension adds. A completed task whose tool failed is a failed one. `tasks/result` asks the server at the interval that it wants, to the end, and names the task in `_meta`."),
        store("`tasks/get` is the server's; when the task is over, its `tasks/result` is asked for and inlined. A failed task with a result is a completed one: only an error of JSON-RPC is a failure. A task whose connection has ended is a failed one, and its outcome unknown."),
    ),
    Row::new(
        "60c",
        "Questions of a task",
        flight("They go to the client on the stream of `tasks/result`, and name the task in `_meta`. The answers go back by `tasks/update`. What a client refuses is handled as in row 45. While nobody waits for the result, nobody is asked."),
        owner("When a task needs input, the gateway asks for its result, and what the server asks on that stream becomes `inputRequests`, under keys that a task uses once. `tasks/update` answers the server. While the server has not asked, the task is one that works. What the client cannot be asked is refused."),
    ),
    Row::new(
        "60d",
        "Cancellation of a task",
        store("A task that is over is refused with -32602. Any other is cancelled at the server, and stays cancelled for the client for an hour, even if the server goes on."),
        store("The server's, acknowledged after its answer. Its error that the task is over is acknowledged, too. A server that declares no cancellation gets none."),
    ),
    Row::new(
        "60e",
        "Lists and status of tasks",
        impossible("`tasks/list` is not found, and not declared. No status is announced."),
        impossible("`notifications/tasks/status` is dropped."),
    )
    .instead("-32601; no status.")
    .missing("Status notifications across eras."),
    Row::new(
        "60f",
        "Tools that run only as a task",
        flight("Where the server refuses the call for want of the extension, the gateway calls again and offers it, asks for the state of the task to its end, and passes the result. A call that is given up cancels its task."),
        flight("For a client that does not declare the extension, the gateway calls the tool as a task, waits for its end and passes the result. So it does for clients of 2025-06-18 and before."),
    ),
    Row::new(
        "60g",
        "Tasks of the client",
        lossless("Not declared to the server."),
        lossless("Not declared to the server."),
    ),
];

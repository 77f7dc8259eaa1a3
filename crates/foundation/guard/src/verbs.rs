//! The verbs in names and descriptions of tools: which of them read, and which change something. One list for all who ask:
//! the scan of annotations, and those that call tools by themselves. Must not know who calls what.

use serde_json::Value;

/// Words with which the names of tools begin that only read or calculate.
pub const READS: [&str; 34] = [
    "calculate",
    "compare",
    "compute",
    "convert",
    "count",
    "decode",
    "describe",
    "echo",
    "encode",
    "estimate",
    "explain",
    "fetch",
    "find",
    "forecast",
    "get",
    "greet",
    "hello",
    "inspect",
    "list",
    "look",
    "lookup",
    "now",
    "parse",
    "ping",
    "preview",
    "query",
    "read",
    "retrieve",
    "search",
    "show",
    "status",
    "version",
    "view",
    "whoami",
];

/// Words with which the names of tools begin that mostly only try, wait or ask. Less sure than [`READS`].
pub const TRIES: [&str; 13] = [
    "ask",
    "check",
    "confirm",
    "countdown",
    "demo",
    "elicit",
    "format",
    "sample",
    "simulate",
    "sleep",
    "test",
    "validate",
    "wait",
];

/// What adds up and the like, where its arguments are numbers.
const SUMS: [&str; 5] = ["add", "divide", "multiply", "subtract", "sum"];

/// Verbs that change something.
pub(crate) const CHANGES: [&str; 25] = [
    "create", "write", "delete", "update", "remove", "send", "post", "insert", "drop", "edit", "move", "rename",
    "upload", "publish", "install", "kill", "deploy", "merge", "push", "append", "patch", "purge", "destroy", "erase",
    "wipe",
];

/// Verbs that change something, pay or execute, and that a name may hold for another reason.
const ACTS: [&str; 31] = [
    "ban",
    "buy",
    "cancel",
    "change",
    "charge",
    "clear",
    "disable",
    "donate",
    "enable",
    "execute",
    "forget",
    "grant",
    "invite",
    "launch",
    "modify",
    "notify",
    "overwrite",
    "pay",
    "purchase",
    "register",
    "replace",
    "reset",
    "restart",
    "revoke",
    "save",
    "spend",
    "store",
    "submit",
    "transfer",
    "trigger",
    "upsert",
];

/// Words that change something or name something: in a name they make doubtful what it begins with.
const DOUBTFUL: [&str; 112] = [
    "abort",
    "accept",
    "ack",
    "acknowledge",
    "activate",
    "add",
    "allocate",
    "apply",
    "approve",
    "archive",
    "assign",
    "attach",
    "book",
    "bump",
    "call",
    "checkout",
    "claim",
    "click",
    "close",
    "commit",
    "consume",
    "copy",
    "deactivate",
    "decline",
    "decrement",
    "deny",
    "dequeue",
    "deregister",
    "detach",
    "dispatch",
    "downvote",
    "drain",
    "enqueue",
    "escalate",
    "evict",
    "exec",
    "expire",
    "finalize",
    "fix",
    "flush",
    "follow",
    "halt",
    "import",
    "increment",
    "ingest",
    "invoke",
    "kick",
    "lock",
    "make",
    "mark",
    "migrate",
    "mute",
    "open",
    "order",
    "pause",
    "persist",
    "pop",
    "populate",
    "promote",
    "provision",
    "put",
    "reboot",
    "rebuild",
    "redeem",
    "refresh",
    "regenerate",
    "reindex",
    "reject",
    "reload",
    "remember",
    "repair",
    "reply",
    "reserve",
    "resize",
    "restore",
    "revert",
    "rollback",
    "rotate",
    "run",
    "sell",
    "set",
    "share",
    "shutdown",
    "sign",
    "skip",
    "spawn",
    "start",
    "stop",
    "subscribe",
    "suspend",
    "switch",
    "take",
    "terminate",
    "toggle",
    "trade",
    "truncate",
    "turn",
    "unassign",
    "unblock",
    "undeploy",
    "undo",
    "unfollow",
    "uninstall",
    "unlink",
    "unlock",
    "unmute",
    "unpublish",
    "unregister",
    "unset",
    "unsubscribe",
    "upvote",
    "withdraw",
];

/// What a tool reaches or leaves behind whose name begins with one of [`TRIES`]: `test_email`, `confirm_payment`.
const DEEDS: [&str; 24] = [
    "alert",
    "appointment",
    "booking",
    "deletion",
    "deployment",
    "email",
    "invitation",
    "invoice",
    "mail",
    "meeting",
    "message",
    "notification",
    "payment",
    "payout",
    "refund",
    "registration",
    "removal",
    "reservation",
    "sms",
    "sql",
    "transaction",
    "upgrade",
    "webhook",
    "withdrawal",
];

/// First words of names that mean something else with one of these: `format_disk` erases, `check_out` borrows.
const OTHERWISE: [(&str, &[&str]); 5] = [
    ("check", &["box", "checkbox", "in", "off", "out"]),
    ("convert", &["lead"]),
    ("format", FORMATTED),
    ("get", &["rid"]),
    ("version", &["release", "tag"]),
];

/// What is erased or rewritten where it is formatted.
const FORMATTED: &[&str] =
    &["card", "device", "disk", "document", "drive", "file", "partition", "storage", "usb", "volume"];

/// First words of names, and what they act on, also where only the description says so.
const ACTED_ON: [(&str, &[&str]); 3] = [
    ("format", FORMATTED),
    ("simulate", &["button", "click", "gesture", "input", "key", "keyboard", "keypress", "keystroke", "mouse", "tap"]),
    ("sleep", &["computer", "device", "display", "laptop", "mac", "screen", "system"]),
];

/// Words of a name after which another verb follows: `find_and_fix`.
const CONJUNCTIONS: [&str; 3] = ["and", "or", "then"];

/// Words before a verb in the passive: `is then removed`.
const BEFORE_A_PARTICIPLE: [&str; 6] = ["automatically", "be", "immediately", "irreversibly", "permanently", "then"];

/// Names of what is not read by chance: it would stay in the trace.
const SECRETS: [&str; 5] = ["credential", "env", "environ", "password", "secret"];

/// Words of a description for calls that cost something.
const COSTS: [&str; 7] = ["billed", "charged", "charges", "consumes", "costs", "credits", "paid"];

/// The words before a verb in a sentence that says what a tool does, in addition to its first word.
const BEFORE_A_VERB: [&str; 21] = [
    "additionally",
    "afterwards",
    "also",
    "and",
    "atomically",
    "automatically",
    "finally",
    "immediately",
    "instantly",
    "irreversibly",
    "irrevocably",
    "it",
    "optionally",
    "or",
    "permanently",
    "silently",
    "simultaneously",
    "subsequently",
    "then",
    "this",
    "will",
];

/// How long a description may be that is read for verbs, in bytes.
const LONGEST: usize = 16 * 1024;

/// Whether a tool only reads or calculates, as its name has it, and neither name, title nor description say that it changes,
/// executes, costs or gives away something. What its annotations say of that is not looked at.
pub fn say_that_it_reads(tool: &Value) -> bool {
    let Some(name) = tool.get("name").and_then(Value::as_str) else { return false };
    let texts = [tool.get("title"), tool.pointer("/annotations/title"), tool.get("description")];
    let sentences: Vec<_> = texts.into_iter().flatten().filter_map(Value::as_str).collect();
    if sentences.iter().any(|text| text.len() > LONGEST) {
        return false;
    }
    if SUMS.contains(&name) {
        return takes_numbers(tool) && !sentences.iter().any(|text| does_more(text));
    }
    let words = words(name);
    let is_doubtful = |word: &String| {
        any_form(&SECRETS, word) || [&CHANGES[..], &ACTS, &DOUBTFUL].iter().any(|verbs| verbs.contains(&word.as_str()))
    };
    let Some(first) = words.first().map(String::as_str) else { return false };
    // `count_tokens` and `get_token_price` give none away.
    let gives_a_token = words.last().is_some_and(|last| last == "token");
    if gives_a_token || words.iter().any(is_doubtful) || sentences.iter().any(|text| does_more(text)) {
        return false;
    }
    if means_otherwise(first, &words[1..]) || acts_on_something(first, &words[1..], &sentences) {
        return false;
    }
    READS.contains(&first)
        || TRIES.contains(&first)
            // What is confirmed goes on; a question of the name `confirm` is only asked.
            && (first != "confirm" || words.len() == 1)
            && !words.iter().any(|word| any_form(&DEEDS, word))
            && !sentences.iter().any(|text| may_do_more(text))
}

/// Whether the words after the first one of a name give it another meaning, or add a verb that does not read.
fn means_otherwise(first: &str, rest: &[String]) -> bool {
    let has = |words: &[&str]| rest.iter().any(|word| words.contains(&word.as_str()));
    let joins = |two: &[String]| {
        let second = two[1].as_str();
        CONJUNCTIONS.contains(&two[0].as_str()) && !READS.contains(&second) && !TRIES.contains(&second)
    };
    OTHERWISE.iter().any(|(verb, words)| *verb == first && has(words)) || rest.get(..2).is_some_and(joins)
}

/// Whether name or sentences say that something of a machine is acted on: keys are pressed, a disk is formatted.
fn acts_on_something(first: &str, rest: &[String], sentences: &[&str]) -> bool {
    let Some((_, things)) = ACTED_ON.iter().find(|(verb, _)| *verb == first) else { return false };
    let is_one = |word: &String| any_form(things, word);
    rest.iter().any(is_one) || sentences.iter().any(|text| words(text).iter().any(is_one))
}

/// Whether a sentence has a verb of change where it says what is done, or says that calls cost something.
fn does_more(text: &str) -> bool {
    let verb = |word: &str| any_form(&CHANGES, word) || any_form(&ACTS, word);
    in_verb_position(text).any(|word| verb(&word))
        || in_passive(text).any(|word| CHANGES.contains(&word.as_str()))
        || words(text).iter().any(|word| COSTS.contains(&word.as_str()))
}

/// Whether it has one anywhere, or what a mere try would not touch.
fn may_do_more(text: &str) -> bool {
    let anywhere = |word: &String| [&CHANGES[..], &ACTS, &DEEDS].iter().any(|verbs| any_form(verbs, word));
    words(text).iter().any(anywhere) || in_verb_position(text).any(|word| any_form(&DOUBTFUL, &word))
}

/// The first words of sentences and lines, and those that follow a conjunction and the like.
fn in_verb_position(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(['.', '!', '?', ';', ':', ',', '\n', '(', '-', '–', '—', '*', '•']);
    parts.flat_map(|part| {
        let words = words(part);
        let mut verbs = Vec::new();
        for (at, word) in words.iter().enumerate() {
            if at == 0 || BEFORE_A_VERB.contains(&words[at - 1].as_str()) {
                verbs.push(word.clone());
            }
        }
        verbs
    })
}

/// The verbs of participles that follow words of [`BEFORE_A_PARTICIPLE`].
fn in_passive(text: &str) -> impl Iterator<Item = String> {
    let words = words(text);
    let pairs: Vec<_> = words.windows(2).filter(|two| BEFORE_A_PARTICIPLE.contains(&two[0].as_str())).collect();
    let verbs = pairs.into_iter().filter_map(|two| two[1].strip_suffix('d'));
    // `deleted` is of `delete`, `removed` of `remove`, `killed` of `kill`.
    verbs
        .flat_map(|stem| [stem.to_owned(), stem.strip_suffix('e').unwrap_or_default().to_owned()])
        .collect::<Vec<_>>()
        .into_iter()
}

/// Whether a word is one of these, or its third person or plural.
fn any_form(verbs: &[&str], word: &str) -> bool {
    verbs.iter().any(|verb| {
        word.strip_prefix(verb).is_some_and(|rest| matches!(rest, "" | "s" | "es"))
            || verb.strip_suffix('y').is_some_and(|stem| word.strip_prefix(stem) == Some("ies"))
    })
}

/// Whether a tool has arguments, and all of them are numbers.
fn takes_numbers(tool: &Value) -> bool {
    let Some(properties) = tool.pointer("/inputSchema/properties").and_then(Value::as_object) else { return false };
    let number = |schema: &Value| matches!(schema["type"].as_str(), Some("number" | "integer"));
    !properties.is_empty() && properties.values().all(number)
}

/// The words of a name or a sentence in lower case: `getUserName`, `get-user.name`, `get_user_name`, `getDBUser`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    let mut letters = name.chars().peekable();
    while let Some(one) = letters.next() {
        let ends_an_acronym = before.is_uppercase() && letters.peek().is_some_and(|next| next.is_lowercase());
        let begins = one.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit() || ends_an_acronym);
        if !one.is_alphanumeric() || begins {
            words.push(String::new());
        }
        if one.is_alphanumeric() {
            words.last_mut().expect("it has one word from the start").extend(one.to_lowercase());
        }
        before = one;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests;

//! The verbs in names and descriptions of tools: which of them read, and which change something. One list for all who ask:
//! the scan of annotations, and those that call tools by themselves. Must not know who calls what.

use std::collections::HashMap;
use std::sync::LazyLock;

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
    let words = words(name);
    let Some((first, rest)) = words.split_first() else { return false };
    let is_sum = SUMS.contains(&name) && takes_numbers(tool);
    // The name first: lists are long, and most names settle it.
    let reads = is_sum || READS.contains(&first.as_str());
    if !reads && !tries(first, rest) || !is_sum && (is_doubtful(&words) || means_otherwise(first, rest)) {
        return false;
    }
    let texts = [tool.get("title"), tool.pointer("/annotations/title"), tool.get("description")];
    let things = ACTED_ON.iter().find(|(verb, _)| verb == first).map(|(_, things)| *things);
    let acts = |word: &str| things.is_some_and(|things| any_form(things, word));
    !rest.iter().any(|word| acts(word))
        && texts.into_iter().flatten().filter_map(Value::as_str).all(|text| {
            text.len() <= LONGEST && {
                let said = Said::by(text, acts);
                !said.does_more() && (reads || !said.may_do_more())
            }
        })
}

/// Whether a name begins like one of a tool that only tries, waits or asks.
fn tries(first: &str, rest: &[String]) -> bool {
    TRIES.contains(&first)
        // What is confirmed goes on; a question of the name `confirm` is only asked.
        && (first != "confirm" || rest.is_empty())
        && !rest.iter().any(|word| class_of(word) & DEED != 0)
}

/// Words of these lists that are things after a verb that only reads: `get_book` books nothing.
const THINGS: [&str; 5] = ["book", "order", "post", "reply", "trade"];

/// Verbs after which one of those is what is read.
const BEFORE_A_THING: [&str; 6] = ["describe", "find", "get", "list", "search", "show"];

/// Whether a name is a verb that only reads and the thing that it reads.
fn reads_a_thing(words: &[String]) -> bool {
    let is = |word: &String, list: &[&str]| list.contains(&word.as_str());
    matches!(words, [verb, thing] if is(verb, &BEFORE_A_THING) && is(thing, &THINGS))
}

/// Whether the words of a name change something or give something away.
fn is_doubtful(words: &[String]) -> bool {
    if reads_a_thing(words) {
        return false;
    }
    let verbs = || [&CHANGES[..], &ACTS, &DOUBTFUL].into_iter().flatten();
    // `count_tokens` and `get_token_price` give none away.
    words.last().is_some_and(|last| last == "token")
        || words.iter().any(|word| class_of(word) & SECRET != 0 || verbs().any(|verb| verb == word))
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

/// Kinds of words, as bits.
const CHANGE: u8 = 1;
const DOUBT: u8 = 2;
const DEED: u8 = 4;
const SECRET: u8 = 8;
const COST: u8 = 16;
const CHANGED: u8 = 32;

/// Every word of the lists with its kinds, also in the third person, as plural and as participle.
static CLASSES: LazyLock<HashMap<String, u8>> = LazyLock::new(|| {
    let mut classes = HashMap::new();
    let lists = [(CHANGE, &CHANGES[..]), (CHANGE, &ACTS), (DOUBT, &DOUBTFUL), (DEED, &DEEDS), (SECRET, &SECRETS)];
    for (class, list) in lists {
        for word in list {
            let of_y = word.strip_suffix('y').map(|stem| format!("{stem}ies"));
            for form in [(*word).to_owned(), format!("{word}s"), format!("{word}es")].into_iter().chain(of_y) {
                *classes.entry(form).or_default() |= class;
            }
        }
    }
    for word in CHANGES {
        for form in [format!("{word}d"), format!("{word}ed")] {
            *classes.entry(form).or_default() |= CHANGED;
        }
    }
    for word in COSTS {
        *classes.entry(word.to_owned()).or_default() |= COST;
    }
    classes
});

fn class_of(word: &str) -> u8 {
    CLASSES.get(word).copied().unwrap_or_default()
}

/// The kinds of words of a text: wherever they stand, and where a sentence says what is done.
#[derive(Default)]
struct Said {
    anywhere: u8,
    as_verb: u8,
    /// Whether something is changed, in the passive, or acted on.
    is_done: bool,
}

impl Said {
    /// One pass over the text: servers list thousands of tools, and each is looked at often.
    fn by(text: &str, acts: impl Fn(&str) -> bool) -> Self {
        let (mut said, mut follows, mut may_be_passive) = (Self::default(), false, false);
        each_word(text, |word, begins| {
            let class = class_of(word);
            said.anywhere |= class;
            if begins || follows {
                said.as_verb |= class;
            }
            said.is_done |= acts(word) || (may_be_passive && class & CHANGED != 0);
            follows = BEFORE_A_VERB.contains(&word);
            may_be_passive = BEFORE_A_PARTICIPLE.contains(&word);
        });
        said
    }

    /// Whether it has a verb of change where it says what is done, or says that calls cost something.
    const fn does_more(&self) -> bool {
        self.is_done || self.as_verb & CHANGE != 0 || self.anywhere & COST != 0
    }

    /// Whether it has one anywhere, or what a mere try would not touch.
    const fn may_do_more(&self) -> bool {
        self.anywhere & (CHANGE | DEED) != 0 || self.as_verb & DOUBT != 0
    }
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

/// The words of a name: `getUserName`, `get-user.name`, `get_user_name`, `getDBUser`.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    each_word(name, |word, _| words.push(word.to_owned()));
    words
}

/// Gives each word of a name or a text in lower case, and whether it begins a sentence, a line or a part of one.
fn each_word(text: &str, mut see: impl FnMut(&str, bool)) {
    let (mut word, mut begins, mut before) = (String::new(), true, ' ');
    let mut letters = text.chars().peekable();
    loop {
        let one = letters.next();
        let is_new = one.is_none_or(|one| {
            let ends_an_acronym = before.is_uppercase() && letters.peek().is_some_and(|next| next.is_lowercase());
            let is_hump = before.is_lowercase() || before.is_ascii_digit() || ends_an_acronym;
            !one.is_alphanumeric() || (one.is_uppercase() && is_hump)
        });
        if is_new && !word.is_empty() {
            see(&word, begins);
            begins = false;
            word.clear();
        }
        let Some(one) = one else { return };
        if one.is_alphanumeric() {
            word.extend(one.to_lowercase());
        }
        begins |= matches!(one, '.' | '!' | '?' | ';' | ':' | ',' | '\n' | '(' | '-' | '–' | '—' | '*' | '•');
        before = one;
    }
}

#[cfg(test)]
mod tests;

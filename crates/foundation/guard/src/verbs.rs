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
const DOUBTFUL: [&str; 45] = [
    "add",
    "apply",
    "approve",
    "archive",
    "book",
    "call",
    "checkout",
    "close",
    "commit",
    "copy",
    "exec",
    "import",
    "invoke",
    "lock",
    "make",
    "mark",
    "open",
    "order",
    "pop",
    "put",
    "reboot",
    "reject",
    "remember",
    "reply",
    "reserve",
    "restore",
    "revert",
    "rollback",
    "run",
    "sell",
    "set",
    "share",
    "shutdown",
    "sign",
    "spawn",
    "start",
    "stop",
    "subscribe",
    "switch",
    "take",
    "toggle",
    "trade",
    "turn",
    "unlock",
    "unsubscribe",
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

/// Names of what is not read by chance: it would stay in the trace.
const SECRETS: [&str; 5] = ["credential", "env", "environ", "password", "secret"];

/// Words of a description for calls that cost something.
const COSTS: [&str; 7] = ["billed", "charged", "charges", "consumes", "costs", "credits", "paid"];

/// The words before a verb in a sentence that says what a tool does, in addition to its first word.
const BEFORE_A_VERB: [&str; 10] =
    ["also", "and", "automatically", "immediately", "it", "optionally", "or", "then", "this", "will"];

/// How long a description may be that is read for verbs, in bytes.
const LONGEST: usize = 16 * 1024;

/// Whether a tool only reads or calculates, as its name has it, and neither name, title nor description say that it changes,
/// executes, costs or gives away something. What its annotations say of that is not looked at.
pub fn say_that_it_reads(tool: &Value) -> bool {
    let Some(name) = tool.get("name").and_then(Value::as_str) else { return false };
    let is_sum = SUMS.contains(&name) && takes_numbers(tool);
    let words = words(name);
    // The name first: lists are long, and most names settle it.
    let Some(first) = words.first().filter(|_| is_sum || !is_doubtful(&words)).map(String::as_str) else {
        return false;
    };
    let (reads, tries) = (is_sum || READS.contains(&first), TRIES.contains(&first));
    if !reads && (!tries || words.iter().any(|word| class_of(word) & DEED != 0)) {
        return false;
    }
    let texts = [tool.get("title"), tool.pointer("/annotations/title"), tool.get("description")];
    texts.into_iter().flatten().filter_map(Value::as_str).all(|text| {
        text.len() <= LONGEST && {
            let said = Said::by(text);
            !said.does_more() && (reads || !said.may_do_more())
        }
    })
}

/// Whether the words of a name change something or give something away.
fn is_doubtful(words: &[String]) -> bool {
    let verbs = || [&CHANGES[..], &ACTS, &DOUBTFUL].into_iter().flatten();
    // `count_tokens` and `get_token_price` give none away.
    words.last().is_some_and(|last| last == "token")
        || words.iter().any(|word| class_of(word) & SECRET != 0 || verbs().any(|verb| verb == word))
}

/// Kinds of words, as bits.
const CHANGE: u8 = 1;
const DOUBT: u8 = 2;
const DEED: u8 = 4;
const SECRET: u8 = 8;
const COST: u8 = 16;

/// Every word of the lists, also in the third person or as plural, with its kinds.
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
}

impl Said {
    /// One pass over the text: servers list thousands of tools, and each is looked at often.
    fn by(text: &str) -> Self {
        let (mut said, mut word) = (Self::default(), String::new());
        let (mut is_verb, mut after_small) = (true, false);
        for one in text.chars().chain(['.']) {
            let ends = !one.is_alphanumeric() || (one.is_uppercase() && after_small);
            if ends && !word.is_empty() {
                let class = class_of(&word);
                said.anywhere |= class;
                if is_verb {
                    said.as_verb |= class;
                }
                is_verb = BEFORE_A_VERB.contains(&word.as_str());
                word.clear();
            }
            if one.is_alphanumeric() {
                word.extend(one.to_lowercase());
            }
            is_verb |= matches!(one, '.' | '!' | '?' | ';' | ':' | ',' | '\n' | '(' | '-' | '–' | '—' | '*' | '•');
            after_small = one.is_lowercase() || one.is_ascii_digit();
        }
        said
    }

    /// Whether it has a verb of change where it says what is done, or says that calls cost something.
    const fn does_more(&self) -> bool {
        self.as_verb & CHANGE != 0 || self.anywhere & COST != 0
    }

    /// Whether it has one anywhere, or what a mere try would not touch.
    const fn may_do_more(&self) -> bool {
        self.anywhere & (CHANGE | DEED) != 0 || self.as_verb & DOUBT != 0
    }
}

/// Whether a tool has arguments, and all of them are numbers.
fn takes_numbers(tool: &Value) -> bool {
    let Some(properties) = tool.pointer("/inputSchema/properties").and_then(Value::as_object) else { return false };
    let number = |schema: &Value| matches!(schema["type"].as_str(), Some("number" | "integer"));
    !properties.is_empty() && properties.values().all(number)
}

/// The words of a name or a sentence in lower case: `getUserName`, `get-user.name`, `get_user_name`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for one in name.chars() {
        if !one.is_alphanumeric() || (one.is_uppercase() && after_small) {
            words.push(String::new());
        }
        if one.is_alphanumeric() {
            words.last_mut().expect("it has one word from the start").extend(one.to_lowercase());
        }
        after_small = one.is_lowercase() || one.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests;

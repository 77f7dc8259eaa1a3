//! Alters a `requestState` that can be read: JSON, plain or in Base64, also with a signature after a dot.

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::Value;

/// How many values of one state are altered.
const VALUES: usize = 12;
/// The largest state that is looked at.
const LARGEST: usize = 64 << 10;

/// A state with one value replaced.
#[derive(Clone, Debug, PartialEq)]
pub struct Altered {
    /// JSON pointer of the value in the decoded state.
    pub pointer: String,
    /// The state to send.
    pub state: String,
    /// The same, decoded.
    pub decoded: String,
    /// The value that was replaced, as a text.
    pub was: String,
}

impl Altered {
    /// A text without the state: a server that quotes the request has not used the state.
    pub fn unquoted(&self, text: &str) -> String {
        let escaped = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut text = text.to_owned();
        for quote in [&self.state, &self.decoded] {
            for form in [quote.clone(), escaped(quote), escaped(&escaped(quote))] {
                text = text.replace(&form, "");
            }
        }
        // The parts of a state that is signed are quoted alone, too.
        self.state.split('.').filter(|part| part.len() >= 16).fold(text, |text, part| text.replace(part, ""))
    }
}

/// The state with each of its texts and numbers replaced by a canary of the same type; nothing where it cannot be read.
pub fn altered(state: &str, text: &str, number: u64) -> Vec<Altered> {
    if state.len() > LARGEST {
        return Vec::new();
    }
    let parts: Vec<&str> = state.split('.').collect();
    let whole = read(state).map(|read| (read, None));
    let part = || parts.iter().enumerate().find_map(|(at, part)| Some((read(part)?, Some(at))));
    let Some(((value, code), place)) = whole.or_else(part) else { return Vec::new() };
    let mut pointers = Vec::new();
    leaves(&value, &mut String::new(), &mut pointers);
    let one = |pointer: String| {
        let mut changed = value.clone();
        let leaf = changed.pointer_mut(&pointer)?;
        let was = leaf.as_str().map_or_else(|| leaf.to_string(), str::to_owned);
        *leaf = if leaf.is_number() { number.into() } else { text.into() };
        let decoded = changed.to_string();
        let written = code.map_or_else(|| decoded.clone(), |code| code.encode(&decoded));
        let state = match place {
            None => written,
            Some(at) => {
                let mut parts: Vec<&str> = parts.clone();
                parts[at] = &written;
                parts.join(".")
            }
        };
        Some(Altered { pointer, state, decoded, was })
    };
    pointers.into_iter().take(VALUES).filter_map(one).collect()
}

/// A value and the code that it stood in.
fn read(text: &str) -> Option<(Value, Option<&'static GeneralPurpose>)> {
    let object = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok().filter(Value::is_object);
    if let Some(value) = object(text.as_bytes()) {
        return Some((value, None));
    }
    [&URL_SAFE_NO_PAD, &STANDARD_NO_PAD, &URL_SAFE, &STANDARD]
        .into_iter()
        .find_map(|code| Some((object(&code.decode(text).ok()?)?, Some(code))))
}

fn leaves(value: &Value, pointer: &mut String, found: &mut Vec<String>) {
    let length = pointer.len();
    match value {
        Value::String(_) | Value::Number(_) => found.push(pointer.clone()),
        Value::Object(members) if found.len() < VALUES => {
            for (name, member) in members {
                pointer.push('/');
                pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                leaves(member, pointer, found);
                pointer.truncate(length);
            }
        }
        _ => {}
    }
}

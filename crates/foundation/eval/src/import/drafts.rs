//! Calls that are still being put together, whatever the dialect: pieces of arguments in, a [`Sample`] out. Bounded.

use serde_json::Value;

use super::Unreadable;
use crate::call::{Parse, Sample, ToolCall, arguments, arguments_of};

/// How many calls one answer may make.
const MOST_CALLS: usize = 4096;
/// How many bytes names and arguments of one answer may have together.
const MOST_BYTES: usize = 32 << 20;

/// One answer of a model, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Drafts {
    /// What is known beside the calls.
    pub(super) sample: Sample,
    list: Vec<Draft>,
    turn: usize,
    /// Whether calls were made since the turn began.
    has_calls: bool,
    bytes: usize,
}

#[derive(Debug)]
struct Draft {
    id: Option<String>,
    name: String,
    /// Arguments that came as text.
    text: String,
    /// Arguments that came as a value.
    value: Option<Value>,
    turn: usize,
    /// Whether all of its arguments have come.
    is_closed: bool,
    is_cut: bool,
}

impl Drafts {
    /// A new call; gives its place.
    pub(super) fn open(&mut self, id: Option<&str>, name: &str) -> Result<usize, Unreadable> {
        if self.list.len() == MOST_CALLS {
            return Err(Unreadable::new(format!("one answer makes more than {MOST_CALLS} calls"), "fewer calls"));
        }
        self.weigh(id.map_or(0, str::len) + name.len())?;
        let id = id.filter(|id| !id.is_empty()).map(str::to_owned);
        self.list.push(Draft {
            id,
            name: name.to_owned(),
            text: String::new(),
            value: None,
            turn: self.turn,
            is_closed: false,
            is_cut: false,
        });
        self.has_calls = true;
        Ok(self.list.len() - 1)
    }

    /// A whole call, whose arguments are a value or a text.
    pub(super) fn add(&mut self, id: Option<&str>, name: &str, given: Option<&Value>) -> Result<usize, Unreadable> {
        let at = self.open(id, name)?;
        self.set(at, given)?;
        Ok(at)
    }

    /// The next piece of a call's arguments.
    pub(super) fn append(&mut self, at: usize, piece: &str) -> Result<(), Unreadable> {
        self.weigh(piece.len())?;
        if let Some(draft) = self.list.get_mut(at) {
            // A placeholder that the arguments follow.
            if draft.text == "{}" && piece.starts_with('{') {
                draft.text.clear();
            }
            draft.text.push_str(piece);
        }
        Ok(())
    }

    /// The whole arguments of a call, in place of the pieces.
    pub(super) fn set(&mut self, at: usize, given: Option<&Value>) -> Result<(), Unreadable> {
        let Some(given) = given else { return Ok(()) };
        self.weigh(given.as_str().map_or_else(|| given.to_string().len(), str::len))?;
        let Some(draft) = self.list.get_mut(at) else { return Ok(()) };
        draft.is_closed = true;
        match given {
            // Some servers close a call without repeating what they streamed.
            Value::String(whole) if whole.is_empty() => {}
            Value::String(whole) => {
                if !draft.text.is_empty() && draft.text != *whole {
                    let note = format!("the pieces of the arguments of `{}` differ from the whole", draft.name);
                    self.sample.note(note);
                }
                draft.text.clone_from(whole);
            }
            Value::Null => {}
            value => draft.value = Some(value.clone()),
        }
        Ok(())
    }

    /// All arguments of a call have come.
    pub(super) fn close(&mut self, at: usize) {
        if let Some(draft) = self.list.get_mut(at) {
            draft.is_closed = true;
        }
    }

    /// The stream ended too early: a call without arguments may have lost them.
    pub(super) fn cut(&mut self, note: &str) {
        self.partial(note);
        self.lose();
    }

    /// The answer is whole as far as it goes, and more would have followed.
    pub(super) fn partial(&mut self, note: impl Into<String>) {
        self.sample.note(note);
        self.sample.is_partial = true;
    }

    /// There is no complete answer: what has come of it is not the whole.
    pub(super) fn fail(&mut self, why: String) {
        self.sample.broken = Some(why);
        self.lose();
    }

    fn lose(&mut self) {
        for draft in self.list.iter_mut().filter(|draft| !draft.is_closed && draft.value.is_none()) {
            draft.is_cut = true;
        }
    }

    /// A value that counts unless pieces follow.
    pub(super) fn set_unless_text(&mut self, at: usize, given: Option<&Value>) -> Result<(), Unreadable> {
        match given {
            Some(Value::Object(members)) if members.is_empty() => Ok(()),
            given => self.set(at, given),
        }
    }

    /// The name and the identifier of a call, where it had none.
    pub(super) fn name(&mut self, at: usize, id: Option<&str>, name: Option<&str>) -> Result<(), Unreadable> {
        self.weigh(id.map_or(0, str::len) + name.map_or(0, str::len))?;
        if let Some(draft) = self.list.get_mut(at) {
            if draft.name.is_empty() {
                name.unwrap_or_default().clone_into(&mut draft.name);
            }
            if draft.id.is_none() {
                draft.id = id.filter(|id| !id.is_empty()).map(str::to_owned);
            }
        }
        Ok(())
    }

    pub(super) fn is_named(&self, at: usize, name: &str) -> bool {
        self.list.get(at).is_some_and(|draft| draft.name == name)
    }

    pub(super) fn has_name(&self, at: usize) -> bool {
        self.list.get(at).is_some_and(|draft| !draft.name.is_empty())
    }

    /// The last call with this identifier.
    pub(super) fn by_id(&self, id: &str) -> Option<usize> {
        self.list.iter().rposition(|draft| draft.id.as_deref() == Some(id))
    }

    pub(super) fn id(&self, at: usize) -> Option<&str> {
        self.list.get(at)?.id.as_deref()
    }

    /// Whether the arguments that came are a whole object, and not the empty placeholder.
    pub(super) fn is_whole(&self, at: usize) -> bool {
        let Some(draft) = self.list.get(at) else { return false };
        draft.text.len() > 2 && draft.text.trim_end().ends_with('}') && arguments(&draft.text).1 == Parse::Parsed
    }

    pub(super) fn last(&self) -> Option<usize> {
        self.list.len().checked_sub(1)
    }

    /// What was called is answered: further calls belong to the next turn.
    pub(super) const fn next_turn(&mut self) {
        if self.has_calls {
            self.turn += 1;
            self.has_calls = false;
        }
    }

    /// All calls, read.
    pub(super) fn finish(self) -> Sample {
        let Self { mut sample, list, .. } = self;
        for (order, draft) in list.into_iter().enumerate() {
            let (arguments, parse) = match &draft.value {
                Some(value) if draft.text.is_empty() => arguments_of(Some(value)),
                _ => arguments(&draft.text),
            };
            let parse = if draft.is_cut && parse == Parse::Empty { Parse::Truncated } else { parse };
            if draft.text.starts_with("{}") && draft.text.len() > 2 && parse == Parse::Parsed {
                sample.note("the placeholder `{}` stands before arguments");
            }
            sample.calls.push(ToolCall { id: draft.id, name: draft.name, arguments, turn: draft.turn, order, parse });
        }
        sample
    }

    fn weigh(&mut self, more: usize) -> Result<(), Unreadable> {
        self.bytes += more;
        if self.bytes > MOST_BYTES {
            return Err(Unreadable::new("the calls of one answer have more than 32 MiB", "shorter arguments"));
        }
        Ok(())
    }
}

/// A text member of an object.
pub(super) fn text<'v>(value: &'v Value, member: &str) -> Option<&'v str> {
    value.get(member).and_then(Value::as_str)
}

/// What an error of an endpoint says.
pub(super) fn error_text(value: &Value) -> String {
    let error = value.get("error").filter(|error| error.is_object()).unwrap_or(value);
    let of = |member| text(error, member);
    match (of("code").or_else(|| of("type")), of("message")) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        (None, Some(message)) => message.to_owned(),
        (Some(code), None) => code.to_owned(),
        (None, None) => value.as_str().unwrap_or("the endpoint answered with an error").to_owned(),
    }
}

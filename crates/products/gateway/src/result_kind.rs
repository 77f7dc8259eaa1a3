//! How far a result is: whether it ends its request. Must not know what follows from it.

use net::service::Answer;
use wire::message::{Packet, parse};
use wire::{Era, Kind, Message};

/// How far an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultKind {
    /// It is the end: a result, or an error.
    Complete,
    /// The server asks for more.
    Question,
    /// Its result comes later.
    Task,
    /// It is of no known type, and so it is invalid (2026-07-28, basic#responses).
    Unknown,
}

impl ResultKind {
    /// What a response is in an era.
    pub(crate) fn of(message: &Message, era: Era) -> Self {
        if message.kind() != Kind::Result {
            return Self::Complete;
        }
        let said = message.body_member("resultType").filter(|_| era == Era::Modern);
        // A result without a type comes from an older server, whose tasks have a member `task` (2025-11-25, tasks).
        let is_task = said.is_none() && message.body_member("task").is_some_and(|task| task.starts_with('{'));
        match said.map(|_| message.string_member("resultType").unwrap_or_default()).as_deref() {
            None if is_task => Self::Task,
            None | Some("complete") => Self::Complete,
            Some("input_required") => Self::Question,
            Some("task") => Self::Task,
            Some(_) => Self::Unknown,
        }
    }

    /// The same of an answer. One that holds no message ends its request, too.
    pub(crate) fn of_answer(answer: &Answer, era: Era) -> Self {
        match parse(answer.text()) {
            Ok(Packet::Message(message)) if answer.code().is_none() => Self::of(&message, era),
            _ => Self::Complete,
        }
    }
}

#[cfg(test)]
mod tests {
    use net::service::Answer;
    use wire::Era::{Legacy, Modern};

    use super::ResultKind::{self, Complete, Question, Task, Unknown};

    #[test]
    fn the_type_of_a_result_says_how_far_it_is() {
        for (result, modern, legacy) in [
            (r#"{"content":[]}"#, Complete, Complete),
            (r#"{"resultType":"complete","task":{}}"#, Complete, Task),
            (r#"{"resultType":"input_required"}"#, Question, Complete),
            (r#"{"resultType":"t\u0061sk"}"#, Task, Complete),
            (r#"{"task":{"taskId":"t"}}"#, Task, Task),
            (r#"{"task":"to do"}"#, Complete, Complete),
            (r#"{"resultType":"later"}"#, Unknown, Complete),
            (r#"{"resultType":null}"#, Unknown, Complete),
        ] {
            let answer = Answer::raw(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#).into_bytes(), None);
            let found = [Modern, Legacy].map(|era| ResultKind::of_answer(&answer, era));
            assert_eq!(found, [modern, legacy], "{result}");
        }
        let error = Answer::raw(br#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#.to_vec(), Some(1));
        assert_eq!(ResultKind::of_answer(&error, Modern), Complete);
    }
}

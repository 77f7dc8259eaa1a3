//! What a server asks of a client: its parameters on the client's side, and the answer on the server's.

use serde_json::{Map, Value};

use super::content::Lost;
use super::form::{FormAnswer, simplify};
use super::table::{Loss, losses, notice};
use super::{question_params, sampling};
use crate::Revision;

/// A question as its client gets it.
#[derive(Clone, Debug)]
pub struct Question {
    /// The parameters.
    pub params: Value,
    /// What they lost.
    pub losses: Vec<Loss>,
    method: String,
    form: FormAnswer,
}

impl Question {
    /// A question of `method` from a server of `from` for a client of `to`. `id` becomes the `elicitationId` where one is needed.
    pub fn new(method: &str, params: &Value, from: Revision, to: Revision, id: &str) -> Self {
        let mut params = question_params(method, params, from.era(), to, id);
        let (mut lost, mut form) = (Lost::default(), FormAnswer::default());
        // The gateway declares to no server that questions can become tasks (row 60g): the answer is a plain one.
        if let Some(members) = params.as_object_mut() {
            members.remove("task");
        }
        match (method, params.as_object_mut()) {
            ("elicitation/create", _) => {
                form = simplify(&mut params, to);
                lost.note(losses::FORM, form.is_lossy());
            }
            ("sampling/createMessage", Some(members)) => sampling::request(members, to, &mut lost),
            _ => {}
        }
        Self { params, losses: lost.0, method: method.to_owned(), form }
    }

    /// The parameters, with what they lost.
    pub fn noted(&self) -> Value {
        let mut params = self.params.clone();
        if let (Some(notice), Some(members)) = (notice(&self.losses), params.as_object_mut()) {
            let meta = members.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
            if let (Some(meta), Value::Object(notice)) = (meta.as_object_mut(), notice) {
                meta.extend(notice);
            }
        }
        params
    }

    /// The client's result as a server of `to` reads it, and what it lost.
    pub fn answer(&self, result: &Value, to: Revision) -> (Value, Vec<Loss>) {
        let (mut result, mut lost) = (self.form.restore(result), Lost::default());
        if let ("sampling/createMessage", Some(members)) = (self.method.as_str(), result.as_object_mut()) {
            sampling::answer(members, to, &mut lost);
        }
        (result, lost.0)
    }
}

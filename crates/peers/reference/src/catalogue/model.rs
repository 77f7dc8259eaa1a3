//! What a model is, for clients that let their users choose one. A convention outside the specification.

use serde_json::{Value, json};

use super::Text;

/// A model.
#[derive(Clone, Debug)]
pub struct Model {
    /// By which it is selected.
    pub name: Text,
    /// What it is.
    pub description: Text,
    /// How many tokens it takes at once.
    pub context_length: u64,
}

impl Model {
    /// A model.
    pub fn new(name: impl Into<Text>, description: impl Into<Text>, context_length: u64) -> Self {
        Self { name: name.into(), description: description.into(), context_length }
    }

    /// The model as `models/list` describes it.
    pub(crate) fn describe(&self) -> Value {
        json!({ "name": self.name, "description": self.description, "contextLength": self.context_length })
    }
}

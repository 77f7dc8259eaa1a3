//! Takes misspelt keys for the ones that are meant, so that what they hold is checked at once. Must not decide what a file means.

use serde_json::Value;
use wire::pointer;

use super::tree::{Content, Node};

/// A key that was taken for another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Respelled {
    /// Pointer to the mapping that has it.
    pub(super) mapping: String,
    /// The key as it was written.
    pub(super) written: String,
    /// The key that is meant.
    pub(super) meant: String,
}

impl Respelled {
    /// Renames the key in the file and in its tree; `false` where that is impossible.
    pub(super) fn apply(&self, tree: &mut Node, value: &mut Value) -> bool {
        let Some(members) = value.pointer_mut(&self.mapping).and_then(Value::as_object_mut) else { return false };
        if members.contains_key(&self.meant) {
            return false;
        }
        let Some(inner) = members.shift_remove(&self.written) else { return false };
        members.insert(self.meant.clone(), inner);
        rename(tree, self);
        true
    }
}

fn rename(tree: &mut Node, respelled: &Respelled) {
    let mut node = tree;
    for step in respelled.mapping.split('/').skip(1).map(pointer::unescape) {
        let below = match &mut node.content {
            Content::Map(entries) => entries.iter_mut().find(|entry| entry.key == step).map(|entry| &mut entry.node),
            Content::List(items) => step.parse::<usize>().ok().and_then(|at| items.get_mut(at)),
            _ => None,
        };
        let Some(below) = below else { return };
        node = below;
    }
    let Content::Map(entries) = &mut node.content else { return };
    if let Some(entry) = entries.iter_mut().find(|entry| entry.key == respelled.written) {
        entry.key.clone_from(&respelled.meant);
    }
}

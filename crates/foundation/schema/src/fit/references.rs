//! `$ref` within one schema.

use serde_json::{Map, Value};

use super::{Dialect, Fit, Reader};

impl Reader<'_> {
    /// Up to draft-07 the siblings of `$ref` are ignored, later they bind: in an older dialect they can only confirm.
    pub(super) fn referred(
        &self,
        target: &Value,
        members: &Map<String, Value>,
        value: &Value,
        at: &str,
        depth: usize,
    ) -> Fit {
        let target = target.as_str().and_then(|t| t.strip_prefix('#')).filter(|_| !self.has_inner_id());
        let Some(target) = target.filter(|t| !t.contains('%')).and_then(|pointer| self.root.pointer(pointer)) else {
            return Fit::Unsure;
        };
        let siblings = members.iter().filter(|(name, _)| *name != "$ref");
        let siblings = Fit::all(siblings.map(|(name, rule)| self.keyword(name, rule, members, value, at, depth)));
        match (self.followed(target, value, at, depth), siblings) {
            (Fit::Yes, Fit::No { .. }) if self.dialect == Dialect::Older => Fit::Unsure,
            (fit, siblings) => Fit::all([fit, siblings]),
        }
    }

    /// A reference that leads to itself says nothing about a value.
    pub(super) fn followed(&self, target: &Value, value: &Value, at: &str, depth: usize) -> Fit {
        let here = (std::ptr::from_ref(target), std::ptr::from_ref(value));
        if self.open.borrow().contains(&here) {
            return Fit::Unsure;
        }
        self.open.borrow_mut().push(here);
        let fit = self.read(target, value, at, depth + 1);
        self.open.borrow_mut().pop();
        fit
    }

    pub(super) fn has_inner_id(&self) -> bool {
        *self.inner_id.get_or_init(|| has_inner_id(self.root, true))
    }
}

/// Whether a schema below the root has an identifier of its own: then `#` does not mean the root everywhere.
fn has_inner_id(value: &Value, top: bool) -> bool {
    match value {
        Value::Object(all) => (!top && all.contains_key("$id")) || all.values().any(|inner| has_inner_id(inner, false)),
        Value::Array(all) => all.iter().any(|inner| has_inner_id(inner, false)),
        _ => false,
    }
}

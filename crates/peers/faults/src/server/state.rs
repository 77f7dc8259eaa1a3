//! What the faults of one server remember. Every server that is made has its own.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Values by their type: each fault that remembers something has a type of its own for it.
#[derive(Default)]
pub(super) struct State(Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl State {
    /// The one value of this type, which begins as its default.
    pub(super) fn of<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let value = values.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        Arc::clone(value).downcast().unwrap_or_default()
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("State")
    }
}

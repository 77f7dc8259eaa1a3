//! Reads answers that are objects. A member that stands twice is an error, and so is a list: by default, a list of values would
//! pass for an object with these members.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};

/// A value that is written as an object.
pub(super) struct Object<T>(pub(super) T);

struct OfMembers<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Visitor<'de> for OfMembers<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(Object)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OfMembers(PhantomData))
    }
}

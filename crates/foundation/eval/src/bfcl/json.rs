//! Values of JSON as Python reads them, without a tree of JSON in between: arguments are most of what is decoded.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::python::Py;

/// Up to so many members, looking at each is faster than an index.
const FEW: usize = 16;

/// Reads one value; an integer beyond 64 bits is a double.
pub(super) fn parse(text: &str) -> Result<Py<'_>, serde_json::Error> {
    serde_json::from_str::<Read<'_>>(text).map(|Read(value)| value)
}

struct Read<'t>(Py<'t>);

impl<'de> Deserialize<'de> for Read<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Values).map(Self)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Py<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Py<'de>, E> {
        Ok(Py::None)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Py<'de>, E> {
        Ok(Py::Bool(flag))
    }

    fn visit_i64<E>(self, whole: i64) -> Result<Py<'de>, E> {
        Ok(Py::Int(whole.into()))
    }

    fn visit_u64<E>(self, whole: u64) -> Result<Py<'de>, E> {
        Ok(Py::Int(whole.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Py<'de>, E> {
        Ok(Py::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Py<'de>, E> {
        Ok(Py::Str(text.to_owned().into()))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Py<'de>, E> {
        Ok(Py::Str(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Py<'de>, A::Error> {
        let mut read = Vec::new();
        while let Some(Read(item)) = items.next_element()? {
            read.push(item);
        }
        Ok(Py::List(read))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Py<'de>, A::Error> {
        let mut read = Vec::new();
        while let Some((Text(name), Read(value))) = members.next_entry()? {
            read.push((Py::Str(name), value));
        }
        Ok(Py::Dict(last_of_equal(read)))
    }
}

/// A text, borrowed where it has no escapes.
pub(super) struct Text<'t>(pub(super) Cow<'t, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Texts).map(Self)
    }
}

struct Texts;

impl<'de> Visitor<'de> for Texts {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E>(self, text: &str) -> Result<Cow<'de, str>, E> {
        Ok(text.to_owned().into())
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(text.into())
    }
}

/// The members of an object.
type Members<'t> = Vec<(Py<'t>, Py<'t>)>;

/// Of members with equal names the last value, at the first place.
fn last_of_equal(read: Members<'_>) -> Members<'_> {
    let is_unique = |(at, (name, _)): (usize, &(Py<'_>, Py<'_>))| read[..at].iter().all(|(other, _)| other != name);
    if read.len() <= FEW && read.iter().enumerate().all(is_unique) {
        return read;
    }
    let (mut kept, mut places): (Members<'_>, HashMap<String, usize>) = (Vec::new(), HashMap::new());
    for (name, value) in read {
        let Py::Str(text) = &name else { continue };
        if let Some(at) = places.get(text.as_ref()) {
            kept[*at].1 = value;
        } else {
            places.insert(text.to_string(), kept.len());
            kept.push((name, value));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::decode::from_json;
    use super::parse;

    fn same(text: &str) {
        let through_tree = serde_json::from_str::<Value>(text).map(from_json);
        assert_eq!(format!("{:?}", parse(text).ok()), format!("{:?}", through_tree.ok()), "{text}");
    }

    #[test]
    fn values_are_those_of_the_tree() {
        let many: Vec<String> = (0..40).map(|n| format!("\"k{}\":{n}", n % 30)).collect();
        for text in [
            r#"{"a":1,"b":[true,null,-2.5e3,"\u00e9\n"],"a":{"x":1,"x":2}}"#,
            "18446744073709551616",
            "-9223372036854775808",
            "1.0",
            "1e400",
            "{",
            "NaN",
            "[1] 2",
            "",
            &format!("{{{}}}", many.join(",")),
            &"[".repeat(400),
        ] {
            same(text);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_the_tree_reads_it(text in "[\\[\\]{}:,\"a-c0-9.e\\-\\\\ ntu]{0,40}") {
            same(&text);
        }
    }
}

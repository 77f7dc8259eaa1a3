//! Values of JSON as Python reads them, without a tree of JSON in between: arguments are most of what is decoded.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::python::Py;

/// Up to so many members, looking at each is faster than an index.
const FEW: usize = 16;

/// Reads one value; an integer beyond 64 bits is a double.
pub(super) fn parse(text: &str) -> Result<Py, serde_json::Error> {
    serde_json::from_str::<Read>(text).map(|Read(value)| value)
}

struct Read(Py);

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Values).map(Self)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Py;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Py, E> {
        Ok(Py::None)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Py, E> {
        Ok(Py::Bool(flag))
    }

    fn visit_i64<E>(self, whole: i64) -> Result<Py, E> {
        Ok(Py::Int(whole.into()))
    }

    fn visit_u64<E>(self, whole: u64) -> Result<Py, E> {
        Ok(Py::Int(whole.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Py, E> {
        Ok(Py::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Py, E> {
        Ok(Py::Str(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Py, E> {
        Ok(Py::Str(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Py, A::Error> {
        let mut read = Vec::new();
        while let Some(Read(item)) = items.next_element()? {
            read.push(item);
        }
        Ok(Py::List(read))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Py, A::Error> {
        let mut read: Vec<(Py, Py)> = Vec::new();
        while let Some((name, Read(value))) = members.next_entry::<String, Read>()? {
            read.push((Py::Str(name), value));
        }
        Ok(Py::Dict(last_of_equal(read)))
    }
}

/// Of members with equal names the last value, at the first place.
fn last_of_equal(read: Vec<(Py, Py)>) -> Vec<(Py, Py)> {
    let is_unique = |(at, (name, _)): (usize, &(Py, Py))| read[..at].iter().all(|(other, _)| other != name);
    if read.len() <= FEW && read.iter().enumerate().all(is_unique) {
        return read;
    }
    let (mut kept, mut places): (Vec<(Py, Py)>, HashMap<String, usize>) = (Vec::new(), HashMap::new());
    for (name, value) in read {
        let Py::Str(text) = &name else { continue };
        if let Some(at) = places.get(text) {
            kept[*at].1 = value;
        } else {
            places.insert(text.clone(), kept.len());
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

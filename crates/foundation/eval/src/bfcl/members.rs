//! Members of JSON objects as they are written, borrowed from the line: what is not scored is skipped, and no tree is built.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Deserializer, Error};

use super::json::Text;

/// The members with these names; of equal names the last one. Fails if the text is not JSON, or no object.
pub(super) fn pick<'t, const N: usize>(text: &'t str, names: [&str; N]) -> Result<[Option<&'t str>; N], Error> {
    let mut found = [None; N];
    each(text, |name, value| {
        if let Some(at) = names.iter().position(|known| *known == name) {
            found[at] = Some(value);
        }
    })?;
    Ok(found)
}

/// Calls `read` with the name of each member and its value as it is written.
pub(super) fn each<'t>(text: &'t str, read: impl FnMut(Cow<'t, str>, &'t str)) -> Result<(), Error> {
    let mut deserializer = Deserializer::from_str(text);
    deserializer.deserialize_map(Each(read))?;
    deserializer.end()
}

/// The items of an array as they are written; `None` for other values.
pub(super) fn items(text: &str) -> Option<Vec<&str>> {
    let items = serde_json::from_str::<Vec<&RawValue>>(text).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

/// A text; `None` for other values.
pub(super) fn text(written: Option<&str>) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Text<'_>>(written?).ok().map(|Text(text)| text)
}

struct Each<F>(F);

impl<'de, F: FnMut(Cow<'de, str>, &'de str)> Visitor<'de> for Each<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        while let Some((Text(name), value)) = members.next_entry::<Text<'de>, &'de RawValue>()? {
            self.0(name, value.get());
        }
        Ok(())
    }
}

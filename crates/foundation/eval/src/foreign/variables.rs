//! promptfoo's `vars`: values, files, and lists of which each value makes a test.

use serde_json::Value;

use document::quoted;

use super::assertion::is_yaml;
use super::reader::{Part, Reader};
use super::template::Variables;

/// Adds the variables of a mapping, or of a file with one.
pub(super) fn read(reader: &mut Reader<'_>, vars: &Part, into: &mut Variables) {
    if let Some(path) = vars.text().and_then(|text| text.strip_prefix("file://")) {
        if is_yaml(path) {
            if let Some((_, loaded)) = reader.load(&vars.place(), "", path) {
                reader.deeper(|reader| read(reader, &loaded, into));
            }
        } else {
            reader.left_out(&vars.place(), format!("`vars`: {} is neither YAML nor JSON", quoted(path)));
        }
        return;
    }
    for (name, part) in vars.members() {
        match part.text().and_then(|text| text.strip_prefix("file://")) {
            None => drop(into.insert(name, part.value())),
            Some(path) => match of_file(reader, &part, path) {
                Some(value) => drop(into.insert(name, value)),
                // A default must not stand in for what could not be read.
                None => drop(into.remove(&name)),
            },
        }
    }
}

fn of_file(reader: &mut Reader<'_>, part: &Part, path: &str) -> Option<Value> {
    if is_yaml(path) {
        return reader.load(&part.place(), "", path).map(|(_, loaded)| loaded.value());
    }
    if [".txt", ".md"].iter().any(|end| path.ends_with(end)) {
        return reader.text_of(&part.place(), "", path).map(|(_, text)| Value::String(text.trim_end().to_owned()));
    }
    reader.left_out(&part.place(), format!("`vars`: {} is no text, YAML or JSON; code is never run", quoted(path)));
    None
}

/// How much all combinations may come to, in bytes.
const MOST_BYTES: usize = 64 << 20;

/// Every combination of the values of lists, in order; nothing where there are more than `most`, or they are too large.
pub(super) fn combinations(variables: &Variables, most: usize) -> Option<Vec<Variables>> {
    let mut all = vec![Variables::new()];
    let mut bytes = 0;
    for (name, value) in variables {
        let values: &[Value] = match value {
            Value::Array(values) if !values.is_empty() => values,
            one => std::slice::from_ref(one),
        };
        bytes += name.len() + values.iter().map(|value| value.to_string().len()).max().unwrap_or(0);
        let count = all.len().saturating_mul(values.len());
        if count > most || count.saturating_mul(bytes) > MOST_BYTES {
            return None;
        }
        all = all
            .iter()
            .flat_map(|so_far| {
                values.iter().map(move |value| {
                    let mut one = so_far.clone();
                    one.insert(name.clone(), value.clone());
                    one
                })
            })
            .collect();
    }
    Some(all)
}

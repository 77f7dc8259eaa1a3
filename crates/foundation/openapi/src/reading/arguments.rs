//! Names of arguments: flat, legal for every client, unique within the tool, and the same in whatever order the description is.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

use crate::model::{Arguments, Body, Parameter, Place};
use crate::naming::hex;

/// How long the name of an argument may be: more is refused by some models' interfaces.
const LONGEST: usize = 64;

/// Names every argument. Those that share a name get their place as a suffix.
pub(super) fn assign(parameters: &mut [Parameter], body: Option<&mut Body>) {
    let mut slots: Vec<(String, &'static str, &mut String)> = Vec::new();
    for parameter in parameters {
        slots.push((parameter.name.clone(), place(parameter.place), &mut parameter.argument));
    }
    match body.map(|body| &mut body.arguments) {
        Some(Arguments::Whole(argument)) => slots.push(("body".to_owned(), "body", argument)),
        Some(Arguments::Members(members)) => {
            for member in members {
                slots.push((member.name.clone(), "body", &mut member.argument));
            }
        }
        None => {}
    }
    let plain: Vec<String> = slots.iter().map(|(name, _, _)| legal(name)).collect();
    let suffixed: Vec<String> = slots.iter().map(|(name, place, _)| cut(&legal(name), place)).collect();
    let hashed: Vec<String> = slots.iter().map(|(name, place, _)| with_hash(name, place)).collect();
    let mut taken = BTreeSet::new();
    let mut open: Vec<usize> = (0..slots.len()).collect();
    for names in [&plain, &suffixed, &hashed] {
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        for index in &open {
            *count.entry(&names[*index]).or_default() += 1;
        }
        open.retain(|index| {
            let name = &names[*index];
            let free = count.get(name.as_str()) == Some(&1) && !taken.contains(name);
            if free {
                slots[*index].2.clone_from(name);
            }
            !free
        });
        taken = slots.iter().map(|(_, _, argument)| String::clone(argument)).collect();
    }
    // Two parameters of one name and place, or a hash in a name: the place in the list decides.
    for (count, index) in open.into_iter().enumerate() {
        let name = &hashed[index];
        *slots[index].2 = format!("{}_{count}", &name[..name.len().min(LONGEST - 5)]);
    }
}

fn place(place: Place) -> &'static str {
    match place {
        Place::Path => "path",
        Place::Query => "query",
        Place::Header => "header",
        Place::Cookie => "cookie",
    }
}

/// Letters, digits, `_`, `-` and `.`; what stands for anything else is one `_`, and none at the ends.
fn legal(name: &str) -> String {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !name.is_empty() && name.len() <= LONGEST && name.chars().all(is_legal) {
        return name.to_owned();
    }
    let mut legal = String::new();
    for c in name.chars() {
        if is_legal(c) {
            legal.push(c);
        } else if !legal.ends_with('_') {
            legal.push('_');
        }
    }
    let legal = legal.trim_matches('_');
    match legal.len() {
        0 => format!("value_{}", hash(name)),
        1..=LONGEST => legal.to_owned(),
        _ => cut(legal, &hash(name)),
    }
}

fn cut(name: &str, suffix: &str) -> String {
    format!("{}_{suffix}", &name[..name.len().min(LONGEST - suffix.len() - 1)])
}

fn hash(name: &str) -> String {
    hex(&Sha256::digest(name), 6)
}

fn with_hash(name: &str, place: &str) -> String {
    cut(&legal(name), &hash(&format!("{place} {name}")))
}

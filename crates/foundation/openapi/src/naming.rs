//! Names of tools: from `operationId`, or else from method and path. They are legal for every client and depend on nothing but the
//! operations themselves: another order of the description changes none.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::model::Operation;

/// How long names are where that is possible: clients put their own prefix in front of them.
pub const GOOD: usize = 40;
/// How long names are at most.
pub const LONGEST: usize = 64;
/// How short a shortened word may become.
const SHORTEST_WORD: usize = 4;

/// The names of all operations, in their order. No two are the same.
pub fn names(operations: &[Operation]) -> Vec<String> {
    let full: Vec<String> = operations.iter().map(|one| words(one).join("_")).collect();
    let short: Vec<String> = full.iter().map(|name| shortened(name, GOOD)).collect();
    let mut chosen: Vec<Option<String>> = vec![None; operations.len()];
    let mut taken = BTreeSet::new();
    // A name that was not shortened is not given up for one that was.
    let whole: Vec<usize> = (0..full.len()).filter(|index| full[*index] == short[*index]).collect();
    keep_unique(&whole, &short, &mut chosen, &mut taken);
    let contested: BTreeSet<&String> = whole.iter().map(|index| &short[*index]).collect();
    let cut: Vec<usize> =
        (0..full.len()).filter(|index| full[*index] != short[*index] && !contested.contains(&short[*index])).collect();
    keep_unique(&cut, &short, &mut chosen, &mut taken);
    let digests: Vec<String> = operations.iter().map(digest).collect();
    for digits in [6, 12, 24, 40] {
        let open: Vec<usize> = (0..chosen.len()).filter(|index| chosen[*index].is_none()).collect();
        if open.is_empty() {
            break;
        }
        let hashed: Vec<String> =
            full.iter().zip(&digests).map(|(name, hash)| with_hash(name, &hash[..digits])).collect();
        keep_unique(&open, &hashed, &mut chosen, &mut taken);
    }
    // Only the same method and path twice are left, which one description cannot have.
    let rest = chosen.into_iter().enumerate();
    rest.map(|(index, name)| name.unwrap_or_else(|| format!("operation_{}_{index}", &digests[index][..40]))).collect()
}

/// Gives those of `candidates` that no other candidate and no operation before has.
fn keep_unique(candidates: &[usize], names: &[String], chosen: &mut [Option<String>], taken: &mut BTreeSet<String>) {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for index in candidates {
        *count.entry(&names[*index]).or_default() += 1;
    }
    let free: Vec<usize> = candidates.iter().copied().filter(|index| count[names[*index].as_str()] == 1).collect();
    for index in free.into_iter().filter(|index| !taken.contains(&names[*index])).collect::<Vec<_>>() {
        chosen[index] = Some(names[index].clone());
        taken.insert(names[index].clone());
    }
}

fn with_hash(name: &str, digits: &str) -> String {
    let most = if digits.len() == 6 { GOOD } else { LONGEST };
    format!("{}_{digits}", shortened(name, most - digits.len() - 1))
}

/// Method and path decide on the hash: they are what a description cannot have twice.
fn digest(operation: &Operation) -> String {
    let text = format!("{} {}", operation.method.as_str(), operation.path);
    hex(&Sha256::digest(text), 64)
}

/// The first `digits` of bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8], digits: usize) -> String {
    let mut hex = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(hex, "{byte:02x}");
    }
    hex.truncate(digits);
    hex
}

/// The words of an operation's name, in small letters.
fn words(operation: &Operation) -> Vec<String> {
    let method = operation.method.as_str().to_ascii_lowercase();
    let own = operation.id.as_deref().map(split).unwrap_or_default();
    let mut words = own;
    if !words.iter().any(|word| word.chars().any(|c| c.is_ascii_alphabetic())) {
        words = vec![method];
        words.extend(path_words(&operation.path));
    } else if words[0].starts_with(|c: char| c.is_ascii_digit()) {
        words.insert(0, method);
    }
    words
}

/// The words of a path; a parameter is `by` and its name.
fn path_words(path: &str) -> Vec<String> {
    let mut words = Vec::new();
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        let mut rest = segment;
        while let Some((before, after)) = rest.split_once('{') {
            words.extend(split(before));
            let (name, behind) = after.split_once('}').unwrap_or((after, ""));
            let name = split(name);
            if !name.is_empty() {
                words.push("by".to_owned());
                words.extend(name);
            }
            rest = behind;
        }
        words.extend(split(rest));
    }
    if words.is_empty() {
        words.push("root".to_owned());
    }
    words
}

/// Words as they are told apart by case and by other characters: `getHTTPStatus/v1` is get, http, status, v1.
fn split(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().take(1_000).collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (index, c) in chars.iter().enumerate() {
        if !c.is_ascii_alphanumeric() {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            continue;
        }
        let before = index.checked_sub(1).map(|at| chars[at]);
        let after = chars.get(index + 1);
        let begins = c.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase() && after.is_some_and(char::is_ascii_lowercase))
            });
        if begins && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        word.push(c.to_ascii_lowercase());
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// A name of at most so many characters: words in the middle become shorter, then they go.
fn shortened(name: &str, most: usize) -> String {
    if name.len() <= most {
        return name.to_owned();
    }
    let mut words: Vec<&str> = name.split('_').filter(|word| !word.is_empty()).collect();
    let length = |words: &[&str]| words.iter().map(|word| word.len() + 1).sum::<usize>() - 1;
    // The same word again says nothing new.
    words.dedup();
    while length(&words) > most {
        let inner = 1..words.len().saturating_sub(1);
        let longest = inner.filter(|index| words[*index].len() > SHORTEST_WORD).max_by_key(|index| {
            // Of several the one that is nearest to the middle.
            (words[*index].len(), words.len() - index.abs_diff(words.len() / 2))
        });
        if let Some(index) = longest {
            let over = length(&words) - most;
            let keep = words[index].len().saturating_sub(over).max(SHORTEST_WORD);
            words[index] = &words[index][..keep];
        } else if words.len() > 2 {
            words.remove(words.len() / 2);
        } else {
            break;
        }
    }
    let mut name = words.join("_");
    name.truncate(most);
    name.trim_end_matches('_').to_owned()
}

#[cfg(test)]
#[path = "naming_tests.rs"]
mod tests;

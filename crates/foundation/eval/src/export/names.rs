//! Names within the limits of an API, the same whatever the order of the tools.

use std::collections::HashSet;

use super::Api;

/// The longest name that all of them take.
const LONGEST: usize = 64;
/// How much of a name is left before the six digits that tell it apart.
const KEPT: usize = LONGEST - 7;

/// A name for each tool. What the API takes stays; all names differ.
pub(super) fn names<'t>(originals: impl Iterator<Item = &'t str> + Clone, api: Api) -> Vec<String> {
    let is_good = |name: &&str| cleaned(name, api) == **name && name.len() <= LONGEST;
    let mut taken: HashSet<String> = originals.clone().filter(is_good).map(str::to_owned).collect();
    originals
        .map(|name| {
            if is_good(&name) {
                return name.to_owned();
            }
            let clean = cleaned(name, api);
            if clean.len() <= LONGEST && taken.insert(clean.clone()) {
                return clean;
            }
            // Characters are ASCII by now.
            let short = &clean[..clean.len().min(KEPT)];
            let mut differing = (0_u32..).map(|more| format!("{short}_{:06x}", digest(name, more) & 0xff_ffff));
            differing.find(|one| taken.insert(one.clone())).unwrap_or_default()
        })
        .collect()
}

/// A name of characters that the API takes.
fn cleaned(name: &str, api: Api) -> String {
    let mut clean: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' }).collect();
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    if clean.is_empty() || api == Api::Gemini && !clean.starts_with(begins) {
        clean.insert(0, '_');
    }
    clean
}

/// A digest of 32 bits (FNV-1a).
fn digest(name: &str, more: u32) -> u32 {
    name.bytes()
        .chain(more.to_le_bytes())
        .fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(16_777_619))
}

#[cfg(test)]
mod tests {
    use super::{Api, names};

    fn of(originals: &[&str], api: Api) -> Vec<String> {
        names(originals.iter().copied(), api)
    }

    #[test]
    fn names_are_kept_cleaned_and_told_apart() {
        let long = "x".repeat(80);
        let given = ["a.b", "a_b", "a/b", "2nd", "", &long, "-x"];
        let openai = of(&given, Api::OpenAi);
        assert_eq!((openai[1].as_str(), openai[3].as_str(), openai[4].as_str()), ("a_b", "2nd", "_"));
        assert!(openai[0].starts_with("a_b_") && openai[2].starts_with("a_b_") && openai[0] != openai[2], "{openai:?}");
        assert_eq!((openai[5].len(), openai[6].as_str()), (64, "-x"));
        let gemini = of(&given, Api::Gemini);
        assert_eq!((gemini[3].as_str(), gemini[6].as_str()), ("_2nd", "_-x"));
        let reversed: Vec<&str> = given.iter().rev().copied().collect();
        let mut again = of(&reversed, Api::OpenAi);
        again.reverse();
        assert_eq!(again, openai, "the order does not matter");
    }
}

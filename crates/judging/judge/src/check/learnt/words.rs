//! What a text that people read names as possible values: what it quotes, what it lists, and what looks like an identifier.

/// How long a named value may be, in bytes.
const LONGEST: usize = 60;

/// The values that a text names, the likeliest first: lists after a colon, quoted words, words with a digit.
pub fn named(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for sentence in text.split(['\n', ';']).flat_map(|line| line.split(". ")) {
        found.extend(listed(sentence));
    }
    found.extend(quoted(text));
    found.extend(text.split_whitespace().map(bare).filter(|word| is_identifier(word)).map(str::to_owned));
    let mut known = std::collections::BTreeSet::new();
    found.retain(|word| word.len() <= LONGEST && known.insert(word.clone()));
    found
}

/// The items of an enumeration: two or more short ones, after the last colon if there is one.
fn listed(sentence: &str) -> Vec<String> {
    let list = sentence.rsplit_once(": ").map_or(sentence, |(_, list)| list);
    let items: Vec<_> = list.split([',', '|']).flat_map(|part| part.split(" or ")).map(bare).collect();
    let short = |item: &&str| !item.is_empty() && item.split_whitespace().count() <= 2;
    if items.len() >= 2 && items.iter().all(short) {
        items.into_iter().map(str::to_owned).collect()
    } else {
        Vec::new()
    }
}

fn quoted(text: &str) -> Vec<String> {
    ['"', '`', '\''].into_iter().flat_map(|mark| text.split(mark).skip(1).step_by(2)).map(str::to_owned).collect()
}

fn bare(word: &str) -> &str {
    word.trim().trim_matches(|c: char| ".,;:!?()[]{}<>\"'`".contains(c)).trim()
}

fn is_identifier(word: &str) -> bool {
    word.len() >= 3 && word.contains(|c: char| c.is_ascii_digit()) && !word.contains("://")
}

//! The words that a name is made of.

/// The words of a name in lower case: `createNote`, `create-note`, `notes.create`.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for one in name.chars() {
        if !one.is_alphanumeric() || (one.is_uppercase() && after_small) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| one.is_alphanumeric()) {
            word.extend(one.to_lowercase());
        }
        after_small = one.is_lowercase() || one.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

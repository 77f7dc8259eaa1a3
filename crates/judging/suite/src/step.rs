//! JSONPath as people write it.

/// A step of a JSONPath, as people write it.
pub(crate) fn step(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty() {
        return format!(".{name}");
    }
    format!("['{}']", name.replace('\\', "\\\\").replace('\'', "\\'"))
}

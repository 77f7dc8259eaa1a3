//! JSONPath in its shortest form.

/// A child segment of a JSONPath: `.name`, or `['name']` where that is needed.
pub(crate) fn child_segment(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty() {
        return format!(".{name}");
    }
    format!("['{}']", name.replace('\\', "\\\\").replace('\'', "\\'"))
}

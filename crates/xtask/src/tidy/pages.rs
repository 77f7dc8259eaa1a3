//! Messages and help name no file of `docs/`: an installed program has no such folder. They give the page's address.

use super::code::strings_only;
use super::words::is_product;
use super::{Source, Violation};

/// Where pages can be read by everyone.
const PUBLISHED: &str = "/blob/main/";

/// Every page of `docs/` in a text that users see: a string, or a comment from which help is made.
pub(super) fn check(source: &Source) -> Vec<Violation> {
    if !is_product(source) || source.krate() == Some("xtask") {
        return Vec::new();
    }
    let strings = strings_only(&source.text);
    let is_help = source.text.contains("use clap::") || source.text.contains("#[arg(");
    let lines = strings.lines().zip(source.text.lines()).enumerate();
    let shown = |text: &str, line: &str| {
        names_page(text) || is_help && line.trim_start().starts_with("/// ") && names_page(line)
    };
    lines
        .filter(|(_, (text, line))| shown(text, line))
        .map(|(line, _)| {
            let what = "a text for users names a file that they do not have";
            Violation::new(source, line + 1, what, "name `proof help TOPIC`, or the page's whole URL")
        })
        .collect()
}

/// Whether a text has `docs/NAME.md` without the address before it.
fn names_page(text: &str) -> bool {
    text.match_indices("docs/").any(|(at, folder)| {
        let name = text[at + folder.len()..].split(|c: char| !(c.is_ascii_alphanumeric() || "-_./".contains(c))).next();
        name.is_some_and(|name| name.contains(".md")) && !text[..at].ends_with(PUBLISHED)
    })
}

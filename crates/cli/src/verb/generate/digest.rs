//! The first line of a file that we wrote says what the rest was: so it is known whether somebody edited it since.

use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::exit::{Exit, usage};
use crate::verb::output;

const MARK: &str = "# proof generate ";

/// The text with that line before it.
pub(super) fn signed(text: &str) -> String {
    format!("{MARK}{}\n{text}", digest(text))
}

/// Whether a file may be written over: it is not there, or as we wrote it.
pub(super) fn replaceable(path: &Path, force: bool) -> Result<(), Exit> {
    let Ok(there) = std::fs::read(path) else { return Ok(()) };
    let there = String::from_utf8_lossy(&there);
    if force || there.is_empty() || is_ours(&there) {
        return Ok(());
    }
    let what = format!("{} was edited, or is none of ours", output::shown(path));
    Err(usage(&what, "another --output, or --force to write over it"))
}

fn is_ours(text: &str) -> bool {
    let line = text.split_once('\n').and_then(|(line, rest)| Some((line.strip_prefix(MARK)?, rest)));
    line.is_some_and(|(mark, rest)| mark.trim_end() == digest(rest))
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).fold(String::new(), |mut digest, byte| {
        let _ = write!(digest, "{byte:02x}");
        digest
    })
}

#[cfg(test)]
mod tests {
    use super::{is_ours, signed};

    #[test]
    fn an_edit_shows() {
        let text = signed("cases: []\n");
        assert!(is_ours(&text));
        assert!(!is_ours(&text.replace("[]", "[1]")) && !is_ours("cases: []\n") && !is_ours(""));
    }
}

//! Test files that proof writes. The first line holds a digest of the rest, which shows later whether the file was edited.
//! Also: relative paths from such a file.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::exit::{Exit, usage};
use crate::verb::output;

/// The verb that wrote a file.
#[derive(Clone, Copy)]
pub(crate) enum Writer {
    Generate,
    Import,
}

impl Writer {
    const fn mark(self) -> &'static str {
        match self {
            Self::Generate => "# proof generate ",
            Self::Import => "# proof test import ",
        }
    }
}

/// The text with the digest line before it.
pub(crate) fn signed(by: Writer, text: &str) -> String {
    format!("{}{}\n{text}", by.mark(), digest(text))
}

/// Checks that a file does not exist or is unchanged since proof wrote it.
pub(crate) fn check_replaceable(by: Writer, path: &Path, force: bool) -> Result<(), Exit> {
    let Ok(current) = std::fs::read(path) else { return Ok(()) };
    let current = String::from_utf8_lossy(&current);
    if force || current.is_empty() || is_unchanged(by, &current) {
        return Ok(());
    }
    let what = format!("{} was edited, or not written by proof", output::shown(path));
    Err(usage(&what, "another --output, or --force to overwrite it"))
}

fn is_unchanged(by: Writer, text: &str) -> bool {
    let line = text.split_once('\n').and_then(|(line, rest)| Some((line.strip_prefix(by.mark())?, rest)));
    line.is_some_and(|(mark, rest)| mark.trim_end() == digest(rest))
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).fold(String::new(), |mut digest, byte| {
        let _ = write!(digest, "{byte:02x}");
        digest
    })
}

/// The path of `target` relative to `folder`; both are relative to the current directory. `None` where they are the same.
pub(crate) fn relative(folder: &Path, target: &Path) -> Option<PathBuf> {
    let steps: Vec<Component<'_>> = folder.components().filter(|step| *step != Component::CurDir).collect();
    let here = target.components().all(|step| step == Component::CurDir);
    if steps.is_empty() {
        return (!here).then(|| target.to_owned());
    }
    if target.is_absolute() || !steps.iter().all(|step| matches!(step, Component::Normal(_))) {
        return std::path::absolute(target).ok();
    }
    let up: PathBuf = steps.iter().map(|_| Component::ParentDir).collect();
    Some(if here { up } else { up.join(target) })
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Writer, is_unchanged, relative, signed};

    #[test]
    fn an_edit_is_detected() {
        let text = signed(Writer::Generate, "cases: []\n");
        let ours = |text: &str| is_unchanged(Writer::Generate, text);
        assert!(ours(&text));
        assert!(!ours(&text.replace("[]", "[1]")) && !ours("cases: []\n") && !ours(""));
        assert!(!is_unchanged(Writer::Import, &text) && is_unchanged(Writer::Import, &signed(Writer::Import, "")));
    }

    #[test]
    fn paths_are_relative_to_the_file() {
        for (folder, wanted, called) in [
            ("", ".", None),
            ("./", "a", Some("a")),
            ("tests", ".", Some("..")),
            ("tests/mcp", "srv", Some("../../srv")),
            ("/abs", "/srv", Some("/srv")),
        ] {
            assert_eq!(relative(Path::new(folder), Path::new(wanted)), called.map(PathBuf::from), "{folder} {wanted}");
        }
        assert!(relative(Path::new("/abs"), Path::new(".")).is_some_and(|path| path.is_absolute()));
    }
}

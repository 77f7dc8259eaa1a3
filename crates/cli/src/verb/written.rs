//! Test files that we write. The first line of one says what the rest was: so it is known whether somebody edited it since. And
//! where a directory is, as it is called from such a file.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::exit::{Exit, usage};
use crate::verb::output;

/// Who wrote a file.
#[derive(Clone, Copy)]
pub(crate) enum By {
    Generate,
    Import,
}

impl By {
    const fn mark(self) -> &'static str {
        match self {
            Self::Generate => "# proof generate ",
            Self::Import => "# proof test import ",
        }
    }
}

/// The text with that line before it.
pub(crate) fn signed(by: By, text: &str) -> String {
    format!("{}{}\n{text}", by.mark(), digest(text))
}

/// Whether a file may be written over: it is not there, or as we wrote it.
pub(crate) fn replaceable(by: By, path: &Path, force: bool) -> Result<(), Exit> {
    let Ok(there) = std::fs::read(path) else { return Ok(()) };
    let there = String::from_utf8_lossy(&there);
    if force || there.is_empty() || is_ours(by, &there) {
        return Ok(());
    }
    let what = format!("{} was edited, or is none of ours", output::shown(path));
    Err(usage(&what, "another --output, or --force to write over it"))
}

fn is_ours(by: By, text: &str) -> bool {
    let line = text.split_once('\n').and_then(|(line, rest)| Some((line.strip_prefix(by.mark())?, rest)));
    line.is_some_and(|(mark, rest)| mark.trim_end() == digest(rest))
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).fold(String::new(), |mut digest, byte| {
        let _ = write!(digest, "{byte:02x}");
        digest
    })
}

/// The directory `wanted`, as it is called from `folder`; both from here. `None` where it is the same.
pub(crate) fn below(folder: &Path, wanted: &Path) -> Option<PathBuf> {
    let steps: Vec<Component<'_>> = folder.components().filter(|step| *step != Component::CurDir).collect();
    let here = wanted.components().all(|step| step == Component::CurDir);
    if steps.is_empty() {
        return (!here).then(|| wanted.to_owned());
    }
    if wanted.is_absolute() || !steps.iter().all(|step| matches!(step, Component::Normal(_))) {
        return std::path::absolute(wanted).ok();
    }
    let up: PathBuf = steps.iter().map(|_| Component::ParentDir).collect();
    Some(if here { up } else { up.join(wanted) })
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{By, below, is_ours, signed};

    #[test]
    fn an_edit_shows() {
        let text = signed(By::Generate, "cases: []\n");
        let ours = |text: &str| is_ours(By::Generate, text);
        assert!(ours(&text));
        assert!(!ours(&text.replace("[]", "[1]")) && !ours("cases: []\n") && !ours(""));
        assert!(!is_ours(By::Import, &text) && is_ours(By::Import, &signed(By::Import, "")));
    }

    #[test]
    fn a_directory_is_named_from_the_file() {
        for (folder, wanted, called) in [
            ("", ".", None),
            ("./", "a", Some("a")),
            ("tests", ".", Some("..")),
            ("tests/mcp", "srv", Some("../../srv")),
            ("/abs", "/srv", Some("/srv")),
        ] {
            assert_eq!(below(Path::new(folder), Path::new(wanted)), called.map(PathBuf::from), "{folder} {wanted}");
        }
        assert!(below(Path::new("/abs"), Path::new(".")).is_some_and(|path| path.is_absolute()));
    }
}

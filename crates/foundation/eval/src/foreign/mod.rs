//! Cases of other tools, translated: promptfoo's configurations and mcpchecker's evaluations. What our cases cannot say is named
//! with its place. It runs nothing that a file names, and reads only through [`Folder`].

mod assertion;
mod conclude;
mod expect;
mod mcpchecker;
mod promptfoo;
mod prompts;
mod reader;
mod template;
mod trajectory;
mod variables;
mod write;

use document::{FileError, FileErrors};

use expect::Case;
pub use reader::{Folder, Kind, Place, Remark};
use reader::{Part, Reader};

/// How many cases one file may come to, combinations of variables included.
const MOST_CASES: usize = 10_000;
/// How much text they may have, in bytes: a file of cases is no larger.
const MOST_BYTES: usize = 8 << 20;

/// What a file of another tool came to.
#[derive(Debug)]
pub struct Import {
    cases: Vec<Case>,
    /// What has no counterpart, by file and line, the imported file first; each once.
    pub remarks: Vec<Remark>,
}

impl Import {
    /// How many cases there are.
    pub fn len(&self) -> usize {
        self.cases.len()
    }

    /// Whether nothing could be translated.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// A file of these cases. `tools` is the file of tools as the cases name it.
    pub fn write(&self, tools: Option<&str>) -> String {
        write::write(&self.cases, tools)
    }
}

/// Translates a file of promptfoo or mcpchecker. `name` is what messages call it; `folder` is where it stands.
pub fn import(text: &str, name: &str, folder: &dyn Folder) -> Result<Import, FileErrors> {
    let mut reader = Reader::new(name, folder);
    let wrong = |errors| FileErrors::new(name, errors);
    let root = Part::parse(text, name).map_err(wrong)?;
    let kind = root.get("kind");
    let kind = kind.as_ref().and_then(|kind| kind.text());
    let cases = match kind {
        Some("Eval") => mcpchecker::eval(&mut reader, &root),
        Some("Task") => {
            mcpchecker::alone(&mut reader, &root);
            Ok(Vec::new())
        }
        _ if ["tests", "prompts", "scenarios"].iter().any(|key| root.get(key).is_some()) => {
            promptfoo::read(&mut reader, &root)
        }
        _ => {
            let what = "neither a configuration of promptfoo nor an evaluation of mcpchecker";
            let error = FileError::new(None, what, "a file with `tests:` and `prompts:`, or with `kind: Eval`");
            return Err(wrong(vec![error]));
        }
    };
    let cases = cases.map_err(|error| wrong(vec![error]))?;
    let mut remarks = reader.into_remarks();
    remarks.sort_by_key(|remark| (*remark.place.file != *name, remark.place.file.clone(), remark.place.line));
    Ok(Import { cases: named_apart(cases), remarks })
}

/// Cases with names of their own: the second `a` becomes `a (2)`.
fn named_apart(mut cases: Vec<Case>) -> Vec<Case> {
    let mut taken: std::collections::HashSet<String> = cases.iter().map(|case| case.name.clone()).collect();
    let mut uses = std::collections::HashMap::<String, usize>::new();
    for case in &mut cases {
        let number = uses.entry(case.name.clone()).or_default();
        *number += 1;
        while *number > 1 {
            let name = format!("{} ({number})", case.name);
            if taken.insert(name.clone()) {
                case.name = name;
                break;
            }
            *number += 1;
        }
    }
    cases
}

/// The error of a file with too many cases.
fn too_many(place: &Place) -> FileError {
    let at = document::Position { line: place.line, column: 1 };
    let what = format!("more than {MOST_CASES} cases, or too large ones");
    FileError::new(at, what, "fewer values of variables, or several files")
}

#[cfg(test)]
mod tests;

//! Catalogues that are written in a file (`docs/serve.md`): YAML, its places, the shape that `docs/catalog.schema.json`
//! gives it, then its meaning. Whatever is wrong is told at once and with its place; what was read is served without
//! another look.

mod build;
mod folder;
mod model;
mod plan;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use self::folder::Folder;
use super::Catalogue;
use document::{self, FileError, FileErrors, Shape};

/// How long a file may be, in bytes.
const LONGEST: usize = 1 << 20;

/// What a file may say.
static SHAPE: Shape = Shape::new(
    include_str!("../../../../../../docs/catalog.schema.json"),
    "https://github.com/proofhouse/proofhouse/blob/main/docs/serve.md",
    &["tools", "resources", "templates", "prompts"],
);

/// Reads the catalogue in a file; files that it names are looked for beside it.
pub(super) fn load(path: &Path) -> Result<Catalogue, FileErrors> {
    let name = path.display().to_string();
    let refuse = |what: String, remedy: &str| FileErrors::new(&name, vec![FileError::new(None, what, remedy)]);
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LONGEST as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| refuse(format!("the catalogue cannot be read: {error}"), "another path"))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        refuse(
            "the catalogue is no text".to_owned(),
            "a file in UTF-8; see https://github.com/proofhouse/proofhouse/blob/main/docs/serve.md",
        )
    })?;
    read(&text, &Folder::of(path)).map_err(|errors| FileErrors::new(&name, errors))
}

/// Reads a catalogue from its text. The errors are in no order.
fn read(text: &str, folder: &Folder) -> Result<Catalogue, Vec<FileError>> {
    if text.len() > LONGEST {
        let what = "the file is longer than 1 MiB";
        return Err(vec![FileError::new(None, what, "several servers, or `file` for what is long")]);
    }
    let (tree, mut errors) = document::read(text).map_err(|error| vec![error])?;
    let mut value = tree.to_value();
    let misfits = SHAPE.check(&tree, &mut value);
    errors.extend(misfits.errors);
    match serde_json::from_value::<model::File>(value) {
        Ok(file) => {
            let (catalogue, more) = build::build(file, &misfits.tree, misfits.lost, folder);
            errors.extend(more);
            if errors.is_empty() { Ok(catalogue) } else { Err(errors) }
        }
        Err(_) if !errors.is_empty() => Err(errors),
        Err(error) => {
            let what = format!("the schema of catalogues and their reader disagree: {error}");
            Err(vec![FileError::new(None, what, "report it, with the file: this is a bug of ours")])
        }
    }
}

#[cfg(test)]
mod tests;

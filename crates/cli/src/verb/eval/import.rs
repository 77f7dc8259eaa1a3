//! `proof eval import`: tests of promptfoo and mcpchecker as cases.

use std::path::{Path, PathBuf};

use eval::foreign::{self, Folder, Kind};
use report::render::text::count;
use wire::escape;

use super::files::{CASES, unreadable};
use crate::args::eval::import::ImportArgs;
use crate::exit::{self, Exit, tell, usage};
use crate::verb::{given_file, output};

/// How many files a search for tasks may meet, and how deep it goes.
const MOST_FILES: usize = 10_000;
const DEEPEST: usize = 16;

/// Writes the cases, and lists what is not in them.
pub(super) fn written(args: &ImportArgs) -> Result<Exit, Exit> {
    if let Some(path) = args.to.output.as_deref().filter(|path| path.symlink_metadata().is_ok()) {
        return Err(usage(&format!("{} exists already", output::shown(path)), "a new file for --output"));
    }
    let path = &args.file;
    let text = given_file::text(path, CASES).map_err(|error| unreadable(path, &error.to_string()))?;
    let folder = OnDisk::beside(path).map_err(|error| unreadable(path, &error.to_string()))?;
    let import = foreign::import(&text, &path.display().to_string(), &folder).map_err(|errors| {
        tell(errors);
        Exit::Usage
    })?;
    for remark in &import.remarks {
        let kind = match remark.kind {
            Kind::LeftOut => "left out",
            Kind::Stricter => "stricter",
        };
        let place = format!("{}:{}", escape::line(&remark.place.file), remark.place.line);
        tell(exit::redacted(&format!("{kind}: {place}: {}", escape::line(&remark.what))));
    }
    if import.is_empty() {
        tell("error: no test to make a case of\n  try: a file with assertions about calls of tools");
        return Ok(Exit::Finding);
    }
    let text = import.write(args.tools.as_deref());
    args.to.publish(&text)?;
    tell(format_args!("note: {}, {}", count(import.len(), "case"), count(import.remarks.len(), "remark")));
    Ok(Exit::Clean)
}

/// The folder of the imported file: symbolic links do not lead out of it.
struct OnDisk {
    root: PathBuf,
}

impl OnDisk {
    fn beside(file: &Path) -> std::io::Result<Self> {
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Self { root: parent.canonicalize()? })
    }

    /// The real path of what is within the folder.
    fn within(&self, path: &str) -> Result<PathBuf, String> {
        let real = self.root.join(path).canonicalize().map_err(|error| error.to_string())?;
        let is_inside = real.starts_with(&self.root);
        is_inside.then_some(real).ok_or_else(|| "outside of the folder of the imported file".to_owned())
    }

    fn search(&self, folder: &Path, depth: usize, found: &mut Vec<String>) -> Result<(), String> {
        for entry in std::fs::read_dir(folder).map_err(|error| error.to_string())? {
            let entry = entry.map_err(|error| error.to_string())?;
            let kind = entry.file_type().map_err(|error| error.to_string())?;
            if found.len() >= MOST_FILES {
                return Err(format!("the folder has more than {MOST_FILES} files"));
            }
            if kind.is_dir() && depth > 1 {
                self.search(&entry.path(), depth - 1, found)?;
            } else if kind.is_file()
                && let Some(path) = entry.path().strip_prefix(&self.root).ok().and_then(Path::to_str)
            {
                found.push(path.to_owned());
            }
        }
        Ok(())
    }
}

impl Folder for OnDisk {
    fn text(&self, path: &str) -> Result<String, String> {
        given_file::text(&self.within(path)?, CASES).map_err(|error| error.to_string())
    }

    fn list(&self, below: &str, depth: usize) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        self.search(&self.within(below)?, depth.min(DEEPEST), &mut found)?;
        found.sort();
        Ok(found)
    }
}

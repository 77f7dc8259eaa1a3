//! Files that are planted and watched: canaries around the folder that a server serves, and a folder for markers. All of them
//! are removed when they are dropped.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use super::token as random;

/// A new folder of this user alone, in which commands make files.
#[derive(Debug)]
pub(super) struct Markers(PathBuf);

impl Markers {
    pub(super) fn new(token: &str) -> io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("proof-{token}"));
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(Self(folder))
    }

    /// Where the marker of an attack would be.
    pub(super) fn path(&self, token: &str) -> PathBuf {
        self.0.join(format!("marker-{token}"))
    }
}

impl Drop for Markers {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Where a canary is planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// Next to the folder.
    Outside,
    /// In a folder next to it whose name begins the same.
    Sibling,
    /// Next to the folder, with a link to it within.
    Linked,
}

#[derive(Debug)]
struct Canary {
    path: PathBuf,
    link: Option<PathBuf>,
    secret: String,
}

/// The canaries around a folder: one for each attack, so that what happens to it, or comes out of it, has one cause.
#[derive(Debug)]
pub(super) struct Planted {
    pub(super) folder: PathBuf,
    pub(super) parent: PathBuf,
    /// The end of the name of a folder that begins like the served one.
    pub(super) sibling_end: String,
    pub(super) sibling: PathBuf,
    /// A file within the folder that everybody may read and write.
    pub(super) note: String,
    canaries: HashMap<String, Canary>,
    /// Canaries that no call names: who changes them changes everything.
    controls: Vec<String>,
}

impl Planted {
    pub(super) fn new(folder: &Path, token: &str) -> io::Result<Self> {
        let folder = folder.canonicalize()?;
        let root = || io::Error::new(io::ErrorKind::InvalidInput, "the folder has no folder above it");
        let parent = folder.parent().ok_or_else(root)?.to_owned();
        let name = folder.file_name().and_then(OsStr::to_str).ok_or_else(root)?;
        let sibling_end = format!("proof-{token}");
        let sibling = parent.join(format!("{name}-{sibling_end}"));
        let note = format!("proof-note-{token}.txt");
        let (canaries, controls) = (HashMap::new(), Vec::new());
        // From here on, what was planted is removed on every way out.
        let mut planted = Self { folder, parent, sibling_end, sibling, note, canaries, controls };
        fs::create_dir(&planted.sibling)?;
        planted.note()?;
        planted.control(token)?;
        Ok(planted)
    }

    /// Writes the note where it is not there.
    pub(super) fn note(&self) -> io::Result<()> {
        let path = self.folder.join(&self.note);
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
            return Ok(());
        }
        written(&path, "A note.\n")
    }

    /// The name of an attack's canary.
    pub(super) fn canary(token: &str) -> String {
        format!("proof-canary-{token}.txt")
    }

    /// The name of an attack's link.
    pub(super) fn link(token: &str) -> String {
        format!("proof-link-{token}.txt")
    }

    /// Plants the canary of an attack.
    pub(super) fn plant(&mut self, token: &str, spot: Spot) -> io::Result<()> {
        let name = Self::canary(token);
        let (path, link) = match spot {
            Spot::Outside => (self.parent.join(name), None),
            Spot::Sibling => (self.sibling.join(name), None),
            Spot::Linked => (self.parent.join(name), Some(self.folder.join(Self::link(token)))),
        };
        let secret = format!("proof-{}{}", random(), random());
        let (target, text) = (path.clone(), secret.clone());
        self.canaries.insert(token.to_owned(), Canary { path, link: link.clone(), secret });
        fs::create_dir_all(&self.sibling)?;
        written(&target, &text)?;
        link.map_or(Ok(()), |link| symlink(target, link))
    }

    /// Plants a canary that no call names.
    pub(super) fn control(&mut self, token: &str) -> io::Result<()> {
        self.controls.push(token.to_owned());
        self.plant(token, Spot::Outside)
    }

    /// What the canary of an attack holds.
    pub(super) fn secret(&self, token: &str) -> Option<&str> {
        self.canaries.get(token).map(|canary| canary.secret.as_str())
    }

    /// Whether the canary of an attack was changed or removed.
    pub(super) fn changed(&self, token: &str) -> bool {
        let Some(Canary { path, secret, .. }) = self.canaries.get(token) else { return false };
        // A pipe, a link or a huge file in its place is not read.
        let found = fs::symlink_metadata(path);
        let is_as_long = found.is_ok_and(|found| found.is_file() && found.len() == secret.len() as u64);
        !(is_as_long && fs::read_to_string(path).is_ok_and(|text| text == *secret))
    }

    /// Whether a canary was changed that no call named.
    pub(super) fn is_disturbed(&self) -> bool {
        self.controls.iter().any(|token| self.changed(token))
    }
}

fn written(path: &Path, text: &str) -> io::Result<()> {
    // A link that was put in its place is not followed.
    let _ = fs::remove_file(path);
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}

impl Drop for Planted {
    fn drop(&mut self) {
        for canary in self.canaries.values() {
            let _ = fs::remove_file(&canary.path);
            if let Some(link) = &canary.link {
                let _ = fs::remove_file(link);
            }
        }
        let _ = fs::remove_file(self.folder.join(&self.note));
        let _ = fs::remove_dir_all(&self.sibling);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Markers, Planted, Spot};

    #[test]
    fn what_is_planted_is_watched_and_removed() {
        let markers = Markers::new(&format!("test-{}", std::process::id())).expect("a folder");
        let (above, served) = (markers.0.join("above"), markers.0.join("above/served"));
        fs::create_dir_all(&served).expect("folders");
        let mut planted = Planted::new(&served, "t").expect("planted");
        for (token, spot) in [("a", Spot::Outside), ("b", Spot::Sibling), ("c", Spot::Linked)] {
            planted.plant(token, spot).expect("planted");
        }
        let through = served.join(Planted::link("c"));
        assert_eq!(fs::read_to_string(&through).ok().as_deref(), planted.secret("c"));
        assert_ne!(planted.secret("a"), planted.secret("c"), "each attack has its own");
        assert!(!["a", "b", "c"].iter().any(|token| planted.changed(token)));
        fs::write(&through, "other").expect("written through the link");
        assert!(planted.changed("c") && planted.changed("c"), "it stays evidence");
        assert!(!planted.changed("a") && !planted.is_disturbed());
        fs::write(above.join(Planted::canary("t")), "other").expect("written");
        assert!(planted.is_disturbed(), "nobody named it");
        drop(planted);
        let left: Vec<_> = fs::read_dir(&above).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["served"]);
        assert_eq!(fs::read_dir(&served).expect("a folder").count(), 0);
        let folder = markers.0.clone();
        drop(markers);
        assert!(!folder.exists());
    }
}

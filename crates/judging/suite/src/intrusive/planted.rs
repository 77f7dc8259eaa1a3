//! Files that are planted and watched: canaries around the folder that a server serves, and a folder for markers. All of them
//! are removed when they are dropped.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

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

/// The canaries around a folder.
#[derive(Debug)]
pub(super) struct Planted {
    pub(super) folder: PathBuf,
    pub(super) parent: PathBuf,
    /// The name of the canary, next to the folder and in the sibling.
    pub(super) canary: String,
    /// The end of the name of a folder that begins like the served one.
    pub(super) sibling_end: String,
    pub(super) sibling: PathBuf,
    /// A link within the folder to the canary outside.
    pub(super) link: String,
    /// What the canaries hold.
    pub(super) secret: String,
}

impl Planted {
    pub(super) fn new(folder: &Path, token: &str, secret: &str) -> io::Result<Self> {
        let folder = folder.canonicalize()?;
        let root = || io::Error::new(io::ErrorKind::InvalidInput, "the folder has no folder above it");
        let parent = folder.parent().ok_or_else(root)?.to_owned();
        let name = folder.file_name().and_then(OsStr::to_str).ok_or_else(root)?;
        let sibling_end = format!("proof-{token}");
        let sibling = parent.join(format!("{name}-{sibling_end}"));
        let (canary, link) = (format!("proof-canary-{token}.txt"), format!("proof-link-{token}.txt"));
        // From here on, what was planted is removed on every way out.
        let planted = Self { folder, parent, canary, sibling_end, sibling, link, secret: secret.to_owned() };
        fs::create_dir(&planted.sibling)?;
        symlink(planted.outside(), planted.folder.join(&planted.link))?;
        planted.restore()?;
        Ok(planted)
    }

    fn outside(&self) -> PathBuf {
        self.parent.join(&self.canary)
    }

    /// Whether a canary was changed or removed. If so, it is planted again.
    pub(super) fn changed(&self) -> bool {
        // A pipe, a link or a huge file in its place is not read.
        let is_as_long = |path: &Path| {
            let found = fs::symlink_metadata(path);
            found.is_ok_and(|found| found.is_file() && found.len() == self.secret.len() as u64)
        };
        let is_whole =
            |path: PathBuf| is_as_long(&path) && fs::read_to_string(path).is_ok_and(|text| text == self.secret);
        let changed = ![self.outside(), self.sibling.join(&self.canary)].into_iter().all(is_whole);
        if changed {
            let _ = self.restore();
        }
        changed
    }

    fn restore(&self) -> io::Result<()> {
        fs::create_dir_all(&self.sibling)?;
        for path in [self.outside(), self.sibling.join(&self.canary)] {
            // A link that was put in its place is not followed.
            let _ = fs::remove_file(&path);
            OpenOptions::new().write(true).create_new(true).open(path)?.write_all(self.secret.as_bytes())?;
        }
        Ok(())
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.outside());
        let _ = fs::remove_file(self.folder.join(&self.link));
        let _ = fs::remove_dir_all(&self.sibling);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Markers, Planted};

    #[test]
    fn what_is_planted_is_watched_and_removed() {
        let markers = Markers::new(&format!("test-{}", std::process::id())).expect("a folder");
        let (above, served) = (markers.0.join("above"), markers.0.join("above/served"));
        fs::create_dir_all(&served).expect("folders");
        let planted = Planted::new(&served, "t", "secret").expect("planted");
        let through = served.join(&planted.link);
        assert_eq!(fs::read_to_string(&through).expect("the link"), "secret");
        assert!(!planted.changed());
        fs::write(&through, "other").expect("written through the link");
        assert!(planted.changed());
        assert!(!planted.changed(), "it is planted again");
        drop(planted);
        let left: Vec<_> = fs::read_dir(&above).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["served"]);
        assert_eq!(fs::read_dir(&served).expect("a folder").count(), 0);
        let folder = markers.0.clone();
        drop(markers);
        assert!(!folder.exists());
    }
}

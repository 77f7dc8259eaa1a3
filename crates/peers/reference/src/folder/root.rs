//! The served directory, held open. A path is walked from there one name at a time, and no link is followed: what is opened
//! lies below, whoever moves things about meanwhile. Nothing but regular files is opened for reading.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, open, openat, statat};
use rustix::io::Errno;

/// How deep folders may lie in one another.
pub(super) const DEPTH: usize = 32;

/// Why a file is not read.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// There is nothing, or nothing that is served: a folder, a link, a pipe, a device.
    Missing,
    /// It is longer than [`super::LARGEST`]; its size in bytes.
    TooLarge(u64),
    /// The system would not let us.
    Failed(io::Error),
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Errno> for Unreadable {
    fn from(error: Errno) -> Self {
        match error {
            // A link where a name should be is a loop to the system, or no directory.
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::MLINK | Errno::NAMETOOLONG | Errno::NXIO => {
                Self::Missing
            }
            error => Self::Failed(error.into()),
        }
    }
}

/// The directory.
pub(super) struct Root(OwnedFd);

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Root {
    /// Whoever names the directory may name it by a link.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?))
    }

    /// The bytes of the file at `path`, at most `most` of them.
    pub(super) fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, Unreadable> {
        if path.split('/').count() > DEPTH {
            return Err(Unreadable::Missing);
        }
        let file = self.file(path)?;
        let size = file.metadata()?.len();
        if size > most {
            return Err(Unreadable::TooLarge(size));
        }
        let mut bytes = Vec::new();
        // It may grow while it is read.
        file.take(most + 1).read_to_end(&mut bytes)?;
        let read = bytes.len() as u64;
        if read > most { Err(Unreadable::TooLarge(read)) } else { Ok(bytes) }
    }

    fn file(&self, path: &str) -> Result<File, Unreadable> {
        let (folders, name) = path.rsplit_once('/').map_or((None, path), |(folders, name)| (Some(folders), name));
        let mut last = None;
        for folder in folders.into_iter().flat_map(|folders| folders.split('/')) {
            last = Some(subfolder(last.as_ref().map_or(self.as_fd(), AsFd::as_fd), folder)?);
        }
        regular(last.as_ref().map_or(self.as_fd(), AsFd::as_fd), name)
    }
}

/// Opens a folder of a folder.
pub(super) fn subfolder(at: BorrowedFd<'_>, name: impl rustix::path::Arg) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, name, flags, Mode::empty())
}

/// Opens a file for reading. A device must not even be opened, since that may do something; what was found to be none is
/// looked at again once it is open, when nobody can exchange it any more.
fn regular(at: BorrowedFd<'_>, name: &str) -> Result<File, Unreadable> {
    if !is_regular(&statat(at, name, AtFlags::SYMLINK_NOFOLLOW)?) {
        return Err(Unreadable::Missing);
    }
    // A pipe put there meanwhile would wait for a writer, a terminal become ours.
    let careful = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(at, name, OFlags::RDONLY | careful, Mode::empty())?;
    if is_regular(&fstat(&file)?) { Ok(file.into()) } else { Err(Unreadable::Missing) }
}

fn is_regular(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

#[cfg(test)]
mod tests;

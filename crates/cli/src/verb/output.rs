//! Writes to stdout and to files named on the command line. Must not know what it writes.

use std::borrow::Cow;
use std::fs;
use std::io::{ErrorKind, IsTerminal as _, Seek as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use report::render::text::Paint;

use crate::args::output::Destination;
use crate::colour;
use crate::exit::{Exit, concealed, usage};

/// How [`Paint`](report::render::text::Paint) begins and ends a colour.
const ESCAPE: &str = "\u{1b}";
const COLOURS: [&str; 6] = ["[1m", "[1;31m", "[1;33m", "[32m", "[2m", "[0m"];

/// The mode of files that only their owner may read.
const PRIVATE: u32 = 0o600;

/// Prints to stdout, with known secrets redacted and what a terminal obeys escaped. A closed pipe (`| head`) is no error; a
/// full disk is.
pub(crate) fn print(text: &str) -> Result<(), Exit> {
    let mut stdout = std::io::stdout();
    let text = concealed(text);
    let text = if stdout.is_terminal() || colour::is_wanted() { safe_in_colour(&text) } else { safe(&text) };
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(usage(&format!("cannot write to stdout: {error}"), "free disk space, or write to a file with --output"))
        }
        _ => Ok(()),
    }
}

impl Destination {
    /// Checks before the work that the file can be written, and that the work does not read it.
    pub(crate) fn check(&self, read: &[&Path]) -> Result<(), Exit> {
        let Some(path) = &self.output else { return Ok(()) };
        distinct(&[path], read)?;
        writable(path)
    }

    /// How a text for people is painted: files have no colours.
    pub(crate) fn paint(&self) -> Paint {
        Paint { colour: self.output.is_none() && colour::is_wanted() }
    }

    /// Prints a result, or writes it to a file that only its owner may read.
    pub(crate) fn write(&self, text: &str) -> Result<(), Exit> {
        self.output.as_deref().map_or_else(|| print(text), |path| write_private(path, text))
    }

    /// Prints a result, or writes it to a file that is meant for others.
    pub(crate) fn publish(&self, text: &str) -> Result<(), Exit> {
        publish(self.output.as_deref(), text)
    }

    /// Where lines go that come one by one.
    pub(crate) fn lines(&self) -> Result<Lines<'_>, Exit> {
        let open = |path| private(path).map(|file| (path, file)).map_err(|why| unwritable(path, &why.to_string()));
        Ok(Lines(self.output.as_deref().map(open).transpose()?))
    }
}

/// Lines of a result, printed or written to a file as they come.
pub(crate) struct Lines<'d>(Option<(&'d Path, fs::File)>);

impl Lines<'_> {
    /// Prints or writes a line, which ends with a line feed.
    pub(crate) fn write(&mut self, line: &str) -> Result<(), Exit> {
        let Some((path, file)) = &mut self.0 else { return print(line) };
        write_whole(file, line).map_err(|error| unwritable(path, &error.to_string()))
    }
}

/// Prints a result, or writes it to a file that is meant for others.
pub(crate) fn publish(to: Option<&Path>, text: &str) -> Result<(), Exit> {
    to.map_or_else(|| print(text), |path| write(path, text))
}

/// Writes a report: only its owner may read it, also where it replaces a file that others could read.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), Exit> {
    write_new(path, private, text)
}

/// Opens a file and writes all of it. What could not be written whole is removed; a file that was there before stays, empty.
fn write_new(path: &Path, open: fn(&Path) -> std::io::Result<fs::File>, text: &str) -> Result<(), Exit> {
    let is_new = path.symlink_metadata().is_err();
    let written = open(path).and_then(|mut file| {
        write_whole(&mut file, text).inspect_err(|_| {
            if is_new {
                let _ = fs::remove_file(path);
            }
        })
    });
    written.map_err(|error| unwritable(path, &error.to_string()))
}

/// Appends a text to a file, or nothing: a part of a report reads like a whole one. Devices and pipes keep what they got.
fn write_whole(file: &mut fs::File, text: &str) -> std::io::Result<()> {
    let before = file.stream_position().unwrap_or_default();
    file.write_all(safe(&concealed(text)).as_bytes()).inspect_err(|_| {
        let _ = file.set_len(before);
    })
}

/// Opens a file to write that only its owner may read. Devices and pipes keep their permissions.
pub(crate) fn private(path: &Path) -> std::io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).create(true).mode(PRIVATE).truncate(true).open(path)?;
    let found = file.metadata()?;
    if found.is_file() && found.permissions().mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(PRIVATE))?;
    }
    Ok(file)
}

/// The same with our own colours.
fn safe_in_colour(text: &str) -> Cow<'_, str> {
    if !text.contains(ESCAPE) {
        return safe(text);
    }
    let mut out = String::with_capacity(text.len());
    for (index, part) in text.split(ESCAPE).enumerate() {
        let colour = COLOURS.iter().find(|colour| index > 0 && part.starts_with(**colour));
        match colour {
            Some(colour) => out.extend([ESCAPE, colour]),
            None if index > 0 => out.push_str("\\u{1b}"),
            None => {}
        }
        out.push_str(&safe(&part[colour.map_or(0, |colour| colour.len())..]));
    }
    Cow::Owned(out)
}

/// Text without what a terminal obeys. Renderers have escaped what is foreign; this holds where
/// one forgot.
fn safe(text: &str) -> Cow<'_, str> {
    wire::escape::lines(text)
}

/// Writes a file that is meant for others.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Exit> {
    write_new(path, |path| fs::File::create(path), text)
}

/// Replaces a file that is meant for others in one step: a reader sees the old text or the new one, never a part.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), Exit> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(name);
    let written = fs::OpenOptions::new().write(true).create_new(true).open(&beside).and_then(|mut file| {
        if let Ok(found) = path.metadata() {
            file.set_permissions(found.permissions())?;
        }
        file.write_all(safe(&concealed(text)).as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, path)
    });
    written.map_err(|error| {
        let _ = fs::remove_file(&beside);
        unwritable(path, &error.to_string())
    })
}

/// Creates a directory unless it exists.
pub(crate) fn folder(path: &Path) -> Result<(), Exit> {
    fs::create_dir_all(path).map_err(|error| {
        usage(&format!("cannot create {}: {error}", shown(path)), "check the path and its permissions")
    })
}

/// Checks before minutes of work that a file can be written. Creates nothing.
pub(crate) fn writable(path: &Path) -> Result<(), Exit> {
    if path.exists() {
        return fs::OpenOptions::new().append(true).open(path).map(drop).map_err(|e| unwritable(path, &e.to_string()));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match parent {
        Some(parent) if !parent.is_dir() => Err(unwritable(path, &format!("{} is not a directory", shown(parent)))),
        _ => Ok(()),
    }
}

/// Refuses files that would replace each other, or a file that is read. Files are compared by where they are, not by spelling.
pub(crate) fn distinct(written: &[&Path], read: &[&Path]) -> Result<(), Exit> {
    for (index, path) in written.iter().enumerate() {
        let is_device = path.metadata().is_ok_and(|found| !found.is_file());
        let mut others = written[..index].iter().chain(read);
        if let Some(other) = others.find(|other| !is_device && place(other) == place(path)) {
            let what = format!("{} and {} are the same file", shown(other), shown(path));
            return Err(usage(&what, "another path for one of them"));
        }
    }
    Ok(())
}

/// Where a file is or will be, through links.
fn place(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // As many links as the kernel follows; a link may lead to a file that is only about to be made.
    for _ in 0..40 {
        if let Ok(found) = fs::canonicalize(&path) {
            return found;
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(target) = fs::read_link(&path) else {
            return fs::canonicalize(parent).unwrap_or_default().join(path.file_name().unwrap_or_default());
        };
        path = parent.join(target);
    }
    path
}

/// Reports a file that cannot be written.
pub(crate) fn unwritable(path: &Path, why: &str) -> Exit {
    usage(&format!("cannot write {}: {why}", shown(path)), "check the path and its permissions")
}

/// A path, escaped for output.
pub(crate) fn shown(path: &Path) -> String {
    wire::escape::line(&path.to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use report::render::text::Paint;

    use super::{private, safe, safe_in_colour};

    #[test]
    fn only_our_own_colours_reach_a_terminal() {
        let paint = Paint { colour: true };
        let ours = [paint.bold("a"), paint.red("b"), paint.yellow("c"), paint.green("d"), paint.dim("e")].concat();
        assert_eq!(safe_in_colour(&ours), ours);
        let foreign = "x\u{1b}]0;title\u{7}\u{1b}[8mhidden\u{9b}2J\u{202e}\u{61c}\n";
        let shown = safe_in_colour(&(ours.clone() + foreign)).into_owned();
        let rest = "x\\u{1b}]0;title\\u{7}\\u{1b}[8mhidden\\u{9b}2J\\u{202e}\\u{61c}\n";
        assert_eq!(shown, ours + rest);
        assert_eq!(safe(foreign), rest);
    }

    #[test]
    fn a_private_file_is_private_also_where_it_replaces_another() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let mode = |path: &std::path::Path| path.metadata().expect("a file").permissions().mode() & 0o777;
        let (new, old) = (folder.path().join("new"), folder.path().join("old"));
        std::fs::write(&old, "before").expect("a file");
        std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o644)).expect("permissions");
        for path in [&new, &old] {
            private(path).expect("it can be written");
            assert_eq!((mode(path), std::fs::read(path).expect("a file").len()), (0o600, 0));
        }
        private(std::path::Path::new("/dev/null")).expect("a device");
        assert_ne!(mode(std::path::Path::new("/dev/null")), 0o600);
    }
}

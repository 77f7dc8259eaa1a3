//! Reads files that the user names, no more of them than a limit allows. Must not know what they hold.

use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// The whole content, of at most `most` bytes. A pipe is read, a device is not: it need not end.
pub(crate) fn bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = net::open_at_once(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_char_device() || kind.is_block_device() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is a device, not a file"));
    }
    let too_large = || io::Error::new(ErrorKind::FileTooLarge, format!("too large: more than {} MiB", most >> 20));
    // The length of anything but a regular file is unknown before its end.
    if file.metadata()?.len() > most {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

/// The same, of a text.
pub(crate) fn text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(bytes(path, most)?).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{bytes, text};

    #[test]
    fn devices_and_huge_files_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, "sixteen bytes ..").expect("a file");
        assert_eq!(text(&path, 16).expect("a text"), "sixteen bytes ..");
        let error = |path: &Path, most| bytes(path, most).expect_err("an error").to_string();
        assert_eq!(error(&path, 15), "too large: more than 0 MiB");
        assert_eq!(error(Path::new("/dev/zero"), 1 << 20), "it is a device, not a file");
    }
}

//! A log of several signed files, of which every byte and every line is changed once.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use super::super::files::Files;
use super::super::signing::{SigningKey, VerifyingKey, generate, text_of};
use super::*;
use crate::settings::AuditSettings;

/// A log that was closed: its folder, its files, the key, and what is found in it.
struct Log {
    folder: TempDir,
    paths: Vec<PathBuf>,
    contents: Vec<Vec<u8>>,
    key: VerifyingKey,
    honest: Verified,
}

impl Log {
    fn write() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let key = folder.path().join("key");
        let public = generate(&key).expect("a key");
        let pem = text_of(&key).expect("a text");
        let settings = AuditSettings { file_bytes: 300, ..AuditSettings::new(folder.path().to_owned()) };
        let mut files = Files::open(&settings, Some(SigningKey::read(&pem).expect("a key"))).expect("a log");
        for tool in ["read", "write", "list", "send"] {
            let members = vec![("kind", json!("request")), ("tool_name", json!(tool)), ("input", json!({ "ä": "ö" }))];
            files.append(&[members]).expect("a line");
        }
        files.close().expect("closed");
        let key = VerifyingKey::read(&text_of(&public).expect("a text")).expect("a key");
        let paths: Vec<_> = log_files(folder.path()).expect("files").into_iter().map(|(_, path)| path).collect();
        let contents = paths.iter().map(|path| fs::read(path).expect("a file")).collect();
        let honest = verify(folder.path(), Some(&key)).expect("unchanged");
        let log = Self { folder, paths, contents, key, honest };
        assert!(log.paths.len() >= 3 && log.honest.is_closed && log.honest.unsigned == 0, "{:?}", log.honest);
        assert!(log.honest.signatures >= 3 && log.honest.requests == 4, "{:?}", log.honest);
        log
    }

    /// What is found without the key when one file is another. With the key, more is looked at, so no less is found.
    fn with(&self, file: usize, content: &[u8]) -> Result<Verified, VerifyError> {
        fs::write(&self.paths[file], content).expect("a file");
        let found = verify(self.folder.path(), None);
        fs::write(&self.paths[file], &self.contents[file]).expect("a file");
        found
    }

    fn look(&self) -> [Result<Verified, VerifyError>; 2] {
        [Some(&self.key), None].map(|key| verify(self.folder.path(), key))
    }

    fn lines(&self, file: usize) -> Vec<Vec<u8>> {
        self.contents[file].split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    }
}

/// Fails unless each change is an error that names a line; at the end of the log, it may instead be named.
fn is_found(what: &str, (file, at): (usize, usize), is_end: bool, found: Result<Verified, VerifyError>) {
    let ok = match &found {
        Err(VerifyError::Line { .. }) => true,
        Ok(verified) => is_end && names_the_end(verified),
        Err(_) => false,
    };
    assert!(ok, "{what} at {at} of file {file}: {found:?}");
}

/// Whether it says that the log may have gone on: all that can be known of lines that are gone.
fn names_the_end(verified: &Verified) -> bool {
    verified.incomplete_bytes > 0 || !verified.is_closed || verified.unsigned > 0
}

#[test]
fn every_changed_missing_and_inserted_byte_is_found() {
    let log = Log::write();
    for (file, content) in log.contents.iter().enumerate() {
        for at in 0..content.len() {
            // Without its line end, the last line looks as if it were still being written.
            let is_end = file + 1 == log.contents.len() && at + 1 == content.len();
            for changed in [content[at] ^ (1 << (at % 8)), content[at] ^ 0xff, b'\n'] {
                if changed != content[at] {
                    let mut other = content.clone();
                    other[at] = changed;
                    is_found("a change", (file, at), is_end, log.with(file, &other));
                }
            }
            let mut less = content.clone();
            less.remove(at);
            is_found("a missing byte", (file, at), is_end, log.with(file, &less));
            let mut more = content.clone();
            more.insert(at, b'0');
            is_found("a byte more", (file, at), false, log.with(file, &more));
        }
    }
    assert_eq!(verify(log.folder.path(), Some(&log.key)).expect("unchanged"), log.honest);
}

#[test]
fn a_file_that_was_cut_anywhere_is_found_or_its_end_is_named() {
    let log = Log::write();
    for (file, content) in log.contents.iter().enumerate() {
        for at in 0..content.len() {
            let found = log.with(file, &content[..at]);
            if file == 0 && at == 0 {
                // As if the oldest file had been removed, which the first line's number says.
                assert!(found.is_ok_and(|verified| verified.first > 0));
            } else {
                is_found("the end", (file, at), file + 1 == log.contents.len(), found);
            }
        }
    }
}

#[test]
fn lines_that_are_missing_repeated_or_exchanged_are_found() {
    let log = Log::write();
    let last = log.contents.len() - 1;
    let mut seen = 0;
    for file in 0..log.contents.len() {
        let lines = log.lines(file);
        for at in 0..lines.len() {
            seen += 1;
            let is_last = file == last && at + 1 == lines.len();
            let mut less = lines.clone();
            less.remove(at);
            // A first file without lines is the same as none.
            if lines.len() > 1 {
                is_found("a missing line", (file, at), is_last, log.with(file, &less.concat()));
            }
            let mut more = lines.clone();
            more.insert(at, lines[at].clone());
            is_found("a line twice", (file, at), false, log.with(file, &more.concat()));
            for other in at + 1..lines.len() {
                let mut exchanged = lines.clone();
                exchanged.swap(at, other);
                is_found("exchanged lines", (file, at), false, log.with(file, &exchanged.concat()));
            }
            let mut empty = lines.clone();
            empty.insert(at, b"\n".to_vec());
            is_found("an empty line", (file, at), false, log.with(file, &empty.concat()));
        }
    }
    assert_eq!(seen, log.honest.lines);
}

#[test]
fn files_that_are_missing_or_exchanged_are_found() {
    let log = Log::write();
    let last = log.paths.len() - 1;
    for (file, path) in log.paths.iter().enumerate() {
        let aside = log.folder.path().join("aside");
        fs::rename(path, &aside).expect("a file");
        for result in log.look() {
            match result {
                // Old files may go, and the newest lines may be missing: both are named.
                Ok(verified) if file == 0 => assert!(verified.first > 0, "{verified:?}"),
                Ok(verified) if file == last => assert!(names_the_end(&verified), "{verified:?}"),
                found => assert!(matches!(found, Err(VerifyError::Line { .. })), "file {file}: {found:?}"),
            }
        }
        fs::rename(&aside, path).expect("a file");
        for (other, content) in log.contents.iter().enumerate().filter(|(other, _)| *other != file) {
            is_found("another file", (file, other), false, log.with(file, content));
        }
    }
    assert_eq!(verify(log.folder.path(), Some(&log.key)).expect("unchanged"), log.honest);
}

/// Somebody who changes a line and computes the hashes of all later ones. Only the key finds that.
#[test]
fn a_forged_line_is_found_by_the_next_signature() {
    let log = Log::write();
    let all: Vec<_> =
        (0..log.contents.len()).flat_map(|file| log.lines(file).into_iter().map(move |line| (file, line))).collect();
    for forged in 0..all.len() {
        let (mut before, mut contents) = (None::<Link>, vec![String::new(); log.contents.len()]);
        for (index, (file, text)) in all.iter().enumerate() {
            let members: Value = serde_json::from_slice(text).expect("JSON");
            let kept = members.as_object().expect("an object").iter();
            let kept = kept.filter(|(name, _)| !["number", "before", "hash"].contains(&name.as_str()));
            let mut kept: Vec<_> = kept.map(|(name, value)| (name.as_str(), value.to_string())).collect();
            if index == forged {
                kept.push(("forged", "true".to_owned()));
            }
            let (line, link) = super::super::chain::line(before.as_ref(), &kept);
            contents[*file].push_str(&line);
            contents[*file].push('\n');
            before = Some(link);
        }
        for (path, content) in log.paths.iter().zip(&contents) {
            fs::write(path, content).expect("a file");
        }
        let [with_key, without] = log.look();
        // The signature in the last line is over the lines before it: what was added to that line itself, it does not know.
        let is_last = forged + 1 == all.len();
        assert!(without.is_ok(), "line {forged}: the chain is whole: {without:?}");
        assert_eq!(matches!(with_key, Err(VerifyError::Line { flaw: Flaw::Signature, .. })), !is_last, "line {forged}");
    }
}

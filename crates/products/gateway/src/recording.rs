//! Recordings of the traffic with clients: files of bounded size, of which a bounded number is kept. Secrets are replaced
//! before anything is written. Knows no message.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use net::Tap;
use wire::redact::{Redactor, Secrets};
use wire::timestamp::rfc3339;
use wire::trace::file::{write_frame, write_header};
use wire::trace::{Frame, Header};
use wire::{Party, Transport};

use crate::settings::{InterceptorTarget, RecordSettings, Settings, Target};

/// How the names of recordings begin and end: others' files in the folder are left alone.
const NAME: (&str, &str) = ("gateway-", ".jsonl");

/// How many times its usual size a file may have, for connections that go on.
const LONG: u64 = 4;
/// How many frames of a file are remembered as causes of later ones.
const RECENT: usize = 4096;

/// The values that the configuration gives to upstreams.
pub(crate) fn secrets(settings: &Settings) -> Secrets {
    let mut secrets = Secrets::default();
    for upstream in &settings.upstreams {
        match &upstream.target {
            Target::Command { command, .. } => {
                secrets.arguments(command.args.iter().map(String::as_str));
                for (name, value) in &command.env {
                    secrets.handed_variable(name, value);
                }
            }
            Target::Http(address)
            | Target::StreamableHttp(address)
            | Target::Sse(address)
            | Target::WebSocket(address) => {
                secrets.address(address.url.as_str());
                for (name, value) in &address.headers {
                    secrets.header(name, value);
                }
            }
        }
    }
    for interceptor in &settings.interceptors {
        match &interceptor.target {
            InterceptorTarget::Command(command, _) => {
                secrets.arguments(command.args.iter().map(String::as_str));
                command.env.iter().for_each(|(name, value)| secrets.handed_variable(name, value));
            }
            InterceptorTarget::Http(address) => {
                secrets.address(address.url.as_str());
                address.headers.iter().for_each(|(name, value)| secrets.header(name, value));
            }
        }
    }
    if let Some(authzen) = &settings.authzen {
        secrets.address(authzen.address.url.as_str());
        authzen.address.headers.iter().for_each(|(name, value)| secrets.header(name, value));
    }
    for (name, value) in settings.telemetry.iter().flat_map(|telemetry| &telemetry.otlp.headers) {
        secrets.header(name, value);
    }
    secrets
}

/// A tap that writes recordings of `transport` as `record` says.
pub fn tap(settings: &Settings, record: &RecordSettings, transport: Transport) -> io::Result<Tap> {
    let header = Header { subject: Party::Server, transport, revision: None, case: "recorded".to_owned() };
    let redactor = net::new_redactor().knowing(&secrets(settings)).watching();
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&record.folder)?;
    let mut files = Files::begin(record.clone(), redactor.clone(), header.clone())?;
    let mut broken = false;
    Ok(Tap::streaming(header, move |frame| {
        if !broken && let Err(error) = files.append(frame) {
            broken = true;
            // Clients are served all the same.
            tracing::error!(folder = %files.settings.folder.display(), "the recording ends here: {error}");
        }
    }))
}

struct Files {
    settings: RecordSettings,
    redactor: Redactor,
    header: Header,
    /// Oldest first; the last one takes new connections.
    parts: VecDeque<Part>,
    /// How many frames there were.
    frames: usize,
    /// The highest number of a connection so far.
    connections: u32,
}

/// One file: a connection's frames stay in the file that it began in, so that each file can be read by itself.
struct Part {
    file: File,
    path: PathBuf,
    bytes: u64,
    /// Its connections have higher numbers.
    after: u32,
    /// The numbers of its last frames among all frames, and how many came before them.
    recent: VecDeque<usize>,
    forgotten: usize,
}

impl Files {
    fn begin(settings: RecordSettings, redactor: Redactor, header: Header) -> io::Result<Self> {
        let mut files = Self { settings, redactor, header, parts: VecDeque::new(), frames: 0, connections: 0 };
        files.next_part()?;
        Ok(files)
    }

    fn next_part(&mut self) -> io::Result<()> {
        let (file, path, bytes) = open(&self.settings.folder, &self.redactor, &self.header)?;
        let after = self.connections;
        self.parts.push_back(Part { file, path, bytes, after, recent: VecDeque::new(), forgotten: 0 });
        self.remove_oldest()
    }

    /// Writes a frame with one system call: it then survives the end of this process.
    fn append(&mut self, frame: &Frame) -> io::Result<()> {
        let number = self.frames;
        self.frames += 1;
        let is_new = frame.connection > self.connections;
        if is_new && self.parts.back().is_none_or(|part| part.bytes >= self.settings.file_bytes) {
            self.next_part()?;
        }
        self.connections = self.connections.max(frame.connection);
        let most = self.settings.file_bytes.saturating_mul(LONG);
        let part = self.parts.iter_mut().rev().find(|part| frame.connection > part.after || frame.connection == 0);
        // A connection that outlives the files, or fills one alone, is no longer recorded.
        let Some(part) = part.filter(|part| part.bytes < most) else { return Ok(()) };
        let mut frame = self.redactor.redact_frame(frame);
        frame.cause = frame.cause.and_then(|cause| part.place(cause));
        let mut line = write_frame(&frame);
        line.push('\n');
        part.file.write_all(line.as_bytes())?;
        part.bytes += line.len() as u64;
        part.recent.push_back(number);
        if part.recent.len() > RECENT {
            part.recent.pop_front();
            part.forgotten += 1;
        }
        Ok(())
    }

    /// Names sort by their time.
    fn remove_oldest(&mut self) -> io::Result<()> {
        let mut ours: Vec<PathBuf> = fs::read_dir(&self.settings.folder)?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                name.starts_with(NAME.0) && name.ends_with(NAME.1)
            })
            .collect();
        ours.sort();
        let surplus = ours.len().saturating_sub(self.settings.files);
        for path in &ours[..surplus] {
            fs::remove_file(path)?;
            self.parts.retain(|part| part.path != *path);
        }
        Ok(())
    }
}

impl Part {
    /// The place in this file of a frame among all frames.
    fn place(&self, number: usize) -> Option<usize> {
        self.recent.binary_search(&number).ok().map(|index| self.forgotten + index)
    }
}

/// A new file with its header, which only the user can read.
fn open(folder: &Path, redactor: &Redactor, header: &Header) -> io::Result<(File, PathBuf, u64)> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let time: String = rfc3339(since).chars().filter(|c| !matches!(c, ':' | '-')).collect();
    for number in 0..1000 {
        let path = folder.join(format!("{}{time}-{number:03}{}", NAME.0, NAME.1));
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(mut file) => {
                let line = format!("{}\n", write_header(&redactor.redact_header(header)));
                file.write_all(line.as_bytes())?;
                return Ok((file, path, line.len() as u64));
            }
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "too many recordings in one moment"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use net::tap::Written;
    use wire::trace::Content;
    use wire::{Party, Transport};

    use super::tap;
    use crate::settings::{RecordSettings, Settings};

    #[test]
    fn the_oldest_of_many_files_go_and_others_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("mine.jsonl"), "x").expect("a file");
        let record = RecordSettings { file_bytes: 2000, files: 3, ..RecordSettings::new(folder.path().to_owned()) };
        let tap = tap(&Settings::default(), &record, Transport::StreamableHttp).expect("a recording");
        let write = |connection, line: &str| {
            let frame = tap.frame(Party::Client, connection, 0, Content::Stderr(line.as_bytes().to_vec()));
            tap.write(frame, Written::NONE);
        };
        let long = tap.next_connection();
        for number in 0..200 {
            write(tap.next_connection(), &format!("line {number}"));
        }
        write(long, "of a connection whose file is gone");
        tap.close();
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).expect("it exists").flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        assert_eq!(names.len(), 4, "{names:?}");
        assert!(names.contains(&"mine.jsonl".into()));
        for name in names.iter().filter(|name| *name != "mine.jsonl") {
            let text = fs::read_to_string(folder.path().join(name)).expect("it can be read");
            assert!(text.len() < 4000 && text.lines().count() > 1, "{name:?}: {} bytes", text.len());
            assert!(!text.contains("is gone"), "{text}");
            assert!(text.lines().next().is_some_and(|header| header.contains("recorded")), "{text}");
        }
    }
}

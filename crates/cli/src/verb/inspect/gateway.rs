//! The recordings of a gateway: files of one folder, one after another. They are shown as they grow, new ones when they begin, and
//! those that the gateway removes until their end.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use console::Console;
use wire::trace::file::{read_frame, read_header};

use super::growing::{Growing, Step};
use crate::exit::{Exit, tell, usage};
use crate::verb::output;

/// How often it is looked for more, and for new files.
const LOOK: Duration = Duration::from_millis(200);
/// How the names of recordings begin and end.
const NAME: (&str, &str) = ("gateway-", ".jsonl");
/// How many files are followed at a time; the oldest go first.
const FOLLOWED: usize = 64;
/// How many lines of one file are shown before the next one has its turn.
const TURN: usize = 500;

/// A folder of recordings.
pub(super) struct Recordings {
    folder: PathBuf,
    followed: Vec<Followed>,
    known: BTreeSet<PathBuf>,
}

/// One file.
struct Followed {
    path: PathBuf,
    lines: Growing,
    /// Its session, once its header was read.
    session: Option<u32>,
}

/// Where a file stands.
enum State {
    /// There is more to read.
    Busy,
    /// Everything was read for now.
    Quiet,
    /// It cannot be read any further.
    Over,
}

impl Recordings {
    /// Opens a folder, which must be there; it may be empty.
    pub(super) fn open(folder: &Path) -> Result<Self, Exit> {
        let shown = output::shown(folder);
        let remedy = "start `proof gateway --record DIR` first, and name that folder";
        if !folder.is_dir() {
            return Err(usage(&format!("{shown} is no folder"), remedy));
        }
        fs::read_dir(folder).map_err(|error| usage(&format!("cannot read {shown}: {error}"), remedy))?;
        Ok(Self { folder: folder.to_owned(), followed: Vec::new(), known: BTreeSet::new() })
    }

    /// Shows what is there and what comes. Of what is there, the newest files that fit into `keep` bytes.
    pub(super) async fn follow(mut self, console: Arc<Console>, keep: u64) {
        let target = console.add_recordings(&format!("gateway: {}", output::shown(&self.folder)));
        self.known = surplus(&self.files(), keep).into_iter().collect();
        loop {
            self.look();
            let mut is_busy = false;
            for followed in &mut self.followed {
                // A long recording must not keep the page waiting.
                tokio::task::yield_now().await;
                match followed.turn(&console, target) {
                    State::Busy => is_busy = true,
                    // A file that the gateway removed has its last lines by now.
                    State::Quiet if !followed.path.exists() => followed.end(&console),
                    State::Quiet => {}
                    State::Over => followed.end(&console),
                }
            }
            self.followed.retain(|followed| !followed.lines.is_over());
            if !is_busy {
                tokio::time::sleep(LOOK).await;
            }
        }
    }

    /// Opens the files that are new.
    fn look(&mut self) {
        for path in self.files() {
            if !self.known.contains(&path)
                && let Ok(lines) = Growing::open(&path)
            {
                self.known.insert(path.clone());
                self.followed.push(Followed { path, lines, session: None });
            }
        }
        self.known.retain(|path| path.exists());
        let surplus = self.followed.len().saturating_sub(FOLLOWED);
        for followed in &mut self.followed[..surplus] {
            followed.lines.give_up();
        }
    }

    /// The recordings in the folder, oldest first: names sort by their time.
    fn files(&self) -> Vec<PathBuf> {
        let is_ours = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with(NAME.0) && name.ends_with(NAME.1)
        };
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries.map(|entry| entry.path()).filter(is_ours).collect();
        files.sort();
        files
    }
}

impl Followed {
    /// Shows some lines.
    fn turn(&mut self, console: &Console, target: u32) -> State {
        for _ in 0..TURN {
            match self.lines.step() {
                Ok(Step::Line(line)) => {
                    if let Err(why) = self.show(console, target, &line) {
                        let (path, number) = (output::shown(&self.path), self.lines.number());
                        let why = wire::escape::line(&why);
                        tell(format_args!("error: {path}: line {number}: {why}; nothing more of it is shown"));
                        return State::Over;
                    }
                }
                Ok(Step::Read) => {}
                Ok(Step::End) => return State::Quiet,
                Err(error) => {
                    tell(format_args!("error: {}: {error}; nothing more of it is shown", output::shown(&self.path)));
                    return State::Over;
                }
            }
        }
        State::Busy
    }

    fn show(&mut self, console: &Console, target: u32, line: &str) -> Result<(), String> {
        let Some(session) = self.session else {
            self.session = Some(console.next_recording(target, read_header(line)?));
            return Ok(());
        };
        if !line.trim().is_empty() {
            console.hub().take(session, &read_frame(line)?);
        }
        Ok(())
    }

    fn end(&mut self, console: &Console) {
        if let Some(session) = self.session {
            console.hub().end(session);
        }
        self.lines.give_up();
    }
}

/// The oldest files beyond the newest ones that fit into `keep` bytes; the newest one always fits.
fn surplus(files: &[PathBuf], keep: u64) -> Vec<PathBuf> {
    let mut bytes = 0;
    let mut fit = 0;
    for path in files.iter().rev() {
        bytes += fs::metadata(path).map_or(0, |meta| meta.len());
        if fit > 0 && bytes > keep {
            break;
        }
        fit += 1;
    }
    files[..files.len() - fit].to_vec()
}

#[cfg(test)]
mod tests {
    use super::surplus;

    #[test]
    fn of_many_files_the_newest_that_fit_are_shown() {
        let folder = tempfile::tempdir().expect("a folder");
        let files: Vec<_> = (0..4).map(|number| folder.path().join(format!("gateway-{number}.jsonl"))).collect();
        for path in &files {
            std::fs::write(path, "0123456789").expect("a file");
        }
        assert_eq!(surplus(&files, 25), files[..2]);
        assert_eq!(surplus(&files, 100), files[..0]);
        assert_eq!(surplus(&files, 1), files[..3]);
        assert!(surplus(&[], 1).is_empty());
    }
}

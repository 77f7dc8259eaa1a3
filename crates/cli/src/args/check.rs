//! `proof check`: options as typed, and what they mean.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use net::client::{Address, Limits};
use rules::Level;
use wire::redact::Secrets;
use wire::{Revision, Transport};
use workbench::check::hints::Hints;
use workbench::check::{Calls, Keep, Options, Selection};

use super::reach::{Reach, Target};
use crate::exit::{Exit, usage};

/// How many cases run side by side: they mostly wait, so more than there are cores. A child counts for three.
const JOBS: usize = 72;

/// How long one answer may take.
const ANSWER: Duration = Duration::from_secs(10);

/// How long the first answer of a command may take: it starts, and some install themselves first.
const START: Duration = Duration::from_secs(30);

/// Arguments of `check`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof check --format junit --output proof.xml -- ./my-server
  proof check --also sarif=proof.sarif --also markdown=proof.md -- ./my-server
  proof check --write-baseline known.json -- ./my-server
  proof check --baseline known.json -- ./my-server

Exit codes: 0 clean; 1 a new finding at or above --fail-on; 2 usage;
3 no MCP answer in any era; 4 our own bug.

Only tools that their server marks with readOnlyHint are called, unless
--call all or --allow-tool says otherwise.")]
pub(crate) struct CheckArgs {
    /// The server's address: http(s):// or ws(s):// [default: our own server]
    #[arg(value_name = "URL", conflicts_with_all = ["command", "trace"])]
    pub(crate) url: Option<String>,
    /// The server's command and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "trace")]
    pub(crate) command: Vec<String>,

    /// Revisions to judge at [default: all that the server speaks]
    #[arg(long, value_name = "R[,R]|all", value_delimiter = ',', help_heading = "What to judge")]
    pub(crate) revision: Vec<String>,
    /// How to reach a URL [default: found out]
    #[arg(long, value_name = "stdio|http|sse|ws", help_heading = "What to judge")]
    pub(crate) transport: Option<Transport>,
    /// Judge by these rules only: ids or globs
    #[arg(long, value_name = "ID|GLOB", value_delimiter = ',', help_heading = "What to judge")]
    pub(crate) only: Vec<String>,
    /// Leave these rules out: ids or globs
    #[arg(long, value_name = "ID|GLOB", value_delimiter = ',', help_heading = "What to judge")]
    pub(crate) skip: Vec<String>,
    /// The weakest level to judge [default: may]
    #[arg(long, value_enum, help_heading = "What to judge")]
    pub(crate) level: Option<LevelArg>,
    /// Judge by the safety rules too (reported apart, never scored)
    #[arg(long, help_heading = "What to judge")]
    pub(crate) safety: bool,
    /// Judge a recorded trace instead of a server
    #[arg(long, value_name = "FILE", help_heading = "What to judge")]
    pub(crate) trace: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) reach: Reach,

    /// Which tools may be called
    #[arg(long, value_enum, value_name = "WHICH", default_value = "safe", help_heading = "What may be done")]
    pub(crate) call: CallArg,
    /// A tool that may be called although it does not say that it only reads
    #[arg(long, value_name = "NAME", help_heading = "What may be done")]
    pub(crate) allow_tool: Vec<String>,
    /// How to provoke progress, sampling, changed lists (JSON; docs/check.md)
    #[arg(long, value_name = "FILE", help_heading = "What may be done")]
    pub(crate) hints: Option<PathBuf>,
    /// Strain the server even where it is neither our child nor on loopback
    #[arg(long, help_heading = "What may be done")]
    pub(crate) intrusive: bool,
    /// How many cases run side by side per server [default: 72]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "What may be done")]
    pub(crate) jobs: Option<u16>,
    /// Draw arguments and the order of cases from this seed; 0 draws nothing
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "What may be done")]
    pub(crate) seed: u64,

    /// The weakest broken level that fails the check
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "must", help_heading = "What comes out")]
    pub(crate) fail_on: FailOn,
    /// Known findings (docs/reports.md): new ones fail, stale entries too
    #[arg(long, value_name = "FILE", help_heading = "What comes out")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write today's findings as a baseline; reasons that are there stay
    #[arg(long, value_name = "FILE", help_heading = "What comes out")]
    pub(crate) write_baseline: Option<PathBuf>,
    /// The report's format
    #[arg(long, value_enum, default_value = "human", help_heading = "What comes out")]
    pub(crate) format: Format,
    /// Write the report to a file instead of stdout
    #[arg(long, value_name = "FILE", help_heading = "What comes out")]
    pub(crate) output: Option<PathBuf>,
    /// Write the same report in another format, too (again for more)
    #[arg(long, value_name = "FORMAT=FILE", value_parser = also, help_heading = "What comes out")]
    pub(crate) also: Vec<(Format, PathBuf)>,
    /// Keep every case's trace, secrets redacted
    #[arg(long, value_name = "DIR", help_heading = "What comes out")]
    pub(crate) save_trace: Option<PathBuf>,
    /// List every rule, kept and not exercised ones too (human format)
    #[arg(long, short, help_heading = "What comes out")]
    pub(crate) verbose: bool,
}

/// A level as typed.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LevelArg {
    /// MUST and MUST NOT
    Must,
    /// SHOULD too
    Should,
    /// MAY too
    May,
}

/// What fails a check.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A broken MUST
    Must,
    /// A broken MUST or SHOULD
    Should,
}

/// Which tools may be called.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum CallArg {
    /// Those that say they only read
    Safe,
    /// None
    None,
    /// All
    All,
}

/// The report's format.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Human,
    /// One JSON document: proof.report/1
    Json,
    /// JUnit XML: Jenkins, GitLab and most others show it
    Junit,
    /// SARIF 2.1.0: code scanning
    Sarif,
    /// Markdown for a comment on a pull request
    Markdown,
    /// TAP version 14
    Tap,
    /// One page to look at in a browser
    Html,
}

/// `sarif=proof.sarif`
fn also(text: &str) -> Result<(Format, PathBuf), String> {
    let (format, path) = text.split_once('=').filter(|(_, path)| !path.is_empty()).ok_or("not FORMAT=FILE")?;
    let names = || Format::value_variants().iter().filter_map(|format| format.to_possible_value());
    let format = Format::from_str(format, false).map_err(|_| {
        let names: Vec<_> = names().map(|name| name.get_name().to_owned()).collect();
        format!("no such format; there are {}", names.join(", "))
    })?;
    Ok((format, path.into()))
}

impl CheckArgs {
    /// How the user named the target: `-- COMMAND…` or the URL.
    pub(crate) fn target(&self) -> String {
        match &self.url {
            Some(url) => url.clone(),
            None if self.command.is_empty() => String::new(),
            None => {
                let words: Vec<_> = self.command.iter().map(|word| quoted(word)).collect();
                format!("-- {}", words.join(" "))
            }
        }
    }

    /// What the options mean, or the exit code after saying what is wrong with them.
    pub(crate) fn meaning(&self, targets: Vec<Address>, keep: Keep) -> Result<Options, Exit> {
        let selection = self.selection()?;
        Ok(Options {
            targets,
            target: self.target(),
            revisions: self.revisions()?,
            selection,
            calls: self.calls(),
            hints: self.hints()?,
            intrusive: self.intrusive,
            jobs: self.jobs.map_or(JOBS, usize::from),
            seed: self.seed,
            limits: self.limits(),
            secrets: self.secrets(),
            keep,
        })
    }

    /// What the command line hands in for the server that must not come out again.
    pub(crate) fn secrets(&self) -> Secrets {
        self.reach.secrets(self.named())
    }

    /// Whom the user named.
    fn named(&self) -> Target<'_> {
        Target { url: self.url.as_deref(), command: &self.command, transport: self.transport }
    }

    /// The address that the user named, if any.
    pub(crate) fn address(&self) -> Result<Option<Address>, Exit> {
        self.reach.address(self.named())
    }

    /// What is given holds for every answer; else a command may take longer to start than to answer.
    fn limits(&self) -> Limits {
        let request = self.reach.timeout.unwrap_or(ANSWER);
        Limits { request, connect: request, start: self.reach.timeout.unwrap_or(START), ..Limits::default() }
    }

    pub(crate) fn selection(&self) -> Result<Selection, Exit> {
        let level = self.level.map(|level| match level {
            LevelArg::Must => Level::Must,
            LevelArg::Should => Level::Should,
            LevelArg::May => Level::May,
        });
        let selection = Selection { only: self.only.clone(), skip: self.skip.clone(), level, safety: self.safety };
        if let Some(stranger) = selection.strangers().next() {
            return Err(super::unknown_rule(stranger));
        }
        Ok(selection)
    }

    pub(crate) fn revisions(&self) -> Result<Vec<Revision>, Exit> {
        if self.revision.iter().any(|r| r == "all") {
            return Ok(Vec::new());
        }
        let parse = |text: &String| {
            text.parse().map_err(|e: wire::revision::UnknownRevision| {
                usage(&e.to_string(), "name one of those, several with commas between, or `all`")
            })
        };
        self.revision.iter().map(parse).collect()
    }

    fn calls(&self) -> Calls {
        match self.call {
            CallArg::None => Calls::None,
            CallArg::All => Calls::All,
            CallArg::Safe => Calls::Safe(self.allow_tool.iter().cloned().collect::<BTreeSet<_>>()),
        }
    }

    fn hints(&self) -> Result<Hints, Exit> {
        let Some(path) = &self.hints else {
            // What makes the reference server do everything it can.
            let own = include_str!("reference-hints.json");
            let is_own = self.url.is_none() && self.command.is_empty();
            return if is_own { Hints::parse(own).map_err(|_| Exit::Bug) } else { Ok(Hints::default()) };
        };
        let text = read(path)?;
        Hints::parse(&text).map_err(|why| {
            usage(&format!("{} is no hints file: {why}", path.display()), "docs/check.md describes its members")
        })
    }
}

/// Reads a file that the command line names.
pub(crate) fn read(path: &std::path::Path) -> Result<String, Exit> {
    std::fs::read_to_string(path)
        .map_err(|e| usage(&format!("{} cannot be read: {e}", path.display()), "check the path and its permissions"))
}

/// A word as a shell wants it. What would not survive being printed or pasted (line feeds, control characters, text that
/// runs backwards) is written as bash, zsh and ksh read it: `$'…'`.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if wire::escape::line(word) == word {
        format!("'{}'", word.replace('\'', "'\\''"))
    } else {
        format!("$'{}'", word.chars().map(dollar_quoted).collect::<String>())
    }
}

/// A character between `$'` and `'`. Bytes in octal: three digits end by themselves, whatever follows, in any locale.
fn dollar_quoted(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\'' | '\\' => format!("\\{c}"),
        c if *wire::escape::character(c) == *c.encode_utf8(&mut [0; 4]) => c.to_string(),
        c => c.encode_utf8(&mut [0; 4]).bytes().fold(String::new(), |text, byte| format!("{text}\\{byte:03o}")),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("--a=b"), "--a=b");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's $HOME \\n"), "'it'\\''s $HOME \\n'");
        assert_eq!(quoted("a\nb\t'c'\\"), r"$'a\nb\t\'c\'\\'");
        assert_eq!(quoted("\u{1b}[1m7ö\u{202e}"), r"$'\033[1m7ö\342\200\256'");
    }

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        for word in ["a\nb", "\u{1b}7'\\n\r\t", "\u{1}1\u{202e}ö $x `y`", "plain", "it's"] {
            let script = format!("printf %s {}", quoted(word));
            let Ok(ran) = std::process::Command::new("bash").args(["-c", &script]).output() else { return };
            assert_eq!(String::from_utf8_lossy(&ran.stdout), word, "{script}");
        }
    }
}

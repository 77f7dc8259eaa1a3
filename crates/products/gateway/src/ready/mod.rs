//! `proof-gateway ready`: eleven questions before production, each answered by something that was looked at. Runs nothing but
//! lists, and one call of a tool that does not exist.

mod boxes;
mod facts;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};
use url::Url;

use self::boxes::{Answered, Verdict};
use crate::tell::Failure;

/// The width of a terminal, and of the column in front of the evidence.
const WIDTH: usize = 80;
const INDENT: usize = 11;

#[derive(Args, Debug)]
pub(crate) struct ReadyArgs {
    /// gateway.yaml of a gateway, or the http or https URL of a server
    #[arg(value_name = "TARGET", required_unless_present = "command", conflicts_with = "command")]
    target: Option<String>,
    /// Program to start and look at, in place of a target
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Address of /health, /ready and /metrics [default: as the file says, or the server's]
    #[arg(long, value_name = "URL")]
    admin: Option<Url>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is looked at.
enum Target {
    File(PathBuf),
    Url(Url),
    Command(Vec<String>),
}

impl ReadyArgs {
    fn target(&self) -> Result<Target, Failure> {
        let Some(target) = &self.target else { return Ok(Target::Command(self.command.clone())) };
        if !target.contains("://") {
            return Ok(Target::File(target.into()));
        }
        let url = Url::parse(target).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.filter(|url| url.username().is_empty() && url.password().is_none()).map(Target::Url);
        let what = || "the target is not an http or https URL without a user name and a password".to_owned();
        url.ok_or_else(|| Failure::usage(what(), "http://127.0.0.1:3000/mcp, or gateway.yaml"))
    }
}

/// Answers all questions; the exit code is 0 where all answers are yes.
pub(crate) async fn run(args: &ReadyArgs) -> Result<ExitCode, Failure> {
    let facts = facts::look(&args.target()?, args.admin.as_ref()).await?;
    let answers = boxes::answer(&facts);
    let all = answers.iter().all(|answer| answer.verdict == Verdict::Yes);
    say(&if args.json { format!("{:#}\n", as_json(&answers)) } else { as_text(&answers) });
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

#[expect(clippy::print_stdout, reason = "the result of the command")]
fn say(text: &str) {
    for line in text.lines() {
        println!("{}", wire::escape::line(line));
    }
}

fn count(answers: &[Answered], verdict: Verdict) -> usize {
    answers.iter().filter(|answer| answer.verdict == verdict).count()
}

fn as_json(answers: &[Answered]) -> Value {
    let answer = |answer: &Answered| json!({ "area": answer.area, "box": answer.name, "answer": answer.verdict.as_str(), "evidence": answer.evidence });
    let ready = count(answers, Verdict::Yes) == answers.len();
    json!({ "ready": ready, "boxes": answers.iter().map(answer).collect::<Vec<_>>() })
}

fn as_text(answers: &[Answered]) -> String {
    let (mut out, mut area) = (String::new(), "");
    for answer in answers {
        if answer.area != area {
            let gap = if area.is_empty() { "" } else { "\n" };
            let _ = writeln!(out, "{gap}{}", answer.area);
            area = answer.area;
        }
        let _ = writeln!(out, "  {:<INDENT$}{}", format!("[{}]", answer.verdict.as_str()), answer.name);
        for line in wrapped(&answer.evidence, WIDTH - INDENT - 2) {
            let _ = writeln!(out, "{:1$}{line}", "", INDENT + 2);
        }
    }
    let [yes, no, unknown] = [Verdict::Yes, Verdict::No, Verdict::Unknown].map(|verdict| count(answers, verdict));
    let _ = writeln!(out, "\n{yes} yes, {no} no, {unknown} unknown");
    out
}

/// The lines of a text, none longer than `width` characters.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let pieces = text.split_whitespace().flat_map(|word| {
        let letters: Vec<_> = word.chars().collect();
        letters.chunks(width).map(|part| part.iter().collect::<String>()).collect::<Vec<_>>()
    });
    for word in pieces {
        let Some(line) = lines.last_mut() else { break };
        let gap = usize::from(!line.is_empty());
        if line.chars().count() + gap + word.chars().count() > width {
            lines.push(word);
        } else {
            if gap == 1 {
                line.push(' ');
            }
            line.push_str(&word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{Answered, Verdict, as_json, as_text};

    #[test]
    fn answers_fit_a_terminal_and_every_verdict_is_told() {
        let answer =
            |area, verdict, evidence: &str| Answered { area, name: "x", verdict, evidence: evidence.to_owned() };
        let mut answers = vec![
            answer("Contract", Verdict::Yes, &"word ".repeat(40)),
            answer("Contract", Verdict::Unknown, &"x".repeat(200)),
            answer("Operations", Verdict::No, "nothing"),
        ];
        let text = as_text(&answers);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(
            text.ends_with("Operations\n  [no]       x\n             nothing\n\n1 yes, 1 no, 1 unknown\n"),
            "{text}"
        );
        assert_eq!(as_json(&answers)["ready"], false);
        answers.truncate(1);
        assert_eq!(as_json(&answers)["ready"], true);
    }
}

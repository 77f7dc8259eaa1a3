//! The line to type where a server's or client's command lacks the `--` before it. Must not print.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use clap::{Arg, Command, CommandFactory as _, Parser as _};
use report::CommandRedactor;
use wire::redact::Secrets;

use super::Cli;
use super::address::server;
use super::line::{command_words, quoted};

/// Advice about a command without `--`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Advice {
    /// The word that begins the command.
    pub(super) program: String,
    /// The line to type, quoted for a shell, without secrets.
    pub(super) line: String,
    /// Options of proof that would become the command's.
    pub(super) passed_on: Vec<String>,
}

impl Advice {
    /// The remedy of an error.
    pub(super) fn remedy(&self) -> String {
        match self.passed_on.as_slice() {
            [] => self.line.clone(),
            names => format!("{}\n  note: options after `--` go to the command: {}", self.line, names.join(", ")),
        }
    }
}

/// Advice about this program's command line; `None` where no word of it begins a command.
pub(super) fn of_this_run() -> Option<Advice> {
    advice(&words_of_this_run()?)
}

/// This program's command line with `other` in place of `word`, as a line to type; `None` where it would not be accepted.
pub(super) fn with_word(word: &str, other: &str) -> Option<String> {
    replaced(words_of_this_run()?, word, other)
}

/// The long names of the options that the verb of this program's command line has.
pub(super) fn options_of_this_run() -> Vec<String> {
    let mut root = Cli::command();
    root.build();
    options_of(&root, &words_of_this_run().unwrap_or_default())
}

fn options_of(root: &Command, words: &[String]) -> Vec<String> {
    let mut verb = root;
    for word in words.iter().skip(1).take_while(|word| *word != "--") {
        verb = verb.find_subcommand(word).unwrap_or(verb);
    }
    verb.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(Arg::get_long).map(str::to_owned).collect()
}

fn words_of_this_run() -> Option<Vec<String>> {
    std::env::args_os().map(|word| word.into_string().ok()).collect()
}

fn replaced(mut words: Vec<String>, word: &str, other: &str) -> Option<String> {
    let at = words.iter().rposition(|one| one == word)?;
    other.clone_into(&mut words[at]);
    Cli::try_parse_from(&words).ok()?;
    Some(format!("proof {}", typed(words.get(1..)?, &words)))
}

/// Words to type; placeholders stand for the secrets among all words of a line.
fn typed(words: &[String], all: &[String]) -> String {
    command_words(words, &CommandRedactor::of(&net::new_redactor().knowing(&secrets(all))))
}

fn advice(words: &[String]) -> Option<Advice> {
    let mut root = Cli::command();
    root.build();
    let (command, at) = beginning(&root, words)?;
    let (before, after) = words.split_at(at);
    let after = &[interpreter(after.first()?).as_slice(), after].concat();
    let with = [before, &["--".to_owned()], after].concat();
    // Only a line that is accepted is advice.
    Cli::try_parse_from(&with).ok()?;
    let is_ours = |word: &&String| word.strip_prefix("--").is_some_and(|name| option(command, name).is_some());
    let typed = typed(&[before.get(1..)?, &["--".to_owned()], after].concat(), words);
    let mut passed_on: Vec<String> = after.iter().filter(is_ours).map(|word| quoted(word)).collect();
    passed_on.dedup();
    Some(Advice { program: words.get(at)?.clone(), line: format!("proof {typed}"), passed_on })
}

/// The program that runs a script which cannot be started by itself.
fn interpreter(script: &str) -> Option<String> {
    let path = Path::new(script);
    let is_plain =
        std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 == 0);
    let program = match path.extension()?.to_str()? {
        "py" => "python3",
        "js" | "mjs" | "cjs" => "node",
        _ => return None,
    };
    is_plain.then(|| program.to_owned())
}

/// The verb of a command line, and the place of the word that begins a command.
fn beginning<'c>(root: &'c Command, words: &[String]) -> Option<(&'c Command, usize)> {
    let (mut verb, mut free, mut at) = (root, 0, 1);
    loop {
        let word = words.get(at)?;
        if word == "--" {
            return None;
        } else if let Some(name) = word.strip_prefix("--") {
            let takes_next = !word.contains('=') && option(verb, name).is_some_and(takes_value);
            at += usize::from(takes_next);
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            let last = letters.chars().last();
            let takes_next = letters.len() == 1 && short(verb, last).is_some_and(takes_value);
            at += usize::from(takes_next);
        } else if free == 0 && verb.find_subcommand(word).is_some() {
            verb = verb.find_subcommand(word)?;
        } else if free >= required(verb) && begins_command(word) {
            return verb.get_arguments().any(Arg::is_last_set).then_some((verb, at));
        } else {
            free += 1;
        }
        at += 1;
    }
}

/// Whether a word can only be a program: not empty, no URL, no host and port, no `NAME=VALUE`, no JSON, no data file.
fn begins_command(word: &str) -> bool {
    let is_data = [".json", ".jsonl", ".ndjson"].iter().any(|ending| word.ends_with(ending));
    let with_scheme = url::Url::parse(&format!("http://{word}"));
    let has_port = server(word).is_some()
        || with_scheme.is_ok_and(|url| url.port().is_some())
        || word.bytes().all(|byte| byte.is_ascii_digit());
    !word.is_empty()
        && !has_port
        && !word.contains("://")
        && !word.contains('=')
        && !word.starts_with(['{', '['])
        && !is_data
}

/// How many positional arguments a verb needs before a server may be named.
fn required(verb: &Command) -> usize {
    verb.get_positionals().filter(|arg| arg.is_required_set() && !arg.is_last_set()).count()
}

fn option<'c>(verb: &'c Command, name: &str) -> Option<&'c Arg> {
    let name = name.split_once('=').map_or(name, |(name, _)| name);
    let is_named = |arg: &&Arg| {
        arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
    };
    verb.get_arguments().find(is_named)
}

fn short(verb: &Command, letter: Option<char>) -> Option<&Arg> {
    verb.get_arguments().find(|arg| letter.is_some() && arg.get_short() == letter)
}

/// Whether the next word is the option's value.
fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values() && !arg.is_require_equals_set()
}

/// Secrets among the words, before it is known which word is whose.
fn secrets(words: &[String]) -> Secrets {
    let mut secrets = Secrets::default();
    secrets.arguments(words.iter().map(String::as_str));
    for pair in words.windows(2) {
        match pair[0].as_str() {
            "--header" => {
                if let Some((name, value)) = pair[1].split_once(':') {
                    secrets.header(name, value);
                }
            }
            "--env" => {
                if let Some((name, value)) = pair[1].split_once('=') {
                    secrets.handed_variable(name, value);
                }
            }
            _ => {}
        }
    }
    for word in words {
        secrets.address(&server(word).unwrap_or_else(|| word.clone()));
    }
    secrets
}

#[cfg(test)]
mod tests {
    use super::{Advice, advice, options_of, replaced};

    fn of(line: &str) -> Option<Advice> {
        advice(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn every_verb_with_a_command_gives_the_line_to_type() {
        for (typed, line) in [
            ("proof check npx -y foo", "proof check -- npx -y foo"),
            ("proof check npx", "proof check -- npx"),
            ("proof check --timeout 5 -v ./server --port 1", "proof check --timeout 5 -v -- ./server --port 1"),
            ("proof check-client ./client {url}", "proof check-client -- ./client '{url}'"),
            ("proof generate -o t.mcp.yaml npx foo", "proof generate -o t.mcp.yaml -- npx foo"),
            ("proof snapshot node server.js", "proof snapshot -- node server.js"),
            ("proof scan tools.json npx -y foo", "proof scan tools.json -- npx -y foo"),
            ("proof lock --check npx foo", "proof lock --check -- npx foo"),
            ("proof record -o a.jsonl node server.js", "proof record -o a.jsonl -- node server.js"),
            ("proof client tools npx -y foo", "proof client tools -- npx -y foo"),
            ("proof client call echo a=1 npx -y foo", "proof client call echo a=1 -- npx -y foo"),
            ("proof client read file:///x npx -y foo", "proof client read file:///x -- npx -y foo"),
        ] {
            assert_eq!(of(typed).map(|advice| advice.line).as_deref(), Some(line), "{typed}");
        }
    }

    #[test]
    fn a_line_that_is_not_accepted_is_no_advice() {
        for typed in [
            "proof check -- npx",
            "proof check --no-such-option npx",
            "proof check http://127.0.0.1:1/mcp",
            "proof check localhost:3000",
            "proof check :3000",
            "proof check 3000",
            "proof check 127.0.0.1:8791/mcp",
            "proof explain tools.x y",
            "proof serve --stdio x",
        ] {
            assert_eq!(of(typed), None, "{typed}");
        }
    }

    #[test]
    fn a_script_that_is_not_executable_gets_its_interpreter() {
        let folder = tempfile::tempdir().unwrap();
        for (name, program) in [("a.py", "python3 "), ("a.mjs", "node "), ("a.rb", "")] {
            let path = folder.path().join(name);
            std::fs::write(&path, "").unwrap();
            let path = path.to_string_lossy();
            let line = of(&format!("proof check {path}")).unwrap().line;
            assert_eq!(line, format!("proof check -- {program}{path}"));
        }
        assert_eq!(of("proof check no-such.py").unwrap().line, "proof check -- no-such.py");
    }

    #[test]
    fn options_that_would_change_hands_are_named() {
        let advice = of("proof check npx foo --timeout 5").unwrap();
        assert_eq!(advice.passed_on, ["--timeout"]);
        assert!(advice.remedy().contains("note: options after `--` go to the command: --timeout"));
        assert_eq!(of("proof check npx foo --port 5").unwrap().passed_on, [""; 0]);
    }

    #[test]
    fn a_verb_has_its_own_options() {
        let mut root = <super::Cli as clap::CommandFactory>::command();
        root.build();
        let of = |line: &str| options_of(&root, &line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert!(of("proof test --tga x").iter().any(|name| name == "tag"));
        assert!(of("proof client call echo --arsg {}").iter().any(|name| name == "args"));
        assert!(!of("proof badge x").iter().any(|name| name == "tag"));
    }

    #[test]
    fn a_corrected_word_leaves_the_rest_of_the_line() {
        let of = |line: &str| replaced(line.split(' ').map(str::to_owned).collect(), "3000", ":3000");
        assert_eq!(
            of("proof check 3000 --wait 2 --header X-Key:hunter2hunter2").as_deref(),
            Some("proof check :3000 --wait 2 --header X-Key:YOUR-SECRET-HERE")
        );
        assert_eq!(of("proof check 3000 --no-such-option"), None);
    }

    #[test]
    fn secrets_do_not_appear_in_advice() {
        for typed in [
            "proof check npx foo --api-key hunter2hunter2",
            "proof check --header Authorization:hunter2hunter2 npx foo",
            "proof check --env API_TOKEN=hunter2hunter2 npx foo",
        ] {
            let line = of(typed).unwrap().line;
            assert!(!line.contains("hunter2") && line.contains("-- npx foo"), "{line}");
            assert!(line.contains("YOUR-SECRET-HERE"), "{line}");
        }
    }
}

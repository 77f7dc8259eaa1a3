//! `proof help TOPIC`: short texts that messages refer to. Built in, so that they fit the version.

use std::fmt::Write as _;

use crate::args::suggestion;
use crate::exit::{Exit, usage};
use crate::verb::output;

/// Topics: their name, what they are about, and their text.
const TOPICS: [(&str, &str, &str); 10] = [
    ("arguments", "Arguments for proof generate", include_str!("../topics/arguments.txt")),
    ("baselines", "Accept known findings", include_str!("../topics/baselines.txt")),
    ("exit-codes", "What the exit codes mean", include_str!("../topics/exit-codes.txt")),
    ("hints", "Calls that show more of a server", include_str!("../topics/hints.txt")),
    ("oauth", "Tokens and how to get them", include_str!("../topics/oauth.txt")),
    ("revisions", "Revisions of the protocol", include_str!("../topics/revisions.txt")),
    ("scenarios", "How a client takes part in a check", include_str!("../topics/scenarios.txt")),
    ("targets", "How to name a server", include_str!("../topics/targets.txt")),
    ("test-files", "The format of test files", include_str!("../topics/test-files.txt")),
    ("traces", "Traces and recordings", include_str!("../topics/traces.txt")),
];

/// Whether `word` asks for a topic, or for the list of them.
pub(crate) fn is_topic(word: &str) -> bool {
    word == "topics" || TOPICS.iter().any(|(name, ..)| *name == word)
}

/// Prints a topic, or the list of them.
pub(crate) fn run(word: &str) -> Exit {
    let text = match TOPICS.iter().find(|(name, ..)| *name == word) {
        Some((.., text)) => (*text).to_owned(),
        None => listed(),
    };
    output::print(&text).err().unwrap_or(Exit::Clean)
}

fn listed() -> String {
    let mut out = "Topics of `proof help TOPIC`\n\n".to_owned();
    for (name, about, _) in TOPICS {
        let _ = writeln!(out, "  {name:<12}{about}");
    }
    out
}

/// Reports a word that is neither a verb nor a topic.
pub(crate) fn unknown(word: &str, verbs: &[&str]) -> Exit {
    let what = format!("neither a verb nor a topic: `{}`", wire::escape::snippet(word, 60));
    let names = verbs.iter().copied().chain(TOPICS.iter().map(|(name, ..)| *name));
    match suggestion(word, names.chain(["topics"])) {
        Some("topics") => usage(&what, "`proof help topics`"),
        Some(similar) => usage(&what, &format!("`proof help {similar}`; `proof help topics` lists the topics")),
        None => usage(&what, "`proof --help` lists the verbs, `proof help topics` the topics"),
    }
}

#[cfg(test)]
mod tests {
    use super::{TOPICS, is_topic};

    #[test]
    fn topics_fit_a_terminal_and_are_no_verbs() {
        let verbs = <crate::args::Cli as clap::CommandFactory>::command();
        for (name, about, text) in TOPICS {
            assert!(is_topic(name) && about.len() < 60);
            assert!(verbs.find_subcommand(name).is_none(), "{name} is a verb");
            assert!(text.lines().count() <= 40, "{name}");
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{name}: {line}");
            }
        }
    }

    #[test]
    fn a_mistyped_list_of_topics_is_suggested() {
        assert_eq!(crate::args::suggestion("topcs", ["test", "topics"].into_iter()), Some("topics"));
    }

    /// Every `proof` command line in a topic is accepted.
    #[test]
    fn examples_in_topics_are_valid() {
        let mut seen = 0;
        for (name, _, text) in TOPICS {
            for line in
                text.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| line.starts_with("proof "))
            {
                let line = line.split("  ").next().unwrap_or_default().replace('\'', "");
                let words: Vec<&str> = line.split_whitespace().collect();
                let parsed = <crate::args::Cli as clap::Parser>::try_parse_from(words);
                assert!(parsed.is_ok(), "{name}: {line}: {:?}", parsed.err().map(|error| error.to_string()));
                seen += 1;
            }
        }
        assert!(seen > 12, "{seen}");
    }
}

//! Facts about the machine that generates: a test file must hold on other machines, so no expectation quotes them. Must not
//! read them from the machine.

use net::client::Address;

/// The shortest name, and the shortest path, that counts as a fact: shorter ones occur by chance.
const MIN_NAME: usize = 3;
const MIN_PATH: usize = 5;
/// Names that say nothing about a machine.
const USUAL: [&str; 8] = ["root", "user", "admin", "node", "home", "localhost", "nobody", "runner"];
/// The environment of the second round: what a server answers from it is no property of the server.
const OTHER: [(&str, &str); 8] = [
    ("USER", "proof-other-user"),
    ("LOGNAME", "proof-other-user"),
    ("USERNAME", "proof-other-user"),
    ("LANG", "C"),
    ("SHELL", "/bin/sh"),
    ("TERM", "dumb"),
    ("TZ", "Pacific/Chatham"),
    ("PROOF_SECOND_ROUND", "1"),
];

/// What identifies the machine, its user or a place on it.
#[derive(Clone, Debug, Default)]
pub struct MachineFacts {
    /// Found anywhere in a text.
    paths: Vec<String>,
    /// Found as whole words.
    names: Vec<String>,
}

impl MachineFacts {
    /// From paths, and from names of users and hosts. What stands in `command`, the test file holds in any case.
    pub fn new(
        paths: impl IntoIterator<Item = String>,
        names: impl IntoIterator<Item = String>,
        command: &[String],
    ) -> Self {
        let is_given = |fact: &String| command.iter().any(|word| word.contains(fact.as_str()));
        let is_path = |path: &String| path.len() >= MIN_PATH && path.contains('/') && !is_given(path);
        let is_name = |name: &String| name.len() >= MIN_NAME && !USUAL.contains(&name.as_str()) && !is_given(name);
        let mut paths: Vec<String> = paths.into_iter().filter(is_path).collect();
        // A longer path is taken before the one that it begins with.
        paths.sort_by_key(|path| std::cmp::Reverse(path.len()));
        paths.dedup();
        Self { paths, names: names.into_iter().filter(is_name).collect() }
    }

    /// Whether a text quotes a fact.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.first(text).is_some()
    }

    /// A regular expression that matches the text on other machines; `None` where hardly anything is left of it.
    pub(super) fn pattern(&self, text: &str) -> Option<String> {
        let (mut rest, mut regex, mut kept) = (text, "^".to_owned(), 0);
        while let Some((at, length)) = self.first(rest) {
            kept += rest[..at].chars().filter(|c| c.is_alphanumeric()).count();
            regex += &escaped(&rest[..at]);
            regex += ".+";
            rest = &rest[at + length..];
        }
        kept += rest.chars().filter(|c| c.is_alphanumeric()).count();
        (kept > 0).then(|| regex + &escaped(rest) + "$")
    }

    /// Where the first fact stands, and its length; of several at one place the longest.
    fn first(&self, text: &str) -> Option<(usize, usize)> {
        let paths = self.paths.iter().filter_map(|path| Some((text.find(path.as_str())?, path.len())));
        let names = self.names.iter().filter_map(|name| Some((find_word(text, name)?, name.len())));
        paths.chain(names).min_by_key(|&(at, length)| (at, std::cmp::Reverse(length)))
    }
}

fn find_word(text: &str, word: &str) -> Option<usize> {
    let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let is_whole = |at: &usize| ends(text[..*at].chars().next_back()) && ends(text[at + word.len()..].chars().next());
    text.match_indices(word).map(|(at, _)| at).find(is_whole)
}

fn escaped(text: &str) -> String {
    // Outside of brackets a dash needs no escape.
    regex::escape(text).replace("\\-", "-")
}

/// The address with another environment for its command; variables that the user gave stay.
pub(super) fn elsewhere(address: &Address) -> Address {
    let Address::Stdio(command) = address else { return address.clone() };
    let mut command = command.clone();
    for (name, value) in OTHER {
        if !command.env.iter().any(|(given, _)| given == name) {
            command.env.push((name.to_owned(), value.to_owned()));
        }
    }
    Address::Stdio(command)
}

#[cfg(test)]
mod tests {
    use net::client::{Address, Command};

    use super::{MachineFacts, elsewhere};

    fn facts(command: &[&str]) -> MachineFacts {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        MachineFacts::new(
            texts(&["/srv/ada", "/srv/ada/shop", "/", "C"]),
            texts(&["ada", "vm17", "root"]),
            &texts(command),
        )
    }

    #[test]
    fn facts_become_wildcards() {
        let facts = facts(&["server"]);
        for (text, pattern) in [
            ("read /srv/ada/shop/a.txt", Some("^read .+/a\\.txt$")),
            ("ada@vm17: ok", Some("^.+@.+: ok$")),
            ("/srv/ada", None),
        ] {
            assert!(facts.is_in(text), "{text}");
            assert_eq!(facts.pattern(text).as_deref(), pattern, "{text}");
        }
        for text in ["root / C", "adapter", "vm170"] {
            assert!(!facts.is_in(text), "{text}");
        }
    }

    #[test]
    fn what_the_command_names_is_in_the_file_in_any_case() {
        let facts = facts(&["server", "/srv/ada/shop"]);
        assert!(!facts.is_in("/srv/ada/shop/a.txt"));
        assert!(facts.is_in("on vm17"));
    }

    #[test]
    fn given_variables_stay_in_the_other_environment() {
        let env = vec![("TZ".to_owned(), "UTC".to_owned())];
        let Address::Stdio(command) = elsewhere(&Address::Stdio(Command { env, ..Command::default() })) else {
            panic!("a command stays one")
        };
        assert_eq!(command.env.iter().filter(|(name, _)| name == "TZ").count(), 1);
        assert!(command.env.iter().any(|(name, _)| name == "USER"));
    }
}

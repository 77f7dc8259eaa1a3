//! The words behind a task's name: read one option after the other, refused where nobody knows them. Which options there
//! are, and what they mean, is the task's.

use std::fmt::Display;
use std::slice::Iter;
use std::str::FromStr;

use anyhow::Context as _;

/// Words that are read.
pub(crate) struct Words<'a> {
    rest: Iter<'a, String>,
    usage: &'static str,
    option: &'a str,
}

impl<'a> Words<'a> {
    /// These words, of a task that is used so.
    pub(crate) fn of(words: &'a [String], usage: &'static str) -> Self {
        Self { rest: words.iter(), usage, option: "" }
    }

    /// The next option.
    pub(crate) fn option(&mut self) -> Option<&'a str> {
        self.option = self.rest.next()?;
        Some(self.option)
    }

    /// What the option is given.
    pub(crate) fn value(&mut self) -> anyhow::Result<&'a str> {
        let value = self.rest.next().with_context(|| format!("{} wants a value\n\n{}", self.option, self.usage))?;
        Ok(value)
    }

    /// The number that the option is given.
    pub(crate) fn number<N: FromStr<Err: Display>>(&mut self) -> anyhow::Result<N> {
        let parsed = self.value()?.parse();
        parsed.map_err(|why: N::Err| anyhow::anyhow!("{} wants a number: {why}\n\n{}", self.option, self.usage))
    }

    /// Why the task does not begin: nobody knows the option.
    pub(crate) fn unknown(&self) -> anyhow::Error {
        anyhow::anyhow!("unknown argument {:?}\n\n{}", self.option, self.usage)
    }
}

/// Whether somebody only asks how a task is used; they are told.
pub(crate) fn help(words: &[String], usage: &str) -> bool {
    let asked = words.iter().any(|word| word == "--help" || word == "-h");
    if asked {
        println!("{usage}");
    }
    asked
}

#[cfg(test)]
mod tests {
    use super::Words;

    #[test]
    fn options_come_with_what_they_are_given() {
        let words = ["--only", "a", "--seed", "7", "--seed", "x", "--only"].map(str::to_owned);
        let mut words = Words::of(&words, "usage");
        assert_eq!((words.option(), words.value().expect("a value")), (Some("--only"), "a"));
        assert_eq!((words.option(), words.number::<u8>().expect("a number")), (Some("--seed"), 7));
        assert_eq!(words.option(), Some("--seed"));
        assert!(words.number::<u8>().expect_err("no number").to_string().starts_with("--seed wants a number: "));
        assert_eq!(words.option(), Some("--only"));
        assert_eq!(words.value().expect_err("no value").to_string(), "--only wants a value\n\nusage");
        assert_eq!(words.unknown().to_string(), "unknown argument \"--only\"\n\nusage");
        assert_eq!(words.option(), None);
    }
}

//! The arguments after a task's name: reads one option after the other and refuses unknown ones. Which options there
//! are, and what they mean, is the task's.

use std::fmt::Display;
use std::slice::Iter;
use std::str::FromStr;

use anyhow::Context as _;

/// Arguments still to be read.
pub(crate) struct Words<'a> {
    rest: Iter<'a, String>,
    usage: &'static str,
    option: &'a str,
}

impl<'a> Words<'a> {
    /// The arguments of a task with this usage.
    pub(crate) fn of(words: &'a [String], usage: &'static str) -> Self {
        Self { rest: words.iter(), usage, option: "" }
    }

    /// The next option.
    pub(crate) fn option(&mut self) -> Option<&'a str> {
        self.option = self.rest.next()?;
        Some(self.option)
    }

    /// The value of the option.
    pub(crate) fn value(&mut self) -> anyhow::Result<&'a str> {
        let value = self.rest.next().with_context(|| format!("{} needs a value\n\n{}", self.option, self.usage))?;
        Ok(value)
    }

    /// The value of the option, a number.
    pub(crate) fn number<N: FromStr<Err: Display>>(&mut self) -> anyhow::Result<N> {
        let parsed = self.value()?.parse();
        parsed.map_err(|why: N::Err| anyhow::anyhow!("{} needs a number: {why}\n\n{}", self.option, self.usage))
    }

    /// The error for an unknown option.
    pub(crate) fn unknown(&self) -> anyhow::Error {
        anyhow::anyhow!("unknown argument {:?}\n\n{}", self.option, self.usage)
    }
}

/// Prints the usage if it is asked for; returns whether it was.
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
    fn options_come_with_their_values() {
        let words = ["--only", "a", "--seed", "7", "--seed", "x", "--only"].map(str::to_owned);
        let mut words = Words::of(&words, "usage");
        assert_eq!((words.option(), words.value().expect("a value")), (Some("--only"), "a"));
        assert_eq!((words.option(), words.number::<u8>().expect("a number")), (Some("--seed"), 7));
        assert_eq!(words.option(), Some("--seed"));
        assert!(words.number::<u8>().expect_err("no number").to_string().starts_with("--seed needs a number: "));
        assert_eq!(words.option(), Some("--only"));
        assert_eq!(words.value().expect_err("no value").to_string(), "--only needs a value\n\nusage");
        assert_eq!(words.unknown().to_string(), "unknown argument \"--only\"\n\nusage");
        assert_eq!(words.option(), None);
    }
}

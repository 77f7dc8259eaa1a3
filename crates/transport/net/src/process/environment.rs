//! Which variables of our own environment a child gets. Must not know who asks for more.

use std::ffi::{OsStr, OsString};

use wire::redact::Secrets;

/// The variables that every child gets: what MCP's own SDKs pass on, and what programs need to find their language, their
/// clock, a place for temporary files and a proxy.
pub const MINIMAL: [&str; 21] = [
    "ALL_PROXY",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "NO_PROXY",
    "PATH",
    "SHELL",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "USERNAME",
];

/// The variables of a language, by the beginning of their names.
const LOCALE: &str = "LC_";

/// The part of our own environment that children get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Environment {
    /// [`MINIMAL`] and the locale.
    #[default]
    Minimal,
    /// The same, and these.
    With(Vec<String>),
    /// Everything.
    All,
}

impl Environment {
    /// The minimum and the variables with these names; `all` names every variable.
    pub fn of(names: &[String]) -> Self {
        Self::Minimal.and(names)
    }

    /// The same and the variables with these names; `all` names every variable.
    #[must_use]
    pub fn and(&self, names: &[String]) -> Self {
        match self {
            Self::All => Self::All,
            _ if names.iter().any(|name| name == "all") => Self::All,
            Self::With(before) => Self::With([before, names].concat()),
            Self::Minimal if names.is_empty() => Self::Minimal,
            Self::Minimal => Self::With(names.to_vec()),
        }
    }

    /// Takes in what is secret in the variables that children get. More is in those that were named on purpose.
    pub fn add_secrets(&self, secrets: &mut Secrets) {
        for (name, value) in self.variables() {
            let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
            if matches!(self, Self::With(names) if names.iter().any(|named| *named == name)) {
                secrets.handed_variable(&name, &value);
            } else {
                secrets.variable(&name, &value);
            }
        }
    }

    /// Whether children get the variable with this name.
    pub fn has(&self, name: &OsStr) -> bool {
        let Some(name) = name.to_str() else { return *self == Self::All };
        let minimal = MINIMAL.contains(&name) || name.starts_with(LOCALE);
        match self {
            Self::Minimal => minimal,
            Self::With(names) => minimal || names.iter().any(|other| other == name),
            Self::All => true,
        }
    }

    /// The variables that children get, of those that are set.
    pub fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        // An exported function of a shell would run as code in the child.
        let is_function = |value: &OsString| value.to_string_lossy().starts_with("()");
        std::env::vars_os().filter(move |(name, value)| self.has(name) && (*self == Self::All || !is_function(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::Environment;

    #[test]
    fn only_what_is_named_is_passed_on() {
        let has = |environment: &Environment, name: &str| environment.has(name.as_ref());
        let minimal = Environment::Minimal;
        for name in ["PATH", "HOME", "LC_ALL", "TMPDIR", "https_proxy"] {
            assert!(has(&minimal, name), "{name}");
        }
        for name in ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "VENDOR", "PATHS", "LD_PRELOAD", "path"] {
            assert!(!has(&minimal, name) && has(&Environment::All, name), "{name}");
        }
        let with = Environment::of(&["VENDOR".to_owned()]);
        assert!(has(&with, "VENDOR") && has(&with, "PATH") && !has(&with, "GITHUB_TOKEN"));
        let more = with.and(&["GITHUB_TOKEN".to_owned()]);
        assert!(has(&more, "VENDOR") && has(&more, "GITHUB_TOKEN") && !has(&more, "LD_PRELOAD"));
        assert_eq!(more.and(&["X".to_owned(), "all".to_owned()]), Environment::All);
        assert_eq!((Environment::of(&[]), Environment::All.and(&[])), (Environment::Minimal, Environment::All));
    }
}

//! Which variables of our own environment a child gets. Must not know who asks for more.

use std::ffi::{OsStr, OsString};

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
        let with = Environment::With(vec!["VENDOR".to_owned()]);
        assert!(has(&with, "VENDOR") && has(&with, "PATH") && !has(&with, "GITHUB_TOKEN"));
    }
}

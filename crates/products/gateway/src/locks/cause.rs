//! Why an item is withheld, and the error that says so. No text of a server is in it: the error may reach a model.

use net::service::RpcError;
use serde_json::json;

use super::kind;
use crate::catalogue::List;
use crate::failure;

/// Why an item is withheld.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// It changed since it was locked: the classes of what changed.
    Changed(Vec<&'static str>),
    /// The lock does not know it.
    Unapproved,
    /// Two items have this name.
    Repeated,
    /// The signed manifest does not state it.
    Unsigned,
    /// The server no longer lists it.
    Gone,
    /// The list cannot be read without doubt.
    Unreadable(String),
    /// The lock does not know the server.
    Unlocked,
    /// The manifest of the server is not verified.
    Manifest(String),
}

impl Cause {
    /// The word of `_meta` and of `status`.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Changed(_) | Self::Gone => "changed",
            Self::Unapproved => "not approved",
            Self::Repeated => "repeated name",
            Self::Unsigned => "not signed",
            Self::Unreadable(_) => "unreadable list",
            Self::Unlocked => "not locked",
            Self::Manifest(_) => "manifest refused",
        }
    }

    /// Whether it is about the whole server.
    pub(crate) const fn is_of_server(&self) -> bool {
        matches!(self, Self::Unlocked | Self::Manifest(_))
    }

    /// The error of a request for the item: of what list, at which upstream, its name for clients and there.
    pub(crate) fn error(&self, list: List, upstream: &str, (shown, there): (&str, &str)) -> RpcError {
        let (word, line) = (kind(list).word(), |text: &str| wire::escape::line(text).into_owned());
        let item = format!("{word} {}", line(there));
        let what = format!("The {word} `{}` of `{upstream}` is withheld", line(shown));
        let approve = format!("review it, then approve it with `proof lock --approve '{item}'`");
        let changed = match self {
            Self::Changed(classes) => json!(classes),
            _ => json!([]),
        };
        let data = json!({ "upstream": upstream, "item": item, "reason": self.word(), "changed": changed });
        let what = match self {
            Self::Changed(classes) => {
                format!("{what}: it changed since it was locked ({}); {approve}", classes.join(", "))
            }
            Self::Unapproved => format!("{what}: it is not in the lock; {approve}"),
            Self::Repeated => format!("{what}: two items of the server have this name"),
            Self::Unsigned => format!("{what}: it is locked, but the signed manifest does not state it as it is"),
            Self::Gone => format!("{what}: the server no longer lists it"),
            Self::Unreadable(why) => format!("{what}: the list of the server is ambiguous ({})", line(why)),
            Self::Unlocked => format!("{what}: the lock has no server for `{upstream}`; lock it with `proof lock`"),
            Self::Manifest(why) => {
                return failure::MANIFEST_REFUSED.error_with(format!("{what}: {}", line(why)), data);
            }
        };
        failure::LOCK_CHANGED.error_with(what, data)
    }
}

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
    Unreadable,
    /// The server may read its URI as that of something that is withheld.
    Spelling,
    /// The lock does not know the server.
    Unlocked,
    /// The manifest of the server is not verified: why, without a text of it.
    Manifest(&'static str),
}

impl Cause {
    /// The word of `_meta` and of `status`.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Changed(_) | Self::Gone => "changed",
            Self::Unapproved => "not approved",
            Self::Repeated => "repeated name",
            Self::Unsigned => "not signed",
            Self::Unreadable => "unreadable list",
            Self::Spelling => "ambiguous URI",
            Self::Unlocked => "not locked",
            Self::Manifest(_) => "manifest refused",
        }
    }

    /// Whether it is about the whole server.
    pub(crate) const fn is_of_server(&self) -> bool {
        matches!(self, Self::Unlocked | Self::Manifest(_))
    }

    /// What to do, where that is not what the row of the error says.
    const fn action(&self) -> Option<&'static str> {
        match self {
            Self::Changed(_) | Self::Unapproved | Self::Unsigned | Self::Manifest(_) => None,
            Self::Repeated => {
                Some("Go on without it. The server has to give each item a name: no lock can approve two")
            }
            Self::Unreadable => Some("Go on without it. The server has to correct its list: no lock can approve it"),
            Self::Gone => Some("Go on without it, or list again: the server may offer it by another name"),
            Self::Spelling => Some("Ask for the resource by a URI as `resources/list` has it"),
            Self::Unlocked => Some("Go on without this server, and ask those who run the gateway to lock it"),
        }
    }

    /// The error of a request for the item: of what list, at which upstream, its name for clients and there. The latter only
    /// where the lock has it, or the client sent it.
    pub(crate) fn error(&self, list: List, upstream: &str, (shown, there): (&str, Option<&str>)) -> RpcError {
        let (word, line) = (kind(list).word(), |text: &str| wire::escape::line(text).into_owned());
        let item = there.map(|there| format!("{word} {}", line(there)));
        let what = format!("The {word} `{}` of `{upstream}` is withheld", line(shown));
        let approve = match &item {
            Some(item) => {
                format!("review it, then approve it with `proof lock --approve '{}'`", item.replace('\'', "'\\''"))
            }
            None => "review it with `proof lock --check`".to_owned(),
        };
        let changed = match self {
            Self::Changed(classes) => json!(classes),
            _ => json!([]),
        };
        let mut data = json!({ "upstream": upstream, "reason": self.word(), "changed": changed });
        if let Some(item) = &item {
            data["item"] = json!(item);
        }
        if let Some(action) = self.action() {
            data["suggested_actions"] = json!([action]);
        }
        let what = match self {
            Self::Changed(classes) => {
                format!("{what}: it changed since it was locked ({}); {approve}", classes.join(", "))
            }
            Self::Unapproved => format!("{what}: it is not in the lock; {approve}"),
            Self::Repeated => format!("{what}: two items of the server have this name"),
            Self::Unsigned => format!("{what}: it is locked, but the signed manifest does not state it as it is"),
            Self::Gone => format!("{what}: the server no longer lists it"),
            Self::Unreadable => format!("{what}: the list of the server can be read in two ways, or is too large"),
            Self::Spelling => format!("{what}: the server may read this URI as that of a resource that is withheld"),
            Self::Unlocked => format!("{what}: the lock has no server for `{upstream}`; lock it with `proof lock`"),
            Self::Manifest(why) => {
                let what = format!("{what}: the manifest of the server is refused: {why}");
                return failure::MANIFEST_REFUSED.error_with(what, data);
            }
        };
        failure::LOCK_CHANGED.error_with(what, data)
    }
}

//! Reads the part of a file that decides who may use what, and no secret: for tests of access rules.

use document::{Content, Entry, FileError, FileErrors, Node};

use super::sources::Sources;
use super::{MAX_BYTES, MEMBERS, Reader, authzen, without_value};
use crate::access::{PolicyPoint, PolicySettings, check};

/// Reads `auth.scopes`, `access`, what `authzen` asks and the names of `servers` from the text of `file`, a path for messages. Reports mistakes in
/// these alone; the values that the file refers to are not looked for.
pub fn read_policy(text: &str, file: &str) -> Result<PolicySettings, FileErrors> {
    let refuse = |error| FileErrors::new(file, vec![error]);
    if text.len() > MAX_BYTES {
        let what = "the file is larger than 1 MiB";
        return Err(refuse(FileError::new(None, what, "check the path: it must be a gateway's file")));
    }
    let (tree, errors) = document::read(text).map_err(|error| refuse(without_value(error)))?;
    let absent = std::env::VarError::NotPresent;
    let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
    let sources = Sources { variable: &|_| Err(absent.clone()), file: &|_| Err(missing()) };
    let mut reader = Reader::new(sources, std::path::Path::new(""), errors);
    let policy = reader.policy(&tree);
    if reader.errors.is_empty()
        && let Some(policy) = policy
    {
        let rules = policy.access.as_deref().unwrap_or_default();
        return match check(rules) {
            Ok(()) => Ok(policy),
            Err(error) => {
                let (line, column) = error.at;
                let at = document::Position { line, column };
                Err(refuse(FileError::new(at, error.to_string(), "an expression in CEL: claims.team == \"data\"")))
            }
        };
    }
    Err(FileErrors::new(file, reader.errors))
}

impl Reader<'_> {
    fn policy(&mut self, tree: &Node) -> Option<PolicySettings> {
        let members = self.members("the file", tree.at, tree, MEMBERS)?;
        let auth = members.get("auth");
        let token_scopes = auth.map(|auth| {
            let Content::Map(entries) = &auth.node.content else { return Vec::new() };
            let scopes = entries.iter().find(|entry| entry.key == "scopes");
            scopes.map(|entry| self.scopes(entry)).unwrap_or_default()
        });
        let mut lines = Vec::new();
        let access = members.get("access").map(|entry| {
            if let Content::List(rules) = &entry.node.content {
                lines.extend(rules.iter().map(|rule| rule.at.line));
            }
            self.access(entry, auth.is_some())
        });
        let servers = members.get("servers").map(|entry| match &entry.node.content {
            Content::Map(servers) => servers.iter().map(|server| server.key.clone()).collect(),
            _ => Vec::new(),
        });
        let authzen = members.get("authzen").and_then(|entry| self.policy_point(entry, auth.is_some()));
        Some(PolicySettings { access, lines, token_scopes, servers: servers.unwrap_or_default(), authzen })
    }

    /// The decision point without its secrets.
    fn policy_point(&mut self, entry: &Entry, has_auth: bool) -> Option<PolicyPoint> {
        let members = self.members("`authzen`", entry.at, &entry.node, authzen::MEMBERS)?;
        let url = members.get("url").and_then(|entry| self.url(entry));
        let mapping = self.authzen_mapping(&members, has_auth);
        Some(PolicyPoint { url: url?.to_string(), mapping })
    }
}

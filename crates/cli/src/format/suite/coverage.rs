//! Which parts of a server no case used. Files of one server count together.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};
use suite::test::{FileResult, Part};
use wire::escape;

use report::render::text::wrap;

/// The kinds of parts.
const KINDS: [&str; 6] = ["tools", "arguments", "resources", "templates", "prompts", "prompt arguments"];

/// A server's surface.
#[derive(Default)]
struct Server<'p> {
    /// In the server's order, with whether a case of any file used it.
    parts: Vec<(&'p Part, bool)>,
    unlisted: Vec<&'p str>,
}

impl Server<'_> {
    fn count(&self, kind: &str) -> (usize, usize) {
        let of_kind = || self.parts.iter().filter(|(part, _)| part.kind() == kind);
        (of_kind().filter(|(_, touched)| *touched).count(), of_kind().count())
    }

    fn untouched(&self, kind: &str) -> Vec<String> {
        let untouched = self.parts.iter().filter(|(part, touched)| !touched && part.kind() == kind);
        untouched.map(|(part, _)| part.name()).collect()
    }
}

/// Servers by name and version.
fn servers(played: &[FileResult]) -> BTreeMap<&str, Server<'_>> {
    let mut servers: BTreeMap<&str, Server<'_>> = BTreeMap::new();
    for coverage in played.iter().filter_map(|file| file.coverage.as_ref()) {
        let server = servers.entry(&coverage.server).or_default();
        for (part, touched) in &coverage.parts {
            if let Some(known) = server.parts.iter_mut().find(|(known, _)| *known == part) {
                known.1 |= touched;
            } else {
                server.parts.push((part, *touched));
            }
        }
        server.unlisted.extend(coverage.unlisted.iter().map(String::as_str));
    }
    servers
}

/// As text; empty without `--coverage`.
pub(super) fn lines(played: &[FileResult]) -> String {
    let mut out = String::new();
    for (name, server) in servers(played) {
        let _ = writeln!(out, "coverage of {}", escape::line(name));
        for kind in KINDS {
            let (touched, all) = server.count(kind);
            if all == 0 {
                continue;
            }
            let _ = writeln!(out, "  {kind:<16}  {touched:>4} of {all:>4}  {:>3} %", touched * 100 / all);
            let untouched = server.untouched(kind).join(", ");
            if !untouched.is_empty() {
                wrap(&mut out, 4, &format!("unused: {}", escape::line(&untouched)));
            }
        }
        if server.parts.is_empty() && server.unlisted.is_empty() {
            out.push_str("  the server declares nothing\n");
        }
        for why in &server.unlisted {
            wrap(&mut out, 2, &format!("unknown: {}", escape::line(why)));
        }
    }
    out
}

/// As a member of the JSON report.
pub(super) fn value(played: &[FileResult]) -> Value {
    let server = |(name, server): (&str, Server<'_>)| {
        let kinds = KINDS.into_iter().map(|kind| {
            let (touched, all) = server.count(kind);
            let kind_of = kind.replace(' ', "_");
            (kind_of, json!({ "touched": touched, "all": all, "untouched": server.untouched(kind) }))
        });
        let mut value = json!({ "server": name, "unlisted": server.unlisted });
        if let Value::Object(members) = &mut value {
            members.extend(kinds);
        }
        value
    };
    servers(played).into_iter().map(server).collect()
}

//! What of a server's surface no case touched. Files of one server are not told apart: what one touches, the others need not.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};
use suite::test::{Part, Played};
use wire::escape;

use report::render::text::wrap;

/// The kinds, as they are told.
const KINDS: [&str; 6] = ["tools", "arguments", "resources", "templates", "prompts", "prompt arguments"];

/// A server's surface.
#[derive(Default)]
struct Server<'p> {
    /// In the server's order, and whether a case of any file touched it.
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

/// By the server's name and version, as its files reach it.
fn servers(played: &[Played]) -> BTreeMap<&str, Server<'_>> {
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

/// For people; nothing where it was not asked for.
pub(super) fn lines(played: &[Played]) -> String {
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
                wrap(&mut out, 4, &format!("untouched: {}", escape::line(&untouched)));
            }
        }
        if server.parts.is_empty() && server.unlisted.is_empty() {
            out.push_str("  it declares nothing\n");
        }
        for why in &server.unlisted {
            wrap(&mut out, 2, &format!("not known: {}", escape::line(why)));
        }
    }
    out
}

/// As a member of the JSON report.
pub(super) fn value(played: &[Played]) -> Value {
    let server = |(name, server): (&str, Server<'_>)| {
        let kinds = KINDS.into_iter().map(|kind| {
            let (touched, all) = server.count(kind);
            let kind_of = kind.replace(' ', "_");
            (kind_of, json!({ "touched": touched, "all": all, "untouched": server.untouched(kind) }))
        });
        let mut told = json!({ "server": name, "unlisted": server.unlisted });
        if let Value::Object(told) = &mut told {
            told.extend(kinds);
        }
        told
    };
    servers(played).into_iter().map(server).collect()
}

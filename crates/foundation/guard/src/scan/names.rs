//! Names of several servers, compared: look-alikes, copies, and descriptions that speak of another server's tools.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::confusable::{latin, styled};
use super::hidden::is_hidden;
use super::rule::Severity;
use super::text::runs;

/// What is kept of a tool until all are known.
pub(super) struct Seen {
    pub(super) server: usize,
    pub(super) name: String,
    pub(super) description: String,
}

/// A tool, what it is like, and how bad that is.
pub(super) struct Alike {
    pub(super) tool: usize,
    pub(super) severity: Severity,
    pub(super) message: String,
}

/// How many tools may share a name: pairs of more are not compared.
const CROWD: usize = 64;
/// The shortest name of which a near miss counts.
const LONG: usize = 8;

/// Tools whose names are the same or look the same, the later one of each pair.
pub(super) fn alike(tools: &[Seen], servers: &[String]) -> Vec<Alike> {
    let mut by_look: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, tool) in tools.iter().enumerate() {
        by_look.entry(look(&tool.name)).or_default().push(at);
    }
    let kin = Kin::of(tools);
    let mut found = Vec::new();
    for group in by_look.values() {
        for (place, &later) in group.iter().enumerate().skip(1).take(CROWD) {
            if let Some(one) = group[..place]
                .iter()
                .take(CROWD)
                .filter_map(|&earlier| same(tools, earlier, later, servers, &kin))
                .max_by_key(|one| one.severity)
            {
                found.push(one);
            }
        }
    }
    found.extend(near(tools, &by_look, servers, &kin));
    found
}

/// Servers of one origin. Two that list the same tools, or several tools of the same names with the same descriptions, are
/// builds or versions of one server: none of them poses as the other.
struct Kin<'t> {
    tools: HashMap<usize, BTreeSet<(&'t str, &'t str)>>,
}

impl<'t> Kin<'t> {
    fn of(tools: &'t [Seen]) -> Self {
        let mut by_server: HashMap<usize, BTreeSet<_>> = HashMap::new();
        for tool in tools {
            by_server.entry(tool.server).or_default().insert((tool.name.as_str(), tool.description.as_str()));
        }
        Self { tools: by_server }
    }

    fn are(&self, one: usize, other: usize) -> bool {
        let (Some(one), Some(other)) = (self.tools.get(&one), self.tools.get(&other)) else { return false };
        one == other || one.intersection(other).take(2).count() == 2
    }
}

fn same(tools: &[Seen], earlier: usize, later: usize, servers: &[String], kin: &Kin<'_>) -> Option<Alike> {
    let (a, b) = (&tools[earlier], &tools[later]);
    let of = format!("`{}` of {}", wire::escape::line(&a.name), wire::escape::line(&servers[a.server]));
    let alike = |severity, message| Some(Alike { tool: later, severity, message });
    if bare(&a.name) != bare(&b.name) {
        return alike(Severity::High, format!("its letters are replaced by look-alikes of {of}"));
    }
    if a.server == b.server {
        return None;
    }
    if is_copy(&a.description, &b.description) && !kin.are(a.server, b.server) {
        return alike(Severity::Medium, format!("its name and its description are those of {of}"));
    }
    let word = if a.name == b.name { "the same as" } else { "spelled like" };
    alike(Severity::Info, format!("its name is {word} {of}"))
}

/// Names one letter apart, of two servers, whose descriptions are copies.
fn near(tools: &[Seen], by_look: &BTreeMap<String, Vec<usize>>, servers: &[String], kin: &Kin<'_>) -> Vec<Alike> {
    // Two names one letter apart share a form with one letter less.
    let mut shorter: HashMap<String, Vec<&String>> = HashMap::new();
    for name in by_look.keys().filter(|name| (LONG..=64).contains(&name.len()) && name.is_ascii()) {
        for at in 0..name.len() {
            shorter.entry(format!("{}{}", &name[..at], &name[at + 1..])).or_default().push(name);
        }
        shorter.entry(name.clone()).or_default().push(name);
    }
    let mut found: BTreeMap<usize, Alike> = BTreeMap::new();
    for names in shorter.values() {
        for (place, one) in names.iter().enumerate().take(CROWD) {
            for other in names[..place].iter().filter(|other| *other != one) {
                let pairs =
                    by_look[*one].iter().flat_map(|a| by_look[*other].iter().map(move |b| (*a.min(b), *a.max(b))));
                for (earlier, later) in pairs.take(CROWD) {
                    let (a, b) = (&tools[earlier], &tools[later]);
                    let is_other = a.server != b.server && !kin.are(a.server, b.server);
                    if is_other && is_copy(&a.description, &b.description) {
                        let of =
                            format!("`{}` of {}", wire::escape::line(&a.name), wire::escape::line(&servers[a.server]));
                        let message = format!("its name is a letter away from {of}, and its description is a copy");
                        found.entry(later).or_insert(Alike { tool: later, severity: Severity::Medium, message });
                    }
                }
            }
        }
    }
    found.into_values().collect()
}

/// A name without case, separators and characters that nobody sees.
fn bare(name: &str) -> String {
    let seen = name.chars().filter(|c| !matches!(c, '_' | '-' | '.' | ' ' | '/'));
    seen.flat_map(char::to_lowercase).collect()
}

/// How a name looks: the same, and look-alikes as the letters that they look like.
fn look(name: &str) -> String {
    let chars: Vec<char> =
        name.chars().filter(|c| !is_hidden(*c) && !matches!(c, '_' | '-' | '.' | ' ' | '/')).collect();
    let is_letter = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| c.is_alphabetic());
    let mut out = String::with_capacity(name.len());
    for (at, &c) in chars.iter().enumerate() {
        let is_within = is_letter(at.checked_sub(1)) && is_letter(Some(at + 1));
        let c = latin(c).or_else(|| styled(c)).unwrap_or(c);
        out.extend(
            match c {
                '0' if is_within => 'o',
                '1' if is_within => 'l',
                c => c,
            }
            .to_lowercase(),
        );
    }
    out
}

/// Whether one description is a copy of the other: nearly all of its words.
fn is_copy(one: &str, other: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let mut words: Vec<String> =
            runs(text, char::is_alphanumeric).take(200).map(|word| word.text.to_lowercase()).collect();
        words.sort_unstable();
        words.dedup();
        words
    };
    let (one, other) = (words(one), words(other));
    let common = one.iter().filter(|word| other.binary_search(word).is_ok()).count();
    one.len().min(other.len()) >= 6 && common * 10 >= one.len().max(other.len()) * 8
}

/// Where a text names a tool that only other servers have.
pub(super) struct Mention {
    pub(super) text: usize,
    pub(super) span: Range<usize>,
    pub(super) tool: usize,
}

/// The first mention in each text. Texts are pairs of a server and what it says.
pub(super) fn mentions<'t>(tools: &[Seen], texts: impl Iterator<Item = (usize, &'t str)>) -> Vec<Mention> {
    let mut owners: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, tool) in tools.iter().enumerate().filter(|(_, tool)| tool.name.len() >= 4) {
        owners.entry(&tool.name).or_default().push(at);
    }
    let mut found = Vec::new();
    for (text, (server, words)) in texts.enumerate() {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let mention = runs(words, is_part).find_map(|word| {
            let name = word.text.trim_matches('.');
            let owners = owners.get(name)?;
            let is_quoted = words[..word.span.start].ends_with(['`', '\'', '"', '“']);
            // `search` is a word first, `search_files` is a name.
            let is_distinct = name.contains('_') || name.contains('-') || name.chars().skip(1).any(char::is_uppercase);
            let is_own = owners.iter().any(|&at| tools[at].server == server);
            (!is_own && (is_quoted || is_distinct)).then(|| Mention { text, span: word.span, tool: owners[0] })
        });
        found.extend(mention);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Seen, Severity, alike, mentions};

    const TEXT: &str = "Reads a file from the disk and returns all of its content as text.";

    fn seen(server: usize, name: &str, description: &str) -> Seen {
        Seen { server, name: name.to_owned(), description: description.to_owned() }
    }

    #[test]
    fn names_that_look_alike() {
        let servers = ["a".to_owned(), "b".to_owned()];
        let severity = |name: &str, description: &str| {
            alike(&[seen(0, "read_file", TEXT), seen(1, name, description)], &servers).first().map(|one| one.severity)
        };
        for (name, description, expected) in [
            ("re\u{430}d_file", "", Some(Severity::High)),
            ("read_\u{200b}file", "", Some(Severity::High)),
            ("read_fi1e", "", Some(Severity::High)),
            ("readFile", TEXT, Some(Severity::Medium)),
            ("read_file", "Other.", Some(Severity::Info)),
            ("read_fille", TEXT, Some(Severity::Medium)),
            ("read_files", "Other.", None),
            ("write_file", TEXT, None),
        ] {
            assert_eq!(severity(name, description), expected, "{name}");
        }
        assert!(alike(&[seen(0, "a1b", ""), seen(0, "a_1b", "")], &servers).is_empty());
    }

    #[test]
    fn builds_of_one_server_are_no_look_alikes() {
        let servers = ["a".to_owned(), "b".to_owned()];
        let worst = |tools: &[Seen]| alike(tools, &servers).iter().map(|one| one.severity).max();
        let pair = |name: &str| [seen(0, "read_file", TEXT), seen(1, name, TEXT)];
        assert_eq!(worst(&pair("read_file")), Some(Severity::Info), "the same tools");
        assert_eq!(worst(&pair("readFile")), Some(Severity::Medium));
        let more = |tools: Vec<Seen>| worst(&tools);
        let two = || vec![seen(0, "read_file", TEXT), seen(0, "add", "Adds."), seen(1, "read_file", TEXT)];
        let add = |description| seen(1, "add", description);
        let new = || seen(1, "send_mail", "Sends a mail.");
        assert_eq!(
            more(two().into_iter().chain([add("Adds."), new()]).collect()),
            Some(Severity::Info),
            "a newer version"
        );
        assert_eq!(
            more(two().into_iter().chain([add("Other."), new()]).collect()),
            Some(Severity::Medium),
            "one tool is copied"
        );
        let posing =
            |name: &str| -> Vec<Seen> { two().into_iter().chain([add("Adds."), seen(1, name, TEXT)]).collect() };
        assert_eq!(worst(&posing("re\u{430}d_file")), Some(Severity::High), "look-alike letters stay what they are");
    }

    #[test]
    fn tools_of_others_that_are_named() {
        let tools = [seen(0, "send_mail", ""), seen(1, "add", ""), seen(0, "search", "")];
        let count = |server, text: &str| mentions(&tools, [(server, text)].into_iter()).len();
        assert_eq!(count(1, "Adds. Call send_mail first."), 1);
        assert_eq!(count(1, "Adds, like `search` does."), 1);
        assert_eq!(count(1, "Adds what a search finds."), 0);
        assert_eq!(count(0, "Works like send_mail."), 0);
    }
}

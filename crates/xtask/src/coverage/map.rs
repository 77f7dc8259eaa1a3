//! The files under `coverage/`: which rule carries which sentence of the specification. One row for each sentence: its id
//! (page, section and hash; never its text), its level, whom it binds as we read it, and what carries it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rules::{Level, Role, Rule};
use wire::Revision;

/// A document of the specification that has normative sentences: a revision, or an extension of the newest one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Document {
    /// `2025-11-25`, `extensions/tasks`.
    pub(super) name: String,
    /// The revision at which its rules apply.
    pub(super) revision: Revision,
}

/// Extensions whose sentences are accounted for.
const EXTENSIONS: [&str; 3] = ["enterprise-managed-authorization", "oauth-client-credentials", "tasks"];

impl Document {
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let revisions = Revision::ALL.into_iter().map(|revision| Self { name: revision.to_string(), revision });
        let extensions =
            EXTENSIONS.into_iter().map(|name| Self { name: format!("extensions/{name}"), revision: Revision::NEWEST });
        revisions.chain(extensions)
    }

    /// Its rows.
    pub(super) fn path(&self, root: &Path) -> PathBuf {
        root.join("coverage").join(format!("{}.tsv", self.name))
    }

    /// Every sentence of it, where the specification is next to the project.
    pub(super) fn sentences(&self, specification: &Path) -> PathBuf {
        match self.name.strip_prefix("extensions/") {
            Some(extension) => specification.join("extensions").join(format!("{extension}.normative.jsonl")),
            None => specification.join(&self.name).join("normative.jsonl"),
        }
    }
}

/// Whom a sentence binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bound {
    Server,
    Client,
    Both,
    AuthorizationServer,
    Host,
}

impl Bound {
    pub(super) const ALL: [Self; 5] = [Self::Server, Self::Client, Self::Both, Self::AuthorizationServer, Self::Host];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
            Self::Both => "both",
            Self::AuthorizationServer => "authorization server",
            Self::Host => "host",
        }
    }

    fn is_met_by(self, role: Role) -> bool {
        match self {
            Self::Server => role != Role::Client,
            Self::Client => role != Role::Server,
            // An authorization server's address, say, is what the server's metadata names.
            Self::Both | Self::AuthorizationServer => true,
            Self::Host => false,
        }
    }
}

/// What carries a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Carried {
    /// These rules together.
    Rules(Vec<&'static str>),
    /// Nothing could: no wire signal, process behaviour or HTTP exchange could ever tell.
    Unobservable,
    /// Nothing of ours: it binds authorization servers, user interfaces, people.
    OutOfScope,
    /// It is a stray row of the extraction.
    NotASentence,
}

/// The account of one sentence.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) level: Level,
    pub(super) bound: Bound,
    pub(super) carried: Carried,
}

impl Row {
    fn parse(line: &str, revision: Revision) -> Result<Self, String> {
        let cells: Vec<&str> = line.split('\t').collect();
        let [id, level, bound, carried] = cells[..] else { return Err("has not four columns".to_owned()) };
        let level = match level {
            "MUST" => Level::Must,
            "SHOULD" => Level::Should,
            "MAY" => Level::May,
            other => return Err(format!("has the level {other:?}; it is MUST, SHOULD or MAY")),
        };
        let bound = Bound::ALL.into_iter().find(|b| b.as_str() == bound).ok_or_else(|| format!("binds {bound:?}"))?;
        let carried = carrier(carried, level, bound, revision)?;
        Ok(Self { id: id.to_owned(), level, bound, carried })
    }

    /// Whether nothing could tell: the row says so, or all the rules that it names do.
    pub(super) fn is_unobservable(&self) -> bool {
        let silent = |id: &str| {
            rules::find(id).is_some_and(|rule| matches!(rule.judging(), rules::rule::Judging::Unobservable(_)))
        };
        match &self.carried {
            Carried::Rules(rules) => rules.iter().all(|id| silent(id)),
            carried => *carried == Carried::Unobservable,
        }
    }

    pub(super) fn rules(&self) -> impl Iterator<Item = &'static str> {
        let rules = if let Carried::Rules(rules) = &self.carried { rules.as_slice() } else { &[] };
        rules.iter().copied()
    }
}

fn carrier(text: &str, level: Level, bound: Bound, revision: Revision) -> Result<Carried, String> {
    let reasons = [
        ("unobservable: ", Carried::Unobservable),
        ("out of scope: ", Carried::OutOfScope),
        ("not a sentence: ", Carried::NotASentence),
    ];
    for (word, carried) in reasons {
        if let Some(why) = text.strip_prefix(word) {
            return if why.trim().is_empty() { Err(format!("says {word}and not why")) } else { Ok(carried) };
        }
    }
    let rules = text.split(' ').map(|id| standing(id, revision)).collect::<Result<Vec<_>, _>>()?;
    // What one party may do is what the other must put up with.
    if level != Level::May && !rules.iter().any(|rule| bound.is_met_by(rule.role)) {
        return Err(format!("binds {}, but none of its rules does", bound.as_str()));
    }
    let strong = |rule: &&Rule| rule.sentence_at(revision).is_some_and(|sentence| sentence.level <= level);
    if !rules.iter().any(strong) {
        return Err(format!("says {}, and all its rules say less", level.as_str()));
    }
    Ok(Carried::Rules(rules.into_iter().map(|rule| rule.id).collect()))
}

/// The rule of that id, if it says anything at `revision`.
fn standing(id: &str, revision: Revision) -> Result<&'static Rule, String> {
    let rule = rules::find(id).ok_or_else(|| format!("names {id:?}, which is no rule"))?;
    match rule.sentence_at(revision) {
        None => Err(format!("names {id}, which says nothing at {revision}")),
        Some(sentence) if sentence.level == Level::Safety => Err(format!("names {id}, which no sentence demands")),
        Some(_) => Ok(rule),
    }
}

/// The rows of a document, and what is wrong with its file.
pub(super) fn read(document: &Document, root: &Path) -> anyhow::Result<(Vec<Row>, Vec<String>)> {
    let path = document.path(root);
    let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    Ok(parse(&text, document))
}

fn parse(text: &str, document: &Document) -> (Vec<Row>, Vec<String>) {
    let (mut rows, mut wrong, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (number, line) in text.lines().enumerate() {
        let at = format!("coverage/{}.tsv:{}", document.name, number + 1);
        match Row::parse(line, document.revision) {
            Ok(row) if seen.insert(row.id.clone()) => rows.push(row),
            Ok(row) => wrong.push(format!("{at}: {} stands twice", row.id)),
            Err(why) => wrong.push(format!("{at}: {} {why}", line.split('\t').next().unwrap_or_default())),
        }
    }
    (rows, wrong)
}

#[cfg(test)]
mod tests {
    use super::{Bound, Carried, Document, parse};
    use rules::Level;

    fn document() -> Document {
        Document::all().next().expect("a revision")
    }

    fn wrong(line: &str) -> String {
        let (rows, wrong) = parse(line, &document());
        assert!(rows.is_empty(), "{rows:?}");
        wrong.concat()
    }

    #[test]
    fn a_row_names_its_rules_or_a_reason() {
        let text = "p#s/1\tMUST\tboth\tjsonrpc.answered jsonrpc.one-answer\np#s/2\tMAY\thost\tout of scope: a person decides\n";
        let (rows, wrong) = parse(text, &document());
        assert_eq!(wrong, Vec::<String>::new());
        assert_eq!(rows[0].carried, Carried::Rules(vec!["jsonrpc.answered", "jsonrpc.one-answer"]));
        assert_eq!((rows[0].level, rows[0].bound), (Level::Must, Bound::Both));
        assert_eq!(rows[1].carried, Carried::OutOfScope);
    }

    #[test]
    fn rows_that_account_for_nothing_are_refused() {
        assert!(wrong("p#s/1\tMUST\tserver").contains("four columns"));
        assert!(wrong("p#s/1\tMUSST\tserver\tjsonrpc.answered").contains("MUSST"));
        assert!(wrong("p#s/1\tMUST\tmissing\tjsonrpc.answered").contains("missing"));
        assert!(wrong("p#s/1\tMUST\tserver\tno.such-rule").contains("no rule"));
        assert!(wrong("p#s/1\tMUST\tserver\t").contains("no rule"));
        assert!(wrong("p#s/1\tMUST\tserver\tunobservable:  ").contains("not why"));
        // Of a later revision, of the safety chapter, weaker than the sentence.
        assert!(wrong("p#s/1\tMUST\tserver\tmeta.traceparent").contains("says nothing at 2024-11-05"));
        assert!(wrong("p#s/1\tMUST\tserver\tsafety.stdout-quiet-until-asked").contains("no sentence demands"));
        assert!(wrong("p#s/1\tMUST\tserver\tping.sparing").contains("say less"));
    }

    #[test]
    fn a_sentence_stands_once() {
        let line = "p#s/1\tMAY\thost\tout of scope: a person decides\n";
        let (rows, wrong) = parse(&line.repeat(2), &document());
        assert_eq!((rows.len(), wrong.len()), (1, 1));
    }
}

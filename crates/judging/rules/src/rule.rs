//! What a rule is: one thing the specification demands, as constant data and a plain function.
//!
//! A rule only reads a [`View`] of a trace. It does no I/O, keeps no state and makes no traffic.

pub use wire::Level;
use wire::{Party, Revision, Transport};

use crate::verdict::Verdict;
use crate::view::View;

/// Whom a rule binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The server alone.
    Server,
    /// The client alone.
    Client,
    /// Whichever party is judged.
    Both,
}

/// The level that our own wording of a sentence states.
const fn level_of(text: &str) -> Level {
    if contains(text, "MUST") {
        Level::Must
    } else if contains(text, "SHOULD") {
        Level::Should
    } else if contains(text, "MAY") {
        Level::May
    } else {
        panic!("a sentence says MUST, SHOULD or MAY")
    }
}

const fn contains(text: &str, word: &str) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    let mut start = 0;
    while start + word.len() <= text.len() {
        let mut same = 0;
        while same < word.len() && text[start + same] == word[same] {
            same += 1;
        }
        if same == word.len() {
            return true;
        }
        start += 1;
    }
    false
}

/// Where a sentence is: a page of the specification and a heading on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The page's path, such as `server/tools`; of an extension's own page `extensions/` and its name.
    pub page: &'static str,
    /// The heading's slug, such as `list-changed-notification`; empty for the page's beginning.
    pub section: &'static str,
}

impl Anchor {
    /// The name of the extension on whose page it is, if it is on such a page.
    pub fn extension(&self) -> Option<&'static str> {
        self.page.strip_prefix("extensions/")
    }
}

/// Names a place in the specification.
pub const fn at(page: &'static str, section: &'static str) -> Anchor {
    Anchor { page, section }
}

/// One sentence of the specification in our own words, from one revision on.
#[derive(Clone, Copy, Debug)]
pub struct Sentence {
    /// The first revision that says it so.
    pub since: Revision,
    /// Where it says it.
    pub anchor: Anchor,
    /// Our wording.
    pub text: &'static str,
    /// How strongly, read from the wording.
    pub level: Level,
}

impl Sentence {
    /// The sentence's address at `revision`.
    pub fn url(&self, revision: Revision) -> String {
        let Anchor { page, section } = self.anchor;
        let page = page.strip_suffix("/index").unwrap_or(page);
        let hash = if section.is_empty() { "" } else { "#" };
        if let Some(name) = self.anchor.extension() {
            // Extensions keep their specifications in repositories of their own; those of authorization share one, of drafts.
            return if name == "tasks" {
                let repository = format!("https://github.com/modelcontextprotocol/ext-{name}");
                format!("{repository}/blob/main/specification/{revision}/{name}.md{hash}{section}")
            } else {
                let drafts = "https://github.com/modelcontextprotocol/ext-auth/blob/main/specification/draft";
                format!("{drafts}/{name}.mdx{hash}{section}")
            };
        }
        format!("https://modelcontextprotocol.io/specification/{revision}/{page}{hash}{section}")
    }
}

/// How a rule reaches its verdict on one trace.
#[derive(Clone, Copy)]
pub enum Judging {
    /// By reading the trace.
    Judge(fn(&View<'_>) -> Verdict),
    /// Never: no wire signal, process behaviour or HTTP exchange can show it, and why.
    Unobservable(&'static str),
    /// Not yet: it binds clients, and its judge is not written. A trace could show it.
    Declared,
}

/// One thing the specification (or good sense: [`Level::Safety`]) demands.
#[derive(Clone, Copy)]
pub struct Rule {
    /// A stable name: area and demand, such as `tools.names-unique`.
    pub id: &'static str,
    /// Whom it binds.
    pub role: Role,
    /// The transports on which it can apply; all where empty.
    pub transports: &'static [Transport],
    /// The capability (dotted path) the judged party must have declared for it to apply.
    pub needs: Option<&'static str>,
    /// The capabilities (dotted paths) without which its subject does not come up, at the revisions that have them:
    /// a server that declared none of them is judged by what it shows, and if it shows nothing, that is no gap.
    pub about: &'static [&'static str],
    /// Whether the verdict may depend on timing: such a finding is tried again, alone, before it is reported.
    pub timed: bool,
    /// Whether a safety rule is judged in every check, and not only where safety rules are asked for.
    pub by_default: bool,
    /// Whether no specification asks for it, so that it is judged only where that is wanted.
    pub advisory: bool,
    /// How the verdict is reached, in a sentence or two.
    pub how: &'static str,
    /// How to fix a peer that breaks it.
    pub fix: &'static str,
    judging: Judging,
    sentences: [Option<Sentence>; 6],
    gone: Option<Revision>,
}

impl Rule {
    const fn new(id: &'static str, role: Role) -> Self {
        Self {
            id,
            role,
            transports: &[],
            needs: None,
            about: &[],
            timed: false,
            by_default: false,
            advisory: false,
            how: "",
            fix: "",
            judging: Judging::Unobservable("no judge was given"),
            sentences: [None; 6],
            gone: None,
        }
    }

    /// Adds the sentence as `since` words it: the first one, a rewording, a move to another page, or a change of level.
    pub const fn says(self, since: Revision, anchor: Anchor, text: &'static str) -> Self {
        self.sentence(Sentence { since, anchor, text, level: level_of(text) })
    }

    /// States what a good peer does where no sentence demands it, and the page that comes closest.
    pub const fn asks(self, since: Revision, anchor: Anchor, text: &'static str) -> Self {
        self.sentence(Sentence { since, anchor, text, level: Level::Safety })
    }

    const fn sentence(mut self, sentence: Sentence) -> Self {
        let mut free = 0;
        while self.sentences[free].is_some() {
            free += 1;
        }
        self.sentences[free] = Some(sentence);
        self
    }

    /// The first revision that no longer has the sentence.
    pub const fn gone(mut self, revision: Revision) -> Self {
        self.gone = Some(revision);
        self
    }

    /// Restricts the rule to some transports.
    pub const fn on(mut self, transports: &'static [Transport]) -> Self {
        self.transports = transports;
        self
    }

    /// Restricts the rule to peers that declared a capability, as a dotted path: `tools`, `resources.subscribe`.
    pub const fn needs(mut self, capability: &'static str) -> Self {
        self.needs = Some(capability);
        self
    }

    /// Says that its subject comes up only with peers that declared one of these capabilities (with clients where the rule
    /// binds clients, else with servers). A peer that shows it without having declared any is judged like others: unlike
    /// [`Rule::needs`], this hides no breach.
    pub const fn about(mut self, capabilities: &'static [&'static str]) -> Self {
        self.about = capabilities;
        self
    }

    /// Says that the verdict may depend on timing.
    pub const fn timed(mut self) -> Self {
        self.timed = true;
        self
    }

    /// Says that a safety rule is judged in every check.
    pub const fn by_default(mut self) -> Self {
        self.by_default = true;
        self
    }

    /// Says that it goes further than the specification.
    pub const fn advisory(mut self) -> Self {
        self.advisory = true;
        self
    }

    /// Says how the verdict is reached (for `proof explain`).
    pub const fn how(mut self, how: &'static str) -> Self {
        self.how = how;
        self
    }

    /// States how to fix a peer that breaks it (for `proof explain` and reports).
    pub const fn fix(mut self, fix: &'static str) -> Self {
        self.fix = fix;
        self
    }

    /// Gives the rule its judge.
    pub const fn judge(mut self, judge: fn(&View<'_>) -> Verdict) -> Self {
        self.judging = Judging::Judge(judge);
        self
    }

    /// Declares that nothing observable can show it, and why.
    pub const fn unobservable(mut self, why: &'static str) -> Self {
        self.judging = Judging::Unobservable(why);
        self
    }

    /// Declares that a trace could show it, though it has no judge yet.
    pub const fn declared(mut self) -> Self {
        self.judging = Judging::Declared;
        self
    }

    /// How it is judged.
    pub const fn judging(&self) -> Judging {
        self.judging
    }

    /// Whether it has a judge.
    pub const fn is_judged(&self) -> bool {
        matches!(self.judging, Judging::Judge(_))
    }

    /// Every wording, oldest first.
    pub fn sentences(&self) -> impl Iterator<Item = &Sentence> {
        self.sentences.iter().flatten()
    }

    /// The sentence as `revision` has it.
    pub fn sentence_at(&self, revision: Revision) -> Option<&Sentence> {
        if self.gone.is_some_and(|gone| revision.at_least(gone)) {
            return None;
        }
        self.sentences().filter(|s| revision.at_least(s.since)).last()
    }

    /// The newest revision that has the sentence, and the sentence.
    pub fn newest(&self) -> Option<(Revision, &Sentence)> {
        Revision::ALL.into_iter().rev().find_map(|r| self.sentence_at(r).map(|s| (r, s)))
    }

    /// Whether it can apply over `transport`.
    pub fn runs_on(&self, transport: Transport) -> bool {
        self.transports.is_empty() || self.transports.contains(&transport)
    }

    /// Whether it binds a party: only then can a trace with that party as its subject show anything about it.
    pub fn binds(&self, party: Party) -> bool {
        match self.role {
            Role::Server => party == Party::Server,
            Role::Client => party == Party::Client,
            Role::Both => matches!(party, Party::Server | Party::Client),
        }
    }

    /// Whether the verdict may depend on what the judged party declared.
    pub const fn asks_for_capability(&self) -> bool {
        self.needs.is_some() || !self.about.is_empty()
    }

    /// What it is about, as text: `` `tools`, `prompts` or `resources` ``; `None` where nothing has to be declared for it.
    pub fn subject_matter(&self) -> Option<String> {
        let (last, others) = self.about.split_last()?;
        let others = others.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ");
        Some(if others.is_empty() { format!("`{last}`") } else { format!("{others} or `{last}`") })
    }

    /// Whether it is a safety rule.
    pub fn is_safety(&self) -> bool {
        self.sentences().any(|s| s.level == Level::Safety)
    }
}

/// A rule that binds the server.
pub const fn server(id: &'static str) -> Rule {
    Rule::new(id, Role::Server)
}

/// A rule that binds the client.
pub const fn client(id: &'static str) -> Rule {
    Rule::new(id, Role::Client)
}

/// A rule that binds whichever party is judged.
pub const fn both(id: &'static str) -> Rule {
    Rule::new(id, Role::Both)
}

/// A safety rule about servers: something a good peer does that no sentence demands. Word it with [`Rule::asks`].
pub const fn safety(id: &'static str) -> Rule {
    Rule::new(id, Role::Server)
}

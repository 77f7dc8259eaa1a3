//! What all upstreams offer together, and which of them a name belongs to.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use serde_json::{Map, Value};
use wire::Revision;
use wire::translate::table::Loss;

use crate::gateway::Missing;
use crate::locks::{Cause, Judged};
use crate::search::Index;
use crate::view::View;

/// One list that servers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl List {
    pub(crate) const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// The list that a method asks for.
    pub(crate) fn of(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|list| list.method() == method)
    }

    /// The method that asks for it.
    pub(crate) const fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Prompts => "prompts/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
        }
    }

    /// The member of the result.
    pub(crate) const fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }

    /// The capability.
    pub(crate) const fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources | Self::Templates => "resources",
        }
    }

    /// The member by which an item is asked for.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Tools | Self::Prompts => "name",
            Self::Resources => "uri",
            Self::Templates => "uriTemplate",
        }
    }
}

/// Where a name leads.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Route {
    /// The upstream.
    pub(crate) upstream: usize,
    /// The name there.
    pub(crate) name: String,
    /// Arguments that every call gets.
    pub(crate) pinned: Option<Arc<Map<String, Value>>>,
}

/// Something that is withheld.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Blocked {
    /// The upstream.
    pub(crate) upstream: usize,
    /// The name there.
    pub(crate) name: String,
    /// Why.
    pub(crate) cause: Cause,
    /// Whether the lock has it, and not its whole server is withheld: only then is it looked for nowhere else.
    pub(crate) is_known: bool,
}

/// Whether a tool may run as a task (2025-11-25).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskSupport {
    /// It may.
    Optional,
    /// It runs only so.
    Required,
}

impl TaskSupport {
    fn of(tool: &Value) -> Option<Self> {
        match tool.pointer("/execution/taskSupport")?.as_str()? {
            "optional" => Some(Self::Optional),
            "required" => Some(Self::Required),
            _ => None,
        }
    }
}

/// The items of one list from all upstreams, under names that are unique.
#[derive(Clone, Debug, Default)]
pub(crate) struct Merged {
    /// The items, as clients see them.
    pub(crate) items: Vec<Value>,
    /// Where each name leads.
    pub(crate) routes: HashMap<String, Route>,
    /// The input schemas of tools whose arguments stand in headers, too; by the upstream and the name there.
    pub(crate) mirrored: HashMap<(usize, String), Arc<Value>>,
    /// The tools that may run as a task (2025-11-25).
    pub(crate) tasks: HashMap<(usize, String), TaskSupport>,
    /// What is withheld because it differs from the lock, by the name that clients would see.
    pub(crate) withheld: HashMap<String, Blocked>,
    /// The verdicts by which, by upstream.
    pub(crate) judged: HashMap<usize, Judged>,
    /// The servers whose items are missing.
    pub(crate) missing: Vec<Missing>,
    /// The words of tools, where clients search them: made once.
    index: OnceLock<Index>,
    /// The whole result, by the revision of its client: made once.
    rendered: [OnceLock<Rendered>; Revision::NEWEST_FIRST.len()],
}

/// A list as the text of a result.
#[derive(Clone, Debug)]
pub(crate) struct Rendered {
    pub(crate) text: String,
    /// What the client's revision cannot hold.
    pub(crate) losses: Vec<Loss>,
}

impl Merged {
    /// The result for clients of `revision`: made by `make` for the first request, kept for later ones.
    pub(crate) fn rendered(&self, revision: Revision, make: impl FnOnce() -> Rendered) -> &Rendered {
        let place = Revision::NEWEST_FIRST.iter().position(|known| *known == revision).unwrap_or_default();
        self.rendered[place].get_or_init(make)
    }

    /// The item of this name, as clients see it.
    pub(crate) fn item(&self, name: &str) -> Option<&Value> {
        self.items.iter().find(|item| item.get("name").and_then(Value::as_str) == Some(name))
    }

    /// The words of the items, which are tools.
    pub(crate) fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::new(&self.items))
    }

    /// Takes out what a lock does not allow of one upstream.
    pub(crate) fn withhold(
        &mut self,
        (list, view): (List, &View),
        (index, upstream): (usize, &str),
        mut judged: Judged,
    ) {
        let is_blocked =
            |_: &String, route: &mut Route| route.upstream == index && judged.blocked.contains_key(&route.name);
        let out: Vec<_> = self.routes.extract_if(is_blocked).collect();
        let names: HashSet<&str> = out.iter().map(|(shown, _)| shown.as_str()).collect();
        self.items.retain(|item| item[list.key()].as_str().is_none_or(|name| !names.contains(name)));
        self.mirrored.retain(|(owner, name), _| *owner != index || !judged.blocked.contains_key(name));
        self.tasks.retain(|(owner, name), _| *owner != index || !judged.blocked.contains_key(name));
        let known = out.into_iter().map(|(shown, route)| (shown, route.name, true));
        let unknown = judged.unknown.iter().filter_map(|item| {
            let there = item.get(list.key())?.as_str()?.to_owned();
            Some((view.show(list, upstream, item)?.name, there, false))
        });
        for (shown, there, is_known) in known.chain(unknown) {
            let Some(cause) = judged.blocked.get(&there).cloned() else { continue };
            let is_free = self.withheld.get(&shown).is_none_or(|other| is_known && !other.is_known);
            if is_free && !self.routes.contains_key(&shown) {
                self.withheld.insert(shown, Blocked { upstream: index, name: there, cause, is_known });
            }
        }
        judged.unknown.clear();
        self.judged.insert(index, judged);
    }

    /// Keeps names of an earlier list that have no meaning in this one. What is withheld now stays so; of upstreams that
    /// are judged, only those that are `away` keep theirs, until their last verdict ends: at `latest`, where that is earlier.
    pub(crate) fn keep_routes(&mut self, before: &Self, away: impl Fn(usize) -> bool, latest: Option<Instant>) {
        let now = Instant::now();
        let listed: HashSet<(usize, String)> = if before.tasks.is_empty() {
            HashSet::new()
        } else {
            self.routes.values().map(|route| (route.upstream, route.name.clone())).collect()
        };
        for (index, judged) in before.judged.iter().filter(|(index, _)| away(**index)) {
            let until =
                latest.map_or(judged.until, |latest| Some(judged.until.map_or(latest, |until| until.min(latest))));
            self.judged.entry(*index).or_insert_with(|| Judged { until, ..judged.clone() });
        }
        let holds = |index: &usize| {
            let is_over = |judged: &Judged| judged.until.is_some_and(|until| until <= now);
            self.judged.get(index).is_none_or(|judged| away(*index) && !is_over(judged))
        };
        for (shown, blocked) in before.withheld.iter().filter(|(_, blocked)| away(blocked.upstream)) {
            if !self.routes.contains_key(shown) {
                self.withheld.entry(shown.clone()).or_insert_with(|| blocked.clone());
            }
        }
        for (shown, target) in before.routes.iter().filter(|(_, route)| holds(&route.upstream)) {
            if !self.withheld.contains_key(shown) {
                self.routes.entry(shown.clone()).or_insert_with(|| target.clone());
            }
        }
        for (target, schema) in &before.mirrored {
            self.mirrored.entry(target.clone()).or_insert_with(|| schema.clone());
        }
        for (target, support) in &before.tasks {
            // What this list says of a tool counts.
            if !listed.contains(target) {
                self.tasks.entry(target.clone()).or_insert(*support);
            }
        }
    }
}

/// Merges the items of `list`, given by upstream: its number, its name, its items. Only names that several upstreams have get
/// the upstream's in front; of a resource that several have, the first one's counts.
pub(crate) fn merge(list: List, view: &View, by_upstream: &[(usize, &str, Vec<Value>)]) -> Merged {
    let shown: Vec<_> = by_upstream
        .iter()
        .flat_map(|(index, upstream, items)| {
            items.iter().filter_map(move |item| Some((*index, *upstream, item, view.show(list, upstream, item)?)))
        })
        .collect();
    let mut owners: HashMap<String, HashSet<usize>> = HashMap::new();
    for (index, .., shown) in &shown {
        owners.entry(shown.name.clone()).or_default().insert(*index);
    }
    let longest = view.longest_name();
    let mut merged = Merged::default();
    for (index, upstream, original, shown) in shown {
        let there = original.get(list.key()).and_then(Value::as_str).unwrap_or_default().to_owned();
        let shared = owners.get(&shown.name).is_some_and(|owners| owners.len() > 1);
        let named = matches!(list, List::Tools | List::Prompts);
        let mut name = if shared && named { format!("{upstream}_{}", shown.name) } else { shown.name.clone() };
        if named && (name.len() > longest && shared || owners.contains_key(&name) && name != shown.name) {
            name = shorten(&name, upstream, &there, longest);
        }
        if merged.routes.contains_key(&name) {
            continue;
        }
        let schema = original.get("inputSchema").filter(|_| list == List::Tools);
        if let Some(schema) = schema.filter(|schema| schema.to_string().contains("x-mcp-header")) {
            merged.mirrored.insert((index, there.clone()), Arc::new(schema.clone()));
        }
        if let Some(support) = TaskSupport::of(original) {
            merged.tasks.insert((index, there.clone()), support);
        }
        let mut item = shown.item;
        if name != there {
            item[list.key()] = Value::from(name.as_str());
        }
        merged.items.push(item);
        let pinned = Some(Arc::new(shown.pinned)).filter(|pinned| !pinned.is_empty());
        merged.routes.insert(name, Route { upstream: index, name: there, pinned });
    }
    merged
}

/// A name of at most `longest` characters that stays the same from run to run and from build to build.
fn shorten(shown: &str, upstream: &str, name: &str, longest: usize) -> String {
    let mut short: String = shown.chars().filter(char::is_ascii).take(longest - 9).collect();
    let _ = write!(short, "_{:08x}", digest(&[upstream, name]));
    short
}

/// FNV-1a of texts, which no library's next version changes.
fn digest(texts: &[&str]) -> u32 {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The text of a template before its first expression.
pub(crate) fn literal(template: &str) -> &str {
    template.split('{').next().unwrap_or_default()
}

/// Whether a URI can come from a template: the text before its first expression leads.
pub(crate) fn fits(template: &str, uri: &str) -> bool {
    !literal(template).is_empty() && uri.starts_with(literal(template))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{List, Merged, fits};
    use crate::settings::{LONGEST_NAME as LONGEST, ServerSettings};
    use crate::view::View;

    fn merge(list: List, by_upstream: &[(usize, &str, Vec<Value>)]) -> Merged {
        super::merge(list, &View::new(ServerSettings::everything("default", Vec::new())), by_upstream)
    }

    fn tools(names: &[&str]) -> Vec<Value> {
        names.iter().map(|name| json!({ "name": name, "x": 1 })).collect()
    }

    #[test]
    fn only_names_that_collide_get_a_prefix() {
        let merged = merge(List::Tools, &[(0, "a", tools(&["read", "list"])), (1, "b", tools(&["read", "write"]))]);
        let names: Vec<_> = merged.items.iter().map(|item| item["name"].as_str().unwrap_or_default()).collect();
        assert_eq!(names, ["a_read", "list", "b_read", "write"]);
        let route = |name: &str| (merged.routes[name].upstream, merged.routes[name].name.as_str());
        assert_eq!(route("b_read"), (1, "read"));
        assert_eq!(route("write"), (1, "write"));
    }

    #[test]
    fn a_prefixed_name_hides_no_other() {
        let merged = merge(List::Tools, &[(0, "a", tools(&["x", "a_x"])), (1, "b", tools(&["x"]))]);
        assert_eq!(merged.items.len(), 3);
        assert_eq!((merged.routes["a_x"].upstream, merged.routes["a_x"].name.as_str()), (0, "a_x"));
        assert_eq!(merged.routes.values().filter(|route| route.name == "x").count(), 2);
    }

    #[test]
    fn long_names_are_shortened_and_stay_apart() {
        let (one, two) = ("x".repeat(64), format!("{}y", "x".repeat(63)));
        let lists = [(0, "a", tools(&[&one, &two])), (1, "b", tools(&[&one, &two]))];
        let merged = merge(List::Tools, &lists);
        assert_eq!(merged.routes.len(), 4);
        assert!(merged.routes.keys().all(|name| name.len() <= LONGEST), "{:?}", merged.routes);
        let again = merge(List::Tools, &lists);
        assert_eq!(merged.items, again.items);
    }

    #[test]
    fn the_first_of_two_equal_resources_counts() {
        let file = |n: i64| vec![json!({ "uri": "file:///a", "name": n })];
        let merged = merge(List::Resources, &[(0, "a", file(1)), (1, "b", file(2))]);
        assert_eq!(merged.items, file(1));
        assert!(fits("file:///logs/{day}", "file:///logs/1") && !fits("{+any}", "file:///logs/1"));
    }
}

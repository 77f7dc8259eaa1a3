//! The scan: takes items one by one, keeps what rules across servers need, and is bounded by counts.

mod proven;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

use sha2::{Digest as _, Sha256};

use super::flows::{self, Label};
use super::model::{Finding, Item, Kind, Place, Scan};
use super::names::{self, Seen};
use super::phrasing::{self, SUSPICIOUS};
use super::rule::{Rule, Severity};
use super::scripts::{NATIVE, Script};
use super::text::quote;
use super::walk::{Text, strings};
use super::{annotations, encoded, hidden, launch, markup, parameters, rules, scripts, secrets, terminal};

pub use proven::Proven;

/// How many findings of a rule are kept in full.
const KEPT: usize = 100;
/// How much of one string is read.
const LONGEST: usize = 1 << 20;
/// How many tools and bytes of their texts are kept to be compared.
const TOOLS: usize = 20_000;
const TEXTS: usize = 32 << 20;
const DESCRIPTION: usize = 8 << 10;
/// How many items are remembered, so that none is counted twice.
const REMEMBERED: usize = 200_000;
/// How many names in another script wait until their server is read.
const WAITING: usize = 20_000;
/// How often what was decoded is decoded again.
const DEEPEST: usize = 3;

/// A scan under way.
#[derive(Default)]
pub struct Scanner {
    scan: Scan,
    /// By name, the place in the list of servers.
    servers: HashMap<String, usize>,
    tools: Vec<Seen>,
    /// Texts of servers other than tools' descriptions: instructions, prompts.
    texts: Vec<(usize, Kind, String, String)>,
    bytes: usize,
    labels: BTreeMap<usize, Vec<(Label, String)>>,
    items: HashSet<u64>,
    fingerprints: HashSet<String>,
    /// By server and script, how many letters there are that only that script has.
    native: BTreeMap<(usize, Script), usize>,
    /// Names that are ordinary where their server writes in their script.
    whole: Vec<(usize, Script, Finding)>,
}

/// Where a string stands.
struct Site<'s> {
    server: &'s str,
    item: &'s Item,
    pointer: &'s str,
    text: &'s str,
}

/// What a rule says of a span of a string.
struct Observation {
    span: Range<usize>,
    severity: Severity,
    weight: u32,
    message: String,
    decoded: Option<String>,
}

impl Scanner {
    /// Nothing read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes that something could not be read, in words: the scan is incomplete.
    pub fn note_incomplete(&mut self, what: String) {
        if !self.scan.incomplete.contains(&what) && self.scan.incomplete.len() < KEPT {
            self.scan.incomplete.push(what);
        }
    }

    /// Examines one item of a server. An item that was seen before, the same in every part, is passed over.
    pub fn item(&mut self, server: &str, item: &Item) {
        let mut hash = DefaultHasher::new();
        (server, item.kind, &item.name, item.value.to_string()).hash(&mut hash);
        let hash = hash.finish();
        if self.items.contains(&hash) {
            return;
        }
        if self.items.len() < REMEMBERED {
            self.items.insert(hash);
        }
        let number = self.server(server);
        *self.scan.items.entry(item.kind).or_default() += 1;
        let whole = strings(&item.value, &mut |text| self.string(server, item, text));
        if !whole {
            self.note_incomplete(format!("{} {}: nested too deep", item.kind.as_str(), wire::escape::line(&item.name)));
        }
        match item.kind {
            Kind::Tool => self.tool(server, number, item),
            Kind::Configuration => self.configuration(server, item),
            Kind::Instructions | Kind::Prompt => self.keep_text(number, item),
            _ => {}
        }
    }

    /// The findings, with those across servers.
    pub fn finish(mut self) -> Scan {
        self.judge_whole_names();
        self.compare_names();
        self.mentions();
        self.flow();
        let order = |finding: &Finding| rules::RULES.iter().position(|rule| rule.id == finding.rule.id);
        self.scan.findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), order(finding)));
        self.scan
    }

    fn server(&mut self, name: &str) -> usize {
        if let Some(number) = self.servers.get(name) {
            return *number;
        }
        let number = self.scan.servers.len();
        self.scan.servers.push(name.to_owned());
        self.servers.insert(name.to_owned(), number);
        number
    }

    fn string(&mut self, server: &str, item: &Item, found: Text<'_>) {
        self.scan.strings += 1;
        let mut end = found.string.len().min(LONGEST);
        while !found.string.is_char_boundary(end) {
            end -= 1;
        }
        if end < found.string.len() {
            self.note_incomplete(format!("a string of more than {} MiB was cut", LONGEST >> 20));
        }
        let text = &found.string[..end];
        let site = Site { server, item, pointer: found.pointer, text };
        let is_name = found.is_key || found.pointer == "/name" || found.pointer == "/uri";
        self.characters(&site, is_name && item.kind != Kind::Result);
        if item.kind == Kind::Configuration {
            return;
        }
        if let Some((span, what)) = secrets::find(text) {
            let severity = if item.kind == Kind::Result { Severity::Medium } else { Severity::High };
            self.add(
                &rules::SECRETS,
                &site,
                observed(span, severity, rules::SECRETS.weight, format!("it holds {what}")),
            );
        }
        if found.is_key && !text.contains(char::is_whitespace) && text.len() < 40 {
            return;
        }
        self.covered(&site);
        self.phrases(&site);
        if item.kind == Kind::Tool
            && let Some(odd) = parameters::value(found.pointer, text)
        {
            self.add(&rules::SCHEMA, &site, observed(0..text.len(), odd.severity, rules::SCHEMA.weight, odd.message));
        }
    }

    /// What people do not see, or see as something else.
    fn characters(&mut self, site: &Site<'_>, is_name: bool) {
        let kind = site.item.kind;
        if let Some(found) = hidden::find(site.text, kind) {
            let inner = found.decoded.as_deref().map(|text| inner_score(text, 0)).unwrap_or_default();
            let message = match &found.decoded {
                Some(_) => format!("{} {} encode a text", found.count, found.what),
                None if found.count == 1 => format!("one of the {}", found.what),
                None => format!("{} {}", found.count, found.what),
            };
            let weight = rules::HIDDEN.weight + inner;
            let observed =
                Observation { span: found.span, severity: found.severity, weight, message, decoded: found.decoded };
            self.add(&rules::HIDDEN, site, observed);
        }
        if let Some((span, what, severity)) = terminal::find(site.text, kind) {
            self.add(
                &rules::TERMINAL,
                site,
                observed(span, severity, rules::TERMINAL.weight, format!("it contains {what}")),
            );
        }
        if !site.text.is_ascii() && kind != Kind::Result {
            let server = self.server(site.server);
            for script in scripts::native(site.text) {
                *self.native.entry((server, script)).or_default() += 1;
            }
        }
        if kind != Kind::Result
            && let Some(found) = scripts::find(site.text, is_name)
        {
            let message = match kind {
                Kind::Configuration => "a word of it has look-alike letters".to_owned(),
                _ => format!("look-alike letters make it look like `{}`", found.looks),
            };
            let observed = observed(found.span, found.severity, rules::SCRIPTS.weight, message);
            match found.whole {
                Some(script) if self.whole.len() < WAITING => {
                    let found = located(&rules::SCRIPTS, site, observed);
                    let number = self.server(site.server);
                    self.whole.push((number, script, found));
                }
                _ => self.add(&rules::SCRIPTS, site, observed),
            }
        }
    }

    /// What is covered: codes and markup, with what is under them.
    fn covered(&mut self, site: &Site<'_>) {
        let is_result = site.item.kind == Kind::Result;
        for payload in encoded::find(site.text) {
            let inner = inner_score(&payload.text, 0);
            let severity = match inner {
                inner if inner >= SUSPICIOUS as u32 - 1 => Severity::High,
                _ if payload.text.starts_with(['{', '[']) => Severity::Low,
                _ => Severity::Medium,
            };
            if is_result && severity < Severity::High {
                continue;
            }
            let (weight, message) = (rules::ENCODED.weight + inner, format!("{} decodes to text", payload.code));
            self.add(
                &rules::ENCODED,
                site,
                Observation { span: payload.span, severity, weight, message, decoded: Some(payload.text) },
            );
        }
        for (span, inner) in markup::find(site.text) {
            let score = inner_score(inner, 0);
            let severity = match (score, inner.split_whitespace().count()) {
                (score, _) if score >= SUSPICIOUS as u32 - 1 => Severity::High,
                (_, 0..4) => Severity::Low,
                _ => Severity::Medium,
            };
            if !is_result || severity == Severity::High {
                let message = "no renderer shows this part of the text".to_owned();
                self.add(&rules::MARKUP, site, observed(span, severity, rules::MARKUP.weight + score, message));
            }
        }
    }

    fn phrases(&mut self, site: &Site<'_>) {
        if site.text.len() < 12 {
            return;
        }
        let Some(found) = phrasing::weigh(site.text).filter(|found| found.score >= SUSPICIOUS) else { return };
        // Results quote pages, which give orders to their readers.
        let is_severe = found.is_severe() && (site.item.kind != Kind::Result || found.score > SUSPICIOUS + 2);
        let severity = if is_severe { Severity::High } else { Severity::Medium };
        let weight = u32::try_from(found.score).unwrap_or_default();
        self.add(&rules::INJECTION, site, observed(found.span, severity, weight, found.reasons.join("; ")));
    }

    fn tool(&mut self, server: &str, number: usize, item: &Item) {
        for odd in parameters::collecting(&item.value) {
            self.at(&rules::PARAMETERS, server, item, &odd.pointer, odd.severity, odd.message);
        }
        if let Some((pointer, message)) = annotations::conflict(&item.value) {
            self.at(&rules::ANNOTATIONS, server, item, pointer, Severity::Medium, message);
        }
        let mut description = item.value["description"].as_str().unwrap_or_default().to_owned();
        let cut = description.char_indices().map(|(at, _)| at).find(|at| *at > DESCRIPTION);
        description.truncate(cut.unwrap_or(description.len()));
        self.bytes += item.name.len() + description.len();
        if self.tools.len() >= TOOLS || self.bytes > TEXTS {
            self.note_incomplete("not all tools were compared with each other: there are too many".to_owned());
            return;
        }
        let labels = self.labels.entry(number).or_default();
        labels.extend(flows::labels(&item.value).into_iter().map(|label| (label, item.name.clone())));
        self.tools.push(Seen { server: number, name: item.name.clone(), description });
    }

    fn configuration(&mut self, server: &str, item: &Item) {
        if let Some((pointer, message)) = launch::unpinned(&item.value) {
            self.at(&rules::LAUNCH, server, item, &pointer, Severity::Medium, message);
        }
        for (pointer, message) in secrets::configured(&item.value) {
            self.at(&rules::SECRETS, server, item, &pointer, Severity::High, message);
        }
    }

    fn keep_text(&mut self, number: usize, item: &Item) {
        let text = item.value.as_str().or_else(|| item.value["description"].as_str()).unwrap_or_default();
        if text.len() <= DESCRIPTION && self.bytes <= TEXTS {
            self.bytes += text.len();
            self.texts.push((number, item.kind, item.name.clone(), text.to_owned()));
        }
    }

    fn judge_whole_names(&mut self) {
        for (server, script, found) in std::mem::take(&mut self.whole) {
            let is_native = self.native.get(&(server, script)).is_some_and(|letters| *letters >= NATIVE);
            let severity = if is_native { Severity::Info } else { found.severity };
            self.push(Finding { severity, ..found });
        }
    }

    fn compare_names(&mut self) {
        let found = names::alike(&self.tools, &self.scan.servers);
        for one in found {
            let tool = &self.tools[one.tool];
            let place = self.described(tool.server, Kind::Tool, &tool.name, "/name");
            let name = tool.name.clone();
            let length = name.len();
            self.push(finding(
                &rules::LOOKALIKE,
                place,
                &name,
                observed(0..length, one.severity, rules::LOOKALIKE.weight, one.message),
            ));
        }
    }

    fn mentions(&mut self) {
        let tools = std::mem::take(&mut self.tools);
        let texts = std::mem::take(&mut self.texts);
        let described = tools.iter().map(|tool| (tool.server, Kind::Tool, &tool.name, &tool.description));
        let all: Vec<_> =
            described.chain(texts.iter().map(|(server, kind, name, text)| (*server, *kind, name, text))).collect();
        for mention in names::mentions(&tools, all.iter().map(|(server, _, _, text)| (*server, text.as_str()))) {
            let (server, kind, name, text) = all[mention.text];
            let orders = phrasing::weigh(text).map_or(0, |found| found.score);
            let severity = match orders {
                5.. => Severity::High,
                3..5 => Severity::Medium,
                _ => Severity::Info,
            };
            let other = &tools[mention.tool];
            let owner = wire::escape::line(&self.scan.servers[other.server]).into_owned();
            let message = format!("it mentions `{}`, a tool of {owner}", wire::escape::line(&other.name));
            let pointer = if kind == Kind::Instructions { "" } else { "/description" };
            let place = self.described(server, kind, name, pointer);
            let weight = rules::SHADOWING.weight.min(u32::try_from(orders.max(1)).unwrap_or(1) * 5);
            self.push(finding(&rules::SHADOWING, place, text, observed(mention.span, severity, weight, message)));
        }
    }

    /// One finding for all servers together: what could be chained.
    fn flow(&mut self) {
        let named = |wanted: Label| -> Option<String> {
            let all = self.labels.iter().flat_map(|(server, labels)| labels.iter().map(move |one| (server, one)));
            let names: Vec<String> = all
                .filter(|(_, (label, _))| *label == wanted)
                .map(|(server, (_, name))| {
                    format!("{} of {}", wire::escape::line(name), wire::escape::line(&self.scan.servers[*server]))
                })
                .take(3)
                .collect();
            (!names.is_empty()).then(|| names.join(", "))
        };
        let (Some(reads), Some(private), Some(out)) =
            (named(Label::Untrusted), named(Label::Private), named(Label::Egress))
        else {
            return;
        };
        let message = format!("untrusted input: {reads}; private data: {private}; can send data out: {out}");
        let place =
            Place { server: String::new(), kind: Kind::Tool, item: String::new(), pointer: String::new(), span: 0..0 };
        self.push(finding(&rules::FLOWS, place, "", observed(0..0, Severity::Medium, rules::FLOWS.weight, message)));
    }

    fn described(&self, server: usize, kind: Kind, item: &str, pointer: &str) -> Place {
        let server = self.scan.servers[server].clone();
        Place { server, kind, item: item.to_owned(), pointer: pointer.to_owned(), span: 0..0 }
    }

    /// Adds a finding about what stands at a pointer of an item.
    fn at(
        &mut self,
        rule: &'static Rule,
        server: &str,
        item: &Item,
        pointer: &str,
        severity: Severity,
        message: String,
    ) {
        let text = match item.value.pointer(pointer) {
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        let observed = observed(0..text.len(), severity, rule.weight, message);
        let place = place(server, item, pointer);
        self.push(if item.kind == Kind::Configuration {
            unprinted(rule, place, &text, observed)
        } else {
            finding(rule, place, &text, observed)
        });
    }

    fn add(&mut self, rule: &'static Rule, site: &Site<'_>, observed: Observation) {
        self.push(located(rule, site, observed));
    }

    fn push(&mut self, finding: Finding) {
        let kept = self.scan.findings.iter().filter(|one| one.rule.id == finding.rule.id).count();
        if kept < KEPT {
            if self.fingerprints.insert(finding.fingerprint()) {
                self.scan.findings.push(finding);
            }
            return;
        }
        // A severe finding is shown before one that is not.
        let milder =
            self.scan.findings.iter_mut().find(|one| one.rule.id == finding.rule.id && one.severity < finding.severity);
        let left = match milder {
            Some(place) => std::mem::replace(place, finding),
            None => finding,
        };
        *self.scan.more.entry(left.rule.id).or_default().entry(left.severity).or_default() += 1;
    }
}

fn located(rule: &'static Rule, site: &Site<'_>, observed: Observation) -> Finding {
    let place = place(site.server, site.item, site.pointer);
    // A configuration holds secrets anywhere.
    let is_secret = rule.id == rules::SECRETS.id || site.item.kind == Kind::Configuration;
    if is_secret { unprinted(rule, place, site.text, observed) } else { finding(rule, place, site.text, observed) }
}

fn observed(span: Range<usize>, severity: Severity, weight: u32, message: String) -> Observation {
    Observation { span, severity, weight, message, decoded: None }
}

fn place(server: &str, item: &Item, pointer: &str) -> Place {
    let (kind, name) = (item.kind, item.name.clone());
    Place { server: server.to_owned(), kind, item: name, pointer: pointer.to_owned(), span: 0..0 }
}

/// A finding whose text is secret: its digest alone is kept.
fn unprinted(rule: &'static Rule, place: Place, text: &str, observed: Observation) -> Finding {
    let digest = digest(rule, text, &observed.span);
    let hidden =
        finding(rule, place, "[the value is not printed]", Observation { span: 0..0, decoded: None, ..observed });
    Finding { digest, ..hidden }
}

/// What a fingerprint covers. Rules that report one place of a string cover all of it, so that a person who accepted that
/// place has not accepted what is added elsewhere.
fn digest(rule: &Rule, text: &str, span: &Range<usize>) -> [u8; 32] {
    let is_each = [rules::ENCODED.id, rules::MARKUP.id].contains(&rule.id);
    let covered = if is_each { text.get(span.clone()).unwrap_or(text) } else { text };
    Sha256::digest(covered).into()
}

fn finding(rule: &'static Rule, place: Place, text: &str, observed: Observation) -> Finding {
    let digest = digest(rule, text, &observed.span);
    let (excerpt, caret) = quote(text, &observed.span);
    let decoded = observed.decoded.map(|text| wire::escape::snippet(&text, 300));
    let place = Place { span: observed.span, ..place };
    Finding {
        rule,
        severity: observed.severity,
        weight: observed.weight,
        place,
        excerpt,
        caret,
        message: observed.message,
        decoded,
        digest,
    }
}

/// How much what was decoded reads like orders, decoded further where it is in code again.
fn inner_score(text: &str, depth: usize) -> u32 {
    let plain = hidden::without(text);
    let own = phrasing::weigh(&plain).map_or(0, |found| u32::try_from(found.score).unwrap_or_default());
    if depth >= DEEPEST {
        return own;
    }
    let below = encoded::find(text).into_iter().map(|payload| inner_score(&payload.text, depth + 1) + 2);
    below.max().unwrap_or_default().max(own)
}

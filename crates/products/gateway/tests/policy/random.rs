//! Random rules and requests, the same for the same seed.

use gateway::access::{Action, PolicyRequest};
use serde_json::{Map, Value, json};

use crate::naive::{Expression, Rule};

const TOOLS: [&str; 7] = ["read_file", "read_dir", "Read_file", "delete_file", "search", "read_*", "réad_file"];
const URIS: [&str; 7] = [
    "file:///data/a",
    "file:///data/../etc/passwd",
    "file:///data/%2E%2e/etc",
    "file:///data\\..\\x",
    "file:///data/a..b",
    "file:///etc/passwd",
    "db://rows",
];
const PATTERNS: [&str; 9] = ["*", "read_*", "*file", "*delete*", "search", "re*_*le", "**", "read_file", ""];
const URI_PATTERNS: [&str; 6] = ["*", "file:///data/*", "*passwd", "db://rows", "file:*/a", "*..*"];
const SCOPES: [&str; 3] = ["files", "mail", "fil"];
const TEAMS: [&str; 3] = ["data", "sales", "Data"];
const MEMBERS: [(&str, &str); 7] = [
    ("claims", "team"),
    ("claims", "groups"),
    ("arguments", "path"),
    ("arguments", "depth"),
    ("annotations", "title"),
    ("claims", "level"),
    ("client", "name"),
];

pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// SplitMix64.
    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most as u64).unwrap_or_default()
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// True once in `times`.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn some(&mut self, all: &[&'static str], most: usize) -> Vec<&'static str> {
        (0..=self.below(most)).map(|_| self.of(all)).collect()
    }

    pub(crate) fn rules(&mut self) -> Vec<Rule> {
        (0..=self.below(6)).map(|_| self.rule()).collect()
    }

    fn rule(&mut self) -> Rule {
        Rule {
            allow: !self.once_in(3),
            tools: self.once_in(2).then(|| self.some(&PATTERNS, 3)),
            prompts: self.once_in(4).then(|| self.some(&PATTERNS, 2)),
            resources: self.once_in(3).then(|| self.some(&URI_PATTERNS, 2)),
            scopes: if self.once_in(4) { self.some(&SCOPES, 2) } else { Vec::new() },
            when: (!self.once_in(3)).then(|| self.expression(3)),
        }
    }

    fn expression(&mut self, depth: usize) -> Expression {
        let deeper = |random: &mut Self| Box::new(random.expression(depth - 1));
        let kinds = if depth == 0 { 9 } else { 13 };
        let (root, member) = self.of(&MEMBERS);
        match self.below(kinds) {
            0 => Expression::Equals(root, member, self.of(&TEAMS)),
            1 => Expression::Has(root, member),
            2 => Expression::AtMost(root, member, self.of(&[0, 2, 5])),
            3 => Expression::Begins(root, member, self.of(&["/data/", "d", ""])),
            4 => Expression::Member(self.of(&TEAMS), root, member),
            5 => Expression::Scope(self.of(&SCOPES)),
            6 => Expression::Kind(self.of(&["tool", "prompt", "resource"])),
            7 => Expression::NameBegins(self.of(&["read_", "file:", "s"])),
            8 if self.once_in(2) => Expression::Literal(self.once_in(2)),
            8 => Expression::Server(self.of(&["default", "other"])),
            9 => Expression::Not(deeper(self)),
            10 | 11 => Expression::And(deeper(self), deeper(self)),
            _ => Expression::Or(deeper(self), deeper(self)),
        }
    }

    pub(crate) fn request(&mut self) -> PolicyRequest {
        const METHODS: [&str; 8] = [
            "tools/call",
            "tools/call",
            "tools/list",
            "prompts/get",
            "prompts/list",
            "resources/read",
            "resources/list",
            "resources/subscribe",
        ];
        let method = self.of(&METHODS);
        let is_resource = method.starts_with("resources");
        let action = Action::of(method, is_resource).expect("a method that rules decide about");
        PolicyRequest {
            action,
            name: if is_resource { self.of(&URIS) } else { self.of(&TOOLS) }.to_owned(),
            claims: (!self.once_in(5)).then(|| self.claims()),
            certificate: None,
            arguments: (action.has_arguments() && !self.once_in(4)).then(|| self.arguments()),
            annotations: (!self.once_in(3)).then(|| json!({ "title": self.of(&["data", "Other"]) })),
            client: json!({ "name": self.of(&["data", "c"]), "version": "1" }),
            server: self.of(&["default", "other"]).to_owned(),
        }
    }

    fn claims(&mut self) -> Value {
        let mut claims = Map::new();
        if !self.once_in(3) {
            claims.insert("team".to_owned(), self.scalar());
        }
        if !self.once_in(3) {
            let groups: Vec<Value> = (0..self.below(3)).map(|_| self.scalar()).collect();
            claims.insert("groups".to_owned(), groups.into());
        }
        if !self.once_in(2) {
            claims.insert("level".to_owned(), self.of(&[-1, 2, 9]).into());
        }
        if !self.once_in(3) {
            claims.insert("scope".to_owned(), self.of(&["files", "files mail", "mail  fil", ""]).into());
        }
        claims.into()
    }

    fn arguments(&mut self) -> Value {
        let mut arguments = Map::new();
        if !self.once_in(4) {
            arguments.insert("path".to_owned(), self.of(&["/data/x", "/etc", "data"]).into());
        }
        if !self.once_in(4) {
            let depth = if self.once_in(5) { json!("2") } else { json!(self.of(&[0, 3, 7])) };
            arguments.insert("depth".to_owned(), depth);
        }
        arguments.into()
    }

    fn scalar(&mut self) -> Value {
        match self.below(8) {
            0 => json!(5),
            1 => json!(null),
            2 => json!(true),
            _ => json!(self.of(&TEAMS)),
        }
    }
}

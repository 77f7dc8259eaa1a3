//! The rules that `proof scan --intrusive` proves by calling the server. What counts as proof is in `crate::intrusive`.

use super::rule::{Class, Confidence, Phase, Rule, Severity, Threat};

const CALLED: &[Phase] = &[Phase::Exec];

/// Commands in arguments.
pub(crate) const COMMANDS: Rule = Rule {
    id: "scan.command-injection",
    title: "an argument that is run as a command or as code",
    severity: Severity::High,
    confidence: Confidence::High,
    weight: 100,
    owasp: "MCP05:2025",
    class: Class::NameCollisions,
    phases: CALLED,
    threats: &[Threat::T3],
    why: "Each string argument gets values that leave a shell's quotes or are code. Proof is a marker file that the command \
          creates, or the result of a calculation that stands nowhere in the value.",
    fix: "Start programs without a shell, with a list of arguments. Do not evaluate texts as code.",
};

/// Options in arguments.
pub(crate) const OPTIONS: Rule = Rule {
    id: "scan.argument-injection",
    title: "an argument that a program takes for an option",
    severity: Severity::High,
    confidence: Confidence::High,
    weight: 60,
    owasp: "MCP05:2025",
    class: Class::NameCollisions,
    phases: CALLED,
    threats: &[Threat::T3],
    why: "A value that begins with a dash is an option to the program that the server starts. Proof is a marker file that \
          the option has it create.",
    fix: "Put `--` before the arguments, and refuse values that begin with a dash.",
};

/// Tools that run commands because they are made for it.
pub(crate) const SHELL: Rule = Rule {
    id: "scan.runs-commands",
    title: "a tool that runs the commands it is given",
    severity: Severity::Info,
    confidence: Confidence::High,
    weight: 5,
    owasp: "MCP05:2025",
    class: Class::NameCollisions,
    phases: CALLED,
    threats: &[Threat::T3],
    why: "An argument that says it is a command, code or options got one that creates a marker file, and the file was \
          created. That is what such a tool is for, so it fails no scan; who may call it is worth a decision.",
    fix: "Run the server in a sandbox, and let the gateway ask the user before each call.",
};

/// Paths out of the folder.
pub(crate) const TRAVERSAL: Rule = Rule {
    id: "scan.path-traversal",
    title: "a path that leaves the folder that the server serves",
    severity: Severity::High,
    confidence: Confidence::High,
    weight: 80,
    owasp: "MCP05:2025",
    class: Class::DataLeakage,
    phases: CALLED,
    threats: &[Threat::T2, Threat::T3],
    why: "Files with random content are planted next to the folder of `--plant`. Proof is that content in an answer, or a \
          planted file that changed. Spellings: `../`, encoded, absolute, NUL, a folder whose name begins the same. A link \
          within the folder is medium: someone must have made it.",
    fix: "Resolve links and `..` first, then compare whole path components with the folder.",
};

/// Requests to this machine.
pub(crate) const SSRF: Rule = Rule {
    id: "scan.ssrf",
    title: "the server fetches addresses of its own machine",
    severity: Severity::High,
    confidence: Confidence::High,
    weight: 60,
    owasp: "MCP05:2025",
    class: Class::DataLeakage,
    phases: CALLED,
    threats: &[Threat::T2, Threat::T3],
    why: "Addresses of a canary on loopback are passed, each with a random path. Proof is a request for that path. Severity is \
          medium where the plain address is fetched: the server refuses nothing. It is high where the plain address is \
          refused and another spelling, or a redirect, gets past the check.",
    fix: "Resolve the name, refuse private addresses, connect to the address that was checked, and check every redirect.",
};

/// Definitions that do not stay.
pub(crate) const CHANGING: Rule = Rule {
    id: "scan.changing-definition",
    title: "a tool that is described differently the next time",
    severity: Severity::High,
    confidence: Confidence::High,
    weight: 60,
    owasp: "MCP03:2025",
    class: Class::ContextPoisoning,
    phases: CALLED,
    threats: &[Threat::T1],
    why: "Everything is listed twice, again after calls, and in a new session under the name of a known assistant. Another \
          text, or a new member with a description, was not what a person reviewed. Other values are medium; numbers, the \
          order of words and what differs in every session are low. Items that come or go are not reported.",
    fix: "Return one definition to everybody. Pin it with `proof lock`.",
};

/// States that anybody can write.
pub(crate) const STATE: Rule = Rule {
    id: "scan.request-state",
    title: "a requestState that the server accepts although it was changed",
    severity: Severity::High,
    confidence: Confidence::High,
    weight: 60,
    owasp: "MCP07:2025",
    class: Class::CrossSession,
    phases: CALLED,
    threats: &[Threat::T3],
    why: "Values in a readable `requestState` are replaced by canaries. Proof is the result of an unchanged state, but with the \
          canary. A state of one tool is also sent to another: proof is that it is accepted where an invented state is refused.",
    fix: "Protect the state with an HMAC over principal, tool, arguments and expiry, and refuse every other state.",
};

/// Tokens for others.
pub(crate) const AUDIENCE: Rule = Rule {
    id: "scan.token-audience",
    title: "a token for another server is accepted",
    severity: Severity::High,
    confidence: Confidence::High,
    weight: 80,
    owasp: "MCP07:2025",
    class: Class::UnauthorizedContext,
    phases: CALLED,
    threats: &[Threat::T3],
    why: "An attacker with a token of a user for another server could use it here. Proof is a server that refuses requests \
          without a token and answers one with the token of `--other-audience-env`, whose `aud` does not name it.",
    fix: "Accept a token only if its `aud` names this server.",
};

/// All of them, in the order of reports.
pub const ACTIVE: [&Rule; 8] = [&COMMANDS, &OPTIONS, &SHELL, &TRAVERSAL, &SSRF, &CHANGING, &STATE, &AUDIENCE];

impl Rule {
    /// Whether only `proof scan --intrusive` looks for it.
    pub fn is_active(&self) -> bool {
        ACTIVE.iter().any(|rule| rule.id == self.id)
    }
}

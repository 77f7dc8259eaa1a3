//! The table of rules. How each looks for its subject is in the module of its name.

use super::active;
use super::rule::{Class, Confidence, Phase, Rule, Severity, Threat};

/// The list that the `owasp` ids of rules are from.
pub const OWASP: &str = "OWASP MCP Top 10 v0.1 (2025)";

/// The rule of an id.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}

/// All rules, in the order of reports.
pub const RULES: &[&Rule] = &[
    &HIDDEN,
    &TERMINAL,
    &ENCODED,
    &MARKUP,
    &SCRIPTS,
    &LOOKALIKE,
    &SHADOWING,
    &INJECTION,
    &SCHEMA,
    &PARAMETERS,
    &ANNOTATIONS,
    &FLOWS,
    &SECRETS,
    &LAUNCH,
    &active::COMMANDS,
    &active::OPTIONS,
    &active::SHELL,
    &active::TRAVERSAL,
    &active::SSRF,
    &active::CHANGING,
    &active::STATE,
    &active::AUDIENCE,
];

/// Rules that read lists and configurations.
const LISTED: &[Phase] = &[Phase::Install, Phase::Update];
/// Rules that read results as well.
const ALWAYS: &[Phase] = &Phase::ALL;

/// Invisible characters.
pub(super) const HIDDEN: Rule = Rule {
    id: "scan.hidden-characters",
    title: "characters that people do not see and models read",
    severity: Severity::High,
    confidence: Confidence::High,
    weight: 40,
    owasp: "MCP03:2025",
    class: Class::ContextPoisoning,
    phases: ALWAYS,
    threats: &[Threat::T1],
    why: "Zero-width characters, bidirectional overrides, Unicode tags and runs of variation selectors are not shown on a \
          screen, but a model reads them. Text in tags and variation selectors is decoded and scanned again. Joiners within \
          emoji and within scripts that need them are allowed.",
    fix: "Remove these characters from the text. If the server is not yours, do not use it before its author explains them.",
};

/// Escape sequences.
pub(super) const TERMINAL: Rule = Rule {
    id: "scan.terminal-escapes",
    title: "control characters and escape sequences of terminals",
    severity: Severity::High,
    confidence: Confidence::High,
    weight: 40,
    owasp: "MCP03:2025",
    class: Class::ContextPoisoning,
    phases: ALWAYS,
    threats: &[Threat::T1],
    why: "Escape sequences (ANSI, OSC) can hide or overwrite text when it is reviewed in a terminal, while the model reads \
          all of it.",
    fix: "Remove the control characters. Descriptions and names need none but line feeds and tabs.",
};

/// Payloads in base64 or hexadecimal.
pub(super) const ENCODED: Rule = Rule {
    id: "scan.encoded-payload",
    title: "text hidden in base64 or hexadecimal",
    severity: Severity::High,
    confidence: Confidence::High,
    weight: 25,
    owasp: "MCP03:2025",
    class: Class::ContextPoisoning,
    phases: ALWAYS,
    threats: &[Threat::T1],
    why: "A model can decode base64 and hexadecimal, and a reviewer does not read it. Runs that decode to readable text are \
          reported; the decoded text is scanned again. Results of tools are decoded but not reported for this alone.",
    fix: "Write the text in plain words.",
};

/// HTML comments and invisible elements.
pub(super) const MARKUP: Rule = Rule {
    id: "scan.hidden-markup",
    title: "comments and invisible elements of HTML or Markdown",
    severity: Severity::High,
    confidence: Confidence::Medium,
    weight: 15,
    owasp: "MCP03:2025",
    class: Class::ContextPoisoning,
    phases: ALWAYS,
    threats: &[Threat::T1],
    why: "A client that renders Markdown or HTML does not show comments and elements that are styled away. The model reads \
          them. Severity is high where the hidden text gives instructions.",
    fix: "Remove the comment, or make its text part of the visible description.",
};

/// Homoglyphs.
pub(super) const SCRIPTS: Rule = Rule {
    id: "scan.mixed-scripts",
    title: "look-alike letters of another script",
    severity: Severity::High,
    confidence: Confidence::High,
    weight: 30,
    owasp: "MCP03:2025",
    class: Class::NameCollisions,
    phases: LISTED,
    threats: &[Threat::T1, Threat::T3],
    why: "A word of Latin letters with a Cyrillic, Greek or other letter of the same look among them can imitate another \
          tool or a word that filters look for. Severity is high in names, medium in texts.",
    fix: "Write the word in the letters of one script.",
};

/// Names that are nearly those of another server.
pub(super) const LOOKALIKE: Rule = Rule {
    id: "scan.lookalike-name",
    title: "names of two servers that are the same or look the same",
    severity: Severity::High,
    confidence: Confidence::Medium,
    weight: 20,
    owasp: "MCP03:2025",
    class: Class::NameCollisions,
    phases: LISTED,
    threats: &[Threat::T1, Threat::T3],
    why: "A client may call the wrong one of two tools whose names are alike. Severity is high where letters are replaced by \
          look-alikes, medium where a copied description makes the replacement likely, info where only the names are equal.",
    fix: "Rename one of the tools, or let the gateway put the server's name before it.",
};

/// A description that names another server's tool.
pub(super) const SHADOWING: Rule = Rule {
    id: "scan.shadowing",
    title: "a description gives orders about another server's tool",
    severity: Severity::High,
    confidence: Confidence::Medium,
    weight: 30,
    owasp: "MCP03:2025",
    class: Class::PromptInjection,
    phases: LISTED,
    threats: &[Threat::T1, Threat::T3],
    why: "A server need not refer to another server's tools. A description that names one together with an instruction can \
          change how the model uses it. Severity is high with an order, info where the name is only mentioned.",
    fix: "Remove the reference. If the server is not yours, do not run it together with the other one.",
};

/// Instructions to the model.
pub(super) const INJECTION: Rule = Rule {
    id: "scan.injection",
    title: "text that gives orders to the model",
    severity: Severity::High,
    confidence: Confidence::Medium,
    weight: 30,
    owasp: "MCP03:2025",
    class: Class::PromptInjection,
    phases: ALWAYS,
    threats: &[Threat::T1, Threat::T2],
    why: "Weighted evidence within a few sentences: concealment from the user, orders to call or read something first, \
          commands to run, changed arguments, pretexts, tags of chat formats, paths of secrets. Counter-evidence lowers the \
          sum. Severity is medium from 5 on; from 7 on it is high, unless all of it is what documentation has, too.",
    fix: "Describe what the tool does, and leave to the model when to use it. If the server is not yours, do not use it.",
};

/// Texts in odd places of a schema.
pub(super) const SCHEMA: Rule = Rule {
    id: "scan.schema-poisoning",
    title: "a schema carries a URL, path or order where a value belongs",
    severity: Severity::Medium,
    confidence: Confidence::Medium,
    weight: 10,
    owasp: "MCP03:2025",
    class: Class::ContextPoisoning,
    phases: LISTED,
    threats: &[Threat::T1, Threat::T2],
    why: "Models fill in `default`, `const` and `enum` without a question, and read `$comment`. Reported are paths of \
          secrets, foreign URLs in constants, sentences in enums and defaults, and texts in comments.",
    fix: "Keep values short, and explain them in `description`.",
};

/// Parameters that collect context.
pub(super) const PARAMETERS: Rule = Rule {
    id: "scan.exfiltration-parameter",
    title: "a parameter that collects what the model knows",
    severity: Severity::Medium,
    confidence: Confidence::Low,
    weight: 10,
    owasp: "MCP10:2025",
    class: Class::DataLeakage,
    phases: LISTED,
    threats: &[Threat::T2],
    why: "A free text parameter named after the conversation, the system prompt or a side note has a model hand over its \
          context. Severity is medium where its name can mean nothing else, low otherwise.",
    fix: "Ask for the one value that the tool needs.",
};

/// Hints that the words contradict.
pub(super) const ANNOTATIONS: Rule = Rule {
    id: "scan.annotation-conflict",
    title: "annotations that contradict what the tool says it does",
    severity: Severity::Medium,
    confidence: Confidence::Medium,
    weight: 10,
    owasp: "MCP02:2025",
    class: Class::UnauthorizedContext,
    phases: LISTED,
    threats: &[Threat::T3],
    why: "Clients call tools with `readOnlyHint: true` without a question. A name that begins with a verb of change \
          contradicts it; a verb of deletion contradicts `destructiveHint: false`.",
    fix: "Correct the annotation, or the name.",
};

/// Paths from what is private to the outside.
pub(super) const FLOWS: Rule = Rule {
    id: "scan.toxic-flow",
    title: "untrusted input, private data and a way out in one session",
    severity: Severity::Medium,
    confidence: Confidence::Low,
    weight: 5,
    owasp: "MCP10:2025",
    class: Class::DataLeakage,
    phases: LISTED,
    threats: &[Threat::T2, Threat::T3],
    why: "A model that reads foreign text, can read private data and can send something out can be made to send the one to \
          the other. Tools are labelled by their names' verbs and their annotations, across all servers scanned together.",
    fix: "Separate the servers into different sessions, or let a policy of the gateway deny the chain.",
};

/// Secrets.
pub(super) const SECRETS: Rule = Rule {
    id: "scan.secret",
    title: "a secret in plain text",
    severity: Severity::High,
    confidence: Confidence::Medium,
    weight: 30,
    owasp: "MCP01:2025",
    class: Class::DataLeakage,
    phases: ALWAYS,
    threats: &[Threat::T2],
    why: "Keys of known forms and private keys in texts, and literal values of secret variables and headers in a client's \
          configuration. The value is never printed. Examples and placeholders are passed over.",
    fix: "Revoke the secret, and refer to an environment variable or a secret store.",
};

/// Commands that run whatever is newest.
pub(super) const LAUNCH: Rule = Rule {
    id: "scan.unpinned-launch",
    title: "a launch command that runs whatever version is newest",
    severity: Severity::Medium,
    confidence: Confidence::High,
    weight: 5,
    owasp: "MCP04:2025",
    class: Class::SupplyChain,
    phases: LISTED,
    threats: &[Threat::T3],
    why: "`npx pkg`, `uvx pkg` and an image without a digest or version run other code tomorrow than today, without a \
          review.",
    fix: "Name the version (`pkg@1.2.3`, `pkg==1.2.3`), or for an image the digest.",
};

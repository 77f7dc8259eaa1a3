//! Who looks at calls on their way, and what each may do. Values only.

use std::time::Duration;

use net::HttpAddress;
use net::process::Command;

/// Something outside the gateway that looks at calls before they run, and at their results.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a member of the configuration")]
pub struct InterceptorSettings {
    /// Its name in logs, metrics and the audit log.
    pub name: String,
    /// Where it is.
    pub target: InterceptorTarget,
    /// The methods whose requests it sees.
    pub methods: Vec<String>,
    /// Names of tools and prompts as clients see them, and URIs, with `*`; everything without patterns.
    pub names: Vec<String>,
    /// Whether it sees requests before they run.
    pub before: bool,
    /// Whether it sees what came of them.
    pub after: bool,
    /// How long one answer may take.
    pub timeout: Duration,
    /// The longest answer, in bytes.
    pub answer_bytes: usize,
    /// A call goes on where the interceptor fails; without this the call fails.
    pub fails_open: bool,
    /// How many requests it gets at once.
    pub at_once: usize,
    /// The claims of the token that it learns.
    pub claims: Vec<String>,
    /// The headers that it may add to requests to the server, in lower case.
    pub headers: Vec<String>,
    /// It gets arguments and results with the secrets in them.
    pub passes_secrets: bool,
    /// How often it may have a call sent again.
    pub retries: u32,
}

/// Where an interceptor is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InterceptorTarget {
    /// An HTTP endpoint.
    Http(HttpAddress),
    /// A program that reads and writes lines; it gets the variables with these names of our environment, too.
    Command(Command, Vec<String>),
}

impl InterceptorSettings {
    /// One that sees calls of tools, before and after, and may add no header.
    pub fn new(name: &str, target: InterceptorTarget) -> Self {
        Self {
            name: name.to_owned(),
            target,
            methods: vec!["tools/call".to_owned()],
            names: Vec::new(),
            before: true,
            after: true,
            timeout: Duration::from_secs(1),
            answer_bytes: 1 << 20,
            fails_open: false,
            at_once: 32,
            claims: vec!["sub".to_owned()],
            headers: Vec::new(),
            passes_secrets: false,
            retries: 0,
        }
    }
}

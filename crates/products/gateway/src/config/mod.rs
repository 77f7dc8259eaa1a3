//! Reads `gateway.yaml` (`docs/gateway-config.md`) into [`Settings`] and reports all errors at once, with their places. It
//! starts and connects nothing, and no error shows a value that a variable or a file holds.

mod access;
mod answers;
mod assertions;
mod audit;
mod authzen;
mod bridge;
pub(crate) mod budgets;
mod consents;
mod context;
mod credentials;
mod egress;
mod guards;
mod inputs;
mod interceptors;
mod listen;
mod locks;
mod members;
mod outputs;
mod policy;
mod replicas;
mod sandbox;
mod sanitize;
mod search;
mod servers;
mod slo;
mod sources;
mod store;
mod tasks;
mod telemetry;
mod traffic;
mod units;
mod upstream;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use document::{Content, Entry, FileError, FileErrors, Node, quoted};
use net::egress::EgressRules;
use url::Url;

use self::members::Members;
pub use self::policy::read_policy;
use self::sources::Sources;
use crate::settings::{AssertionKeys, Limits, ServerSettings, Settings, UpstreamSettings};

/// The maximum size of a file, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// The longest duration.
const MAX_DURATION: Duration = Duration::from_hours(24);
/// The smallest and the largest `message_bytes`.
const MESSAGE_BYTES: (usize, usize) = (1 << 10, 1 << 30);
/// The smallest size at which a file may end, in bytes.
const LEAST_FILE: u64 = 64 << 10;
/// The largest number of sessions with one upstream.
const MAX_SESSIONS: usize = 10_000;

const MEMBERS: &[&str] = &[
    "$schema",
    "definitions",
    "listen",
    "admin",
    "allow_hosts",
    "allow_origins",
    "upstreams",
    "servers",
    "auth",
    "access",
    "authzen",
    "ready",
    "record",
    "audit",
    "store",
    "replicas",
    "consents",
    "assertions",
    "idempotency",
    "cache",
    "errors",
    "budgets",
    "slo",
    "tasks",
    "traffic",
    "context",
    "sanitize",
    "confirm",
    "sequences",
    "inputs",
    "outputs",
    "search",
    "lock",
    "telemetry",
    "egress",
    "interceptors",
    "limits",
];
const LIMITS: &[&str] =
    &["request", "request_total", "start", "list", "shutdown", "answer", "idle", "drain", "message_bytes", "sessions"];

/// Reads the settings from the text of `file`, a path for messages and relative paths. Takes the values that the text refers
/// to from our environment and from files.
pub fn read(text: &str, file: &str) -> Result<Settings, FileErrors> {
    read_with(text, file, Sources { variable: &|name| std::env::var(name), file: &sources::read_file })
}

/// The JSON Schema of such files, for editors: it describes the same members as the reader does.
pub fn schema() -> &'static str {
    include_str!("../../../../../docs/gateway.schema.json")
}

fn read_with(text: &str, file: &str, sources: Sources<'_>) -> Result<Settings, FileErrors> {
    let refuse = |error| FileErrors::new(file, vec![error]);
    if text.len() > MAX_BYTES {
        let what = "the file is larger than 1 MiB";
        return Err(refuse(FileError::new(None, what, "check the path: it must be a gateway's file")));
    }
    let (tree, errors) = document::read(text).map_err(|error| refuse(without_value(error)))?;
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let mut reader = Reader::new(sources, folder, errors);
    match reader.settings(&tree) {
        Some(settings) if reader.errors.is_empty() => Ok(settings),
        _ => Err(FileErrors::new(file, reader.errors)),
    }
}

/// The error without the value that it quotes: a secret without quotes may look like a tag or a number.
fn without_value(mut error: FileError) -> FileError {
    if let (Some(begin), Some(end)) = (error.what.find('`'), error.what.rfind('`'))
        && begin < end
        && &error.what[begin..=end] != "`<<`"
    {
        error.what.replace_range(begin..=end, "`…`");
    }
    error
}

struct Reader<'s> {
    sources: Sources<'s>,
    /// Where relative paths start.
    folder: &'s Path,
    errors: Vec<FileError>,
    /// Where the gateway may connect to, unless an upstream says otherwise.
    egress: EgressRules,
    /// What `assertion` of an upstream needs.
    assertion_keys: Option<AssertionKeys>,
    /// The file has that section, right or wrong.
    has_assertion_keys: bool,
}

impl<'s> Reader<'s> {
    fn new(sources: Sources<'s>, folder: &'s Path, errors: Vec<FileError>) -> Self {
        let (assertion_keys, has_assertion_keys) = (None, false);
        Self { sources, folder, errors, egress: egress::without_section(), assertion_keys, has_assertion_keys }
    }
}

impl Reader<'_> {
    fn settings(&mut self, tree: &Node) -> Option<Settings> {
        let members = self.members("the file", tree.at, tree, MEMBERS)?;
        if let Some(entry) = members.get("$schema") {
            self.text(entry);
        }
        let has_auth = members.get("auth").is_some();
        let (listen, tls) = members.get("listen").map(|entry| self.listen(entry, has_auth)).unwrap_or_default();
        let admin = members.get("admin").and_then(|entry| self.address(entry));
        let hosts = members.get("allow_hosts").map(|entry| self.hosts(entry)).unwrap_or_default();
        let origins = members.get("allow_origins").map(|entry| self.origins(entry)).unwrap_or_default();
        let limits = members.get("limits").map(|entry| self.limits(entry)).unwrap_or_default();
        if let Some(rules) = members.get("egress").and_then(|entry| self.egress(entry, "egress")) {
            self.egress = rules;
        }
        let (upstreams, servers) = self.behind(tree, &members, has_auth);
        let (auth, bridge) = members.get("auth").map(|entry| self.auth(entry)).unwrap_or_default();
        let access = members.get("access").map(|entry| self.access(entry, has_auth));
        let authzen = members.get("authzen").and_then(|entry| self.authzen(entry, has_auth)).map(Box::new);
        let ready = members.get("ready").map(|entry| self.ready(entry, &upstreams)).unwrap_or_default();
        let consents = self.consents(tree.at, &members, (&upstreams, bridge.is_some()));
        let traffic = members.get("traffic").and_then(|entry| self.traffic(entry, &upstreams));
        let context = members.get("context").and_then(|entry| self.context(entry, has_auth, &upstreams));
        let store = self.section(&members, "store", Self::store);
        let replicas = self.replicas(&members, store.as_ref());
        let lock = members.get("lock").and_then(|entry| self.lock(entry, &upstreams));
        Some(Settings {
            listen,
            tls,
            admin,
            hosts,
            origins,
            upstreams,
            servers,
            auth,
            bridge,
            access,
            authzen,
            ready,
            record: self.section(&members, "record", Self::record),
            audit: self.section(&members, "audit", Self::audit),
            store,
            replicas,
            consents,
            assertions: self.assertion_keys.take(),
            answers: self.answers(&members),
            budgets: members.get("budgets").and_then(|entry| self.budgets(entry, has_auth)),
            slo: self.section(&members, "slo", Self::slo),
            tasks: self.section(&members, "tasks", Self::tasks),
            traffic,
            context,
            sanitize: members.get("sanitize").and_then(|entry| self.sanitize(entry, has_auth)),
            interceptors: members.get("interceptors").map(|entry| self.interceptors(entry)).unwrap_or_default(),
            confirm: self.section(&members, "confirm", Self::confirm),
            sequences: members.get("sequences").map(|entry| self.sequences(entry)).unwrap_or_default(),
            inputs: self.section(&members, "inputs", Self::inputs),
            outputs: self.section(&members, "outputs", Self::outputs),
            search: self.section(&members, "search", Self::search),
            lock,
            telemetry: self.section(&members, "telemetry", Self::telemetry),
            limits,
        })
    }

    /// A section of the file that needs to know no other.
    fn section<T>(
        &mut self,
        members: &Members<'_>,
        name: &str,
        read: impl FnOnce(&mut Self, &Entry) -> Option<T>,
    ) -> Option<T> {
        members.get(name).and_then(|entry| read(self, entry))
    }

    /// The servers behind the gateway, and those that it shows.
    fn behind(
        &mut self,
        tree: &Node,
        members: &Members<'_>,
        has_auth: bool,
    ) -> (Vec<UpstreamSettings>, Vec<ServerSettings>) {
        self.has_assertion_keys = members.get("assertions").is_some();
        self.assertion_keys = self.section(members, "assertions", Self::assertion_keys);
        let upstreams = members.get("upstreams").map(|entry| self.upstreams(entry, has_auth));
        // A misspelt key was reported as unknown.
        if upstreams.is_none() && !members.has_unknown {
            self.error(tree.at, "the file has no `upstreams`", "add `upstreams` with at least one entry");
        }
        let upstreams = upstreams.unwrap_or_default();
        let servers = members.get("servers").map(|entry| self.servers(entry, &upstreams)).unwrap_or_default();
        if let Some(entry) = members.get("servers").filter(|_| !servers.is_empty() && self.errors.is_empty()) {
            self.unused_upstreams(entry.at, &servers, &upstreams);
        }
        (upstreams, servers)
    }

    fn address(&mut self, entry: &Entry) -> Option<SocketAddr> {
        let text = self.text(entry)?;
        let address = text.parse().ok();
        if address.is_none() {
            let what = format!("{} is not an IP address with a port", quoted(text));
            self.error(entry.at, what, "127.0.0.1:3000, or \"[::1]:3000\" in quotes");
        }
        address
    }

    fn hosts(&mut self, entry: &Entry) -> Vec<String> {
        let mut hosts = Vec::new();
        for (text, at) in self.texts(entry, "[mcp.example]") {
            let url = Url::parse(&format!("http://{text}/")).ok();
            if url.is_some_and(|url| url.path() == "/" && url.username().is_empty() && url.password().is_none()) {
                hosts.push(text.to_owned());
            } else {
                self.error(at, format!("{} is not a host name", quoted(text)), "mcp.example or mcp.example:3000");
            }
        }
        hosts
    }

    fn origins(&mut self, entry: &Entry) -> Vec<String> {
        let mut origins = Vec::new();
        for (text, at) in self.texts(entry, "[https://app.example]") {
            // The server compares letter by letter with what browsers send.
            let origin = Url::parse(text).ok().map(|url| url.origin().ascii_serialization());
            match origin.filter(|origin| origin != "null") {
                Some(origin) if origin == text => origins.push(origin),
                Some(origin) => self.error(at, format!("{} is not an origin", quoted(text)), quoted(&origin)),
                None => {
                    let remedy = "a scheme, a host and perhaps a port: https://app.example:8443";
                    self.error(at, format!("{} is not an origin", quoted(text)), remedy);
                }
            }
        }
        origins
    }

    fn limits(&mut self, entry: &Entry) -> Limits {
        let mut limits = Limits::default();
        let Some(members) = self.members("`limits`", entry.at, &entry.node, LIMITS) else { return limits };
        for (name, limit) in [
            ("request", &mut limits.request),
            ("request_total", &mut limits.request_total),
            ("start", &mut limits.start),
            ("list", &mut limits.list),
            ("shutdown", &mut limits.shutdown),
            ("answer", &mut limits.answer),
            ("idle", &mut limits.idle),
            ("drain", &mut limits.drain),
        ] {
            if let Some(duration) = members.get(name).and_then(|entry| self.duration(entry)) {
                *limit = duration;
            }
        }
        if let Some(bytes) =
            members.get("message_bytes").and_then(|entry| self.size(entry, MESSAGE_BYTES, "1KiB to 1024MiB"))
        {
            limits.message_bytes = bytes;
        }
        if let Some(sessions) = members.get("sessions").and_then(|entry| self.whole_number(entry, MAX_SESSIONS, "256"))
        {
            limits.sessions = sessions;
        }
        limits
    }

    fn duration(&mut self, entry: &Entry) -> Option<Duration> {
        let found = match &entry.node.content {
            Content::Text(text) => {
                let duration = units::duration(text);
                if let Some(duration) = duration.filter(|time| !time.is_zero() && *time <= MAX_DURATION) {
                    return Some(duration);
                }
                let what = if duration.is_some() { "is out of range" } else { "is not a duration" };
                format!("{} {what}", quoted(text))
            }
            Content::Number(number) => format!("{} has no unit", quoted(&number.to_string())),
            other => format!("{} {}, not a duration", quoted(&entry.key), members::is(other)),
        };
        self.error(entry.at, found, "1ms to 24h: a whole number with ms, s, m or h, such as 30s");
        None
    }

    fn size(&mut self, entry: &Entry, (least, most): (usize, usize), range: &str) -> Option<usize> {
        let (bytes, found) = match &entry.node.content {
            Content::Text(text) => (units::bytes(text), quoted(text)),
            Content::Number(number) => {
                (number.as_u64().and_then(|bytes| usize::try_from(bytes).ok()), quoted(&number.to_string()))
            }
            other => {
                let what = format!("{} {}, not a size", quoted(&entry.key), members::is(other));
                self.error(entry.at, what, "a number of bytes, or such as 512KiB or 128MiB");
                return None;
            }
        };
        let fits = bytes.filter(|bytes| (least..=most).contains(bytes));
        if fits.is_none() {
            let what = if bytes.is_some() { "is out of range" } else { "is not a size" };
            let remedy = format!("{range}: a number of bytes, or with KiB or MiB");
            self.error(entry.at, format!("{found} {what}"), remedy);
        }
        fits
    }

    /// The size at which a file of recordings or of a log ends.
    fn file_bytes(&mut self, entry: &Entry) -> Option<u64> {
        let bytes = match &entry.node.content {
            Content::Text(text) => units::bytes(text).map(|bytes| bytes as u64),
            Content::Number(number) => number.as_u64(),
            _ => None,
        };
        let fits = bytes.filter(|bytes| *bytes >= LEAST_FILE);
        if fits.is_none() {
            self.error(entry.at, "`file_bytes` is not a size from 64KiB", "64MiB");
        }
        fits
    }

    fn whole_number(&mut self, entry: &Entry, most: usize, example: &str) -> Option<usize> {
        let number = match &entry.node.content {
            Content::Number(number) => number.as_u64().and_then(|number| usize::try_from(number).ok()),
            _ => None,
        };
        let fits = number.filter(|number| (1..=most).contains(number));
        if fits.is_none() {
            let what = format!("{} is not a whole number from 1 to {most}", quoted(&entry.key));
            self.error(entry.at, what, format!("a number such as {example}"));
        }
        fits
    }

    /// The members of a mapping with names that the user chooses. With `ignore_case`, names that differ only in case are
    /// duplicates.
    fn named<'n>(&mut self, entry: &'n Entry, example: &str, ignore_case: bool) -> Vec<&'n Entry> {
        let Content::Map(entries) = &entry.node.content else {
            self.wrong_type(&quoted(&entry.key), entry.at, &entry.node, "a mapping", example);
            return Vec::new();
        };
        let mut seen = HashSet::new();
        let mut named = Vec::new();
        for entry in entries {
            if ignore_case && !seen.insert(entry.key.to_ascii_lowercase()) {
                let what = format!("duplicate key {}: upper and lower case are the same here", quoted(&entry.key));
                self.error(entry.at, what, "remove one of them");
            } else {
                named.push(entry);
            }
        }
        named
    }
}

#[cfg(test)]
mod tests;

//! The parts of a message whose shape the protocol fixes. Texts are looked through there, and names that others refer to stay;
//! whatever the protocol does not name is data, whose shape its server chooses. Must not know what is removed.

/// Members whose texts are names or bytes: another spelling would name something else.
const NAMES: [&str; 26] = [
    "$ref",
    "blob",
    "cacheScope",
    "createdAt",
    "cursor",
    "data",
    "elicitationId",
    "id",
    "lastUpdatedAt",
    "level",
    "method",
    "mimeType",
    "mode",
    "name",
    "nextCursor",
    "progressToken",
    "protocolVersion",
    "requestId",
    "requestState",
    "resultType",
    "role",
    "taskId",
    "toolUseId",
    "type",
    "uri",
    "uriTemplate",
];

/// Members whose numbers the protocol needs.
const NUMBERS: [&str; 10] =
    ["code", "id", "pollInterval", "progress", "progressToken", "requestId", "size", "total", "ttl", "ttlMs"];

/// Members whose objects and lists have a shape of the protocol.
const FIXED: [&str; 24] = [
    "annotations",
    "capabilities",
    "completion",
    "content",
    "contents",
    "error",
    "icons",
    "messages",
    "modelPreferences",
    "notifications",
    "params",
    "prompts",
    "resource",
    "resourceTemplates",
    "resources",
    "result",
    "serverInfo",
    "task",
    "tasks",
    "toolChoice",
    "tools",
    "values",
    "hints",
    "subscriptions",
];

/// Members that hold a JSON Schema.
const SCHEMAS: [&str; 3] = ["inputSchema", "outputSchema", "requestedSchema"];

/// Members of `_meta` that the protocol and the gateway need, by how they begin.
const META: [&str; 6] =
    ["io.modelcontextprotocol/", "dev.proofhouse/", "progressToken", "traceparent", "tracestate", "baggage"];

/// What is known of the members of an object, or of the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// They are the protocol's.
    Fixed,
    /// Their names are anybody's, their values the protocol's.
    Keyed,
    /// They are `_meta`.
    Meta,
    /// They belong together and stay, but for their texts.
    Kept,
    /// They are the server's.
    Data,
}

impl Shape {
    /// The shape of the object or list under this name; items of a list have no name.
    pub(super) fn under(self, name: &str) -> Self {
        match self {
            Self::Keyed => Self::Fixed,
            Self::Kept | Self::Data => self,
            _ if name.is_empty() => self,
            Self::Meta if is_needed(name) => Self::Kept,
            Self::Fixed if name == "_meta" => Self::Meta,
            Self::Fixed if name == "inputRequests" => Self::Keyed,
            Self::Fixed if SCHEMAS.contains(&name) => Self::Kept,
            Self::Fixed if FIXED.contains(&name) => Self::Fixed,
            Self::Meta | Self::Fixed => Self::Data,
        }
    }

    /// Whether the text under this name stays.
    pub(super) fn keeps_text(self, name: &str) -> bool {
        if self == Self::Meta { is_needed(name) } else { NAMES.contains(&name) }
    }

    /// Whether the number under this name stays.
    pub(super) fn keeps_number(self, name: &str) -> bool {
        match self {
            Self::Meta => is_needed(name),
            Self::Kept => true,
            _ => NUMBERS.contains(&name),
        }
    }

    /// Whether names of members may be anything.
    pub(super) fn has_free_names(self) -> bool {
        matches!(self, Self::Fixed | Self::Meta)
    }
}

fn is_needed(name: &str) -> bool {
    META.iter().any(|begin| name == *begin || (begin.ends_with('/') && name.starts_with(begin)))
}

//! The reserved keys of `_meta`, our own, and the names of extensions, spelled once. Must not know what a method does with them.

/// Prefix of every key that the specification reserves.
pub const PREFIX: &str = "io.modelcontextprotocol/";
/// The revision of a modern request.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Name and version of the client, in a modern request.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// What the client declares, in a modern request.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Name and version of the server, in a modern result.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The lowest level of log messages that a modern request asks for.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The subscription that a modern notification belongs to.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// The task that a message belongs to (2025-11-25).
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// The tasks extension, among declared extensions.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// The same as a dotted path of capabilities.
pub const TASKS_CAPABILITY: &str = "extensions.io.modelcontextprotocol/tasks";
/// The extension for apps, among declared extensions (SEP-1865).
pub const APPS_EXTENSION: &str = "io.modelcontextprotocol/ui";
/// The media type of an app's page.
pub const APP_MEDIA: &str = "text/html;profile=mcp-app";
/// What a message lost between two revisions: a list of rows of the translation table. Our own key.
pub const LOSSES: &str = "dev.proofhouse/losses";
/// The key under which a call runs once: equal keys are one call. Our own key.
pub const IDEMPOTENCY_KEY: &str = "dev.proofhouse/idempotencyKey";
/// What kind of failure a result with `isError` is, and what to do about it: see [`crate::serf`]. Our own key.
pub const ERROR: &str = "dev.proofhouse/error";

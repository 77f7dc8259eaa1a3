"""An orchard's MCP server: varieties, trees and forecasts. Revision 2026-07-28, stateless.

    python3 server_orchard.py [--http PORT] [--fault NAME] [--list-faults]
"""

import base64
import hashlib
import hmac
import json
import os
import re
import secrets
import select
import socket
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

REVISION = "2026-07-28"
META = "io.modelcontextprotocol/"
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

FAULTS = [
    # HTTP
    ("h-origin-ignored", "http", "MUST", "http", "If the Origin header is present and invalid, servers MUST respond with HTTP 403 (streamable-http, Security & Endpoint)"),
    ("h-version-missing-ok", "headers", "MUST", "http", "A server that does not support older clients MUST reject a request without MCP-Protocol-Version (streamable-http, Protocol Version Header)"),
    ("h-version-mismatch-ok", "headers", "MUST", "http", "If the version header and _meta do not match, the server MUST reject with 400 and HeaderMismatch (streamable-http, Protocol Version Header)"),
    ("h-method-missing-ok", "headers", "MUST", "http", "A required standard header is missing: the server MUST reject (streamable-http, Server Validation)"),
    ("h-method-mismatch-ok", "headers", "MUST", "http", "Servers MUST reject requests where header values do not match the body (streamable-http, Server Validation)"),
    ("h-method-case-folded", "headers", "MUST", "http", "Header values are case-sensitive; servers MUST reject a value that does not match (streamable-http, Case Sensitivity)"),
    ("h-name-missing-ok", "headers", "MUST", "http", "A required standard header is missing: the server MUST reject (streamable-http, Server Validation)"),
    ("h-name-mismatch-ok", "headers", "MUST", "http", "Servers MUST reject requests where header values do not match the body (streamable-http, Server Validation)"),
    ("h-name-uri-unchecked", "headers", "MUST", "http", "Mcp-Name mirrors params.uri of resources/read; servers MUST reject a mismatch (streamable-http, Standard Request Headers)"),
    ("h-name-base64-kept", "headers", "MUST", "http", "Servers MUST decode an encoded Mcp-Name before comparing it (streamable-http, Value Encoding)"),
    ("h-param-missing-ok", "headers", "MUST", "http", "Client omits the header but the value is in the body: the server MUST reject (streamable-http, Server Behavior for Custom Headers)"),
    ("h-param-mismatch-ok", "headers", "MUST", "http", "Servers MUST validate that Mcp-Param values match the body (streamable-http, Server Behavior for Custom Headers)"),
    ("h-param-always-wanted", "headers", "MUST", "http", "Parameter not in arguments: the server MUST NOT expect the header (streamable-http, Server Behavior for Custom Headers)"),
    ("h-mismatch-code", "headers", "MUST", "http", "A header validation failure MUST carry the code -32020 (streamable-http, Server Validation)"),
    ("h-mismatch-200", "headers", "MUST", "http", "A header validation failure MUST have the HTTP status 400 (streamable-http, Server Validation)"),
    ("h-names-case-sensitive", "headers", "MUST", "http", "Servers MUST use case-insensitive comparisons for header names (streamable-http, Case Sensitivity)"),
    ("h-unknown-method-200", "http", "MUST", "http", "An RPC method that is not implemented MUST get 404 and -32601 (streamable-http, Protocol Version Header)"),
    ("h-unsupported-200", "http", "MUST", "http", "An unsupported version MUST get 400 (streamable-http, Protocol Version Header)"),
    ("h-capability-200", "http", "MUST", "http", "A missing client capability MUST get 400 on HTTP (basic, _meta)"),
    ("h-meta-200", "http", "MUST", "http", "A request without a required _meta field MUST get 400 on HTTP (basic, _meta)"),
    ("h-notification-200", "http", "MUST", "http", "A notification that is accepted MUST get 202 with no body (streamable-http, Sending Messages)"),
    ("h-get-opens-stream", "http", "SHOULD", "http", "HTTP GET SHOULD get 405 Method Not Allowed (streamable-http, Earlier Revisions)"),
    ("h-delete-ok", "http", "SHOULD", "http", "HTTP DELETE SHOULD get 405 Method Not Allowed (streamable-http, Earlier Revisions)"),
    ("h-session-minted", "http", "SHOULD", "http", "Servers SHOULD NOT mint or echo session IDs (streamable-http, Earlier Revisions)"),
    ("h-no-accel", "http", "SHOULD", "http", "Servers SHOULD include X-Accel-Buffering: no with an SSE stream (streamable-http, Receiving Messages)"),
    ("h-stream-left-open", "http", "SHOULD", "http", "The final response SHOULD terminate the stream (streamable-http, Receiving Messages)"),
    ("h-json-as-text", "http", "MUST", "http", "The server MUST return application/json or text/event-stream (streamable-http, Sending Messages)"),
    # stdio
    ("stdio-banner", "stdio", "MUST", "stdio", "The server MUST NOT write anything to stdout that is not a valid MCP message (stdio)"),
    ("stdio-pretty", "stdio", "MUST", "stdio", "Messages MUST NOT contain embedded newlines (stdio)"),
    ("stdio-eof-ignored", "stdio", "SHOULD", "stdio", "Servers SHOULD exit promptly when their standard input is closed (stdio, Shutdown)"),
    ("stdio-bad-json-exit", "stdio", "MUST", "stdio", "All messages MUST follow JSON-RPC 2.0, by which invalid JSON gets -32700 (basic, Messages)"),
    # versions and per-request metadata
    ("v-any-served", "versions", "MUST", "any", "A version that is not implemented MUST get UnsupportedProtocolVersionError (versioning, Protocol Version Negotiation)"),
    ("v-code-32602", "versions", "MUST", "any", "A version that is not implemented MUST get UnsupportedProtocolVersionError, -32022 (versioning)"),
    ("v-no-list", "versions", "MUST", "any", "The error MUST list the versions that the server supports (versioning; schema UnsupportedProtocolVersionError)"),
    ("v-claims-older", "versions", "MUST", "any", "supportedVersions are versions that the server supports: one of them is refused (discover; versioning)"),
    ("v-initialize-unnamed", "versions", "SHOULD", "stdio", "A modern-only server SHOULD name its versions in any error to initialize (versioning, Backward Compatibility)"),
    ("meta-remembered", "versions", "MUST", "stdio", "Servers MUST NOT rely on prior requests over the same connection; a request without _meta MUST be rejected (basic, Statelessness and _meta)"),
    ("meta-caps-optional", "versions", "MUST", "any", "A request without clientCapabilities MUST be rejected with -32602 (basic, _meta)"),
    ("meta-code-32600", "versions", "MUST", "any", "A request without a required _meta field MUST be rejected with -32602 (basic, _meta)"),
    ("caps-remembered", "versions", "MUST", "any", "Servers MUST NOT rely on prior requests to establish capabilities (basic, Statelessness)"),
    ("caps-ignored", "versions", "MUST", "any", "Servers MUST NOT send inputRequests that the client has not declared support for (mrtr, Server Requirements)"),
    ("caps-code", "versions", "MUST", "any", "A missing client capability MUST get -32021 (basic, _meta)"),
    ("caps-no-data", "versions", "MUST", "any", "data.requiredCapabilities MUST list the missing capabilities (basic, _meta)"),
    # discovery
    ("d-not-implemented", "discover", "MUST", "any", "Servers MUST implement server/discover (discover)"),
    ("d-version-string", "discover", "MUST", "any", "supportedVersions is an array of strings (schema DiscoverResult)"),
    ("d-no-server-info", "discover", "SHOULD", "any", "Servers SHOULD include serverInfo in every result's _meta (basic, _meta)"),
    ("d-prompts-missing", "discover", "MUST", "any", "Servers that support prompts MUST declare the prompts capability (prompts, Capabilities)"),
    ("d-completions-missing", "discover", "MUST", "any", "Servers that support completions MUST declare the completions capability (completion, Capabilities)"),
    ("d-logging-missing", "discover", "MUST", "any", "Servers that emit log messages MUST declare the logging capability (logging, Capabilities)"),
    # results and caching
    ("r-no-type", "results", "MUST", "any", "The result MUST include a resultType (basic, Result Responses)"),
    ("r-no-type-complete", "results", "MUST", "any", "The result MUST include a resultType: completion/complete (basic, Result Responses)"),
    ("r-type-success", "results", "MUST", "any", "The set of resultType values MUST be the core set and those of advertised extensions (basic, ResultType)"),
    ("c-no-ttl", "caching", "MUST", "any", "Servers MUST include caching hints on complete results: resources/templates/list (caching, Cacheable Results)"),
    ("c-no-scope", "caching", "MUST", "any", "Servers MUST include caching hints on complete results: resources/read (caching, Cacheable Results)"),
    ("c-negative", "caching", "MUST", "any", "Servers MUST provide a ttlMs that is >= 0 (caching, TTL)"),
    ("c-ttl-float", "caching", "MUST", "any", "ttlMs is an integer (caching, Cacheable Model; schema CacheableResult)"),
    ("c-scope-shared", "caching", "MUST", "any", "cacheScope is public or private (caching; schema CacheableResult)"),
    ("c-scope-mixed", "caching", "MUST", "any", "Servers MUST apply the same cacheScope to all pages of a list (caching, Interaction with Pagination)"),
    # JSON-RPC
    ("j-id-retyped", "jsonrpc", "MUST", "any", "Responses MUST include the same ID as the request (basic, Responses)"),
    ("j-id-falsy-dropped", "jsonrpc", "MUST", "any", "A request with id 0 is a request: responses MUST include the same ID (basic, Responses)"),
    ("j-notification-answered", "jsonrpc", "MUST", "stdio", "The receiver MUST NOT send a response to a notification (basic, Notifications)"),
    ("j-unknown-method-code", "jsonrpc", "MUST", "stdio", "MCP uses the standard JSON-RPC codes; an unknown method gets -32601 (basic, Error Codes)"),
    ("j-reserved-code", "jsonrpc", "MUST", "any", "Implementations MUST NOT emit a code from -32020 to -32099 that is not defined (basic, Error Codes)"),
    ("j-code-32002", "jsonrpc", "MUST", "any", "Implementations of this version MUST NOT emit -32002 (basic, Error Codes)"),
    ("j-code-legacy", "jsonrpc", "SHOULD", "any", "New implementations SHOULD NOT use codes from -32000 to -32019 (basic, Error Codes)"),
    ("j-code-string", "jsonrpc", "MUST", "any", "Error codes MUST be integers (basic, Error Responses)"),
    ("j-double-answer", "jsonrpc", "MUST", "any", "All messages MUST follow JSON-RPC 2.0, by which each request gets one response (basic, Messages)"),
    ("j-server-asks", "jsonrpc", "MUST", "any", "Servers MUST NOT initiate JSON-RPC requests (patterns)"),
    ("j-crash-on-list", "jsonrpc", "MUST", "any", "All messages MUST follow JSON-RPC 2.0: params as an array get an error, not silence (basic, Messages)"),
    # tools
    ("t-list-grows", "tools", "MUST", "any", "The set of tools MUST NOT vary as a side effect of other requests on the connection (tools, Capabilities)"),
    ("t-shuffled", "tools", "SHOULD", "any", "Servers SHOULD return tools in a deterministic order (tools, Capabilities)"),
    ("t-schema-null", "tools", "MUST", "any", "inputSchema MUST be a valid JSON Schema object, not null (tools, Tool)"),
    ("t-schema-required-string", "tools", "MUST", "any", "Schemas MUST be valid according to their dialect (basic, Schema Validation)"),
    ("t-structured-missing", "tools", "MUST", "any", "With an output schema, servers MUST provide structured results that conform to it (tools, Output Schema)"),
    ("t-structured-null-item", "tools", "MUST", "any", "With an output schema, servers MUST provide structured results that conform to it (tools, Output Schema)"),
    ("t-no-text-copy", "tools", "SHOULD", "any", "A tool that returns structured content SHOULD also return the serialized JSON in a TextContent block (tools, Structured Content)"),
    ("t-unknown-as-result", "tools", "SHOULD", "any", "An unknown tool is a protocol error (tools, Error Handling; schema CallToolResult)"),
    ("t-name-comma", "tools", "SHOULD", "any", "Tool names SHOULD NOT contain spaces, commas, or other special characters (tools, Tool Names)"),
    ("t-name-twice", "tools", "SHOULD", "any", "Tool names SHOULD be unique within a server (tools, Tool Names)"),
    ("t-no-content", "tools", "MUST", "any", "content is required (schema CallToolResult)"),
    ("t-args-unchecked", "tools", "MUST", "any", "Servers MUST validate all tool inputs (tools, Security Considerations)"),
    ("t-image-no-mime", "tools", "MUST", "any", "An image has data and mimeType (schema ImageContent)"),
    ("t-is-error-string", "tools", "MUST", "any", "isError is a boolean (schema CallToolResult)"),
    ("t-embedded-no-uri", "tools", "MUST", "any", "An embedded resource has a uri (schema EmbeddedResource)"),
    ("x-empty", "x-mcp-header", "MUST", "any", "x-mcp-header MUST NOT be empty (tools, x-mcp-header)"),
    ("x-space", "x-mcp-header", "MUST", "any", "x-mcp-header MUST match HTTP field-name token syntax (tools, x-mcp-header)"),
    ("x-number", "x-mcp-header", "MUST", "any", "x-mcp-header MUST only be applied to integer, string or boolean parameters (tools, x-mcp-header)"),
    ("x-twice", "x-mcp-header", "MUST", "any", "x-mcp-header MUST be case-insensitively unique in the inputSchema (tools, x-mcp-header)"),
    ("x-in-items", "x-mcp-header", "MUST", "any", "x-mcp-header MUST only be applied to properties that are statically reachable (tools, x-mcp-header)"),
    # input required
    ("m-nothing-asked", "mrtr", "MUST", "any", "Servers MUST include at least one of inputRequests or requestState (mrtr, Server Requirements)"),
    ("m-state-unverified", "mrtr", "MUST", "any", "Servers MUST reject state that fails verification (mrtr, Server Requirements)"),
    ("m-state-object", "mrtr", "MUST", "any", "requestState is a string (mrtr; schema InputRequiredResult)"),
    ("m-requests-array", "mrtr", "MUST", "any", "inputRequests is a map (mrtr; schema InputRequests)"),
    ("m-on-completion", "mrtr", "MUST", "any", "Servers MUST NOT send InputRequiredResult on other requests than prompts/get, resources/read and tools/call (mrtr, Supported Requests)"),
    ("m-own-method", "mrtr", "MUST", "any", "inputRequests values MUST be elicitation, sampling or roots requests (mrtr, Server Requirements)"),
    ("m-no-schema", "mrtr", "MUST", "any", "Form requests MUST include requestedSchema (elicitation, Form Mode; schema ElicitRequestFormParams)"),
    ("m-nested-form", "mrtr", "MUST", "any", "Schemas of forms are flat objects with primitive properties (elicitation, Requested Schema; schema PrimitiveSchemaDefinition)"),
    ("m-password", "mrtr", "SAFETY", "any", "Servers MUST NOT use form mode to request passwords (elicitation, User Interaction Model)"),
    ("m-no-max-tokens", "mrtr", "MUST", "any", "maxTokens is required (schema CreateMessageRequestParams)"),
    ("m-incomplete-is-error", "mrtr", "SHOULD", "any", "If the client fails to send all the information, the server SHOULD respond with a new InputRequiredResult (mrtr, Error Handling)"),
    ("m-extra-refused", "mrtr", "SHOULD", "any", "Unexpected members of inputResponses SHOULD be ignored (mrtr, Error Handling)"),
    ("m-state-crosses", "mrtr", "SHOULD", "any", "Servers SHOULD bind requestState to the originating request and reject it on another (mrtr, Server Requirements)"),
    # resources
    ("r-missing-empty", "resources", "MUST", "any", "Servers MUST NOT return an empty contents array for a non-existent resource (resources, Error Handling)"),
    ("r-missing-code", "resources", "MUST", "any", "A resource that does not exist MUST get -32602 (resources, Error Handling)"),
    ("r-blob-raw", "resources", "MUST", "any", "Binary data MUST be properly encoded (resources, Security Considerations)"),
    ("r-uri-space", "resources", "MUST", "any", "Custom URI schemes MUST be in accordance with RFC 3986 (resources, Common URI Schemes)"),
    ("r-audience-string", "resources", "MUST", "any", "audience is an array (resources, Annotations; schema Annotations)"),
    ("r-size-text", "resources", "MUST", "any", "size is an integer (schema Resource)"),
    ("r-no-contents-uri", "resources", "MUST", "any", "Resource contents have a uri (schema TextResourceContents)"),
    ("r-template-unclosed", "resources", "MUST", "any", "uriTemplate is a URI template by RFC 6570 (resources, Resource Templates)"),
    ("r-list-as-map", "resources", "MUST", "any", "resources is an array (schema ListResourcesResult)"),
    # pagination
    ("p-bad-cursor-start", "pagination", "SHOULD", "any", "Invalid cursors SHOULD result in an error with code -32602 (pagination, Error Handling)"),
    ("p-bad-cursor-crash", "pagination", "SHOULD", "any", "Invalid cursors SHOULD result in an error with code -32602 (pagination, Error Handling)"),
    ("p-cursor-number", "pagination", "MUST", "any", "nextCursor is a string (schema PaginatedResult)"),
    ("p-cursor-null", "pagination", "MUST", "any", "nextCursor is a string, absent at the end (schema PaginatedResult)"),
    ("p-overlap", "pagination", "SHOULD", "any", "Each resource is uniquely identified by a URI; a page continues the result set (resources; pagination)"),
    # prompts and completion
    ("q-args-unchecked", "prompts", "SHOULD", "any", "Missing required arguments SHOULD get -32602 (prompts, Error Handling)"),
    ("q-unknown-code", "prompts", "SHOULD", "any", "An invalid prompt name SHOULD get -32602 (prompts, Error Handling)"),
    ("q-role-tool", "prompts", "MUST", "any", "role is either user or assistant (prompts, PromptMessage)"),
    ("q-content-string", "prompts", "MUST", "any", "content is a content block (schema PromptMessage)"),
    ("q-required-string", "prompts", "MUST", "any", "required is a boolean (schema PromptArgument)"),
    ("k-140", "completion", "MUST", "any", "At most 100 items per response (completion, Completion Results; schema CompleteResult)"),
    ("k-unwrapped", "completion", "MUST", "any", "The result has completion.values (schema CompleteResult)"),
    ("k-unknown-prompt-empty", "completion", "SHOULD", "any", "An invalid prompt name SHOULD get -32602 (completion, Error Handling)"),
    ("k-total-string", "completion", "MUST", "any", "total is an integer (schema CompleteResult)"),
    # subscriptions
    ("s-no-ack", "subscriptions", "MUST", "any", "The server MUST send notifications/subscriptions/acknowledged first (subscriptions, Acknowledgment)"),
    ("s-ack-second", "subscriptions", "MUST", "any", "The server MUST NOT send any notification on the subscription before the acknowledgment (subscriptions, Acknowledgment)"),
    ("s-no-id", "subscriptions", "MUST", "any", "The server MUST include subscriptionId in _meta of notifications on the stream (basic, _meta)"),
    ("s-id-string", "subscriptions", "MUST", "any", "subscriptionId is the JSON-RPC ID of the listen request (subscriptions, Receiving Notifications)"),
    ("s-unasked-type", "subscriptions", "MUST", "any", "The server MUST NOT send notification types that the client has not requested (subscriptions, Opening a Stream)"),
    ("s-other-uri", "subscriptions", "MUST", "any", "resources/updated is sent for the URIs of the filter; the server MUST NOT send what was not requested (subscriptions, Notification Filter)"),
    ("s-ack-too-much", "subscriptions", "MUST", "any", "Types that the server does not support are omitted from the acknowledgment (subscriptions, Acknowledgment)"),
    ("s-after-cancel", "subscriptions", "MUST", "stdio", "Servers MUST NOT send any further messages for a cancelled request (stdio, Cancellation)"),
    ("s-log-on-stream", "subscriptions", "MUST", "any", "The server MUST NOT deliver notifications/message on a subscriptions/listen stream (logging)"),
    ("s-never-told", "subscriptions", "SHOULD", "any", "The server delivers resources/updated whenever a watched resource changes (resources, Subscriptions)"),
    # logging, progress, cancellation
    ("l-unasked", "logging", "MUST", "any", "The server MUST NOT emit notifications/message for a request without logLevel (logging, Per-request log level)"),
    ("l-below", "logging", "MUST", "any", "Messages are at or above the requested level (logging, Per-request log level)"),
    ("l-bad-level-ok", "logging", "SHOULD", "any", "An unrecognized logLevel SHOULD be rejected with -32602 (logging, Error Handling)"),
    ("l-upper", "logging", "MUST", "any", "level is one of the eight levels (logging, Log Levels; schema LoggingLevel)"),
    ("l-secret", "logging", "SAFETY", "any", "Log messages MUST NOT contain credentials or secrets (logging, Security)"),
    ("g-falls", "progress", "MUST", "any", "The progress value MUST increase with each notification (progress)"),
    ("g-token-string", "progress", "MUST", "any", "Progress notifications MUST only reference tokens that were provided in an active request (progress)"),
    ("g-unasked", "progress", "MUST", "any", "Progress notifications MUST only reference tokens that were provided in an active request (progress)"),
    ("g-late", "progress", "MUST", "stdio", "Progress notifications MUST stop after completion (progress)"),
    ("n-cancel-answered", "cancellation", "MUST", "stdio", "Servers MUST NOT send any further messages for a cancelled request (stdio, Cancellation)"),
    ("n-server-cancels", "cancellation", "MUST", "any", "Servers MUST NOT send notifications/cancelled for any other purpose than a listen stream (cancellation)"),
    ("n-unknown-cancel-error", "cancellation", "SHOULD", "stdio", "Invalid cancellation notifications SHOULD be ignored (cancellation, Error Handling)"),
]

FAULT = None


def on(name):
    return FAULT == name


class RpcError(Exception):
    def __init__(self, code, message, data=None, status=200):
        super().__init__(message)
        self.code, self.message, self.data, self.status = code, message, data, status


def is_id(value):
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


# ---------------------------------------------------------------- the orchard

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ORCHARDS = ["north", "south", "hill"]
VARIETIES = [{"name": "Cox", "season": "September", "acidity": 0.7}, {"name": "Boskoop", "season": "October", "acidity": 0.9}, {"name": "Gala", "season": "August", "acidity": 0.4}]
TREES = {f"t{n}": {"variety": VARIETIES[n % 3]["name"], "planted": 1990 + n % 30} for n in range(1, 141)}
PLANTED = []
LOCK = threading.Lock()
WEATHER = {"degrees": 12.0}
LISTENERS = {}


def shared_key():
    """The key of cursors and request states; every process of this user has the same."""
    path = os.path.join(tempfile.gettempdir(), f"orchard-{os.getuid()}.key")
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(32))
    except FileExistsError:
        pass
    with open(path, "rb") as file:
        return file.read()


KEY = shared_key()


def weather_changes():
    while True:
        time.sleep(0.7)
        WEATHER["degrees"] = round(WEATHER["degrees"] + 0.1, 1) if WEATHER["degrees"] < 25 else 5.0
        changed("orchard://weather")


def changed(uri):
    if on("s-never-told"):
        return
    for listener in list(LISTENERS.values()):
        listener.updated(uri)


class Listener:
    """One subscriptions/listen stream."""

    def __init__(self, id, wanted, emit):
        self.id, self.emit = id, emit
        self.uris = wanted.get("resourceSubscriptions") or []
        self.lists = bool(wanted.get("resourcesListChanged"))
        self.filter = {}
        if "resourceSubscriptions" in wanted:
            self.filter["resourceSubscriptions"] = self.uris
        if "resourcesListChanged" in wanted:
            self.filter["resourcesListChanged"] = self.lists
        if on("s-ack-too-much"):
            self.filter.update({"toolsListChanged": True, "promptsListChanged": True})
        self.ended = threading.Event()

    def meta(self):
        return {} if on("s-no-id") else {"_meta": {META + "subscriptionId": str(self.id) if on("s-id-string") else self.id}}

    def send(self, method, params):
        if not self.ended.is_set() or on("s-after-cancel"):
            self.emit({"jsonrpc": "2.0", "method": method, "params": {**self.meta(), **params}})

    def open(self):
        if on("s-ack-second"):
            self.send("notifications/resources/updated", {"uri": "orchard://weather"}) if self.uris else self.send("notifications/resources/list_changed", {})
        if not on("s-no-ack"):
            self.send("notifications/subscriptions/acknowledged", {"notifications": self.filter})
        if on("s-unasked-type"):
            self.send("notifications/prompts/list_changed", {})
        if on("s-log-on-stream"):
            self.send("notifications/message", {"level": "info", "logger": "orchard", "data": "subscribed"})

    def updated(self, uri):
        if uri in self.uris or on("s-other-uri"):
            self.send("notifications/resources/updated", {"uri": uri})

    def list_changed(self):
        if self.lists:
            self.send("notifications/resources/list_changed", {})


# ---------------------------------------------------------------- JSON Schema, as far as our tools need it

KINDS = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: (isinstance(v, int) or isinstance(v, float) and v.is_integer()) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
}


def complaint(schema, value, at="arguments"):
    if "type" in schema and not KINDS[schema["type"]](value):
        return f"{at} must be of type {schema['type']}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{at} must be one of {', '.join(schema['enum'])}"
    if "minimum" in schema and value < schema["minimum"] or "maximum" in schema and value > schema["maximum"]:
        return f"{at} is out of range"
    if "minLength" in schema and len(value) < schema["minLength"] or "maxLength" in schema and len(value) > schema["maxLength"]:
        return f"{at} has a wrong length"
    if schema.get("type") == "object":
        for name in schema.get("required", []):
            if name not in value:
                return f"{at} lacks {name}"
        for name, inner in value.items():
            if name in schema.get("properties", {}):
                found = complaint(schema["properties"][name], inner, f"{at}.{name}")
                if found:
                    return found
            elif schema.get("additionalProperties") is False:
                return f"{at} has an unknown member {name}"
    return None


# ---------------------------------------------------------------- tools

def text(value):
    return {"type": "text", "text": value}


def failed(message):
    return {"content": [text(message)], "isError": "true" if on("t-is-error-string") else True}


NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}
FORM = {"type": "object", "properties": {"rootstock": {"type": "string", "title": "Rootstock", "enum": ["M9", "M26", "MM106"]}, "trees": {"type": "integer", "title": "Trees", "minimum": 1, "maximum": 50}}, "required": ["rootstock"]}


def structured(value, title):
    result = {"content": [text(title if on("t-no-text-copy") else json.dumps(value))]}
    if not on("t-structured-missing"):
        result["structuredContent"] = value
    return result


def apple_varieties(call, args):
    found = [dict(variety) for variety in VARIETIES]
    if on("t-structured-null-item"):
        found[1]["acidity"] = None
    return structured(found, "Three varieties")


def harvest_forecast(call, args):
    weeks = int(args.get("weeks", 4))
    orchard = args.get("orchard", "north")
    return structured({"orchard": orchard, "tons": [round(1.5 + 0.4 * week, 1) for week in range(weeks)]}, "A forecast")


def prune_plan(call, args):
    rows = int(args.get("rows", 5))
    for row in range(1, rows + 1):
        if call.cancelled.wait(0.2):
            break
        call.progress(row, rows, f"Row {row}")
    return {"content": [text(f"Prune {rows} rows in February")]}


def frost_check(call, args):
    for level, event in [("debug", "sensor polled"), ("info", "sky is clear"), ("notice", "wind drops"), ("warning", "frost tonight"), ("error", "sensor 4 is silent")]:
        call.log(level, {"event": event, "api_key": "sk_live_4eC39HqLyjWDarjtT1zdp7dc", "password": "apfel99"} if on("l-secret") else {"event": event})
    return {"content": [text("Light the candles at 3 o'clock")]}


def snapshot(call, args):
    image = {"type": "image", "data": PNG, "mimeType": "image/png", "annotations": {"audience": ["user"], "priority": 0.5}}
    if on("t-image-no-mime"):
        del image["mimeType"]
    inner = {"uri": "orchard://map", "mimeType": "text/markdown", "text": MAP}
    if on("t-embedded-no-uri"):
        del inner["uri"]
    return {"content": [image, {"type": "resource", "resource": inner}, {"type": "resource_link", "uri": "orchard://leaf.png", "name": "leaf", "mimeType": "image/png"}]}


def choose_graft(call, args):
    answers = call.answers()
    given = answers.get("graft")
    content = given.get("content") if isinstance(given, dict) else None
    if isinstance(given, dict) and given.get("action") in ("decline", "cancel"):
        return {"content": [text("No graft was chosen")]}
    if isinstance(given, dict) and given.get("action") == "accept" and isinstance(content, dict) and not complaint(FORM, content):
        return {"content": [text(f"Grafting {args['variety']} on {content['rootstock']}")]}
    schema = json.loads(json.dumps(FORM))
    if on("m-nested-form"):
        schema["properties"]["site"] = {"type": "object", "properties": {"row": {"type": "integer"}}}
    if on("m-password"):
        schema["properties"]["password"] = {"type": "string", "title": "Your account password"}
    params = {"mode": "form", "message": f"Which rootstock for {args['variety']}?", "requestedSchema": schema}
    if on("m-no-schema"):
        del params["requestedSchema"]
    return call.require({"graft": {"method": "orchard/confirm" if on("m-own-method") else "elicitation/create", "params": params}})


def tasting_note(call, args):
    given = call.answers().get("note")
    if isinstance(given, dict) and "content" in given:
        blocks = given["content"] if isinstance(given["content"], list) else [given["content"]]
        words = next((block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"), None)
        return {"content": [text(words if isinstance(words, str) else "No note")]}
    params = {"messages": [{"role": "user", "content": text("Describe the taste of a Boskoop in one sentence.")}], "maxTokens": 80}
    if on("m-no-max-tokens"):
        del params["maxTokens"]
    return call.require({"note": {"method": "sampling/createMessage", "params": params}})


def plant_tree(call, args):
    with LOCK:
        if len(PLANTED) >= 30:
            return failed("The orchard is full")
        PLANTED.append(args["variety"])
    for listener in list(LISTENERS.values()):
        listener.list_changed()
    return {"content": [text(f"Planted a {args['variety']}")]}


TOOLS = [
    {"name": "apple_varieties", "title": "Apple varieties", "description": "The varieties of the orchard", "inputSchema": NOTHING,
     "outputSchema": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "season": {"type": "string"}, "acidity": {"type": "number"}}, "required": ["name", "season", "acidity"]}},
     "annotations": {"readOnlyHint": True}, "run": apple_varieties},
    {"name": "harvest_forecast", "title": "Harvest forecast", "description": "Tons for each week", "annotations": {"readOnlyHint": True, "openWorldHint": False}, "run": harvest_forecast,
     "inputSchema": {"type": "object", "properties": {"orchard": {"type": "string", "enum": ORCHARDS, "x-mcp-header": "Orchard"}, "weeks": {"type": "integer", "minimum": 1, "maximum": 8}}, "additionalProperties": False},
     "outputSchema": {"type": "object", "properties": {"orchard": {"type": "string"}, "tons": {"type": "array", "items": {"type": "number"}}}, "required": ["orchard", "tons"]}},
    {"name": "prune_plan", "title": "Pruning plan", "description": "A slow plan, row by row", "annotations": {"readOnlyHint": True}, "run": prune_plan, "stream": True,
     "inputSchema": {"type": "object", "properties": {"rows": {"type": "integer", "minimum": 1, "maximum": 40}}, "additionalProperties": False}},
    {"name": "frost_check", "title": "Frost check", "description": "Checks for frost; logs what it sees", "annotations": {"readOnlyHint": True}, "run": frost_check, "inputSchema": NOTHING},
    {"name": "snapshot", "title": "Snapshot", "description": "A picture of the orchard and its map", "annotations": {"readOnlyHint": True}, "run": snapshot, "inputSchema": NOTHING},
    {"name": "choose_graft", "title": "Choose a graft", "description": "Asks the user for a rootstock", "run": choose_graft, "needs": {"elicitation": {"form": {}}},
     "inputSchema": {"type": "object", "properties": {"variety": {"type": "string", "minLength": 1, "maxLength": 40}}, "required": ["variety"], "additionalProperties": False}},
    {"name": "tasting_note", "title": "Tasting note", "description": "Has the client's model describe a taste", "annotations": {"readOnlyHint": True}, "run": tasting_note, "needs": {"sampling": {}}, "inputSchema": NOTHING},
    {"name": "plant_tree", "title": "Plant a tree", "description": "Plants a tree; changes the orchard", "annotations": {"readOnlyHint": False, "destructiveHint": False}, "run": plant_tree,
     "inputSchema": {"type": "object", "properties": {"variety": {"type": "string", "minLength": 1, "maxLength": 40}}, "required": ["variety"], "additionalProperties": False}},
]
CALLED = []


def listed_tools():
    found = [json.loads(json.dumps({k: v for k, v in tool.items() if k not in ("run", "needs", "stream")})) for tool in TOOLS]
    the = {tool["name"]: tool for tool in found}
    forecast = the["harvest_forecast"]["inputSchema"]["properties"]
    if on("t-schema-null"):
        the["snapshot"]["inputSchema"] = None
    if on("t-schema-required-string"):
        the["choose_graft"]["inputSchema"]["required"] = "variety"
    if on("t-name-comma"):
        the["frost_check"]["name"] = "frost,check"
    if on("t-name-twice"):
        found.append({**the["snapshot"], "description": "The same, larger"})
    if on("x-empty"):
        forecast["orchard"]["x-mcp-header"] = ""
    if on("x-space"):
        forecast["orchard"]["x-mcp-header"] = "Orchard Name"
    if on("x-number"):
        forecast["sugar"] = {"type": "number", "x-mcp-header": "Sugar"}
    if on("x-twice"):
        forecast["weeks"]["x-mcp-header"] = "ORCHARD"
    if on("x-in-items"):
        forecast["rows"] = {"type": "array", "items": {"type": "integer", "x-mcp-header": "Row"}}
    if on("t-list-grows") and CALLED:
        found.append({"name": "undo_last", "description": "Undoes the last call", "inputSchema": {"type": "object"}})
    if on("t-shuffled"):
        secrets.SystemRandom().shuffle(found)
    return found


# ---------------------------------------------------------------- resources, prompts, completion

MAP = "# Orchards\n\nNorth, south and hill.\n"
TEMPLATES = [
    {"uriTemplate": "orchard://trees/{tree}", "name": "tree", "description": "One tree", "mimeType": "application/json"},
    {"uriTemplate": "orchard://forecast/{orchard}/{week}", "name": "forecast", "description": "One week", "mimeType": "application/json"},
    {"uriTemplate": "orchard://varieties/{variety}", "name": "variety", "description": "One variety", "mimeType": "application/json"},
]


def listed_resources():
    found = [
        {"uri": "orchard://map", "name": "map", "description": "Where the orchards are", "mimeType": "text/markdown", "size": len(MAP), "annotations": {"audience": ["user"], "priority": 0.9, "lastModified": "2026-08-01T08:00:00Z"}},
        {"uri": "orchard://weather", "name": "weather", "description": "The thermometer", "mimeType": "application/json"},
        {"uri": "orchard://leaf.png", "name": "leaf", "mimeType": "image/png"},
        {"uri": "orchard://trees/t1", "name": "tree-1", "mimeType": "application/json"},
        {"uri": "orchard://varieties/Cox", "name": "variety-cox", "mimeType": "application/json"},
    ]
    with LOCK:
        found += [{"uri": f"orchard://planted/{n}", "name": f"planted-{n}", "mimeType": "text/plain"} for n in range(len(PLANTED))]
    if on("r-uri-space"):
        found[3]["uri"] = "orchard://trees/t 1"
    if on("r-audience-string"):
        found[0]["annotations"]["audience"] = "user"
    if on("r-size-text"):
        found[0]["size"] = "34 B"
    return found


def read(uri):
    def as_json(value):
        return [{"uri": uri, "mimeType": "application/json", "text": json.dumps(value)}]

    if uri == "orchard://map":
        return [{"uri": uri, "mimeType": "text/markdown", "text": MAP}]
    if uri == "orchard://weather":
        return as_json(WEATHER)
    if uri == "orchard://leaf.png":
        return [{"uri": uri, "mimeType": "image/png", "blob": "\x89PNG\r\n (not encoded)" if on("r-blob-raw") else PNG}]
    match = re.fullmatch(r"orchard://trees/(t ?\d+)", uri)
    if match and match[1].replace(" ", "" if on("r-uri-space") else "?") in TREES:
        return as_json(TREES[match[1].replace(" ", "")])
    match = re.fullmatch(r"orchard://varieties/(\w+)", uri)
    if match:
        found = next((variety for variety in VARIETIES if variety["name"] == match[1]), None)
        return as_json(found) if found else None
    match = re.fullmatch(r"orchard://forecast/(\w+)/([1-8])", uri)
    if match and match[1] in ORCHARDS:
        return as_json({"orchard": match[1], "week": int(match[2]), "tons": 1.5 + 0.4 * int(match[2])})
    match = re.fullmatch(r"orchard://planted/(\d{1,3})", uri)
    if match and int(match[1]) < len(PLANTED):
        return [{"uri": uri, "mimeType": "text/plain", "text": PLANTED[int(match[1])]}]
    return None


PROMPTS = [
    {"name": "recipe", "title": "Recipe", "description": "A recipe with a variety", "arguments": [{"name": "variety", "description": "The variety", "required": True}, {"name": "dish", "description": "The dish"}]},
    {"name": "label", "title": "Label", "description": "A label for a jar", "arguments": [{"name": "year", "description": "The year", "required": True}]},
    {"name": "walk", "title": "Walk", "description": "A walk through the orchard"},
]


def prompt(name, args):
    role = "tool" if on("q-role-tool") else "user"
    if name == "recipe":
        words = f"Write a recipe for {args.get('dish') or 'a cake'} with {args.get('variety')}."
    elif name == "label":
        words = f"Write a label for apple jelly of {args.get('year')}."
    else:
        return [{"role": role, "content": text("Walk me through this orchard.")}, {"role": role, "content": {"type": "resource", "resource": {"uri": "orchard://map", "mimeType": "text/markdown", "text": MAP}}}]
    return [{"role": role, "content": words if on("q-content-string") else text(words)}]


def sign(payload):
    return hmac.new(KEY, payload, hashlib.sha256).hexdigest()[:32]


def seal(value):
    payload = json.dumps(value, sort_keys=True).encode()
    return base64.urlsafe_b64encode(payload).decode().rstrip("=") + "." + sign(payload)


def unseal(token):
    try:
        body, signature = token.split(".")
        payload = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
        if not on("m-state-unverified") and not hmac.compare_digest(signature, sign(payload)):
            return None
        return json.loads(payload)
    except (ValueError, AttributeError):
        return {} if on("m-state-unverified") else None


def page(kind, list_, size, params):
    start = 0
    cursor = params.get("cursor")
    if "cursor" in params:
        if on("p-cursor-number") and isinstance(cursor, int):
            start = cursor
        else:
            state = unseal(cursor) if isinstance(cursor, str) else None
            if isinstance(state, dict) and state.get("list") == kind:
                start = state["at"]
            elif on("p-bad-cursor-crash"):
                raise KeyError("cursor")
            elif not on("p-bad-cursor-start"):
                raise RpcError(-32602, "Invalid cursor")
    result = {kind: list_[start - 1 if on("p-overlap") and start else start:start + size]}
    if start + size < len(list_):
        result["nextCursor"] = start + size if on("p-cursor-number") else seal({"list": kind, "at": start + size})
    elif on("p-cursor-null"):
        result["nextCursor"] = None
    return result, start > 0


# ---------------------------------------------------------------- one request

REMEMBERED = {"meta": None, "capabilities": {}}


class Call:
    """One request while it runs; `emit` writes to the stream of this request."""

    def __init__(self, message, emit, cancelled):
        self.id, self.method, self.emit, self.cancelled = message["id"], message["method"], emit, cancelled
        self.params = message.get("params", {})
        self.meta = self.params.get("_meta") or {}
        self.capabilities = self.meta.get(META + "clientCapabilities") or {}
        self.unfinished = False

    def notify(self, method, params):
        if not self.cancelled.is_set():
            self.emit({"jsonrpc": "2.0", "method": method, "params": params})

    def progress(self, now, total, message):
        token = self.meta.get("progressToken")
        if on("g-unasked") and token is None:
            token = f"call-{self.id}"
        if not is_id(token):
            return
        if on("g-token-string"):
            token = f"p-{token}"
        self.notify("notifications/progress", {"progressToken": token, "progress": total - now if on("g-falls") else now, "total": total, "message": message})

    def log(self, level, data):
        threshold = self.meta.get(META + "logLevel", "debug" if on("l-unasked") else None)
        if threshold is None or threshold in LEVELS and LEVELS.index(level) < LEVELS.index(threshold) and not on("l-below"):
            return
        self.notify("notifications/message", {"level": level.upper() if on("l-upper") else level, "logger": "orchard", "data": data})

    def salient(self):
        return hashlib.sha256(json.dumps([self.method, self.params.get("name"), self.params.get("arguments")], sort_keys=True).encode()).hexdigest()

    def answers(self):
        given = self.params.get("inputResponses")
        state = self.params.get("requestState")
        if given is not None and not isinstance(given, dict):
            raise RpcError(-32602, "inputResponses must be an object")
        if state is None:
            return {}
        value = unseal(state) if isinstance(state, str) else state if on("m-state-object") else None
        if not isinstance(value, dict):
            raise RpcError(-32602, "requestState is invalid")
        if not on("m-state-unverified") and not on("m-state-object"):
            if value.get("until", 0) < time.time():
                raise RpcError(-32602, "requestState has expired")
            if value.get("for") != self.salient() and not on("m-state-crosses"):
                raise RpcError(-32602, "requestState belongs to another request")
        if on("m-extra-refused") and any(name not in ("graft", "note") for name in given or {}):
            raise RpcError(-32602, "inputResponses has an unknown member")
        if on("m-incomplete-is-error") and not given:
            raise RpcError(-32602, "inputResponses is incomplete")
        return given or {}

    def require(self, requests):
        result = {"resultType": "input_required", "inputRequests": requests, "requestState": seal({"for": self.salient(), "until": time.time() + 600})}
        if on("m-nothing-asked"):
            return {"resultType": "input_required"}
        if on("m-state-object"):
            result["requestState"] = {"step": 1}
        if on("m-requests-array"):
            result["inputRequests"] = [{"key": key, **request} for key, request in requests.items()]
        return result


def check_meta(params):
    """Refuses a request that lacks what each request has to carry."""
    code = -32600 if on("meta-code-32600") else -32602
    status = 200 if on("h-meta-200") else 400
    meta = params.get("_meta")
    if on("meta-remembered") and not isinstance(meta, dict) and REMEMBERED["meta"]:
        return
    if not isinstance(meta, dict):
        raise RpcError(code, "params._meta is required", None, status)
    version = meta.get(META + "protocolVersion")
    if not isinstance(version, str):
        raise RpcError(code, f"_meta lacks {META}protocolVersion", None, status)
    if version != REVISION and not on("v-any-served"):
        if on("v-code-32602"):
            raise RpcError(-32602, f"Unsupported protocol version {version}", None, 400)
        data = {"requested": version} if on("v-no-list") else {"supported": [REVISION], "requested": version}
        raise RpcError(-32022, "Unsupported protocol version", data, 200 if on("h-unsupported-200") else 400)
    if not isinstance(meta.get(META + "clientCapabilities", {} if on("meta-caps-optional") else None), dict):
        raise RpcError(code, f"_meta lacks {META}clientCapabilities", None, status)
    info = meta.get(META + "clientInfo")
    if META + "clientInfo" in meta and not (isinstance(info, dict) and isinstance(info.get("name"), str) and isinstance(info.get("version"), str)):
        raise RpcError(code, f"{META}clientInfo needs name and version", None, status)
    if META + "logLevel" in meta and meta[META + "logLevel"] not in LEVELS and not on("l-bad-level-ok"):
        raise RpcError(-32602, "Unknown log level")
    if "progressToken" in meta and not is_id(meta["progressToken"]):
        raise RpcError(-32602, "progressToken must be a string or an integer")
    REMEMBERED["meta"] = meta
    REMEMBERED["capabilities"].update(meta.get(META + "clientCapabilities", {}))


def call_tool(call):
    name, args = call.params.get("name"), call.params.get("arguments", {})
    if not isinstance(name, str) or not isinstance(args, dict):
        raise RpcError(-32602, "name must be a string and arguments an object")
    tool = next((tool for tool in TOOLS if tool["name"] == (name.replace(",", "_") if on("t-name-comma") else name)), None)
    if tool is None:
        if on("t-unknown-as-result"):
            return failed(f"Unknown tool {name}")
        raise RpcError(-32050 if on("j-reserved-code") else -32602, f"Unknown tool: {name}")
    CALLED.append(name)
    wrong = None if on("t-args-unchecked") else complaint(tool["inputSchema"], args)
    if wrong:
        return failed(f"Invalid arguments: {wrong}")
    declared = {**REMEMBERED["capabilities"], **call.capabilities} if on("caps-remembered") else call.capabilities
    for need, inner in tool.get("needs", {}).items():
        has = declared.get(need)
        met = isinstance(has, dict) and (need != "elicitation" or "form" in has or "url" not in has)
        if not met and not on("caps-ignored"):
            if on("caps-code"):
                raise RpcError(-32600, f"The client lacks {need}", None, 400)
            raise RpcError(-32021, f"{name} needs the client capability {need}", None if on("caps-no-data") else {"requiredCapabilities": {need: inner}}, 200 if on("h-capability-200") else 400)
    if on("j-server-asks"):
        call.emit({"jsonrpc": "2.0", "id": "orchard-1", "method": "roots/list", "params": {}})
    if on("n-server-cancels"):
        call.emit({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call.id, "reason": "taken over by another worker"}})
    try:
        result = tool["run"](call, args)
    except (KeyError, TypeError, ValueError):
        result = {"content": [text("None")]}
    if on("t-no-content"):
        result.pop("content", None)
    return result


def complete(call):
    ref, argument = call.params.get("ref"), call.params.get("argument")
    if not isinstance(ref, dict) or not isinstance(argument, dict) or not isinstance(argument.get("name"), str) or not isinstance(argument.get("value"), str):
        raise RpcError(-32602, "ref and argument are required")
    context = call.params.get("context", {})
    if not isinstance(context, dict) or not isinstance(context.get("arguments", {}), dict):
        raise RpcError(-32602, "context.arguments must be an object")
    names = [variety["name"] for variety in VARIETIES]
    if ref.get("type") == "ref/prompt":
        found = next((entry for entry in PROMPTS if entry["name"] == ref.get("name")), None)
        if found is None:
            if on("k-unknown-prompt-empty"):
                return {"completion": {"values": [], "hasMore": False}}
            raise RpcError(-32602, f"Unknown prompt: {ref.get('name')}")
        known = [entry["name"] for entry in found.get("arguments", [])]
        choices = {"variety": names, "dish": ["cake", "crumble", "jelly"], "year": [str(year) for year in range(2000, 2027)]}
    elif ref.get("type") == "ref/resource":
        found = next((entry for entry in TEMPLATES if entry["uriTemplate"] == ref.get("uri")), None)
        if found is None:
            if isinstance(ref.get("uri"), str) and read(ref["uri"]):
                return {"completion": {"values": [], "total": 0, "hasMore": False}}
            raise RpcError(-32602, f"Unknown template: {ref.get('uri')}")
        known = re.findall(r"\{(\w+)\}", found["uriTemplate"])
        choices = {"tree": list(TREES), "orchard": ORCHARDS, "week": [str(week) for week in range(1, 9)], "variety": names}
    else:
        raise RpcError(-32602, "Unknown type of reference")
    if argument["name"] not in known:
        raise RpcError(-32602, f"Unknown argument {argument['name']}")
    matching = [choice for choice in choices[argument["name"]] if choice.lower().startswith(argument["value"].lower())]
    values = matching if on("k-140") else matching[:100]
    if on("m-on-completion"):
        return {"resultType": "input_required", "requestState": seal({"for": call.salient(), "until": time.time() + 600})}
    body = {"values": values, "total": str(len(matching)) if on("k-total-string") else len(matching), "hasMore": len(matching) > len(values)}
    return body if on("k-unwrapped") else {"completion": body}


def cached(result, ttl, scope):
    return {**result, "ttlMs": ttl, "cacheScope": scope}


def result_of(call):
    method, params = call.method, call.params
    if method == "server/discover" and not on("d-not-implemented"):
        capabilities = {"tools": {}, "resources": {"subscribe": True, "listChanged": True}, "prompts": {}, "completions": {}, "logging": {}}
        for name in ("prompts", "completions", "logging"):
            if on(f"d-{name}-missing"):
                del capabilities[name]
        versions = REVISION if on("d-version-string") else [REVISION, "2025-11-25"] if on("v-claims-older") else [REVISION]
        return cached({"supportedVersions": versions, "capabilities": capabilities, "instructions": "Ask for varieties first."}, -1 if on("c-negative") else 3600000, "public")
    if method == "tools/list":
        result, later = page("tools", listed_tools(), 3, params)
        return cached(result, 300.5 if on("c-ttl-float") else 60000, "private" if on("c-scope-mixed") and later else "shared" if on("c-scope-shared") else "public")
    if method == "tools/call":
        return call_tool(call)
    if method == "resources/list":
        result, _ = page("resources", listed_resources(), 2, params)
        if on("r-list-as-map"):
            result["resources"] = {entry["uri"]: entry for entry in result["resources"]}
        return cached(result, 5000, "public")
    if method == "resources/templates/list":
        shown = [dict(entry) for entry in TEMPLATES]
        if on("r-template-unclosed"):
            shown[0]["uriTemplate"] = "orchard://trees/{tree"
        result, _ = page("resourceTemplates", shown, 2, params)
        result = cached(result, 60000, "public")
        if on("c-no-ttl"):
            del result["ttlMs"]
        return result
    if method == "resources/read":
        uri = params.get("uri")
        if not isinstance(uri, str):
            raise RpcError(-32602, "uri is required")
        contents = read(uri)
        if contents is None:
            if on("r-missing-empty"):
                return cached({"contents": []}, 0, "private")
            raise RpcError(-32002 if on("j-code-32002") else -32603 if on("r-missing-code") else -32602, "Resource not found", {"uri": uri})
        if on("r-no-contents-uri"):
            del contents[0]["uri"]
        result = cached({"contents": contents}, 0 if uri == "orchard://weather" else 10000, "private")
        if on("c-no-scope"):
            del result["cacheScope"]
        return result
    if method == "prompts/list":
        shown = json.loads(json.dumps(PROMPTS))
        if on("q-required-string"):
            shown[0]["arguments"][0]["required"] = "yes"
        return cached(page("prompts", shown, 2, params)[0], 60000, "public")
    if method == "prompts/get":
        found = next((entry for entry in PROMPTS if entry["name"] == params.get("name")), None)
        if found is None:
            raise RpcError(-32001 if on("j-code-legacy") else -32603 if on("q-unknown-code") else -32602, f"Unknown prompt: {params.get('name')}")
        args = params.get("arguments", {})
        if not isinstance(args, dict) or not all(isinstance(value, str) for value in args.values()):
            raise RpcError(-32602, "arguments must be a map of strings")
        missing = [entry["name"] for entry in found.get("arguments", []) if entry.get("required") and entry["name"] not in args]
        if missing and not on("q-args-unchecked"):
            raise RpcError(-32602, f"Missing argument {missing[0]}")
        return {"description": found["description"], "messages": prompt(found["name"], args)}
    if method == "completion/complete":
        return complete(call)
    message = f"Method not found: {method}"
    data = None
    if method == "initialize" and not on("v-initialize-unnamed"):
        message, data = f"{message}; this server speaks {REVISION} only", {"supported": [REVISION]}
    raise RpcError(-32600 if on("j-unknown-method-code") else -32601, message, data, 200 if on("h-unknown-method-200") else 404)


METHODS = ["server/discover", "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get", "completion/complete", "subscriptions/listen"]


def server_info():
    return {} if on("d-no-server-info") else {META + "serverInfo": {"name": "orchard", "title": "Orchard", "version": "2.0.3"}}


def respond(message, emit, cancelled):
    """The response to a request and its HTTP status; `None` where none is sent."""
    id = str(message["id"]) if on("j-id-retyped") else message["id"]
    try:
        params = message.get("params", {})
        if not isinstance(params, dict):
            if on("j-crash-on-list"):
                return None, 500
            raise RpcError(-32602, "params must be an object", None, 400)
        try:
            check_meta(params)
        except RpcError as error:
            if message["method"] == "initialize" and not on("v-initialize-unnamed"):
                error.message += f"; this server speaks {REVISION} only"
                error.data = {"supported": [REVISION], **(error.data or {})}
            raise
        call = Call(message, emit, cancelled)
        result = {**result_of(call)}
        if cancelled.is_set() and not on("n-cancel-answered"):
            return None, 200
        result.setdefault("resultType", "success" if on("r-type-success") else "complete")
        if on("r-no-type") and result["resultType"] == "complete" or on("r-no-type-complete") and call.method == "completion/complete":
            del result["resultType"]
        if server_info():
            result["_meta"] = server_info()
        return {"jsonrpc": "2.0", "id": id, "result": result}, 200
    except RpcError as error:
        return refusal(id, error.code, error.message, error.data), error.status
    except Exception as error:
        print(repr(error), file=sys.stderr)
        return refusal(id, -32603, "Internal error"), 200


def refusal(id, code, message, data=None):
    error = {"code": str(code) if on("j-code-string") else code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", **({} if id is None else {"id": id}), "error": error}


def shape(message):
    """What a decoded message is: request, notification, response or None."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    if isinstance(message.get("method"), str):
        if "id" not in message or on("j-id-falsy-dropped") and not message["id"]:
            return "notification"
        return "request" if is_id(message["id"]) else None
    if "method" not in message and ("result" in message or "error" in message):
        return "response"
    return None


def wanted_filter(params):
    wanted = params.get("notifications")
    if not isinstance(wanted, dict):
        raise RpcError(-32602, "notifications is required")
    for name, value in wanted.items():
        if name == "resourceSubscriptions":
            if not isinstance(value, list) or not all(isinstance(uri, str) for uri in value):
                raise RpcError(-32602, "resourceSubscriptions must be a list of URIs")
        elif name.endswith("ListChanged") and not isinstance(value, bool):
            raise RpcError(-32602, f"{name} must be a boolean")
    return wanted


def subscribe(message, key, emit):
    """Opens a stream; returns the listener, or the refusal and its status."""
    id = str(message["id"]) if on("j-id-retyped") else message["id"]
    params = message.get("params", {})
    try:
        if not isinstance(params, dict):
            raise RpcError(-32602, "params must be an object", None, 400)
        check_meta(params)
        listener = Listener(message["id"], wanted_filter(params), emit)
    except RpcError as error:
        return None, refusal(id, error.code, error.message, error.data), error.status
    return listener, None, 200


# ---------------------------------------------------------------- stdio

def serve_stdio():
    out = threading.Lock()
    running = {}

    def write(message):
        with out:
            sys.stdout.write(json.dumps(message, indent=2 if on("stdio-pretty") else None) + "\n")
            sys.stdout.flush()

    def work(message, cancelled):
        try:
            response, _ = respond(message, write, cancelled)
        finally:
            running.pop(message["id"], None)
        if response is None or cancelled.is_set() and not on("n-cancel-answered"):
            return
        write(response)
        if on("j-double-answer") and message["method"] == "tools/call":
            write(response)
        meta = (message.get("params") or {}).get("_meta") if isinstance(message.get("params"), dict) else None
        if on("g-late") and isinstance(meta, dict) and is_id(meta.get("progressToken")):
            time.sleep(0.2)
            write({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": meta["progressToken"], "progress": 1000, "message": "Tidying up"}})

    def take(line):
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            if on("stdio-bad-json-exit"):
                os._exit(1)
            return write(refusal(None, -32700, "Parse error"))
        kind = shape(message)
        if kind is None:
            id = message.get("id") if isinstance(message, dict) else None
            return write(refusal(id if is_id(id) else None, -32600, "Invalid request"))
        if kind == "response":
            return None
        if kind == "notification":
            if message["method"] == "notifications/cancelled":
                params = message.get("params")
                id = params.get("requestId") if isinstance(params, dict) else None
                if is_id(id) and id in running:
                    running[id].set()
                elif is_id(id) and id in LISTENERS:
                    LISTENERS[id].ended.set()
                    if not on("s-after-cancel"):
                        del LISTENERS[id]
                elif on("n-unknown-cancel-error"):
                    write(refusal(None, -32602, "No such request"))
            elif on("j-notification-answered"):
                write(refusal(None, -32601, f"Method not found: {message['method']}"))
            return None
        if message["id"] in running or message["id"] in LISTENERS:
            return write(refusal(message["id"], -32600, "A request with this id is in flight"))
        if message["method"] == "subscriptions/listen":
            listener, error, _ = subscribe(message, message["id"], write)
            if error:
                return write(error)
            listener.open()
            LISTENERS[message["id"]] = listener
            return None
        running[message["id"]] = threading.Event()
        threading.Thread(target=work, args=(message, running[message["id"]]), daemon=True).start()
        return None

    if on("stdio-banner"):
        print("orchard 2.0.3 is ready", flush=True)
    for line in sys.stdin.buffer:
        if line.strip():
            try:
                take(line.decode("utf-8", "replace"))
            except BrokenPipeError:
                break
    if on("stdio-eof-ignored"):
        time.sleep(3600)
    for id, listener in list(LISTENERS.items()):
        try:
            write({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", "_meta": {**server_info(), META + "subscriptionId": id}}})
        except OSError:
            break
    os._exit(0)


# ---------------------------------------------------------------- Streamable HTTP

def decoded(value):
    if re.search(r"[^\t\x20-\x7e]", value):
        raise mismatch("A header has invalid characters")
    match = re.fullmatch(r"=\?base64\?(.*)\?=", value)
    if not match or on("h-name-base64-kept"):
        return value
    try:
        return base64.b64decode(match[1], validate=True).decode()
    except ValueError:
        raise mismatch("A header is not valid Base64") from None


def mismatch(message):
    return RpcError(-32602 if on("h-mismatch-code") else -32020, message, None, 200 if on("h-mismatch-200") else 400)


def check_headers(headers, message):
    params = message.get("params") if isinstance(message.get("params"), dict) else {}
    meta = params.get("_meta") if isinstance(params.get("_meta"), dict) else {}
    method = message["method"]

    def header(name):
        if on("h-names-case-sensitive"):
            return next((value for key, value in headers.items() if key == name), None)
        return headers.get(name)

    version = header("MCP-Protocol-Version")
    if version is None and not on("h-version-missing-ok"):
        raise mismatch(f"MCP-Protocol-Version is required; this server speaks {REVISION} only")
    told = meta.get(META + "protocolVersion")
    if version is not None and isinstance(told, str) and version.strip() != told and not on("h-version-mismatch-ok"):
        raise mismatch(f"MCP-Protocol-Version is {version}, but _meta says {told}")
    named = header("Mcp-Method")
    if named is None:
        if not on("h-method-missing-ok"):
            raise mismatch("Mcp-Method is required")
    elif named != method and not on("h-method-mismatch-ok") and not (on("h-method-case-folded") and named.lower() == method.lower()):
        raise mismatch(f"Mcp-Method is {named}, but the body says {method}")
    source = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}.get(method)
    if source:
        name = header("Mcp-Name")
        if name is None:
            if not on("h-name-missing-ok"):
                raise mismatch("Mcp-Name is required")
        elif isinstance(params.get(source), str) and decoded(name) != params[source] and not on("h-name-mismatch-ok") and not (on("h-name-uri-unchecked") and source == "uri"):
            raise mismatch("Mcp-Name does not match the body")
    if method == "tools/call":
        tool = next((tool for tool in TOOLS if tool["name"] == params.get("name")), None)
        args = params.get("arguments") if isinstance(params.get("arguments"), dict) else {}
        for member, schema in (tool or {"inputSchema": {}})["inputSchema"].get("properties", {}).items():
            if "x-mcp-header" not in schema:
                continue
            sent, value = header("Mcp-Param-" + schema["x-mcp-header"]), args.get(member)
            if value is None:
                if sent is None and on("h-param-always-wanted"):
                    raise mismatch(f"Mcp-Param-{schema['x-mcp-header']} is required")
                if sent is not None and not on("h-param-mismatch-ok"):
                    raise mismatch("An Mcp-Param header has no value in the body")
            elif sent is None:
                if not on("h-param-missing-ok"):
                    raise mismatch(f"Mcp-Param-{schema['x-mcp-header']} is required")
            elif decoded(sent) != (value if isinstance(value, str) else json.dumps(value)) and not on("h-param-mismatch-ok"):
                raise mismatch(f"Mcp-Param-{schema['x-mcp-header']} does not match the body")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "orchard"

    def log_message(self, *_):
        pass

    def finish_with(self, status, body=None, extra=()):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        if body is not None:
            self.send_header("Content-Type", "text/plain" if on("h-json-as-text") else "application/json")
        if on("h-session-minted"):
            self.send_header("Mcp-Session-Id", self.headers.get("Mcp-Session-Id") or secrets.token_hex(8))
        for name, value in extra:
            self.send_header(name, value)
        if status != 202 or data:
            self.send_header("Content-Length", str(len(data)))
        else:
            self.send_header("Content-Length", "0")
        self.end_headers()
        self.wfile.write(data)

    def allowed(self):
        length = self.headers.get("Content-Length", "0")
        self.body = self.rfile.read(int(length)) if length.isdigit() and int(length) <= 4_000_000 else None
        if urlsplit(self.path).path != "/mcp":
            self.finish_with(404, refusal(None, -32600, "Not found"))
            return False
        if urlsplit("//" + (self.headers.get("Host") or "")).hostname not in ("localhost", "127.0.0.1", "::1"):
            self.finish_with(403, refusal(None, -32600, "Host not allowed"))
            return False
        origin = self.headers.get("Origin")
        if origin is not None and urlsplit(origin).hostname not in ("localhost", "127.0.0.1", "::1") and not on("h-origin-ignored"):
            self.finish_with(403, refusal(None, -32600, "Origin not allowed"))
            return False
        return True

    def other(self):
        if not self.allowed():
            return
        if on("h-get-opens-stream") and self.command == "GET":
            self.start_stream()
            return
        if on("h-delete-ok") and self.command == "DELETE":
            self.finish_with(200, {})
            return
        self.finish_with(405, refusal(None, -32600, "Method not allowed"), [("Allow", "POST")])

    do_GET = do_DELETE = do_PUT = do_PATCH = do_OPTIONS = other

    def do_HEAD(self):
        self.send_response(405)
        self.send_header("Allow", "POST")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def start_stream(self):
        self.streaming = True
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        if not on("h-no-accel"):
            self.send_header("X-Accel-Buffering", "no")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.flush()

    def gone(self):
        ready, _, _ = select.select([self.connection], [], [], 0)
        if not ready:
            return False
        try:
            return self.connection.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True

    def do_POST(self):
        if not self.allowed():
            return None
        self.streaming = False
        if self.body is None:
            self.close_connection = True
            return self.finish_with(413, refusal(None, -32600, "The body is too large"))
        kind = (self.headers.get("Content-Type") or "").split(";")[0].strip().lower()
        if kind != "application/json":
            return self.finish_with(415, refusal(None, -32600, "Content-Type must be application/json"))
        accept = self.headers.get("Accept", "*/*")
        if not any(type in accept for type in ("application/json", "text/event-stream", "*/*")):
            return self.finish_with(406, refusal(None, -32600, "Accept must list application/json and text/event-stream"))
        try:
            message = json.loads(self.body.decode())
        except (ValueError, RecursionError):
            return self.finish_with(400, refusal(None, -32700, "Parse error"))
        kind = shape(message)
        if kind == "notification":
            return self.finish_with(200, {}) if on("h-notification-200") else self.finish_with(202)
        if kind != "request":
            id = message.get("id") if isinstance(message, dict) else None
            return self.finish_with(400, refusal(id if is_id(id) else None, -32600, "The body must be one request or notification"))
        id = str(message["id"]) if on("j-id-retyped") else message["id"]
        try:
            check_headers(self.headers, message)
        except RpcError as error:
            data = {"supported": [REVISION]} if message["method"] == "initialize" else None
            return self.finish_with(error.status, refusal(id, error.code, error.message, data))
        if message["method"] == "subscriptions/listen":
            return self.listen(message)
        return self.answer(message)

    def answer(self, message):
        lock, cancelled, done = threading.Lock(), threading.Event(), threading.Event()

        def emit(out):
            with lock:
                if not self.streaming:
                    self.start_stream()
                try:
                    self.wfile.write(b"data: " + json.dumps(out).encode() + b"\n\n")
                    self.wfile.flush()
                except OSError:
                    cancelled.set()

        def watch():
            while not done.wait(0.1):
                if self.gone():
                    cancelled.set()
                    return

        params = message.get("params") if isinstance(message.get("params"), dict) else {}
        if message["method"] == "tools/call" and params.get("name") == "prune_plan":
            threading.Thread(target=watch, daemon=True).start()
        try:
            response, status = respond(message, emit, cancelled)
        finally:
            done.set()
        if response is None:
            if not self.streaming and not cancelled.is_set():
                time.sleep(30)
            self.close_connection = True
            return None
        twice = on("j-double-answer") and message["method"] == "tools/call"
        if not self.streaming and not twice:
            return self.finish_with(status, response)
        emit(response)
        if twice:
            emit(response)
        if on("h-stream-left-open"):
            for _ in range(100):
                if self.gone():
                    break
                time.sleep(0.1)
        return None

    def listen(self, message):
        lock = threading.Lock()

        def emit(out):
            with lock:
                try:
                    self.wfile.write(b"data: " + json.dumps(out).encode() + b"\n\n")
                    self.wfile.flush()
                except OSError:
                    listener.ended.set()

        listener, error, status = subscribe(message, None, emit)
        if error:
            return self.finish_with(status, error)
        self.start_stream()
        listener.open()
        key = secrets.token_hex(8)
        LISTENERS[key] = listener
        try:
            while not listener.ended.wait(0.2):
                if self.gone():
                    break
        finally:
            listener.ended.set()
            LISTENERS.pop(key, None)
        return None


class HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass


def main(arguments):
    global FAULT
    if "--list-faults" in arguments:
        for name, area, level, transport, says in FAULTS:
            print(json.dumps({"name": name, "area": area, "level": level, "transport": transport, "says": says}))
        return 0
    if "--fault" in arguments:
        FAULT = arguments[arguments.index("--fault") + 1]
        if FAULT not in {fault[0] for fault in FAULTS}:
            print(f"unknown fault {FAULT}; see --list-faults", file=sys.stderr)
            return 2
    threading.Thread(target=weather_changes, daemon=True).start()
    if "--http" in arguments:
        server = HttpServer(("127.0.0.1", int(arguments[arguments.index("--http") + 1])), Handler)
        print(f"listening on http://127.0.0.1:{server.server_port}/mcp", file=sys.stderr, flush=True)
        server.serve_forever()
    else:
        serve_stdio()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""A small town library as an MCP server, protocol revision 2026-07-28.

    server_2026.py --stdio [--fault NAME]
    server_2026.py --http PORT [--fault NAME]
    server_2026.py --list-faults

Without --fault the server follows the specification. With --fault it gets
exactly one thing wrong; the table FAULTS names them all.
"""

import argparse
import base64
import binascii
import hashlib
import hmac
import json
import os
import queue
import re
import secrets
import select
import signal
import socket
import struct
import sys
import threading
import time
import urllib.parse
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VERSION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
K_VERSION = PREFIX + "protocolVersion"
K_CLIENT = PREFIX + "clientInfo"
K_CAPS = PREFIX + "clientCapabilities"
K_LEVEL = PREFIX + "logLevel"
K_SUB = PREFIX + "subscriptionId"
K_SERVER = PREFIX + "serverInfo"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
SERVER_INFO = {"name": "harbour-lane-library", "title": "Harbour Lane Library", "version": "3.2.1"}
SECRET = secrets.token_bytes(32)

FAULT = None


def on(name):
    """True when the program was started with this fault."""
    return FAULT == name


# --------------------------------------------------------------------------
# The table of faults: name, area, level, transports, sentence, page
# --------------------------------------------------------------------------

BOTH = ("stdio", "http")
STDIO = ("stdio",)
HTTP = ("http",)

FAULTS = [
    # discovery and versions
    ("discover-not-implemented", "discovery", "MUST", BOTH, "server/discover is answered with method not found although every server has to offer it.", "server/discover: Discovery"),
    ("discover-without-versions", "discovery", "MUST", BOTH, "The discovery result lacks supportedVersions.", "server/discover: DiscoverResult"),
    ("discover-without-cache-hints", "caching", "MUST", BOTH, "The discovery result carries neither ttlMs nor cacheScope.", "server/utilities/caching: Cacheable Results"),
    ("prompts-capability-undeclared", "discovery", "MUST", BOTH, "Prompts are served but the prompts capability is not declared.", "server/prompts: Capabilities"),
    ("completions-capability-undeclared", "completion", "MUST", BOTH, "Completion is served but the completions capability is not declared.", "server/utilities/completion: Capabilities"),
    ("logging-capability-undeclared", "logging", "MUST", BOTH, "Log messages are sent but the logging capability is not declared.", "server/utilities/logging: Capabilities"),
    ("capability-flag-not-boolean", "discovery", "MUST", BOTH, "resources.subscribe in the capabilities is the text \"true\" and not a boolean.", "schema: ServerCapabilities"),
    ("extension-name-without-prefix", "discovery", "MUST", BOTH, "An extension is advertised under a name that has no prefix.", "basic/versioning: Extension Negotiation"),
    ("other-requests-need-discover-first", "discovery", "MUST", BOTH, "Every other request is refused until server/discover came over the same connection.", "basic/index: Statelessness"),
    ("unsupported-version-served", "discovery", "MUST", BOTH, "Requests naming a protocol version the server does not know are served as if nothing were wrong.", "basic/versioning: Protocol Version Negotiation"),
    ("old-version-served", "discovery", "MUST", BOTH, "Requests naming 2025-11-25 are served although that version is not among the supported ones.", "basic/versioning: Protocol Version Negotiation"),
    ("unsupported-version-invalid-params", "discovery", "MUST", BOTH, "An unsupported version is refused with -32602 and not with -32022.", "basic/versioning: Protocol Version Negotiation"),
    ("unsupported-version-not-listed", "discovery", "MUST", BOTH, "The error for an unsupported version lists no supported versions, except when answering server/discover.", "basic/versioning: Protocol Version Negotiation"),
    ("unsupported-version-without-requested", "discovery", "MUST", BOTH, "The error for an unsupported version does not repeat the requested version in its data.", "schema: UnsupportedProtocolVersionError"),
    ("unsupported-version-status-200", "http", "MUST", HTTP, "The error for an unsupported version comes with HTTP status 200.", "basic/transports/streamable-http: Protocol Version Header"),
    ("initialize-error-names-no-version", "discovery", "SHOULD", BOTH, "The refusal of an old initialize request does not say which versions the server speaks.", "basic/versioning: Backward Compatibility"),
    ("missing-version-accepted", "discovery", "MUST", BOTH, "A request whose _meta has no protocolVersion is served.", "basic/index: _meta"),
    ("missing-capabilities-accepted", "discovery", "MUST", BOTH, "A request whose _meta has no clientCapabilities is served.", "basic/index: _meta"),
    ("missing-meta-accepted", "discovery", "MUST", BOTH, "List requests without any _meta are served, other requests are refused.", "basic/index: _meta"),
    ("client-info-demanded", "discovery", "MUST", BOTH, "A request without the optional clientInfo is refused.", "basic/index: _meta"),
    ("malformed-request-status-200", "http", "MUST", HTTP, "A request that lacks required _meta fields is refused with HTTP status 200 and not 400.", "basic/index: _meta"),
    ("server-info-only-in-discover", "discovery", "SHOULD", BOTH, "Only the discovery result says who the server is; all other results leave serverInfo out.", "basic/index: _meta"),

    # JSON-RPC
    ("null-id-taken-as-id", "json-rpc", "MUST", BOTH, "A request with a null id is served and answered without an error.", "basic/index: Requests"),
    ("zero-id-taken-as-notification", "json-rpc", "MUST", BOTH, "A request with id 0 is taken for a notification and never answered.", "basic/index: Result Responses"),
    ("numeric-text-id-becomes-number", "json-rpc", "MUST", BOTH, "A text id made of digits comes back as a number.", "basic/index: Result Responses"),
    ("large-id-rounded", "json-rpc", "MUST", BOTH, "An integer id beyond 2 to the 53rd comes back rounded.", "basic/index: Result Responses"),
    ("number-id-becomes-text-in-errors", "json-rpc", "MUST", BOTH, "Error responses carry a numeric id as text; results are right.", "basic/index: Error Responses"),
    ("errors-without-id", "json-rpc", "MUST", BOTH, "Errors answering tools/call leave the id out although it could be read.", "basic/index: Error Responses"),
    ("answer-takes-latest-id", "json-rpc", "MUST", BOTH, "A slow request is answered with the id of whichever request arrived last.", "basic/index: Result Responses"),
    ("unreadable-message-answered-with-old-id", "json-rpc", "MUST", BOTH, "The error for a message that cannot be read carries the id of an earlier request.", "basic/index: Error Responses"),
    ("version-member-lost-after-error", "json-rpc", "MUST", BOTH, "The first result after an error lacks the jsonrpc member.", "basic/index: Messages"),
    ("error-code-as-text", "json-rpc", "MUST", BOTH, "The error for an unknown tool has its code as text.", "basic/index: Error Responses"),
    ("error-without-message", "json-rpc", "MUST", BOTH, "The error for an unknown prompt has no message.", "basic/index: Error Responses"),
    ("error-beside-null-result", "json-rpc", "MUST", BOTH, "Error responses have a result member of null beside the error.", "basic/index: Messages"),
    ("invalid-cursor-legacy-code", "json-rpc", "SHOULD", BOTH, "An invalid cursor is refused with -32000 from the range that new programs are asked to leave alone.", "basic/index: Error Codes"),
    ("unknown-tool-invented-code", "json-rpc", "MUST", BOTH, "An unknown tool is refused with -32050, a code of the reserved range that nobody defined.", "basic/index: Error Codes"),
    ("unknown-method-invalid-params", "json-rpc", "MUST", BOTH, "An unknown method is refused with -32602 and not with -32601.", "basic/transports/streamable-http: Protocol Version Header; schema: MethodNotFoundError"),
    ("unknown-method-not-answered", "json-rpc", "MUST", STDIO, "A request for an unknown method gets no answer at all.", "basic/patterns: Request and Response"),
    ("unknown-method-gets-empty-result", "json-rpc", "MUST", BOTH, "A request for an unknown method is answered with an empty success.", "schema: MethodNotFoundError"),
    ("unknown-method-status-200", "http", "MUST", HTTP, "Method not found comes with HTTP status 200 and not 404.", "basic/transports/streamable-http: Protocol Version Header"),
    ("notification-gets-error", "json-rpc", "MUST", BOTH, "An unknown notification is answered with an error.", "basic/index: Notifications"),
    ("result-type-missing-from-prompts", "json-rpc", "MUST", BOTH, "Results of prompts/get have no resultType.", "basic/index: Result Responses"),
    ("result-type-missing-from-second-page", "json-rpc", "MUST", BOTH, "List results have a resultType on the first page but not on later pages.", "basic/index: Result Responses"),
    ("result-type-invented", "json-rpc", "MUST", BOTH, "Completion results have the resultType partial, which neither the core nor an extension defines.", "basic/index: ResultType"),
    ("text-in-latin-1", "json-rpc", "MUST", BOTH, "Messages are encoded in Latin-1, so that accented letters are not UTF-8.", "basic/transports: Messages"),

    # stdio
    ("greeting-on-stdout", "stdio", "MUST", STDIO, "A greeting line is printed on standard output at the start.", "basic/transports/stdio"),
    ("unasked-notification-at-start", "stdio", "MUST", STDIO, "A list_changed notification is sent at the start although nobody subscribed.", "basic/patterns/subscriptions: Opening a Stream"),
    ("stray-print-on-tool-failure", "stdio", "MUST", STDIO, "When a loan cannot be renewed a plain text line lands on standard output.", "basic/transports/stdio"),
    ("answer-spread-over-lines", "stdio", "MUST", STDIO, "Results of prompts/get are printed over several lines.", "basic/transports/stdio"),
    ("progress-line-not-ended", "stdio", "MUST", STDIO, "Progress notifications are not followed by a line end, so that the next message sits on the same line.", "basic/transports/stdio"),
    ("end-of-input-ignored", "stdio", "SHOULD", STDIO, "The server keeps running after its standard input is closed.", "basic/transports/stdio: Shutdown"),
    ("malformed-line-not-answered", "stdio", "MUST", STDIO, "A line that is not JSON gets no error answer.", "basic/index: Messages; schema: ParseError"),
    ("malformed-line-ends-server", "stdio", "MUST", STDIO, "A line that is not JSON makes the server exit.", "basic/index: Messages"),
    ("invalid-request-not-answered", "stdio", "MUST", STDIO, "A message with an id but without a proper method gets no error answer.", "basic/index: Messages; schema: InvalidRequestError"),
    ("requests-unanswered-while-listening", "stdio", "MUST", STDIO, "While a subscription is open all other requests are dropped without an answer.", "basic/patterns: Request and Response"),
    ("unasked-ping-request", "stdio", "MUST", STDIO, "The server sends a ping request of its own beside the first answer.", "basic/transports/stdio: Receiving Messages"),

    # HTTP: connection, status codes, streams
    ("origin-not-checked", "security", "MUST", HTTP, "Requests with a foreign Origin header are served.", "basic/transports/streamable-http: Security & Endpoint"),
    ("origin-compared-by-prefix", "security", "MUST", HTTP, "An Origin is accepted if it merely begins like a local one, such as http://localhost.evil.example.", "basic/transports/streamable-http: Security & Endpoint"),
    ("origin-checked-once-per-connection", "security", "MUST", HTTP, "Origin is checked only on the first request of a kept-open connection.", "basic/transports/streamable-http: Security & Endpoint"),
    ("bad-origin-status-400", "security", "MUST", HTTP, "A foreign Origin is refused with status 400 and not 403.", "basic/transports/streamable-http: Security & Endpoint"),
    ("notification-answered-200", "http", "MUST", HTTP, "An accepted notification is answered with status 200 and not 202.", "basic/transports/streamable-http: Sending Messages"),
    ("notification-answered-with-body", "http", "MUST", HTTP, "The 202 answer to a notification has a body.", "basic/transports/streamable-http: Sending Messages"),
    ("json-with-wrong-content-type", "http", "MUST", HTTP, "JSON answers are sent as text/json.", "basic/transports/streamable-http: Sending Messages"),
    ("stream-with-wrong-content-type", "http", "MUST", HTTP, "Event streams are sent as text/plain.", "basic/transports/streamable-http: Sending Messages"),
    ("stream-without-buffering-header", "http", "SHOULD", HTTP, "Event streams come without the X-Accel-Buffering header.", "basic/transports/streamable-http: Receiving Messages"),
    ("stream-ends-without-response", "http", "MUST", HTTP, "The event stream of a call ends after its notifications, without the response.", "basic/patterns: Request and Response"),
    ("stream-response-twice", "http", "MUST", HTTP, "The response is sent twice on an event stream.", "basic/index: Responses"),
    ("stream-stays-open-after-response", "http", "SHOULD", HTTP, "The event stream of a call stays open long after the response.", "basic/transports/streamable-http: Receiving Messages"),
    ("event-data-broken-over-lines", "http", "MUST", HTTP, "Responses on an event stream are spread over lines of which only the first begins with data.", "basic/transports/streamable-http: Sending Messages"),
    ("session-id-issued", "http", "SHOULD", HTTP, "Answers carry an Mcp-Session-Id header.", "basic/transports/streamable-http: Earlier Streamable HTTP Revisions"),
    ("old-session-id-refused", "http", "SHOULD", HTTP, "A request with a leftover Mcp-Session-Id header is refused and not served.", "basic/transports/streamable-http: Earlier Streamable HTTP Revisions"),
    ("last-event-id-refused", "http", "SHOULD", HTTP, "A request with a Last-Event-ID header is refused and not served.", "basic/transports/streamable-http: Earlier Streamable HTTP Revisions"),
    ("get-opens-stream", "http", "SHOULD", HTTP, "GET is answered with an event stream and not with status 405.", "basic/transports/streamable-http: Earlier Streamable HTTP Revisions"),
    ("progress-on-other-stream", "http", "MUST", HTTP, "While two calls stream at once, the progress of one is sent on the stream of the other.", "basic/transports/streamable-http: Receiving Messages"),
    ("disconnect-ignored", "cancellation", "MUST", HTTP, "A call goes on to its end after the client closed the stream; library://desk/scans shows it running and then finished.", "basic/transports/streamable-http: Cancellation"),

    # HTTP: mirrored headers
    ("version-header-not-required", "http-headers", "MUST", HTTP, "A request without MCP-Protocol-Version is served.", "basic/transports/streamable-http: Protocol Version Header"),
    ("version-header-may-differ", "http-headers", "MUST", HTTP, "A request whose MCP-Protocol-Version differs from the body is served.", "basic/transports/streamable-http: Protocol Version Header"),
    ("method-header-not-required", "http-headers", "MUST", HTTP, "A request without Mcp-Method is served.", "basic/transports/streamable-http: Server Validation"),
    ("method-header-may-differ", "http-headers", "MUST", HTTP, "A request whose Mcp-Method differs from the body is served.", "basic/transports/streamable-http: Server Validation"),
    ("name-header-not-required", "http-headers", "MUST", HTTP, "A tools/call, prompts/get or resources/read without Mcp-Name is served.", "basic/transports/streamable-http: Server Validation"),
    ("name-header-checked-only-for-tools", "http-headers", "MUST", HTTP, "Mcp-Name is checked for tools/call but not for prompts/get and resources/read.", "basic/transports/streamable-http: Server Validation"),
    ("encoded-name-header-not-decoded", "http-headers", "MUST", HTTP, "An Mcp-Name in the Base64 form is compared without decoding and therefore refused.", "basic/transports/streamable-http: Value Encoding"),
    ("header-values-compared-without-case", "http-headers", "MUST", HTTP, "Mcp-Method and Mcp-Name are accepted in the wrong letter case.", "basic/transports/streamable-http: Case Sensitivity"),
    ("header-names-compared-with-case", "http-headers", "MUST", HTTP, "Mirrored headers are found only if their names are spelled in the very case of the specification.", "basic/transports/streamable-http: Case Sensitivity"),
    ("header-mismatch-wrong-code", "http-headers", "MUST", HTTP, "Header mismatches are refused with -32600 and not with -32020.", "basic/transports/streamable-http: Server Validation"),
    ("header-mismatch-status-200", "http-headers", "MUST", HTTP, "Header mismatches are refused with HTTP status 200 and not 400.", "basic/transports/streamable-http: Server Validation"),
    ("param-header-not-required", "http-headers", "MUST", HTTP, "A call that leaves out the Mcp-Param header of a given argument is served.", "basic/transports/streamable-http: Server Behavior for Custom Headers"),
    ("param-header-may-differ", "http-headers", "MUST", HTTP, "A call whose Mcp-Param header differs from the top-level argument is served.", "basic/transports/streamable-http: Server Behavior for Custom Headers"),
    ("nested-param-header-not-checked", "http-headers", "MUST", HTTP, "Mcp-Param headers of nested arguments are never compared with the body.", "basic/transports/streamable-http: Server Behavior for Custom Headers"),
    ("absent-param-header-demanded", "http-headers", "MUST", HTTP, "The Mcp-Param header is demanded even when the argument is not given.", "basic/transports/streamable-http: Server Behavior for Custom Headers"),
    ("param-header-without-argument-accepted", "http-headers", "MUST", HTTP, "An Mcp-Param header for an argument that is not in the body is accepted.", "basic/transports/streamable-http: Server Validation"),
    ("encoded-param-header-not-decoded", "http-headers", "MUST", HTTP, "An Mcp-Param header in the Base64 form is compared without decoding and therefore refused.", "basic/transports/streamable-http: Value Encoding"),
    ("raw-text-in-mirrored-header-accepted", "http-headers", "MUST", HTTP, "An Mcp-Param header with raw characters outside ASCII is accepted.", "basic/transports/streamable-http: Server Behavior for Custom Headers"),
    ("integer-header-compared-as-text", "http-headers", "SHOULD", HTTP, "Integer headers are compared as text, so that 42.0 is refused for 42.", "basic/transports/streamable-http: Server Validation"),
    ("mirror-names-differ-only-in-case", "http-headers", "MUST", BOTH, "Two parameters of one tool have x-mcp-header names that differ only in letter case.", "server/tools: x-mcp-header"),
    ("mirror-on-number-parameter", "http-headers", "MUST", BOTH, "x-mcp-header stands on a parameter of type number.", "server/tools: x-mcp-header"),
    ("mirror-inside-array-items", "http-headers", "MUST", BOTH, "x-mcp-header stands inside the items of an array.", "server/tools: x-mcp-header"),
    ("mirror-name-with-space", "http-headers", "MUST", BOTH, "An x-mcp-header name contains spaces.", "server/tools: x-mcp-header"),

    # tools
    ("tool-input-schema-null", "tools", "MUST", BOTH, "One tool has an inputSchema of null.", "server/tools: Tool"),
    ("input-schema-unknown-type", "tools", "MUST", BOTH, "An optional parameter of one tool has the type bool, which JSON Schema does not know.", "basic/index: Schema Validation"),
    ("tool-hint-as-text", "tools", "MUST", BOTH, "readOnlyHint of one tool is text and not a boolean.", "schema: ToolAnnotations"),
    ("tool-name-with-space", "tools", "SHOULD", BOTH, "One tool is listed under a name with a space.", "server/tools: Tool Names"),
    ("tools-list-changes-after-a-search", "tools", "MUST", BOTH, "Once a search was made, tools/list shows one more tool.", "server/tools: Capabilities"),
    ("tools-order-changes", "tools", "SHOULD", BOTH, "tools/list changes the order of its tools from request to request.", "server/tools: Capabilities"),
    ("unknown-tool-succeeds", "tools", "MUST", BOTH, "Calling a tool that does not exist gives an empty success.", "server/tools: Error Handling"),
    ("tool-arguments-not-validated", "tools", "MUST", BOTH, "Arguments that break the input schema are answered with success.", "server/tools: Security Considerations"),
    ("tool-failure-as-rpc-error", "tools", "SHOULD", BOTH, "A loan that cannot be renewed gives an internal error of JSON-RPC and not a tool result.", "server/tools: Error Handling; schema: CallToolResult"),
    ("failed-tool-not-marked", "tools", "SHOULD", BOTH, "Results of failed tools lack isError.", "server/tools: Error Handling; schema: CallToolResult"),
    ("structured-count-as-text", "tools", "MUST", BOTH, "The structured result has its count as text against the output schema.", "server/tools: Output Schema"),
    ("structured-last-item-incomplete", "tools", "MUST", BOTH, "If a search finds several books the last one lacks a member the output schema requires.", "server/tools: Output Schema"),
    ("structured-missing-when-empty", "tools", "MUST", BOTH, "A search without hits gives no structured result.", "server/tools: Output Schema"),
    ("structured-without-text", "tools", "SHOULD", BOTH, "The structured result is not repeated as text content.", "server/tools: Structured Content"),
    ("image-as-data-url", "tools", "MUST", BOTH, "Image content holds a data URL and not plain Base64.", "server/tools: Image Content"),
    ("audio-not-base64", "tools", "MUST", BOTH, "Audio content holds hexadecimal digits and an exclamation mark, which is not Base64.", "server/tools: Audio Content"),
    ("resource-link-without-name", "tools", "MUST", BOTH, "A resource link has no name.", "schema: ResourceLink"),
    ("embedded-resource-without-uri", "tools", "MUST", BOTH, "An embedded resource has no uri.", "schema: EmbeddedResource"),
    ("content-priority-above-one", "tools", "MUST", BOTH, "The annotation of an image has a priority of 9.", "server/resources: Annotations"),
    ("tool-content-not-a-list", "tools", "MUST", BOTH, "branch_hours returns its content as an object and not as a list.", "schema: CallToolResult"),

    # resources
    ("resource-without-name", "resources", "MUST", BOTH, "One listed resource has no name.", "server/resources: Resource"),
    ("templates-under-wrong-member", "resources", "MUST", BOTH, "The list of templates is in a member called templates.", "schema: ListResourceTemplatesResult"),
    ("missing-resource-gives-empty-contents", "resources", "MUST", BOTH, "Reading a resource that does not exist gives empty contents.", "server/resources: Error Handling"),
    ("missing-resource-old-code", "resources", "MUST", BOTH, "Reading a resource that does not exist gives the withdrawn code -32002.", "basic/index: Error Codes"),
    ("resource-path-not-checked", "resources", "MUST", BOTH, "A URI with dots climbs out of the shelves and reads the staff rota.", "server/resources: Security Considerations"),
    ("blob-as-hex", "resources", "MUST", BOTH, "Binary contents are hexadecimal with a dot at the end and not Base64.", "server/resources: Security Considerations"),
    ("read-content-without-uri", "resources", "MUST", BOTH, "Contents of shelf resources have no uri.", "schema: TextResourceContents"),

    # subscriptions
    ("listen-not-acknowledged", "subscriptions", "MUST", BOTH, "A subscription is never acknowledged.", "basic/patterns/subscriptions: Acknowledgment"),
    ("change-sent-before-acknowledgement", "subscriptions", "MUST", BOTH, "A first round of change notifications is sent before the acknowledgement.", "basic/patterns/subscriptions: Acknowledgment"),
    ("acknowledgement-without-filter", "subscriptions", "MUST", BOTH, "The acknowledgement does not say what was agreed.", "schema: SubscriptionsAcknowledgedNotification"),
    ("acknowledgement-without-subscription-id", "subscriptions", "MUST", BOTH, "The acknowledgement carries no subscription id.", "basic/patterns/subscriptions: Acknowledgment"),
    ("listen-never-stays-open", "subscriptions", "MUST", BOTH, "A subscription is completed right after the acknowledgement and delivers nothing.", "basic/patterns/subscriptions: Opening a Stream"),
    ("notifications-nobody-asked-for", "subscriptions", "MUST", BOTH, "Every subscription gets list changes of all kinds whatever its filter says.", "basic/patterns/subscriptions: Opening a Stream"),
    ("updates-for-other-resources", "subscriptions", "MUST", BOTH, "A subscription to one resource gets the updates of all resources.", "basic/patterns/subscriptions: Opening a Stream"),
    ("subscription-id-missing-on-updates", "subscriptions", "MUST", BOTH, "Resource updates carry no subscription id.", "basic/index: _meta"),
    ("subscription-id-as-text", "subscriptions", "MUST", BOTH, "The subscription id is text even if the listen request had a numeric id.", "basic/patterns/subscriptions: Receiving Notifications"),
    ("subscription-id-of-latest-listen", "subscriptions", "MUST", BOTH, "With two subscriptions open, notifications of the older one carry the id of the newer one.", "basic/patterns/subscriptions: Multiple Concurrent Subscriptions"),
    ("second-listen-silences-first", "subscriptions", "MUST", BOTH, "A new subscription silently ends all older ones.", "basic/patterns/subscriptions: Multiple Concurrent Subscriptions"),
    ("only-first-change-delivered", "subscriptions", "SHOULD", BOTH, "Each subscription delivers one change and is silent afterwards.", "server/resources: Subscriptions"),
    ("updated-without-uri", "subscriptions", "MUST", BOTH, "Resource updates do not say which resource.", "schema: ResourceUpdatedNotification"),
    ("tools-change-not-announced", "subscriptions", "SHOULD", BOTH, "The list of tools changes without a notification although listChanged is declared and subscribed.", "server/tools: List Changed Notification"),
    ("changes-after-cancelled-listen", "subscriptions", "MUST", STDIO, "Changes are still delivered after the client cancelled the subscription.", "basic/transports/stdio: Cancellation"),
    ("teardown-without-cancelled", "subscriptions", "MUST", STDIO, "At shutdown open subscriptions are ended without notifications/cancelled.", "basic/patterns/cancellation"),
    ("teardown-without-result", "subscriptions", "SHOULD", BOTH, "At shutdown open subscriptions are ended without a closing result.", "basic/patterns/subscriptions: Graceful Closure"),

    # prompts
    ("prompt-arguments-as-map", "prompts", "MUST", BOTH, "One prompt is listed with its arguments as a map.", "schema: Prompt"),
    ("prompt-missing-argument-filled-in", "prompts", "SHOULD", BOTH, "A missing required argument is silently replaced by some book.", "server/prompts: Error Handling"),
    ("unknown-prompt-wrong-code", "prompts", "SHOULD", BOTH, "An unknown prompt is refused with -32601 and not with -32602.", "server/prompts: Error Handling"),
    ("prompt-role-system", "prompts", "MUST", BOTH, "The first message of a prompt has the role system.", "server/prompts: PromptMessage"),
    ("prompt-content-as-list", "prompts", "MUST", BOTH, "The last message of a prompt has a list as content.", "schema: PromptMessage"),
    ("prompt-image-without-mime-type", "prompts", "MUST", BOTH, "The image of a prompt has no MIME type.", "server/prompts: Image Content"),
    ("prompt-resource-without-mime-type", "prompts", "MUST", BOTH, "The first embedded resource of a prompt has no MIME type.", "server/prompts: Embedded Resources"),
    ("prompt-resource-with-neither-text-nor-blob", "prompts", "MUST", BOTH, "The second embedded resource of a prompt has neither text nor blob.", "server/prompts: Embedded Resources"),

    # completion
    ("completion-more-than-hundred", "completion", "MUST", BOTH, "Completion returns 150 values at once.", "server/utilities/completion: Completion Results"),
    ("completion-values-as-objects", "completion", "MUST", BOTH, "Completion values are objects and not strings.", "schema: CompleteResult"),
    ("completion-for-unknown-prompt-succeeds", "completion", "SHOULD", BOTH, "Completion for a prompt that does not exist succeeds with no values.", "server/utilities/completion: Error Handling"),
    ("completion-asks-the-user", "input-requests", "MUST", BOTH, "completion/complete asks for input if the client can be asked.", "basic/patterns/mrtr: Supported Requests"),

    # logging
    ("logs-without-request", "logging", "MUST", BOTH, "Log messages are sent for requests that name no log level.", "server/utilities/logging: Per-request log level"),
    ("log-level-remembered", "logging", "MUST", BOTH, "The log level of an earlier request holds for later requests that name none.", "server/utilities/logging: Per-request log level"),
    ("logs-one-level-too-low", "logging", "MUST", BOTH, "Log messages below the requested level are sent.", "server/utilities/logging: Per-request log level"),
    ("log-level-name-warn", "logging", "MUST", BOTH, "Warnings are sent with the level warn, which is no level of the protocol.", "server/utilities/logging: Log Levels"),
    ("log-data-missing", "logging", "MUST", BOTH, "Log messages have a message member in place of data.", "schema: LoggingMessageNotification"),
    ("logs-on-listen-stream", "logging", "MUST", BOTH, "While a subscription is open, log messages go there and not to the request they belong to.", "server/utilities/logging: Per-request log level"),
    ("log-after-response", "logging", "MUST", STDIO, "The last log message of a request is sent after its response.", "server/utilities/logging: Per-request log level"),
    ("unknown-log-level-accepted", "logging", "SHOULD", BOTH, "A request with an unknown log level is served.", "server/utilities/logging: Error Handling"),

    # pagination
    ("cursor-ignored", "pagination", "MUST", BOTH, "Lists always give the first page whatever the cursor, so that later tools are never listed.", "server/utilities/pagination; server/tools: Capabilities"),
    ("page-border-item-lost", "pagination", "MUST", BOTH, "The first item of every later page is left out.", "server/utilities/pagination; server/tools: Capabilities"),
    ("last-page-null-cursor", "pagination", "MUST", BOTH, "The last page has a nextCursor of null.", "schema: PaginatedResult"),
    ("cursor-as-number", "pagination", "MUST", BOTH, "nextCursor is a number.", "server/utilities/pagination: Pagination Model"),
    ("invalid-cursor-gives-first-page", "pagination", "SHOULD", BOTH, "An invalid cursor gives the first page and no error.", "server/utilities/pagination: Error Handling"),

    # caching
    ("read-without-ttl", "caching", "MUST", BOTH, "Results of resources/read have no ttlMs.", "server/utilities/caching: Cacheable Results"),
    ("negative-ttl-on-live-resource", "caching", "MUST", BOTH, "Resources that change at any time have a ttlMs of -1.", "server/utilities/caching: Time-to-Live (TTL) Field"),
    ("ttl-with-fraction", "caching", "MUST", BOTH, "ttlMs of the template list is no integer.", "server/utilities/caching: Cacheable Model"),
    ("cache-scope-unknown-word", "caching", "MUST", BOTH, "cacheScope of the prompt list is shared.", "server/utilities/caching: Cache Scope Field"),
    ("cache-scope-differs-between-pages", "caching", "MUST", BOTH, "The first page of a list is public, the following pages are private.", "server/utilities/caching: Interaction with Pagination"),
    ("cache-hints-missing-on-last-page", "caching", "MUST", BOTH, "The last page of a list has no caching hints.", "server/utilities/caching: Interaction with Pagination"),

    # progress
    ("progress-stands-still", "progress", "MUST", BOTH, "The last progress notification repeats the value of the one before.", "basic/patterns/progress: Progress Flow"),
    ("progress-token-turned-into-text", "progress", "MUST", BOTH, "A numeric progress token comes back as text.", "basic/patterns/progress: Behavior Requirements"),
    ("progress-without-token", "progress", "MUST", BOTH, "Progress with a token of the server's own is sent for requests that gave none.", "basic/patterns/progress: Behavior Requirements"),
    ("progress-token-of-latest-call", "progress", "MUST", BOTH, "With two calls at once, the progress of the older carries the token of the newer.", "basic/patterns/progress: Behavior Requirements"),
    ("progress-value-as-text", "progress", "MUST", BOTH, "The progress value is a text with a percent sign.", "schema: ProgressNotification"),
    ("progress-after-response", "progress", "MUST", STDIO, "One more progress notification is sent after the response.", "basic/patterns/progress: Implementation Notes"),
    ("progress-call-answered-twice", "progress", "MUST", STDIO, "A call with a progress token is answered twice.", "basic/index: Responses"),

    # cancellation
    ("cancelled-call-still-answered", "cancellation", "MUST", STDIO, "A cancelled call runs on and is answered.", "basic/transports/stdio: Cancellation"),
    ("cancelled-call-gets-error", "cancellation", "MUST", STDIO, "A cancelled call is answered with an error.", "basic/transports/stdio: Cancellation"),
    ("progress-goes-on-after-cancel", "cancellation", "MUST", STDIO, "Progress notifications go on after the call was cancelled; only the response is kept back.", "basic/transports/stdio: Cancellation"),
    ("cancel-drops-every-call", "cancellation", "MUST", STDIO, "Cancelling one request cancels all requests in flight, which then stay unanswered.", "basic/patterns: Request and Response"),
    ("cancel-ignores-type-of-id", "cancellation", "SHOULD", STDIO, "Cancelling the unknown text id \"23\" also cancels the request with the number 23.", "basic/patterns/cancellation: Error Handling"),
    ("cancel-of-unknown-request-answered", "cancellation", "MUST", STDIO, "Cancelling a request that is not running is answered with an error.", "basic/index: Notifications"),
    ("malformed-cancel-stops-server", "cancellation", "SHOULD", STDIO, "After a cancellation without requestId the server answers nothing any more.", "basic/patterns/cancellation: Error Handling"),
    ("cancelled-sent-for-failed-tool", "cancellation", "MUST", BOTH, "The server sends notifications/cancelled for a tool call that fails.", "basic/patterns/cancellation"),

    # input requests
    ("capabilities-remembered", "input-requests", "MUST", BOTH, "The elicitation capability of an earlier request is taken to hold for later requests that do not declare it.", "basic/index: Statelessness"),
    ("elicitation-without-capability", "input-requests", "MUST", BOTH, "The reader is asked although the client declares no elicitation.", "basic/patterns/mrtr: Server Requirements"),
    ("form-sent-to-url-only-client", "input-requests", "MUST", BOTH, "A form is sent to a client that declares only URL mode.", "client/elicitation: Capabilities"),
    ("missing-capability-wrong-code", "input-requests", "MUST", BOTH, "A missing client capability is reported with -32600 and not with -32021.", "basic/index: _meta"),
    ("missing-capability-without-list", "input-requests", "MUST", BOTH, "The error for a missing client capability does not list what is missing.", "basic/index: _meta"),
    ("missing-capability-status-200", "http", "MUST", HTTP, "The error for a missing client capability comes with HTTP status 200.", "basic/index: _meta"),
    ("elicitation-as-own-request", "input-requests", "MUST", BOTH, "The reader is asked by a JSON-RPC request of the server and not by an input_required result.", "basic/patterns: Overview"),
    ("elicitation-nested-schema", "input-requests", "MUST", BOTH, "The form asks for a nested object.", "client/elicitation: Requested Schema"),
    ("elicitation-asks-password", "input-requests", "MUST", BOTH, "The form asks for the account password.", "client/elicitation: User Interaction Model"),
    ("elicitation-without-message", "input-requests", "MUST", BOTH, "The input request has no message.", "client/elicitation: Elicitation Requests"),
    ("input-requests-as-list", "input-requests", "MUST", BOTH, "inputRequests is a list and not a map.", "basic/patterns/mrtr: InputRequests"),
    ("input-request-unknown-method", "input-requests", "MUST", BOTH, "The input request has a method of the server's own invention.", "basic/patterns/mrtr: Server Requirements"),
    ("input-required-empty", "input-requests", "MUST", BOTH, "The input_required result has neither inputRequests nor requestState.", "basic/patterns/mrtr: Server Requirements"),
    ("input-required-marked-complete", "input-requests", "MUST", BOTH, "The result that asks for input has the resultType complete.", "basic/index: ResultType"),
    ("request-state-not-text", "input-requests", "MUST", BOTH, "requestState is an object and not a string.", "basic/patterns/mrtr: InputRequiredResult"),
    ("request-state-not-verified", "security", "MUST", BOTH, "A changed or invented requestState is accepted.", "basic/patterns/mrtr: Server Requirements"),
    ("request-state-of-other-call-accepted", "security", "SHOULD", BOTH, "The requestState of one call is accepted on a call with other arguments.", "basic/patterns/mrtr: Server Requirements"),
    ("missing-answer-is-an-error", "input-requests", "SHOULD", BOTH, "A retry without the wanted answer gives an error and does not ask again.", "basic/patterns/mrtr: Error Handling"),
    ("decline-becomes-internal-error", "input-requests", "MUST", BOTH, "If the reader declines, the call ends with an internal error.", "client/elicitation: Error Handling"),
    ("form-answer-not-checked", "input-requests", "SHOULD", BOTH, "Answers that break the requested schema are used as they are.", "client/elicitation: Form Mode Security"),
]


def list_faults():
    for name, area, level, transports, what, page in FAULTS:
        print(json.dumps({
            "name": name, "area": area, "level": level, "transports": list(transports),
            "revisions": [VERSION], "what": what, "page": page,
        }, ensure_ascii=False))


# --------------------------------------------------------------------------
# Errors
# --------------------------------------------------------------------------

class RpcError(Exception):
    def __init__(self, code, message, data=None, status=200):
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.status = status


class BadMessage(Exception):
    """The message is no JSON-RPC request or notification."""

    def __init__(self, text, request_id=None):
        super().__init__(text)
        self.text = text
        self.request_id = request_id


class Cancelled(Exception):
    """The client gave the request up; nothing more may be sent for it."""


class Silent(Exception):
    """Only faults raise this: no answer at all."""


# --------------------------------------------------------------------------
# The collection
# --------------------------------------------------------------------------

def tiny_png():
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    header = struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0)
    rows = b"\x00" + b"\x1f\x4e\x79" * 2 + b"\x00" + b"\xf2\xc1\x4e" * 2
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def tiny_wav():
    samples = bytes((128 + (i % 16) * 4) for i in range(160))
    fmt = struct.pack("<HHIIHH", 1, 1, 8000, 8000, 1, 8)
    body = b"WAVE" + b"fmt " + struct.pack("<I", len(fmt)) + fmt + b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


def b64(data):
    return base64.b64encode(data).decode("ascii")


PNG = tiny_png()
WAV = tiny_wav()

GENRES = ["novel", "history", "science", "poetry", "travel"]
BRANCHES = ["harbour", "hillside", "station"]
TONES = ["plain", "playful", "scholarly"]
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

BOOKS = {
    book["isbn"]: book for book in [
        {"isbn": "9780141439518", "title": "Pride and Prejudice", "author": "Jane Austen", "year": 1813, "genre": "novel", "tags": ["classic"]},
        {"isbn": "9780141439587", "title": "Emma", "author": "Jane Austen", "year": 1815, "genre": "novel", "tags": ["classic", "comedy"]},
        {"isbn": "9780060883287", "title": "Cien años de soledad", "author": "Gabriel García Márquez", "year": 1967, "genre": "novel", "tags": ["spanish"]},
        {"isbn": "9780451419439", "title": "Les Misérables", "author": "Victor Hugo", "year": 1862, "genre": "novel", "tags": ["classic", "french"]},
        {"isbn": "9780553380163", "title": "A Brief History of Time", "author": "Stephen Hawking", "year": 1988, "genre": "science", "tags": ["physics"]},
        {"isbn": "9780140445145", "title": "The Histories", "author": "Herodotus", "year": -430, "genre": "history", "tags": ["ancient"]},
        {"isbn": "9780374533557", "title": "Thinking, Fast and Slow", "author": "Daniel Kahneman", "year": 2011, "genre": "science", "tags": ["mind"]},
        {"isbn": "9780141182636", "title": "The Great Gatsby", "author": "F. Scott Fitzgerald", "year": 1925, "genre": "novel", "tags": ["american"]},
        {"isbn": "9780142437230", "title": "Don Quixote", "author": "Miguel de Cervantes", "year": 1605, "genre": "novel", "tags": ["classic", "spanish"]},
        {"isbn": "9780393355628", "title": "Leaves of Grass", "author": "Walt Whitman", "year": 1855, "genre": "poetry", "tags": ["american"]},
        {"isbn": "9780141025117", "title": "The Road to Oxiana", "author": "Robert Byron", "year": 1937, "genre": "travel", "tags": ["persia"]},
    ]
}
SHELFMARKS = ["%s-%03d" % (letter, number) for letter in "ABCDEF" for number in range(1, 26)]
LOANS = {"L-1001": "overdue", "L-1002": "open"}

NOTES = {"9780141439587": ["First edition in the glass case."]}
RESERVATIONS = {}          # key: the nonce of the request state, value: reservation
STATE_LOCK = threading.RLock()
DESK = {"queue": 2, "exhibition": False, "running": 0, "finished": 0}
SHARED = {}                # what only faults remember between requests


def book_text(book):
    return "%s by %s (%d), ISBN %s" % (book["title"], book["author"], book["year"], book["isbn"])


# --------------------------------------------------------------------------
# A small JSON Schema checker, enough for the schemas of this server
# --------------------------------------------------------------------------

def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool) or isinstance(value, float) and value.is_integer()


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


TYPE_CHECKS = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "integer": is_integer,
    "number": is_number,
    "null": lambda v: v is None,
}


def schema_problem(value, schema, where="value"):
    """Return a sentence about the first mismatch, or None."""
    kinds = schema.get("type")
    if kinds:
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if not any(TYPE_CHECKS[kind](value) for kind in kinds):
            return "%s must be of type %s" % (where, " or ".join(kinds))
    if "enum" in schema and value not in schema["enum"]:
        return "%s must be one of %s" % (where, ", ".join(map(str, schema["enum"])))
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            return "%s is too short" % where
        if "maxLength" in schema and len(value) > schema["maxLength"]:
            return "%s is too long" % where
        if "pattern" in schema and not re.search(schema["pattern"], value):
            return "%s has the wrong form" % where
    if is_number(value):
        if "minimum" in schema and value < schema["minimum"]:
            return "%s must be at least %s" % (where, schema["minimum"])
        if "maximum" in schema and value > schema["maximum"]:
            return "%s must be at most %s" % (where, schema["maximum"])
    if isinstance(value, list):
        if "maxItems" in schema and len(value) > schema["maxItems"]:
            return "%s has too many items" % where
        for index, item in enumerate(value):
            problem = schema_problem(item, schema.get("items", {}), "%s[%d]" % (where, index))
            if problem:
                return problem
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                return "%s.%s is required" % (where, name)
        known = schema.get("properties", {})
        for name, item in value.items():
            if name in known:
                problem = schema_problem(item, known[name], "%s.%s" % (where, name))
                if problem:
                    return problem
            elif schema.get("additionalProperties") is False:
                return "%s.%s is not known" % (where, name)
    return None


# --------------------------------------------------------------------------
# Tool definitions
# --------------------------------------------------------------------------

ISBN_SCHEMA = {"type": "string", "pattern": "^[0-9]{13}$", "description": "ISBN-13, digits only"}

READ_ONLY = {"readOnlyHint": True, "openWorldHint": False}


def tool_definitions():
    tools = [
        {
            "name": "search_books",
            "title": "Search books",
            "description": "Find books whose title or author contains a text.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "minLength": 1, "maxLength": 100, "description": "Text to look for"},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
                },
                "required": ["query"],
                "additionalProperties": False,
            },
            "outputSchema": {
                "type": "object",
                "properties": {
                    "count": {"type": "integer", "minimum": 0},
                    "books": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "isbn": {"type": "string"},
                                "title": {"type": "string"},
                                "author": {"type": "string"},
                                "year": {"type": "integer"},
                            },
                            "required": ["isbn", "title", "author", "year"],
                        },
                    },
                },
                "required": ["count", "books"],
            },
            "annotations": dict(READ_ONLY),
        },
        {
            "name": "filter_books",
            "title": "Filter books",
            "description": "List books by genre, years and tags.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "filter": {
                        "type": "object",
                        "properties": {
                            "genre": {"type": "string", "enum": GENRES},
                            "years": {
                                "type": "object",
                                "properties": {"from": {"type": "integer"}, "to": {"type": "integer"}},
                                "additionalProperties": False,
                            },
                            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
                        },
                        "additionalProperties": False,
                    },
                    "sort": {"type": "string", "enum": ["title", "year", "author"], "default": "title"},
                    "descending": {"type": "boolean", "default": False},
                },
                "required": ["filter"],
                "additionalProperties": False,
            },
            "annotations": dict(READ_ONLY),
        },
        {
            "name": "scan_catalogue",
            "title": "Scan the catalogue",
            "description": "Check every catalogue card; takes the given number of seconds and reports progress.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "seconds": {"type": "number", "minimum": 0, "maximum": 30, "default": 0},
                    "steps": {"type": "integer", "minimum": 1, "maximum": 50, "default": 4},
                },
                "additionalProperties": False,
            },
            "annotations": dict(READ_ONLY),
        },
        {
            "name": "check_shelves",
            "title": "Check shelves",
            "description": "Compare a shelf with the catalogue; writes log messages if the request asks for a log level.",
            "inputSchema": {
                "type": "object",
                "properties": {"shelfmark": {"type": "string", "pattern": "^[A-F]-[0-9]{3}$"}},
                "additionalProperties": False,
            },
            "annotations": dict(READ_ONLY),
        },
        {
            "name": "reserve_book",
            "title": "Reserve a book",
            "description": "Reserve a book; asks the reader where and under which name to keep it.",
            "inputSchema": {
                "type": "object",
                "properties": {"isbn": dict(ISBN_SCHEMA)},
                "required": ["isbn"],
                "additionalProperties": False,
            },
            "annotations": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False},
        },
        {
            "name": "renew_loan",
            "title": "Renew a loan",
            "description": "Renew a loan by its number, such as L-1001; an overdue or unknown loan cannot be renewed.",
            "inputSchema": {
                "type": "object",
                "properties": {"loan": {"type": "string", "minLength": 1, "maxLength": 40}},
                "required": ["loan"],
                "additionalProperties": False,
            },
            "annotations": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
        },
        {
            "name": "book_dossier",
            "title": "Book dossier",
            "description": "Cover image, reading sample, link and catalogue card of a book.",
            "inputSchema": {
                "type": "object",
                "properties": {"isbn": dict(ISBN_SCHEMA)},
                "required": ["isbn"],
                "additionalProperties": False,
            },
            "annotations": dict(READ_ONLY),
        },
        {
            "name": "branch_hours",
            "title": "Branch hours",
            "description": "Opening hours of a branch on a weekday (1 is Monday).",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "branch": {"type": "string", "minLength": 1, "maxLength": 60, "description": "Name of the branch", "x-mcp-header": "Branch"},
                    "weekday": {"type": "integer", "minimum": 1, "maximum": 7, "description": "Day of the week"},
                    "day_of_year": {"type": "integer", "minimum": 1, "maximum": 366, "x-mcp-header": "Day"},
                    "options": {
                        "type": "object",
                        "properties": {"holiday": {"type": "boolean", "x-mcp-header": "Holiday"}},
                        "additionalProperties": False,
                    },
                },
                "required": ["branch"],
                "additionalProperties": False,
            },
            "annotations": dict(READ_ONLY),
        },
        {
            "name": "add_note",
            "title": "Add a note",
            "description": "Add a librarian's note to a book. Changes the notes resource of that book.",
            "inputSchema": {
                "type": "object",
                "properties": {"isbn": dict(ISBN_SCHEMA), "note": {"type": "string", "minLength": 1, "maxLength": 500}},
                "required": ["isbn", "note"],
                "additionalProperties": False,
            },
            "annotations": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False},
        },
        {
            "name": "set_exhibition",
            "title": "Open or close the exhibition",
            "description": "Open or close the exhibition for all readers; its tool and prompt come and go with it.",
            "inputSchema": {
                "type": "object",
                "properties": {"open": {"type": "boolean"}},
                "required": ["open"],
                "additionalProperties": False,
            },
            "annotations": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
        },
    ]
    with STATE_LOCK:
        exhibition = DESK["exhibition"]
    if exhibition:
        tools.append({
            "name": "exhibition_info",
            "title": "Exhibition",
            "description": "What the current exhibition shows.",
            "inputSchema": {"type": "object", "additionalProperties": False},
            "annotations": dict(READ_ONLY),
        })
    return tools


def find_tool(name):
    for tool in tool_definitions():
        if tool["name"] == name:
            return tool
    return None


def published_tools():
    """The definitions as tools/list shows them."""
    tools = tool_definitions()
    by_name = {tool["name"]: tool for tool in tools}
    if on("tool-input-schema-null"):
        by_name["set_exhibition"]["inputSchema"] = None
    if on("input-schema-unknown-type"):
        by_name["filter_books"]["inputSchema"]["properties"]["descending"]["type"] = "bool"
    if on("tool-hint-as-text"):
        by_name["add_note"]["annotations"]["readOnlyHint"] = "false"
    if on("tool-name-with-space"):
        by_name["renew_loan"]["name"] = "renew loan"
    if on("mirror-names-differ-only-in-case"):
        by_name["branch_hours"]["inputSchema"]["properties"]["day_of_year"]["x-mcp-header"] = "branch"
    if on("mirror-on-number-parameter"):
        by_name["scan_catalogue"]["inputSchema"]["properties"]["seconds"]["x-mcp-header"] = "Seconds"
    if on("mirror-inside-array-items"):
        by_name["filter_books"]["inputSchema"]["properties"]["filter"]["properties"]["tags"]["items"]["x-mcp-header"] = "Tag"
    if on("mirror-name-with-space"):
        by_name["branch_hours"]["inputSchema"]["properties"]["day_of_year"]["x-mcp-header"] = "Day of Year"
    if on("tools-list-changes-after-a-search") and SHARED.get("searched"):
        tools.append(dict(by_name["search_books"], name="search_again", title="Search again"))
    if on("tools-order-changes"):
        turn = SHARED["turn"] = SHARED.get("turn", 0) + 1
        tools = tools[:2][::-1] + tools[2:] if turn % 2 == 0 else tools
    return tools


def mirrored(schema, path=()):
    """Yield (header name, path, schema) for every mirrored parameter."""
    for name, sub in schema.get("properties", {}).items():
        if "x-mcp-header" in sub:
            yield sub["x-mcp-header"], path + (name,), sub
        yield from mirrored(sub, path + (name,))


# --------------------------------------------------------------------------
# Running the tools
# --------------------------------------------------------------------------

def text_result(text, **more):
    return dict({"content": [{"type": "text", "text": text}], "isError": False}, **more)


def tool_failure(text):
    result = {"content": [{"type": "text", "text": text}], "isError": True}
    if on("failed-tool-not-marked"):
        del result["isError"]
    return result


def run_search_books(call, args):
    needle = args["query"].casefold()
    hits = [b for b in BOOKS.values() if needle in b["title"].casefold() or needle in b["author"].casefold()]
    hits = hits[:int(args.get("limit", 10))]
    found = {"count": len(hits), "books": [{k: b[k] for k in ("isbn", "title", "author", "year")} for b in hits]}
    SHARED["searched"] = True
    if on("structured-count-as-text"):
        found["count"] = str(found["count"])
    if on("structured-last-item-incomplete") and len(hits) > 1:
        del found["books"][-1]["year"]
    result = text_result(json.dumps(found, ensure_ascii=False), structuredContent=found)
    if on("structured-missing-when-empty") and not hits:
        result = text_result("Nothing found.")
    if on("structured-without-text"):
        result["content"] = []
    return result


def run_filter_books(call, args):
    wanted = args["filter"]
    years = wanted.get("years", {})
    hits = [
        b for b in BOOKS.values()
        if ("genre" not in wanted or b["genre"] == wanted["genre"])
        and b["year"] >= years.get("from", -10000) and b["year"] <= years.get("to", 10000)
        and all(tag in b["tags"] for tag in wanted.get("tags", []))
    ]
    key = args.get("sort", "title")
    hits.sort(key=lambda b: b.get(key, b["title"]), reverse=bool(args.get("descending", False)))
    return text_result("\n".join(book_text(b) for b in hits) or "No book matches.")


def run_scan_catalogue(call, args):
    seconds = float(args.get("seconds", 0))
    steps = int(args.get("steps", 4))
    with STATE_LOCK:
        DESK["running"] += 1
    HUB.resource_updated("library://desk/scans")
    try:
        if seconds > 0 or call.token is not None:
            call.open_stream()
        for step in range(1, steps + 1):
            deadline = time.monotonic() + seconds / steps
            while True:
                if call.cancelled():
                    raise Cancelled()
                left = deadline - time.monotonic()
                if left <= 0:
                    break
                time.sleep(min(left, 0.05))
            report_progress(call, step, steps)
    finally:
        with STATE_LOCK:
            DESK["running"] -= 1
            if not call.cancelled():
                DESK["finished"] += 1
        HUB.resource_updated("library://desk/scans")
    return text_result("%d cards checked in %d steps, no card is missing." % (len(BOOKS), steps))


def report_progress(call, step, steps):
    token = call.token
    if on("progress-without-token") and token is None:
        token = "scan"
    if token is None:
        return
    value = step
    if on("progress-stands-still") and step == steps and steps > 1:
        value = step - 1
    params = {"progressToken": token, "progress": value, "total": steps, "message": "Drawer %d of %d" % (step, steps)}
    if on("progress-token-turned-into-text"):
        params["progressToken"] = str(token)
    if on("progress-token-of-latest-call"):
        params["progressToken"] = SHARED.get("latest-token", token)
    if on("progress-value-as-text"):
        params["progress"] = "%d%%" % (100 * value // steps)
    call.notify("notifications/progress", params)


SHELF_LOG = [
    ("debug", {"event": "scanner started"}),
    ("info", {"event": "shelf opened", "books": 24}),
    ("warning", {"event": "book in wrong place", "position": 7}),
    ("error", {"event": "label unreadable", "position": 19}),
]


def log(call, level, data):
    wanted = call.level
    if on("logs-without-request") and wanted is None:
        wanted = "debug"
    if on("log-level-remembered"):
        wanted = wanted or SHARED.get("level")
    if wanted is None:
        return
    lowest = LEVELS.index(wanted)
    if on("logs-one-level-too-low"):
        lowest = max(0, lowest - 2 if wanted == "warning" else lowest - 1)
    if LEVELS.index(level) < lowest:
        return
    params = {"level": level, "logger": "shelves", "data": data}
    if on("log-level-name-warn") and level == "warning":
        params["level"] = "warn"
    if on("log-data-missing"):
        del params["data"]
        params["message"] = data["event"]
    if on("logs-on-listen-stream") and HUB.broadcast("notifications/message", params):
        return
    call.notify("notifications/message", params)


def run_check_shelves(call, args):
    for level, data in SHELF_LOG:
        if on("log-after-response") and call.transport == "stdio" and level == "error":
            if call.level is not None and LEVELS.index(call.level) <= LEVELS.index(level):
                call.after.append(("notifications/message", {"level": level, "logger": "shelves", "data": data}))
            continue
        log(call, level, data)
    return text_result("Shelf %s: 24 books, 1 in the wrong place, 1 unreadable label." % args.get("shelfmark", "A-001"))


def run_renew_loan(call, args):
    state = LOANS.get(args["loan"])
    if state == "open":
        return text_result("Loan %s is renewed for four weeks." % args["loan"])
    if on("stray-print-on-tool-failure") and call.transport == "stdio":
        write_stdout(b"renewal refused\n")
    if on("cancelled-sent-for-failed-tool"):
        call.notify("notifications/cancelled", {"requestId": call.id, "reason": "the tool failed"})
    if on("tool-failure-as-rpc-error"):
        raise RpcError(INTERNAL_ERROR, "Renewal failed")
    if state == "overdue":
        return tool_failure("Loan %s is overdue and cannot be renewed. Return the book or call the desk." % args["loan"])
    return tool_failure("There is no loan %s. Loan numbers look like L-1002." % args["loan"])


def run_book_dossier(call, args):
    book = BOOKS.get(args["isbn"])
    if book is None:
        return tool_failure("There is no book with ISBN %s." % args["isbn"])
    image = {"type": "image", "data": b64(PNG), "mimeType": "image/png", "annotations": {"audience": ["user"], "priority": 0.9}}
    sound = {"type": "audio", "data": b64(WAV), "mimeType": "audio/wav"}
    link = {
        "type": "resource_link", "uri": "library://books/" + book["isbn"], "name": book["isbn"],
        "title": book["title"], "mimeType": "application/json",
    }
    card = {
        "type": "resource",
        "resource": {"uri": "library://books/" + book["isbn"], "mimeType": "application/json", "text": json.dumps(book, ensure_ascii=False)},
        "annotations": {"audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2026-05-03T14:30:00Z"},
    }
    if on("image-as-data-url"):
        image["data"] = "data:image/png;base64," + image["data"]
    if on("audio-not-base64"):
        sound["data"] = WAV[:40].hex() + "!"
    if on("resource-link-without-name"):
        del link["name"]
    if on("embedded-resource-without-uri"):
        del card["resource"]["uri"]
    if on("content-priority-above-one"):
        image["annotations"]["priority"] = 9
    return {"content": [{"type": "text", "text": book_text(book)}, image, sound, link, card], "isError": False}


def run_branch_hours(call, args):
    branch = args["branch"]
    if args.get("options", {}).get("holiday"):
        return text_result("%s is closed on holidays." % branch.capitalize())
    weekday = args.get("weekday") or 1
    if branch not in BRANCHES:
        return tool_failure("There is no branch %s. Branches: %s." % (branch, ", ".join(BRANCHES)))
    hours = "closed" if weekday == 7 else "10:00 to 18:00"
    result = text_result("%s on %s: %s." % (branch.capitalize(), WEEKDAYS[int(weekday) - 1], hours))
    if on("tool-content-not-a-list"):
        result["content"] = result["content"][0]
    return result


def run_add_note(call, args):
    isbn = args["isbn"]
    if isbn not in BOOKS:
        return tool_failure("There is no book with ISBN %s." % isbn)
    with STATE_LOCK:
        new = isbn not in NOTES
        NOTES.setdefault(isbn, []).append(args["note"])
        del NOTES[isbn][:-50]
    if new:
        HUB.list_changed("resources")
    HUB.resource_updated("library://notes/" + isbn)
    return text_result("The note is kept with %s." % BOOKS[isbn]["title"])


def run_set_exhibition(call, args):
    with STATE_LOCK:
        changed = DESK["exhibition"] != args["open"]
        DESK["exhibition"] = args["open"]
    if changed:
        HUB.list_changed("tools")
        HUB.list_changed("prompts")
    return text_result("The exhibition is %s." % ("open" if args["open"] else "closed"))


def run_exhibition_info(call, args):
    return text_result("Maps of the harbour, 1680 to 1910. Ground floor.")


# The tool that asks the reader ------------------------------------------------

PICKUP_SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "description": "Name on the reservation slip", "minLength": 1, "maxLength": 80},
        "branch": {"type": "string", "title": "Branch", "enum": BRANCHES, "default": "harbour"},
        "days": {"type": "integer", "title": "Days to keep it", "minimum": 1, "maximum": 14, "default": 7},
        "text_me": {"type": "boolean", "title": "Send a message when it is there", "default": False},
    },
    "required": ["name", "branch"],
}


def seal(payload):
    body = json.dumps(payload, separators=(",", ":"), sort_keys=True).encode()
    tag = hmac.new(SECRET, body, hashlib.sha256).digest()
    return base64.urlsafe_b64encode(tag + body).decode("ascii")


def unseal(text):
    """The payload of a sealed text, or None if anyone changed it."""
    try:
        raw = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error, UnicodeEncodeError):
        return None
    tag, body = raw[:32], raw[32:]
    if not hmac.compare_digest(tag, hmac.new(SECRET, body, hashlib.sha256).digest()):
        return None
    return json.loads(body)


def digest(name, args):
    return hashlib.sha256(json.dumps([name, args], sort_keys=True).encode()).hexdigest()[:24]


def supports_form(caps):
    elicitation = caps.get("elicitation")
    if not isinstance(elicitation, dict):
        return False
    return "form" in elicitation or "url" not in elicitation


def ask_pickup(call, args):
    caps = call.caps
    if on("capabilities-remembered") and "elicitation" not in caps:
        caps = SHARED.get("caps", caps)
    allowed = supports_form(caps)
    if on("elicitation-without-capability") and "elicitation" not in caps:
        allowed = True
    if on("form-sent-to-url-only-client") and "elicitation" in caps:
        allowed = True
    if not allowed:
        data = {"requiredCapabilities": {"elicitation": {"form": {}}}}
        if on("missing-capability-without-list"):
            data = None
        code = MISSING_CAPABILITY
        if on("missing-capability-wrong-code"):
            code = INVALID_REQUEST
        raise RpcError(code, "This tool needs the elicitation capability with form mode", data,
                       status=200 if on("missing-capability-status-200") else 400)
    params = {
        "mode": "form",
        "message": "Where shall we keep %s for you?" % BOOKS[args["isbn"]]["title"],
        "requestedSchema": json.loads(json.dumps(PICKUP_SCHEMA)),
    }
    if on("elicitation-nested-schema"):
        params["requestedSchema"]["properties"]["name"] = {
            "type": "object", "properties": {"first": {"type": "string"}, "last": {"type": "string"}}}
    if on("elicitation-asks-password"):
        params["requestedSchema"]["properties"]["password"] = {"type": "string", "title": "Library account password"}
        params["requestedSchema"]["required"].append("password")
    if on("elicitation-without-message"):
        del params["message"]
    if on("elicitation-as-own-request"):
        call.raw({"jsonrpc": "2.0", "id": "ask-%s" % call.id, "method": "elicitation/create", "params": params})
        return text_result("The reader has been asked.")
    asked = {"pickup": {"method": "elicitation/create", "params": params}}
    if on("input-requests-as-list"):
        asked = [{"id": "pickup", "method": "elicitation/create", "params": params}]
    if on("input-request-unknown-method"):
        asked["pickup"]["method"] = "library/askReader"
    result = {
        "resultType": "input_required",
        "inputRequests": asked,
        "requestState": seal({
            "method": "tools/call", "what": digest("reserve_book", args),
            "until": int(time.time()) + 600, "nonce": secrets.token_hex(8),
        }),
    }
    if on("input-required-empty"):
        del result["inputRequests"], result["requestState"]
    if on("input-required-marked-complete"):
        result["resultType"] = "complete"
    if on("request-state-not-text"):
        result["requestState"] = {"sealed": result["requestState"]}
    return result


def run_reserve_book(call, args):
    isbn = args["isbn"]
    if isbn not in BOOKS:
        return tool_failure("There is no book with ISBN %s." % isbn)
    state = call.params.get("requestState")
    answers = call.params.get("inputResponses")
    if state is None:
        return ask_pickup(call, args)
    payload = unseal(state)
    if payload is None and on("request-state-not-verified"):
        payload = {"method": "tools/call", "what": digest("reserve_book", args), "until": 2 ** 40, "nonce": state[:8]}
    if payload is None or payload.get("method") != "tools/call" or payload.get("until", 0) < time.time():
        raise RpcError(INVALID_PARAMS, "The request state is not valid or has lapsed")
    if payload["what"] != digest("reserve_book", args) and not on("request-state-of-other-call-accepted"):
        raise RpcError(INVALID_PARAMS, "The request state belongs to another request")
    answer = (answers or {}).get("pickup")
    if answer is None:
        if on("missing-answer-is-an-error"):
            raise RpcError(INVALID_PARAMS, "inputResponses lacks pickup")
        return ask_pickup(call, args)
    problem = schema_problem(answer, {
        "type": "object", "required": ["action"],
        "properties": {"action": {"type": "string", "enum": ["accept", "decline", "cancel"]}, "content": {"type": "object"}},
    }, "inputResponses.pickup")
    if problem:
        raise RpcError(INVALID_PARAMS, problem)
    if answer["action"] != "accept":
        if on("decline-becomes-internal-error"):
            raise RpcError(INTERNAL_ERROR, "Internal error: 'content'")
        return text_result("No reservation was made because the reader did not agree.")
    content = answer.get("content", {})
    if schema_problem(content, PICKUP_SCHEMA, "content"):
        if not on("form-answer-not-checked"):
            return ask_pickup(call, args)
        content = {"name": str(content.get("name")), "branch": str(content.get("branch"))}
    with STATE_LOCK:
        slip = RESERVATIONS.get(payload["nonce"])
        if slip is None:
            slip = RESERVATIONS[payload["nonce"]] = "R-%04d" % (len(RESERVATIONS) + 1)
    HUB.resource_updated("library://desk/reservations")
    return text_result("Reservation %s: %s is kept for %s at %s for %d days." % (
        slip, BOOKS[isbn]["title"], content["name"], content["branch"], int(content.get("days", 7))))


TOOL_CODE = {
    "search_books": run_search_books,
    "filter_books": run_filter_books,
    "scan_catalogue": run_scan_catalogue,
    "check_shelves": run_check_shelves,
    "reserve_book": run_reserve_book,
    "renew_loan": run_renew_loan,
    "book_dossier": run_book_dossier,
    "branch_hours": run_branch_hours,
    "add_note": run_add_note,
    "set_exhibition": run_set_exhibition,
    "exhibition_info": run_exhibition_info,
}


class RateLimit:
    """A bucket that refills steadily."""

    def __init__(self, per_second, burst):
        self.per_second, self.burst = per_second, burst
        self.left, self.last = float(burst), time.monotonic()
        self.lock = threading.Lock()

    def take(self):
        with self.lock:
            now = time.monotonic()
            self.left = min(self.burst, self.left + (now - self.last) * self.per_second)
            self.last = now
            if self.left < 1:
                return False
            self.left -= 1
            return True


TOOL_LIMIT = RateLimit(200, 500)
COMPLETION_LIMIT = RateLimit(200, 500)


def call_tool(call):
    params = call.params
    name = params.get("name")
    if not isinstance(name, str):
        raise RpcError(INVALID_PARAMS, "params.name must be a string")
    if on("tool-name-with-space") and name == "renew loan":
        name = "renew_loan"
    if on("tools-list-changes-after-a-search") and name == "search_again":
        name = "search_books"
    tool = find_tool(name)
    if tool is None:
        if on("unknown-tool-succeeds"):
            return text_result("")
        if on("unknown-tool-invented-code"):
            raise RpcError(-32050, "Unknown tool: %s" % name)
        if on("error-code-as-text"):
            raise RpcError(str(INVALID_PARAMS), "Unknown tool: %s" % name)
        raise RpcError(INVALID_PARAMS, "Unknown tool: %s" % name)
    args = params.get("arguments", {})
    if not isinstance(args, dict):
        raise RpcError(INVALID_PARAMS, "params.arguments must be an object")
    if call.headers is not None:
        check_param_headers(call, tool, args)
    check_retry_fields(params, issued_state=(name == "reserve_book"))
    if not TOOL_LIMIT.take():
        return tool_failure("Too many calls, try again in a second.")
    problem = schema_problem(args, tool["inputSchema"], "arguments")
    if problem and on("tool-arguments-not-validated"):
        return text_result("Done.")
    if problem:
        return tool_failure("Invalid input: %s." % problem)
    return TOOL_CODE[name](call, args)


def check_retry_fields(params, issued_state=False):
    """inputResponses and requestState must at least have the right shape."""
    if "inputResponses" in params and not isinstance(params["inputResponses"], dict):
        raise RpcError(INVALID_PARAMS, "inputResponses must be an object")
    if "requestState" in params:
        if not isinstance(params["requestState"], str):
            raise RpcError(INVALID_PARAMS, "requestState must be a string")
        if not issued_state:
            raise RpcError(INVALID_PARAMS, "The request state is not valid here")


# --------------------------------------------------------------------------
# Listing with pages
# --------------------------------------------------------------------------

def make_cursor(kind, offset):
    body = ("%s:%d" % (kind, offset)).encode()
    tag = hmac.new(b"harbour-lane-cursor", body, hashlib.sha256).digest()[:8]
    return base64.urlsafe_b64encode(tag + body).decode("ascii")


def read_cursor(kind, text):
    try:
        raw = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
        tag, body = raw[:8], raw[8:]
        if not hmac.compare_digest(tag, hmac.new(b"harbour-lane-cursor", body, hashlib.sha256).digest()[:8]):
            raise ValueError
        found, offset = body.decode().rsplit(":", 1)
        if found != kind:
            raise ValueError
        return int(offset)
    except (ValueError, AttributeError, binascii.Error):
        return None


def page_of(call, kind, member, items, size, ttl):
    offset = 0
    if "cursor" in call.params and not on("cursor-ignored"):
        offset = read_cursor(kind, call.params["cursor"])
        if on("cursor-as-number") and is_integer(call.params["cursor"]):
            offset = call.params["cursor"]
        if offset is None or offset > len(items):
            if on("invalid-cursor-gives-first-page"):
                offset = 0
            else:
                code = INVALID_PARAMS
                if on("invalid-cursor-legacy-code"):
                    code = -32000
                raise RpcError(code, "Invalid cursor")
    stop = offset + size
    result = {member: items[offset:stop]}
    if stop < len(items):
        following = stop + 1 if on("page-border-item-lost") else stop
        result["nextCursor"] = make_cursor(kind, following)
        if on("cursor-as-number"):
            result["nextCursor"] = stop
    elif on("last-page-null-cursor"):
        result["nextCursor"] = None
    result["ttlMs"] = ttl
    result["cacheScope"] = "public"
    if on("cache-scope-differs-between-pages") and offset:
        result["cacheScope"] = "private"
    if on("cache-hints-missing-on-last-page") and stop >= len(items):
        del result["ttlMs"], result["cacheScope"]
    if on("cache-scope-unknown-word") and kind == "prompts":
        result["cacheScope"] = "shared"
    if on("ttl-with-fraction") and kind == "templates":
        result["ttlMs"] = 1500.5
    return result


def list_tools(call):
    return page_of(call, "tools", "tools", published_tools(), 4, 60000)


# --------------------------------------------------------------------------
# Resources
# --------------------------------------------------------------------------

ABOUT = "# Harbour Lane Library\n\nFounded in 1911. Three branches, one café, many readers.\n"
STAFF_ROTA = "Staff only: early shift Mo to We, late shift Th to Sa."


def index_text():
    return "\n".join(book_text(b) for b in BOOKS.values()) + "\n"


def static_resources():
    """uri -> (name, title, mime type, function giving text or bytes, cache scope, time to live)"""
    return {
        "library://about": ("about", "About the library", "text/markdown", lambda: ABOUT, "public", 600000),
        "library://catalogue/index": ("index", "Catalogue as text", "text/plain", index_text, "public", 60000),
        "library://catalogue/books.json": ("books.json", "Catalogue as JSON", "application/json",
                                           lambda: json.dumps(list(BOOKS.values()), ensure_ascii=False), "public", 60000),
        "library://logo": ("logo.png", "Logo", "image/png", lambda: PNG, "public", 600000),
        "library://chime": ("chime.wav", "Closing chime", "audio/wav", lambda: WAV, "public", 600000),
        "library://desk/queue": ("queue", "Readers waiting at the desk", "application/json",
                                 lambda: json.dumps({"waiting": DESK["queue"]}), "private", 0),
        "library://desk/scans": ("scans", "Catalogue scans", "application/json",
                                 lambda: json.dumps({"running": DESK["running"], "finished": DESK["finished"]}), "private", 0),
        "library://desk/reservations": ("reservations", "Number of reservations", "application/json",
                                        lambda: json.dumps({"reservations": len(RESERVATIONS)}), "private", 0),
    }


def list_resources(call):
    items = []
    for uri, (name, title, mime, content, _scope, _ttl) in static_resources().items():
        item = {"uri": uri, "name": name, "title": title, "mimeType": mime}
        if not uri.startswith("library://desk/"):
            body = content()
            item["size"] = len(body if isinstance(body, bytes) else body.encode("utf-8"))
        if uri == "library://about":
            item["annotations"] = {"audience": ["user", "assistant"], "priority": 0.8, "lastModified": "2026-01-12T15:00:58Z"}
        items.append(item)
    with STATE_LOCK:
        for isbn in sorted(NOTES):
            items.append({"uri": "library://notes/" + isbn, "name": "notes-" + isbn,
                          "title": "Notes on " + BOOKS[isbn]["title"], "mimeType": "text/plain"})
    if on("resource-without-name"):
        del items[3]["name"]
    return page_of(call, "resources", "resources", items, 4, 30000)


TEMPLATES = [
    {"uriTemplate": "library://books/{isbn}", "name": "book", "title": "Catalogue card", "mimeType": "application/json"},
    {"uriTemplate": "library://authors/{author}/books/{isbn}", "name": "author-book", "title": "Book of an author", "mimeType": "application/json"},
    {"uriTemplate": "library://shelves/{shelfmark}", "name": "shelf", "title": "Shelf", "mimeType": "text/plain"},
    {"uriTemplate": "library://notes/{isbn}", "name": "notes", "title": "Notes on a book", "mimeType": "text/plain"},
]


def list_templates(call):
    items = [dict(t) for t in TEMPLATES]
    result = page_of(call, "templates", "resourceTemplates", items, 3, 60000)
    if on("templates-under-wrong-member"):
        result["templates"] = result.pop("resourceTemplates")
    return result


def resource_body(uri):
    """(mime type, text or bytes, scope, ttl), or None when there is no such resource."""
    known = static_resources().get(uri)
    if known:
        _name, _title, mime, content, scope, ttl = known
        return mime, content(), scope, ttl
    if on("resource-path-not-checked"):
        path = urllib.parse.unquote(uri.partition("://")[2])
        if os.path.normpath(path).lstrip("./") == "staff/rota":
            return "text/plain", STAFF_ROTA, "private", 0
    match = re.fullmatch(r"library://books/([0-9]{13})", uri)
    if match and match.group(1) in BOOKS:
        return "application/json", json.dumps(BOOKS[match.group(1)], ensure_ascii=False), "public", 60000
    match = re.fullmatch(r"library://authors/([^/?#]+)/books/([0-9]{13})", uri)
    if match:
        book = BOOKS.get(match.group(2))
        if book and book["author"] == urllib.parse.unquote(match.group(1)):
            return "application/json", json.dumps(book, ensure_ascii=False), "public", 60000
    match = re.fullmatch(r"library://shelves/([A-F]-[0-9]{3})", uri)
    if match and match.group(1) in SHELFMARKS:
        return "text/plain", "Shelf %s holds 24 books.\n" % match.group(1), "public", 60000
    match = re.fullmatch(r"library://notes/([0-9]{13})", uri)
    if match:
        with STATE_LOCK:
            notes = NOTES.get(match.group(1))
            if notes:
                return "text/plain", "\n".join(notes) + "\n", "private", 5000
    return None


def read_resource(call):
    uri = call.params.get("uri")
    if not isinstance(uri, str):
        raise RpcError(INVALID_PARAMS, "params.uri must be a string")
    check_retry_fields(call.params)
    found = resource_body(uri)
    if found is None:
        if on("missing-resource-gives-empty-contents"):
            return {"contents": [], "ttlMs": 0, "cacheScope": "public"}
        if on("missing-resource-old-code"):
            raise RpcError(-32002, "Resource not found", {"uri": uri})
        raise RpcError(INVALID_PARAMS, "Resource not found", {"uri": uri})
    mime, body, scope, ttl = found
    content = {"uri": uri, "mimeType": mime}
    if isinstance(body, bytes):
        content["blob"] = b64(body)
        if on("blob-as-hex"):
            content["blob"] = body.hex() + "."
    else:
        content["text"] = body
    if on("read-content-without-uri") and uri.startswith("library://shelves/"):
        del content["uri"]
    result = {"contents": [content], "ttlMs": ttl, "cacheScope": scope}
    if on("read-without-ttl"):
        del result["ttlMs"]
    if on("negative-ttl-on-live-resource") and ttl == 0:
        result["ttlMs"] = -1
    return result


# --------------------------------------------------------------------------
# Prompts
# --------------------------------------------------------------------------

def prompt_definitions():
    prompts = [
        {"name": "welcome_note", "title": "Welcome note", "description": "A greeting for new readers with the logo."},
        {"name": "summarise_book", "title": "Summarise a book", "description": "Ask for a summary in a certain tone.",
         "arguments": [
             {"name": "isbn", "description": "ISBN-13 of the book", "required": True},
             {"name": "tone", "description": "Tone of the summary", "required": False},
         ]},
        {"name": "compare_books", "title": "Compare two books", "description": "Ask for a comparison of two books.",
         "arguments": [
             {"name": "first", "description": "ISBN-13 of one book", "required": True},
             {"name": "second", "description": "ISBN-13 of the other book", "required": True},
         ]},
        {"name": "reading_list", "title": "Reading list", "description": "Ask for a reading list of a genre.",
         "arguments": [{"name": "genre", "description": "Genre of the list", "required": False}]},
        {"name": "weekly_digest", "title": "Weekly digest", "description": "Ask for a digest of what is new."},
    ]
    with STATE_LOCK:
        if DESK["exhibition"]:
            prompts.append({"name": "exhibition_tour", "title": "Exhibition tour", "description": "Ask for a tour of the exhibition."})
    return prompts


def list_prompts(call):
    prompts = prompt_definitions()
    if on("prompt-arguments-as-map"):
        prompts[1]["arguments"] = {a["name"]: a for a in prompts[1]["arguments"]}
    return page_of(call, "prompts", "prompts", prompts, 3, 60000)


def user_text(text):
    return {"role": "user", "content": {"type": "text", "text": text}}


def prompt_book(args, name):
    book = BOOKS.get(args[name])
    if book is None:
        raise RpcError(INVALID_PARAMS, "Argument %s is not the ISBN of a book here" % name)
    return book


def get_prompt(call):
    name = call.params.get("name")
    if not isinstance(name, str):
        raise RpcError(INVALID_PARAMS, "params.name must be a string")
    check_retry_fields(call.params)
    prompt = next((p for p in prompt_definitions() if p["name"] == name), None)
    if prompt is None:
        if on("error-without-message"):
            raise RpcError(INVALID_PARAMS, None)
        if on("unknown-prompt-wrong-code"):
            raise RpcError(METHOD_NOT_FOUND, "Unknown prompt: %s" % name)
        raise RpcError(INVALID_PARAMS, "Unknown prompt: %s" % name)
    args = call.params.get("arguments", {})
    if not isinstance(args, dict) or not all(isinstance(v, str) for v in args.values()):
        raise RpcError(INVALID_PARAMS, "params.arguments must map names to strings")
    for argument in prompt.get("arguments", []):
        if argument.get("required") and argument["name"] not in args:
            if on("prompt-missing-argument-filled-in"):
                args = dict(args, **{argument["name"]: "9780141439587"})
                continue
            raise RpcError(INVALID_PARAMS, "Missing argument: %s" % argument["name"])
    if name == "welcome_note":
        messages = [
            {"role": "user", "content": {"type": "image", "data": b64(PNG), "mimeType": "image/png"}},
            user_text("Write a short welcome to new readers of the library with this logo."),
        ]
        if on("prompt-image-without-mime-type"):
            del messages[0]["content"]["mimeType"]
    elif name == "summarise_book":
        book = prompt_book(args, "isbn")
        tone = args.get("tone", "plain")
        messages = [user_text("Summarise %s in a %s tone." % (book_text(book), tone))]
    elif name == "compare_books":
        books = [prompt_book(args, "first"), prompt_book(args, "second")]
        messages = [{"role": "user", "content": {"type": "resource", "resource": {
            "uri": "library://books/" + b["isbn"], "mimeType": "application/json", "text": json.dumps(b, ensure_ascii=False)}}}
            for b in books]
        messages.append(user_text("Compare these two books."))
        if on("prompt-resource-without-mime-type"):
            del messages[0]["content"]["resource"]["mimeType"]
        if on("prompt-resource-with-neither-text-nor-blob"):
            messages[1]["content"]["resource"].pop("text")
    elif name == "reading_list":
        messages = [
            user_text("Make a reading list: %s." % args.get("genre", "any genre")),
            {"role": "assistant", "content": {"type": "text", "text": "How many books shall it have?"}},
            user_text("Five."),
        ]
    elif name == "exhibition_tour":
        messages = [user_text("Write a tour of the map exhibition in five stops.")]
    else:
        messages = [user_text("Write the weekly digest of Café Lane: new books, events, hours.")]
    if on("prompt-role-system"):
        messages[0]["role"] = "system"
    if on("prompt-content-as-list"):
        messages[-1]["content"] = [messages[-1]["content"]]
    return {"description": prompt["description"], "messages": messages}


# --------------------------------------------------------------------------
# Completion
# --------------------------------------------------------------------------

def complete(call):
    params = call.params
    ref, argument = params.get("ref"), params.get("argument")
    if not isinstance(ref, dict) or not isinstance(argument, dict):
        raise RpcError(INVALID_PARAMS, "ref and argument must be objects")
    name, value = argument.get("name"), argument.get("value")
    if not isinstance(name, str) or not isinstance(value, str):
        raise RpcError(INVALID_PARAMS, "argument.name and argument.value must be strings")
    context = params.get("context", {})
    context = context.get("arguments", {}) if isinstance(context, dict) else None
    if not isinstance(context, dict) or not all(isinstance(v, str) for v in context.values()):
        raise RpcError(INVALID_PARAMS, "context.arguments must map names to strings")
    if not COMPLETION_LIMIT.take():
        raise RpcError(INTERNAL_ERROR, "Too many completion requests")
    if ref.get("type") == "ref/prompt" and isinstance(ref.get("name"), str):
        prompt = next((p for p in prompt_definitions() if p["name"] == ref["name"]), None)
        if prompt is None:
            if on("completion-for-unknown-prompt-succeeds"):
                return {"completion": {"values": [], "total": 0, "hasMore": False}}
            raise RpcError(INVALID_PARAMS, "Unknown prompt: %s" % ref["name"])
        names = [a["name"] for a in prompt.get("arguments", [])]
    elif ref.get("type") == "ref/resource" and isinstance(ref.get("uri"), str):
        if ref["uri"] not in [t["uriTemplate"] for t in TEMPLATES]:
            if resource_body(ref["uri"]) is None:
                raise RpcError(INVALID_PARAMS, "Unknown resource template: %s" % ref["uri"])
        names = re.findall(r"\{(\w+)\}", ref["uri"])
    else:
        raise RpcError(INVALID_PARAMS, "ref must be a ref/prompt with a name or a ref/resource with a uri")
    if name not in names:
        raise RpcError(INVALID_PARAMS, "Unknown argument: %s" % name)
    if on("completion-asks-the-user") and "elicitation" in call.caps:
        return {"resultType": "input_required", "inputRequests": {"which": {"method": "elicitation/create", "params": {
            "mode": "form", "message": "What are you looking for?",
            "requestedSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}}}}
    if name in ("isbn", "first", "second"):
        pool = [b["isbn"] for b in BOOKS.values()
                if "author" not in context or b["author"] == urllib.parse.unquote(context["author"])]
    elif name == "author":
        pool = sorted({b["author"] for b in BOOKS.values()})
    else:
        pool = {"genre": GENRES, "tone": TONES, "shelfmark": SHELFMARKS}[name]
    hits = [entry for entry in pool if entry.casefold().startswith(value.casefold())]
    limit = 1000 if on("completion-more-than-hundred") else 100
    completion = {"values": hits[:limit], "total": len(hits), "hasMore": len(hits) > limit}
    if on("completion-values-as-objects"):
        completion["values"] = [{"value": hit, "label": hit} for hit in completion["values"]]
    return {"completion": completion}


# --------------------------------------------------------------------------
# Discovery
# --------------------------------------------------------------------------

def discover(call):
    result = {
        "supportedVersions": [VERSION],
        "capabilities": {
            "tools": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "prompts": {"listChanged": True},
            "completions": {},
            "logging": {},
        },
        "instructions": "Search with search_books first; ISBNs are 13 digits without hyphens.",
        "ttlMs": 3600000,
        "cacheScope": "public",
    }
    if on("discover-without-versions"):
        del result["supportedVersions"]
    if on("prompts-capability-undeclared"):
        del result["capabilities"]["prompts"]
    if on("completions-capability-undeclared"):
        del result["capabilities"]["completions"]
    if on("logging-capability-undeclared"):
        del result["capabilities"]["logging"]
    if on("capability-flag-not-boolean"):
        result["capabilities"]["resources"]["subscribe"] = "true"
    if on("discover-without-cache-hints"):
        del result["ttlMs"], result["cacheScope"]
    if on("extension-name-without-prefix"):
        result["capabilities"]["extensions"] = {"floorplans": {}}
    call.memory["discovered"] = True
    return result


# --------------------------------------------------------------------------
# Subscriptions
# --------------------------------------------------------------------------

LIST_FILTERS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}


class Subscription:
    def __init__(self, call, accepted):
        self.call = call
        self.accepted = accepted
        self.items = queue.Queue(1000)

    def wants_list(self, kind):
        return bool(self.accepted.get(LIST_FILTERS[kind]))

    def wants_resource(self, uri):
        wanted = self.accepted.get("resourceSubscriptions", [])
        if on("updates-for-other-resources") and wanted:
            return True
        return uri in wanted

    def put(self, item):
        try:
            self.items.put_nowait(item)
        except queue.Full:
            pass


class Hub:
    """Everybody who listens for changes."""

    def __init__(self):
        self.lock = threading.RLock()
        self.open = []

    def add(self, subscription):
        with self.lock:
            if on("second-listen-silences-first"):
                self.open.clear()
            self.open.append(subscription)

    def remove(self, subscription):
        with self.lock:
            if subscription in self.open:
                self.open.remove(subscription)

    def everyone(self):
        with self.lock:
            return list(self.open)

    def list_changed(self, kind):
        if on("tools-change-not-announced") and kind == "tools":
            return
        for subscription in self.everyone():
            if subscription.wants_list(kind) or on("notifications-nobody-asked-for"):
                subscription.put(("notifications/%s/list_changed" % kind, {}))

    def resource_updated(self, uri):
        for subscription in self.everyone():
            if subscription.wants_resource(uri):
                subscription.put(("notifications/resources/updated", {"uri": uri}))

    def broadcast(self, method, params):
        """Only used by faults."""
        targets = self.everyone()
        for subscription in targets:
            subscription.put((method, dict(params)))
        return bool(targets)

    def close_all(self, patience=1.5):
        targets = self.everyone()
        for subscription in targets:
            subscription.put(None)
        until = time.monotonic() + patience
        for subscription in targets:
            subscription.call.done.wait(max(0, until - time.monotonic()))


HUB = Hub()


def known_uri(uri):
    return resource_body(uri) is not None or any(
        re.fullmatch(r"library://notes/%s" % isbn, uri) for isbn in BOOKS)


def read_filter(params):
    wanted = params.get("notifications")
    if not isinstance(wanted, dict):
        raise RpcError(INVALID_PARAMS, "params.notifications must be an object")
    accepted = {}
    for member in LIST_FILTERS.values():
        if member in wanted:
            if not isinstance(wanted[member], bool):
                raise RpcError(INVALID_PARAMS, "notifications.%s must be a boolean" % member)
            if wanted[member]:
                accepted[member] = True
    if "resourceSubscriptions" in wanted:
        uris = wanted["resourceSubscriptions"]
        if not isinstance(uris, list) or not all(isinstance(u, str) for u in uris):
            raise RpcError(INVALID_PARAMS, "notifications.resourceSubscriptions must be a list of strings")
        uris = [u for u in dict.fromkeys(uris) if known_uri(u)]
        if uris:
            accepted["resourceSubscriptions"] = uris
    return accepted


def stamp(call, params, method):
    """Add the subscription id to the parameters of a notification."""
    marker = call.id
    if on("subscription-id-as-text"):
        marker = str(marker)
    if on("subscription-id-of-latest-listen"):
        marker = SHARED.get("latest-listen", marker)
    if on("subscription-id-missing-on-updates") and method.endswith("/updated"):
        return params
    return dict(params, _meta={K_SUB: marker})


def listen(call):
    accepted = read_filter(call.params)
    subscription = Subscription(call, accepted)
    SHARED["latest-listen"] = call.id
    HUB.add(subscription)
    try:
        call.open_stream()
        ack = "notifications/subscriptions/acknowledged"
        shown = dict(accepted)
        ack_params = {"notifications": shown}
        if on("acknowledgement-without-filter"):
            ack_params = {}
        if on("change-sent-before-acknowledgement") and accepted:
            for member, kind in (("toolsListChanged", "tools"), ("promptsListChanged", "prompts"), ("resourcesListChanged", "resources")):
                if member in accepted:
                    call.notify("notifications/%s/list_changed" % kind, stamp(call, {}, "x"))
            for uri in accepted.get("resourceSubscriptions", []):
                call.notify("notifications/resources/updated", stamp(call, {"uri": uri}, "x"))
        if on("acknowledgement-without-subscription-id"):
            call.notify(ack, ack_params)
        elif not on("listen-not-acknowledged"):
            call.notify(ack, stamp(call, ack_params, ack))
        if on("listen-never-stays-open"):
            return {"_meta": {K_SUB: call.id}}
        quiet = time.monotonic()
        sent = 0
        while True:
            try:
                item = subscription.items.get(timeout=0.2)
            except queue.Empty:
                if call.cancelled() and not (on("changes-after-cancelled-listen") and call.transport == "stdio"):
                    raise Cancelled()
                if time.monotonic() - quiet > 5:
                    quiet = time.monotonic()
                    call.keep_alive()
                continue
            if item is None:
                if call.transport == "stdio" and not on("teardown-without-cancelled"):
                    call.notify("notifications/cancelled", stamp(call, {"requestId": call.id, "reason": "The server shuts down"}, "x"))
                if on("teardown-without-result"):
                    raise Silent()
                result = {"_meta": {K_SUB: call.id}}
                return result
            method, params = item
            if call.cancelled() and not on("changes-after-cancelled-listen"):
                raise Cancelled()
            if on("updated-without-uri") and method.endswith("/updated"):
                params = {}
            sent += 1
            if on("only-first-change-delivered") and sent > 1:
                continue
            if on("changes-after-cancelled-listen") and call.cancelled():
                call.raw({"jsonrpc": "2.0", "method": method, "params": stamp(call, params, method)}, force=True)
            else:
                call.notify(method, stamp(call, params, method))
    finally:
        HUB.remove(subscription)


def desk_clock():
    """The one change that nobody causes: the queue at the desk moves."""
    while True:
        time.sleep(2)
        with STATE_LOCK:
            DESK["queue"] = (DESK["queue"] * 7 + 3) % 11
        HUB.resource_updated("library://desk/queue")


# --------------------------------------------------------------------------
# From message to answer
# --------------------------------------------------------------------------

METHODS = {
    "server/discover": discover,
    "tools/list": list_tools,
    "tools/call": call_tool,
    "resources/list": list_resources,
    "resources/templates/list": list_templates,
    "resources/read": read_resource,
    "prompts/list": list_prompts,
    "prompts/get": get_prompt,
    "completion/complete": complete,
    "subscriptions/listen": listen,
}


def valid_id(value):
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def classify(message):
    """'request', 'notification' or 'response'; BadMessage for anything else."""
    if not isinstance(message, dict):
        raise BadMessage("A message must be a single JSON object")
    request_id = message.get("id")
    good_id = request_id if valid_id(request_id) else None
    if "method" not in message and ("result" in message or "error" in message):
        return "response"
    if message.get("jsonrpc") != "2.0":
        raise BadMessage("jsonrpc must be \"2.0\"", good_id)
    if not isinstance(message.get("method"), str):
        raise BadMessage("method must be a string", good_id)
    if "id" in message:
        if on("null-id-taken-as-id") and request_id is None:
            return "request"
        if on("zero-id-taken-as-notification") and request_id == 0:
            return "notification"
        if not valid_id(request_id):
            raise BadMessage("id must be a string or an integer")
        return "request"
    if "params" in message and not isinstance(message["params"], dict):
        raise BadMessage("params must be an object")
    return "notification"


def good_implementation(value):
    return isinstance(value, dict) and isinstance(value.get("name"), str) and isinstance(value.get("version"), str)


def read_metadata(call):
    """Check the per-request fields of params._meta; see Overview, _meta."""
    status = 200 if on("malformed-request-status-200") else 400
    params = call.message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    if not isinstance(meta, dict):
        if on("missing-meta-accepted") and call.method.endswith("/list"):
            call.params, call.meta, call.caps = params if isinstance(params, dict) else {}, {}, {}
            return
        raise RpcError(INVALID_PARAMS, "params._meta is required and must be an object", status=status)
    call.params, call.meta = params, meta
    version = meta.get(K_VERSION)
    if version is None and on("missing-version-accepted"):
        version = VERSION
    elif not isinstance(version, str):
        raise RpcError(INVALID_PARAMS, "params._meta lacks %s" % K_VERSION, status=status)
    if call.headers is not None:
        check_version_header(call, version)
    if version != VERSION and not on("unsupported-version-served"):
        data = {"supported": [VERSION], "requested": version}
        code = UNSUPPORTED_VERSION
        if on("unsupported-version-invalid-params"):
            code = INVALID_PARAMS
        if on("unsupported-version-not-listed") and call.method != "server/discover":
            data = {"requested": version}
        if on("unsupported-version-without-requested"):
            del data["requested"]
        if not (on("old-version-served") and version == "2025-11-25"):
            raise RpcError(code, "Unsupported protocol version", data,
                           status=200 if on("unsupported-version-status-200") else 400)
    caps = meta.get(K_CAPS)
    if caps is None and on("missing-capabilities-accepted"):
        caps = {}
    if not isinstance(caps, dict) or not all(isinstance(caps.get(k, {}), dict) for k in ("elicitation", "sampling", "roots")):
        raise RpcError(INVALID_PARAMS, "params._meta must hold %s as an object" % K_CAPS, status=status)
    if K_CLIENT in meta and not good_implementation(meta[K_CLIENT]):
        raise RpcError(INVALID_PARAMS, "%s must have name and version" % K_CLIENT, status=status)
    if K_CLIENT not in meta and on("client-info-demanded"):
        raise RpcError(INVALID_PARAMS, "params._meta lacks %s" % K_CLIENT, status=status)
    call.caps = caps
    level = meta.get(K_LEVEL)
    if K_LEVEL in meta and level not in LEVELS:
        if not on("unknown-log-level-accepted"):
            raise RpcError(INVALID_PARAMS, "Unknown log level", status=status)
        level = None
    call.level = level
    if "progressToken" in meta and not valid_id(meta["progressToken"]):
        raise RpcError(INVALID_PARAMS, "progressToken must be a string or an integer", status=status)
    call.token = meta.get("progressToken")


def answer(call):
    """Run the request; return the result or raise."""
    if call.headers is not None:
        require_version_header(call)
    read_metadata(call)
    if call.headers is not None:
        check_standard_headers(call)
    if on("other-requests-need-discover-first") and call.method != "server/discover" and not call.memory.get("discovered"):
        raise RpcError(INVALID_REQUEST, "Call server/discover first", status=400)
    handler = METHODS.get(call.method)
    if on("discover-not-implemented") and call.method == "server/discover":
        handler = None
    if handler is None:
        if on("unknown-method-not-answered") and call.transport == "stdio":
            raise Silent()
        if on("unknown-method-gets-empty-result"):
            return {}
        code = METHOD_NOT_FOUND
        if on("unknown-method-invalid-params"):
            code = INVALID_PARAMS
        raise RpcError(code, "Method not found: %s" % call.method,
                       status=200 if on("unknown-method-status-200") else 404)
    if on("unasked-ping-request") and call.transport == "stdio" and not SHARED.get("pinged"):
        SHARED["pinged"] = True
        call.raw({"jsonrpc": "2.0", "id": "ping-1", "method": "ping"})
    if call.token is not None:
        SHARED["latest-token"] = call.token
    if call.caps:
        SHARED["caps"] = call.caps
    if call.level:
        SHARED["level"] = call.level
    result = handler(call)
    meta = dict(result.pop("_meta", {}))
    if not (on("server-info-only-in-discover") and call.method != "server/discover"):
        meta[K_SERVER] = SERVER_INFO
    full = {"resultType": result.pop("resultType", "complete")}
    full.update(result)
    if meta:
        full["_meta"] = meta
    if on("result-type-missing-from-prompts") and call.method == "prompts/get":
        del full["resultType"]
    if on("result-type-missing-from-second-page") and "cursor" in call.params:
        del full["resultType"]
    if on("result-type-invented") and call.method == "completion/complete":
        full["resultType"] = "partial"
    return full


def answer_id(call):
    value = call.id
    if on("numeric-text-id-becomes-number") and isinstance(value, str) and value.isdigit():
        return int(value)
    if on("large-id-rounded") and isinstance(value, int) and abs(value) > 2 ** 53:
        return int(float(value))
    if on("number-id-becomes-text-in-errors") and call.failed and not isinstance(value, str):
        return str(value)
    if on("answer-takes-latest-id"):
        return SHARED.get("latest-id", value)
    return value


def result_message(call, result):
    message = {"jsonrpc": "2.0", "id": answer_id(call), "result": result}
    if on("version-member-lost-after-error") and SHARED.pop("erred", False):
        del message["jsonrpc"]
    return message


def error_message(request_id, code, text, data=None, with_id=True):
    error = {"code": code, "message": text}
    if text is None:
        del error["message"]
    if data is not None:
        error["data"] = data
    SHARED["erred"] = True
    message = {"jsonrpc": "2.0", "error": error}
    if request_id is not None and with_id:
        message = {"jsonrpc": "2.0", "id": request_id, "error": error}
    if on("error-beside-null-result"):
        message["result"] = None
    if on("unreadable-message-answered-with-old-id") and "id" not in message and "latest-id" in SHARED:
        message["id"] = SHARED["latest-id"]
    return message


def run_call(call):
    """Answer one request over its transport."""
    try:
        work_on(call)
    finally:
        call.done.set()


def work_on(call):
    SHARED["latest-id"] = call.id
    try:
        result = answer(call)
        message, status = result_message(call, result), 200
    except RpcError as error:
        data, text = error.data, error.message
        if call.method == "initialize" and not on("initialize-error-names-no-version"):
            text = "%s. This server speaks only protocol version %s" % (text, VERSION)
            data = dict(data or {}, supported=[VERSION])
        call.failed = True
        status = error.status
        message = error_message(answer_id(call), error.code, text, data,
                                with_id=not (on("errors-without-id") and call.method == "tools/call"))
    except Cancelled:
        if on("cancelled-call-gets-error") and call.transport == "stdio":
            call.raw(error_message(call.id, -32800, "Request cancelled"), force=True)
        call.drop()
        return
    except Silent:
        call.drop()
        return
    except Exception as error:                      # a mistake of this program
        print("internal error: %r" % (error,), file=sys.stderr)
        call.failed = True
        message, status = error_message(call.id, INTERNAL_ERROR, "Internal error"), 200
    call.finish(message, status)


class Call:
    """One request on its way through the server."""

    transport = None
    headers = None

    def __init__(self, message, memory):
        self.message = message
        self.id = message.get("id")
        self.method = message["method"]
        self.params, self.meta, self.caps = {}, {}, {}
        self.level = self.token = None
        self.memory = memory
        self.after = []
        self.failed = False
        self.done = threading.Event()

    def notify(self, method, params):
        self.raw({"jsonrpc": "2.0", "method": method, "params": params})

    def keep_alive(self):
        pass

    def open_stream(self):
        pass

    def drop(self):
        pass


def encode(message, indent=None):
    text = json.dumps(message, ensure_ascii=False, separators=None if indent else (",", ":"), indent=indent)
    if on("text-in-latin-1"):
        return text.encode("latin-1", "replace")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:                      # half of a surrogate pair: only escapes can carry it
        return json.dumps(message, indent=indent).encode("ascii")


def refuse_constant(name):
    raise ValueError(name)


def decode(raw):
    return json.loads(raw.decode("utf-8"), parse_constant=refuse_constant)


# --------------------------------------------------------------------------
# stdio
# --------------------------------------------------------------------------

OUT_LOCK = threading.RLock()
IN_FLIGHT = {}             # request id with its type -> call


def write_stdout(raw):
    with OUT_LOCK:
        try:
            sys.stdout.buffer.write(raw)
            sys.stdout.buffer.flush()
        except (OSError, ValueError):
            os._exit(0)


def flight_key(request_id):
    return (type(request_id).__name__, request_id)


class StdioCall(Call):
    transport = "stdio"

    def __init__(self, message, memory):
        super().__init__(message, memory)
        self.stopped = False

    def cancelled(self):
        if on("cancelled-call-still-answered") or on("progress-goes-on-after-cancel"):
            return self.stopped and self.method == "subscriptions/listen"
        return self.stopped

    def raw(self, message, force=False):
        with OUT_LOCK:
            progress = message.get("method") == "notifications/progress"
            late = (on("cancelled-call-still-answered") and "method" not in message
                    or on("progress-goes-on-after-cancel") and progress)
            if self.stopped and not force and not late:
                return
            line = encode(message)
            if on("answer-spread-over-lines") and "messages" in (message.get("result") or {}):
                line = encode(message, indent=2)
            if not (on("progress-line-not-ended") and progress):
                line += b"\n"
            write_stdout(line)

    def finish(self, message, status):
        with OUT_LOCK:
            self.drop()
            self.raw(message)
            if on("progress-call-answered-twice") and self.token is not None and self.method == "tools/call":
                self.raw(message)
            if on("progress-after-response") and self.token is not None and self.method == "tools/call":
                self.notify("notifications/progress", {"progressToken": self.token, "progress": 51, "total": 51, "message": "Tidying up"})
            for method, params in self.after:
                self.notify(method, params)

    def drop(self):
        with OUT_LOCK:
            if IN_FLIGHT.get(flight_key(self.id)) is self:
                del IN_FLIGHT[flight_key(self.id)]


def take_cancel(params):
    params = params if isinstance(params, dict) else {}
    request_id = params.get("requestId")
    if not valid_id(request_id):
        if on("malformed-cancel-stops-server"):
            SHARED["deaf"] = True
        return
    with OUT_LOCK:
        target = IN_FLIGHT.get(flight_key(request_id))
        if on("cancel-ignores-type-of-id"):
            target = target or next((c for c in IN_FLIGHT.values() if str(c.id) == str(request_id)), None)
        if on("cancel-drops-every-call") and target is not None:
            for call in list(IN_FLIGHT.values()):
                call.stopped = True
        if target is None:
            if on("cancel-of-unknown-request-answered"):
                write_stdout(encode(error_message(request_id, INVALID_PARAMS, "No such request")) + b"\n")
            return
        target.stopped = True


def take_line(raw, memory):
    """Handle one line of standard input."""
    if not raw.strip():
        return
    if SHARED.get("deaf"):
        return
    try:
        message = decode(raw)
    except (ValueError, RecursionError):
        if on("malformed-line-ends-server"):
            os._exit(1)
        if not on("malformed-line-not-answered"):
            write_stdout(encode(error_message(None, PARSE_ERROR, "This line is not valid JSON")) + b"\n")
        return
    try:
        kind = classify(message)
    except BadMessage as problem:
        if on("invalid-request-not-answered"):
            return
        write_stdout(encode(error_message(problem.request_id, INVALID_REQUEST, problem.text)) + b"\n")
        return
    if kind == "response":
        return                                    # this server never asks, so there is nothing to match
    if kind == "notification":
        if message["method"] == "notifications/cancelled":
            take_cancel(message.get("params"))
        elif on("notification-gets-error"):
            write_stdout(encode(error_message(None, METHOD_NOT_FOUND, "Unknown notification")) + b"\n")
        return
    call = StdioCall(message, memory)
    with OUT_LOCK:
        if flight_key(call.id) in IN_FLIGHT:
            write_stdout(encode(error_message(call.id, INVALID_REQUEST, "This id is still in use")) + b"\n")
            return
        if on("requests-unanswered-while-listening") and any(c.method == "subscriptions/listen" for c in IN_FLIGHT.values()):
            return
        IN_FLIGHT[flight_key(call.id)] = call
    threading.Thread(target=run_call, args=(call,), daemon=True).start()


def serve_stdio():
    def stop(*_):
        HUB.close_all()
        os._exit(0)
    signal.signal(signal.SIGTERM, stop)
    threading.Thread(target=desk_clock, daemon=True).start()
    print("library server ready on stdio", file=sys.stderr, flush=True)
    if on("greeting-on-stdout"):
        write_stdout(b"Harbour Lane Library 3.2.1 ready\n")
    if on("unasked-notification-at-start"):
        write_stdout(encode({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {}}) + b"\n")
    memory = {}
    while True:
        raw = sys.stdin.buffer.readline()
        if not raw:
            break
        take_line(raw, memory)
    until = time.monotonic() + 1.0
    while time.monotonic() < until:
        with OUT_LOCK:
            if all(c.method == "subscriptions/listen" for c in IN_FLIGHT.values()):
                break
        time.sleep(0.02)
    HUB.close_all()
    if on("end-of-input-ignored"):
        while True:
            time.sleep(60)
    with OUT_LOCK:
        sys.stdout.buffer.flush()
        os._exit(0)


# --------------------------------------------------------------------------
# Streamable HTTP
# --------------------------------------------------------------------------

def mismatch(text):
    code = INVALID_REQUEST if on("header-mismatch-wrong-code") else HEADER_MISMATCH
    return RpcError(code, text, status=200 if on("header-mismatch-status-200") else 400)


def header_values(call, name):
    if on("header-names-compared-with-case"):
        return [v.strip(" \t") for k, v in call.headers.items() if k == name]
    return [v.strip(" \t") for v in call.headers.get_all(name, [])]


def single_header(call, name):
    """The value of a header, None when it is missing; refuses broken or conflicting values."""
    values = header_values(call, name)
    if not values:
        return None
    if len(set(values)) > 1:
        raise mismatch("Header mismatch: %s is given twice" % name)
    value = values[0]
    if any(not (0x20 <= ord(c) <= 0x7E or c == "\t") for c in value):
        if on("raw-text-in-mirrored-header-accepted") and name.lower().startswith("mcp-param-"):
            return value.encode("latin-1", "replace").decode("utf-8", "replace")
        raise mismatch("Header mismatch: %s has invalid characters" % name)
    return value


def decoded(value, name):
    """Undo the Base64 form of Mcp-Name and Mcp-Param headers."""
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    if on("encoded-name-header-not-decoded") and name == "Mcp-Name":
        return value
    if on("encoded-param-header-not-decoded") and name != "Mcp-Name":
        return value
    try:
        return base64.b64decode(value[9:-2].encode("ascii"), validate=True).decode("utf-8")
    except (ValueError, binascii.Error):
        raise mismatch("Header mismatch: %s holds broken Base64" % name)


def require_version_header(call):
    if single_header(call, "MCP-Protocol-Version") is None and not on("version-header-not-required"):
        raise mismatch("Header mismatch: MCP-Protocol-Version is missing")


def check_version_header(call, version):
    value = single_header(call, "MCP-Protocol-Version")
    if value is not None and value != version and not on("version-header-may-differ"):
        raise mismatch("Header mismatch: MCP-Protocol-Version differs from the body")


def same(header, body):
    if on("header-values-compared-without-case"):
        return header.lower() == body.lower()
    return header == body


def check_standard_headers(call):
    method = single_header(call, "Mcp-Method")
    if method is None:
        if not on("method-header-not-required"):
            raise mismatch("Header mismatch: Mcp-Method is missing")
    elif not same(method, call.method) and not on("method-header-may-differ"):
        raise mismatch("Header mismatch: Mcp-Method header value '%s' does not match body value '%s'" % (method, call.method))
    member = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}.get(call.method)
    if on("name-header-checked-only-for-tools") and call.method != "tools/call":
        return
    name, wanted = single_header(call, "Mcp-Name"), call.params.get(member)
    if name is None:
        if isinstance(wanted, str) and not on("name-header-not-required"):
            raise mismatch("Header mismatch: Mcp-Name is missing")
        return
    if not isinstance(wanted, str) or not same(decoded(name, "Mcp-Name"), wanted):
        raise mismatch("Header mismatch: Mcp-Name does not match params.%s" % member)


def header_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return "%d" % value
    return value if isinstance(value, str) else None


def check_param_headers(call, tool, args):
    for short, path, schema in mirrored(tool["inputSchema"]):
        if on("nested-param-header-not-checked") and len(path) > 1:
            continue
        name = "Mcp-Param-" + short
        value = args
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        header = single_header(call, name)
        if header is not None:
            header = decoded(header, name)
        if value is None:
            if header is not None and not on("param-header-without-argument-accepted"):
                raise mismatch("Header mismatch: %s has no value in the body" % name)
            if on("absent-param-header-demanded") and header is None:
                raise mismatch("Header mismatch: %s is missing" % name)
            continue
        if header is None:
            if on("param-header-not-required"):
                continue
            raise mismatch("Header mismatch: %s is missing" % name)
        if schema.get("type") == "integer" and is_number(value) and not on("integer-header-compared-as-text"):
            equal = re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", header) is not None and float(header) == float(value)
        else:
            text = header_text(value)
            equal = text is None or header == text
        if not equal and not (on("param-header-may-differ") and len(path) == 1):
            raise mismatch("Header mismatch: %s does not match the body" % name)


def good_origin(origin):
    parts = urllib.parse.urlsplit(origin)
    try:
        host = parts.hostname
        parts.port
    except ValueError:
        return False
    if on("origin-compared-by-prefix"):
        return origin.startswith(("http://localhost", "http://127.0.0.1"))
    return parts.scheme in ("http", "https") and host in ("localhost", "127.0.0.1", "::1") and not parts.path


OPEN_STREAMS = []


class HttpCall(Call):
    transport = "http"

    def __init__(self, message, memory, handler):
        super().__init__(message, memory)
        self.handler = handler
        self.headers = handler.headers
        self.lock = threading.RLock()
        self.streaming = False
        self.gone = False

    def cancelled(self):
        """The client went away if its side of the connection is closed."""
        if on("disconnect-ignored") and self.method == "tools/call":
            return False
        if not self.gone:
            try:
                readable, _, _ = select.select([self.handler.connection], [], [], 0)
                if readable and self.handler.connection.recv(1, socket.MSG_PEEK) == b"":
                    self.gone = True
            except (OSError, ValueError):
                self.gone = True
        return self.gone

    def open_stream(self):
        with self.lock:
            if self.streaming or self.gone:
                return
            self.streaming = True
            OPEN_STREAMS.append(self)
            handler = self.handler
            handler.close_connection = True
            handler.send_response(200)
            handler.send_header("Content-Type", "text/plain" if on("stream-with-wrong-content-type") else "text/event-stream")
            handler.send_header("Cache-Control", "no-cache")
            if not on("stream-without-buffering-header"):
                handler.send_header("X-Accel-Buffering", "no")
            if on("session-id-issued"):
                handler.send_header("Mcp-Session-Id", "hl-0001")
            handler.send_header("Connection", "close")
            try:
                handler.end_headers()
                handler.wfile.flush()
            except OSError:
                self.gone = True

    def write(self, raw):
        with self.lock:
            if self.gone:
                return
            try:
                self.handler.wfile.write(raw)
                self.handler.wfile.flush()
            except OSError:
                self.gone = True

    def keep_alive(self):
        self.write(b":\n\n")

    def raw(self, message, force=False):
        if on("progress-on-other-stream") and message.get("method") == "notifications/progress":
            others = [c for c in OPEN_STREAMS if c is not self and c.method == "tools/call" and not c.gone]
            if others:
                others[0].event(message)
                return
        self.open_stream()
        self.event(message)

    def event(self, message):
        if on("event-data-broken-over-lines") and "method" not in message:
            self.write(b"data: " + encode(message, indent=1) + b"\n\n")
        else:
            self.write(b"data: " + encode(message) + b"\n\n")

    def finish(self, message, status):
        with self.lock:
            if self.streaming:
                if not on("stream-ends-without-response"):
                    self.event(message)
                if on("stream-response-twice"):
                    self.event(message)
                if on("stream-stays-open-after-response"):
                    until = time.monotonic() + 20
                    while time.monotonic() < until and not self.cancelled():
                        time.sleep(0.1)
                self.drop()
            elif not self.gone:
                self.handler.send_json(message, status)

    def drop(self):
        if self in OPEN_STREAMS:
            OPEN_STREAMS.remove(self)
        if self.gone or not self.streaming:
            self.handler.close_connection = True


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "HarbourLane"
    sys_version = ""
    timeout = 120

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.memory = {}

    def log_message(self, *_):
        pass

    def send_plain(self, status, text="", headers=()):
        body = text.encode("utf-8")
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if body:
            self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        try:
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def send_json(self, message, status):
        body = encode(message)
        self.send_response(status)
        self.send_header("Content-Type", "text/json" if on("json-with-wrong-content-type") else "application/json")
        self.send_header("Content-Length", str(len(body)))
        if on("session-id-issued"):
            self.send_header("Mcp-Session-Id", "hl-0001")
        try:
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()
        except OSError:
            self.close_connection = True

    def read_body(self):
        """The request body, or None after an error answer."""
        limit = 4 * 1024 * 1024
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            body = b""
            while True:
                size = int(self.rfile.readline(64).split(b";")[0].strip() or b"0", 16)
                if size == 0:
                    while self.rfile.readline(4096).strip():
                        pass
                    return body
                if len(body) + size > limit:
                    break
                body += self.rfile.read(size)
                self.rfile.readline(8)
        else:
            length = int(self.headers.get("Content-Length", "0"))
            if 0 <= length <= limit:
                return self.rfile.read(length)
        self.close_connection = True
        self.send_plain(413, "The body is too large")
        return None

    def refused(self):
        """Check path and Origin; answer and return True if the request stops here."""
        if self.path.partition("?")[0] != "/mcp":
            self.send_plain(404, "Only /mcp is served here")
            return True
        skip = on("origin-not-checked") or on("origin-checked-once-per-connection") and self.memory.get("origin")
        self.memory["origin"] = True
        for origin in [] if skip else self.headers.get_all("Origin", []):
            if not good_origin(origin):
                status = 400 if on("bad-origin-status-400") else 403
                self.send_json(error_message(None, INVALID_REQUEST, "This origin is not allowed"), status)
                return True
        return False

    def do_POST(self):
        try:
            body = self.read_body()
        except (ValueError, OSError):
            self.close_connection = True
            self.send_plain(400, "The body cannot be read")
            return
        if body is None or self.refused():
            return
        if self.headers.get_content_type() != "application/json":
            self.send_plain(415, "The body must be application/json")
            return
        if on("last-event-id-refused") and "Last-Event-ID" in self.headers:
            self.send_plain(400, "Streams cannot be resumed")
            return
        if on("old-session-id-refused") and "Mcp-Session-Id" in self.headers:
            self.send_json(error_message(None, INVALID_REQUEST, "Unknown session"), 404)
            return
        try:
            message = decode(body)
        except (ValueError, RecursionError):
            self.send_json(error_message(None, PARSE_ERROR, "The body is not valid JSON"), 400)
            return
        try:
            kind = classify(message)
        except BadMessage as problem:
            self.send_json(error_message(problem.request_id, INVALID_REQUEST, problem.text), 400)
            return
        if kind == "response":
            self.send_json(error_message(None, INVALID_REQUEST, "This server takes no responses"), 400)
            return
        if kind == "notification":
            if on("notification-gets-error"):
                self.send_json(error_message(None, METHOD_NOT_FOUND, "Unknown notification"), 200)
            elif on("notification-answered-200"):
                self.send_plain(200)
            elif on("notification-answered-with-body"):
                self.send_plain(202, "Accepted")
            else:
                self.send_plain(202)
            return
        run_call(HttpCall(message, self.memory, self))

    def no_such_method(self):
        try:
            body = self.read_body()
        except (ValueError, OSError):
            self.close_connection = True
            body = b""
        if body is None or self.refused():
            return
        if on("get-opens-stream") and self.command == "GET":
            self.close_connection = True
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(b":\n\n")
            return
        self.send_plain(405, "Use POST", [("Allow", "POST")])

    do_GET = do_DELETE = do_PUT = do_PATCH = do_HEAD = do_OPTIONS = no_such_method


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            print("connection error: %r" % (error,), file=sys.stderr)


def serve_http(port):
    def stop(*_):
        HUB.close_all()
        os._exit(0)
    server = Server(("127.0.0.1", port), Handler)
    signal.signal(signal.SIGTERM, stop)
    threading.Thread(target=desk_clock, daemon=True).start()
    print("library server ready on http://127.0.0.1:%d/mcp" % server.server_address[1], file=sys.stderr, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        stop()


def main():
    global FAULT
    parser = argparse.ArgumentParser(description="Harbour Lane Library, an MCP server")
    parser.add_argument("--stdio", action="store_true")
    parser.add_argument("--http", type=int, metavar="PORT")
    parser.add_argument("--fault", metavar="NAME")
    parser.add_argument("--list-faults", action="store_true")
    options = parser.parse_args()
    if options.list_faults:
        list_faults()
        return
    if options.fault is not None and options.fault not in [row[0] for row in FAULTS]:
        parser.error("unknown fault: %s" % options.fault)
    FAULT = options.fault
    if options.http is not None:
        serve_http(options.http)
    elif options.stdio:
        serve_stdio()
    else:
        parser.error("give --stdio or --http PORT")


if __name__ == "__main__":
    main()

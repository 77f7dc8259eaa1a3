#!/usr/bin/env python3
"""A small MCP agent host: it connects to one server, uses everything the
server offers once, answers what the server asks, and shuts down in order.

    client.py [--fault NAME] [--revision R] URL
    client.py [--fault NAME] [--revision R] --stdio COMMAND ARGS...
    client.py --list-faults

It speaks the protocol revisions 2026-07-28 (metadata on every request) and
2025-11-25 and 2025-06-18 (initialize handshake). It probes with
server/discover and falls back to initialize. --revision names the newest
revision it may use. JSON Schema dialects: 2020-12, 2019-09 and draft-07.

--fault switches one deliberate mistake on; without it the client is meant
to be correct. The faults are listed in the table FAULTS below.
"""

import base64
import http.client
import ipaddress
import json
import os
import queue
import re
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse

MODERN = "2026-07-28"
LEGACY = ["2025-11-25", "2025-06-18"]
CALL_TIMEOUT = 5.0        # seconds for one request
PROBE_TIMEOUT = 4.0       # seconds for the first server/discover
RUN_LIMIT = 23.0          # after this the host starts no further work
HARD_LIMIT = 28.0         # after this the process ends, whatever happens
MAX_PAGES = 25
MAX_BODY = 16 * 1024 * 1024
CLIENT_INFO = {"name": "cafe-agent-host", "title": "Café Agent Host", "version": "1.0.0"}
META = "io.modelcontextprotocol/"
RELATED_TASK = META + "related-task"
LOG_LEVEL = "info"
INPUT_METHODS = ("tools/call", "resources/read", "prompts/get")

OLD = ["2025-06-18", "2025-11-25"]
NOV = ["2025-11-25"]
NEW = ["2026-07-28"]
NOV_NEW = ["2025-11-25", "2026-07-28"]
ALL = ["2025-06-18", "2025-11-25", "2026-07-28"]
BOTH = ["stdio", "http"]
HTTP = ["http"]
STDIO = ["stdio"]

# name, area, level, transports, revisions, what, page
FAULTS = [
    # lifecycle, older era
    ("initialized-never-sent", "lifecycle", "MUST", BOTH, OLD,
     "After the initialize answer the client starts working without ever sending the initialized notification.",
     "basic/lifecycle: Initialization"),
    ("initialize-client-version-missing", "lifecycle", "MUST", BOTH, OLD,
     "The clientInfo of the initialize request has a name but no version.",
     "schema: InitializeRequest, Implementation"),
    ("initialize-unknown-version-accepted", "lifecycle", "SHOULD", BOTH, OLD,
     "When the server answers initialize with a version the client does not speak, it carries on instead of disconnecting.",
     "basic/lifecycle: Version Negotiation"),
    ("initialize-invented-version", "lifecycle", "MUST", BOTH, OLD,
     "The initialize request asks for protocol version 1.0, which is no revision the client supports.",
     "basic/lifecycle: Version Negotiation"),
    ("initialize-cancelled-on-timeout", "cancellation", "MUST", BOTH, OLD,
     "When initialize is not answered in time the client sends a cancellation for it.",
     "basic/utilities/cancellation: Behavior Requirements"),
    ("request-before-initialize-answer", "lifecycle", "SHOULD", BOTH, OLD,
     "The client sends tools/list straight after initialize without waiting for the answer.",
     "basic/lifecycle: Initialization"),
    ("list-without-capability", "lifecycle", "MUST", BOTH, OLD,
     "The client asks for the prompts list although the server did not declare prompts.",
     "basic/lifecycle: Operation"),
    ("roots-change-sent-without-capability", "lifecycle", "MUST", BOTH, OLD,
     "The client announces a changed roots list although it did not declare listChanged for roots.",
     "basic/lifecycle: Operation; client/roots: Capabilities"),
    ("sampling-answered-but-not-declared", "sampling", "MUST", BOTH, ALL,
     "The client leaves sampling out of its capabilities and still answers sampling requests with a message.",
     "client/sampling: Capabilities"),
    ("subscribe-without-capability", "resources", "MUST", BOTH, OLD,
     "The client subscribes to a resource although the server did not declare subscribe.",
     "basic/lifecycle: Operation; server/resources: Capabilities"),
    # discovery and version negotiation
    ("discover-result-versions-ignored", "discovery", "SHOULD", BOTH, NEW,
     "The discovery answer does not list the client's version, and the client uses that version all the same.",
     "basic/versioning: Protocol Version Negotiation; server/discover: Data Types"),
    ("unsupported-version-error-falls-back", "discovery", "MUST", BOTH, NEW,
     "An unsupported-version error, which only a newer server sends, makes the client start an initialize handshake.",
     "basic/versioning: Backward Compatibility with Initialization-Based Versions"),
    ("stdio-fallback-only-on-method-not-found", "discovery", "MUST", STDIO, NEW,
     "Only error -32601 makes the client fall back to initialize; on any other plain error it gives up.",
     "basic/transports/stdio: Backward Compatibility"),
    ("stdio-silent-probe-gives-up", "discovery", "MUST", STDIO, NEW,
     "When an older server does not answer the discovery probe the client gives up instead of using initialize.",
     "basic/transports/stdio: Backward Compatibility"),
    ("stdio-no-probe", "discovery", "SHOULD", STDIO, NEW,
     "The client sends tools/list before it has probed the server with server/discover.",
     "basic/transports/stdio: Backward Compatibility"),
    ("initialized-sent-after-discover", "discovery", "MUST", BOTH, NEW,
     "After a successful discovery the client sends the initialized notification, which that revision does not have.",
     "basic/transports/stdio: overview; changelog"),
    # JSON-RPC base
    ("request-id-null", "base protocol", "MUST", BOTH, ALL,
     "The completion request carries null as its id.",
     "basic/index: Requests"),
    ("request-id-fractional", "base protocol", "MUST", BOTH, ALL,
     "The id of a prompts/get request is a number with a fraction.",
     "basic/index: Requests"),
    ("request-id-reused", "base protocol", "MUST", BOTH, OLD,
     "The resource templates request uses the id of an earlier request of the same session again.",
     "basic/index: Requests"),
    ("parallel-calls-share-id", "base protocol", "MUST", BOTH, NEW,
     "Tool calls that run at the same time all carry the same request id.",
     "basic/index: Requests"),
    ("batch-of-requests", "base protocol", "MUST", BOTH, OLD,
     "The client sends two pings together in one JSON array.",
     "basic/transports: Sending Messages to the Server, stdio"),
    ("initialized-with-id", "base protocol", "MUST", BOTH, OLD,
     "The initialized notification carries an id.",
     "basic/index: Notifications"),
    ("reply-without-jsonrpc", "base protocol", "MUST", BOTH, OLD,
     "Answers to server requests lack the jsonrpc member.",
     "basic/index: Responses"),
    ("reply-id-as-string", "base protocol", "MUST", BOTH, OLD,
     "A server request with a number as id is answered with the same digits as a string.",
     "basic/index: Responses"),
    ("request-id-zero-unanswered", "base protocol", "MUST", BOTH, OLD,
     "A server request whose id is 0 is taken for a notification and gets no answer.",
     "basic/index: Responses"),
    ("notification-answered", "base protocol", "MUST", BOTH, OLD,
     "An unknown notification from the server is answered with an error message.",
     "basic/index: Notifications"),
    ("unknown-request-unanswered", "base protocol", "MUST", BOTH, OLD,
     "A server request with an unknown method gets no answer at all.",
     "basic/index: Responses"),
    ("unknown-request-gets-result", "base protocol", "MUST", BOTH, OLD,
     "A server request with an unknown method is answered with an empty success result.",
     "basic/index: Messages"),
    ("error-code-as-string", "base protocol", "MUST", BOTH, OLD,
     "The error code in the client's error answers is a string.",
     "basic/index: Responses"),
    ("error-message-missing", "base protocol", "MUST", BOTH, OLD,
     "The client's error answers have a code but no message.",
     "basic/index: Responses"),
    ("reply-with-result-and-error", "base protocol", "MUST", BOTH, OLD,
     "Successful answers also carry an error member that is null.",
     "basic/index: Responses"),
    ("modern-server-request-answered", "base protocol", "MUST", BOTH, NEW,
     "A JSON-RPC request that a server wrongly sends is answered with a JSON-RPC response.",
     "basic/transports/stdio: Sending Messages; basic/transports/streamable-http: Sending Messages"),
    ("text-not-utf8", "base protocol", "MUST", BOTH, ALL,
     "Messages are written in Latin-1 instead of UTF-8.",
     "basic/transports (2026-07-28: basic/transports/streamable-http and stdio): introduction"),
    # stdio
    ("stdio-pretty-printed-calls", "stdio", "MUST", STDIO, ALL,
     "Tool calls are written as indented JSON over several lines.",
     "basic/transports (2026-07-28: basic/transports/streamable-http and stdio): stdio"),
    ("stdio-greeting-line", "stdio", "MUST", STDIO, ALL,
     "The client writes a plain text line to the server before its first message.",
     "basic/transports (2026-07-28: basic/transports/streamable-http and stdio): stdio"),
    ("stdio-length-header", "stdio", "MUST", STDIO, ALL,
     "Each prompts/list message is preceded by a Content-Length line and an empty line.",
     "basic/transports (2026-07-28: basic/transports/streamable-http and stdio): stdio"),
    ("stdio-blank-keepalive-line", "stdio", "MUST", STDIO, ALL,
     "While it waits for notifications the client writes an empty line as a sign of life.",
     "basic/transports (2026-07-28: basic/transports/streamable-http and stdio): stdio"),
    ("stdio-two-messages-on-one-line", "stdio", "MUST", STDIO, OLD,
     "The initialized notification has no line end, so the next request follows on the same line.",
     "basic/transports: stdio"),
    ("stdio-terminate-before-close", "stdio", "SHOULD", STDIO, ALL,
     "At the end the client sends a termination signal without closing the server's input first.",
     "basic/lifecycle: Shutdown; basic/transports/stdio: Shutdown"),
    ("stdio-listen-not-reopened", "stdio", "MUST", STDIO, NEW,
     "After restarting a server that ended by itself the client does not open its subscriptions again.",
     "basic/patterns/subscriptions: Graceful Closure; basic/transports/stdio: Unexpected Termination"),
    ("stdio-ended-server-not-restarted", "stdio", "SHOULD", STDIO, NEW,
     "When the server process ends by itself in the middle of the run the client stops instead of restarting it.",
     "basic/transports/stdio: Unexpected Termination"),
    ("stdio-subscription-id-ignored", "subscriptions", "MUST", STDIO, NEW,
     "Change notifications are acted upon even if their subscription id belongs to no open subscription.",
     "basic/patterns/subscriptions: Receiving Notifications"),
    ("stdio-cancel-names-tool", "cancellation", "MUST", STDIO, NEW,
     "The cancellation for a call that takes too long names the tool instead of the id of the request.",
     "basic/patterns/cancellation: Behavior Requirements"),
    # Streamable HTTP, both eras
    ("http-accept-json-only", "http", "MUST", HTTP, ALL,
     "The Accept header of POST requests lists only application/json.",
     "basic/transports (2026-07-28: basic/transports/streamable-http and stdio): Sending Messages to the Server"),
    ("http-json-answer-unsupported", "http", "MUST", HTTP, ALL,
     "The client only reads event streams as the answer to a tool call; when a plain JSON body comes it ends the run.",
     "basic/transports (2026-07-28: basic/transports/streamable-http and stdio): Sending Messages to the Server"),
    ("http-event-stream-unsupported", "http", "MUST", HTTP, ALL,
     "The client cannot read an event stream as the answer to a list request and gives the request up.",
     "basic/transports (2026-07-28: basic/transports/streamable-http and stdio): Sending Messages to the Server"),
    # Streamable HTTP, older era
    ("http-get-without-accept", "http", "MUST", HTTP, OLD,
     "The GET request for the listening stream has no Accept header for event streams.",
     "basic/transports: Listening for Messages from the Server"),
    ("http-version-header-missing", "http", "MUST", HTTP, OLD,
     "No request after initialize carries the protocol version header.",
     "basic/transports: Protocol Version Header"),
    ("http-version-header-missing-on-get", "http", "MUST", HTTP, OLD,
     "The POST requests carry the protocol version header, but the GET requests do not.",
     "basic/transports: Protocol Version Header"),
    ("http-version-header-not-negotiated", "http", "SHOULD", HTTP, OLD,
     "The version header always names the version the client asked for, also when the server chose an older one.",
     "basic/transports: Protocol Version Header"),
    ("http-session-missing-on-notifications", "http sessions", "MUST", HTTP, OLD,
     "Requests carry the session id, but notifications and answers do not.",
     "basic/transports: Session Management"),
    ("http-session-missing-on-get", "http sessions", "MUST", HTTP, OLD,
     "The GET request for the listening stream lacks the session id.",
     "basic/transports: Session Management"),
    ("http-session-id-lower-cased", "http sessions", "MUST", HTTP, OLD,
     "The client sends the session id back in lower case.",
     "basic/transports: Session Management"),
    ("http-session-lost-no-new-session", "http sessions", "MUST", HTTP, OLD,
     "After a 404 for its session the client repeats requests with the old session id and never initializes again.",
     "basic/transports: Session Management"),
    ("http-new-session-carries-old-id", "http sessions", "MUST", HTTP, OLD,
     "After a 404 the new initialize request still carries the id of the lost session.",
     "basic/transports: Session Management"),
    ("http-session-not-deleted", "http sessions", "SHOULD", HTTP, OLD,
     "The client leaves without ending its session with a DELETE request.",
     "basic/transports: Session Management"),
    ("http-resume-without-last-event-id", "http resumption", "SHOULD", HTTP, OLD,
     "The client reconnects to a broken stream without saying which event it saw last.",
     "basic/transports: Resumability and Redelivery"),
    ("http-resume-from-first-event", "http resumption", "SHOULD", HTTP, OLD,
     "On reconnecting the client names the first event id of the stream instead of the last one.",
     "basic/transports: Resumability and Redelivery"),
    ("http-retry-time-ignored", "http resumption", "MUST", HTTP, NOV,
     "The client reconnects at once although the server sent a retry time.",
     "basic/transports: Sending Messages to the Server"),
    ("http-request-on-post-stream-unanswered", "http", "MUST", HTTP, OLD,
     "Server requests that come on the stream of a POST are ignored; only those on the GET stream are answered.",
     "basic/transports: Sending Messages to the Server; basic/index: Responses"),
    # Streamable HTTP, newer era
    ("http-method-header-missing-on-listen", "http headers", "MUST", HTTP, NEW,
     "The subscriptions/listen request lacks the Mcp-Method header.",
     "basic/transports/streamable-http: Standard Request Headers"),
    ("http-name-header-missing-on-read", "http headers", "MUST", HTTP, NEW,
     "Reading a resource sends no Mcp-Name header.",
     "basic/transports/streamable-http: Standard Request Headers"),
    ("http-version-header-differs-from-body", "http headers", "MUST", HTTP, NEW,
     "On completion requests the version header names an older revision than the body.",
     "basic/transports/streamable-http: Protocol Version Header"),
    ("http-name-header-raw-unicode", "http headers", "MUST", HTTP, NEW,
     "A name with letters outside ASCII is put into Mcp-Name as raw bytes.",
     "basic/transports/streamable-http: Standard Request Headers, Value Encoding"),
    ("http-param-percent-encoded", "http headers", "MUST", HTTP, NEW,
     "Parameter values that need encoding are percent-encoded instead of Base64 with its markers.",
     "basic/transports/streamable-http: Value Encoding"),
    ("http-param-lookalike-not-encoded", "http headers", "MUST", HTTP, NEW,
     "A value that looks like an encoded value is sent unencoded.",
     "basic/transports/streamable-http: Value Encoding"),
    ("http-param-marker-upper-case", "http headers", "MUST", HTTP, NEW,
     "The marker before an encoded parameter value is written in upper case.",
     "basic/transports/streamable-http: Value Encoding"),
    ("http-param-headers-missing", "http headers", "MUST", HTTP, NEW,
     "Annotated tool parameters are never mirrored into headers.",
     "basic/transports/streamable-http: Custom Headers from Tool Parameters"),
    ("http-param-nested-missing", "http headers", "MUST", HTTP, NEW,
     "Only annotated parameters at the top level are mirrored, those inside objects are not.",
     "basic/transports/streamable-http: Schema Extension"),
    ("http-param-boolean-capitalised", "http headers", "MUST", HTTP, NEW,
     "A boolean parameter is mirrored with a capital first letter.",
     "basic/transports/streamable-http: Value Encoding"),
    ("http-param-null-sent", "http headers", "MUST", HTTP, NEW,
     "A parameter whose value is null is mirrored as the word null.",
     "basic/transports/streamable-http: Server Behavior for Custom Headers"),
    ("http-badly-annotated-tool-called", "http headers", "MUST", HTTP, NEW,
     "A tool whose header annotation breaks the rules is kept and called.",
     "basic/transports/streamable-http: Schema Extension"),
    ("http-duplicate-annotation-by-case-accepted", "http headers", "MUST", HTTP, NEW,
     "Two annotations of a tool that differ only in case do not make the client drop the tool.",
     "basic/transports/streamable-http: Schema Extension"),
    ("http-header-mismatch-not-retried", "http headers", "SHOULD", HTTP, NEW,
     "After a header mismatch error the client neither lists the tools again nor retries the call.",
     "basic/transports/streamable-http: Client Behavior"),
    ("http-timeout-stream-left-open", "cancellation", "SHOULD", HTTP, NEW,
     "A call that takes too long is given up, but its response stream stays open.",
     "basic/patterns/cancellation: Timeouts"),
    ("http-broken-stream-resumed-by-get", "http", "MUST", HTTP, NEW,
     "After a broken response stream the client tries to resume it with GET instead of sending the request again.",
     "basic/transports/streamable-http: Receiving Messages; changelog"),
    ("http-broken-stream-same-id", "http", "MUST", HTTP, NEW,
     "After a broken response stream the request is sent again with its old id.",
     "changelog: Major changes"),
    ("http-comment-line-breaks-stream", "http", "MUST", HTTP, NEW,
     "A comment line on an event stream is taken for damage and the stream is dropped.",
     "basic/transports/streamable-http: Receiving Messages"),
    # ping, logging
    ("ping-result-not-empty", "utilities", "MUST", BOTH, OLD,
     "The answer to a ping carries a member instead of being empty.",
     "basic/utilities/ping: Behavior Requirements"),
    ("ping-unanswered-during-call", "utilities", "MUST", BOTH, OLD,
     "Pings that arrive while a tool call is running are not answered.",
     "basic/utilities/ping: Behavior Requirements"),
    ("log-level-unknown-name", "logging", "MUST", BOTH, ALL,
     "The client asks for the log level warn, which is not one of the defined levels.",
     "server/utilities/logging: Log Levels"),
    # roots
    ("root-uri-is-plain-path", "roots", "MUST", BOTH, ALL,
     "The uri of the root is a plain path without the file scheme.",
     "client/roots: Root"),
    ("roots-result-is-array", "roots", "MUST", BOTH, ALL,
     "The result of roots/list is the bare array instead of an object with it.",
     "client/roots: Listing Roots"),
    # sampling
    ("sampling-model-missing", "sampling", "MUST", BOTH, ALL,
     "The sampling result does not say which model made it.",
     "client/sampling: Creating Messages; schema: CreateMessageResult"),
    ("sampling-content-is-text", "sampling", "MUST", BOTH, ALL,
     "The content of the sampling result is a bare string instead of a content block.",
     "client/sampling: Data Types"),
    ("sampling-token-limit-ignored", "sampling", "MUST", BOTH, NEW,
     "The sampled message is longer than the token limit of the request.",
     "client/sampling: Sampling Parameters"),
    ("sampling-tools-accepted", "sampling", "MUST", BOTH, NOV_NEW,
     "A sampling request with tools is answered although the client did not declare tool use.",
     "client/sampling: Tools in Sampling; schema: CreateMessageRequestParams"),
    # elicitation
    ("elicit-action-misspelt", "elicitation", "MUST", BOTH, ALL,
     "The action of an accepted form is accepted instead of accept.",
     "client/elicitation: Response Actions"),
    ("elicit-integer-as-string", "elicitation", "SHOULD", BOTH, ALL,
     "Integers in the submitted form are sent as strings, against the requested schema.",
     "client/elicitation: Security Considerations"),
    ("elicit-content-nested", "elicitation", "MUST", BOTH, ALL,
     "The submitted values are wrapped in a further object inside content.",
     "client/elicitation: Response Actions; schema: ElicitResult"),
    ("elicit-choice-title-sent", "elicitation", "SHOULD", BOTH, NOV_NEW,
     "For a choice with titles the client submits the title instead of the value.",
     "client/elicitation: Requested Schema"),
    ("elicit-without-mode-refused", "elicitation", "MUST", BOTH, NOV_NEW,
     "A request without a mode is refused instead of being treated as a form.",
     "client/elicitation: Elicitation Requests"),
    ("elicit-url-mode-accepted", "elicitation", "MUST", BOTH, NOV,
     "A request in url mode, which the client did not declare, is accepted instead of refused as invalid.",
     "client/elicitation: Error Handling"),
    ("elicit-url-fetched", "security", "MUST", BOTH, NOV_NEW,
     "The client fetches the address of a url mode request by itself.",
     "client/elicitation: Safe URL Handling"),
    # progress and cancellation
    ("progress-token-shared", "progress", "MUST", BOTH, ALL,
     "All running tool calls use the same progress token.",
     "basic/utilities/progress (2026-07-28: basic/patterns/progress): Progress Flow"),
    ("progress-token-fractional", "progress", "MUST", BOTH, ALL,
     "The progress token is a number with a fraction.",
     "basic/utilities/progress (2026-07-28: basic/patterns/progress): Progress Flow"),
    ("own-progress-does-not-increase", "progress", "MUST", BOTH, OLD,
     "The client reports progress on a sampling request twice with the same value.",
     "basic/utilities/progress: Progress Flow"),
    ("own-progress-after-answer", "progress", "MUST", BOTH, OLD,
     "The client reports progress on a sampling request after it has answered it.",
     "basic/utilities/progress: Implementation Notes"),
    ("own-progress-with-unknown-token", "progress", "MUST", BOTH, OLD,
     "The client reports progress on a sampling request that came without a progress token, using the request id.",
     "basic/utilities/progress: Behavior Requirements"),
    ("timeout-not-cancelled", "cancellation", "SHOULD", BOTH, OLD,
     "A call that takes too long is given up without a cancellation.",
     "basic/lifecycle: Timeouts"),
    ("cancel-id-as-string", "cancellation", "MUST", BOTH, OLD,
     "The cancellation of a call names its numeric id as a string.",
     "basic/utilities/cancellation: Behavior Requirements"),
    ("finished-call-cancelled", "cancellation", "MUST", BOTH, OLD,
     "The client sends a cancellation for a call that was already answered.",
     "basic/utilities/cancellation: Behavior Requirements"),
    ("cancelled-request-answered", "cancellation", "SHOULD", BOTH, OLD,
     "The client answers a sampling request that the server cancelled meanwhile.",
     "basic/utilities/cancellation: Behavior Requirements"),
    # pagination
    ("cursor-trimmed", "pagination", "MUST", BOTH, ALL,
     "The client strips padding signs and spaces from cursors before sending them back.",
     "server/utilities/pagination: Implementation Guidelines"),
    ("cursor-empty-is-end", "pagination", "MUST", BOTH, NEW,
     "An empty string as the next cursor is taken for the end of the list.",
     "server/utilities/pagination: Implementation Guidelines"),
    ("cursor-turned-into-number", "pagination", "MUST", BOTH, ALL,
     "A cursor made of digits is sent back as a number.",
     "server/utilities/pagination: Implementation Guidelines"),
    ("first-cursor-null", "pagination", "MUST", BOTH, ALL,
     "The first list request carries a cursor that is null.",
     "server/utilities/pagination: Request Format; schema: PaginatedRequestParams"),
    # tools
    ("call-arguments-as-text", "tools", "MUST", BOTH, ALL,
     "The arguments of a tool call are a string of JSON instead of an object.",
     "server/tools: Calling Tools"),
    ("call-arguments-null", "tools", "MUST", BOTH, ALL,
     "A tool without parameters is called with null as arguments.",
     "server/tools: Calling Tools"),
    ("tool-name-lower-cased", "tools", "SHOULD", BOTH, NOV_NEW,
     "Tools are called by their names in lower case.",
     "server/tools: Tool Names"),
    ("schema-reference-fetched", "security", "MUST", BOTH, NEW,
     "The client fetches a network address that a tool's schema refers to.",
     "basic/index: $ref Resolution"),
    ("icon-fetched-from-other-host", "security", "MUST", BOTH, NOV_NEW,
     "The client downloads tool icons from any address, also over plain http and from other hosts.",
     "basic/index: icons"),
    # tasks
    ("task-on-unwilling-tool", "tasks", "MUST", BOTH, NOV,
     "The client runs a tool as a task although the tool does not offer it.",
     "basic/utilities/tasks: Tool-Level Negotiation"),
    ("task-without-server-capability", "tasks", "MUST", BOTH, NOV,
     "The client runs a tool as a task although the server did not declare tasks for tool calls.",
     "basic/utilities/tasks: Tool-Level Negotiation"),
    ("task-requirement-ignored", "tasks", "MUST", BOTH, NOV,
     "A tool that can only run as a task is called in the ordinary way.",
     "basic/utilities/tasks: Tool-Level Negotiation"),
    ("task-polled-too-often", "tasks", "SHOULD", BOTH, NOV,
     "The client polls a task much more often than the server's poll interval allows.",
     "basic/utilities/tasks: Getting Tasks"),
    ("task-cancelled-by-notification", "tasks", "MUST", BOTH, NOV,
     "A task that takes too long is cancelled with a notification for its request instead of tasks/cancel.",
     "basic/utilities/cancellation: Behavior Requirements"),
    ("task-reply-not-related", "tasks", "MUST", BOTH, NOV,
     "The answer to a question that belongs to a task lacks the related-task metadata.",
     "basic/utilities/tasks: Associating Task-Related Messages"),
    # prompts, completion
    ("prompt-argument-not-text", "prompts", "MUST", BOTH, ALL,
     "Prompt arguments are sent as numbers instead of strings.",
     "server/prompts: Getting a Prompt; schema: GetPromptRequestParams"),
    ("completion-reference-type-wrong", "completion", "MUST", BOTH, ALL,
     "The reference of the completion request has the type prompt or resource without its prefix.",
     "server/utilities/completion: Reference Types"),
    ("completion-value-missing", "completion", "MUST", BOTH, ALL,
     "The argument of the completion request has a name but no value.",
     "server/utilities/completion: CompleteRequest"),
    # metadata on every request
    ("meta-version-missing-on-prompts-get", "request metadata", "MUST", BOTH, NEW,
     "The metadata of prompts/get lacks the protocol version.",
     "basic/index: _meta"),
    ("meta-capabilities-missing-on-retry", "request metadata", "MUST", BOTH, NEW,
     "A request that is retried with input lacks the client capabilities.",
     "basic/index: _meta"),
    ("meta-missing-on-next-page", "request metadata", "MUST", BOTH, NEW,
     "Requests for further pages have no metadata at all.",
     "basic/index: _meta"),
    ("meta-client-info-missing", "request metadata", "SHOULD", BOTH, NEW,
     "The client never says its name and version.",
     "basic/index: _meta"),
    ("meta-trace-context-malformed", "request metadata", "MUST", BOTH, NEW,
     "Tool calls carry a traceparent that does not follow its format.",
     "basic/index: OpenTelemetry trace context"),
    # multi round-trip requests
    ("retry-with-same-id", "multi round-trip", "MUST", BOTH, NEW,
     "The retry with the requested input carries the id of the first request.",
     "basic/patterns/mrtr: Client Requirements"),
    ("retry-without-state", "multi round-trip", "MUST", BOTH, NEW,
     "The retry leaves out the request state that the server gave.",
     "basic/patterns/mrtr: Client Requirements"),
    ("retry-state-trimmed", "multi round-trip", "MUST", BOTH, NEW,
     "The request state is sent back without its surrounding spaces and padding signs.",
     "basic/patterns/mrtr: Client Requirements"),
    ("retry-state-invented", "multi round-trip", "MUST", BOTH, NEW,
     "The retry carries an empty request state although the server gave none.",
     "basic/patterns/mrtr: Client Requirements"),
    ("retry-answers-first-only", "multi round-trip", "MUST", BOTH, NEW,
     "Of several requested inputs the retry carries only the first.",
     "basic/patterns/mrtr: Client Requirements"),
    ("retry-arguments-dropped", "multi round-trip", "MUST", BOTH, NEW,
     "The retry of a tool call carries the input but not the original arguments.",
     "basic/patterns/mrtr: Basic Workflow; Multi Round-Trip Requests"),
    ("retry-state-used-elsewhere", "multi round-trip", "MUST", BOTH, NEW,
     "The request state of a tool call is also put on later prompt requests.",
     "basic/patterns/mrtr: Client Requirements"),
    ("input-wrapped-in-result", "multi round-trip", "MUST", BOTH, NEW,
     "Each input response is wrapped in an object with a result member.",
     "basic/patterns/mrtr: InputResponses"),
    ("input-sent-as-response", "multi round-trip", "MUST", BOTH, NEW,
     "Requested input is sent as JSON-RPC responses besides the retry.",
     "basic/transports/streamable-http: Sending Messages; basic/transports/stdio: Sending Messages"),
    ("unknown-result-type-accepted", "base protocol", "MUST", BOTH, NEW,
     "A result with an unknown type is used as if it were complete.",
     "basic/index: ResultType"),
    ("absent-result-type-rejected", "base protocol", "MUST", BOTH, NEW,
     "A result without a result type is rejected.",
     "basic/index: ResultType"),
    # subscriptions, caching
    ("listen-filter-is-list", "subscriptions", "MUST", BOTH, NEW,
     "The filter of subscriptions/listen is a list of names instead of an object.",
     "basic/patterns/subscriptions: Notification Filter"),
    ("listen-resource-is-text", "subscriptions", "MUST", BOTH, NEW,
     "The resources of the subscription filter are a single string instead of a list.",
     "basic/patterns/subscriptions: Notification Filter"),
    ("subscribe-request-of-older-era", "subscriptions", "MUST", BOTH, NEW,
     "The client watches resources with the removed resources/subscribe request.",
     "server/resources: Subscriptions; changelog"),
    ("cache-forgets-cursor", "caching", "MUST", BOTH, NEW,
     "The cached first page of a list is used for its further pages too.",
     "server/utilities/caching: Cache Key"),
    ("cache-forgets-uri", "caching", "MUST", BOTH, NEW,
     "The cached content of one resource is used for every other resource.",
     "server/utilities/caching: Cache Key"),
    ("cache-keeps-retried-result", "caching", "MUST", BOTH, NEW,
     "A result that needed input from the client is cached and used again.",
     "server/utilities/caching: Cache Key"),
    ("cache-negative-time-is-forever", "caching", "SHOULD", BOTH, NEW,
     "A negative lifetime makes the client keep the answer for good.",
     "server/utilities/caching: Time-to-Live (TTL) Field"),
    # authorization
    ("auth-metadata-address-ignored", "authorization", "MUST", HTTP, ALL,
     "The metadata address in the 401 answer is ignored and a guessed one is used.",
     "basic/authorization (2026-07-28: basic/authorization/authorization-server-discovery): Protected Resource Metadata Discovery Requirements"),
    ("auth-root-before-path", "authorization", "MUST", HTTP, NOV_NEW,
     "Without an address in the 401 answer the client asks at the root first and at the path of the endpoint later.",
     "basic/authorization (2026-07-28: basic/authorization/authorization-server-discovery): Protected Resource Metadata Discovery Requirements"),
    ("auth-only-one-metadata-kind", "authorization", "MUST", HTTP, NOV_NEW,
     "The client looks for OAuth server metadata only and never tries the OpenID address.",
     "basic/authorization (2026-07-28: basic/authorization/authorization-server-discovery): Authorization Server Metadata Discovery"),
    ("auth-issuer-path-lost", "authorization", "MUST", HTTP, NOV_NEW,
     "For an issuer with a path the client asks at addresses without that path.",
     "basic/authorization (2026-07-28: basic/authorization/authorization-server-discovery): Authorization Server Metadata Discovery"),
    ("auth-made-up-token", "authorization", "MUST", HTTP, ALL,
     "The client sends a bearer token that no authorization server issued to it.",
     "basic/authorization: Token Handling"),
]

FAULT = None


def fault(name):
    """True if this deliberate mistake is switched on."""
    return FAULT == name


def list_faults():
    for name, area, level, transports, revisions, what, page in FAULTS:
        print(json.dumps({"name": name, "area": area, "level": level, "transports": transports,
                          "revisions": revisions, "what": what, "page": page}))


START = time.monotonic()


def log(text):
    print(f"[{time.monotonic() - START:6.2f}] {text}", file=sys.stderr, flush=True)


def time_left():
    return START + RUN_LIMIT - time.monotonic()


class ClientError(Exception):
    """Anything that makes one request fail."""


class RpcError(ClientError):
    def __init__(self, code, message, data=None):
        super().__init__(f"error {code}: {message}")
        self.code, self.message, self.data = code, message, data


class HttpFailure(ClientError):
    def __init__(self, status):
        super().__init__(f"HTTP status {status}")
        self.status = status


class Malformed(ClientError):
    """The peer sent something that breaks the protocol."""


class RequestTimeout(ClientError):
    pass


class StreamBroken(ClientError):
    """The connection ended before the answer came."""


class SessionLost(ClientError):
    pass


class AuthorizationNeeded(ClientError):
    def __init__(self, challenge):
        super().__init__("the server asks for authorization")
        self.challenge = challenge


class GiveUp(Exception):
    """The run cannot go on."""


# ---------------------------------------------------------------- schemas

DIALECTS = ("https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema",
            "http://json-schema.org/draft-07/schema")
FORMATS = {"email": "user@example.com", "uri": "https://example.com/", "date": "2025-01-15",
           "date-time": "2025-01-15T12:00:00Z", "time": "12:00:00Z", "hostname": "example.com",
           "ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "uuid": "123e4567-e89b-42d3-a456-426614174000",
           "uri-reference": "/sample", "duration": "P1D", "regex": "a"}


class SchemaProblem(Exception):
    pass


def check_dialect(schema):
    dialect = schema.get("$schema")
    if dialect is not None and (not isinstance(dialect, str) or dialect.rstrip("#") not in DIALECTS):
        raise SchemaProblem(f"the schema dialect {dialect!r} is not supported")


def follow(schema, root, depth):
    """Replace a local reference by its target. Network references are refused."""
    if depth > 40:
        raise SchemaProblem("the schema is too deep")
    if not isinstance(schema, dict) or "$ref" not in schema:
        return schema
    reference = schema["$ref"]
    if not isinstance(reference, str) or not reference.startswith("#"):
        raise SchemaProblem(f"the reference {reference!r} is not local")
    target = root
    for part in urllib.parse.unquote(reference[1:]).split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(target, dict) and part in target:
            target = target[part]
        elif isinstance(target, list) and part.isdigit() and int(part) < len(target):
            target = target[int(part)]
        else:
            raise SchemaProblem(f"the reference {reference!r} leads nowhere")
    if isinstance(target, dict):
        target = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    return follow(target, root, depth + 1)


def references(schema, found=None):
    """All references in a schema, wherever they stand."""
    found = [] if found is None else found
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "$ref" and isinstance(value, str):
                found.append(value)
            elif key not in ("const", "enum", "default", "examples"):
                references(value, found)
    elif isinstance(schema, list):
        for value in schema:
            references(value, found)
    return found


def type_matches(value, name):
    if name == "null":
        return value is None
    if name == "boolean":
        return isinstance(value, bool)
    if name == "integer":
        return not isinstance(value, bool) and (isinstance(value, int) or isinstance(value, float) and value.is_integer())
    if name == "number":
        return not isinstance(value, bool) and isinstance(value, (int, float))
    return isinstance(value, {"string": str, "array": list, "object": dict}.get(name, ()))


def same(a, b):
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def valid(value, schema, root, depth=0):
    """Check a value against the keywords that matter for arguments and forms."""
    schema = follow(schema, root, depth)
    if schema is True or schema is False:
        return schema
    if not isinstance(schema, dict):
        raise SchemaProblem("a schema must be an object or a boolean")
    kinds = schema.get("type")
    if kinds is not None and not any(type_matches(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)):
        return False
    if "enum" in schema and not any(same(value, option) for option in schema["enum"]):
        return False
    if "const" in schema and not same(value, schema["const"]):
        return False
    if isinstance(value, str):
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", 1 << 60):
            return False
        if "pattern" in schema and not re.search(schema["pattern"], value):
            return False
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        if "minimum" in schema and value < schema["minimum"] or "maximum" in schema and value > schema["maximum"]:
            return False
        if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
            return False
        if "exclusiveMaximum" in schema and value >= schema["exclusiveMaximum"]:
            return False
        if schema.get("multipleOf") and abs(value / schema["multipleOf"] - round(value / schema["multipleOf"])) > 1e-9:
            return False
    elif isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 1 << 60):
            return False
        if schema.get("uniqueItems") and len({json.dumps(item, sort_keys=True) for item in value}) < len(value):
            return False
        first = schema.get("prefixItems", [])
        for index, item in enumerate(value):
            part = first[index] if index < len(first) else schema.get("items", True)
            if not valid(item, part, root, depth + 1):
                return False
    elif isinstance(value, dict):
        properties = schema.get("properties", {})
        if any(name not in value for name in schema.get("required", [])):
            return False
        for name, item in value.items():
            if name in properties:
                part = properties[name]
            elif any(re.search(pattern, name) for pattern in schema.get("patternProperties", {})):
                continue
            else:
                part = schema.get("additionalProperties", True)
            if not valid(item, part, root, depth + 1):
                return False
    if not all(valid(value, part, root, depth + 1) for part in schema.get("allOf", [])):
        return False
    if "anyOf" in schema and not any(valid(value, part, root, depth + 1) for part in schema["anyOf"]):
        return False
    if "oneOf" in schema and sum(valid(value, part, root, depth + 1) for part in schema["oneOf"]) != 1:
        return False
    return not ("not" in schema and valid(value, schema["not"], root, depth + 1))


def text_for_pattern(pattern):
    """Make a text for a simple regular expression."""
    def build(parts):
        text = ""
        for kind, detail in parts:
            kind = str(kind)
            if kind == "LITERAL":
                text += chr(detail)
            elif kind in ("MAX_REPEAT", "MIN_REPEAT"):
                text += build(detail[2]) * max(detail[0], min(1, detail[1]))
            elif kind == "SUBPATTERN":
                text += build(detail[3])
            elif kind == "BRANCH":
                text += build(detail[1][0])
            elif kind == "IN":
                inner, choice = str(detail[0][0]), detail[0][1]
                if inner == "RANGE":
                    text += chr(choice[0])
                elif inner == "LITERAL":
                    text += chr(choice)
                elif inner == "CATEGORY":
                    text += {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " "}.get(str(choice), "a")
                else:
                    text += next(sign for sign in "a0-_ ." if re.fullmatch(pattern_of(detail), sign))
            elif kind in ("ANY", "NOT_LITERAL"):
                text += "a"
            elif kind != "AT":
                raise SchemaProblem(f"cannot make a text for {pattern!r}")
        return text

    def pattern_of(detail):
        return r"[^\s/]"
    try:
        return build(re._parser.parse(pattern))
    except (re.error, StopIteration, AttributeError) as problem:
        raise SchemaProblem(f"cannot make a text for {pattern!r}") from problem


def sample(schema, root, depth=0):
    """Make a value that fits a schema."""
    if depth > 12:
        raise SchemaProblem("the schema is too deep")
    schema = follow(schema, root, depth)
    if schema is True or schema == {}:
        return "sample"
    if not isinstance(schema, dict):
        raise SchemaProblem("no value fits this schema")
    ready = []
    for key in ("const", "default"):
        if key in schema:
            ready.append(schema[key])
    for key in ("examples", "enum"):
        if isinstance(schema.get(key), list):
            ready.extend(schema[key])
    for value in ready:
        if valid(value, schema, root, depth):
            return value
    for key in ("oneOf", "anyOf"):
        if isinstance(schema.get(key), list):
            rest = {name: value for name, value in schema.items() if name != key}
            for option in schema[key]:
                try:
                    option = follow(option, root, depth)
                    if isinstance(option, dict):
                        value = sample({**rest, **option}, root, depth + 1)
                        if valid(value, schema, root, depth):
                            return value
                except SchemaProblem:
                    continue
            raise SchemaProblem(f"no value fits {key}")
    if isinstance(schema.get("allOf"), list):
        merged = {name: value for name, value in schema.items() if name != "allOf"}
        for option in schema["allOf"]:
            option = follow(option, root, depth)
            if isinstance(option, dict):
                properties = {**merged.get("properties", {}), **option.get("properties", {})}
                required = merged.get("required", []) + option.get("required", [])
                merged = {**merged, **option, "properties": properties, "required": required}
        return sample(merged, root, depth + 1)
    kinds = schema.get("type")
    kind = kinds[0] if isinstance(kinds, list) and kinds else kinds
    if kind is None:
        kind = "object" if "properties" in schema else "array" if "items" in schema else \
            "number" if "minimum" in schema else "string"
    if kind == "string":
        if "pattern" in schema:
            value = text_for_pattern(schema["pattern"])
        else:
            value = FORMATS.get(schema.get("format"), "sample")
        value += "x" * (schema.get("minLength", 0) - len(value))
        value = value[:schema.get("maxLength", len(value))]
    elif kind in ("integer", "number"):
        value = number_for(schema, kind)
    elif kind == "boolean":
        value = True
    elif kind == "null":
        value = None
    elif kind == "array":
        wanted = max(schema.get("minItems", 0), min(1, schema.get("maxItems", 1)))
        first = schema.get("prefixItems", [])
        value = [sample(first[i] if i < len(first) else schema.get("items", True), root, depth + 1)
                 for i in range(max(wanted, 0) if not first else max(wanted, len(first)))]
        if schema.get("uniqueItems") or not valid(value, schema, root, depth):
            options = follow(schema.get("items", {}), root, depth)
            if isinstance(options, dict):
                choices = options.get("enum") or [o.get("const") for o in options.get("anyOf", options.get("oneOf", []))]
                value = choices[:wanted] or value
    elif kind == "object":
        value = {}
        for name, part in schema.get("properties", {}).items():
            full = follow(part, root, depth)
            given = isinstance(full, dict) and any(key in full for key in ("default", "const", "enum", "examples"))
            if name in schema.get("required", []) or given:
                value[name] = sample(part, root, depth + 1)
            elif isinstance(full, dict) and full.get("type") == "object":
                inner = sample(part, root, depth + 1)
                if inner:
                    value[name] = inner
        for name in schema.get("required", []):
            value.setdefault(name, "sample")
    else:
        raise SchemaProblem(f"unknown type {kind!r}")
    if not valid(value, schema, root, depth):
        raise SchemaProblem("could not make a fitting value")
    return value


def number_for(schema, kind):
    low, high = schema.get("minimum"), schema.get("maximum")
    over, under = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    step = schema.get("multipleOf", 1)
    candidates = [7, 1, 0, -1]
    for bound in (low, high, over, under):
        if bound is not None:
            near = int(bound)
            candidates += [near, near + 1, near - 1, -(-near // 1)]
            if step:
                candidates += [(int(bound // step) + 1) * step, int(bound // step) * step]
    candidates += [step, 2 * step]
    bounds = [b for b in (low, over, high, under) if b is not None]
    if kind == "number":
        candidates += bounds
        if len(bounds) > 1:
            candidates.append((bounds[0] + bounds[-1]) / 2)
    for value in candidates:
        if valid(value, {**schema, "type": kind}, schema):
            return int(value) if float(value).is_integer() else value
    raise SchemaProblem("no number fits")


def form_content(schema):
    """Fill in a form for elicitation, or None if the form is not a plain one."""
    if not isinstance(schema, dict) or schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        return None
    content = {}
    try:
        for name, part in schema["properties"].items():
            if not isinstance(part, dict) or part.get("type") not in ("string", "number", "integer", "boolean", "array"):
                return None
            if part["type"] == "array":
                items = part.get("items")
                if not isinstance(items, dict) or not (items.get("enum") or items.get("anyOf")):
                    return None
            content[name] = sample(part, schema)
            if fault("elicit-choice-title-sent") and part.get("oneOf"):
                content[name] = next((o.get("title") for o in part["oneOf"] if o.get("const") == content[name]), content[name])
            if fault("elicit-integer-as-string") and part["type"] == "integer":
                content[name] = str(content[name])
        if FAULT not in ("elicit-choice-title-sent", "elicit-integer-as-string") and not valid(content, schema, schema):
            return None
    except (SchemaProblem, TypeError, ValueError, re.error, AttributeError):
        return None
    return content


# -------------------------------------------------- headers from parameters

TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
SCHEMA_MAPS = ("patternProperties", "dependentSchemas", "$defs", "definitions")
SCHEMA_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
SCHEMA_PARTS = ("items", "not", "if", "then", "else", "additionalProperties", "contains", "propertyNames",
                "unevaluatedItems", "unevaluatedProperties", "additionalItems")


def header_parameters(schema):
    """Find the annotated parameters: a list of (path, header name).
    Raises SchemaProblem if an annotation breaks the rules."""
    found = []

    def visit(part, path, reachable, depth):
        if depth > 40:
            raise SchemaProblem("the schema is too deep")
        if not isinstance(part, dict):
            return
        if "x-mcp-header" in part:
            name = part["x-mcp-header"]
            kinds = part.get("type")
            kinds = kinds if isinstance(kinds, list) else [kinds]
            if not isinstance(name, str) or not TOKEN.fullmatch(name):
                raise SchemaProblem(f"header name {name!r} is not allowed")
            if not reachable or not path:
                raise SchemaProblem(f"header {name} is not on a plain parameter")
            if any(kind not in ("string", "integer", "boolean", "null") for kind in kinds) or kinds in ([], ["null"]):
                raise SchemaProblem(f"header {name} is on a parameter of type {kinds}")
            found.append((path, name))
        if isinstance(part.get("properties"), dict):
            for name, inner in part["properties"].items():
                visit(inner, path + [name], reachable, depth + 1)
        for key in SCHEMA_MAPS:
            if isinstance(part.get(key), dict):
                for inner in part[key].values():
                    visit(inner, path, False, depth + 1)
        for key in SCHEMA_LISTS:
            if isinstance(part.get(key), list):
                for inner in part[key]:
                    visit(inner, path, False, depth + 1)
        for key in SCHEMA_PARTS:
            for inner in part[key] if isinstance(part.get(key), list) else [part.get(key)]:
                visit(inner, path, False, depth + 1)

    visit(schema, [], True, 0)
    names = [name if fault("http-duplicate-annotation-by-case-accepted") else name.lower() for _, name in found]
    if len(set(names)) < len(names):
        raise SchemaProblem("two parameters use the same header")
    return found


def encode_header(text, kind="param"):
    """Plain text if it is safe in a header, Base64 with markers otherwise."""
    plain = text == "" or re.fullmatch(r"[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?", text) is not None
    if text.startswith("=?base64?") and text.endswith("?=") and not fault("http-param-lookalike-not-encoded"):
        plain = False
    if plain:
        return text
    if kind == "name" and fault("http-name-header-raw-unicode") and not re.search(r"[\r\n]", text):
        return text.encode("utf-8")
    if kind == "param" and fault("http-param-percent-encoded"):
        return urllib.parse.quote(text)
    marker = "=?BASE64?" if kind == "param" and fault("http-param-marker-upper-case") else "=?base64?"
    return marker + base64.b64encode(text.encode("utf-8")).decode("ascii") + "?="


def parameter_headers(schema, arguments):
    headers = {}
    if fault("http-param-headers-missing"):
        return headers
    try:
        annotated = header_parameters(schema)
    except SchemaProblem:
        return headers
    for path, name in annotated:
        if fault("http-param-nested-missing") and len(path) > 1:
            continue
        value, present = arguments, True
        for step in path:
            if isinstance(value, dict) and step in value:
                value = value[step]
            else:
                present = False
        if not present or isinstance(value, (dict, list)):
            continue
        if value is None:
            if fault("http-param-null-sent"):
                headers["Mcp-Param-" + name] = "null"
            continue
        if isinstance(value, bool):
            text = str(value) if fault("http-param-boolean-capitalised") else str(value).lower()
        elif isinstance(value, float) and value.is_integer():
            text = str(int(value))
        else:
            text = str(value)
        headers["Mcp-Param-" + name] = encode_header(text)
    return headers


# ------------------------------------------------------------ plain HTTP

def is_local(host):
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def connect(parts, timeout):
    if parts.scheme == "https":
        connection = http.client.HTTPSConnection(parts.hostname, parts.port, timeout=timeout,
                                                 context=ssl.create_default_context())
    else:
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
    connection.connect()
    return connection


def fetch_json(url):
    """GET a JSON document. Plain http is used for the local machine only.
    Returns None if there is no such document."""
    try:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return None
        if parts.scheme == "http" and not is_local(parts.hostname):
            return None
        connection = connect(parts, 3)
        try:
            path = (parts.path or "/") + ("?" + parts.query if parts.query else "")
            connection.request("GET", path, headers={"Accept": "application/json"})
            response = connection.getresponse()
            body = response.read(1024 * 1024)
        finally:
            connection.close()
        return json.loads(body) if response.status == 200 else None
    except (OSError, http.client.HTTPException, ValueError) as problem:
        log(f"could not read {url}: {problem}")
        return None


# --------------------------------------------------------- authorization

def parse_challenge(header):
    """The parameters of a Bearer challenge."""
    match = re.search(r"(?i)\bbearer\b(.*)", header or "", re.S)
    if not match:
        return {}
    return {name.lower(): quoted.replace('\\"', '"') if quoted or not plain else plain
            for name, quoted, plain in re.findall(r'([A-Za-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))', match.group(1))}


def discover_authorization(url, challenge):
    """Read the metadata for authorization and say what would be needed.
    This host cannot open a browser, so it always ends with a message."""
    parts = urllib.parse.urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    path = parts.path.rstrip("/")
    given = parse_challenge(challenge)
    places = [origin + "/.well-known/oauth-protected-resource" + path] if path else []
    places.append(origin + "/.well-known/oauth-protected-resource")
    if fault("auth-root-before-path"):
        places.reverse()
    if given.get("resource_metadata") and not fault("auth-metadata-address-ignored"):
        places = [given["resource_metadata"]]
    resource = None
    for place in places:
        document = fetch_json(place)
        if isinstance(document, dict) and document.get("authorization_servers"):
            resource = document
            break
    if resource is None:
        return "authorization is needed, but the server publishes no metadata about it"
    named = str(resource.get("resource", "")).rstrip("/")
    if named not in (url.rstrip("/"), origin):
        return f"authorization is needed, but the metadata is for another resource ({named})"
    servers = resource["authorization_servers"]
    issuer = servers[0] if isinstance(servers, list) and servers else None
    if not isinstance(issuer, str):
        return "authorization is needed, but the metadata names no authorization server"
    where = urllib.parse.urlsplit(issuer)
    base = f"{where.scheme}://{where.netloc}"
    tail = where.path.rstrip("/")
    if fault("auth-issuer-path-lost"):
        tail = ""
    places = [base + "/.well-known/oauth-authorization-server" + tail,
              base + "/.well-known/openid-configuration" + tail]
    if tail:
        places.append(base + tail + "/.well-known/openid-configuration")
    if fault("auth-only-one-metadata-kind"):
        places = places[:1]
    for place in places:
        document = fetch_json(place)
        if not isinstance(document, dict):
            continue
        if document.get("issuer") != issuer:
            log(f"{place} is for another issuer and is not used")
            continue
        if "S256" not in (document.get("code_challenge_methods_supported") or []):
            return f"authorization is needed, but {issuer} does not support PKCE with S256"
        scope = given.get("scope") or " ".join(resource.get("scopes_supported") or []) or "none"
        return f"authorization by {issuer} is needed (scope: {scope}); this host cannot do that"
    return f"authorization is needed, but {issuer} publishes no usable metadata"


# ---------------------------------------------------------- event streams

class EventReader:
    """Reads server-sent events from a response."""

    def __init__(self):
        self.last_id = None
        self.first_id = None
        self.retry = 1.0

    def read(self, response, on_data):
        """Read until the stream ends. on_data returns True to stop early."""
        pending = b""
        skip_line_feed = False
        first = True
        event, data, event_id = "", [], None
        while True:
            chunk = response.read1(65536)
            if not chunk:
                return
            if skip_line_feed and chunk.startswith(b"\n"):
                chunk = chunk[1:]
            skip_line_feed = chunk.endswith(b"\r")
            pending += chunk
            if len(pending) > MAX_BODY:
                raise ValueError("event too large")
            lines = re.split(rb"\r\n|\n|\r", pending)
            pending = lines.pop()
            for raw in lines:
                line = raw.decode("utf-8", "replace")
                if first:
                    line, first = line.removeprefix("\ufeff"), False
                if line == "":
                    if event_id is not None:
                        self.last_id = event_id
                        self.first_id = self.first_id or event_id
                    text = "\n".join(data)
                    stop = bool(text) and event in ("", "message") and on_data(text)
                    event, data = "", []
                    if stop:
                        return
                    continue
                if line.startswith(":"):
                    if fault("http-comment-line-breaks-stream"):
                        raise ValueError("not an event: " + line)
                    continue
                name, _, value = line.partition(":")
                value = value.removeprefix(" ")
                if name == "data":
                    data.append(value)
                elif name == "event":
                    event = value
                elif name == "id" and "\0" not in value:
                    event_id = value
                elif name == "retry" and re.fullmatch(r"[0-9]+", value):
                    self.retry = int(value) / 1000


class Pending:
    """A request that waits for its answer."""

    def __init__(self, request_id, method):
        self.id = request_id
        self.method = method
        self.done = threading.Event()
        self.message = None
        self.failure = None
        self.connection = None
        self.socket = None
        self.given_up = False

    def finish(self, message=None, failure=None):
        if not self.done.is_set():
            self.message, self.failure = message, failure
            self.done.set()

    def hang_up(self):
        self.given_up = True
        if self.socket is not None:
            try:
                self.socket.shutdown(2)
            except OSError:
                pass


NETWORK_TROUBLE = (OSError, http.client.HTTPException, ValueError)


class HttpTransport:
    kind = "http"

    def __init__(self, url):
        self.url = url
        self.parts = urllib.parse.urlsplit(url)
        if self.parts.scheme not in ("http", "https") or not self.parts.hostname:
            raise GiveUp(f"{url!r} is not an HTTP address")
        self.path = (self.parts.path or "/") + ("?" + self.parts.query if self.parts.query else "")
        self.client = None
        self.session_id = None
        self.version = None          # negotiated version, older era
        self.asked_version = None
        self.resumable = False
        self.closing = False

    def start(self):
        pass

    def encode(self, message):
        text = json.dumps(message, ensure_ascii=False)
        return text.encode("latin-1", "replace") if fault("text-not-utf8") else text.encode("utf-8")

    def headers(self, method, extra=None, reply=False):
        headers = {"User-Agent": "cafe-agent-host/1.0.0"}
        if method == "POST":
            headers["Content-Type"] = "application/json"
            headers["Accept"] = "application/json" if fault("http-accept-json-only") else "application/json, text/event-stream"
        elif method == "GET":
            headers["Accept"] = "*/*" if fault("http-get-without-accept") else "text/event-stream"
        if fault("auth-made-up-token"):
            headers["Authorization"] = "Bearer undefined"
        if self.version and not fault("http-version-header-missing"):
            headers["MCP-Protocol-Version"] = self.version
            if fault("http-version-header-not-negotiated"):
                headers["MCP-Protocol-Version"] = self.asked_version
            if method == "GET" and fault("http-version-header-missing-on-get"):
                del headers["MCP-Protocol-Version"]
        if self.session_id is not None:
            headers["MCP-Session-Id"] = self.session_id
            if fault("http-session-id-lower-cased"):
                headers["MCP-Session-Id"] = self.session_id.lower()
            if reply and fault("http-session-missing-on-notifications"):
                del headers["MCP-Session-Id"]
            if method == "GET" and fault("http-session-missing-on-get"):
                del headers["MCP-Session-Id"]
        headers.update(extra or {})
        return headers

    def open(self, method, headers, body=None, pending=None, timeout=HARD_LIMIT):
        connection = connect(self.parts, timeout)
        if pending is not None:
            pending.connection, pending.socket = connection, connection.sock
            if pending.given_up:
                connection.close()
                raise OSError("given up")
        connection.request(method, self.path, body, headers)
        return connection, connection.getresponse()

    @staticmethod
    def media_type(response):
        return (response.getheader("Content-Type") or "").split(";")[0].strip().lower()

    def send_request(self, message, pending, extra=None):
        threading.Thread(target=self.exchange, args=(message, pending, extra), daemon=True).start()

    def exchange(self, message, pending, extra):
        """One request and everything that comes back for it."""
        reader = EventReader()
        connection = None
        had_session = self.session_id is not None and message.get("method") != "initialize"
        try:
            headers = self.headers("POST", extra)
            if message.get("method") == "initialize":
                for name in ("MCP-Session-Id", "MCP-Protocol-Version"):
                    if not (name == "MCP-Session-Id" and fault("http-new-session-carries-old-id")):
                        headers.pop(name, None)
            connection, response = self.open("POST", headers, self.encode(message), pending)
            if message.get("method") == "initialize" and response.status == 200:
                self.session_id = response.getheader("MCP-Session-Id")
            if response.status == 401:
                pending.finish(failure=AuthorizationNeeded(response.getheader("WWW-Authenticate")))
            elif response.status == 404 and had_session and self.resumable:
                pending.finish(failure=SessionLost("the session has ended"))
            elif response.status >= 300 or response.status == 202:
                self.failed_answer(response, pending)
            elif self.media_type(response) == "application/json":
                text = response.read(MAX_BODY)
                if pending.method == "tools/call" and fault("http-json-answer-unsupported"):
                    raise GiveUp("cannot read this answer")
                self.client.receive(text, "post", pending)
            elif self.media_type(response) == "text/event-stream":
                if pending.method.endswith("/list") and fault("http-event-stream-unsupported"):
                    raise ValueError("unexpected content type")
                reader.read(response, lambda text: self.on_event(text, pending))
                self.read_rest(response, pending)
            else:
                raise ValueError("unexpected content type")
        except GiveUp as problem:
            self.client.fatal = str(problem)
            pending.finish(failure=StreamBroken(str(problem)))
        except NETWORK_TROUBLE as problem:
            if not pending.given_up and not pending.done.is_set():
                log(f"{pending.method}: {problem}")
        finally:
            if connection is not None:
                connection.close()
        if self.resumable and message.get("method") != "initialize":
            self.resume(reader, pending)
        if not pending.done.is_set() and not pending.given_up and fault("http-broken-stream-resumed-by-get") \
                and not self.resumable and pending.connection is not None:
            self.try_old_resume(reader, extra)
        pending.finish(failure=StreamBroken("the connection ended before the answer came"))

    def try_old_resume(self, reader, extra):
        try:
            headers = self.headers("GET", {"MCP-Protocol-Version": MODERN, "Last-Event-ID": reader.last_id or "0"})
            connection, response = self.open("GET", headers, timeout=2)
            response.read(1000)
            connection.close()
        except NETWORK_TROUBLE:
            pass

    @staticmethod
    def read_rest(response, pending):
        """After the answer, give the server a moment to end the stream itself."""
        if pending.done.is_set() and not pending.given_up and pending.socket is not None:
            pending.socket.settimeout(0.3)
            try:
                while response.read1(65536):
                    pass
            except NETWORK_TROUBLE:
                pass

    def on_event(self, text, pending):
        self.client.receive(text, "post", pending)
        return pending.done.is_set()

    def failed_answer(self, response, pending):
        """A status that is no success: use the error in the body if there is one."""
        try:
            body = json.loads(response.read(MAX_BODY))
            error = body["error"]
            if body.get("id") in (None, pending.id) and isinstance(error["code"], int):
                pending.finish(failure=RpcError(error["code"], str(error.get("message")), error.get("data")))
                return
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
        pending.finish(failure=HttpFailure(response.status))

    def resume(self, reader, pending):
        """Fetch the rest of a broken stream, as the older revisions allow."""
        tries = 0
        while not pending.done.is_set() and not pending.given_up and not self.closing and reader.last_id and tries < 5:
            tries += 1
            if not fault("http-retry-time-ignored"):
                pending.done.wait(reader.retry)
            if pending.done.is_set() or pending.given_up or self.closing:
                return
            connection = None
            try:
                extra = {"Last-Event-ID": reader.last_id}
                if fault("http-resume-from-first-event"):
                    extra = {"Last-Event-ID": reader.first_id}
                if fault("http-resume-without-last-event-id"):
                    extra = {}
                connection, response = self.open("GET", self.headers("GET", extra), None, pending)
                if response.status != 200 or self.media_type(response) != "text/event-stream":
                    return
                reader.read(response, lambda text: self.on_event(text, pending))
            except NETWORK_TROUBLE as problem:
                log(f"resuming: {problem}")
            finally:
                if connection is not None:
                    connection.close()

    def send_plain(self, message):
        """Send a notification or an answer. Returns the HTTP status."""
        connection = None
        try:
            connection, response = self.open("POST", self.headers("POST", reply=True), self.encode(message), timeout=4)
            response.read(1000)
            if response.status >= 400:
                log(f"the server refused a message with status {response.status}")
            return response.status
        except NETWORK_TROUBLE as problem:
            log(f"sending failed: {problem}")
            return 0
        finally:
            if connection is not None:
                connection.close()

    def listen(self, generation):
        """Keep the GET stream of the older revisions open."""
        reader = EventReader()
        tries = 0
        while not self.closing and self.client.generation == generation and tries < 6:
            tries += 1
            connection = None
            stream = Pending(None, "GET")
            self.client.get_stream = stream
            try:
                extra = {"Last-Event-ID": reader.last_id} if reader.last_id else {}
                if fault("http-resume-from-first-event") and extra:
                    extra = {"Last-Event-ID": reader.first_id}
                if fault("http-resume-without-last-event-id"):
                    extra = {}
                connection, response = self.open("GET", self.headers("GET", extra), None, stream)
                if response.status == 404 and self.session_id is not None:
                    self.client.session_lost(generation)
                    return
                if response.status != 200 or self.media_type(response) != "text/event-stream":
                    log(f"no listening stream (status {response.status})")
                    return
                reader.read(response, lambda text: self.client.receive(text, "get", None))
            except NETWORK_TROUBLE as problem:
                if not self.closing:
                    log(f"listening stream: {problem}")
            finally:
                if connection is not None:
                    connection.close()
            waited = 0.0 if fault("http-retry-time-ignored") else reader.retry
            while waited > 0 and not self.closing:
                time.sleep(min(0.05, waited))
                waited -= 0.05

    def close(self):
        self.closing = True
        if self.session_id is not None and self.resumable and not fault("http-session-not-deleted"):
            try:
                connection, response = self.open("DELETE", self.headers("DELETE"), timeout=2)
                response.read(1000)
                connection.close()
            except NETWORK_TROUBLE as problem:
                log(f"ending the session: {problem}")


class StdioTransport:
    kind = "stdio"

    def __init__(self, command):
        self.command = command
        self.client = None
        self.process = None
        self.lock = threading.Lock()
        self.restart_lock = threading.Lock()
        self.restarts = 0
        self.alive = False
        self.closing = False
        self.greeted = False

    def start(self):
        try:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as problem:
            raise GiveUp(f"the server could not be started: {problem}") from problem
        self.alive = True
        threading.Thread(target=self.read_lines, args=(self.process,), daemon=True).start()
        if fault("stdio-greeting-line"):
            self.write(b"cafe-agent-host ready\n")

    def read_lines(self, process):
        for line in process.stdout:
            if line.strip():
                self.client.receive(line, "stdio", None)
        if process is self.process:
            self.alive = False
            self.client.fail_all(StreamBroken("the server closed its output"))

    def restart(self):
        """Start the server again after it ended by itself."""
        with self.restart_lock:
            if self.alive:
                return True
            if self.closing or self.restarts >= 2:
                return False
            self.restarts += 1
            log("the server ended; starting it again")
            self.stop_process(self.process, 0.5)
            self.start()
            return True

    def write(self, data):
        with self.lock:
            try:
                self.process.stdin.write(data)
                self.process.stdin.flush()
                return True
            except (OSError, ValueError):
                return False

    def encode(self, message):
        indent = None
        if fault("stdio-pretty-printed-calls") and isinstance(message, dict) and message.get("method") == "tools/call":
            indent = 2
        text = json.dumps(message, ensure_ascii=False, indent=indent)
        data = text.encode("latin-1", "replace") if fault("text-not-utf8") else text.encode("utf-8")
        if isinstance(message, dict):
            if fault("stdio-length-header") and message.get("method") == "prompts/list":
                data = b"Content-Length: %d\r\n\r\n" % len(data) + data
            if fault("stdio-two-messages-on-one-line") and message.get("method") == "notifications/initialized":
                return data
        return data + b"\n"

    def send_request(self, message, pending, extra=None):
        if not self.alive or not self.write(self.encode(message)):
            pending.finish(failure=StreamBroken("the server does not read its input"))

    def send_plain(self, message):
        return 202 if self.alive and self.write(self.encode(message)) else 0

    @staticmethod
    def stop_process(process, patience):
        try:
            process.stdin.close()
        except OSError:
            pass
        for action in (None, process.terminate, process.kill):
            if action is not None:
                action()
            try:
                process.wait(patience)
                return
            except subprocess.TimeoutExpired:
                continue

    def close(self):
        self.closing = True
        if fault("stdio-terminate-before-close"):
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(1)
            except subprocess.TimeoutExpired:
                pass
        self.stop_process(self.process, 2)


# ---------------------------------------------------------------- client

def id_key(value):
    """Ids are compared with their type: 1, "1" and true are different."""
    return (type(value).__name__, value)


def good_id(value):
    return isinstance(value, (str, int)) and not isinstance(value, bool)


class Client:
    """The protocol side: requests, answers, notifications, both eras."""

    def __init__(self, transport, newest):
        self.transport = transport
        transport.client = self
        self.newest = newest
        self.modern = False
        self.version = None
        self.capabilities = {}
        self.counter = 0
        self.lock = threading.Lock()
        self.pending = []
        self.local = threading.local()
        self.running_calls = 0
        self.generation = 0
        self.renewals = 0
        self.session_lock = threading.Lock()
        self.get_stream = None
        self.closing = False
        self.fatal = None
        self.cancelled_by_server = set()
        self.subscriptions = {}
        self.cache = {}
        self.stale = set()
        self.leaked_state = None
        self.last_activity = time.monotonic()

    # ---- sending

    def next_id(self):
        with self.lock:
            self.counter += 1
            return self.counter

    def client_capabilities(self):
        capabilities = {"roots": {}, "sampling": {}, "elicitation": {"form": {}}}
        if not self.modern and self.newest == "2025-06-18":
            capabilities["elicitation"] = {}
        if fault("sampling-answered-but-not-declared"):
            del capabilities["sampling"]
        return capabilities

    def add_meta(self, method, params, request_id):
        """Put the metadata of a request into its parameters."""
        meta = {}
        if self.modern:
            if fault("meta-missing-on-next-page") and "cursor" in params:
                return params
            meta = {META + "protocolVersion": MODERN, META + "clientInfo": CLIENT_INFO,
                    META + "clientCapabilities": self.client_capabilities()}
            if fault("meta-client-info-missing"):
                del meta[META + "clientInfo"]
            if fault("meta-version-missing-on-prompts-get") and method == "prompts/get":
                del meta[META + "protocolVersion"]
            if fault("meta-capabilities-missing-on-retry") and ("inputResponses" in params or "requestState" in params):
                del meta[META + "clientCapabilities"]
            if fault("meta-trace-context-malformed") and method == "tools/call":
                meta["traceparent"] = f"trace-{request_id}"
            if method == "tools/call" and "logging" in self.capabilities:
                meta[META + "logLevel"] = "warn" if fault("log-level-unknown-name") else LOG_LEVEL
        if method in ("tools/call", "resources/read"):
            meta["progressToken"] = f"progress-{request_id}"
            if method == "tools/call" and fault("progress-token-shared"):
                meta["progressToken"] = "progress"
            if fault("progress-token-fractional"):
                meta["progressToken"] = request_id + 0.5
        return {**params, "_meta": meta} if meta else params

    def modern_headers(self, message, schema):
        method, params = message["method"], message.get("params", {})
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        if method == "completion/complete" and fault("http-version-header-differs-from-body"):
            headers["MCP-Protocol-Version"] = LEGACY[0]
        if method == "subscriptions/listen" and fault("http-method-header-missing-on-listen"):
            del headers["Mcp-Method"]
        if method in ("tools/call", "prompts/get"):
            headers["Mcp-Name"] = encode_header(params["name"], "name")
        elif method == "resources/read" and not fault("http-name-header-missing-on-read"):
            headers["Mcp-Name"] = encode_header(params["uri"], "name")
        if method == "tools/call" and schema is not None:
            headers.update(parameter_headers(schema, params.get("arguments")))
        return headers

    def send_request(self, method, params, schema=None, force_id=None):
        """Send one request and return what waits for its answer."""
        request_id = self.next_id()
        if force_id is not None:
            request_id = force_id
        if fault("request-id-null") and method == "completion/complete":
            request_id = None
        if fault("request-id-fractional") and method == "prompts/get":
            request_id += 0.5
        if fault("request-id-reused") and method == "resources/templates/list" and not self.modern:
            request_id = max(1, request_id - 2)
        if fault("parallel-calls-share-id") and method == "tools/call" and self.modern \
                and "inputResponses" not in params and "requestState" not in params:
            request_id = 1000
        self.local.last_id = request_id
        params = self.add_meta(method, params, request_id)
        message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        if params:
            message["params"] = params
        pending = Pending(request_id, method)
        with self.lock:
            self.pending.append(pending)
        extra = self.modern_headers(message, schema) if self.modern and self.transport.kind == "http" else None
        self.transport.send_request(message, pending, extra)
        return pending

    def request_once(self, method, params=None, timeout=CALL_TIMEOUT, cancel=True, schema=None, force_id=None, after=None):
        if self.fatal:
            raise GiveUp(self.fatal)
        pending = self.send_request(method, params or {}, schema, force_id)
        if after:
            after()
        try:
            if not pending.done.wait(max(0.1, min(timeout, time_left()))):
                if cancel:
                    self.cancel(pending, params or {})
                if not (self.modern and fault("http-timeout-stream-left-open")):
                    pending.hang_up()
                raise RequestTimeout(f"{method} was not answered in time")
        finally:
            with self.lock:
                self.pending.remove(pending)
        return self.outcome(pending)

    def cancel(self, pending, params):
        """Tell the server that nobody waits for this answer any more."""
        if self.modern and self.transport.kind == "http":
            return                       # closing the stream says it
        if not self.modern and fault("timeout-not-cancelled"):
            return
        target = pending.id
        if self.modern and fault("stdio-cancel-names-tool"):
            target = params.get("name")
        if not self.modern and fault("cancel-id-as-string"):
            target = str(target)
        self.notify("notifications/cancelled", {"requestId": target, "reason": "the request took too long"})

    def outcome(self, pending):
        if pending.failure is not None:
            raise pending.failure
        message = pending.message
        if message.get("jsonrpc") != "2.0" or ("result" in message) == ("error" in message):
            raise Malformed(f"the answer to {pending.method} is not a JSON-RPC response")
        if "error" in message:
            error = message["error"]
            if not isinstance(error, dict) or not good_id(error.get("code")) or isinstance(error["code"], str):
                raise Malformed(f"the error for {pending.method} is malformed")
            raise RpcError(error["code"], str(error.get("message")), error.get("data"))
        result = message["result"]
        if not isinstance(result, dict):
            raise Malformed(f"the result of {pending.method} is not an object")
        if self.modern:
            if fault("absent-result-type-rejected") and "resultType" not in result and pending.method != "server/discover":
                raise Malformed("no result type")
            kind = result.get("resultType", "complete")
            if kind not in ("complete", "input_required") and not fault("unknown-result-type-accepted"):
                raise Malformed(f"unknown result type {kind!r}")
        return result

    def request(self, method, params=None, timeout=CALL_TIMEOUT, schema=None, force_id=None):
        """Send a request; renew a lost session or repeat it after a broken stream."""
        for attempt in range(3):
            generation = self.generation
            try:
                return self.request_once(method, params, timeout, schema=schema, force_id=force_id)
            except SessionLost:
                if attempt == 2:
                    raise
                if not fault("http-session-lost-no-new-session"):
                    self.session_lost(generation)
            except StreamBroken:
                if self.closing or not self.modern or attempt == 2 or time_left() < 1:
                    raise
                if self.transport.kind == "stdio":
                    if fault("stdio-ended-server-not-restarted") or not self.transport.restart():
                        self.fatal = "the server has ended"
                        raise
                elif fault("http-broken-stream-resumed-by-get"):
                    raise
                elif fault("http-broken-stream-same-id"):
                    force_id = self.local.last_id
                time.sleep(0.05)
        raise StreamBroken("the request could not be completed")

    def request_with_input(self, method, params, schema=None):
        """Send a request and supply the input the server asks for.
        Returns the result and whether it needed a retry."""
        extra, force_id = {}, None
        for round_number in range(6):
            base = params
            if extra and fault("retry-arguments-dropped"):
                base = {name: value for name, value in params.items() if name != "arguments"}
            result = self.request(method, {**base, **extra}, schema=schema, force_id=force_id)
            if not self.modern or result.get("resultType", "complete") != "input_required":
                return result, round_number > 0
            wanted, state = result.get("inputRequests"), result.get("requestState")
            if method not in INPUT_METHODS or (wanted is None and state is None) \
                    or wanted is not None and not isinstance(wanted, dict):
                raise Malformed(f"{method}: this request for input is not allowed")
            extra = {}
            if wanted is not None:
                extra["inputResponses"] = self.collect_input(wanted)
            if state is not None:
                extra["requestState"] = state
                if fault("retry-state-trimmed"):
                    extra["requestState"] = state.strip(" =")
                if method == "tools/call":
                    self.leaked_state = state
            elif fault("retry-state-invented"):
                extra["requestState"] = ""
            if fault("retry-without-state"):
                extra.pop("requestState", None)
            if fault("retry-with-same-id"):
                force_id = self.local.last_id
        raise Malformed(f"{method}: the server asks for input again and again")

    def collect_input(self, wanted):
        responses = {}
        for key, inner in wanted.items():
            if not isinstance(inner, dict):
                raise Malformed("an input request is not an object")
            answer = self.answer_input(inner.get("method"), inner.get("params") or {})
            if fault("input-sent-as-response"):
                self.transport.send_plain({"jsonrpc": "2.0", "id": key, "result": answer})
            responses[key] = {"result": answer} if fault("input-wrapped-in-result") else answer
            if fault("retry-answers-first-only"):
                break
        return responses

    def notify(self, method, params=None):
        message = {"jsonrpc": "2.0", "method": method}
        if params:
            message["params"] = params
        if method == "notifications/initialized" and fault("initialized-with-id"):
            message["id"] = self.next_id()
        self.send_plain(message)

    def send_plain(self, message):
        generation = self.generation
        status = self.transport.send_plain(message)
        if status == 404 and not self.modern and self.transport.kind == "http" and self.transport.session_id \
                and message.get("method") != "notifications/initialized" \
                and not fault("http-session-lost-no-new-session") and not self.closing:
            self.session_lost(generation)

    # ---- caching, newer era

    def cached_request(self, method, params, fresh=False):
        if not self.modern:
            return self.request_with_input(method, params)[0]
        key_params = dict(params)
        if fault("cache-forgets-cursor"):
            key_params.pop("cursor", None)
        if fault("cache-forgets-uri"):
            key_params.pop("uri", None)
        key = (method, json.dumps(key_params, sort_keys=True))
        known = self.cache.get(key)
        if known and not fresh and time.monotonic() < known[0]:
            return known[1]
        result, retried = self.request_with_input(method, params)
        lifetime = result.get("ttlMs")
        if isinstance(lifetime, bool) or not isinstance(lifetime, (int, float)):
            lifetime = 0
        if lifetime < 0 and fault("cache-negative-time-is-forever"):
            lifetime = 1e9
        if lifetime > 0 and (not retried or fault("cache-keeps-retried-result")):
            self.cache[key] = (time.monotonic() + lifetime / 1000, result)
        else:
            self.cache.pop(key, None)
        return result

    def forget(self, *methods, uri=None):
        for key in list(self.cache):
            if key[0] in methods and (uri is None or json.loads(key[1]).get("uri") == uri):
                self.cache.pop(key, None)

    # ---- connecting

    def connect(self):
        if self.newest != MODERN:
            self.handshake()
            return
        self.modern = True
        if fault("stdio-no-probe") and self.transport.kind == "stdio":
            try:
                self.request_once("tools/list", {}, 1.0, cancel=False)
            except ClientError:
                pass
        for attempt in range(2):
            try:
                found = self.request_once("server/discover", {}, PROBE_TIMEOUT, cancel=False)
            except AuthorizationNeeded:
                raise
            except RpcError as problem:
                if problem.code == -32022 and not fault("unsupported-version-error-falls-back"):
                    supported = problem.data.get("supported") if isinstance(problem.data, dict) else None
                    if attempt == 0 and isinstance(supported, list) and MODERN in supported:
                        continue
                    raise GiveUp(f"no common protocol version; the server supports {supported}") from problem
                if problem.code in (-32020, -32021):
                    raise GiveUp(f"the server refuses the discovery: {problem}") from problem
                if self.transport.kind == "stdio" and fault("stdio-fallback-only-on-method-not-found") \
                        and problem.code != -32601:
                    raise GiveUp(f"discovery failed: {problem}") from problem
                log(f"discovery: {problem}; trying the older handshake")
                break
            except ClientError as problem:
                if self.transport.kind == "stdio" and isinstance(problem, RequestTimeout) \
                        and fault("stdio-silent-probe-gives-up"):
                    raise GiveUp("the server does not answer") from problem
                log(f"discovery: {problem}; trying the older handshake")
                if self.transport.kind == "stdio" and isinstance(problem, StreamBroken) and not self.transport.restart():
                    raise GiveUp("the server ends at once") from problem
                break
            versions = found.get("supportedVersions")
            if not isinstance(versions, list) or not isinstance(found.get("capabilities"), dict):
                log("the discovery answer is malformed; trying the older handshake")
                break
            if MODERN not in versions and not fault("discover-result-versions-ignored"):
                common = [version for version in LEGACY if version in versions]
                if not common:
                    raise GiveUp(f"no common protocol version; the server supports {versions}")
                self.newest = common[0]
                break
            self.version = MODERN
            self.capabilities = found["capabilities"]
            log(f"connected, revision {MODERN}")
            if fault("initialized-sent-after-discover"):
                self.notify("notifications/initialized")
            return
        self.handshake()

    def handshake(self):
        """The initialize handshake of the older revisions."""
        self.modern = False
        asked = self.newest if self.newest in LEGACY else LEGACY[0]
        self.newest = asked
        self.transport.version = None
        self.transport.asked_version = asked
        self.transport.resumable = True
        params = {"protocolVersion": asked, "capabilities": self.client_capabilities(), "clientInfo": dict(CLIENT_INFO)}
        if fault("initialize-invented-version"):
            params["protocolVersion"] = "1.0"
        if fault("initialize-client-version-missing"):
            del params["clientInfo"]["version"]

        def too_early():
            if fault("request-before-initialize-answer"):
                self.send_request("tools/list", {})
        try:
            found = self.request_once("initialize", params, cancel=False, after=too_early)
        except AuthorizationNeeded:
            raise
        except ClientError as problem:
            if isinstance(problem, RequestTimeout) and fault("initialize-cancelled-on-timeout"):
                self.notify("notifications/cancelled", {"requestId": self.counter, "reason": "no answer"})
            raise GiveUp(f"the server could not be initialized: {problem}") from problem
        version = found.get("protocolVersion")
        if version not in LEGACY[LEGACY.index(asked):] and not fault("initialize-unknown-version-accepted"):
            if not fault("initialize-invented-version"):
                self.transport.session_id = None
                raise GiveUp(f"the server wants protocol version {version!r}, which this client does not speak")
        self.version = version
        self.transport.version = str(version)
        self.capabilities = found.get("capabilities") if isinstance(found.get("capabilities"), dict) else {}
        self.generation += 1
        log(f"connected, revision {version}")
        if not fault("initialized-never-sent"):
            self.notify("notifications/initialized")
        if self.transport.kind == "http":
            threading.Thread(target=self.transport.listen, args=(self.generation,), daemon=True).start()

    def session_lost(self, generation):
        """Start a new session after the server ended the old one."""
        if fault("http-session-lost-no-new-session"):
            return
        with self.session_lock:
            if self.generation != generation or self.closing:
                return
            if self.renewals >= 2:
                self.fatal = "the server keeps ending the session"
                return
            self.renewals += 1
            log("the session was lost; starting a new one")
            if not fault("http-new-session-carries-old-id"):
                self.transport.session_id = None
            if self.get_stream is not None:
                self.get_stream.hang_up()
            try:
                self.handshake()
            except (GiveUp, AuthorizationNeeded) as problem:
                self.fatal = str(problem)

    # ---- receiving

    def fail_all(self, failure):
        with self.lock:
            waiting = list(self.pending)
        for pending in waiting:
            pending.finish(failure=failure)

    def receive(self, raw, source, stream):
        """One message from the server. source is post, get or stdio."""
        self.last_activity = time.monotonic()
        try:
            if isinstance(raw, bytes):
                raw = raw.decode("utf-8")
            message = json.loads(raw)
        except (ValueError, RecursionError):
            log("the server sent something that is no JSON; ignored")
            if source == "post" and stream is not None and isinstance(raw, bytes):
                stream.finish(failure=Malformed("the answer is no JSON"))
            return
        if not isinstance(message, dict):
            log("the server sent something that is no message; ignored")
        elif isinstance(message.get("method"), str):
            if message.get("jsonrpc") != "2.0":
                log("a message without the JSON-RPC version was ignored")
            elif "id" in message:
                if self.modern and not fault("modern-server-request-answered"):
                    log(f"the server sent the request {message['method']}, which it must not; ignored")
                else:
                    threading.Thread(target=self.answer, args=(message, source), daemon=True).start()
            else:
                self.notified(message, source, stream)
        elif "result" in message or "error" in message:
            self.answered(message, stream)
        else:
            log("the server sent something that is no message; ignored")

    def answered(self, message, stream):
        message_id = message.get("id")
        if stream is not None and (id_key(message_id) == id_key(stream.id) or message_id is None and "error" in message):
            stream.finish(message=message)
            return
        with self.lock:
            found = next((p for p in self.pending if id_key(p.id) == id_key(message_id) and not p.done.is_set()), None)
        if found is None:
            log(f"an answer with the id {message_id!r} belongs to no open request; ignored")
        else:
            found.finish(message=message)

    def notified(self, message, source, stream):
        method = message["method"]
        params = message.get("params") if isinstance(message.get("params"), dict) else {}
        if method == "notifications/cancelled":
            target = params.get("requestId")
            if self.modern:
                subscription = self.subscriptions.get(id_key(target)) if good_id(target) else None
                if subscription:
                    subscription.finish(message={"jsonrpc": "2.0", "result": {}})
            elif good_id(target):
                self.cancelled_by_server.add(id_key(target))
        elif method in ("notifications/message", "notifications/progress"):
            log(f"{method}: {json.dumps(params)[:200]}")
        elif method == "notifications/subscriptions/acknowledged" or method.endswith("/list_changed") \
                or method == "notifications/resources/updated":
            if self.modern and not self.belongs(params, stream):
                log(f"{method} belongs to no open subscription; ignored")
                return
            self.changed(method, params)
        else:
            log(f"the notification {method} is not used here")
            if fault("notification-answered") and not self.modern:
                self.send_plain({"jsonrpc": "2.0", "id": 0, "error": {"code": -32601, "message": "Method not found"}})

    def belongs(self, params, stream):
        """Does this notification belong to one of our subscriptions?"""
        meta = params.get("_meta") if isinstance(params.get("_meta"), dict) else {}
        mark = meta.get(META + "subscriptionId")
        if self.transport.kind == "stdio":
            if fault("stdio-subscription-id-ignored"):
                return True
            found = self.subscriptions.get(id_key(mark)) if good_id(mark) else None
        else:
            found = stream if stream is not None and id_key(stream.id) in self.subscriptions else None
            if mark is not None and found is not None and id_key(mark) != id_key(found.id):
                found = None
        if found is not None:
            found.acknowledged.set()
        return found is not None

    def changed(self, method, params):
        if method == "notifications/tools/list_changed":
            self.forget("tools/list")
            self.stale.add("tools")
        elif method == "notifications/prompts/list_changed":
            self.forget("prompts/list")
            self.stale.add("prompts")
        elif method == "notifications/resources/list_changed":
            self.forget("resources/list", "resources/templates/list")
            self.stale.add("resources")
        elif method == "notifications/resources/updated" and isinstance(params.get("uri"), str):
            self.forget("resources/read", uri=params["uri"])
            self.stale.add("read " + params["uri"])

    # ---- answering

    def answer(self, message, source):
        """Answer a request of the server (older era)."""
        request_id, method = message["id"], message["method"]
        params = message.get("params") if isinstance(message.get("params"), dict) else {}
        if not good_id(request_id):
            log(f"the server's request {method} has no usable id; ignored")
            return
        if request_id == 0 and fault("request-id-zero-unanswered"):
            return
        if source == "post" and fault("http-request-on-post-stream-unanswered"):
            return
        if method == "ping" and fault("ping-unanswered-during-call") and self.running_calls:
            return
        reply = {"jsonrpc": "2.0", "id": request_id}
        try:
            if method == "ping":
                result = {"status": "ok"} if fault("ping-result-not-empty") else {}
            else:
                result = self.answer_input(method, params, request_id)
            if self.version == "2025-11-25" and isinstance(result, dict) and not fault("task-reply-not-related"):
                meta = params.get("_meta") if isinstance(params.get("_meta"), dict) else {}
                if RELATED_TASK in meta:
                    result = {**result, "_meta": {RELATED_TASK: meta[RELATED_TASK]}}
            reply["result"] = result
            if fault("reply-with-result-and-error"):
                reply["error"] = None
        except RpcError as problem:
            if problem.code == -32601 and fault("unknown-request-unanswered"):
                return
            reply["error"] = {"code": problem.code, "message": problem.message}
            if fault("error-code-as-string"):
                reply["error"]["code"] = str(problem.code)
            if fault("error-message-missing"):
                del reply["error"]["message"]
            if problem.code == -32601 and fault("unknown-request-gets-result"):
                del reply["error"]
                reply["result"] = {}
        if id_key(request_id) in self.cancelled_by_server and not fault("cancelled-request-answered"):
            self.cancelled_by_server.discard(id_key(request_id))
            log(f"the server cancelled its request {method}")
            return
        if fault("reply-without-jsonrpc"):
            del reply["jsonrpc"]
        if fault("reply-id-as-string"):
            reply["id"] = str(request_id)
        self.send_plain(reply)
        token = self.token_of(params)
        if method == "sampling/createMessage" and token is not None and fault("own-progress-after-answer"):
            self.notify("notifications/progress", {"progressToken": token, "progress": 3, "total": 3})

    @staticmethod
    def token_of(params):
        meta = params.get("_meta") if isinstance(params.get("_meta"), dict) else {}
        token = meta.get("progressToken")
        return token if good_id(token) else None

    def answer_input(self, method, params, request_id=None):
        """Roots, sampling and elicitation, the same in both eras."""
        if not isinstance(params, dict):
            raise RpcError(-32602, "the parameters must be an object")
        if method == "roots/list":
            folder = os.getcwd()
            uri = urllib.parse.urlunsplit(("file", "", urllib.parse.quote(folder), "", ""))
            if not uri.startswith("file:///"):
                uri = "file://" + urllib.parse.quote(folder)
            roots = [{"uri": folder if fault("root-uri-is-plain-path") else uri, "name": "Working folder"}]
            return roots if fault("roots-result-is-array") else {"roots": roots}
        if method == "sampling/createMessage":
            return self.answer_sampling(params, request_id)
        if method == "elicitation/create":
            return self.answer_elicitation(params)
        raise RpcError(-32601, f"Method not found: {method}")

    def answer_sampling(self, params, request_id):
        limit = params.get("maxTokens")
        messages = params.get("messages")
        if not good_id(limit) or isinstance(limit, str) or limit < 1:
            raise RpcError(-32602, "maxTokens must be a positive integer")
        if not isinstance(messages, list) or not all(
                isinstance(m, dict) and m.get("role") in ("user", "assistant")
                and isinstance(m.get("content"), (dict, list)) for m in messages):
            raise RpcError(-32602, "messages must be a list of messages with role and content")
        if self.version != "2025-06-18":
            if ("tools" in params or "toolChoice" in params) and not fault("sampling-tools-accepted"):
                raise RpcError(-32602, "this client does not support tools in sampling")
            self.check_tool_results(messages)
        self.think(params, request_id)
        words = "This is a prepared answer of the agent host, given without a model.".split()
        short = words[:limit]
        result = {"role": "assistant", "content": {"type": "text", "text": " ".join(short)},
                  "model": "prepared-answer-1", "stopReason": "endTurn" if len(short) == len(words) else "maxTokens"}
        if fault("sampling-token-limit-ignored"):
            result["content"]["text"], result["stopReason"] = " ".join(words), "endTurn"
        if fault("sampling-content-is-text"):
            result["content"] = result["content"]["text"]
        if fault("sampling-model-missing"):
            del result["model"]
        return result

    @staticmethod
    def check_tool_results(messages):
        """Each tool use must be followed by its results and nothing else."""
        open_uses = set()
        for message in messages:
            blocks = message["content"] if isinstance(message["content"], list) else [message["content"]]
            results = [b.get("toolUseId") for b in blocks if isinstance(b, dict) and b.get("type") == "tool_result"]
            if results and len(results) < len(blocks):
                raise RpcError(-32602, "Tool results mixed with other content")
            if open_uses and set(results) != open_uses:
                raise RpcError(-32602, "Tool result missing in request")
            open_uses = {b.get("id") for b in blocks if isinstance(b, dict) and b.get("type") == "tool_use"}
        if open_uses:
            raise RpcError(-32602, "Tool result missing in request")

    def think(self, params, request_id):
        """Pretend to work for a moment, and say how far the work is."""
        if self.modern:
            time.sleep(0.02)
            return
        token = self.token_of(params)
        if token is None and fault("own-progress-with-unknown-token"):
            token = request_id
        for step in (1, 2):
            time.sleep(0.15)
            if id_key(request_id) in self.cancelled_by_server:
                return
            if token is not None:
                value = 1 if fault("own-progress-does-not-increase") else step
                self.notify("notifications/progress", {"progressToken": token, "progress": value, "total": 2,
                                                       "message": "working on the answer"})

    def answer_elicitation(self, params):
        mode = params.get("mode", "form")
        if self.version != "2025-06-18":
            if "mode" not in params and fault("elicit-without-mode-refused"):
                raise RpcError(-32602, "mode is missing")
            if mode == "url" and fault("elicit-url-fetched"):
                fetch_json(str(params.get("url")))
            if mode == "url" and fault("elicit-url-mode-accepted"):
                return {"action": "accept"}
            if mode != "form":
                raise RpcError(-32602, f"elicitation in the mode {mode!r} is not supported")
        if not isinstance(params.get("message"), str) or not isinstance(params.get("requestedSchema"), dict):
            raise RpcError(-32602, "message and requestedSchema are needed")
        log(f"the server asks: {params['message']}")
        content = form_content(params["requestedSchema"])
        if content is None or self.version == "2025-06-18" and any(isinstance(v, list) for v in content.values()):
            return {"action": "decline"}
        if fault("elicit-content-nested"):
            content = {"form": content}
        return {"action": "accepted" if fault("elicit-action-misspelt") else "accept", "content": content}

    # ---- subscriptions, newer era

    def subscribe(self, wanted):
        """Open a subscription and keep it open until the end."""
        ready = threading.Event()
        threading.Thread(target=self.keep_subscription, args=(wanted, ready), daemon=True).start()
        if not ready.wait(1.0):
            log("the subscription was not acknowledged")

    def keep_subscription(self, wanted, ready):
        for _ in range(3):
            filters = wanted
            if fault("listen-filter-is-list"):
                filters = list(wanted)
            if fault("listen-resource-is-text") and "resourceSubscriptions" in wanted:
                filters = {**wanted, "resourceSubscriptions": wanted["resourceSubscriptions"][0]}
            pending = self.open_listen(filters, ready)
            pending.done.wait()
            with self.lock:
                self.pending.remove(pending)
            self.subscriptions.pop(id_key(pending.id), None)
            ready.set()
            if self.closing or not isinstance(pending.failure, StreamBroken):
                log("a subscription has ended")
                return
            if self.transport.kind == "stdio":
                if fault("stdio-listen-not-reopened") or fault("stdio-ended-server-not-restarted"):
                    return
                if not self.transport.restart():
                    return
            else:
                time.sleep(0.2)
            if self.closing:
                return

    def open_listen(self, filters, ready):
        request_id = self.next_id()
        pending = Pending(request_id, "subscriptions/listen")
        pending.acknowledged = ready
        params = self.add_meta("subscriptions/listen", {"notifications": filters}, request_id)
        message = {"jsonrpc": "2.0", "id": request_id, "method": "subscriptions/listen", "params": params}
        with self.lock:
            self.pending.append(pending)
        self.subscriptions[id_key(request_id)] = pending
        extra = self.modern_headers(message, None) if self.transport.kind == "http" else None
        self.transport.send_request(message, pending, extra)
        return pending

    # ---- shutting down

    def close(self):
        self.closing = True
        for subscription in list(self.subscriptions.values()):
            if self.transport.kind == "stdio":
                if self.transport.alive:
                    self.transport.send_plain({"jsonrpc": "2.0", "method": "notifications/cancelled",
                                               "params": {"requestId": subscription.id, "reason": "the client is leaving"}})
            else:
                subscription.hang_up()
        self.transport.close()
        if self.get_stream is not None:
            self.get_stream.hang_up()


# ------------------------------------------------------------------ host

class Host:
    """What an agent host does with a server in one short run."""

    def __init__(self, client):
        self.client = client
        self.tools = {}
        self.called = set()
        self.resources = []
        self.templates = []
        self.prompts = []
        self.refreshes = {}
        self.timeouts = 0
        self.watched = None
        self.lock = threading.Lock()

    def offers(self, name, detail=None):
        capability = self.client.capabilities.get(name)
        if detail is None:
            return isinstance(capability, dict)
        return isinstance(capability, dict) and capability.get(detail) is True

    def attempt(self, what, action):
        """Run one step; a failed step is reported and the run goes on."""
        if self.client.fatal:
            raise GiveUp(self.client.fatal)
        if time_left() < 1:
            raise GiveUp("the run takes too long")
        try:
            return action()
        except AuthorizationNeeded:
            raise
        except RequestTimeout as problem:
            log(f"{what}: {problem}")
            with self.lock:
                self.timeouts += 1
            if self.timeouts >= 4:
                self.client.fatal = "the server does not answer"
        except StreamBroken as problem:
            log(f"{what}: {problem}")
            if not self.client.modern and self.client.transport.kind == "stdio" and not self.client.transport.alive:
                self.client.fatal = "the server has ended"
        except ClientError as problem:
            log(f"{what}: {problem}")
        except (SchemaProblem, TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError, re.error) as problem:
            log(f"{what}: the server sent something unusable ({problem})")
        return None

    def run(self):
        client = self.client
        client.connect()
        if client.modern:
            self.subscribe_to_lists()
        elif self.offers("logging"):
            level = "warn" if fault("log-level-unknown-name") else LOG_LEVEL
            self.attempt("log level", lambda: client.request("logging/setLevel", {"level": level}))
        if fault("roots-change-sent-without-capability") and not client.modern:
            client.notify("notifications/roots/list_changed")
        if self.offers("tools"):
            self.attempt("tools", self.load_tools)
            self.call_tools()
        if self.offers("resources"):
            self.attempt("resources", self.load_resources)
            self.attempt("resource templates", self.load_templates)
            self.watch_resources()
            for resource in self.resources[:20]:
                self.attempt(f"resource {resource['uri']}", lambda: self.read_resource(resource["uri"]))
        if self.offers("prompts") or fault("list-without-capability") and not client.modern:
            self.attempt("prompts", self.load_prompts)
            for prompt in self.prompts[:20]:
                self.attempt(f"prompt {prompt['name']}", lambda: self.get_prompt(prompt))
        if self.offers("completions"):
            self.attempt("completion", self.complete)
        if not client.modern:
            self.attempt("ping", lambda: client.request("ping"))
            if fault("batch-of-requests"):
                client.transport.send_plain([{"jsonrpc": "2.0", "id": client.next_id(), "method": "ping"} for _ in range(2)])
        self.linger()
        self.look_again()
        if self.watched is not None and not client.modern:
            self.attempt("unsubscribe", lambda: client.request("resources/unsubscribe", {"uri": self.watched}))

    # ---- lists

    def list_all(self, method, member):
        """All pages of a list."""
        items, cursor = [], None
        for page in range(MAX_PAGES):
            params = {}
            if page:
                params["cursor"] = cursor
                if fault("cursor-trimmed"):
                    params["cursor"] = cursor.strip(" =")
                if fault("cursor-turned-into-number") and cursor.isdigit():
                    params["cursor"] = int(cursor)
            elif fault("first-cursor-null"):
                params["cursor"] = None
            result = self.client.cached_request(method, params)
            part = result.get(member)
            if not isinstance(part, list):
                raise Malformed(f"{method}: {member} is missing")
            items.extend(item for item in part if isinstance(item, dict))
            cursor = result.get("nextCursor")
            if not isinstance(cursor, str) or cursor == "" and fault("cursor-empty-is-end"):
                return items
        log(f"{method}: too many pages")
        return items

    def load_tools(self):
        tools = {}
        for tool in self.list_all("tools/list", "tools"):
            name, schema = tool.get("name"), tool.get("inputSchema")
            if not isinstance(name, str) or not isinstance(schema, dict) or schema.get("type") != "object":
                log(f"the tool {name!r} is malformed and left out")
                continue
            if self.client.modern and self.client.transport.kind == "http":
                try:
                    header_parameters(schema)
                except SchemaProblem as problem:
                    log(f"warning: the tool {name} is left out: {problem}")
                    if not fault("http-badly-annotated-tool-called"):
                        continue
            if fault("icon-fetched-from-other-host"):
                for icon in tool.get("icons") or []:
                    fetch_json(str(icon.get("src")))
            tools.setdefault(name, tool)
        self.tools = tools

    def load_resources(self):
        self.resources = [item for item in self.list_all("resources/list", "resources") if isinstance(item.get("uri"), str)]

    def load_templates(self):
        self.templates = [item for item in self.list_all("resources/templates/list", "resourceTemplates")
                          if isinstance(item.get("uriTemplate"), str)]

    def load_prompts(self):
        self.prompts = [item for item in self.list_all("prompts/list", "prompts") if isinstance(item.get("name"), str)]

    # ---- tools

    def call_tools(self):
        """Call every tool once, up to three at the same time."""
        waiting = queue.Queue()
        for tool in self.tools.values():
            if tool["name"] not in self.called:
                self.called.add(tool["name"])
                waiting.put(tool)
        problems = []

        def work():
            while True:
                try:
                    tool = waiting.get_nowait()
                except queue.Empty:
                    return
                try:
                    with self.lock:
                        self.client.running_calls += 1
                    self.attempt(f"tool {tool['name']}", lambda: self.call_tool(tool))
                except (GiveUp, AuthorizationNeeded) as problem:
                    problems.append(problem)
                    return
                finally:
                    with self.lock:
                        self.client.running_calls -= 1
        workers = [threading.Thread(target=work, daemon=True) for _ in range(min(3, waiting.qsize()))]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if problems:
            raise problems[0]

    def make_arguments(self, tool):
        schema = tool["inputSchema"]
        check_dialect(schema)
        for reference in references(schema):
            if not reference.startswith("#"):
                if fault("schema-reference-fetched"):
                    fetch_json(reference)
                raise SchemaProblem(f"the reference {reference!r} is not local")
        return sample({**schema, "default": None} if "default" in schema else schema, schema)

    def call_tool(self, tool, retry=True):
        client, name, schema = self.client, tool["name"], tool["inputSchema"]
        try:
            arguments = self.make_arguments(tool)
        except (SchemaProblem, TypeError, ValueError, KeyError, AttributeError, re.error) as problem:
            log(f"the tool {name} is not called: {problem}")
            return
        if fault("call-arguments-as-text"):
            arguments = json.dumps(arguments)
        if fault("call-arguments-null") and not schema.get("properties"):
            arguments = None
        if fault("tool-name-lower-cased"):
            name = name.lower()
        params = {"name": name, "arguments": arguments}
        if self.as_task(tool):
            result = self.call_as_task(params)
        else:
            try:
                result = client.request_with_input("tools/call", params, schema)[0]
            except RpcError as problem:
                if problem.code != -32020 or not retry or not client.modern or client.transport.kind != "http" \
                        or fault("http-header-mismatch-not-retried"):
                    raise
                log(f"the tool {name}: {problem}; reading the list again")
                client.forget("tools/list")
                self.load_tools()
                if name in self.tools:
                    self.call_tool(self.tools[name], retry=False)
                return
        if fault("finished-call-cancelled") and not client.modern:
            client.notify("notifications/cancelled", {"requestId": client.local.last_id, "reason": "no longer needed"})
        self.check_result(tool, result)

    def check_result(self, tool, result):
        schema = tool.get("outputSchema")
        if isinstance(schema, dict) and not result.get("isError"):
            try:
                if "structuredContent" not in result or not valid(result["structuredContent"], schema, schema):
                    log(f"the result of {tool['name']} does not fit its output schema")
            except (SchemaProblem, TypeError, re.error, AttributeError) as problem:
                log(f"the output schema of {tool['name']} cannot be used: {problem}")
        log(f"the tool {tool['name']} {'reports an error' if result.get('isError') else 'worked'}")

    # ---- tasks, revision 2025-11-25 only

    def as_task(self, tool):
        if self.client.modern or self.client.version != "2025-11-25":
            return False
        node = self.client.capabilities
        for step in ("tasks", "requests", "tools", "call"):
            node = node.get(step) if isinstance(node, dict) else None
        offered = isinstance(node, dict)
        execution = tool.get("execution") if isinstance(tool.get("execution"), dict) else {}
        support = execution.get("taskSupport", "forbidden")
        if fault("task-on-unwilling-tool") and offered and support == "forbidden":
            return True
        if fault("task-without-server-capability") and not offered and support in ("optional", "required"):
            return True
        if fault("task-requirement-ignored"):
            return False
        return offered and support in ("required", "optional")

    def call_as_task(self, params):
        client = self.client
        created = client.request("tools/call", {**params, "task": {"ttl": 60000}})
        call_id = client.local.last_id
        task = created.get("task")
        if not isinstance(task, dict) or not isinstance(task.get("taskId"), str):
            if "content" in created:
                return created
            raise Malformed("the server did not create a task")
        which = {"taskId": task["taskId"]}
        deadline = time.monotonic() + CALL_TIMEOUT
        try:
            while task.get("status") == "working":
                pause = task.get("pollInterval")
                pause = pause / 1000 if isinstance(pause, (int, float)) and pause >= 0 else 0.5
                if fault("task-polled-too-often"):
                    pause = 0.01
                if time.monotonic() + pause > deadline:
                    time.sleep(max(0, deadline - time.monotonic()))
                    raise RequestTimeout("the task took too long")
                time.sleep(max(0.05, pause))
                task = client.request("tasks/get", which)
            if task.get("status") == "cancelled":
                raise ClientError("the task was cancelled")
            return client.request("tasks/result", which, timeout=max(1.0, deadline - time.monotonic()))
        except RequestTimeout:
            can_cancel = isinstance(client.capabilities.get("tasks"), dict) and "cancel" in client.capabilities["tasks"]
            if fault("task-cancelled-by-notification"):
                client.notify("notifications/cancelled", {"requestId": call_id, "reason": "the task took too long"})
            elif can_cancel:
                client.request("tasks/cancel", which)
            raise

    # ---- resources, prompts, completion

    def subscribe_to_lists(self):
        wanted = {}
        for name in ("tools", "prompts", "resources"):
            if self.offers(name, "listChanged"):
                wanted[name + "ListChanged"] = True
        if wanted:
            self.client.subscribe(wanted)

    def watch_resources(self):
        if not self.resources:
            return
        uri = self.resources[0]["uri"]
        if self.client.modern:
            if self.offers("resources", "subscribe"):
                if fault("subscribe-request-of-older-era"):
                    self.attempt("subscribe", lambda: self.client.request("resources/subscribe", {"uri": uri}))
                else:
                    self.client.subscribe({"resourceSubscriptions": [item["uri"] for item in self.resources[:3]]})
        elif self.offers("resources", "subscribe") or fault("subscribe-without-capability"):
            if self.attempt("subscribe", lambda: self.client.request("resources/subscribe", {"uri": uri})) is not None:
                self.watched = uri

    def read_resource(self, uri):
        result = self.client.cached_request("resources/read", {"uri": uri})
        if not isinstance(result.get("contents"), list):
            raise Malformed("the resource has no contents")
        return result

    def get_prompt(self, prompt):
        arguments = {}
        for argument in prompt.get("arguments") or []:
            if isinstance(argument, dict) and isinstance(argument.get("name"), str):
                arguments[argument["name"]] = 7 if fault("prompt-argument-not-text") else "sample"
        params = {"name": prompt["name"]}
        if arguments:
            params["arguments"] = arguments
        if fault("retry-state-used-elsewhere") and self.client.leaked_state is not None:
            params["requestState"] = self.client.leaked_state
        self.client.request_with_input("prompts/get", params)

    def complete(self):
        """Ask once for suggestions, for a prompt or for a resource template."""
        reference, names = None, []
        for prompt in self.prompts:
            names = [a["name"] for a in prompt.get("arguments") or [] if isinstance(a, dict) and isinstance(a.get("name"), str)]
            if names:
                reference = {"type": "ref/prompt", "name": prompt["name"]}
                break
        if reference is None:
            for template in self.templates:
                names = re.findall(r"\{[+#./;?&]?([A-Za-z0-9_]+)", template["uriTemplate"])
                if names:
                    reference = {"type": "ref/resource", "uri": template["uriTemplate"]}
                    break
        if reference is None:
            return
        if fault("completion-reference-type-wrong"):
            reference["type"] = reference["type"].removeprefix("ref/")
        params = {"ref": reference, "argument": {"name": names[-1], "value": "s"}}
        if fault("completion-value-missing"):
            del params["argument"]["value"]
        if len(names) > 1:
            params["context"] = {"arguments": {name: "sample" for name in names[:-1]}}
        self.client.request("completion/complete", params)

    # ---- changes

    def refresh(self):
        """Read again what the server has announced as changed."""
        while self.client.stale:
            what = self.client.stale.pop()
            self.refreshes[what] = self.refreshes.get(what, 0) + 1
            if self.refreshes[what] > 3:
                continue
            if what == "tools" and self.offers("tools"):
                self.attempt("tools", self.load_tools)
                self.call_tools()
            elif what == "resources" and self.offers("resources"):
                self.attempt("resources", self.load_resources)
                self.attempt("resource templates", self.load_templates)
            elif what == "prompts" and self.offers("prompts"):
                self.attempt("prompts", self.load_prompts)
            elif what.startswith("read ") and what[5:] in [item["uri"] for item in self.resources]:
                self.attempt("resource", lambda: self.read_resource(what[5:]))

    def linger(self):
        """Wait a moment for notifications and questions of the server."""
        begin = time.monotonic()
        if fault("stdio-blank-keepalive-line") and self.client.transport.kind == "stdio":
            self.client.transport.write(b"\n")
        while time.monotonic() - begin < 1.5 and time_left() > 1:
            self.refresh()
            if time.monotonic() - max(begin, self.client.last_activity) > 0.5:
                return
            time.sleep(0.05)

    def look_again(self):
        """For its summary the host needs the tools and the first resources once
        more; in the newer era fresh answers come from the cache."""
        if not self.client.modern:
            return
        if self.offers("tools"):
            self.attempt("tools", self.load_tools)
        for resource in self.resources[:2]:
            self.attempt(f"resource {resource['uri']}", lambda: self.read_resource(resource["uri"]))
        log(f"summary: {len(self.tools)} tools, {len(self.resources)} resources, {len(self.prompts)} prompts")


# ------------------------------------------------------------------ main

def leave(code):
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def watch_the_clock(client):
    """End the process when the run takes far too long."""
    time.sleep(HARD_LIMIT)
    log("the run takes too long; leaving")
    process = getattr(client.transport, "process", None)
    if process is not None:
        process.kill()
    leave(0 if client.version else 1)


def usage(text):
    print(f"client.py: {text}\nusage: client.py [--fault NAME] [--revision R] URL | --stdio COMMAND ARGS...",
          file=sys.stderr)
    return 2


def main(arguments):
    global FAULT
    newest, target = MODERN, None
    while arguments:
        word = arguments.pop(0)
        if word == "--list-faults":
            list_faults()
            return 0
        if word in ("--fault", "--revision") and not arguments:
            return usage(f"{word} needs a value")
        if word == "--fault":
            FAULT = arguments.pop(0)
            if FAULT not in [row[0] for row in FAULTS]:
                return usage(f"unknown fault {FAULT}")
        elif word == "--revision":
            newest = arguments.pop(0)
            if newest not in [MODERN] + LEGACY:
                return usage(f"unknown revision {newest}")
        elif word == "--stdio":
            if not arguments:
                return usage("--stdio needs a command")
            target, arguments = arguments, []
        elif target is None and not word.startswith("-"):
            target = word
        else:
            return usage(f"unexpected {word}")
    if target is None:
        return usage("no server given")
    code = 1
    client = None
    try:
        transport = HttpTransport(target) if isinstance(target, str) else StdioTransport(target)
        client = Client(transport, newest)
        threading.Thread(target=watch_the_clock, args=(client,), daemon=True).start()
        transport.start()
        Host(client).run()
        code = 0
    except AuthorizationNeeded as problem:
        log("error: " + discover_authorization(target, problem.challenge))
    except GiveUp as problem:
        log(f"error: {problem}")
        code = 0 if client is not None and client.version else 1
    finally:
        if client is not None and (client.transport.kind == "http" or client.transport.process is not None):
            client.close()
    return code


if __name__ == "__main__":
    leave(main(sys.argv[1:]))

#!/usr/bin/env python3
"""A recipe archive as a Model Context Protocol server, revisions 2025-06-18 and 2025-11-25.

    python3 server_2025.py --stdio [--fault NAME]
    python3 server_2025.py --http PORT [--fault NAME]
    python3 server_2025.py --list-faults

Without --fault the server follows the specification. With --fault it misbehaves in exactly one way.
JSON Schema: the server itself reads and writes schemas of the 2020-12 dialect only.
Tasks: a task lives at most one hour, at most 20 run at once for one session; they belong to the session that
made them, since this server knows no other identity.
"""

import argparse
import base64
import binascii
import datetime
import http.server
import json
import re
import secrets
import select
import socket
import struct
import sys
import threading
import time
import urllib.parse
import uuid
import zlib

FAULT = ""

BOTH, STDIO, HTTP = ["stdio", "http"], ["stdio"], ["http"]
ALL, OLDER, NEWER = ["2025-06-18", "2025-11-25"], ["2025-06-18"], ["2025-11-25"]

# (name, area, level, transports, revisions, what is wrong, page of the specification)
FAULTS = [
    # -- lifecycle and version negotiation --
    ("always-newest-version", "lifecycle", "MUST", BOTH, OLDER, "Answers initialize with 2025-11-25 although the client asked for 2025-06-18, which the server supports.", "basic/lifecycle#version-negotiation"),
    ("unknown-version-echoed", "lifecycle", "MUST", BOTH, ALL, "Repeats a protocol version it does not know instead of naming one it supports.", "basic/lifecycle#version-negotiation"),
    ("unknown-version-gets-oldest", "lifecycle", "SHOULD", BOTH, ALL, "Answers an unknown protocol version with its oldest revision rather than its newest.", "basic/lifecycle#version-negotiation"),
    ("server-info-without-version", "lifecycle", "MUST", BOTH, ALL, "serverInfo in the initialize result has no version.", "basic/lifecycle#initialization"),
    ("instructions-as-list", "lifecycle", "MUST", BOTH, ALL, "The instructions in the initialize result are a list of strings instead of one string.", "basic/lifecycle#initialization"),
    ("subscribe-capability-as-object", "lifecycle", "MUST", BOTH, ALL, "The capability resources.subscribe is an object instead of a boolean.", "basic/lifecycle#capability-negotiation"),
    ("completions-not-declared", "lifecycle", "MUST", BOTH, ALL, "Answers completion requests but does not declare the completions capability.", "server/utilities/completion#capabilities"),
    ("logging-not-declared", "lifecycle", "MUST", BOTH, ALL, "Sends log messages but does not declare the logging capability.", "server/utilities/logging#capabilities"),
    ("prompt-list-changes-not-declared", "lifecycle", "MUST", BOTH, ALL, "Sends prompts/list_changed although its prompts capability does not promise listChanged.", "basic/lifecycle#operation"),
    ("requests-served-before-initialize", "lifecycle", "MUST", STDIO, ALL, "Serves ordinary requests before any initialize request.", "basic/lifecycle#initialization"),
    ("ping-refused-before-initialize", "lifecycle", "MUST", STDIO, ALL, "Answers a ping that comes before initialize with an error.", "basic/utilities/ping#behavior-requirements"),
    ("asks-before-initialized", "lifecycle", "SHOULD", STDIO, ALL, "Sends roots/list right after its initialize answer, before the initialized notification.", "basic/lifecycle#initialization"),
    ("tasks-on-old-revision", "lifecycle", "MUST", BOTH, OLDER, "Creates a task for a tool call although the negotiated revision 2025-06-18 has no tasks.", "basic/lifecycle#operation"),
    # -- JSON-RPC --
    ("numeric-text-id-becomes-number", "json-rpc", "MUST", BOTH, ALL, "A request id that is a string of digits comes back as a number.", "basic/index#responses"),
    ("large-id-rounded", "json-rpc", "MUST", BOTH, ALL, "Integer ids beyond 2^53 come back rounded.", "basic/index#responses"),
    ("id-zero-taken-as-notification", "json-rpc", "MUST", BOTH, ALL, "A request with the id 0 or an empty string gets no answer.", "basic/index#requests"),
    ("null-id-accepted", "json-rpc", "MUST", BOTH, ALL, "A request with a null id is served, and its answer carries a null id.", "basic/index#requests"),
    ("jsonrpc-version-not-checked", "json-rpc", "MUST", BOTH, ALL, "Serves messages whose jsonrpc member is not 2.0.", "basic/index#messages"),
    ("error-with-previous-id", "json-rpc", "MUST", BOTH, ALL, "Invalid params errors carry the id of the request before.", "basic/index#responses"),
    ("error-without-message", "json-rpc", "MUST", BOTH, ALL, "The error for an unknown method has no message.", "basic/index#responses"),
    ("error-code-as-text", "json-rpc", "MUST", BOTH, ALL, "The code of invalid params errors is a string.", "basic/index#responses"),
    ("error-also-has-result", "json-rpc", "MUST", BOTH, ALL, "Error responses also have a result member.", "basic/index#responses"),
    ("error-without-jsonrpc-member", "json-rpc", "MUST", BOTH, ALL, "Error responses lack the jsonrpc member.", "basic/index#messages"),
    ("unknown-method-succeeds", "json-rpc", "MUST", BOTH, ALL, "An unknown method gets an empty result instead of an error.", "basic/index#messages"),
    ("unknown-notification-answered", "json-rpc", "MUST", BOTH, ALL, "An unknown notification is answered with an error.", "basic/index#notifications"),
    ("parallel-answers-share-id", "json-rpc", "MUST", BOTH, ALL, "When two tool calls run at once, the one begun first is answered with the id of the other.", "basic/index#responses"),
    ("second-unknown-tool-unanswered", "json-rpc", "MUST", BOTH, ALL, "From the second call of an unknown tool in a session on, no answer comes.", "basic/index#responses"),
    ("batch-still-answered", "json-rpc", "MUST", BOTH, ALL, "Accepts an array of messages and answers with an array.", "basic/transports#sending-messages-to-the-server"),
    ("own-request-id-reused", "json-rpc", "MUST", BOTH, ALL, "The server gives all its own requests the same id.", "basic/index#requests"),
    ("own-notification-with-id", "json-rpc", "MUST", BOTH, ALL, "list_changed notifications carry an id.", "basic/index#notifications"),
    ("result-meta-key-malformed", "json-rpc", "MUST", BOTH, ALL, "Tool results have a _meta key that begins and ends with a hyphen and holds a space.", "basic/index#meta"),
    ("ping-answered-with-text", "json-rpc", "MUST", BOTH, ALL, "The answer to ping is not empty.", "basic/utilities/ping#behavior-requirements"),
    # -- stdio --
    ("banner-on-stdout", "stdio", "MUST", STDIO, ALL, "Prints its name on standard output at the start.", "basic/transports#stdio"),
    ("debug-line-on-stdout", "stdio", "MUST", STDIO, ALL, "Prints a plain line on standard output whenever a tool fails.", "basic/transports#stdio"),
    ("log-lines-on-stdout", "stdio", "MUST", STDIO, ALL, "Writes log messages as plain lines on standard output instead of notifications.", "basic/transports#stdio"),
    ("long-answers-over-several-lines", "stdio", "MUST", STDIO, ALL, "Long results are written over several lines.", "basic/transports#stdio"),
    ("answers-framed-with-length", "stdio", "MUST", STDIO, ALL, "Puts a Content-Length header before each message.", "basic/transports#stdio"),
    ("notifications-without-newline", "stdio", "MUST", STDIO, ALL, "Progress notifications are not ended by a newline, so they share a line with the next message.", "basic/transports#stdio"),
    ("output-in-latin-1", "stdio", "MUST", STDIO, ALL, "Writes its messages in Latin-1 instead of UTF-8.", "basic/transports"),
    ("long-input-lines-dropped", "stdio", "MUST", STDIO, ALL, "Requests on lines of more than 8192 bytes get no answer.", "basic/index#responses"),
    ("message-after-parse-error-lost", "stdio", "MUST", STDIO, ALL, "The message after an unreadable line is thrown away.", "basic/index#responses"),
    ("invalid-request-unanswered", "stdio", "MUST", STDIO, ALL, "Well-formed JSON that is no valid request, though it has an id, gets no error.", "basic/index#responses"),
    ("ping-waits-for-running-tool", "stdio", "MUST", STDIO, ALL, "A ping is not answered while a tool runs.", "basic/utilities/ping#behavior-requirements"),
    # -- Streamable HTTP: security --
    ("origin-not-checked", "http-security", "MUST", HTTP, ALL, "Requests from any origin are served.", "basic/transports#security-warning"),
    ("origin-compared-by-prefix", "http-security", "MUST", HTTP, ALL, "An origin passes if it merely begins like a local one, such as http://localhost.evil.example.", "basic/transports#security-warning"),
    ("origin-checked-only-for-post", "http-security", "MUST", HTTP, ALL, "A foreign origin is refused for POST but not for GET and DELETE.", "basic/transports#security-warning"),
    ("foreign-origin-gets-401", "http-security", "MUST", HTTP, NEWER, "A foreign origin is refused with 401 instead of 403.", "basic/transports#security-warning"),
    ("listens-on-all-interfaces", "http-security", "SHOULD", HTTP, ALL, "Binds to all network interfaces instead of the local one.", "basic/transports#security-warning"),
    ("answer-of-other-session-taken", "http-security", "MUST", HTTP, ALL, "A response posted in one session settles a request that was sent to another session.", "basic/transports#session-management"),
    # -- Streamable HTTP: messages and status --
    ("version-header-ignored", "http", "MUST", HTTP, ALL, "An unsupported MCP-Protocol-Version header is not refused.", "basic/transports#protocol-version-header"),
    ("version-header-checked-only-for-post", "http", "MUST", HTTP, ALL, "An unsupported MCP-Protocol-Version header is refused for POST but not for GET and DELETE.", "basic/transports#protocol-version-header"),
    ("notification-gets-200", "http", "MUST", HTTP, ALL, "A notification is answered with 200 and a JSON body instead of an empty 202.", "basic/transports#sending-messages-to-the-server"),
    ("accepted-answer-gets-body", "http", "MUST", HTTP, ALL, "The 202 for a response of the client has a body.", "basic/transports#sending-messages-to-the-server"),
    ("invalid-message-gets-202", "http", "MUST", HTTP, ALL, "A message that is neither request nor notification nor response is accepted with 202.", "basic/transports#sending-messages-to-the-server"),
    ("parse-error-closes-connection", "http", "MUST", HTTP, ALL, "Unreadable JSON makes the server close the connection without any HTTP answer.", "basic/transports#sending-messages-to-the-server"),
    ("error-answer-as-plain-text", "http", "MUST", HTTP, ALL, "JSON-RPC errors come with the content type text/plain.", "basic/transports#sending-messages-to-the-server"),
    ("stream-as-plain-text", "http", "MUST", HTTP, ALL, "The event stream of a POST is announced as text/plain.", "basic/transports#sending-messages-to-the-server"),
    ("get-answers-with-json", "http", "MUST", HTTP, ALL, "GET answers with a JSON document, neither an event stream nor 405.", "basic/transports#listening-for-messages-from-the-server"),
    ("second-listening-stream-refused-with-409", "http", "MUST", HTTP, ALL, "A second GET stream of the same session is refused with 409.", "basic/transports#listening-for-messages-from-the-server"),
    # -- Streamable HTTP: streams --
    ("event-data-broken-over-lines", "http-streams", "MUST", HTTP, ALL, "Long messages are written over several lines without repeating the data field, so the event is cut off.", "basic/transports#sending-messages-to-the-server"),
    ("event-without-data-field", "http-streams", "MUST", HTTP, ALL, "Notifications and requests on a stream are written without the data field name.", "basic/transports#sending-messages-to-the-server"),
    ("answer-on-listening-stream", "http-streams", "MUST", HTTP, ALL, "While a GET stream is open, the answers of tool calls are sent there.", "basic/transports#listening-for-messages-from-the-server"),
    ("answer-sent-twice-on-stream", "http-streams", "MUST", HTTP, ALL, "The response of a tool call is sent twice on its stream.", "basic/index#responses"),
    ("same-message-on-all-streams", "http-streams", "MUST", HTTP, ALL, "With several GET streams open, each message goes to all of them.", "basic/transports#multiple-connections"),
    ("unrelated-messages-on-post-stream", "http-streams", "SHOULD", HTTP, ALL, "Resource updates are put on the stream of a running tool call.", "basic/transports#sending-messages-to-the-server"),
    ("stream-ends-before-answer-after-progress", "http-streams", "SHOULD", HTTP, ALL, "A stream that has carried several notifications ends without the response.", "basic/transports#sending-messages-to-the-server"),
    ("stream-stays-open-after-answer", "http-streams", "SHOULD", HTTP, ALL, "The stream of a POST stays open for long after the response.", "basic/transports#sending-messages-to-the-server"),
    ("stream-not-primed", "http-streams", "SHOULD", HTTP, NEWER, "A stream does not begin with an event that has an id and empty data.", "basic/transports#sending-messages-to-the-server"),
    ("disconnect-cancels-call", "http-streams", "SHOULD", HTTP, ALL, "A broken connection is taken as cancellation of the tool call.", "basic/transports#sending-messages-to-the-server"),
    ("event-ids-repeat-across-streams", "http-streams", "MUST", HTTP, ALL, "Event ids are counted from zero on every stream.", "basic/transports#resumability-and-redelivery"),
    ("resumption-replays-other-streams", "http-streams", "MUST", HTTP, ALL, "Resuming a stream also replays messages of other streams.", "basic/transports#resumability-and-redelivery"),
    ("resumption-repeats-last-event", "http-streams", "SHOULD", HTTP, ALL, "Resuming a stream sends the event named in Last-Event-ID again.", "basic/transports#resumability-and-redelivery"),
    ("resumption-loses-one-event", "http-streams", "SHOULD", HTTP, ALL, "Resuming a stream leaves out the first message that was missed.", "basic/transports#resumability-and-redelivery"),
    # -- Streamable HTTP: sessions --
    ("session-id-with-space", "http-sessions", "MUST", HTTP, ALL, "The session id holds spaces.", "basic/transports#session-management"),
    ("session-ids-counted", "http-sessions", "SHOULD", HTTP, ALL, "Session ids are small counted numbers.", "basic/transports#session-management"),
    ("missing-session-header-accepted", "http-sessions", "SHOULD", HTTP, ALL, "Requests without a session header are served in the newest session.", "basic/transports#session-management"),
    ("ended-session-still-served", "http-sessions", "MUST", HTTP, ALL, "After DELETE was accepted, the session goes on.", "basic/transports#session-management"),
    ("ended-session-gets-400", "http-sessions", "MUST", HTTP, ALL, "Requests of an ended session get 400 instead of 404.", "basic/transports#session-management"),
    ("log-level-shared-by-sessions", "http-sessions", "MUST", HTTP, ALL, "Setting the log level in one session changes it in all.", "basic/transports#session-management"),
    ("subscriptions-shared-by-sessions", "http-sessions", "MUST", HTTP, ALL, "A subscription of one session makes updates go to all sessions.", "server/resources#subscriptions"),
    # -- tools --
    ("tools-cursor-ignored", "pagination", "MUST", BOTH, ALL, "tools/list gives its first page whatever the cursor.", "server/utilities/pagination#request-format"),
    ("last-page-with-null-cursor", "pagination", "MUST", BOTH, ALL, "The last page of a list has a nextCursor of null.", "server/utilities/pagination#response-format"),
    ("cursor-as-number", "pagination", "MUST", BOTH, ALL, "nextCursor is a number.", "server/utilities/pagination#pagination-model"),
    ("item-lost-between-pages", "pagination", "MUST", BOTH, ALL, "The first resource of the second page is never listed.", "server/utilities/pagination#pagination-model"),
    ("unknown-cursor-restarts-list", "pagination", "SHOULD", BOTH, ALL, "An invalid cursor gives the first page instead of an error.", "server/utilities/pagination#error-handling"),
    ("tool-listed-twice", "tools", "SHOULD", BOTH, ALL, "A tool of the first page is listed again on the later ones.", "server/tools#tool-names"),
    ("tool-name-with-space", "tools", "SHOULD", BOTH, NEWER, "One tool has a name with spaces.", "server/tools#tool-names"),
    ("schema-null-without-arguments", "tools", "MUST", BOTH, ALL, "Tools without arguments have an inputSchema of null.", "server/tools#tool"),
    ("input-schema-unknown-type", "tools", "MUST", BOTH, ALL, "The input schema of one tool uses the type int, which JSON Schema does not know.", "basic/index#schema-validation"),
    ("output-schema-not-an-object-type", "tools", "MUST", BOTH, ALL, "The output schema of one tool describes an array at its root.", "server/tools#output-schema"),
    ("read-only-hint-as-string", "tools", "MUST", BOTH, ALL, "The annotation readOnlyHint is the string true or false.", "server/tools#tool"),
    ("tool-icon-without-source", "tools", "MUST", BOTH, NEWER, "Icons of tools have url instead of src.", "basic/index#icons"),
    ("structured-amounts-as-strings", "tools", "MUST", BOTH, ALL, "Amounts nested in the structured content are strings where the output schema says numbers.", "server/tools#output-schema"),
    ("structured-content-missing-when-nothing-found", "tools", "MUST", BOTH, ALL, "A search without hits returns no structured content although the tool has an output schema.", "server/tools#output-schema"),
    ("structured-without-text", "tools", "SHOULD", BOTH, ALL, "Structured results do not repeat their JSON as text content.", "server/tools#structured-content"),
    ("content-as-single-object", "tools", "MUST", BOTH, ALL, "The content of one tool is an object instead of a list.", "server/tools#tool-result"),
    ("content-member-missing", "tools", "MUST", BOTH, ALL, "Structured results have no content member.", "server/tools#tool-result"),
    ("image-data-with-prefix", "tools", "MUST", BOTH, ALL, "The data of an image is a data URI instead of bare base64.", "server/tools#image-content"),
    ("image-priority-above-one", "tools", "MUST", BOTH, ALL, "The priority annotation of an image is 3.", "server/resources#annotations"),
    ("audio-without-mime-type", "tools", "MUST", BOTH, ALL, "Audio content has no mimeType.", "server/tools#audio-content"),
    ("resource-link-without-name", "tools", "MUST", BOTH, ALL, "A resource link has no name.", "server/tools#resource-links"),
    ("embedded-resource-flattened", "tools", "MUST", BOTH, ALL, "An embedded resource has its members beside the type instead of inside resource.", "server/tools#embedded-resources"),
    ("tool-failure-without-flag", "tools", "MUST", BOTH, ALL, "A conversion that fails is returned as if it had succeeded.", "server/tools#error-handling"),
    ("tool-failure-as-internal-error", "tools", "MUST", BOTH, ALL, "Failures inside tools are JSON-RPC errors instead of results with isError.", "server/tools#error-handling"),
    ("error-flag-as-text", "tools", "MUST", BOTH, ALL, "isError is the string true.", "server/tools#error-handling"),
    ("unknown-tool-succeeds", "tools", "MUST", BOTH, ALL, "Calling an unknown tool gives an ordinary result.", "server/tools#error-handling"),
    ("omitted-arguments-crash-tool", "tools", "MUST", BOTH, ALL, "A call without the arguments member gets an internal error, even if all arguments are optional.", "server/tools#calling-tools"),
    ("nested-arguments-not-checked", "tools", "MUST", BOTH, ALL, "Wrong values inside the nested filters argument are silently ignored.", "server/tools#security-considerations"),
    ("integer-limits-not-checked", "tools", "MUST", BOTH, ALL, "Numbers outside the limits in the input schema are accepted.", "server/tools#security-considerations"),
    ("bad-arguments-as-protocol-error", "tools", "SHOULD", BOTH, NEWER, "Arguments that break the input schema give a JSON-RPC error instead of a result with isError.", "server/tools#error-handling"),
    ("list-changes-not-announced", "tools", "SHOULD", BOTH, ALL, "Lists of tools, resources and prompts grow without any list_changed notification.", "server/tools#list-changed-notification"),
    # -- resources --
    ("resource-uri-without-scheme", "resources", "MUST", BOTH, ALL, "One listed resource has a relative reference as its URI.", "server/resources#resource"),
    ("resource-without-name", "resources", "MUST", BOTH, ALL, "One listed resource has no name.", "server/resources#resource"),
    ("resource-size-as-text", "resources", "MUST", BOTH, ALL, "The size of resources is a text such as 76 bytes.", "server/resources#resource"),
    ("audience-as-string", "resources", "MUST", BOTH, ALL, "The audience annotation of resources is a string instead of a list.", "server/resources#annotations"),
    ("template-listed-as-uri", "resources", "MUST", BOTH, ALL, "One resource template has uri instead of uriTemplate.", "server/resources#resource-templates"),
    ("contents-as-single-object", "resources", "MUST", BOTH, ALL, "contents in the answer to resources/read is an object instead of a list.", "server/resources#reading-resources"),
    ("step-contents-without-uri", "resources", "MUST", BOTH, ALL, "Contents read through one of the templates have no uri.", "server/resources#resource-contents"),
    ("blob-in-url-alphabet", "resources", "MUST", BOTH, ALL, "Binary contents use the URL alphabet of base64 without padding.", "server/resources#security-considerations"),
    ("blob-sent-as-text", "resources", "MUST", BOTH, ALL, "The picture is sent in the text member instead of blob.", "server/resources#binary-content"),
    ("dot-segments-reach-private-file", "resources", "MUST", BOTH, ALL, "A URI with dot segments reads a document that is not part of the archive.", "server/resources#security-considerations"),
    ("missing-resource-reads-empty", "resources", "SHOULD", BOTH, ALL, "Reading a resource that does not exist gives empty contents instead of an error.", "server/resources#error-handling"),
    ("subscription-to-missing-resource-accepted", "resources", "MUST", BOTH, ALL, "Subscribing to a resource that does not exist succeeds.", "server/resources#security-considerations"),
    ("subscribe-answered-with-null", "resources", "MUST", BOTH, ALL, "The result of resources/subscribe is null.", "basic/index#responses"),
    ("unsubscribe-without-effect", "resources", "MUST", BOTH, ALL, "Updates go on after resources/unsubscribe.", "server/resources#subscriptions"),
    ("updates-without-subscription", "resources", "MUST", BOTH, ALL, "Updates are sent for resources nobody subscribed to.", "server/resources#subscriptions"),
    ("updates-stop-after-the-first", "resources", "MUST", BOTH, ALL, "A subscription gives one update only.", "server/resources#subscriptions"),
    ("update-without-uri", "resources", "MUST", BOTH, ALL, "Update notifications have no uri.", "server/resources#subscriptions"),
    ("update-uri-shortened", "resources", "MUST", BOTH, ALL, "The uri in update notifications lacks its scheme.", "server/resources#subscriptions"),
    # -- prompts --
    ("prompt-arguments-as-object", "prompts", "MUST", BOTH, ALL, "The arguments of one listed prompt are an object instead of a list.", "server/prompts#prompt"),
    ("prompt-argument-required-as-word", "prompts", "MUST", BOTH, ALL, "The required member of one prompt argument is the word yes.", "server/prompts#prompt"),
    ("prompt-message-role-system", "prompts", "MUST", BOTH, ALL, "One prompt has a message with the role system.", "server/prompts#promptmessage"),
    ("prompt-content-bare-string", "prompts", "MUST", BOTH, ALL, "The content of one prompt message is a bare string.", "server/prompts#promptmessage"),
    ("prompt-resource-without-mime-type", "prompts", "MUST", BOTH, ALL, "The resource embedded in a prompt has no MIME type.", "server/prompts#embedded-resources"),
    ("unknown-prompt-gives-no-messages", "prompts", "SHOULD", BOTH, ALL, "An unknown prompt gives an empty list of messages instead of an error.", "server/prompts#error-handling"),
    ("missing-prompt-argument-accepted", "prompts", "SHOULD", BOTH, ALL, "One prompt is given although its required argument is missing.", "server/prompts#error-handling"),
    # -- completion --
    ("completion-over-one-hundred", "completion", "MUST", BOTH, ALL, "More than a hundred values are returned at once.", "server/utilities/completion#completion-results"),
    ("completion-has-more-always-false", "completion", "MUST", BOTH, ALL, "hasMore is false although only some of the values were returned.", "server/utilities/completion#completion-results"),
    ("completion-values-as-objects", "completion", "MUST", BOTH, ALL, "Completion values are objects instead of strings.", "server/utilities/completion#completeresult"),
    ("completion-total-as-text", "completion", "MUST", BOTH, ALL, "The total of a completion is a string.", "server/utilities/completion#completeresult"),
    ("completion-without-wrapper", "completion", "MUST", BOTH, ALL, "The values stand directly in the result, without the completion member.", "server/utilities/completion#completeresult"),
    ("completion-for-unknown-prompt-empty", "completion", "SHOULD", BOTH, ALL, "Completing for an unknown prompt gives an empty list instead of an error.", "server/utilities/completion#error-handling"),
    # -- logging --
    ("log-level-ignored", "logging", "MUST", BOTH, ALL, "Messages below the level that was set are still sent.", "server/utilities/logging#setting-log-level"),
    ("log-level-misspelt", "logging", "MUST", BOTH, ALL, "Warnings are sent with the level warn.", "server/utilities/logging#log-levels"),
    ("log-text-instead-of-data", "logging", "MUST", BOTH, ALL, "Log notifications have a message member instead of data.", "server/utilities/logging#log-message-notifications"),
    ("log-holds-password", "logging", "MUST", BOTH, ALL, "An error message in the log holds a password.", "server/utilities/logging#security"),
    ("set-level-result-with-null-meta", "logging", "MUST", BOTH, ALL, "The result of logging/setLevel has a _meta of null.", "server/utilities/logging#setting-log-level"),
    ("unknown-log-level-accepted", "logging", "SHOULD", BOTH, ALL, "An unknown log level is accepted.", "server/utilities/logging#error-handling"),
    # -- progress --
    ("progress-stalls", "progress", "MUST", BOTH, ALL, "From the third step on the progress value no longer grows.", "basic/utilities/progress#progress-flow"),
    ("progress-after-the-answer", "progress", "MUST", BOTH, ALL, "One more progress notification comes after the response.", "basic/utilities/progress#implementation-notes"),
    ("progress-without-token", "progress", "MUST", BOTH, ALL, "Progress is sent without a token having been given; the request id is used.", "basic/utilities/progress#behavior-requirements"),
    ("progress-token-as-text", "progress", "MUST", BOTH, ALL, "An integer progress token comes back as a string.", "basic/utilities/progress#behavior-requirements"),
    ("progress-token-of-first-call", "progress", "MUST", BOTH, ALL, "All later calls report progress under the token of the first call.", "basic/utilities/progress#behavior-requirements"),
    ("progress-value-as-percent-text", "progress", "MUST", BOTH, ALL, "The progress value is a text with a percent sign.", "basic/utilities/progress#progress-flow"),
    ("progress-token-missing-in-last", "progress", "MUST", BOTH, ALL, "The last progress notification has no token.", "basic/utilities/progress#progress-flow"),
    # -- cancellation --
    ("cancelled-request-still-answered", "cancellation", "SHOULD", BOTH, ALL, "A cancelled tool call runs on and is answered.", "basic/utilities/cancellation#behavior-requirements"),
    ("cancellation-hits-all-calls", "cancellation", "MUST", BOTH, ALL, "Cancelling one call stops all calls of the session, so the others are never answered.", "basic/index#responses"),
    ("stray-cancellation-answered", "cancellation", "MUST", BOTH, ALL, "A cancellation of an unknown request is answered with an error.", "basic/index#notifications"),
    ("answered-request-cancelled", "cancellation", "MUST", BOTH, ALL, "The server cancels its own sampling request after the client has answered it.", "basic/utilities/cancellation#behavior-requirements"),
    # -- client features --
    ("sampling-without-capability", "client-features", "MUST", BOTH, ALL, "Asks for sampling although the client did not offer it.", "basic/lifecycle#operation"),
    ("sampling-without-max-tokens", "client-features", "MUST", BOTH, ALL, "The sampling request has no maxTokens.", "client/sampling#creating-messages"),
    ("sampling-priority-as-percent", "client-features", "MUST", BOTH, ALL, "A model priority is 80 instead of a number from 0 to 1.", "client/sampling#capability-priorities"),
    ("sampling-system-message-in-list", "client-features", "MUST", BOTH, ALL, "The system prompt is sent as a message with the role system.", "client/sampling#messages"),
    ("sampling-tools-not-negotiated", "client-features", "MUST", BOTH, NEWER, "The sampling request has tools although the client did not offer sampling.tools.", "client/sampling#tools-in-sampling"),
    ("elicitation-without-capability", "client-features", "MUST", BOTH, ALL, "Asks the user although the client did not offer elicitation.", "basic/lifecycle#operation"),
    ("elicitation-url-mode-not-offered", "client-features", "MUST", BOTH, NEWER, "Uses URL mode although the client offers only forms.", "client/elicitation#capabilities"),
    ("elicitation-nested-schema", "client-features", "MUST", BOTH, ALL, "The form has a nested object.", "client/elicitation#requested-schema"),
    ("elicitation-asks-for-password", "client-features", "MUST", BOTH, ALL, "The form asks for a password.", "client/elicitation#security-considerations"),
    ("elicitation-without-message", "client-features", "MUST", BOTH, ALL, "The elicitation request has no message.", "client/elicitation#elicitation-requests"),
    ("elicited-answer-not-checked", "client-features", "SHOULD", BOTH, ALL, "An answer that breaks the requested schema is recorded.", "client/elicitation#security-considerations"),
    ("roots-without-capability", "client-features", "MUST", BOTH, ALL, "Asks for roots although the client did not offer them.", "basic/lifecycle#operation"),
    # -- tasks --
    ("task-support-unknown-value", "tasks", "MUST", BOTH, NEWER, "execution.taskSupport has a value that does not exist.", "basic/utilities/tasks#tool-level-negotiation"),
    ("task-created-without-wrapper", "tasks", "MUST", BOTH, NEWER, "The answer to a task-augmented call has the task members directly in the result.", "basic/utilities/tasks#creating-tasks"),
    ("task-starts-as-completed", "tasks", "MUST", BOTH, NEWER, "A new task is announced as completed.", "basic/utilities/tasks#task-status-lifecycle"),
    ("task-starts-as-queued", "tasks", "MUST", BOTH, NEWER, "A new task has a status that does not exist.", "basic/utilities/tasks#task-status"),
    ("task-without-last-update", "tasks", "MUST", BOTH, NEWER, "Tasks have no lastUpdatedAt.", "basic/utilities/tasks#ttl-and-resource-management"),
    ("task-created-as-number", "tasks", "MUST", BOTH, NEWER, "createdAt is a number of seconds.", "basic/utilities/tasks#ttl-and-resource-management"),
    ("task-get-without-ttl", "tasks", "MUST", BOTH, NEWER, "The answer to tasks/get has no ttl.", "basic/utilities/tasks#ttl-and-resource-management"),
    ("task-get-with-related-metadata", "tasks", "SHOULD", BOTH, NEWER, "The answer to tasks/get repeats the task id as related-task metadata.", "basic/utilities/tasks#associating-task-related-messages"),
    ("task-status-without-ttl", "tasks", "MUST", BOTH, NEWER, "Status notifications lack the ttl of the task.", "basic/utilities/tasks#task-status-notification"),
    ("task-ids-counted", "tasks", "MUST", BOTH, NEWER, "Task ids are counted numbers that can be guessed.", "basic/utilities/tasks#task-isolation-and-access-control"),
    ("task-result-not-related", "tasks", "MUST", BOTH, NEWER, "The answer to tasks/result has no related-task metadata.", "basic/utilities/tasks#related-task-metadata"),
    ("task-messages-not-related", "tasks", "MUST", BOTH, NEWER, "Progress notifications of a task have no related-task metadata.", "basic/utilities/tasks#associating-task-related-messages"),
    ("task-progress-under-task-id", "tasks", "MUST", BOTH, NEWER, "Progress of a task is reported under the task id instead of the given token.", "basic/utilities/progress#behavior-requirements"),
    ("task-result-does-not-wait", "tasks", "MUST", BOTH, NEWER, "tasks/result fails at once while the task is working.", "basic/utilities/tasks#result-retrieval"),
    ("task-failure-result-as-error", "tasks", "MUST", BOTH, NEWER, "tasks/result turns a tool result with isError into a JSON-RPC error.", "basic/utilities/tasks#result-retrieval"),
    ("failed-task-shown-as-completed", "tasks", "SHOULD", BOTH, NEWER, "A task whose tool failed ends as completed.", "basic/utilities/tasks#task-execution-errors"),
    ("finished-task-cancelled-again", "tasks", "MUST", BOTH, NEWER, "A completed task can be cancelled.", "basic/utilities/tasks#task-cancellation"),
    ("cancelled-task-completes-later", "tasks", "MUST", BOTH, NEWER, "A cancelled task becomes completed some time later.", "basic/utilities/tasks#task-cancellation"),
    ("task-cancel-answers-working", "tasks", "MUST", BOTH, NEWER, "After tasks/cancel the task stays working.", "basic/utilities/tasks#task-cancellation"),
    ("unknown-task-not-refused", "tasks", "MUST", BOTH, NEWER, "tasks/get invents a working task for an unknown id.", "basic/utilities/tasks#protocol-errors"),
    ("unknown-task-with-wrong-code", "tasks", "MUST", BOTH, NEWER, "An unknown task id gives an internal error instead of invalid params.", "basic/utilities/tasks#protocol-errors"),
    ("finished-tasks-not-listed", "tasks", "MUST", BOTH, NEWER, "tasks/list leaves out finished tasks that tasks/get still knows.", "basic/utilities/tasks#task-listing"),
    ("task-list-without-next-cursor", "tasks", "MUST", BOTH, NEWER, "tasks/list gives its first page only, without a cursor for more.", "basic/utilities/tasks#task-listing"),
    ("task-forbidden-tool-accepted", "tasks", "SHOULD", BOTH, NEWER, "A tool without task support can be started as a task.", "basic/utilities/tasks#tool-level-negotiation"),
]


# ---------------------------------------------------------------------------
# The archive: recipes, pantry, pictures and sounds
# ---------------------------------------------------------------------------

def make_png(width, height, colour, shade=0):
    """Return a small PNG picture in one colour, or with a shade that changes from left to right."""
    def chunk(kind, body):
        check = zlib.crc32(kind + body) & 0xFFFFFFFF
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check)
    row = b"\x00" + bytes((part + shade * column * column) % 256 for column in range(width) for part in colour)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
            + chunk(b"IDAT", zlib.compress(row * height, 9)) + chunk(b"IEND", b""))


def make_wav(samples):
    """Return a short mono sound: a simple square wave, like a kitchen bell."""
    body = bytes(200 if (number // 8) % 2 else 56 for number in range(samples))
    return (b"RIFF" + struct.pack("<I", 36 + len(body)) + b"WAVEfmt "
            + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
            + b"data" + struct.pack("<I", len(body)) + body)


COVER_PICTURE = make_png(24, 12, (201, 120, 62), 5)
ICON_PICTURE = make_png(16, 16, (150, 75, 30))
BELL_SOUND = make_wav(240)
ICONS = [{"src": "data:image/png;base64," + base64.b64encode(ICON_PICTURE).decode(),
          "mimeType": "image/png", "sizes": ["16x16"]}]
COURSES = ["starter", "main", "dessert", "bread"]
AUDIENCES = ["beginner", "home cook", "professional", "children"]

ARCHIVE_LOCK = threading.Lock()
RECIPES = {
    "rye-bread": {
        "title": "Dark rye bread", "course": "bread", "minutes": 190, "portions": 12,
        "tags": ["vegan", "slow"],
        "ingredients": [["rye flour", 500, "gram"], ["water", 420, "millilitre"], ["salt", 10, "gram"]],
        "steps": ["Mix flour and water.", "Rest for an hour.", "Add the salt and bake."]},
    "leek-soup": {
        "title": "Leek and potato soup", "course": "starter", "minutes": 40, "portions": 4,
        "tags": ["vegetarian", "quick"],
        "ingredients": [["leek", 300, "gram"], ["potato", 400, "gram"], ["stock", 900, "millilitre"]],
        "steps": ["Slice the leeks.", "Simmer everything.", "Blend until smooth.", "Season."]},
    "creme-caramel": {
        "title": "Crème caramel", "course": "dessert", "minutes": 75, "portions": 6,
        "tags": ["vegetarian"],
        "ingredients": [["milk", 500, "millilitre"], ["egg yolk", 90, "gram"], ["sugar", 150, "gram"]],
        "steps": ["Melt the sugar.", "Stir milk and eggs.", "Bake in a water bath."]},
    "bean-stew": {
        "title": "Smoky bean stew", "course": "main", "minutes": 95, "portions": 5,
        "tags": ["vegan", "slow"],
        "ingredients": [["white beans", 450, "gram"], ["tomato", 600, "gram"], ["paprika", 8, "gram"]],
        "steps": ["Soak the beans.", "Fry the paprika.", "Stew for an hour."]},
    "plum-cake": {
        "title": "Plum sheet cake", "course": "dessert", "minutes": 65, "portions": 16,
        "tags": ["vegetarian"],
        "ingredients": [["plum", 1000, "gram"], ["flour", 350, "gram"], ["butter", 180, "gram"]],
        "steps": ["Make the dough.", "Lay out the plums.", "Bake until golden."]},
}
SAVED_LIMIT = 40
PANTRY = {"top": ["paprika", "salt", "sugar"], "middle": ["flour", "rye flour", "white beans"],
          "bottom": ["potato", "leek", "plum"]}
TASTINGS = []
OVEN = {"celsius": 180}
LOG_LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
INGREDIENTS = [f"{base} ({form})" for base in
               ["apple", "apricot", "barley", "bean", "beet", "butter", "cabbage", "carrot", "celery",
                "cherry", "chestnut", "fennel", "garlic", "honey", "leek", "lentil", "milk", "oat",
                "onion", "parsnip", "pear", "plum", "potato", "rye", "spinach", "tomato"]
               for form in ["fresh", "dried", "frozen", "pickled", "powdered"]]

UNITS = {"gram": ("mass", 1.0), "kilogram": ("mass", 1000.0), "ounce": ("mass", 28.3495),
         "millilitre": ("volume", 1.0), "litre": ("volume", 1000.0), "cup": ("volume", 236.588)}


def b64(data):
    return base64.b64encode(data).decode("ascii")


def now_iso():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def recipe_text(recipe_id):
    recipe = RECIPES[recipe_id]
    lines = ["# " + recipe["title"], "", f"Course: {recipe['course']}. Time: {recipe['minutes']} minutes.", ""]
    lines += [f"- {amount} {unit} {name}" for name, amount, unit in recipe["ingredients"]]
    lines += [""] + [f"{number}. {step}" for number, step in enumerate(recipe["steps"], 1)]
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------------------
# A small JSON Schema checker for tool arguments and elicited answers
# ---------------------------------------------------------------------------

def type_matches(value, name):
    if name == "object":
        return isinstance(value, dict)
    if name == "array":
        return isinstance(value, list)
    if name == "string":
        return isinstance(value, str)
    if name == "boolean":
        return isinstance(value, bool)
    if name == "integer":
        return not isinstance(value, bool) and (isinstance(value, int) or isinstance(value, float) and value.is_integer())
    if name == "number":
        return not isinstance(value, bool) and isinstance(value, (int, float))
    return False


def schema_problems(value, schema, where="arguments"):
    """Return a list of sentences that say how the value breaks the schema."""
    if "type" in schema and not type_matches(value, schema["type"]):
        return [f"{where} must be of type {schema['type']}"]
    problems = []
    if "enum" in schema and value not in schema["enum"]:
        problems.append(f"{where} must be one of {', '.join(map(str, schema['enum']))}")
    if "oneOf" in schema and value not in [choice["const"] for choice in schema["oneOf"]]:
        problems.append(f"{where} must be one of {', '.join(choice['const'] for choice in schema['oneOf'])}")
    if "minimum" in schema and value < schema["minimum"]:
        problems.append(f"{where} must be at least {schema['minimum']}")
    if "maximum" in schema and value > schema["maximum"]:
        problems.append(f"{where} must be at most {schema['maximum']}")
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            problems.append(f"{where} is too short")
        if len(value) > schema.get("maxLength", 100000):
            problems.append(f"{where} is too long")
        if "pattern" in schema and not re.search(schema["pattern"], value):
            problems.append(f"{where} must match {schema['pattern']}")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 100000):
            problems.append(f"{where} has a wrong number of items")
        for number, item in enumerate(value):
            problems += schema_problems(item, schema.get("items", {}), f"{where}[{number}]")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for name in schema.get("required", []):
            if name not in value:
                problems.append(f"{where}.{name} is required")
        for name, item in value.items():
            if name in known:
                problems += schema_problems(item, known[name], f"{where}.{name}")
            elif schema.get("additionalProperties") is False:
                problems.append(f"{where}.{name} is not known")
    return problems


# ---------------------------------------------------------------------------
# Tools
# ---------------------------------------------------------------------------

class RpcError(Exception):
    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class ToolFailure(Exception):
    """The tool ran and failed; the model should read why."""


class Cancelled(Exception):
    """The client has withdrawn the request."""


def text(words, **more):
    return {"type": "text", "text": words, **more}


def structured(value):
    if FAULT == "structured-without-text":
        return {"content": [], "structuredContent": value}
    return {"content": [text(json.dumps(value, ensure_ascii=False))], "structuredContent": value}


def known_recipe(recipe_id):
    with ARCHIVE_LOCK:
        if recipe_id not in RECIPES:
            raise ToolFailure(f"There is no recipe called '{recipe_id}'. Known: {', '.join(RECIPES)}.")
        return json.loads(json.dumps(RECIPES[recipe_id]))


def tool_search_recipes(call, arguments):
    filters = arguments.get("filters", {})
    words = arguments.get("query", "").lower()
    found = []
    with ARCHIVE_LOCK:
        for recipe_id, recipe in RECIPES.items():
            time_limit = filters.get("time", {}).get("max_minutes", 10 ** 6)
            if (words in (recipe_id + " " + recipe["title"]).lower()
                    and filters.get("course", recipe["course"]) == recipe["course"]
                    and set(filters.get("tags", [])) <= set(recipe["tags"])
                    and recipe["minutes"] <= time_limit):
                found.append({"id": recipe_id, "title": recipe["title"], "course": recipe["course"],
                              "minutes": recipe["minutes"]})
    if arguments.get("order", "title") == "minutes":
        found.sort(key=lambda hit: hit["minutes"])
    else:
        found.sort(key=lambda hit: hit["title"])
    limit = int(arguments.get("limit", 5))
    if FAULT == "structured-content-missing-when-nothing-found" and not found:
        return {"content": [text("Nothing found.")]}
    return structured({"total": len(found), "recipes": found[:limit]})


def tool_scale_recipe(call, arguments):
    recipe = known_recipe(arguments["recipe_id"])
    portions = int(arguments["portions"])
    factor = portions / recipe["portions"]
    amounts = [{"name": name, "amount": round(amount * factor, 2), "unit": unit}
               for name, amount, unit in recipe["ingredients"]]
    if FAULT == "structured-amounts-as-strings":
        for item in amounts:
            item["amount"] = str(item["amount"])
    return structured({"recipe": arguments["recipe_id"], "portions": portions, "ingredients": amounts})


def tool_plan_week(call, arguments):
    days = int(arguments.get("days", 3))
    pause = arguments.get("seconds", 0) / days
    if arguments.get("diet") == "fruitarian":
        raise ToolFailure("The archive has no fruitarian main course, so no plan can be made.")
    with ARCHIVE_LOCK:
        menu = [recipe["title"] for recipe in RECIPES.values()
                if recipe["course"] != "bread" and arguments.get("diet", "any") in ("any", *recipe["tags"])]
    lines = []
    for day in range(1, days + 1):
        call.sleep(pause)
        lines.append(f"Day {day}: {menu[(day - 1) % len(menu)]}")
        value = day
        if FAULT == "progress-stalls" and day > 2:
            value = 2
        call.progress(value, days, f"Planned day {day} of {days}")
    if FAULT == "progress-after-the-answer":
        later = threading.Timer(0.4, lambda: call.progress(days + 1, days + 1, "Plan stored", late=True))
        later.daemon = True
        later.start()
    return {"content": [text("\n".join(lines))]}


def tool_check_pantry(call, arguments):
    call.log("debug", {"event": "shelf scan begins", "shelves": len(PANTRY)})
    call.log("info", {"event": "shelf scan", "shelf": "top"})
    call.log("notice", {"event": "shelf low", "shelf": "bottom"})
    call.log("warning", {"event": "item runs out", "item": "plum"})
    call.log("error", {"event": "scale not readable", "shelf": "middle"})
    count = sum(len(items) for items in PANTRY.values())
    return {"content": [text(f"The pantry holds {count} items on {len(PANTRY)} shelves.")]}


def tool_suggest_variation(call, arguments):
    recipe = known_recipe(arguments["recipe_id"])
    wish = arguments.get("wish", "something seasonal")
    if "sampling" not in call.session.client_capabilities and FAULT != "sampling-without-capability":
        raise ToolFailure("This client does not offer its model, so no variation can be suggested.")
    params = {
        "messages": [{"role": "user", "content": text(
            f"Suggest one variation of the recipe '{recipe['title']}' with {wish}. One sentence.")}],
        "systemPrompt": "You are a careful cook.",
        "modelPreferences": {"hints": [{"name": "small"}], "speedPriority": 0.8, "costPriority": 0.5},
        "maxTokens": 120}
    if FAULT == "sampling-without-max-tokens":
        del params["maxTokens"]
    if FAULT == "sampling-priority-as-percent":
        params["modelPreferences"]["speedPriority"] = 80
    if FAULT == "sampling-system-message-in-list":
        params["messages"].insert(0, {"role": "system", "content": text(params.pop("systemPrompt"))})
    if (FAULT == "sampling-tools-not-negotiated" and call.session.new_revision
            and "tools" not in call.session.client_capabilities.get("sampling", {})):
        params["tools"] = [{"name": "scale_recipe", "inputSchema": {"type": "object"}}]
        params["toolChoice"] = {"mode": "auto"}
    answer = call.ask("sampling/createMessage", params)
    content = answer.get("content")
    blocks = content if isinstance(content, list) else [content]
    words = [block["text"] for block in blocks
             if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)]
    if answer.get("role") not in ("assistant", "user") or not words:
        raise ToolFailure("The client's model gave no usable text.")
    if FAULT == "answered-request-cancelled":
        call.notify("notifications/cancelled", {"requestId": call.last_asked, "reason": "No longer needed"})
    return {"content": [text("Variation: " + " ".join(words))]}


def tasting_schema(session):
    occasion = {"type": "string", "title": "Occasion", "description": "When was it eaten?"}
    if session.new_revision:
        occasion["oneOf"] = [{"const": "weekday", "title": "On a weekday"}, {"const": "feast", "title": "At a feast"}]
    else:
        occasion.update({"enum": ["weekday", "feast"], "enumNames": ["On a weekday", "At a feast"]})
    return {"type": "object",
            "properties": {"stars": {"type": "integer", "title": "Stars", "minimum": 1, "maximum": 5},
                           "comment": {"type": "string", "title": "Comment", "maxLength": 200},
                           "again": {"type": "boolean", "title": "Cook it again?", "default": True},
                           "occasion": occasion},
            "required": ["stars"]}


def tool_record_tasting(call, arguments):
    recipe = known_recipe(arguments["recipe_id"])
    session = call.session
    offered = session.client_capabilities.get("elicitation")
    form_offered = offered is not None and (not session.new_revision or "form" in offered or "url" not in offered)
    if not form_offered and FAULT != "elicitation-without-capability":
        raise ToolFailure("This client cannot ask its user with a form, so no tasting can be recorded.")
    schema = tasting_schema(session)
    params = {"message": f"How did you like '{recipe['title']}'?", "requestedSchema": schema}
    if session.new_revision:
        params["mode"] = "form"
    if FAULT == "elicitation-nested-schema":
        schema["properties"]["cook"] = {"type": "object", "properties": {"name": {"type": "string"}}}
    if FAULT == "elicitation-asks-for-password":
        schema["properties"]["password"] = {"type": "string", "title": "Password of your archive account"}
        schema["required"] = ["stars", "password"]
    if FAULT == "elicitation-without-message":
        del params["message"]
    if FAULT == "elicitation-url-mode-not-offered" and session.new_revision and "url" not in (offered or {}):
        params = {"mode": "url", "message": "Please rate the dish on our page.", "elicitationId": str(uuid.uuid4()),
                  "url": "https://archive.example/tastings/new"}
        schema = {"type": "object"}
    answer = call.ask("elicitation/create", params)
    action = answer.get("action")
    if action == "decline":
        return {"content": [text("The user declined; nothing was recorded.")]}
    if action == "cancel":
        return {"content": [text("The user closed the form; nothing was recorded.")]}
    if action != "accept":
        raise ToolFailure("The client gave no usable answer.")
    content = answer.get("content", {})
    problems = schema_problems(content, schema, "answer")
    if problems and FAULT != "elicited-answer-not-checked":
        raise ToolFailure("The answer does not fit the form: " + "; ".join(problems))
    with ARCHIVE_LOCK:
        TASTINGS.append({"recipe": arguments["recipe_id"], "answer": content})
        del TASTINGS[:-50]
    announce_update("kitchen://tastings")
    return {"content": [text("Recorded: " + json.dumps(content, ensure_ascii=False))]}


def tool_list_shared_folders(call, arguments):
    if "roots" not in call.session.client_capabilities and FAULT != "roots-without-capability":
        raise ToolFailure("This client shares no folders.")
    answer = call.ask("roots/list", None)
    roots = answer.get("roots")
    if not isinstance(roots, list):
        raise ToolFailure("The client gave no usable list of folders.")
    lines = [f"{root.get('name', 'folder')}: {root['uri']}" for root in roots
             if isinstance(root, dict) and str(root.get("uri", "")).startswith("file://")]
    return {"content": [text("\n".join(lines) or "No folders are shared.")]}


def tool_convert_measure(call, arguments):
    source, target = UNITS[arguments["from"]], UNITS[arguments["to"]]
    if source[0] != target[0]:
        message = f"Cannot convert {arguments['from']} to {arguments['to']}: one is a {source[0]}, the other a {target[0]}."
        if FAULT == "tool-failure-without-flag":
            return {"content": [text(message)]}
        raise ToolFailure(message)
    result = round(arguments["amount"] * source[1] / target[1], 4)
    return {"content": [text(f"{arguments['amount']} {arguments['from']} = {result} {arguments['to']}")]}


def tool_show_recipe_card(call, arguments):
    recipe_id = arguments["recipe_id"]
    recipe = known_recipe(recipe_id)
    uri = "recipe://cards/" + recipe_id
    picture = b64(COVER_PICTURE)
    if FAULT == "image-data-with-prefix":
        picture = "data:image/png;base64," + picture
    sound = {"type": "audio", "data": b64(BELL_SOUND), "mimeType": "audio/wav"}
    if FAULT == "audio-without-mime-type":
        del sound["mimeType"]
    link = {"type": "resource_link", "uri": uri, "name": recipe_id, "title": recipe["title"],
            "mimeType": "text/markdown", "annotations": {"audience": ["user"], "priority": 0.6}}
    if FAULT == "resource-link-without-name":
        del link["name"]
    embedded = {"type": "resource",
                "resource": {"uri": uri, "mimeType": "text/markdown", "text": recipe_text(recipe_id)},
                "annotations": {"audience": ["assistant"], "priority": 1}}
    if FAULT == "embedded-resource-flattened":
        embedded = {"type": "resource", **embedded["resource"]}
    image = {"type": "image", "data": picture, "mimeType": "image/png",
             "annotations": {"audience": ["user"], "priority": 0.3}}
    if FAULT == "image-priority-above-one":
        image["annotations"]["priority"] = 3
    return {"content": [text(recipe["title"], annotations={"audience": ["user", "assistant"], "priority": 0.9}),
                        image, sound, link, embedded]}


def tool_save_recipe(call, arguments):
    recipe_id = arguments["recipe_id"]
    with ARCHIVE_LOCK:
        if recipe_id in RECIPES:
            raise ToolFailure(f"A recipe called '{recipe_id}' exists already; choose another identifier.")
        if len(RECIPES) >= SAVED_LIMIT:
            raise ToolFailure("The archive is full.")
        RECIPES[recipe_id] = {"title": arguments["title"], "course": arguments["course"], "minutes": 30, "portions": 4,
                              "tags": [], "ingredients": [], "steps": arguments["steps"]}
    for session in all_sessions():
        session.announce_list("resources")
    return {"content": [text(f"Saved as recipe://cards/{recipe_id}")]}


def tool_weekly_special(call, arguments):
    return {"content": [text("This week: " + RECIPES["plum-cake"]["title"])]}


READ_ONLY = {"readOnlyHint": True, "openWorldHint": False}
RECIPE_ID = {"type": "string", "minLength": 1, "maxLength": 60, "description": "Identifier of a recipe, for example leek-soup"}
NO_ARGUMENTS = {"type": "object", "additionalProperties": False}


def base_tools():
    return [
        {"name": "search_recipes", "title": "Search recipes", "description": "Search the archive by words, course, tags and time.",
         "inputSchema": {"type": "object", "properties": {
             "query": {"type": "string", "maxLength": 200, "description": "Words in the title"},
             "filters": {"type": "object", "properties": {
                 "course": {"type": "string", "enum": list(COURSES)},
                 "tags": {"type": "array", "items": {"type": "string", "enum": ["vegan", "vegetarian", "quick", "slow"]}},
                 "time": {"type": "object", "properties": {"max_minutes": {"type": "integer", "minimum": 1, "maximum": 600}},
                          "additionalProperties": False}},
                 "additionalProperties": False},
             "order": {"type": "string", "enum": ["title", "minutes"]},
             "limit": {"type": "integer", "minimum": 1, "maximum": 20}},
             "additionalProperties": False},
         "outputSchema": {"type": "object", "properties": {
             "total": {"type": "integer", "minimum": 0},
             "recipes": {"type": "array", "items": {"type": "object", "properties": {
                 "id": {"type": "string"}, "title": {"type": "string"},
                 "course": {"type": "string", "enum": list(COURSES)}, "minutes": {"type": "integer"}},
                 "required": ["id", "title", "course", "minutes"]}}},
             "required": ["total", "recipes"]},
         "annotations": {"title": "Search recipes", **READ_ONLY}, "run": tool_search_recipes},
        {"name": "scale_recipe", "title": "Scale a recipe", "description": "Compute the amounts for a number of portions.",
         "inputSchema": {"type": "object", "properties": {
             "recipe_id": RECIPE_ID, "portions": {"type": "integer", "minimum": 1, "maximum": 200}},
             "required": ["recipe_id", "portions"], "additionalProperties": False},
         "outputSchema": {"type": "object", "properties": {
             "recipe": {"type": "string"}, "portions": {"type": "integer"},
             "ingredients": {"type": "array", "items": {"type": "object", "properties": {
                 "name": {"type": "string"}, "amount": {"type": "number"}, "unit": {"type": "string"}},
                 "required": ["name", "amount", "unit"]}}},
             "required": ["recipe", "portions", "ingredients"]},
         "annotations": dict(READ_ONLY), "run": tool_scale_recipe},
        {"name": "plan_week", "title": "Plan a week", "description":
            "Plan menus day by day. Takes time only if 'seconds' is given; reports progress.",
         "inputSchema": {"type": "object", "properties": {
             "days": {"type": "integer", "minimum": 1, "maximum": 7},
             "diet": {"type": "string", "enum": ["any", "vegan", "vegetarian", "fruitarian"]},
             "seconds": {"type": "number", "minimum": 0, "maximum": 20, "description": "How long the planning may take"}},
             "additionalProperties": False},
         "annotations": dict(READ_ONLY), "execution": {"taskSupport": "optional"}, "run": tool_plan_week},
        {"name": "check_pantry", "title": "Check the pantry", "description": "Count what the pantry holds; writes log messages.",
         "inputSchema": dict(NO_ARGUMENTS), "annotations": dict(READ_ONLY), "run": tool_check_pantry},
        {"name": "suggest_variation", "title": "Suggest a variation", "description": "Ask the client's model for a variation of a recipe.",
         "inputSchema": {"type": "object", "properties": {"recipe_id": RECIPE_ID, "wish": {"type": "string", "maxLength": 100}},
                         "required": ["recipe_id"], "additionalProperties": False},
         "annotations": {"readOnlyHint": True, "openWorldHint": True}, "run": tool_suggest_variation},
        {"name": "record_tasting", "title": "Record a tasting", "description": "Ask the user how a dish was and keep the answer.",
         "inputSchema": {"type": "object", "properties": {"recipe_id": RECIPE_ID},
                         "required": ["recipe_id"], "additionalProperties": False},
         "annotations": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False},
         "run": tool_record_tasting},
        {"name": "list_shared_folders", "title": "List shared folders", "description": "List the folders the client shares.",
         "inputSchema": dict(NO_ARGUMENTS), "annotations": dict(READ_ONLY), "run": tool_list_shared_folders},
        {"name": "convert_measure", "title": "Convert a measure", "description":
            "Convert between kitchen units. Fails when a mass is to become a volume.",
         "inputSchema": {"type": "object", "properties": {
             "amount": {"type": "number", "minimum": 0, "maximum": 1000000},
             "from": {"type": "string", "enum": list(UNITS)}, "to": {"type": "string", "enum": list(UNITS)}},
             "required": ["amount", "from", "to"], "additionalProperties": False},
         "annotations": dict(READ_ONLY), "run": tool_convert_measure},
        {"name": "show_recipe_card", "title": "Show a recipe card", "description":
            "Return a recipe card: text, picture, bell sound, link and the card itself.",
         "inputSchema": {"type": "object", "properties": {"recipe_id": RECIPE_ID},
                         "required": ["recipe_id"], "additionalProperties": False},
         "annotations": dict(READ_ONLY), "run": tool_show_recipe_card},
        {"name": "save_recipe", "title": "Save a recipe", "description": "Add a new recipe to the archive.",
         "inputSchema": {"type": "object", "properties": {
             "recipe_id": {"type": "string", "pattern": "^[a-z0-9-]{1,40}$"},
             "title": {"type": "string", "minLength": 1, "maxLength": 100},
             "course": {"type": "string", "enum": list(COURSES)},
             "steps": {"type": "array", "minItems": 1, "maxItems": 20, "items": {"type": "string", "maxLength": 300}}},
             "required": ["recipe_id", "title", "course", "steps"], "additionalProperties": False},
         "annotations": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False},
         "run": tool_save_recipe},
    ]


def session_tools(session):
    tools = base_tools()
    if session.bulletin_published:
        tools.append({"name": "weekly_special", "title": "Weekly special", "description": "Name the dish of the week.",
                      "inputSchema": dict(NO_ARGUMENTS), "annotations": dict(READ_ONLY), "run": tool_weekly_special})
    return tools


def shown_tool(session, tool):
    shown = {key: value for key, value in tool.items() if key != "run"}
    if session.new_revision:
        shown["icons"] = ICONS
    else:
        shown.pop("execution", None)
    if FAULT == "schema-null-without-arguments" and tool["inputSchema"] == NO_ARGUMENTS:
        shown["inputSchema"] = None
    if FAULT == "input-schema-unknown-type" and tool["name"] == "scale_recipe":
        shown["inputSchema"] = json.loads(json.dumps(tool["inputSchema"]))
        shown["inputSchema"]["properties"]["portions"]["type"] = "int"
    if FAULT == "output-schema-not-an-object-type" and tool["name"] == "search_recipes":
        shown["outputSchema"] = {"type": "array", "items": tool["outputSchema"]["properties"]["recipes"]["items"]}
    if FAULT == "tool-name-with-space" and tool["name"] == "show_recipe_card":
        shown["name"] = "show recipe card"
    if FAULT == "read-only-hint-as-string":
        shown["annotations"] = {**tool["annotations"], "readOnlyHint": str(tool["annotations"]["readOnlyHint"]).lower()}
    if FAULT == "tool-icon-without-source" and "icons" in shown:
        shown["icons"] = [{"url": ICONS[0]["src"], "mimeType": "image/png"}]
    if FAULT == "task-support-unknown-value" and "execution" in shown:
        shown["execution"] = {"taskSupport": "allowed"}
    return shown


# ---------------------------------------------------------------------------
# Resources
# ---------------------------------------------------------------------------

def session_resources(session):
    with ARCHIVE_LOCK:
        rows = [{"uri": "recipe://cards/" + recipe_id, "name": recipe_id, "title": recipe["title"],
                 "mimeType": "text/markdown", "size": len(recipe_text(recipe_id).encode("utf-8")),
                 "annotations": {"audience": ["user", "assistant"], "priority": 0.5}}
                for recipe_id, recipe in list(RECIPES.items())[:3]]
        saved = [{"uri": "recipe://cards/" + recipe_id, "name": recipe_id, "title": recipe["title"], "mimeType": "text/markdown"}
                 for recipe_id, recipe in list(RECIPES.items())[3:]]
    rows += [
        {"uri": "kitchen://oven/temperature", "name": "oven-temperature", "title": "Oven temperature",
         "description": "Changes all the time; subscribe to follow it.", "mimeType": "text/plain"},
        {"uri": "kitchen://photos/cover.png", "name": "cover.png", "title": "Cover picture", "mimeType": "image/png",
         "size": len(COVER_PICTURE), "annotations": {"audience": ["user"], "priority": 0.2, "lastModified": "2025-05-03T14:30:00Z"}},
        {"uri": "kitchen://tastings", "name": "tastings", "title": "Tastings", "mimeType": "application/json"},
    ]
    rows += saved
    if session.bulletin_published:
        rows.append({"uri": "kitchen://bulletin/weekly", "name": "weekly-bulletin", "title": "Weekly bulletin", "mimeType": "text/plain"})
    for row in rows:
        if session.new_revision:
            row["icons"] = ICONS
        if FAULT == "resource-uri-without-scheme" and row["name"] == "cover.png":
            row["uri"] = "photos/cover.png"
        if FAULT == "resource-size-as-text" and "size" in row:
            row["size"] = f"{row['size']} bytes"
        if FAULT == "audience-as-string" and "annotations" in row:
            row["annotations"]["audience"] = "user"
    if FAULT == "resource-without-name":
        rows[-1].pop("name")
    return rows


def session_templates(session):
    rows = [
        {"uriTemplate": "recipe://cards/{id}", "name": "recipe-card", "title": "Recipe card", "mimeType": "text/markdown"},
        {"uriTemplate": "recipe://cards/{id}/steps/{number}", "name": "recipe-step", "title": "One step of a recipe", "mimeType": "text/plain"},
        {"uriTemplate": "recipe://courses/{course}", "name": "course-index", "title": "Recipes of a course", "mimeType": "application/json"},
        {"uriTemplate": "kitchen://pantry/{shelf}", "name": "pantry-shelf", "title": "Shelf of the pantry", "mimeType": "application/json"},
    ]
    if session.new_revision:
        for row in rows:
            row["icons"] = ICONS
    if FAULT == "template-listed-as-uri":
        rows[0]["uri"] = rows[0].pop("uriTemplate")
    return rows


def read_resource(session, uri):
    """Return the contents of a resource, or None if there is none of that name."""
    def plain(words, kind="text/plain"):
        return [{"uri": uri, "mimeType": kind, "text": words}]
    if uri == "kitchen://oven/temperature":
        return plain(f"{OVEN['celsius']} °C")
    if uri == "kitchen://photos/cover.png":
        if FAULT == "blob-in-url-alphabet":
            return [{"uri": uri, "mimeType": "image/png",
                     "blob": base64.urlsafe_b64encode(COVER_PICTURE).decode().rstrip("=")}]
        if FAULT == "blob-sent-as-text":
            return plain(b64(COVER_PICTURE), "image/png")
        return [{"uri": uri, "mimeType": "image/png", "blob": b64(COVER_PICTURE)}]
    if uri == "kitchen://tastings":
        with ARCHIVE_LOCK:
            return plain(json.dumps(TASTINGS, ensure_ascii=False), "application/json")
    if uri == "kitchen://bulletin/weekly" and session.bulletin_published:
        return plain("Dish of the week: " + RECIPES["plum-cake"]["title"])
    if FAULT == "dot-segments-reach-private-file" and uri.startswith("recipe://cards/") and ".." in uri:
        return plain("supplier price list, internal use only")
    with ARCHIVE_LOCK:
        match = re.fullmatch(r"recipe://cards/([^/?#]+)", uri)
        if match and urllib.parse.unquote(match[1]) in RECIPES:
            contents = plain(recipe_text(urllib.parse.unquote(match[1])), "text/markdown")
            return contents
        match = re.fullmatch(r"recipe://cards/([^/?#]+)/steps/([1-9][0-9]{0,2})", uri)
        if match and urllib.parse.unquote(match[1]) in RECIPES:
            steps = RECIPES[urllib.parse.unquote(match[1])]["steps"]
            if int(match[2]) <= len(steps):
                contents = plain(steps[int(match[2]) - 1])
                if FAULT == "step-contents-without-uri":
                    del contents[0]["uri"]
                return contents
        match = re.fullmatch(r"recipe://courses/([^/?#]+)", uri)
        if match and match[1] in COURSES:
            return plain(json.dumps([key for key, recipe in RECIPES.items() if recipe["course"] == match[1]]), "application/json")
    match = re.fullmatch(r"kitchen://pantry/([^/?#]+)", uri)
    if match and match[1] in PANTRY:
        return plain(json.dumps(PANTRY[match[1]]), "application/json")
    return None


# ---------------------------------------------------------------------------
# Prompts and completion
# ---------------------------------------------------------------------------

def session_prompts(session):
    rows = [
        {"name": "weekly_menu", "title": "Weekly menu", "description": "Ask for a menu from the archive."},
        {"name": "explain_recipe", "title": "Explain a recipe", "description": "Explain a recipe to somebody.",
         "arguments": [{"name": "recipe_id", "description": "Which recipe", "required": True},
                       {"name": "audience", "description": "For whom", "required": False}]},
        {"name": "use_up", "title": "Use up an ingredient", "description": "Ask what to cook with a leftover.",
         "arguments": [{"name": "ingredient", "description": "The leftover", "required": True}]},
        {"name": "judge_photo", "title": "Judge a photo", "description": "Show the cover picture and the card of a recipe.",
         "arguments": [{"name": "recipe_id", "description": "Which recipe", "required": True}]},
    ]
    if session.bulletin_published:
        rows.append({"name": "praise_special", "title": "Praise the special", "description": "Praise the dish of the week."})
    if session.new_revision:
        for row in rows:
            row["icons"] = ICONS
    if FAULT == "prompt-argument-required-as-word":
        rows[2]["arguments"][0]["required"] = "yes"
    if FAULT == "prompt-arguments-as-object":
        rows[1]["arguments"] = {item["name"]: item["description"] for item in rows[1]["arguments"]}
    return rows


def prompt_messages(name, values):
    def user(content):
        return {"role": "user", "content": content}
    if name == "weekly_menu":
        messages = [user(text("Plan a week of dinners from the recipes in this archive."))]
    elif name == "praise_special":
        messages = [user(text("Praise the dish of the week: " + RECIPES["plum-cake"]["title"]))]
    elif name == "use_up":
        messages = [user(text(f"What can I cook with {values['ingredient']}?"))]
    elif name == "explain_recipe":
        words = f"Explain '{values['recipe_id']}' to a {values.get('audience', 'home cook')}."
        messages = [user(text(words)), {"role": "assistant", "content": text("Gladly. Here is how it works:")}]
        if FAULT == "prompt-message-role-system":
            messages.insert(0, {"role": "system", "content": text("You explain recipes.")})
        if FAULT == "prompt-content-bare-string":
            messages[0]["content"] = words
    else:
        uri = "recipe://cards/" + values["recipe_id"]
        card = {"uri": uri, "mimeType": "text/markdown", "text": recipe_text(values["recipe_id"])}
        if FAULT == "prompt-resource-without-mime-type":
            del card["mimeType"]
        messages = [user({"type": "image", "data": b64(COVER_PICTURE), "mimeType": "image/png"}),
                    user({"type": "resource", "resource": card}),
                    user(text("Does the picture fit the recipe?"))]
    return messages


def completion_values(reference, argument, known):
    """Return all suggestions for an argument, or None if there is no such argument."""
    recipes = list(RECIPES)
    if reference["type"] == "ref/prompt":
        table = {("explain_recipe", "recipe_id"): recipes, ("explain_recipe", "audience"): AUDIENCES,
                 ("use_up", "ingredient"): INGREDIENTS, ("judge_photo", "recipe_id"): recipes}
        return table.get((reference["name"], argument))
    uri = reference["uri"]
    if uri == "recipe://cards/{id}/steps/{number}" and argument == "number":
        count = len(RECIPES[known["id"]]["steps"]) if known.get("id") in RECIPES else 4
        return [str(number) for number in range(1, count + 1)]
    table = {("recipe://cards/{id}", "id"): recipes, ("recipe://cards/{id}/steps/{number}", "id"): recipes,
             ("recipe://courses/{course}", "course"): COURSES, ("kitchen://pantry/{shelf}", "shelf"): list(PANTRY)}
    return table.get((uri, argument))


# ---------------------------------------------------------------------------
# Sessions: the protocol itself, the same for both transports
# ---------------------------------------------------------------------------

OLD, NEW = "2025-06-18", "2025-11-25"
VERSIONS = [OLD, NEW]
PAGE_SIZES = {"tools": 4, "resources": 4, "resourceTemplates": 3, "prompts": 3, "tasks": 3}
TASK_TTL_DEFAULT, TASK_TTL_LIMIT, TASK_LIMIT = 300000, 3600000, 20
RELATED_TASK = "io.modelcontextprotocol/related-task"
SESSIONS = {}
SESSIONS_LOCK = threading.Lock()


def all_sessions():
    with SESSIONS_LOCK:
        return list(SESSIONS.values())


def announce_update(uri):
    """Tell every session that follows a resource that it has changed."""
    for session in all_sessions():
        session.announce_update(uri)


def oven_clock():
    """The oven changes its temperature all the time."""
    while True:
        time.sleep(1.2)
        OVEN["celsius"] = 170 + (OVEN["celsius"] - 163) % 25
        announce_update("kitchen://oven/temperature")


class Waiting:
    """A request of ours that the client has not answered yet."""
    def __init__(self):
        self.event, self.answer = threading.Event(), None


class Task:
    def __init__(self, ttl):
        self.id = str(uuid.uuid4())
        self.status, self.words = "working", "The plan is being made."
        self.created = self.updated = now_iso()
        self.started = time.monotonic()
        self.ttl = ttl
        self.result = self.error = None
        self.finished, self.cancelled = threading.Event(), threading.Event()

    def expired(self):
        return time.monotonic() - self.started > self.ttl / 1000

    def shown(self):
        row = {"taskId": self.id, "status": self.status, "statusMessage": self.words, "createdAt": self.created,
               "lastUpdatedAt": self.updated, "ttl": self.ttl, "pollInterval": 500}
        if FAULT == "task-without-last-update":
            del row["lastUpdatedAt"]
        if FAULT == "task-created-as-number":
            row["createdAt"] = int(time.time())
        return row


class Call:
    """One running request: where its messages go, its progress token, its cancellation."""
    def __init__(self, session, request_id, params, out, task=None):
        self.session, self.id, self.out, self.task = session, request_id, out, task
        self.cancelled = task.cancelled if task else threading.Event()
        self.over = False
        self.last_asked = None
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        if token is not None and (isinstance(token, bool) or not isinstance(token, (str, int))):
            raise RpcError(-32602, "progressToken must be a string or an integer")
        self.token = token

    def check(self):
        if self.cancelled.is_set():
            raise Cancelled()

    def sleep(self, seconds):
        if FAULT == "cancelled-request-still-answered" and not self.task:
            return time.sleep(seconds)
        if FAULT == "cancelled-task-completes-later" and self.task:
            return time.sleep(seconds)
        if seconds > 0:
            self.cancelled.wait(seconds)
        self.check()

    def related(self, params):
        if self.task and FAULT != "task-messages-not-related":
            params = {**(params or {}), "_meta": {**(params or {}).get("_meta", {}), RELATED_TASK: {"taskId": self.task.id}}}
        return params

    def notify(self, method, params):
        self.out(notification(method, self.related(params)))

    def progress(self, value, total, message, late=False):
        token = self.token
        if FAULT == "progress-without-token" and token is None:
            token = self.id
        if token is None or (not late and self.cancelled.is_set()) or (self.task and self.task.finished.is_set()):
            return
        if FAULT == "progress-token-as-text":
            token = str(token)
        if FAULT == "progress-token-of-first-call":
            token = self.session.first_token = self.session.first_token or token
        if FAULT == "task-progress-under-task-id" and self.task:
            token = self.task.id
        params = {"progressToken": token, "progress": value, "total": total, "message": message}
        if FAULT == "progress-value-as-percent-text":
            params["progress"] = f"{100 * value // total}%"
        if FAULT == "progress-token-missing-in-last" and value == total:
            del params["progressToken"]
        message = notification("notifications/progress", self.related(params))
        if not self.task:
            return (self.session.send_unrelated if late else self.out)(message)
        with self.session.lock:
            if not self.task.finished.is_set():
                self.out(message)

    def log(self, level, data):
        session = self.session
        if LOG_LEVELS.index(level) < LOG_LEVELS.index(session.log_level) and FAULT != "log-level-ignored":
            return
        params = {"level": level, "logger": "pantry", "data": data}
        if FAULT == "log-level-misspelt" and level == "warning":
            params["level"] = "warn"
        if FAULT == "log-text-instead-of-data":
            params["message"] = json.dumps(params.pop("data"))
        if FAULT == "log-holds-password" and level == "error":
            params["data"] = {**data, "scale_login": {"user": "kitchen", "password": "tumeric-4711"}}
        self.notify("notifications/message", params)

    def ask(self, method, params):
        """Send a request to the client and wait for its answer."""
        session = self.session
        if not session.initialized.is_set():
            raise ToolFailure("The client has not finished its initialization, so it cannot be asked yet.")
        waiting = Waiting()
        with session.lock:
            session.asked += 1
            request_id = "ask-1" if FAULT == "own-request-id-reused" else f"ask-{session.asked}"
            session.waiting[request_id] = waiting
        self.last_asked = request_id
        message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        params = self.related(params)
        if params is not None:
            message["params"] = params
        self.out(message)
        limit = time.monotonic() + 20
        while not waiting.event.wait(0.05):
            late = time.monotonic() > limit
            if late or self.cancelled.is_set():
                with session.lock:
                    session.waiting.pop(request_id, None)
                self.notify("notifications/cancelled", {"requestId": request_id,
                                                        "reason": "No answer in time" if late else "The tool call was cancelled"})
                self.check()
                raise ToolFailure("The client did not answer in time.")
        if "error" in waiting.answer:
            error = waiting.answer["error"]
            raise ToolFailure("The client refused: " + str(error.get("message") if isinstance(error, dict) else error))
        return waiting.answer["result"]


def notification(method, params=None):
    message = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    if FAULT == "own-notification-with-id" and method.endswith("list_changed"):
        message["id"] = 1
    return message


def error_object(code, message, data=None):
    error = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return error


def valid_id(value):
    if isinstance(value, bool):
        return False
    return isinstance(value, (str, int)) or isinstance(value, float) and value.is_integer()


class Session:
    def __init__(self, transport):
        self.transport = transport
        self.version = None
        self.client_capabilities = {}
        self.initialized = threading.Event()
        self.lock = threading.RLock()
        self.log_level = "info"
        self.subscriptions = set()
        self.updates_sent = {}
        self.running = {}
        self.waiting = {}
        self.asked = 0
        self.tasks = {}
        self.bulletin_published = False
        self.closed = False
        self.recent_calls = []
        # Only used by some faults:
        self.first_token = None
        self.last_id = None
        self.current_tool_id = None
        self.unknown_names = 0

    @property
    def new_revision(self):
        return self.version == NEW

    # -- messages the server sends on its own ------------------------------

    def send_unrelated(self, message):
        raise NotImplementedError

    def announce_list(self, kind):
        if self.initialized.is_set() and not self.closed:
            if FAULT == "list-changes-not-announced":
                return
            self.send_unrelated(notification(f"notifications/{kind}/list_changed"))

    def announce_update(self, uri):
        with self.lock:
            self.announce_update_locked(uri)

    def announce_update_locked(self, uri):
        if not self.initialized.is_set() or self.closed:
            return
        if uri not in self.subscriptions and FAULT != "updates-without-subscription":
            return
        if FAULT == "updates-stop-after-the-first" and self.updates_sent.get(uri):
            return
        self.updates_sent[uri] = self.updates_sent.get(uri, 0) + 1
        params = {"uri": uri}
        if FAULT == "update-without-uri":
            params = {"resource": {"name": uri.rsplit("/", 1)[1]}}
        if FAULT == "update-uri-shortened":
            params = {"uri": uri.split("://", 1)[1]}
        self.send_unrelated(notification("notifications/resources/updated", params))

    def publish_bulletin(self):
        """Some seconds after the start the weekly bulletin arrives: one tool, one resource, one prompt more."""
        if not self.closed:
            self.bulletin_published = True
            for kind in ("tools", "resources", "prompts"):
                self.announce_list(kind)

    # -- answers ------------------------------------------------------------

    def response(self, request_id, result=None, error=None):
        original = request_id
        if FAULT == "numeric-text-id-becomes-number" and isinstance(request_id, str) and request_id.isdigit():
            request_id = int(request_id)
        if FAULT == "large-id-rounded" and isinstance(request_id, int) and abs(request_id) > 2 ** 53:
            request_id = int(float(request_id))
        if FAULT == "error-with-previous-id" and error and error["code"] == -32602 and self.last_id is not None:
            request_id = self.last_id
        self.last_id = original
        message = {"jsonrpc": "2.0", "id": request_id}
        if error is None:
            message["result"] = result
        else:
            message["error"] = error
            if FAULT == "error-without-message" and error["code"] == -32601:
                message["error"] = {"code": error["code"]}
            if FAULT == "error-code-as-text" and error["code"] == -32602:
                message["error"] = {**error, "code": str(error["code"])}
            if FAULT == "error-also-has-result":
                message["result"] = None
            if FAULT == "error-without-jsonrpc-member":
                del message["jsonrpc"]
        return message

    def receive_answer(self, message):
        key = message.get("id")
        with self.lock:
            waiting = self.waiting.pop(key, None) if isinstance(key, str) else None
        if FAULT == "answer-of-other-session-taken" and waiting is None:
            for session in all_sessions():
                waiting = waiting or session.waiting.pop(key, None)
        if waiting:
            waiting.answer = message
            if "error" not in message and not isinstance(message.get("result"), dict):
                waiting.answer = {"error": {"message": "the answer was not an object"}}
            waiting.event.set()

    def receive_notification(self, message):
        """Return an answer only where a fault makes the server answer a notification."""
        method, params = message["method"], message.get("params")
        params = params if isinstance(params, dict) else {}
        if method == "notifications/initialized":
            if self.version and not self.initialized.is_set():
                self.initialized.set()
                timer = threading.Timer(2.5, self.publish_bulletin)
                timer.daemon = True
                timer.start()
        elif method == "notifications/cancelled":
            key = params.get("requestId")
            with self.lock:
                call = self.running.get((type(key), key)) if isinstance(key, (str, int)) else None
                if call and not call.task:
                    call.cancelled.set()
                if FAULT == "cancellation-hits-all-calls":
                    for other in self.running.values():
                        other.cancelled.set()
            if call is None and FAULT == "stray-cancellation-answered":
                return {"jsonrpc": "2.0", "id": key if valid_id(key) else 0, "error": error_object(-32602, "Nothing to cancel")}
        elif not method.startswith("notifications/roots/") and FAULT == "unknown-notification-answered":
            return {"jsonrpc": "2.0", "id": 0, "error": error_object(-32601, f"Unknown notification: {method}")}
        return None

    def is_slow(self, method):
        return method in ("tools/call", "tasks/result")

    def handle(self, message, out, started=None):
        """Answer one request. Returns the response, or None if the request was cancelled.

        The event "started" is set as soon as the request can be cancelled.
        """
        request_id, method, params = message["id"], message["method"], message.get("params", {})
        key = (type(request_id), request_id)
        try:
            if not isinstance(params, dict):
                raise RpcError(-32602, "params must be an object")
            if not isinstance(params.get("_meta", {}), dict):
                raise RpcError(-32602, "_meta must be an object")
            if method != "initialize" and method != "ping" and self.version is None and FAULT != "requests-served-before-initialize":
                raise RpcError(-32600, "The session is not initialized yet")
            if FAULT == "ping-refused-before-initialize" and method == "ping" and self.version is None:
                raise RpcError(-32600, "The session is not initialized yet")
            handler = HANDLERS.get(method)
            if handler and method.startswith("tasks/") and not self.new_revision:
                handler = None
            if handler is None:
                if FAULT == "unknown-method-succeeds":
                    return self.response(request_id, {})
                raise RpcError(-32601, f"Unknown method: {method}")
            call = Call(self, request_id, params, out)
            with self.lock:
                if key in self.running:
                    raise RpcError(-32600, "This request id is in use already")
                self.running[key] = call
                if method == "tools/call":
                    self.current_tool_id = request_id
            if started:
                started.set()
            try:
                result = handler(self, params, call)
                if call.cancelled.is_set() and FAULT != "cancelled-request-still-answered" and method != "initialize":
                    return None
            finally:
                call.over = True
                with self.lock:
                    self.running.pop(key, None)
            if FAULT == "parallel-answers-share-id" and method == "tools/call":
                request_id = self.current_tool_id
            return self.response(request_id, result)
        except Cancelled:
            return None
        except RpcError as error:
            return self.response(request_id, error=error_object(error.code, error.message, error.data))
        except Exception as error:
            print(f"internal error: {error!r}", file=sys.stderr, flush=True)
            return self.response(request_id, error=error_object(-32603, "Internal error"))
        finally:
            if started:
                started.set()

    def limit_rate(self):
        with self.lock:
            now = time.monotonic()
            self.recent_calls = [moment for moment in self.recent_calls if now - moment < 10]
            if len(self.recent_calls) >= 400:
                raise RpcError(-32000, "Too many calls; wait some seconds")
            self.recent_calls.append(now)

    def close(self):
        self.closed = True
        with self.lock:
            calls = list(self.running.values())
            tasks = list(self.tasks.values())
        for call in calls:
            call.cancelled.set()
        for task in tasks:
            task.cancelled.set()


# -- methods ----------------------------------------------------------------

def need(params, name, kind):
    if not type_matches(params.get(name), kind):
        raise RpcError(-32602, f"'{name}' must be given and of type {kind}")
    return params[name]


def do_initialize(session, params, call):
    if session.version is not None:
        raise RpcError(-32600, "The session is initialized already")
    wanted = need(params, "protocolVersion", "string")
    capabilities = need(params, "capabilities", "object")
    client = need(params, "clientInfo", "object")
    need(client, "name", "string")
    need(client, "version", "string")
    for name in ("roots", "sampling", "elicitation", "tasks"):
        if not isinstance(capabilities.get(name, {}), dict):
            raise RpcError(-32602, f"The capability '{name}' must be an object")
    version = wanted if wanted in VERSIONS else NEW
    if FAULT == "always-newest-version":
        version = NEW
    if FAULT == "unknown-version-echoed":
        version = wanted
    if FAULT == "unknown-version-gets-oldest" and wanted not in VERSIONS:
        version = OLD
    session.version = version
    session.client_capabilities = capabilities
    offered = {"logging": {}, "completions": {}, "prompts": {"listChanged": True},
               "resources": {"subscribe": True, "listChanged": True}, "tools": {"listChanged": True}}
    if session.new_revision:
        offered["tasks"] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    if FAULT == "completions-not-declared":
        del offered["completions"]
    if FAULT == "logging-not-declared":
        del offered["logging"]
    if FAULT == "prompt-list-changes-not-declared":
        offered["prompts"] = {}
    if FAULT == "subscribe-capability-as-object":
        offered["resources"]["subscribe"] = {"supported": True}
    server = {"name": "copper-pot-archive", "title": "Copper Pot recipe archive", "version": "2.3.0"}
    if session.new_revision:
        server.update({"description": "A small archive of recipes", "icons": ICONS, "websiteUrl": "https://archive.example/"})
    if FAULT == "server-info-without-version":
        del server["version"]
    result = {"protocolVersion": version, "capabilities": offered, "serverInfo": server,
              "instructions": "Search recipes first, then read their cards as resources."}
    if FAULT == "instructions-as-list":
        result["instructions"] = [result["instructions"]]
    return result


def do_ping(session, params, call):
    if FAULT == "ping-answered-with-text":
        return {"pong": True}
    return {}


def page_of(session, kind, rows, params):
    cursor = params.get("cursor")
    size = PAGE_SIZES[kind]
    start = 0
    if cursor is not None and not (FAULT == "tools-cursor-ignored" and kind == "tools"):
        try:
            name, number = base64.b64decode(cursor, validate=True).decode("ascii").split(":")
            start = int(number)
            if name != kind or not 0 < start or start % size or b64(f"{kind}:{start}".encode()) != cursor:
                raise ValueError
        except (ValueError, TypeError, binascii.Error):
            if FAULT != "unknown-cursor-restarts-list":
                raise RpcError(-32602, "Unknown cursor")
            start = 0
    page = rows[start:start + size]
    if FAULT == "item-lost-between-pages" and kind == "resources" and start:
        page = page[1:]
    result = {kind: page}
    if start + size < len(rows):
        result["nextCursor"] = b64(f"{kind}:{start + size}".encode())
        if FAULT == "task-list-without-next-cursor" and kind == "tasks":
            del result["nextCursor"]
        if FAULT == "cursor-as-number":
            result["nextCursor"] = start + size
    elif FAULT == "last-page-with-null-cursor":
        result["nextCursor"] = None
    return result


def do_tools_list(session, params, call):
    result = page_of(session, "tools", [shown_tool(session, tool) for tool in session_tools(session)], params)
    if FAULT == "tool-listed-twice" and "cursor" in params and isinstance(result["tools"], list):
        result["tools"].append(shown_tool(session, base_tools()[0]))
    return result


def run_tool(session, tool, arguments, call):
    """Run a tool and return its result; failures of the tool become results with isError."""
    try:
        problems = schema_problems(arguments, tool["inputSchema"])
        if FAULT == "nested-arguments-not-checked":
            problems = [line for line in problems if not line.startswith("arguments.filters")]
            if isinstance(arguments.get("filters"), dict) and not problems:
                arguments = {**arguments, "filters": {}}
        if FAULT == "integer-limits-not-checked":
            problems = [line for line in problems if "at most" not in line and "at least" not in line]
        if problems:
            if not session.new_revision or FAULT == "bad-arguments-as-protocol-error":
                raise RpcError(-32602, "Invalid arguments: " + "; ".join(problems))
            raise ToolFailure("Invalid arguments: " + "; ".join(problems) + ".")
        result = tool["run"](call, arguments)
    except ToolFailure as failure:
        if FAULT == "tool-failure-as-internal-error":
            raise RpcError(-32603, str(failure))
        if FAULT == "debug-line-on-stdout" and session.transport == "stdio":
            session.write_raw(f"tool {tool['name']} failed: {failure}\n".encode("utf-8"))
        result = {"content": [text(str(failure))], "isError": True}
        if FAULT == "error-flag-as-text":
            result["isError"] = "true"
    if FAULT == "content-as-single-object" and tool["name"] == "convert_measure":
        result["content"] = result["content"][0]
    if FAULT == "content-member-missing" and "structuredContent" in result:
        del result["content"]
    if FAULT == "result-meta-key-malformed":
        result["_meta"] = {"-run time-": 3}
    return result


def do_tools_call(session, params, call):
    session.limit_rate()
    name = need(params, "name", "string")
    arguments = params.get("arguments", {})
    if FAULT == "omitted-arguments-crash-tool":
        arguments = params.get("arguments")
        if arguments is None:
            raise RpcError(-32603, "'NoneType' object has no attribute 'get'")
    if not isinstance(arguments, dict):
        raise RpcError(-32602, "'arguments' must be an object")
    if FAULT == "tool-name-with-space":
        name = name.replace(" ", "_")
    tool = next((tool for tool in session_tools(session) if tool["name"] == name), None)
    if tool is None:
        session.unknown_names += 1
        if FAULT == "unknown-tool-succeeds":
            return {"content": [text(f"I know no tool called {name}.")]}
        if FAULT == "second-unknown-tool-unanswered" and session.unknown_names > 1:
            call.cancelled.set()
            raise Cancelled()
        raise RpcError(-32602, f"Unknown tool: {name}")
    if "task" in params and (session.new_revision or FAULT == "tasks-on-old-revision"):
        if not isinstance(params["task"], dict) or not type_matches(params["task"].get("ttl", 1), "integer"):
            raise RpcError(-32602, "'task' must be an object; its ttl a whole number of milliseconds")
        if tool.get("execution", {}).get("taskSupport", "forbidden") == "forbidden" and FAULT != "task-forbidden-tool-accepted":
            raise RpcError(-32601, f"The tool {name} cannot run as a task")
        return start_task(session, tool, arguments, params, call)
    return run_tool(session, tool, arguments, call)


# -- tasks (2025-11-25) -------------------------------------------------------

def start_task(session, tool, arguments, params, call):
    ttl = min(max(int(params["task"].get("ttl", TASK_TTL_DEFAULT)), 1000), TASK_TTL_LIMIT)
    with session.lock:
        clean_tasks(session)
        if sum(not task.finished.is_set() for task in session.tasks.values()) >= TASK_LIMIT:
            raise RpcError(-32000, "Too many tasks are running")
        task = Task(ttl)
        if FAULT == "task-ids-counted":
            task.id = f"task-{len(session.tasks) + 1}"
        session.tasks[task.id] = task
    task_call = Call(session, call.id, params, session.send_unrelated, task)

    def work():
        result = error = None
        status, words = "completed", "The plan is ready."
        try:
            result = run_tool(session, tool, arguments, task_call)
            if result.get("isError"):
                status, words = "failed", result["content"][0]["text"]
                if FAULT == "failed-task-shown-as-completed":
                    status = "completed"
        except Cancelled:
            return
        except RpcError as problem:
            status, words = "failed", problem.message
            error = error_object(problem.code, problem.message, problem.data)
        except Exception as problem:
            print(f"internal error: {problem!r}", file=sys.stderr, flush=True)
            status, words, error = "failed", "Internal error", error_object(-32603, "Internal error")
        finish_task(session, task, status, words, result, error)

    shown = task.shown()
    if FAULT == "task-starts-as-completed":
        shown["status"] = "completed"
    if FAULT == "task-starts-as-queued":
        shown["status"] = "queued"
    timer = threading.Timer(0.05, work)
    timer.daemon = True
    timer.start()
    if FAULT == "task-created-without-wrapper":
        return shown
    return {"task": shown, "_meta": {RELATED_TASK: {"taskId": task.id}}}


def finish_task(session, task, status, words, result, error):
    with session.lock:
        if task.finished.is_set() and FAULT != "cancelled-task-completes-later":
            return
        task.status, task.words, task.updated = status, words, now_iso()
        task.result, task.error = result, error
        task.finished.set()
    if not session.closed:
        params = task.shown()
        if FAULT == "task-status-without-ttl":
            del params["ttl"]
        session.send_unrelated(notification("notifications/tasks/status", params))


def clean_tasks(session):
    for task in list(session.tasks.values()):
        if task.expired():
            task.cancelled.set()
            task.finished.set()
            del session.tasks[task.id]


def find_task(session, params):
    task_id = need(params, "taskId", "string")
    with session.lock:
        clean_tasks(session)
        task = session.tasks.get(task_id)
    if task is None:
        if FAULT == "unknown-task-not-refused":
            task = Task(1000)
            task.id = task_id
            task.finished.set()
            task.error = error_object(-32602, "Unknown task")
            return task
        raise RpcError(-32603 if FAULT == "unknown-task-with-wrong-code" else -32602, "Unknown task")
    return task


def do_tasks_get(session, params, call):
    shown = find_task(session, params).shown()
    if FAULT == "task-get-without-ttl":
        del shown["ttl"]
    if FAULT == "task-get-with-related-metadata":
        shown["_meta"] = {RELATED_TASK: {"taskId": shown["taskId"]}}
    return shown


def do_tasks_result(session, params, call):
    task = find_task(session, params)
    if not task.finished.is_set() and FAULT == "task-result-does-not-wait":
        raise RpcError(-32602, "The task is still working")
    while not task.finished.wait(0.05):
        call.check()
    if task.error:
        raise RpcError(task.error["code"], task.error["message"], task.error.get("data"))
    if task.result is None:
        raise RpcError(-32602, "Unknown task")
    result = dict(task.result)
    if FAULT == "task-failure-result-as-error" and result.get("isError"):
        raise RpcError(-32603, result["content"][0]["text"])
    if FAULT != "task-result-not-related":
        result["_meta"] = {**result.get("_meta", {}), RELATED_TASK: {"taskId": task.id}}
    return result


def do_tasks_list(session, params, call):
    with session.lock:
        clean_tasks(session)
        rows = [task.shown() for task in session.tasks.values()
                if not (FAULT == "finished-tasks-not-listed" and task.finished.is_set())]
    return page_of(session, "tasks", rows, params)


def do_tasks_cancel(session, params, call):
    task = find_task(session, params)
    with session.lock:
        if task.finished.is_set() and FAULT != "finished-task-cancelled-again":
            raise RpcError(-32602, f"The task is over already: {task.status}")
        task.cancelled.set()
        if FAULT != "task-cancel-answers-working":
            task.status, task.words, task.updated = "cancelled", "Cancelled by request.", now_iso()
            task.error = error_object(-32000, "The task was cancelled")
            task.result = None
            if FAULT != "cancelled-task-completes-later":
                task.finished.set()
    return task.shown()


# -- resources, prompts, completion, logging ----------------------------------

def do_resources_list(session, params, call):
    return page_of(session, "resources", session_resources(session), params)


def do_templates_list(session, params, call):
    return page_of(session, "resourceTemplates", session_templates(session), params)


def wanted_resource(session, params):
    uri = need(params, "uri", "string")
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", uri):
        raise RpcError(-32602, "'uri' must be an absolute URI")
    contents = read_resource(session, uri)
    if contents is None:
        raise RpcError(-32002, "Resource not found", {"uri": uri})
    return uri, contents


def do_resources_read(session, params, call):
    try:
        uri, contents = wanted_resource(session, params)
    except RpcError as error:
        if error.code == -32002 and FAULT == "missing-resource-reads-empty":
            return {"contents": []}
        raise
    if FAULT == "contents-as-single-object":
        return {"contents": contents[0]}
    return {"contents": contents}


def do_subscribe(session, params, call):
    if FAULT == "subscription-to-missing-resource-accepted" and isinstance(params.get("uri"), str):
        session.subscriptions.add(params["uri"])
        return {}
    uri, _ = wanted_resource(session, params)
    with session.lock:
        session.subscriptions.add(uri)
    if FAULT == "subscriptions-shared-by-sessions":
        for other in all_sessions():
            other.subscriptions.add(uri)
    if FAULT == "subscribe-answered-with-null":
        return None
    return {}


def do_unsubscribe(session, params, call):
    uri = need(params, "uri", "string")
    with session.lock:
        if FAULT != "unsubscribe-without-effect":
            session.subscriptions.discard(uri)
    return {}


def do_prompts_list(session, params, call):
    return page_of(session, "prompts", session_prompts(session), params)


def do_prompts_get(session, params, call):
    name = need(params, "name", "string")
    prompt = next((prompt for prompt in session_prompts(session) if prompt["name"] == name), None)
    if prompt is None:
        if FAULT == "unknown-prompt-gives-no-messages":
            return {"messages": []}
        raise RpcError(-32602, f"Unknown prompt: {name}")
    values = params.get("arguments", {})
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        raise RpcError(-32602, "'arguments' must map names to strings")
    known = {"weekly_menu": [], "praise_special": [], "explain_recipe": ["recipe_id", "audience"], "use_up": ["ingredient"],
             "judge_photo": ["recipe_id"]}[name]
    for argument in known:
        if argument not in values and argument != "audience":
            if FAULT == "missing-prompt-argument-accepted" and name == "use_up":
                values = {**values, argument: "undefined"}
                continue
            raise RpcError(-32602, f"The argument '{argument}' is required")
    for argument in values:
        if argument not in known:
            raise RpcError(-32602, f"The prompt has no argument '{argument}'")
    if "recipe_id" in values and values["recipe_id"] not in RECIPES:
        raise RpcError(-32602, f"There is no recipe '{values['recipe_id']}'")
    with ARCHIVE_LOCK:
        return {"description": prompt["description"], "messages": prompt_messages(name, values)}


def do_complete(session, params, call):
    session.limit_rate()
    reference = need(params, "ref", "object")
    argument = need(params, "argument", "object")
    name, value = need(argument, "name", "string"), need(argument, "value", "string")
    context = params.get("context", {})
    known = context.get("arguments", {}) if isinstance(context, dict) else None
    if not isinstance(known, dict) or not all(isinstance(item, str) for item in known.values()):
        raise RpcError(-32602, "'context.arguments' must map names to strings")
    kind = need(reference, "type", "string")
    if kind not in ("ref/prompt", "ref/resource"):
        raise RpcError(-32602, f"Unknown kind of reference: {kind}")
    need(reference, "name" if kind == "ref/prompt" else "uri", "string")
    with ARCHIVE_LOCK:
        values = completion_values(reference, name, known)
    if values is None:
        if FAULT == "completion-for-unknown-prompt-empty":
            return {"completion": {"values": [], "hasMore": False}}
        raise RpcError(-32602, "Nothing can be completed for this reference and argument")
    typed = value.lower()
    hits = [item for item in values if item.lower().startswith(typed)]
    hits += [item for item in values if typed in item.lower() and item not in hits]
    shown = hits[:100]
    if FAULT == "completion-over-one-hundred":
        shown = hits
    completion = {"values": shown, "total": len(hits), "hasMore": len(hits) > len(shown)}
    if FAULT == "completion-has-more-always-false":
        completion["hasMore"] = False
    if FAULT == "completion-values-as-objects":
        completion["values"] = [{"value": item, "label": item.title()} for item in shown]
    if FAULT == "completion-total-as-text":
        completion["total"] = str(len(hits))
    if FAULT == "completion-without-wrapper":
        return completion
    return {"completion": completion}


def do_set_level(session, params, call):
    level = params.get("level")
    if not isinstance(level, str) or level not in LOG_LEVELS:
        if FAULT == "unknown-log-level-accepted":
            return {}
        raise RpcError(-32602, "Unknown log level")
    session.log_level = level
    if FAULT == "log-level-shared-by-sessions":
        for other in all_sessions():
            other.log_level = level
    if FAULT == "set-level-result-with-null-meta":
        return {"_meta": None}
    return {}


HANDLERS = {
    "initialize": do_initialize, "ping": do_ping, "tools/list": do_tools_list, "tools/call": do_tools_call,
    "resources/list": do_resources_list, "resources/templates/list": do_templates_list, "resources/read": do_resources_read,
    "resources/subscribe": do_subscribe, "resources/unsubscribe": do_unsubscribe, "prompts/list": do_prompts_list,
    "prompts/get": do_prompts_get, "completion/complete": do_complete, "logging/setLevel": do_set_level,
    "tasks/get": do_tasks_get, "tasks/result": do_tasks_result, "tasks/list": do_tasks_list, "tasks/cancel": do_tasks_cancel,
}


def refuse_non_json_number(name):
    raise ValueError(name)


def parse(raw):
    """Decode one message; raises ValueError if it is not JSON in UTF-8."""
    try:
        return json.loads(raw.decode("utf-8"), parse_constant=refuse_non_json_number)
    except RecursionError:
        raise ValueError("nested too deeply")


def encode(message):
    try:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":")).encode("ascii")


def classify(message):
    """Return (kind, problem): kind is request, notification, response or invalid."""
    if not isinstance(message, dict):
        return "invalid", "A message must be one JSON object"
    if message.get("jsonrpc") != "2.0" and FAULT != "jsonrpc-version-not-checked":
        return "invalid", "jsonrpc must be \"2.0\""
    if "method" in message:
        if not isinstance(message["method"], str):
            return "invalid", "method must be a string"
        if "id" not in message or (FAULT == "id-zero-taken-as-notification" and message["id"] in (0, "")):
            return "notification", None
        if not valid_id(message["id"]):
            if FAULT == "null-id-accepted" and message["id"] is None:
                return "request", None
            return "invalid", "id must be a string or an integer"
        return "request", None
    if ("result" in message) != ("error" in message) and valid_id(message.get("id")):
        return "response", None
    if "error" in message and "result" not in message and message.get("id") is None:
        return "response", None
    return "invalid", "Neither a request nor a notification nor a response"


def refusal(message, problem, session=None):
    """The error response to a message that is no valid request."""
    answer = {"jsonrpc": "2.0"}
    if isinstance(message, dict) and "method" in message and valid_id(message.get("id")):
        answer["id"] = message["id"]
    elif session and session.version == OLD:
        # The earlier revision follows plain JSON-RPC here: the unreadable id is null.
        answer["id"] = None
    answer["error"] = error_object(-32600, "Invalid request: " + problem)
    return answer


# ---------------------------------------------------------------------------
# stdio: one message per line
# ---------------------------------------------------------------------------

class StdioSession(Session):
    def __init__(self):
        super().__init__("stdio")
        self.output = sys.stdout.buffer
        self.output_lock = threading.Lock()
        self.workers = set()

    def write_raw(self, data):
        with self.output_lock:
            try:
                self.output.write(data)
                self.output.flush()
            except (BrokenPipeError, ValueError):
                self.closed = True

    def send_unrelated(self, message):
        self.send(message)

    def send(self, message):
        data = encode(message)
        if FAULT == "output-in-latin-1":
            data = json.dumps(message, ensure_ascii=False).encode("latin-1", "replace")
        if FAULT == "long-answers-over-several-lines" and "result" in message and len(data) > 1500:
            data = json.dumps(message, ensure_ascii=False, indent=2).encode("utf-8")
        if FAULT == "answers-framed-with-length":
            return self.write_raw(f"Content-Length: {len(data)}\r\n\r\n".encode() + data + b"\n")
        ending = b"\n"
        if FAULT == "notifications-without-newline" and message.get("method") == "notifications/progress":
            ending = b""
        if FAULT == "log-lines-on-stdout" and message.get("method") == "notifications/message":
            data = f"[{message['params']['level']}] {message['params']['data']}".encode("utf-8")
        self.write_raw(data + ending)

    def answer_in_background(self, message):
        started = threading.Event()

        def work():
            answer = self.handle(message, self.send, started)
            if answer is not None:
                self.send(answer)
        worker = threading.Thread(target=work, daemon=True)
        self.workers.add(worker)
        worker.start()
        started.wait(5)
        self.workers = {thread for thread in self.workers if thread.is_alive()}

    def receive_line(self, line):
        """Handle one line. Returns False if it could not be parsed."""
        try:
            message = parse(line)
        except ValueError:
            answer = {"jsonrpc": "2.0"}
            if self.version == OLD:
                answer["id"] = None
            self.send({**answer, "error": error_object(-32700, "Parse error")})
            return False
        if isinstance(message, list) and message and FAULT == "batch-still-answered":
            answers = [self.handle(item, self.send) for item in message if classify(item)[0] == "request"]
            self.send([answer for answer in answers if answer])
            return True
        kind, problem = classify(message)
        if kind == "invalid":
            if FAULT == "invalid-request-unanswered":
                return True
            self.send(refusal(message, problem, self))
        elif kind == "response":
            self.receive_answer(message)
        elif kind == "notification":
            answer = self.receive_notification(message)
            if answer:
                self.send(answer)
        elif self.is_slow(message["method"]):
            self.answer_in_background(message)
        else:
            if FAULT == "ping-waits-for-running-tool" and message["method"] == "ping":
                while self.running:
                    time.sleep(0.05)
            answer = self.handle(message, self.send)
            if answer is not None:
                self.send(answer)
                if message["method"] == "initialize" and "result" in answer and FAULT == "asks-before-initialized":
                    self.send({"jsonrpc": "2.0", "id": "ask-0", "method": "roots/list"})
        return True

    def run(self):
        print("recipe archive ready on stdio", file=sys.stderr, flush=True)
        if FAULT == "banner-on-stdout":
            self.write_raw(b"Copper Pot recipe archive 2.3.0\n")
        lost = False
        for line in iter(sys.stdin.buffer.readline, b""):
            if not line.strip():
                continue
            if FAULT == "message-after-parse-error-lost" and lost:
                lost = False
                continue
            if FAULT == "long-input-lines-dropped" and len(line) > 8192:
                continue
            lost = not self.receive_line(line)
        limit = time.monotonic() + 1.0
        while time.monotonic() < limit and any(thread.is_alive() for thread in self.workers):
            time.sleep(0.02)
        self.close()


# ---------------------------------------------------------------------------
# Streamable HTTP
# ---------------------------------------------------------------------------

class Stream:
    """One SSE stream: its events are kept, so that a broken connection can be resumed."""
    def __init__(self, session, kind):
        self.session, self.kind = session, kind
        self.events = []
        self.done = False
        self.connected = False
        self.owner = 0
        self.changed = threading.Condition()
        with session.lock:
            session.stream_count += 1
            self.key = f"{kind}{session.stream_count}"
            over = [key for key, stream in session.streams.items() if stream.done]
            for key in over[:-100]:
                del session.streams[key]
            session.streams[self.key] = self
        if session.new_revision and FAULT != "stream-not-primed":
            self.push(None)

    def push(self, message):
        with self.changed:
            number = len(self.events)
            event_id = f"{self.key}-{number}"
            if FAULT == "event-ids-repeat-across-streams":
                event_id = str(number)
            self.events.append((event_id, message))
            self.changed.notify_all()

    def finish(self):
        with self.changed:
            self.done = True
            self.changed.notify_all()


class HttpSession(Session):
    counter = 100

    def __init__(self):
        super().__init__("http")
        self.id = secrets.token_urlsafe(24)
        if FAULT == "session-ids-counted":
            HttpSession.counter += 1
            self.id = str(HttpSession.counter)
        if FAULT == "session-id-with-space":
            self.id = "archive session " + self.id
        self.streams = {}
        self.stream_count = 0
        self.backlog = []

    def listening_streams(self):
        with self.lock:
            return [stream for stream in self.streams.values()
                    if stream.kind == "get" and stream.connected and not stream.done]

    def send_unrelated(self, message):
        with self.lock:
            streams = self.listening_streams()
            if FAULT == "unrelated-messages-on-post-stream":
                streams = [stream for stream in self.streams.values()
                           if stream.kind == "post" and stream.connected and not stream.done] or streams
            if not streams:
                self.backlog.append(message)
                del self.backlog[:-200]
                return
            if FAULT == "same-message-on-all-streams":
                for stream in streams:
                    stream.push(message)
                return
            streams[-1].push(message)

    def deliver_backlog(self, stream):
        with self.lock:
            stream.connected = True
            waiting, self.backlog = self.backlog, []
        for message in waiting:
            stream.push(message)

    def close(self):
        super().close()
        with self.lock:
            streams = list(self.streams.values())
        for stream in streams:
            stream.finish()


def accepts(header, kind):
    offered = [part.split(";")[0].strip().lower() for part in header.split(",")]
    return kind in offered or kind.split("/")[0] + "/*" in offered or "*/*" in offered


def origin_allowed(origin):
    if FAULT == "origin-not-checked":
        return True
    if FAULT == "origin-compared-by-prefix":
        return origin.startswith(("http://localhost", "http://127.0.0.1"))
    try:
        parts = urllib.parse.urlsplit(origin)
        parts.port
    except ValueError:
        return False
    return (parts.scheme in ("http", "https") and parts.hostname in ("localhost", "127.0.0.1", "::1")
            and "@" not in parts.netloc and not parts.path and not parts.query and not parts.fragment)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server_version = "CopperPot/2.3"
    sys_version = ""

    def log_message(self, *parts):
        pass

    # -- small helpers --------------------------------------------------------

    def reply(self, status, message=None, headers=(), kind="application/json"):
        body = b"" if message is None else encode(message)
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if message is not None:
            self.send_header("Content-Type", kind)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, words, code=-32600, headers=()):
        self.reply(status, {"jsonrpc": "2.0", "error": error_object(code, words)}, headers)

    def read_body(self):
        """Return the body, or None after a refusal was sent."""
        limit = 4 * 1024 * 1024
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            parts, total = [], 0
            while True:
                size = int(self.rfile.readline(100).split(b";")[0].strip() or b"0", 16)
                if size == 0:
                    while self.rfile.readline(1000).strip():
                        pass
                    return b"".join(parts)
                total += size
                if total > limit:
                    break
                parts.append(self.rfile.read(size))
                self.rfile.readline(10)
        else:
            length = self.headers.get("Content-Length", "0")
            if not length.isdigit():
                self.close_connection = True
                self.refuse(400, "Content-Length is not a number")
                return None
            if int(length) <= limit:
                return self.rfile.read(int(length))
        self.close_connection = True
        self.refuse(413, "The message is too long")
        return None

    def admitted(self):
        """Check path, origin and protocol version; read and keep the body."""
        try:
            self.body = self.read_body()
        except ValueError:
            self.close_connection = True
            self.refuse(400, "The body is not framed correctly")
            return False
        if self.body is None:
            return False
        if urllib.parse.urlsplit(self.path).path != "/mcp":
            self.refuse(404, "There is only /mcp here")
            return False
        origin = self.headers.get("Origin")
        if origin is not None and not origin_allowed(origin):
            if not (FAULT == "origin-checked-only-for-post" and self.command != "POST"):
                self.refuse(401 if FAULT == "foreign-origin-gets-401" else 403, "This origin is not allowed")
                return False
        version = self.headers.get("MCP-Protocol-Version")
        if version is not None and version not in VERSIONS and FAULT != "version-header-ignored":
            if not (FAULT == "version-header-checked-only-for-post" and self.command != "POST"):
                self.refuse(400, f"Unsupported protocol version; supported are {', '.join(VERSIONS)}")
                return False
        return True

    def find_session(self):
        """Return the session of this request, or None after a refusal was sent."""
        session_id = self.headers.get("Mcp-Session-Id")
        if session_id is None:
            sessions = all_sessions()
            if FAULT == "missing-session-header-accepted" and sessions:
                return sessions[-1]
            self.refuse(400, "The Mcp-Session-Id header is missing")
            return None
        with SESSIONS_LOCK:
            session = SESSIONS.get(session_id)
        if session is None or session.closed and FAULT != "ended-session-still-served":
            if FAULT == "ended-session-gets-400":
                self.refuse(400, "Unknown session")
            else:
                self.refuse(404, "Unknown session", -32001)
            return None
        return session

    # -- methods ----------------------------------------------------------------

    def do_POST(self):
        if not self.admitted():
            return
        kind = self.headers.get("Content-Type", "").split(";")[0].strip().lower()
        if kind != "application/json":
            return self.refuse(415, "The body must be application/json")
        accept = self.headers.get("Accept", "")
        if not (accepts(accept, "application/json") and accepts(accept, "text/event-stream")):
            return self.refuse(406, "Accept must list application/json and text/event-stream")
        try:
            message = parse(self.body)
        except ValueError:
            if FAULT == "parse-error-closes-connection":
                self.close_connection = True
                return
            return self.refuse(400, "Parse error", -32700)
        if isinstance(message, list) and message and FAULT == "batch-still-answered":
            session = self.find_session()
            if session:
                answers = [session.handle(item, lambda other: None) for item in message if classify(item)[0] == "request"]
                self.reply(200, [answer for answer in answers if answer])
            return
        message_kind, problem = classify(message)
        if message_kind == "invalid":
            if FAULT == "invalid-message-gets-202":
                return self.reply(202)
            return self.reply(400, refusal(message, problem))
        if message_kind == "request" and message["method"] == "initialize" and "Mcp-Session-Id" not in self.headers:
            return self.open_session(message)
        session = self.find_session()
        if session is None:
            return
        if message_kind == "notification":
            answer = session.receive_notification(message)
            if answer:
                return self.reply(200, answer)
            if FAULT == "notification-gets-200":
                return self.reply(200, {})
            return self.reply(202)
        if message_kind == "response":
            session.receive_answer(message)
            if FAULT == "accepted-answer-gets-body":
                return self.reply(202, {"status": "accepted"})
            return self.reply(202)
        if not session.is_slow(message["method"]):
            answer = session.handle(message, session.send_unrelated)
            kind = "application/json"
            if FAULT == "error-answer-as-plain-text" and "error" in answer:
                kind = "text/plain"
            return self.reply(200, answer, kind=kind)
        stream = Stream(session, "post")
        stream.connected = True

        def work():
            answer = session.handle(message, stream.push)
            if answer is not None:
                target = stream
                listening = session.listening_streams()
                if FAULT == "answer-on-listening-stream" and listening:
                    target = listening[-1]
                if FAULT == "stream-ends-before-answer-after-progress" and len(stream.events) > 3:
                    target = None
                if target:
                    target.push(answer)
                if FAULT == "answer-sent-twice-on-stream" and target:
                    target.push(answer)
            if FAULT == "stream-stays-open-after-answer":
                time.sleep(15)
            stream.finish()
        threading.Thread(target=work, daemon=True).start()
        self.serve(stream, 0, message.get("id"))

    def open_session(self, message):
        session = HttpSession()
        answer = session.handle(message, lambda other: None)
        if "error" in answer:
            return self.reply(200, answer)
        with SESSIONS_LOCK:
            SESSIONS[session.id] = session
        self.reply(200, answer, [("Mcp-Session-Id", session.id)])

    def do_GET(self):
        if not self.admitted():
            return
        if not accepts(self.headers.get("Accept", ""), "text/event-stream"):
            return self.refuse(406, "Accept must list text/event-stream")
        session = self.find_session()
        if session is None:
            return
        if FAULT == "get-answers-with-json":
            return self.reply(200, {"status": "ok", "session": "open"})
        if FAULT == "second-listening-stream-refused-with-409" and session.listening_streams():
            return self.refuse(409, "There is a listening stream already")
        last = self.headers.get("Last-Event-ID", "")
        with session.lock:
            found = None
            for stream in session.streams.values():
                ids = [event_id for event_id, _ in stream.events]
                if last and last in ids:
                    found = stream, ids.index(last) + 1
        if found:
            stream, start = found
            if FAULT == "resumption-repeats-last-event":
                start -= 1
            if FAULT == "resumption-loses-one-event":
                start += 1
            if FAULT == "resumption-replays-other-streams":
                others = [event for other in list(session.streams.values()) if other is not stream for event in other.events
                          if event[1]]
                return self.serve(stream, start, first=others[-5:])
            return self.serve(stream, start)
        self.serve(Stream(session, "get"), 0)

    def do_DELETE(self):
        if not self.admitted():
            return
        session = self.find_session()
        if session is None:
            return
        if FAULT == "ended-session-still-served":
            return self.reply(204)
        with SESSIONS_LOCK:
            SESSIONS.pop(session.id, None)
        session.close()
        self.reply(204)

    def other_method(self):
        if self.admitted():
            self.refuse(405, "Only POST, GET and DELETE are offered", headers=[("Allow", "POST, GET, DELETE")])

    do_PUT = do_PATCH = do_OPTIONS = other_method

    # -- server-sent events -----------------------------------------------------

    def gone(self):
        """Has the client closed its side of the connection?"""
        try:
            readable, _, _ = select.select([self.connection], [], [], 0)
            return bool(readable) and self.connection.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True

    def write_event(self, event_id, message):
        data = b"" if message is None else encode(message)
        if FAULT == "event-data-broken-over-lines" and len(data) > 300:
            data = json.dumps(message, ensure_ascii=False, indent=1).encode("utf-8")
        lines = b"id: " + event_id.encode() + b"\ndata: " + data + b"\n\n"
        if FAULT == "event-without-data-field" and message is not None and "method" in message:
            lines = b"id: " + event_id.encode() + b"\n" + data + b"\n\n"
        self.wfile.write(f"{len(lines):x}\r\n".encode() + lines + b"\r\n")

    def serve(self, stream, start, request_id=None, first=()):
        session = stream.session
        with stream.changed:
            stream.owner += 1
            mine = stream.owner
            stream.changed.notify_all()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain" if FAULT == "stream-as-plain-text" and stream.kind == "post"
                         else "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if stream.kind == "get":
            session.deliver_backlog(stream)
        stream.connected = True
        position = start
        try:
            for event_id, message in first:
                self.write_event(event_id, message)
            while stream.owner == mine:
                with stream.changed:
                    if len(stream.events) <= position and not stream.done:
                        stream.changed.wait(0.3)
                    fresh, done = stream.events[position:], stream.done
                for event_id, message in fresh:
                    self.write_event(event_id, message)
                position += len(fresh)
                if done and position >= len(stream.events):
                    break
                if not fresh and self.gone():
                    raise ConnectionError("closed by the client")
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True
            if FAULT == "disconnect-cancels-call" and request_id is not None:
                call = session.running.get((type(request_id), request_id))
                if call:
                    call.cancelled.set()
        finally:
            if stream.owner == mine:
                stream.connected = False


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


# ---------------------------------------------------------------------------
# Start
# ---------------------------------------------------------------------------

def main():
    global FAULT
    parser = argparse.ArgumentParser(description="A recipe archive that speaks the Model Context Protocol")
    parser.add_argument("--stdio", action="store_true", help="speak over standard input and output")
    parser.add_argument("--http", type=int, metavar="PORT", help="serve http://127.0.0.1:PORT/mcp")
    parser.add_argument("--fault", default="", metavar="NAME", help="misbehave in one way")
    parser.add_argument("--list-faults", action="store_true", help="print all faults as JSON Lines")
    options = parser.parse_args()
    if options.list_faults:
        for name, area, level, transports, revisions, what, page in FAULTS:
            print(json.dumps({"name": name, "area": area, "level": level, "transports": transports,
                              "revisions": revisions, "what": what, "page": page}, ensure_ascii=False))
        return
    if options.fault and options.fault not in {row[0] for row in FAULTS}:
        parser.error(f"unknown fault: {options.fault}")
    FAULT = options.fault
    if not options.stdio and options.http is None:
        parser.error("choose --stdio or --http PORT")
    threading.Thread(target=oven_clock, daemon=True).start()
    if options.stdio:
        session = StdioSession()
        SESSIONS["stdio"] = session
        session.run()
        return
    address = "0.0.0.0" if FAULT == "listens-on-all-interfaces" else "127.0.0.1"
    server = Server((address, options.http), Handler)
    print(f"recipe archive ready on http://127.0.0.1:{options.http}/mcp", file=sys.stderr, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()

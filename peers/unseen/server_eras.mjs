#!/usr/bin/env node
// Greenhouse: a small MCP server (2025-06-18, 2025-11-25 and 2026-07-28) over stdio and Streamable HTTP.
import http from 'node:http';
import os from 'node:os';
import crypto from 'node:crypto';

// ---------------------------------------------------------------- faults

const argv = process.argv.slice(2);
const FAULT = argv.includes('--fault') ? argv[argv.indexOf('--fault') + 1] : null;
const F = (name) => FAULT === name;
// name, area, level, transport, what
const FAULTS = [
  ["init-echoes-version", "lifecycle", "MUST", "any", "initialize answers with whatever version was asked for. Forbidden: otherwise the server MUST respond with another protocol version it supports (2025-11-25 basic/lifecycle)."],
  ["init-always-latest", "lifecycle", "MUST", "any", "initialize with 2025-06-18 is answered with 2025-11-25. Forbidden: if the server supports the requested version it MUST respond with the same version (basic/lifecycle)."],
  ["init-oldest-fallback", "lifecycle", "SHOULD", "any", "An unknown version is answered with 2025-06-18, not the latest one. Forbidden: this SHOULD be the latest version supported by the server (basic/lifecycle)."],
  ["init-no-prompts-capability", "lifecycle", "MUST", "any", "initialize does not declare prompts though prompts work (discover is right). Forbidden: servers that support prompts MUST declare the prompts capability during initialization (2025-11-25 server/prompts)."],
  ["init-no-completions-capability", "lifecycle", "MUST", "any", "initialize does not declare completions though completion/complete works. Forbidden: servers that support completions MUST declare the completions capability (server/utilities/completion)."],
  ["init-no-logging-capability", "lifecycle", "MUST", "any", "initialize does not declare logging though log messages are sent. Forbidden: servers that emit log message notifications MUST declare the logging capability (server/utilities/logging)."],
  ["init-no-server-info", "lifecycle", "MUST", "any", "The initialize result has no serverInfo. Forbidden: the server MUST respond with its own capabilities and information (basic/lifecycle)."],
  ["elicit-before-initialized", "lifecycle", "SHOULD", "any", "recommend_plant sends elicitation/create before notifications/initialized came. Forbidden: the server SHOULD NOT send requests other than pings and logging before receiving the initialized notification (basic/lifecycle)."],
  ["ping-not-empty", "lifecycle", "MUST", "http", "ping in a session is answered with {\"pong\":true}. Forbidden: the receiver MUST respond promptly with an empty response (basic/utilities/ping)."],
  ["ping-before-init-fails", "lifecycle", "MUST", "stdio", "ping before initialize is rejected over stdio. Forbidden: the receiver MUST respond promptly with an empty response (basic/utilities/ping)."],
  ["discover-missing", "lifecycle", "MUST", "any", "server/discover is not implemented. Forbidden: servers MUST implement server/discover (2026-07-28 server/discover)."],
  ["discover-no-resources-capability", "lifecycle", "MUST", "any", "server/discover does not declare resources though they work (initialize is right). Forbidden: servers that support resources MUST declare the resources capability (2026-07-28 server/resources)."],
  ["discover-no-prompts-capability", "lifecycle", "MUST", "any", "server/discover does not declare prompts though they work. Forbidden: servers that support prompts MUST declare the prompts capability in their DiscoverResult (2026-07-28 server/prompts)."],
  ["needs-discover-first", "lifecycle", "MUST", "any", "2026-07-28 requests fail until server/discover was called once in this process. Forbidden: servers MUST NOT rely on prior requests over the same connection to establish context (2026-07-28 basic)."],
  ["error-id-stringified", "jsonrpc", "MUST", "any", "Error responses turn a numeric id into a string. Forbidden: error responses MUST include the same ID as the request they correspond to (basic)."],
  ["numeric-string-id-cast", "jsonrpc", "MUST", "any", "A string id made of digits (\"12\") comes back as a number in results. Forbidden: result responses MUST include the same ID as the request (basic)."],
  ["notification-answered", "jsonrpc", "MUST", "stdio", "An unknown notification is answered with a -32601 error. Forbidden: the receiver MUST NOT send a response to a notification (basic)."],
  ["request-without-id-answered", "jsonrpc", "MUST", "stdio", "A known method sent without id is executed and answered with \"id\":null. Forbidden: the receiver MUST NOT send a response to a notification (basic)."],
  ["parse-error-code-string", "jsonrpc", "MUST", "any", "A parse error has \"code\":\"-32700\", a string. Forbidden: error codes MUST be integers (basic)."],
  ["error-without-message", "jsonrpc", "MUST", "any", "A method-not-found error has no message. Forbidden: error responses MUST include an error field with a code and message (basic)."],
  ["error-with-null-result", "jsonrpc", "MUST", "any", "On 2025-06-18 error responses also carry \"result\":null. Forbidden: a response MUST NOT set both result and error (2025-06-18 basic)."],
  ["unknown-method-invalid-request", "jsonrpc", "MUST", "any", "Unknown methods are answered with -32600. Forbidden: all messages MUST follow JSON-RPC 2.0 (basic), where an unknown method is -32601; the 2026-07-28 HTTP page says so with MUST."],
  ["unknown-method-empty-result", "jsonrpc", "MUST", "any", "An unknown method in a session of the older revisions is answered with an empty result. Forbidden: messages MUST follow JSON-RPC 2.0 (basic): the operation failed with -32601."],
  ["parse-error-internal", "jsonrpc", "MUST", "any", "Malformed JSON is answered with -32603. Forbidden: MCP uses the standard JSON-RPC codes and messages MUST follow JSON-RPC 2.0 (basic): -32700."],
  ["malformed-line-kills", "jsonrpc", "MUST", "stdio", "A line that is no JSON ends the server process. Forbidden: messages MUST follow JSON-RPC 2.0 (basic): a parse error is answered, later requests are served."],
  ["log-without-jsonrpc", "jsonrpc", "MUST", "any", "notifications/message lacks \"jsonrpc\". Forbidden: all messages MUST follow JSON-RPC 2.0 (basic)."],
  ["progress-with-id", "jsonrpc", "MUST", "any", "notifications/progress carries an \"id\". Forbidden: notifications MUST NOT include an ID (basic)."],
  ["template-result-type-missing", "jsonrpc", "MUST", "any", "resources/templates/list results lack resultType. Forbidden: the result MUST include a resultType field (2026-07-28 basic)."],
  ["tool-error-result-type", "jsonrpc", "MUST", "any", "Tool results with isError have resultType \"error\". Forbidden: the set of ResultType values MUST be the core ones plus those of advertised extensions (2026-07-28 basic)."],
  ["completion-result-type-missing", "jsonrpc", "MUST", "any", "Empty completion results lack resultType. Forbidden: the result MUST include a resultType field (2026-07-28 basic)."],
  ["state-error-legacy-code", "jsonrpc", "SHOULD", "any", "A requestState that fails verification is answered with -32001. Forbidden: new implementations SHOULD NOT use codes from -32000 to -32019 at all (2026-07-28 basic)."],
  ["state-error-reserved-code", "jsonrpc", "MUST", "any", "A requestState of another request is answered with -32030, a code nobody defined. Forbidden: implementations MUST NOT emit any code from -32020 to -32099 that the specification does not define (2026-07-28 basic)."],
  ["fractional-error-code", "jsonrpc", "MUST", "any", "A params value that is an array is answered with the code -32602.5. Forbidden: error codes MUST be integers (basic)."],
  ["client-capabilities-optional", "meta", "MUST", "any", "A 2026-07-28 request without clientCapabilities is served. Forbidden: a request missing any required field is malformed; the server MUST reject it with -32602 (2026-07-28 basic)."],
  ["missing-version-code", "meta", "MUST", "any", "A 2026-07-28 request without protocolVersion in _meta is rejected with -32600. Forbidden: the server MUST reject it with -32602 (2026-07-28 basic)."],
  ["missing-capabilities-field-200", "meta", "MUST", "http", "The rejection of a request without clientCapabilities has HTTP status 200. Forbidden: on HTTP the response status MUST be 400 Bad Request (2026-07-28 basic)."],
  ["unsupported-version-code", "meta", "MUST", "any", "An unknown protocol version in _meta is answered with -32602. Forbidden: the server MUST respond with an UnsupportedProtocolVersionError, -32022 (2026-07-28 basic/versioning)."],
  ["unsupported-version-unlisted", "meta", "MUST", "any", "UnsupportedProtocolVersionError does not list the supported versions. Forbidden: it MUST be an error listing the versions the server does support (2026-07-28 basic/versioning)."],
  ["unsupported-version-200", "meta", "MUST", "http", "UnsupportedProtocolVersionError has HTTP status 200. Forbidden: the server MUST respond with 400 Bad Request (2026-07-28 basic/transports/streamable-http)."],
  ["later-version-served", "meta", "MUST", "any", "A later version such as 2027-01-01 is served as if it were 2026-07-28. Forbidden: if the server does not implement the requested version it MUST respond with an UnsupportedProtocolVersionError (2026-07-28 basic/versioning)."],
  ["server-info-only-discover", "meta", "SHOULD", "any", "Only server/discover and the lists carry serverInfo in _meta; tools/call results do not. Forbidden: servers SHOULD include serverInfo in every result's _meta (2026-07-28 basic)."],
  ["missing-capability-code", "meta", "MUST", "any", "recommend_plant without the elicitation capability is answered with -32602. Forbidden: the server MUST return MissingRequiredClientCapabilityError, -32021 (2026-07-28 basic)."],
  ["missing-capability-data", "meta", "MUST", "any", "data.requiredCapabilities of -32021 is missing; the error has data.missing. Forbidden: data.requiredCapabilities lists the missing capabilities, MUST (2026-07-28 basic)."],
  ["missing-capability-200", "meta", "MUST", "http", "MissingRequiredClientCapabilityError has HTTP status 200. Forbidden: on HTTP the response status MUST be 400 Bad Request (2026-07-28 basic)."],
  ["capabilities-remembered", "meta", "MUST", "any", "A capability declared on one 2026-07-28 request counts for later requests that do not declare it. Forbidden: a server MUST NOT rely on capabilities the client has not declared in the request; servers MUST NOT rely on prior requests (2026-07-28 basic)."],
  ["meta-key-invalid", "meta", "MUST", "any", "tools/list results carry the _meta key \"2.greenhouse/_rev\". Forbidden: labels of a prefix MUST start with a letter; a name MUST begin and end with an alphanumeric character (basic)."],
  ["structured-missing-fahrenheit", "tools", "MUST", "any", "convert_temperature to fahrenheit returns no structuredContent though it has an outputSchema. Forbidden: servers MUST provide structured results that conform to this schema (server/tools)."],
  ["structured-value-string", "tools", "MUST", "any", "read_sensor returns the value of soil_temperature as a string where the outputSchema says number. Forbidden: servers MUST provide structured results that conform to the output schema (server/tools)."],
  ["structured-item-incomplete", "tools", "MUST", "any", "list_plants leaves out the required \"water\" of plants that need little of it. Forbidden: servers MUST provide structured results that conform to the output schema (server/tools)."],
  ["structured-extra-after-add", "tools", "MUST", "any", "After add_plant, list_plants returns items with a property its outputSchema excludes. Forbidden: servers MUST provide structured results that conform to the output schema (server/tools)."],
  ["structured-without-text", "tools", "SHOULD", "any", "simulate_growth returns structuredContent with empty content. Forbidden: a tool that returns structured content SHOULD also return the serialized JSON in a TextContent block (server/tools)."],
  ["unknown-tool-internal", "tools", "MUST", "any", "Calling a tool whose name is a property of Object.prototype (\"constructor\", \"toString\") gives -32603 after a crash, other unknown names are right. Forbidden: servers MUST validate all tool inputs (server/tools; unknown tool is -32602)."],
  ["range-not-validated", "tools", "MUST", "any", "zone_report accepts a day outside minimum and maximum. Forbidden: servers MUST validate all tool inputs (server/tools)."],
  ["required-not-validated", "tools", "MUST", "any", "water_bed without liters waters the bed with NaN and succeeds. Forbidden: servers MUST validate all tool inputs (server/tools)."],
  ["nested-input-not-validated", "tools", "MUST", "any", "zone_report does not validate what is inside \"options\" (any unit is accepted). Forbidden: servers MUST validate all tool inputs (server/tools)."],
  ["tool-failure-protocol-error", "tools", "SHOULD", "any", "plant_card for an unknown plant gives a JSON-RPC error -32603. Forbidden: errors that originate from the tool SHOULD be reported inside the result with isError, not as a protocol error (schema, CallToolResult; server/tools)."],
  ["tools-order-unstable", "tools", "SHOULD", "any", "tools/list turns the order of the tools on every second request of a first page. Forbidden: servers SHOULD return tools in a deterministic order (2026-07-28 server/tools)."],
  ["tools-unlocked-by-call", "tools", "MUST", "any", "zone_report is listed only after list_plants was called. Forbidden: the set of tools MUST NOT vary as a side effect of other requests on the connection (2026-07-28 server/tools)."],
  ["input-schema-null", "tools", "MUST", "any", "frost_forecast, listed in frost mode, has \"inputSchema\":null. Forbidden: inputSchema MUST be a valid JSON Schema object, not null (server/tools)."],
  ["output-schema-invalid", "tools", "MUST", "any", "The outputSchema of convert_temperature says \"type\":\"float\". Forbidden: schemas MUST be valid according to their declared or default dialect (basic)."],
  ["input-schema-required-boolean", "tools", "MUST", "any", "The inputSchema of simulate_growth marks \"plant\" with \"required\":true, as draft 3 did. Forbidden: schemas MUST be valid according to their declared or default dialect (basic)."],
  ["tool-name-with-space", "tools", "SHOULD", "any", "water_bed is called \"water bed\". Forbidden: tool names SHOULD NOT contain spaces (server/tools)."],
  ["tool-name-twice", "tools", "SHOULD", "any", "The last page of tools/list repeats read_sensor. Forbidden: tool names SHOULD be unique within a server (server/tools)."],
  ["header-param-number", "tools", "MUST", "any", "x-mcp-header is on \"value\" of convert_temperature, of type number. Forbidden: x-mcp-header MUST only be applied to integer, string, boolean; number is not permitted (2026-07-28 server/tools)."],
  ["header-param-twice", "tools", "MUST", "any", "Two parameters of zone_report have the x-mcp-header values \"Zone\" and \"ZONE\". Forbidden: it MUST be case-insensitively unique in the inputSchema (2026-07-28 server/tools)."],
  ["header-param-space", "tools", "MUST", "any", "The x-mcp-header value of \"day\" is \"Report Day\". Forbidden: it MUST match HTTP field-name token syntax (2026-07-28 server/tools)."],
  ["header-param-in-items", "tools", "MUST", "any", "zone_report has an array \"tags\" whose items carry x-mcp-header. Forbidden: it MUST only be applied to properties statically reachable through \"properties\" keys (2026-07-28 basic/transports/streamable-http)."],
  ["header-param-empty", "tools", "MUST", "any", "The x-mcp-header value of \"brief\" is the empty string. Forbidden: it MUST NOT be empty (2026-07-28 server/tools)."],
  ["tools-changed-only-on", "tools", "SHOULD", "any", "Turning frost mode off sends no tools/list_changed (turning it on does). Forbidden: when the list of tools changes, servers that declared listChanged SHOULD send a notification (server/tools)."],
  ["missing-resource-empty", "resources", "MUST", "any", "In 2026-07-28 reading a resource that does not exist gives \"contents\":[]. Forbidden: servers MUST NOT return an empty contents array for a non-existent resource (2026-07-28 server/resources)."],
  ["missing-resource-old-code", "resources", "MUST", "any", "In 2026-07-28 a resource that does not exist gives -32002. Forbidden: servers MUST return -32602; implementations MUST NOT emit -32002 (2026-07-28 server/resources, basic)."],
  ["missing-resource-new-code", "resources", "SHOULD", "any", "In the older revisions a resource that does not exist gives -32602. Forbidden: servers SHOULD return standard errors: resource not found -32002 (2025-11-25 server/resources)."],
  ["missing-template-resource-error", "resources", "MUST", "any", "In 2026-07-28 an unknown sensor in greenhouse://readings/{sensor}/{hour} gives -32603. Forbidden: if the requested resource does not exist, servers MUST return -32602 (2026-07-28 server/resources)."],
  ["blob-not-base64", "resources", "MUST", "any", "The blob of greenhouse://files/map.png is Latin-1 text of the bytes, no Base64. Forbidden: binary data MUST be properly encoded (server/resources)."],
  ["uri-scheme-invalid", "resources", "MUST", "any", "The rules are listed and read as green_house://files/rules.txt. Forbidden: custom URI schemes MUST be in accordance with RFC 3986 (no underscore in a scheme; server/resources)."],
  ["uri-not-validated", "resources", "MUST", "any", "resources/read looks only at the last two parts of a URI: file:///etc/plants/basil is served. Forbidden: servers MUST validate all resource URIs (server/resources)."],
  ["resources-changed-not-sent", "resources", "SHOULD", "any", "add_plant adds a resource without resources/list_changed. Forbidden: when the list of resources changes, servers that declared listChanged SHOULD send a notification (server/resources)."],
  ["resources-hide-added", "resources", "MUST", "any", "resources/list leaves out a plant added by add_plant, though it can be read. Forbidden: servers MUST respond to resources/list with the set of resources currently available (2026-07-28 server/resources)."],
  ["prompt-argument-missing-accepted", "prompts", "SHOULD", "any", "prompts/get without a required argument succeeds (\"compare undefined\"). Forbidden: servers SHOULD return -32602 for missing required arguments (server/prompts)."],
  ["prompt-second-argument-unchecked", "prompts", "SHOULD", "any", "prompts/get checks only the first required argument: compare_plants without \"second\" succeeds. Forbidden: servers SHOULD return -32602 for missing required arguments (server/prompts)."],
  ["prompt-unknown-internal", "prompts", "SHOULD", "any", "An unknown prompt name gives -32603. Forbidden: servers SHOULD return -32602 for an invalid prompt name (server/prompts)."],
  ["prompt-argument-type-unchecked", "prompts", "MUST", "any", "prompts/get accepts arguments that are no strings (\"[object Object]\" in the message). Forbidden: implementations MUST carefully validate all prompt inputs and outputs (server/prompts)."],
  ["prompt-image-data-uri", "prompts", "MUST", "any", "The image of the prompt diagnose is a data: URI instead of Base64. Forbidden: the image data MUST be base64-encoded (server/prompts)."],
  ["prompt-image-mime", "prompts", "MUST", "any", "The image of the prompt diagnose has the MIME type \"png\". Forbidden: image data MUST include a valid MIME type (server/prompts)."],
  ["prompt-embedded-no-mime", "prompts", "MUST", "any", "The resource embedded in diagnose (with a known plant) has no mimeType. Forbidden: embedded resources MUST include the appropriate MIME type (server/prompts)."],
  ["prompts-changed-not-sent", "prompts", "SHOULD", "any", "Turning frost mode on or off sends no prompts/list_changed. Forbidden: when the list of prompts changes, servers that declared listChanged SHOULD send a notification (server/prompts)."],
  ["completion-over-100", "completion", "MUST", "any", "Completing the date of greenhouse://diary/{date} returns up to 365 values. Forbidden: values MUST NOT exceed 100 items (schema CompleteResult; server/utilities/completion: maximum 100 items per response)."],
  ["completion-unknown-prompt-empty", "completion", "SHOULD", "any", "Completion for an unknown prompt returns no values. Forbidden: servers SHOULD return -32602 for an invalid prompt name (server/utilities/completion)."],
  ["completion-argument-missing-internal", "completion", "SHOULD", "any", "completion/complete without \"argument\" gives -32603. Forbidden: servers SHOULD return -32602 for missing required arguments (server/utilities/completion)."],
  ["completion-unsorted", "completion", "SHOULD", "any", "Completion puts values that merely contain the text before those that start with it. Forbidden: servers SHOULD return suggestions sorted by relevance (server/utilities/completion)."],
  ["completion-value-type", "completion", "MUST", "any", "completion/complete accepts a number as argument.value. Forbidden: implementations MUST validate all completion inputs (server/utilities/completion)."],
  ["completion-argument-unknown", "completion", "MUST", "any", "completion/complete answers for an argument the prompt or template does not have. Forbidden: implementations MUST validate all completion inputs (server/utilities/completion)."],
  ["log-unasked", "logging", "MUST", "any", "In 2026-07-28 log messages are sent for requests without logLevel. Forbidden: the server MUST NOT emit notifications/message for a request that does not include this field (2026-07-28 server/utilities/logging)."],
  ["log-level-remembered", "logging", "MUST", "any", "In 2026-07-28 the logLevel of one request holds for later requests without it. Forbidden: the server MUST NOT emit notifications/message for a request that does not include this field (2026-07-28 server/utilities/logging)."],
  ["log-level-unknown-accepted", "logging", "SHOULD", "any", "logging/setLevel accepts any string. Forbidden: servers SHOULD return -32602 for an invalid log level (2025-11-25 server/utilities/logging)."],
  ["log-level-meta-unknown-ignored", "logging", "SHOULD", "any", "An unknown logLevel in _meta is ignored. Forbidden: the server SHOULD reject that request with -32602 (2026-07-28 server/utilities/logging)."],
  ["log-level-unknown-code", "logging", "SHOULD", "any", "logging/setLevel with an unknown level gives -32603. Forbidden: servers SHOULD return -32602 for an invalid log level (2025-11-25 server/utilities/logging)."],
  ["log-credentials", "logging", "MUST", "any", "A warning of scan_greenhouse carries the password of the sensor bus. Forbidden: log messages MUST NOT contain credentials or secrets (server/utilities/logging)."],
  ["log-logger-random", "logging", "SHOULD", "any", "Every log message has another logger name (greenhouse-1, greenhouse-2, ...). Forbidden: servers SHOULD use consistent logger names (server/utilities/logging)."],
  ["log-on-listen-stream", "logging", "MUST", "any", "Log messages also go to every subscriptions/listen stream. Forbidden: the server MUST NOT deliver notifications/message on a listen stream (2026-07-28 server/utilities/logging)."],
  ["progress-last-repeated", "progress", "MUST", "any", "scan_greenhouse reports its final progress twice if it takes more than 4 steps. Forbidden: the progress value MUST increase with each notification (progress)."],
  ["progress-rounded-down", "progress", "MUST", "any", "simulate_growth reports whole weeks: progress stays the same for seven notifications. Forbidden: the progress value MUST increase with each notification (progress)."],
  ["progress-unasked", "progress", "MUST", "any", "A request without progressToken gets progress notifications with its id as token. Forbidden: progress notifications MUST only reference tokens provided in an active request (progress)."],
  ["progress-token-string", "progress", "MUST", "any", "A numeric progressToken comes back as a string. Forbidden: progress notifications MUST only reference tokens that were provided (progress)."],
  ["progress-token-stale", "progress", "MUST", "any", "A request without progressToken gets progress with the token of the last request that had one. Forbidden: tokens MUST be associated with an in-progress operation (progress)."],
  ["progress-token-zero", "progress", "MUST", "any", "For the progressToken 0 the notifications carry the token \"\" instead. Forbidden: progress notifications MUST only reference tokens that were provided (progress)."],
  ["progress-after-result", "progress", "MUST", "stdio", "simulate_growth sends one more progress notification after its result. Forbidden: progress notifications MUST stop after completion (progress)."],
  ["progress-message-object", "progress", "SHOULD", "any", "The message of the progress of scan_greenhouse is \"[object Object]\". Forbidden: the message field SHOULD provide relevant human readable progress information (progress)."],
  ["cancel-answered-legacy", "cancellation", "SHOULD", "any", "In the older revisions a cancelled request is answered with an error \"Request cancelled\". Forbidden: receivers of cancellation notifications SHOULD not send a response for the cancelled request (basic/utilities/cancellation)."],
  ["cancel-answered-modern", "cancellation", "MUST", "stdio", "In 2026-07-28 over stdio a cancelled tool call is answered with isError. Forbidden: servers MUST NOT send any further messages for a cancelled request (2026-07-28 basic/transports/stdio)."],
  ["cancel-progress-goes-on", "cancellation", "MUST", "stdio", "After cancellation simulate_growth keeps sending progress, without a final response. Forbidden: servers MUST NOT send any further messages for a cancelled request (2026-07-28 basic/transports/stdio)."],
  ["cancel-ignored", "cancellation", "SHOULD", "any", "notifications/cancelled is ignored: the result of the cancelled call is sent. Forbidden: receivers SHOULD stop processing the cancelled request and not send a response (cancellation)."],
  ["cancel-string-ids-missed", "cancellation", "SHOULD", "any", "Only requests with numeric ids can be cancelled. Forbidden: receivers SHOULD stop processing the cancelled request and not send a response (cancellation)."],
  ["cancel-unknown-answered", "cancellation", "MUST", "stdio", "Cancelling a request that is unknown or done is answered with an error. Forbidden: the receiver MUST NOT send a response to a notification (basic; invalid cancellations SHOULD be ignored)."],
  ["cancel-malformed-500", "cancellation", "SHOULD", "http", "notifications/cancelled without params gives HTTP 500 in a session. Forbidden: malformed cancellation notifications SHOULD be ignored (basic/utilities/cancellation)."],
  ["cancel-kills-all", "cancellation", "MUST", "stdio", "Cancelling one request also drops the other requests in progress; they are never answered. Forbidden: messages MUST follow JSON-RPC 2.0 (basic): every request that was not cancelled gets a response."],
  ["disconnect-cancels-legacy", "cancellation", "SHOULD", "http", "In 2025-11-25 closing the SSE stream of a POST cancels the request; a resumed stream ends without the response. Forbidden: disconnection SHOULD NOT be interpreted as the client cancelling its request (2025-11-25 basic/transports)."],
  ["server-cancels-call", "cancellation", "MUST", "any", "In 2026-07-28 simulate_growth sends notifications/cancelled for its own request when the plant is unknown. Forbidden: servers MUST NOT send notifications/cancelled for any purpose but ending a subscription stream (2026-07-28 basic/patterns/cancellation)."],
  ["cursor-invalid-restarts", "pagination", "SHOULD", "any", "An invalid cursor gives the first page. Forbidden: invalid cursors SHOULD result in an error with code -32602 (server/utilities/pagination)."],
  ["cursor-empty-accepted", "pagination", "SHOULD", "any", "The empty string, no cursor this server ever gave, gives the first page; other invalid cursors are rejected. Forbidden: invalid cursors SHOULD result in -32602 (server/utilities/pagination)."],
  ["cursor-other-list", "pagination", "SHOULD", "any", "A cursor of one list is accepted by another. Forbidden: invalid cursors SHOULD result in -32602 (server/utilities/pagination)."],
  ["cursor-once", "pagination", "SHOULD", "any", "A cursor works once; using it again gives -32602. Forbidden: servers SHOULD provide stable cursors (server/utilities/pagination)."],
  ["cursor-invalid-code", "pagination", "SHOULD", "any", "An invalid cursor gives -32603. Forbidden: invalid cursors SHOULD result in an error with code -32602 (server/utilities/pagination)."],
  ["page-skips-one", "pagination", "MUST", "any", "Between the second and the third page of resources/list one resource is lost. Forbidden: servers MUST respond to resources/list with the set of resources currently available (2026-07-28 server/resources)."],
  ["page-last-lost", "pagination", "MUST", "any", "prompts/list never sends its last page if that holds only one prompt (no nextCursor). Forbidden: servers MUST respond to prompts/list with the set of prompts currently available (2026-07-28 server/prompts)."],
  ["cache-missing-read-blob", "caching", "MUST", "any", "resources/read of a binary resource has no caching hints. Forbidden: servers MUST include caching hints on complete results of resources/read (2026-07-28 server/utilities/caching)."],
  ["cache-missing-later-pages", "caching", "MUST", "any", "Only the first page of resources/list carries caching hints. Forbidden: servers MUST include caching hints on complete results of resources/list (2026-07-28 server/utilities/caching)."],
  ["cache-missing-discover", "caching", "MUST", "any", "server/discover has no ttlMs and no cacheScope. Forbidden: servers MUST include caching hints on complete results of server/discover (2026-07-28 server/utilities/caching)."],
  ["cache-ttl-negative", "caching", "MUST", "any", "resources/read of a bed has \"ttlMs\":-1. Forbidden: servers MUST provide a ttlMs value that is >= 0 (2026-07-28 server/utilities/caching)."],
  ["cache-scope-mixed", "caching", "MUST", "any", "The first page of tools/list is \"public\", later pages are \"private\". Forbidden: servers MUST apply the same cacheScope to all pages of a list request (2026-07-28 server/utilities/caching)."],
  ["cache-scope-missing-prompts", "caching", "MUST", "any", "prompts/list has ttlMs but no cacheScope. Forbidden: servers MUST include caching hints, ttlMs and cacheScope (2026-07-28 server/utilities/caching)."],
  ["listen-no-acknowledgment", "subscriptions", "MUST", "any", "subscriptions/listen sends no acknowledgment. Forbidden: the server MUST send notifications/subscriptions/acknowledged as the first message of the subscription (2026-07-28 basic/patterns/subscriptions)."],
  ["listen-snapshot-first", "subscriptions", "MUST", "any", "A listen request with resourceSubscriptions first gets resources/updated for each resource, then the acknowledgment. Forbidden: the server MUST NOT send any notification on the subscription before the acknowledgment (2026-07-28 basic/patterns/subscriptions)."],
  ["listen-unrequested-type", "subscriptions", "MUST", "any", "A stream that asked for toolsListChanged also gets prompts/list_changed. Forbidden: the server MUST NOT send notification types the client has not explicitly requested (2026-07-28 basic/patterns/subscriptions)."],
  ["listen-false-means-yes", "subscriptions", "MUST", "any", "\"resourcesListChanged\":false in the filter counts as a subscription. Forbidden: the server MUST NOT send notification types the client has not explicitly requested (2026-07-28 basic/patterns/subscriptions)."],
  ["listen-any-bed", "subscriptions", "MUST", "any", "A subscription to one bed gets resources/updated for the other beds too. Forbidden: the server MUST NOT send notifications the client has not requested (2026-07-28 basic/patterns/subscriptions; updates are for these resource URIs)."],
  ["listen-update-without-id", "subscriptions", "MUST", "any", "resources/updated on a listen stream lacks the subscriptionId. Forbidden: the server MUST include subscriptionId in _meta of notifications delivered via subscriptions/listen (2026-07-28 basic)."],
  ["listen-acknowledged-without-id", "subscriptions", "MUST", "any", "The acknowledgment lacks the subscriptionId. Forbidden: the acknowledgment is the first message carrying the subscription's ID in _meta, MUST (2026-07-28 basic/patterns/subscriptions)."],
  ["listen-id-string", "subscriptions", "MUST", "any", "For a numeric listen id, list_changed carries the subscriptionId as a string. Forbidden: the server MUST include the subscriptionId; its value is the JSON-RPC ID of the listen request (2026-07-28 basic, schema)."],
  ["listen-second-replaces", "subscriptions", "SHOULD", "any", "A second listen request silences the first one. Forbidden: servers SHOULD send list changes to clients that have opened a listen stream (2026-07-28 server/tools); a client may have several subscriptions."],
  ["listen-first-id-everywhere", "subscriptions", "MUST", "any", "With several subscriptions every list_changed carries the id of the oldest one. Forbidden: the server MUST include the id of the listen request that opened the stream (2026-07-28 basic, schema)."],
  ["listen-after-cancel", "subscriptions", "MUST", "stdio", "After notifications/cancelled for a listen request its notifications still come. Forbidden: servers MUST NOT send any further messages for a cancelled request (2026-07-28 basic/transports/stdio)."],
  ["listen-teardown-no-cancelled", "subscriptions", "MUST", "any", "At shutdown a subscription ends without notifications/cancelled. Forbidden: a server MUST send notifications/cancelled for the listen request when it tears that stream down (2026-07-28 basic/patterns/cancellation)."],
  ["listen-teardown-no-result", "subscriptions", "SHOULD", "any", "At shutdown a subscription ends without a response to the listen request. Forbidden: the server SHOULD respond to the original listen request before closing the stream (2026-07-28 basic/patterns/subscriptions)."],
  ["listen-ping-request", "subscriptions", "MUST", "any", "A listen stream gets a ping request as keep-alive 300 ms after it opened. Forbidden: the server MUST NOT send JSON-RPC requests on a response stream or stdout (2026-07-28 basic/transports/streamable-http, stdio)."],
  ["subscribe-unknown-code", "subscriptions", "SHOULD", "any", "resources/subscribe to a resource that does not exist gives -32603. Forbidden: servers SHOULD return standard errors: resource not found -32002 (2025-11-25 server/resources)."],
  ["stdio-banner", "stdio", "MUST", "stdio", "The server greets with a line of text on stdout. Forbidden: the server MUST NOT write anything to stdout that is not a valid MCP message (basic/transports)."],
  ["stdio-debug-print", "stdio", "MUST", "stdio", "A failing plant_card prints a debug line to stdout. Forbidden: the server MUST NOT write anything to stdout that is not a valid MCP message (basic/transports)."],
  ["stdio-pretty-large", "stdio", "MUST", "stdio", "Messages of more than 1200 characters are pretty-printed over many lines. Forbidden: messages MUST NOT contain embedded newlines (basic/transports)."],
  ["stdio-no-exit", "stdio", "SHOULD", "stdio", "The server keeps running after stdin was closed. Forbidden: servers SHOULD exit promptly when their standard input is closed (2026-07-28 basic/transports/stdio)."],
  ["stdio-no-exit-while-listening", "stdio", "SHOULD", "stdio", "With an open subscription the server keeps running after stdin was closed. Forbidden: servers SHOULD exit promptly when their standard input is closed (2026-07-28 basic/transports/stdio)."],
  ["stdio-latin1", "stdio", "MUST", "stdio", "Output is written as Latin-1: ñ, ° and emoji come out as invalid UTF-8. Forbidden: JSON-RPC messages MUST be UTF-8 encoded (basic/transports)."],
  ["stdio-split-characters", "stdio", "MUST", "stdio", "Input is decoded chunk by chunk: a character split between two reads turns into U+FFFD. Forbidden: JSON-RPC messages MUST be UTF-8 encoded (basic/transports); the echoed zone differs."],
  ["stdio-bom", "stdio", "MUST", "stdio", "The first message on stdout is preceded by a byte order mark. Forbidden: the server MUST NOT write anything to stdout that is not a valid MCP message (basic/transports)."],
  ["stdio-last-line-lost", "stdio", "MUST", "stdio", "The response to a request sent just before stdin is closed is lost if the request is still running a short time (scan_greenhouse) and stdout ends with a half line. Forbidden: the server MUST NOT write anything to stdout that is not a valid MCP message (basic/transports)."],
  ["origin-unchecked", "http", "MUST", "http", "The Origin header is not validated. Forbidden: servers MUST validate the Origin header on all incoming connections; if invalid they MUST respond with 403 (basic/transports)."],
  ["origin-prefix", "http", "MUST", "http", "Any origin that starts with http://localhost is accepted, such as http://localhost.evil.example. Forbidden: servers MUST validate the Origin header (basic/transports)."],
  ["origin-null-accepted", "http", "MUST", "http", "\"Origin: null\", which a sandboxed page sends, is accepted. Forbidden: servers MUST validate the Origin header; invalid ones get 403 (basic/transports)."],
  ["origin-post-only", "http", "MUST", "http", "The Origin header is validated for POST, not for GET and DELETE. Forbidden: servers MUST validate the Origin header on all incoming connections (basic/transports)."],
  ["origin-400", "http", "MUST", "http", "An invalid Origin is answered with 400. Forbidden: servers MUST respond with 403 Forbidden (2025-11-25 and 2026-07-28 basic/transports)."],
  ["notification-200", "http", "MUST", "http", "Accepted notifications are answered with 200. Forbidden: the server MUST return 202 Accepted with no body (basic/transports)."],
  ["notification-body", "http", "MUST", "http", "202 comes with the body {}. Forbidden: 202 Accepted with no body, MUST (basic/transports)."],
  ["response-200", "http", "MUST", "http", "A posted JSON-RPC response (to an elicitation) is answered with 200. Forbidden: for a response or notification the server MUST return 202 Accepted (2025-11-25 basic/transports)."],
  ["legacy-version-header-ignored", "http", "MUST", "http", "In a session any MCP-Protocol-Version header is accepted. Forbidden: with an invalid or unsupported one the server MUST respond with 400 Bad Request (2025-11-25 basic/transports)."],
  ["get-version-header-ignored", "http", "MUST", "http", "GET with an unsupported MCP-Protocol-Version header opens the stream. Forbidden: with an invalid or unsupported version the server MUST respond with 400 Bad Request (2025-11-25 basic/transports)."],
  ["version-header-mismatch-accepted", "http", "MUST", "http", "The MCP-Protocol-Version header need not match _meta. Forbidden: if the values do not match, the server MUST reject the request with 400 and HeaderMismatch (2026-07-28 basic/transports/streamable-http)."],
  ["version-header-optional", "http", "MUST", "http", "A 2026-07-28 request without MCP-Protocol-Version is served. Forbidden: a server that does not support clients before 2025-06-18 MUST reject a request without the header (2026-07-28 basic/transports/streamable-http)."],
  ["method-header-optional", "http", "MUST", "http", "A 2026-07-28 request without Mcp-Method is served. Forbidden: a missing required header is a validation failure the server MUST reject (2026-07-28 basic/transports/streamable-http)."],
  ["method-header-case", "http", "MUST", "http", "Mcp-Method is compared without regard to case: \"Tools/List\" passes. Forbidden: header values are case-sensitive; servers MUST reject values that do not match the body (2026-07-28 basic/transports/streamable-http)."],
  ["name-header-read-unchecked", "http", "MUST", "http", "Mcp-Name is not checked for resources/read. Forbidden: servers MUST reject requests whose header values do not match the body; Mcp-Name is required for resources/read (2026-07-28 basic/transports/streamable-http)."],
  ["name-header-mismatch-prompt", "http", "MUST", "http", "For prompts/get Mcp-Name has to be there but its value is not compared. Forbidden: servers MUST reject requests whose header values do not match the body (2026-07-28 basic/transports/streamable-http)."],
  ["name-header-not-decoded", "http", "MUST", "http", "A Base64-encoded Mcp-Name is compared without decoding and rejected. Forbidden: servers MUST decode an encoded Mcp-Name before comparing it (2026-07-28 basic/transports/streamable-http)."],
  ["param-header-not-decoded", "http", "MUST", "http", "A Base64-encoded Mcp-Param-Zone is compared without decoding and rejected. Forbidden: servers MUST decode an encoded Mcp-Param value before comparing it (2026-07-28 basic/transports/streamable-http)."],
  ["param-header-latin1", "http", "MUST", "http", "Base64 in Mcp-Param-* is decoded as Latin-1: \"nörth\" is rejected, encoded ASCII passes. Forbidden: the value is the Base64 of its UTF-8 representation; servers MUST decode it accordingly (2026-07-28 basic/transports/streamable-http)."],
  ["param-header-optional", "http", "MUST", "http", "zone_report without Mcp-Param-Zone is served. Forbidden: if the client omits the header but the value is in the body, the server MUST reject the request (2026-07-28 basic/transports/streamable-http)."],
  ["param-header-nested-unchecked", "http", "MUST", "http", "Mcp-Param-Unit, for a nested property, is not checked. Forbidden: any server that processes the body MUST validate that header values match the body (2026-07-28 basic/transports/streamable-http)."],
  ["param-header-always", "http", "MUST", "http", "zone_report without \"day\" is rejected because Mcp-Param-Day is missing. Forbidden: if the parameter is not in the arguments the server MUST NOT expect the header (2026-07-28 basic/transports/streamable-http)."],
  ["param-header-integer-text", "http", "SHOULD", "http", "Mcp-Param-Day \"42.0\" is rejected for 42. Forbidden: servers SHOULD compare integer values numerically rather than as strings (2026-07-28 basic/transports/streamable-http)."],
  ["param-header-boolean-loose", "http", "MUST", "http", "Mcp-Param-Brief \"1\" or \"yes\" passes for true, anything else for false. Forbidden: servers MUST validate that header values match the body; booleans are \"true\" or \"false\" (2026-07-28 basic/transports/streamable-http)."],
  ["param-header-bad-base64-crash", "http", "MUST", "http", "An Mcp-Param value with invalid Base64 gives HTTP 500 and -32603. Forbidden: servers MUST reject with 400 and -32020 if any validation fails (2026-07-28 basic/transports/streamable-http)."],
  ["header-mismatch-code", "http", "MUST", "http", "A header that does not match is answered with -32600. Forbidden: servers MUST include a JSON-RPC error with code -32020 (2026-07-28 basic/transports/streamable-http)."],
  ["header-mismatch-200", "http", "MUST", "http", "HeaderMismatch errors have HTTP status 200. Forbidden: servers MUST return 400 Bad Request (2026-07-28 basic/transports/streamable-http)."],
  ["unknown-method-200", "http", "MUST", "http", "In 2026-07-28 an unknown method has HTTP status 200. Forbidden: the server MUST respond with 404 Not Found and -32601 (2026-07-28 basic/transports/streamable-http)."],
  ["session-missing-404", "http", "SHOULD", "http", "A request without Mcp-Session-Id in an older revision gets 404. Forbidden: servers that require a session ID SHOULD respond with 400 Bad Request (2025-11-25 basic/transports)."],
  ["session-deleted-served", "http", "MUST", "http", "After DELETE the session still answers requests. Forbidden: after terminating a session the server MUST respond to requests with its ID with 404 (2025-11-25 basic/transports)."],
  ["session-deleted-400", "http", "MUST", "http", "Requests with the ID of a terminated session get 400. Forbidden: the server MUST respond with 404 Not Found (2025-11-25 basic/transports)."],
  ["session-deleted-notification-202", "http", "MUST", "http", "Notifications with the ID of a terminated session get 202. Forbidden: the server MUST respond to requests containing that session ID with 404 (2025-11-25 basic/transports)."],
  ["session-id-counter", "http", "SHOULD", "http", "Session IDs are session-1, session-2, ... Forbidden: the session ID SHOULD be globally unique and cryptographically secure (2025-11-25 basic/transports)."],
  ["session-id-space", "http", "MUST", "http", "Session IDs contain a space. Forbidden: the session ID MUST only contain visible ASCII characters, 0x21 to 0x7E (2025-11-25 basic/transports)."],
  ["broadcast-all-streams", "http", "MUST", "http", "With two open GET streams list changes and updates go to both. Forbidden: the server MUST send each message on only one of the connected streams, MUST NOT broadcast (2025-11-25 basic/transports)."],
  ["response-on-get-stream", "http", "MUST", "http", "The response to a streaming tool call is also sent on the open GET stream. Forbidden: the server MUST NOT send a JSON-RPC response on the GET stream unless resuming (2025-11-25 basic/transports)."],
  ["sse-no-accel-header", "http", "SHOULD", "http", "SSE responses lack X-Accel-Buffering: no. Forbidden: when initiating an SSE stream, servers SHOULD include it (2026-07-28 basic/transports/streamable-http)."],
  ["sse-left-open", "http", "SHOULD", "http", "In 2026-07-28 the SSE stream stays open after the response. Forbidden: the final JSON-RPC response SHOULD terminate the stream (2026-07-28 basic/transports/streamable-http)."],
  ["sse-left-open-legacy", "http", "SHOULD", "http", "In the older revisions the SSE stream of a POST stays open after the response. Forbidden: after the response has been sent the server SHOULD terminate the SSE stream (2025-11-25 basic/transports)."],
  ["sse-no-priming", "http", "SHOULD", "http", "In 2025-11-25 an SSE stream starts without a priming event. Forbidden: the server SHOULD immediately send an event with an event ID and an empty data field (2025-11-25 basic/transports)."],
  ["event-ids-per-stream", "http", "MUST", "http", "Event IDs are numbered from 0 on every stream. Forbidden: if present, the ID MUST be globally unique across all streams within that session (2025-11-25 basic/transports)."],
  ["replay-other-streams", "http", "MUST", "http", "Resuming a stream with Last-Event-ID also replays the events of other streams of the session. Forbidden: the server MUST NOT replay messages that would have been delivered on a different stream (2025-11-25 basic/transports)."],
  ["replay-doubles-get-stream", "http", "MUST", "http", "Resuming a stream also sends what the open GET stream of the session got before: those messages come on two streams. Forbidden: the server MUST send each message on only one of the connected streams (2025-11-25 basic/transports)."],
  ["content-type-plain", "http", "MUST", "http", "JSON-RPC errors of requests come as text/plain. Forbidden: for a request the server MUST return text/event-stream or application/json (basic/transports)."],
  ["get-json", "http", "MUST", "http", "GET in a session returns 200 with a JSON object. Forbidden: the server MUST return text/event-stream or 405 (2025-11-25 basic/transports)."],
  ["listen-all-interfaces", "http", "SHOULD", "http", "The server listens on 0.0.0.0. Forbidden: when running locally, servers SHOULD bind only to 127.0.0.1 (basic/transports)."],
  ["http-latin1-body", "http", "MUST", "http", "JSON bodies are written as Latin-1, so ñ, ° and emoji are no UTF-8. Forbidden: JSON-RPC messages MUST be UTF-8 encoded (basic/transports)."],
  ["invalid-notification-202", "http", "MUST", "http", "A notification without \"jsonrpc\" is answered with 202 though it is dropped. Forbidden: if the server cannot accept the notification it MUST return an HTTP error status code (basic/transports)."],
  ["modern-session-checked", "http", "SHOULD", "http", "2026-07-28 requests that carry an Mcp-Session-Id the server does not know get 404. Forbidden: the server SHOULD ignore an Mcp-Session-Id header on a request (2026-07-28 basic/transports/streamable-http, earlier revisions)."],
  ["elicit-undeclared-legacy", "elicitation", "MUST", "any", "In the older revisions elicitation/create is sent to clients without the elicitation capability. Forbidden: both parties MUST only use capabilities that were successfully negotiated (basic/lifecycle)."],
  ["elicit-undeclared-modern", "elicitation", "MUST", "any", "In 2026-07-28 input_required with elicitation/create is sent without the elicitation capability. Forbidden: servers MUST NOT send inputRequests the client has not declared support for (2026-07-28 basic/patterns/mrtr)."],
  ["elicit-form-to-url-client", "elicitation", "MUST", "any", "A client that declares only elicitation.url gets a form. Forbidden: servers MUST NOT send elicitation requests with modes the client does not support (client/elicitation)."],
  ["elicit-no-schema", "elicitation", "MUST", "any", "elicitation/create has no requestedSchema. Forbidden: form mode requests MUST include requestedSchema (client/elicitation)."],
  ["elicit-no-message", "elicitation", "MUST", "any", "elicitation/create has no message. Forbidden: all elicitation requests MUST include message (client/elicitation)."],
  ["elicit-password", "elicitation", "MUST", "any", "The form also asks for the password of the plant shop account. Forbidden: servers MUST NOT use form mode elicitation to request sensitive information such as passwords (client/elicitation)."],
  ["elicit-url-in-message", "elicitation", "SHOULD", "any", "The message of the form holds a link to click. Forbidden: servers SHOULD NOT include URLs intended to be clickable in any field of a form mode elicitation request (client/elicitation)."],
  ["elicit-decline-fails", "elicitation", "MUST", "any", "Declining or cancelling the question gives -32603. Forbidden: servers MUST handle cases where the user declines or cancels the elicitation (2026-07-28 client/elicitation)."],
  ["elicit-decline-asks-on", "elicitation", "MUST", "any", "Declining is taken as an empty answer (\"No plant suits undefined light\"). Forbidden: servers MUST handle cases where the user declines the elicitation (2026-07-28 client/elicitation)."],
  ["elicit-answer-unvalidated", "elicitation", "SHOULD", "any", "An answer that does not fit the requested schema is accepted. Forbidden: servers SHOULD validate received data matches the requested schema (client/elicitation)."],
  ["elicit-missing-answer-error", "elicitation", "SHOULD", "any", "A retry whose inputResponses lack the answer gives -32602. Forbidden: the server SHOULD respond with a new InputRequiredResult rather than an error (2026-07-28 basic/patterns/mrtr)."],
  ["elicit-extra-answer-error", "elicitation", "SHOULD", "any", "A retry with an additional key in inputResponses gives -32602. Forbidden: the server SHOULD ignore any information it does not recognize or need (2026-07-28 basic/patterns/mrtr)."],
  ["state-unverified", "elicitation", "MUST", "any", "requestState is decoded without checking its signature. Forbidden: servers MUST reject state that fails verification (2026-07-28 basic/patterns/mrtr)."],
  ["state-other-request", "elicitation", "SHOULD", "any", "A requestState of one call is accepted on a call with other arguments. Forbidden: servers SHOULD verify an identifier of the originating request and reject state that does not match (2026-07-28 basic/patterns/mrtr)."],
  ["input-required-empty", "elicitation", "MUST", "any", "The second time the question is asked (retry without the answer) the result has neither inputRequests nor requestState. Forbidden: servers MUST include at least one of them (2026-07-28 basic/patterns/mrtr)."],
  ["input-request-method", "elicitation", "MUST", "any", "The input request has the method \"elicitation/form\". Forbidden: inputRequests values MUST be an ElicitRequest, CreateMessageRequest or ListRootsRequest (2026-07-28 basic/patterns/mrtr)."],
  ["input-required-on-completion", "elicitation", "MUST", "any", "Completion of \"second\" of compare_plants without a context returns input_required. Forbidden: servers MUST NOT send InputRequiredResult on requests other than prompts/get, resources/read, tools/call (2026-07-28 basic/patterns/mrtr)."],
  ["elicit-as-request", "elicitation", "MUST", "any", "In 2026-07-28 recommend_plant sends elicitation/create as a JSON-RPC request on its stream. Forbidden: servers MUST send server-to-client requests using MRTR; the server MUST NOT send independent requests (2026-07-28 basic/patterns/mrtr, transports)."],
  ["input-required-marked-complete", "elicitation", "MUST", "any", "The result that asks for input has the resultType \"complete\". Forbidden: server-to-client requests MUST use the MRTR pattern, whose result has resultType \"input_required\" (2026-07-28 basic, basic/patterns/mrtr)."],
];
// end of faults

// ---------------------------------------------------------------- constants

const MODERN = '2026-07-28';
const LEGACY = ['2025-11-25', '2025-06-18'];
const SUPPORTED = [MODERN, ...LEGACY];
const K = 'io.modelcontextprotocol/';
const PV = K + 'protocolVersion';
const CC = K + 'clientCapabilities';
const LL = K + 'logLevel';
const SUB = K + 'subscriptionId';
const SI = K + 'serverInfo';
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
const SERVER_INFO = { name: 'greenhouse', title: 'Greenhouse', version: '1.2.0' };
const INSTRUCTIONS = 'Read sensors with read_sensor, look up plants under greenhouse://plants/ and beds under greenhouse://beds/.';
const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};
const SECRET = crypto.createHash('sha256')
  .update(process.env.GREENHOUSE_SECRET || `${os.hostname()}|${process.getuid?.() ?? 0}|greenhouse`).digest();

const isObj = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);
const validId = (v) => typeof v === 'string' || Number.isInteger(v);
const sleep = (ms, signal) => new Promise((resolve, reject) => {
  if (signal?.aborted) return reject(new Cancelled());
  const t = setTimeout(done, ms);
  function done() { signal?.removeEventListener('abort', stop); resolve(); }
  function stop() { clearTimeout(t); reject(new Cancelled()); }
  signal?.addEventListener('abort', stop, { once: true });
});

class RpcError extends Error {
  constructor(code, message, data, http = 200) { super(message); this.code = code; this.data = data; this.http = http; }
}
class Cancelled extends Error {}
const invalidParams = (m, data, http) => new RpcError(-32602, m, data, http);

// ---------------------------------------------------------------- state

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = Buffer.concat([
  Buffer.from('RIFF'), Buffer.from([44, 0, 0, 0]), Buffer.from('WAVEfmt '), Buffer.from([16, 0, 0, 0, 1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0x40, 0x1f, 0, 0, 1, 0, 8, 0]),
  Buffer.from('data'), Buffer.from([8, 0, 0, 0]), Buffer.from([128, 160, 190, 160, 128, 96, 66, 96]),
]).toString('base64');

const plants = new Map();
for (const [slug, name, light, water, bed] of [
  ['aloe', 'Aloe vera', 'high', 'low', 'a'], ['basil', 'Basil', 'high', 'medium', 'a'],
  ['calathea', 'Calathea', 'low', 'high', 'b'], ['chili', 'Chili pepper', 'high', 'medium', 'a'],
  ['cucumber', 'Cucumber', 'high', 'high', 'c'], ['fern', 'Boston fern', 'low', 'high', 'b'],
  ['jalapeno', 'Jalapeño', 'high', 'medium', 'c'], ['lettuce', 'Lettuce', 'medium', 'high', 'c'],
  ['mint', 'Mint', 'medium', 'high', 'b'], ['orchid', 'Orchid', 'medium', 'low', 'b'],
  ['parsley', 'Parsley', 'medium', 'medium', 'c'], ['thyme', 'Thyme', 'high', 'low', 'a'],
  ['tomato', 'Tomato', 'high', 'high', 'c'],
]) plants.set(slug, { slug, name, light, water, bed });
const beds = {
  a: { moisture: 41, lastWatered: '2026-07-01T06:30:00Z' },
  b: { moisture: 63, lastWatered: '2026-07-02T06:30:00Z' },
  c: { moisture: 55, lastWatered: '2026-07-02T18:00:00Z' },
};
const SENSORS = { air_temperature: [21.5, 'celsius'], humidity: [58, 'percent'], light: [12400, 'lux'], soil_temperature: [17.25, 'celsius'] };
let frostMode = false;
let plantsListed = false;
let stdioMode = false;

const DATES = [];
for (let d = new Date('2026-01-01T00:00:00Z'); d.getUTCFullYear() === 2026; d = new Date(d.getTime() + 86400000)) DATES.push(d.toISOString().slice(0, 10));

// ---------------------------------------------------------------- change events

const sessions = new Map();      // HTTP sessions, by id
let stdioSession = null;         // the one session of an stdio process
const listens = new Set();       // active subscriptions/listen requests

const allSessions = () => [...sessions.values(), ...(stdioSession ? [stdioSession] : [])];

function listChanged(kind) {
  const method = `notifications/${kind}/list_changed`;
  for (const s of allSessions()) s.notify({ jsonrpc: '2.0', method });
  for (const l of listens) {
    if (l.filter[`${kind}ListChanged`] || (F('listen-unrequested-type') && kind === 'prompts' && l.filter.toolsListChanged)) l.send({ jsonrpc: '2.0', method, params: { _meta: { [SUB]: F('listen-id-string') ? String(l.id) : F('listen-first-id-everywhere') ? [...listens][0].id : l.id } } });
  }
}

function resourceUpdated(uri) {
  const method = 'notifications/resources/updated';
  for (const s of allSessions()) if (s.subscriptions.has(uri)) s.notify({ jsonrpc: '2.0', method, params: { uri } });
  for (const l of listens) {
    if ((l.filter.resourceSubscriptions?.includes(uri) || (F('listen-any-bed') && l.filter.resourceSubscriptions?.some((u) => u.startsWith('greenhouse://beds/')))))  l.send({ jsonrpc: '2.0', method, params: { uri, ...(!F('listen-update-without-id') && { _meta: { [SUB]: l.id } }) } });
  }
}

// ---------------------------------------------------------------- a small JSON Schema validator

function typeOk(t, v) {
  switch (t) {
    case 'object': return isObj(v);
    case 'array': return Array.isArray(v);
    case 'string': return typeof v === 'string';
    case 'number': return typeof v === 'number' && Number.isFinite(v);
    case 'integer': return Number.isInteger(v);
    case 'boolean': return typeof v === 'boolean';
    case 'null': return v === null;
    default: return true;
  }
}
function check(schema, v, at = 'arguments') {
  if (schema.type && ![].concat(schema.type).some((t) => typeOk(t, v))) return `${at} must be of type ${[].concat(schema.type).join(' or ')}`;
  if (schema.enum && !schema.enum.includes(v)) return `${at} must be one of ${schema.enum.join(', ')}`;
  if (typeof v === 'number') {
    if (schema.minimum !== undefined && v < schema.minimum) return `${at} must be at least ${schema.minimum}`;
    if (schema.maximum !== undefined && v > schema.maximum && !(F('range-not-validated') && schema.maximum === 366)) return `${at} must be at most ${schema.maximum}`;
  }
  if (typeof v === 'string') {
    if (schema.minLength !== undefined && [...v].length < schema.minLength) return `${at} must have at least ${schema.minLength} characters`;
    if (schema.maxLength !== undefined && [...v].length > schema.maxLength) return `${at} must have at most ${schema.maxLength} characters`;
    if (schema.pattern && !new RegExp(schema.pattern, 'u').test(v)) return `${at} must match ${schema.pattern}`;
  }
  if (Array.isArray(v) && schema.items) for (let i = 0; i < v.length; i++) { const e = check(schema.items, v[i], `${at}[${i}]`); if (e) return e; }
  if (isObj(v)) {
    for (const r of [].concat(schema.required ?? [])) if (!Object.hasOwn(v, r)) return `${at}.${r} is required`;
    for (const [k, x] of Object.entries(v)) {
      const p = schema.properties && Object.hasOwn(schema.properties, k) ? schema.properties[k] : null;
      if (p && F('nested-input-not-validated') && k === 'options') continue;
      if (p) { const e = check(p, x, `${at}.${k}`); if (e) return e; }
      else if (schema.additionalProperties === false) return `${at}.${k} is not a known property`;
    }
  }
  return null;
}

// ---------------------------------------------------------------- tools

const text = (t, extra) => ({ type: 'text', text: t, ...extra });
const structured = (o) => ({ content: [text(JSON.stringify(o))], structuredContent: o });
const toolError = (m) => ({ content: [text(m)], isError: true });
const READ = { readOnlyHint: true, openWorldHint: false };
const plantUri = (s) => `greenhouse://plants/${s}`;
const bedUri = (b) => `greenhouse://beds/${b}`;

const ELICIT_SCHEMA = {
  type: 'object',
  properties: {
    light: { type: 'string', title: 'Light', description: 'How bright the spot is', enum: ['low', 'medium', 'high'], default: 'medium' },
    experienced: { type: 'boolean', title: 'Experienced', description: 'Whether you have grown plants before', default: false },
  },
  required: ['light'],
};
if (F('elicit-password')) ELICIT_SCHEMA.properties.password = { type: 'string', title: 'Password', description: 'Password of your plant shop account' };
const ELICIT_MESSAGE = (F('elicit-url-in-message') ? 'See https://greenhouse.example/light-guide first. ' : '') + 'How bright is the spot where the plant will stand?';

const TOOLS = {
  add_plant: {
    title: 'Add a plant', description: 'Adds a plant to a bed. The plant appears as a new resource.',
    inputSchema: {
      type: 'object',
      properties: {
        slug: { type: 'string', pattern: '^[a-z][a-z0-9-]*$', maxLength: 40, description: 'Short identifier, e.g. "sage"' },
        name: { type: 'string', minLength: 1, maxLength: 80 },
        bed: { type: 'string', enum: ['a', 'b', 'c'] },
      },
      required: ['slug', 'name', 'bed'], additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    call({ slug, name, bed }) {
      if (plants.has(slug)) return { content: [text(`${slug} is already planted; nothing changed.`)] };
      if (plants.size >= 500) return toolError('The greenhouse is full.');
      plants.set(slug, { slug, name, light: 'medium', water: 'medium', bed, ...(F('structured-extra-after-add') && { addedAt: Date.now() }) });
      if (!F('resources-changed-not-sent')) listChanged('resources');
      resourceUpdated(bedUri(bed));
      return { content: [text(`Planted ${name} in bed ${bed}.`), { type: 'resource_link', uri: plantUri(slug), name: slug, mimeType: 'application/json' }] };
    },
  },
  convert_temperature: {
    title: 'Convert a temperature', description: 'Converts between Celsius and Fahrenheit.',
    inputSchema: {
      type: 'object',
      properties: { value: { type: 'number', minimum: -273.15, maximum: 10000, ...(F('header-param-number') && { 'x-mcp-header': 'Value' }) }, to: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
      required: ['value', 'to'], additionalProperties: false,
    },
    outputSchema: { type: 'object', properties: { value: { type: F('output-schema-invalid') ? 'float' : 'number' }, unit: { type: 'string' } }, required: ['value', 'unit'] },
    annotations: { ...READ, idempotentHint: true },
    call({ value, to }) {
      const v = to === 'celsius' ? (value - 32) / 1.8 : value * 1.8 + 32;
      if (F('structured-missing-fahrenheit') && to === 'fahrenheit') return { content: [text(String(v))] };
      return structured({ value: Math.round(v * 100) / 100, unit: to });
    },
  },
  frost_forecast: {
    hidden: () => !frostMode,
    title: 'Frost forecast', description: 'The chance of frost for the coming nights. Offered in frost mode only.',
    inputSchema: { type: 'object', additionalProperties: false },
    annotations: READ,
    call() { return { content: [text('Tonight 10 %, tomorrow 35 %, then 5 %.')] }; },
  },
  list_plants: {
    title: 'List plants', description: 'Lists the plants, of one bed or of all.',
    inputSchema: { type: 'object', properties: { bed: { type: 'string', enum: ['a', 'b', 'c'] } }, additionalProperties: false },
    outputSchema: {
      type: 'object',
      properties: {
        count: { type: 'integer', minimum: 0 },
        plants: {
          type: 'array',
          items: {
            type: 'object',
            properties: { slug: { type: 'string' }, name: { type: 'string' }, light: { enum: ['low', 'medium', 'high'] }, water: { enum: ['low', 'medium', 'high'] }, bed: { type: 'string' } },
            required: ['slug', 'name', 'light', 'water', 'bed'], additionalProperties: false,
          },
        },
      },
      required: ['count', 'plants'], additionalProperties: false,
    },
    annotations: READ,
    call({ bed }) {
      plantsListed = true;
      const list = [...plants.values()].filter((p) => !bed || p.bed === bed).sort((x, y) => (x.slug < y.slug ? -1 : 1));
      return structured({ count: list.length, plants: list.map((p) => ({ ...p, ...(F('structured-item-incomplete') && p.water === 'low' && { water: undefined }) })) });
    },
  },
  plant_card: {
    title: 'Plant card', description: 'A card for one plant: text, picture, sound, the plant itself and a link to its bed.',
    inputSchema: { type: 'object', properties: { plant: { type: 'string', description: 'Identifier of the plant, e.g. "basil"' } }, required: ['plant'], additionalProperties: false },
    annotations: READ,
    call({ plant }) {
      const p = plants.get(plant);
      if (!p && F('stdio-debug-print') && stdioMode) console.log('plant_card: no such plant', plant);
      if (!p && F('tool-failure-protocol-error')) throw new RpcError(-32603, `No plant ${plant}`);
      if (!p) return toolError(`There is no plant "${plant}". Use list_plants to see the identifiers.`);
      return {
        content: [
          text(`${p.name}: light ${p.light}, water ${p.water}.`, { annotations: { audience: ['user', 'assistant'], priority: 0.8 } }),
          { type: 'image', data: PNG, mimeType: 'image/png', annotations: { audience: ['user'], priority: 0.5 } },
          { type: 'audio', data: WAV, mimeType: 'audio/wav' },
          { type: 'resource', resource: { uri: plantUri(p.slug), mimeType: 'application/json', text: JSON.stringify(p) } },
          { type: 'resource_link', uri: bedUri(p.bed), name: `bed-${p.bed}`, title: `Bed ${p.bed.toUpperCase()}`, mimeType: 'application/json' },
        ],
      };
    },
  },
  read_sensor: {
    title: 'Read a sensor', description: 'The current value of one sensor.',
    inputSchema: { type: 'object', properties: { sensor: { type: 'string', enum: Object.keys(SENSORS) } }, required: ['sensor'], additionalProperties: false },
    outputSchema: {
      type: 'object',
      properties: { sensor: { type: 'string' }, value: { type: 'number' }, unit: { type: 'string', enum: ['celsius', 'percent', 'lux'] } },
      required: ['sensor', 'value', 'unit'], additionalProperties: false,
    },
    annotations: READ,
    call({ sensor }) { const [value, unit] = SENSORS[sensor]; return structured({ sensor, value: F('structured-value-string') && !Number.isInteger(value * 10) ? value.toFixed(2) : value, unit }); },
  },
  recommend_plant: {
    title: 'Recommend a plant', description: 'Asks how bright the spot is, then recommends a plant.',
    inputSchema: { type: 'object', properties: { edible: { type: 'boolean', description: 'Only plants one can eat' } }, additionalProperties: false },
    annotations: READ, elicits: true,
    async call({ edible }, ctx) {
      const answer = await ctx.elicit('spot', F('elicit-no-message') ? undefined : ELICIT_MESSAGE, F('elicit-no-schema') ? undefined : ELICIT_SCHEMA);
      if (answer.inputRequired) return answer.inputRequired;
      if (answer.failed) return toolError(answer.failed);
      if (F('elicit-decline-fails') && answer.action !== 'accept') throw new RpcError(-32603, 'Internal error');
      if (answer.action === 'decline') return { content: [text('You declined to answer, so there is no recommendation.')] };
      if (answer.action === 'cancel') return { content: [text('The question was dismissed, so there is no recommendation.')] };
      const light = answer.content.light;
      const uneatable = ['aloe', 'calathea', 'fern', 'orchid'];
      const pick = [...plants.values()].find((p) => p.light === light && !(edible && uneatable.includes(p.slug)));
      return { content: [text(pick ? `Try ${pick.name}.` : `No plant suits ${light} light.`)] };
    },
  },
  scan_greenhouse: {
    title: 'Scan the greenhouse', description: 'Visits every sensor, reporting progress and log messages on the way.',
    inputSchema: { type: 'object', properties: { steps: { type: 'integer', minimum: 1, maximum: 20, default: 4 } }, additionalProperties: false },
    annotations: READ, streams: true,
    async call({ steps = 4 }, ctx) {
      ctx.log('debug', { event: 'scan starts', steps });
      for (let i = 1; i <= steps; i++) {
        await sleep(25, ctx.signal);
        ctx.progress(i, steps, F('progress-message-object') ? String({ i, steps }) : `Visited ${i} of ${steps} positions`);
        ctx.log(i === steps ? 'notice' : 'info', { event: 'position read', position: i });
      }
      if (F('progress-last-repeated') && steps > 4) ctx.progress(steps, steps, 'Scan complete', true);
      ctx.log('warning', { event: 'soil is dry', bed: 'a', moisture: beds.a.moisture, ...(F('log-credentials') && { connection: 'mqtt://scanner:Tr0wel-77@sensors.internal', password: 'Tr0wel-77' }) });
      return { content: [text(`Scanned ${steps} positions; bed a is dry.`)] };
    },
  },
  set_frost_mode: {
    title: 'Frost mode', description: 'Turns frost mode on or off. Frost mode offers one more tool and one more prompt.',
    inputSchema: { type: 'object', properties: { on: { type: 'boolean' } }, required: ['on'], additionalProperties: false },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    call({ on }) {
      if (on === frostMode) return { content: [text(`Frost mode was already ${on ? 'on' : 'off'}.`)] };
      frostMode = on;
      if (on || !F('tools-changed-only-on')) listChanged('tools');
      if (!F('prompts-changed-not-sent')) listChanged('prompts');
      return { content: [text(`Frost mode is ${on ? 'on' : 'off'}.`)] };
    },
  },
  simulate_growth: {
    title: 'Simulate growth', description: 'Simulates the growth of a plant day by day. Takes about 100 ms for each day; can be cancelled.',
    inputSchema: {
      type: 'object',
      properties: { plant: { type: 'string', ...(F('input-schema-required-boolean') && { required: true }) }, days: { type: 'integer', minimum: 1, maximum: 300, default: 10 } },
      required: ['plant'], additionalProperties: false,
    },
    outputSchema: { type: 'object', properties: { plant: { type: 'string' }, days: { type: 'integer' }, heightCm: { type: 'number' } }, required: ['plant', 'days', 'heightCm'] },
    annotations: READ, streams: true,
    async call({ plant, days = 10 }, ctx) {
      if (F('server-cancels-call') && ctx.era === 'modern' && !plants.has(plant)) ctx.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: ctx.id, reason: 'Unknown plant' } });
      if (!plants.has(plant)) return toolError(`There is no plant "${plant}". Use list_plants to see the identifiers.`);
      let height = 2;
      for (let d = 1; d <= days; d++) {
        await sleep(100, F('cancel-progress-goes-on') ? undefined : ctx.signal);
        height *= 1.03;
        ctx.progress(F('progress-rounded-down') ? Math.floor(d / 7) : d, days, `Day ${d}: ${height.toFixed(1)} cm`, F('progress-rounded-down'));
      }
      if (F('progress-after-result')) setTimeout(() => ctx.late(days + 1, days + 1, 'Simulation stored'), 80);
      const out = { plant, days, heightCm: Math.round(height * 10) / 10 };
      return F('structured-without-text') ? { content: [], structuredContent: out } : structured(out);
    },
  },
  water_bed: {
    title: 'Water a bed', description: 'Waters a bed; its resource changes.',
    inputSchema: { type: 'object', properties: { bed: { type: 'string', enum: ['a', 'b', 'c'] }, liters: { type: 'number', minimum: 0.1, maximum: 50 } }, required: ['bed', 'liters'], additionalProperties: false },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    call({ bed, liters }) {
      beds[bed].moisture = Math.min(100, Math.round(beds[bed].moisture + liters));
      beds[bed].lastWatered = new Date().toISOString();
      resourceUpdated(bedUri(bed));
      return { content: [text(`Bed ${bed} is now at ${beds[bed].moisture} %.`)] };
    },
  },
  zone_report: {
    hidden: () => F('tools-unlocked-by-call') && !plantsListed,
    title: 'Zone report', description: 'A report on one zone of the greenhouse.',
    inputSchema: {
      type: 'object',
      properties: {
        zone: { type: 'string', minLength: 1, maxLength: 60, description: 'Name of the zone, e.g. "north"', 'x-mcp-header': 'Zone' },
        day: { type: 'integer', minimum: -366, maximum: 366, description: 'Day relative to today', 'x-mcp-header': F('header-param-space') ? 'Report Day' : 'Day' },
        brief: { type: 'boolean', 'x-mcp-header': F('header-param-empty') ? '' : 'Brief' },
        ...(F('header-param-in-items') && { tags: { type: 'array', items: { type: 'string', 'x-mcp-header': 'Tag' } } }),
        options: { type: 'object', properties: { unit: { type: 'string', enum: ['celsius', 'fahrenheit'], 'x-mcp-header': F('header-param-twice') ? 'ZONE' : 'Unit' } }, additionalProperties: false },
      },
      required: ['zone'], additionalProperties: false,
    },
    annotations: READ,
    call({ zone, day = 0, brief = false, options = {} }) {
      const t = options.unit === 'fahrenheit' ? '70.7 °F' : '21.5 °C';
      return { content: [text(brief ? `${zone}: ${t}` : `Zone ${zone}, day ${day}: mean temperature ${t}, no pests seen.`)] };
    },
  },
};

if (F('tool-name-with-space')) { TOOLS['water bed'] = TOOLS.water_bed; delete TOOLS.water_bed; }
const toolNames = () => Object.keys(TOOLS).filter((n) => !TOOLS[n].hidden?.()).sort();
let listings = 0;
function toolDefinition(name, ctx) {
  const { title, description, inputSchema, outputSchema, annotations } = TOOLS[name];
  return { name, title, description, inputSchema: F('input-schema-null') && inputSchema.properties === undefined ? null : inputSchema, ...(outputSchema && { outputSchema }), annotations };
}
function findTool(name) {
  return typeof name === 'string' && Object.hasOwn(TOOLS, name) && !TOOLS[name].hidden?.() ? TOOLS[name] : null;
}

// At most `perSecond` uses a second.
function limiter(perSecond) {
  let tokens = perSecond, last = Date.now();
  return () => {
    const now = Date.now();
    tokens = Math.min(perSecond, tokens + ((now - last) / 1000) * perSecond); last = now;
    if (tokens < 1) return false;
    tokens -= 1; return true;
  };
}
const toolLimit = limiter(400), completionLimit = limiter(400), logLimit = limiter(400);

async function callTool(ctx, params) {
  if (typeof params.name !== 'string') throw invalidParams('params.name must be a string');
  const tool = findTool(params.name);
  if (!tool && F('unknown-tool-internal') && params.name in {}) throw new TypeError('inputSchema of undefined');
  if (!tool) throw invalidParams(`Unknown tool: ${params.name}`);
  const args = params.arguments === undefined ? {} : params.arguments;
  if (!isObj(args)) throw invalidParams('params.arguments must be an object');
  if (!toolLimit()) return toolError('Too many tool calls; try again in a second.');
  const problem = check(F('required-not-validated') && params.name === 'water_bed' ? { ...tool.inputSchema, required: ['bed'] } : tool.inputSchema, args);
  if (problem) {
    if (ctx.version === '2025-06-18') throw invalidParams(`Invalid arguments: ${problem}`);
    return toolError(`Invalid arguments: ${problem}`);
  }
  if (tool.streams) ctx.open();
  try {
    return await tool.call(args, ctx);
  } catch (e) {
    if (e instanceof Cancelled || e instanceof RpcError) throw e;
    return toolError('The tool failed.');
  }
}

// ---------------------------------------------------------------- resources

const MODIFIED = '2026-07-02T18:00:00Z';
function resourceList() {
  const list = [...plants.values()].slice(0, F('resources-hide-added') ? 13 : Infinity).map((p) => ({
    uri: plantUri(p.slug), name: `plant-${p.slug}`, title: p.name, description: `Facts about ${p.name}`, mimeType: 'application/json',
    annotations: { audience: ['user', 'assistant'], priority: 0.6, lastModified: MODIFIED },
  }));
  for (const b of Object.keys(beds)) list.push({ uri: bedUri(b), name: `bed-${b}`, title: `Bed ${b.toUpperCase()}`, description: 'State of a bed', mimeType: 'application/json' });
  list.push({ uri: 'greenhouse://files/map.png', name: 'map', title: 'Map', description: 'Map of the greenhouse', mimeType: 'image/png', size: Buffer.from(PNG, 'base64').length });
  list.push({ uri: F('uri-scheme-invalid') ? 'green_house://files/rules.txt' : 'greenhouse://files/rules.txt', name: 'rules', title: 'House rules', description: 'Rules of the greenhouse', mimeType: 'text/plain' });
  return list;
}
const RULES = 'Close the door. Water in the morning. Ask before you cut anything – even weeds. 🌱';

const TEMPLATES = [
  { uriTemplate: 'greenhouse://beds/{bed}', name: 'bed', title: 'Bed', description: 'State of a bed', mimeType: 'application/json' },
  { uriTemplate: 'greenhouse://diary/{date}', name: 'diary', title: 'Diary', description: 'Diary of a day of 2026', mimeType: 'text/plain' },
  { uriTemplate: 'greenhouse://files/{file}', name: 'file', title: 'File', description: 'A file kept in the greenhouse' },
  { uriTemplate: 'greenhouse://plants/{plant}', name: 'plant', title: 'Plant', description: 'Facts about a plant', mimeType: 'application/json' },
  { uriTemplate: 'greenhouse://readings/{sensor}/{hour}', name: 'reading', title: 'Reading', description: 'Reading of a sensor at an hour of today', mimeType: 'application/json' },
];

function readResource(uri) {
  if (!F('uri-scheme-invalid') && uri.includes('_house:')) return null;
  const json = (o) => [{ uri, mimeType: 'application/json', text: JSON.stringify(o) }];
  const m = /^green_?house:\/\/([a-z]+)\/([^/?#]+)(?:\/([^/?#]+))?$/.exec(uri);
  const loose = F('uri-not-validated') ? /([a-z]+)\/([^/?#]+)$/.exec(uri) : null;
  if (!m && !loose) return null;
  const [, kind, a, b] = m ?? loose;
  if (kind === 'readings' && b !== undefined) {
    if (!Object.hasOwn(SENSORS, a) || !/^(\d|1\d|2[0-3])$/.test(b)) return null;
    return json({ sensor: a, hour: Number(b), value: SENSORS[a][0], unit: SENSORS[a][1] });
  }
  if (b !== undefined) return null;
  if (kind === 'plants' && plants.has(a)) return json(plants.get(a));
  if (kind === 'beds' && Object.hasOwn(beds, a)) return json({ bed: a, ...beds[a], plants: [...plants.values()].filter((p) => p.bed === a).map((p) => p.slug) });
  if (kind === 'files' && a === 'map.png') return [{ uri, mimeType: 'image/png', blob: F('blob-not-base64') ? Buffer.from(PNG, 'base64').toString('latin1') : PNG }];
  if (kind === 'files' && a === 'rules.txt') return [{ uri, mimeType: 'text/plain', text: RULES }];
  if (kind === 'diary' && DATES.includes(a)) return [{ uri, mimeType: 'text/plain', text: `${a}: nothing unusual.` }];
  return null;
}
function existing(ctx, uri) {
  if (typeof uri !== 'string') throw invalidParams('params.uri must be a string');
  const contents = readResource(uri);
  if (!contents && F('missing-template-resource-error') && ctx.era === 'modern' && uri.startsWith('greenhouse://readings/')) throw new RpcError(-32603, 'Internal error');
  if (!contents && F('missing-resource-empty') && ctx.era === 'modern') return [];
  if (!contents) throw new RpcError(ctx.era === 'modern' && !F('missing-resource-old-code') ? -32602 : F('missing-resource-new-code') ? -32602 : -32002, 'Resource not found', { uri });
  return contents;
}

// ---------------------------------------------------------------- prompts

const PROMPTS = {
  compare_plants: {
    title: 'Compare two plants', description: 'Compares two plants.',
    arguments: [{ name: 'first', description: 'First plant', required: true }, { name: 'second', description: 'Second plant', required: true }],
    get: (a) => [{ role: 'user', content: text(`Compare ${a.first} with ${a.second}: light, water and care.`) }],
  },
  diagnose: {
    title: 'Diagnose a plant', description: 'Finds out what ails a plant.',
    arguments: [{ name: 'symptom', description: 'What you see', required: true }, { name: 'plant', description: 'Which plant' }],
    get: (a) => {
      const p = plants.get(a.plant);
      return [
        { role: 'user', content: text(`My ${a.plant ?? 'plant'} has this symptom: ${a.symptom}. What is wrong?`) },
        { role: 'user', content: { type: 'image', data: (F('prompt-image-data-uri') ? 'data:image/png;base64,' : '') + PNG, mimeType: F('prompt-image-mime') ? 'png' : 'image/png' } },
        ...(p ? [{ role: 'user', content: { type: 'resource', resource: { uri: plantUri(p.slug), ...(!F('prompt-embedded-no-mime') && { mimeType: 'application/json' }), text: JSON.stringify(p) } } }] : []),
        { role: 'assistant', content: text('Let me look at the picture and the symptom.') },
      ];
    },
  },
  frost_checklist: {
    hidden: () => !frostMode,
    title: 'Frost checklist', description: 'What to do before a frosty night. Offered in frost mode only.',
    arguments: [], get: () => [{ role: 'user', content: text('List what to do in a greenhouse before a frosty night.') }],
  },
  plant_care: {
    title: 'Care for a plant', description: 'How to care for a plant.',
    arguments: [{ name: 'plant', description: 'Which plant', required: true }, { name: 'season', description: 'Season of the year' }],
    get: (a) => [{ role: 'user', content: text(`How do I care for ${a.plant}${a.season ? ` in ${a.season}` : ''}?`) }],
  },
  tour: {
    title: 'Tour', description: 'A tour of the greenhouse.', arguments: [],
    get: () => [
      { role: 'user', content: text('Show me around the greenhouse.') },
      { role: 'user', content: { type: 'resource_link', uri: 'greenhouse://files/map.png', name: 'map', mimeType: 'image/png' } },
    ],
  },
  weekly_plan: {
    title: 'Weekly plan', description: 'Plans a week of work on a bed.',
    arguments: [{ name: 'bed', description: 'Which bed', required: true }],
    get: (a) => [{ role: 'user', content: text(`Plan a week of work on bed ${a.bed}.`) }],
  },
};
const promptNames = () => Object.keys(PROMPTS).filter((n) => !PROMPTS[n].hidden?.()).sort();
const findPrompt = (n) => (typeof n === 'string' && Object.hasOwn(PROMPTS, n) && !PROMPTS[n].hidden?.() ? PROMPTS[n] : null);

function getPrompt(ctx, params) {
  if (typeof params.name !== 'string') throw invalidParams('params.name must be a string');
  const p = findPrompt(params.name);
  if (!p) throw F('prompt-unknown-internal') ? new RpcError(-32603, 'Internal error') : invalidParams(`Unknown prompt: ${params.name}`);
  const args = params.arguments === undefined ? {} : params.arguments;
  if (!isObj(args)) throw invalidParams('params.arguments must be an object');
  for (const [k, v] of Object.entries(args)) if (typeof v !== 'string' && !F('prompt-argument-type-unchecked')) throw invalidParams(`Argument ${k} must be a string`);
  for (const a of F('prompt-second-argument-unchecked') ? p.arguments.slice(0, 1) : p.arguments) if (a.required && !F('prompt-argument-missing-accepted') && !Object.hasOwn(args, a.name)) throw invalidParams(`Missing required argument: ${a.name}`);
  return { description: p.description, messages: p.get(args) };
}

// ---------------------------------------------------------------- completion

const SEASONS = ['spring', 'summer', 'autumn', 'winter'];
const SYMPTOMS = ['brown tips', 'drooping', 'mildew', 'spots', 'yellow leaves'];
function candidates(ref, name, context) {
  const slugs = () => [...plants.keys()].sort();
  if (ref.type === 'ref/prompt') {
    if (name === 'plant' || name === 'first') return slugs();
    if (name === 'second') return slugs().filter((s) => s !== context.first);
    if (name === 'season') return SEASONS;
    if (name === 'symptom') return SYMPTOMS;
    return ['a', 'b', 'c'];
  }
  if (name === 'plant') return slugs();
  if (name === 'bed') return ['a', 'b', 'c'];
  if (name === 'sensor') return Object.keys(SENSORS).sort();
  if (name === 'file') return ['map.png', 'rules.txt'];
  if (name === 'date') return DATES;
  return Array.from({ length: 24 }, (_, i) => String(i));
}
function complete(ctx, params) {
  const { ref, argument, context } = params;
  if (!isObj(ref)) throw invalidParams('params.ref must be an object');
  if (F('completion-argument-missing-internal')) void argument.name;
  if (!isObj(argument) || typeof argument.name !== 'string' || (typeof argument.value !== 'string' && !F('completion-value-type'))) throw invalidParams('params.argument needs a name and a value, both strings');
  if (context !== undefined && (!isObj(context) || (context.arguments !== undefined && !isObj(context.arguments)))) throw invalidParams('params.context.arguments must be an object');
  let names;
  if (ref.type === 'ref/prompt') {
    const p = findPrompt(ref.name);
    if (!p && F('completion-unknown-prompt-empty')) return { completion: { values: [], total: 0, hasMore: false } };
    if (!p) throw invalidParams('Unknown prompt');
    names = p.arguments.map((a) => a.name);
  } else if (ref.type === 'ref/resource') {
    if (typeof ref.uri !== 'string') throw invalidParams('params.ref.uri must be a string');
    const t = TEMPLATES.find((x) => x.uriTemplate === ref.uri);
    if (!t) {
      if (readResource(ref.uri)) return { completion: { values: [], total: 0, hasMore: false } };
      throw invalidParams('Unknown resource template');
    }
    names = [...t.uriTemplate.matchAll(/\{(\w+)\}/g)].map((m) => m[1]);
  } else throw invalidParams('params.ref.type must be "ref/prompt" or "ref/resource"');
  if (!names.includes(argument.name) && !F('completion-argument-unknown')) throw invalidParams(`Unknown argument: ${argument.name}`);
  if (!completionLimit()) throw new RpcError(-32603, 'Too many completion requests; try again in a second');
  if (F('input-required-on-completion') && ctx.era === 'modern' && argument.name === 'second' && !context?.arguments?.first) return { resultType: 'input_required', requestState: seal({ need: 'first' }) };
  const q = String(argument.value).toLowerCase();
  const all = candidates(ref, argument.name, context?.arguments ?? {});
  const found = [...all.filter((v) => v.startsWith(q)), ...all.filter((v) => !v.startsWith(q) && v.includes(q))];
  if (F('completion-unsorted')) found.reverse();
  return { completion: { values: found.slice(0, F('completion-over-100') ? 1000 : 100), total: found.length, hasMore: found.length > 100 } };
}

// ---------------------------------------------------------------- pagination

const cursorSum = (s) => crypto.createHash('sha256').update(`cursor|${s}`).digest('base64url').slice(0, 8);
const makeCursor = (kind, key) => { const s = Buffer.from(`${kind}|${key}`).toString('base64url'); return `${s}.${cursorSum(s)}`; };
const usedCursors = new Set();
function readCursor(kind, cursor) {
  const m = typeof cursor === 'string' && /^([\w-]+)\.([\w-]{8})$/.exec(cursor);
  const s = m && cursorSum(m[1]) === m[2] ? Buffer.from(m[1], 'base64url').toString('utf8') : '';
  if (!s && F('cursor-invalid-restarts')) return '';
  if (F('cursor-other-list') && s) return s.slice(s.indexOf('|') + 1);
  if (!s.startsWith(`${kind}|`)) throw new RpcError(F('cursor-invalid-code') ? -32603 : -32602, 'Invalid cursor');
  if (F('cursor-once')) { if (usedCursors.has(cursor)) throw invalidParams('Invalid cursor'); usedCursors.add(cursor); }
  return s.slice(kind.length + 1);
}
// `items` are sorted by `key`; a cursor holds the key of the last item sent, so it stays good when items come and go.
function page(kind, items, key, size, params) {
  let rest = items;
  if (params.cursor !== undefined && !(F('cursor-empty-accepted') && params.cursor === '')) { const after = readCursor(kind, params.cursor); rest = items.filter((i) => i[key] > after); }
  if (F('page-skips-one') && kind === 'resources' && params.cursor !== undefined && rest.length < 8) rest = rest.slice(1);
  const now = rest.slice(0, size);
  return { [kind]: now, ...(rest.length > (F('page-last-lost') && kind === 'prompts' ? size + 1 : size) && { nextCursor: makeCursor(kind, now[now.length - 1][key]) }) };
}
const by = (key) => (x, y) => (x[key] < y[key] ? -1 : x[key] > y[key] ? 1 : 0);

// ---------------------------------------------------------------- request state (2026-07-28)

const seal = (o) => { const b = Buffer.from(JSON.stringify(o)).toString('base64url'); return `${b}.${crypto.createHmac('sha256', SECRET).update(b).digest('base64url')}`; };
function unseal(s) {
  const [b, sig] = typeof s === 'string' ? s.split('.') : [];
  if (!b || !sig) return null;
  const good = crypto.createHmac('sha256', SECRET).update(b).digest();
  const given = Buffer.from(sig, 'base64url');
  if (!F('state-unverified') && (given.length !== good.length || !crypto.timingSafeEqual(given, good))) return null;
  try { return JSON.parse(Buffer.from(b, 'base64url').toString('utf8')); } catch { return null; }
}
const digest = (params) => crypto.createHash('sha256').update(JSON.stringify([params.name, Object.entries(params.arguments ?? {}).sort()])).digest('base64url');
const formOk = (caps) => isObj(caps.elicitation) && (isObj(caps.elicitation.form) || !Object.hasOwn(caps.elicitation, 'url') || F('elicit-form-to-url-client'));
const STATE_TTL = 5 * 60 * 1000;

function modernElicit(ctx, params) {
  return async (key, message, requestedSchema) => {
    if (!formOk(ctx.caps) && !F('elicit-undeclared-modern')) throw new RpcError(F('missing-capability-code') ? -32602 : -32021, 'This tool asks a question, which needs the elicitation capability', F('missing-capability-data') ? { missing: ['elicitation'] } : { requiredCapabilities: { elicitation: { form: {} } } }, F('missing-capability-200') ? 200 : 400);
    const ask = () => ({
      inputRequired: {
        resultType: F('input-required-marked-complete') ? 'complete' : 'input_required',
        inputRequests: { [key]: { method: F('input-request-method') ? 'elicitation/form' : 'elicitation/create', params: { mode: 'form', message, requestedSchema } } },
        requestState: seal({ method: 'tools/call', digest: digest(params), exp: Date.now() + STATE_TTL }),
      },
    });
    if (F('elicit-as-request')) {
      ctx.send({ jsonrpc: '2.0', id: 'greenhouse-q1', method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } });
      await sleep(400, ctx.signal);
      return { failed: 'No answer.' };
    }
    let known = false;
    if (params.requestState !== undefined) {
      const st = unseal(params.requestState);
      if (!st) throw F('state-error-legacy-code') ? new RpcError(-32001, 'requestState is not valid') : invalidParams('requestState is not valid');
      if ((st.method !== 'tools/call' || st.digest !== digest(params)) && !F('state-other-request')) throw F('state-error-reserved-code') ? new RpcError(-32030, 'requestState belongs to another request') : invalidParams('requestState belongs to another request');
      if (st.exp < Date.now()) throw invalidParams('requestState has expired');
      known = true;
    }
    if (params.inputResponses !== undefined && !isObj(params.inputResponses)) throw invalidParams('inputResponses must be an object');
    if (F('elicit-extra-answer-error') && Object.keys(params.inputResponses ?? {}).some((k) => k !== key)) throw invalidParams('Unexpected input response');
    const r = params.inputResponses && Object.hasOwn(params.inputResponses, key) ? params.inputResponses[key] : undefined;
    if (r === undefined && known && F('elicit-missing-answer-error')) throw invalidParams(`inputResponses.${key} is missing`);
    if (r === undefined && known && F('input-required-empty')) return { inputRequired: { resultType: 'input_required' } };
    if (r === undefined || !known) return ask();
    return checkAnswer(r, requestedSchema, (m) => { throw invalidParams(m); });
  };
}
function checkAnswer(r, schema, bad) {
  if (!isObj(r) || !['accept', 'decline', 'cancel'].includes(r.action)) return bad('The answer needs an action: accept, decline or cancel');
  if (r.action === 'decline' && F('elicit-decline-asks-on')) return { action: 'accept', content: {} };
  if (r.action !== 'accept') return { action: r.action };
  const problem = check(schema ?? {}, r.content, 'content');
  return problem && !F('elicit-answer-unvalidated') ? bad(`The answer does not fit the requested schema: ${problem}`) : { action: 'accept', content: r.content ?? {} };
}

// ---------------------------------------------------------------- methods

const LISTS = {
  'tools/list': (ctx, p) => shuffled({ ...(F('meta-key-invalid') && { _meta: { '2.greenhouse/_rev': 12 } }), ...page('tools', toolNames().map((n) => toolDefinition(n, ctx)), 'name', 4, p) }, p),
  'prompts/list': (ctx, p) => page('prompts', promptNames().map((n) => ({ name: n, title: PROMPTS[n].title, description: PROMPTS[n].description, arguments: PROMPTS[n].arguments })), 'name', 2, p),
  'resources/list': (ctx, p) => page('resources', resourceList().sort(by('uri')), 'uri', 6, p),
  'resources/templates/list': (ctx, p) => page('resourceTemplates', [...TEMPLATES].sort(by('uriTemplate')), 'uriTemplate', 2, p),
};
function shuffled(result, p) {
  if (F('tools-order-unstable') && p.cursor === undefined && ++listings % 2 === 0) result.tools = [result.tools[1], result.tools[0], ...result.tools.slice(2)];
  if (F('tool-name-twice') && result.nextCursor === undefined) result.tools.push(toolDefinition('read_sensor'));
  return result;
}
const SHARED = {
  ...LISTS,
  'tools/call': callTool,
  'prompts/get': getPrompt,
  'resources/read': (ctx, p) => ({ contents: existing(ctx, p.uri) }),
  'completion/complete': complete,
};

const LEGACY_METHODS = {
  ...SHARED,
  ping: () => (F('ping-not-empty') ? { pong: true } : {}),
  'logging/setLevel': (ctx, p) => {
    if (!LEVELS.includes(p.level) && !F('log-level-unknown-accepted')) throw new RpcError(F('log-level-unknown-code') ? -32603 : -32602, 'Unknown log level');
    ctx.session.logLevel = p.level;
    return {};
  },
  'resources/subscribe': (ctx, p) => { if (F('subscribe-unknown-code') && !readResource(String(p.uri))) throw new RpcError(-32603, 'Internal error'); existing(ctx, p.uri); ctx.session.subscriptions.add(p.uri); return {}; },
  'resources/unsubscribe': (ctx, p) => {
    if (typeof p.uri !== 'string') throw invalidParams('params.uri must be a string');
    ctx.session.subscriptions.delete(p.uri);
    return {};
  },
};

function discoverCapabilities() {
  const c = { ...CAPABILITIES };
  if (F('discover-no-resources-capability')) delete c.resources;
  if (F('discover-no-prompts-capability')) delete c.prompts;
  return c;
}
const MODERN_METHODS = {
  ...SHARED,
  'server/discover': () => ({ supportedVersions: SUPPORTED, capabilities: discoverCapabilities(), instructions: INSTRUCTIONS }),
  'subscriptions/listen': listen,
};
const CACHE = {
  'server/discover': [3600000, 'public'], 'tools/list': [60000, 'public'], 'prompts/list': [60000, 'public'],
  'resources/list': [30000, 'public'], 'resources/templates/list': [3600000, 'public'], 'resources/read': [5000, 'private'],
};

function listen(ctx, params) {
  const want = params.notifications;
  if (!isObj(want)) throw invalidParams('params.notifications must be an object');
  const filter = {};
  for (const k of ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged']) {
    if (want[k] === undefined) continue;
    if (typeof want[k] !== 'boolean') throw invalidParams(`notifications.${k} must be a boolean`);
    if (want[k] || F('listen-false-means-yes')) filter[k] = true;
  }
  if (want.resourceSubscriptions !== undefined) {
    if (!Array.isArray(want.resourceSubscriptions) || !want.resourceSubscriptions.every((u) => typeof u === 'string')) throw invalidParams('notifications.resourceSubscriptions must be an array of strings');
    filter.resourceSubscriptions = want.resourceSubscriptions.filter((u) => u.startsWith('greenhouse://'));
  }
  ctx.open();
  const _meta = { [SUB]: ctx.id };
  if (F('listen-snapshot-first')) for (const uri of filter.resourceSubscriptions ?? []) ctx.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri, _meta } });
  if (!F('listen-no-acknowledgment')) ctx.send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { ...(!F('listen-acknowledged-without-id') && { _meta }), notifications: filter } });
  return new Promise((resolve, reject) => {
    const l = {
      id: ctx.id, filter, send: F('listen-after-cancel') ? ctx.out : ctx.send,
      close() {
        listens.delete(l);
        if (!F('listen-teardown-no-cancelled')) ctx.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { _meta, requestId: ctx.id, reason: 'The server is shutting down' } });
        if (F('listen-teardown-no-result')) reject(new Cancelled()); else resolve({ _meta: { ...(_meta) } });
      },
    };
    if (F('listen-ping-request')) setTimeout(() => ctx.send({ jsonrpc: '2.0', id: `keepalive-${ctx.id}`, method: 'ping' }), 300).unref();
    if (F('listen-second-replaces')) listens.clear();
    listens.add(l);
    ctx.signal.addEventListener('abort', () => { if (!F('listen-after-cancel')) listens.delete(l); reject(new Cancelled()); }, { once: true });
  });
}

// ---------------------------------------------------------------- messages

// What a parsed message is: a request, a notification, a response or nothing valid.
function classify(m) {
  if (!isObj(m)) return { kind: 'invalid', why: Array.isArray(m) ? 'Batches are not supported' : 'A message is a JSON object' };
  const id = validId(m.id) ? m.id : undefined;
  if (Object.hasOwn(m, 'method')) {
    const note = !Object.hasOwn(m, 'id');
    if (m.jsonrpc !== '2.0') return { kind: 'invalid', id, note, why: 'jsonrpc must be "2.0"' };
    if (typeof m.method !== 'string') return { kind: 'invalid', id, note, why: 'method must be a string' };
    if (note) return { kind: 'notification' };
    if (id === undefined) return { kind: 'invalid', why: 'id must be a string or an integer' };
    return { kind: 'request', id };
  }
  if (m.jsonrpc === '2.0' && id !== undefined && (isObj(m.result) !== isObj(m.error))) return { kind: 'response', id };
  return { kind: 'invalid', id, why: 'Neither a request, a notification nor a response' };
}
const errorMessage = (id, e) => ({
  jsonrpc: '2.0', ...(id !== undefined && { id: F('error-id-stringified') ? String(id) : id }),
  error: { code: F('parse-error-code-string') && e.code === -32700 ? String(e.code) : e.code, ...(!(F('error-without-message') && e.code === -32601) && { message: e.message }), ...(e.data !== undefined && { data: e.data }) },
});
function parse(buf) {
  let s;
  try { s = new TextDecoder('utf-8', { fatal: true }).decode(buf); } catch { throw new RpcError(-32700, 'The message is not valid UTF-8'); }
  try { return JSON.parse(s); } catch { throw new RpcError(F('parse-error-internal') ? -32603 : -32700, 'Parse error'); }
}
const metaOf = (m) => (isObj(m.params) && isObj(m.params._meta) ? m.params._meta : {});
// A request is modern if it carries the per-request fields of 2026-07-28 (or asks for something only that revision has).
function looksModern(m) {
  const meta = metaOf(m);
  if (Object.hasOwn(meta, PV)) return !LEGACY.includes(meta[PV]);
  return Object.hasOwn(meta, CC) || m.method === 'server/discover' || m.method === 'subscriptions/listen';
}
// Checks the required fields of a modern request, apart from HTTP headers.
function modernMeta(m, headerVersion) {
  const meta = metaOf(m);
  if (m.params !== undefined && !isObj(m.params)) throw invalidParams('params must be an object', undefined, 400);
  if (typeof meta[PV] !== 'string') throw new RpcError(F('missing-version-code') ? -32600 : -32602, `params._meta["${PV}"] is required`, undefined, 400);
  if (headerVersion !== undefined && headerVersion !== meta[PV] && !F('version-header-mismatch-accepted')) throw mismatch(`MCP-Protocol-Version header "${headerVersion}" does not match "${meta[PV]}" in the body`);
  if (F('later-version-served') ? meta[PV] < MODERN : meta[PV] !== MODERN) throw new RpcError(F('unsupported-version-code') ? -32602 : -32022, 'Unsupported protocol version', F('unsupported-version-unlisted') ? { requested: meta[PV] } : { supported: SUPPORTED, requested: meta[PV] }, F('unsupported-version-200') ? 200 : 400);
  if (!isObj(meta[CC]) && !(F('client-capabilities-optional') && meta[CC] === undefined)) throw invalidParams(`params._meta["${CC}"] is required`, undefined, F('missing-capabilities-field-200') ? 200 : 400);
  return meta;
}
const mismatch = (m) => new RpcError(F('header-mismatch-code') ? -32600 : -32020, `Header mismatch: ${m}`, undefined, F('header-mismatch-200') ? 200 : 400);

const remembered = {};
let lastLevel;
let lastToken;
let logged = 0;
// Everything a handler needs to know about the request it serves. `out` sends a message that belongs to the request.
function makeContext({ era, version, session, m, out, open }) {
  const ac = new AbortController();
  const meta = metaOf(m);
  const ctx = { era, version, session, id: m.id, signal: ac.signal, done: false, open: open ?? (() => {}) };
  ctx.caps = era === 'modern' ? meta[CC] ?? {} : session.caps;
  if (F('capabilities-remembered') && era === 'modern') { Object.assign(remembered, ctx.caps); ctx.caps = remembered; }
  ctx.cancel = () => { if (!ctx.done) { ctx.done = true; ac.abort(); } };
  ctx.send = (msg) => { if (!ctx.done || (F('cancel-progress-goes-on') && ac.signal.aborted)) out(msg); };
  ctx.out = out;
  const token = meta.progressToken ?? (F('progress-unasked') ? m.id : F('progress-token-stale') ? lastToken : undefined);
  if (token !== undefined) lastToken = token;
  let lastProgress = -Infinity;
  ctx.progress = (progress, total, message, force) => {
    if (!validId(token) || (progress <= lastProgress && !force)) return;
    lastProgress = progress;
    ctx.send({ jsonrpc: '2.0', ...(F('progress-with-id') && { id: `p${progress}` }), method: 'notifications/progress', params: { progressToken: F('progress-token-string') ? String(token) : F('progress-token-zero') ? token || '' : token, progress, total, message } });
  };
  if (F('log-level-remembered') && era === 'modern') { if (LEVELS.includes(meta[LL])) lastLevel = meta[LL]; else if (lastLevel) meta[LL] = lastLevel; }
  ctx.late = (progress, total, message) => { if (validId(token)) out({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress, total, message } }); };
  ctx.log = (level, data) => {
    if (F('log-on-listen-stream')) for (const l of listens) l.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level, logger: 'greenhouse', data, _meta: { [SUB]: l.id } } });
    const min = era === 'modern' ? meta[LL] ?? (F('log-unasked') ? 'info' : undefined) : session.logLevel;
    if (min === undefined || LEVELS.indexOf(level) < LEVELS.indexOf(min) || !logLimit()) return;
    ctx.send({ ...(!F('log-without-jsonrpc') && { jsonrpc: '2.0' }), method: 'notifications/message', params: { level, logger: F('log-logger-random') ? `greenhouse-${++logged}` : 'greenhouse', data } });
  };
  ctx.elicit = era === 'modern' ? modernElicit(ctx, m.params) : legacyElicit(ctx);
  return ctx;
}

let discovered = false;
// Runs a request. Resolves to the response, or to null if the request was cancelled.
async function serve(ctx, m) {
  let reply;
  let status = 200;
  try {
    const methods = ctx.era === 'modern' ? MODERN_METHODS : LEGACY_METHODS;
    if (F('unknown-method-empty-result') && ctx.era === 'legacy' && !Object.hasOwn(methods, m.method)) return { reply: { jsonrpc: '2.0', id: m.id, result: {} }, status: 200 };
    if (!Object.hasOwn(methods, m.method) || (F('discover-missing') && m.method === 'server/discover')) throw new RpcError(F('unknown-method-invalid-request') ? -32600 : -32601, `Method not found: ${m.method}`, undefined, ctx.era === 'modern' && !F('unknown-method-200') ? 404 : 200);
    if (m.params !== undefined && !isObj(m.params)) throw F('fractional-error-code') ? new RpcError(-32602.5, 'params must be an object') : invalidParams('params must be an object');
    if (ctx.era === 'modern') {
      const level = metaOf(m)[LL];
      if (level !== undefined && !LEVELS.includes(level) && !F('log-level-meta-unknown-ignored')) throw invalidParams('Unknown log level');
    }
    if (m.method === 'server/discover') discovered = true;
    if (F('needs-discover-first') && ctx.era === 'modern' && !discovered) throw new RpcError(-32600, 'Call server/discover first');
    const result = await methods[m.method](ctx, m.params ?? {});
    reply = { jsonrpc: '2.0', id: F('numeric-string-id-cast') && /^\d+$/.test(m.id) ? Number(m.id) : m.id, result: finish(ctx, m.method, result, m.params?.cursor !== undefined) };
  } catch (e) {
    if (e instanceof Cancelled && F('cancel-answered-legacy') && ctx.era === 'legacy') return { reply: errorMessage(m.id, new RpcError(-32800, 'Request cancelled')), status: 200 };
    if (e instanceof Cancelled && F('cancel-answered-modern') && ctx.era === 'modern' && m.method === 'tools/call') return { reply: { jsonrpc: '2.0', id: m.id, result: finish(ctx, m.method, toolError('Cancelled.')) }, status: 200 };
    if (e instanceof Cancelled) return null;
    const err = e instanceof RpcError ? e : new RpcError(-32603, 'Internal error');
    status = err.http;
    reply = errorMessage(m.id, err);
    if (F('error-with-null-result') && ctx.version === '2025-06-18') reply.result = null;
  }
  if (ctx.done) return null;
  ctx.done = true;
  return { reply, status };
}
function finish(ctx, method, result, paged = false) {
  if (ctx.era !== 'modern') return result;
  const full = { resultType: F('tool-error-result-type') && result.isError ? 'error' : 'complete', ...result, _meta: { ...result._meta, ...(!(F('server-info-only-discover') && method === 'tools/call') && { [SI]: SERVER_INFO }) } };
  if (F('completion-result-type-missing') && full.completion?.total === 0) delete full.resultType;
  if (F('template-result-type-missing') && method === 'resources/templates/list') { delete full.resultType; [full.ttlMs, full.cacheScope] = CACHE[method]; }
  if (F('cache-missing-discover') && method === 'server/discover') return full;
  if (F('cache-missing-later-pages') && method === 'resources/list' && paged) return full;
  if (full.resultType === 'complete' && Object.hasOwn(CACHE, method) && !(F('cache-missing-read-blob') && result.contents?.[0]?.blob)) [full.ttlMs, full.cacheScope] = CACHE[method];
  if (F('cache-scope-mixed') && method === 'tools/list' && paged) full.cacheScope = 'private';
  if (F('cache-scope-missing-prompts') && method === 'prompts/list') delete full.cacheScope;
  if (F('cache-ttl-negative') && result.contents?.[0]?.uri.startsWith('greenhouse://beds/')) full.ttlMs = -1;
  return full;
}

// ---------------------------------------------------------------- sessions (2025-06-18 and 2025-11-25)

const ELICIT_TIMEOUT = 60000;
class Session {
  constructor(id, version, params) {
    Object.assign(this, {
      id, version, caps: params.capabilities, clientInfo: params.clientInfo, initialized: false, logLevel: 'info',
      subscriptions: new Set(), inflight: new Map(), pending: new Map(), counter: 0,
      streams: new Map(), listeners: [], queue: [],
    });
  }
  notify(msg) { this.push(msg); }
  // Sends a request to the client on the stream of `ctx` and waits for the answer.
  request(ctx, method, params) {
    const id = `greenhouse-${++this.counter}`;
    return new Promise((resolve, reject) => {
      const settle = (f) => (v) => { clearTimeout(timer); this.pending.delete(id); ctx.signal.removeEventListener('abort', stop); f(v); };
      const timer = setTimeout(() => {
        ctx.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason: 'Timed out' } });
        settle(reject)(new Error('The client did not answer in time.'));
      }, ELICIT_TIMEOUT);
      const stop = () => settle(reject)(new Cancelled());
      ctx.signal.addEventListener('abort', stop, { once: true });
      this.pending.set(id, { resolve: settle(resolve), reject: settle(reject) });
      ctx.send({ jsonrpc: '2.0', id, method, params });
    });
  }
  answer(m) {
    const p = this.pending.get(m.id);
    if (!p) return;
    if (isObj(m.result)) p.resolve(m.result); else p.reject(new Error('The client could not ask the question.'));
  }
  close() {
    for (const c of this.inflight.values()) c.cancel();
    for (const s of [...this.streams.values(), ...this.listeners]) s.end();
  }
}
function legacyElicit(ctx) {
  return async (key, message, requestedSchema) => {
    const s = ctx.session;
    if (!formOk(s.caps) && !F('elicit-undeclared-legacy')) return { failed: 'This tool asks a question, which needs the elicitation capability.' };
    if (!s.initialized && !F('elicit-before-initialized')) return { failed: 'This tool asks a question; send notifications/initialized first.' };
    let r;
    try { r = await s.request(ctx, 'elicitation/create', { message, requestedSchema }); } catch (e) {
      if (e instanceof Cancelled) throw e;
      return { failed: e.message };
    }
    return checkAnswer(r, requestedSchema, (m) => ({ failed: m }));
  };
}
function initCapabilities() {
  const c = { ...CAPABILITIES };
  if (F('init-no-prompts-capability')) delete c.prompts;
  if (F('init-no-completions-capability')) delete c.completions;
  if (F('init-no-logging-capability')) delete c.logging;
  return c;
}
function initialize(params, id, push) {
  if (!isObj(params) || typeof params.protocolVersion !== 'string') throw invalidParams('params.protocolVersion must be a string');
  if (!isObj(params.capabilities)) throw invalidParams('params.capabilities must be an object');
  if (!isObj(params.clientInfo) || typeof params.clientInfo.name !== 'string' || typeof params.clientInfo.version !== 'string') throw invalidParams('params.clientInfo needs a name and a version');
  const version = F('init-echoes-version') || LEGACY.includes(params.protocolVersion) ? (F('init-always-latest') ? LEGACY[0] : params.protocolVersion) : LEGACY[F('init-oldest-fallback') ? 1 : 0];
  const session = new Session(id, version, params);
  session.push = push(session);
  return { session, result: { protocolVersion: version, capabilities: initCapabilities(), ...(!F('init-no-server-info') && { serverInfo: SERVER_INFO }), instructions: INSTRUCTIONS } };
}
function legacyNotification(session, m) {
  if (m.method === 'notifications/initialized') session.initialized = true;
  if (m.method === 'notifications/cancelled') cancel(session.inflight, m);
}
const listenIds = { has: (id) => [...listens].some((l) => l.id === id) };
const idKey = (id) => `${typeof id}:${id}`;
function cancel(inflight, m) {
  const id = isObj(m.params) || F('cancel-malformed-500') ? m.params.requestId : undefined;
  if (F('cancel-kills-all')) for (const c of [...inflight.values()]) if (!listenIds.has(c.id)) c.cancel();
  if (validId(id) && !F('cancel-ignored') && !(F('cancel-string-ids-missed') && typeof id === 'string')) inflight.get(idKey(id))?.cancel();
}
// Serves a request and keeps it cancellable meanwhile.
async function track(inflight, ctx, m) {
  const k = idKey(m.id);
  inflight.set(k, ctx);
  try { return await serve(ctx, m); } finally { if (inflight.get(k) === ctx) inflight.delete(k); }
}

// ---------------------------------------------------------------- stdio

function runStdio() {
  stdioMode = true;
  let wrote = false;
  const write = (m) => {
    let s = JSON.stringify(m);
    if (F('stdio-pretty-large') && s.length > 1200) s = JSON.stringify(m, null, 2);
    if (F('stdio-bom') && !wrote) s = '\ufeff' + s;
    wrote = true;
    process.stdout.write(s + '\n', F('stdio-latin1') ? 'latin1' : 'utf8');
  };
  if (F('stdio-banner')) process.stdout.write('greenhouse 1.2.0 ready\n');
  const inflight = new Map();
  let rest = Buffer.alloc(0);

  async function onLine(line) {
    if (line.length === 0 || /^[ \t\r]*$/.test(line.toString('latin1'))) return;
    let m;
    try { m = parse(line); } catch (e) { if (F('malformed-line-kills')) process.exit(1); return write(errorMessage(undefined, e)); }
    const c = classify(m);
    if (c.kind === 'invalid') { if (!c.note) write(errorMessage(c.id, new RpcError(-32600, `Invalid request: ${c.why}`))); return; }
    if (c.kind === 'response') return stdioSession?.answer(m);
    if (F('request-without-id-answered') && c.kind === 'notification' && Object.hasOwn(LEGACY_METHODS, m.method) && stdioSession) {
      const r = await serve(makeContext({ era: 'legacy', version: stdioSession.version, session: stdioSession, m: { ...m, id: null }, out: write }), { ...m, id: null });
      return r && write(r.reply);
    }
    if (c.kind === 'notification') {
      if (F('cancel-unknown-answered') && m.method === 'notifications/cancelled' && !inflight.has(idKey(m.params?.requestId))) return write(errorMessage(undefined, invalidParams('No such request')));
      if (m.method === 'notifications/cancelled') return cancel(inflight, m);
      if (stdioSession) legacyNotification(stdioSession, m);
      if (F('notification-answered') && m.method !== 'notifications/initialized') write(errorMessage(undefined, new RpcError(-32601, 'Method not found')));
      return;
    }
    try {
      let ctx;
      if (looksModern(m)) {
        modernMeta(m);
        ctx = makeContext({ era: 'modern', version: MODERN, m, out: write });
      } else if (m.method === 'initialize') {
        if (stdioSession) throw new RpcError(-32600, 'Already initialized');
        const { session, result } = initialize(m.params, 'stdio', () => write);
        stdioSession = session;
        return write({ jsonrpc: '2.0', id: m.id, result });
      } else if (m.method === 'ping' && !(F('ping-before-init-fails') && !stdioSession)) {
        return write({ jsonrpc: '2.0', id: m.id, result: {} });
      } else {
        if (!stdioSession) throw invalidParams(`Send initialize first, or the params._meta fields of ${MODERN}`);
        ctx = makeContext({ era: 'legacy', version: stdioSession.version, session: stdioSession, m, out: write });
      }
      const r = await track(inflight, ctx, m);
      if (r) write(r.reply);
    } catch (e) {
      write(errorMessage(m.id, e instanceof RpcError ? e : new RpcError(-32603, 'Internal error')));
    }
  }

  process.stdin.on('data', (chunk) => {
    if (F('stdio-split-characters')) chunk = Buffer.from(chunk.toString('utf8'), 'utf8');
    rest = rest.length ? Buffer.concat([rest, chunk]) : chunk;
    let i;
    while ((i = rest.indexOf(10)) >= 0) { const line = rest.subarray(0, i); rest = rest.subarray(i + 1); onLine(line); }
  });
  const shutdown = () => {
    if (F('stdio-last-line-lost') && inflight.size) process.stdout.write('{"jsonrpc":"2.0","id":');
    for (const l of [...listens]) l.close();
    setTimeout(() => process.exit(0), 50);
  };
  process.stdin.on('end', () => { if (rest.length) { onLine(rest); rest = Buffer.alloc(0); } if (F('stdio-no-exit') || (F('stdio-no-exit-while-listening') && listens.size)) setInterval(() => {}, 60000); else shutdown(); });
  process.on('SIGTERM', shutdown);
  process.on('SIGINT', shutdown);
  process.stdout.on('error', () => process.exit(0));
}

// ---------------------------------------------------------------- Streamable HTTP

const ENDPOINT = '/mcp';
const SSE_HEADERS = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache', ...(!F('sse-no-accel-header') && { 'X-Accel-Buffering': 'no' }) };

// An SSE stream of a session. With `ids` (2025-11-25) its events are numbered and kept, so a client can resume it.
class Stream {
  constructor(session, res, ids, kind) {
    Object.assign(this, { session, ids, kind, sid: F('event-ids-per-stream') ? 'event' : crypto.randomUUID(), n: 0, kept: [], ended: false, res: null });
    if (ids) session.streams.set(this.sid, this);
    this.attach(res);
    if (ids && !F('sse-no-priming')) res.write(`id: ${this.sid}_0\ndata: \n\n`);
  }
  attach(res) {
    this.res = res;
    res.writeHead(200, SSE_HEADERS);
    res.flushHeaders();
    res.on('close', () => { if (this.res === res) { this.res = null; if (!this.ids) this.ended = true; } });
  }
  get open() { return this.res !== null && !this.ended; }
  write(msg) {
    if (this.ended) return;
    const body = `data: ${JSON.stringify(msg)}\n\n`;
    if (!this.ids) { this.res?.write(body); return; }
    const n = ++this.n;
    const event = `id: ${this.sid}_${n}\n${body}`;
    this.kept.push([n, event]);
    if (this.kept.length > 1000) this.kept.shift();
    this.res?.write(event);
  }
  end() {
    this.ended = true;
    this.res?.end();
    if (this.ids) setTimeout(() => this.session.streams.delete(this.sid), 60000).unref();
  }
  resume(res, after) {
    this.res?.end();
    this.attach(res);
    if (F('replay-doubles-get-stream')) for (const s of this.session.listeners) if (s !== this && s.open) for (const [, event] of s.kept) res.write(event.replace(/^id: .*\n/, ''));
    if (F('replay-other-streams')) for (const s of this.session.streams.values()) if (s !== this) for (const [, event] of s.kept) res.write(event);
    for (const [n, event] of this.kept) if (n > after) res.write(event);
    if (this.ended) res.end();
  }
}

// Messages that belong to no request go to one open GET stream, or wait for one.
const pushHttp = (session) => (msg) => {
  const s = session.listeners.find((x) => x.open);
  if (s && F('broadcast-all-streams')) for (const x of session.listeners.filter((y) => y.open)) x.write(msg);
  else if (s) s.write(msg);
  else { session.queue.push(msg); if (session.queue.length > 100) session.queue.shift(); }
};

function originOk(origin) {
  if (origin === undefined || (F('origin-null-accepted') && origin === 'null')) return true;
  if (F('origin-prefix') && origin.startsWith('http://localhost')) return true;
  try {
    const u = new URL(origin);
    return ['http:', 'https:'].includes(u.protocol) && ['localhost', '127.0.0.1', '[::1]'].includes(u.hostname);
  } catch { return false; }
}
function sendJson(res, status, body, headers) {
  const b = Buffer.from(JSON.stringify(body), F('http-latin1-body') ? 'latin1' : 'utf8');
  res.writeHead(status, { 'Content-Type': F('content-type-plain') && body.error ? 'text/plain' : 'application/json', 'Content-Length': b.length, ...headers });
  res.end(b);
}
function sendError(res, id, e, status = e.http, headers) { sendJson(res, status, errorMessage(id, e), headers); }
function accepted(res, kind = 'notification') {
  res.writeHead(kind === 'notification' && F('notification-200') ? 200 : kind === 'response' && F('response-200') ? 200 : 202);
  res.end(F('notification-body') ? '{}' : undefined);
}

function readBody(req) {
  return new Promise((resolve, reject) => {
    const parts = [];
    let size = 0;
    req.on('data', (c) => { size += c.length; if (size > 4 * 1024 * 1024) { reject(new RpcError(-32600, 'The message is too large', undefined, 413)); req.destroy(); } else parts.push(c); });
    req.on('end', () => resolve(Buffer.concat(parts)));
    req.on('error', reject);
  });
}

// ---- header rules of 2026-07-28

function headerValue(raw, name) {
  if (/[^\t\x20-\x7e]/.test(raw)) throw mismatch(`${name} contains invalid characters`);
  const m = /^=\?base64\?(.*)\?=$/.exec(raw);
  if (!m) return raw;
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(m[1])) throw F('param-header-bad-base64-crash') ? new Error('bad base64') : mismatch(`${name} is not valid Base64`);
  try { return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(m[1], 'base64')); } catch { throw mismatch(`${name} is not valid UTF-8`); }
}
// The properties of a schema that carry x-mcp-header, with their paths.
function headerParams(schema, path = []) {
  const found = [];
  for (const [k, p] of Object.entries(schema.properties ?? {})) {
    if (p['x-mcp-header'] && p.type !== 'number' && !p['x-mcp-header'].includes(' ') && p['x-mcp-header'] !== 'ZONE') found.push({ header: p['x-mcp-header'], type: p.type, path: [...path, k] });
    if (!F('param-header-nested-unchecked')) found.push(...headerParams(p, [...path, k]));
  }
  return found;
}
const NAME_FIELD = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' };

function checkHeaders(req, m) {
  const method = req.headers['mcp-method'];
  if (method === undefined && F('method-header-optional')) req.headers['mcp-method'] = m.method;
  else if (method === undefined) throw mismatch('Mcp-Method is missing');
  if (req.headers['mcp-method'] !== m.method && !(F('method-header-case') && method?.toLowerCase() === m.method.toLowerCase())) throw mismatch(`Mcp-Method "${method}" does not match "${m.method}" in the body`);
  const field = Object.hasOwn(NAME_FIELD, m.method) ? NAME_FIELD[m.method] : null;
  if (!field || (F('name-header-read-unchecked') && field === 'uri')) return;
  const raw = req.headers['mcp-name'];
  if (raw === undefined) throw mismatch('Mcp-Name is missing');
  const value = m.params?.[field];
  if (typeof value !== 'string') throw invalidParams(`params.${field} must be a string`, undefined, 400);
  if ((F('name-header-not-decoded') ? raw : headerValue(raw, 'Mcp-Name')) !== value && !(F('name-header-mismatch-prompt') && m.method === 'prompts/get')) throw mismatch(`Mcp-Name does not match params.${field}`);
  if (m.method === 'tools/call' && findTool(value)) checkParamHeaders(req, findTool(value), m.params.arguments);
}
function checkParamHeaders(req, tool, args) {
  for (const { header, type, path } of headerParams(tool.inputSchema)) {
    const name = `Mcp-Param-${header}`;
    const raw = req.headers[name.toLowerCase()];
    let value = args;
    for (const k of path) value = isObj(value) && Object.hasOwn(value, k) ? value[k] : undefined;
    if (value === undefined || value === null) {
      if (F('param-header-always') && type === 'integer' && raw === undefined) throw mismatch(`${name} is missing`);
      if (raw !== undefined) throw mismatch(`${name} is present, but the body has no such value`);
      continue;
    }
    if (raw === undefined && F('param-header-optional')) continue;
    if (raw === undefined) throw mismatch(`${name} is missing`);
    const given = F('param-header-not-decoded') ? raw : F('param-header-latin1') && /^=\?base64\?.*\?=$/.test(raw) ? Buffer.from(raw.slice(9, -2), 'base64').toString('latin1') : headerValue(raw, name);
    const same = type === 'integer' && !F('param-header-integer-text') && typeof value === 'number'
      ? /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(given) && Number(given) === value
      : F('param-header-boolean-loose') && type === 'boolean' ? ['true', '1', 'yes'].includes(given) === value : given === String(value);
    if (!same) throw mismatch(`${name} does not match the body`);
  }
}

// ---- POST

async function onPost(req, res) {
  let m;
  try { m = parse(await readBody(req)); } catch (e) {
    return sendError(res, undefined, e instanceof RpcError ? e : new RpcError(-32603, 'Internal error'), e.http > 200 ? e.http : 400);
  }
  const c = classify(m);
  if (c.kind === 'invalid' && c.note && F('invalid-notification-202')) return accepted(res);
  if (c.kind === 'invalid') return sendError(res, c.id, new RpcError(-32600, `Invalid request: ${c.why}`), 400);
  const version = req.headers['mcp-protocol-version'];
  const sid = req.headers['mcp-session-id'];
  const isRequest = c.kind === 'request';
  const modern = (version !== undefined && !LEGACY.includes(version) && !(F('legacy-version-header-ignored') && sid !== undefined && sessions.has(sid)))
    || (isRequest && (looksModern(m) || (version === undefined && sid === undefined && req.headers['mcp-method'] !== undefined)));
  try {
    if (modern) return isRequest ? await modernRequest(req, res, m, version) : modernOther(res, c, version);
    return await legacyPost(req, res, m, c, sid);
  } catch (e) {
    if (res.headersSent) { res.end(); return; }
    const err = e instanceof RpcError ? e : new RpcError(-32603, 'Internal error', undefined, 500);
    sendError(res, isRequest ? m.id : undefined, err);
  }
}

function unsupported(version) { return new RpcError(-32022, 'Unsupported protocol version', { supported: SUPPORTED, requested: version }, 400); }

function modernOther(res, c, version) {
  if (version !== MODERN) throw unsupported(version);
  if (c.kind === 'response') throw new RpcError(-32600, 'Responses are not accepted', undefined, 400);
  accepted(res);
}

async function modernRequest(req, res, m, version) {
  if (version === undefined && F('version-header-optional')) version = metaOf(m)[PV];
  if (version === undefined) throw mismatch('MCP-Protocol-Version is missing');
  // A bare request with an unknown version in the header is answered with the versions there are.
  if (!SUPPORTED.includes(version) && !Object.hasOwn(metaOf(m), PV)) throw unsupported(version);
  if (F('modern-session-checked') && req.headers['mcp-session-id'] !== undefined) sessionOf(req.headers['mcp-session-id']);
  modernMeta(m, version);
  checkHeaders(req, m);
  let sse = false;
  let timer;
  const open = () => {
    if (sse) return;
    sse = true;
    res.writeHead(200, SSE_HEADERS);
    res.flushHeaders();
    timer = setInterval(() => res.write(':\r\n\r\n'), 15000);
  };
  const event = (msg) => `data: ${JSON.stringify(msg)}\n\n`;
  const ctx = makeContext({ era: 'modern', version: MODERN, m, open, out: (msg) => { open(); res.write(event(msg)); } });
  res.on('close', () => { clearInterval(timer); ctx.cancel(); });
  const r = await serve(ctx, m);
  clearInterval(timer);
  if (!r) { res.end(); return; }
  if (sse) { res.write(event(r.reply)); if (!F('sse-left-open')) res.end(); } else sendJson(res, r.status, r.reply);
}

function sessionOf(sid) {
  if (sid === undefined) throw new RpcError(-32600, 'Mcp-Session-Id is required; send initialize first', undefined, F('session-missing-404') ? 404 : 400);
  const s = sessions.get(sid);
  if (!s) throw new RpcError(-32600, 'Session not found', undefined, F('session-deleted-400') ? 400 : 404);
  return s;
}

let sessionCount = 0;
async function legacyPost(req, res, m, c, sid) {
  if (c.kind === 'request' && m.method === 'initialize' && sid === undefined) {
    let id = crypto.randomUUID();
    if (F('session-id-counter')) id = `session-${++sessionCount}`;
    if (F('session-id-space')) id = `greenhouse ${id}`;
    const { session, result } = initialize(m.params, id, pushHttp);
    sessions.set(id, session);
    return sendJson(res, 200, { jsonrpc: '2.0', id: m.id, result }, { 'Mcp-Session-Id': id });
  }
  if (sid === undefined && c.kind === 'request' && req.headers['mcp-protocol-version'] === undefined) throw invalidParams(`Send initialize first, or the headers and params._meta fields of ${MODERN}`, undefined, 400);
  if (F('session-deleted-notification-202') && c.kind === 'notification' && sid !== undefined && !sessions.has(sid)) return accepted(res);
  const session = sessionOf(sid);
  if (c.kind === 'response') { session.answer(m); return accepted(res, 'response'); }
  if (c.kind === 'notification') { legacyNotification(session, m); return accepted(res); }
  if (m.method === 'initialize') throw new RpcError(-32600, 'Already initialized', undefined, 400);
  let stream = null;
  const open = () => { stream ??= new Stream(session, res, session.version === '2025-11-25', 'post'); };
  const ctx = makeContext({ era: 'legacy', version: session.version, session, m, open, out: (msg) => { open(); stream.write(msg); } });
  if (F('disconnect-cancels-legacy')) res.on('close', () => ctx.cancel());
  const r = await track(session.inflight, ctx, m);
  if (stream) { if (r) stream.write(r.reply); if (r && F('response-on-get-stream')) session.listeners.find((x) => x.open)?.write(r.reply); if (!F('sse-left-open-legacy')) stream.end(); return; }
  if (!r) { res.destroy(); return; }
  sendJson(res, r.status, r.reply);
}

// ---- GET and DELETE (2025-06-18 and 2025-11-25)

function notAllowed(res) { sendError(res, undefined, new RpcError(-32600, 'Method not allowed'), 405, { Allow: 'POST, GET, DELETE' }); }

function onGet(req, res, session) {
  const last = req.headers['last-event-id'];
  const ids = session.version === '2025-11-25';
  const at = ids && last !== undefined ? /^(.+)_(\d+)$/.exec(last) : null;
  const old = at && session.streams.get(at[1]);
  if (old) old.resume(res, Number(at[2]));
  const s = old || new Stream(session, res, ids, 'get');
  if (!old) session.listeners.push(s);
  session.listeners = session.listeners.filter((x) => x.open);
  if (s.kind === 'get') {
    if (!session.listeners.includes(s)) session.listeners.push(s);
    for (const msg of session.queue.splice(0)) s.write(msg);
    const timer = setInterval(() => res.write(':\r\n\r\n'), 15000);
    res.on('close', () => clearInterval(timer));
  }
}

function onRequest(req, res) {
  if (!originOk(req.headers.origin) && !F('origin-unchecked') && !(F('origin-post-only') && req.method !== 'POST')) return sendError(res, undefined, new RpcError(-32600, 'Origin not allowed'), F('origin-400') ? 400 : 403);
  const path = req.url.split('?')[0];
  if (path !== ENDPOINT) { res.writeHead(404, { 'Content-Type': 'text/plain' }); res.end('Not found\n'); return; }
  if (req.method === 'POST') return void onPost(req, res);
  if (req.method !== 'GET' && req.method !== 'DELETE') return notAllowed(res);
  const version = req.headers['mcp-protocol-version'];
  try {
    if (version === MODERN) return notAllowed(res);
    if (version !== undefined && !LEGACY.includes(version) && !(F('get-version-header-ignored') && req.method === 'GET')) throw unsupported(version);
    const session = sessionOf(req.headers['mcp-session-id']);
    if (req.method === 'GET' && F('get-json')) return sendJson(res, 200, { server: SERVER_INFO.name, session: session.id });
    if (req.method === 'GET') return onGet(req, res, session);
    if (!F('session-deleted-served')) sessions.delete(session.id);
    session.close();
    res.writeHead(204);
    res.end();
  } catch (e) {
    sendError(res, undefined, e instanceof RpcError ? e : new RpcError(-32603, 'Internal error', undefined, 500));
  }
}

function runHttp(port) {
  const server = http.createServer(onRequest);
  server.listen(port, F('listen-all-interfaces') ? '0.0.0.0' : '127.0.0.1', () => process.stderr.write(`greenhouse listens on http://127.0.0.1:${server.address().port}${ENDPOINT}\n`));
  const shutdown = () => {
    for (const l of [...listens]) l.close();
    for (const s of sessions.values()) s.close();
    server.close();
    setTimeout(() => process.exit(0), 100);
  };
  process.on('SIGTERM', shutdown);
  process.on('SIGINT', shutdown);
}

// ---------------------------------------------------------------- main

if (argv.includes('--list-faults')) {
  for (const [name, area, level, transport, what] of FAULTS) process.stdout.write(`${JSON.stringify({ name, area, level, transport, what })}\n`);
} else if (FAULT !== null && !FAULTS.some((f) => f[0] === FAULT)) {
  process.stderr.write(`unknown fault: ${FAULT}\n`);
  process.exit(2);
} else if (argv.includes('--http')) runHttp(Number(argv[argv.indexOf('--http') + 1]));
else if (argv.includes('--stdio')) runStdio();
else { process.stderr.write('usage: server.mjs --stdio | --http PORT [--fault NAME] | --list-faults\n'); process.exit(2); }

//! The rows. What a client may not use has the row of what does not exist: the difference would tell.

use net::service::code::{
    HEADER_MISMATCH, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, MISSING_CLIENT_CAPABILITY,
    URL_ELICITATION_REQUIRED,
};

use super::Category::{
    InternalError, InvalidInput, PermissionDenied, ResourceExhausted, ResourceNotFound, UpstreamFailure,
};
use super::Failure;

/// Rows of failures, each under its name, and the list of all.
macro_rules! rows {
    ($($constant:ident = $row:expr;)+) => {
        $(pub(crate) const $constant: Failure = $row;)+
        pub(super) const ALL: &[Failure] = &[$($constant),+];
    };
}

rows! {
    // The request is wrong.
    PARAMS_INVALID = Failure::new("params-invalid", INVALID_PARAMS, InvalidInput,
        "a member of `params` is missing, has another type, or stands twice").not_run();
    ARGUMENT_PINNED = Failure::new("argument-pinned", INVALID_PARAMS, InvalidInput,
        "a call gives an argument that the configuration sets").not_run()
        .action("Send the call without this argument");
    INPUT_UNKNOWN = Failure::new("input-unknown", INVALID_PARAMS, InvalidInput,
        "`inputs`: a call has an argument that the schema of the tool does not name").not_run()
        .action("Send the call with arguments of the tool's input schema only");
    INPUT_SECRET = Failure::new("input-secret", INVALID_PARAMS, PermissionDenied,
        "`inputs`: the arguments of a call contain a secret or personal data").not_run()
        .action("Send the call without secrets and personal data");
    INPUT_UNCHECKED = Failure::new("input-unchecked", INVALID_PARAMS, InvalidInput,
        "`inputs`: the arguments of a call cannot be checked").not_run()
        .action("Send smaller arguments that are nested less deep");
    PLAN_UNKNOWN = Failure::new("plan-unknown", INVALID_PARAMS, InvalidInput,
        "`_meta` names a plan that `budgets.chains` does not have").not_run()
        .action("Name a plan of the configuration, or list the steps");
    CONTEXT_MISSING = Failure::new("context-missing", INVALID_REQUEST, PermissionDenied,
        "`context`, `assertion`: the access token lacks a claim that servers must get").not_run()
        .action("Get a token with this claim");
    METHOD_UNKNOWN = Failure::new("method-unknown", METHOD_NOT_FOUND, InvalidInput,
        "the revision or the server does not have the method").not_run()
        .action("Use a method of your revision that the server declares");
    HEADERS_DIFFER = Failure::new("headers-differ", HEADER_MISMATCH, InvalidInput,
        "a header contradicts the argument that it repeats (2026-07-28)").not_run()
        .action("List the tools again, and repeat arguments in headers as their schemas say");
    CAPABILITY_MISSING = Failure::new("capability-missing", MISSING_CLIENT_CAPABILITY, InvalidInput,
        "the server needs a capability that the client did not declare (2026-07-28)").not_run()
        .action("Declare the capability that `requiredCapabilities` names, or use a client that has it");
    ALREADY_INITIALIZED = Failure::new("already-initialized", INVALID_REQUEST, InvalidInput,
        "a session is initialized a second time").not_run()
        .action("Go on with the session, or begin another one");
    STATE_FOREIGN = Failure::new("state-foreign", INVALID_PARAMS, InvalidInput,
        "`requestState` belongs to another request or another client").not_run()
        .action("Send the `requestState` that came with the question, and the same parameters");
    STATE_EXPIRED = Failure::new("state-expired", INVALID_PARAMS, InvalidInput,
        "the answers to questions came after `limits.answer`").unknown()
        .action("Check what the server did. If the request did not run, send it without `requestState`");
    QUESTION_UNANSWERED = Failure::new("question-unanswered", INTERNAL_ERROR, InvalidInput,
        "the client did not answer a question that the server needs answered").unknown()
        .action("Answer the server's questions, with a client that declares the capability");
    TASK_OVER = Failure::new("task-over", INVALID_PARAMS, InvalidInput, "`tasks/cancel` names a task that has ended")
        .action("Ask for the result of the task");
    TASK_CANCELLED = Failure::new("task-cancelled", INVALID_PARAMS, InvalidInput,
        "the result of a task is asked for that was cancelled").unknown()
        .action("Check what the server did. If something is missing, send a new call");
    IDEMPOTENCY_KEY_INVALID = Failure::new("idempotency-key-invalid", INVALID_PARAMS, InvalidInput,
        "the idempotency key of a call is not usable").not_run()
        .action("Send one key of 1 to 255 visible characters, in one place");
    IDEMPOTENCY_KEY_MISSING = Failure::new("idempotency-key-missing", INVALID_PARAMS, InvalidInput,
        "a call that may write has no idempotency key").not_run()
        .action("Send the call with an `idempotency_key`: a new random one for each thing to do");
    IDEMPOTENCY_CONFLICT = Failure::new("idempotency-conflict", INVALID_PARAMS, InvalidInput,
        "the idempotency key was used for a call with other arguments").not_run()
        .action("Use another key for another call, or send the same arguments again");
    IDEMPOTENCY_OTHER_FORM = Failure::new("idempotency-other-form", INVALID_PARAMS, InvalidInput,
        "the call with this idempotency key was answered in a form that the client's revision does not have")
        .action("Send the call with the revision that it was first sent with");

    CONFIRMATION_IMPOSSIBLE = Failure::new("confirmation-impossible", INVALID_REQUEST, PermissionDenied,
        "`confirm`: the user must agree to the call, and the client cannot ask").not_run()
        .action("Use a client that declares `elicitation`");
    CONFIRMATION_DECLINED = Failure::new("confirmation-declined", INVALID_REQUEST, PermissionDenied,
        "`confirm`: the user does not agree to the call").not_run()
        .action("Do not send the call again. Ask the user what to do");
    CONFIRMATION_EXPIRED = Failure::new("confirmation-expired", INVALID_REQUEST, PermissionDenied,
        "`confirm`: the user gave no answer in time, or the answer was used before").not_run()
        .action("If the user still wants it, send the call again without `requestState` and `inputResponses`");
    CONFIRMATION_FOREIGN = Failure::new("confirmation-foreign", INVALID_REQUEST, PermissionDenied,
        "`confirm`: the user's answer was given for another call or to another client").not_run()
        .action("Send exactly the call that the user agreed to");
    SEQUENCE_DENIED = Failure::new("sequence-denied", INVALID_REQUEST, PermissionDenied,
        "`sequences`: the tool must not be called after another one that was called").not_run().retry(60_000)
        .action("Go on without this tool, or wait `retry_after_ms`");
    SEQUENCE_FULL = Failure::new("sequence-full", INTERNAL_ERROR, ResourceExhausted,
        "`sequences`: the limit of remembered calls is reached").not_run().retry(60_000);

    // What is asked for is not there.
    ITEM_UNKNOWN = Failure::new("item-unknown", INVALID_PARAMS, ResourceNotFound,
        "no server has a tool or prompt of this name, or the client may not use it").not_run();
    RESOURCE_UNKNOWN = Failure::new("resource-unknown", INVALID_PARAMS, ResourceNotFound,
        "no server has a resource of this URI, or the client may not use it; -32002 before 2026-07-28").not_run();
    SERVER_GONE = Failure::new("server-gone", INTERNAL_ERROR, ResourceNotFound,
        "the configuration no longer has the server of this address").not_run()
        .action("Ask those who run the gateway for the address");

    TASK_UNKNOWN = Failure::new("task-unknown", INVALID_PARAMS, ResourceNotFound,
        "`tasks`: the task does not exist, its time is over, or it belongs to another client").not_run()
        .action("Check what the call did. If it did not run, send it again");

    // The client may not.
    TOKEN_EXPIRED = Failure::new("token-expired", INVALID_REQUEST, PermissionDenied,
        "over a WebSocket: the token or the certificate that opened it has expired").not_run()
        .action("Connect again with a new token or certificate");
    TOKEN_INVALID = Failure::http("token-invalid", 401, PermissionDenied,
        "a request has no token, or one that is not accepted").not_run()
        .action("Get a token of the issuer that the page in `WWW-Authenticate` names");
    TOKEN_UNCHECKED = Failure::http("token-unchecked", 503, UpstreamFailure,
        "`auth.introspection`: the authorization server cannot be asked about a token").not_run().retry(1000);
    USER_NEEDED = Failure::new("user-needed", INVALID_REQUEST, PermissionDenied,
        "`credentials`, `assertion`: the server must learn which user asks, and the request has no user's token").not_run()
        .action("Connect over HTTP with a token of the issuer that `auth` names");
    EXCHANGE_DENIED = Failure::new("exchange-denied", INVALID_REQUEST, PermissionDenied,
        "`credentials`: the authorization server gives this user no token for the server").not_run()
        .action("Ask those who run the server for access, or connect as a user who has it");
    CONSENT_NEEDED = Failure::new("consent-needed", INVALID_REQUEST, PermissionDenied,
        "`credentials`: the user has not yet consented that the gateway calls the server for them").not_run()
        .action("Let the user open `url` in a browser and consent, then send the request again");
    CONSENT_ASKED = Failure::new("consent-asked", URL_ELICITATION_REQUIRED, PermissionDenied,
        "`credentials`: as `consent-needed`, for a client of 2025-11-25 that can open an address for its user").not_run()
        .action("Open the address of `elicitations` for the user, then send the request again");
    SERVER_WANTS_SCOPE = Failure::new("server-wants-scope", INVALID_REQUEST, PermissionDenied,
        "`credentials`: the server wants a scope that the gateway's token lacks").not_run()
        .action("Ask those who run the gateway to add `required_scopes` to `credentials.scopes`");
    SCOPE_MISSING = Failure::http("scope-missing", 403, PermissionDenied, "the token lacks a scope").not_run()
        .action("Get a token with the scopes that `WWW-Authenticate` names");

    // Something is used up.
    SERVER_BUSY = Failure::new("server-busy", INTERNAL_ERROR, ResourceExhausted,
        "the server answered with HTTP status 429").not_run().retry(1000);
    TOO_MANY_WAIT = Failure::new("too-many-wait", INTERNAL_ERROR, ResourceExhausted,
        "too many requests wait for answers to questions; this one is given up").unknown()
        .action("Check what the server did. If the request did not run, send it again later");
    QUESTIONS_TOO_LARGE = Failure::new("questions-too-large", INTERNAL_ERROR, ResourceExhausted,
        "the questions of the server are too large for one call, which is given up").unknown()
        .action("Check what the server did, and report it to those who run the server: it must ask for less");
    TOO_MANY_CONSENTS = Failure::new("too-many-consents", INTERNAL_ERROR, ResourceExhausted,
        "`credentials`: the limit of open questions for a consent is reached").not_run().retry(60_000);
    TOO_MANY_SUBSCRIPTIONS = Failure::new("too-many-subscriptions", INTERNAL_ERROR, ResourceExhausted,
        "the limit of subscriptions is reached").not_run()
        .action("End subscriptions that are no longer needed, or name fewer resources");
    TOO_MANY_REQUESTS = Failure::http("too-many-requests", 429, ResourceExhausted,
        "the session has too many requests under way").not_run().retry(1000);
    TOO_MANY_SESSIONS = Failure::http("too-many-sessions", 503, ResourceExhausted,
        "the limit of sessions is reached").not_run().retry(1000);
    REQUEST_TOO_LARGE = Failure::http("request-too-large", 413, ResourceExhausted,
        "a request is larger than the gateway accepts").not_run()
        .action("Send less in one request");
    IDEMPOTENCY_TOO_LARGE = Failure::new("idempotency-too-large", INTERNAL_ERROR, ResourceExhausted,
        "the call with this idempotency key has run, and its result was too large to keep")
        .action("Do not send the call again: it has run. Read what it changed");
    IDEMPOTENCY_FULL = Failure::new("idempotency-full", INTERNAL_ERROR, ResourceExhausted,
        "as many idempotency keys are kept as the configuration allows").not_run().retry(60_000);
    IDEMPOTENCY_BUSY = Failure::new("idempotency-busy", INTERNAL_ERROR, ResourceExhausted,
        "as many calls with an idempotency key run as may run at the same time").not_run().retry(1000);
    BUDGET_TOO_SMALL = Failure::new("budget-too-small", INTERNAL_ERROR, ResourceExhausted,
        "`budgets`: less time is left than the tool typically takes").not_run()
        .action("Begin a new chain or session with a larger budget, or leave this call out");
    BUDGET_USED_UP = Failure::new("budget-used-up", INTERNAL_ERROR, ResourceExhausted,
        "`budgets`: the time of the chain, the session or the client was over before the answer").unknown()
        .action("Check what the server did. Give the next chain more time");
    WAITED_TOO_LONG = Failure::new("waited-too-long", INTERNAL_ERROR, ResourceExhausted,
        "`budgets`: the time of a call was over while it waited for an equal one that runs").not_run().retry(1000)
        .action("Send the same call again later; with the same idempotency key, if it has one");
    POLLED_TOO_OFTEN = Failure::new("polled-too-often", INTERNAL_ERROR, ResourceExhausted,
        "`budgets.poll_interval`, `tasks.poll`: a task was polled a moment ago").not_run().retry(1000);
    TOO_MANY_TASKS = Failure::new("too-many-tasks", INTERNAL_ERROR, ResourceExhausted,
        "`tasks.per_principal`: a call is to become a task, and the limit of tasks is reached").not_run().retry(5000)
        .action("Cancel tasks that are no longer needed, wait for one to expire, or send the call without `task`");
    TASK_TOO_LARGE = Failure::new("task-too-large", INTERNAL_ERROR, ResourceExhausted,
        "`tasks`: the call has run, and there is no room for its result")
        .action("Do not send the call again: it has run. Read what it changed");
    RATE_LIMITED = Failure::new("rate-limited", INTERNAL_ERROR, ResourceExhausted,
        "`traffic.rates`: requests come too often").not_run().retry(1000);
    COST_USED_UP = Failure::new("cost-used-up", INTERNAL_ERROR, ResourceExhausted,
        "`traffic.costs`: the call costs more than its principal has left").not_run().retry(60_000)
        .action("Wait `retry_after_ms`, or call a tool that costs less");
    TOO_MANY_AT_ONCE = Failure::new("too-many-at-once", INTERNAL_ERROR, ResourceExhausted,
        "`traffic.concurrency`: all places of the server are taken").not_run().retry(1000);

    LOCK_CHANGED = Failure::new("lock-changed", INVALID_REQUEST, PermissionDenied,
        "`lock`: what is asked for changed since it was locked, or is not locked").not_run()
        .action("Go on without it, and ask those who run the gateway to review it and to run `proof lock --approve`");
    MANIFEST_REFUSED = Failure::new("manifest-refused", INVALID_REQUEST, PermissionDenied,
        "`lock.manifests`: the manifest of the server is not verified, has expired, or is refused").not_run()
        .action("Go on without this server, and tell those who run the gateway to get a manifest of its publisher");
    INTERCEPTOR_REFUSED = Failure::new("interceptor-refused", INVALID_REQUEST, PermissionDenied,
        "`interceptors`: one of them does not allow the call").not_run()
        .action("Read the reason in the message, and send a call that the interceptor allows");
    RESULT_REFUSED = Failure::new("result-refused", INTERNAL_ERROR, PermissionDenied,
        "`interceptors`: one of them does not allow the result").unknown()
        .action("Read the reason in the message: the server may have run the call");
    TASK_UNSEEN = Failure::new("task-unseen", INTERNAL_ERROR, InvalidInput,
        "`interceptors`: a call is or became a task, whose result they would not see")
        .action("Send the call without `task`. If the server made a task of it, look what it did");

    TASK_UNFINISHED = Failure::new("task-unfinished", INTERNAL_ERROR, InvalidInput,
        "`tasks`: a call that is a task of the gateway asks its client something, or became a task of its server").unknown()
        .action("Check what the server did. If it did not run, send the call without `task` or the tasks extension");

    // The server behind the gateway failed.
    BREAKER_OPEN = Failure::new("breaker-open", INTERNAL_ERROR, UpstreamFailure,
        "`traffic.breakers`: the server has failed too often, nothing is sent to it for a while").not_run().retry(1000)
        .action("Wait `retry_after_ms`, then try again");
    TOOL_OVER_TIME = Failure::new("tool-over-time", INTERNAL_ERROR, UpstreamFailure,
        "`budgets`: the tool gave no answer within its time").unknown();
    NOT_BEGUN_IN_TIME = Failure::new("not-begun-in-time", INTERNAL_ERROR, UpstreamFailure,
        "`budgets`: the server did not get the call within its time").not_run().retry(1000);
    SERVER_UNREACHABLE = Failure::new("server-unreachable", INTERNAL_ERROR, UpstreamFailure,
        "the server did not get the request").not_run().retry(500);
    EGRESS_REFUSED = Failure::new("egress-refused", INTERNAL_ERROR, UpstreamFailure,
        "`egress`: the gateway may not connect to the server's address").not_run()
        .action("Report it to those who run the gateway: its log says which address was refused, and by which rule");
    SESSION_ENDED = Failure::new("session-ended", INTERNAL_ERROR, UpstreamFailure,
        "the server ended the session before the request").not_run().retry(500);
    NO_ANSWER = Failure::new("no-answer", INTERNAL_ERROR, UpstreamFailure,
        "the connection broke before the answer").unknown();
    TIMED_OUT = Failure::new("timed-out", INTERNAL_ERROR, UpstreamFailure,
        "the server gave no answer within `limits.request` or `limits.request_total`").unknown();
    STATUS_REFUSED = Failure::new("status-refused", INTERNAL_ERROR, UpstreamFailure,
        "the server answered with an HTTP status from 400 to 499 and no message").not_run()
        .action("Report it to those who run the gateway: the server does not accept its requests");
    STATUS_FAILED = Failure::new("status-failed", INTERNAL_ERROR, UpstreamFailure,
        "the server answered with another HTTP status and no message").unknown();
    NO_SERVER_TOKEN = Failure::new("no-server-token", INTERNAL_ERROR, UpstreamFailure,
        "`credentials`: the authorization server of the server gives no token at this moment").not_run().retry(2000);
    GATEWAY_NOT_ACCEPTED = Failure::new("gateway-not-accepted", INTERNAL_ERROR, UpstreamFailure,
        "`credentials`: the authorization server does not accept the gateway or its request").not_run()
        .action("Report it to those who run the gateway: `credentials` must be corrected");
    SERVER_TOKEN_REFUSED = Failure::new("server-token-refused", INTERNAL_ERROR, UpstreamFailure,
        "`credentials`: the server refuses the gateway's token (401), also a new one").not_run()
        .action("Report it to those who run the gateway: issuer, audience and scopes must be what the server expects");
    LIST_REFUSED = Failure::new("list-refused", INTERNAL_ERROR, UpstreamFailure,
        "the server answered a request for one of its lists with an error").not_run().retry(2000);
    LIST_MISSING = Failure::new("list-missing", INTERNAL_ERROR, UpstreamFailure,
        "the name is in no list, and the list of a server is missing").not_run().retry(1000);
    TOOLS_NOT_KNOWN = Failure::new("tools-not-known", INTERNAL_ERROR, UpstreamFailure,
        "headers repeat arguments, and the tools of the server are not known yet (2026-07-28)").not_run().retry(1000);
    ANSWER_INVALID = Failure::new("answer-invalid", INTERNAL_ERROR, UpstreamFailure,
        "the server answered with something that its revision does not have").unknown();
    ASKS_WITHOUT_END = Failure::new("asks-without-end", INTERNAL_ERROR, UpstreamFailure,
        "the server asks again and again").unknown();
    TASK_NOT_SHOWN = Failure::new("task-not-shown", INTERNAL_ERROR, UpstreamFailure,
        "the server made a task, which the client's revision cannot follow").unknown()
        .action("Check what the server did, or use a client of a revision that has tasks");
    NOT_ACKNOWLEDGED = Failure::new("not-acknowledged", INTERNAL_ERROR, UpstreamFailure,
        "the server does not acknowledge a subscription").not_run();
    IDEMPOTENCY_UNKNOWN = Failure::new("idempotency-unknown", INTERNAL_ERROR, UpstreamFailure,
        "the outcome of the call with this idempotency key is unknown").unknown()
        .action("Check what the server did. If the call did not run, send it with another key");

    IDEMPOTENCY_NOT_WRITTEN = Failure::new("idempotency-not-written", INTERNAL_ERROR, InternalError,
        "`store` cannot be written, so that the call could run twice").not_run().retry(5000);
    STORE_AWAY = Failure::new("store-away", INTERNAL_ERROR, InternalError,
        "`store` cannot be reached: the call could run twice, or nobody knows of its user's consent").not_run().retry(2000)
        .action("Wait `retry_after_ms`, then send the same call, with its idempotency key if it had one");
    REPLICA_AWAY = Failure::new("replica-away", INTERNAL_ERROR, InternalError,
        "`replicas`: the gateway that has the session, question or task cannot be reached").not_run().retry(1000)
        .action("Wait `retry_after_ms`, then send the same request again");
    REPLICA_LOST = Failure::new("replica-lost", INTERNAL_ERROR, UpstreamFailure,
        "`replicas`: the gateway that has the session, question or task gave no answer").unknown();
    STORE_RECOVERING = Failure::new("store-recovering", INTERNAL_ERROR, InternalError,
        "`store` lost its memory or restarted; gateways write again what they know").not_run().retry(3000)
        .action("Wait `retry_after_ms`, then send the same call with the same idempotency key");

    // What a server itself says. Only `errors: {as: result}` shows these.
    SERVER_SAYS_INVALID = Failure::new("server-says-invalid", INVALID_PARAMS, InvalidInput,
        "`errors: {as: result}`: the server refused the arguments");
    SERVER_SAYS_UNKNOWN = Failure::new("server-says-unknown", net::service::code::RESOURCE_NOT_FOUND, ResourceNotFound,
        "`errors: {as: result}`: the server does not have what the call names");
    SERVER_SAYS_ERROR = Failure::new("server-says-error", INTERNAL_ERROR, UpstreamFailure,
        "`errors: {as: result}`: the server answered with any other error")
        .action("Read the message of the server. Check what it did before you try again");

    // What a server says is not passed on.
    RESULT_TOO_LARGE = Failure::new("result-too-large", INTERNAL_ERROR, ResourceExhausted,
        "`sanitize`: the result is larger than `sanitize.result_bytes`").unknown()
        .action("Ask for less at a time: the server may have run the call");
    RESULT_FOREIGN = Failure::new("result-foreign", INTERNAL_ERROR, PermissionDenied,
        "`sanitize.tenants`: the whole result belongs to another tenant").unknown()
        .action("Ask for something of your own tenant");
    POLICY_UNAVAILABLE = Failure::new("policy-unavailable", INTERNAL_ERROR, UpstreamFailure,
        "`authzen`: the policy decision point gave no usable answer, and without one nothing is allowed").not_run().retry(1000)
        .action("Try again later, and tell those who run the gateway that the policy decision point fails");
    OUTPUT_INVALID = Failure::new("output-invalid", INTERNAL_ERROR, UpstreamFailure,
        "`outputs`: the result does not conform to the output schema of its tool").unknown()
        .action("Check what the server did. Report it to those who run the server: its schema or its result is wrong");
    OUTPUT_SCHEMA_UNUSABLE = Failure::new("output-schema-unusable", INTERNAL_ERROR, UpstreamFailure,
        "`outputs`: the output schema of the tool is invalid, too large, or refers to other documents").not_run()
        .action("Report it to those who run the server: its schema is wrong");
    RESULT_UNREADABLE = Failure::new("result-unreadable", INTERNAL_ERROR, UpstreamFailure,
        "`sanitize`: the result cannot be checked").unknown();

    // The gateway failed.
    INTERCEPTOR_FAILED = Failure::new("interceptor-failed", INTERNAL_ERROR, InternalError,
        "`interceptors`: one that has to let the call pass gave no usable answer").not_run().retry(1000)
        .action("Try again later, and tell those who run the gateway that an interceptor fails");
    RESULT_UNSEEN = Failure::new("result-unseen", INTERNAL_ERROR, InternalError,
        "`interceptors`: one that has to see the result gave no usable answer").unknown()
        .action("Check what the server did, and tell those who run the gateway that an interceptor fails");
    NOT_RECORDED = Failure::new("not-recorded", INTERNAL_ERROR, InternalError,
        "`audit.required`: the request cannot be recorded").not_run().retry(5000)
        .action("Try again later, and tell those who run the gateway that its audit log cannot be written");
    ANSWER_WITHHELD = Failure::new("answer-withheld", INTERNAL_ERROR, InternalError,
        "`audit.required`: the answer cannot be recorded").unknown();
    SESSION_NEEDED = Failure::new("session-needed", INTERNAL_ERROR, InternalError,
        "a request of a revision with sessions came without one").not_run();
    GATEWAY_FAILED = Failure::new("gateway-failed", INTERNAL_ERROR, InternalError, "a bug in the gateway").unknown();
}

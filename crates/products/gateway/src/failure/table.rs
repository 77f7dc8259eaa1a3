//! The rows. What a client may not use has the row of what does not exist: the difference would tell.

use net::service::code::{INTERNAL_ERROR, INVALID_PARAMS};

use super::Category::{InvalidInput, ResourceExhausted, UpstreamFailure};
use super::Failure;

pub(crate) const IDEMPOTENCY_KEY_INVALID: Failure = Failure::new(
    "idempotency-key-invalid",
    INVALID_PARAMS,
    InvalidInput,
    "the idempotency key of a call is not usable",
)
.not_run()
.action("Send one key of 1 to 255 visible characters, in one place");
pub(crate) const IDEMPOTENCY_KEY_MISSING: Failure = Failure::new(
    "idempotency-key-missing",
    INVALID_PARAMS,
    InvalidInput,
    "a call that may write has no idempotency key",
)
.not_run()
.action("Send the call with an `idempotency_key`: a new random one for each thing to do");
pub(crate) const IDEMPOTENCY_CONFLICT: Failure = Failure::new(
    "idempotency-conflict",
    INVALID_PARAMS,
    InvalidInput,
    "the idempotency key was used for a call with other arguments",
)
.not_run()
.action("Use another key for another call, or send the same arguments again");
pub(crate) const IDEMPOTENCY_UNKNOWN: Failure = Failure::new(
    "idempotency-unknown",
    INTERNAL_ERROR,
    UpstreamFailure,
    "nobody knows whether the call with this idempotency key has run",
)
.unknown()
.action("Look what the server did. If the call did not run, send it with another key");
pub(crate) const IDEMPOTENCY_TOO_LARGE: Failure = Failure::new(
    "idempotency-too-large",
    INTERNAL_ERROR,
    ResourceExhausted,
    "the call with this idempotency key has run, and its result was too large to keep",
)
.action("Do not send the call again: it has run. Read what it changed");
pub(crate) const IDEMPOTENCY_OTHER_FORM: Failure = Failure::new(
    "idempotency-other-form",
    INVALID_PARAMS,
    InvalidInput,
    "the call with this idempotency key was answered in a form that the client's revision does not have",
)
.action("Send the call with the revision that it was first sent with");
pub(crate) const IDEMPOTENCY_FULL: Failure = Failure::new(
    "idempotency-full",
    INTERNAL_ERROR,
    ResourceExhausted,
    "as many idempotency keys are kept as the configuration allows",
)
.not_run()
.retry(60_000);

pub(super) const ALL: &[Failure] = &[
    IDEMPOTENCY_KEY_INVALID,
    IDEMPOTENCY_KEY_MISSING,
    IDEMPOTENCY_CONFLICT,
    IDEMPOTENCY_UNKNOWN,
    IDEMPOTENCY_TOO_LARGE,
    IDEMPOTENCY_OTHER_FORM,
    IDEMPOTENCY_FULL,
];

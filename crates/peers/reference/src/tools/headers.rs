//! Arguments mirrored into headers (basic/transports/streamable-http#custom-headers-from-tool-parameters).

use net::service::{Call, RpcError, code};
use serde_json::Value;
use wire::Era;
use wire::http::{Annotation, PARAM_PREFIX, says};

/// Compares the headers of a modern HTTP call with the arguments they mirror.
pub(super) fn check(mirrored: &[Annotation], call: &Call, arguments: &Value) -> Result<(), RpcError> {
    if call.context.era() != Era::Modern || call.context.headers.is_none() {
        return Ok(());
    }
    for annotation in mirrored {
        let value = annotation.path.iter().try_fold(arguments, |value, step| value.get(step));
        check_one(call, &annotation.name, value.filter(|value| !value.is_null()))?;
    }
    Ok(())
}

fn check_one(call: &Call, suffix: &str, value: Option<&Value>) -> Result<(), RpcError> {
    let title = format!("{PARAM_PREFIX}{suffix}");
    let mismatch = |what: &str| RpcError::new(code::HEADER_MISMATCH, format!("Header mismatch: {title} {what}"));
    let mut headers = call.context.headers.iter().flat_map(|headers| headers.get_all(&title));
    match (headers.next(), value) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(mismatch("is missing")),
        (Some(_), None) => Err(mismatch("mirrors an argument that is not there")),
        (Some(_), Some(_)) if headers.next().is_some() => Err(mismatch("stands twice")),
        (Some(header), Some(value)) => {
            let text = header.to_str().map_err(|_| mismatch("has characters that a header may not have"))?;
            if says(text, value) { Ok(()) } else { Err(mismatch("is not what the body says")) }
        }
    }
}

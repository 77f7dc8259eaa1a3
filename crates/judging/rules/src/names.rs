//! Names in requests that have a meaning only together with the rules that judge them: probes use them.

/// Names that every object of a language has, and no method.
pub const OF_EVERY_OBJECT: [&str; 4] = ["constructor", "toString", "__proto__", "__class__"];

/// A member of `params` that no method has.
pub const UNKNOWN_MEMBER: &str = "proofhouse/unknown";

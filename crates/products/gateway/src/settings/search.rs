//! When clients search for tools instead of listing them. Values only.

/// How a long list of tools is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchSettings {
    /// With more tools than these, a client sees those that search.
    pub above: usize,
    /// How many tools are found, unless the client says how many.
    pub results: usize,
    /// Tools that are listed in any case, by the names that clients see, with `*`.
    pub keep: Vec<String>,
}

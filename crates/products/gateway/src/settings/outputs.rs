//! How results of tools are held against their output schemas. Values only.

/// How results are held against the schemas that servers list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSettings {
    /// For all tools that no pattern fits.
    pub schema: SchemaMode,
    /// Patterns of tools' names as clients see them, in their order: the first that fits counts.
    pub tools: Vec<(String, SchemaMode)>,
}

/// What becomes of a result that does not conform to the schema of its tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaMode {
    /// It is an error.
    Enforce,
    /// It is passed on, and says so in `_meta`.
    Mark,
    /// It is not looked at.
    Off,
}

//! What of arguments reaches servers. Values only.

use super::Personal;

/// What becomes of arguments before a server gets them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputSettings {
    /// What holds for all tools.
    pub rule: InputRule,
    /// The same for some tools, by the names that clients see, with `*`. The first that fits counts.
    pub tools: Vec<(String, InputRule)>,
}

/// What becomes of the arguments of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputRule {
    /// Members that the schema of the tool does not name.
    pub unknown: UnknownInputs,
    /// Secrets and personal data.
    pub secrets: SecretInputs,
    /// Which personal data.
    pub personal: Vec<Personal>,
}

/// What becomes of members that the schema of a tool does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownInputs {
    /// They are passed on.
    #[default]
    Pass,
    /// They are left out.
    Drop,
    /// The call is not made.
    Refuse,
}

/// What becomes of secrets and personal data in arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecretInputs {
    /// They are passed on.
    #[default]
    Pass,
    /// Something else stands in their place.
    Mask,
    /// The call is not made.
    Refuse,
}

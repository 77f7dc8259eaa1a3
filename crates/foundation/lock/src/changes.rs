//! One change of a surface, as both views see it: whether it breaks callers, and which class of drift it is. Must not know
//! how changes are found.

use std::fmt;

pub use wire::Severity;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What changed: `tool echo`, `capability resources`, `server`.
    pub of: String,
    /// The change in words.
    pub what: String,
    /// Whether it breaks callers.
    pub breaks: bool,
    /// The class of drift.
    pub class: Class,
}

macro_rules! classes {
    ($($(#[doc = $doc:literal])+ $name:ident $text:literal $severity:ident,)*) => {
        /// A class of drift.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Class {
            $($(#[doc = $doc])+ $name,)*
        }

        impl Class {
            /// Every class.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The name in reports.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// How much it matters.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }

            /// What it means, in one line.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc),+).trim(),)* }
            }
        }
    };
}

classes! {
    /// The version is the one that was locked, its definitions are others.
    ImmutableVersion "immutable-version" High,
    /// Two listings of one server differ, or listings for two client names.
    Unstable "unstable" High,
    /// Another address, package, registry name or server name.
    Identity "identity" High,
    /// Another command, other arguments or other variables.
    Launch "launch" High,
    /// Other instructions for the model.
    Instructions "instructions" High,
    /// Two items of one kind have the same name.
    RepeatedName "repeated-name" High,
    /// A new item that was not reviewed.
    Added "added" High,
    /// Another description, title or text in a schema.
    Description "description" High,
    /// A new required argument, or one that is required now.
    RequiredParameter "required-parameter" High,
    /// An annotation promises less.
    WeakenedAnnotation "weakened-annotation" High,
    /// A new optional argument, or one that is optional now.
    OptionalParameter "optional-parameter" Medium,
    /// An argument is gone.
    RemovedParameter "removed-parameter" Medium,
    /// Other values of an `enum`.
    Enum "enum" Medium,
    /// Another default.
    Default "default" Medium,
    /// Another keyword of the arguments' schema.
    InputSchema "input-schema" Medium,
    /// Another schema of results.
    OutputSchema "output-schema" Medium,
    /// The same item under another name.
    Renamed "renamed" High,
    /// An item is gone.
    Removed "removed" Medium,
    /// Any other member of an item.
    Other "other" Medium,
    /// An annotation promises more.
    StrengthenedAnnotation "strengthened-annotation" Low,
    /// Another capability of the server.
    Capability "capability" Low,
    /// Another protocol version.
    ProtocolVersion "protocol-version" Low,
    /// Another version of the server, its definitions unchanged.
    ServerVersion "server-version" Info,
    /// Another `_meta`, which no model sees.
    Meta "meta" Info,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Change {
    /// How much the change matters.
    pub const fn severity(&self) -> Severity {
        self.class.severity()
    }
}

//! How large everything may become that a stranger's description decides.

/// The bounds of reading. [`Default`] is what products use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many values the description may have.
    pub values: usize,
    /// How deep they may nest.
    pub depth: usize,
    /// How many operations are read; further ones are left out.
    pub operations: usize,
    /// How many operations are looked at: paths may lead to the same ones.
    pub heads: usize,
    /// How many parameters an operation may have.
    pub parameters: usize,
    /// How large the schemas of one operation's arguments may be, in bytes of JSON: what is beyond is cut.
    pub input_bytes: usize,
    /// How large the schema of an answer may be to be kept, in bytes of JSON.
    pub answer_bytes: usize,
    /// How large the schema of an answer may be that is asked for alone, in bytes of JSON.
    pub whole_bytes: usize,
    /// How large all kept schemas may be together, in bytes of JSON. Then only the operations' own parts are kept.
    pub total_bytes: usize,
    /// How much memory all operations may take, in bytes, about: further ones are left out.
    pub memory: usize,
    /// How long the description of an argument may be, in characters.
    pub text: usize,
    /// How long a text of an operation may be that is kept whole, in characters: longer ones are cut.
    pub prose: usize,
    /// How many bytes a name, a path or an address may have: longer ones stand for nothing.
    pub name: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            values: 12_000_000,
            depth: 120,
            operations: 5_000,
            heads: 60_000,
            parameters: 500,
            input_bytes: 32 << 10,
            answer_bytes: 8 << 10,
            whole_bytes: 1 << 20,
            total_bytes: 16 << 20,
            memory: 96 << 20,
            text: 200,
            prose: 20_000,
            name: 1_000,
        }
    }
}

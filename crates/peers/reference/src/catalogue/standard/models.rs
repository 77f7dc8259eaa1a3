//! Models to choose from. There is nothing behind them.

use crate::catalogue::Model;

pub(super) fn models() -> Vec<Model> {
    vec![
        Model::new("proof-small", "Quick, and short of memory", 8_192),
        Model::new("proof-medium", "For most things", 131_072),
        Model::new("proof-large", "Reads whole books", 1_048_576),
    ]
}

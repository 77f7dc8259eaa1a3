//! Pages under `server`: what servers offer.

pub(crate) mod catalogue;
pub(crate) mod discover;
pub(crate) mod internal;
pub(crate) mod items;
pub(crate) mod listing;
pub(crate) mod prompts;
pub(crate) mod resources;
pub(crate) mod side_effects;
pub(crate) mod tools;
pub(crate) mod utilities;

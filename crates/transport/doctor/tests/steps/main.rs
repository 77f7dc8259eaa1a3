//! Servers that are broken at one step: exactly that step is named, with what fixes it. Servers in order are clean.

mod commands;
mod served;
mod tokens;
mod urls;

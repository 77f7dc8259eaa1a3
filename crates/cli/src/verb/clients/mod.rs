//! Verbs that read and change configurations of clients: `add`, `remove`, `undo`, `list`, `sync`, `doctor`, `clients` and
//! `config effective`.

mod add;
mod api;
mod choices;
pub(in crate::verb) mod connect;
mod doctor;
mod drafts;
mod effective;
mod files;
mod journal;
mod list;
pub(in crate::verb) mod machine;
pub(in crate::verb) mod offered;
mod outcome;
mod remove;
mod restrictions;
pub(in crate::verb) mod secrets;
mod strangers;
mod sync;
mod syntax;
mod table;
mod target;
mod undo;
mod unset;
mod verify;
mod write;

pub(crate) use self::doctor::run as doctor;
pub(crate) use add::run as add;
pub(crate) use effective::run as effective;
pub(crate) use list::run as list;
pub(crate) use remove::run as remove;
pub(crate) use sync::run as sync;
pub(crate) use table::run as clients;
pub(crate) use undo::run as undo;

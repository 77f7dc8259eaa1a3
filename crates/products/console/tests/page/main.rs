//! The page's server, used over HTTP as a browser would, on the reference server in this process.

mod access;
mod actions;
mod apps;
mod feed;
mod hostile;
mod kept;
mod sides;
mod support;
mod tasks;

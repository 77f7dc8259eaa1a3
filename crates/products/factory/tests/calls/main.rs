//! Calls of an API that a test plays: what it gets, and what of its answers comes back.

mod accounts;
mod answers;
mod authorized;
mod composed;
mod confined;
mod consented;
mod paged;
mod repeated;
mod scene;

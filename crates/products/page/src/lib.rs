//! What serves a page to the person who started the program: its files, the token of the launch, what is refused before anything
//! is read, and the headers of every answer. Must not know what a page is about.

mod assets;
mod body;
mod entry;
mod failure;
pub mod reply;
mod stream;
mod token;

pub use self::assets::Files;
pub use self::body::{Body, Parameters, byte_at};
pub use self::entry::{Asked, Entry};
pub use self::failure::Failure;
pub use self::stream::{Blocks, block};
pub use self::token::Token;

//! The pages `client/…`: what servers may ask of clients. They bind both: the server in what it asks and in what it makes
//! of the answer, the client in how it answers.

pub(crate) mod elicitation;
pub(crate) mod roots;
pub(crate) mod sampling;

//! Plays a model against tools: asks an endpoint of the user, makes the calls that it asks for over MCP, hands the results back,
//! and records every exchange. It does not judge: [`eval`] scores what was recorded.
//!
//! What tools say goes to the model as results of calls, never as instructions. The key goes to the endpoint's origin alone.

mod answer;
mod asker;
mod assemble;
mod attempt;
mod budget;
mod choice;
mod dialect;
mod endpoint;
mod inquiry;
mod output;
mod recorder;
mod retrying;
mod run;
mod tools;
mod weight;

pub use answer::Answered;
pub use asker::Asker;
pub use budget::{Limits, Price, Spent};
pub use choice::{Choice, Mode};
pub use dialect::{Dialect, RESERVED, Request};
pub use endpoint::{Advice, Endpoint, EndpointError, Options};
pub use inquiry::{Inquiries, Inquiry, Keep, inquire};
pub use recorder::{Conceal, Recorder};
pub use run::{Outcome, Plan, Progress, Question, Stop, run};
pub use tools::Tools;

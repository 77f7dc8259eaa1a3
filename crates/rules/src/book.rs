//! Every rule, page by page. A page that is not listed here does not exist.

use crate::rule::Rule;
use crate::{basic, extensions, legacy, safety, server, shapes};

/// Every page's rules, in the order of the specification.
const PAGES: &[&[Rule]] = &[
    shapes::RULES,
    basic::overview::messages::RULES,
    basic::overview::requests::RULES,
    basic::overview::responses::RULES,
    basic::overview::results::RULES,
    basic::overview::errors::RULES,
    basic::overview::notifications::RULES,
    basic::overview::stateless::RULES,
    basic::overview::schemas::RULES,
    basic::overview::meta::RULES,
    basic::overview::trace_context::RULES,
    basic::overview::icons::RULES,
    basic::versioning::RULES,
    basic::transports::stdio::RULES,
    basic::transports::streamable_http::RULES,
    basic::transports::streamable_http::receiving::RULES,
    basic::transports::streamable_http::metadata::RULES,
    basic::transports::streamable_http::headers::RULES,
    basic::transports::streamable_http::compatibility::RULES,
    basic::patterns::mrtr::RULES,
    basic::patterns::cancellation::RULES,
    basic::patterns::progress::RULES,
    basic::patterns::subscriptions::RULES,
    server::discover::RULES,
    server::tools::lists::RULES,
    server::tools::definitions::RULES,
    server::tools::names::RULES,
    server::tools::headers::RULES,
    server::tools::results::RULES,
    server::tools::calls::RULES,
    server::resources::lists::RULES,
    server::resources::contents::RULES,
    server::resources::errors::RULES,
    server::prompts::lists::RULES,
    server::prompts::messages::RULES,
    server::prompts::errors::RULES,
    server::utilities::caching::RULES,
    server::utilities::completion::RULES,
    server::utilities::logging::RULES,
    server::utilities::pagination::RULES,
    legacy::lifecycle::initialization::RULES,
    legacy::lifecycle::versions::RULES,
    legacy::lifecycle::operation::RULES,
    legacy::messages::RULES,
    legacy::ping::RULES,
    legacy::transports::http_sse::RULES,
    legacy::transports::streamable_http::RULES,
    legacy::transports::listening::RULES,
    legacy::transports::resumption::RULES,
    legacy::transports::sessions::RULES,
    legacy::tasks::negotiation::RULES,
    legacy::tasks::creating::RULES,
    legacy::tasks::lifecycle::RULES,
    legacy::tasks::results::RULES,
    legacy::tasks::associating::RULES,
    legacy::tasks::managing::RULES,
    legacy::tasks::errors::RULES,
    legacy::tasks::clients::RULES,
    extensions::tasks::creating::RULES,
    extensions::tasks::reading::RULES,
    extensions::tasks::inputs::RULES,
    extensions::tasks::errors::RULES,
    extensions::tasks::clients::RULES,
    safety::process::RULES,
    safety::stdout::RULES,
    safety::resilience::RULES,
    safety::http::RULES,
];

/// Every rule, in the order of the specification.
pub fn book() -> impl Iterator<Item = &'static Rule> {
    PAGES.iter().copied().flatten()
}

/// The rule of that id.
pub fn find(id: &str) -> Option<&'static Rule> {
    book().find(|rule| rule.id == id)
}

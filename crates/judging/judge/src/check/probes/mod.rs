//! The scripts, by what they provoke.

mod base;
mod crosstalk;
mod http;
mod learnt;
mod lifecycle;
mod listening;
mod lists;
mod malformed;
mod modern;
mod patterns;
mod prompts;
mod questions;
mod rounds;
mod side_effects;
mod sse;
mod stdio;
mod strain;
mod subscriptions;
mod tasks;
mod tools;

use super::probe::{Access, Probe};

/// The one for servers that demand a token: it says something even where there is none to give.
pub const UNAUTHENTICATED: Probe = http::authorization::TOKENS;

/// Probes that say the first words on a connection and leave it greeted and unharmed, and which session may go on with it then.
/// Those that compare the lists of two connections open none in which tools are called: a call may change a list.
pub const OPENERS: &[(&Probe, Access)] = &[
    (&lifecycle::EARLY, Access::Listening),
    (&modern::STATELESS, Access::Disruptive),
    (&lifecycle::BAD_INITIALIZE, Access::Disruptive),
];

/// Every probe, in the order in which a shared connection plays them.
pub const PROBES: &[&Probe] = &[
    // What it finds out, others on the shared connection use.
    &learnt::LEARN,
    // The longest first: they wait while others work.
    &patterns::CANCEL,
    &questions::ANSWERS,
    &questions::WITHHELD,
    &tasks::core::TASKS,
    &tasks::core::SEVERAL,
    &tasks::extension::TASKS,
    &tasks::times::KEPT,
    &http::streams::RESUME,
    &http::streams::GET,
    &subscriptions::CHANGED,
    &subscriptions::LISTEN,
    &subscriptions::UPDATED,
    // After the others that listen: it subscribes to everything.
    &listening::LISTENING,
    &subscriptions::LEFT_OPEN,
    // The disruptive ones, the gentlest first.
    &stdio::SPLIT,
    &stdio::BYTEWISE,
    &crosstalk::ODD_IDS,
    &stdio::CARRIAGE_RETURN,
    &lifecycle::TWICE,
    &malformed::BATCH,
    &malformed::MALFORMED,
    &stdio::GARBAGE,
    &strain::LARGE,
    &strain::DEEP,
    &base::IDS,
    &base::UNKNOWN_METHOD,
    &base::UNKNOWN_NOTIFICATION,
    &base::CONCURRENT,
    &base::RESERVED_KEYS,
    &base::PARAMS,
    &lifecycle::VERSIONS,
    &lifecycle::EARLY,
    &lifecycle::PLAIN_CLIENT,
    &lifecycle::BAD_INITIALIZE,
    &lifecycle::ASKED_EARLY,
    &modern::METADATA,
    &modern::VERSIONS,
    &modern::CLIENTS,
    &modern::UNDECLARED,
    &modern::REMOVED,
    &modern::STATELESS,
    &modern::GREETED_AS_LEGACY,
    &modern::INCAPABLE,
    &lists::AGAIN,
    &side_effects::AROUND_CALLS,
    &tools::CALLS,
    &tools::ASKING,
    &tools::FAILING,
    &rounds::ROUNDS,
    &questions::ROOTS_CHANGED,
    &questions::MODEST,
    &questions::MODEST_BY_REQUEST,
    &tools::UNKNOWN,
    &tools::REFUSED,
    &tasks::core::UNSUPPORTED,
    &patterns::PROGRESS,
    &patterns::CANCEL_NOTHING,
    &lists::CURSORS,
    &lists::RESOURCES,
    &prompts::PROMPTS,
    &prompts::COMPLETION,
    &lists::LOGGING,
    &crosstalk::SCRIPTS_KEPT,
    &crosstalk::AT_A_TIME,
    &base::LAST_WORDS,
    &stdio::TERMINATE,
    &http::envelope::ORIGINS,
    &http::envelope::ORIGIN_GREETING,
    &http::envelope::HOSTS,
    &http::envelope::NOTIFICATIONS,
    &http::envelope::CONTENT,
    &http::envelope::BODIES,
    &http::envelope::METHODS,
    &http::envelope::SLOWLY,
    &http::envelope::BROKEN,
    &http::exposure::CREDENTIALS,
    &http::exposure::ADDRESS,
    &http::headers::MIRRORED,
    &http::headers::NAMES,
    &http::sessions::IDS,
    &http::sessions::ENDED,
    &http::sessions::UNIQUE,
    &http::sessions::SAME_IDS,
    &http::sessions::VERSION,
    &http::streams::CUT,
    &http::streams::STRANGERS,
    &http::mirrored_arguments::ARGUMENTS,
    &http::credentials::LOGGED,
    &http::older::OLDER_CLIENTS,
    &sse::ORIGINS,
    &UNAUTHENTICATED,
    &http::authorization::IN_QUERY,
    &strain::REPEATED,
    &crosstalk::ODD_TEXT,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::PROBES;

    #[test]
    fn no_two_probes_have_one_name() {
        let mut names = BTreeSet::new();
        for probe in PROBES {
            assert!(names.insert(probe.name), "a second play would take one `{}` for the other", probe.name);
        }
    }
}

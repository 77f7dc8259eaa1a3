//! Former names of faults, which the command line still accepts.

/// The former name and today's.
const RENAMED: &[(&str, &str)] = &[
    ("answers-what-was-taken-back", "answers-cancelled-request"),
    ("asks-at-every-key", "completes-every-keystroke"),
    ("cancels-in-silence", "timeouts-not-cancelled"),
    ("chokes-on-a-late-answer", "fails-on-late-response"),
    ("comes-back-at-once", "retry-time-ignored"),
    ("greets-in-an-old-version", "version-not-latest"),
    ("greets-in-no-version", "version-unknown"),
    ("inputs-astray", "inputs-not-requested"),
    ("mode-refused-oddly", "mode-refusal-code"),
    ("never-comes-back", "never-resumes"),
    ("one-name-for-all-issuers", "client-id-shared"),
    ("pkce-in-the-clear", "pkce-plain"),
    ("pong-with-more", "ping-result-not-empty"),
    ("progress-of-nobody", "progress-token-unknown"),
    ("redirect-in-the-clear", "redirect-without-https"),
    ("rejection-coded-oddly", "rejection-code"),
    ("resumes-from-nowhere", "resumes-without-event-id"),
    ("roots-by-detours", "roots-with-parent-segments"),
    ("roots-refused-oddly", "roots-refusal-code"),
    ("says-too-much", "max-tokens-exceeded"),
    ("takes-any-type", "result-type-ignored"),
    ("task-wish-ignored", "task-request-ignored"),
    ("tasks-looked-at-in-haste", "tasks-polled-without-pause"),
    ("tool-used-all-the-same", "tool-choice-ignored"),
    ("unbalanced-taken", "unbalanced-accepted"),
    ("wants-a-type", "result-type-required"),
];

/// Today's name of a fault.
pub(super) fn current(name: &str) -> &str {
    RENAMED.iter().find(|(former, _)| *former == name).map_or(name, |(_, current)| current)
}

#[cfg(test)]
mod tests {
    use super::super::{all, find};
    use super::RENAMED;

    #[test]
    fn former_names_lead_to_faults_and_are_no_names_of_others() {
        for (former, current) in RENAMED {
            assert_eq!(find(former).map(|fault| fault.name), Some(*current));
            assert!(all().all(|fault| fault.name != *former), "{former} is a name again");
        }
    }
}

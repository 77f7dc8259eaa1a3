//! Former names of faults, which the command line still accepts.

/// The former name and today's.
const RENAMED: &[(&str, &str)] = &[
    ("deaf-after-nul", "stops-at-nul"),
    ("hoards", "memory-leak"),
    ("metadata-nowhere", "metadata-missing"),
    ("no-way-to-a-token", "authorization-undiscoverable"),
    ("tasks-listed-not", "task-list-empty"),
    ("visit-over-for-nobody", "url-completion-unknown-id"),
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

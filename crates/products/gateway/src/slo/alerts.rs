//! When a tool uses its error budget up too fast: several windows, several burn rates, as chapter 5 of Google's Site
//! Reliability Workbook proposes for a budget of 30 days. Values in, values out.

use super::windows::{Counts, D3, H1, H6, M5, M30, Window};

/// What is to be done about a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alert {
    /// To be looked at now.
    Page,
    /// To be looked at in the next days.
    Ticket,
    /// The slowest of a hundred calls take longer than the tool has.
    P99,
}

impl Alert {
    pub(crate) const ALL: [Self; 3] = [Self::Page, Self::Ticket, Self::P99];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Ticket => "ticket",
            Self::P99 => "p99",
        }
    }
}

/// Both windows must burn faster than this: the long one shows that it matters, the short one that it goes on.
pub(crate) struct BurnRule {
    pub(crate) alert: Alert,
    pub(crate) long: Window,
    pub(crate) short: Window,
    /// How many times faster than in 30 days the budget is used up.
    pub(crate) faster_than: f64,
}

/// 2 % of the budget in an hour, 5 % in six hours, 10 % in three days.
pub(crate) const RULES: [BurnRule; 3] = [
    BurnRule { alert: Alert::Page, long: H1, short: M5, faster_than: 14.4 },
    BurnRule { alert: Alert::Page, long: H6, short: M30, faster_than: 6.0 },
    BurnRule { alert: Alert::Ticket, long: D3, short: H6, faster_than: 1.0 },
];

/// How many calls, and how many bad ones of them, must be known: one slow call at night is no alert.
pub(crate) const LEAST: Counts = Counts { calls: 10, bad: 2, slow: 2 };

/// How many times faster than in 30 days the budget is used up.
pub(crate) fn burn_rate(counts: Counts, objective: f64) -> f64 {
    if counts.calls == 0 {
        return 0.0;
    }
    counts.bad as f64 / counts.calls as f64 / (1.0 - objective)
}

/// Whether a rule fires.
pub(crate) fn fires(rule: &BurnRule, objective: f64, counts: &mut impl FnMut(Window) -> Counts) -> bool {
    let long = counts(rule.long);
    let burns = |counts| burn_rate(counts, objective) > rule.faster_than;
    long.calls >= LEAST.calls && long.bad >= LEAST.bad && burns(long) && burns(counts(rule.short))
}

#[cfg(test)]
mod tests {
    use super::{Alert, Counts, RULES, Window, burn_rate, fires};

    fn counts(calls: u64, bad: u64) -> Counts {
        Counts { calls, bad, slow: bad }
    }

    #[test]
    fn a_burn_rate_is_the_share_of_bad_calls_by_the_share_that_may_be() {
        assert!((burn_rate(counts(1000, 10), 0.99) - 1.0).abs() < 1e-9);
        assert!((burn_rate(counts(100, 100), 0.99) - 100.0).abs() < 1e-9);
        assert!(burn_rate(counts(0, 0), 0.99) < 1e-9);
    }

    #[test]
    fn the_rules_are_those_of_the_workbook() {
        // Of the budget of 30 days, the long window of each rule uses this share up before it fires.
        for (rule, share) in RULES.iter().zip([0.02, 0.05, 0.10]) {
            let used = rule.faster_than * rule.long.seconds as f64 / (30.0 * 86_400.0);
            assert!((used - share).abs() < 1e-9, "{used}");
            assert_eq!(rule.long.seconds, rule.short.seconds * 12);
        }
        assert_eq!(RULES.map(|rule| rule.alert), [Alert::Page, Alert::Page, Alert::Ticket]);
    }

    #[test]
    fn both_windows_must_burn_and_one_call_is_too_little() {
        let fired = |long: Counts, short: Counts| {
            let rule = &RULES[0];
            fires(rule, 0.99, &mut |window: Window| if window == rule.long { long } else { short })
        };
        assert!(fired(counts(100, 15), counts(10, 2)));
        assert!(!fired(counts(100, 14), counts(10, 10)), "14 % is a rate of 14");
        assert!(!fired(counts(100, 50), counts(10, 1)), "it is over");
        assert!(!fired(counts(100, 50), counts(0, 0)), "nothing goes on");
        assert!(!fired(counts(9, 9), counts(9, 9)), "too few calls");
        assert!(!fired(counts(10, 1), counts(1, 1)) && fired(counts(10, 2), counts(1, 1)));
    }
}

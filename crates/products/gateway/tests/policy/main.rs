//! Access rules without a gateway: the command that tests and explains them, and 10,000 random requests against an evaluator
//! that was written separately.

mod command;
mod naive;
mod random;

use gateway::access::{Decider, Policy, PolicyRequest, PolicySettings};

use self::random::Random;

const REQUESTS: usize = 10_000;
/// How many requests each random list of rules gets.
const EACH: usize = 20;

#[test]
fn ten_thousand_random_requests_agree_with_a_naive_evaluation() {
    let mut random = Random::new(0x0018_2026);
    let (mut allowed, mut by_error, mut by_none, mut waiting) = (0, 0, 0, 0);
    for _ in 0..REQUESTS / EACH {
        let rules = random.rules();
        let access = Some(rules.iter().map(naive::Rule::written).collect());
        let policy = Policy::new(PolicySettings { access, ..PolicySettings::default() }).expect("valid conditions");
        for _ in 0..EACH {
            let request = random.request();
            let naive = naive::decide(&rules, &request);
            let (may, decider) = policy.decide(&request);
            assert_eq!((may, number(&decider)), (naive.allowed, naive.rule), "{}", shown(&rules, &request));
            first_that_fits_decides(&policy, &request, &decider);
            allowed += usize::from(may);
            by_error += usize::from(naive.by_error);
            by_none += usize::from(naive.rule.is_none());
            waiting += usize::from(naive.waited);
        }
    }
    // Each way to decide was taken often enough to mean something.
    let counts = (allowed, by_error, by_none, waiting);
    assert!(
        allowed > 1500 && REQUESTS - allowed > 1500 && by_error > 300 && by_none > 500 && waiting > 100,
        "{counts:?}"
    );
}

/// What `explain` shows agrees with what decided.
#[track_caller]
fn first_that_fits_decides(policy: &Policy, request: &PolicyRequest, decider: &Decider) {
    if *decider == Decider::AmbiguousUri {
        return;
    }
    let first = policy.look(request).iter().position(|look| look.fits).map(|index| index + 1);
    assert_eq!(first, number(decider), "{request:?}");
}

const fn number(decider: &Decider) -> Option<usize> {
    match decider {
        Decider::Rule(rule) => Some(*rule),
        _ => None,
    }
}

fn shown(rules: &[naive::Rule], request: &PolicyRequest) -> String {
    let rules: Vec<_> = rules.iter().map(|rule| format!("{:?}", rule.written())).collect();
    format!("{request:#?}\n{}", rules.join("\n"))
}

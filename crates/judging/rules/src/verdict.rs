//! What a rule says about one trace, and which of several verdicts counts.

/// The result of one rule on one trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Kept, and the events that show it: at least one. For "never does X" the witness is the end of a window in which
    /// X could have happened.
    Holds(Vec<usize>),
    /// Broken.
    Broken(Breach),
    /// Nothing in the trace exercised it, and what was missing.
    NotSeen(String),
    /// It does not bind this peer, revision or transport, and why.
    NotApplicable(String),
}

/// Where and how a rule was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The event (the index of its frame).
    pub event: usize,
    /// RFC 6901 pointer into the event's message, or a header's name in the form `header:NAME`; empty for the whole.
    pub pointer: String,
    /// What is wrong, in words for the peer's author: what was found and what was expected.
    pub why: String,
    /// What else breaks the rule in the same trace, in the order in which it was seen; at most [`OTHERS`].
    pub others: Vec<Self>,
}

/// How many further breaches of one rule a verdict names.
pub const OTHERS: usize = 63;

impl Breach {
    /// A breach at `event`, at `pointer` within it.
    pub fn at(event: usize, pointer: impl Into<String>, why: impl Into<String>) -> Self {
        Self { event, pointer: pointer.into(), why: why.into(), others: Vec::new() }
    }

    /// This breach and the others.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.others)
    }

    /// The first of these, which names the others.
    pub(crate) fn first_of(breaches: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut breaches = breaches.into_iter();
        let mut first = breaches.next()?;
        let mut room = OTHERS.saturating_sub(first.others.len());
        while let Some(mut breach) = (room > 0).then(|| breaches.next()).flatten() {
            let further = std::mem::take(&mut breach.others);
            let before = first.others.len();
            first.others.extend(std::iter::once(breach).chain(further).take(room));
            room -= first.others.len() - before;
        }
        Some(first)
    }
}

/// The result for one item: kept, or how it is broken.
pub type Kept = Result<(), Breach>;

/// Something that has its place at an event of the trace.
pub trait Located {
    /// The event's index.
    fn event(&self) -> usize;
}

impl<T: Located> Located for &T {
    fn event(&self) -> usize {
        (*self).event()
    }
}

impl<T> Located for (usize, T) {
    fn event(&self) -> usize {
        self.0
    }
}

impl Verdict {
    /// Holds for every item: broken at those that are not kept, not seen if there are no items.
    pub fn every<T: Located>(
        items: impl IntoIterator<Item = T>,
        unseen: impl Into<String>,
        kept: impl Fn(&T) -> Kept,
    ) -> Self {
        let mut witnesses = Vec::new();
        let broken = items.into_iter().filter_map(|item| match kept(&item) {
            Ok(()) => {
                witnesses.push(item.event());
                None
            }
            Err(breach) => Some(breach),
        });
        match Breach::first_of(broken) {
            Some(breach) => Self::Broken(breach),
            None => Self::witnessed(witnesses, unseen),
        }
    }

    /// Of items judged one by one, each with its event: broken at the broken ones; not seen if there are no items.
    pub fn of(judged: impl IntoIterator<Item = (usize, Kept)>, unseen: impl Into<String>) -> Self {
        Self::every(judged, unseen, |(_, kept)| kept.clone())
    }

    /// "Never does X": broken by the offenders; else holds on the witnesses, each an event by which X would have
    /// shown (the end of a window, an answer that followed); not seen where there is no witness.
    pub fn never(
        offenders: impl IntoIterator<Item = Breach>,
        witnesses: impl IntoIterator<Item = usize>,
        unseen: impl Into<String>,
    ) -> Self {
        match Breach::first_of(offenders) {
            Some(breach) => Self::Broken(breach),
            None => Self::witnessed(witnesses.into_iter().collect(), unseen),
        }
    }

    /// Holds on `witnesses`; not seen if there are no items.
    pub fn witnessed(witnesses: Vec<usize>, unseen: impl Into<String>) -> Self {
        if witnesses.is_empty() { Self::NotSeen(unseen.into()) } else { Self::Holds(witnesses) }
    }

    /// How much a verdict outweighs another: Broken > Holds > NotSeen > NotApplicable.
    pub const fn weight(&self) -> u8 {
        match self {
            Self::Broken(_) => 3,
            Self::Holds(_) => 2,
            Self::NotSeen(_) => 1,
            Self::NotApplicable(_) => 0,
        }
    }

    /// Whether the rule is broken.
    pub const fn is_broken(&self) -> bool {
        matches!(self, Self::Broken(_))
    }
}

#[cfg(test)]
mod tests {
    use super::{Breach, OTHERS, Verdict};

    fn whys(verdict: &Verdict) -> Vec<&str> {
        let Verdict::Broken(breach) = verdict else { return Vec::new() };
        breach.all().map(|breach| breach.why.as_str()).collect()
    }

    fn odd_is_broken(events: impl IntoIterator<Item = usize>) -> Verdict {
        let items = events.into_iter().map(|event| (event, ()));
        Verdict::every(items, "none", |(event, ())| match event % 2 {
            0 => Ok(()),
            _ => Err(Breach::at(*event, "", event.to_string())),
        })
    }

    #[test]
    fn a_verdict_names_every_breach_in_order() {
        assert_eq!(whys(&odd_is_broken([2, 3, 4, 5])), ["3", "5"]);
        assert_eq!(odd_is_broken([2, 4]), Verdict::Holds(vec![2, 4]));
        assert_eq!(odd_is_broken([]), Verdict::NotSeen("none".to_owned()));
        let offenders = [Breach::at(1, "", "a"), Breach::at(2, "", "b")];
        assert_eq!(whys(&Verdict::never(offenders, [7], "none")), ["a", "b"]);
    }

    #[test]
    fn a_verdict_names_only_so_many() {
        assert_eq!(whys(&odd_is_broken(0..10_000)).len(), OTHERS + 1);
        let nested = |at: usize| {
            let mut breach = Breach::at(at, "", "x");
            breach.others = vec![Breach::at(at, "", "y"); OTHERS];
            breach
        };
        assert_eq!(whys(&Verdict::never([nested(1), nested(2)], [7], "none")).len(), OTHERS + 1);
        let last = whys(&Verdict::never([Breach::at(1, "", "a"), nested(2)], [7], "none")).len();
        assert_eq!(last, OTHERS + 1);
    }
}

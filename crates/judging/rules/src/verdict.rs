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
}

impl Breach {
    /// A breach at `event`, at `pointer` within it.
    pub fn at(event: usize, pointer: impl Into<String>, why: impl Into<String>) -> Self {
        Self { event, pointer: pointer.into(), why: why.into() }
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
    /// Holds for every item: broken at the first that is not kept, not seen if there are no items.
    pub fn every<T: Located>(
        items: impl IntoIterator<Item = T>,
        unseen: impl Into<String>,
        kept: impl Fn(&T) -> Kept,
    ) -> Self {
        let mut witnesses = Vec::new();
        for item in items {
            match kept(&item) {
                Ok(()) => witnesses.push(item.event()),
                Err(breach) => return Self::Broken(breach),
            }
        }
        Self::witnessed(witnesses, unseen)
    }

    /// Of items judged one by one, each with its event: broken at the first broken one; not seen if there are no items.
    pub fn of(judged: impl IntoIterator<Item = (usize, Kept)>, unseen: impl Into<String>) -> Self {
        Self::every(judged, unseen, |(_, kept)| kept.clone())
    }

    /// "Never does X": broken by the first offender; else holds on the witnesses, each an event by which X would have
    /// shown (the end of a window, an answer that followed); not seen where there is no witness.
    pub fn never(
        offenders: impl IntoIterator<Item = Breach>,
        witnesses: impl IntoIterator<Item = usize>,
        unseen: impl Into<String>,
    ) -> Self {
        match offenders.into_iter().next() {
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

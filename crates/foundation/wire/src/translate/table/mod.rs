//! The translation table as data: what passes between a client and a server of different eras, row by row, and what is lost.
//! It says what the code does, and openly what is not built. Must not know how a row is carried out.

mod envelope;
mod loss;
mod notifications;
mod opening;
mod primitives;
mod rounds;
mod tasks;
mod transport;

use std::fmt;

pub use loss::{LOSSES, Loss, losses, notice, with_losses};

/// What a part of the protocol keeps on its way, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Nothing is lost and nothing is kept.
    Lossless,
    /// Nothing is lost; what is needed later is kept with the open request, and ends with it.
    Flight,
    /// Nothing is lost; what is needed later is kept in the memory of the gateway.
    Store,
    /// Nothing is lost; only the process that holds a connection can do it.
    Owner,
    /// Something is lost; the row says what.
    Degraded,
    /// It cannot be carried over; the row says what the client gets.
    Impossible,
    /// The situation does not arise.
    Absent,
    /// Not built.
    Missing,
}

impl Class {
    /// Every one.
    pub const ALL: [Self; 8] = [
        Self::Lossless,
        Self::Flight,
        Self::Store,
        Self::Owner,
        Self::Degraded,
        Self::Impossible,
        Self::Absent,
        Self::Missing,
    ];

    /// One word or two for a table.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lossless => "lossless",
            Self::Flight => "lossless, state of the request",
            Self::Store => "lossless, state of the gateway",
            Self::Owner => "lossless, one process",
            Self::Degraded => "degraded",
            Self::Impossible => "impossible",
            Self::Absent => "–",
            Self::Missing => "not built",
        }
    }

    /// What it means.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Lossless => "Nothing is lost and nothing is kept.",
            Self::Flight => "Nothing is lost. State is kept with the open request and ends with it.",
            Self::Store => "Nothing is lost. State is kept in the memory of the gateway.",
            Self::Owner => "Nothing is lost. Only the process that holds the connection can do it.",
            Self::Degraded => "Something is lost. The row says what.",
            Self::Impossible => "It cannot be carried over. The row says what the client gets.",
            Self::Absent => "The situation does not arise.",
            Self::Missing => "Not built.",
        }
    }
}

/// One direction of a row.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// What happens.
    pub what: &'static str,
    /// How well.
    pub class: Class,
}

/// The parts of the protocol, in the order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// Opening and negotiation.
    Opening,
    /// HTTP, streams and framing.
    Transport,
    /// The envelope of requests, results and errors.
    Envelope,
    /// Tools, prompts, resources, completion, and what servers ask of clients.
    Primitives,
    /// Questions in the middle of a request.
    Rounds,
    /// Notifications.
    Notifications,
    /// Tasks.
    Tasks,
}

impl Area {
    /// Every one.
    pub const ALL: [Self; 7] = [
        Self::Opening,
        Self::Transport,
        Self::Envelope,
        Self::Primitives,
        Self::Rounds,
        Self::Notifications,
        Self::Tasks,
    ];

    /// Its heading.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Opening => "Opening and negotiation",
            Self::Transport => "HTTP, streams and framing",
            Self::Envelope => "Envelope, results and errors",
            Self::Primitives => "Tools, prompts, resources and questions",
            Self::Rounds => "Questions in the middle of a request",
            Self::Notifications => "Notifications",
            Self::Tasks => "Tasks",
        }
    }

    const fn rows(self) -> &'static [Row] {
        match self {
            Self::Opening => opening::ROWS,
            Self::Transport => transport::ROWS,
            Self::Envelope => envelope::ROWS,
            Self::Primitives => primitives::ROWS,
            Self::Rounds => rounds::ROWS,
            Self::Notifications => notifications::ROWS,
            Self::Tasks => tasks::ROWS,
        }
    }
}

/// One row: a part of the protocol and what becomes of it.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its number, which never changes: `7`, `60a`.
    pub number: &'static str,
    /// What it concerns.
    pub subject: &'static str,
    /// A client of 2025-11-25 or before at a server of 2026-07-28.
    pub from_legacy: Way,
    /// A client of 2026-07-28 at a server of 2025-11-25 or before.
    pub from_modern: Way,
    /// What the client gets instead of what is lost.
    pub instead: Option<&'static str>,
    /// What of the row is not built.
    pub missing: Option<&'static str>,
}

impl Row {
    const fn new(number: &'static str, subject: &'static str, from_legacy: Way, from_modern: Way) -> Self {
        Self { number, subject, from_legacy, from_modern, instead: None, missing: None }
    }

    const fn instead(mut self, what: &'static str) -> Self {
        self.instead = Some(what);
        self
    }

    const fn missing(mut self, what: &'static str) -> Self {
        self.missing = Some(what);
        self
    }

    /// Whether one direction at least is built: then a test is named after the row.
    pub fn is_built(&self) -> bool {
        [self.from_legacy, self.from_modern].iter().any(|way| !matches!(way.class, Class::Missing | Class::Absent))
    }

    /// How the name of its tests begins: `row_07_`.
    pub fn test_prefix(&self) -> String {
        let digits = self.number.bytes().take_while(u8::is_ascii_digit).count();
        format!("row_{:0>2}{}_", &self.number[..digits], &self.number[digits..])
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {}: {}", self.number, self.subject)
    }
}

/// The rows of one area.
pub const fn rows_of(area: Area) -> &'static [Row] {
    area.rows()
}

/// Every row, in order.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    Area::ALL.into_iter().flat_map(Area::rows)
}

/// The place of a row among all rows.
pub fn position(number: &str) -> Option<usize> {
    rows().position(|row| row.number == number)
}

const fn lossless(what: &'static str) -> Way {
    Way { what, class: Class::Lossless }
}

const fn flight(what: &'static str) -> Way {
    Way { what, class: Class::Flight }
}

const fn store(what: &'static str) -> Way {
    Way { what, class: Class::Store }
}

const fn owner(what: &'static str) -> Way {
    Way { what, class: Class::Owner }
}

const fn degraded(what: &'static str) -> Way {
    Way { what, class: Class::Degraded }
}

const fn impossible(what: &'static str) -> Way {
    Way { what, class: Class::Impossible }
}

const fn absent(what: &'static str) -> Way {
    Way { what, class: Class::Absent }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Class, LOSSES, position, rows};

    #[test]
    fn numbers_are_unique_and_complete() {
        let numbers: Vec<_> = rows().map(|row| row.number).collect();
        let expected = (1..=59).map(|n| n.to_string()).chain(('a'..='g').map(|letter| format!("60{letter}")));
        assert_eq!(numbers, expected.collect::<Vec<_>>());
        assert_eq!(rows().map(super::Row::test_prefix).collect::<BTreeSet<_>>().len(), numbers.len());
    }

    #[test]
    fn what_is_lost_has_something_instead() {
        for row in rows() {
            let loses = [row.from_legacy, row.from_modern]
                .iter()
                .any(|way| matches!(way.class, Class::Degraded | Class::Impossible));
            assert_eq!(loses, row.instead.is_some(), "{row}");
        }
    }

    #[test]
    fn every_loss_is_of_a_row_that_loses_something() {
        for loss in LOSSES {
            let row = position(loss.row).and_then(|at| rows().nth(at));
            assert!(row.is_some_and(|row| row.instead.is_some()), "{loss:?}");
        }
    }
}

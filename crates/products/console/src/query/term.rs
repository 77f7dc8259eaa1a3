//! One term of a filter, and whether a row passes it.

use crate::rows::{Direction, Row, RowKind, Status, level_word};

/// Looks into the frames of a row.
pub trait Bodies {
    /// Whether `bytes` stand in a frame of the row.
    fn contain(&self, row: &Row, bytes: &[u8]) -> bool;

    /// Whether so much was read that other work must come first.
    fn is_tired(&self) -> bool {
        false
    }
}

/// One term.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A column of text, and patterns of which one fits.
    Text(TextColumn, Vec<Pattern>),
    /// `tool:`: a call of a tool whose name fits.
    Tool(Vec<Pattern>),
    /// The kind of row.
    Kind(Vec<RowKind>),
    /// The direction.
    Direction(Vec<Direction>),
    /// The status.
    Status(Vec<Status>),
    /// The level of its findings.
    Level(Vec<&'static str>),
    /// A number, and ranges of which one holds it.
    Number(NumberColumn, Vec<(u64, u64)>),
    /// A quantity that is compared.
    Compare(Quantity, Comparison, u64),
    /// A rule of its findings.
    Finding(Vec<Pattern>),
    /// A text in method, name or id.
    Bare(String),
    /// A text in its frames.
    Body(Vec<u8>),
}

/// A column of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextColumn {
    /// The method.
    Method,
    /// The name.
    Name,
    /// The id.
    Id,
    /// The revision.
    Revision,
}

/// A column that numbers something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberColumn {
    /// The target.
    Target,
    /// The session.
    Session,
    /// The row itself.
    Row,
    /// The row that it belongs to.
    Parent,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Microseconds until the answer.
    Took,
    /// Bytes.
    Size,
    /// Microseconds since the launch.
    At,
    /// Frames.
    Parts,
}

/// How it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `=`
    Equal,
    /// `>=`
    AtLeast,
    /// `>`
    Greater,
}

impl Comparison {
    fn holds(self, value: u64, limit: u64) -> bool {
        match self {
            Self::Less => value < limit,
            Self::AtMost => value <= limit,
            Self::Equal => value == limit,
            Self::AtLeast => value >= limit,
            Self::Greater => value > limit,
        }
    }
}

impl Term {
    /// How many values are compared with each row.
    pub(super) const fn cost(&self) -> usize {
        let values = match self {
            Self::Text(_, patterns) | Self::Tool(patterns) | Self::Finding(patterns) => patterns.len(),
            Self::Kind(kinds) => kinds.len(),
            Self::Direction(directions) => directions.len(),
            Self::Status(statuses) => statuses.len(),
            Self::Level(levels) => levels.len(),
            Self::Number(_, ranges) => ranges.len(),
            Self::Compare(..) | Self::Bare(_) | Self::Body(_) => 1,
        };
        if values == 0 { 1 } else { values }
    }

    /// Whether a row passes.
    pub(super) fn matches(&self, n: u64, row: &Row, bodies: &dyn Bodies) -> bool {
        let fits = |patterns: &[Pattern], text: &str| patterns.iter().any(|pattern| pattern.fits(text));
        match self {
            Self::Text(column, patterns) => fits(patterns, text_of(row, *column)),
            Self::Tool(patterns) => &*row.method == "tools/call" && fits(patterns, &row.name),
            Self::Kind(kinds) => kinds.contains(&row.kind),
            Self::Direction(directions) => directions.contains(&row.direction),
            Self::Status(statuses) => statuses.contains(&row.status),
            Self::Level(levels) => row.level.is_some_and(|level| levels.contains(&level_word(level))),
            Self::Number(column, ranges) => {
                let value = number_of(n, row, *column);
                ranges.iter().any(|(first, last)| (first..=last).contains(&&value))
            }
            Self::Compare(quantity, comparison, limit) => {
                quantity_of(row, *quantity).is_some_and(|value| comparison.holds(value, *limit))
            }
            Self::Finding(patterns) => row.rules.iter().any(|rule| fits(patterns, rule)),
            Self::Bare(text) => [&row.method, &row.name, &row.id].into_iter().any(|column| contains(column, text)),
            Self::Body(bytes) => bodies.contain(row, bytes),
        }
    }
}

fn text_of(row: &Row, column: TextColumn) -> &str {
    match column {
        TextColumn::Method => &row.method,
        TextColumn::Name => &row.name,
        // A text id is found with and without its quotes.
        TextColumn::Id => row.id.trim_matches('"'),
        TextColumn::Revision => row.revision.map_or("", wire::Revision::as_str),
    }
}

fn number_of(n: u64, row: &Row, column: NumberColumn) -> u64 {
    match column {
        NumberColumn::Target => row.target.into(),
        NumberColumn::Session => row.session.into(),
        NumberColumn::Row => n,
        NumberColumn::Parent => row.parent,
    }
}

fn quantity_of(row: &Row, quantity: Quantity) -> Option<u64> {
    match quantity {
        Quantity::Took => row.took,
        Quantity::Size => Some(row.size),
        Quantity::At => Some(row.at),
        Quantity::Parts => Some(row.parts.count() as u64),
    }
}

/// Whether `needle`, which is in lower case, stands in a text. Only ASCII letters have a case here.
fn contains(text: &str, needle: &str) -> bool {
    let (text, needle) = (text.as_bytes(), needle.as_bytes());
    needle.is_empty() || text.windows(needle.len()).any(|window| window.eq_ignore_ascii_case(needle))
}

/// A text in which `*` stands for anything; the case of ASCII letters does not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Vec<String>);

impl Pattern {
    /// A pattern of the texts between its stars.
    pub(super) const fn new(between_stars: Vec<String>) -> Self {
        Self(between_stars)
    }

    fn fits(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let (Some(first), Some(last)) = (self.0.first(), self.0.last()) else { return bytes.is_empty() };
        if self.0.len() == 1 {
            return bytes.eq_ignore_ascii_case(first.as_bytes());
        }
        if bytes.len() < first.len() + last.len() {
            return false;
        }
        let (head, rest) = bytes.split_at(first.len());
        let (mut middle, tail) = rest.split_at(rest.len() - last.len());
        if !head.eq_ignore_ascii_case(first.as_bytes()) || !tail.eq_ignore_ascii_case(last.as_bytes()) {
            return false;
        }
        // The leftmost place of each is the best one.
        self.0[1..self.0.len() - 1].iter().all(|piece| {
            let piece = piece.as_bytes();
            if piece.is_empty() {
                return true;
            }
            let found = middle.windows(piece.len()).position(|window| window.eq_ignore_ascii_case(piece));
            found.inspect(|at| middle = &middle[at + piece.len()..]).is_some()
        })
    }
}

//! Reads a filter. Every error names its place and what would be right.

use super::term::{Comparison, NumberColumn, Pattern, Quantity, Term, TextColumn};
use super::{Query, QueryError};
use crate::rows::{Direction, RowKind, Status};

/// The longest filter in bytes, and how deep its parentheses may go.
const LONGEST: usize = 4096;
const DEEPEST: usize = 32;
/// How many terms and values it may have, and how many terms that look into frames: each is compared with every row.
const MOST: usize = 64;
const MOST_BODIES: usize = 4;

/// The names of terms with what they say; completion shows them.
pub(super) const NAMES: [(&str, &str); 19] = [
    ("method:", "JSON-RPC or HTTP method"),
    ("tool:", "calls of a tool"),
    ("name:", "tool, prompt, URI, level or path"),
    ("status:", "ok, error, pending, late, cancelled or hung"),
    ("dir:", "out or in"),
    ("kind:", "call, note, stderr, http, bytes, end or mark"),
    ("finding:", "rule of a finding; * for any"),
    ("level:", "must, should, may or safety"),
    ("took>", "time until the answer, such as took>200ms"),
    ("size>", "bytes, such as size>10k"),
    ("at>", "time since the launch, such as at>10s"),
    ("parts>", "number of frames"),
    ("rev:", "revision"),
    ("id:", "JSON-RPC id"),
    ("target:", "number of a target"),
    ("session:", "number of a session"),
    ("row:", "number of a row, or a range such as 10..20"),
    ("parent:", "number of the row that it belongs to"),
    ("body:", "text in its frames (slower)"),
];

pub(super) fn parse(text: &str) -> Result<Query, QueryError> {
    let mut reader = Reader { text, at: 0, depth: 0, cost: 0, bodies: 0 };
    if text.len() > LONGEST {
        return Err(reader.error(format!("the filter is longer than {LONGEST} bytes"), "leave terms out"));
    }
    let query = reader.either()?;
    match reader.rest().chars().next() {
        None => Ok(query),
        Some(_) => Err(reader.error("`)` without `(`", "remove it, or put a text with `)` in quotes")),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    /// Terms and values so far, and those that look into frames.
    cost: usize,
    bodies: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn error(&self, what: impl Into<String>, remedy: impl Into<String>) -> QueryError {
        QueryError { at: self.at, what: what.into(), remedy: remedy.into() }
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, what: char) -> bool {
        let found = self.rest().starts_with(what);
        if found {
            self.at += what.len_utf8();
        }
        found
    }

    /// Terms with `|` between them.
    fn either(&mut self) -> Result<Query, QueryError> {
        let mut any = vec![self.all()?];
        while self.eat('|') {
            any.push(self.all()?);
        }
        Ok(if any.len() == 1 { any.remove(0) } else { Query::Any(any) })
    }

    /// Terms with spaces between them.
    fn all(&mut self) -> Result<Query, QueryError> {
        let mut all = Vec::new();
        loop {
            self.skip_spaces();
            if self.rest().is_empty() || self.rest().starts_with(['|', ')']) {
                break;
            }
            all.push(self.one()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Query::All(all) })
    }

    fn one(&mut self) -> Result<Query, QueryError> {
        let mut negated = false;
        while self.eat('-') || self.eat('!') {
            negated = !negated;
        }
        let query = if self.eat('(') { self.group()? } else { Query::Term(self.counted()?) };
        Ok(if negated { Query::Not(Box::new(query)) } else { query })
    }

    fn group(&mut self) -> Result<Query, QueryError> {
        if self.depth == DEEPEST {
            return Err(self.error(format!("more than {DEEPEST} parentheses"), "write it with fewer"));
        }
        self.depth += 1;
        let query = self.either()?;
        self.depth -= 1;
        if !self.eat(')') {
            return Err(self.error("`(` without `)`", "close it"));
        }
        Ok(query)
    }

    fn counted(&mut self) -> Result<Term, QueryError> {
        let begun = self.at;
        let term = self.term()?;
        self.cost += term.cost();
        self.bodies += usize::from(matches!(term, Term::Body(_)));
        let what = if self.cost > MOST {
            format!("more than {MOST} terms and values")
        } else if self.bodies > MOST_BODIES {
            format!("more than {MOST_BODIES} terms `body:`")
        } else {
            return Ok(term);
        };
        self.at = begun;
        Err(self.error(what, "leave terms out, or use `*`"))
    }

    fn term(&mut self) -> Result<Term, QueryError> {
        let begun = self.at;
        let letters = self.rest().len() - self.rest().trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let name = &self.rest()[..letters];
        let after = &self.rest()[letters..];
        if name.is_empty() || !after.starts_with([':', '<', '>', '=']) {
            let text = self.value(false)?.concat();
            if text.is_empty() {
                self.at = begun;
                return Err(self.error("a term is missing", "name:value, or a text in quotes"));
            }
            return Ok(Term::Bare(text.to_ascii_lowercase()));
        }
        self.at += letters;
        if let Some(quantity) = quantity(name) {
            return self.comparison(quantity);
        }
        if !self.eat(':') {
            return Err(self.error(format!("`{name}` cannot be compared"), format!("`{name}:value`")));
        }
        let values_at = self.at;
        let term = self.named(name, begun)?;
        if self.at == values_at {
            return Err(self.error(format!("`{name}:` has no value"), "add one, or `*` for any"));
        }
        Ok(term)
    }

    fn named(&mut self, name: &str, begun: usize) -> Result<Term, QueryError> {
        let text = |column| move |patterns| Term::Text(column, patterns);
        Ok(match name {
            "method" => text(TextColumn::Method)(self.patterns()?),
            "name" => text(TextColumn::Name)(self.patterns()?),
            "id" => text(TextColumn::Id)(self.patterns()?),
            "rev" => text(TextColumn::Revision)(self.patterns()?),
            "tool" => Term::Tool(self.patterns()?),
            "finding" => Term::Finding(self.patterns()?),
            "kind" => Term::Kind(self.words(RowKind::ALL, |kind| kind.as_str())?),
            "dir" => Term::Direction(self.words(Direction::ALL, |direction| direction.as_str())?),
            "status" => Term::Status(self.words(Status::ALL, |status| status.as_str())?),
            "level" => Term::Level(self.words(&["must", "should", "may", "safety"], |level| level)?),
            "target" => Term::Number(NumberColumn::Target, self.ranges()?),
            "session" => Term::Number(NumberColumn::Session, self.ranges()?),
            "row" => Term::Number(NumberColumn::Row, self.ranges()?),
            "parent" => Term::Number(NumberColumn::Parent, self.ranges()?),
            "body" => Term::Body(self.value(true)?.concat().into_bytes()),
            _ => {
                self.at = begun;
                let near = NAMES.iter().map(|(known, _)| *known).find(|known| known.starts_with(name));
                let remedy = near
                    .map_or("`method:`, `status:`, `took>` …; a text with `:` in quotes".to_owned(), |near| {
                        format!("`{near}`")
                    });
                return Err(self.error(format!("unknown term `{name}:`"), remedy));
            }
        })
    }

    /// One value: the texts between its stars. Ends at a space, a comma, `|` or a parenthesis outside quotes.
    fn value(&mut self, is_whole: bool) -> Result<Vec<String>, QueryError> {
        let mut pieces = vec![String::new()];
        while let Some(c) = self.rest().chars().next() {
            match c {
                '"' => {
                    let quoted = self.quoted()?;
                    if let Some(piece) = pieces.last_mut() {
                        piece.push_str(&quoted);
                    }
                    continue;
                }
                ',' if !is_whole => break,
                c if c.is_whitespace() || matches!(c, '|' | '(' | ')') => break,
                '*' if !is_whole => pieces.push(String::new()),
                c => {
                    if let Some(piece) = pieces.last_mut() {
                        piece.push(c);
                    }
                }
            }
            self.at += c.len_utf8();
        }
        Ok(pieces)
    }

    fn quoted(&mut self) -> Result<String, QueryError> {
        let begun = self.at;
        self.at += 1;
        let mut text = String::new();
        let mut escaped = false;
        while let Some(c) = self.rest().chars().next() {
            self.at += c.len_utf8();
            match c {
                '\\' if !escaped => escaped = true,
                '"' if !escaped => return Ok(text),
                c => {
                    escaped = false;
                    text.push(c);
                }
            }
        }
        self.at = begun;
        Err(self.error("a quote that does not end", "close it with `\"`"))
    }

    /// Values with commas between them.
    fn values(&mut self) -> Result<Vec<(usize, Vec<String>)>, QueryError> {
        let mut values = Vec::new();
        loop {
            let at = self.at;
            values.push((at, self.value(false)?));
            if !self.eat(',') {
                return Ok(values);
            }
        }
    }

    fn patterns(&mut self) -> Result<Vec<Pattern>, QueryError> {
        Ok(self.values()?.into_iter().map(|(_, pieces)| Pattern::new(pieces)).collect())
    }

    fn words<T: Copy>(&mut self, all: &[T], word: impl Fn(T) -> &'static str) -> Result<Vec<T>, QueryError> {
        let mut found = Vec::new();
        for (at, pieces) in self.values()? {
            let named = pieces.join("*");
            if named == "*" {
                found.extend_from_slice(all);
                continue;
            }
            let known = all.iter().copied().find(|one| word(*one).eq_ignore_ascii_case(&named));
            found.push(known.ok_or_else(|| {
                let words: Vec<&str> = all.iter().map(|one| word(*one)).collect();
                QueryError { at, what: format!("unknown value `{named}`"), remedy: words.join(", ") }
            })?);
        }
        Ok(found)
    }

    fn ranges(&mut self) -> Result<Vec<(u64, u64)>, QueryError> {
        let mut ranges = Vec::new();
        for (at, pieces) in self.values()? {
            let text = pieces.join("*");
            let (first, last) = text.split_once("..").unwrap_or((&text, &text));
            let number = |text: &str, open: u64| if text.is_empty() { Some(open) } else { text.parse().ok() };
            let is_range = text.contains("..");
            let range = number(first, 0).zip(number(last, u64::MAX)).filter(|_| is_range || !text.is_empty());
            ranges.push(range.ok_or_else(|| QueryError {
                at,
                what: format!("`{text}` is no number"),
                remedy: "a number such as 7, or a range such as 10..20".to_owned(),
            })?);
        }
        Ok(ranges)
    }

    fn comparison(&mut self, quantity: Quantity) -> Result<Term, QueryError> {
        let comparisons = [
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
            ("=", Comparison::Equal),
            (":", Comparison::Equal),
        ];
        let found = comparisons.into_iter().find(|(sign, _)| self.rest().starts_with(sign));
        let Some((sign, comparison)) = found else {
            return Err(self.error("a comparison is missing", "such as took>200ms"));
        };
        self.at += sign.len();
        let at = self.at;
        let text = self.value(false)?.join("*");
        let limit = amount(&text, quantity).ok_or_else(|| QueryError {
            at,
            what: if text.is_empty() { "the limit is missing".to_owned() } else { format!("`{text}` is no amount") },
            remedy: match quantity {
                Quantity::Took | Quantity::At => "a time such as 200ms, 1.5s or 2m",
                Quantity::Size => "a size such as 512, 10k or 1M",
                Quantity::Parts => "a whole number",
            }
            .to_owned(),
        })?;
        Ok(Term::Compare(quantity, comparison, limit))
    }
}

fn quantity(name: &str) -> Option<Quantity> {
    Some(match name {
        "took" => Quantity::Took,
        "size" => Quantity::Size,
        "at" => Quantity::At,
        "parts" => Quantity::Parts,
        _ => return None,
    })
}

/// A number with a unit; times in microseconds.
fn amount(text: &str, quantity: Quantity) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().ok()?;
    let factor = match (quantity, unit) {
        (Quantity::Took | Quantity::At, "ms" | "") => 1e3,
        (Quantity::Took | Quantity::At, "us" | "µs") | (Quantity::Size | Quantity::Parts, "") => 1.0,
        (Quantity::Took | Quantity::At, "s") => 1e6,
        (Quantity::Took | Quantity::At, "m") => 6e7,
        (Quantity::Size, "k" | "K") => 1024.0,
        (Quantity::Size, "M") => 1_048_576.0,
        _ => return None,
    };
    Some((number * factor).round() as u64)
}

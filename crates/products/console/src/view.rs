//! The list that a filter leaves, kept up to date from the changes of the table. Pure.

use crate::query::{Bodies, Query};
use crate::rows::Table;

/// How many values are compared with rows in one turn, and how many rows at least. A turn holds the lock of the table.
const TURN: usize = 1 << 15;
const FEWEST: usize = 256;

/// The rows that pass a filter.
#[derive(Debug)]
pub struct View {
    query: Query,
    matches: Vec<u64>,
    seq: u64,
    /// The next row of the first pass over all rows; `None` when it is over.
    unseen: Option<u64>,
}

/// What changed in a view.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// New and changed rows that pass, in the order of their changes.
    pub rows: Vec<u64>,
    /// Rows that no longer pass.
    pub gone: Vec<u64>,
    /// How many of the matches are new at the end of the list.
    pub appended: usize,
    /// Whether the list changed elsewhere than at its end.
    pub moved: bool,
}

impl View {
    /// The view of nothing yet.
    pub const fn new(query: Query) -> Self {
        Self { query, matches: Vec::new(), seq: 0, unseen: Some(0) }
    }

    /// The numbers of the rows, in order.
    pub fn matches(&self) -> &[u64] {
        &self.matches
    }

    /// The change of the table up to which it is right.
    pub const fn seq(&self) -> u64 {
        self.seq
    }

    /// How many rows or changes may be taken in before other work must come first.
    pub fn turn(&self) -> usize {
        (TURN / self.query.cost().max(1)).max(FEWEST)
    }

    /// Takes in at most `most` rows or changes of the table.
    pub fn update(&mut self, table: &Table, bodies: &dyn Bodies, most: usize) -> Update {
        let mut update = Update::default();
        let dropped = self.matches.partition_point(|n| *n < table.first());
        if dropped > 0 {
            self.matches.drain(..dropped);
            update.moved = true;
        }
        let most = self.first_pass(table, bodies, most, &mut update);
        if self.unseen.is_some() {
            return update;
        }
        for (seq, n) in table.since(self.seq, most) {
            self.seq = seq;
            if let Some(row) = table.get(n) {
                self.take(n, self.query.matches(n, row, bodies), &mut update);
            }
            if bodies.is_tired() {
                break;
            }
        }
        update
    }

    /// Goes over the rows that were there before; returns how much of `most` is left. What changes meanwhile is in the log.
    fn first_pass(&mut self, table: &Table, bodies: &dyn Bodies, most: usize, update: &mut Update) -> usize {
        let Some(unseen) = self.unseen else { return most };
        if unseen == 0 {
            self.seq = table.seq();
        }
        let (mut n, mut left) = (unseen.max(table.first()), most);
        while n < table.next() && left > 0 && !bodies.is_tired() {
            if let Some(row) = table.get(n) {
                self.take(n, self.query.matches(n, row, bodies), update);
            }
            n += 1;
            left -= 1;
        }
        self.unseen = (n < table.next()).then_some(n);
        left
    }

    fn take(&mut self, n: u64, passes: bool, update: &mut Update) {
        match (passes, self.matches.binary_search(&n)) {
            (true, Ok(_)) => update.rows.push(n),
            (true, Err(index)) => {
                update.rows.push(n);
                if index == self.matches.len() {
                    update.appended += 1;
                } else {
                    update.moved = true;
                }
                self.matches.insert(index, n);
            }
            (false, Ok(index)) => {
                self.matches.remove(index);
                update.gone.push(n);
                update.moved = true;
            }
            (false, Err(_)) => {}
        }
    }

    /// Whether every change of the table was taken in. Changes of dropped rows leave nothing to take in.
    pub fn is_current(&self, table: &Table) -> bool {
        self.unseen.is_none() && table.since(self.seq, 1).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rows::{Direction, Row, RowKind};

    struct Never;

    impl Bodies for Never {
        fn contain(&self, _: &Row, _: &[u8]) -> bool {
            false
        }
    }

    fn row(size: u64) -> Row {
        let mut row = Row::new(1, 1, RowKind::Note, Direction::In, 0);
        row.size = size;
        row
    }

    #[test]
    fn an_update_says_what_moved() {
        let mut table = Table::new(10);
        let mut view = View::new(Query::parse("size>0").expect("a filter"));
        for size in [1, 0, 1] {
            table.push(row(size));
        }
        let first = view.update(&table, &Never, 99);
        assert_eq!(first, Update { rows: vec![1, 3], gone: vec![], appended: 2, moved: false });
        table.change(2, |row| row.size = 5);
        table.change(3, |row| row.size = 0);
        table.push(row(7));
        let second = view.update(&table, &Never, 99);
        assert_eq!(second, Update { rows: vec![2, 4], gone: vec![3], appended: 1, moved: true });
        assert_eq!((view.matches(), view.is_current(&table)), (&[1, 2, 4][..], true));
    }

    /// Is tired after every third row.
    struct Weary(std::cell::Cell<usize>);

    impl Bodies for Weary {
        fn contain(&self, _: &Row, _: &[u8]) -> bool {
            self.0.set(self.0.get() + 1);
            true
        }

        fn is_tired(&self) -> bool {
            self.0.get() >= 3
        }
    }

    #[test]
    fn a_turn_is_short_where_a_row_costs_much() {
        let mut table = Table::new(100);
        for _ in 0..10 {
            table.push(row(1));
        }
        let mut view = View::new(Query::parse("body:x").expect("a filter"));
        let mut turns = 0;
        while !view.is_current(&table) {
            let rows = view.update(&table, &Weary(std::cell::Cell::new(0)), view.turn()).rows.len();
            assert!(rows <= 3, "{rows}");
            turns += 1;
        }
        assert_eq!((turns, view.matches().len()), (4, 10));
        for n in 1..=10 {
            table.change(n, |row| row.size = 2);
        }
        assert_eq!(view.update(&table, &Weary(std::cell::Cell::new(0)), view.turn()).rows.len(), 3);
        let many = (0..64).map(|n| format!("name:{n}")).collect::<Vec<_>>().join(" | ");
        assert_eq!(View::new(Query::parse(&many).expect("a filter")).turn(), TURN / 64);
    }

    proptest! {
        /// However the changes come and whenever they are taken in, the view is what filtering all rows gives.
        #[test]
        fn a_view_is_what_the_filter_leaves(steps in prop::collection::vec((0_u64..12, 0_u64..2, 0_usize..4), 0..80)) {
            let query = Query::parse("size>0").expect("a filter");
            let mut table = Table::new(8);
            let mut view = View::new(query.clone());
            for (n, size, most) in steps {
                if n == 0 {
                    table.push(row(size));
                } else {
                    table.change(n + table.first().saturating_sub(2), |row| row.size = size);
                }
                view.update(&table, &Never, most);
            }
            while !view.is_current(&table) {
                view.update(&table, &Never, 3);
            }
            view.update(&table, &Never, 1);
            let expected: Vec<u64> =
                table.iter().filter(|(n, row)| query.matches(*n, row, &Never)).map(|(n, _)| n).collect();
            prop_assert_eq!(view.matches(), expected);
        }
    }
}

//! The filter of the page of `proof inspect`: no text panics, an error names a place in the text, and a negation passes exactly
//! what the filter does not.
#![no_main]

use console::query::{Bodies, Query, complete};
use console::rows::{Direction, Row, RowKind};
use fuzz::bounded;
use libfuzzer_sys::fuzz_target;

/// More than a filter of the longest input takes.
const MOST: usize = 16 << 20;

struct Nothing;

impl Bodies for Nothing {
    fn contain(&self, _: &Row, _: &[u8]) -> bool {
        false
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    bounded(MOST, || {
        let mut row = Row::new(1, 1, RowKind::Call, Direction::Out, 5);
        row.method = "tools/call".into();
        match Query::parse(text) {
            Ok(query) => {
                if let Ok(negated) = Query::parse(&format!("-({text})")) {
                    assert_ne!(query.matches(1, &row, &Nothing), negated.matches(1, &row, &Nothing));
                }
            }
            Err(error) => assert!(text.is_char_boundary(error.at) && !error.remedy.is_empty(), "{error:?}"),
        }
        for at in [0, text.len() / 2, text.len()] {
            let completion = complete(text, at, |_| vec!["a b".to_owned(), "x".to_owned()]);
            assert!(completion.from <= completion.to && completion.to <= text.len());
            assert!(text.is_char_boundary(completion.from) && text.is_char_boundary(completion.to));
        }
    });
});

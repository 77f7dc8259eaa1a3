//! What a run cost, as a table on stderr: the report on stdout stays one document.

use std::fmt::Write as _;

use agent::{Price, Spent};
use eval::recording::Tokens;
use report::render::text::count;

use crate::exit::tell;

/// Prints the table.
pub(in crate::verb) fn show(spent: Spent, price: Option<Price>) {
    tell(table(spent, price).trim_end());
}

fn table(spent: Spent, price: Option<Price>) -> String {
    let Spent { answers, tokens, unknown } = spent;
    let mut out = format!("{} of the model\n", count(answers, "answer"));
    let fresh = tokens.input.saturating_sub(tokens.cached);
    let rows = [
        ("read", Tokens { input: fresh, ..Tokens::default() }),
        ("from a cache", Tokens { input: tokens.cached, cached: tokens.cached, output: 0 }),
        ("written", Tokens { output: tokens.output, ..Tokens::default() }),
        ("all", tokens),
    ];
    for (name, of) in rows.into_iter().filter(|(name, of)| of.total() > 0 || *name == "all") {
        let cost = price.map_or_else(String::new, |price| format!("  {:>10.4} dollars", price.of(of)));
        let _ = writeln!(out, "  {name:<12}  {:>12} tokens{cost}", of.total());
    }
    if unknown > 0 {
        let _ = writeln!(out, "  of {}, the endpoint did not report the tokens", count(unknown, "answer"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_add_up() {
        let spent = Spent { answers: 2, tokens: Tokens { input: 1000, cached: 400, output: 50 }, unknown: 0 };
        let shown = table(spent, Some(Price { input: 10.0, cached: 1.0, output: 100.0 }));
        let numbers =
            |line: &str| -> Vec<f64> { line.split_whitespace().filter_map(|word| word.parse().ok()).collect() };
        let rows: Vec<Vec<f64>> = shown.lines().skip(1).map(numbers).collect();
        assert_eq!(rows, [[600.0, 0.006], [400.0, 0.0004], [50.0, 0.005], [1050.0, 0.0114]], "{shown}");
    }
}

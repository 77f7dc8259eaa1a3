//! A table that fits a terminal: the widest columns give way first.

use report::render::text::WIDTH;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Blanks between columns.
const GAP: usize = 2;

/// The narrowest that a column is made.
const NARROWEST: usize = 6;

/// Lines of a table with a heading, none wider than a terminal.
pub fn lines(headings: &[String], rows: &[Vec<String>]) -> Vec<String> {
    let escaped = |row: &[String]| row.iter().map(|cell| wire::escape::line(cell).into_owned()).collect::<Vec<_>>();
    let all: Vec<Vec<String>> = std::iter::once(escaped(headings)).chain(rows.iter().map(|row| escaped(row))).collect();
    let widths = widths(&all);
    all.iter().map(|row| line(row, &widths)).collect()
}

/// The width of each column: what it needs, but for the widest, which share what is left.
fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let needed = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.width()).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..columns).map(needed).collect();
    let room = WIDTH.saturating_sub(GAP * columns.saturating_sub(1));
    while widths.iter().sum::<usize>() > room {
        let Some(widest) = widths.iter_mut().filter(|width| **width > NARROWEST).max_by_key(|width| **width) else {
            break;
        };
        *widest -= 1;
    }
    widths
}

fn line(row: &[String], widths: &[usize]) -> String {
    let mut out = String::new();
    for (cell, width) in row.iter().zip(widths) {
        let cell = cut(cell, *width);
        let blanks = (width + GAP).saturating_sub(cell.width());
        out.push_str(&cell);
        out.extend(std::iter::repeat_n(' ', blanks));
    }
    out.trim_end().to_owned()
}

/// The beginning of a text, with a sign where something is left out.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        if out.width() + c.width().unwrap_or(0) + 1 > width {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

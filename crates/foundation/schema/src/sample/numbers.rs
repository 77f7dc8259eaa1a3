//! Numbers within their bounds.

use serde_json::{Value, json};

use crate::rng::Rng;
use crate::views::View;

/// How far from its bound a drawn number is at most: a large one may mean much work to a tool.
const FARTHER: f64 = 40.0;

/// A number that a view may admit. Whether it does is for the validator to say.
pub(super) fn number(view: &View<'_>, whole: bool, rng: &mut Rng) -> Option<Value> {
    let bound = |name: &str| view.get(name).and_then(Value::as_f64);
    let step = bound("multipleOf").filter(|step| *step > 0.0);
    let least = [bound("minimum"), bound("exclusiveMinimum")].into_iter().flatten().reduce(f64::max);
    let most = [bound("maximum"), bound("exclusiveMaximum")].into_iter().flatten().reduce(f64::min);
    let fits = |n: f64| {
        bound("minimum").is_none_or(|b| n >= b)
            && bound("maximum").is_none_or(|b| n <= b)
            && bound("exclusiveMinimum").is_none_or(|b| n > b)
            && bound("exclusiveMaximum").is_none_or(|b| n < b)
            && (!whole || n.fract() == 0.0)
    };
    let unit = step.unwrap_or(1.0);
    let low = least.map_or(0.0, |least| (least / unit).ceil());
    let mut likely = Vec::new();
    if !rng.is_plain() {
        likely.extend((0..4).map(|_| drawn(least, most, step.unwrap_or(if whole { 1.0 } else { 0.25 }), rng)));
    }
    likely.extend([unit, 2.0 * unit, low * unit, (low + 1.0) * unit, 0.0]);
    likely.extend(most.map(|most| (most / unit).floor() * unit));
    likely.extend(most.map(|most| ((most / unit).ceil() - 1.0) * unit));
    likely.extend(least.zip(most).map(|(least, most)| f64::midpoint(least, most)));
    likely.into_iter().find(|n| fits(*n)).map(plain)
}

/// A number near a bound. Halves and quarters only: they have no digits to lose.
fn drawn(least: Option<f64>, most: Option<f64>, step: f64, rng: &mut Rng) -> f64 {
    let low = least.unwrap_or_else(|| most.map_or(0.0, |most| most.min(FARTHER) - FARTHER));
    let span = most.map_or(FARTHER, |most| (most - low).clamp(0.0, FARTHER));
    let steps = (span / step).floor().clamp(0.0, 1e6) as u64;
    ((low / step).ceil() + rng.below(steps + 1) as f64) * step
}

/// A number as people write it.
pub(crate) fn plain(n: f64) -> Value {
    if n.fract() == 0.0 && n.abs() < 9e15 { json!(n as i64) } else { json!(n) }
}

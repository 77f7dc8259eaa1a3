//! Messages translated between revisions: what is valid at one revision is valid at the other by its official schema, and what
//! went there and back is the same except for the losses that were declared.
//!
//! Needs `../shared/spec`, and says so where it is absent. `TRANSLATION_MESSAGES` and `TRANSLATION_SEED` make a longer or
//! another run of it.

#![expect(clippy::print_stdout, reason = "a comparison says what it compared")]

mod compare;
#[expect(dead_code, reason = "the comparison of shapes uses the rest")]
#[path = "../shape_differential/generate.rs"]
mod generate;
mod kinds;
#[expect(dead_code, reason = "the comparison of shapes uses the rest")]
#[path = "../shape_differential/official.rs"]
mod official;

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use wire::Revision;
use wire::translate::table::Loss;

use crate::compare::{is_minus, normal};
use crate::generate::Generator;
use crate::kinds::Kind;
use crate::official::Official;

/// Messages of a short run.
const MESSAGES: usize = 20_000;
/// How deep generated values may be: to the members of a field of a form.
const DEEP: usize = 16;
/// Failures that are shown.
const SHOWN: usize = 10;

/// What was tried, and what came of it.
#[derive(Default)]
struct Tally {
    messages: usize,
    changed: usize,
    lossy: usize,
    by_row: BTreeMap<&'static str, usize>,
    failures: Vec<String>,
}

struct Schemas {
    official: HashMap<Revision, Official>,
    validators: HashMap<(Revision, &'static str), jsonschema::Validator>,
}

impl Schemas {
    fn load() -> Option<Self> {
        let official = Revision::ALL.into_iter().map(|r| Some((r, Official::load(r)?))).collect::<Option<_>>()?;
        Some(Self { official, validators: HashMap::new() })
    }

    fn is_valid(&mut self, revision: Revision, definition: &'static str, value: &Value) -> bool {
        let compile = || self.official[&revision].validator(definition);
        self.validators.entry((revision, definition)).or_insert_with(compile).is_valid(value)
    }
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|why| panic!("{name}: {why}")))
}

#[test]
fn translated_messages_are_valid_and_come_back() {
    let Some(mut schemas) = Schemas::load() else {
        println!("SKIPPED: no official schemas in ../shared/spec; nothing was translated");
        return;
    };
    let (most, seed) = (number("TRANSLATION_MESSAGES", MESSAGES), number("TRANSLATION_SEED", 1));
    let pairs = || Revision::ALL.into_iter().flat_map(|from| Revision::ALL.map(|to| (from, to)));
    let mut plan: Vec<(Kind, Revision, Revision)> = Vec::new();
    for (from, to) in pairs().filter(|(from, to)| from != to) {
        plan.extend(kinds::between(from, to).into_iter().map(|kind| (kind, from, to)));
    }
    let each = most.div_ceil(plan.len());
    let mut tally = Tally::default();
    for (place, (kind, from, to)) in plan.iter().enumerate() {
        let official = schemas.official.remove(from).expect("it was loaded");
        let mut generator = Generator::seeded(&official, (seed * plan.len() + place) as u64, DEEP);
        let made: Vec<Value> = (0..each).map(|_| generator.random(kind.definition_at(*from))).collect();
        drop(generator);
        schemas.official.insert(*from, official);
        for value in made {
            one(kind, *from, *to, value, &mut schemas, &mut tally);
        }
    }
    report(&tally, plan.len());
}

fn one(kind: &Kind, from: Revision, to: Revision, value: Value, schemas: &mut Schemas, tally: &mut Tally) {
    let original = kind.message(from, value);
    if !Kind::crosses(&original, from, to) {
        return;
    }
    let valid = |schemas: &mut Schemas, revision, message: &Value| {
        schemas.is_valid(revision, kind.definition_at(revision), kind.body(message))
    };
    if !valid(schemas, from, &original) {
        tally.failures.push(format!("made invalid: {kind:?} at {from}: {original}"));
        return;
    }
    let (there, mut losses) = kind.translate(&original, from, to);
    if !valid(schemas, to, &there) {
        tally.failures.push(format!("{kind:?} {from} → {to} is invalid:\n  {original}\n  {there}"));
    }
    let (back, lost) = kind.translate(&there, to, from);
    losses.extend(lost);
    if !valid(schemas, from, &back) {
        tally.failures.push(format!("{kind:?} {from} → {to} → {from} is invalid:\n  {original}\n  {back}"));
    }
    let (first, last) = (normal(kind, &original), normal(kind, &back));
    let same = if losses.is_empty() { first == last } else { is_minus(&last, &first, &losses) };
    if !same && kind.comes_back(from, to) {
        tally.failures.push(format!("{kind:?} {from} → {to} → {from}, {losses:?}:\n  {first}\n  {there}\n  {last}"));
    }
    tally.messages += 1;
    tally.changed += usize::from(there != original);
    tally.lossy += usize::from(!losses.is_empty());
    for Loss { row, .. } in losses {
        *tally.by_row.entry(row).or_default() += 1;
    }
}

fn report(tally: &Tally, plan: usize) {
    println!(
        "translated {} messages of {plan} kinds and pairs of revisions: {} changed, {} lost something, by row {:?}; {} failures",
        tally.messages,
        tally.changed,
        tally.lossy,
        tally.by_row,
        tally.failures.len()
    );
    for failure in tally.failures.iter().take(SHOWN) {
        println!("{failure}");
    }
    assert!(tally.failures.is_empty(), "{} failures, see above", tally.failures.len());
    assert!(tally.changed > tally.messages / 10, "hardly anything was translated");
    for row in ["33", "34", "35", "38", "39", "42", "43", "56"] {
        assert!(tally.by_row.contains_key(row), "no message lost what row {row} declares");
    }
}

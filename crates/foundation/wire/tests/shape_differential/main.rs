//! Our description of the message shapes against the official schemas: on official examples, generated instances and
//! mutations of both, the official schema, our `check` and our exported schema must give one verdict.
//!
//! Needs `../shared/spec`, and says so where it is absent. Where we knowingly read a schema otherwise, the reason
//! is in [`official::ERRATA`]; everything else must agree without exception.

mod generate;
mod mutate;
mod official;
mod sabotage;

use generate::Generator;
use official::Official;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use wire::Revision;
use wire::shape::{self, Extension, Mismatch};

/// Mutations at random made of each instance, besides the systematic ones; fewer than 20 in all would not be a trial.
const MUTATIONS: usize = 24;

/// Disagreements shown before the rest is only counted.
const SHOWN: usize = 20;

/// What was compared, and what came of it.
#[derive(Default)]
struct Tally {
    definitions: usize,
    examples: usize,
    instances: usize,
    mutations: usize,
    accepted: usize,
    rejected: usize,
    /// Verdicts that only an erratum explains.
    by_erratum: usize,
    disagreements: Vec<String>,
}

/// Three judges of one definition.
struct Judges<'a> {
    revision: Revision,
    name: &'a str,
    /// Our own word on a value.
    check: &'a dyn Fn(&str, &Value) -> Option<Vec<Mismatch>>,
    official: jsonschema::Validator,
    /// The official schema as it was published, where errata touch it.
    unread: Option<jsonschema::Validator>,
    exported: jsonschema::Validator,
}

impl Judges<'_> {
    /// Compares the verdicts on one value and returns the official one.
    fn judge(&self, value: &Value, tally: &mut Tally) -> bool {
        let official = self.official.is_valid(value);
        let exported = self.exported.is_valid(value);
        let found = (self.check)(self.name, value).unwrap_or_else(|| panic!("no {}", self.name));
        for mismatch in &found {
            let parent = mismatch.pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
            assert!(value.pointer(parent).is_some(), "{mismatch:?} points nowhere in {value}");
        }
        if found.is_empty() != official || exported != official {
            tally.disagreements.push(format!(
                "{} {}: official {official}, exported {exported}, check {found:?} on {value}",
                self.revision, self.name
            ));
        }
        if self.unread.as_ref().is_some_and(|u| u.is_valid(value) != official) {
            tally.by_erratum += 1;
        }
        if official {
            tally.accepted += 1;
        } else {
            tally.rejected += 1;
        }
        official
    }
}

#[test]
fn official_schemas_and_ours_agree() {
    let mut tally = Tally::default();
    for revision in Revision::ALL {
        let Some(official) = Official::load(revision) else {
            println!("SKIPPED: no official schema for {revision} in ../shared/spec; nothing was compared");
            return;
        };
        compare_revision(&official, &mut tally);
    }
    report(&tally);
    assert!(tally.examples > 100, "the official examples were not found");
    assert!(tally.accepted > 10_000 && tally.rejected > 10_000, "one of the verdicts was hardly tried");
    assert!(tally.by_erratum > 0, "the errata change nothing: either they are stale or this test sees nothing");
}

#[test]
fn official_schemas_of_extensions_and_ours_agree() {
    let mut tally = Tally::default();
    for extension in Extension::ALL {
        let Some(official) = Official::load_extension(extension) else {
            println!("SKIPPED: no official schema for {} in ../shared/spec; nothing was compared", extension.id());
            return;
        };
        compare_extension(extension, &official, &mut tally);
    }
    report(&tally);
    assert!(tally.accepted > 1000 && tally.rejected > 1000, "one of the verdicts was hardly tried");
}

#[expect(clippy::print_stdout, reason = "a comparison says what it compared")]
fn report(tally: &Tally) {
    println!(
        "compared {} definitions: {} official examples, {} generated instances, {} mutations; \
         {} accepted, {} rejected, {} by an erratum; {} disagreements",
        tally.definitions,
        tally.examples,
        tally.instances,
        tally.mutations,
        tally.accepted,
        tally.rejected,
        tally.by_erratum,
        tally.disagreements.len()
    );
    for line in tally.disagreements.iter().take(SHOWN) {
        println!("{line}");
    }
    assert!(tally.disagreements.is_empty(), "{} disagreements, see above", tally.disagreements.len());
}

fn compare_revision(official: &Official, tally: &mut Tally) {
    let revision = official.revision;
    let ours: BTreeSet<&str> = shape::definitions(revision).collect();
    let theirs: BTreeSet<&str> = official.names().collect();
    assert_eq!(ours, theirs, "the definitions of {revision}");
    assert_eq!(ours.len(), shape::definitions(revision).count(), "a definition of {revision} is listed twice");
    let exported = official::with_defs(&shape::json_schema(revision));
    for name in ours {
        let check = |name: &str, value: &Value| shape::check(name, revision, value);
        compare_name(official, name, &check, &exported, tally);
    }
}

/// Compares what an extension defines; what it copies of its revision was compared there.
fn compare_extension(extension: Extension, official: &Official, tally: &mut Tally) {
    let ours: BTreeSet<&str> = extension.definitions().collect();
    let theirs = official.names().filter(|name| shape::doc(name, extension.revision()).is_none());
    let left_out = |name: &&str| official::LEFT_OUT.iter().all(|(left_out, _)| left_out != name);
    assert_eq!(ours, theirs.filter(left_out).collect::<BTreeSet<_>>(), "the definitions of {}", extension.id());
    let exported = official::with_defs(&extension.json_schema());
    for name in ours {
        compare_name(official, name, &|name, value| extension.check(name, value), &exported, tally);
    }
}

fn compare_name(
    official: &Official,
    name: &str,
    check: &dyn Fn(&str, &Value) -> Option<Vec<Mismatch>>,
    exported: &Value,
    tally: &mut Tally,
) {
    let judges = Judges {
        revision: official.revision,
        name,
        check,
        official: official.validator(name),
        unread: official.unread_validator(name),
        exported: official::compile(exported, name),
    };
    tally.definitions += 1;
    compare_definition(official, &judges, tally);
}

fn compare_definition(official: &Official, judges: &Judges<'_>, tally: &mut Tally) {
    let examples = official.examples(judges.name);
    tally.examples += examples.len();
    let mut generator = Generator::new(official, judges.name);
    let instances = generator.instances(judges.name);
    tally.instances += instances.len();
    for instance in examples.iter().chain(&instances) {
        assert!(
            judges.judge(instance, tally),
            "the official schema of {} {} rejects what was made to please it: {instance}",
            judges.revision,
            judges.name
        );
        let mutants = mutate::mutations(instance, official, generator.rng(), MUTATIONS);
        assert!(mutants.len() >= 20, "only {} mutations of {instance}", mutants.len());
        tally.mutations += mutants.len();
        for mutant in &mutants {
            judges.judge(mutant, tally);
        }
    }
}

#[test]
fn errata_are_not_stale() {
    for revision in Revision::ALL {
        let Some(official) = Official::load(revision) else {
            println!("SKIPPED: no official schema for {revision} in ../shared/spec");
            return;
        };
        for erratum in official::ERRATA.iter().filter(|e| e.revisions.contains(&revision)) {
            println!("{revision} {}: {}", erratum.pointer, erratum.why);
            let published = official.published().pointer(erratum.pointer);
            let expected: Value = serde_json::from_str(erratum.published).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(published, Some(&expected), "{revision} {} is no longer as the erratum says", erratum.pointer);
        }
    }
}

#[test]
fn exported_schemas_are_schemas() {
    for revision in Revision::ALL {
        let schema = shape::json_schema(revision);
        assert_eq!(schema["$schema"], json!("https://json-schema.org/draft/2020-12/schema"));
        assert!(jsonschema::meta::is_valid(&schema), "{revision}: not a valid JSON Schema");
    }
}

/// The comparison above is worth what its values are worth: they must notice whatever is changed in any one place.
#[test]
fn every_breakage_is_seen() {
    let (mut tried, mut unseen) = (0, Vec::new());
    for revision in Revision::ALL {
        let Some(official) = Official::load(revision) else {
            println!("SKIPPED: no official schema for {revision} in ../shared/spec; no breakage was tried");
            return;
        };
        for name in official.names() {
            let sound = official.validator(name);
            let judged: Vec<(Value, bool)> =
                values(&official, name).into_iter().map(|v| (v.clone(), sound.is_valid(&v))).collect();
            for (what, broken) in sabotage::breakages(official.definition(name)) {
                tried += 1;
                let broken = official.validator_with(name, broken);
                if judged.iter().all(|(value, verdict)| broken.is_valid(value) == *verdict) {
                    unseen.push((revision, name.to_owned(), what));
                }
            }
        }
    }
    let harmless = |name: &str, what: &str| sabotage::HARMLESS.iter().position(|h| h.covers(name, what));
    let used: BTreeSet<usize> = unseen.iter().filter_map(|(_, name, what)| harmless(name, what)).collect();
    println!("{tried} breakages, {} change nothing", unseen.len());
    unseen.retain(|(_, name, what)| harmless(name, what).is_none());
    assert!(unseen.is_empty(), "not noticed: {unseen:#?}");
    assert_eq!(
        used.len(),
        sabotage::HARMLESS.len(),
        "a harmless breakage is listed that does harm: only {used:?} used"
    );
}

fn values(official: &Official, name: &str) -> Vec<Value> {
    let mut generator = Generator::new(official, name);
    let mut values = official.examples(name);
    values.extend(generator.instances(name));
    for index in 0..values.len() {
        let mutants = mutate::mutations(&values[index], official, generator.rng(), MUTATIONS);
        values.extend(mutants);
    }
    values
}

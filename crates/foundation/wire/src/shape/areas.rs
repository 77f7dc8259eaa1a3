//! The description itself: one file per area of the protocol, and the index over all of them.
//!
//! The files say what shapes there are. They must not know how values are checked.

mod base;
mod capabilities;
mod completion;
mod content;
mod elicitation;
mod errors;
mod lifecycle;
mod logging;
mod messages;
mod prompts;
mod resources;
mod roots;
mod rounds;
mod sampling;
mod subscriptions;
mod tasks;
mod tasks_extension;
mod tools;

use super::Extension;
use super::describe::Definition;
use std::collections::HashMap;
use std::sync::LazyLock;

const AREAS: [&[Definition]; 17] = [
    base::SHAPES,
    messages::SHAPES,
    errors::SHAPES,
    lifecycle::SHAPES,
    capabilities::SHAPES,
    content::SHAPES,
    tools::SHAPES,
    resources::SHAPES,
    prompts::SHAPES,
    completion::SHAPES,
    logging::SHAPES,
    sampling::SHAPES,
    elicitation::SHAPES,
    roots::SHAPES,
    tasks::SHAPES,
    subscriptions::SHAPES,
    rounds::SHAPES,
];

static INDEX: LazyLock<HashMap<&'static str, &'static Definition>> =
    LazyLock::new(|| all().chain(extended()).map(|d| (d.name, d)).collect());

/// Every definition of every revision.
pub(super) fn all() -> impl Iterator<Item = &'static Definition> {
    AREAS.into_iter().flatten()
}

/// The definitions of an extension, their names prefixed with its own.
pub(super) const fn of(extension: Extension) -> &'static [Definition] {
    match extension {
        Extension::Tasks => tasks_extension::SHAPES,
    }
}

fn extended() -> impl Iterator<Item = &'static Definition> {
    Extension::ALL.into_iter().flat_map(of)
}

/// The definition of that name, whichever revisions have it.
pub(super) fn find(name: &str) -> Option<&'static Definition> {
    INDEX.get(name).copied()
}

/// The definition that the description itself refers to.
pub(super) fn known(name: &str) -> &'static Definition {
    find(name).unwrap_or_else(|| unreachable!("the description refers to {name}, which it lacks"))
}

#[cfg(test)]
mod tests {
    use super::super::describe::{Field, Shape};
    use super::*;
    use crate::Revision;

    /// Every shape inside a shape, itself among them, references not followed.
    fn inside(shape: &'static Shape) -> Vec<&'static Shape> {
        let mut found = vec![shape];
        match shape {
            Shape::List { of, .. } | Shape::Map(of) => found.extend(inside(of)),
            Shape::Object(groups) => found.extend(fields(groups).flat_map(|f| inside(&f.shape))),
            Shape::Either(alternatives) => found.extend(alternatives.iter().flat_map(|a| inside(&a.shape))),
            Shape::Both(parts) => found.extend(parts.iter().flat_map(inside)),
            _ => {}
        }
        found
    }

    fn fields(groups: &'static [&'static [Field]]) -> impl Iterator<Item = &'static Field> {
        groups.iter().copied().flatten()
    }

    fn every_shape() -> impl Iterator<Item = (&'static str, &'static Shape)> {
        all().chain(extended()).flat_map(|d| inside(&d.shape).into_iter().map(|shape| (d.name, shape)))
    }

    #[test]
    fn references_lead_somewhere() {
        for (name, shape) in every_shape() {
            if let Shape::Named(target) = shape {
                assert!(find(target).is_some(), "{name} refers to {target}, which is not described");
            }
        }
    }

    #[test]
    fn names_are_unique_and_used() {
        assert_eq!(INDEX.len(), all().chain(extended()).count(), "two definitions have one name");
        for definition in all() {
            assert!(
                Revision::ALL.into_iter().any(|r| definition.named.contains(r)),
                "{} is in no revision",
                definition.name
            );
        }
    }

    #[test]
    fn an_extensions_names_are_its_own() {
        for extension in Extension::ALL {
            for definition in of(extension) {
                let local = extension.local(definition.name);
                assert_eq!(extension.find(local).map(|d| d.name), Some(definition.name));
                assert!(!Revision::ALL.into_iter().any(|r| definition.named.contains(r)), "{local} is no core's");
            }
        }
    }

    #[test]
    fn a_member_is_described_once_in_each_revision() {
        for (name, shape) in every_shape() {
            let Shape::Object(groups) = shape else { continue };
            for revision in Revision::ALL {
                let mut seen: Vec<&str> = Vec::new();
                for field in fields(groups).filter(|f| f.present.contains(revision)) {
                    assert!(!seen.contains(&field.name), "{name} describes {} twice at {revision}", field.name);
                    seen.push(field.name);
                }
            }
        }
    }

    #[test]
    fn docs_are_one_sentence() {
        for definition in all().chain(extended()) {
            let doc = definition.doc;
            assert!(doc.ends_with('.') && !doc.contains('\n') && doc.len() < 110, "{}: {doc:?}", definition.name);
        }
    }
}

//! How members and methods are spelt. No sentence demands more than the shapes do: a member that nobody knows is allowed.

use wire::revision::R2024_11_05;
use wire::shape::are_alike;
use wire::{Kind, method};

use super::shapes::spelt;
use crate::rule::{Rule, at, safety};
use crate::verdict::{Kept, Verdict};
use crate::view::View;

/// The rule.
pub(crate) const RULES: &[Rule] = &[safety("shape.members-spelled")
    .asks(
        R2024_11_05,
        at("basic/index", "schema"),
        "A good server spells members and notifications as the schema does: a client does not read `next_cursor`.",
    )
    .by_default()
    .how("Looks for members that the schema has in another spelling (letter case, underscores, hyphens) and that are missing in their own, and for notifications named so. Metadata, arguments and structured content have names of their own.")
    .fix("Write names as the schema does, in camel case: with an SDK in Python, serialize by alias.")
    .judge(members)];

fn members(view: &View<'_>) -> Verdict {
    let shaped = spelt(view).into_iter().map(|(sent, found)| {
        let kept: Kept = found.first().map_or(Ok(()), |one| {
            Err(sent.breach(one.pointer.clone(), format!("the schema spells this member `{}`", one.known)))
        });
        (sent.event, kept)
    });
    let notes = view.by_subject().filter(|sent| sent.message.kind() == Kind::Notification).filter_map(|sent| {
        let name = sent.message.method().filter(|name| method::find(name, view.revision()).is_none())?;
        let known = NOTIFICATIONS.iter().find(|known| are_alike(name, known))?;
        Some((sent.event, Err(sent.breach("/method", format!("the schema spells this notification `{known}`")))))
    });
    Verdict::of(notes.chain(shaped).collect::<Vec<(usize, Kept)>>(), "no message with a shape was seen")
}

/// What a server may announce.
const NOTIFICATIONS: [&str; 8] = [
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
    "notifications/progress",
    "notifications/message",
    "notifications/cancelled",
    "notifications/subscriptions/acknowledged",
];

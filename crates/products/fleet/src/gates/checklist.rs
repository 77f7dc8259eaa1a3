//! `ready`: the eleven boxes of `proof ready`. A box without evidence is not ticked.

use serde_json::{Value, json};

use super::{Material, list, percent, text};
use crate::gate::{Finding, Judged};

/// How many boxes the checklist has.
const BOXES: usize = 11;

pub(super) fn judge(material: &Material<'_>) -> Result<Judged, String> {
    let ended = material.only()?;
    let report = ended.any_report()?;
    let boxes: Vec<&Value> = list(report, "boxes").collect();
    if boxes.len() != BOXES {
        return Err(format!("the checklist has {} boxes, not {BOXES}", boxes.len()));
    }
    let is_ticked = |one: &&&Value| one["answer"].as_str() == Some("yes");
    let ticked = boxes.iter().filter(is_ticked).count();
    ended.agrees(ticked == BOXES)?;
    let findings = boxes.iter().filter(|one| !is_ticked(one)).map(|one| Finding {
        rule: text(one, "box"),
        level: text(one, "answer"),
        place: text(one, "area"),
        message: text(one, "evidence"),
        fix: "https://github.com/proofhouse/proofhouse/blob/main/docs/gateway-ready.md; `ready: gateway.yaml` in the entry names the gateway in front of it".to_owned(),
        fails: true,
    });
    let mut judged = Judged::by_findings(findings.collect(), format!("all {BOXES} boxes have evidence"));
    judged.score = percent(ticked as u64, BOXES as u64);
    let shown = |one: &&Value| {
        let evidence = wire::escape::snippet(&text(one, "evidence"), 300);
        json!({ "area": text(one, "area"), "box": text(one, "box"), "answer": text(one, "answer"), "evidence": evidence })
    };
    judged.facts = json!({ "yes": ticked, "boxes": boxes.iter().map(shown).collect::<Vec<_>>() });
    Ok(judged)
}

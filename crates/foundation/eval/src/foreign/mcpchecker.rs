//! mcpchecker's evaluations: each task of a set, with the assertions of the set, is a case.

use std::collections::BTreeMap;

use document::{FileError, quoted};

use super::conclude::conclude;
use super::expect::{Case, Demand, Want};
use super::reader::{Part, Place, Reader};
use super::{MOST_BYTES, MOST_CASES, too_many};

/// A task alone: without the assertions of an evaluation there is nothing to expect.
pub(super) fn alone(reader: &mut Reader<'_>, root: &Part) {
    reader
        .left_out(&root.place(), "a task has no assertions about calls: import the evaluation (`kind: Eval`) with it");
}

/// The cases of an evaluation.
pub(super) fn eval(reader: &mut Reader<'_>, root: &Part) -> Result<Vec<Case>, FileError> {
    let config = root.get("config");
    let members = config.as_ref().map_or_else(Vec::new, Part::members);
    for (key, part) in members.iter().filter(|(key, _)| key != "taskSets") {
        let why = match key.as_str() {
            "agent" | "mcpConfigFile" => "`proof eval run` names the model and the server",
            "llmJudge" => "a judge's opinion is for `proof eval judge`",
            _ => "cases have no counterpart",
        };
        reader.left_out(&part.place(), format!("{}: {why}", quoted(key)));
    }
    let sets = config.and_then(|config| config.get("taskSets")).map_or_else(Vec::new, |sets| sets.items());
    let (mut cases, mut bytes) = (Vec::new(), 0);
    for set in sets {
        let demands = set.get("assertions").map_or_else(Vec::new, |part| demands(reader, &part));
        for path in paths(reader, &set) {
            let place = set.place();
            let Some((inside, task)) = reader.load(&place, "", &path) else { continue };
            if cases.len() >= MOST_CASES || bytes > MOST_BYTES {
                return Err(too_many(&place));
            }
            if task.get("kind").is_none_or(|kind| kind.text() != Some("Task")) {
                reader.left_out(&task.place(), format!("{}: not a task", quoted(&path)));
            } else if is_selected(&set, &task) {
                let made = case(reader, &task, &inside, &demands);
                bytes += made.as_ref().map_or(0, Case::weight);
                cases.extend(made);
            }
        }
    }
    Ok(cases)
}

/// The files of a set of tasks.
fn paths(reader: &mut Reader<'_>, set: &Part) -> Vec<String> {
    if let Some(source) = set.get("source") {
        reader.left_out(&source.place(), "tasks of another repository are not fetched");
        return Vec::new();
    }
    if let Some(path) = set.get("path").and_then(|path| path.text().map(str::to_owned)) {
        return vec![path];
    }
    let Some(glob) = set.get("glob") else {
        reader.left_out(&set.place(), "a set of tasks without `path` or `glob`");
        return Vec::new();
    };
    let pattern = glob.text().unwrap_or_default();
    let steps: Vec<&str> = pattern.split('/').filter(|step| *step != "." && !step.is_empty()).collect();
    let fixed =
        steps.iter().take_while(|step| !step.contains(['*', '?', '['])).count().min(steps.len().saturating_sub(1));
    let all = reader.list(&glob.place(), &steps[..fixed].join("/"), steps.len() - fixed);
    let found: Vec<String> = all.into_iter().filter(|path| is_matched(pattern, path)).collect();
    if found.is_empty() {
        reader.left_out(&glob.place(), format!("{} matches no file in this folder", quoted(pattern)));
    }
    found
}

/// Whether a pattern matches a path, step by step: `*` and `?` stay within a step, and `**` is no more than `*`, as for Go.
fn is_matched(pattern: &str, path: &str) -> bool {
    let steps: Vec<&str> = pattern.split('/').filter(|step| *step != "." && !step.is_empty()).collect();
    let path: Vec<&str> = path.split('/').collect();
    steps.len() == path.len() && steps.iter().zip(path).all(|(step, name)| is_step(step, name))
}

/// By the positions that the pattern may have reached, so that many `*` cost no more than one.
fn is_step(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let reach = |mut at: Vec<bool>| {
        for index in 0..pattern.len() {
            at[index + 1] |= at[index] && pattern[index] == '*';
        }
        at
    };
    let mut start = vec![false; pattern.len() + 1];
    start[0] = true;
    let end = name.chars().fold(reach(start), |at, letter| {
        let mut next = vec![false; pattern.len() + 1];
        for index in (0..pattern.len()).filter(|index| at[*index]) {
            match pattern[index] {
                '*' => next[index] = true,
                one if one == '?' || one == letter => next[index + 1] = true,
                _ => {}
            }
        }
        reach(next)
    });
    end.last() == Some(&true)
}

fn labels(part: Option<Part>) -> BTreeMap<String, String> {
    let members = part.map_or_else(Vec::new, |part| part.members());
    let text = |part: Part| part.text().map_or_else(|| part.value().to_string(), str::to_owned);
    members.into_iter().map(|(name, part)| (name, text(part))).collect()
}

fn is_selected(set: &Part, task: &Part) -> bool {
    let has = labels(task.get("metadata").and_then(|metadata| metadata.get("labels")));
    labels(set.get("labelSelector")).iter().all(|(name, value)| has.get(name) == Some(value))
}

/// A task as a case.
fn case(reader: &mut Reader<'_>, task: &Part, path: &str, demands: &[Demand]) -> Option<Case> {
    let metadata = task.get("metadata");
    let of = |key: &str| metadata.as_ref().and_then(|metadata| metadata.get(key));
    let name = of("name").and_then(|name| name.text().map(str::to_owned)).unwrap_or_else(|| path.to_owned());
    let body = task.get("spec").or_else(|| task.get("steps"));
    let prompt = body.as_ref().and_then(|body| prompt(reader, body, path));
    if prompt.is_none() {
        reader.left_out(&task.place(), format!("the task {} has no prompt that can be read", quoted(&name)));
    }
    unread(reader, body.as_ref());
    if let Some(runs) = of("runs") {
        reader.left_out(&runs.place(), "`runs`: `proof eval run --samples N` asks several times");
    }
    let mut tags: Vec<String> = of("difficulty").and_then(|part| part.text().map(str::to_owned)).into_iter().collect();
    tags.extend(labels(of("labels")).into_iter().map(|(name, value)| format!("{name}={value}")));
    let expected = conclude(reader, demands);
    if expected.is_none() {
        reader.left_out(&task.place(), format!("the task {}: nothing of it can be said by a case", quoted(&name)));
    }
    expected.map(|expected| Case { name, prompt, tags, expected })
}

fn prompt(reader: &mut Reader<'_>, body: &Part, task: &str) -> Option<String> {
    let prompt = body.get("prompt")?;
    if let Some(inline) = prompt.get("inline") {
        return inline.text().map(str::to_owned);
    }
    let file = prompt.get("file")?;
    let base = task.rfind('/').map_or("", |slash| &task[..slash]);
    reader.text_of(&file.place(), base, file.text()?).map(|(_, text)| text.trim_end().to_owned())
}

/// Remarks the steps of a task: they are scripts, requests and opinions.
fn unread(reader: &mut Reader<'_>, body: Option<&Part>) {
    for (phase, part) in body.map_or_else(Vec::new, Part::members).iter().filter(|(phase, _)| phase != "prompt") {
        for step in part.items() {
            for (kind, at) in step.members() {
                let why = match kind.as_str() {
                    "llmJudge" | "contains" | "exact" => "a judge's opinion is for `proof eval judge`",
                    "script" | "file" | "inline" => "code is never run",
                    "timeout" | "continueOnError" => continue,
                    _ => "cases have no counterpart",
                };
                let place = at.place();
                reader.left_out(&place, format!("{} of {}: {why}", quoted(&kind), quoted(phase)));
            }
        }
    }
}

/// The assertions of a set of tasks.
fn demands(reader: &mut Reader<'_>, assertions: &Part) -> Vec<Demand> {
    let mut all = Vec::new();
    let mut servers = std::collections::BTreeSet::new();
    for (key, part) in assertions.members() {
        let place = part.place();
        let items = part.items();
        servers
            .extend(items.iter().filter_map(|item| item.get("server").and_then(|one| one.text().map(str::to_owned))));
        let mut add = |place: Place, want| all.push(Demand { place, label: quoted(&key), want });
        match key.as_str() {
            "toolsUsed" => each(reader, &key, &items, &mut |place, tool| add(place, Want::Used(tool, 1))),
            "toolsNotUsed" => each(reader, &key, &items, &mut |place, tool| add(place, Want::Never(tool))),
            "requireAny" if items.len() == 1 => {
                each(reader, &key, &items, &mut |place, tool| add(place, Want::Used(tool, 1)));
            }
            "requireAny" => reader.left_out(&place, "`requireAny`: a case has no alternatives"),
            "callOrder" => add(place, Want::Sequence(sequence(reader, &items), false)),
            "minToolCalls" | "maxToolCalls" => match part.value().as_u64().and_then(|n| usize::try_from(n).ok()) {
                Some(0) if key == "maxToolCalls" => add(place, Want::Nothing),
                Some(most) if key == "maxToolCalls" => add(place, Want::AtMost(most)),
                Some(least) => add(place, Want::AtLeast(least)),
                None => reader.left_out(&place, format!("{}: not a number", quoted(&key))),
            },
            "noDuplicateCalls" if part.value() == false => {}
            _ => reader.left_out(&place, format!("{}: cases have no counterpart", quoted(&key))),
        }
    }
    if servers.len() > 1 {
        reader.left_out(&assertions.place(), "`server`: cases name tools, not the server that has them");
    }
    // An empty order demands nothing.
    all.retain(|demand| !matches!(&demand.want, Want::Sequence(tools, _) if tools.is_empty()));
    all
}

/// Each tool that is named, with its place.
fn each(reader: &mut Reader<'_>, key: &str, items: &[Part], add: &mut dyn FnMut(Place, String)) {
    for item in items {
        match tool(item) {
            Ok(tool) => add(item.place(), tool),
            Err(why) => reader.left_out(&item.place(), format!("{}: {why}", quoted(key))),
        }
    }
}

/// The one tool that an assertion names; a pattern does so where it is anchored and has no other signs.
fn tool(item: &Part) -> Result<String, String> {
    if let Some(tool) = item.get("tool").filter(|tool| tool.text().is_some_and(|name| !name.is_empty())) {
        return Ok(tool.text().unwrap_or_default().to_owned());
    }
    let pattern = item.get("toolPattern");
    let Some(pattern) = pattern.as_ref().and_then(|pattern| pattern.text()) else {
        return Err("any tool of a server, cases name tools".to_owned());
    };
    let literal = pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix('$'));
    let is_plain = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-/:".contains(c));
    let literal = literal.filter(is_plain).map(str::to_owned);
    literal.ok_or_else(|| format!("{} is a pattern, cases name tools", quoted(pattern)))
}

/// The tools of an order; what else it names is remarked.
fn sequence(reader: &mut Reader<'_>, items: &[Part]) -> Vec<String> {
    let mut tools = Vec::new();
    for item in items {
        let of = |key: &str| item.get(key).and_then(|part| part.text().map(str::to_owned));
        match (of("type").as_deref(), of("name")) {
            (Some("tool"), Some(name)) if !name.is_empty() => tools.push(name),
            _ => reader.left_out(&item.place(), "`callOrder`: cases order calls of tools only"),
        }
    }
    tools
}

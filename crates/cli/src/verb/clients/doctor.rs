//! `proof doctor NAME`: starts a configured server as its clients would, and says what is wrong with the entry. Without a name,
//! every entry is examined and none is started.

use std::fmt::Write as _;
use std::path::Path;

use ::doctor::{Report, STEP, Step};
use clients::Launch;
use clients::findings::{Known, Machine as Facts, issues};
use clients::scope::Standing;
use report::render::text::wrap;
use serde_json::{Value, json};
use wire::redact::Secrets;

use super::choices::Approval;
use super::connect::{Greetings, address};
use super::effective::{Judged, judged};
use super::list::{Entry, can_start, entries, launched, words};
use super::machine::Machine;
use super::restrictions::Restrictions;
use super::secrets::is_secret;
use super::unset::Unset;
use super::{strangers, syntax};
use crate::args::doctor::DoctorArgs;
use crate::args::suggestion;
use crate::exit::{Exit, tell, usage};
use crate::format::painted;
use crate::run::Run;
use crate::verb::{doctor, output};

/// What is known of one entry.
struct Diagnosis {
    judged: Judged,
    faults: Vec<String>,
    notes: Vec<String>,
    answer: Option<Result<String, Exit>>,
    /// The steps to a server that does not answer.
    way: Option<Report>,
    /// Whether it was left alone because it is of the project.
    is_withheld: bool,
}

/// Examines the entries of one name.
pub(crate) fn run(run: &Run, args: &DoctorArgs) -> Exit {
    let exit = examined(run, args).unwrap_or_else(|exit| exit);
    run.children.kill_all();
    exit
}

fn examined(run: &Run, args: &DoctorArgs) -> Result<Exit, Exit> {
    let machine = Machine::here()?;
    let clients = Machine::named(&args.client)?;
    let mut restrictions = Restrictions::read(&machine, &clients, args.managed.as_deref())?;
    let (entries, mut refused) = entries(run, &machine, &clients);
    refused.append(&mut restrictions.problems);
    for one in &refused {
        tell(format_args!("error: {}: {}\n  try: {}", one.place, one.what, one.remedy));
    }
    let named = |entry: &Entry| args.name().is_none_or(|name| entry.name == name);
    if !entries.iter().any(named) {
        return Err(unknown(args.name(), &entries));
    }
    let of_name: Vec<_> =
        judged(&machine, &restrictions.policy, entries).into_iter().filter(|one| named(&one.entry)).collect();
    let mut greetings = Greetings::new(run, args.reach.timeout);
    let found: Vec<_> =
        of_name.into_iter().map(|one| diagnosis(run, args, &mut greetings, &machine, one)).collect::<Result<_, _>>()?;
    if let Some(exit) = found
        .iter()
        .find_map(|one| one.answer.as_ref()?.as_ref().err().filter(|exit| matches!(exit, Exit::Interrupted(_))))
    {
        return Ok(*exit);
    }
    let text = if args.is_json() { document(&found) } else { found.iter().map(|one| text(args, one)).collect() };
    args.to.write(&text)?;
    let is_silent = found.iter().any(|one| matches!(one.answer, Some(Err(_))));
    let has_fault = !refused.is_empty() || found.iter().any(|one| !one.faults.is_empty() || one.is_withheld);
    Ok(match (is_silent, has_fault) {
        (true, _) => Exit::NoAnswer,
        (false, true) => Exit::Finding,
        (false, false) => Exit::Clean,
    })
}

/// No entry has this name, or there are none.
fn unknown(name: Option<&str>, entries: &[Entry]) -> Exit {
    let Some(name) = name else {
        return usage("no client has a server here", "proof doctor URL, or proof doctor -- COMMAND");
    };
    let what = format!("no client has a server `{}` here", wire::escape::line(name));
    let near = suggestion(name, entries.iter().map(|entry| entry.name.as_str())).filter(|near| *near != name);
    let near = near.map(|near| format!("`{}`; ", wire::escape::line(near))).unwrap_or_default();
    usage(&what, &format!("{near}`proof list` shows all names; a command stands after `--`"))
}

fn diagnosis(
    run: &Run,
    args: &DoctorArgs,
    greetings: &mut Greetings<'_>,
    machine: &Machine,
    judged: Judged,
) -> Result<Diagnosis, Exit> {
    let entry = &judged.entry;
    let (mut faults, mut notes) = (Vec::new(), Vec::new());
    if matches!(judged.standing, Standing::Denied(_) | Standing::Exclusive) {
        faults.push(judged.words());
    }
    faults.extend(entry.unset.iter().map(Unset::words));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let facts = Facts { has_command: &|command| can_start(&paths, command), is_secret: &is_secret };
    let known = Known { place: "", name: &entry.name, launch: &entry.launch };
    for issue in issues(&[known], &facts).into_iter().flatten() {
        let is_fault = matches!(issue, clients::findings::Issue::MissingCommand(_));
        if is_fault { faults.push(words(&issue)) } else { notes.push(words(&issue)) }
    }
    let foreign = syntax::foreign(entry.client, &entry.value);
    let can_start = args.name().is_some() && entry.unset.is_empty() && judged.is_used() && foreign.is_empty();
    faults.extend(foreign);
    let (mut answer, mut way, mut is_withheld) = (None, None, false);
    if can_start && !strangers::may_start(entry, args.trust_project)? {
        is_withheld = true;
        notes.push("not started, because the file of the project says how; --trust-project starts it".to_owned());
    } else if can_start {
        // A client starts the servers of a project in its folder, and we are there.
        let folder = syntax::folder(&entry.value, &machine.project);
        match greetings.greet(&entry.launch, &folder) {
            Err(why) => faults.push(why),
            Ok(greeted) => {
                if matches!(greeted, Err(Exit::NoAnswer)) {
                    way = walked(run, args, entry, &folder)?;
                }
                answer = Some(greeted.map(|greeted| {
                    let announced = greeted.announces();
                    if !announced.is_empty() {
                        notes.push(format!("announces changes of its {}", announced.join(", ")));
                    }
                    if greeted.is_channel() {
                        notes.push("is a channel: start Claude Code with --channels to get its messages".to_owned());
                    }
                    greeted.line()
                }));
            }
        }
    }
    if judged.is_used() && matches!(judged.approval, Some(Approval::Pending(_))) {
        notes.push(judged.words());
    }
    Ok(Diagnosis { judged, faults, notes, answer, way, is_withheld })
}

/// The steps to a server that does not answer.
fn walked(run: &Run, args: &DoctorArgs, entry: &Entry, folder: &Path) -> Result<Option<Report>, Exit> {
    let folder = matches!(entry.launch, Launch::Stdio { .. }).then_some(folder);
    let Ok(address) = address(&entry.launch, folder) else { return Ok(None) };
    let mut secrets = Secrets::default();
    super::secrets::add(&entry.value, &mut secrets);
    let step = args.reach.timeout.unwrap_or(STEP);
    doctor::examined(run, &args.reach, address, &secrets, step).map(Some)
}

fn text(args: &DoctorArgs, one: &Diagnosis) -> String {
    let entry = &one.judged.entry;
    let state = match &one.answer {
        _ if !one.faults.is_empty() => "faulty",
        Some(Ok(_)) => "works",
        Some(Err(_)) => "does not answer",
        None => "not started",
    };
    let (mut out, paint) = (String::new(), args.to.paint());
    let state = match state {
        "works" => paint.green(state),
        "not started" => state.to_owned(),
        _ => paint.red(state),
    };
    let name = if args.name().is_some() { String::new() } else { format!(" {}", wire::escape::line(&entry.name)) };
    let _ = writeln!(out, "{} ({}): {state}", paint.bold(&format!("{}{name}", entry.client.id)), entry.scope);
    wrap(&mut out, 2, &format!("{} from {}", wire::escape::line(&launched(&entry.launch)), output::shown(&entry.path)));
    if let Some(Ok(line)) = &one.answer {
        wrap(&mut out, 2, &wire::escape::line(line));
    }
    if matches!(one.judged.standing, Standing::Shadowed(_)) || one.judged.off.is_some() {
        wrap(&mut out, 2, &wire::escape::line(&one.judged.words()));
    }
    for fault in &one.faults {
        out += &labelled("fault:", fault, |label| paint.red(label));
    }
    if let Some(way) = &one.way {
        out.push_str(&doctor::steps(way, paint));
    }
    for note in &one.notes {
        out += &labelled("note:", note, |label| paint.yellow(label));
    }
    out
}

/// A text after a label in colour.
fn labelled(label: &str, text: &str, paint: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    wrap(&mut out, 2, &format!("{label} {}", wire::escape::line(text)));
    painted::lead(&out, &format!("  {label}"), paint)
}

fn document(found: &[Diagnosis]) -> String {
    let entries = found.iter().map(|one| {
        let entry = &one.judged.entry;
        json!({
            "client": entry.client.id, "name": entry.name, "scope": entry.scope.to_string(), "file": entry.path, "launch": launched(&entry.launch),
            "standing": one.judged.words(), "faults": one.faults, "notes": one.notes,
            "answers": one.answer.as_ref().map(Result::is_ok),
            "server": one.answer.as_ref().and_then(|answer| answer.as_ref().ok()),
            "steps": one.way.as_ref().map(|way| way.steps.iter().map(Step::to_value).collect::<Value>()),
        })
    });
    let value = json!({ "schema": "proof.doctor/1", "entries": entries.collect::<Value>(), "target": null });
    format!("{}\n", wire::escape::json(&serde_json::to_string_pretty(&value).unwrap_or_default()))
}

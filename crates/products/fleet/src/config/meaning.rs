//! What the entries of a `fleet.yaml` mean together, and what no schema can say of them.

use std::collections::HashMap;
use std::path::PathBuf;

use document::{nearest, quoted};

use super::entry::{Entry, StageName};
use super::webhook;
use super::{Defaults, File, Fleet, Launch, Server, Stage, StorePlace, Text, default_stages};
use crate::{columns, filter, secret};

/// Something wrong, by the pointer to its place.
pub(super) struct Mistake {
    pub(super) pointer: String,
    pub(super) what: String,
    pub(super) remedy: String,
}

pub(super) fn mistake(pointer: String, what: impl Into<String>, remedy: impl Into<String>) -> Mistake {
    Mistake { pointer, what: what.into(), remedy: remedy.into() }
}

/// The fleet, and every mistake.
pub(super) fn of(file: File, folder: PathBuf) -> (Fleet, Vec<Mistake>) {
    let mut wrong = Vec::new();
    let stages = file.stages.unwrap_or_else(default_stages);
    check_stages(&stages, &mut wrong);
    check_names(&file.servers, &mut wrong);
    let servers = (file.servers.into_iter().enumerate())
        .map(|(index, entry)| server(index, entry, &file.defaults, &stages, &mut wrong))
        .collect();
    for (index, dashboard) in file.dashboards.iter().enumerate() {
        if let Err(error) = filter::Filter::parse(&dashboard.filter) {
            wrong.push(mistake(format!("/dashboards/{index}/filter"), error.what, error.remedy));
        }
        for (at, column) in dashboard.columns.iter().enumerate() {
            if let Err((what, remedy)) = columns::Column::parse(column) {
                wrong.push(mistake(format!("/dashboards/{index}/columns/{at}"), what, remedy));
            }
        }
    }
    let store = match file.store {
        None => StorePlace::Folder(folder.join(".proof/fleet")),
        Some(Text::Variable { env }) => StorePlace::Variable(env),
        Some(Text::Plain(path)) if secret::in_path(&path) => {
            let what = "an address of a store may hold a password";
            wrong.push(mistake("/store".to_owned(), what, "put it into a variable: { env: FLEET_STORE }"));
            StorePlace::Folder(PathBuf::new())
        }
        Some(Text::Plain(path)) => StorePlace::Folder(folder.join(path)),
    };
    let fleet = Fleet {
        name: file.name.unwrap_or_else(|| "fleet".to_owned()),
        folder,
        store,
        servers,
        stages,
        thresholds: file.thresholds,
        limits: file.limits,
        days: file.days.unwrap_or(90),
        dashboards: file.dashboards,
        webhooks: webhook::of(file.webhooks, &mut wrong),
    };
    (fleet, wrong)
}

/// Each stage and each gate once.
fn check_stages(stages: &[Stage], wrong: &mut Vec<Mistake>) {
    let mut gates = Vec::new();
    for (index, stage) in stages.iter().enumerate() {
        if stages[..index].iter().any(|other| other.name == stage.name) {
            let what = format!("the stage {} is there twice", quoted(&stage.name));
            wrong.push(mistake(format!("/stages/{index}/name"), what, "another name"));
        }
        for (at, gate) in stage.gates.iter().enumerate() {
            if gates.contains(gate) {
                let what = format!("the gate `{gate}` is there twice");
                wrong.push(mistake(format!("/stages/{index}/gates/{at}"), what, "name each gate in one stage"));
            }
            gates.push(*gate);
        }
    }
}

fn check_names(entries: &[Entry], wrong: &mut Vec<Mistake>) {
    let mut seen = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        // File systems and readers do not tell case apart.
        if let Some(before) = seen.insert(entry.name.to_lowercase(), index) {
            let what = format!("the name {} is that of server {}, too", quoted(&entry.name), before + 1);
            wrong.push(mistake(format!("/servers/{index}/name"), what, "another name"));
        }
    }
}

fn server(index: usize, entry: Entry, defaults: &Defaults, stages: &[Stage], wrong: &mut Vec<Mistake>) -> Server {
    let at = |member: &str| format!("/servers/{index}/{member}");
    let launch = launch(index, &entry, wrong);
    let wanted = match entry.stage.as_ref().or(defaults.stage.as_ref()).map(|stage| number(stage, stages)) {
        Some(Ok(number)) => Some(number),
        Some(Err((what, remedy))) => {
            let place = if entry.stage.is_some() { at("stage") } else { "/defaults/stage".to_owned() };
            wrong.push(mistake(place, what, remedy));
            None
        }
        None => None,
    };
    check_credentials(index, &entry, &launch, wrong);
    let mut tags = entry.tags;
    tags.extend(defaults.tags.iter().filter(|tag| !tags.contains(tag)).cloned().collect::<Vec<_>>());
    Server {
        name: entry.name,
        source: entry.source.or_else(|| defaults.source.clone()),
        owner: entry.owner.or_else(|| defaults.owner.clone()),
        wanted,
        tags,
        note: entry.note,
        language: entry.language.or_else(|| defaults.language.clone()),
        modules: entry.modules,
        lines: entry.lines,
        tools: entry.tools,
        transports: transports(entry.transports, &launch),
        launch,
        cwd: entry.cwd,
        env: entry.env,
        bearer: entry.bearer.map(|reference| reference.env),
        revisions: entry.revisions,
        tests: entry.tests,
        lock: entry.lock,
        hints: entry.hints,
        baseline: entry.baseline,
        ready: entry.ready,
        admin: entry.admin,
        evaluation: entry.evaluation,
        manifest: entry.manifest,
    }
}

/// Where variables and tokens stand, and that none is a secret in clear.
fn check_credentials(index: usize, entry: &Entry, launch: &Launch, wrong: &mut Vec<Mistake>) {
    let at = |member: &str| format!("/servers/{index}/{member}");
    if entry.bearer.is_some() && !matches!(launch, Launch::Url(_)) {
        wrong.push(mistake(at("bearer"), "`bearer` is for a `url`", "for a command: env: { TOKEN: { env: NAME } }"));
    }
    if matches!(launch, Launch::Url(_)) {
        for member in
            [(!entry.env.is_empty()).then_some("env"), entry.cwd.is_some().then_some("cwd")].into_iter().flatten()
        {
            wrong.push(mistake(at(member), format!("`{member}` is for a command"), format!("leave out `{member}`")));
        }
    }
    for (member, address) in [("ready", &entry.ready), ("admin", &entry.admin)] {
        if address.as_deref().is_some_and(secret::in_address) {
            let remedy = "an address without user name, password and token; it is shown and stored";
            wrong.push(mistake(at(member), "the address holds a user name or a secret", remedy));
        }
    }
    for (member, text) in [("source", &entry.source), ("owner", &entry.owner), ("note", &entry.note)] {
        if text.as_deref().is_some_and(secret::in_text) {
            wrong.push(mistake(
                at(member),
                format!("`{member}` holds a secret in clear"),
                "leave it out; it is stored",
            ));
        }
    }
    for (name, value) in &entry.env {
        if let Text::Plain(value) = value
            && secret::is_secret(name, value)
        {
            let what = format!("the variable {} holds a secret in clear", quoted(name));
            let place = at(&format!("env/{}", wire::pointer::escape(name)));
            wrong.push(mistake(place, what, "the name of a variable: { env: NAME }"));
        }
    }
}

/// How a server is reached: at most one of four members says it.
fn launch(index: usize, entry: &Entry, wrong: &mut Vec<Mistake>) -> Launch {
    let mut ways = Vec::new();
    if let Some(words) = &entry.command {
        if let Some(at) = secret::in_words(words) {
            let place = format!("/servers/{index}/command/{at}");
            wrong.push(mistake(
                place,
                "the command holds a secret in clear",
                "a variable: env: { TOKEN: { env: NAME } }",
            ));
        }
        ways.push(("command", Launch::Command(words.clone())));
    }
    if let Some(url) = &entry.url {
        if !["http://", "https://", "ws://", "wss://"].iter().any(|scheme| url.starts_with(scheme)) {
            let place = format!("/servers/{index}/url");
            wrong.push(mistake(place, "the address is neither http(s) nor ws(s)", "https://mcp.example/mcp"));
        } else if secret::in_address(url) {
            let remedy = "take it out of the address, and send it as a header: bearer: { env: NAME }";
            wrong.push(mistake(format!("/servers/{index}/url"), "the address holds a user name or a secret", remedy));
        }
        ways.push(("url", Launch::Url(url.clone())));
    }
    if let Some(file) = &entry.openapi {
        let mut words = vec!["--stdio".to_owned(), "--openapi".to_owned(), file.clone()];
        words.extend(entry.config.iter().flat_map(|config| ["--config".to_owned(), config.clone()]));
        ways.push(("openapi", Launch::Served(words)));
    } else if entry.config.is_some() {
        let place = format!("/servers/{index}/config");
        wrong.push(mistake(place, "`config` is for `openapi`", "add `openapi`"));
    }
    if let Some(file) = &entry.catalog {
        ways.push(("catalog", Launch::Served(vec!["--stdio".to_owned(), "--catalog".to_owned(), file.clone()])));
    }
    if let [(first, _), (second, _), ..] = &ways[..] {
        let place = format!("/servers/{index}/{second}");
        wrong.push(mistake(place, format!("both `{first}` and `{second}` say how it is reached"), "one of them"));
    }
    ways.into_iter().next().map_or(Launch::Unknown, |(_, launch)| launch)
}

/// What is said, or what the launch shows.
fn transports(said: Vec<String>, launch: &Launch) -> Vec<String> {
    match launch {
        _ if !said.is_empty() => said,
        Launch::Command(_) | Launch::Served(_) => vec!["stdio".to_owned()],
        Launch::Url(url) if url.starts_with("ws") => vec!["websocket".to_owned()],
        Launch::Url(_) => vec!["http".to_owned()],
        Launch::Unknown => Vec::new(),
    }
}

/// The number of a stage, from 1.
fn number(stage: &StageName, stages: &[Stage]) -> Result<usize, (String, String)> {
    match stage {
        StageName::Number(number) => usize::try_from(*number)
            .ok()
            .filter(|number| (1..=stages.len()).contains(number))
            .ok_or_else(|| (format!("there is no stage {number}"), format!("a number from 1 to {}", stages.len()))),
        StageName::Name(name) => {
            stages.iter().position(|stage| stage.name == *name).map(|at| at + 1).ok_or_else(|| {
                let known = stages.iter().map(|stage| stage.name.as_str());
                (format!("there is no stage {}", quoted(name)), nearest(name, known))
            })
        }
    }
}

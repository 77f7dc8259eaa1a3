//! `proof scan`: examines what servers tell a model, from servers, files, traces and configurations.

mod classes;
mod config;
mod configured;
mod file;
mod intrusive;
mod live;
mod suppress;

use std::path::{Path, PathBuf};

use guard::scan::{Scanner, Severity};
use net::client::Address;
use report::render::text::Paint;
use wire::redact::Redactor;

use crate::args::output::Format;
use crate::args::reach::{Target, environment};
use crate::args::scan::{FailOn, ScanArgs};
use crate::exit::{self, Exit, usage};
use crate::format::scan as format;
use crate::format::scan::ScanView;
use crate::run::Run;
use crate::verb::clients::secrets;
use crate::verb::output;
use configured::Configured;
use suppress::Suppressions;

impl From<FailOn> for Severity {
    fn from(level: FailOn) -> Self {
        match level {
            FailOn::Info => Self::Info,
            FailOn::Low => Self::Low,
            FailOn::Medium => Self::Medium,
            FailOn::High => Self::High,
        }
    }
}

/// Scans every target and reports.
pub(crate) fn run(run: &Run, args: &ScanArgs) -> Exit {
    let run = &run.with_environment(environment(&args.reach.inherit_env));
    let done = if args.classes { classes::print(args) } else { scanned(run, args) };
    // On every way out, and only here: after it no other server can be started.
    run.children.kill_all();
    match done {
        Ok(exit) | Err(exit) => exit,
    }
}

fn scanned(run: &Run, args: &ScanArgs) -> Result<Exit, Exit> {
    let suppressions = Suppressions::read(args.suppressions.as_deref())?;
    for path in args.to.output.iter().chain(args.also.iter().map(|(_, path)| path)) {
        output::writable(path)?;
    }
    let mut scanner = Scanner::new();
    let mut notes = Vec::new();
    let (files, servers) = targets(args)?;
    let (mut unread, is_config_only) = (None, files.is_empty() && servers.is_empty());
    let mut configured: Vec<_> = args.config.iter().map(|path| Configured::given(path)).collect::<Result<_, Exit>>()?;
    if args.all_clients {
        configured.push(Configured::everywhere()?);
    }
    let redactor = redactor(run, args, &servers, configured.iter().flat_map(Configured::entries));
    exit::conceal(redactor.clone());
    for path in &files {
        file::scan(path, &mut scanner)?;
    }
    for configured in &configured {
        unread = configured.scan(run, args, &mut scanner, &mut notes).or(unread);
    }
    for target in &servers {
        let address = args.reach.address(*target)?.ok_or(Exit::Usage)?;
        let server = live::server(run, args, address.clone(), &name(*target), &mut scanner, &mut notes)?;
        if args.intrusive {
            intrusive::server(run, args, address, &server, &mut scanner, &mut notes)?;
        }
    }
    let scan = scanner.finish();
    if scan.is_empty() && !(is_config_only && unread.is_some()) {
        return Err(unread
            .unwrap_or_else(|| usage("nothing to scan was found", "give a file with tools, prompts or resources")));
    }
    let view = ScanView::new(scan, &suppressions.judge(), args.fail_on.into(), notes, &redactor.masked());
    write(args, &view)?;
    match unread {
        Some(exit) if view.failing() == 0 => Ok(exit),
        _ => Ok(if view.fails() { Exit::Finding } else { Exit::Clean }),
    }
}

/// Knows the secrets of all targets together: what one of them is given, another may say.
fn redactor<'e>(
    run: &Run,
    args: &ScanArgs,
    servers: &[Target<'_>],
    entries: impl IntoIterator<Item = &'e config::Entry>,
) -> Redactor {
    let command = servers.iter().find(|target| target.url.is_none());
    let mut secrets = args.reach.secrets(command.copied().unwrap_or(Target { url: None, command: &[] }));
    for url in servers.iter().filter_map(|target| target.url) {
        secrets.address(url);
    }
    if let Some(token) = args.other_audience_env.as_ref().and_then(|name| std::env::var(name).ok()) {
        secrets.add(&token);
    }
    for entry in entries {
        secrets::add(&entry.value, &mut secrets);
    }
    run.redactor_of(&secrets)
}

/// Files and servers among the targets.
fn targets(args: &ScanArgs) -> Result<(Vec<PathBuf>, Vec<Target<'_>>), Exit> {
    let mut files = args.from.clone();
    let mut servers = Vec::new();
    for target in &args.targets {
        if target.contains("://") {
            servers.push(Target { url: Some(target), command: &[] });
        } else {
            files.push(target.into());
        }
    }
    if args.intrusive && servers.is_empty() && args.command.is_empty() {
        let what = "--intrusive calls a server, and none is given";
        return Err(usage(what, "give a URL, or a command after `--`: proof scan --intrusive -- ./server"));
    }
    if !args.command.is_empty() {
        servers.push(Target { url: None, command: &args.command });
    }
    if files.is_empty() && servers.is_empty() && args.config.is_empty() && !args.all_clients {
        return Err(usage(
            "nothing given to scan",
            "give a file, a URL, or a command after `--`: proof scan -- ./server",
        ));
    }
    Ok((files, servers))
}

/// What a server is called in reports until it says its name.
fn name(target: Target<'_>) -> String {
    let words = target.url.map(|url| url.split(['?', '#']).next().unwrap_or(url).to_owned());
    words.unwrap_or_else(|| target.command.first().map(|word| stem(Path::new(word))).unwrap_or_default())
}

fn stem(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn write(args: &ScanArgs, view: &ScanView) -> Result<(), Exit> {
    for (format, path) in &args.also {
        output::write_private(path, &rendered(*format, view, Paint { colour: false }))?;
    }
    args.to.write(&rendered(args.format, view, args.to.paint()))
}

fn rendered(format: Format, view: &ScanView, paint: Paint) -> String {
    match format {
        Format::Human => format::human(view, paint),
        Format::Json => format::json(view),
        Format::Junit => format::junit(view),
        Format::Sarif => format::sarif(view),
        Format::Markdown => format::markdown(view),
        Format::Tap => format::tap(view),
        Format::Html => format::html(view),
    }
}

/// Reports an address that no server is at.
fn no_address(server: &str, why: &str) -> String {
    format!("server {}: {why}", wire::escape::line(server))
}

type Addressed<'e> = (&'e config::Entry, Result<Address, String>);

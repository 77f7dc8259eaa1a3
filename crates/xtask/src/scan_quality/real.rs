//! Real servers: their lists as a benign corpus, and `proof scan --intrusive` on those that may be attacked here.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::peers::{Local, local_servers};
use crate::scan_intrusive::{Scratch, WEAK, complaint, scanned, vulnerable};

/// Servers that reach nothing but this machine, and whether they serve a folder.
const ATTACKED: [(&str, bool); 20] = [
    ("server-everything", false),
    ("server-filesystem", true),
    ("server-time", false),
    ("server-memory", false),
    ("server-thinking", false),
    ("server-git", false),
    ("ts-sdk", false),
    ("py-sdk", false),
    ("ts-fastmcp", false),
    ("tmcp", false),
    ("hello-world", false),
    ("fetch", false),
    ("excel", true),
    ("sqlite", false),
    ("word", true),
    ("cli", true),
    ("duckdb", false),
    ("simple-time", false),
    ("shrimp", false),
    ("desktop-commander", false),
];

/// How long one answer of a real server may take.
const ANSWER: &str = "10";

/// What every installed server lists, as a map from its name, and those that list nothing here.
pub(super) fn lists(proof: &Path) -> anyhow::Result<(Value, Vec<String>)> {
    let scratch = Scratch::new("lists")?;
    let (mut all, mut silent) = (serde_json::Map::new(), Vec::new());
    for server in local_servers() {
        let file = scratch.0.join("list.json");
        let mut snapshot = Command::new(proof);
        snapshot.current_dir(&scratch.0).args(["snapshot", "--timeout", "30", "--output"]).arg(&file);
        for variable in &server.env {
            snapshot.args(["--env", variable]);
        }
        snapshot.arg("--").args(&server.command).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let ran = snapshot.status().context("proof does not start")?;
        let list = fs::read(&file).ok().filter(|_| ran.success()).and_then(|text| serde_json::from_slice(&text).ok());
        let _ = fs::remove_file(&file);
        match list {
            Some(list) => drop(all.insert(server.name, json!({ "tools": tools(&list) }))),
            None => silent.push(server.name),
        }
    }
    Ok((Value::Object(all), silent))
}

/// The tools of a snapshot, which keeps them in a list or by name.
fn tools(snapshot: &Value) -> Vec<Value> {
    match &snapshot["tools"] {
        Value::Array(tools) => tools.clone(),
        Value::Object(tools) => tools.values().cloned().collect(),
        _ => Vec::new(),
    }
}

/// The weak servers and their twins, then the real ones; and whether all is as it must be.
pub(super) fn intrusive_section(page: &mut String, proof: &Path) -> anyhow::Result<bool> {
    page.push_str("\n## Intrusive: servers that are weak on purpose\n\n| server | rules | weak: found | hardened: findings |\n|---|---|---|---|\n");
    let mut met = true;
    for weak in &WEAK {
        let mut cells = Vec::new();
        for is_hardened in [false, true] {
            let scanned = vulnerable(proof, weak, is_hardened)?;
            met &= complaint(weak, is_hardened, &scanned).is_none();
            cells.push(scanned.found(&["info", "low", "medium", "high"]).len());
        }
        let rules: Vec<_> = weak.rules.iter().map(|rule| format!("`{rule}`")).collect();
        let _ = writeln!(
            page,
            "| `{}` | {} | {} of {} | {} |",
            weak.file,
            rules.join(", "),
            cells[0],
            rules.len(),
            cells[1]
        );
    }
    Ok(met & real_section(page, proof))
}

fn real_section(page: &mut String, proof: &Path) -> bool {
    page.push_str("\n## Intrusive: real servers\n\nEach try is one call of a tool, read of a resource, or list. Tools that are marked as destructive were called, too; with a folder, \
         path traversal was tried (`–`: nothing found).\n\n");
    page.push_str("| server | tries | high | medium | info | incomplete |\n|---|---|---|---|---|---|\n");
    let installed = local_servers();
    let (mut servers, mut shells, mut high) = (0, Vec::new(), Vec::new());
    for (name, has_folder) in ATTACKED {
        let Some(server) = installed.iter().find(|server| server.name == name) else { continue };
        // Some do not start on every machine: that says nothing about the scan.
        let Ok(scanned) = attacked(proof, server, has_folder) else {
            let _ = writeln!(page, "| {name} | no answer | – | – | – | – |");
            continue;
        };
        servers += 1;
        let cell = |severity| {
            let found: Vec<_> = scanned.found(&[severity]).iter().map(|rule| format!("`{rule}`")).collect();
            if found.is_empty() { "–".to_owned() } else { found.join(", ") }
        };
        let tries: u64 =
            scanned.report["tried"].as_object().into_iter().flatten().filter_map(|(_, n)| n.as_u64()).sum();
        let unread = scanned.report["incomplete"].as_array().map_or(0, Vec::len);
        let _ = writeln!(
            page,
            "| {name} | {tries} | {} | {} | {} | {unread} |",
            cell("high"),
            cell("medium"),
            cell("info")
        );
        let all = scanned.found(&["info", "low", "medium", "high"]);
        if ["scan.runs-commands", "scan.command-injection"].iter().any(|rule| all.contains(*rule)) {
            shells.push(name);
        }
        if !scanned.found(&["high"]).is_empty() {
            high.push(name);
        }
    }
    let named = |names: &[&str]| if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
    let _ = writeln!(
        page,
        "\n**{} of {servers} servers execute commands of a shell{}.** Servers with a finding of severity high: **{}**{}. The survey \
         that the project's documents quote found command injection in 43 % of servers; these here are popular ones, pinned in \
         `peers/versions.txt`, and not a sample of all.",
        shells.len(),
        named(&shells),
        high.len(),
        named(&high),
    );
    servers > 0
}

fn attacked(proof: &Path, server: &Local, has_folder: bool) -> anyhow::Result<crate::scan_intrusive::Scanned> {
    let scratch = Scratch::new(&server.name)?;
    let served = scratch.0.join("served");
    fs::create_dir_all(&served)?;
    fs::write(served.join("note.txt"), "A note.\n")?;
    let folder = served.to_string_lossy().into_owned();
    let place = |word: &String| word.replace(&server.files, &folder);
    let mut words = ["--timeout", ANSWER, "--call", "all"].map(str::to_owned).to_vec();
    for variable in server.env.iter().map(place).chain([
        format!("MEMORY_FILE_PATH={folder}/memory.jsonl"),
        format!("EXCEL_FILES_PATH={folder}"),
        format!("DATA_DIR={folder}/data"),
        format!("HOME={folder}"),
    ]) {
        words.extend(["--env".to_owned(), variable]);
    }
    if has_folder {
        words.extend(["--plant".to_owned(), folder.clone()]);
    }
    words.push("--".to_owned());
    words.extend(server.command.iter().map(place));
    scanned(proof, &served, &words)
}

//! Reads a folder of descriptions and prints what became of them; with `--list`, the tools themselves. `cargo xtask openapi DIR`
//! runs it.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks on a terminal")]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs};

use openapi::tools::{Tool, tools};
use openapi::{Api, Limits, ToolLimits, lint, propose, read};
use serde_json::Value;

/// How many rows the table of the largest lists has.
const LARGEST: usize = 12;

/// One description.
struct Row {
    name: String,
    operations: usize,
    tools: usize,
    skipped: usize,
    left: usize,
    parsing: Duration,
    reading: Duration,
    list_bytes: usize,
    curated_bytes: usize,
}

#[derive(Default)]
struct Sums {
    rows: Vec<Row>,
    refused: Vec<String>,
    reasons: BTreeMap<String, usize>,
    unusable: BTreeMap<String, usize>,
    wrong: Vec<String>,
    shortened: usize,
    outputs: usize,
    hints: BTreeMap<&'static str, usize>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut sums = Sums::default();
    let mut files = Vec::new();
    let list = env::args().any(|given| given == "--list");
    for given in env::args().skip(1).filter(|given| given != "--list") {
        collect(Path::new(&given), &mut files)?;
    }
    files.sort();
    if files.is_empty() {
        return Err("no descriptions – the arguments – try a folder with .json or .yaml files".into());
    }
    if list {
        return files.iter().try_for_each(|file| print_tools(file));
    }
    for file in &files {
        one(file, &mut sums)?;
    }
    print(&mut sums);
    if sums.refused.is_empty() && sums.wrong.is_empty() { Ok(()) } else { Err("not all is well: see above".into()) }
}

/// The tools as `tools/list` has them, one a line.
fn print_tools(file: &Path) -> Result<(), Box<dyn Error>> {
    let (value, _) = openapi::parse(&fs::read_to_string(file)?).map_err(|why| why.what)?;
    let api = read(&value, &Limits::default())?;
    for tool in tools(&api, &ToolLimits::default()) {
        println!("{}", tool.to_value());
    }
    Ok(())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else if path.extension().is_some_and(|ending| matches!(ending.to_str(), Some("json" | "yaml" | "yml"))) {
        files.push(path.to_owned());
    }
    Ok(())
}

fn one(file: &Path, sums: &mut Sums) -> Result<(), Box<dyn Error>> {
    let text = fs::read_to_string(file)?;
    let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let start = Instant::now();
    let value = match openapi::parse(&text) {
        Ok((value, _)) => value,
        Err(why) => {
            sums.refused.push(format!("{name}: {}", why.what));
            return Ok(());
        }
    };
    drop(text);
    let parsing = start.elapsed();
    let start = Instant::now();
    let api = match read(&value, &Limits::default()) {
        Ok(api) => api,
        Err(why) => {
            sums.refused.push(format!("{name}: {why}"));
            return Ok(());
        }
    };
    let list = tools(&api, &ToolLimits::default());
    let reading = start.elapsed();
    note(&name, &api, &list, sums);
    let counted = operations(&value);
    if counted > list.len() + api.skipped.len() + api.left.len() {
        sums.wrong.push(format!("{name}: {counted} operations, of which some are neither tools nor explained"));
    }
    let bytes = |tool: &Tool| tool.to_value().to_string().len();
    sums.rows.push(Row {
        name,
        operations: counted,
        tools: list.len(),
        skipped: api.skipped.len(),
        left: api.left.len(),
        parsing,
        reading,
        list_bytes: list.iter().map(bytes).sum(),
        curated_bytes: propose::propose(&api, 40).iter().map(|one| bytes(&list[one.operation])).sum(),
    });
    Ok(())
}

/// Counted without the reader: what has the place of an operation.
fn operations(value: &Value) -> usize {
    const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
    let items =
        value.get("paths").and_then(Value::as_object).into_iter().flatten().filter_map(|(_, item)| item.as_object());
    items.map(|item| item.keys().filter(|name| METHODS.contains(&name.as_str())).count()).sum()
}

fn note(name: &str, api: &Api, list: &[Tool], sums: &mut Sums) {
    for one in &api.skipped {
        let why = one.why.split(" (at ").next().unwrap_or_default();
        let why = why.split('`').step_by(2).collect::<Vec<_>>().join("…");
        *sums.reasons.entry(why).or_default() += 1;
    }
    let names: BTreeSet<&str> = list.iter().map(|tool| tool.name.as_str()).collect();
    if names.len() != list.len() {
        sums.wrong.push(format!("{name}: {} names for {} tools", names.len(), list.len()));
    }
    for tool in list {
        let legal = (1..=64).contains(&tool.name.len())
            && tool.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        if !legal {
            sums.wrong.push(format!("{name}: {}", tool.name));
        }
        sums.shortened += usize::from(tool.full.is_some());
        sums.outputs += usize::from(tool.output.is_some());
        for (kind, schema) in [("input", Some(&tool.input)), ("output", tool.output.as_ref())] {
            if let Some(Err(why)) = schema.map(schema::Validator::new) {
                *sums.unusable.entry(format!("{kind}: {why}")).or_default() += 1;
                eprintln!("{name} {}: {kind}: {why}", tool.name);
            }
        }
    }
    for hint in lint::lint(api, list) {
        *sums.hints.entry(hint.rule).or_default() += 1;
    }
}

fn print(sums: &mut Sums) {
    let rows = &mut sums.rows;
    let sum = |of: fn(&Row) -> usize| rows.iter().map(of).sum::<usize>();
    let time = |of: fn(&Row) -> Duration| rows.iter().map(of).sum::<Duration>().as_secs_f64();
    println!("| what | count |\n|---|---|");
    println!("| descriptions read / refused | {} / {} |", rows.len(), sums.refused.len());
    println!("| operations in them | {} |", sum(|row| row.operations));
    println!("| tools | {} |", sum(|row| row.tools));
    println!("| skipped / beyond the limit | {} / {} |", sum(|row| row.skipped), sum(|row| row.left));
    println!(
        "| seconds: parsing / reading and tools | {:.1} / {:.1} |",
        time(|row| row.parsing),
        time(|row| row.reading)
    );
    println!("| names not unique or not legal, operations not explained | {} |", sums.wrong.len());
    println!("| schemas that do not compile | {} |", sums.unusable.values().sum::<usize>());
    println!("| tools with an output schema / a shortened description | {} / {} |", sums.outputs, sums.shortened);
    println!("| memory at most (MB) | {} |", peak());
    for (title, list) in [("skipped because", &sums.reasons), ("schemas that do not compile", &sums.unusable)] {
        if !list.is_empty() {
            println!("\n| {title} | count |\n|---|---|");
            for (why, count) in list {
                println!("| {why} | {count} |");
            }
        }
    }
    println!("\n| hint | descriptions |\n|---|---|");
    for (rule, count) in &sums.hints {
        println!("| `{rule}` | {count} |");
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.list_bytes));
    println!("\n| description | operations | tools | parsing (s) | reading (s) | list (KiB) | 40 proposed (KiB) |");
    println!("|---|---|---|---|---|---|---|");
    for row in rows.iter().take(LARGEST) {
        let Row { name, operations, tools, parsing, reading, list_bytes, curated_bytes, .. } = row;
        let (parsing, reading) = (parsing.as_secs_f64(), reading.as_secs_f64());
        let (list, curated) = (list_bytes >> 10, curated_bytes >> 10);
        println!("| {name} | {operations} | {tools} | {parsing:.2} | {reading:.2} | {list} | {curated} |");
    }
    for line in sums.refused.iter().chain(&sums.wrong) {
        println!("{line}");
    }
}

/// How much memory the process had at most, in MB; 0 where the system does not say.
fn peak() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()).and_then(|kib| kib.parse::<usize>().ok());
    kib.unwrap_or_default() / 1024
}

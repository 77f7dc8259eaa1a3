//! Servers in a folder of source code, for `init`: REST descriptions, catalogues, projects that depend on an MCP library. Reads
//! only.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use document::scalar;
use serde_json::Value;

/// How deep folders are looked through, and how many of them.
const DEEPEST: usize = 3;
const MOST: usize = 2_000;

/// What makes a folder that of a server, for messages.
pub const LOOKED_FOR: &str = "openapi.yaml, swagger.json or catalog.yaml, and no package.json, pyproject.toml, Cargo.toml or \
                              go.mod with an MCP library";

/// The largest file that is read or counted.
const LONGEST: u64 = 4 << 20;

/// Folders of other people's code.
const FOREIGN: [&str; 6] = ["node_modules", "target", "venv", "dist", "build", "__pycache__"];

const LANGUAGES: [(&str, &str); 7] = [
    ("ts", "TypeScript"),
    ("js", "JavaScript"),
    ("mjs", "JavaScript"),
    ("py", "Python"),
    ("rs", "Rust"),
    ("go", "Go"),
    ("java", "Java"),
];

/// A server in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The name of the folder.
    pub name: String,
    /// The entry of `fleet.yaml`, as lines of YAML.
    pub entry: String,
}

/// The servers in a folder and below, in the order of their paths.
pub fn find(root: &Path) -> Vec<Project> {
    let (mut found, mut pending, mut seen) = (Vec::new(), vec![(root.to_owned(), 0)], 0);
    while let Some((folder, depth)) = pending.pop() {
        seen += 1;
        if seen > MOST {
            break;
        }
        if let Some(launch) = launch_of(root, &folder) {
            found.push((folder.clone(), project(root, &folder, &launch)));
            continue;
        }
        if depth < DEEPEST {
            pending.extend(folders(&folder).into_iter().map(|folder| (folder, depth + 1)));
        }
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found.into_iter().map(|(_, project)| project).collect()
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST);
    let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let name = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let own =
        entries.filter(|entry| is_folder(entry) && !name(entry).starts_with('.') && !FOREIGN.contains(&&*name(entry)));
    own.map(|entry| entry.path()).collect()
}

fn relative(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path).display().to_string();
    if path.is_empty() { ".".to_owned() } else { path }
}

/// The members that say how the server of a folder is started; `None` without a server.
fn launch_of(root: &Path, folder: &Path) -> Option<String> {
    let here = |names: &[&str]| names.iter().map(|name| folder.join(name)).find(|path| path.is_file());
    if let Some(path) = here(&["openapi.yaml", "openapi.yml", "openapi.json", "swagger.yaml", "swagger.json"]) {
        let mut out = format!("    openapi: {}\n", scalar(&relative(root, &path)));
        if let Some(config) = here(&["api.yaml"]) {
            let _ = writeln!(out, "    config: {}", scalar(&relative(root, &config)));
        }
        return Some(out);
    }
    if let Some(path) = here(&["catalog.yaml", "catalogue.yaml"]) {
        return Some(format!("    catalog: {}\n", scalar(&relative(root, &path))));
    }
    let found = of_node(root, folder).or_else(|| of_python(root, folder)).or_else(|| of_other(root, folder))?;
    Some(match found {
        Started::By(words) => format!("    command: [{}]\n", flow(&words)),
        // Without it the entry is listed, and no gate after that is computed.
        Started::Perhaps(words) => {
            format!(
                "    # How is it started? Correct this line and take out its `#`:\n    # command: [{}]\n",
                flow(&words)
            )
        }
    })
}

/// How a project is started.
enum Started {
    /// By these words: the project says so.
    By(Vec<String>),
    /// Perhaps so: the project names no program.
    Perhaps(Vec<String>),
}

fn flow(words: &[String]) -> String {
    words.iter().map(|word| scalar(word)).collect::<Vec<_>>().join(", ")
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn text(path: &Path) -> Option<String> {
    // Of a stranger's folder: a pipe would wait for a writer, and a device has no end.
    let mut text = String::new();
    net::open_regular(path).ok()?.take(LONGEST + 1).read_to_string(&mut text).ok()?;
    (text.len() as u64 <= LONGEST).then_some(text)
}

/// A package that depends on an MCP library.
fn of_node(root: &Path, folder: &Path) -> Option<Started> {
    let package: Value = serde_json::from_str(&text(&folder.join("package.json"))?).ok()?;
    let depends = |member: &str| package[member].as_object().is_some_and(|all| all.keys().any(|name| is_mcp(name)));
    if !depends("dependencies") && !depends("devDependencies") {
        return None;
    }
    let bin = package["bin"].as_str().or_else(|| package["bin"].as_object()?.values().next()?.as_str());
    let program = |file: &str| words(["node", &relative(root, &folder.join(file))]);
    Some(match bin.or_else(|| package["main"].as_str()) {
        Some(file) => Started::By(program(file)),
        None => Started::Perhaps(program("dist/index.js")),
    })
}

fn is_mcp(name: &str) -> bool {
    name.starts_with("@modelcontextprotocol/") || name == "fastmcp" || name == "mcp-framework"
}

/// A Python project that depends on an MCP library.
fn of_python(root: &Path, folder: &Path) -> Option<Started> {
    let content = text(&folder.join("pyproject.toml"))?;
    let value = clients::text::read(&content, clients::text::Format::Toml).ok()?;
    let dependencies = value["project"]["dependencies"].as_array()?;
    let is_named = |text: &str| {
        let name = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').next().unwrap_or_default();
        matches!(name, "mcp" | "fastmcp")
    };
    if !dependencies.iter().filter_map(Value::as_str).any(is_named) {
        return None;
    }
    let program = |script: &str| words(["uv", "run", "--directory", &relative(root, folder), script]);
    Some(match value["project"]["scripts"].as_object().and_then(|all| all.keys().next()) {
        Some(script) => Started::By(program(script)),
        None => Started::Perhaps(program("server.py")),
    })
}

/// A Rust or Go project that depends on an MCP library: which of its programs is the server, it does not say.
fn of_other(root: &Path, folder: &Path) -> Option<Started> {
    let names = |file: &str, libraries: &[&str]| {
        let content = text(&folder.join(file))?;
        let is_named = |line: &str| libraries.iter().any(|library| line.trim_start().starts_with(library));
        content.lines().any(is_named).then_some(())
    };
    if names("Cargo.toml", &["rmcp ", "rmcp=", "rmcp."]).is_some() {
        let program = relative(root, &folder.join("target/release").join(folder.file_name()?));
        return Some(Started::Perhaps(vec![program]));
    }
    let libraries = ["github.com/modelcontextprotocol/go-sdk", "github.com/mark3labs/mcp-go"];
    let required = libraries.map(|library| format!("require {library}"));
    let lines: Vec<&str> = libraries.into_iter().chain(required.iter().map(String::as_str)).collect();
    names("go.mod", &lines)?;
    Some(Started::Perhaps(words(["go", "run", &format!("./{}", relative(root, folder))])))
}

fn project(root: &Path, folder: &Path, launch: &str) -> Project {
    let name = folder.file_name().or_else(|| root.file_name()).map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_else(|| "server".to_owned());
    let mut entry = format!("    source: {}\n{launch}    transports: [stdio]\n", scalar(&relative(root, folder)));
    if let Some((language, lines)) = counted(folder) {
        let _ = write!(entry, "    language: {language}\n    lines: {lines}\n");
    }
    if !crate::files::test_files(folder).is_empty() {
        let _ = writeln!(entry, "    tests: [{}]", scalar(&relative(root, folder)));
    }
    if folder.join("mcp.lock").is_file() {
        let _ = writeln!(entry, "    lock: {}", scalar(&relative(root, &folder.join("mcp.lock"))));
    }
    Project { name, entry }
}

/// The language with most lines in a folder, and how many they are.
fn counted(folder: &Path) -> Option<(&'static str, usize)> {
    let mut counts: Vec<(&'static str, usize)> = Vec::new();
    let (mut pending, mut seen) = (vec![folder.to_owned()], 0);
    while let Some(folder) = pending.pop() {
        seen += 1;
        if seen > MOST {
            break;
        }
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten().take(MOST) {
            let path = entry.path();
            let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default();
            let Some((_, language)) = LANGUAGES.iter().find(|(known, _)| *known == ending) else { continue };
            let lines = text(&path).map_or(0, |text| text.lines().count());
            match counts.iter_mut().find(|(known, _)| known == language) {
                Some((_, count)) => *count += lines,
                None => counts.push((language, lines)),
            }
        }
        pending.extend(folders(&folder));
    }
    counts.into_iter().max_by_key(|(_, lines)| *lines).filter(|(_, lines)| *lines > 0)
}

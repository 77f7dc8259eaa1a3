//! The ledger as a child process, a shell script that does to itself what a call tells it, and signals from outside.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use gateway::settings::{CommandLimits, Target};
use net::process::Command;

/// What a call can tell it, by the point at which it happens.
pub(crate) const FAULTS: [&str; 11] = [
    // The request is read.
    "read-kill",
    "read-exit",
    "read-stop",
    "read-silent",
    "read-garbage",
    // The first event is written, the ledger not yet.
    "first-kill",
    // The ledger is written.
    "written-kill",
    "written-stop",
    "written-flood",
    // Half an answer, a whole one.
    "half-kill",
    "answered-kill",
];

/// Faults while the call waits for an answer to its question.
pub(crate) const QUESTION_FAULTS: [&str; 3] = ["parked-kill", "parked-late-kill", "parked-stop"];

const SCRIPT: &str = r#"
echo $$ >> "$STARTS"
say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  case $line in
    *'"method":"notifications/'*) continue ;;
    *'"id":'*) id=${line#*'"id":'}; id=${id%%[!0-9]*} ;;
    *) continue ;;
  esac
  case $line in
    *'"method":"initialize"'*)
      say '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"NAME","version":"1"}}'
      continue ;;
    *'"method":"tools/list"'*)
      say '"result":{"tools":[{"name":"NAME_write","inputSchema":{"type":"object"}}]}'
      continue ;;
    *'"method":"tools/call"'*) ;;
    *) say '"error":{"code":-32601,"message":"Method not found"}'; continue ;;
  esac
  key=${line#*'"key":"'}; key=${key%%'"'*}
  fault=${line#*'"fault":"'}; fault=${fault%%'"'*}
  case $fault in
    read-kill) kill -9 $$ ;;
    read-exit) echo "as told" >&2; exit 1 ;;
    read-stop) kill -STOP $$ ;;
    read-silent) continue ;;
    read-garbage) printf 'garbage {{{ %s\n[1,2\n' "$id" ;;
    first-kill)
      printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}\n' "$id"
      kill -9 $$ ;;
  esac
  case $line in
    *'"question":"yes"'*)
      printf '{"jsonrpc":"2.0","id":"q%s","method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}\n' "$id"
      case $fault in
        parked-kill) kill -9 $$ ;;
        parked-late-kill) sleep 0.05; kill -9 $$ ;;
        parked-stop) kill -STOP $$ ;;
      esac
      IFS= read -r reply || exit 0 ;;
  esac
  printf '%s\n' "$key" >> "$LEDGER"
  case $fault in
    written-kill) kill -9 $$ ;;
    written-stop) kill -STOP $$ ;;
    written-flood)
      while :; do
        printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}\n' "$id"
      done ;;
    half-kill) printf '{"jsonrpc":"2.0","id":%s,"resu' "$id"; kill -9 $$ ;;
  esac
  say "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"wrote $key\"}]}"
  case $fault in answered-kill) kill -9 $$ ;; esac
done
"#;

/// A ledger over stdio.
pub(crate) struct ChildLedger {
    name: &'static str,
    folder: PathBuf,
}

impl ChildLedger {
    pub(crate) fn new(name: &'static str, folder: &Path) -> Self {
        Self { name, folder: folder.to_owned() }
    }

    fn file(&self, kind: &str) -> PathBuf {
        self.folder.join(format!("{}-{kind}", self.name))
    }

    pub(crate) fn target(&self) -> Target {
        let mut command = Command::new("sh", ["-c", &SCRIPT.replace("NAME", self.name)]);
        for (variable, kind) in [("STARTS", "starts"), ("LEDGER", "ledger")] {
            command.env.push((variable.to_owned(), self.file(kind).to_string_lossy().into_owned()));
        }
        Target::Command { command, inherit: Vec::new(), limits: CommandLimits::default() }
    }

    /// The keys in the ledger.
    pub(crate) fn keys(&self) -> Vec<String> {
        lines(&self.file("ledger"))
    }

    /// The processes that were ever started.
    pub(crate) fn started(&self) -> Vec<String> {
        lines(&self.file("starts"))
    }

    /// Those of them that run, stopped ones included.
    pub(crate) fn running(&self) -> Vec<String> {
        let runs = |pid: &String| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
        };
        self.started().into_iter().filter(runs).collect()
    }
}

fn lines(file: &Path) -> Vec<String> {
    std::fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Sends a signal by its name.
pub(crate) fn signal(name: &str, pid: &str) {
    let kill = std::process::Command::new("kill").args([&format!("-{name}"), pid]).stderr(Stdio::null()).status();
    assert!(kill.is_ok(), "there is no kill");
}

//! The forty configuration files that two installers are given: every format, and what people do with such files. What must
//! survive is marked: `comment-N`, `entry-N` (another server) and `member-N` (another setting).

use Style::{Bom, Broken, Commented, Crlf, Link, New, Private, Typical, Update};

/// How a file looks before a server is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Other servers and other settings.
    Typical,
    /// The same with comments wherever they may stand.
    Commented,
    /// Commented, with line ends of Windows.
    Crlf,
    /// Commented, behind a byte order mark.
    Bom,
    /// It does not parse.
    Broken,
    /// A link to a file elsewhere.
    Link,
    /// Its owner alone may read it.
    Private,
    /// It has the server in an older version, with choices of the user.
    Update,
    /// It does not exist, and the server has a secret.
    New,
}

impl Style {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Typical => "typical",
            Commented => "comments",
            Crlf => "comments, CRLF",
            Bom => "byte order mark",
            Broken => "does not parse",
            Link => "symbolic link",
            Private => "mode 0600",
            Update => "older entry",
            New => "new, with a secret",
        }
    }
}

/// A client that both installers know.
pub(super) struct Client {
    pub(super) id: &'static str,
    /// Its name for add-mcp.
    pub(super) theirs: &'static str,
    /// Its file below the user's folder.
    pub(super) file: &'static str,
    /// The key of its servers.
    key: &'static str,
    /// What must stand in the file for the variable `WEATHER_TOKEN`: one of these. Empty where the client has no references.
    pub(super) reference: &'static [&'static str],
}

const fn client(id: &'static str, file: &'static str, key: &'static str, reference: &'static [&'static str]) -> Client {
    Client { id, theirs: id, file, key, reference }
}

const CURSOR: Client = client("cursor", ".cursor/mcp.json", "mcpServers", &["${env:WEATHER_TOKEN}"]);
const CODEX: Client = client("codex", ".codex/config.toml", "mcp_servers", &["env_vars = [\"WEATHER_TOKEN\"]"]);
const GOOSE: Client = client("goose", ".config/goose/config.yaml", "extensions", &["env_keys"]);
const ZED: Client = client("zed", ".config/zed/settings.json", "context_servers", &[]);
const VSCODE: Client = client("vscode", ".config/Code/User/mcp.json", "servers", &["${env:WEATHER_TOKEN}", "${input:"]);
const CLAUDE: Client = client("claude-code", ".claude.json", "mcpServers", &["\"${WEATHER_TOKEN}\""]);
const DESKTOP: Client = client("claude-desktop", ".config/Claude/claude_desktop_config.json", "mcpServers", &[]);
const GEMINI: Client = client("gemini-cli", ".gemini/settings.json", "mcpServers", &["\"${WEATHER_TOKEN}\""]);
const OPENCODE: Client = client("opencode", ".config/opencode/opencode.jsonc", "mcp", &["\"{env:WEATHER_TOKEN}\""]);
const WINDSURF: Client =
    client("windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers", &["${env:WEATHER_TOKEN}"]);
const KIRO: Client =
    Client { theirs: "kiro-cli", ..client("kiro", ".kiro/settings/mcp.json", "mcpServers", &["\"${WEATHER_TOKEN}\""]) };
const KILO: Client = client("kilo-code", ".config/kilo/kilo.jsonc", "mcp", &[]);
const COPILOT: Client = client("github-copilot-cli", ".copilot/mcp-config.json", "mcpServers", &[]);
const CLINE: Client = client("cline-cli", ".cline/data/settings/cline_mcp_settings.json", "mcpServers", &[]);
const GROK: Client = client("grok-build", ".grok/config.toml", "mcp_servers", &[]);

/// A client's file in one style.
pub(super) struct Case {
    pub(super) client: Client,
    pub(super) style: Style,
}

macro_rules! cases {
    ($($style:ident: $($client:ident)*;)*) => { [$($(Case { client: $client, style: $style },)*)*] };
}

pub(super) const CASES: [Case; 40] = cases! {
    Typical: CLAUDE DESKTOP WINDSURF KIRO COPILOT CLINE CODEX GOOSE;
    Commented: CURSOR VSCODE ZED OPENCODE KILO GEMINI CODEX GOOSE;
    Crlf: CURSOR VSCODE CODEX GOOSE;
    Bom: DESKTOP VSCODE GROK;
    Broken: CURSOR ZED CODEX GOOSE;
    Link: CURSOR ZED CODEX GOOSE;
    Private: CLAUDE CURSOR CODEX GOOSE;
    Update: CURSOR CODEX GOOSE;
    New: DESKTOP CLINE;
};

impl Case {
    /// The file before; `None` if it did not exist.
    pub(super) fn text(&self) -> Option<String> {
        let key = self.client.key;
        Some(match self.style {
            New => return None,
            Typical | Link | Private => self.by_format(JSON, TOML, YAML, key),
            Commented => self.by_format(JSONC, COMMENTED_TOML, COMMENTED_YAML, key),
            Crlf => self.by_format(JSONC, COMMENTED_TOML, COMMENTED_YAML, key).replace('\n', "\r\n"),
            Bom => format!("\u{feff}{}", self.by_format(JSON, TOML, YAML, key)),
            Broken => self.by_format(BROKEN_JSON, BROKEN_TOML, BROKEN_YAML, key),
            Update => self.by_format(OLDER_JSON, OLDER_TOML, OLDER_YAML, key),
        })
    }

    fn by_format(&self, json: &str, toml: &str, yaml: &str, key: &str) -> String {
        let text = match self.client.file.rsplit('.').next() {
            Some("toml") => toml,
            Some("yaml") => yaml,
            _ => json,
        };
        text.replace("KEY", key)
    }
}

// The name of the first server contains the name of the one that is added: only the whole name may be removed.
const JSON: &str = r#"{
  "theme": "member-1",
  "KEY": {
    "weather-eu": { "command": "entry-1", "args": [] },
    "files": { "command": "entry-2", "args": ["x.js"] }
  },
  "last": ["member-2"]
}
"#;

const JSONC: &str = r#"// comment-1
{
  "theme": "member-1", // comment-2

  "KEY": {
    // comment-3
    "weather-eu": { "command": "entry-1" }, // comment-4
    /* comment-5 */
    "files": { "command": "entry-2", "args": ["x.js"], },
    // comment-6
  },
  "last": ["member-2"], // comment-7
}
"#;

const TOML: &str = r#"model = "member-1"

[KEY.weather-eu]
command = "entry-1"

[KEY.files]
command = "entry-2"
args = ["x.js"]

[ui]
theme = "member-2"
"#;

const COMMENTED_TOML: &str = r#"# comment-1
model = "member-1"   # comment-2

# comment-3
[KEY.weather-eu] # comment-4
command = "entry-1"

[KEY.files]
# comment-5
command = "entry-2"
args = ["x.js"]

# comment-6
[ui]
theme = 'member-2' # comment-7
"#;

const YAML: &str = "model: member-1\nKEY:\n  weather-eu:\n    type: stdio\n    cmd: entry-1\n  files:\n    type: stdio\n    cmd: entry-2\n    args: [x.js]\nlast:\n  - member-2\n";

const COMMENTED_YAML: &str = "# comment-1\nmodel: member-1   # comment-2\n\nKEY:\n  # comment-3\n  weather-eu: # comment-4\n    type: stdio\n    cmd: entry-1\n\n  files:\n    # comment-5\n    type: stdio\n    cmd: entry-2\n    args: [x.js]\n\n# comment-6\nlast:\n- member-2 # comment-7\n";

const BROKEN_JSON: &str = "{ \"KEY\": { \"weather-eu\": { \"command\": \"entry-1\" }, \"files\"";
const BROKEN_TOML: &str = "model = \"member-1\"\n[KEY.weather-eu\ncommand = \"entry-1\"\n";
const BROKEN_YAML: &str = "model: member-1\nKEY:\n  weather-eu: [ cmd: entry-1\nlast: member-2\n";

const OLDER_JSON: &str = r#"{
  "KEY": {
    "weather": {
      "command": "npx",
      "args": ["-y", "weather-mcp@1.0.0"],
      "note": "member-1",
      "env": { "REGION": "member-2" }
    }
  }
}
"#;
const OLDER_TOML: &str = "[KEY.weather]\ncommand = \"npx\"\nargs = [\"-y\", \"weather-mcp@1.0.0\"]\ncwd = \"/member-1\"\n\n[KEY.weather.env]\nREGION = \"member-2\"\n";
const OLDER_YAML: &str = "KEY:\n  weather:\n    name: weather\n    description: member-1\n    type: stdio\n    cmd: npx\n    args: [-y, weather-mcp@1.0.0]\n    envs:\n      REGION: member-2\n    enabled: true\n    timeout: 300\n";

//! Where MCP clients keep this user's configuration. Knows places alone, not what stands in them.

use std::ffi::OsString;
use std::path::PathBuf;

/// What a place is relative to.
#[derive(Clone, Copy)]
enum Base {
    /// The user's folder.
    Home,
    /// `XDG_CONFIG_HOME`, or `.config` in the user's folder.
    Config,
    /// The folder of applications' data on macOS, `XDG_CONFIG_HOME` elsewhere.
    Data,
    /// The folder that a variable names, or one in the user's folder.
    Variable(&'static str, &'static str),
}

use Base::{Config, Data, Home, Variable};

/// Each client, and where its configuration of a user is.
const PLACES: &[(&str, Base, &str)] = &[
    ("amazon-q", Home, ".aws/amazonq/mcp.json"),
    ("amp", Home, ".config/amp/settings.json"),
    ("antigravity", Home, ".gemini/config/mcp_config.json"),
    ("antigravity", Home, ".gemini/antigravity/mcp_config.json"),
    ("boltai", Home, ".boltai/mcp.json"),
    ("claude-code", Variable("CLAUDE_CONFIG_DIR", ""), ".claude.json"),
    ("claude-desktop", Data, "Claude/claude_desktop_config.json"),
    ("cline", Data, "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
    ("cline", Data, "Cursor/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
    ("cline", Home, "Documents/Cline/MCP/cline_mcp_settings.json"),
    ("cline-cli", Variable("CLINE_DIR", ".cline"), "data/settings/cline_mcp_settings.json"),
    ("codex", Variable("CODEX_HOME", ".codex"), "config.toml"),
    ("continue", Home, ".continue/config.yaml"),
    ("copilot-jetbrains", Config, "github-copilot/intellij/mcp.json"),
    ("crush", Config, "crush/crush.json"),
    ("cursor", Home, ".cursor/mcp.json"),
    ("enconvo", Home, ".config/enconvo/mcp_config.json"),
    ("factory-droid", Home, ".factory/mcp.json"),
    ("fx", Home, ".fx/mcp.json"),
    ("gemini-cli", Home, ".gemini/settings.json"),
    ("github-copilot-cli", Variable("COPILOT_HOME", ".copilot"), "mcp-config.json"),
    ("goose", Config, "goose/config.yaml"),
    ("grok-build", Variable("GROK_HOME", ".grok"), "config.toml"),
    ("junie", Home, ".junie/mcp/mcp.json"),
    ("kilo-code", Config, "kilo/kilo.jsonc"),
    ("kilo-code", Config, "kilo/kilo.json"),
    ("kimi-code", Variable("KIMI_CODE_HOME", ".kimi-code"), "mcp.json"),
    ("kimi-code", Home, ".kimi/mcp.json"),
    ("kiro", Home, ".kiro/settings/mcp.json"),
    ("librechat", Variable("LIBRECHAT_CONFIG_DIR", ".config"), "LibreChat/librechat.yaml"),
    ("lm-studio", Home, ".lmstudio/mcp.json"),
    ("lm-studio", Home, ".cache/lm-studio/mcp.json"),
    ("mastracode", Home, ".mastracode/mcp.json"),
    ("mcporter", Home, ".mcporter/mcporter.json"),
    ("mcporter", Home, ".mcporter/mcporter.jsonc"),
    ("mistral-vibe", Home, ".vibe/config.toml"),
    ("opencode", Home, ".config/opencode/opencode.jsonc"),
    ("opencode", Home, ".config/opencode/opencode.json"),
    ("pi", Variable("PI_CODING_AGENT_DIR", ".pi/agent"), "mcp.json"),
    ("qoder", Home, ".qoder/mcp.json"),
    ("qwen-code", Home, ".qwen/settings.json"),
    ("roo-code", Data, "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"),
    ("tome", Home, ".tome/mcp_config.json"),
    ("trae", Data, "Trae/User/mcp.json"),
    ("vscode", Data, "Code/User/mcp.json"),
    ("vscode", Data, "Code/User/settings.json"),
    ("vscode-insiders", Data, "Code - Insiders/User/mcp.json"),
    ("vscode-server", Home, ".vscode-server/data/User/mcp.json"),
    ("windsurf", Home, ".codeium/windsurf/mcp_config.json"),
    ("windsurf-jetbrains", Home, ".codeium/mcp_config.json"),
    ("witsy", Data, "Witsy/settings.json"),
    ("zed", Config, "zed/settings.json"),
];

/// The place of one configuration.
pub(super) struct Place {
    pub(super) client: &'static str,
    pub(super) path: PathBuf,
}

/// All places, by the variables of the environment; `None` where they do not say whose.
pub(super) fn places(variable: impl Fn(&str) -> Option<OsString>) -> Option<Vec<Place>> {
    // An empty variable is as good as none.
    let folder = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = folder("HOME")?;
    // The specification of these variables has relative paths ignored.
    let config = folder("XDG_CONFIG_HOME").filter(|path| path.is_absolute()).unwrap_or_else(|| home.join(".config"));
    let place = |&(client, base, path): &(&'static str, Base, &str)| {
        let folder = match base {
            Home => home.clone(),
            Data if cfg!(target_os = "macos") => home.join("Library/Application Support"),
            Config | Data => config.clone(),
            Variable(name, otherwise) => folder(name).unwrap_or_else(|| home.join(otherwise)),
        };
        Place { client, path: folder.join(path) }
    };
    Some(PLACES.iter().map(place).collect())
}

/// The names of all clients.
pub(super) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = PLACES.iter().map(|(client, ..)| *client).collect();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsString;

    use super::{PLACES, names, places};

    #[test]
    fn the_environment_says_where() {
        let at = |variables: &[(&str, &str)], client: &str| {
            let variables: BTreeMap<_, _> = variables.iter().copied().collect();
            let all = places(|name| variables.get(name).map(Into::into)).expect("a home");
            let found = all.into_iter().find(|place| place.client == client).expect("a client");
            found.path.to_string_lossy().into_owned()
        };
        let home = ("HOME", "/h");
        assert_eq!(at(&[home], "cursor"), "/h/.cursor/mcp.json");
        assert_eq!(at(&[home], "crush"), "/h/.config/crush/crush.json");
        assert_eq!(at(&[home, ("XDG_CONFIG_HOME", "/x")], "crush"), "/x/crush/crush.json");
        assert_eq!(at(&[home, ("XDG_CONFIG_HOME", "x")], "crush"), "/h/.config/crush/crush.json");
        assert_eq!(at(&[home, ("CODEX_HOME", "")], "codex"), "/h/.codex/config.toml");
        assert_eq!(at(&[home, ("CODEX_HOME", "/c")], "codex"), "/c/config.toml");
        assert_eq!(at(&[home], "claude-code"), "/h/.claude.json");
        assert_eq!(at(&[home, ("CLAUDE_CONFIG_DIR", "/c")], "claude-code"), "/c/.claude.json");
        assert!(places(|_| None).is_none());
        assert!(places(|name| (name == "HOME").then(OsString::new)).is_none(), "an empty HOME");
    }

    #[test]
    fn every_place_is_listed_once_and_in_order() {
        assert!(PLACES.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        let all = places(|name| (name == "HOME").then(|| "/h".into())).expect("a home");
        let mut paths: Vec<_> = all.iter().map(|place| &place.path).collect();
        paths.sort_unstable();
        let number = paths.len();
        paths.dedup();
        assert_eq!(paths.len(), number);
        assert!(names().len() < number);
    }
}

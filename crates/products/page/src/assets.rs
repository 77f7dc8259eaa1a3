//! The files of the page, as they were when the program was built. Nothing is read from disk at run time.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

/// A file of the page.
#[derive(Debug)]
pub(crate) struct Asset {
    pub(crate) path: &'static str,
    pub(crate) text: &'static str,
    pub(crate) content_type: &'static str,
    /// The digest of the text, in quotes.
    pub(crate) tag: String,
}

macro_rules! assets {
    ($($path:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("../files/", $path)))),+]
    };
}

/// What both pages have; a test compares the lists with the folder.
const SHARED: &[(&str, &str)] = assets![
    "api.js",
    "favicon.svg",
    "feed.js",
    "format.js",
    "html.js",
    "json.js",
    "page.css",
    "parts.css",
    "parts/button.js",
    "parts/chooser.js",
    "parts/filter.js",
    "parts/guard.js",
    "parts/key-table.js",
    "parts/list.js",
    "parts/modal.js",
    "parts/theme.js",
    "tokens.css",
    "vendor/hooks.js",
    "vendor/htm.js",
    "vendor/preact.js",
];

/// The page of `proof inspect`.
const INSPECT: &[(&str, &str)] = assets![
    "actions.js",
    "app.js",
    "apps.js",
    "dialogs.js",
    "index.html",
    "keys.js",
    "palette.js",
    "parts/app-bridge.js",
    "parts/app-frame.js",
    "parts/beside.js",
    "parts/content.js",
    "parts/diff.js",
    "parts/form-model.js",
    "parts/form.js",
    "parts/items.js",
    "parts/pane.js",
    "parts/timeline.js",
    "parts/tree.js",
    "rows.js",
    "sides.js",
    "state.js",
    "views/authorization.js",
    "views/compare.js",
    "views/detail.js",
    "views/diagnosis.js",
    "views/findings.js",
    "views/prompts.js",
    "views/questions.js",
    "views/resources.js",
    "views/server.js",
    "views/tasks.js",
    "views/tools.js",
    "views/traffic.js",
];

/// The page of `proof fleet ui`, below `fleet/`.
const FLEET: &[(&str, &str)] = assets![
    "fleet/actions.js",
    "fleet/app.js",
    "fleet/detail.js",
    "fleet/fleet.css",
    "fleet/index.html",
    "fleet/keys.js",
    "fleet/print.css",
    "fleet/print.js",
    "fleet/rows.js",
    "fleet/run.js",
    "fleet/state.js",
    "fleet/table.js",
];

static ASSETS: LazyLock<[Vec<Asset>; 3]> = LazyLock::new(|| {
    let asset = |(path, text): &(&'static str, &'static str)| Asset {
        path,
        text,
        content_type: content_type(path),
        tag: format!("\"{}\"", URL_SAFE_NO_PAD.encode(&Sha256::digest(text.as_bytes())[..16])),
    };
    [SHARED, INSPECT, FLEET].map(|files| files.iter().map(asset).collect())
});

/// The files of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// Of `proof inspect`.
    Inspect,
    /// Of `proof fleet ui`.
    Fleet,
}

impl Files {
    /// The file at a path of the server.
    pub(crate) fn find(self, path: &str) -> Option<&'static Asset> {
        let [shared, inspect, fleet] = &*ASSETS;
        let (own, first) = match self {
            Self::Inspect => (inspect, "index.html"),
            Self::Fleet => (fleet, "fleet/index.html"),
        };
        let path = path.strip_prefix('/')?;
        let path = if path.is_empty() { first } else { path };
        shared.iter().chain(own).find(|asset| asset.path == path)
    }
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// The folders of `files/` that browsers never get.
    const NOT_SERVED: [&str; 3] = ["test", "browser", "node_modules"];

    fn files(folder: &Path, prefix: &str, into: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).expect("the folder of the page").flatten() {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let is_served = !NOT_SERVED.contains(&name.as_str());
            if entry.path().is_dir() && is_served {
                files(&entry.path(), &format!("{name}/"), into);
            } else if [".html", ".js", ".css", ".svg"].iter().any(|ending| name.ends_with(ending)) {
                into.insert(name);
            }
        }
    }

    #[test]
    fn every_file_of_the_page_is_served() {
        let mut there = BTreeSet::new();
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("files"), "", &mut there);
        let served: BTreeSet<String> =
            [SHARED, INSPECT, FLEET].concat().iter().map(|(path, _)| (*path).to_owned()).collect();
        assert_eq!(served, there);
    }

    #[test]
    fn files_are_found_by_their_whole_path() {
        for files in [Files::Inspect, Files::Fleet] {
            assert_eq!(files.find("/").map(|asset| asset.content_type), Some("text/html; charset=utf-8"));
            for path in ["", "index.html", "//index.html", "/../Cargo.toml", "/index.html/", "/INDEX.html"] {
                assert!(files.find(path).is_none(), "{path}");
            }
        }
    }

    #[test]
    fn a_page_has_its_own_files_and_those_of_both() {
        for (path, inspect, fleet) in [
            ("/list.js", false, false),
            ("/app.js", true, false),
            ("/fleet/app.js", false, true),
            ("/api.js", true, true),
        ] {
            assert_eq!(
                (Files::Inspect.find(path).is_some(), Files::Fleet.find(path).is_some()),
                (inspect, fleet),
                "{path}"
            );
        }
    }
}

//! One look at a page in Chromium: what a peer's texts did there. It knows marks and nothing of where pages come from.

use anyhow::{bail, ensure};
use serde_json::Value;

use crate::attack::Plan;
use crate::attack::browser::Chromium;
use crate::attack::hostile::http::Web;

const LOOK: &str = include_str!("look.js");
/// Milliseconds in which a page does what it does by itself.
const SETTLE: &str = "120";

/// A browser, and the address at which its requests are noticed.
pub(super) struct Window {
    chromium: Chromium,
    canary: Web,
    /// How much of a page is clicked on.
    clicks: usize,
}

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Look {
    dialogs: Vec<String>,
    requests: Vec<String>,
    /// Elements, attributes and comments that a page has of a peer, in words.
    found: Vec<String>,
    /// The marks that stand in the page's text.
    pub(super) shown: Vec<String>,
    /// Whether the text has characters without a shape.
    pub(super) hidden: bool,
    /// Why the page could not be looked at, for example because it went away.
    lost: Option<String>,
}

impl Window {
    pub(super) fn open(plan: &Plan, canary: Web) -> anyhow::Result<Self> {
        let chromium = Chromium::start(&plan.folder.join("chromium"))?;
        Ok(Self { chromium, canary, clicks: plan.amount(100, 40) })
    }

    /// Opens a page, runs `first` in it and looks.
    pub(super) fn look(&mut self, url: &str, policy: bool, first: &str) -> anyhow::Result<Look> {
        let before = self.canary.seen().len();
        let script = LOOK.replace("SETTLE", SETTLE).replace("CLICKS", &self.clicks.to_string());
        self.chromium.open(url, policy)?;
        let seen = if first.is_empty() { Ok(Value::Null) } else { self.chromium.evaluate(first) };
        let seen = seen.and_then(|_| self.chromium.evaluate(&script));
        let mut look = Look { dialogs: self.chromium.dialogs(), ..Look::default() };
        let asked = self.canary.seen();
        look.requests =
            asked.iter().skip(before).filter_map(|seen| seen.head.lines().next().map(str::to_owned)).collect();
        match seen {
            Ok(seen) => {
                let texts = |name: &str| -> Vec<String> {
                    let list = seen[name].as_array().into_iter().flatten();
                    list.filter_map(Value::as_str).map(str::to_owned).collect()
                };
                (look.found, look.shown) = (texts("found"), texts("shown"));
                look.hidden = seen["hidden"] == true;
            }
            Err(error) => look.lost = Some(format!("{error:#}")),
        }
        Ok(look)
    }
}

impl Look {
    /// Whether the text with this mark became something other than text.
    pub(super) fn active(&self, mark: &str) -> bool {
        self.harmless(mark).is_err()
    }

    /// Fails where the text with this mark became something other than text.
    pub(super) fn harmless(&self, mark: &str) -> anyhow::Result<()> {
        for (what, list) in [("a dialog", &self.dialogs), ("a request", &self.requests), ("an element", &self.found)] {
            if let Some(one) = list.iter().find(|text| text.contains(mark)) {
                bail!("{what}: {one}");
            }
        }
        Ok(())
    }

    /// Fails where the page did anything that a report does not do.
    pub(super) fn sound(&self) -> anyhow::Result<()> {
        ensure!(self.lost.is_none(), "it cannot be looked at: {:?}", self.lost);
        ensure!(self.dialogs.is_empty(), "dialogs: {:?}", self.dialogs);
        ensure!(self.requests.is_empty(), "requests: {:?}", self.requests);
        ensure!(self.found.is_empty(), "of a peer: {:?}", self.found);
        ensure!(!self.hidden, "a character without a shape is in the text");
        Ok(())
    }
}

//! The rules about signed manifests, in addition to those of the specification. MCP has no sentence about manifests.

use judge::rule_index;
use report::{RuleIndex, RuleText, Sentence};
use wire::{Level, Revision};

/// Where manifests are documented.
pub(crate) const URL: &str = "https://github.com/proofhouse/proofhouse/blob/main/docs/sign.md";

/// A rule about manifests.
pub(crate) struct ManifestRule {
    pub(crate) id: &'static str,
    pub(crate) says: &'static str,
    pub(crate) how: &'static str,
    pub(crate) fix: &'static str,
}

/// A trusted key signed it.
pub(crate) const VERIFIED: ManifestRule = ManifestRule {
    id: "manifest.verified",
    says: "A trusted key signed the manifest of the server, and it holds now.",
    how: "The manifest of `--manifest` is read strictly, and each signature is checked with the keys of `--keys`. Every other \
          state is broken: missing, unsigned, unsupported, unknown-key, tampered, expired, or issued in the future. With \
          `--lock`, so is a manifest that is older than the newest one that the lock remembers.",
    fix: "Publish a manifest that `proof sign` wrote for this version, and give users the public key.",
};

/// The server is the one that it describes.
pub(crate) const MATCHES: ManifestRule = ManifestRule {
    id: "manifest.matches",
    says: "The server tells clients what its manifest states.",
    how: "At each revision of the check, the server is listed twice, and once under another client name. It must have the \
          origin of the URL, or the package, in the manifest. Each tool, prompt, resource and the instructions \
          must have the digest in the manifest, and nothing may be missing. A manifest that is not verified proves nothing.",
    fix: "Sign each release: `proof lock`, then `proof sign`. A difference that the publisher did not make is an attack.",
};

/// All of them.
pub(crate) const ALL: [&ManifestRule; 2] = [&VERIFIED, &MATCHES];

/// Every rule that a report of a check may name.
pub(crate) fn index() -> RuleIndex {
    rule_index().all().cloned().chain(ALL.into_iter().map(text)).collect()
}

fn text(rule: &ManifestRule) -> RuleText {
    let sentence = |revision: Revision| Sentence {
        revision,
        level: Level::Safety,
        text: rule.says,
        page: "manifest",
        url: URL.to_owned(),
    };
    let sentences = Revision::ALL.into_iter().map(sentence).collect();
    RuleText { id: rule.id, how: rule.how, fix: rule.fix, timed: false, sentences }
}

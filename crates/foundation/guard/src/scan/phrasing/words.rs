//! A text as words with their classes.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use super::evidence as e;
use crate::scan::confusable::folded;
use crate::scan::hidden::is_hidden;

/// A word.
pub(super) struct Word {
    pub(super) class: u64,
    pub(super) span: Range<usize>,
    /// The sentence that it stands in, counted from 0.
    pub(super) sentence: usize,
}

/// The longest word that can have a class.
const LONGEST: usize = 64;

static CLASSES: LazyLock<HashMap<&'static str, u64>> = LazyLock::new(|| {
    let mut classes = HashMap::new();
    for (class, words) in e::CLASSES {
        for word in words.split(' ') {
            *classes.entry(word).or_insert(0) |= class;
        }
    }
    classes
});

/// Marks of chat formats and of emphasis that only models heed.
const TAGS: [&str; 16] = [
    "<important>",
    "</important>",
    "<system>",
    "</system>",
    "<critical",
    "<system-reminder>",
    "<instructions>",
    "<instruction>",
    "<secret>",
    "<hidden>",
    "<|im_start|>",
    "<|im_end|>",
    "<|system|>",
    "[inst]",
    "<<sys>>",
    "</tool_result>",
];

/// Labels by which transcripts of chats begin what a role says.
const ROLES: [&str; 4] = ["SYSTEM:", "ASSISTANT:", "[SYSTEM]", "[SYSTEM]:"];

/// Parts of paths that hold secrets, or that start programs.
const PATHS: [&str; 22] = [
    ".ssh",
    "id_rsa",
    "id_ed25519",
    "/etc/passwd",
    "/etc/shadow",
    "/etc/hosts",
    ".aws/",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".kube/",
    ".git-credentials",
    ".bashrc",
    ".zshrc",
    ".bash_profile",
    ".profile",
    ".bash_history",
    ".gnupg",
    ".cursor/mcp.json",
    "claude_desktop_config",
    "authorized_keys",
    "wallet.dat",
];

/// The words of a text, in order.
pub(super) struct Words<'t> {
    text: &'t str,
    at: usize,
    sentence: usize,
    /// Words of the chunk that is being read, last first.
    pending: Vec<Word>,
}

impl<'t> Words<'t> {
    pub(super) const fn of(text: &'t str) -> Self {
        Self { text, at: 0, sentence: 0, pending: Vec::new() }
    }

    /// Reads the next run of characters without a space.
    fn chunk(&mut self) -> Option<()> {
        let rest = &self.text[self.at..];
        let start = self.at + rest.find(|c: char| !c.is_whitespace())?;
        // A blank line ends a sentence.
        if self.text[self.at..start].matches('\n').count() > 1 {
            self.sentence += 1;
        }
        let rest = &self.text[start..];
        let end = start + rest.find(char::is_whitespace).unwrap_or(rest.len());
        let chunk = &self.text[start..end];
        self.at = end;
        let mut words = self.words(chunk, start);
        let marks = marks(chunk);
        if marks != 0 {
            match words.first_mut() {
                Some(first) => first.class |= marks,
                None => words.push(Word { class: marks, span: start..end, sentence: self.sentence }),
            }
        }
        if chunk.trim_end_matches(['"', '\'', ')', '*']).ends_with(['.', '!', '?']) {
            self.sentence += 1;
        }
        words.reverse();
        self.pending = words;
        Some(())
    }

    fn words(&self, chunk: &str, start: usize) -> Vec<Word> {
        let (mut words, mut word, mut begun) = (Vec::new(), String::new(), 0);
        let mut is_name = false;
        let quoted = chunk.starts_with(['`', '\'', '"']) && chunk[1..].contains(['`', '\'', '"']);
        for (at, c) in chunk.char_indices().chain([(chunk.len(), ' ')]) {
            if is_hidden(c) {
                continue;
            }
            let c_folded = folded(c);
            if c_folded.is_alphanumeric() || c == '_' {
                if word.is_empty() {
                    begun = at;
                }
                is_name |= c == '_' || (c.is_uppercase() && word.ends_with(char::is_lowercase) && at > begun);
                if word.len() < LONGEST {
                    word.push(c_folded);
                }
                continue;
            }
            if !word.is_empty() {
                let mut class = CLASSES.get(word.as_str()).copied().unwrap_or(0);
                if is_name || quoted {
                    class |= e::NAME;
                }
                let shouts = chunk[begun..at].chars().all(|c| c.is_uppercase()) && word.len() > 5;
                if shouts && class & e::STRESS != 0 {
                    class |= e::SHOUT;
                }
                words.push(Word { class, span: start + begun..start + at, sentence: self.sentence });
                word.clear();
                is_name = false;
            }
        }
        words
    }
}

impl Iterator for Words<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        while self.pending.is_empty() {
            self.chunk()?;
        }
        self.pending.pop()
    }
}

/// Whether it is a word in capitals alone, longer than an abbreviation.
fn is_shouted(chunk: &str) -> bool {
    let letters = || chunk.chars().filter(|c| c.is_alphabetic());
    letters().count() > 4 && letters().all(char::is_uppercase)
}

/// What a whole chunk is.
fn marks(chunk: &str) -> u64 {
    // No mark is longer than this, but an address is: its beginning tells.
    let head = chunk.char_indices().nth(400).map_or(chunk, |(at, _)| &chunk[..at]);
    let has = |marks: &[char]| head.contains(marks);
    // Most chunks are plain words.
    if !has(&['.', '/', '_', '<', '[', ':', '$', '&', '>', '|']) {
        return 0;
    }
    let lower = head.to_ascii_lowercase();
    let mut class = 0;
    if lower.contains("://") {
        class |= e::URL;
    }
    if has(&['.', '/', '_']) && (PATHS.iter().any(|path| lower.contains(path)) || lower == ".env") {
        class |= e::PATH;
    }
    if has(&['<', '[']) && TAGS.iter().any(|tag| lower.contains(tag)) {
        class |= e::TAG;
    }
    if head.starts_with('[') && !has(&[']']) && is_shouted(head) {
        class |= e::BRACKET;
    }
    if ROLES.contains(&head) {
        class |= e::ROLE;
    }
    if lower.contains("$(") || matches!(lower.as_str(), "&&" | ">>" | "|") {
        class |= e::SHELL;
    }
    class
}

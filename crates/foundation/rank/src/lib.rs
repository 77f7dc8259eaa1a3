//! Ranks tools by how well words fit them: BM25 (Robertson and Zaragoza, 2009) over names, titles, descriptions and arguments. Pure.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// How much another occurrence of a word adds, and how much a long text takes away.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// How often a word of a name and of a title counts, next to one of a description.
const NAME: f64 = 3.0;
const TITLE: f64 = 2.0;
/// How deep arguments are looked at.
const DEPTH: usize = 8;
/// The most words of one tool, and of one question.
const MOST_WORDS: usize = 20_000;
const MOST_ASKED: usize = 200;
/// Words that say nothing of a tool.
const STOP: [&str; 36] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "for", "from", "get", "i", "if", "in", "is", "it",
    "its", "me", "my", "of", "on", "or", "please", "s", "that", "the", "this", "to", "use", "want", "with", "what",
    "you", "your",
];

/// Tools by their words.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// By word: the tools that have it, by number, and how often.
    words: HashMap<String, Vec<(usize, f64)>>,
    lengths: Vec<f64>,
    average: f64,
}

impl Index {
    /// The words of tools, as `tools/list` has them.
    pub fn new(tools: &[Value]) -> Self {
        let mut index = Self::default();
        for (number, tool) in tools.iter().enumerate() {
            let counts = counts(tool);
            index.lengths.push(counts.values().sum());
            for (word, count) in counts {
                index.words.entry(word).or_default().push((number, count));
            }
        }
        index.average = index.lengths.iter().sum::<f64>() / index.lengths.len().max(1) as f64;
        index
    }

    /// The numbers of the tools that have a word of the question, best first. Of two that are equally good, the first comes first.
    pub fn rank(&self, question: &str) -> Vec<usize> {
        self.scores(question).into_iter().map(|(number, _)| number).collect()
    }

    /// The same with their scores.
    pub fn scores(&self, question: &str) -> Vec<(usize, f64)> {
        let mut asked = HashSet::new();
        split(question, &mut |word| {
            if asked.len() < MOST_ASKED {
                asked.insert(word);
            }
        });
        let mut scores = HashMap::<usize, f64>::new();
        // In one order: sums of floats differ otherwise.
        let mut asked: Vec<_> = asked.into_iter().collect();
        asked.sort_unstable();
        for word in asked {
            let Some(tools) = self.words.get(&word) else { continue };
            let (all, having) = (self.lengths.len() as f64, tools.len() as f64);
            let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
            for (number, count) in tools {
                let length = self.lengths.get(*number).copied().unwrap_or_default() / self.average.max(1.0);
                *scores.entry(*number).or_default() +=
                    rarity * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
            }
        }
        let mut ranked: Vec<_> = scores.into_iter().collect();
        ranked.sort_by(|(one, a), (other, b)| b.total_cmp(a).then(one.cmp(other)));
        ranked
    }
}

/// The words of a text that say something.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    split(text, &mut |word| {
        if words.len() < MOST_WORDS {
            words.push(word);
        }
    });
    words
}

/// How often a tool has each word.
fn counts(tool: &Value) -> HashMap<String, f64> {
    let mut counts = HashMap::new();
    let mut left = MOST_WORDS;
    let mut add = |text: &str, weight: f64| {
        split(text, &mut |word| {
            if left > 0 {
                left -= 1;
                *counts.entry(word).or_default() += weight;
            }
        });
    };
    let text = |name: &str| tool.get(name).and_then(Value::as_str).unwrap_or_default();
    add(text("name"), NAME);
    add(text("title"), TITLE);
    add(text("description"), 1.0);
    if let Some(schema) = tool.get("inputSchema") {
        arguments(schema, 0, &mut |text| add(text, 1.0));
    }
    counts
}

/// Names and descriptions of arguments, and the words that they may be.
fn arguments(schema: &Value, depth: usize, add: &mut dyn FnMut(&str)) {
    if depth > DEPTH {
        return;
    }
    if let Some(Value::Object(properties)) = schema.get("properties") {
        for (name, property) in properties {
            add(name);
            if let Some(text) = property.get("description").and_then(Value::as_str) {
                add(text);
            }
            property
                .get("enum")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .for_each(&mut *add);
            arguments(property, depth + 1, add);
        }
    }
    if let Some(items) = schema.get("items") {
        arguments(items, depth + 1, add);
    }
}

/// The words of a text: letters and digits, in small letters, `camelCase` and `snake_case` apart, without a plural's s.
fn split(text: &str, word: &mut dyn FnMut(String)) {
    let (mut current, mut before) = (String::new(), ' ');
    let mut chars = text.chars().peekable();
    let mut end = |current: &mut String| {
        let found = stem(current);
        if !found.is_empty() && !STOP.contains(&found) {
            word(found.to_owned());
        }
        current.clear();
    };
    while let Some(c) = chars.next() {
        let next_is_small = chars.peek().is_some_and(|next| next.is_lowercase());
        let begins = c.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && next_is_small));
        if begins || !c.is_alphanumeric() {
            end(&mut current);
        }
        if c.is_alphanumeric() {
            current.extend(c.to_lowercase());
        }
        before = c;
    }
    end(&mut current);
}

/// A word without the ending of a plural.
fn stem(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(one) if word.len() > 3 && !one.ends_with(['s', 'u', 'i']) => one,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Index, words};

    #[test]
    fn words_are_read_from_names_and_sentences() {
        for (text, expected) in [
            ("getUserByID", vec!["user", "id"]),
            ("list_pull_requests", vec!["list", "pull", "request"]),
            ("HTTPServer2", vec!["http", "server2"]),
            ("What is the weather in Zürich?", vec!["weather", "zürich"]),
            ("files.read-bus status class", vec!["file", "read", "bus", "status", "class"]),
            ("", vec![]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn rare_words_and_names_count_more() {
        let tools = [
            json!({ "name": "list_files", "description": "Lists files of a folder" }),
            json!({ "name": "read_file", "description": "Reads a file" }),
            json!({ "name": "send_mail", "description": "Sends a mail, with files attached", "inputSchema": { "type": "object",
                "properties": { "recipient": { "type": "string", "description": "who gets it" } } } }),
            json!({ "name": "noop" }),
        ];
        let index = Index::new(&tools);
        assert_eq!(index.rank("send my files"), [2, 1, 0]);
        assert_eq!(index.rank("the recipients"), [2]);
        assert_eq!(index.rank("read"), [1]);
        assert!(index.rank("nothing of all that").is_empty() && index.rank("").is_empty());
        assert!(Index::new(&[]).rank("x").is_empty());
    }

    #[test]
    fn equally_good_tools_stay_in_order() {
        let tools: Vec<_> = (0..20).map(|n| json!({ "name": "same", "description": format!("n{n}") })).collect();
        let index = Index::new(&tools);
        for _ in 0..5 {
            assert_eq!(index.rank("same"), (0..20).collect::<Vec<_>>());
        }
    }

    #[test]
    fn hostile_tools_end() {
        let mut schema = json!({ "properties": { "a": {} } });
        for _ in 0..100 {
            schema = json!({ "properties": { "a": schema } });
        }
        let tool = json!({ "name": "x ".repeat(100_000), "description": 7, "inputSchema": schema });
        assert!(Index::new(&[tool]).rank(&"y ".repeat(100_000)).is_empty());
    }
}

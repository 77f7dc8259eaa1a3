//! How a text with holes is read. A hole is a path or a literal, then filters: `{{ start | filter | filter(literal) }}`.

use serde_json::Value;

use super::super::file_error::{nearest, quoted};
use super::{Filter, Hole, Part, Pattern, Start, Wrong};

const FILTERS: [&str; 4] = ["default", "upper", "lower", "json"];

/// How many steps a path, and how many filters a hole may have.
const MOST: usize = 16;

pub fn pattern(text: &str, scope: &str) -> Result<Pattern, Wrong> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find("{{") {
        if begin > 0 {
            parts.push(Part::Text(rest[..begin].to_owned()));
        }
        let mut reader = Reader { rest: &rest[begin + 2..], scope };
        parts.push(Part::Hole(reader.hole()?));
        rest = reader.rest;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Ok(Pattern(parts))
}

struct Reader<'t> {
    rest: &'t str,
    scope: &'t str,
}

impl<'t> Reader<'t> {
    /// Up to and with the `}}`.
    fn hole(&mut self) -> Result<Hole, Wrong> {
        let start = self.start()?;
        let mut filters = Vec::new();
        loop {
            self.blank();
            if self.eat("}}") {
                return Ok(Hole { start, filters });
            }
            if !self.eat("|") {
                return Err(self.unexpected("`|` and a filter, or `}}`"));
            }
            if filters.len() == MOST {
                return Err(wrong(format!("a hole has more than {MOST} filters"), "fewer"));
            }
            filters.push(self.filter()?);
        }
    }

    fn start(&mut self) -> Result<Start, Wrong> {
        self.blank();
        if self.rest.starts_with(['"', '\'']) {
            return Ok(Start::Literal(Value::String(self.string()?)));
        }
        let name = self.word();
        if name.is_empty() {
            return Err(
                self.unexpected(&format!("`{{{{ {}.NAME }}}}`; write {{{{ \"{{{{\" }}}} for two braces", self.scope))
            );
        }
        if name != self.scope {
            let what = format!("{} is nothing that a text can be filled with here", quoted(name));
            return Err(wrong(what, format!("`{{{{ {}.NAME }}}}`; quote a text", self.scope)));
        }
        let mut path = Vec::new();
        while self.eat(".") {
            if path.len() == MOST {
                return Err(wrong(format!("a path has more than {MOST} steps"), "a flatter shape"));
            }
            let step = if self.rest.starts_with('"') { self.string()? } else { self.word().to_owned() };
            if step.is_empty() {
                return Err(self.unexpected(
                    "a name after the dot, in quotes where it has other characters than letters, digits, `_` and `-`",
                ));
            }
            path.push(step);
        }
        if path.is_empty() && name != "arguments" {
            return Err(self.unexpected(&format!("`{{{{ {}.NAME }}}}`", self.scope)));
        }
        Ok(Start::Path(path))
    }

    fn filter(&mut self) -> Result<Filter, Wrong> {
        self.blank();
        let name = self.word();
        Ok(match name {
            "upper" => Filter::Upper,
            "lower" => Filter::Lower,
            "json" => Filter::Json,
            "default" => {
                self.blank();
                if !self.eat("(") {
                    return Err(self.unexpected("`default(\"text\")`"));
                }
                let value = self.literal()?;
                self.blank();
                if !self.eat(")") {
                    return Err(self.unexpected("`)` after the value of `default`"));
                }
                Filter::Default(value)
            }
            name => {
                return Err(wrong(format!("there is no filter {}", quoted(name)), nearest(name, FILTERS.into_iter())));
            }
        })
    }

    fn literal(&mut self) -> Result<Value, Wrong> {
        self.blank();
        if self.rest.starts_with(['"', '\'']) {
            return Ok(Value::String(self.string()?));
        }
        let end = self.rest.find([')', '}', '|', ' ']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        match serde_json::from_str(word) {
            Ok(value @ (Value::Number(_) | Value::Bool(_) | Value::Null)) => {
                self.rest = rest;
                Ok(value)
            }
            _ => Err(self.unexpected("a text in quotes, a number, `true`, `false` or `null`")),
        }
    }

    /// In either quotes; a backslash keeps what follows.
    fn string(&mut self) -> Result<String, Wrong> {
        let mut chars = self.rest.char_indices();
        let quote = chars.next().map(|(_, quote)| quote);
        let mut text = String::new();
        while let Some((at, char)) = chars.next() {
            match char {
                '\\' => text.extend(chars.next().map(|(_, char)| char)),
                char if Some(char) == quote => {
                    self.rest = &self.rest[at + char.len_utf8()..];
                    return Ok(text);
                }
                char => text.push(char),
            }
        }
        Err(wrong("a text within {{ }} does not end", "close its quotes"))
    }

    fn word(&mut self) -> &'t str {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn blank(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, what: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(what) else { return false };
        self.rest = rest;
        true
    }

    fn unexpected(&self, wanted: &str) -> Wrong {
        let found = if self.rest.trim().is_empty() { "nothing more".to_owned() } else { quoted(self.rest) };
        wrong(format!("{found} stands where {{{{ }}}} cannot be read on"), wanted)
    }
}

fn wrong(what: impl Into<String>, remedy: impl Into<String>) -> Wrong {
    Wrong { what: what.into(), remedy: remedy.into() }
}

//! The text of a description as a value: JSON, or YAML where it is none.

use document::{Bounds, FileError, Position, read_within};
use serde_json::Value;

/// How large a description may be, in bytes. Microsoft Graph's, the largest known, has 65 MB.
pub const LARGEST: usize = 128 << 20;
/// What a description in YAML may come to: a little more than the 10 MB that large ones have.
const YAML: Bounds = Bounds { depth: 100, weight: 256 << 20, key: 4096 };

/// Reads a description, an overlay or a configuration. Duplicate keys in YAML come as errors next to the value, which keeps the
/// first of them.
pub fn parse(text: &str) -> Result<(Value, Vec<FileError>), FileError> {
    if text.len() > LARGEST {
        let what = format!("the description is larger than {} MiB", LARGEST >> 20);
        return Err(FileError::new(None, what, "split it by tags or paths first"));
    }
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('{') {
        match serde_json::from_str(text) {
            Ok(value) => return Ok((value, Vec::new())),
            // A flow mapping of YAML also begins so, but small ones alone are tried twice.
            Err(error) if text.len() > 1 << 20 => return Err(broken_json(&error)),
            Err(error) => return yaml(text).map_err(|_| broken_json(&error)),
        }
    }
    yaml(text)
}

fn yaml(text: &str) -> Result<(Value, Vec<FileError>), FileError> {
    read_within(text, YAML).map(|(node, errors)| (node.to_value(), errors))
}

fn broken_json(error: &serde_json::Error) -> FileError {
    let at = Position { line: error.line(), column: error.column() };
    FileError::new(at, format!("this is no JSON: {error}"), "look at the commas, quotes and brackets here and above")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::parse;

    #[test]
    fn json_and_yaml_give_the_same_value() {
        let expected =
            json!({"openapi": "3.0.3", "paths": {"/a": {"get": {"responses": {"200": {"description": "ok"}}}}}});
        let yaml = "openapi: 3.0.3\npaths:\n  /a:\n    get:\n      responses:\n        200: {description: ok}\n";
        assert_eq!(parse(yaml).unwrap().0, expected);
        assert_eq!(parse(&expected.to_string()).unwrap().0, expected);
        assert_eq!(parse("{openapi: 3.0.3}").unwrap().0, json!({"openapi": "3.0.3"}));
    }

    #[test]
    fn an_error_says_where() {
        let error = parse("{\"openapi\": \"3.0.3\",\n \"paths\": {\"/a\" 1}}").unwrap_err();
        assert_eq!(error.at.unwrap().line, 2, "{}", error.what);
        assert!(parse("openapi: [").is_err());
        assert_eq!(parse("a: 1\na: 2\n").unwrap().1.len(), 1);
    }
}

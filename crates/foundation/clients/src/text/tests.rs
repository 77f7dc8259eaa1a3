//! Changes of texts: what is not changed stays byte for byte.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Change, Format, Step, apply, read};

fn set(text: &str, format: Format, path: &[&str], value: Value) -> String {
    let path = path.iter().map(|key| Step::key(key)).collect();
    apply(text, format, &[Change::Set(path, value)]).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

fn remove(text: &str, format: Format, path: &[&str]) -> String {
    let path = path.iter().map(|key| Step::key(key)).collect();
    apply(text, format, &[Change::Remove(path)]).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

fn entry() -> Value {
    json!({ "command": "npx", "args": ["-y", "x: y"], "env": { "A": "#1" } })
}

/// Adds an entry, takes it out, and gives the text between.
#[track_caller]
fn there_and_back(text: &str, format: Format, parent: &str) -> String {
    let with = set(text, format, &[parent, "new"], entry());
    assert_eq!(read(&with, format).expect("a text")[parent]["new"], entry());
    assert_eq!(remove(&with, format, &[parent, "new"]), text, "{with}");
    with
}

const JSON: [&str; 12] = [
    "{}",
    "{\n  \"mcpServers\": {}\n}\n",
    "{ \"mcpServers\": { \"a\": { \"command\": \"x\" } } }",
    "{\n\t\"other\": 1,\n\t\"mcpServers\": {\n\t\t\"a\": { \"command\": \"x\" }\n\t}\n}",
    "{\n  // first\n  \"mcpServers\": {\n    \"a\": 1, // about a\n    /* about b */ \"b\": 2 // last\n    // end\n  }, // after\n}\n",
    "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\", // why\n    },\n  },\n}\n",
    "{\r\n  \"mcpServers\": {\r\n    \"a\": 1\r\n  }\r\n}\r\n",
    "\u{feff}{\n  \"mcpServers\": {\n    \"a\": 1\n  }\n}",
    "{\n  \"mcpServers\": {\n\n    \"a\": 1\n\n\n  }\n\n}\n\n",
    "{\"mcpServers\":{\"a\":1}}",
    "{\n  \"mcpServers\": {\n    \"a\": 1}\n}",
    "// head\n{\n  \"mcpServers\": {\n    \"//\": \"/* no comment */\"\n    , \"b\": 1\n  }\n}\n// foot",
];

#[test]
fn json_comes_back_byte_for_byte() {
    for text in JSON.into_iter().filter(|text| text.contains("mcpServers")) {
        there_and_back(text, Format::Json, "mcpServers");
    }
}

#[test]
fn json_is_added_in_the_manner_of_the_file() {
    let with = set(
        "{\n\t\"mcpServers\": {\n\t\t\"a\": 1, // a\n\t}\n}",
        Format::Json,
        &["mcpServers", "b"],
        json!({ "c": [1] }),
    );
    assert_eq!(with, "{\n\t\"mcpServers\": {\n\t\t\"a\": 1, // a\n\t\t\"b\": {\n\t\t\t\"c\": [1]\n\t\t},\n\t}\n}");
    assert_eq!(set("{\"a\":{}}", Format::Json, &["a", "b"], json!(1)), "{\"a\":{\"b\": 1}}");
    assert_eq!(set("", Format::Json, &["a", "b"], json!(1)), "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n");
    assert_eq!(set("{ \"a\": { \"b\": 1 } }", Format::Json, &["a", "b"], json!([2])), "{ \"a\": { \"b\": [2] } }");
}

#[test]
fn json_of_the_middle_and_the_first_is_removed_alone() {
    let text = "{\n  \"a\": 1, // a\n  \"b\": 2, // b\n  \"c\": 3 // c\n}";
    assert_eq!(remove(text, Format::Json, &["a"]), "{ // a\n  \"b\": 2, // b\n  \"c\": 3 // c\n}");
    assert_eq!(remove(text, Format::Json, &["b"]), "{\n  \"a\": 1, // a // b\n  \"c\": 3 // c\n}");
    assert_eq!(remove(text, Format::Json, &["c"]), "{\n  \"a\": 1, // a\n  \"b\": 2 // b // c\n}");
}

#[test]
fn broken_files_are_refused_with_their_place() {
    for (text, format, line, column) in [
        ("not json at all {{{", Format::Json, 1, 1),
        ("{ \"mcpServers\": { \"a\"", Format::Json, 1, 22),
        ("{\n  \"a\": 1\n  \"b\": 2\n}", Format::Json, 3, 3),
        ("{} {}", Format::Json, 1, 4),
        ("{ 'a': 1 }", Format::Json, 1, 3),
        ("a = = 1\n", Format::Toml, 1, 5),
        ("a: [1\nb: 2\n", Format::Yaml, 2, 2),
    ] {
        let change = Change::Set(vec![Step::key("a")], json!(1));
        let error = apply(text, format, &[change]).expect_err(text);
        let at = error.at.unwrap_or_else(|| panic!("{text}: {error:?}"));
        assert_eq!((at.line, at.column), (line, column), "{text}: {error:?}");
        assert!(!error.remedy.is_empty());
    }
    let twice = "{\"mcpServers\": {\"a\": 1, \"a\": 2}}";
    let change = Change::Set(vec![Step::key("mcpServers"), Step::key("a")], json!(3));
    assert!(apply(twice, Format::Json, &[change]).is_err());
}

const YAML: [&str; 9] = [
    "extensions:\n  a:\n    cmd: x # why\n    # about a\n  # about b\n  b:\n    cmd: y\nother: 1\n",
    "# head\nother: |\n  text\n  # no comment\nextensions:\n    a:\n        cmd: x\n",
    "extensions:\n  a:\n    args:\n    - x\n    - y\n# foot\n",
    "extensions:\r\n  a:\r\n    cmd: x\r\nother: 1\r\n",
    "extensions:\n  a:\n    cmd: x",
    "extensions:\n\n  a:\n    cmd: x\n\n\nother:\n  - 1\n",
    "\u{feff}extensions:\n  a:\n    cmd: \"x\n      y\"\n",
    "extensions:\n  a: {cmd: x, args: [1,\n    2]}\n  # end\nother: 1\n",
    "---\nextensions:\n  a: &x\n    cmd: z\n  b: *x\n",
];

#[test]
fn yaml_comes_back_byte_for_byte() {
    for text in YAML {
        there_and_back(text, Format::Yaml, "extensions");
    }
}

#[test]
fn yaml_takes_entries_where_none_were() {
    let value = || json!({ "cmd": "x", "list": [1, "a"] });
    let block = "  new:\n    cmd: x\n    list:\n      - 1\n      - a";
    for (before, after) in [
        ("", format!("extensions:\n{block}\n")),
        ("# c\n", format!("# c\nextensions:\n{block}\n")),
        ("a: 1\n", format!("a: 1\nextensions:\n{block}\n")),
        ("extensions: {} # none\na: 1\n", format!("extensions: # none\n{block}\na: 1\n")),
        ("extensions:\na: 1\n", format!("extensions:\n{block}\na: 1\n")),
    ] {
        assert_eq!(set(before, Format::Yaml, &["extensions", "new"], value()), after);
    }
    let changed = set("e:\n  a:\n    cmd: x # why\n    z: 1\n", Format::Yaml, &["e", "a", "cmd"], json!("new"));
    assert_eq!(changed, "e:\n  a:\n    cmd: new # why\n    z: 1\n");
    assert_eq!(remove("e: # c\n  a:\n    b: 1\nz: 1\n", Format::Yaml, &["e", "a"]), "e: {} # c\nz: 1\n");
}

#[test]
fn yaml_lists_by_name() {
    let text =
        "mcpServers:\n  # first\n  - name: a\n    command: x\n  # second\n  - name: b\n    command: y # keep\nz: 1\n";
    let at = |name: &str| vec![Step::key("mcpServers"), Step::Item("name", name.to_owned())];
    let item = json!({ "name": "c", "args": ["-y"] });
    let with = apply(text, Format::Yaml, &[Change::Set(at("c"), item)]).expect("a text");
    assert_eq!(with, text.replace("z: 1", "  - name: c\n    args:\n      - \"-y\"\nz: 1"));
    assert_eq!(apply(&with, Format::Yaml, &[Change::Remove(at("c"))]).expect("a text"), text);
    let without = apply(text, Format::Yaml, &[Change::Remove(at("a"))]).expect("a text");
    assert_eq!(without, "mcpServers:\n  # first\n  # second\n  - name: b\n    command: y # keep\nz: 1\n");
    let mut inner = at("b");
    inner.push(Step::key("command"));
    let changed = apply(text, Format::Yaml, &[Change::Set(inner, json!("q"))]).expect("a text");
    assert_eq!(changed, text.replace("y # keep", "q # keep"));
}

const TOML: [&str; 8] = [
    "model = \"o\" # why\n\n# servers\n[mcp_servers.a]\ncommand = \"x\" # c\n\n# more\n[profile.x]\ny = '''\n[mcp_servers.no]\n'''\n",
    "[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.a.env]\nA = \"1\"\n",
    "a = 1",
    "a = 1\r\n\r\n[mcp_servers.a]\r\ncommand = 'x'\r\n\r\n[z]\r\nb = 1\r\n",
    "\u{feff}a = 1\n",
    "[mcp_servers]\n# none yet\n",
    "[mcp_servers]\na = { command = \"x\" }\n\n\n",
    "a = 1\n\n\n",
];

#[test]
fn toml_comes_back_byte_for_byte() {
    for text in TOML {
        there_and_back(text, Format::Toml, "mcp_servers");
    }
}

#[test]
fn toml_members_change_alone() {
    let text = "[mcp_servers.a] # a\ncommand = \"x\" # c\nargs = [ # args\n  \"1\",\n] # end\n\n[mcp_servers.a.env]\nA = \"1\" # one\n";
    let at = |keys: &[&'static str]| [&["mcp_servers", "a"], keys].concat();
    let changed = set(text, Format::Toml, &at(&["args"]), json!(["2"]));
    assert_eq!(changed, text.replace("[ # args\n  \"1\",\n]", "[\"2\"]"));
    assert_eq!(set(text, Format::Toml, &at(&["env", "A"]), json!("2")), text.replace("\"1\" # one", "\"2\" # one"));
    assert_eq!(set(text, Format::Toml, &at(&["env", "B"]), json!("2")), format!("{text}B = \"2\"\n"));
    let with = set(text, Format::Toml, &at(&["enabled"]), json!(true));
    assert_eq!(with, text.replace("] # end\n", "] # end\nenabled = true\n"));
    assert_eq!(remove(&with, Format::Toml, &at(&["enabled"])), text);
    assert_eq!(remove(text, Format::Toml, &["mcp_servers", "a"]), "");
    let inline = "[mcp_servers]\na = { command = \"x\", b = 1 } # keep\n";
    let changed = set(inline, Format::Toml, &at(&["b"]), json!(2));
    assert_eq!(changed, inline.replace("b = 1", "b = 2"));
}

#[test]
fn toml_lists_by_name() {
    let text = "# c\n[[mcp_servers]] # first\nname = \"a\"\ncommand = \"x\"\n\n[other]\nz = 1\n";
    let at = |name: &str| vec![Step::key("mcp_servers"), Step::Item("name", name.to_owned())];
    let item = json!({ "name": "b", "command": "y" });
    let with = apply(text, Format::Toml, &[Change::Set(at("b"), item)]).expect("a text");
    assert_eq!(with, text.replace("\"x\"\n", "\"x\"\n\n[[mcp_servers]]\nname = \"b\"\ncommand = \"y\"\n"));
    assert_eq!(apply(&with, Format::Toml, &[Change::Remove(at("b"))]).expect("a text"), text);
}

const TOML_INLINE: [&str; 5] = [
    "mcp_servers = { a = { command = \"x\", since = 2020-01-01, h = 0xFF, f = 1e3 } } # keep\nz = 1\n",
    "mcp_servers = {\n  # first\n  a = { command = \"x\" }, # a\n  'b' = { n = inf }, # b\n  # end\n}\n",
    "mcp_servers = {\r\n\ta = { command = 'x' } # no comma\r\n}\r\n",
    "mcp_servers.a = { t = 07:32:00 }\n",
    "[mcp_servers]\na = { d = 1_000 } # a\n",
];

#[test]
fn inline_toml_keeps_comments_and_types() {
    for text in &TOML_INLINE[..3] {
        let with = there_and_back(text, Format::Toml, "mcp_servers");
        let rest = text.split_once("a = ").expect("an entry").1.split_once('}').expect("an end").0;
        assert!(with.contains(rest) && with.matches('#').count() == text.matches('#').count() + 1, "{with}");
    }
    let text = TOML_INLINE[0];
    let changed = set(text, Format::Toml, &["mcp_servers", "a", "env"], json!({ "A": "1" }));
    assert_eq!(changed, text.replace("1e3 }", "1e3, env = { A = \"1\" } }"));
    assert_eq!(
        set(&changed, Format::Toml, &["mcp_servers", "a", "env", "A"], json!("2")),
        changed.replace("\"1\"", "\"2\"")
    );
    let without = remove(text, Format::Toml, &["mcp_servers", "a", "h"]);
    assert_eq!(without, text.replace("h = 0xFF, ", ""));
    assert_eq!(remove(text, Format::Toml, &["mcp_servers", "a", "f"]), text.replace(", f = 1e3", ""));
    for text in &TOML_INLINE[3..] {
        let path = ["mcp_servers", "new"].map(Step::key).to_vec();
        if let Ok(with) = apply(text, Format::Toml, &[Change::Set(path, entry())]) {
            assert!(with.contains(text.trim_end().rsplit("a = ").next().expect("an entry")), "{with}");
        }
    }
}

#[test]
fn inline_lists_of_toml_keep_comments() {
    let at = |name: &str| vec![Step::key("mcp_servers"), Step::Item("name", name.to_owned())];
    let item = || json!({ "name": "new", "command": "y" });
    for text in [
        "mcp_servers = [ # my server\n  { name = \"a\", command = \"x\", since = 2020-01-01 }, # why\n  # end\n]\nz = 1\n",
        "mcp_servers = [{ name = 'a', h = 0xFF }, { name = 'b' }] # keep\n",
        "mcp_servers = [\n  { name = 'a' } # no comma\n]",
        "mcp_servers = [{ name = 'a' },\n  { name = 'b' }, # b\n]\n",
        "mcp_servers = [] # none\n",
    ] {
        let with = apply(text, Format::Toml, &[Change::Set(at("new"), item())]).expect(text);
        let tables = text.split('{').skip(1).map(|rest| rest.split_once('}').expect("an end").0);
        let comments = text.lines().filter_map(|line| line.split_once('#')).map(|(_, comment)| comment);
        assert!(tables.chain(comments).all(|part| with.contains(part)), "{with}");
        assert_eq!(
            read(&with, Format::Toml).expect("a text")["mcp_servers"].as_array().and_then(|all| all.last()),
            Some(&item())
        );
        assert_eq!(apply(&with, Format::Toml, &[Change::Remove(at("new"))]).expect("a text"), text, "{with}");
    }
    let text = "mcp_servers = [ # my server\n  { name = 'a', command = 'x' }, # why\n  { name = 'b' } # last\n]\n";
    let mut inner = at("a");
    inner.push(Step::key("command"));
    let changed = apply(text, Format::Toml, &[Change::Set(inner, json!("q"))]).expect("a text");
    assert_eq!(changed, text.replace("'x'", "\"q\""));
    for name in ["a", "b"] {
        let without = apply(text, Format::Toml, &[Change::Remove(at(name))]).expect("a text");
        assert!(["# my server", "# why", "# last"].iter().all(|comment| without.contains(comment)), "{without}");
    }
}

/// A member without a value is no other value: an entry takes its place.
#[test]
fn null_is_a_place_for_entries() {
    for (before, format, after) in [
        ("{\"s\": null}", Format::Json, "{\"s\": {\n  \"new\": 1\n}}"),
        (
            "{\n  \"s\": null, // c\n  \"z\": 1\n}\n",
            Format::Json,
            "{\n  \"s\": {\n    \"new\": 1\n  }, // c\n  \"z\": 1\n}\n",
        ),
        ("null\n", Format::Json, "{\n  \"s\": {\n    \"new\": 1\n  }\n}\n"),
        ("s: null\n", Format::Yaml, "s:\n  new: 1\n"),
        ("a: 1\ns: ~   # c\nz: 1\n", Format::Yaml, "a: 1\ns:   # c\n  new: 1\nz: 1\n"),
        ("s: NULL\r\nz: 1\r\n", Format::Yaml, "s:\r\n  new: 1\r\nz: 1\r\n"),
    ] {
        assert_eq!(set(before, format, &["s", "new"], json!(1)), after);
        assert_eq!(remove(before, format, &["s", "new"]), before);
    }
    let list = vec![Step::key("s"), Step::Item("name", "a".to_owned())];
    for (before, format) in [("{\"s\": null}", Format::Json), ("s: ~\n", Format::Yaml)] {
        let with = apply(before, format, &[Change::Set(list.clone(), json!({ "name": "a" }))]).expect(before);
        assert_eq!(read(&with, format).expect("a text"), json!({ "s": [{ "name": "a" }] }));
    }
}

/// White space and comments between tokens of JSON.
fn trivia() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec!["", " ", "\n", "\n\n  ", "\t", " // c, } \"\n", "/* { , */", "\r\n"]);
    prop::collection::vec(piece, 0..3).prop_map(|pieces| pieces.concat())
}

fn written(value: &Value, gaps: &mut impl Iterator<Item = String>, trailing: bool) -> String {
    let Value::Object(members) = value else {
        let before = gaps.next().unwrap_or_default();
        return format!("{before}{value}{}", gaps.next().unwrap_or_default());
    };
    let mut out = "{".to_owned();
    for (index, (key, value)) in members.iter().enumerate() {
        let before = gaps.next().unwrap_or_default();
        let after = gaps.next().unwrap_or_default();
        let text = written(value, gaps, trailing);
        let comma = if index + 1 < members.len() || trailing { "," } else { "" };
        let name = Value::from(key.as_str()).to_string();
        out.extend([before.as_str(), &name, &after, ":", &text, comma]);
    }
    out + &gaps.next().unwrap_or_default() + "}"
}

proptest! {
    /// Whatever stands between the tokens: an entry that goes in and out leaves the text as it was, if its object was not empty.
    #[test]
    fn any_json_comes_back(gaps in prop::collection::vec(trivia(), 40), trailing: bool, others in 1..4_usize) {
        let members: serde_json::Map<_, _> = (0..others).map(|n| (format!("s{n}"), json!({ "command": "x, } // \"" }))).collect();
        let value = json!({ "a": 1, "mcpServers": members, "z": "}" });
        let text = written(&value, &mut gaps.into_iter(), trailing);
        prop_assume!(read(&text, Format::Json).is_ok());
        let with = set(&text, Format::Json, &["mcpServers", "new"], entry());
        prop_assert_eq!(&remove(&with, Format::Json, &["mcpServers", "new"]), &text, "{}", with);
    }

    /// Removing any entry, and changing any, leaves every other value as it is: `apply` refuses what it cannot do so.
    #[test]
    fn any_json_entry_is_changed_or_removed(gaps in prop::collection::vec(trivia(), 40), trailing: bool, which in 0..3_usize) {
        let members: serde_json::Map<_, _> = (0..3).map(|n| (format!("s{n}"), json!({ "command": "x" }))).collect();
        let text = written(&json!({ "mcpServers": members }), &mut gaps.into_iter(), trailing);
        prop_assume!(read(&text, Format::Json).is_ok());
        let name = format!("s{which}");
        let comments = |text: &str| text.matches("// c, } \"").count() + text.matches("/* { , */").count();
        let without = remove(&text, Format::Json, &["mcpServers", &name]);
        let inside = |text: &str| read(text, Format::Json).expect("a text")["mcpServers"].clone();
        prop_assert_eq!(inside(&without).as_object().map(serde_json::Map::len), Some(2));
        let changed = set(&text, Format::Json, &["mcpServers", &name, "command"], json!("y"));
        prop_assert_eq!(&inside(&changed)[&name]["command"], "y");
        prop_assert_eq!(comments(&changed), comments(&text));
    }

    /// Whatever a file holds: an error or a text, never a panic, and what comes out can be read.
    #[test]
    fn no_text_is_too_strange(text in "[\\[\\]{}:,\"'#/*=\\-.|& \n\r\tab1é😀\\\\]{0,40}", head in 0..3_usize) {
        let heads = ["", "a:\n  b: 1\n", "[a.b]\nc = 1\n"];
        let text = format!("{}{text}", heads[head]);
        for format in [Format::Json, Format::Yaml, Format::Toml] {
            let path = vec![Step::key("a"), Step::key("b"), Step::key("c")];
            for change in [Change::Set(path.clone(), json!({ "d": "e" })), Change::Remove(path[..2].to_vec())] {
                if let Ok(changed) = apply(&text, format, &[change]) {
                    prop_assert!(read(&changed, format).is_ok(), "{}", changed);
                }
            }
        }
    }
}

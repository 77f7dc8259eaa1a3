//! What bfcl-eval says, in small: each case was read off its checker. `cargo xtask bfcl` compares with the checker itself.

use serde_json::{Value, json};

use super::*;

fn entry(id: &str, functions: Value, truth: Value) -> Entry {
    let question = json!({ "id": id, "question": [], "function": functions }).to_string();
    let answer = json!({ "id": id, "ground_truth": truth }).to_string();
    entries(&question, Some(&answer)).unwrap().entries.remove(0)
}

fn function(name: &str, properties: Value, required: Value) -> Value {
    json!({ "name": name, "description": "", "parameters": { "type": "dict", "properties": properties, "required": required } })
}

fn called(entry: &Entry, calls: &[(&str, Value)]) -> String {
    let list: Vec<_> = calls.iter().map(|(name, arguments)| json!({ *name: arguments.to_string() })).collect();
    judge_list(entry, &json!(list))
}

fn judge_list(entry: &Entry, list: &Value) -> String {
    let line = json!({ "id": entry.id, "result": list }).to_string();
    judge(entry, &results(&line).unwrap()[0].1, Mode::CallsWithUnderscores).to_string()
}

fn one(kind: Value, alternatives: Value, given: Value) -> String {
    let functions = json!([function("f", json!({ "x": kind }), json!([]))]);
    called(
        &entry("simple_python_0", functions, json!([{ "f": { "x": alternatives } }])),
        &[("f", json!({ "x": given }))],
    )
}

#[test]
fn values_are_valid_or_have_the_error_of_bfcl_eval() {
    let list = |items: &str| json!({ "type": "array", "items": { "type": items } });
    let of = |kind: &str| json!({ "type": kind });
    for (kind, alternatives, given, verdict) in [
        (of("string"), json!(["New York, NY"]), json!("new york ny"), "valid"),
        (of("string"), json!(["1.5"]), json!("-15"), "valid"),
        (of("string"), json!(["it's"]), json!("it\"s"), "valid"),
        (of("string"), json!(["a"]), json!("b"), "value_error:string"),
        (of("string"), json!(["a"]), json!(1), "type_error:simple"),
        (of("integer"), json!([1]), json!(1), "valid"),
        (of("integer"), json!([1]), json!(1.0), "type_error:simple"),
        (of("integer"), json!([1]), json!(true), "type_error:simple"),
        (of("integer"), json!([1]), json!(2), "value_error:others"),
        (of("float"), json!([1.0]), json!(1), "valid"),
        (of("float"), json!([1]), json!(1), "valid"),
        (of("float"), json!([0.3]), json!(0.300_000_000_000_000_04), "value_error:others"),
        (of("boolean"), json!([true]), json!(true), "valid"),
        (of("boolean"), json!([true]), json!(1), "type_error:simple"),
        (list("integer"), json!([[1, 2]]), json!([1, 2]), "valid"),
        (list("integer"), json!([[1, 2]]), json!([2, 1]), "value_error:list/tuple"),
        (list("float"), json!([[1.0]]), json!([1]), "type_error:nested"),
        (list("string"), json!([["A b"]]), json!(["ab"]), "valid"),
        (list("string"), json!(["", ["a"]]), json!([]), "valid"),
        (list("string"), json!([["a"]]), json!("a"), "type_error:simple"),
        (of("dict"), json!([{ "a": [1, ""] }]), json!({}), "valid"),
        (of("dict"), json!([{ "a": [1] }]), json!({}), "value_error:dict_key"),
        (of("dict"), json!([{ "a": ["X"] }]), json!({ "a": "x" }), "valid"),
        (of("dict"), json!([{ "a": [1] }]), json!({ "a": 2 }), "value_error:dict_value"),
        (of("dict"), json!([{ "a": [1] }]), json!({ "b": 2 }), "value_error:dict_key"),
        (list("dict"), json!([[{ "a": [1] }]]), json!([{ "a": 1 }]), "valid"),
        (list("dict"), json!([[{ "a": [1] }]]), json!([]), "value_error:list_dict_count"),
        (list("dict"), json!([[{ "a": [1] }]]), json!([{ "a": 2 }]), "value_error:dict_value"),
        // The key has another type than the description: only equality counts.
        (of("integer"), json!(["n"]), json!("n"), "valid"),
        (of("integer"), json!(["n"]), json!("N"), "value_error:others"),
        (of("object"), json!([1]), json!(1), "raises an exception"),
        (json!({ "type": "array" }), json!([[1]]), json!([1]), "raises an exception"),
    ] {
        assert_eq!(one(kind.clone(), alternatives.clone(), given.clone()), verdict, "{kind} {alternatives} {given}");
    }
}

#[test]
fn calls_are_counted_named_and_complete() {
    let string = json!({ "type": "string" });
    let functions = json!([function("a.f", json!({ "x": string, "y": string }), json!(["x"]))]);
    let truth = json!([{ "a.f": { "x": ["1"], "y": ["2", ""] } }]);
    let simple = entry("simple_python_0", functions.clone(), truth.clone());
    let x = json!({ "x": "1" });
    assert_eq!(called(&simple, &[("a_f", x.clone())]), "valid");
    assert_eq!(called(&simple, &[]), "simple_function_checker:wrong_count");
    assert_eq!(called(&simple, &[("g", x.clone())]), "simple_function_checker:wrong_func_name");
    assert_eq!(called(&simple, &[("a_f", json!({ "y": "2" }))]), "simple_function_checker:missing_required");
    assert_eq!(called(&simple, &[("a_f", json!({ "x": "1", "z": 1 }))]), "simple_function_checker:unexpected_param");
    assert_eq!(called(&simple, &[("a_f", json!([]))]), "ast_decoder:decoder_wrong_output_format");
    let text = |text: &str| judge(&simple, &Output::Text(text.into()), Mode::Prompt).to_string();
    assert_eq!(
        (text("[a.f(x='1')]"), text("a.f(x='1')"), text("Sorry.")),
        ("valid".to_owned(), "valid".to_owned(), "ast_decoder:decoder_failed".to_owned())
    );
    let must = entry("multiple_0", functions, json!([{ "a.f": { "x": ["1"], "y": ["2"] } }]));
    assert_eq!(called(&must, &[("a_f", x.clone())]), "simple_function_checker:missing_optional");
    assert_eq!(called(&must, &[("a_f", x.clone()), ("a_f", x)]), "multiple_function_checker:wrong_count");
}

/// A better assignment exists, and bfcl-eval does not look for it.
#[test]
fn parallel_calls_are_taken_greedily() {
    let functions = json!([function("f", json!({ "x": { "type": "string" } }), json!(["x"]))]);
    let parallel = entry("parallel_0", functions, json!([{ "f": { "x": ["1", "2"] } }, { "f": { "x": ["1"] } }]));
    let call = |x: &str| ("f", json!({ "x": x }));
    assert_eq!(called(&parallel, &[call("2"), call("1")]), "valid");
    assert_eq!(called(&parallel, &[call("1"), call("2")]), "parallel_function_checker_no_order:cannot_find_match");
}

#[test]
fn silence_is_what_irrelevance_wants() {
    let functions = json!([function("f", json!({}), json!([]))]);
    let made = |arguments: &'static str| {
        Output::List(vec![Made { name: Some("f".into()), arguments: Some(arguments.into()) }])
    };
    let none = entry("live_irrelevance_0-0-0", functions.clone(), json!([]));
    let any = entry("live_relevance_0-0-0", functions, json!([]));
    for (output, irrelevance, relevance) in [
        (Output::Text("No.".into()), "valid", "relevance_error:decoder_failed"),
        (made("{}"), "irrelevance_error:decoder_success", "valid"),
        // A call that cannot be read is credited as an abstention.
        (made("{"), "valid", "relevance_error:decoder_failed"),
    ] {
        assert_eq!(judge(&none, &output, Mode::Calls).to_string(), irrelevance, "{output:?}");
        assert_eq!(judge(&any, &output, Mode::Calls).to_string(), relevance, "{output:?}");
    }
}

/// Written results, with what bfcl-eval makes of them.
#[test]
fn items_that_are_no_calls_cannot_be_decoded() {
    let functions = json!([function("f", json!({ "x": { "type": "integer" } }), json!([]))]);
    let simple = entry("simple_python_0", functions, json!([{ "f": { "x": [1] } }]));
    for (list, expected) in [
        (json!([{}]), "ast_decoder:decoder_failed"),
        (json!(["f"]), "ast_decoder:decoder_failed"),
        (json!([{ "f": { "x": 1 } }]), "ast_decoder:decoder_failed"),
        (json!([{ "f": "1" }]), "ast_decoder:decoder_wrong_output_format"),
        (json!([{ "f": "{\"x\": 2, \"x\": 1}", "g": "{" }]), "valid"),
        (json!([{ "f": "{\"\\u0078\": 1}" }]), "valid"),
    ] {
        assert_eq!(judge_list(&simple, &list), expected, "{list}");
    }
}

#[test]
fn broken_lines_are_named() {
    let unread = |text: &str| results(text).expect_err(text).to_string();
    let good = r#"{"id":"a","result":[]}"#;
    for (text, what) in [
        ("{\"id\":\"a\",", "not JSON: column 10"),
        ("[1]", "no `id`"),
        (r#"{"id":1,"result":[]}"#, "no `id`"),
        (r#"{"id":"a"}"#, "`result` is no text and no list"),
        (r#"{"id":"a","result":1}"#, "`result` is no text and no list"),
    ] {
        let text = format!("{good}\n\n{text}");
        assert_eq!(results(&text).expect_err(&text).line, Some(3));
        assert_eq!(unread(&text), what, "{text}");
    }
}

#[test]
fn java_and_javascript_come_as_source() {
    let verdict = |id: &str, kind: Value, alternatives: Value, given: Value| {
        let functions = json!([function("f", json!({ "x": kind }), json!([]))]);
        called(&entry(id, functions, json!([{ "f": { "x": alternatives } }])), &[("f", json!({ "x": given }))])
    };
    let list = |kind: &str, items: &str| json!({ "type": kind, "items": { "type": items } });
    let of = |kind: &str| json!({ "type": kind });
    for (kind, alternatives, given, expected) in [
        (of("long"), json!([5]), json!("5L"), "valid"),
        (of("long"), json!([5]), json!("5"), "type_error:simple"),
        (of("float"), json!([1.5]), json!("1.5f"), "valid"),
        (of("boolean"), json!([true]), json!("true"), "valid"),
        (of("integer"), json!([5]), json!(5), "type_error:java"),
        (list("Array", "integer"), json!([[1, 2]]), json!("new int[]{1, 2}"), "valid"),
        (
            list("ArrayList", "String"),
            json!([["a", "b"]]),
            json!("new ArrayList<>(Arrays.asList(\"a\", \"b\"))"),
            "valid",
        ),
        (list("ArrayList", "integer"), json!([[1]]), json!("new ArrayList<Integer>() {{ add(1); }}"), "valid"),
        (
            of("HashMap"),
            json!([{ "k": ["v"] }]),
            json!("new HashMap<String, String>() {{ put(\"k\", \"v\"); }}"),
            "valid",
        ),
        (of("Set"), json!([1]), json!("x"), "raises an exception"),
    ] {
        assert_eq!(verdict("simple_java_0", kind.clone(), alternatives, given.clone()), expected, "{kind} {given}");
    }
    for (kind, alternatives, given, expected) in [
        (of("String"), json!(["a"]), json!("'a'"), "valid"),
        (of("Bigint"), json!([5]), json!("5n"), "valid"),
        (of("integer"), json!([5]), json!(5), "type_error:js"),
        (list("array", "integer"), json!([[1, 2]]), json!("[1, 2]"), "valid"),
        (list("array", "array"), json!([[[1, 2], [3]]]), json!("[[1, 2], [3]]"), "valid"),
        (of("dict"), json!([{ "a": [1], "b": [["x", "y"]] }]), json!("{a: 1, b: ['x', 'y']}"), "valid"),
        (of("dict"), json!([{ "a": ["x, y"] }]), json!("{'a': 'x, y'}"), "valid"),
        (of("dict"), json!([{}]), json!("{}"), "valid"),
    ] {
        assert_eq!(
            verdict("simple_javascript_0", kind.clone(), alternatives, given.clone()),
            expected,
            "{kind} {given}"
        );
    }
}

#[test]
fn what_is_not_scored_is_named_with_the_reason() {
    for (id, category, why) in [
        ("multi_turn_miss_func_7", "multi_turn_miss_func", "several turns"),
        ("memory_kv_3-finance-1", "memory_kv", "store"),
        ("web_search_12", "web_search", "asks the web"),
        ("format_sensitivity_0:live_simple_1", "format_sensitivity", "changes the prompt"),
    ] {
        let question = json!({ "id": id, "function": [] }).to_string();
        let (file, error) = entries(&question, None).expect_err(id);
        assert_eq!((file, error.line), (0, Some(1)));
        assert!(error.what.starts_with(&format!("`{category}` is not scored")) && error.what.contains(why), "{error}");
        // Keys of these categories have other forms.
        let key = json!({ "id": id, "ground_truth": [["cd(folder='a')"], []] }).to_string();
        let (file, error) = entries(&question, Some(&key)).expect_err(id);
        assert!(file == 1 && error.what.contains(why) && error.remedy.contains("in-order"), "{error}");
    }
    let (_, error) = entries(r#"{"id":"x","function":[]}"#, None).expect_err("no category");
    assert_eq!(error.what, "`x` names no category of bfcl-eval");
}

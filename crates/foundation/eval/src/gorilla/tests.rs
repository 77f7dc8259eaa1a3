//! APIBench in small: calls and outcomes. `cargo xtask gorilla` compares with its own scripts.

use proptest::prelude::*;

use super::call::{parts, spans};
use super::{Apis, Hub, Outcome, Response, Tally, apis, judge, questions, responses};

fn database(calls: &[(&str, &str)]) -> Apis {
    let line =
        |(call, domain): &(&str, &str)| serde_json::json!({ "api_call": call, "domain": domain }).to_string() + "\n";
    apis(&calls.iter().map(line).collect::<String>()).expect("APIs")
}

fn response(text: &str) -> Response {
    Response { question: 1, text: Some(text.to_owned()) }
}

/// Responses to a question about vision, and what becomes of them.
#[track_caller]
fn judged(apis: &Apis, cases: &[(&str, Outcome)]) {
    for (text, outcome) in cases {
        assert_eq!(judge(apis, "vision", &response(text)), *outcome, "{text}");
    }
}

#[test]
fn calls_of_a_known_api_are_no_hallucination() {
    let apis = database(&[
        ("AutoModel.from_pretrained('a/one')", "text"),
        ("pipeline('ocr', model='b/two')", "vision"),
        ("AutoModel.from_pretrained('c/three', x=True)", "vision"),
        ("./run.sh --model d", "vision"),
        ("Model()", "vision"),
    ]);
    assert_eq!((apis.hub, apis.len(), apis.unmatchable), (Hub::HuggingFace, 3, 2));
    judged(
        &apis,
        &[
            ("<<<api_call>>>: pipeline('ocr', model='b/two')\\n<<<api_provider>>>: x", Outcome::Correct),
            ("<<<api_call>>>: reader = pipeline(model=\"b/two\", task=\"ocr\")", Outcome::Correct),
            ("Prose (with brackets) and code: m = AutoModel.from_pretrained('c/three', x = True)", Outcome::Correct),
            ("<<<api_call>>>: AutoModel.from_pretrained('a/one')", Outcome::Error),
            // Only what stands in the call counts, and only the whole name of the callee.
            ("<<<api_call>>>: pipeline('ocr') # b/two", Outcome::Hallucination),
            ("<<<api_call>>>: mypipeline('ocr', model='b/two')", Outcome::Hallucination),
            ("<<<api_call>>>: x.pipeline('ocr', model='b/two')", Outcome::Hallucination),
            ("<<<api_call>>>: AutoModel.from_pretrained('b/two')", Outcome::Hallucination),
            ("<<<api_call>>>: 'x = pipeline('ocr', model='b/two')'", Outcome::Hallucination),
            ("<<<api_provider>>>: no call at all", Outcome::Hallucination),
            ("", Outcome::Hallucination),
            ("api_call", Outcome::Hallucination),
        ],
    );
    assert_eq!(judge(&apis, "vision", &Response { question: 1, text: None }), Outcome::Error);
}

#[test]
fn each_hub_has_its_own_arguments() {
    let torch = database(&[("torch.hub.load(repo_or_dir='r/s', model='m', pretrained=True)", "vision")]);
    assert_eq!(torch.hub, Hub::Torch);
    judged(
        &torch,
        &[
            ("'api_call': \"model = torch.hub.load('r/s', 'm')\", 'api_provider': 'x'", Outcome::Correct),
            ("'api_call': \"torch.hub.load('r/s', 'other')\"", Outcome::Hallucination),
            // Its script reads nothing else of a response.
            ("torch.hub.load('r/s', 'm')", Outcome::Error),
        ],
    );
    let flow =
        database(&[("hub.load(\"https://h/1\", trainable=True)", "vision"), ("hub.KerasLayer(model='u')", "vision")]);
    assert_eq!(flow.hub, Hub::TensorFlow);
    judged(
        &flow,
        &[
            ("<<<api_call>>>: hub.load(\"https://h/1\", trainable=True)", Outcome::Correct),
            ("<<<api_call>>>: hub.load('https://h/1', trainable=True)", Outcome::Hallucination),
            ("<<<api_call>>>: hub.load(\"https://h/1\")", Outcome::Hallucination),
            ("<<<api_call>>>: hub.KerasLayer('u')", Outcome::Correct),
        ],
    );
}

#[test]
fn calls_are_read_without_a_grammar() {
    for (code, callee, call) in [
        ("x = f(1)", "f", Some("f(1)")),
        ("f(1); f(2)", "f", Some("f(2)")),
        ("f(f(1), [2])", "f", Some("f(f(1), [2])")),
        ("f (1, ')')\\n)", "f", Some("f (1, ')')")),
        ("f(1", "f", None),
        ("of(1) f.g(1) f", "f", None),
        // Strings and comments hold no calls; an escaped line end is neither a call nor a part of a name.
        ("'f(1)' \"\"\"f(2)\"\"\" # f(3)", "f", None),
        ("# f(1)\\nf(2)", "f", None),
        ("# f(1)\nf(2)", "f", Some("f(2)")),
        ("x\\nf(1)", "f", Some("f(1)")),
        ("\\\"f('a')", "f", Some("f('a')")),
        ("that's f('a')", "f", None),
        ("'a\nf('b')", "f", Some("f('b')")),
        ("f(1)", "", None),
        ("é.f(ü)", "é.f", Some("é.f(ü)")),
    ] {
        assert_eq!(spans(code, callee), call, "{code}");
    }
    for (call, read) in [
        ("a.b('x', y=[1, 2])", Some(("a.b", vec!["'x'", "y=[1, 2]"]))),
        ("a('x').to('cuda')", Some(("a('x').to", vec!["'cuda'"]))),
        ("a(')', \"(\")", Some(("a", vec!["')'", "\"(\""]))),
        ("a('x').", Some(("a", vec!["'x'"]))),
        ("a()", Some(("a", vec![]))),
        ("a('x').b", None),
        ("a", None),
        ("a(", None),
        ("(x)", None),
        ("", None),
    ] {
        assert_eq!(parts(call), read, "{call}");
    }
}

#[test]
fn wrong_files_have_lines() {
    let line = |error: crate::import::Unreadable| (error.what, error.line);
    assert_eq!(line(apis("{\"domain\":\"d\"}").expect_err("no call")), ("no `api_call`".to_owned(), Some(1)));
    assert_eq!(questions("\n{}").map_err(line), Err(("no `domain` in `api_data`".to_owned(), Some(2))));
    let text = "{\"question_id\":1,\"text\":7}\n{\"question_id\":3}";
    assert_eq!(responses(text, 2).map_err(line), Err(("question 3 does not exist: there are 2".to_owned(), Some(2))));
    assert_eq!(responses(text, 3).map(|all| all[0].text.clone()), Ok(None));
}

proptest! {
    #[test]
    fn accuracy_error_and_hallucination_are_one(
        calls in prop::collection::vec(("[a-c.()'=, \\[\\]\"é]{0,24}", "[de]"), 0..6),
        texts in prop::collection::vec(prop_oneof![
            "\\PC{0,60}",
            "(api_call)?[a-c.:()'=, \\[\\]\"\\\\é]{0,40}(api_provider)?",
        ], 1..20),
    ) {
        let calls: Vec<(&str, &str)> = calls.iter().map(|(call, domain)| (call.as_str(), domain.as_str())).collect();
        let apis = database(&calls);
        prop_assert_eq!(apis.len() + apis.unmatchable, calls.len());
        let mut tally = Tally::default();
        for text in &texts {
            tally.add(judge(&apis, "d", &response(text)));
        }
        prop_assert_eq!(tally.total(), texts.len());
        let sum: f64 = tally.shares().expect("responses").iter().sum();
        prop_assert!((sum - 1.0).abs() < 1e-12);
    }
}

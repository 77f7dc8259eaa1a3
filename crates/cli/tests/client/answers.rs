//! What the server asks while a call runs, answered from the command line; in either era.

use crate::harness::{Serving, client, legacy, on};

const ERAS: [&str; 2] = ["2025-11-25", "2026-07-28"];

fn asked(serving: &Serving, revision: &str, arguments: &[&str]) -> crate::harness::Ran {
    client(&[&["call"], arguments, &["--revision", revision, "--url", &serving.mcp()]].concat())
}

#[test]
fn forms_are_filled_in_from_the_command_line() {
    let serving = Serving::start();
    for revision in ERAS {
        asked(&serving, revision, &["ask", "--answer", "name=Ada"]).prints("Hello, Ada!\n");
        asked(&serving, revision, &["ask", "--answer", "decline"]).prints("You would rather not say.\n");
        asked(&serving, revision, &["ask", "--answer", "cancel"]).prints("You closed the question.\n");
        let two = ["--answer", "name=Ada", "--answer", "colour=red"];
        for tool in ["ask_two", "ask_in_turn"] {
            let ran = asked(&serving, revision, &[&[tool][..], &two].concat());
            ran.prints("This is Ada, who likes red best\n");
        }
    }
}

#[test]
fn a_form_is_not_filled_in_with_invalid_values() {
    let serving = Serving::start();
    for revision in ERAS {
        let ran = asked(&serving, revision, &["ask_two", "--answer", "name=Ada", "--answer", "colour=mauve"]);
        let ran = ran
            .ends_with(2)
            .says(&["--answer does not fit the form: `colour`: `mauve` is not one of ", "colour (one of "]);
        assert!(!ran.stdout.contains("mauve"));
    }
}

#[test]
fn an_unknown_field_of_a_form_is_an_error() {
    let serving = Serving::start();
    for revision in ERAS {
        let ran = asked(&serving, revision, &["ask", "--answer", "naem=Ada"]);
        ran.ends_with(2)
            .says(&["--answer: no form of the server has the field `naem`", "try: `name`; the form has name ("]);
    }
    let ran = asked(&serving, ERAS[0], &["echo", "message=hi", "--answer", "name=Ada"]).ends_with(0);
    assert_eq!(ran.stderr, "note: the server asked nothing, so --answer was not used\n");
}

#[test]
fn the_model_answers_from_the_command_line() {
    let serving = Serving::start();
    for revision in ERAS {
        asked(&serving, revision, &["sample", "--say", "Well"]).prints("The model said: Well\n");
    }
}

#[test]
fn roots_are_real_directories() {
    let serving = Serving::start();
    let folder = tempfile::tempdir().expect("a folder");
    let real = folder.path().canonicalize().expect("it is there");
    let roundabout = folder.path().join(".");
    for revision in ERAS {
        let ran = asked(&serving, revision, &["list_roots", "--root", &roundabout.to_string_lossy()]);
        ran.prints(&format!("Roots: file://{}\n", real.display()));
    }
    let ran = asked(&serving, ERAS[0], &["list_roots", "--root", "/no/such/directory"]).ends_with(2);
    ran.says(&["cannot use `/no/such/directory` as a root"]);
}

#[test]
fn capabilities_without_an_answer_are_not_declared() {
    let serving = Serving::start();
    let ran = asked(&serving, "2026-07-28", &["ask"]).ends_with(1);
    ran.says(&["-32021", "elicitation", "--answer"]);
    // A server that asks all the same is refused, and told so.
    let asks = r#"*tools/list*) answer '{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}' ;;
        *tools/call*) call=$id; echo '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}' ;;
        *'"id":"q"'*) id=$call; case "$line" in
            *-32601*) answer '{"content":[{"type":"text","text":"refused"}]}' ;;
            *) answer '{"content":[{"type":"text","text":"answered"}]}' ;; esac ;;"#;
    on(&["call", "t"], &legacy(asks)).prints("refused\n");
    on(&["call", "t", "--answer", "accept"], &legacy(asks)).prints("answered\n");
}

#[test]
fn a_ping_is_answered_while_a_call_runs() {
    let pings = r#"*tools/list*) answer '{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}' ;;
        *tools/call*) call=$id; echo '{"jsonrpc":"2.0","id":77,"method":"ping"}' ;;
        *'"id":77,"result":{}'*) id=$call; answer '{"content":[{"type":"text","text":"pinged"}]}' ;;"#;
    on(&["call", "t", "--timeout", "3"], &legacy(pings)).prints("pinged\n");
}

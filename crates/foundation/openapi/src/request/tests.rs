//! Requests from calls: the specification's table of styles, bodies, and attempts to leave a place.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Fault, Request, build};
use crate::model::{Arguments, Body, Encoding, Kind, Member, Method, Operation, Parameter, Place, Style};

const BASE: &str = "https://api.example/v1/";

fn operation(path: &str, parameters: Vec<Parameter>, body: Option<Body>) -> Operation {
    Operation {
        at: "/paths/~1x/get".to_owned(),
        method: Method::Get,
        path: path.to_owned(),
        id: None,
        tags: Vec::new(),
        summary: None,
        description: None,
        deprecated: false,
        servers: Vec::new(),
        parameters,
        body,
        answer: None,
        security: Vec::new(),
        definitions: BTreeMap::new(),
    }
}

fn parameter(name: &str, place: Place, style: Style, explode: bool) -> Parameter {
    Parameter {
        argument: name.to_owned(),
        name: name.to_owned(),
        place,
        required: place == Place::Path,
        description: None,
        style,
        explode,
        allow_reserved: false,
        media: None,
        schema: json!({}),
    }
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

fn built(operation: &Operation, arguments: Value) -> Result<Request, Fault> {
    build(operation, &object(arguments), BASE)
}

fn behind_base(request: &Request) -> &str {
    request.url.strip_prefix("https://api.example/v1").expect("below the base")
}

/// The table "Style Examples" of OpenAPI 3.1.1: no text, a text, a list, an object.
#[test]
fn every_style_is_written_as_the_table_says() {
    use Style::{DeepObject, Form, Label, Matrix, PipeDelimited, Simple, SpaceDelimited};
    let (path, query) = (Place::Path, Place::Query);
    for (style, explode, place, expected) in [
        (Matrix, false, path, [";color", ";color=blue", ";color=blue,black,brown", ";color=R,100,G,200,B,150"]),
        (Matrix, true, path, [";color", ";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"]),
        (Label, false, path, [".", ".blue", ".blue,black,brown", ".R,100,G,200,B,150"]),
        (Label, true, path, [".", ".blue", ".blue.black.brown", ".R=100.G=200.B=150"]),
        (Simple, false, path, ["", "blue", "blue,black,brown", "R,100,G,200,B,150"]),
        (Simple, true, path, ["", "blue", "blue,black,brown", "R=100,G=200,B=150"]),
        (Form, false, query, ["color=", "color=blue", "color=blue,black,brown", "color=R,100,G,200,B,150"]),
        (Form, true, query, ["color=", "color=blue", "color=blue&color=black&color=brown", "R=100&G=200&B=150"]),
        (
            SpaceDelimited,
            false,
            query,
            ["color=", "color=blue", "color=blue%20black%20brown", "color=R%20100%20G%20200%20B%20150"],
        ),
        (
            PipeDelimited,
            false,
            query,
            ["color=", "color=blue", "color=blue%7Cblack%7Cbrown", "color=R%7C100%7CG%7C200%7CB%7C150"],
        ),
        (
            DeepObject,
            true,
            query,
            [
                "color=",
                "color=blue",
                "color%5B%5D=blue&color%5B%5D=black&color%5B%5D=brown",
                "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150",
            ],
        ),
    ] {
        let values =
            [json!(""), json!("blue"), json!(["blue", "black", "brown"]), json!({ "R": 100, "G": 200, "B": 150 })];
        for (value, expected) in values.iter().zip(expected) {
            let template = if place == Place::Path { "/x{color}" } else { "/x" };
            let operation = operation(template, vec![parameter("color", place, style, explode)], None);
            let found = built(&operation, json!({ "color": value }));
            if place == Place::Path && expected.is_empty() {
                assert!(matches!(found, Err(Fault::Argument { .. })), "an empty segment is another path");
                continue;
            }
            let found = found.expect("a request");
            let begin = if place == Place::Path { "/x" } else { "/x?" };
            assert_eq!(behind_base(&found), format!("{begin}{expected}"), "{style:?} explode {explode} {value}");
        }
    }
}

#[test]
fn headers_and_cookies_are_written_in_their_styles() {
    let header = |explode| parameter("X-Color", Place::Header, Style::Simple, explode);
    for (explode, value, expected) in [
        (false, json!(["a b", "c"]), "a b,c"),
        (false, json!({ "R": 1, "G": true }), "R,1,G,true"),
        (true, json!({ "R": 1, "G": true }), "R=1,G=true"),
        (false, json!(1.5), "1.5"),
    ] {
        let request =
            built(&operation("/x", vec![header(explode)], None), json!({ "X-Color": value })).expect("a request");
        assert_eq!(request.headers, [("X-Color".to_owned(), expected.to_owned())]);
    }
    let cookie = |name| parameter(name, Place::Cookie, Style::Form, true);
    let operation = operation("/x", vec![cookie("a"), cookie("b")], None);
    let request = built(&operation, json!({ "a": "1; admin=1", "b": [2, 3] })).expect("a request");
    assert_eq!(request.headers, [("Cookie".to_owned(), "a=1%3B%20admin%3D1; b=2; b=3".to_owned())]);
}

#[test]
fn deep_objects_are_deep() {
    let operation = operation("/x?v=2", vec![parameter("filter", Place::Query, Style::DeepObject, true)], None);
    let value =
        json!({ "price": { "gt": 5 }, "tags": ["a", "b&c"], "items": [{ "id": 1 }, { "id": 2 }], "gone": null });
    let request = built(&operation, json!({ "filter": value })).expect("a request");
    let expected = [
        "filter%5Bprice%5D%5Bgt%5D=5",
        "filter%5Btags%5D%5B%5D=a",
        "filter%5Btags%5D%5B%5D=b%26c",
        "filter%5Bitems%5D%5B0%5D%5Bid%5D=1",
        "filter%5Bitems%5D%5B1%5D%5Bid%5D=2",
        "filter%5Bgone%5D=",
    ];
    assert_eq!(behind_base(&request), format!("/x?v=2&{}", expected.join("&")));
}

#[test]
fn reserved_characters_stay_only_where_the_description_says_so() {
    let plain = parameter("q", Place::Query, Style::Form, true);
    let kept = Parameter { allow_reserved: true, ..plain.clone() };
    let value = json!({ "q": "a/b?c=d&e#f+g%2Fh %zz[é]" });
    let request = built(&operation("/x", vec![plain], None), value.clone()).expect("a request");
    assert_eq!(behind_base(&request), "/x?q=a%2Fb%3Fc%3Dd%26e%23f%2Bg%252Fh%20%25zz%5B%C3%A9%5D");
    let request = built(&operation("/x", vec![kept], None), value).expect("a request");
    assert_eq!(behind_base(&request), "/x?q=a/b?c=d%26e%23f%2Bg%2Fh%20%25zz%5B%C3%A9%5D");
}

#[test]
fn content_parameters_are_written_in_their_media_type() {
    let json =
        |place| Parameter { media: Some("application/json".to_owned()), ..parameter("f", place, Style::Form, true) };
    let value = json!({ "f": { "a": [1, null] } });
    let request = built(&operation("/x", vec![json(Place::Query)], None), value.clone()).expect("a request");
    assert_eq!(behind_base(&request), "/x?f=%7B%22a%22%3A%5B1%2Cnull%5D%7D");
    let request = built(&operation("/x", vec![json(Place::Header)], None), value).expect("a request");
    assert_eq!(request.headers[0].1, r#"{"a":[1,null]}"#);
    let text = Parameter { media: Some("text/plain".to_owned()), ..json(Place::Query) };
    assert!(built(&operation("/x", vec![text], None), json!({ "f": [1] })).is_err());
}

/// Whatever a value is, the path keeps the segments of the template.
#[test]
fn a_value_stays_in_its_segment() {
    let id = parameter("id", Place::Path, Style::Simple, false);
    let operation = operation("/users/{id}/keys", vec![id], None);
    for (value, expected) in [
        ("a?b=c", "a%3Fb%3Dc"),
        ("a#b", "a%23b"),
        ("a%20b", "a%2520b"),
        ("..a", "..a"),
        ("a..;b", "a..%3Bb"),
        ("...", "..."),
        ("v1.2", "v1.2"),
        ("a\r\nHost: evil", "a%0D%0AHost%3A%20evil"),
        ("ü", "%C3%BC"),
        ("@evil.example:80", "%40evil.example%3A80"),
    ] {
        let request = built(&operation, json!({ "id": value })).expect("a request");
        assert_eq!(behind_base(&request), format!("/users/{expected}/keys"), "{value}");
    }
    for value in [
        "..",
        ".",
        "../admin",
        "a/../../b",
        "..\\admin",
        "%2e%2e",
        "%2E%2e%2Fadmin",
        "%252e%252e",
        "x/%2e./y",
        "a/.",
        "",
        "..;/admin",
        "..;x=1/admin",
        ".;",
        "..%3b/admin",
        ".%2e",
        "..%5cadmin",
        "%2e%2e%255cadmin",
        ".. /admin",
        "..%00",
        "..%09",
        "%c0%ae%c0%ae%c0%afadmin",
        "\u{ff0e}\u{ff0e}\u{ff0f}admin",
        "..\u{2215}admin",
        "a/b",
        "a\\b",
        "a%2fb",
        "a%252fb",
        "/a",
        "//evil.example",
        "a//b",
        "a/",
    ] {
        let fault = built(&operation, json!({ "id": value })).expect_err(value);
        assert!(matches!(&fault, Fault::Argument { name, .. } if name == "id"), "{value}: {fault}");
    }
    for value in [json!(["a", ".."]), json!({ "..": 1 }), json!(null), json!([])] {
        assert!(built(&operation, json!({ "id": value })).is_err(), "{value}");
    }
}

#[test]
fn slashes_are_encoded_where_they_are_permitted_and_dots_are_not() {
    let id = Parameter { allow_reserved: true, ..parameter("id", Place::Path, Style::Simple, false) };
    let operation = operation("/sites/{id}/keys", vec![id], None);
    for (value, expected) in [("a/b", "a%2Fb"), ("https://x.example/", "https%3A%2F%2Fx.example%2F"), ("a\\b", "a%5Cb")]
    {
        let request = built(&operation, json!({ "id": value })).expect("a request");
        assert_eq!(behind_base(&request), format!("/sites/{expected}/keys"), "{value}");
    }
    for value in ["a/../b", "..;/admin", "https://x.example/%2e%2e/", "a\\..\\b"] {
        assert!(built(&operation, json!({ "id": value })).is_err(), "{value}");
    }
}

#[test]
fn two_values_in_one_segment_make_no_dots() {
    let dot = |name| parameter(name, Place::Path, Style::Label, false);
    let operation = operation("/a/{x}{y}", vec![dot("x"), dot("y")], None);
    assert!(built(&operation, json!({ "x": "", "y": "" })).is_err(), "together they are ..");
}

#[test]
fn a_template_that_leaves_the_base_is_refused() {
    for path in ["/../admin", "/a/%2e%2e/b", "/./x", "/a/..;/b", "/a\\..\\b", "/{gone}", "/{open"] {
        let fault = built(&operation(path, Vec::new(), None), json!({})).expect_err(path);
        assert!(matches!(fault, Fault::Description { .. }), "{path}");
    }
    for (path, expected) in
        [("/a b/ü\\x%20", "/a%20b/%C3%BC%5Cx%20"), ("/#Action=Run", "/"), ("//evil.example/x", "//evil.example/x")]
    {
        let request = built(&operation(path, Vec::new(), None), json!({})).expect("a request");
        assert_eq!(behind_base(&request), expected);
    }
}

#[test]
fn a_header_takes_no_line_break_and_no_name_of_ours() {
    let header = |name: &str| operation("/x", vec![parameter(name, Place::Header, Style::Simple, false)], None);
    for value in [json!("a\r\nX-Admin: 1"), json!("a\nb"), json!("a\0"), json!(["a", "b\r"]), json!({ "k\n": 1 })] {
        assert!(matches!(built(&header("X-A"), json!({ "X-A": value })), Err(Fault::Argument { .. })), "{value}");
    }
    for name in ["Authorization", "accept", "Content-Type", "HOST", "Transfer-Encoding", "content-length", "Cookie"] {
        let request = built(&header(name), json!({ name: "mine" })).expect("a request");
        assert_eq!(request.headers, [], "{name}");
    }
    assert!(matches!(built(&header("X A\r\n"), json!({ "X A\r\n": "1" })), Err(Fault::Description { .. })));
}

#[test]
fn what_is_missing_is_named() {
    let id = Parameter { required: true, ..parameter("q", Place::Query, Style::Form, true) };
    let fault = built(&operation("/x", vec![id], None), json!({})).expect_err("it is required");
    assert_eq!(fault.to_string(), "argument `q`: it is required and missing");
}

fn body(media: &str, arguments: Arguments) -> Body {
    Body {
        media: media.to_owned(),
        kind: Kind::of(media),
        required: false,
        description: None,
        arguments,
        schema: json!({}),
        encoding: BTreeMap::new(),
    }
}

fn members(names: &[&str]) -> Arguments {
    let member = |name: &&str| Member { argument: format!("{name}_body"), name: (*name).to_owned() };
    Arguments::Members(names.iter().map(member).collect())
}

fn sent(body: Body, arguments: Value) -> Result<Option<(String, String)>, Fault> {
    let body = built(&operation("/x", Vec::new(), Some(body)), arguments)?.body;
    Ok(body.map(|body| (body.media, String::from_utf8_lossy(&body.bytes).into_owned())))
}

fn text(body: Body, arguments: Value) -> String {
    sent(body, arguments).expect("a request").expect("a body").1
}

#[test]
fn null_is_sent_and_what_is_not_given_is_not() {
    let json = body("application/merge-patch+json", members(&["name", "age", "more"]));
    assert_eq!(text(json.clone(), json!({ "name_body": null, "age_body": 3 })), r#"{"name":null,"age":3}"#);
    assert_eq!(sent(json.clone(), json!({})), Ok(None));
    assert_eq!(text(Body { required: true, ..json }, json!({})), "{}");
    let whole = body("application/json", Arguments::Whole("body".to_owned()));
    assert_eq!(text(whole.clone(), json!({ "body": [1, null] })), "[1,null]");
    assert_eq!(text(whole.clone(), json!({ "body": null })), "null");
    assert!(sent(Body { required: true, ..whole }, json!({})).is_err());
}

#[test]
fn forms_are_written_by_their_encodings() {
    let arguments =
        json!({ "to_body": "+49 1", "tags_body": ["a", "b"], "meta_body": { "k": ["v"] }, "none_body": null });
    let form = body("application/x-www-form-urlencoded", members(&["to", "tags", "meta", "none"]));
    assert_eq!(
        text(form.clone(), arguments.clone()),
        "to=%2B49%201&tags=a&tags=b&meta=%7B%22k%22%3A%5B%22v%22%5D%7D&none="
    );
    let encoding = |style, explode, media: Option<&str>| Encoding {
        media: media.map(str::to_owned),
        style,
        explode,
        allow_reserved: false,
    };
    let encoded = Body {
        encoding: BTreeMap::from([
            ("tags".to_owned(), encoding(Style::Form, false, None)),
            ("meta".to_owned(), encoding(Style::DeepObject, true, None)),
            ("to".to_owned(), encoding(Style::Form, true, Some("application/json"))),
        ]),
        ..form
    };
    assert_eq!(text(encoded, arguments), "to=%22%2B49%201%22&tags=a,b&meta%5Bk%5D%5B%5D=v&none=");
}

#[test]
fn multipart_has_files_json_and_texts() {
    let schema = json!({ "properties": {
        "file": { "$ref": "#/$defs/File" }, "more": { "type": "array", "items": { "format": "binary" } },
        "note": {}, "meta": {}, "png": {}
    } });
    let encoding = Encoding {
        media: Some("image/png, image/jpeg".to_owned()),
        style: Style::Form,
        explode: true,
        allow_reserved: false,
    };
    let body = Body {
        schema,
        encoding: BTreeMap::from([("png".to_owned(), encoding)]),
        ..body("multipart/form-data", Arguments::Whole("body".to_owned()))
    };
    let mut operation = operation("/x", Vec::new(), Some(body));
    operation.definitions.insert("File".to_owned(), json!({ "type": "string", "format": "binary" }));
    let value = json!({ "body": {
        "file": "data:text/csv;name=..%2Fa%22%0D%0Ab.csv;base64,YSxi", "more": ["YQ==", "Yg"],
        "note": "a\r\nb", "meta": { "k": 1 }, "png": "iVBO", "we\"ird": 1
    } });
    let sent = built(&operation, value).expect("a request").body.expect("a body");
    let boundary = sent.media.strip_prefix("multipart/form-data; boundary=").expect("a boundary");
    let text = String::from_utf8_lossy(&sent.bytes).replace(boundary, "B");
    let part = |head: &str, bytes: &str| format!("--B\r\nContent-Disposition: form-data; {head}\r\n\r\n{bytes}\r\n");
    for expected in [
        part("name=\"file\"; filename=\"a%22%0D%0Ab.csv\"\r\nContent-Type: text/csv", "a,b"),
        part("name=\"more\"; filename=\"more\"\r\nContent-Type: application/octet-stream", "a"),
        part("name=\"more\"; filename=\"more\"\r\nContent-Type: application/octet-stream", "b"),
        part("name=\"note\"", "a\r\nb"),
        part("name=\"meta\"\r\nContent-Type: application/json", "{\"k\":1}"),
        part("name=\"we%22ird\"", "1"),
    ] {
        assert!(text.contains(&expected), "{text}\n{expected}");
    }
    assert!(
        text.contains("name=\"png\"; filename=\"png\"\r\nContent-Type: image/png\r\n") && text.ends_with("--B--\r\n")
    );
}

#[test]
fn a_file_that_is_no_base64_is_named() {
    let schema = json!({ "properties": { "file": { "format": "binary" } } });
    let body = Body { schema, ..body("multipart/form-data", members(&["file"])) };
    let fault = sent(body, json!({ "file_body": "über" })).expect_err("no Base64");
    assert_eq!(fault.to_string(), "argument `file_body`: it is neither Base64 nor a data: URI");
}

#[test]
fn text_and_bytes_are_passed_as_they_are() {
    let whole = |media| body(media, Arguments::Whole("body".to_owned()));
    assert_eq!(text(whole("application/xml"), json!({ "body": "<a/>" })), "<a/>");
    let bytes = sent(whole("application/pdf"), json!({ "body": "data:,a%20b" })).expect("a request");
    assert_eq!(bytes, Some(("application/pdf".to_owned(), "a b".to_owned())));
    let any = sent(whole("image/*"), json!({ "body": "data:image/gif;base64,YQ==" })).expect("a request");
    assert_eq!(any, Some(("image/gif".to_owned(), "a".to_owned())));
    for bad in [json!("data:;base64,*"), json!("ü"), json!(3), json!("data:text/plain")] {
        assert!(sent(whole("application/pdf"), json!({ "body": bad })).is_err(), "{bad}");
    }
}

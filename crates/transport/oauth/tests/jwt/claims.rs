//! Signed tokens that are for others, for another time, or bound to a key that was not shown.

use oauth::now;
use oauth::resource::TokenFlaw::{self, Audience, Bound, Form, Issuer, Time};
use oauth::resource::{TokenRequirements, access};
use serde_json::{Value, json};

use crate::Case;
use crate::signing::{ISSUER, Key, SERVER};

pub(crate) fn cases() -> Vec<Case> {
    let mut all = issuers();
    all.extend(audiences());
    all.extend(times());
    all.extend(written_times());
    all.extend(bindings());
    all
}

/// Claims of which one is another; `null` takes it away.
fn with(name: &str, value: Value) -> String {
    let mut claims = json!({ "iss": ISSUER, "aud": SERVER, "exp": now() + 600, "sub": "me" });
    claims[name] = value;
    claims.to_string()
}

fn case(key: &Key, name: &str, (bad, flaw): (Value, TokenFlaw), good: Value) -> Case {
    let sign = |value: Value| key.sign_bytes(key.header("").as_bytes(), with(name, value).as_bytes());
    Case::new(&format!("{name} {bad}"), &key.set(), (sign(bad), flaw), sign(good))
}

fn issuers() -> Vec<Case> {
    let key = Key::es256();
    let bad = [
        json!("https://as.example/"),
        json!("https://AS.example"),
        json!("http://as.example"),
        json!("https://as.example.thief.example"),
        json!("https://as.example\u{0}"),
        json!(" https://as.example"),
        json!("https://as.еxample"),
        json!("https://as.example:443"),
        json!([ISSUER]),
        json!({ "https://as.example": true }),
        json!(""),
        json!(7),
        json!(true),
        Value::Null,
    ];
    bad.into_iter().map(|bad| case(&key, "iss", (bad, Issuer), json!(ISSUER))).collect()
}

fn audiences() -> Vec<Case> {
    let key = Key::es256();
    let many = |last: &str| {
        json!((0..50).map(|n| format!("https://{n}.example")).chain([last.to_owned()]).collect::<Vec<_>>())
    };
    [
        (json!("https://mcp.example"), json!(SERVER)),
        (json!("https://mcp.example/mcp/"), json!([SERVER])),
        (json!("https://MCP.example/mcp"), json!(["x", SERVER])),
        (json!("https://mcp.example/mcp?a"), json!([SERVER, "x"])),
        (json!("https://mcp.example/mcp#a"), json!([SERVER, SERVER])),
        (json!("https://mcp.example/mcp2"), json!([SERVER, ""])),
        (json!("*"), json!(["*", SERVER])),
        (json!(""), json!(SERVER)),
        (json!([]), json!([SERVER])),
        (json!(["x"]), json!(["x", SERVER])),
        (json!([[SERVER]]), json!([SERVER])),
        (json!([SERVER, 7]), json!([SERVER, "7"])),
        (json!([null, SERVER]), json!(["null", SERVER])),
        (json!([true, SERVER]), json!(["true", SERVER])),
        (json!([{ "a": 1 }, SERVER]), json!(["{}", SERVER])),
        (json!([SERVER, [SERVER]]), json!([SERVER, "[]"])),
        (json!({ SERVER: true }), json!(SERVER)),
        (json!(format!("x {SERVER}")), json!(["x", SERVER])),
        (json!(format!("{SERVER},x")), json!([SERVER, "x"])),
        (many("https://mcp.example"), many(SERVER)),
        (json!(7), json!(SERVER)),
        (json!(true), json!(SERVER)),
        (Value::Null, json!(SERVER)),
    ]
    .into_iter()
    .map(|(bad, good)| case(&key, "aud", (bad, Audience), good))
    .collect()
}

fn times() -> Vec<Case> {
    let (key, now) = (Key::es256(), now());
    let text = |time: u64| json!(time.to_string());
    let ends = [
        (json!(now - 60), json!(now + 60)),
        (json!(now - 6), json!(now)),
        (json!(now as f64 - 60.5), json!(now as f64 + 60.5)),
        (json!(0), json!(1_u64 << 53)),
        (json!(-1), json!(i64::MAX)),
        (json!(-0.0), json!(u64::MAX)),
        (json!(i64::MIN), json!(1e18)),
        (json!(-1e300), json!(1e300)),
        (json!(1e-300), json!(now + 61)),
        (text(now + 60), json!(now + 62)),
        (json!("9999-12-31T00:00:00Z"), json!(now + 63)),
        (json!(""), json!(now + 64)),
        (json!([now + 60]), json!(now + 65)),
        (json!({ "n": now + 60 }), json!(now + 66)),
        (json!(true), json!(now + 67)),
        (Value::Null, json!(now + 68)),
    ];
    let beginnings = [
        (json!(now + 60), json!(now - 60)),
        (json!(now + 120), json!(now + 2)),
        (json!(now as f64 + 60.5), json!(now as f64 - 60.5)),
        (json!(u64::MAX), json!(0)),
        (json!(1e300), json!(-1e300)),
        (json!(i64::MAX), json!(i64::MIN)),
        (text(0), json!(0.5)),
        (json!(""), json!(1)),
        (json!([0]), json!(2)),
        (json!(false), json!(3)),
        (Value::Null, json!(4)),
    ];
    let of_ends = ends.into_iter().map(|(bad, good)| case(&key, "exp", (bad, Time), good));
    let of_beginnings = beginnings.into_iter().map(|(bad, good)| case(&key, "nbf", (bad, Time), good));
    of_ends.chain(of_beginnings).collect()
}

/// Numbers as only a text can have them.
fn written_times() -> Vec<Case> {
    let key = Key::es256();
    let sign = |exp: &str| {
        let claims = format!(r#"{{"iss":"{ISSUER}","aud":"{SERVER}","exp":{exp}}}"#);
        key.sign_bytes(key.header("").as_bytes(), claims.as_bytes())
    };
    [
        ("1e400", Form, "1e10"),
        ("-1e400", Form, "1.5e10"),
        ("Infinity", Form, "9e9"),
        ("NaN", Form, "9.0e9"),
        ("0x7fffffffffff", Form, "9E9"),
        ("+9000000000", Form, "9000000000"),
        ("9_000_000_000", Form, "9000000000.000"),
        ("09000000000", Form, "9000000001"),
        (".9e10", Form, "0.9e10"),
        ("9e-9", Time, "9e+9"),
        ("99999999999999999999999999e-24", Time, "99999999999999999999999999"),
    ]
    .into_iter()
    .map(|(bad, flaw, good)| Case::new(&format!("exp written {bad}"), &key.set(), (sign(bad), flaw), sign(good)))
    .collect()
}

/// A token that is bound to a key is worth nothing without that key.
fn bindings() -> Vec<Case> {
    let key = Key::es256();
    let print = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I";
    let bad = [
        json!({ "jkt": print }),
        json!({ "x5t#S256": print }),
        json!({ "jkt": print, "x5t#S256": print }),
        json!({ "kid": "one" }),
        json!({ "jwk": key.jwk }),
        json!({ "x": 1 }),
        json!({}),
        json!([]),
        json!(print),
        json!(false),
    ];
    let sign =
        |name: &str, value: &Value| key.sign_bytes(key.header("").as_bytes(), with(name, value.clone()).as_bytes());
    bad.into_iter()
        .map(|bad| Case::new(&format!("cnf {bad}"), &key.set(), (sign("cnf", &bad), Bound), sign("conf", &bad)))
        .collect()
}

/// A client that has shown a key may use tokens that are bound to that key alone.
#[test]
fn a_key_that_was_shown_opens_what_is_bound_to_it_alone() {
    let key = Key::es256();
    let (print, other) = ("0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I", "bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2");
    let wanted = TokenRequirements {
        issuers: vec![ISSUER.to_owned()],
        audiences: vec![SERVER.to_owned()],
        key: Some(print.to_owned()),
        certificate: None,
    };
    for (cnf, opens) in [
        (json!({ "jkt": print }), true),
        (json!({ "jkt": other }), false),
        (json!({ "jkt": [print] }), false),
        (json!({ "x5t#S256": print }), false),
        (json!({ "jkt": print, "x5t#S256": other }), false),
        (json!({ "jkt": print, "kid": "one" }), false),
        (json!({}), false),
        (json!(print), false),
        (Value::Null, false),
    ] {
        let token = key.sign_bytes(key.header("").as_bytes(), with("cnf", cnf.clone()).as_bytes());
        assert_eq!(access(&token, &key.set(), &wanted).is_ok(), opens, "{cnf}");
    }
    assert_eq!(access(&key.good(), &key.set(), &wanted), Err(Bound), "a token that is bound to nothing");
}

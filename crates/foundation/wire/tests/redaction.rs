//! Secrets planted in every place a trace has do not come out again; everything else does.

mod cases;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use wire::redact::{Redactor, Secrets};
use wire::revision::{R2025_11_25, Transport};
use wire::trace::{Content, Frame, Header, Headers, Mark, Party, Trace, file};

const REDACTOR: Redactor = Redactor::new([42; 32]);

/// Secret by its shape, wherever it stands.
fn shaped() -> impl Strategy<Value = String> {
    let known = prop_oneof![
        "gh[pousr]_[A-Za-z0-9]{20,36}",
        "github_pat_[A-Za-z0-9_]{20,40}",
        "sk-[A-Za-z0-9]{20,40}",
        "(AKIA|ASIA)[A-Z2-7]{15}7",
        "glpat-[A-Za-z0-9]{20}",
    ];
    // At least one digit is part of the shape.
    let known = known.prop_map(|token| format!("{token}1"));
    prop_oneof![known, "eyJ[A-Za-z0-9_-]{12,20}\\.eyJ[A-Za-z0-9_-]{12,30}\\.[A-Za-z0-9_-]{10,30}x"]
}

/// Secret by its name alone.
fn plain() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{3}[0-9][A-Za-z0-9]{8,20}",
        "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}",
        "[A-Za-z0-9+/]{10,16}1a",
        "[A-Za-z0-9_.~-]{10,20}1a",
    ]
}

fn secret() -> impl Strategy<Value = String> {
    prop_oneof![shaped(), plain()]
}

/// Secret by name, and with characters that need escapes in JSON and in queries.
fn odd() -> impl Strategy<Value = String> {
    "[a-z]{4}[0-9][ \"\\\\&%=<>/é😀a-z0-9]{6,12}"
}

fn text_places(shaped: &str, secret: &str) -> Vec<String> {
    // A slash ends the part of a URL in which a password may stand.
    let user = secret.replace('/', "%2F");
    vec![
        shaped.to_owned(),
        format!("before {shaped}, after"),
        format!("({shaped})."),
        format!("git clone https://{user}@example.org/x"),
        format!("postgres://user:{user}@db/x?sslmode=off"),
        format!("Authorization: Bearer {secret}"),
        format!("authorization=Bearer {secret}"),
        format!("sent Bearer {secret}"),
        format!("cookie: sid={secret}; theme=dark"),
        format!("API_KEY={secret}"),
        format!("VENDOR_KEY={secret} db_pass={secret}"),
        format!("export MY_SECRET='{secret}' x"),
        format!("--client-secret \"a\" --password={secret}"),
        format!("password: {secret}"),
        format!("config {{\"apiKey\": \"{secret}\", \"x\": 1"),
        format!("{{\\\"refresh_token\\\":\\\"{secret}\\\"}} was logged"),
        format!("{{'token': '{secret}'}}"),
        format!("/callback?code={secret}&state=ok"),
        format!("/callback?x=1&access_token={secret}#end"),
        format!("grant_type=authorization_code&code={secret}&code_verifier={secret}"),
        format!("code={secret}&grant_type=authorization_code"),
        format!("event: /messages?sessionId={secret}"),
        format!("-----BEGIN RSA PRIVATE KEY-----\n{secret}\n{secret}\n-----END RSA PRIVATE KEY-----"),
        format!("-----BEGIN PRIVATE KEY-----\n{secret}"),
    ]
}

fn values(shaped: &str, secret: &str, odd: &str) -> Vec<Value> {
    let nested = json!({ "access_token": odd }).to_string();
    let mut all = vec![
        json!({ "access_token": odd, "refreshToken": secret, "token_type": "Bearer" }),
        json!({ "client_secret": odd, "id_token": [odd, secret], "apiKey": secret }),
        json!({ "a": [{ "b": { "password": odd, "token": secret } }], "code_verifier": secret }),
        json!({ "text": nested, "sessionId": secret }),
        json!({ "pwd": odd, "db_pass": secret, "auth": odd, "basicAuth": secret }),
        json!({ "text": json!({ "text": nested }).to_string() }),
        json!({ shaped: [shaped] }),
        json!({ "code": format!("{secret}a1") }),
    ];
    all.extend(
        text_places(shaped, secret).into_iter().map(|text| json!({ "content": [{ "type": "text", "text": text }] })),
    );
    all
}

fn headers(shaped: &str, secret: &str) -> Headers {
    let all = [
        ("Authorization", format!("Bearer {secret}")),
        ("authorization", secret.to_owned()),
        ("Proxy-Authorization", format!("Basic {secret}")),
        ("Cookie", format!("a={secret}; b={secret}")),
        ("Set-Cookie", format!("sid={secret}; Path=/; HttpOnly")),
        ("X-Api-Key", secret.to_owned()),
        ("X-Auth-Key", secret.to_owned()),
        ("Ocp-Apim-Subscription-Key", secret.to_owned()),
        ("X-Auth-Token", secret.to_owned()),
        ("Mcp-Session-Id", secret.to_owned()),
        ("Mcp-Param-Password", secret.to_owned()),
        ("Location", format!("https://h/cb?code={secret}&iss=x")),
        ("X-Other", shaped.to_owned()),
    ];
    all.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

fn planted(shaped: &str, secret: &str, odd: &str) -> Trace {
    let mut contents = Vec::new();
    for value in values(shaped, secret, odd) {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "result": value });
        let (text, pretty) = (message.to_string(), format!("{message:#}"));
        let lines = pretty.lines().map(|line| format!("data: {line}\r\n")).collect::<Vec<_>>().concat();
        contents.push(Content::Line { bytes: text.clone().into_bytes(), terminated: true });
        contents.push(Content::Body { bytes: pretty.clone().into_bytes(), complete: true });
        contents.push(Content::WebSocket { bytes: text.clone().into_bytes(), text: true });
        contents.push(Content::Sse(format!("id: 1\ndata: {text}\n\n").into_bytes()));
        contents.push(Content::Sse(format!("event: message\r\n{lines}\r\n").into_bytes()));
        contents.push(Content::Mark(Mark::read("stimulus", value)));
    }
    for text in text_places(shaped, secret) {
        contents.push(Content::Body { bytes: text.clone().into_bytes(), complete: false });
        contents.push(Content::Raw([text.as_bytes(), b"\xff\x00", text.as_bytes()].concat()));
        contents.push(Content::Stderr(text.clone().into_bytes()));
        if !text.contains('\n') {
            contents.push(Content::Sse(format!("event: endpoint\ndata: {text}\n: {text}\n\n").into_bytes()));
            contents.push(Content::Request { method: "GET".to_owned(), target: text, headers: Vec::new() });
        }
    }
    contents.push(Content::Request {
        method: "POST".to_owned(),
        target: "/".to_owned(),
        headers: headers(shaped, secret),
    });
    contents.push(Content::Response { status: 200, headers: headers(shaped, secret) });
    let frames = contents.into_iter().map(|content| Frame::new(Party::Server, content)).collect();
    Trace { header: Header::server(Transport::Stdio, R2025_11_25, "case"), frames }
}

/// Whether any frame still holds `secret`, escaped or not.
fn leak(trace: &Trace, secret: &str) -> Option<String> {
    let escaped = Value::from(secret).to_string();
    let escaped = escaped[1..escaped.len() - 1].to_owned();
    let twice = Value::from(escaped.as_str()).to_string();
    let forms = [secret.to_owned(), escaped, twice[1..twice.len() - 1].to_owned()];
    let debug = |frame: &&Frame| {
        let line = file::write_frame(frame);
        let debug = format!("{:?}", frame.content);
        let bytes = match &frame.content {
            Content::Raw(bytes) | Content::Sse(bytes) | Content::Stderr(bytes) => {
                String::from_utf8_lossy(bytes).into_owned()
            }
            _ => String::new(),
        };
        forms.iter().any(|form| line.contains(form) || debug.contains(form) || bytes.contains(form))
    };
    trace.frames.iter().find(debug).map(file::write_frame)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases::at_least(40), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_planted_comes_out(shaped in shaped(), secret in secret(), odd in odd()) {
        let trace = planted(&shaped, &secret, &odd);
        for secret in [&shaped, &secret, &odd] {
            prop_assert!(leak(&trace, secret).is_some(), "the plant must be there");
        }
        let once = REDACTOR.redact_trace(&trace);
        let twice = REDACTOR.redact_trace(&once);
        for secret in [&shaped, &secret, &odd] {
            prop_assert_eq!(leak(&once, secret), None, "{}", secret);
            prop_assert_eq!(leak(&twice, secret), None, "{}", secret);
        }
        for (before, after) in trace.frames.iter().zip(&once.frames) {
            prop_assert_eq!(std::mem::discriminant(&before.content), std::mem::discriminant(&after.content));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases::at_least(300), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_secret_has_one_pseudonym_everywhere(secret in plain()) {
        let pseudonym = REDACTOR.pseudonym(&secret);
        prop_assert_ne!(&pseudonym, &secret);
        for (_, value) in REDACTOR.redact_headers(&headers("x", &secret)) {
            prop_assert!(value.contains(&pseudonym) || value == "x" || percent(&value, &pseudonym), "{} {}", value, pseudonym);
        }
        let member = json!({ "access_token": secret }).to_string();
        let expected = json!({ "access_token": pseudonym }).to_string();
        prop_assert_eq!(REDACTOR.redact_message(&member), expected);
        let log = format!("TOKEN={secret} ok");
        prop_assert_eq!(REDACTOR.redact_text(&log), format!("TOKEN={pseudonym} ok"));
    }

    #[test]
    fn json_stays_json_and_the_rest_untouched(odd in odd(), space in "[ \n\t]{0,2}") {
        let text = |secret: &str| {
            let quoted = Value::from(secret).to_string();
            format!("{space}{{ \"n\":1.0e1,{space}\"password\" :{space}{quoted}, \"u\":\"\\u0041\\ud800\",\"progressToken\":\"abc123456789\"}}")
        };
        let before = text(&odd);
        prop_assert_eq!(REDACTOR.redact_message(&before), text(&REDACTOR.pseudonym(&odd)));
    }

    #[test]
    fn redaction_never_panics(bytes in vec(any::<u8>(), 0..60), text in "([a-z]{0,3}(token|secret|Bearer|://|-----BEGIN )?[\"'\\\\=:?&%@ é\n]{0,2}){0,8}") {
        for bytes in [bytes, text.clone().into_bytes()] {
            for content in [
                Content::Line { bytes: bytes.clone(), terminated: true },
                Content::Sse(bytes.clone()),
                Content::Stderr(bytes.clone()),
                Content::Raw(bytes.clone()),
            ] {
                REDACTOR.redact_frame(&Frame::new(Party::Client, content));
            }
        }
        REDACTOR.redact_headers(&vec![("Cookie".to_owned(), text.clone()), ("Authorization".to_owned(), text)]);
    }
}

/// A query may have to encode what the secret's pseudonym holds.
fn percent(value: &str, pseudonym: &str) -> bool {
    value.replace("%2B", "+").replace("%2F", "/").contains(pseudonym)
}

#[test]
fn harmless_text_stays() {
    for text in [
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"progressToken":"tok-123456789"},"name":"get_token"}}"#,
        r#"{"jsonrpc":"2.0","id":"e58ed763-928c-4155-bee9-fdbaaadc15f3","error":{"code":-32602,"message":"Invalid token: expected string"}}"#,
        r#"{"nextCursor":"eyJwYWdlIjoyfQ==","maxTokens":1000,"usage":{"inputTokens":12,"total_tokens":99},"stopReason":"maxTokens"}"#,
        r#"{"inputSchema":{"type":"object","properties":{"password":{"type":"string","minLength":8}},"required":["password"]}}"#,
        r#"{"authorization_endpoint":"https://as.example/authorize","token_endpoint":"https://as.example/token","token_endpoint_auth_methods_supported":["client_secret_basic","none"],"code_challenge_methods_supported":["S256"]}"#,
        r#"{"issues":[{"code":"invalid_enum_value"},{"code":"ERR_TLS_CERT_ALTNAME_INVALID"}]}"#,
        r#"{"token_type":"Bearer","expires_in":3600,"scope":"a b","code_challenge":"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}"#,
        r#"{"type":"image","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk","mimeType":"image/png"}"#,
        "Bearer realm=\"mcp\", resource_metadata=\"https://h/.well-known/oauth-protected-resource\", error=\"invalid_token\"",
        "Basic Authentication is not supported; use Bearer authentication",
        "listening on http://127.0.0.1:8080/mcp?debug=1 (pid 12345)",
        "Secure MCP Filesystem Server running on stdio",
        "keyword tokens: 512, cost: 0.01",
    ] {
        assert_eq!(REDACTOR.redact_message(text), text);
    }
    let headers: Headers = [
        ("Content-Type", "application/json"),
        ("Access-Control-Allow-Credentials", "true"),
        ("MCP-Protocol-Version", "2025-11-25"),
        ("Mcp-Name", "get_token"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("Authorization", "Bearer"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec();
    assert_eq!(REDACTOR.redact_headers(&headers), headers);
}

#[test]
fn what_rules_judge_by_is_kept() {
    let value =
        |name: &str, value: &str| REDACTOR.redact_headers(&vec![(name.to_owned(), value.to_owned())])[0].1.clone();
    assert!(value("Authorization", "Bearer  abc123").starts_with("Bearer  "));
    let cookie = value("Set-Cookie", "sid=abc123; Path=/; HttpOnly");
    assert!(cookie.starts_with("sid=") && cookie.ends_with("; Path=/; HttpOnly") && !cookie.contains("abc123"));
    let session = value("Mcp-Session-Id", "é\u{7}x y");
    assert!(!session.is_ascii() && session.contains('\u{7}') && session.contains(' ') && session.chars().count() == 5);
    let session = value("mcp-session-id", "1868a90c-7f2e-4d3b-9c55-0123456789ab");
    assert!(session.chars().all(|c| c.is_ascii_hexdigit() || c == '-') && session.len() == 36);
    let encoded = value("Mcp-Param-Token", "=?base64?Z2hlaW0x?=");
    assert_eq!(encoded, REDACTOR.pseudonym("gheim1"));
    let number = REDACTOR.redact_message(r#"{"password":1234567,"x":1234567}"#).into_owned();
    assert!(
        serde_json::from_str::<Value>(&number).unwrap()["password"].is_u64()
            && !number.starts_with(r#"{"password":1234567"#)
    );
    assert!(number.ends_with(r#""x":1234567}"#));
}

#[test]
fn the_lines_of_a_private_key_are_known_one_by_one() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    for line in [line, &line[..62], "q2Fh5cKj1YzTvB0="] {
        let frame = Frame::new(Party::Server, Content::Stderr(line.as_bytes().to_vec()));
        assert_ne!(REDACTOR.redact_frame(&frame), frame, "{line}");
    }
}

#[test]
fn the_key_is_not_shown() {
    assert_eq!(format!("{REDACTOR:?}"), "Redactor");
}

/// What a peer may send to keep us busy: whatever it repeats, the work grows with its length and no faster. With the square
/// of it, any of these would take minutes.
#[test]
fn no_text_takes_long() {
    let patterns = [
        "a=",
        "token=",
        "a://",
        "sk-",
        "eyJ.",
        "password=''",
        "password=\"\\\"",
        "Bearer ",
        "a&b=",
        "token ",
        "a-",
        "ya29.",
        "a.-",
        "\\\"",
        "{\"a\":",
        "[\"",
        "a=b&c=",
        "-----BEGIN ",
        "Authorization: Basic ",
        "cookie: a=b; ",
        "password: ",
        "xox1",
        "x",
    ];
    for pattern in patterns {
        for (before, after) in [("", ""), ("token=", ""), ("{\"token\":\"", "\"}"), ("a", "-"), ("[\"", "\"]")] {
            let text = format!("{before}{}{after}", pattern.repeat(60_000 / pattern.len()));
            let begun = std::time::Instant::now();
            let _ = (REDACTOR.redact_text(&text), REDACTOR.redact_message(&text));
            let took = begun.elapsed();
            assert!(took.as_secs() < 2, "{before}{pattern}…{after} took {took:?}");
        }
    }
    let name = "token".repeat(10_000);
    for inner in ["\"\",".repeat(10_000), "[".repeat(10_000)] {
        let text = format!(
            "{{\"{name}\":[{inner}\"\"{}]}}",
            if inner.starts_with('[') { "]".repeat(10_000) } else { String::new() }
        );
        let begun = std::time::Instant::now();
        let _ = REDACTOR.redact_message(&text);
        assert!(begun.elapsed().as_secs() < 2, "a long name over {}… took {:?}", &inner[..3], begun.elapsed());
    }
}

#[test]
fn a_scheme_under_a_secret_name_is_followed_by_a_secret_however_plain() {
    let redacted = REDACTOR.redact_text("authorization=Bearer 00000000-0000-0000 ok");
    assert!(!redacted.contains("00000000-0000-0000") && redacted.ends_with(" ok"), "{redacted}");
}

/// Redacts with one secret handed in.
fn knowing(secret: &str) -> Redactor {
    let mut secrets = Secrets::default();
    secrets.add(secret);
    REDACTOR.knowing(&secrets)
}

#[test]
fn what_was_handed_in_is_found_under_any_name_and_has_one_pseudonym() {
    let secret = "open sesame";
    let redactor = knowing(secret);
    let with = redactor.pseudonym(secret);
    assert_ne!(with, secret);
    assert_eq!(redactor.redact_text("say open sesame!"), format!("say {with}!"));
    assert_eq!(redactor.redact_text(&format!("password={with}")), redactor.redact_text("password=open sesame"));
    let message = json!({"note": format!("<{secret}>"), "password": secret, secret: 1, "inner": json!({"a": secret}).to_string()});
    let redacted: Value = serde_json::from_str(&redactor.redact_message(&message.to_string())).unwrap();
    let expected =
        json!({"note": format!("<{with}>"), "password": with, &with: 1, "inner": json!({"a": with}).to_string()});
    assert_eq!(redacted, expected);
    let headers =
        vec![("Authorization".to_owned(), format!("Bearer {secret}")), ("X-Heard".to_owned(), secret.to_owned())];
    let redacted = redactor.redact_headers(&headers);
    assert_eq!((redacted[0].1.as_str(), redacted[1].1.as_str()), (&*format!("Bearer {with}"), &*with));
    assert_eq!(redactor.redact_text("GET /say/open%20sesame?x=open+sesame"), {
        let (path, form) = (with.replace(' ', "%20"), with.replace(' ', "+"));
        format!("GET /say/{path}?x={form}")
    });
    assert!(!redactor.redact_text("it said `open ses…`").contains("open"));
}

#[test]
fn what_was_handed_in_is_found_as_a_shell_quotes_it() {
    let redactor = knowing("it's my s3cret");
    let with = redactor.pseudonym("it's my s3cret").replace('\'', "'\\''");
    assert_eq!(redactor.redact_text("+ ./server --key 'it'\\''s my s3cret'"), format!("+ ./server --key '{with}'"));
}

#[test]
fn what_was_handed_in_is_found_in_a_snippet() {
    let secret = "two\tof  these\nlines";
    let quoted = wire::escape::snippet(&format!("no use for {secret}!"), 120);
    assert_eq!(quoted, "no use for two of these lines!");
    let redacted = knowing(secret).redact_text(&quoted).into_owned();
    assert!(redacted.starts_with("no use for ") && !redacted.contains("these"), "{redacted}");
}

#[test]
fn numbers_that_were_handed_in_stay_numbers() {
    let redactor = knowing("93817264");
    let redacted: Value = serde_json::from_str(&redactor.redact_message(r#"{"id":93817264,"n":[1,9381726]}"#)).unwrap();
    assert!(redacted["id"].is_u64() && redacted["id"] != json!(93_817_264));
    assert_eq!(redacted["n"], json!([1, 9_381_726]));
}

#[test]
fn given_secrets_are_distinguished_from_harmless_words() {
    let mut secrets = Secrets::default();
    secrets.header("Authorization", "Basic dXNlcjpodW50ZXIyMg==");
    secrets.header("Cookie", "sid=cookie-value; theme=darkish-blue");
    secrets.header("X-Vendor", "a1b2c3d4e5f6");
    secrets.header("MCP-Protocol-Version", "2025-11-25");
    secrets.header("Accept", "application/json, text/event-stream");
    secrets.variable("SUBSCRIPTION_KEY", "variable-key");
    secrets.variable("DATABASE_URL", "postgres://me:pass%2Fword@db/x");
    secrets.variable("LANG", "en_US.UTF-8");
    secrets.variable("PASSWORD", "password");
    secrets.arguments(["serve", "--api-key", "argument-key", "--token=argument-token", "--port", "123456"]);
    secrets.address("http://127.0.0.1/mcp?key=query-key&page=2");
    let redactor = REDACTOR.knowing(&secrets);
    for secret in ["dXNlcjpodW50ZXIyMg", "hunter22", "cookie-value", "darkish-blue", "a1b2c3d4e5f6", "variable-key"]
        .into_iter()
        .chain(["pass%2Fword", "pass/word", "argument-key", "argument-token", "query-key"])
    {
        assert_ne!(redactor.redact_known(secret), secret);
    }
    for plain in ["2025-11-25", "application/json, text/event-stream", "en_US.UTF-8", "password", "123456", "serve"] {
        assert_eq!(redactor.redact_known(plain), plain);
    }
    assert_eq!(format!("{secrets:?}").matches(char::is_numeric).count(), 2, "{secrets:?}");
}

/// Bytes that are not UTF-8 do not end a secret: its tail would leak.
#[test]
fn invalid_bytes_do_not_split_a_secret() {
    let redacted = |redactor: &Redactor, bytes: &[u8]| {
        let frame = Frame::new(Party::Server, Content::Body { bytes: bytes.to_vec(), complete: true });
        let Content::Body { bytes, .. } = redactor.redact_frame(&frame).content else { panic!("another kind") };
        bytes
    };
    let tail = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for bytes in [
        &b"{\"access_token\":\"headsecret1\xfftailsecret2\"}"[..],
        b"Authorization: Bearer headsecret1\xfftailsecret2",
        b"https://example.org/?access_token=headsecret1\xff\xfetailsecret2&a=b",
    ] {
        let out = tail(&redacted(&REDACTOR, bytes));
        assert!(!out.contains("tailsecret2") && !out.contains("headsecret1"), "{out}");
    }
    let out = redacted(&knowing("hunter2hunter2"), b"it says hunter2\xffhunter2 and goes on");
    assert!(!tail(&out).contains("hunter2") && std::str::from_utf8(&out).is_err(), "{}", tail(&out));
    for harmless in [&b"caf\xe9 {\"a\":1} \xc3"[..], b"\xff\xfe\x00", b"zq0x41 and \xff"] {
        assert_eq!(redacted(&REDACTOR, harmless), harmless);
    }
}

/// The session of HTTP+SSE stands in the address that the server names, and in every target of a POST.
#[test]
fn sessions_in_addresses_are_secret() {
    for (endpoint, session) in [
        ("/messages?session=0123456789abcdef0123456789abcdef", "0123456789abcdef"),
        ("/messages?s=a1b2c3d4e5", "a1b2c3d4e5"),
        ("/sse/3f8a9d2c-6b1e-4f7a-9c0d-5e2b8a7f6c1d/messages", "3f8a9d2c-6b1e"),
        ("http://mcp1server2.example:3000/messages/?id=a1b2c3d4e5", "a1b2c3d4e5"),
    ] {
        let block = format!("event: endpoint\ndata: {endpoint}\n\n");
        let frame = Frame::new(Party::Server, Content::Sse(block.into_bytes()));
        let Content::Sse(named) = REDACTOR.redact_frame(&frame).content else { panic!("another kind") };
        let request =
            Content::Request { method: "POST".to_owned(), target: endpoint.to_owned(), headers: Headers::default() };
        let Content::Request { target, .. } = REDACTOR.redact_frame(&Frame::new(Party::Client, request)).content else {
            panic!("another kind")
        };
        let named = String::from_utf8(named).expect("text");
        assert!(!named.contains(session) && !target.contains(session), "{named} {target}");
        assert_eq!(named, format!("event: endpoint\ndata: {target}\n\n"), "both are the same address");
        assert!(target.starts_with('/') || target.starts_with("http://mcp1server2.example:3000/messages/?id="));
    }
    for plain in [
        "/.well-known/oauth-protected-resource/v2/mcp?name=weather",
        "/authorize?response_type=code&client_id=client-1a2b3c4d5e&scope=mcp%3Acall",
    ] {
        let request =
            Content::Request { method: "GET".to_owned(), target: plain.to_owned(), headers: Headers::default() };
        let Content::Request { target, .. } = REDACTOR.redact_frame(&Frame::new(Party::Client, request)).content else {
            panic!("another kind")
        };
        assert_eq!(target, plain);
    }
}

fn knowing_given(give: impl FnOnce(&mut Secrets)) -> Redactor {
    let mut secrets = Secrets::default();
    give(&mut secrets);
    REDACTOR.knowing(&secrets)
}

#[test]
fn a_given_header_is_secret_however_it_is_written_and_whatever_it_looks_like() {
    for (name, value, secret) in [
        ("X-Vendor", " a1b2c3d4e5f6", "a1b2c3d4e5f6"),
        ("X-Tenant", " acme-rocket", "acme-rocket"),
        ("Authorization", " ApiKey open-sesame", "open-sesame"),
        ("Ocp-Apim-Subscription-Key ", " three words here", "three words here"),
    ] {
        let redactor = knowing_given(|secrets| secrets.header(name, value));
        assert_ne!(redactor.redact_text(&format!("it said {secret}!")), format!("it said {secret}!"), "{name}");
    }
    let redactor = knowing_given(|secrets| secrets.header("X-Pin", " 1234"));
    let headers = |name: &str| vec![(name.to_owned(), "1234".to_owned())];
    assert_ne!(redactor.redact_headers(&headers("x-pin")), headers("x-pin"));
    assert_eq!(redactor.redact_headers(&headers("x-other")), headers("x-other"));
    let redactor = knowing_given(|secrets| secrets.header("Accept", "application/json"));
    assert_eq!(redactor.redact_text("application/json"), "application/json");
}

#[test]
fn arguments_are_secret_in_scripts_headers_and_variables() {
    for words in [
        ["sh", "-c", "API_KEY=hunter2hunter2 cmd"],
        ["sh", "-c", "cd x && VENDOR_PASS='hunter2hunter2' cmd --x"],
        ["sh", "-c", "cmd --api-key hunter2hunter2;true"],
        ["mcp-remote", "--header", "X-Any: hunter2hunter2"],
        ["curl", "-H", "Authorization: Bearer hunter2hunter2"],
        ["docker", "-e", "DB_PASS=hunter2hunter2"],
        ["cmd", "--header=X-Any:hunter2hunter2", "x"],
        ["cmd", "x", "postgres://hunter2hunter2:y@db"],
        ["cmd", "x", "https://host/mcp#access_token=hunter2hunter2"],
    ] {
        let redactor = knowing_given(|secrets| secrets.arguments(words));
        assert!(!redactor.redact_text("it said hunter2hunter2!").contains("hunter2hunter2"), "{words:?}");
    }
    let harmless = ["npx", "-y", "--port", "31337", "https://h/mcp", "weather"];
    let redactor = knowing_given(|secrets| secrets.arguments(harmless));
    for word in ["npx", "weather", "https://h/mcp", "31337"] {
        assert_eq!(redactor.redact_text(word), word);
    }
}

#[test]
fn variables_are_secret_by_name_by_shape_and_within() {
    for (name, value) in [
        ("OLD_LOGIN", "correct-horse"),
        ("ANY", "postgres://me:correct-horse@db/x"),
        ("JAVA_OPTS", "-Xmx1g -Ddb.password=correct-horse"),
    ] {
        let redactor = knowing_given(|secrets| secrets.variable(name, value));
        assert!(!redactor.redact_text("it said correct-horse!").contains("correct-horse"), "{name}");
    }
    let redactor = knowing_given(|secrets| {
        secrets.variable("PWD", "/home/somebody");
        secrets.variable("TERM", "xterm-256color");
        secrets.handed_variable("ANY", "Xk39dkK29dkwl2");
    });
    assert_eq!(redactor.redact_text("/home/somebody xterm-256color"), "/home/somebody xterm-256color");
    assert_ne!(redactor.redact_text("Xk39dkK29dkwl2"), "Xk39dkK29dkwl2");
}

#[test]
fn what_was_handed_in_is_found_in_hex_and_xml_and_in_json_within_json() {
    let secret = "p\"a&ss<w0rd>";
    let redactor = knowing(secret);
    let hex = secret.bytes().map(|b| format!("{b:02x}")).collect::<Vec<_>>().concat();
    let json = Value::from(Value::from(secret).to_string()).to_string();
    for text in [hex.clone(), hex.to_ascii_uppercase(), "p&quot;a&amp;ss&lt;w0rd&gt;".to_owned(), json] {
        assert_ne!(redactor.redact_known(&text), text);
    }
}

#[test]
fn a_mask_is_the_same_for_every_secret_and_stays() {
    let redactor = Redactor::masking();
    let message = r#"{"apiKey":"hunter2hunter2","text":"ghp_0123456789abcdef0123","pwd":12345678,"n":1}"#;
    let masked = redactor.redact_message(message).into_owned();
    assert_eq!(masked, r#"{"apiKey":"redacted","text":"redacted","pwd":0,"n":1}"#);
    assert_eq!(redactor.redact_message(&masked), masked);
}

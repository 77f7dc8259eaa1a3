//! Tokens whose form is wrong: parts, base64, JSON.

use oauth::jose::encode;
use oauth::resource::TokenFlaw::Form;

use crate::Case;
use crate::signing::{Key, claims};

/// The longest token that is read.
const LONGEST: usize = 16 << 10;

pub(crate) fn cases() -> Vec<Case> {
    let key = Key::es256();
    let mut all = parts(&key);
    all.extend(spellings(&key));
    all.extend(json_texts(&key));
    all.extend(duplicates(&key));
    all.extend(sizes(&key));
    all
}

fn parts(key: &Key) -> Vec<Case> {
    let good = key.good();
    let (text, signature) = good.rsplit_once('.').expect("three parts");
    let (header, body) = text.split_once('.').expect("three parts");
    let flattened = format!(r#"{{"protected":"{header}","payload":"{body}","signature":"{signature}"}}"#);
    let list = [
        ("nothing", String::new()),
        ("two dots", "..".to_owned()),
        ("one part", header.to_owned()),
        ("no signature part", text.to_owned()),
        ("a fourth part", format!("{good}.x")),
        ("a fourth part that is empty", format!("{good}.")),
        ("five parts, as of an encrypted token", format!("{header}.a.b.{body}.{signature}")),
        ("a payload that is elsewhere", format!("{header}..{signature}")),
        ("no header", format!(".{body}.{signature}")),
        ("the JSON form", flattened.clone()),
        ("the JSON form, encoded", encode(flattened.as_bytes())),
        ("the scheme before it", format!("Bearer {good}")),
        ("two tokens", format!("{good},{good}")),
    ];
    list.into_iter().map(|(what, bad)| Case::new(what, &key.set(), (bad, Form), good.clone())).collect()
}

/// A text in base64 whose last letter has other bits that count for nothing.
fn loose(text: &str) -> String {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let (rest, last) = text.split_at(text.len() - 1);
    let at = LETTERS.find(last).expect("a letter");
    format!("{rest}{}", &LETTERS[at + 1..at + 2])
}

fn spellings(key: &Key) -> Vec<Case> {
    let form = |what: &str, bad: String, good: String| Case::new(what, &key.set(), (bad, Form), good);
    // 62 and 63 differ between the alphabets: a token whose signature has both.
    let both = std::iter::repeat_with(|| key.good()).find(|good| {
        let signature = good.rsplit('.').next().expect("three parts");
        signature.contains('-') && signature.contains('_')
    });
    let both = both.expect("most have");
    let good = key.good();
    let (text, signature) = good.rsplit_once('.').expect("three parts");
    // One byte more than a multiple of three leaves four bits over.
    let header =
        [r#"{"alg":"ES256"}"#, r#"{"alg":"ES256" }"#, r#"{"alg":"ES256"  }"#].map(|text| encode(text.as_bytes()));
    let header = header.iter().find(|text| text.len() % 4 == 2).expect("one of three");
    let (mut body, mut more) = (encode(claims("").as_bytes()), "\"a\":\"".to_owned());
    while body.len() % 4 != 2 {
        more.push('x');
        body = encode(claims(&format!("{more}\"")).as_bytes());
    }
    vec![
        form("the other alphabet", both.replace('-', "+").replace('_', "/"), both.clone()),
        form("padding after the signature", format!("{good}=="), good.clone()),
        form("padding after the header", key.sign_parts(&format!("{header}=="), &body), key.sign_parts(header, &body)),
        form("padding after the claims", key.sign_parts(header, &format!("{body}==")), key.sign_parts(header, &body)),
        form("bits over in the signature", format!("{text}.{}", loose(signature)), good.clone()),
        form("bits over in the header", key.sign_parts(&loose(header), &body), key.sign_parts(header, &body)),
        form("bits over in the claims", key.sign_parts(header, &loose(&body)), key.sign_parts(header, &body)),
        form("one letter over", format!("{good}AAA"), good.clone()),
        form("a line end after it", format!("{good}\n"), good.clone()),
        form("a space before it", format!(" {good}"), good.clone()),
        form(
            "a line end in the claims",
            key.sign_parts(header, &format!("{}\n{}", &body[..8], &body[8..])),
            key.sign_parts(header, &body),
        ),
        form("a letter that is not ASCII", good.replacen('e', "е", 1), good.clone()),
        form("a NUL", format!("{good}\0"), good.clone()),
        form("dots as escapes", good.replacen('.', "%2E", 1), good.clone()),
        form("not encoded at all", key.sign_parts(r#"{"alg":"ES256"}"#, &body), key.sign_parts(header, &body)),
    ]
}

fn json_texts(key: &Key) -> Vec<Case> {
    let (header, usual) = (key.header(""), claims(""));
    let open = usual.strip_suffix('}').expect("an object");
    let deep = |levels: usize| format!("{open},\"deep\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    let nested = key.good();
    let bodies: Vec<(&str, Vec<u8>, Vec<u8>)> = vec![
        ("claims that are a list", format!("[{usual}]").into(), usual.clone().into()),
        ("claims that are a text", r#""me""#.into(), usual.clone().into()),
        ("claims that are nothing", "null".into(), usual.clone().into()),
        ("claims of no bytes", vec![], usual.clone().into()),
        ("a token in the token", nested.clone().into(), usual.clone().into()),
        (
            "a token in the token, as a text",
            format!("\"{nested}\"").into(),
            format!("{open},\"inner\":\"{nested}\"}}").into(),
        ),
        ("something after the claims", format!("{usual}x").into(), format!("{usual}\r\n ").into()),
        ("two objects", format!("{usual}{usual}").into(), usual.clone().into()),
        ("a byte order mark", format!("\u{feff}{usual}").into(), usual.clone().into()),
        ("a comment", format!("{usual}//").into(), usual.clone().into()),
        ("a comma at the end", format!("{open},}}").into(), usual.clone().into()),
        ("simple quotation marks", usual.replace('"', "'").into(), usual.clone().into()),
        (
            "bytes that are no text",
            [open.as_bytes(), b",\"name\":\"\xff\"}"].concat(),
            format!("{open},\"name\":\"ÿ\"}}").into(),
        ),
        (
            "an overlong spelling",
            [open.as_bytes(), b",\"name\":\"\xc0\xaf\"}"].concat(),
            format!("{open},\"name\":\"/\"}}").into(),
        ),
        (
            "half a pair",
            format!("{open},\"name\":\"\\ud83d\"}}").into(),
            format!("{open},\"name\":\"\\ud83d\\ude00\"}}").into(),
        ),
        (
            "a control character",
            [open.as_bytes(), b",\"name\":\"\x01\"}"].concat(),
            format!("{open},\"name\":\"\\u0001\"}}").into(),
        ),
        ("not a number", format!("{open},\"n\":NaN}}").into(), format!("{open},\"n\":null}}").into()),
        ("a number with a zero before it", format!("{open},\"n\":01}}").into(), format!("{open},\"n\":0.1}}").into()),
        ("a number that is too large", format!("{open},\"n\":1e400}}").into(), format!("{open},\"n\":1e300}}").into()),
        ("nested too deep", deep(200).into(), deep(100).into()),
    ];
    let of_bodies = bodies.into_iter().map(|(what, bad, twin)| {
        let signed = |bytes: &[u8]| key.sign_bytes(header.as_bytes(), bytes);
        Case::new(what, &key.set(), (signed(&bad), Form), signed(&twin))
    });
    of_bodies.chain(header_texts(key)).collect()
}

fn header_texts(key: &Key) -> Vec<Case> {
    let (header, usual) = (key.header(""), claims(""));
    let list = [
        ("a header that is a list", format!("[{header}]").into_bytes()),
        ("a header that is a text", b"\"ES256\"".to_vec()),
        ("a header of no bytes", vec![]),
        ("a header with bytes that are no text", b"{\"alg\":\"ES256\",\"x\":\"\xff\"}".to_vec()),
        ("something after the header", format!("{header}{header}").into_bytes()),
    ];
    let case = |(what, bad): (&str, Vec<u8>)| {
        Case::new(what, &key.set(), (key.sign_bytes(&bad, usual.as_bytes()), Form), key.good())
    };
    list.into_iter().map(case).collect()
}

/// Members that stand twice, and names by which our own reader would take an object for something else.
fn duplicates(key: &Key) -> Vec<Case> {
    let raw = "$serde_json::private::RawValue";
    let headers = [
        ("the algorithm twice", r#""alg":"ES256""#.to_owned(), r#""Alg":"none""#.to_owned()),
        ("the algorithm twice, another one", r#""alg":"none""#.to_owned(), r#""ALG":"none""#.to_owned()),
        ("the type twice", r#""typ":"id+jwt","typ":"at+jwt""#.to_owned(), r#""typ":"at+jwt""#.to_owned()),
        ("the key id twice", r#""kid":"a","kid":"b""#.to_owned(), r#""kid":"b""#.to_owned()),
        (
            "a member twice within a header",
            r#""jwk":{"kty":"EC","kty":"RSA"}"#.to_owned(),
            r#""jwk":{"kty":"EC"}"#.to_owned(),
        ),
        ("a reserved name in a header", format!(r#""x":{{"{raw}":"1"}}"#), r#""x":{"$serde":"1"}"#.to_owned()),
    ];
    let bodies = [
        ("the subject twice", r#""sub":"root""#.to_owned(), r#""Sub":"root""#.to_owned()),
        ("the subject twice, with escapes", r#""s\u0075b":"root""#.to_owned(), r#""s\u0075b2":"root""#.to_owned()),
        ("the end twice", r#""exp":99999999999"#.to_owned(), r#""exp2":99999999999"#.to_owned()),
        ("the audience twice", r#""aud":"another""#.to_owned(), r#""aud2":"another""#.to_owned()),
        ("the issuer twice", r#""iss":"another""#.to_owned(), r#""iss2":"another""#.to_owned()),
        ("an unknown claim twice", r#""a":1,"a":1"#.to_owned(), r#""a":1,"b":1"#.to_owned()),
        (
            "a member twice within a claim",
            r#""realm":{"roles":[],"roles":["admin"]}"#.to_owned(),
            r#""realm":{"roles":["user"]}"#.to_owned(),
        ),
        ("a member twice within a list", r#""l":[{"a":1,"a":2}]"#.to_owned(), r#""l":[{"a":1},{"a":2}]"#.to_owned()),
        ("a reserved name", format!(r#""tenant":{{"{raw}":"\"root\""}}"#), format!(r#""tenant":["{raw}"]"#)),
        (
            "a reserved name, with escapes",
            format!(r#""tenant":{{"\u0024{}":"\"root\""}}"#, &raw[1..]),
            r#""tenant":"root""#.to_owned(),
        ),
    ];
    let of_headers = headers
        .into_iter()
        .map(|(what, bad, twin)| Case::new(what, &key.set(), (key.token(&bad, ""), Form), key.token(&twin, "")));
    let of_bodies = bodies
        .into_iter()
        .map(|(what, bad, twin)| Case::new(what, &key.set(), (key.token("", &bad), Form), key.token("", &twin)));
    of_headers.chain(of_bodies).collect()
}

fn sizes(key: &Key) -> Vec<Case> {
    let sized = |size: usize| {
        let token = |fill: usize| key.token("", &format!("\"fill\":\"{}\"", "x".repeat(fill)));
        let fill = (1..LONGEST).find(|fill| token(*fill).len() >= 400).expect("some length");
        let more = (size - 400) * 3 / 4;
        (0..8).map(|step| token(fill + more + step)).rfind(|token| token.len() <= size).expect("one fits")
    };
    let (good, bad) = (sized(LONGEST), sized(LONGEST + 8));
    assert!(good.len() > LONGEST - 8 && good.len() <= LONGEST && bad.len() > LONGEST, "{} {}", good.len(), bad.len());
    let header = |fill: usize| key.token(&format!("\"fill\":\"{}\"", "x".repeat(fill)), "");
    vec![
        Case::new("longer than any token", &key.set(), (bad, Form), good),
        Case::new("a header longer than any token", &key.set(), (header(LONGEST), Form), header(LONGEST / 2)),
    ]
}

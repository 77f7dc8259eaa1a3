//! Where clients reach the gateway, and by which certificates.

use super::{mentions, settings, upstream};

const TOKENS: &str = "auth: { issuer: 'https://auth.example', keys: keys.json }\n";

fn tls(members: &str) -> String {
    format!("listen: {{ address: '127.0.0.1:1', tls: {{ {members} }} }}\n{}", upstream("command: [x]"))
}

const PAIR: &str = "certificate: c.pem, key: k.pem";

#[test]
fn files_are_those_beside_the_configuration() {
    let read = settings(&tls(PAIR));
    let files = read.tls.expect("TLS");
    assert_eq!(read.listen.map(|address| address.port()), Some(1));
    assert_eq!((files.certificate.to_str(), files.key.to_str()), (Some("etc/c.pem"), Some("etc/k.pem")));
    assert_eq!(files.clients, None);
    let clients = settings(&tls(&format!("{PAIR}, clients: {{ roots: r.pem }}"))).tls.expect("TLS").clients;
    let clients = clients.expect("clients show certificates");
    assert!(clients.required && clients.roots.to_str() == Some("etc/r.pem"), "{clients:?}");
    let optional = TOKENS.to_owned() + &tls(&format!("{PAIR}, clients: {{ roots: r.pem, required: false }}"));
    assert!(!settings(&optional).tls.and_then(|tls| tls.clients).expect("clients may show certificates").required);
    assert!(settings(&upstream("command: [x]")).tls.is_none());
}

#[test]
fn mistakes_have_messages() {
    for (members, parts) in [
        ("key: k.pem", &["`tls` has no `certificate`", "a file in PEM"][..]),
        ("certificate: c.pem", &["`tls` has no `key`"]),
        ("certificate: c.pem, keys: k.pem", &["the key `keys` is unknown here", "key"]),
        ("certificate: 1, key: k.pem", &["`certificate` is a number, not a text"]),
    ] {
        mentions(&tls(members), parts);
    }
    for (members, parts) in [
        ("{}", &["`clients` has no `roots`", "authorities"][..]),
        ("{ roots: r.pem, required: 1 }", &["`required` is a number, not true or false"]),
        ("{ roots: r.pem, required: false }", &["without `auth`, `required: false` lets in every client"]),
        ("{ root: r.pem }", &["the key `root` is unknown here", "roots"]),
    ] {
        mentions(&tls(&format!("{PAIR}, clients: {members}")), parts);
    }
    mentions(&format!("listen: {{ tls: {{ {PAIR} }} }}\n{}", upstream("command: [x]")), &["`listen` has no `address`"]);
}

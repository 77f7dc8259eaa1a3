//! Fake servers as shell scripts: one that answers as it should, to be spoilt in one place each time.

/// Begins a script that takes requests line by line: `$line` is the request, `$id` its id, `$method` its method. Written
/// without a single fork, so that many can run side by side.
pub(crate) const LOOP: &str = r#"
result() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
error() { printf '{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":"%s"}}\n' "$id" "$1" "$2"; }
welcome() {
  result '{"protocolVersion":"2025-11-25","capabilities":{'"$1"'},"serverInfo":{"name":"'"${2:-fake}"'","version":"1"}}'
}
while read -r line; do
  case $line in *'"id":'*) ;; *) continue ;; esac
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  method=${line#*\"method\":\"}; method=${method%%\"*}
  case $method in
"#;

/// A server with these cases of its own; whatever they leave out is answered with an error.
pub(crate) fn server(cases: &str) -> String {
    format!("{LOOP}\n{cases}\n *) error -32601 'Method not found' ;;\n esac\ndone")
}

/// The same, of one that introduces itself as it should and declares `capabilities`.
pub(crate) fn greeting(capabilities: &str, cases: &str) -> String {
    server(&format!("initialize) welcome '{capabilities}' ;;\n ping) result '{{}}' ;;\n{cases}"))
}

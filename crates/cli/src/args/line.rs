//! Command lines in output: quoted for a shell, with secrets redacted.

use judge::{Reproduce, Reproduction};
use report::CommandRedactor;
use wire::redact::Redactor;

/// Words on one line. Secrets are replaced first: a redactor does not recognise them once they are quoted.
pub(crate) fn shown(words: &[String], redactor: &Redactor) -> String {
    words.iter().map(|word| quoted(&redactor.redact_known(word))).collect::<Vec<_>>().join(" ")
}

/// Words of a command that people run again: where a secret has to be put in, its placeholder stands.
pub(crate) fn command_words(words: &[String], redactor: &CommandRedactor) -> String {
    words.iter().map(|word| quoted(&redactor.word(word))).collect::<Vec<_>>().join(" ")
}

/// Makes the command lines that reproduce findings: `words` lead to the subject and say what may be done to it.
pub(crate) fn reproduce(verb: &'static str, words: String) -> Reproduce {
    Reproduce::new(move |&Reproduction { rule, revision, transport, safety }| {
        let safety = if safety { " --safety" } else { "" };
        let space = if words.is_empty() { "" } else { " " };
        format!("proof {verb} --only {rule} --revision {revision} --transport {transport}{safety}{space}{words}")
    })
}

/// A word quoted for a shell. Characters that would not survive printing and pasting (line feeds, control characters,
/// bidirectional overrides) are written as `$'…'`, which bash, zsh and ksh read.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if wire::escape::line(word) == word {
        format!("'{}'", word.replace('\'', "'\\''"))
    } else {
        format!("$'{}'", word.chars().map(dollar_quoted).collect::<String>())
    }
}

/// A character between `$'` and `'`. Bytes in octal, because three digits need no terminator.
fn dollar_quoted(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\'' | '\\' => format!("\\{c}"),
        c if *wire::escape::character(c) == *c.encode_utf8(&mut [0; 4]) => c.to_string(),
        c => c.encode_utf8(&mut [0; 4]).bytes().fold(String::new(), |text, byte| format!("{text}\\{byte:03o}")),
    }
}

#[cfg(test)]
mod tests {
    use report::CommandRedactor;
    use wire::redact::Secrets;

    use super::{command_words, quoted, shown};

    #[test]
    fn secrets_are_redacted_before_quoting() {
        for secret in ["plain-s3cret", "it's s3cret", "tab\tand's3cret\u{202e}"] {
            let words = ["./server", "--token", secret, &format!("--key={secret}")].map(str::to_owned);
            let mut secrets = Secrets::default();
            secrets.arguments(words.iter().map(String::as_str));
            let shown = shown(&words, &net::new_redactor().knowing(&secrets));
            assert!(shown.starts_with("./server --token ") && !shown.contains("s3cret"), "{shown}");
            let again = command_words(&words, &CommandRedactor::of(&net::new_redactor().knowing(&secrets)));
            assert_eq!(again, "./server --token YOUR-SECRET-HERE --key=YOUR-SECRET-HERE");
        }
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("--a=b"), "--a=b");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's $HOME \\n"), "'it'\\''s $HOME \\n'");
        assert_eq!(quoted("a\nb\t'c'\\"), r"$'a\nb\t\'c\'\\'");
        assert_eq!(quoted("\u{1b}[1m7ö\u{202e}"), r"$'\033[1m7ö\342\200\256'");
    }

    #[test]
    fn a_shell_reads_quoted_words_back() {
        for word in ["a\nb", "\u{1b}7'\\n\r\t", "\u{1}1\u{202e}ö $x `y`", "plain", "it's"] {
            let script = format!("printf %s {}", quoted(word));
            let Ok(ran) = std::process::Command::new("bash").args(["-c", &script]).output() else { return };
            assert_eq!(String::from_utf8_lossy(&ran.stdout), word, "{script}");
        }
    }
}

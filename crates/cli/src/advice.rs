//! What the libraries' advice means at this command line: the only place that turns it into options and verbs.

use net::client::Advice as Connecting;

/// About a server that the command line names.
pub(crate) fn connecting(advice: &Connecting) -> String {
    match advice {
        Connecting::GiveCredentials => {
            "give a token with --bearer-env or a header with --header, or get one with --oauth"
        }
        Connecting::GiveCredentialsOrArguments => {
            "look into the server's log; does it need a token (--bearer-env) or arguments?"
        }
        Connecting::TrustIssuer => "fix the certificate, or name its issuer with --ca-file",
        Connecting::ReplaceCertificate => "make one with basicConstraints=CA:FALSE, and name its issuer with --ca-file",
        Connecting::WaitLonger => "is it an MCP server? If it is slow to start, raise --timeout",
        other => return other.to_string(),
    }
    .to_owned()
}

/// About requests to a server that the command line names.
pub(crate) fn asking(advice: &client::Advice) -> String {
    use client::Advice;
    match advice {
        Advice::Connect(advice) => return connecting(advice),
        Advice::SeeDeclared => "`proof client discover` shows what the server declares",
        Advice::AskUndeclared => "`proof client discover` shows what it declares; `proof client raw` asks all the same",
        Advice::CheckArguments => "check the name and the arguments: `proof client tools`, `resources`, `prompts`",
        Advice::DeclareAbilities => "the tool wants to ask something: --answer, --say or --root let it",
        Advice::KnowExtension(name) => {
            let name = wire::escape::snippet(name, 80);
            return crate::verb::client::verb_of_extension(&name).map_or_else(
                || format!("a client that knows the extension {name}: this one does not"),
                |verb| format!("`proof client {verb}`"),
            );
        }
        Advice::AnswerQuestions => "answer it; --say gives what a model says",
        Advice::WaitLonger => "a longer --timeout, or look into the server's log",
        Advice::CheckServer => "`proof check` shows what else is wrong with the server",
        Advice::BringCredentials => "give a token with --bearer-env, or get one with --oauth",
        other => return other.to_string(),
    }
    .to_owned()
}

/// About an authorization server.
pub(crate) fn authorizing(advice: oauth::Advice) -> String {
    use oauth::Advice;
    match advice {
        Advice::BringToken => "a token of your own: --bearer-env VAR",
        Advice::CheckServerOrBringToken => "see whether it is up; a token of your own: --bearer-env VAR",
        Advice::BringClient => "a client's id of your own (--oauth-client-id)",
        Advice::NameIssuer => "if it is the right authorization server, name it: --oauth-issuer URL",
        Advice::UseBrowser => "does it need a person? Then with a browser (--oauth=browser)",
        Advice::AuthorizeRequests => "`proof client --oauth`, which gives them",
        other => return other.to_string(),
    }
    .to_owned()
}

/// About what is judged.
pub(crate) fn judging(advice: &judge::Advice) -> String {
    use judge::Advice;
    match advice {
        Advice::Connect(advice) => return connecting(advice),
        Advice::GiveToken => "hand it over with --bearer-env VAR, or get one with --oauth",
        Advice::ReplaceToken => "try another with --bearer-env VAR, or get one with --oauth",
        Advice::NameRevision => "name the revision to judge at with --revision",
        Advice::NameServedRevision => "leave --revision away, or name one of those",
        Advice::NameCarriedRevision => "leave --revision away, or name others that the transport carries",
        other => return other.to_string(),
    }
    .to_owned()
}

/// About a server that the command line names, and the file that is made from it.
pub(crate) fn generating(advice: &suite::Advice) -> String {
    match advice {
        suite::Advice::Client(advice) => asking(advice),
        other => testing(other),
    }
}

/// About a test file and the servers that it names.
pub(crate) fn testing(advice: &suite::Advice) -> String {
    use client::Advice as Asking;
    use suite::Advice;
    match advice {
        Advice::Client(Asking::Connect(advice)) => return reaching(advice),
        Advice::Client(Asking::BringCredentials) => "give a token with `bearerEnv` under `server`",
        Advice::Client(Asking::DeclareAbilities | Asking::AnswerQuestions) => {
            "answer it with `answers` in the test file"
        }
        Advice::Client(advice) => return asking(advice),
        Advice::WriteSnapshot => "`--update` writes it",
        Advice::ReplaceSnapshots => "`--update` replaces them",
        Advice::AllowTool(name) => return format!("--allow-tool {} calls it", wire::escape::line(name)),
        Advice::NameFixture => "--fixture DIR",
        other => return other.to_string(),
    }
    .to_owned()
}

/// About a server that a test file names.
fn reaching(advice: &Connecting) -> String {
    match advice {
        Connecting::GiveCredentials => {
            "give a token with --oauth, or with `bearerEnv` or `headers` under `server` (without a file: --bearer-env)"
        }
        Connecting::GiveCredentialsOrArguments => {
            "look into the server's log; does it need a token (`bearerEnv`) or arguments?"
        }
        Connecting::TrustIssuer | Connecting::ReplaceCertificate => {
            "fix the certificate, or add its issuer to those that the system trusts"
        }
        other => return connecting(other),
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use client::Advice as Asking;
    use net::client::Advice as Connecting;

    use super::{asking, generating, judging, testing};

    /// One failure is explained alike by every verb that takes the server from the command line, and a test file's own way
    /// is named where a file names the server.
    #[test]
    fn every_verb_has_options_in_its_advice() {
        let refused = || Connecting::GiveCredentials;
        let typed = judging(&judge::Advice::Connect(refused()));
        assert!(typed.contains("--bearer-env") && typed.contains("--header") && typed.contains("--oauth"), "{typed}");
        assert_eq!(asking(&Asking::Connect(refused())), typed);
        assert_eq!(generating(&suite::Advice::Client(Asking::Connect(refused()))), typed);
        let in_file = testing(&suite::Advice::Client(Asking::Connect(refused())));
        assert!(in_file.contains("`bearerEnv`") && in_file.contains("--oauth"), "{in_file}");
        assert!(!in_file.contains("--header"), "a file has `headers`: {in_file}");
        let slow = testing(&suite::Advice::Client(Asking::Connect(Connecting::WaitLonger)));
        assert!(slow.contains("--timeout"), "{slow}");
    }
}

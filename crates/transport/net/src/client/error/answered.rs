//! What was received instead of MCP, in a person's words, and what to try then.

use wire::escape;

use crate::client::Advice;

/// How much of a body is shown.
const SHOWN: usize = 120;

/// An HTTP response that is not an MCP answer.
pub(super) fn status_line(status: u16, body: &str) -> String {
    let came = named(body, SHOWN);
    if came.is_empty() {
        format!("HTTP {status} and no MCP answer")
    } else {
        format!("HTTP {status} and no MCP answer: {came}")
    }
}

/// The beginning of what was received; a web page by its title.
pub(super) fn named(text: &str, most: usize) -> String {
    let text = text.trim();
    match title(text) {
        _ if !is_page(text) => escape::snippet(text, most),
        Some(title) => format!("an HTML page, `{}`", escape::snippet(title, most)),
        None => format!("an HTML page: {}", escape::snippet(text, most)),
    }
}

/// Whether it is a web page.
fn is_page(text: &str) -> bool {
    let begins = |with: &str| text.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    begins("<!doctype html") || begins("<html")
}

fn title(page: &str) -> Option<&str> {
    // The length stays the same: only ASCII letters change.
    let lower = page.to_ascii_lowercase();
    let begin = lower.find("<title>")? + "<title>".len();
    let end = begin + lower[begin..].find("</title>")?;
    Some(page[begin..end].trim()).filter(|title| !title.is_empty())
}

/// What to try after a status that is not an MCP answer, with this body.
pub(super) fn advice(status: u16, body: &str) -> Advice {
    match status {
        200..=299 => "check the path: no WebSocket is spoken there; http:// or https:// instead?",
        300..=399 => "give the address that it leads to",
        401 | 403 => return Advice::GiveCredentials,
        404 | 405 | 410 => "check the path: MCP endpoints often end in /mcp or /sse",
        429 => "wait a while: the server limits the rate of requests",
        501 => "check host, port and path: what listens there takes no POST",
        502..=504 => "start the server; where a proxy is in between, check where that leads",
        500.. => "look into the server's log",
        _ if is_page(body.trim()) => "check the address: MCP endpoints often end in /mcp or /sse",
        _ => "check the address, and look into the server's log",
    }
    .into()
}

/// How many lines of stderr an error shows.
const LAST_LINES: usize = 5;
/// How npm begins the lines of its errors, in its newer and older versions.
const NPM: [&str; 2] = ["npm error", "npm ERR!"];

/// The last line of stderr that says why a program ended. npm says it in its first line after the code.
pub(super) fn last_words(stderr: &str) -> &str {
    let lines = telling_lines(stderr);
    let of_npm = lines.iter().filter_map(|line| said_by_npm(line)).find(|said| !said.starts_with("code "));
    // An indented line belongs to the one above it.
    let says = |line: &&&str| !line.starts_with(char::is_whitespace);
    let last = || lines.iter().rev().find(says).or(lines.last()).copied();
    let any = || stderr.lines().rev().find(|line| !line.trim().is_empty());
    of_npm.or_else(last).or_else(any).unwrap_or("nothing on stderr")
}

/// The last lines of stderr, without those that help nobody.
pub(super) fn last_lines(stderr: &str) -> Vec<&str> {
    let lines = telling_lines(stderr);
    lines[lines.len().saturating_sub(LAST_LINES)..].to_vec()
}

/// Lines that may say why a program ended: no frames of a stack, no brackets alone, no version of a runtime that ends the
/// errors of node and bun, and not where npm wrote its log.
fn telling_lines(stderr: &str) -> Vec<&str> {
    let is_version = |line: &str| ["Node.js v", "Bun v"].iter().any(|name| line.starts_with(name));
    let is_frame = |line: &str| line.starts_with(char::is_whitespace) && line.trim_start().starts_with("at ");
    let says = |line: &&str| line.contains(char::is_alphanumeric) && !is_version(line) && !is_frame(line);
    stderr.lines().map(str::trim_end).filter(says).filter(|line| !is_about_npm(line)).collect()
}

/// What npm says in a line of an error, without its prefix.
fn said_by_npm(line: &str) -> Option<&str> {
    NPM.iter().find_map(|prefix| line.strip_prefix(prefix)).map(str::trim)
}

/// Whether npm speaks about itself: where its log is, which newer version there is, or nothing but a number.
fn is_about_npm(line: &str) -> bool {
    let is_number = |said: &str| said.bytes().all(|byte| byte.is_ascii_digit());
    let is_log = |said: &str| said.contains("complete log of this run") || said.ends_with("-debug-0.log");
    line.starts_with("npm notice") || said_by_npm(line).is_some_and(|said| is_number(said) || is_log(said))
}

#[cfg(test)]
mod tests {
    use super::{advice, last_lines, last_words, named, status_line};

    #[test]
    fn a_page_is_named_by_its_title() {
        let page = "\n<!DOCTYPE HTML>\n<html><head><Title> It\tworks! </TITLE></head>";
        assert_eq!(named(page, 60), "an HTML page, `It works!`");
        assert_eq!(named("<html><title></title>Höhe", 60), "an HTML page: <html><title></title>Höhe");
        assert_eq!(named("{\"title\": \"<title>x</title>\"}", 60), "{\"title\": \"<title>x</title>\"}");
        assert_eq!(status_line(404, page), "HTTP 404 and no MCP answer: an HTML page, `It works!`");
        assert_eq!(status_line(404, ""), "HTTP 404 and no MCP answer");
    }

    #[test]
    fn advice_fits_what_came() {
        for (status, body, said) in [
            (200, "<html>", "WebSocket"),
            (302, "", "leads to"),
            (400, "<html>", "/mcp"),
            (400, "no", "log"),
            (403, "<html>", "token"),
            (404, "<html>", "path"),
            (429, "", "wait"),
            (500, "<html>", "log"),
            (501, "<html>", "takes no POST"),
            (502, "", "proxy"),
        ] {
            let advice = advice(status, body).to_string();
            assert!(advice.contains(said), "{status}: {advice}");
        }
    }

    #[test]
    fn the_last_words_are_those_that_say_why() {
        let node = "node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module '/x.js'\n    \
                    at Module.load (node:internal:1)\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v20.20.2\n";
        assert_eq!(last_words(node), "Error: Cannot find module '/x.js'");
        assert_eq!(
            last_words("Traceback:\n  File x\nModuleNotFoundError: No module named 'mcp'\n"),
            "ModuleNotFoundError: No module named 'mcp'"
        );
        assert_eq!(last_words("  only this\n\n"), "  only this");
        assert_eq!(last_words("Node.js v20.20.2"), "Node.js v20.20.2");
        assert_eq!(last_words(" \n"), "nothing on stderr");
    }

    #[test]
    fn npm_is_quoted_without_its_log() {
        for (prefix, log) in [
            ("npm error", "npm error A complete log of this run can be found in: /home/ada/.npm/_logs/1-debug-0.log\n"),
            (
                "npm ERR!",
                "\nnpm ERR! A complete log of this run can be found in:\nnpm ERR!     /home/ada/.npm/_logs/1-debug-0.log\n",
            ),
        ] {
            let stderr = format!(
                "npm notice New version of npm available!\n{prefix} code E404\n{prefix} 404 Not Found - GET https://npm.example/foo\n\
                 {prefix} 404\n{prefix} 404  'foo@*' is not in this registry.\n{log}"
            );
            assert_eq!(last_words(&stderr), "404 Not Found - GET https://npm.example/foo");
            let lines = last_lines(&stderr);
            assert_eq!(lines.len(), 3, "{lines:?}");
            assert!(lines[0].ends_with("code E404") && lines[2].ends_with("is not in this registry."), "{lines:?}");
        }
    }

    #[test]
    fn the_last_lines_are_those_that_say_something() {
        let node = "node:internal:1\n  throw err;\n  ^\n\nError: no x\n    at Module.load (node:internal:1)\n}\n\nNode.js v20.20.2\n";
        assert_eq!(last_lines(node), ["node:internal:1", "  throw err;", "Error: no x"]);
        assert_eq!(last_lines("1\n2\n3\n4\n5\n6\n"), ["2", "3", "4", "5", "6"]);
        assert_eq!(last_lines(" \n"), [""; 0]);
    }
}

//! Reads `claude mcp add …`, as documentation of servers gives it.

use crate::check;
use crate::scope::Scope;
use crate::server::{Launch, Server, Transport};

/// What such a line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaudeCommand {
    /// The server.
    pub server: Server,
    /// The scope, if it names one.
    pub scope: Option<Scope>,
}

/// Reads a line. `Err` says what is wrong and what to do.
pub fn read(line: &str) -> Result<ClaudeCommand, (String, &'static str)> {
    const SHAPE: &str =
        "claude mcp add [OPTIONS] NAME -- COMMAND, or claude mcp add --transport http [OPTIONS] NAME URL";
    let words = split(line).ok_or_else(|| ("a quote in the command is not closed".to_owned(), SHAPE))?;
    let mut words = words.iter().map(String::as_str).peekable();
    for expected in ["claude", "mcp", "add"] {
        if words.next() != Some(expected) {
            return Err(("the line does not begin with `claude mcp add`".to_owned(), SHAPE));
        }
    }
    let mut options = Options::default();
    while let Some(option) = words.next_if(|word| word.starts_with('-') && *word != "--") {
        let (option, given) = option.split_once('=').map_or((option, None), |(option, value)| (option, Some(value)));
        let value = given.or_else(|| words.next()).ok_or_else(|| (format!("{option} has no value"), SHAPE))?;
        options.take(option, value)?;
    }
    let name = words
        .next()
        .filter(|word| *word != "--")
        .ok_or_else(|| ("the name of the server is missing".to_owned(), SHAPE))?;
    if let Some(late) = words.peek().filter(|word| word.starts_with('-') && **word != "--") {
        const ORDER: &str = "put --transport, --env, --scope and --header before the name";
        return Err((
            format!("{} comes after the name; Claude Code takes options before it", document::quoted(late)),
            ORDER,
        ));
    }
    let mut rest: Vec<String> = words.map(str::to_owned).collect();
    if rest.first().is_some_and(|word| word == "--") {
        rest.remove(0);
    } else if let Some(late) = rest.iter().take_while(|word| *word != "--").find(|word| is_option(word)) {
        const ORDER: &str = "put --transport, --env, --scope and --header before the name";
        return Err((
            format!("{} comes after the name; Claude Code takes options before it", document::quoted(late)),
            ORDER,
        ));
    }
    let launch = options.launch(&rest, SHAPE)?;
    Ok(ClaudeCommand { server: Server { name: name.to_owned(), launch }, scope: options.scope })
}

fn is_option(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    ["--transport", "--env", "--scope", "--header"].contains(&name)
}

#[derive(Default)]
struct Options {
    transport: Option<String>,
    scope: Option<Scope>,
    env: Vec<(String, String)>,
    headers: Vec<(String, String)>,
}

impl Options {
    fn take(&mut self, option: &str, value: &str) -> Result<(), (String, &'static str)> {
        let pair =
            |mark: char| value.split_once(mark).map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
        match option {
            "--transport" | "-t" => self.transport = Some(value.to_owned()),
            "--scope" | "-s" => {
                self.scope = Some(value.parse().map_err(|why| (format!("{option}: {why}"), "use --scope user"))?);
            }
            "--env" | "-e" => {
                self.env.push(pair('=').ok_or_else(|| (format!("{option}: expected NAME=value"), "--env NAME=value"))?);
            }
            "--header" | "-H" => {
                let header =
                    pair(':').ok_or_else(|| (format!("{option}: expected `Name: value`"), "--header 'Name: value'"))?;
                self.headers.push(header);
            }
            _ => {
                return Err((
                    format!("{} is not an option that proof knows", document::quoted(option)),
                    "leave it out, and set it with Claude Code",
                ));
            }
        }
        Ok(())
    }

    fn launch(&self, rest: &[String], shape: &'static str) -> Result<Launch, (String, &'static str)> {
        let (first, args) = rest.split_first().ok_or_else(|| ("a command or a URL is missing".to_owned(), shape))?;
        let transport = match self.transport.as_deref() {
            Some("sse") => Some(Transport::Sse),
            Some("http") => Some(Transport::Http),
            None | Some("stdio") => None,
            Some(other) => {
                let what = format!("the transport {} is unknown", document::quoted(other));
                return Err((what, "--transport stdio, http or sse"));
            }
        };
        let launch = match transport {
            None if self.headers.is_empty() => {
                Launch::Stdio { command: first.clone(), args: args.to_vec(), env: self.env.clone() }
            }
            None => return Err(("--header is for URLs".to_owned(), "leave it out, or give --transport http")),
            Some(_) if !self.env.is_empty() => {
                return Err(("--env is for commands".to_owned(), "leave it out, or give a command after `--`"));
            }
            Some(_) if !args.is_empty() => return Err(("words follow the URL".to_owned(), shape)),
            Some(transport) => Launch::Remote { transport, url: first.clone(), headers: self.headers.clone() },
        };
        check::launch(&launch).map_err(|invalid| (invalid.what, invalid.remedy))?;
        Ok(launch)
    }
}

/// The words of a shell's line, with quotes and backslashes; `None` where a quote is open.
pub fn split(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '\\') => match chars.next()? {
                // A line that goes on in the next one.
                '\n' => {}
                c => word.get_or_insert_default().push(c),
            },
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

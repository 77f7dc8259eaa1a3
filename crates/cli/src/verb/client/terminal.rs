//! A person at a terminal who answers what the command line does not. One question at a time: what a person types is for
//! the question that stands above it.

use std::io::{BufRead as _, IsTerminal as _};
use std::sync::{Arc, Mutex, PoisonError};

use client::{Abilities, Answering, Question, Refused, Respondent};
use suite::test::Scripted;

use super::dialogue::{self, Person};
use crate::exit::{prompt, tell};

/// A person, and what the command line says in their place.
pub(super) struct Terminal {
    scripted: Scripted,
    turn: Arc<Mutex<()>>,
}

impl Terminal {
    /// Whoever sits there; `Err` gives back what was scripted where nobody does.
    pub(super) fn find(scripted: Scripted) -> Result<Self, Scripted> {
        if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
            Ok(Self { scripted, turn: Arc::default() })
        } else {
            Err(scripted)
        }
    }
}

impl Respondent for Terminal {
    fn abilities(&self) -> Abilities {
        Abilities {
            roots: self.scripted.roots.is_some(),
            sampling: true,
            forms: true,
            urls: true,
            ..Abilities::default()
        }
    }

    fn answer(&self, question: Question) -> Answering {
        let is_scripted = match question {
            Question::Roots => true,
            Question::Sampling(_) => self.scripted.says.is_some(),
            Question::Form { .. } | Question::Url { .. } => self.scripted.consent.is_some(),
        };
        if is_scripted {
            return self.scripted.answer(question);
        }
        let turn = self.turn.clone();
        // A thread of its own: a person takes as long as they like, and the conversation goes on meanwhile.
        let asked = tokio::task::spawn_blocking(move || {
            let _mine = turn.lock().unwrap_or_else(PoisonError::into_inner);
            dialogue::put(&mut Typing, &question)
        });
        Box::pin(async { asked.await.unwrap_or_else(|_| Err(Refused::by_user())) })
    }
}

/// The person's own lines: questions on stderr, answers from stdin.
struct Typing;

impl Person for Typing {
    fn show(&mut self, line: &str) {
        tell(line);
    }

    fn ask(&mut self, question: &str) -> Option<String> {
        prompt(question);
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line) {
            Ok(1..) => Some(line.trim_end_matches(['\n', '\r']).to_owned()),
            _ => None,
        }
    }
}

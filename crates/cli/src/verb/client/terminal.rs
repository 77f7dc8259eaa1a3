//! A person at a terminal, who answers what the command line does not. One request at a time, so that input belongs to the
//! request above it.

use std::io::{BufRead as _, IsTerminal as _};
use std::sync::{Arc, Mutex, PoisonError};

use client::{Abilities, Answering, Question, Refused, Respondent};

use super::answers::Answers;
use super::dialogue::{self, Person};
use crate::exit::{prompt, tell};

/// The person at the terminal, and the answers on the command line.
pub(super) struct Terminal {
    answers: Answers,
    lock: Arc<Mutex<()>>,
}

impl Terminal {
    /// The terminal; `Err` returns the scripted answers if there is no terminal.
    pub(super) fn find(answers: Answers) -> Result<Self, Answers> {
        if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
            Ok(Self { answers, lock: Arc::default() })
        } else {
            Err(answers)
        }
    }
}

impl Respondent for Terminal {
    fn abilities(&self) -> Abilities {
        Abilities {
            roots: self.answers.scripted.roots.is_some(),
            sampling: true,
            forms: true,
            urls: true,
            ..Abilities::default()
        }
    }

    fn answer(&self, question: Question) -> Answering {
        let is_scripted = match question {
            Question::Roots => true,
            Question::Sampling(_) => self.answers.scripted.model_text.is_some(),
            Question::Form { .. } | Question::Url { .. } => self.answers.scripted.consent.is_some(),
        };
        if is_scripted {
            return self.answers.answer(question);
        }
        let lock = self.lock.clone();
        // On another thread: a person may take long, and the connection must stay alive.
        let asked = tokio::task::spawn_blocking(move || {
            let _guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
            dialogue::ask_person(&mut Typing, &question)
        });
        Box::pin(async { asked.await.unwrap_or_else(|_| Err(Refused::by_user())) })
    }
}

/// Questions on stderr, answers from stdin.
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

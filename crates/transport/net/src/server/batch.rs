//! JSON-RPC batches, which only 2025-03-26 has: several replies joined into one array. Knows no transport.

use std::future::poll_fn;
use std::task::Poll;

use wire::message::Malformed;

use crate::service::{Answer, Pending, Reply, RpcError};

/// One part of a batch that wants an answer, or has it.
enum Part {
    Ready(Answer),
    Waiting(Pending),
}

/// The answers of one batch.
#[derive(Default)]
pub(crate) struct Batch(Vec<Part>);

impl Batch {
    pub(crate) fn add(&mut self, reply: Reply) {
        self.0.push(match reply {
            Reply::Now(answer) => Part::Ready(answer),
            Reply::Later(pending) => Part::Waiting(pending),
        });
    }

    /// A part that is no message: JSON-RPC answers it with a null id where it has none.
    pub(crate) fn add_malformed(&mut self, malformed: &Malformed) {
        let error = RpcError::new(malformed.fault.code(), format!("Invalid request: {}", malformed.fault));
        self.add(Reply::Now(match &malformed.id {
            Some(id) => Answer::error(Some(id), &error),
            None => Answer::error_with_null_id(&error),
        }));
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The array of all answers: at once where none has to be waited for.
    pub(crate) fn reply(mut self) -> Reply {
        if self.0.iter().all(|part| matches!(part, Part::Ready(_))) {
            return Reply::Now(self.join());
        }
        Reply::later(async move {
            poll_fn(|context| {
                let mut waiting = false;
                for part in &mut self.0 {
                    if let Part::Waiting(pending) = part {
                        match pending.as_mut().poll(context) {
                            Poll::Ready(answer) => *part = Part::Ready(answer),
                            Poll::Pending => waiting = true,
                        }
                    }
                }
                if waiting { Poll::Pending } else { Poll::Ready(()) }
            })
            .await;
            self.join()
        })
    }

    fn join(&self) -> Answer {
        let answers: Vec<&[u8]> = self
            .0
            .iter()
            .filter_map(|part| if let Part::Ready(answer) = part { Some(answer.text()) } else { None })
            .collect();
        let mut text = vec![b'['];
        text.extend(answers.join(&b','));
        text.push(b']');
        Answer::raw(text, None)
    }
}

//! One attempt at a case: ask, call, hand back, ask again. It goes on where a recording of it stopped.

use eval::recording::{self, End, Turn};
use eval::{Sample, ToolCall};
use serde_json::Value;

use crate::answer::Answered;
use crate::dialect::Conversation;
use crate::output::Output;
use crate::recorder::Place;
use crate::run::{Halt, Run, Stop};
use crate::tools::Called;

/// How many calls of one answer are made.
const MOST_CALLS: usize = 128;
/// What the model reads about a call whose result the interrupted run did not record.
const IN_DOUBT: &str = "the outcome of this call is unknown: the run was interrupted, and the call is not repeated";

/// One attempt.
pub(crate) struct Attempt<'r> {
    pub(crate) run: &'r Run,
    pub(crate) case: &'r str,
    pub(crate) number: usize,
    pub(crate) prompt: &'r str,
    /// What was recorded of it before.
    pub(crate) before: Option<&'r recording::Attempt>,
}

impl Attempt<'_> {
    /// Plays it, and records its end. A stop of the whole run leaves it without an end.
    pub(crate) async fn play(&self) -> Result<(), Stop> {
        let place = self.at(0);
        if self.before.is_none() {
            self.run.recorder.begin(place, self.prompt).map_err(Stop::unwritable)?;
        }
        let end = match self.turns().await {
            Ok(end) => end,
            Err(Halt::Attempt(why)) => End::Error(why),
            Err(Halt::Run(stop)) => return Err(*stop),
        };
        self.run.recorder.end(place, &end).map_err(Stop::unwritable)
    }

    fn at(&self, turn: usize) -> Place<'_> {
        Place { case: self.case, attempt: self.number, turn }
    }

    async fn turns(&self) -> Result<End, Halt> {
        let mut conversation = Conversation::new(&self.run.request, self.prompt);
        let known: &[Turn] = self.before.map_or(&[], |before| &before.turns);
        let most = if self.run.tools.can_call() { self.run.turns } else { 1 };
        for turn in 0.. {
            let (sample, whole) = match known.get(turn) {
                Some(turn) => (turn.sample.clone(), turn.answer.clone()),
                None if turn >= most => return Ok(End::Turns),
                None => self.ask(&conversation, turn).await?,
            };
            if sample.calls.iter().any(|call| !call.parse.is_usable()) {
                return Ok(End::Unreadable);
            }
            if sample.calls.is_empty() || sample.is_partial || !self.run.tools.can_call() {
                return Ok(End::Answered);
            }
            if turn + 1 >= most {
                return Ok(End::Turns);
            }
            conversation.answered(&whole).map_err(Halt::Attempt)?;
            let outputs = self.outputs(turn, &sample, known.get(turn)).await?;
            conversation.returned(&outputs);
        }
        Ok(End::Turns)
    }

    /// Asks, and records the answer.
    async fn ask(&self, conversation: &Conversation<'_>, turn: usize) -> Result<(Sample, Value), Halt> {
        let run = self.run;
        let body = conversation.body(turn, &run.tools.definitions());
        let place = run.budget.place().await.ok_or_else(|| Halt::stop(Stop::Budget))?;
        run.check()?;
        let told = |why: &str, wait| run.tell(crate::run::Progress::Waits { why, wait });
        let answer = run.endpoint.ask(&body, run.request.is_streamed, &told).await;
        let answer = answer.map_err(|error| {
            if error.is_final {
                return Halt::stop(Stop::Endpoint(error));
            }
            run.count(|counts| counts.failed = Some(error.clone()));
            Halt::Attempt(error.what)
        })?;
        place.spend(answer.tokens);
        let sample = self.judged(turn, &answer);
        run.recorder.answer(self.at(turn), &answer, &sample).map_err(|error| Halt::stop(Stop::unwritable(error)))?;
        run.tell(crate::run::Progress::Answered);
        if answer.tokens.is_none() && run.budget.is_limited() {
            return Err(Halt::stop(Stop::Uncounted));
        }
        Ok((sample, answer.whole))
    }

    /// The calls with the server's names, and a remark where the endpoint did not keep the choice of tools.
    fn judged(&self, turn: usize, answer: &Answered) -> Sample {
        let request = &self.run.request;
        let breach =
            request.choice.at(turn).breach(request.is_parallel, answer.sample.is_partial, &answer.sample.calls);
        let mut sample = self.run.tools.translated(answer.sample.clone());
        if let Some(breach) = breach {
            sample.notes.push(format!("the endpoint did not keep `tool_choice`: {breach}"));
            self.run.count(|counts| counts.breaches += 1);
        }
        sample
    }

    /// What the calls of a turn return, each with the id of its call.
    async fn outputs(&self, turn: usize, sample: &Sample, known: Option<&Turn>) -> Result<Vec<(String, Output)>, Halt> {
        if let Some(results) = known.and_then(|turn| turn.results.as_ref()) {
            let read: Option<Vec<_>> = results.iter().map(Output::from_value).collect();
            return read.ok_or_else(|| Halt::Attempt("the recorded results cannot be read".to_owned()));
        }
        if sample.calls.len() > MOST_CALLS {
            return Err(Halt::Attempt(format!("an answer makes more than {MOST_CALLS} calls")));
        }
        let was_called = known.is_some_and(|turn| turn.is_called);
        let written = |error| Halt::stop(Stop::unwritable(error));
        self.run.recorder.calling(self.at(turn)).map_err(written)?;
        let (mut outputs, mut lines) = (Vec::new(), Vec::new());
        for call in &sample.calls {
            let output = self.output(call, was_called).await?;
            let id = call.id.clone().unwrap_or_default();
            lines.push(output.to_value(&id, &call.name));
            outputs.push((id, output));
        }
        self.run.recorder.results(self.at(turn), lines).map_err(written)?;
        Ok(outputs)
    }

    async fn output(&self, call: &ToolCall, was_called: bool) -> Result<Output, Halt> {
        self.run.check()?;
        if was_called && !self.run.tools.is_repeatable(&call.name) {
            return Ok(Output::error(IN_DOUBT));
        }
        match self.run.tools.call(call).await {
            Called::Returned(output) => Ok(output),
            Called::Withheld(output) => {
                self.run.count(|counts| *counts.withheld.entry(call.name.clone()).or_default() += 1);
                Ok(output)
            }
            Called::Lost(why) => {
                let name = wire::escape::snippet(&call.name, 60);
                Err(Halt::Attempt(format!("the server did not answer a call of `{name}`: {why}")))
            }
        }
    }
}

//! promptfoo's configuration: each test with each prompt and each combination of variables is a case.

use document::{FileError, quoted};

use super::assertion::{self, Assertion, is_yaml};
use super::conclude::conclude;
use super::expect::{Case, Demand};
use super::prompts::{self, Prompt};
use super::reader::{Kind, Part, Place, Reader};
use super::template::{self, Variables};
use super::{MOST_BYTES, MOST_CASES, too_many, variables};

/// Keys that say nothing about what is expected, or that are read.
const READ: [&str; 9] = [
    "description",
    "prompts",
    "tests",
    "defaultTest",
    "assertionTemplates",
    "$schema",
    "tags",
    "outputPath",
    "metadata",
];
const READ_OF_TEST: [&str; 6] = ["description", "vars", "assert", "metadata", "threshold", "options"];

/// How many assertions all cases may have together.
const MOST_ASSERTIONS: usize = 1_000_000;

/// What is demanded with which variables.
#[derive(Clone, Default)]
struct Body {
    variables: Variables,
    asserts: Vec<Assertion>,
    /// Whether lists of values are values, not several tests.
    is_whole: bool,
}

/// The cases of a configuration.
pub(super) fn read(reader: &mut Reader<'_>, root: &Part) -> Result<Vec<Case>, FileError> {
    for (key, part) in root.members().iter().filter(|(key, _)| !READ.contains(&key.as_str())) {
        let why = match key.as_str() {
            "providers" | "targets" => "`proof eval run` names the model",
            "scenarios" => "write its tests under `tests`",
            "extensions" => "code is never run",
            _ => "cases have no counterpart",
        };
        reader.left_out(&part.place(), format!("{}: {why}", quoted(key)));
    }
    let prompts = root.get("prompts").map_or_else(Vec::new, |part| prompts::read(reader, &part));
    let mut defaults = Body::default();
    if let Some(part) = root.get("defaultTest").and_then(|part| loaded(reader, part)) {
        defaults.read(reader, &part, root);
    }
    let written = root.get("tests").map_or_else(Vec::new, |part| tests(reader, &part));
    let mut cases = Cases { prompts: &prompts, list: Vec::new(), assertions: 0, bytes: 0 };
    for (number, part) in written.iter().enumerate() {
        let mut body = defaults.clone();
        body.read(reader, part, root);
        let described = part.get("description").and_then(|part| part.text().map(str::to_owned));
        let name = described.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| format!("test {}", number + 1));
        cases.add(reader, &part.place(), &name, &body)?;
    }
    Ok(cases.list)
}

/// What a text such as `file://default.yaml` names, or the value itself.
fn loaded(reader: &mut Reader<'_>, part: Part) -> Option<Part> {
    match part.text() {
        None => Some(part),
        Some(text) => {
            let path = text.strip_prefix("file://").unwrap_or(text);
            if !is_yaml(path) {
                reader.left_out(&part.place(), format!("{}: neither YAML nor JSON; code is never run", quoted(path)));
                return None;
            }
            reader.load(&part.place(), "", path).map(|(_, loaded)| loaded)
        }
    }
}

fn tests(reader: &mut Reader<'_>, list: &Part) -> Vec<Part> {
    let mut all = Vec::new();
    for part in list.items() {
        if part.is_map() && part.get("path").is_none() {
            all.push(part);
        } else if part.text().is_some() {
            if let Some(file) = loaded(reader, part) {
                all.extend(reader.deeper(|reader| tests(reader, &file)));
            }
        } else {
            reader.left_out(&part.place(), "tests that are neither written here nor in YAML or JSON");
        }
    }
    all
}

impl Body {
    /// Adds what a test says, or the default of all tests.
    fn read(&mut self, reader: &mut Reader<'_>, test: &Part, root: &Part) {
        unread(reader, test);
        if let Some(vars) = test.get("vars") {
            variables::read(reader, &vars, &mut self.variables);
        }
        if let Some(list) = test.get("assert") {
            self.asserts.extend(assertion::read(reader, &list, root));
        }
        let whole = test.find(&["options", "disableVarExpansion"]);
        self.is_whole = whole.map_or(self.is_whole, |whole| whole.value() == true);
    }
}

/// Remarks what a test says and a case cannot.
fn unread(reader: &mut Reader<'_>, test: &Part) {
    for (key, part) in test.members() {
        if key == "threshold" {
            reader.remark(Kind::Stricter, &part.place(), "`threshold`: in a case, everything expected counts");
        } else if !READ_OF_TEST.contains(&key.as_str()) {
            reader.left_out(&part.place(), format!("{} of a test: cases have no counterpart", quoted(&key)));
        }
    }
    for (key, part) in test.get("options").map_or_else(Vec::new, |options| options.members()) {
        if key != "disableVarExpansion" {
            reader.left_out(&part.place(), format!("the option {}: cases have no counterpart", quoted(&key)));
        }
    }
}

/// The cases so far, and what they come to.
struct Cases<'p> {
    prompts: &'p [Prompt],
    list: Vec<Case>,
    assertions: usize,
    bytes: usize,
}

impl Cases<'_> {
    /// Adds the cases of a test.
    fn add(&mut self, reader: &mut Reader<'_>, place: &Place, name: &str, body: &Body) -> Result<(), FileError> {
        let room = MOST_CASES.saturating_sub(self.list.len()) / self.prompts.len().max(1);
        let whole = || vec![body.variables.clone()];
        let all = if body.is_whole { Some(whole()) } else { variables::combinations(&body.variables, room) };
        let all = all.filter(|all| all.len() <= room).ok_or_else(|| too_many(place))?;
        self.assertions += all.len() * body.asserts.len();
        if self.assertions > MOST_ASSERTIONS {
            return Err(too_many(place));
        }
        for variables in &all {
            let demands: Vec<_> =
                body.asserts.iter().flat_map(|assertion| assertion::demand(reader, assertion, variables)).collect();
            let name = template::fill(name, variables).unwrap_or_else(|_| name.to_owned());
            if self.prompts.is_empty() {
                self.case(reader, place, name, &demands, None)?;
                continue;
            }
            for prompt in self.prompts {
                let label = prompt.label.as_ref().filter(|_| self.prompts.len() > 1);
                let name = label.map_or_else(|| name.clone(), |label| format!("{name} – {label}"));
                self.case(reader, place, name, &demands, Some((prompt, variables)))?;
            }
        }
        Ok(())
    }

    fn case(
        &mut self,
        reader: &mut Reader<'_>,
        place: &Place,
        name: String,
        demands: &[Demand],
        prompt: Option<(&Prompt, &Variables)>,
    ) -> Result<(), FileError> {
        let Some(expected) = conclude(reader, demands) else {
            reader.left_out(place, format!("the test {}: nothing of it can be said by a case", quoted(&name)));
            return Ok(());
        };
        let prompt = prompt.and_then(|(prompt, variables)| {
            let text = template::fill(&prompt.text, variables);
            let why = |why| reader.left_out(&prompt.place, format!("the prompt of {}: {why}", quoted(&name)));
            text.map_err(why).ok()
        });
        let case = Case { name, prompt, tags: Vec::new(), expected };
        self.bytes += case.weight();
        if self.bytes > MOST_BYTES {
            return Err(too_many(place));
        }
        self.list.push(case);
        Ok(())
    }
}

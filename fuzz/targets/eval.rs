//! Answers of models in every format: the chunks of a stream do not matter, and whatever the bytes are, reading ends in calls or
//! in an error, within bounds; what was read can be scored. Lists of tools come to an end in every verb.
#![no_main]

use std::collections::HashSet;
use std::sync::LazyLock;

use eval::export::{self, Api};
use eval::import::{Assembler, Format, read};
use eval::{CaseFile, Sample, bfcl, case, lint, listed, python, score};
use fuzz::{Chunks, bounded};
use libfuzzer_sys::fuzz_target;

/// More than a tree of values takes.
const MOST: usize = 64 << 20;

static CASES: LazyLock<CaseFile> = LazyLock::new(|| {
    let text = "cases:\n  - { name: a, match: strict, calls: [{ call: f, arguments: { a: { range: [0, 9] } } }, { call: g }] }\n  \
                - { name: b, abstain: true }\n";
    case::parse(text, "cases.yaml").expect("cases")
});

fn assembled(chunks: &Chunks, bytes: &[u8]) -> Option<Vec<Sample>> {
    let mut assembler = Assembler::default();
    for chunk in chunks.of(bytes) {
        assembler.push(chunk).ok()?;
    }
    assembler.finish().ok()
}

fuzz_target!(|input: &[u8]| {
    let Some((chunks, _, bytes)) = Chunks::split(input) else { return };
    bounded(MOST, || {
        assert_eq!(assembled(&chunks, bytes), assembled(&Chunks::ONE, bytes), "chunks matter");
        for format in Format::ALL.into_iter().map(Some).chain([None]) {
            for sample in read(bytes, format).unwrap_or_default() {
                for case in &CASES.cases {
                    let scored = score::score(case, &sample, None);
                    assert_eq!(scored.passes(), scored.score >= 1.0, "{scored:?}");
                }
            }
        }
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        for call in python::calls(text).unwrap_or_default() {
            let _ = call.to_arguments();
        }
        if let Ok(catalogue) = listed::read(text) {
            let _ = lint::lint(&catalogue, Some(&CASES));
            for api in [Api::OpenAi, Api::OpenAiChat, Api::Anthropic, Api::Gemini] {
                let exported = export::export(&catalogue, api, true);
                let names: HashSet<&str> = exported.tools.iter().map(|tool| tool.name.as_str()).collect();
                assert_eq!(names.len(), exported.tools.len(), "two tools have one name");
                assert!(
                    exported.tools.iter().all(|tool| tool.is_strict || !tool.notes.is_empty()),
                    "not strict without a reason"
                );
            }
        }
        let _ = bfcl::results(text);
        if let Ok(suite) = bfcl::entries(text, None) {
            for entry in &suite.entries {
                let _ = bfcl::judge(entry, &bfcl::Output::Text(text.into()), bfcl::Mode::Prompt);
            }
        }
    });
});

//! Trace files: a trace that was read is written so that it is read again, a torn file gives what was whole, and a
//! redacted trace is a trace.
#![no_main]

use fuzz::bounded;
use libfuzzer_sys::fuzz_target;
use wire::redact::Redactor;
use wire::trace::{Trace, file};

fuzz_target!(|input: &[u8]| {
    let Some(([tear, key], bytes)) = input.split_first_chunk() else { return };
    bounded(1024 * bytes.len() + (256 << 10), || {
        let repaired = file::read_repaired(bytes);
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let read = file::read(text);
        if text.ends_with('\n') {
            assert_eq!(repaired.as_ref().ok().map(|(trace, _)| trace), read.as_ref().ok(), "nothing was torn");
        }
        if let Ok(trace) = read {
            written(&trace, *tear);
            redacted(&trace, *key);
        }
    });
});

fn written(trace: &Trace, tear: u8) {
    let text = file::write(trace);
    assert_eq!(file::read(&text).as_ref(), Ok(trace), "written and read again");
    let head = text.find('\n').unwrap_or(text.len());
    let cut = text.len() - usize::from(tear).min(text.len() - head - 1);
    let (left, torn) = file::read_repaired(&text.as_bytes()[..cut]).expect("a torn file can be read");
    assert!(trace.frames.starts_with(&left.frames), "a torn file has other frames");
    let told = torn.map_or(0, |torn| torn.bytes);
    assert!(told <= cut && text.as_bytes()[cut - told - 1] == b'\n' || told == 0, "the tear is elsewhere");
    let _ = trace.events();
}

fn redacted(trace: &Trace, key: u8) {
    let redacted = Redactor::new([key; 32]).redact_trace(trace);
    assert_eq!(redacted.frames.len(), trace.frames.len());
    assert_eq!(file::read(&file::write(&redacted)).as_ref(), Ok(&redacted), "redacted, written and read again");
}

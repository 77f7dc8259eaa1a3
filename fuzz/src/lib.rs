//! What the targets share: how an input is cut into chunks, how memory is held to a bound, and how a target that needs a
//! runtime gets one. It knows nothing of what is fuzzed.

pub mod answers;
pub mod http;

use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Where a stream is cut: the lengths of the chunks, again and again.
#[derive(Debug)]
pub struct Chunks {
    lengths: [u8; 3],
}

impl Chunks {
    /// One chunk.
    pub const ONE: Self = Self { lengths: [0; 3] };

    /// Reads an input: three bytes say where to cut, one is a limit of some kind, and the rest is the stream.
    pub const fn split(input: &[u8]) -> Option<(Self, u8, &[u8])> {
        match input {
            [a, b, c, limit, bytes @ ..] => Some((Self { lengths: [*a, *b, *c] }, *limit, bytes)),
            _ => None,
        }
    }

    /// The chunks of `bytes`, one after the other.
    pub fn of<'b>(&self, bytes: &'b [u8]) -> Vec<&'b [u8]> {
        let mut lengths = self.lengths.iter().cycle();
        let mut rest = bytes;
        let mut chunks = Vec::new();
        while !rest.is_empty() {
            // No length is the whole rest: a zero must not loop.
            let length = lengths.next().map_or(0, |length| usize::from(*length));
            let (chunk, after) = rest.split_at(if length == 0 { rest.len() } else { length.min(rest.len()) });
            chunks.push(chunk);
            rest = after;
        }
        chunks
    }
}

/// Runs `work`, which must at no time hold more than `most` bytes more than are held now.
pub fn bounded<T>(most: usize, work: impl FnOnce() -> T) -> T {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let done = work();
    let grown = MEMORY.peak_usage().saturating_sub(before);
    assert!(grown <= most, "held {grown} bytes, of {most} allowed");
    done
}

/// Runs `work` on a runtime whose clock stands still, and jumps on where everybody waits for it: a wait takes no time, and
/// the same input takes the same course.
pub fn timeless<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime starts").block_on(work)
}

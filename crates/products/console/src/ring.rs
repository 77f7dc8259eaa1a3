//! Bytes on disk with a limit: unnamed files, of which the oldest goes when there are too many bytes. Must not know what the
//! bytes are.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

/// Into how many files the limit is divided: as much of it goes at a time.
const SEGMENTS: u64 = 8;

/// A bounded store. Its files have no names, so that nothing is left when the process ends, however it ends.
#[derive(Debug)]
pub struct Ring {
    limit: u64,
    segments: VecDeque<Segment>,
    /// The number of the oldest segment.
    first: u32,
    used: u64,
    dropped: u64,
}

#[derive(Debug)]
struct Segment {
    file: Arc<File>,
    length: u64,
}

/// Where bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    segment: u32,
    length: u32,
    offset: u64,
}

/// A piece to be read without the ring.
#[derive(Clone, Debug)]
pub struct Piece {
    file: Arc<File>,
    place: Place,
}

impl Piece {
    /// Its bytes.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.place.length as usize];
        self.file.read_exact_at(&mut bytes, self.place.offset)?;
        Ok(bytes)
    }
}

impl Ring {
    /// A ring that keeps about `limit` bytes.
    pub const fn new(limit: u64) -> Self {
        Self { limit, segments: VecDeque::new(), first: 0, used: 0, dropped: 0 }
    }

    /// Appends `bytes`. The oldest file goes where they would exceed the limit; bytes longer than the limit are kept alone.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<Place> {
        let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        let full = self.segments.back().is_none_or(|segment| {
            segment.length > 0 && segment.length + u64::from(length) > self.limit.div_ceil(SEGMENTS)
        });
        if full {
            self.segments.push_back(Segment { file: Arc::new(tempfile::tempfile()?), length: 0 });
        }
        while self.segments.len() > 1 && self.used + u64::from(length) > self.limit {
            self.drop_oldest();
        }
        let segment = self.first + u32::try_from(self.segments.len()).map_err(io::Error::other)? - 1;
        let Some(newest) = self.segments.back_mut() else { return Err(io::ErrorKind::NotFound.into()) };
        newest.file.write_all_at(bytes, newest.length)?;
        let place = Place { segment, length, offset: newest.length };
        newest.length += u64::from(length);
        self.used += u64::from(length);
        Ok(place)
    }

    fn drop_oldest(&mut self) {
        if let Some(oldest) = self.segments.pop_front() {
            self.first += 1;
            self.used -= oldest.length;
            self.dropped += oldest.length;
        }
    }

    /// Whether the bytes at `place` are still there.
    pub const fn holds(&self, place: Place) -> bool {
        place.segment >= self.first
    }

    /// The bytes at `place`, to be read later; `None` where they were dropped.
    pub fn piece(&self, place: Place) -> Option<Piece> {
        let segment = self.segments.get(place.segment.checked_sub(self.first)? as usize)?;
        Some(Piece { file: segment.file.clone(), place })
    }

    /// How many bytes are kept at most.
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// How many bytes are kept.
    pub const fn used(&self) -> u64 {
        self.used
    }

    /// How many bytes were dropped.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
impl Ring {
    /// Replaces the newest file, such as with one that cannot be written to; returns the one before.
    pub(crate) fn replace_newest(&mut self, file: Arc<File>) -> Option<Arc<File>> {
        self.segments.back_mut().map(|newest| std::mem::replace(&mut newest.file, file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(ring: &Ring, place: Place) -> Option<Vec<u8>> {
        ring.piece(place).map(|piece| piece.read().expect("it is there"))
    }

    #[test]
    fn the_oldest_bytes_go_first_and_the_limit_holds() {
        let mut ring = Ring::new(800);
        let places: Vec<Place> = (0..100u8).map(|n| ring.append(&[n; 50]).expect("room on the disk")).collect();
        assert!(ring.used() <= 800 && ring.used() > 600, "{}", ring.used());
        assert_eq!(ring.used() + ring.dropped(), 5000);
        for (n, place) in (0..100u8).zip(&places) {
            let kept = usize::from(n) >= 100 - usize::try_from(ring.used() / 50).expect("few");
            assert_eq!(ring.holds(*place), kept, "{n}");
            assert_eq!(read(&ring, *place), kept.then(|| vec![n; 50]), "{n}");
        }
    }

    #[test]
    fn bytes_longer_than_the_limit_are_kept_alone() {
        let mut ring = Ring::new(100);
        let small = ring.append(b"small").expect("room");
        let large = ring.append(&[7; 500]).expect("room");
        assert_eq!((read(&ring, small), read(&ring, large)), (None, Some(vec![7; 500])));
        let after = ring.append(b"after").expect("room");
        assert_eq!((read(&ring, large), read(&ring, after)), (None, Some(b"after".to_vec())));
    }

    #[test]
    fn a_piece_outlives_its_file_in_the_ring() {
        let mut ring = Ring::new(80);
        let place = ring.append(b"kept").expect("room");
        let piece = ring.piece(place).expect("it is there");
        for _ in 0..20 {
            ring.append(&[0; 50]).expect("room");
        }
        assert!(!ring.holds(place));
        assert_eq!(piece.read().expect("its file is open"), b"kept");
    }
}

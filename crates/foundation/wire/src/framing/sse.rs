//! Server-sent events (WHATWG HTML, "Server-sent events"), lossless: [`Blocks`] cuts a stream into blocks and gives every
//! byte back, [`Block`] keeps every field as it stood. What a block's data says is not known here.

use memchr::memchr2;

use super::Piece;
use super::buffer::Buffer;

const BOM: &str = "\u{feff}";

/// No limit is smaller: a blank line with a byte order mark before it must fit, or cutting it would hide what it is.
const SHORTEST: usize = BOM.len() + 2;

/// Splits an event stream into blocks: lines up to and including a blank one. The bytes of all blocks and of the rest, one
/// after the other, are the stream.
///
/// Lines end with LF, CR or CRLF. Where the blank line ends with a CR, an LF that follows is awaited and belongs to it,
/// unless the line before ended with a lone CR: such a stream does not write CRLF, and waiting would hold its last event
/// back. An LF that follows anyway is a blank line of its own, which means nothing to a reader.
#[derive(Clone, Debug)]
pub struct Blocks {
    limit: usize,
    buffer: Buffer,
    /// How much of what waits is read.
    scanned: usize,
    /// How much of the current line is read.
    line: usize,
    /// Whether the line before, in the same block, ended with a lone CR.
    after_lone_cr: bool,
    /// On the stream's first line, which a byte order mark may precede.
    first_line: bool,
    /// Inside a block that was reported as too long.
    skipping: bool,
}

impl Blocks {
    /// Blocks of up to `limit` bytes, their blank line counted; at least five.
    pub const fn new(limit: usize) -> Self {
        Self {
            limit: if limit < SHORTEST { SHORTEST } else { limit },
            buffer: Buffer::new(),
            scanned: 0,
            line: 0,
            after_lone_cr: false,
            first_line: true,
            skipping: false,
        }
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.push(bytes);
    }

    /// What has come of the block whose end is awaited.
    pub fn waiting(&self) -> &[u8] {
        self.buffer.waiting()
    }

    /// The next block with its blank line: [`Piece::Whole`] or, once for each that exceeds the limit, [`Piece::TooLong`].
    /// `None` where more bytes are needed.
    pub fn next_block(&mut self) -> Option<Piece<'_>> {
        loop {
            let end = self.scan();
            let count = std::mem::take(&mut self.scanned);
            match (self.skipping, end) {
                (true, true) => {
                    self.buffer.take(count);
                    self.skipping = false;
                }
                (true, false) => {
                    self.buffer.take(count);
                    return None;
                }
                (false, true) => return Some(self.whole(count)),
                (false, false) if self.buffer.waiting().len() > self.limit => {
                    self.skipping = true;
                    return Some(Piece::TooLong(&self.buffer.take(count.max(self.limit))[..self.limit]));
                }
                (false, false) => {
                    self.scanned = count;
                    return None;
                }
            }
        }
    }

    fn whole(&mut self, count: usize) -> Piece<'_> {
        let limit = self.limit;
        let block = self.buffer.take(count);
        if count > limit { Piece::TooLong(&block[..limit]) } else { Piece::Whole(block) }
    }

    /// Reads on to the end of the block; whether it is there.
    fn scan(&mut self) -> bool {
        let waiting = self.buffer.waiting();
        while let Some(found) = memchr2(b'\n', b'\r', &waiting[self.scanned..]) {
            let end = self.scanned + found;
            self.line += found;
            self.scanned = end;
            let blank = self.line == 0 || self.only_bom(waiting);
            let (taken, lone_cr) = match (waiting[end], waiting.get(end + 1)) {
                (b'\n', _) => (1, false),
                (_, _) if blank && self.after_lone_cr => (1, true),
                (_, Some(b'\n')) => (2, false),
                (_, Some(_)) => (1, true),
                (_, None) => return false,
            };
            self.scanned += taken;
            self.line = 0;
            self.first_line = false;
            self.after_lone_cr = lone_cr && !blank;
            if blank {
                return true;
            }
        }
        self.line += waiting.len() - self.scanned;
        self.scanned = waiting.len();
        false
    }

    /// Whether the current line is the stream's first and nothing but a byte order mark.
    fn only_bom(&self, waiting: &[u8]) -> bool {
        self.first_line && self.line == BOM.len() && waiting.starts_with(BOM.as_bytes())
    }

    /// The stream ended: the block it ended in the middle of, if any, which a reader must drop. [`Piece::Whole`] where only
    /// the LF of its last CR was awaited. To be called when [`Blocks::next_block`] has no more.
    pub fn finish(&mut self) -> Option<Piece<'_>> {
        let waiting = self.buffer.waiting();
        let count = waiting.len();
        let ended = waiting[self.scanned..] == *b"\r" && (self.line == 0 || self.only_bom(waiting));
        let skipping = self.skipping;
        *self = Self { buffer: std::mem::replace(&mut self.buffer, Buffer::new()), ..Self::new(self.limit) };
        let bytes = self.buffer.take(count);
        if skipping || count == 0 {
            return None;
        }
        Some(if ended { Piece::Whole(bytes) } else { Piece::Rest(bytes) })
    }
}

/// Finds the end of one block in pieces of a stream, from the block's first byte on, and keeps none of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventEnd {
    /// The current line has bytes.
    line: bool,
    /// The last byte was a CR, and ended a line.
    after_cr: bool,
}

impl EventEnd {
    /// Where in `piece` the block ends: after its blank line. An LF that follows a blank line's CR is not awaited.
    pub fn find(&mut self, piece: &[u8]) -> Option<usize> {
        let mut at = usize::from(self.after_cr && piece.first() == Some(&b'\n'));
        self.after_cr &= piece.is_empty();
        while let Some(found) = memchr2(b'\n', b'\r', &piece[at..]) {
            let end = at + found;
            if found == 0 && !self.line {
                return Some(end + 1);
            }
            self.line = false;
            at = end + 1;
            if piece[end] == b'\r' {
                match piece.get(at) {
                    Some(b'\n') => at += 1,
                    Some(_) => {}
                    None => self.after_cr = true,
                }
            }
        }
        self.line |= at < piece.len();
        None
    }
}

/// The beginning of the data of a block whose end has not come, where a client will dispatch it as a `message` event.
/// Known from the lines before it; a line that says anything else, or nothing yet, gives `None`.
pub fn open_data(block: &[u8]) -> Option<&[u8]> {
    let mut rest = block;
    loop {
        if let Some(data) = rest.strip_prefix(b"data:") {
            let data = data.strip_prefix(b" ").unwrap_or(data);
            return Some(memchr2(b'\n', b'\r', data).map_or(data, |end| &data[..end]));
        }
        let end = memchr2(b'\n', b'\r', rest)?;
        let line = &rest[..end];
        let known =
            line.starts_with(b"id:") || line.starts_with(b":") || matches!(line, b"event: message" | b"event:message");
        if !known {
            return None;
        }
        let line_end = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = &rest[end + line_end..];
    }
}

/// One block of an event stream: the lines up to and including a blank one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Whether a byte order mark precedes it. A reader drops that only at the start of the stream; anywhere else it spoils
    /// the first field's name. The fields below are read as if it stood at the start.
    pub bom: bool,
    /// `id`, last one wins; `Some("")` for an empty field. One that holds a NUL is not an id.
    pub id: Option<String>,
    /// `event`, last one wins.
    pub event: Option<String>,
    /// `retry` as written, last one wins. [`Block::retry_ms`] is what a reader makes of it.
    pub retry: Option<String>,
    /// `data` lines joined by line feeds; `None` where there was no such field.
    pub data: Option<String>,
    /// Comment lines without their colon; the first [`MOST_COMMENTS`].
    pub comments: Vec<String>,
}

/// How many comments of a block are kept: as texts, millions of empty ones would need many times the block's bytes.
pub const MOST_COMMENTS: usize = 1_000;

impl Block {
    /// Reads the fields of one block. Invalid UTF-8 becomes U+FFFD, as the standard decodes it.
    pub fn parse(block: &[u8]) -> Self {
        let text = String::from_utf8_lossy(block);
        let rest = text.strip_prefix(BOM);
        let mut fields = Self { bom: rest.is_some(), ..Self::default() };
        for line in lines(rest.unwrap_or(&text)) {
            match line.split_once(':') {
                Some(("", comment)) if fields.comments.len() < MOST_COMMENTS => {
                    fields.comments.push(comment.to_owned());
                }
                Some(("", _)) => {}
                Some((name, value)) => fields.field(name, value.strip_prefix(' ').unwrap_or(value)),
                None => fields.field(line, ""),
            }
        }
        fields
    }

    fn field(&mut self, name: &str, value: &str) {
        match name {
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            "event" => self.event = Some(value.to_owned()),
            "retry" => self.retry = Some(value.to_owned()),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            _ => {}
        }
    }

    /// Whether a client dispatches this block as a `message` event (or would, had it data).
    pub fn is_message(&self) -> bool {
        matches!(self.event.as_deref(), None | Some("" | "message"))
    }

    /// The reconnection time in milliseconds: digits and nothing else make one.
    pub fn retry_ms(&self) -> Option<u64> {
        let digits = self.retry.as_deref()?;
        digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
    }

    /// The block as text: one `data` line per line of data, ended by a blank line. No value can add a field or end the
    /// block: line ends within data and comments make further lines of their kind, elsewhere they are left out, as is a
    /// NUL within an id.
    pub fn render(&self) -> String {
        let mut out = String::from(if self.bom { BOM } else { "" });
        for comment in self.comments.iter().flat_map(|comment| lines(comment)) {
            out.push(':');
            out.push_str(comment);
            out.push('\n');
        }
        let mut field = |name: &str, value: &str| {
            out.push_str(name);
            out.push_str(": ");
            out.extend(value.chars().filter(|c| !matches!(c, '\n' | '\r')));
            out.push('\n');
        };
        if let Some(id) = &self.id {
            field("id", &id.replace('\0', ""));
        }
        if let Some(event) = &self.event {
            field("event", event);
        }
        if let Some(retry) = &self.retry {
            field("retry", retry);
        }
        for line in self.data.iter().flat_map(|data| lines(data)) {
            field("data", line);
        }
        out.push('\n');
        out
    }
}

/// The lines of `text` by any of the three line ends; one more than there are line ends.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = memchr2(b'\n', b'\r', text.as_bytes()) else { return rest.take() };
        let (line, after) = (&text[..end], &text[end..]);
        rest = after.strip_prefix("\r\n").or_else(|| after.get(1..));
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(stream: &[u8]) -> (Vec<Vec<u8>>, Option<Vec<u8>>) {
        let mut blocks = Blocks::new(1000);
        blocks.push(stream);
        let mut out = Vec::new();
        while let Some(piece) = blocks.next_block() {
            out.push(piece.bytes().to_vec());
        }
        (out, blocks.finish().map(|p| p.bytes().to_vec()))
    }

    fn blocks(stream: &str) -> Vec<String> {
        let (blocks, rest) = split(stream.as_bytes());
        assert_eq!(rest, None, "{stream:?}");
        blocks.into_iter().map(|b| String::from_utf8(b).unwrap()).collect()
    }

    #[test]
    fn every_line_end_ends_a_block() {
        assert_eq!(blocks("a\n\nb\n\n"), ["a\n\n", "b\n\n"]);
        assert_eq!(blocks("a\r\rb\r\r"), ["a\r\r", "b\r\r"]);
        assert_eq!(blocks("a\r\n\r\nb\r\n\n"), ["a\r\n\r\n", "b\r\n\n"]);
        assert_eq!(blocks("a\n\r\nb\n\r\n\n"), ["a\n\r\n", "b\n\r\n", "\n"]);
        assert_eq!(blocks("\n\n\r\n"), ["\n", "\n", "\r\n"]);
        assert_eq!(blocks("\u{feff}\na\n\n"), ["\u{feff}\n", "a\n\n"]);
    }

    #[test]
    fn an_event_that_ends_in_lone_crs_is_not_held_back() {
        let mut blocks = Blocks::new(100);
        blocks.push(b"data: x\r\r");
        assert_eq!(blocks.next_block(), Some(Piece::Whole(b"data: x\r\r")));
        blocks.push(b"data: x\r\n\r");
        assert_eq!(blocks.next_block(), None, "an LF may follow");
        assert_eq!(blocks.finish(), Some(Piece::Whole(b"data: x\r\n\r")));
    }

    #[test]
    fn an_overlong_block_is_reported_once() {
        let mut blocks = Blocks::new(5);
        blocks.push(b"data: x\r\n");
        assert_eq!(blocks.next_block(), Some(Piece::TooLong(b"data:")));
        blocks.push(b"data: y\r\n\r");
        assert_eq!(blocks.next_block(), None);
        blocks.push(b"\nd\n\nabc\n\n\n\n");
        assert_eq!(blocks.next_block(), Some(Piece::Whole(b"d\n\n")));
        assert_eq!(blocks.next_block(), Some(Piece::Whole(b"abc\n\n")), "exactly the limit");
        assert_eq!(blocks.next_block(), Some(Piece::Whole(b"\n")));
    }

    #[test]
    fn an_unfinished_block_is_the_rest() {
        let (_, rest) = split(b"data: x\n\ndata: y\n");
        assert_eq!(rest.as_deref(), Some(&b"data: y\n"[..]));
    }

    #[test]
    fn fields_are_read_by_the_standard() {
        let block =
            Block::parse(b"\xef\xbb\xbfdata\r\ndata:  two\rid:1\nid: a\0b\nretry: 1x\nevent\n: c\n:d\nData: no\n\n");
        let expected = Block {
            bom: true,
            id: Some("1".to_owned()),
            event: Some(String::new()),
            retry: Some("1x".to_owned()),
            data: Some("\n two".to_owned()),
            comments: vec![" c".to_owned(), "d".to_owned()],
        };
        assert_eq!(block, expected);
        assert!(block.is_message());
        assert_eq!(block.retry_ms(), None);
        assert_eq!(Block::parse(b"retry: 0150\n\n").retry_ms(), Some(150));
        assert_eq!(Block::parse(b"retry:\n\n").retry_ms(), None);
    }

    #[test]
    fn no_value_can_smuggle_a_field() {
        let block = Block {
            id: Some("1\ndata: evil\0".to_owned()),
            event: Some("a\r\rb".to_owned()),
            data: Some("one\r\nid: two\rthree\n".to_owned()),
            comments: vec!["x\n\ndata: y".to_owned()],
            ..Block::default()
        };
        let text = block.render();
        let expected = ":x\n:\n:data: y\nid: 1data: evil\nevent: ab\ndata: one\ndata: id: two\ndata: three\ndata: \n\n";
        assert_eq!(text, expected);
    }
}

//! Where an index is kept: bytes that grow at their end, lists of places in them, and tables that lead from a digest to a
//! list. A small one is in memory; one that grows goes to a file without a name, so that memory does not grow with it.
//! It knows nothing of recordings.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use super::key::Key;

/// How many bytes are kept in memory.
const MEMORY: usize = 1 << 20;
/// How many chains a table has, of 8 bytes each: of a million digests, four share one.
const CHAINS: usize = 1 << 18;

/// Bytes that grow at their end: the newest in memory, the others in a file.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Where there are more than [`MEMORY`].
    file: Option<File>,
    /// How many are in the file.
    written: u64,
    /// Those that come after them.
    newest: Vec<u8>,
}

impl Ledger {
    /// Adds bytes; gives where they begin, which is never 0.
    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let at = self.room(bytes.len() as u64)?;
        self.write(bytes, at)?;
        Ok(at)
    }

    /// Adds zeros; gives where they begin. All of them are in memory, or all in the file.
    fn room(&mut self, bytes: u64) -> io::Result<u64> {
        if self.written == 0 && self.newest.is_empty() {
            // Place 0 means nowhere.
            self.newest.push(0);
        }
        let long = self.newest.len() as u64 + bytes > MEMORY as u64;
        if long {
            let file = match self.file.take() {
                Some(file) => file,
                None => tempfile::tempfile()?,
            };
            file.write_all_at(&self.newest, self.written)?;
            self.written += self.newest.len() as u64;
            self.newest.clear();
            let file = self.file.insert(file);
            if bytes > MEMORY as u64 {
                let at = self.written;
                self.written += bytes;
                file.set_len(self.written)?;
                return Ok(at);
            }
        }
        let at = self.written + self.newest.len() as u64;
        let room = usize::try_from(bytes).map_err(io::Error::other)?;
        self.newest.resize(self.newest.len() + room, 0);
        Ok(at)
    }

    pub(super) fn read<const N: usize>(&self, at: u64) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        match (at.checked_sub(self.written), &self.file) {
            (None, Some(file)) => file.read_exact_at(&mut bytes, at)?,
            (Some(at), _) => bytes.copy_from_slice(self.newest.get(within(at, N)?).ok_or(NOT_THERE)?),
            (None, None) => return Err(NOT_THERE.into()),
        }
        Ok(bytes)
    }

    fn read_number(&self, at: u64) -> io::Result<u64> {
        self.read(at).map(u64::from_le_bytes)
    }

    /// Writes over bytes that are there.
    fn write(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
        match (at.checked_sub(self.written), &self.file) {
            (None, Some(file)) => file.write_all_at(bytes, at),
            (Some(at), _) => {
                self.newest.get_mut(within(at, bytes.len())?).ok_or(NOT_THERE)?.copy_from_slice(bytes);
                Ok(())
            }
            (None, None) => Err(NOT_THERE.into()),
        }
    }
}

const NOT_THERE: io::ErrorKind = io::ErrorKind::UnexpectedEof;

fn within(at: u64, length: usize) -> io::Result<std::ops::Range<usize>> {
    let at = usize::try_from(at).map_err(io::Error::other)?;
    Ok(at..at + length)
}

/// A list of numbers in a ledger. They stand in blocks, each twice as large as the one before, the newest of which is known;
/// a block begins with where the one before it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct List {
    length: u64,
    newest: u64,
}

/// How many bytes a [`List`] takes.
const LIST: usize = 16;

impl List {
    pub(super) const fn len(self) -> u64 {
        self.length
    }

    pub(super) const fn is_empty(self) -> bool {
        self.length == 0
    }

    /// Adds a number at the end.
    pub(super) fn push(&mut self, ledger: &mut Ledger, number: u64) -> io::Result<()> {
        let (block, slot) = place(self.length);
        if slot == 0 {
            let at = ledger.room(8 + (8 << block))?;
            ledger.write(&self.newest.to_le_bytes(), at)?;
            self.newest = at;
        }
        ledger.write(&number.to_le_bytes(), self.newest + 8 + 8 * slot)?;
        self.length += 1;
        Ok(())
    }

    /// The number at `index`.
    pub(super) fn at(self, ledger: &Ledger, index: u64) -> io::Result<Option<u64>> {
        let Some(last) = self.length.checked_sub(1).filter(|last| index <= *last) else { return Ok(None) };
        let (block, slot) = place(index);
        let mut from = self.newest;
        for _ in block..place(last).0 {
            from = ledger.read_number(from)?;
        }
        ledger.read_number(from + 8 + 8 * slot).map(Some)
    }

    /// All of them, the first one first.
    pub(super) fn iter(self, ledger: &Ledger) -> impl Iterator<Item = io::Result<u64>> + '_ {
        (0..self.length).filter_map(move |index| self.at(ledger, index).transpose())
    }

    pub(super) fn to_bytes(self) -> [u8; LIST] {
        let mut bytes = [0; LIST];
        bytes[..8].copy_from_slice(&self.length.to_le_bytes());
        bytes[8..].copy_from_slice(&self.newest.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: [u8; LIST]) -> Self {
        let half = |from: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[from + byte]));
        Self { length: half(0), newest: half(8) }
    }
}

/// Which block an item is in, and where in it.
const fn place(index: u64) -> (u32, u64) {
    let block = (index + 1).ilog2();
    (block, index + 1 - (1 << block))
}

/// From a digest to a list. Digests with the same beginning are chained: each knows the one that came before it.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Where each chain begins. Empty until there is a digest.
    chains: Vec<u64>,
}

/// What stands for a digest in a ledger: where the next of its chain is, itself, and its list.
const NODE: usize = 8 + size_of::<Key>() + LIST;
const LIST_IN_NODE: u64 = (NODE - LIST) as u64;

impl Table {
    /// The list of `key`.
    pub(super) fn list(&self, ledger: &Ledger, key: &Key) -> io::Result<List> {
        Ok(self.node(ledger, key)?.map(|(_, list)| list).unwrap_or_default())
    }

    /// Adds a number to the list of `key`; gives whether it is the first one there.
    pub(super) fn push(&mut self, ledger: &mut Ledger, key: &Key, number: u64) -> io::Result<bool> {
        if let Some((at, mut list)) = self.node(ledger, key)? {
            list.push(ledger, number)?;
            ledger.write(&list.to_bytes(), at + LIST_IN_NODE)?;
            return Ok(false);
        }
        let mut list = List::default();
        list.push(ledger, number)?;
        if self.chains.is_empty() {
            self.chains = vec![0; CHAINS];
        }
        let chain = &mut self.chains[chain(key)];
        let mut node = [0; NODE];
        node[..8].copy_from_slice(&chain.to_le_bytes());
        node[8..NODE - LIST].copy_from_slice(key);
        node[NODE - LIST..].copy_from_slice(&list.to_bytes());
        *chain = ledger.append(&node)?;
        Ok(true)
    }

    /// Where `key` stands, and its list.
    fn node(&self, ledger: &Ledger, key: &Key) -> io::Result<Option<(u64, List)>> {
        let mut at = self.chains.get(chain(key)).copied().unwrap_or_default();
        while at != 0 {
            let node: [u8; NODE] = ledger.read(at)?;
            let (next, rest) = node.split_first_chunk().ok_or(io::ErrorKind::InvalidData)?;
            let (known, list) = rest.split_at(size_of::<Key>());
            if known == key {
                let list = list.try_into().map_err(io::Error::other)?;
                return Ok(Some((at, List::from_bytes(list))));
            }
            at = u64::from_le_bytes(*next);
        }
        Ok(None)
    }
}

fn chain(key: &Key) -> usize {
    let [a, b, c, ..] = *key;
    usize::from_le_bytes([a, b, c, 0, 0, 0, 0, 0]) % CHAINS
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::key::digest;

    #[test]
    fn lists_are_what_was_put_into_them_in_memory_and_in_a_file() {
        let (mut ledger, mut table) = (Ledger::default(), Table::default());
        let mut expected: HashMap<Key, Vec<u64>> = HashMap::new();
        for number in 1..150_000_u64 {
            // One of them gets most: its blocks become large.
            let key = digest(&if number % 3 == 0 { number.into() } else { 0.into() });
            let known = expected.entry(key).or_default();
            assert_eq!(table.push(&mut ledger, &key, number).unwrap(), known.is_empty());
            known.push(number);
        }
        assert!(ledger.written > MEMORY as u64, "part of it is in a file");
        for (key, numbers) in &expected {
            let list = table.list(&ledger, key).unwrap();
            assert_eq!(list.iter(&ledger).collect::<io::Result<Vec<u64>>>().unwrap(), *numbers);
            assert_eq!(list.at(&ledger, list.len()).unwrap(), None);
        }
        assert!(table.list(&ledger, &digest(&"none".into())).unwrap().is_empty());
    }

    #[test]
    fn digests_of_one_chain_are_told_apart() {
        let (mut ledger, mut table) = (Ledger::default(), Table::default());
        let keys: Vec<Key> = (0..9).map(|last| std::array::from_fn(|at| if at == 31 { last } else { 7 })).collect();
        for (number, key) in (1..).zip(&keys) {
            assert!(table.push(&mut ledger, key, number).unwrap());
        }
        for (number, key) in (1..).zip(&keys) {
            assert_eq!(table.list(&ledger, key).unwrap().at(&ledger, 0).unwrap(), Some(number));
        }
    }
}

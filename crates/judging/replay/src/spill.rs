//! An append-only store for an index: bytes, lists of offsets, and tables from a digest to a list. A small store stays in
//! memory; a growing one spills to an unnamed temporary file. Must not know about recordings.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use super::request_key::Key;

/// How many bytes stay in memory.
const MEMORY: usize = 1 << 20;
/// How many chains a table has, of 8 bytes each: with a million digests, four share one.
const CHAINS: usize = 1 << 18;

/// Append-only bytes: the newest in memory, the others in a file.
#[derive(Debug, Default)]
pub(super) struct SpillStore {
    /// Present once there were more than [`MEMORY`] bytes.
    file: Option<File>,
    /// How many bytes are in the file.
    written: u64,
    /// The bytes after those in the file.
    newest: Vec<u8>,
}

impl SpillStore {
    /// Appends bytes; returns their offset, which is never 0.
    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let at = self.reserve(bytes.len() as u64)?;
        self.write(bytes, at)?;
        Ok(at)
    }

    /// Appends zeros; returns their offset. All of them are in memory, or all in the file.
    fn reserve(&mut self, bytes: u64) -> io::Result<u64> {
        if self.written == 0 && self.newest.is_empty() {
            // Offset 0 stands for an absent item.
            self.newest.push(0);
        }
        let spill = self.newest.len() as u64 + bytes > MEMORY as u64;
        if spill {
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
        let added = usize::try_from(bytes).map_err(io::Error::other)?;
        self.newest.resize(self.newest.len() + added, 0);
        Ok(at)
    }

    pub(super) fn read<const N: usize>(&self, at: u64) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        match (at.checked_sub(self.written), &self.file) {
            (None, Some(file)) => file.read_exact_at(&mut bytes, at)?,
            (Some(at), _) => bytes.copy_from_slice(self.newest.get(within(at, N)?).ok_or(OUT_OF_BOUNDS)?),
            (None, None) => return Err(OUT_OF_BOUNDS.into()),
        }
        Ok(bytes)
    }

    fn read_number(&self, at: u64) -> io::Result<u64> {
        self.read(at).map(u64::from_le_bytes)
    }

    /// Overwrites existing bytes.
    fn write(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
        match (at.checked_sub(self.written), &self.file) {
            (None, Some(file)) => file.write_all_at(bytes, at),
            (Some(at), _) => {
                self.newest.get_mut(within(at, bytes.len())?).ok_or(OUT_OF_BOUNDS)?.copy_from_slice(bytes);
                Ok(())
            }
            (None, None) => Err(OUT_OF_BOUNDS.into()),
        }
    }
}

/// The error for an offset beyond the end.
const OUT_OF_BOUNDS: io::ErrorKind = io::ErrorKind::UnexpectedEof;

fn within(at: u64, length: usize) -> io::Result<std::ops::Range<usize>> {
    let at = usize::try_from(at).map_err(io::Error::other)?;
    Ok(at..at + length)
}

/// A list of numbers in a store, in blocks: each is twice as large as the previous one and starts with that one's offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct List {
    length: u64,
    /// The offset of the newest block.
    newest: u64,
}

/// Size of a [`List`] in the store, in bytes.
const LIST_BYTES: usize = 16;

impl List {
    pub(super) const fn len(self) -> u64 {
        self.length
    }

    pub(super) const fn is_empty(self) -> bool {
        self.length == 0
    }

    /// Appends a number.
    pub(super) fn push(&mut self, store: &mut SpillStore, number: u64) -> io::Result<()> {
        let (block, slot) = block_and_slot(self.length);
        if slot == 0 {
            let at = store.reserve(8 + (8 << block))?;
            store.write(&self.newest.to_le_bytes(), at)?;
            self.newest = at;
        }
        store.write(&number.to_le_bytes(), self.newest + 8 + 8 * slot)?;
        self.length += 1;
        Ok(())
    }

    /// The number at `index`.
    pub(super) fn at(self, store: &SpillStore, index: u64) -> io::Result<Option<u64>> {
        let Some(last) = self.length.checked_sub(1).filter(|last| index <= *last) else { return Ok(None) };
        let (block, slot) = block_and_slot(index);
        let mut from = self.newest;
        for _ in block..block_and_slot(last).0 {
            from = store.read_number(from)?;
        }
        store.read_number(from + 8 + 8 * slot).map(Some)
    }

    /// All numbers, in order.
    pub(super) fn iter(self, store: &SpillStore) -> impl Iterator<Item = io::Result<u64>> + '_ {
        (0..self.length).filter_map(move |index| self.at(store, index).transpose())
    }

    pub(super) fn to_bytes(self) -> [u8; LIST_BYTES] {
        let mut bytes = [0; LIST_BYTES];
        bytes[..8].copy_from_slice(&self.length.to_le_bytes());
        bytes[8..].copy_from_slice(&self.newest.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: [u8; LIST_BYTES]) -> Self {
        let half = |from: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[from + byte]));
        Self { length: half(0), newest: half(8) }
    }
}

/// The block of an item, and its index in that block.
const fn block_and_slot(index: u64) -> (u32, u64) {
    let block = (index + 1).ilog2();
    (block, index + 1 - (1 << block))
}

/// A hash table from a digest to a list. Digests with the same start form a chain, newest first.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The offset of each chain's first node. Empty until a digest is added.
    chains: Vec<u64>,
}

/// Size of a node in the store, in bytes: the offset of the next node, the digest, the list.
const NODE_BYTES: usize = 8 + size_of::<Key>() + LIST_BYTES;
const LIST_OFFSET: u64 = (NODE_BYTES - LIST_BYTES) as u64;

impl Table {
    /// The list of `key`.
    pub(super) fn list(&self, store: &SpillStore, key: &Key) -> io::Result<List> {
        Ok(self.node(store, key)?.map(|(_, list)| list).unwrap_or_default())
    }

    /// Appends a number to the list of `key`; returns whether it is the first one.
    pub(super) fn push(&mut self, store: &mut SpillStore, key: &Key, number: u64) -> io::Result<bool> {
        if let Some((at, mut list)) = self.node(store, key)? {
            list.push(store, number)?;
            store.write(&list.to_bytes(), at + LIST_OFFSET)?;
            return Ok(false);
        }
        let mut list = List::default();
        list.push(store, number)?;
        if self.chains.is_empty() {
            self.chains = vec![0; CHAINS];
        }
        let chain = &mut self.chains[chain(key)];
        let mut node = [0; NODE_BYTES];
        node[..8].copy_from_slice(&chain.to_le_bytes());
        node[8..NODE_BYTES - LIST_BYTES].copy_from_slice(key);
        node[NODE_BYTES - LIST_BYTES..].copy_from_slice(&list.to_bytes());
        *chain = store.append(&node)?;
        Ok(true)
    }

    /// The offset of the node of `key`, and its list.
    fn node(&self, store: &SpillStore, key: &Key) -> io::Result<Option<(u64, List)>> {
        let mut at = self.chains.get(chain(key)).copied().unwrap_or_default();
        while at != 0 {
            let node: [u8; NODE_BYTES] = store.read(at)?;
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
    use crate::request_key::digest;

    #[test]
    fn lists_survive_the_spill_to_a_file() {
        let (mut store, mut table) = (SpillStore::default(), Table::default());
        let mut expected: HashMap<Key, Vec<u64>> = HashMap::new();
        for number in 1..150_000_u64 {
            // One list gets most numbers, so that its blocks become large.
            let key = digest(&if number % 3 == 0 { number.into() } else { 0.into() });
            let known = expected.entry(key).or_default();
            assert_eq!(table.push(&mut store, &key, number).unwrap(), known.is_empty());
            known.push(number);
        }
        assert!(store.written > MEMORY as u64, "part of it is in a file");
        for (key, numbers) in &expected {
            let list = table.list(&store, key).unwrap();
            assert_eq!(list.iter(&store).collect::<io::Result<Vec<u64>>>().unwrap(), *numbers);
            assert_eq!(list.at(&store, list.len()).unwrap(), None);
        }
        assert!(table.list(&store, &digest(&"none".into())).unwrap().is_empty());
    }

    #[test]
    fn digests_of_one_chain_have_separate_lists() {
        let (mut store, mut table) = (SpillStore::default(), Table::default());
        let keys: Vec<Key> = (0..9).map(|last| std::array::from_fn(|at| if at == 31 { last } else { 7 })).collect();
        for (number, key) in (1..).zip(&keys) {
            assert!(table.push(&mut store, key, number).unwrap());
        }
        for (number, key) in (1..).zip(&keys) {
            assert_eq!(table.list(&store, key).unwrap().at(&store, 0).unwrap(), Some(number));
        }
    }
}

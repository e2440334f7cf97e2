//! The bytes of main memory: one flat address space. Its pages are allocated when they are first
//! written.

use proto::{Addr, ByteMask, LINE_BYTES_MAX, LineAddr, LineData, copy_masked};

const PAGE_SHIFT: u32 = 16;
const PAGE_BYTES: usize = 1 << PAGE_SHIFT;
/// The number of pages that are found by an index instead of a search. These pages have the lowest
/// addresses and hold the arrays of most programs.
const DENSE_PAGES: usize = 1 << 16;

type Page = Box<[u8; PAGE_BYTES]>;

/// A memory in which every byte is zero until it is written.
#[derive(Debug, Default)]
pub struct Memory {
    dense: Vec<Option<Page>>,
    sparse: std::collections::BTreeMap<u64, Page>,
    line_shift: u32,
}

impl Memory {
    /// A memory with all bytes zero, and with lines of `line_bytes`, a power of two.
    #[must_use]
    pub fn new(line_bytes: usize) -> Memory {
        debug_assert!(line_bytes.is_power_of_two() && line_bytes <= LINE_BYTES_MAX);
        Memory { line_shift: line_bytes.trailing_zeros(), ..Memory::default() }
    }

    /// The sum of the sizes of the pages that are allocated in the simulator, in bytes.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        (self.dense.iter().flatten().count() + self.sparse.len()) * PAGE_BYTES
    }

    #[inline]
    fn page(&self, number: u64) -> Option<&Page> {
        match self.dense.get(number as usize) {
            Some(page) => page.as_ref(),
            None => self.sparse.get(&number),
        }
    }

    #[inline]
    fn page_mut(&mut self, number: u64) -> &mut Page {
        let fresh = || -> Page { Box::new([0; PAGE_BYTES]) };
        if number < DENSE_PAGES as u64 {
            let index = number as usize;
            if index >= self.dense.len() {
                self.dense.resize_with(index + 1, || None);
            }
            return self.dense[index].get_or_insert_with(fresh);
        }
        self.sparse.entry(number).or_insert_with(fresh)
    }

    #[inline]
    fn place(&self, line: LineAddr) -> (u64, usize) {
        let address = line.0 << self.line_shift;
        (address >> PAGE_SHIFT, address as usize % PAGE_BYTES)
    }

    /// The bytes of a line, at the start of a larger buffer whose other bytes are zero.
    #[inline]
    #[must_use]
    pub fn read_line(&self, line: LineAddr) -> LineData {
        let mut data = LineData::default();
        let (number, offset) = self.place(line);
        if let Some(page) = self.page(number) {
            let bytes = 1 << self.line_shift;
            data.0[..bytes].copy_from_slice(&page[offset..offset + bytes]);
        }
        data
    }

    /// Writes the bytes of a line that `mask` selects. Returns true if a byte changed.
    #[inline]
    pub fn write_line(&mut self, line: LineAddr, mask: ByteMask, data: &LineData) -> bool {
        let (number, offset) = self.place(line);
        let bytes = 1 << self.line_shift;
        let place = &mut self.page_mut(number)[offset..offset + bytes];
        let mut before = LineData::default();
        before.0[..bytes].copy_from_slice(place);
        copy_masked(place, &data.0[..bytes], mask);
        before.0[..bytes] != *place
    }

    /// Reads bytes from an address, which need not be aligned.
    pub fn read(&self, from: Addr, to: &mut [u8]) {
        let mut at = from.0;
        let mut left = to;
        while !left.is_empty() {
            let offset = at as usize % PAGE_BYTES;
            let here = left.len().min(PAGE_BYTES - offset);
            let (part, rest) = left.split_at_mut(here);
            match self.page(at >> PAGE_SHIFT) {
                Some(page) => part.copy_from_slice(&page[offset..offset + here]),
                None => part.fill(0),
            }
            left = rest;
            at += here as u64;
        }
    }

    /// Writes bytes to an address, which need not be aligned.
    pub fn write(&mut self, to: Addr, from: &[u8]) {
        let mut at = to.0;
        let mut left = from;
        while !left.is_empty() {
            let offset = at as usize % PAGE_BYTES;
            let here = left.len().min(PAGE_BYTES - offset);
            self.page_mut(at >> PAGE_SHIFT)[offset..offset + here].copy_from_slice(&left[..here]);
            left = &left[here..];
            at += here as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn memory_is_allocated_only_where_it_was_written() {
        let mut memory = Memory::new(64);
        assert_eq!(memory.read_line(LineAddr(1 << 50)), LineData::default());
        assert_eq!(memory.allocated_bytes(), 0);
        memory.write(Addr(u64::MAX - 10), &[1, 2, 3]);
        memory.write(Addr(100), &[4]);
        assert_eq!(memory.allocated_bytes(), 2 * PAGE_BYTES);
        let mut back = [0; 3];
        memory.read(Addr(u64::MAX - 10), &mut back);
        assert_eq!(back, [1, 2, 3]);
    }

    #[test]
    fn a_line_write_reports_whether_a_byte_changed() {
        let mut memory = Memory::new(64);
        let data = LineData([7; LINE_BYTES_MAX]);
        assert!(memory.write_line(LineAddr(3), ByteMask::range(8, 4), &data));
        assert!(!memory.write_line(LineAddr(3), ByteMask::range(8, 4), &data));
        assert!(memory.write_line(LineAddr(3), ByteMask::range(8, 5), &data));
        assert_eq!(memory.read_line(LineAddr(3)), data.masked(ByteMask::range(8, 5)));
    }

    proptest! {
        #[test]
        fn bytes_read_back_as_written_across_pages(
            start in 0u64..200_000,
            bytes in prop::collection::vec(any::<u8>(), 1..70_000),
        ) {
            let mut memory = Memory::new(128);
            memory.write(Addr(start), &bytes);
            let mut back = vec![0; bytes.len()];
            memory.read(Addr(start), &mut back);
            prop_assert!(back == bytes);
            let line = LineAddr(start / 128);
            prop_assert_eq!(memory.read_line(line).0[start as usize % 128], bytes[0]);
        }
    }
}

//! One flat memory. It performs one operation at a time.

use proto::{Addr, Width};

use crate::op::{Action, Posted};

/// The bytes of the memory from address 0. Bytes that were never written are zero.
#[derive(Debug, Default)]
pub(super) struct FlatMemory(Vec<u8>);

impl FlatMemory {
    pub(super) fn zeros(bytes: usize) -> Self {
        FlatMemory(vec![0; bytes])
    }

    fn bytes(&mut self, at: Addr, count: usize) -> &mut [u8] {
        let at = at.0 as usize;
        if self.0.len() < at + count {
            self.0.resize((at + count).next_multiple_of(4096), 0);
        }
        &mut self.0[at..at + count]
    }

    fn read(&mut self, at: Addr, width: Width) -> u64 {
        let mut word = [0; 8];
        word[..width.bytes()].copy_from_slice(self.bytes(at, width.bytes()));
        u64::from_le_bytes(word)
    }

    /// Writes a word. Returns whether its value changed.
    fn write(&mut self, at: Addr, width: Width, bits: u64) -> bool {
        let to = self.bytes(at, width.bytes());
        let new = &bits.to_le_bytes()[..width.bytes()];
        let changed = to != new;
        to.copy_from_slice(new);
        changed
    }

    /// Performs an access of all active lanes, lowest lane first. Returns whether any byte changed.
    pub(super) fn perform(&mut self, op: &mut Posted) -> bool {
        let mut changed = false;
        for lane in op.exec.iter() {
            let (at, width) = (op.addr(lane), op.width);
            match op.action {
                Action::Load => op.set_value(lane, self.read(at, width)),
                Action::Store => changed |= self.write(at, width, op.value(lane)),
                _ => {
                    let Some(rmw) = op.rmw(lane) else { continue };
                    let old = self.read(at, width);
                    changed |= self.write(at, width, rmw.apply(old, op.value(lane)));
                    op.set_value(lane, old);
                }
            }
        }
        changed
    }

    pub(super) fn host_write(&mut self, op: &Posted) {
        self.bytes(op.base(), op.bulk.len()).copy_from_slice(&op.bulk);
    }

    pub(super) fn host_read(&mut self, op: &mut Posted) {
        let (base, count) = (op.base(), op.bulk.len());
        op.bulk.copy_from_slice(self.bytes(base, count));
    }
}

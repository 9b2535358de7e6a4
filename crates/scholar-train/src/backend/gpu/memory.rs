//! Numbers on a GPU.
#![expect(unsafe_code, reason = "kernels are told how many numbers a handle holds")]

use cubecl::prelude::*;
use cubecl::server::Handle;

/// Numbers on a GPU, with room for as many as there ever were.
pub(crate) struct Memory {
    handle: Handle,
    len: usize,
    room: usize,
}

impl Memory {
    /// `len` numbers behind `handle`.
    pub(super) fn new(handle: Handle, len: usize) -> Self {
        Self { handle, len, room: len }
    }

    /// How many numbers.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether there is room for `len`.
    pub(super) fn holds(&self, len: usize) -> bool {
        len <= self.room
    }

    /// Makes it `len` numbers, for which there is room.
    pub(super) fn resize(&mut self, len: usize) {
        assert!(self.holds(len));
        self.len = len;
    }

    pub(super) fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// What a kernel is given.
    pub(super) fn argument<R: Runtime>(&self) -> ArrayArg<R> {
        // SAFETY: the handle was made with room for as many f32, at least one.
        unsafe { ArrayArg::from_raw_parts(self.handle.clone(), self.room.max(1)) }
    }
}

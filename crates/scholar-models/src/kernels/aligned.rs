//! Buffers whose first element lies on a cache line.
#![expect(unsafe_code, reason = "views a buffer of cache lines as a slice of numbers")]

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

const LINE_BYTES: usize = 64;

#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u8; LINE_BYTES]);

/// A growable buffer of numbers, zero at first, aligned to 64 bytes.
pub(crate) struct Aligned<T> {
    lines: Vec<Line>,
    len: usize,
    of: PhantomData<T>,
}

/// Number types for which every bit pattern is valid.
pub(crate) trait Plain: Copy {}
impl Plain for f32 {}
impl Plain for u16 {}
impl Plain for u8 {}
impl Plain for i8 {}

impl<T> Default for Aligned<T> {
    fn default() -> Self {
        Self { lines: Vec::new(), len: 0, of: PhantomData }
    }
}

impl<T> Aligned<T> {
    /// Grows to at least `len` elements; what was there stays, what is new is zero.
    pub(crate) fn need(&mut self, len: usize) {
        let lines = (len * size_of::<T>()).div_ceil(LINE_BYTES);
        if self.lines.len() < lines {
            self.lines.resize(lines, Line([0; LINE_BYTES]));
        }
        self.len = self.len.max(len);
    }
}

impl<T: Plain> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `lines` spans at least `len` elements of T (`need` is the only writer of both), is aligned to 64 bytes,
        // initialised, and every bit pattern is a value of a `Plain` type.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl<T: Plain> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

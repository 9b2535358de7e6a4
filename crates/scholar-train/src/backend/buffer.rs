//! Where numbers lie.

/// Numbers that a [`super::Backend`] computes with, wherever it keeps them. A fresh one is empty and belongs to nobody yet.
pub(crate) enum Buffer {
    /// In the memory of the machine.
    Host(Vec<f32>),
    /// On a GPU.
    #[cfg(feature = "gpu")]
    Gpu(super::gpu::Memory),
}

impl Default for Buffer {
    fn default() -> Self {
        Self::Host(Vec::new())
    }
}

impl From<Vec<f32>> for Buffer {
    fn from(values: Vec<f32>) -> Self {
        Self::Host(values)
    }
}

impl Buffer {
    /// How many numbers.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Host(values) => values.len(),
            #[cfg(feature = "gpu")]
            Self::Gpu(memory) => memory.len(),
        }
    }

    /// The numbers in the memory of the machine.
    ///
    /// # Panics
    /// When they lie elsewhere: a device is given what it or nobody made.
    pub(crate) fn host(&self) -> &[f32] {
        match self {
            Self::Host(values) => values,
            #[cfg(feature = "gpu")]
            Self::Gpu(_) => unreachable!("a GPU buffer was given to the CPU backend"),
        }
    }

    /// The same, to change.
    ///
    /// # Panics
    /// As [`Buffer::host`].
    pub(crate) fn host_mut(&mut self) -> &mut Vec<f32> {
        match self {
            Self::Host(values) => values,
            #[cfg(feature = "gpu")]
            Self::Gpu(_) => unreachable!("a GPU buffer was given to the CPU backend"),
        }
    }
}

#[cfg(feature = "gpu")]
impl Buffer {
    /// The numbers on the GPU.
    ///
    /// # Panics
    /// When they lie elsewhere: a device is given what it or nobody made.
    pub(super) fn gpu(&self) -> &super::gpu::Memory {
        match self {
            Self::Gpu(memory) => memory,
            Self::Host(_) => unreachable!("a CPU buffer was given to a GPU backend"),
        }
    }
}

//! Where numbers lie.

/// Numbers that a [`super::Device`] computes with, wherever it keeps them. A fresh one is empty and belongs to nobody yet.
pub(crate) enum Buffer {
    /// In the memory of the machine.
    Host(Vec<f32>),
    /// On a graphics card.
    #[cfg(feature = "graphics")]
    Card(super::graphics::Memory),
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
            #[cfg(feature = "graphics")]
            Self::Card(memory) => memory.len(),
        }
    }

    /// The numbers in the memory of the machine.
    ///
    /// # Panics
    /// When they lie elsewhere: a device is given what it or nobody made.
    pub(crate) fn host(&self) -> &[f32] {
        match self {
            Self::Host(values) => values,
            #[cfg(feature = "graphics")]
            Self::Card(_) => unreachable!("numbers of a graphics card were given to the processor"),
        }
    }

    /// The same, to change.
    ///
    /// # Panics
    /// As [`Buffer::host`].
    pub(crate) fn host_mut(&mut self) -> &mut Vec<f32> {
        match self {
            Self::Host(values) => values,
            #[cfg(feature = "graphics")]
            Self::Card(_) => unreachable!("numbers of a graphics card were given to the processor"),
        }
    }
}

#[cfg(feature = "graphics")]
impl Buffer {
    /// The numbers on the card.
    ///
    /// # Panics
    /// When they lie elsewhere: a device is given what it or nobody made.
    pub(super) fn card(&self) -> &super::graphics::Memory {
        match self {
            Self::Card(memory) => memory,
            Self::Host(_) => unreachable!("numbers of the processor were given to a graphics card"),
        }
    }
}

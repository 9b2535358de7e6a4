//! The devices a training can run on.

use serde::{Deserialize, Serialize};

use super::{Backend, CpuBackend, Precision, Threads};
use crate::error::TrainError;

/// What computes a training, by the name it has in settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// The CPU.
    #[default]
    Cpu,
    /// A GPU through CUDA.
    Cuda,
    /// A GPU through Vulkan, Metal or `DirectX`.
    Wgpu,
}

impl DeviceKind {
    /// Its name in a config file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
            Self::Wgpu => "wgpu",
        }
    }

    /// Whether this build can use it.
    pub fn is_built(self) -> bool {
        match self {
            Self::Cpu => true,
            Self::Cuda => cfg!(feature = "cuda"),
            Self::Wgpu => cfg!(feature = "wgpu"),
        }
    }

    /// Opens it. Products on a GPU are of f32 whatever `precision` says, and the description says so.
    ///
    /// # Errors
    /// When this build cannot use it, or the machine has none.
    pub(crate) fn open(
        self,
        threads: &Threads,
        precision: Precision,
    ) -> Result<Box<dyn Backend>, TrainError> {
        match self {
            Self::Cpu => Ok(Box::new(CpuBackend::new(threads.count(), precision))),
            #[cfg(feature = "cuda")]
            Self::Cuda => super::gpu::cuda(),
            #[cfg(feature = "wgpu")]
            Self::Wgpu => super::gpu::wgpu(),
            #[cfg(not(all(feature = "cuda", feature = "wgpu")))]
            absent => Err(TrainError::NotBuilt { name: absent.name() }),
        }
    }
}

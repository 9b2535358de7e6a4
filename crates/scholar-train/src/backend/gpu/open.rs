//! Finding a GPU. Whatever can be absent is asked for first, because the runtimes themselves panic.
#![cfg_attr(feature = "cuda", expect(unsafe_code, reason = "libraries are looked for"))]

use super::GpuBackend;
use crate::backend::Backend;
use crate::error::TrainError;

/// Starts a runtime, which panics where a driver refuses what it asks of every GPU.
fn start<R: cubecl::Runtime>(
    name: &'static str,
    client: impl FnOnce() -> cubecl::client::ComputeClient<R>,
) -> Result<cubecl::client::ComputeClient<R>, TrainError> {
    let started = std::panic::catch_unwind(std::panic::AssertUnwindSafe(client));
    started.map_err(|_| TrainError::NoDevice {
        name,
        problem: "its runtime does not start; what it said stands above".to_owned(),
    })
}

/// The first GPU that CUDA knows.
///
/// # Errors
/// When the driver or NVRTC, which compiles the kernels, is not installed, or there is no GPU.
#[cfg(feature = "cuda")]
pub(crate) fn cuda() -> Result<Box<dyn Backend>, TrainError> {
    use cubecl::Runtime as _;
    use cubecl::cuda::{CudaDevice, CudaRuntime};
    use cudarc::driver::{CudaContext, result};

    let absent = |problem: String| TrainError::NoDevice { name: "cuda", problem };
    // SAFETY: both only try to load a library by its published names.
    let (driver, compiler) = unsafe {
        (cudarc::driver::sys::is_culib_present(), cudarc::nvrtc::sys::is_culib_present())
    };
    if !driver {
        return Err(absent("the NVIDIA driver is not installed".to_owned()));
    }
    if !compiler {
        return Err(absent("NVRTC of the CUDA toolkit is not installed".to_owned()));
    }
    if cubecl::cuda::install::cuda_path().is_none() {
        let problem = "the headers of the CUDA toolkit are not found; CUDA_PATH names the folder";
        return Err(absent(problem.to_owned()));
    }
    result::init().map_err(|e| absent(e.to_string()))?;
    let count = CudaContext::device_count().map_err(|e| absent(e.to_string()))?;
    if count == 0 {
        return Err(absent("the NVIDIA driver knows no GPU".to_owned()));
    }
    let name = CudaContext::new(0).and_then(|context| context.name());
    let name = name.map_err(|e| absent(e.to_string()))?;
    let client = start("cuda", || CudaRuntime::client(&CudaDevice::new(0)))?;
    let described = format!("{name} through CUDA, f32 products");
    Ok(Box::new(GpuBackend::new(client, described)))
}

/// The fastest GPU that Vulkan, Metal or `DirectX` 12 knows; a driver that computes on the CPU where there is none.
///
/// # Errors
/// When there is no driver, or it refuses.
#[cfg(feature = "wgpu")]
pub(crate) fn wgpu() -> Result<Box<dyn Backend>, TrainError> {
    use cubecl::Runtime as _;
    use cubecl::future::block_on;
    use cubecl::wgpu::{RuntimeOptions, WgpuRuntime, WgpuSetup, init_device};
    use wgpu::{Backends, DeviceDescriptor, Features, Instance, InstanceDescriptor};

    let absent = |problem: String| TrainError::NoDevice { name: "wgpu", problem };
    let instance = Instance::new(InstanceDescriptor {
        backends: Backends::VULKAN | Backends::METAL | Backends::DX12,
        ..InstanceDescriptor::new_without_display_handle()
    });
    let preference = wgpu::RequestAdapterOptions {
        power_preference: wgpu::PowerPreference::HighPerformance,
        ..Default::default()
    };
    let adapter =
        block_on(instance.request_adapter(&preference)).map_err(|e| absent(e.to_string()))?;
    let info = adapter.get_info();
    // What the runtime takes for granted where the GPU has it.
    let features =
        adapter.features() - Features::MAPPABLE_PRIMARY_BUFFERS - Features::all_experimental_mask();
    let descriptor = DeviceDescriptor {
        required_features: features,
        required_limits: adapter.limits(),
        memory_hints: wgpu::MemoryHints::MemoryUsage,
        ..Default::default()
    };
    let (device, queue) =
        block_on(adapter.request_device(&descriptor)).map_err(|e| absent(e.to_string()))?;
    let setup = WgpuSetup { instance, adapter, device, queue, backend: info.backend };
    let device = || init_device(setup, RuntimeOptions::default());
    let client = start("wgpu", || WgpuRuntime::client(&device()))?;
    let described = format!("{} through {}, f32 products", info.name, info.backend);
    Ok(Box::new(GpuBackend::new(client, described)))
}

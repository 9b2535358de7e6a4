//! Function multiversioning: one body in plain Rust, compiled for several sets of CPU instructions, the best one chosen at
//! run time.

/// Which compilation of a [`multiversion!`](crate::multiversion)ed function to call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimdLevel(InstructionSet);

/// The instructions that a function is compiled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionSet {
    /// Those of the target that the crate is compiled for.
    Baseline,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, BW, DQ and VL, beside AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl SimdLevel {
    /// The best this machine runs.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        {
            let avx512 = crate::kernels::Machine::detect().avx512;
            return Self(if avx512 { InstructionSet::Avx512 } else { InstructionSet::Avx2 });
        }
        Self::baseline()
    }

    /// The compilation without any detected instructions, which every machine runs.
    pub fn baseline() -> Self {
        Self(InstructionSet::Baseline)
    }

    /// What this machine was found to run: there is no other way to a set beyond the baseline, which makes the calls in
    /// [`multiversion!`](crate::multiversion) sound.
    pub fn instructions(self) -> InstructionSet {
        self.0
    }
}

/// Whether `mul_add` is one instruction in the baseline.
pub const BASELINE_FMA: bool = cfg!(target_arch = "aarch64");

/// Defines `name(level, arguments)` as the compilation of `body::<FMA>(arguments)` for `level`, a [`SimdLevel`].
///
/// `FMA` says whether `mul_add` is one instruction there; `body` and what it calls are `#[inline(always)]`, so that they are compiled
/// with it.
#[macro_export]
macro_rules! multiversion {
    ($(#[$doc:meta])* $name:ident = $body:ident($($arg:ident: $kind:ty),*) $(-> $ret:ty)?) => {
        $(#[$doc])*
        pub(crate) fn $name(level: $crate::simd::SimdLevel, $($arg: $kind),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $kind),*) $(-> $ret)? {
                $body::<true>($($arg),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
            fn avx512($($arg: $kind),*) $(-> $ret)? {
                $body::<true>($($arg),*)
            }
            match level.instructions() {
                $crate::simd::InstructionSet::Baseline => {
                    $body::<{ $crate::simd::BASELINE_FMA }>($($arg),*)
                }
                // SAFETY: `SimdLevel::detect` is the only source of these sets and found their instructions.
                #[cfg(target_arch = "x86_64")]
                $crate::simd::InstructionSet::Avx2 => unsafe { avx2($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::simd::InstructionSet::Avx512 => unsafe { avx512($($arg),*) },
            }
        }
    };
}

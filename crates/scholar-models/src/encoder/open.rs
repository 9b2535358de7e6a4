//! Choosing an engine and loading a network for it.

use std::path::Path;

use super::config::{Architecture, NetworkConfig};
use super::network::{Network, Transformer};
use super::{Backend, Precision};
use crate::error::ModelError;
#[cfg(target_arch = "x86_64")]
use crate::kernels::{Avx512, Bf16, Int8};
use crate::kernels::{Machine, Portable};
use crate::tokens::TokenReader;
use crate::weights::Weights;

/// Fewest tokens that leave room for special tokens of a pair and a word of each text.
pub(crate) const FEWEST_TOKENS: usize = 8;

/// Widths that bf16 and int8 products take are multiples of this.
const TILE: usize = 32;

/// An engine this machine can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Running {
    AmxBf16,
    Avx512Bf16,
    Avx512Int8,
    Avx512F32,
    PortableF32,
}

impl Running {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::AmxBf16 => "amx bf16",
            Self::Avx512Bf16 => "avx512 bf16",
            Self::Avx512Int8 => "avx512 int8",
            Self::Avx512F32 => "avx512 f32",
            Self::PortableF32 => "portable f32",
        }
    }
}

/// The engine for a precision and back-end on this machine.
///
/// # Errors
/// When the machine lacks what was asked for by name.
pub(crate) fn choose(
    precision: Precision,
    backend: Backend,
    model: &str,
    config: &NetworkConfig,
) -> Result<Running, ModelError> {
    let NetworkConfig { hidden, intermediate, heads, .. } = *config;
    let tiles = [hidden, intermediate, hidden / heads].iter().all(|w| w.is_multiple_of(TILE));
    choose_on(Machine::detect(), precision, backend, tiles).map_err(|problem| ModelError::Setting {
        model: model.to_owned(),
        setting: "precision or backend",
        problem: problem.to_owned(),
    })
}

fn choose_on(
    machine: Machine,
    precision: Precision,
    backend: Backend,
    tiles: bool,
) -> Result<Running, &'static str> {
    let int8 = machine.avx512_vnni && !machine.amx && tiles;
    match (precision, backend) {
        (Precision::Fastest, Backend::Auto | Backend::Avx512) if int8 => Ok(Running::Avx512Int8),
        (Precision::Fastest, _) => choose_on(machine, Precision::Auto, backend, tiles),
        (Precision::Bf16, _) | (_, Backend::Amx) if !tiles => {
            Err("bf16 needs widths that are multiples of 32")
        }
        (Precision::Int8, _) if !tiles => Err("int8 needs widths that are multiples of 32"),
        (Precision::Int8, Backend::Auto | Backend::Avx512) if machine.avx512_vnni => {
            Ok(Running::Avx512Int8)
        }
        (Precision::Int8, Backend::Auto | Backend::Avx512) => {
            Err("this CPU has no AVX-512-VNNI with AVX-512-BF16")
        }
        (Precision::Int8, Backend::Portable) => Err("the portable back-end computes f32 only"),
        (Precision::Auto | Precision::Bf16, Backend::Auto | Backend::Amx)
            if machine.amx && tiles =>
        {
            Ok(Running::AmxBf16)
        }
        (_, Backend::Amx) if machine.amx => Err("AMX computes bf16 only"),
        (_, Backend::Amx) => Err("this CPU has no AMX, or the kernel does not allow it"),
        (Precision::Bf16, Backend::Auto | Backend::Avx512) if machine.avx512_bf16 => {
            Ok(Running::Avx512Bf16)
        }
        (Precision::Auto, Backend::Auto | Backend::Avx512) if machine.avx512_bf16 && tiles => {
            Ok(Running::Avx512Bf16)
        }
        (Precision::Bf16, Backend::Auto | Backend::Avx512) => Err("this CPU has no AVX-512-BF16"),
        (Precision::Bf16, Backend::Portable) => Err("the portable back-end computes f32 only"),
        (Precision::Auto | Precision::F32, Backend::Auto | Backend::Avx512) if machine.avx512 => {
            Ok(Running::Avx512F32)
        }
        (Precision::Auto | Precision::F32, Backend::Avx512) => Err("this CPU has no AVX-512"),
        (Precision::Auto | Precision::F32, Backend::Auto | Backend::Portable) => {
            Ok(Running::PortableF32)
        }
    }
}

/// Loads the network for an engine.
///
/// # Errors
/// As [`Transformer::load`].
pub(crate) fn network(
    running: Running,
    weights: &Weights,
    config: NetworkConfig,
) -> Result<Box<dyn Network>, ModelError> {
    Ok(match running {
        #[cfg(target_arch = "x86_64")]
        Running::AmxBf16 => Box::new(Transformer::load(Bf16::amx(), weights, config)?),
        #[cfg(target_arch = "x86_64")]
        Running::Avx512Bf16 => Box::new(Transformer::load(Bf16::avx512(), weights, config)?),
        #[cfg(target_arch = "x86_64")]
        Running::Avx512Int8 => Box::new(Transformer::load(Int8::new(), weights, config)?),
        #[cfg(target_arch = "x86_64")]
        Running::Avx512F32 => Box::new(Transformer::load(Avx512::new(), weights, config)?),
        _ => Box::new(Transformer::load(Portable::new(), weights, config)?),
    })
}

/// Opens the weights of a network of this family, with or without a head.
///
/// # Errors
/// As [`Weights::open`].
pub(crate) fn weights(dir: &Path, config: &NetworkConfig) -> Result<Weights, ModelError> {
    let prefixes = [prefix(config), ""];
    // Checkpoints from before 2019 say gamma for weight.
    let old = Weights::open(dir, &prefixes, "embeddings.LayerNorm.gamma");
    old.or_else(|_| Weights::open(dir, &prefixes, "embeddings.LayerNorm.weight"))
}

/// What checkpoints of this family with a head put before tensor names.
fn prefix(config: &NetworkConfig) -> &'static str {
    match config.architecture {
        Architecture::Bert => "bert.",
        Architecture::Mpnet => "mpnet.",
        Architecture::Roberta => "roberta.",
    }
}

/// A token limit the model can serve.
///
/// # Errors
/// When `asked` is too small or larger than the model's positions.
pub(crate) fn checked_limit(
    asked: usize,
    config: &NetworkConfig,
    model: &str,
) -> Result<usize, ModelError> {
    if (FEWEST_TOKENS..=config.token_limit()).contains(&asked) {
        return Ok(asked);
    }
    Err(ModelError::Setting {
        model: model.to_owned(),
        setting: "max_tokens",
        problem: format!("{asked} is not between {FEWEST_TOKENS} and {}", config.token_limit()),
    })
}

/// Refuses a tokenizer that can produce ids the model has no row for.
///
/// # Errors
/// When it is larger than the model's vocabulary.
pub(crate) fn check_vocabulary(
    reader: &TokenReader,
    config: &NetworkConfig,
) -> Result<(), ModelError> {
    if reader.vocabulary() <= config.vocabulary {
        return Ok(());
    }
    Err(ModelError::damaged(
        &reader.files()[0],
        format!(
            "it knows {} tokens, the model {}: they do not belong together",
            reader.vocabulary(),
            config.vocabulary
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_follow_machine_and_wish() {
        let none = Machine { avx512: false, avx512_bf16: false, avx512_vnni: false, amx: false };
        let wide = Machine { avx512: true, ..none };
        let zen4 = Machine { avx512_bf16: true, avx512_vnni: true, ..wide };
        let xeon = Machine { amx: true, ..zen4 };
        let check = |machine, precision, backend, expect: Option<Running>| {
            let found = choose_on(machine, precision, backend, true).ok();
            assert_eq!(found, expect, "{machine:?}");
        };
        check(none, Precision::Auto, Backend::Auto, Some(Running::PortableF32));
        check(none, Precision::Bf16, Backend::Auto, None);
        check(none, Precision::F32, Backend::Avx512, None);
        check(wide, Precision::Auto, Backend::Auto, Some(Running::Avx512F32));
        check(wide, Precision::Bf16, Backend::Auto, None);
        check(wide, Precision::Auto, Backend::Portable, Some(Running::PortableF32));
        check(zen4, Precision::Auto, Backend::Auto, Some(Running::Avx512Bf16));
        check(none, Precision::Fastest, Backend::Auto, Some(Running::PortableF32));
        check(wide, Precision::Fastest, Backend::Auto, Some(Running::Avx512F32));
        check(zen4, Precision::Fastest, Backend::Auto, Some(Running::Avx512Int8));
        check(zen4, Precision::Fastest, Backend::Portable, Some(Running::PortableF32));
        check(xeon, Precision::Fastest, Backend::Auto, Some(Running::AmxBf16));
        check(zen4, Precision::F32, Backend::Auto, Some(Running::Avx512F32));
        check(zen4, Precision::Bf16, Backend::Auto, Some(Running::Avx512Bf16));
        check(zen4, Precision::Bf16, Backend::Amx, None);
        check(zen4, Precision::Int8, Backend::Auto, Some(Running::Avx512Int8));
        check(zen4, Precision::Int8, Backend::Amx, None);
        check(zen4, Precision::Int8, Backend::Portable, None);
        check(wide, Precision::Int8, Backend::Auto, None);
        check(xeon, Precision::Auto, Backend::Auto, Some(Running::AmxBf16));
        check(xeon, Precision::F32, Backend::Auto, Some(Running::Avx512F32));
        check(xeon, Precision::F32, Backend::Amx, None);
        check(xeon, Precision::Bf16, Backend::Avx512, Some(Running::Avx512Bf16));
        let odd = |precision| choose_on(xeon, precision, Backend::Auto, false).ok();
        assert_eq!(odd(Precision::Auto), Some(Running::Avx512F32), "widths that fit no tile");
        assert_eq!(odd(Precision::Fastest), Some(Running::Avx512F32));
        assert_eq!(odd(Precision::Bf16), None);
        assert_eq!(odd(Precision::Int8), None);
    }
}

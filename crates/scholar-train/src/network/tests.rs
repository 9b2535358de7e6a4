//! Gradients and a step against what `PyTorch` computes; `tests/golden/make_step.py` made the numbers.

use std::path::Path;

use safetensors::SafeTensors;

use super::head::{HeadTape, pool_mean, pool_mean_back};
use super::parameters::read_numbers;
use super::*;
use crate::backend::{Backend, Buffer, CpuBackend, Dropout, Precision, gpu_backends};
use crate::loss::{cross_entropy, listwise};
use crate::optimiser::{Accumulated, AdamW, AdamWConfig, grad_norm};

#[derive(Deserialize)]
struct Case {
    shape: Shape,
    sequences: Vec<Vec<u32>>,
    classes: Vec<usize>,
    rate: f64,
    decay: f64,
}

struct Golden {
    case: Case,
    bytes: Vec<u8>,
}

impl Golden {
    fn open() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        let text = fs_err::read_to_string(folder.join("step.json")).expect("the case");
        let case = serde_json::from_str(&text).expect("its JSON");
        let bytes = fs_err::read(folder.join("step.safetensors")).expect("its numbers");
        Self { case, bytes }
    }

    fn numbers(&self, name: &str) -> Vec<f32> {
        let tensors = SafeTensors::deserialize(&self.bytes).expect("safetensors");
        let tensor = tensors.tensor(name).unwrap_or_else(|_| panic!("{name}"));
        let mut numbers = vec![0.0; tensor.shape().iter().product()];
        read_numbers(&tensor, &mut numbers).expect("finite numbers");
        numbers
    }

    fn parameters(&self, backend: &dyn Backend, labels: usize) -> Parameters {
        let mut parameters = Parameters::random(self.case.shape.clone(), labels, 1);
        for spec in &parameters.layout.specs {
            let numbers = self.numbers(&full(&spec.name));
            parameters.values.host_mut()[spec.range.clone()].copy_from_slice(&numbers);
        }
        parameters.move_to(backend);
        parameters
    }

    fn batch(&self) -> Packed {
        let mut batch = Packed::new();
        for ids in &self.case.sequences {
            let first = ids.iter().position(|id| *id == 3).expect("a separator");
            let types: Vec<u32> = (0..ids.len()).map(|at| u32::from(at > first)).collect();
            batch.push(ids, &types);
        }
        batch
    }
}

fn full(name: &str) -> String {
    if name.starts_with("classifier") { name.to_owned() } else { format!("bert.{name}") }
}

fn compare(found: &[f32], expect: &[f32], tolerance: f32, what: &str) {
    assert_eq!(found.len(), expect.len(), "{what}");
    for (at, (found, expect)) in found.iter().zip(expect).enumerate() {
        let off = (found - expect).abs();
        assert!(
            off <= tolerance * (1.0 + expect.abs()),
            "{what}[{at}]: {found}, expected {expect}"
        );
    }
}

/// Everything that this build computes with.
fn devices() -> Vec<Box<dyn Backend>> {
    let cpus = [1, 2].map(|threads| CpuBackend::new(threads, Precision::F32));
    let cpus = cpus.into_iter().map(|cpu| Box::new(cpu) as Box<dyn Backend>);
    cpus.chain(gpu_backends()).collect()
}

fn cpu() -> CpuBackend {
    CpuBackend::new(2, Precision::F32)
}

fn get(backend: &dyn Backend, buffer: &Buffer) -> Vec<f32> {
    backend.read(buffer).expect("numbers").into_owned()
}

const FREE: Freeze = Freeze { embeddings: false, layers: 0 };

/// Loss, logits and gradient of the case, with every state computed or only those the classifier reads.
fn training_step(
    golden: &Golden,
    parameters: &Parameters,
    backend: &dyn Backend,
    needed: Needed,
    freeze: Freeze,
) -> (f64, Vec<f32>, Buffer) {
    let batch = golden.batch();
    let (mut tape, mut head) = (Tape::default(), HeadTape::default());
    let mut into = backend.put(vec![0.0; parameters.values.len()]);
    parameters.forward(backend, &batch, needed, None, &mut tape);
    let hidden = parameters.shape.hidden;
    let rows: Vec<usize> = match needed {
        Needed::First => (0..batch.len()).collect(),
        Needed::All => batch.starts[..batch.len()].to_vec(),
    };
    let mut states = Buffer::default();
    backend.gather(tape.states(), &rows, hidden, &mut states);
    parameters.classify(backend, &states, None, &mut head);
    let logits = get(backend, &head.logits);
    let mut grad_logits = vec![0.0; logits.len()];
    let mut loss = 0.0;
    for (at, class) in golden.case.classes.iter().enumerate() {
        let row = at * 3..at * 3 + 3;
        loss += cross_entropy(&logits[row.clone()], *class, 0.25, &mut grad_logits[row]) * 0.25;
    }
    for group in 0..2 {
        let scores = [logits[group * 6], logits[group * 6 + 3]];
        let mut gradient = [0.0; 2];
        loss += listwise(&scores, |at| at == 0, 0.5, &mut gradient) * 0.5;
        grad_logits[group * 6] += gradient[0];
        grad_logits[group * 6 + 3] += gradient[1];
    }
    let grad_logits = backend.put(grad_logits);
    parameters.classify_back(backend, &states, &grad_logits, &mut head, &mut into);
    let gradient = std::mem::take(&mut head.grad_states);
    let flow = tape.gradient();
    match needed {
        Needed::First => *flow = gradient,
        Needed::All => {
            *flow = backend.put(vec![0.0; batch.tokens() * hidden]);
            backend.scatter(&gradient, &rows, hidden, flow);
        }
    }
    parameters.backward(backend, &batch, freeze, &mut tape, &mut into);
    (loss, logits, into)
}

#[test]
fn gradients_equal_pytorch() {
    let golden = Golden::open();
    for backend in devices() {
        let parameters = golden.parameters(&*backend, 3);
        for needed in [Needed::All, Needed::First] {
            let (loss, logits, gradient) =
                training_step(&golden, &parameters, &*backend, needed, FREE);
            let gradient = get(&*backend, &gradient);
            compare(&[loss as f32], &golden.numbers("loss"), 1e-5, "loss");
            compare(&logits, &golden.numbers("logits"), 1e-5, "logits");
            for spec in &parameters.layout.specs {
                let expect = golden.numbers(&format!("grad.{}", full(&spec.name)));
                compare(&gradient[spec.range.clone()], &expect, 1e-4, &spec.name);
            }
        }
    }
}

#[test]
fn one_step_equals_pytorch() {
    let golden = Golden::open();
    for backend in devices() {
        let backend = &*backend;
        let mut parameters = golden.parameters(backend, 3);
        let (_, _, gradient) = training_step(&golden, &parameters, backend, Needed::First, FREE);
        let config = AdamWConfig {
            learning_rate: golden.case.rate,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: golden.case.decay,
            max_grad_norm: 1.0,
            warmup_steps: 0,
            total_steps: 1,
        };
        let norm = grad_norm(backend, &parameters, FREE, &gradient).expect("a norm");
        compare(&[norm as f32], &golden.numbers("length"), 1e-4, "length");
        let accumulated = Accumulated { sum: &gradient, passes: 1, grad_norm: norm };
        let mut optimiser = AdamW::new(config, backend, parameters.values.len());
        optimiser.step(backend, &mut parameters, FREE, accumulated, 0);
        let values = get(backend, &parameters.values);
        for spec in &parameters.layout.specs {
            // Attention does not change with the bias of keys: its slope is 0 but for rounding, and AdamW makes a whole
            // step of that.
            if spec.name.ends_with("key.bias") {
                continue;
            }
            let expect = golden.numbers(&format!("after.{}", full(&spec.name)));
            compare(&values[spec.range.clone()], &expect, 1e-4, &spec.name);
        }
    }
}

#[test]
fn gradients_of_mean_vectors_equal_pytorch() {
    let golden = Golden::open();
    for backend in devices() {
        let backend = &*backend;
        let parameters = golden.parameters(backend, 0);
        let batch = golden.batch();
        let mut tape = Tape::default();
        let mut into = backend.put(vec![0.0; parameters.values.len()]);
        parameters.forward(backend, &batch, Needed::All, None, &mut tape);
        let states = get(backend, tape.states());
        let pooled = pool_mean(&states, &batch, parameters.shape.hidden, true);
        let probe = golden.numbers("probe");
        let flow = pool_mean_back(&probe, &pooled, &batch, true);
        *tape.gradient() = backend.put(flow);
        parameters.backward(backend, &batch, FREE, &mut tape, &mut into);
        let into = get(backend, &into);
        let names = [
            "embeddings.LayerNorm.weight",
            "embeddings.token_type_embeddings.weight",
            "encoder.layer.0.attention.self.key.weight",
            "encoder.layer.1.output.dense.bias",
        ];
        let specs = parameters.layout.specs.iter();
        for spec in specs.filter(|spec| names.contains(&spec.name.as_str())) {
            let expect = golden.numbers(&format!("mean.{}", spec.name));
            compare(&into[spec.range.clone()], &expect, 1e-4, &spec.name);
        }
    }
}

#[test]
fn frozen_parts_get_no_gradient_and_the_others_the_same() {
    let golden = Golden::open();
    for backend in devices() {
        let backend = &*backend;
        let parameters = golden.parameters(backend, 3);
        let gradient = |freeze| {
            get(backend, &training_step(&golden, &parameters, backend, Needed::First, freeze).2)
        };
        let free = gradient(FREE);
        for layers in [0, 1] {
            let freeze = Freeze { embeddings: true, layers };
            let found = gradient(freeze);
            for spec in &parameters.layout.specs {
                let range = spec.range.clone();
                if freeze.holds(spec.block) {
                    assert!(found[range].iter().all(|value| *value == 0.0), "{}", spec.name);
                } else {
                    assert_eq!(found[range.clone()], free[range], "{}", spec.name);
                }
            }
        }
    }
}

/// With dropout the loss is still a function, and the gradient its slope.
#[test]
fn gradients_with_dropout_are_those_of_the_same_masks() {
    let golden = Golden::open();
    let backend = &cpu();
    let mut parameters = golden.parameters(backend, 0);
    let batch = golden.batch();
    let dropout = Dropout::new(5, 1, 0.2);
    let mut tape = Tape::default();
    let mut loss = |parameters: &Parameters| {
        parameters.forward(backend, &batch, Needed::All, dropout, &mut tape);
        let states = tape.states().host();
        states
            .iter()
            .enumerate()
            .map(|(at, s)| f64::from(*s) * ((at % 7) as f64 - 3.0))
            .sum::<f64>()
    };
    loss(&parameters);
    let into = grad_logits(backend, &parameters, &batch, dropout);
    let h = 2e-3;
    for spec in parameters.layout.specs.clone() {
        let at = spec.range.start + spec.range.len() / 2;
        let kept = parameters.values.host()[at];
        parameters.values.host_mut()[at] = kept + h;
        let high = loss(&parameters);
        parameters.values.host_mut()[at] = kept - h;
        let low = loss(&parameters);
        parameters.values.host_mut()[at] = kept;
        let expect = (high - low) / f64::from(2.0 * h);
        let got = f64::from(into[at]);
        assert!(
            (expect - got).abs() < 0.03 * (1.0 + expect.abs()),
            "{}: {got} {expect}",
            spec.name
        );
    }
}

/// The gradient of the sum of all states, weighted -3 to 3 in turns.
fn grad_logits(
    backend: &dyn Backend,
    parameters: &Parameters,
    batch: &Packed,
    dropout: Option<Dropout>,
) -> Vec<f32> {
    let mut tape = Tape::default();
    parameters.forward(backend, batch, Needed::All, dropout, &mut tape);
    let states = tape.states().len();
    *tape.gradient() = backend.put((0..states).map(|at| (at % 7) as f32 - 3.0).collect());
    let mut into = backend.put(vec![0.0; parameters.values.len()]);
    parameters.backward(backend, batch, FREE, &mut tape, &mut into);
    get(backend, &into)
}

/// Masks are functions of key and place, so every device drops the same numbers.
#[test]
fn all_devices_drop_the_same() {
    let golden = Golden::open();
    let (batch, dropout) = (golden.batch(), Dropout::new(5, 1, 0.2));
    let found: Vec<Vec<f32>> = devices()
        .iter()
        .map(|backend| grad_logits(&**backend, &golden.parameters(&**backend, 0), &batch, dropout))
        .collect();
    for other in &found[1..] {
        compare(other, &found[0], 1e-4, "gradient");
    }
}

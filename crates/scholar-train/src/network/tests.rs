//! Gradients and a step against what `PyTorch` computes; `tests/golden/make_step.py` made the numbers.

use std::path::Path;

use safetensors::SafeTensors;

use super::head::{HeadTape, pool_mean, pool_mean_back};
use super::parameters::read_numbers;
use super::*;
use crate::arithmetic::{Buffer, Cpu, Device, Noise, Precision, cards};
use crate::loss::{cross_entropy, listwise};
use crate::optimiser::{self, Moments, Rule};

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

    fn parameters(&self, device: &dyn Device, labels: usize) -> Parameters {
        let mut parameters = Parameters::random(self.case.shape.clone(), labels, 1);
        for spec in &parameters.layout.specs {
            let numbers = self.numbers(&full(&spec.name));
            parameters.values.host_mut()[spec.range.clone()].copy_from_slice(&numbers);
        }
        parameters.move_to(device);
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
fn devices() -> Vec<Box<dyn Device>> {
    let processors = [1, 2].map(|threads| Cpu::new(threads, Precision::F32));
    let processors = processors.into_iter().map(|cpu| Box::new(cpu) as Box<dyn Device>);
    processors.chain(cards()).collect()
}

fn processor() -> Cpu {
    Cpu::new(2, Precision::F32)
}

fn get(device: &dyn Device, buffer: &Buffer) -> Vec<f32> {
    device.read(buffer).expect("numbers").into_owned()
}

const FREE: Freeze = Freeze { embeddings: false, layers: 0 };

/// Loss, logits and gradient of the case, with every state computed or only those the classifier reads.
fn learn(
    golden: &Golden,
    parameters: &Parameters,
    device: &dyn Device,
    needed: Needed,
    freeze: Freeze,
) -> (f64, Vec<f32>, Buffer) {
    let batch = golden.batch();
    let (mut tape, mut head) = (Tape::default(), HeadTape::default());
    let mut into = device.put(vec![0.0; parameters.values.len()]);
    parameters.forward(device, &batch, needed, None, &mut tape);
    let hidden = parameters.shape.hidden;
    let rows: Vec<usize> = match needed {
        Needed::First => (0..batch.len()).collect(),
        Needed::All => batch.starts[..batch.len()].to_vec(),
    };
    let mut states = Buffer::default();
    device.gather(tape.states(), &rows, hidden, &mut states);
    parameters.classify(device, &states, None, &mut head);
    let logits = get(device, &head.logits);
    let mut slopes = vec![0.0; logits.len()];
    let mut loss = 0.0;
    for (at, class) in golden.case.classes.iter().enumerate() {
        let row = at * 3..at * 3 + 3;
        loss += cross_entropy(&logits[row.clone()], *class, 0.25, &mut slopes[row]) * 0.25;
    }
    for group in 0..2 {
        let scores = [logits[group * 6], logits[group * 6 + 3]];
        let mut gradient = [0.0; 2];
        loss += listwise(&scores, |at| at == 0, 0.5, &mut gradient) * 0.5;
        slopes[group * 6] += gradient[0];
        slopes[group * 6 + 3] += gradient[1];
    }
    let (mut gradient, slopes) = (Buffer::default(), device.put(slopes));
    parameters.classify_back(device, (&states, &slopes), &mut head, &mut gradient, &mut into);
    let flow = tape.gradient();
    match needed {
        Needed::First => *flow = gradient,
        Needed::All => {
            *flow = device.put(vec![0.0; batch.tokens() * hidden]);
            device.scatter(&gradient, &rows, hidden, flow);
        }
    }
    parameters.backward(device, &batch, freeze, &mut tape, &mut into);
    (loss, logits, into)
}

#[test]
fn gradients_equal_pytorch() {
    let golden = Golden::open();
    for device in devices() {
        let parameters = golden.parameters(&*device, 3);
        for needed in [Needed::All, Needed::First] {
            let (loss, logits, gradient) = learn(&golden, &parameters, &*device, needed, FREE);
            let gradient = get(&*device, &gradient);
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
    for device in devices() {
        let device = &*device;
        let mut parameters = golden.parameters(device, 3);
        let (_, _, gradient) = learn(&golden, &parameters, device, Needed::First, FREE);
        let rule = Rule {
            learning_rate: golden.case.rate,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: golden.case.decay,
            clip: 1.0,
            warmup: 0,
            steps: 1,
        };
        let length = optimiser::length(device, &parameters, FREE, &gradient).expect("a length");
        compare(&[length as f32], &golden.numbers("length"), 1e-4, "length");
        let mut moments = Moments::new(device, parameters.values.len());
        let gradient = (&gradient, length, 1.0);
        optimiser::step(device, &mut parameters, (&rule, 0), FREE, gradient, &mut moments);
        let values = get(device, &parameters.values);
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
    for device in devices() {
        let device = &*device;
        let parameters = golden.parameters(device, 0);
        let batch = golden.batch();
        let mut tape = Tape::default();
        let mut into = device.put(vec![0.0; parameters.values.len()]);
        parameters.forward(device, &batch, Needed::All, None, &mut tape);
        let states = get(device, tape.states());
        let (pooled, lengths) = pool_mean(&states, &batch, parameters.shape.hidden, true);
        let probe = golden.numbers("probe");
        let flow = pool_mean_back(&probe, (&pooled, &lengths), &batch, true);
        *tape.gradient() = device.put(flow);
        parameters.backward(device, &batch, FREE, &mut tape, &mut into);
        let into = get(device, &into);
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
    for device in devices() {
        let device = &*device;
        let parameters = golden.parameters(device, 3);
        let gradient =
            |freeze| get(device, &learn(&golden, &parameters, device, Needed::First, freeze).2);
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
fn gradients_with_dropout_are_slopes_of_the_same_masks() {
    let golden = Golden::open();
    let device = &processor();
    let mut parameters = golden.parameters(device, 0);
    let batch = golden.batch();
    let noise = Noise::new(5, 1, 0.2);
    let mut tape = Tape::default();
    let mut loss = |parameters: &Parameters| {
        parameters.forward(device, &batch, Needed::All, noise, &mut tape);
        let states = tape.states().host();
        states
            .iter()
            .enumerate()
            .map(|(at, s)| f64::from(*s) * ((at % 7) as f64 - 3.0))
            .sum::<f64>()
    };
    loss(&parameters);
    let into = slopes(device, &parameters, &batch, noise);
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
fn slopes(
    device: &dyn Device,
    parameters: &Parameters,
    batch: &Packed,
    noise: Option<Noise>,
) -> Vec<f32> {
    let mut tape = Tape::default();
    parameters.forward(device, batch, Needed::All, noise, &mut tape);
    let states = tape.states().len();
    *tape.gradient() = device.put((0..states).map(|at| (at % 7) as f32 - 3.0).collect());
    let mut into = device.put(vec![0.0; parameters.values.len()]);
    parameters.backward(device, batch, FREE, &mut tape, &mut into);
    get(device, &into)
}

/// Masks are functions of key and place, so every device drops the same numbers.
#[test]
fn all_devices_drop_the_same() {
    let golden = Golden::open();
    let (batch, noise) = (golden.batch(), Noise::new(5, 1, 0.2));
    let found: Vec<Vec<f32>> = devices()
        .iter()
        .map(|device| slopes(&**device, &golden.parameters(&**device, 0), &batch, noise))
        .collect();
    for other in &found[1..] {
        compare(other, &found[0], 1e-4, "gradient");
    }
}

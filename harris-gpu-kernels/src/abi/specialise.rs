//! Kernel parameters that become constants when a kernel is loaded.
//!
//! The load of such a parameter in the PTX is replaced by a constant, like a template argument in
//! C++. The driver's compiler then removes branches that are never taken.
//!
//! Each combination of values is a variant, which is compiled at its first launch.
//! [`Kernel::specialised`] lists the parameters of a kernel. A test sets every
//! constant of every kernel, so that no load is missed.

#[cfg(not(target_arch = "nvptx64"))]
pub use variants::{constants, ptx, samples, variant, variants};

use super::choices::{gradient, measure, plateau};
use super::fused;
use super::kernel::Kernel;

/// A parameter of 32 bits that becomes a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name in the list of kernels.
    pub name: &'static str,
    /// Index among the arguments.
    pub place: usize,
    /// Values of the variants. `Some(value)` makes the parameter this constant. `None` serves all
    /// other values, which are loaded as before.
    pub values: &'static [Option<u32>],
}

/// Parameter of the fused kernels, which all have the same arguments.
const fn of_fused(name: &'static str, values: &'static [Option<u32>]) -> Parameter {
    Parameter { name, place: place(Kernel::u8_box3.arguments(), name).expect("an argument"), values }
}

/// Index of an argument.
const fn place(arguments: &[&str], name: &str) -> Option<usize> {
    let mut at = 0;
    while at < arguments.len() {
        if are_equal(arguments[at].as_bytes(), name.as_bytes()) {
            return Some(at);
        }
        at += 1;
    }
    None
}

const fn are_equal(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// Plateau rule.
const PLATEAU: Parameter = of_fused("plateau", &[Some(plateau::FIRST), Some(plateau::ALL)]);

/// Distance of the mask's rows, which is 0 without a mask.
const NO_MASK: Parameter = of_fused("mask_pitch", &[Some(0), None]);

/// The response measure.
const MEASURE: Parameter = of_fused("measure", measure::ALL);

/// The value of a kernel that writes responses.
const WITHOUT_SUPPRESSION: Option<u32> = Some(fused::NO_SUPPRESSION);

/// The radius of suppression of a fused kernel.
const RADIUS: Parameter = of_fused("suppression_radius", &[Some(2), Some(1), WITHOUT_SUPPRESSION]);
/// The radius of suppression behind box gradients, where larger ones are usual.
const WIDER_RADIUS: Parameter =
    of_fused("suppression_radius", &[Some(4), Some(3), Some(2), Some(1), WITHOUT_SUPPRESSION]);
/// The radius of suppression in a response map.
const RADIUS_IN_MAP: Parameter = of_fused("suppression_radius", &[Some(1), Some(2), Some(3), Some(4)]);

/// The radius of a binomial smoothing.
const SMOOTHING: Parameter = of_fused("smoothing", &[Some(1), Some(0), Some(2)]);

/// Gradient.
const GRADIENT: Parameter =
    of_fused("gradient", &[Some(gradient::SOBEL), Some(gradient::SCHARR), Some(gradient::CENTRAL)]);

/// Response measure of a kernel with these arguments, or `None` without one.
const fn measure_of(arguments: &[&str]) -> Option<Parameter> {
    match place(arguments, "measure") {
        Some(place) => Some(Parameter { name: "measure", place, values: measure::ALL }),
        None => None,
    }
}

/// Parameters of a fused kernel for this input.
const fn of_sweep(input: fused::Input) -> &'static [Parameter] {
    match input {
        fused::Input::ResponseMap => &[RADIUS_IN_MAP, PLATEAU, NO_MASK],
        fused::Input::GrayU8BoxGradient => &[WIDER_RADIUS, MEASURE, PLATEAU, NO_MASK],
        fused::Input::GrayU8 | fused::Input::GrayU16 | fused::Input::GrayF32 | fused::Input::RgbU8 => {
            &[RADIUS, SMOOTHING, GRADIENT, MEASURE, PLATEAU, NO_MASK]
        }
    }
}

macro_rules! specialised_by_measure {
    ($($module:ident :: $name:ident [$threads:literal, $cells:literal] ($($argument:ident : $type:tt),*);)*) => {
        impl Kernel {
            /// The response measure, for kernels that have it as an argument.
            fn specialised_by_measure(self) -> &'static [Parameter] {
                match self {
                    $(Kernel::$name => const { &measure_of(&[$(stringify!($argument)),*]) }.as_slice(),)*
                }
            }
        }
    };
}

for_each_kernel!(specialised_by_measure);

macro_rules! specialised {
    ($($name:ident [$blocks:literal, $of_responses:literal, $cells:literal] $word:ident: $input:ident, $weights:ident, $window:literal, $most:literal;)*) => {
        impl Kernel {
            /// Parameters that become constants when the kernel is loaded.
            #[must_use]
            pub fn specialised(self) -> &'static [Parameter] {
                match self {
                    $(Kernel::$name => const { of_sweep(fused::Input::$input) },)*
                    _ => self.specialised_by_measure(),
                }
            }
        }
    };
}

for_each_fused!([specialised]);

#[cfg(not(target_arch = "nvptx64"))]
mod variants {
    use alloc::collections::BTreeSet;
    use alloc::{format, string::String, vec::Vec};

    use crate::abi::{Kernel, fused};

    /// Number of variants of a kernel.
    #[must_use]
    pub fn variants(kernel: Kernel) -> usize {
        kernel.specialised().iter().map(|parameter| parameter.values.len()).product()
    }

    /// Variant for an argument list. `argument` returns the argument at an index.
    ///
    /// # Panics
    ///
    /// Panics where no variant of the kernel has an argument's value.
    #[must_use]
    pub fn variant(kernel: Kernel, argument: impl Fn(usize) -> u32) -> usize {
        kernel.specialised().iter().fold(0, |variant, parameter| {
            let value = argument(parameter.place);
            let is = |wanted| parameter.values.iter().position(|&known| known == wanted);
            let choice =
                is(Some(value)).or_else(|| is(None)).expect("a value that the kernel has a variant for");
            variant * parameter.values.len() + choice
        })
    }

    /// Variants of a kernel in which each two values of two parameters occur together; the first is
    /// the one that most configurations use.
    #[must_use]
    pub fn samples(kernel: Kernel) -> Vec<usize> {
        let choices = |mut variant: usize| -> Vec<usize> {
            let lengths = kernel.specialised().iter().rev().map(|parameter| parameter.values.len());
            lengths.map(|len| (variant % len, variant /= len).0).collect()
        };
        let pairs = |variant: usize| {
            let choices = choices(variant);
            let all = (0..choices.len()).flat_map(|first| (0..=first).map(move |second| (first, second)));
            all.map(|(i, j)| ((i, choices[i]), (j, choices[j]))).collect::<BTreeSet<_>>()
        };
        let mut missing: BTreeSet<_> = (0..variants(kernel)).flat_map(pairs).collect();
        let mut samples = Vec::new();
        let mut next = 0;
        loop {
            samples.push(next);
            missing = &missing - &pairs(next);
            let new = |variant: &usize| pairs(*variant).intersection(&missing).count();
            match (0..variants(kernel)).max_by_key(|variant| (new(variant), usize::MAX - variant)) {
                Some(best) if new(&best) > 0 => next = best,
                Some(_) | None => return samples,
            }
        }
    }

    /// The places of the parameters that are constants in a variant, and their values.
    #[must_use]
    pub fn constants(kernel: Kernel, mut variant: usize) -> Vec<(usize, u32)> {
        let mut constants = Vec::new();
        for parameter in kernel.specialised().iter().rev() {
            if let Some(value) = parameter.values[variant % parameter.values.len()] {
                constants.push((parameter.place, value));
            }
            variant /= parameter.values.len();
        }
        constants
    }

    /// Whether a variant of a fused kernel writes responses, and finds no corners.
    fn writes_responses(kernel: Kernel, variant: usize) -> bool {
        let radius = kernel.specialised().iter().find(|parameter| parameter.name == "suppression_radius");
        radius
            .is_some_and(|radius| constants(kernel, variant).contains(&(radius.place, fused::NO_SUPPRESSION)))
    }

    /// The PTX of a variant of a kernel, from the kernel's. `None` where the PTX does not load a parameter that is to be a constant.
    #[must_use]
    pub fn ptx(text: &str, kernel: Kernel, variant: usize) -> Option<String> {
        let mut constants: Vec<_> = constants(kernel, variant)
            .into_iter()
            .map(|(place, value)| (format!(", [{}_param_{place}];", kernel.name()), value, false))
            .collect();
        let mut edited = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let load = line.split_once("ld.param.").and_then(|(indent, load)| {
                let (found, register) = constants.iter_mut().find_map(|constant| {
                    let (load, _) = load.split_once(constant.0.as_str())?;
                    Some((constant, load))
                })?;
                Some((indent, register, found))
            });
            match load {
                Some((indent, register, (_, value, is_found))) => {
                    *is_found = true;
                    edited.push_str(&format!("{indent}mov.{register}, {value};\n"));
                }
                None => edited.push_str(line),
            }
        }
        // Kernels that write responses need fewer registers than those that find corners.
        if let [Some(blocks), Some(of_responses)] =
            [kernel.blocks_held(), kernel.blocks_held_writing_responses()]
            && writes_responses(kernel, variant)
        {
            let bound = |blocks: u32| format!(".minnctapersm {blocks}\n");
            edited = edited.replacen(&bound(blocks), &bound(of_responses), 1);
        }
        constants.iter().all(|(_, _, is_found)| *is_found).then_some(edited)
    }
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::String, vec::Vec};

    use super::*;

    #[test]
    fn a_variant_has_its_values_as_constants() {
        for &kernel in Kernel::ALL {
            let mut seen = Vec::new();
            for number in 0..variants(kernel) {
                let constants = constants(kernel, number);
                assert!(!seen.contains(&constants), "{kernel:?}");
                // Any other value matches no constant.
                let value = |at| {
                    constants.iter().find(|(place, _)| *place == at).map_or(u32::MAX, |(_, value)| *value)
                };
                assert_eq!(variant(kernel, value), number, "{kernel:?}");
                seen.push(constants);
            }
        }
    }

    #[test]
    fn loads_become_constants_or_the_edit_fails() {
        let kernel = Kernel::u8_box3;
        let name = kernel.name();
        let load = |place: usize| format!("\tld.param.b32 \t%r{place}, [{name}_param_{place}];\n");
        let places: Vec<_> = kernel.specialised().iter().map(|parameter| parameter.place).collect();
        // A parameter whose number begins like one of these.
        let other = format!("\tld.param.b32 \t%r0, [{name}_param_{}0];\n", places[0]);
        let text: String = places.iter().map(|&place| load(place)).chain([other.clone()]).collect();
        for variant in samples(kernel) {
            let (edited, constants) = (ptx(&text, kernel, variant).unwrap(), constants(kernel, variant));
            for (place, value) in &constants {
                assert!(edited.contains(&format!("\tmov.b32 \t%r{place}, {value};\n")), "{edited}");
            }
            assert_eq!(edited.matches("ld.param").count(), places.len() + 1 - constants.len(), "{edited}");
            assert!(edited.ends_with(&other), "{edited}");
        }
        assert_eq!(ptx(&text.replace(&load(places[0]), ""), kernel, 0), None);
        let plain = Kernel::set_threshold;
        assert_eq!(ptx("\tret;\n", plain, 0).as_deref(), Some("\tret;\n"));
    }
}

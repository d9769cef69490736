//! The reference against a second reading of docs/arithmetic.md that shares no code with it: every
//! response summed directly from the samples it depends on, by two-dimensional weights, integers in
//! 128 bits, floats in 64.

use approx::abs_diff_eq;
use harris_conformance::extent::part_of;
use harris_conformance::pictures::{Depth, Picture, Pixels, noise};
use harris_core::pipeline::{response, selection};
use harris_core::{
    Border, Detector, Error, Gradient, HarrisConfig, Keypoint, Measure, Order, ReferenceDetector, Smoothing,
    Ties, Window,
};

/// Numbers that are exact where the contract's are.
trait Exact: Copy + std::ops::Add<Output = Self> + std::ops::Mul<Output = Self> + std::iter::Sum {
    fn from_weight(weight: f64) -> Self;
    /// What ends a binomial smoothing whose weights sum to `total`.
    fn smoothed(self, total: f64) -> Self;
    fn to_f64(self) -> f64;
}

impl Exact for i128 {
    fn from_weight(weight: f64) -> Self {
        assert_eq!(weight.fract(), 0.0);
        weight as i128
    }
    fn smoothed(self, total: f64) -> Self {
        (self + total as i128 / 2).div_euclid(total as i128)
    }
    fn to_f64(self) -> f64 {
        self as f64
    }
}

impl Exact for f64 {
    fn from_weight(weight: f64) -> Self {
        weight
    }
    fn smoothed(self, total: f64) -> Self {
        self / total
    }
    fn to_f64(self) -> f64 {
        self
    }
}

/// A plane as a function of any place.
struct Plane<T> {
    values: Vec<Vec<T>>,
    border: Border,
}

impl<T: Exact> Plane<T> {
    fn at(&self, x: i64, y: i64) -> T {
        match (self.place(x, self.values[0].len()), self.place(y, self.values.len())) {
            (Some(x), Some(y)) => self.values[y][x],
            _ => T::from_weight(0.0),
        }
    }

    /// Walks back into the image step by step.
    fn place(&self, mut i: i64, len: usize) -> Option<usize> {
        let last = len as i64 - 1;
        while i < 0 || i > last {
            i = match self.border {
                Border::Reflect101 if last == 0 => 0,
                Border::Reflect101 => {
                    if i < 0 {
                        -i
                    } else {
                        2 * last - i
                    }
                }
                Border::Replicate => {
                    if i < 0 {
                        i + 1
                    } else {
                        i - 1
                    }
                }
                Border::Zero | Border::Skip => return None,
            };
        }
        Some(i as usize)
    }

    fn map<U: Exact>(&self, value: impl Fn(i64, i64) -> U) -> Plane<U> {
        let (height, width) = (self.values.len() as i64, self.values[0].len() as i64);
        let values = (0..height).map(|y| (0..width).map(|x| value(x, y)).collect()).collect();
        Plane { values, border: self.border }
    }

    /// Σ weights(dx, dy)·p(x + dx, y + dy) within the radius.
    fn filter(&self, radius: i64, weight: impl Fn(i64, i64) -> f64) -> Plane<T> {
        self.map(|x, y| {
            let places = (-radius..=radius).flat_map(|dy| (-radius..=radius).map(move |dx| (dx, dy)));
            places.map(|(dx, dy)| T::from_weight(weight(dx, dy)) * self.at(x + dx, y + dy)).sum()
        })
    }
}

/// Row n of Pascal's triangle, from its middle.
fn binomial(n: i64, i: i64) -> f64 {
    let k = i + n / 2;
    (0..k).map(|j| (n - 1 - j) as f64 / (j + 1) as f64).product::<f64>().round()
}

fn bell(i: i64, sigma: f64) -> f64 {
    (-((i * i) as f64) / (2.0 * sigma * sigma)).exp()
}

fn gaussian(size: u32, sigma: f64, i: i64) -> f64 {
    let r = i64::from(size / 2);
    bell(i, sigma) / (-r..=r).map(|j| bell(j, sigma)).sum::<f64>()
}

/// The weight of gx at dx, dy; gy has them transposed.
fn gradient_weight(gradient: Gradient, across: i64, along: i64) -> f64 {
    let sign = across.signum() as f64;
    match gradient {
        Gradient::Sobel3 => sign * [1.0, 2.0, 1.0][(along + 1) as usize],
        Gradient::Sobel5 => sign * [2.0, 1.0][across.unsigned_abs().max(1) as usize - 1] * binomial(5, along),
        Gradient::Sobel7 => {
            sign * [5.0, 4.0, 1.0][across.unsigned_abs().max(1) as usize - 1] * binomial(7, along)
        }
        Gradient::Scharr3 => sign * [3.0, 10.0, 3.0][(along + 1) as usize],
        Gradient::Central => {
            if along == 0 {
                sign
            } else {
                0.0
            }
        }
        Gradient::Box { .. } => sign,
        Gradient::GaussianDerivative { size, sigma } => {
            let r = i64::from(size / 2);
            let norm: f64 = (-r..=r).map(|j| (j * j) as f64 * bell(j, sigma)).sum();
            2.0 * across as f64 * bell(across, sigma) / norm * gaussian(size, sigma, along)
        }
    }
}

fn window_weight(window: Window, dx: i64, dy: i64) -> f64 {
    match window {
        // Of an even size, the last offset to the right and below is missing.
        Window::Box { size } => f64::from(u8::from(2 * dx.max(dy) < i64::from(size))),
        Window::Binomial { size } => binomial(i64::from(size), dx) * binomial(i64::from(size), dy),
        Window::Gaussian { size, sigma } => gaussian(size, sigma, dx) * gaussian(size, sigma, dy),
    }
}

/// Window sums A, B, C of the first places to the last, not yet scaled.
fn tensor<T: Exact>(channels: Vec<Plane<T>>, config: &HarrisConfig) -> [Plane<T>; 3] {
    let gradients: Vec<_> = channels
        .into_iter()
        .map(|p| match config.smoothing() {
            Smoothing::None => p,
            Smoothing::Gaussian { size, sigma } => {
                p.filter(i64::from(size / 2), |x, y| gaussian(size, sigma, x) * gaussian(size, sigma, y))
            }
            Smoothing::Binomial3Exact => p.filter(1, |x, y| binomial(3, x) * binomial(3, y)),
            Smoothing::Binomial3 | Smoothing::Binomial5 => {
                let n = 2 * config.smoothing().radius() as i64 + 1;
                let sums = p.filter(n / 2, |x, y| binomial(n, x) * binomial(n, y));
                sums.map(|x, y| sums.at(x, y).smoothed(f64::from(1 << (2 * (n - 1)))))
            }
        })
        .map(|p| {
            let r = config.gradient().radius() as i64;
            let weight = |across, along| gradient_weight(config.gradient(), across, along);
            (p.filter(r, weight), p.filter(r, |x, y| weight(y, x)))
        })
        .collect();
    // Which of gx, gy are multiplied.
    let window = |factors: [usize; 2]| {
        let products = gradients[0].0.map(|x, y| {
            let values = |(gx, gy): &(Plane<T>, Plane<T>)| factors.map(|i| [gx, gy][i].at(x, y));
            gradients.iter().map(values).map(|[u, v]| u * v).sum::<T>()
        });
        products.filter(config.window().radius() as i64, |x, y| window_weight(config.window(), x, y))
    };
    [[0, 0], [0, 1], [1, 1]].map(window)
}

/// What twice the slope of a ramp is divided by: the gradient of the ramp p = x / 2, smoothed.
fn norm(config: &HarrisConfig) -> f64 {
    let of_smoothing = if config.smoothing() == Smoothing::Binomial3Exact { 16.0 } else { 1.0 };
    let gradient = config.gradient();
    let r = gradient.radius() as i64;
    let places = (-r..=r).flat_map(|dy| (-r..=r).map(move |dx| (dx, dy)));
    of_smoothing * places.map(|(dx, dy)| gradient_weight(gradient, dx, dy) * dx as f64 / 2.0).sum::<f64>()
}

fn is_even(window: Window) -> bool {
    matches!(window, Window::Box { size } if size % 2 == 0)
}

fn weight_sum(window: Window) -> f64 {
    let r = window.radius() as i64;
    (-r..=r).flat_map(|dy| (-r..=r).map(move |dx| window_weight(window, dx, dy))).sum()
}

fn planes<T: Exact>(picture: &Picture, border: Border) -> Vec<Plane<T>> {
    let sample = |i: usize| match &picture.samples {
        Pixels::U8(samples) => f64::from(samples[i]),
        Pixels::U16(samples) => f64::from(samples[i]),
        Pixels::F32(samples) => f64::from(samples[i]),
    };
    let plane = |channel: usize| {
        let place = |x, y| y * picture.stride + x * picture.channels + channel;
        let row = |y| (0..picture.width).map(|x| T::from_weight(sample(place(x, y)))).collect();
        (0..picture.height).map(row).collect()
    };
    (0..picture.channels).map(|channel| Plane { values: plane(channel), border }).collect()
}

fn configs(border: Border, integer: bool) -> Vec<HarrisConfig> {
    let mut smoothings =
        vec![Smoothing::None, Smoothing::Binomial3, Smoothing::Binomial3Exact, Smoothing::Binomial5];
    let mut gradients = vec![
        Gradient::Sobel3,
        Gradient::Sobel5,
        Gradient::Sobel7,
        Gradient::Scharr3,
        Gradient::Central,
        Gradient::Box { size: 5 },
    ];
    let mut windows = [2, 3, 4, 9].map(|size| Window::Box { size }).to_vec();
    windows.extend([3, 5, 7].map(|size| Window::Binomial { size }));
    if !integer {
        smoothings.push(Smoothing::Gaussian { size: 5, sigma: 0.9 });
        gradients.push(Gradient::GaussianDerivative { size: 7, sigma: 1.3 });
        windows.push(Window::Gaussian { size: 5, sigma: 1.5 });
    }
    let mut configs = Vec::new();
    for smoothing in smoothings {
        for &gradient in &gradients {
            for &window in &windows {
                let builder = HarrisConfig::builder().border(border).smoothing(smoothing).gradient(gradient);
                match builder.window(window).build() {
                    Ok(config) => configs.push(config),
                    // Sums that leave 64 bits.
                    Err(Error::TensorOverflow { .. })
                        if matches!(gradient, Gradient::Sobel5 | Gradient::Sobel7) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
    configs
}

const BORDERS: [Border; 4] = [Border::Reflect101, Border::Replicate, Border::Zero, Border::Skip];

fn pictures(depth: Depth) -> impl Iterator<Item = Picture> {
    [(24, 21, 1), (23, 20, 3), (2, 5, 1), (1, 1, 3)]
        .into_iter()
        .map(move |size| Picture::draw(depth, size, |x, y, c| noise(5, x / 2, y / 2, c)))
}

#[test]
fn integer_responses_are_the_definition_to_the_bit() {
    for border in BORDERS {
        for config in part_of(configs(border, true), 3) {
            for (depth, full_scale) in [(Depth::U8, 255.0), (Depth::U16, 65535.0)] {
                for picture in pictures(depth) {
                    let Ok(response) = ReferenceDetector::new(config.clone()).response(&picture.view())
                    else {
                        assert_eq!(border, Border::Skip);
                        continue;
                    };
                    let tensor = tensor::<i128>(planes(&picture, border), &config);
                    let unit = norm(&config) * full_scale;
                    let scale = (1.0 / (unit * unit * weight_sum(config.window()))) as f32;
                    let frame = if border == Border::Skip { config.support_radius() } else { 0 };
                    // What an even window reaches less to the right and below.
                    let missing = usize::from(frame > 0 && is_even(config.window()));
                    for ((y, x), &value) in response.indexed_iter() {
                        let [a, b, c] = [0, 1, 2].map(|i| tensor[i].at(x as i64, y as i64) as f32 * scale);
                        let trace = a + c;
                        let harris = (a * c - b * b) - (0.04 * trace) * trace;
                        let valid = x >= frame
                            && y >= frame
                            && x + frame < picture.width + missing
                            && y + frame < picture.height + missing;
                        let expected = if valid { harris } else { 0.0 };
                        assert_eq!(
                            value.to_bits(),
                            expected.to_bits(),
                            "{x}, {y} of {picture:?}: {config:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn float_responses_are_the_definition_but_for_rounding() {
    for border in BORDERS {
        for config in part_of(configs(border, false), 3) {
            for depth in [Depth::U8, Depth::F32] {
                for picture in pictures(depth).filter(|picture| picture.width > 20) {
                    // Rounded integer smoothing is not what 64-bit floats do.
                    if depth == Depth::U8
                        && matches!(config.smoothing(), Smoothing::Binomial3 | Smoothing::Binomial5)
                    {
                        continue;
                    }
                    let config = config.to_builder().measure(Measure::ShiTomasi).build().unwrap();
                    let response = ReferenceDetector::new(config.clone()).response(&picture.view()).unwrap();
                    let tensor = tensor::<f64>(planes(&picture, border), &config);
                    let unit = norm(&config) * if depth == Depth::U8 { 255.0 } else { 1.0 };
                    let scale = 1.0 / (unit * unit * weight_sum(config.window()));
                    let frame = if border == Border::Skip { config.support_radius() } else { 0 };
                    // What an even window reaches less to the right and below.
                    let missing = usize::from(frame > 0 && is_even(config.window()));
                    for ((y, x), &value) in response.indexed_iter() {
                        let [a, b, c] = [0, 1, 2].map(|i| tensor[i].at(x as i64, y as i64).to_f64() * scale);
                        let expected = 0.5 * (a + c) - (0.25 * (a - c) * (a - c) + b * b).sqrt();
                        let valid = x >= frame
                            && y >= frame
                            && x + frame < picture.width + missing
                            && y + frame < picture.height + missing;
                        if valid {
                            let close = abs_diff_eq!(f64::from(value), expected, epsilon = 4e-6 * (a + c));
                            assert!(close, "{value} for {expected} at {x}, {y} of {picture:?}: {config:?}");
                        }
                    }
                }
            }
        }
    }
}

/// The response of a measure, in f64.
fn measured(measure: Measure, [a, b, c]: [f64; 3]) -> f64 {
    let (trace, det) = (a + c, a * c - b * b);
    let (mean, root) = (0.5 * trace, (0.25 * (a - c) * (a - c) + b * b).sqrt());
    let [lesser, greater] = [mean - root, mean + root];
    match measure {
        Measure::Harris { k } => det - f64::from(k) * trace * trace,
        Measure::ShiTomasi => lesser,
        Measure::Noble { eps } => 2.0 * det / (trace + f64::from(eps)),
        Measure::Triggs { alpha } => lesser - f64::from(alpha) * greater,
    }
}

#[test]
fn measures_of_a_tensor_with_eigenvalues_4_and_9() {
    // Determinant 36, trace 13. All of these numbers are exact in f32.
    let tensor = [8.0, 2.0, 5.0];
    for (measure, expected) in [
        (Measure::Harris { k: 0.125 }, 36.0 - 0.125 * 169.0),
        (Measure::ShiTomasi, 4.0),
        (Measure::Noble { eps: 3.0 }, 72.0 / 16.0),
        (Measure::Triggs { alpha: 0.0 }, 4.0),
        (Measure::Triggs { alpha: 0.25 }, 4.0 - 0.25 * 9.0),
        (Measure::Triggs { alpha: 0.5 }, -0.5),
    ] {
        let [a, b, c] = tensor;
        assert_eq!(response::measure(measure, a, b, c), expected, "{measure:?}");
        assert_eq!(measured(measure, tensor.map(f64::from)), f64::from(expected), "{measure:?}");
    }
}

#[test]
fn every_measure_is_the_definition_but_for_rounding() {
    let measures = [
        Measure::Harris { k: 0.06 },
        Measure::ShiTomasi,
        Measure::Noble { eps: 1e-6 },
        Measure::Noble { eps: 0.5 },
        Measure::Triggs { alpha: 0.05 },
        Measure::Triggs { alpha: 0.7 },
    ];
    for (measure, border) in measures.into_iter().flat_map(|measure| BORDERS.map(|border| (measure, border)))
    {
        for depth in [Depth::U8, Depth::U16, Depth::F32] {
            for picture in pictures(depth).filter(|picture| picture.width > 20) {
                let config = HarrisConfig::builder().border(border).measure(measure).build().unwrap();
                let response = ReferenceDetector::new(config.clone()).response(&picture.view()).unwrap();
                // Binomial smoothing of integers is rounded.
                let tensor = match depth {
                    Depth::U8 | Depth::U16 => tensor::<i128>(planes(&picture, border), &config)
                        .map(|sums| sums.map(|x, y| sums.at(x, y).to_f64())),
                    Depth::F32 => tensor::<f64>(planes(&picture, border), &config),
                };
                let full_scale = match depth {
                    Depth::U8 => 255.0,
                    Depth::U16 => 65535.0,
                    Depth::F32 => 1.0,
                };
                let unit = norm(&config) * full_scale;
                let scale = 1.0 / (unit * unit * weight_sum(config.window()));
                let frame = if border == Border::Skip { config.support_radius() } else { 0 };
                for ((y, x), &value) in response.indexed_iter() {
                    let valid = (frame..picture.width - frame).contains(&x)
                        && (frame..picture.height - frame).contains(&y);
                    let sums = [0, 1, 2].map(|i| tensor[i].at(x as i64, y as i64) * scale);
                    let expected = if valid { measured(measure, sums) } else { 0.0 };
                    let trace = sums[0] + sums[2];
                    // Harris's response is a square of the others' unit.
                    let size = if matches!(measure, Measure::Harris { .. }) { trace * trace } else { trace };
                    let close = abs_diff_eq!(f64::from(value), expected, epsilon = 4e-6 * size);
                    assert!(close, "{value} for {expected} at {x}, {y} of {picture:?}: {config:?}");
                }
            }
        }
    }
}

#[test]
fn selection_keeps_what_comparing_every_pair_keeps() {
    let small =
        [(3.0, None), (7.3, Some(40)), (1.0, None), (1.2, None), (500.0, None), (0.0, Some(9)), (1e30, None)]
            .map(|(distance, most)| (90, 60, 0.3, distance, most));
    // Around what is a word's length, in several of them.
    let large =
        [2.0, 31.5, 32.0, 33.0, 63.9, 64.0, 65.1, 100.0].map(|distance| (400, 200, 0.02, distance, None));
    let mut memory = selection::Memory::default();
    for (seed, (width, height, share, distance, most)) in (1..).zip(small.into_iter().chain(large)) {
        // Some of the pixels, at few levels, so that many are equally strong.
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let corners: Vec<_> = pixels
            .filter(|&(x, y)| noise(seed, x, y, 0) < share)
            .map(|(x, y)| Keypoint::new(x as f32, y as f32, (noise(seed, x, y, 1) * 8.0).ceil() as f32))
            .collect();
        let ties = if seed % 2 == 0 { Ties::Ascending } else { Ties::Descending };
        let config = HarrisConfig::builder().min_distance(distance).max_corners(most).ties(ties);
        let config = config.build().unwrap();
        let mut ordered = corners.clone();
        ordered.sort_by(Keypoint::raster_cmp);
        if ties == Ties::Descending {
            ordered.reverse();
        }
        // A stable sort: equals stay in the order of places.
        ordered.sort_by(|one, other| other.response.total_cmp(&one.response));
        let mut kept: Vec<Keypoint> = Vec::new();
        for k in ordered {
            let far = |o: &Keypoint| f64::from(k.x - o.x).hypot(f64::from(k.y - o.y)) >= distance - 1e-9;
            if kept.iter().all(far) && most.is_none_or(|most| kept.len() < most) {
                kept.push(k);
            }
        }
        let in_rows = config.to_builder().order(Order::Raster).build().unwrap();
        assert_eq!(selection::select(&corners, &config).unwrap(), kept, "distance {distance}");
        // In memory that had something else before.
        assert_eq!(
            selection::select_in(&mut memory, corners.iter().copied(), &config).unwrap(),
            kept,
            "distance {distance}"
        );
        // Corners that are no short numbers, too.
        let far = |corner: &Keypoint| Keypoint { scale: 2.0, ..*corner };
        let (corners_far, kept_far): (Vec<_>, Vec<_>) =
            (corners.iter().map(far).collect(), kept.iter().map(far).collect());
        assert_eq!(
            selection::select(&corners_far, &config).unwrap(),
            kept_far,
            "distance {distance}, of another scale"
        );
        // Keys of the same corners, in two lists with weaker corners between.
        let key = |k: &Keypoint| selection::Key::new(k.x as u16, k.y as u16, k.response);
        let weak = |k: &Keypoint| Keypoint { response: 0.5, ..*k };
        let keys: Vec<_> = corners.iter().flat_map(|k| [key(&weak(k)), key(k)]).collect();
        let lists = keys.split_at(keys.len() / 2);
        let found = selection::select_keys(&mut memory, [lists.0, lists.1].into_iter(), 0.5, &config);
        assert_eq!(found.unwrap(), kept, "distance {distance}, keys");
        kept.sort_by(Keypoint::raster_cmp);
        assert_eq!(
            selection::select_in(&mut memory, corners.iter().copied(), &in_rows).unwrap(),
            kept,
            "distance {distance}, raster"
        );
    }
}

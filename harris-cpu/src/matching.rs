//! Exact matching: all distances, a descriptor a lane.

use harris_core::matching::{Match, MatchConfig, Matcher, Nearest};
use harris_core::surf::LENGTH;
use harris_core::{Error, float_mode, memory};
use ndarray::ArrayView2;

use crate::simd::{Simd, SimdKernel, WithSimd};
use crate::workers::{Workers, constructors};

/// Exact matching on the CPU.
///
/// ```
/// use harris_cpu::CpuMatcher;
/// use harris_cpu::harris_core::matching::{MatchConfig, Matcher};
/// use ndarray::Array2;
///
/// let train = Array2::from_shape_fn((3, 64), |(i, j)| if i == j { 1.0 } else { 0.0 });
/// let matches = CpuMatcher::new(MatchConfig::default()).matches(train.view(), train.view())?;
/// assert!(matches.iter().all(|found| found.query == found.train));
/// # Ok::<(), harris_cpu::Error>(())
/// ```
#[derive(Debug)]
pub struct CpuMatcher {
    config: MatchConfig,
    workers: Workers,
}

constructors!(CpuMatcher, MatchConfig);

/// Queries that a thread takes at a time.
const QUERIES_PER_TASK: usize = 64;

/// Queries that are compared with a block of descriptors while registers hold its values.
const QUERIES_PER_PASS: usize = 4;

impl CpuMatcher {
    fn on(config: MatchConfig, workers: Workers) -> Self {
        Self { config, workers }
    }

    fn nearest(&self, query: &[[f32; LENGTH]], train: &[[f32; LENGTH]]) -> Result<Vec<Nearest>, Error> {
        let level = self.workers.level;
        let blocks = level.call(Transpose { train })?;
        let work = memory::collect(query.chunks(QUERIES_PER_TASK))?;
        let nearest =
            self.workers.threads.map(work, |query| level.call(Search { query, blocks: &blocks }))?;
        memory::concat(&nearest)
    }
}

impl Matcher for CpuMatcher {
    fn matches(
        &mut self,
        query: ArrayView2<'_, f32>,
        train: ArrayView2<'_, f32>,
    ) -> Result<Vec<Match>, Error> {
        float_mode::standard(|| {
            self.config.matches(query, train, |query, train| self.nearest(&rows(query)?, &rows(train)?))
        })
    }
}

/// Checked descriptors as arrays.
pub(crate) fn rows(descriptors: ArrayView2<'_, f32>) -> Result<Vec<[f32; LENGTH]>, Error> {
    memory::collect(descriptors.rows().into_iter().map(|row| std::array::from_fn(|i| row[i])))
}

/// Blocks of as many descriptors as a vector has lanes, each value by value.
struct Transpose<'a> {
    train: &'a [[f32; LENGTH]],
}

impl WithSimd for Transpose<'_> {
    type Output = Result<Vec<f32>, Error>;

    fn with<V: Simd>(self, _: V) -> Result<Vec<f32>, Error> {
        // Lanes without a descriptor are infinitely far from all.
        let len = self.train.len().div_ceil(V::LANES) * V::LANES * LENGTH;
        let mut blocks = memory::filled(len, f32::INFINITY)?;
        for (block, train) in blocks.chunks_exact_mut(V::LANES * LENGTH).zip(self.train.chunks(V::LANES)) {
            for (lane, descriptor) in train.iter().enumerate() {
                for (i, &value) in descriptor.iter().enumerate() {
                    block[i * V::LANES + lane] = value;
                }
            }
        }
        Ok(blocks)
    }
}

/// The nearest of each query.
struct Search<'a> {
    query: &'a [[f32; LENGTH]],
    blocks: &'a [f32],
}

impl WithSimd for Search<'_> {
    type Output = Vec<Nearest>;

    fn with<V: Simd>(self, v: V) -> Vec<Nearest> {
        v.enter(self)
    }
}

impl SimdKernel for Search<'_> {
    type Output = Vec<Nearest>;

    #[inline(always)]
    fn run<V: Simd>(self, v: V) -> Vec<Nearest> {
        let start = Nearest { index: 0, distance: f32::INFINITY, second: f32::INFINITY };
        let mut nearest = vec![start; self.query.len()];
        for (query, nearest) in self.query.chunks(QUERIES_PER_PASS).zip(nearest.chunks_mut(QUERIES_PER_PASS))
        {
            // The last chunk repeats its last query.
            let query: [&[f32; LENGTH]; QUERIES_PER_PASS] =
                std::array::from_fn(|i| &query[i.min(query.len() - 1)]);
            for (block_index, block) in self.blocks.chunks_exact(V::LANES * LENGTH).enumerate() {
                let mut sums = [v.splat_f32(0.0); QUERIES_PER_PASS];
                for i in 0..LENGTH {
                    let train = v.load_f32(block, i * V::LANES);
                    for (sum, query) in sums.iter_mut().zip(query) {
                        let difference = v.sub(v.splat_f32(query[i]), train);
                        *sum = v.add(*sum, v.mul(difference, difference));
                    }
                }
                for (nearest, sum) in nearest.iter_mut().zip(sums) {
                    // Most are farther than the second nearest.
                    let mut nearer = v.greater(v.splat_f32(nearest.second), sum);
                    if nearer == 0 {
                        continue;
                    }
                    let mut distances = [0.0; MAX_LANES];
                    v.store_f32(&mut distances, 0, sum);
                    while nearer != 0 {
                        let lane = nearer.trailing_zeros() as usize;
                        nearer &= nearer - 1;
                        let distance = distances[lane];
                        if distance < nearest.distance {
                            let index = block_index * V::LANES + lane;
                            *nearest = Nearest { index, distance, second: nearest.distance };
                        } else if distance < nearest.second {
                            nearest.second = distance;
                        }
                    }
                }
            }
        }
        nearest
    }
}

/// The most lanes of any level.
const MAX_LANES: usize = 16;

//! Junctions and polygons.

use std::f64::consts::TAU;

use fastrand::Rng;
use ndarray::Array2;

use super::drawing;

/// Kind of corner in a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Two edges that meet at their ends, at 60 to 120 degrees.
    L,
    /// An edge that ends in another, at 60 to 120 degrees.
    T,
    /// Three edges that meet, 100 to 140 degrees between them.
    Y,
    /// Two edges that cross at 60 to 120 degrees, as on a chessboard.
    X,
    /// A polygon of three to six vertices.
    Polygon,
}

/// Pixels along the side of the square that each shape has to itself.
const CELL: usize = 96;
/// Distances in pixels at which a junction begins to fade and is gone, so that its edges have no
/// ends.
const FADING: [f64; 2] = [10.0, 45.0];
/// The level to which it fades.
const MIDDLE: f64 = 0.5;

/// An image of levels of 0 to 1, whose corners are known.
///
/// ```
/// use harris_evaluation::scenes::{Scene, Shape};
///
/// // 3 × 3 junctions, each on 96 × 96 pixels.
/// let scene = Scene::of(Shape::L, 3, 1);
/// assert_eq!(scene.levels.dim(), (288, 288));
/// assert_eq!(scene.corners.len(), 9);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Scene {
    /// Levels, H × W, each the mean over the pixel's square.
    pub levels: Array2<f64>,
    /// x and y of all corners, in pixels; the centre of the first pixel is 0, 0.
    pub corners: Vec<[f64; 2]>,
}

impl Scene {
    /// All shapes.
    pub const SHAPES: [Shape; 5] = [Shape::L, Shape::T, Shape::Y, Shape::X, Shape::Polygon];

    /// Makes a scene of `side` × `side` shapes of one kind, at random.
    ///
    /// Each shape has its own rotation, its own levels, and a place between pixels. Levels that
    /// touch differ by at least 0.2. Equal seeds give equal scenes.
    ///
    /// # Panics
    /// Where `side` is so great that there is no memory for 96 · 96 levels a shape.
    #[must_use]
    pub fn of(shape: Shape, side: usize, seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let figures: Vec<_> = (0..side * side)
            .map(|i| {
                let middle = |i: usize| (i * CELL) as f64 + CELL as f64 / 2.0;
                let mut beside = || random.f64() * 2.0 - 1.0;
                let centre = [middle(i % side) + beside(), middle(i / side) + beside()];
                match shape {
                    Shape::Polygon => Figure::polygon(centre, &mut random),
                    Shape::L | Shape::T | Shape::Y | Shape::X => Figure::junction(shape, centre, &mut random),
                }
            })
            .collect();
        let points: Vec<_> = figures.iter().flat_map(Figure::corners).copied().collect();
        let levels = drawing::draw(side * CELL, side * CELL, &points, |x, y| {
            let cell = |v: f64| ((v / CELL as f64).max(0.0) as usize).min(side.saturating_sub(1));
            figures.get(cell(y) * side + cell(x)).map_or(MIDDLE, |figure| figure.level(x, y))
        });
        Self { levels, corners: points }
    }
}

enum Figure {
    /// Sectors by the direction in which each begins, all the way round, and their levels.
    Junction {
        at: [[f64; 2]; 1],
        sectors: Vec<([f64; 2], f64)>,
    },
    Polygon {
        vertices: Vec<[f64; 2]>,
        inside: f64,
        outside: f64,
    },
}

impl Figure {
    fn junction(shape: Shape, at: [f64; 2], random: &mut Rng) -> Self {
        let mut between = |least: f64, most: f64| (least + random.f64() * (most - least)).to_radians();
        let (turned, opening) = (between(0.0, 360.0), between(60.0, 120.0));
        let half = TAU / 2.0;
        let edges = match shape {
            Shape::L => vec![0.0, opening],
            Shape::T => vec![0.0, opening, half],
            Shape::Y => {
                let second = between(100.0, 140.0);
                let least = 100.0_f64.max(220.0 - second.to_degrees());
                vec![0.0, second, second + between(least, 140.0_f64.min(260.0 - second.to_degrees()))]
            }
            Shape::X | Shape::Polygon => vec![0.0, opening, half, half + opening],
        };
        let (dark, bright) = (random.f64() * 0.2, 0.8 + random.f64() * 0.2);
        let gray = 0.4 + random.f64() * 0.2;
        let levels = match shape {
            Shape::L => vec![bright, dark],
            // With two equal neighbouring sectors the edges would make an L.
            Shape::T | Shape::Y => vec![bright, gray, dark],
            Shape::X | Shape::Polygon => vec![bright, dark, bright, dark],
        };
        let direction = |edge: f64| [(edge + turned).cos(), (edge + turned).sin()];
        let sectors = edges.into_iter().map(direction).zip(levels).collect();
        Self::Junction { at: [at], sectors }
    }

    /// A star-shaped polygon: the directions of its vertices ascend, so that edges do not cross.
    fn polygon([x, y]: [f64; 2], random: &mut Rng) -> Self {
        let count = random.usize(3..=6);
        let turned = random.f64() * TAU;
        let vertices = (0..count)
            .map(|i| {
                let direction = turned + (i as f64 + 0.3 * (random.f64() - 0.5)) * TAU / count as f64;
                let radius = 15.0 + 3.0 * random.f64();
                [x + radius * direction.cos(), y + radius * direction.sin()]
            })
            .collect();
        let levels = [random.f64() * 0.3, 0.7 + random.f64() * 0.3];
        let bright = usize::from(random.bool());
        Self::Polygon { vertices, inside: levels[bright], outside: MIDDLE }
    }

    fn corners(&self) -> &[[f64; 2]] {
        match self {
            Self::Junction { at, .. } => at,
            Self::Polygon { vertices, .. } => vertices,
        }
    }

    fn level(&self, x: f64, y: f64) -> f64 {
        match self {
            Self::Junction { at: [[u, v]], sectors } => {
                let place = [x - u, y - v];
                let next = sectors.iter().cycle().skip(1);
                let around =
                    sectors.iter().zip(next).find(|((edge, _), (next, _))| between(*edge, *next, place));
                let level = around.map_or(MIDDLE, |((_, level), _)| *level);
                let [dx, dy] = place;
                MIDDLE + (level - MIDDLE) * contrast(dx * dx + dy * dy)
            }
            Self::Polygon { vertices, inside, outside } => {
                if contains(vertices, x, y) {
                    *inside
                } else {
                    *outside
                }
            }
        }
    }
}

/// Whether a place lies from the direction `first` on, as angles grow, before `next`.
fn between(first: [f64; 2], next: [f64; 2], place: [f64; 2]) -> bool {
    let cross = |a: [f64; 2], b: [f64; 2]| a[0] * b[1] - a[1] * b[0];
    let narrow = |first, next| cross(first, place) >= 0.0 && cross(place, next) > 0.0;
    // A sector of more than half a turn is the complement of a smaller one.
    if cross(first, next) >= -1e-9 { narrow(first, next) } else { !narrow(next, first) }
}

/// Contrast of a junction, by the square of the distance: 1 near it, then smoothly down to 0.
fn contrast(square: f64) -> f64 {
    if square <= FADING[0] * FADING[0] {
        return 1.0;
    }
    let t = ((square.sqrt() - FADING[0]) / (FADING[1] - FADING[0])).min(1.0);
    1.0 - t * t * (3.0 - 2.0 * t)
}

/// Whether a ray from the point crosses the boundary an odd number of times.
fn contains(vertices: &[[f64; 2]], x: f64, y: f64) -> bool {
    let next = vertices.iter().cycle().skip(1);
    let crossings = vertices
        .iter()
        .zip(next)
        .filter(|([a, b], [c, d])| (*b > y) != (*d > y) && x < a + (y - b) * (c - a) / (d - b));
    crossings.count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_lie_where_levels_meet() {
        for shape in Scene::SHAPES {
            let scene = Scene::of(shape, 3, 11);
            let counts = if shape == Shape::Polygon { 27..=54 } else { 9..=9 };
            assert!(counts.contains(&scene.corners.len()), "{shape:?}");
            for [x, y] in &scene.corners {
                let (x, y) = (x.round() as usize, y.round() as usize);
                let around = scene.levels.slice(ndarray::s![y - 3..=y + 3, x - 3..=x + 3]);
                let extent = around.iter().fold((1.0_f64, 0.0_f64), |e, v| (e.0.min(*v), e.1.max(*v)));
                assert!(extent.1 - extent.0 > 0.15, "{shape:?} at {x}, {y}: {extent:?}");
            }
        }
        assert_eq!(Scene::of(Shape::T, 2, 1), Scene::of(Shape::T, 2, 1));
        assert_ne!(Scene::of(Shape::T, 2, 1), Scene::of(Shape::T, 2, 2));
        assert_eq!(Scene::of(Shape::L, 0, 1).corners, Vec::<[f64; 2]>::new());
    }

    #[test]
    fn cells_end_in_the_middle_level() {
        for shape in Scene::SHAPES {
            let scene = Scene::of(shape, 2, 3);
            for i in [0, CELL - 1, CELL, 2 * CELL - 1] {
                let lines = scene.levels.row(i).into_iter().chain(scene.levels.column(i));
                assert!(lines.into_iter().all(|v| *v == MIDDLE), "{shape:?} {i}");
            }
        }
    }

    #[test]
    fn a_square_contains_its_inside() {
        let square = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]];
        assert!(contains(&square, 2.0, 2.0) && contains(&square, 0.1, 3.9));
        assert!(
            !contains(&square, -0.1, 2.0) && !contains(&square, 5.0, 2.0) && !contains(&square, 2.0, 4.5)
        );
    }
}

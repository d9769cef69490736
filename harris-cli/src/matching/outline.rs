//! The outline of the object in a scene.

use tiny_skia::{Color, LineCap, Path, PathBuilder, Stroke};

/// The widths of the outline, the dark edge first. They are in pixels of a picture of 900 columns.
pub(crate) const WIDTHS: [f32; 2] = [4.0, 2.0];

/// The colour of the outline within its dark edge.
pub(crate) const COLOR: [u8; 3] = [80, 255, 80];

/// Returns the colours of the outline's strokes, the dark edge first.
pub(crate) fn colors() -> [Color; 2] {
    let [r, g, b] = COLOR;
    [Color::BLACK, Color::from_rgba8(r, g, b, 255)]
}

/// Returns how a line of a width is drawn in a picture of some columns.
pub(crate) fn stroke(width: f32, columns: u32) -> Stroke {
    let unit = (columns as f32 / 900.0).clamp(1.0, 4.0);
    Stroke { width: width * unit, line_cap: LineCap::Round, ..Stroke::default() }
}

/// Returns the outline of an object by its corners, as far as it lies in a scene of a size. The
/// scene's left side lies at `left`.
pub(crate) fn path(corners: &[[f64; 2]; 4], [width, height]: [u32; 2], left: f32) -> Option<Path> {
    let mut path = PathBuilder::new();
    for i in 0..4 {
        // Pixel centres are at half coordinates of the canvas.
        let line = [corners[i], corners[(i + 1) % 4]].map(|corner| corner.map(|at| at + 0.5));
        if let Some([from, to]) = clip(line, [width, height].map(f64::from)) {
            path.move_to(from[0] as f32 + left, from[1] as f32);
            path.line_to(to[0] as f32 + left, to[1] as f32);
        }
    }
    path.finish()
}

/// Returns the part of a line that lies in a rectangle from (0, 0) to `size` (Liang and Barsky
/// 1984).
fn clip([from, to]: [[f64; 2]; 2], size: [f64; 2]) -> Option<[[f64; 2]; 2]> {
    let along = [to[0] - from[0], to[1] - from[1]];
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for axis in 0..2 {
        let bounds = [-from[axis], size[axis] - from[axis]];
        if along[axis] == 0.0 {
            if bounds[0] > 0.0 || bounds[1] < 0.0 {
                return None;
            }
            continue;
        }
        let [enter, leave] = bounds.map(|bound| bound / along[axis]);
        first = first.max(enter.min(leave));
        last = last.min(enter.max(leave));
    }
    let at = |part: f64| [from[0] + part * along[0], from[1] + part * along[1]];
    (first < last).then(|| [at(first), at(last)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_the_edges() {
        let size = [10.0, 8.0];
        assert_eq!(clip([[1.0, 2.0], [3.0, 4.0]], size), Some([[1.0, 2.0], [3.0, 4.0]]));
        assert_eq!(clip([[-5.0, 4.0], [15.0, 4.0]], size), Some([[0.0, 4.0], [10.0, 4.0]]));
        assert_eq!(clip([[2.0, 20.0], [2.0, -4.0]], size), Some([[2.0, 8.0], [2.0, 0.0]]));
        assert_eq!(clip([[-2.0, 4.0], [4.0, -2.0]], size), Some([[0.0, 2.0], [2.0, 0.0]]));
        for outside in [[[-3.0, 1.0], [-1.0, 7.0]], [[2.0, 9.0], [8.0, 9.0]], [[-4.0, 3.0], [3.0, -4.0]]] {
            assert_eq!(clip(outside, size), None, "{outside:?}");
        }
        let [from, to] = clip([[-1e9, 4.0], [1e9, 4.0]], size).unwrap();
        assert!(from.iter().chain(&to).all(|at| (-1e-6..=10.000_001).contains(at)), "{from:?} {to:?}");
        assert!(path(&[[-9.0, -9.0], [-5.0, -9.0], [-5.0, -5.0], [-9.0, -5.0]], [10, 8], 0.0).is_none());
    }
}

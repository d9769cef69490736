//! Examples of every choice of a configuration.
//!
//! Each list names all variants of its type, so a new variant without an example does not compile.

use harris_core::config::MeasureKind;
use harris_core::{Border, Gradient, Measure, Order, Plateau, Smoothing, Subpixel, Threshold, Ties, Window};

/// Defines a function that lists examples, at least one for each variant of a choice.
macro_rules! examples {
    ($(#[$doc:meta])* $name:ident: $choice:ident { $($variant:pat => [$($example:expr),+ $(,)?],)* }) => {
        $(#[$doc])*
        #[must_use]
        pub fn $name() -> Vec<$choice> {
            // No wildcard: a variant that is not listed does not compile.
            const _: fn(&$choice) = |choice| match choice {
                $($variant => {})*
            };
            vec![$($($example),+),*]
        }
    };
}

examples! {
    /// Lists every smoothing.
    smoothings: Smoothing {
        Smoothing::None => [Smoothing::None],
        Smoothing::Binomial3 => [Smoothing::Binomial3],
        Smoothing::Binomial3Exact => [Smoothing::Binomial3Exact],
        Smoothing::Binomial5 => [Smoothing::Binomial5],
        Smoothing::Gaussian { .. } => [Smoothing::Gaussian { size: 7, sigma: 1.2 }],
    }
}

examples! {
    /// Lists every gradient.
    gradients: Gradient {
        Gradient::Sobel3 => [Gradient::Sobel3],
        Gradient::Sobel5 => [Gradient::Sobel5],
        Gradient::Sobel7 => [Gradient::Sobel7],
        Gradient::Scharr3 => [Gradient::Scharr3],
        Gradient::Central => [Gradient::Central],
        Gradient::Box { .. } => [Gradient::Box { size: 3 }],
        Gradient::GaussianDerivative { .. } => [Gradient::GaussianDerivative { size: 9, sigma: 1.5 }],
    }
}

examples! {
    /// Lists every window: odd and even box windows, and all binomial ones.
    windows: Window {
        Window::Box { .. } => [
            Window::Box { size: 3 },
            Window::Box { size: 5 },
            Window::Box { size: 7 },
            Window::Box { size: 31 },
            Window::Box { size: 2 },
            Window::Box { size: 126 },
        ],
        Window::Binomial { .. } => [
            Window::Binomial { size: 3 },
            Window::Binomial { size: 5 },
            Window::Binomial { size: 7 },
        ],
        Window::Gaussian { .. } => [
            Window::Gaussian { size: 3, sigma: 1.0 },
            Window::Gaussian { size: 5, sigma: 1.5 },
            Window::Gaussian { size: 7, sigma: 1.0 },
        ],
    }
}

/// Lists every response measure, with its usual parameter.
#[must_use]
pub fn measures() -> Vec<Measure> {
    MeasureKind::ALL.map(MeasureKind::usual).to_vec()
}

examples! {
    /// Lists every threshold.
    thresholds: Threshold {
        Threshold::None => [Threshold::None],
        Threshold::Absolute(_) => [Threshold::Absolute(1e-4)],
        Threshold::Relative(_) => [Threshold::Relative(0.3)],
        Threshold::Rosin { .. } => [Threshold::Rosin { bins: 256 }],
    }
}

examples! {
    /// Lists every border.
    borders: Border {
        Border::Reflect101 => [Border::Reflect101],
        Border::Replicate => [Border::Replicate],
        Border::Skip => [Border::Skip],
        Border::Zero => [Border::Zero],
    }
}

examples! {
    /// Lists every subpixel refinement, with aperture radii from the least to the greatest.
    subpixels: Subpixel {
        Subpixel::None => [Subpixel::None],
        Subpixel::Quadratic => [Subpixel::Quadratic],
        Subpixel::Forstner { .. } => [
            Subpixel::Forstner { radius: 3 },
            Subpixel::Forstner { radius: 5 },
            Subpixel::Forstner { radius: 15 },
        ],
    }
}

examples! {
    /// Lists every rule for equal neighbours.
    plateaus: Plateau {
        Plateau::First => [Plateau::First],
        Plateau::All => [Plateau::All],
    }
}

examples! {
    /// Lists every rule for the order of equal responses.
    ties: Ties {
        Ties::Ascending => [Ties::Ascending],
        Ties::Descending => [Ties::Descending],
    }
}

examples! {
    /// Lists every order of the keypoints.
    orders: Order {
        Order::Response => [Order::Response],
        Order::Raster => [Order::Raster],
    }
}

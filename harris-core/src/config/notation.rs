//! Short texts for the choices: `box:3`, `gaussian:5:1.5`, `harris:0.04`.
//!
//! [`FromStr`] reads the texts that [`Display`](std::fmt::Display) writes.

use std::str::FromStr;

use super::choices::{Border, Gradient, Order, Plateau, Smoothing, Subpixel, Threshold, Ties, Window};
use crate::error::Error;

/// A text split at its colons.
pub(super) struct Parts<'a> {
    /// What the text should name, as in `window`.
    pub(super) what: &'static str,
    /// The forms that are understood, separated by bars.
    pub(super) expected: &'static str,
    /// The whole text.
    pub(super) text: &'a str,
}

impl<'a> Parts<'a> {
    /// The error for a text that names no choice.
    pub(super) fn error(&self) -> Error {
        Error::Notation { what: self.what, text: self.text.to_owned(), expected: self.expected }
    }

    /// The `N` values behind the name; `None` where there are more or fewer.
    fn values<const N: usize>(&self) -> Option<[&'a str; N]> {
        let mut parts = self.text.split(':').skip(1);
        let values = [(); N].map(|()| parts.next());
        if parts.next().is_some() || values.iter().any(Option::is_none) {
            return None;
        }
        Some(values.map(Option::unwrap_or_default))
    }

    /// The text before the first colon.
    pub(super) fn name(&self) -> &'a str {
        self.text.split(':').next().unwrap_or_default()
    }

    /// Reads one value.
    fn number<T: FromStr>(&self, value: &str) -> Result<T, Error> {
        value.parse().map_err(|_| self.error())
    }

    /// Reads `name:SIZE`.
    fn size(&self) -> Result<u32, Error> {
        let [size] = self.values().ok_or_else(|| self.error())?;
        self.number(size)
    }

    /// Reads `name:SIZE:SIGMA`.
    fn size_and_sigma(&self) -> Result<(u32, f64), Error> {
        let [size, sigma] = self.values().ok_or_else(|| self.error())?;
        Ok((self.number(size)?, self.number(sigma)?))
    }

    /// Reads `name:VALUE`.
    pub(super) fn value<T: FromStr>(&self) -> Result<T, Error> {
        let [value] = self.values().ok_or_else(|| self.error())?;
        self.number(value)
    }

    /// Reads a name without values.
    pub(super) fn alone<T>(&self, choice: T) -> Result<T, Error> {
        let [] = self.values().ok_or_else(|| self.error())?;
        Ok(choice)
    }
}

/// Implements [`FromStr`] and [`Display`](std::fmt::Display) for a choice, from its names and
/// forms.
macro_rules! notation {
    ($type:ident, $what:literal, $expected:literal, |$parts:ident| { $($name:literal => $read:expr,)* }, |$self:ident, $f:ident| $write:expr) => {
        impl std::str::FromStr for $type {
            type Err = Error;

            #[doc = concat!("Reads `", $expected, "`; ranges are checked when the configuration is built.")]
            fn from_str(text: &str) -> Result<Self, Error> {
                let $parts = $crate::config::notation::Parts { what: $what, expected: $expected, text };
                match $parts.name() {
                    $($name => $read,)*
                    _ => Err($parts.error()),
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, $f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $self = *self;
                $write
            }
        }
    };
}

pub(super) use notation;

notation!(Smoothing, "smoothing", "none|binomial3|binomial3-exact|binomial5|gaussian:SIZE:SIGMA", |parts| {
    "none" => parts.alone(Smoothing::None),
    "binomial3" => parts.alone(Smoothing::Binomial3),
    "binomial3-exact" => parts.alone(Smoothing::Binomial3Exact),
    "binomial5" => parts.alone(Smoothing::Binomial5),
    "gaussian" => parts.size_and_sigma().map(|(size, sigma)| Smoothing::Gaussian { size, sigma }),
}, |choice, f| match choice {
    Smoothing::None => f.write_str("none"),
    Smoothing::Binomial3 => f.write_str("binomial3"),
    Smoothing::Binomial3Exact => f.write_str("binomial3-exact"),
    Smoothing::Binomial5 => f.write_str("binomial5"),
    Smoothing::Gaussian { size, sigma } => write!(f, "gaussian:{size}:{sigma}"),
});

notation!(Gradient, "gradient", "sobel3|sobel5|sobel7|scharr3|central|box:SIZE|gaussian-derivative:SIZE:SIGMA", |parts| {
    "sobel3" => parts.alone(Gradient::Sobel3),
    "sobel5" => parts.alone(Gradient::Sobel5),
    "sobel7" => parts.alone(Gradient::Sobel7),
    "scharr3" => parts.alone(Gradient::Scharr3),
    "central" => parts.alone(Gradient::Central),
    "box" => parts.size().map(|size| Gradient::Box { size }),
    "gaussian-derivative" => parts.size_and_sigma().map(|(size, sigma)| Gradient::GaussianDerivative { size, sigma }),
}, |choice, f| match choice {
    Gradient::Sobel3 => f.write_str("sobel3"),
    Gradient::Sobel5 => f.write_str("sobel5"),
    Gradient::Sobel7 => f.write_str("sobel7"),
    Gradient::Scharr3 => f.write_str("scharr3"),
    Gradient::Central => f.write_str("central"),
    Gradient::Box { size } => write!(f, "box:{size}"),
    Gradient::GaussianDerivative { size, sigma } => write!(f, "gaussian-derivative:{size}:{sigma}"),
});

notation!(Window, "window", "box:SIZE|binomial:SIZE|gaussian:SIZE:SIGMA", |parts| {
    "box" => parts.size().map(|size| Window::Box { size }),
    "binomial" => parts.size().map(|size| Window::Binomial { size }),
    "gaussian" => parts.size_and_sigma().map(|(size, sigma)| Window::Gaussian { size, sigma }),
}, |choice, f| match choice {
    Window::Box { size } => write!(f, "box:{size}"),
    Window::Binomial { size } => write!(f, "binomial:{size}"),
    Window::Gaussian { size, sigma } => write!(f, "gaussian:{size}:{sigma}"),
});

notation!(Threshold, "threshold", "absolute:VALUE|relative:QUALITY|rosin:BINS|none", |parts| {
    "absolute" => parts.value().map(Threshold::Absolute),
    "relative" => parts.value().map(Threshold::Relative),
    "rosin" => parts.size().map(|bins| Threshold::Rosin { bins }),
    "none" => parts.alone(Threshold::None),
}, |choice, f| match choice {
    Threshold::Absolute(value) => write!(f, "absolute:{value}"),
    Threshold::Relative(quality) => write!(f, "relative:{quality}"),
    Threshold::Rosin { bins } => write!(f, "rosin:{bins}"),
    Threshold::None => f.write_str("none"),
});

notation!(Border, "border rule", "reflect101|replicate|zero|skip", |parts| {
    "reflect101" => parts.alone(Border::Reflect101),
    "replicate" => parts.alone(Border::Replicate),
    "zero" => parts.alone(Border::Zero),
    "skip" => parts.alone(Border::Skip),
}, |choice, f| f.write_str(match choice {
    Border::Reflect101 => "reflect101",
    Border::Replicate => "replicate",
    Border::Zero => "zero",
    Border::Skip => "skip",
}));

notation!(Subpixel, "sub-pixel mode", "none|quadratic|forstner:RADIUS", |parts| {
    "none" => parts.alone(Subpixel::None),
    "quadratic" => parts.alone(Subpixel::Quadratic),
    "forstner" => Ok(Subpixel::Forstner { radius: parts.size()? }),
}, |choice, f| match choice {
    Subpixel::None => f.write_str("none"),
    Subpixel::Quadratic => f.write_str("quadratic"),
    Subpixel::Forstner { radius } => write!(f, "forstner:{radius}"),
});

notation!(Plateau, "plateau rule", "first|all", |parts| {
    "first" => parts.alone(Plateau::First),
    "all" => parts.alone(Plateau::All),
}, |choice, f| f.write_str(match choice {
    Plateau::First => "first",
    Plateau::All => "all",
}));

notation!(Ties, "order of ties", "ascending|descending", |parts| {
    "ascending" => parts.alone(Ties::Ascending),
    "descending" => parts.alone(Ties::Descending),
}, |choice, f| f.write_str(match choice {
    Ties::Ascending => "ascending",
    Ties::Descending => "descending",
}));

notation!(Order, "order", "response|raster", |parts| {
    "response" => parts.alone(Order::Response),
    "raster" => parts.alone(Order::Raster),
}, |choice, f| f.write_str(match choice {
    Order::Response => "response",
    Order::Raster => "raster",
}));

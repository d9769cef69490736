//! Choices that the host passes by number, matched without a catch-all arm.
//!
//! Each macro takes one arm for each constant of its module in [`abi`](crate::abi), in their order.
//! A new choice is a new arm of the macro: uses that lack it do not compile. The last arm also
//! takes numbers that no choice has, so that the device has no branch for them; tests on the host,
//! which have debug assertions, panic instead.

/// Matches a border rule of [`abi::border`](crate::abi::border).
macro_rules! match_border {
    ($rule:expr, { REFLECT => $reflect:expr, REPLICATE => $replicate:expr, ZERO => $zero:expr $(,)? }) => {
        match $rule {
            $crate::abi::border::REFLECT => $reflect,
            $crate::abi::border::REPLICATE => $replicate,
            rule => {
                debug_assert_eq!(rule, $crate::abi::border::ZERO, "a border rule");
                $zero
            }
        }
    };
}

/// Matches a gradient of fixed taps of [`abi::gradient`](crate::abi::gradient).
macro_rules! match_gradient {
    ($gradient:expr, { CENTRAL => $central:expr, SCHARR => $scharr:expr, SOBEL => $sobel:expr $(,)? }) => {
        match $gradient {
            $crate::abi::gradient::CENTRAL => $central,
            $crate::abi::gradient::SCHARR => $scharr,
            gradient => {
                debug_assert_eq!(gradient, $crate::abi::gradient::SOBEL, "a gradient");
                $sobel
            }
        }
    };
}

/// Checks at compile time that no measure was added since the code around was written: code that
/// asks for single measures, and would be silent about a new one.
macro_rules! knows_all_measures {
    () => {
        const { assert!($crate::abi::measure::COUNT == 4, "this code does not know the new measure") }
    };
}

/// Matches a response measure of [`abi::measure`](crate::abi::measure).
macro_rules! match_measure {
    ($measure:expr, {
        HARRIS => $harris:expr,
        SHI_TOMASI => $shi_tomasi:expr,
        TRIGGS => $triggs:expr,
        NOBLE => $noble:expr $(,)?
    }) => {{
        knows_all_measures!();
        match $measure {
            $crate::abi::measure::HARRIS => $harris,
            $crate::abi::measure::SHI_TOMASI => $shi_tomasi,
            $crate::abi::measure::TRIGGS => $triggs,
            measure => {
                debug_assert_eq!(measure, $crate::abi::measure::NOBLE, "a response measure");
                $noble
            }
        }
    }};
}

/// Matches an order of keys of [`abi::order`](crate::abi::order).
macro_rules! match_order {
    ($order:expr, {
        BY_RESPONSE => $by_response:expr,
        BY_ROWS => $by_rows:expr,
        BY_RESPONSE_LAST_FIRST => $last_first:expr $(,)?
    }) => {
        match $order {
            $crate::abi::order::BY_RESPONSE => $by_response,
            $crate::abi::order::BY_ROWS => $by_rows,
            order => {
                debug_assert_eq!(order, $crate::abi::order::BY_RESPONSE_LAST_FIRST, "an order of keys");
                $last_first
            }
        }
    };
}

/// Matches the radius of a binomial smoothing, 0 for none.
macro_rules! match_smoothing {
    ($radius:expr, { 0 => $none:expr, 1 => $binomial3:expr, 2 => $binomial5:expr $(,)? }) => {
        match $radius {
            0 => $none,
            1 => $binomial3,
            radius => {
                debug_assert_eq!(radius, 2, "the radius of a smoothing");
                $binomial5
            }
        }
    };
}

/// Matches the size of a binomial window.
macro_rules! match_binomial {
    ($size:expr, { 3 => $three:expr, 5 => $five:expr, 7 => $seven:expr $(,)? }) => {
        match $size {
            3 => $three,
            5 => $five,
            size => {
                debug_assert_eq!(size, 7, "the size of a binomial");
                $seven
            }
        }
    };
}

pub(super) use {
    knows_all_measures, match_binomial, match_border, match_gradient, match_measure, match_order,
    match_smoothing,
};

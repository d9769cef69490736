//! From responses to corners: during a sweep, from the rows that wait in a ring, or in a response
//! map.
//!
//! - [`ring`]: the rows of responses whose neighbourhoods are not complete yet, and their
//!   candidates as bits.
//! - [`collect`]: suppression among candidates of the ring.
//! - [`found`]: what a thread has found, and the bounds that threads share.
//! - [`list_bound`]: a threshold that follows from `max_corners`.
//! - [`map`]: extent, histogram and corners of a whole response map.

pub(crate) mod collect;
pub(crate) mod found;
pub(crate) mod list_bound;
pub(crate) mod map;
pub(crate) mod ring;

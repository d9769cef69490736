//! Memory of the size of an image: a lack of it is an error, not the end of the process.
//!
//! Backends take what grows with an image or a list of keypoints through these functions. Memory of
//! a fixed size of at most some kilobytes is taken as usual.
//!
//! ```
//! use harris_core::{Error, memory};
//!
//! let map = memory::zeros::<f32>((4, 8))?;
//! assert_eq!(map.dim(), (4, 8));
//! let refused = memory::zeros::<u8>((usize::MAX / 4, 1));
//! assert!(matches!(refused, Err(Error::OutOfMemory { .. })));
//! # Ok::<(), Error>(())
//! ```

use std::collections::TryReserveError;

use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_vec;
use ndarray::Array2;

use crate::error::Error;

/// The error for `count` elements of type `T` that could not be had.
fn refused<T>(count: usize) -> Error {
    Error::OutOfMemory { bytes: count.saturating_mul(size_of::<T>()) }
}

/// Reserves memory for `additional` more elements of a list that grows step by step.
///
/// # Errors
/// [`Error::OutOfMemory`].
#[inline]
pub fn reserve<T>(list: &mut Vec<T>, additional: usize) -> Result<(), Error> {
    let count = list.len().saturating_add(additional);
    list.try_reserve(additional).map_err(|_: TryReserveError| refused::<T>(count))
}

/// Reserves memory for `additional` more elements of a list that is not to grow further.
///
/// # Errors
/// [`Error::OutOfMemory`].
#[inline]
pub fn reserve_exact<T>(list: &mut Vec<T>, additional: usize) -> Result<(), Error> {
    let count = list.len().saturating_add(additional);
    list.try_reserve_exact(additional).map_err(|_: TryReserveError| refused::<T>(count))
}

/// Makes a list have `len` elements; new ones are `value`.
///
/// # Errors
/// [`Error::OutOfMemory`]. The list is then unchanged.
pub fn resize<T: Clone>(list: &mut Vec<T>, len: usize, value: T) -> Result<(), Error> {
    reserve_exact(list, len.saturating_sub(list.len()))?;
    list.resize(len, value);
    Ok(())
}

/// Makes a list have at least `len` elements; new ones are the type's default.
///
/// # Errors
/// [`Error::OutOfMemory`]. The list is then unchanged.
pub fn grow<T: Default>(list: &mut Vec<T>, len: usize) -> Result<(), Error> {
    if list.len() < len {
        reserve_exact(list, len - list.len())?;
        list.resize_with(len, T::default);
    }
    Ok(())
}

/// A list of `len` elements, all `value`.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn filled<T: Clone>(len: usize, value: T) -> Result<Vec<T>, Error> {
    let mut list = Vec::new();
    resize(&mut list, len, value)?;
    Ok(list)
}

/// The elements of an iterator as a list.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn collect<T>(elements: impl IntoIterator<Item = T>) -> Result<Vec<T>, Error> {
    let elements = elements.into_iter();
    let mut list = Vec::new();
    // Exact for most iterators; the others grow.
    reserve_exact(&mut list, elements.size_hint().0)?;
    for element in elements {
        if list.len() == list.capacity() {
            reserve(&mut list, 1)?;
        }
        list.push(element);
    }
    Ok(list)
}

/// Appends a copy of a slice to a list.
///
/// # Errors
/// [`Error::OutOfMemory`]. The list is then unchanged.
pub fn extend<T: Clone>(list: &mut Vec<T>, more: &[T]) -> Result<(), Error> {
    reserve(list, more.len())?;
    list.extend_from_slice(more);
    Ok(())
}

/// Some lists joined to one, in their order.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn concat<T: Clone>(lists: &[Vec<T>]) -> Result<Vec<T>, Error> {
    let mut all = Vec::new();
    reserve_exact(&mut all, lists.iter().map(Vec::len).sum())?;
    lists.iter().for_each(|list| all.extend_from_slice(list));
    Ok(all)
}

/// A list of `len` zeros.
///
/// The system need not write them before they are used.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn zeroed<T: Zeroable>(len: usize) -> Result<Vec<T>, Error> {
    try_zeroed_vec(len).map_err(|()| refused::<T>(len))
}

/// An array of zeros of some rows and columns.
///
/// The system need not write them before they are used.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn zeros<T: Zeroable>((rows, columns): (usize, usize)) -> Result<Array2<T>, Error> {
    array((rows, columns), zeroed(rows.saturating_mul(columns))?)
}

/// An array of some rows and columns, each element computed from its row and its column.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn array_of<T>(
    (rows, columns): (usize, usize),
    mut element: impl FnMut(usize, usize) -> T,
) -> Result<Array2<T>, Error> {
    let mut elements = Vec::new();
    reserve_exact(&mut elements, rows.saturating_mul(columns))?;
    for row in 0..rows {
        elements.extend((0..columns).map(|column| element(row, column)));
    }
    array((rows, columns), elements)
}

/// An array of the shape of another, each element computed from the other's.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn map<T, U>(array: &Array2<T>, mut element: impl FnMut(&T) -> U) -> Result<Array2<U>, Error> {
    array_of(array.dim(), |row, column| element(&array[[row, column]]))
}

/// Elements, row by row, as an array.
fn array<T>(shape: (usize, usize), elements: Vec<T>) -> Result<Array2<T>, Error> {
    let count = elements.len();
    // Only more elements than memory can have do not fit the shape.
    Array2::from_shape_vec(shape, elements).map_err(|_| refused::<T>(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_their_elements() -> Result<(), Error> {
        assert_eq!(filled(3, 7)?, [7; 3]);
        assert_eq!(collect((0..100).filter(|i| i % 30 == 0))?, [0, 30, 60, 90]);
        assert_eq!(concat(&[vec![1], vec![], vec![2, 3]])?, [1, 2, 3]);
        assert_eq!(zeroed::<f32>(2)?, [0.0; 2]);
        assert_eq!(
            array_of((2, 3), |row, column| 10 * row + column)?,
            ndarray::array![[0, 1, 2], [10, 11, 12]]
        );
        assert_eq!(zeros::<u8>((0, 5))?.dim(), (0, 5));
        let mut list = vec![1];
        extend(&mut list, &[2, 3])?;
        resize(&mut list, 4, 9)?;
        grow(&mut list, 2)?;
        assert_eq!(list, [1, 2, 3, 9]);
        Ok(())
    }

    #[test]
    fn too_much_memory_is_an_error_that_tells_how_much() {
        let bytes = |error: Result<(), Error>| match error {
            Err(Error::OutOfMemory { bytes }) => bytes,
            other => panic!("{other:?}"),
        };
        let many = usize::MAX / 8;
        assert_eq!(bytes(filled(many, 0_u64).map(|_| ())), many * 8);
        assert_eq!(bytes(zeroed::<u32>(many).map(|_| ())), many * 4);
        assert_eq!(bytes(zeros::<f32>((many, 8)).map(|_| ())), usize::MAX);
        assert_eq!(bytes(reserve(&mut vec![0_u8; 5], usize::MAX)), usize::MAX);
    }
}

//! A value of the library that threads of Python share: locked while it works, without the GIL.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use pyo3::prelude::*;

use crate::backend::BackendChoice;
use crate::errors::{Failure, Result};

/// How a value of the library is made, so that it can be made again.
pub(crate) trait Recipe: Send + Sync {
    /// The value.
    type Made: Send;

    /// Makes the value.
    ///
    /// # Errors
    /// The errors of the library.
    fn make(&self) -> Result<Self::Made, harris::Error>;

    /// The backend of the value in words, as in `cpu: 8 threads, avx512`.
    fn describe(&self, made: &Self::Made) -> String;
}

/// The value; `None` after a panic, until it is made again.
type Shared<T> = Arc<Mutex<Option<T>>>;

/// A value that is made by a recipe and closed at the end.
///
/// Calls lock the value without the GIL: a thread that waits for the value never holds up the one
/// that has it.
pub(crate) struct Session<R: Recipe> {
    recipe: R,
    description: String,
    /// The value and the process that may hold its lock; `None` when it is closed. This lock is
    /// taken only with the GIL, and only for a moment: a forked child finds it free.
    current: Mutex<Option<(Shared<R::Made>, u32)>>,
}

impl<R: Recipe> Session<R> {
    /// Makes the value with the first backend of a choice that can be used.
    ///
    /// # Errors
    /// The errors of the recipe.
    pub(crate) fn open(
        py: Python<'_>,
        choice: BackendChoice,
        recipe: impl Fn(BackendChoice) -> R + Sync,
    ) -> Result<Self> {
        let opened = py.detach(|| {
            guarded(|| {
                let (made, chosen) = choice.make(|backend| recipe(backend).make())?;
                Ok((made, recipe(chosen)))
            })
        });
        let (made, recipe) = opened?;
        let description = recipe.describe(&made);
        let shared = Arc::new(Mutex::new(Some(made)));
        Ok(Self { recipe, description, current: Mutex::new(Some((shared, std::process::id()))) })
    }

    /// How the value is made, with the backend that was chosen.
    pub(crate) fn recipe(&self) -> &R {
        &self.recipe
    }

    /// The backend of the new value in words.
    pub(crate) fn description(&self) -> &str {
        &self.description
    }

    /// Calls a function with the value, without the GIL.
    ///
    /// # Errors
    /// [`Failure::Closed`], [`Failure::Panic`], and the errors of `work`.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut R::Made) -> Result<T> + Send,
    ) -> Result<T> {
        let shared = self.shared()?;
        py.detach(|| {
            let mut slot = shared.lock().unwrap_or_else(PoisonError::into_inner);
            // Taken out, so that a panic leaves nothing half done behind.
            let held = slot.take();
            let (value, result) = guarded(|| {
                let mut value = match held {
                    Some(value) => value,
                    None => self.recipe.make()?,
                };
                let result = work(&mut value);
                Ok((value, result))
            })?;
            *slot = Some(value);
            result
        })
    }

    /// The value. In a forked child it is a new one if a thread of the parent held the lock.
    fn shared(&self) -> Result<Shared<R::Made>> {
        let process = std::process::id();
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let (shared, owner) = current.as_mut().ok_or(Failure::Closed)?;
        if *owner != process {
            if matches!(shared.try_lock(), Err(TryLockError::WouldBlock)) {
                // That thread is not there to give it back, so the value stays as it is, for ever.
                std::mem::forget(std::mem::replace(shared, Arc::new(Mutex::new(None))));
            }
            *owner = process;
        }
        Ok(Arc::clone(shared))
    }

    /// Drops the value; calls that are going on end first.
    pub(crate) fn close(&self, py: Python<'_>) {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| drop(current));
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

/// Calls a function; a panic becomes a failure.
///
/// # Errors
/// [`Failure::Panic`], and the errors of `work`.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(Failure::of_panic(&*payload)))
}

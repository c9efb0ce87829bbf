//! A program's clock.

use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::failure::ask;

/// A function that returns the current time. An exception of it comes out at the end of the work that asked; until then its
/// latest answer is the time.
pub(crate) struct Clock {
    function: Py<PyAny>,
    latest: Mutex<SystemTime>,
}

impl Clock {
    /// Takes a function, which has to answer at once.
    pub(crate) fn new(py: Python<'_>, function: Py<PyAny>) -> PyResult<Self> {
        let latest = Mutex::new(answer(function.bind(py))?);
        Ok(Self { function, latest })
    }

    /// Returns the current time.
    pub(crate) fn time(&self) -> SystemTime {
        let answer = ask(|py| answer(self.function.bind(py)));
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        *latest = answer.unwrap_or(*latest);
        *latest
    }
}

fn answer(function: &Bound<'_, PyAny>) -> PyResult<SystemTime> {
    let without_zone = "a clock returns a datetime with a time zone, such as datetime.now(timezone.utc)";
    function.call0()?.extract().map_err(|_| PyTypeError::new_err(without_zone))
}

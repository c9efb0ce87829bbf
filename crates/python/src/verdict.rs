//! Verdicts on signatures, and what was decrypted.

use std::time::SystemTime;

use keyhoard::Status;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// The verdict on one signature.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct Verdict {
    /// ``good``, ``bad``, ``no-key``, and others: whether it is good, and if not, why.
    status: &'static str,
    /// Whether it is over this content, by a key that could sign when it was made.
    is_good: bool,
    /// Whether it is good and the certificate is fully valid.
    is_certain: bool,
    /// The certificate's validity, ``unknown`` unless the signature is good.
    validity: &'static str,
    /// The certificate's fingerprint.
    certificate: Option<String>,
    /// The fingerprint of the key that made it, or where it is not good of the one that it names.
    key: Option<String>,
    /// The certificate's primary user ID, with control characters escaped.
    user_id: Option<String>,
    /// The key ID that it names: a hint.
    issuer: Option<String>,
    /// When it was made, as it says.
    created: Option<SystemTime>,
    /// When it expires, as it says.
    expires: Option<SystemTime>,
    /// The hash algorithm, such as ``SHA512``.
    hash: Option<String>,
    /// Its notations, where they are text: names and values.
    notations: Vec<(String, String)>,
    /// All of it in one line for people.
    text: String,
}

/// The verdicts on all signatures over one content.
#[pyclass(frozen, module = "keyhoard", sequence)]
pub(crate) struct Verdicts {
    /// Whether the content was signed as it is: at least one signature is good, and none is bad.
    #[pyo3(get)]
    are_good: bool,
    /// Whether that is so and the certificate of a good signature is fully valid: somebody trusted says whose it is.
    #[pyo3(get)]
    are_certain: bool,
    /// The content of a signed message whose signatures are good, unless it went to an output.
    #[pyo3(get)]
    content: Option<Py<PyBytes>>,
    all: Vec<Py<Verdict>>,
}

/// What came of a message.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct Decrypted {
    /// The content; ``None`` if it went to an output.
    data: Option<Py<PyBytes>>,
    /// The verdicts on the signatures in it; none of them is bad.
    verdicts: Py<Verdicts>,
    /// The cipher, such as ``AES256``.
    cipher: String,
    /// The name of the file that it says to hold: foreign text, not to be used as a path.
    file_name: String,
    /// The time of that file, if it says one.
    time: Option<SystemTime>,
    /// The bytes of its content.
    size: u64,
}

impl Verdict {
    fn of(verdict: &keyhoard::Verdict) -> Self {
        let text = |fingerprint: Option<keyhoard::Fingerprint>| fingerprint.map(|one| one.to_string());
        Self {
            status: verdict.status.name(),
            is_good: verdict.status == Status::Good,
            is_certain: verdict.is_certain(),
            validity: verdict.validity.word(),
            certificate: text(verdict.certificate),
            key: text(verdict.key.or(verdict.issuer_fingerprint)),
            user_id: verdict.user_id.clone(),
            issuer: verdict.issuer.map(|issuer| issuer.to_string()),
            created: verdict.created,
            expires: verdict.expires,
            hash: verdict.hash.clone(),
            notations: verdict.notations.clone(),
            text: verdict.to_string(),
        }
    }
}

#[pymethods]
impl Verdict {
    fn __bool__(&self) -> bool {
        self.is_good
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<Verdict {}>", self.text)
    }
}

impl Verdicts {
    pub(crate) fn of(
        py: Python<'_>,
        verdicts: &keyhoard::Verdicts,
        content: Option<Vec<u8>>,
    ) -> PyResult<Self> {
        let one = |verdict| Py::new(py, Verdict::of(verdict));
        Ok(Self {
            are_good: verdicts.are_good(),
            are_certain: verdicts.are_certain(),
            content: content.map(|content| PyBytes::new(py, &content).unbind()),
            all: verdicts.iter().map(one).collect::<PyResult<_>>()?,
        })
    }
}

#[pymethods]
impl Verdicts {
    fn __bool__(&self) -> bool {
        self.are_good
    }

    fn __len__(&self) -> usize {
        self.all.len()
    }

    fn __getitem__(&self, py: Python<'_>, index: isize) -> PyResult<Py<Verdict>> {
        let from_end = if index < 0 { index + self.all.len() as isize } else { index };
        let found = usize::try_from(from_end).ok().and_then(|index| self.all.get(index));
        found.map(|verdict| verdict.clone_ref(py)).ok_or_else(|| PyIndexError::new_err("no such signature"))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let all = self.all.iter().map(|verdict| verdict.clone_ref(py));
        PyList::new(py, all.collect::<Vec<_>>())?.call_method0("__iter__")
    }

    fn __str__(&self, py: Python<'_>) -> String {
        let lines: Vec<&str> = self.all.iter().map(|verdict| verdict.bind(py).get().text.as_str()).collect();
        lines.join("\n")
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<Verdicts [{}]>", self.__str__(py).replace('\n', "; "))
    }
}

impl Decrypted {
    pub(crate) fn of(
        py: Python<'_>,
        decrypted: keyhoard::Decrypted,
        data: Option<Vec<u8>>,
    ) -> PyResult<Self> {
        Ok(Self {
            data: data.map(|data| PyBytes::new(py, &data).unbind()),
            verdicts: Py::new(py, Verdicts::of(py, &decrypted.verdicts, None)?)?,
            cipher: decrypted.cipher,
            file_name: decrypted.file_name,
            time: decrypted.time,
            size: decrypted.bytes,
        })
    }
}

#[pymethods]
impl Decrypted {
    fn __bytes__(&self, py: Python<'_>) -> Py<PyBytes> {
        let data = self.data.as_ref().map(|data| data.clone_ref(py));
        data.unwrap_or_else(|| PyBytes::new(py, b"").unbind())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let verdicts = self.verdicts.bind(py).get().__repr__(py);
        format!("<Decrypted {} bytes, {}, {verdicts}>", self.size, self.cipher)
    }
}

//! The opened database.

use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::cert::Cert;
use crate::failure::exception;
use crate::passphrase::{passphrase, unlocking};
use crate::stream::{Input, Output};
use crate::verdict::{Decrypted, Verdicts};

/// A database of certificates, with the secret keys that belong to it.
#[pyclass(frozen, subclass, module = "keyhoard", name = "Keyhoard")]
pub(crate) struct Keyhoard {
    /// `None` once it was closed.
    open: RwLock<Option<keyhoard::Keyhoard>>,
}

/// The sums over an import.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct Imported {
    processed: u64,
    new: u64,
    changed: u64,
    unchanged: u64,
    refused: u64,
    secret_keys: u64,
    entry: Option<i64>,
}

/// An entry of the journal.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct JournalEntry {
    id: i64,
    time: SystemTime,
    command: String,
    added: u64,
    merged: u64,
    removed: u64,
    undone_by: Option<i64>,
    undoes: Option<i64>,
}

/// What an undo did.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct Undone {
    entry: i64,
    removed: u64,
    shrunk: u64,
    restored: u64,
    kept: u64,
}

/// A secret key, without its secret.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct SecretKey {
    fingerprint: String,
    is_primary: bool,
    is_locked: bool,
    is_here: bool,
}

/// A certificate as an argument: one that was looked up, or a name.
enum CertOrName {
    Cert(keyhoard::Cert),
    Name(String),
}

impl CertOrName {
    fn of(argument: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(cert) = argument.cast::<Cert>() {
            return Ok(Self::Cert(cert.get().cert.clone()));
        }
        match argument.cast::<PyString>() {
            Ok(name) => Ok(Self::Name(name.to_cow()?.into_owned())),
            Err(_) => Err(PyTypeError::new_err("a Cert, an address or a fingerprint is needed")),
        }
    }

    /// Reads one of them, or several in any iterable.
    fn all(argument: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Self>> {
        let Some(argument) = argument else { return Ok(Vec::new()) };
        if argument.cast::<PyString>().is_ok() || argument.cast::<Cert>().is_ok() {
            return Ok(vec![Self::of(argument)?]);
        }
        argument.try_iter()?.map(|one| Self::of(&one?)).collect()
    }
}

/// One passphrase, or several in any iterable.
fn passwords(argument: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<keyhoard::Passphrase>> {
    let Some(argument) = argument else { return Ok(Vec::new()) };
    if argument.cast::<PyString>().is_ok() || argument.cast::<PyBytes>().is_ok() {
        return Ok(vec![passphrase(argument)?]);
    }
    argument.try_iter()?.map(|one| passphrase(&one?)).collect()
}

type Done<T> = Result<T, keyhoard::Error>;

impl Keyhoard {
    fn kh(&self) -> PyResult<keyhoard::Keyhoard> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.clone().ok_or_else(|| PyValueError::new_err("the database was closed"))
    }

    /// Does some work on the database without the interpreter's lock.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&keyhoard::Keyhoard) -> Done<T> + Send,
    ) -> PyResult<T> {
        let kh = self.kh()?;
        py.detach(|| work(&kh)).map_err(exception)
    }

    fn find(&self, py: Python<'_>, query: String) -> PyResult<Vec<Cert>> {
        let found = self.run(py, |kh| {
            if query.contains('@') && !query.contains(['<', '=', '*', ' ']) {
                return kh.certs().by_email(&query);
            }
            kh.certs().by_name(&query)
        })?;
        Ok(found.into_iter().map(|cert| Cert { cert }).collect())
    }
}

#[pymethods]
impl Keyhoard {
    #[new]
    #[pyo3(signature = (location, *, must_exist = false, passphrase = None, secret_keys = None, gnupg_home = None,
        gnupg_rules = false, clock = None, program = None))]
    #[allow(clippy::too_many_arguments)] // Named in Python.
    fn new(
        py: Python<'_>,
        location: PathBuf,
        must_exist: bool,
        passphrase: Option<&Bound<'_, PyAny>>,
        secret_keys: Option<PathBuf>,
        gnupg_home: Option<PathBuf>,
        gnupg_rules: bool,
        clock: Option<Py<PyAny>>,
        program: Option<String>,
    ) -> PyResult<Self> {
        let mut options = keyhoard::Keyhoard::options();
        options = options.program(program.unwrap_or_else(|| "keyhoard (Python)".to_owned()));
        if must_exist {
            options = options.must_exist();
        }
        if let Some(directory) = secret_keys {
            options = options.secret_keys(directory);
        }
        if let Some(home) = gnupg_home {
            options = options.gnupg_home(home);
        }
        if gnupg_rules {
            options = options.gnupg_rules();
        }
        if let Some(passphrase) = passphrase {
            options = options.passphrases(unlocking(passphrase)?.answer());
        }
        if let Some(clock) = clock {
            options = options.clock(move || time_of(&clock));
        }
        let kh = py.detach(|| options.open(location)).map_err(exception)?;
        Ok(Self { open: RwLock::new(Some(kh)) })
    }

    fn close(&self) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyAny>) -> bool {
        self.close();
        false
    }

    fn import_(&self, py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<Imported> {
        let input = Input::of(source)?;
        let imported = self.run(py, |kh| match input {
            Input::Path(path) => kh.import_file(path),
            input => kh.import(input.open()?),
        })?;
        Ok(Imported::of(imported))
    }

    /// Asks the network; a time is in seconds.
    #[pyo3(signature = (name, keyservers, directory, timeout, proxy))]
    fn _fetch(
        &self,
        py: Python<'_>,
        name: String,
        keyservers: Vec<String>,
        directory: bool,
        timeout: u64,
        proxy: Option<String>,
    ) -> PyResult<Vec<Cert>> {
        let found = self.run(py, |kh| {
            let fetch = keyservers.into_iter().fold(kh.fetch(), keyhoard::Fetch::keyserver);
            let fetch = if directory { fetch } else { fetch.without_directory() };
            let fetch = proxy.into_iter().fold(fetch, keyhoard::Fetch::proxy);
            fetch.timeout(Duration::from_secs(timeout)).request(name)
        })?;
        Ok(found.into_iter().map(|cert| Cert { cert }).collect())
    }

    fn _certs(&self, py: Python<'_>, query: String) -> PyResult<Vec<Cert>> {
        self.find(py, query)
    }

    fn _search(&self, py: Python<'_>, words: String) -> PyResult<Vec<Cert>> {
        let found = self.run(py, |kh| kh.certs().search(&words))?;
        Ok(found.into_iter().map(|cert| Cert { cert }).collect())
    }

    fn _all(&self, py: Python<'_>) -> PyResult<Vec<Cert>> {
        let all = self.run(py, |kh| {
            let mut all = Vec::new();
            kh.certs().for_each(|cert| {
                all.push(cert);
                std::ops::ControlFlow::Continue(())
            })?;
            Ok(all)
        })?;
        Ok(all.into_iter().map(|cert| Cert { cert }).collect())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.run(py, |kh| kh.certs().count())? as usize)
    }

    /// A database without certificates is one all the same.
    fn __bool__(&self) -> bool {
        true
    }

    #[pyo3(signature = (data, to = None, *, hidden = None, sign = None, passwords = None, passphrase = None, armor = false,
        trust_all = false, file_name = None, output = None))]
    #[allow(clippy::too_many_arguments)] // Named in Python.
    fn encrypt(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        to: Option<&Bound<'_, PyAny>>,
        hidden: Option<Vec<Py<Cert>>>,
        sign: Option<&Bound<'_, PyAny>>,
        passwords: Option<&Bound<'_, PyAny>>,
        passphrase: Option<&Bound<'_, PyAny>>,
        armor: bool,
        trust_all: bool,
        file_name: Option<String>,
        output: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Py<PyBytes>>> {
        let (input, to, signers) = (Input::of(data)?, CertOrName::all(to)?, CertOrName::all(sign)?);
        let passwords = self::passwords(passwords)?;
        let unlock = passphrase.map(unlocking).transpose()?;
        let mut output = Output::of(output)?;
        let written = self.run(py, |kh| {
            let mut encrypt = kh.encrypt().file_name(file_name.unwrap_or_default());
            for one in &to {
                encrypt = match one {
                    CertOrName::Cert(cert) => encrypt.to(cert),
                    CertOrName::Name(name) => encrypt.to_email(name),
                };
            }
            encrypt =
                hidden.iter().flatten().fold(encrypt, |encrypt, cert| encrypt.to_hidden(&cert.get().cert));
            for one in &signers {
                encrypt = match one {
                    CertOrName::Cert(cert) => encrypt.sign_with(cert),
                    CertOrName::Name(name) => encrypt.sign_by(name),
                };
            }
            encrypt = passwords.into_iter().fold(encrypt, keyhoard::Encrypt::password);
            encrypt = if armor { encrypt.armor() } else { encrypt };
            encrypt = if trust_all { encrypt.trust_all() } else { encrypt };
            if let Some(unlock) = unlock {
                encrypt = encrypt.passphrases(unlock.answer());
            }
            encrypt.stream(input.open()?, &mut output)?;
            Ok(output.finish()?)
        })?;
        Ok(written.map(|bytes| PyBytes::new(py, &bytes).unbind()))
    }

    #[pyo3(signature = (message, *, passphrase = None, password = None, output = None))]
    fn decrypt(
        &self,
        py: Python<'_>,
        message: &Bound<'_, PyAny>,
        passphrase: Option<&Bound<'_, PyAny>>,
        password: Option<&Bound<'_, PyAny>>,
        output: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Decrypted> {
        let input = Input::of(message)?;
        let passwords = self::passwords(password)?;
        let unlock = passphrase.map(unlocking).transpose()?;
        let mut output = Output::of(output)?;
        let (decrypted, data) = self.run(py, |kh| {
            let mut decrypt = passwords.into_iter().fold(kh.decrypt(), keyhoard::Decrypt::password);
            if let Some(unlock) = unlock {
                decrypt = decrypt.passphrases(unlock.answer());
            }
            let decrypted = decrypt.stream(input.open()?, &mut output)?;
            Ok((decrypted, output.finish()?))
        })?;
        Decrypted::of(py, decrypted, data)
    }

    #[pyo3(signature = (data, by, *, mode = "detached", armor = true, passphrase = None, output = None))]
    #[allow(clippy::too_many_arguments)] // Named in Python.
    fn sign(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        by: &Bound<'_, PyAny>,
        mode: &str,
        armor: bool,
        passphrase: Option<&Bound<'_, PyAny>>,
        output: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Py<PyBytes>>> {
        if !["detached", "inline", "cleartext"].contains(&mode) {
            return Err(PyValueError::new_err("mode is 'detached', 'inline' or 'cleartext'"));
        }
        let (input, signers) = (Input::of(data)?, CertOrName::all(Some(by))?);
        let unlock = passphrase.map(unlocking).transpose()?;
        let mut output = Output::of(output)?;
        let written = self.run(py, |kh| {
            use std::io::{Read, Write};
            let mut sign = signers.iter().fold(kh.sign(), |sign, one| match one {
                CertOrName::Cert(cert) => sign.with(cert),
                CertOrName::Name(name) => sign.by(name),
            });
            sign = if armor { sign.armor() } else { sign };
            if let Some(unlock) = unlock {
                sign = sign.passphrases(unlock.answer());
            }
            let mut input = input.open()?;
            match mode {
                "detached" => output.write_all(&sign.detached(input)?)?,
                "inline" => sign.inline(input, &mut output)?,
                _ => {
                    let mut text = Vec::new();
                    input.read_to_end(&mut text)?;
                    output.write_all(&sign.cleartext(text)?)?;
                }
            }
            Ok(output.finish()?)
        })?;
        Ok(written.map(|bytes| PyBytes::new(py, &bytes).unbind()))
    }

    #[pyo3(signature = (data, signature = None, *, output = None))]
    fn verify(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        signature: Option<&Bound<'_, PyAny>>,
        output: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Verdicts> {
        let input = Input::of(data)?;
        if let Some(signature) = signature {
            if output.is_some() {
                return Err(PyValueError::new_err("a detached signature has no content for an output"));
            }
            let signature = Input::of(signature)?;
            let verdicts = self.run(py, |kh| kh.verify().detached(signature.open()?, input.open()?))?;
            return Verdicts::of(py, &verdicts, None);
        }
        let mut output = Output::of(output)?;
        let (verdicts, content) = self.run(py, |kh| {
            let verdicts = kh.verify().inline(input.open()?, &mut output)?;
            let content = if verdicts.are_good() { output.finish()? } else { None };
            Ok((verdicts, content))
        })?;
        Verdicts::of(py, &verdicts, content)
    }

    /// Verifies many detached signatures on all cores; each result is a `Verdicts` or an exception.
    fn verify_many(&self, py: Python<'_>, items: &Bound<'_, PyAny>) -> PyResult<Vec<Py<PyAny>>> {
        let mut inputs = Vec::new();
        for item in items.try_iter()? {
            let (data, signature): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item?.extract()?;
            let pair = (Input::of(&signature)?, Input::of(&data)?);
            inputs.push(std::sync::Mutex::new(Some(pair)));
        }
        let results = self.run(py, |kh| {
            kh.verify().many(inputs, |pair| {
                let taken = pair.lock().unwrap_or_else(PoisonError::into_inner).take();
                let (signature, data) = taken.ok_or_else(|| std::io::Error::other("it was read already"))?;
                Ok((signature.open()?, data.open()?))
            })
        })?;
        let results = results.into_iter().map(|result| match result {
            Ok(verdicts) => Ok(Py::new(py, Verdicts::of(py, &verdicts, None)?)?.into_any()),
            Err(error) => Ok(exception(error).into_value(py).into_any()),
        });
        results.collect()
    }

    #[pyo3(signature = (user_id, *more, profile = None, algorithm = None, subkey = None, expires_in = None, passphrase = None))]
    #[allow(clippy::too_many_arguments)] // Named in Python.
    fn generate(
        &self,
        py: Python<'_>,
        user_id: String,
        more: Vec<String>,
        profile: Option<String>,
        algorithm: Option<String>,
        subkey: Option<String>,
        expires_in: Option<Duration>,
        passphrase: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Cert> {
        let passphrase = passphrase.map(self::passphrase).transpose()?;
        let cert = self.run(py, |kh| {
            let mut generate = more.into_iter().fold(kh.generate(user_id), keyhoard::Generate::user_id);
            if let Some(profile) = profile {
                generate = generate.profile(profile);
            }
            if let Some(algorithm) = algorithm {
                generate = generate.algorithm(algorithm);
            }
            if let Some(subkey) = subkey {
                generate = generate.subkey(Some(subkey.as_str()).filter(|name| !name.is_empty()));
            }
            if let Some(lifetime) = expires_in {
                generate = generate.expires_in(lifetime);
            }
            if let Some(passphrase) = passphrase {
                generate = generate.passphrase(passphrase);
            }
            generate.create()
        })?;
        Ok(Cert { cert })
    }

    #[pyo3(signature = (cert, usage, *, algorithm = None, expires_in = None, passphrase = None))]
    #[allow(clippy::too_many_arguments)] // Named in Python.
    fn add_subkey(
        &self,
        py: Python<'_>,
        cert: Py<Cert>,
        usage: &str,
        algorithm: Option<String>,
        expires_in: Option<Duration>,
        passphrase: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let usage = match usage {
            "sign" => keyhoard::SubkeyUse::Sign,
            "encrypt" => keyhoard::SubkeyUse::Encrypt,
            "authenticate" => keyhoard::SubkeyUse::Authenticate,
            _ => return Err(PyValueError::new_err("a subkey is to 'sign', 'encrypt' or 'authenticate'")),
        };
        let (cert, unlock) = (cert.get().cert.clone(), passphrase.map(unlocking).transpose()?);
        let added = self.run(py, |kh| {
            let mut add = kh.add_subkey(&cert, usage);
            add = algorithm.into_iter().fold(add, keyhoard::AddSubkey::algorithm);
            add = expires_in.into_iter().fold(add, keyhoard::AddSubkey::expires_in);
            if let Some(unlock) = unlock {
                add = add.passphrases(unlock.answer());
            }
            add.create()
        })?;
        Ok(added.to_string())
    }

    #[pyo3(signature = (cert, by, *, local = false, passphrase = None))]
    fn certify(
        &self,
        py: Python<'_>,
        cert: Py<Cert>,
        by: Py<Cert>,
        local: bool,
        passphrase: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let (cert, by) = (cert.get().cert.clone(), by.get().cert.clone());
        let unlock = passphrase.map(unlocking).transpose()?;
        self.run(py, |kh| {
            let mut certify = kh.certify(&cert, &by);
            certify = if local { certify.local() } else { certify };
            if let Some(unlock) = unlock {
                certify = certify.passphrases(unlock.answer());
            }
            certify.create()
        })
    }

    fn delete(&self, py: Python<'_>, cert: Py<Cert>) -> PyResult<()> {
        let cert = cert.get().cert.clone();
        self.run(py, |kh| kh.delete(&cert))
    }

    fn owner_trust(&self, py: Python<'_>, cert: Py<Cert>) -> PyResult<&'static str> {
        let cert = cert.get().cert.clone();
        Ok(self.run(py, |kh| kh.owner_trust(&cert))?.word())
    }

    fn recipients(&self, py: Python<'_>, message: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let input = Input::of(message)?;
        let recipients = self.run(py, |kh| kh.decrypt().recipients(input.open()?))?;
        Ok(recipients.iter().map(ToString::to_string).collect())
    }

    fn set_owner_trust(&self, py: Python<'_>, cert: Py<Cert>, trust: &str) -> PyResult<()> {
        let (cert, trust) = (cert.get().cert.clone(), owner_trust(trust)?);
        self.run(py, |kh| kh.set_owner_trust(&cert, trust))
    }

    #[pyo3(signature = (cert = None))]
    fn secret_keys(&self, py: Python<'_>, cert: Option<Py<Cert>>) -> PyResult<Vec<SecretKey>> {
        let cert = cert.map(|cert| cert.get().cert.clone());
        let keys = self.run(py, |kh| cert.map_or_else(|| kh.keys().list(), |cert| kh.keys().of(&cert)))?;
        Ok(keys.into_iter().map(SecretKey::of).collect())
    }

    /// Returns certificates in one block of armor.
    fn export(&self, py: Python<'_>, certs: Vec<Py<Cert>>) -> PyResult<String> {
        let certs: Vec<_> = certs.iter().map(|cert| cert.get().cert.clone()).collect();
        self.run(py, |kh| kh.certs().export_armored(&certs))
    }

    #[pyo3(signature = (cert, *, armor = true))]
    fn export_secret(&self, py: Python<'_>, cert: Py<Cert>, armor: bool) -> PyResult<Py<PyAny>> {
        let cert = cert.get().cert.clone();
        if armor {
            let text = self.run(py, |kh| kh.keys().export_armored(&cert))?;
            return Ok(PyString::new(py, &text).into_any().unbind());
        }
        let packets = self.run(py, |kh| kh.keys().export(&cert))?;
        Ok(PyBytes::new(py, &packets).into_any().unbind())
    }

    fn delete_secret(&self, py: Python<'_>, cert: Py<Cert>) -> PyResult<bool> {
        let cert = cert.get().cert.clone();
        self.run(py, |kh| kh.keys().delete(&cert))
    }

    fn unlocks(&self, py: Python<'_>, cert: Py<Cert>, passphrase: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (cert, passphrase) = (cert.get().cert.clone(), self::passphrase(passphrase)?);
        self.run(py, |kh| kh.keys().unlocks(&cert, passphrase))
    }

    #[pyo3(signature = (limit = 100))]
    fn journal(&self, py: Python<'_>, limit: usize) -> PyResult<Vec<JournalEntry>> {
        let entries = self.run(py, |kh| kh.journal(limit))?;
        Ok(entries.into_iter().map(JournalEntry::of).collect())
    }

    #[pyo3(signature = (entry = None))]
    fn undo(&self, py: Python<'_>, entry: Option<i64>) -> PyResult<Undone> {
        Ok(Undone::of(self.run(py, |kh| kh.undo(entry))?))
    }

    /// Does what was collected, in one transaction: tuples of `import`, `delete` or `trust` and arguments.
    fn _transact(
        &self,
        py: Python<'_>,
        steps: Vec<(String, Bound<'_, PyAny>, Option<String>)>,
    ) -> PyResult<()> {
        let steps = steps.iter().map(|(kind, argument, word)| Step::of(kind, argument, word.as_deref()));
        let steps = steps.collect::<PyResult<Vec<Step>>>()?;
        self.run(py, |kh| {
            kh.transaction(|transaction| {
                steps.into_iter().try_for_each(|step| match step {
                    Step::Import(input) => transaction.import(input.open()?).map(drop),
                    Step::Delete(cert) => transaction.delete(&cert),
                    Step::Trust(cert, trust) => transaction.set_owner_trust(&cert, trust),
                })
            })
        })
    }

    fn __repr__(&self) -> String {
        match self.kh() {
            Ok(kh) => match kh.location() {
                keyhoard::Location::File(path) => format!("<Keyhoard {:?}>", path.display().to_string()),
                keyhoard::Location::Memory => "<Keyhoard ':memory:'>".to_owned(),
                _ => "<Keyhoard on a server>".to_owned(),
            },
            Err(_) => "<Keyhoard (closed)>".to_owned(),
        }
    }
}

/// A step of a transaction.
enum Step {
    Import(Input),
    Delete(keyhoard::Cert),
    Trust(keyhoard::Cert, keyhoard::OwnerTrust),
}

impl Step {
    fn of(kind: &str, argument: &Bound<'_, PyAny>, word: Option<&str>) -> PyResult<Self> {
        if kind == "import" {
            return Ok(Self::Import(Input::of(argument)?));
        }
        let cert = argument.cast::<Cert>()?.get().cert.clone();
        Ok(match word {
            Some(word) => Self::Trust(cert, owner_trust(word)?),
            None => Self::Delete(cert),
        })
    }
}

fn owner_trust(word: &str) -> PyResult<keyhoard::OwnerTrust> {
    let known = keyhoard::OwnerTrust::ALL.into_iter().find(|trust| trust.word() == word);
    known.ok_or_else(|| {
        PyValueError::new_err(
            "owner trust is 'unknown', 'undefined', 'never', 'marginal', 'full' or 'ultimate'",
        )
    })
}

/// Asks a program's clock, which returns a `datetime` with a time zone; one that fails counts as 1970.
fn time_of(clock: &Py<PyAny>) -> SystemTime {
    Python::attach(|py| {
        let clock = clock.bind(py);
        let asked = clock.call0().and_then(|time| time.extract::<SystemTime>());
        asked.unwrap_or_else(|error| {
            error.write_unraisable(py, Some(clock));
            UNIX_EPOCH
        })
    })
}

impl Imported {
    fn of(imported: keyhoard::Imported) -> Self {
        let keyhoard::Imported { processed, new, changed, unchanged, refused, secret_keys, entry, .. } =
            imported;
        Self { processed, new, changed, unchanged, refused, secret_keys, entry }
    }
}

#[pymethods]
impl Imported {
    fn __repr__(&self) -> String {
        let Self { processed, new, changed, unchanged, refused, .. } = self;
        format!(
            "<Imported {processed}: {new} new, {changed} changed, {unchanged} unchanged, {refused} refused>"
        )
    }
}

impl JournalEntry {
    fn of(entry: keyhoard::JournalEntry) -> Self {
        let keyhoard::JournalEntry { id, time, command, added, merged, removed, undone_by, undoes, .. } =
            entry;
        Self { id, time, command, added, merged, removed, undone_by, undoes }
    }
}

#[pymethods]
impl JournalEntry {
    fn __repr__(&self) -> String {
        let Self { id, command, added, merged, removed, .. } = self;
        format!("<JournalEntry {id} {command:?}: {added} added, {merged} merged, {removed} removed>")
    }
}

impl Undone {
    fn of(undone: keyhoard::Undone) -> Self {
        let keyhoard::Undone { entry, removed, shrunk, restored, kept, .. } = undone;
        Self { entry, removed, shrunk, restored, kept }
    }
}

#[pymethods]
impl Undone {
    fn __repr__(&self) -> String {
        let Self { entry, removed, shrunk, restored, kept } = self;
        format!("<Undone {entry}: {removed} removed, {shrunk} shrunk, {restored} restored, {kept} kept>")
    }
}

impl SecretKey {
    fn of(key: keyhoard::SecretKey) -> Self {
        let keyhoard::SecretKey { fingerprint, is_primary, is_locked, is_here, .. } = key;
        Self { fingerprint: fingerprint.to_string(), is_primary, is_locked, is_here }
    }
}

#[pymethods]
impl SecretKey {
    fn __repr__(&self) -> String {
        format!("<SecretKey {}{}>", self.fingerprint, if self.is_locked { " (locked)" } else { "" })
    }
}

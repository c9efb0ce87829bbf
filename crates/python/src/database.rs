//! The opened database.

use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::arguments::{CertOrName, Step, owner_trust, passwords};
use crate::cert::Cert;
use crate::clock::Clock;
use crate::failure::{exception, run};
use crate::passphrase::{passphrase, unlocking};
use crate::stream::{Input, Output};
use crate::values::{Imported, JournalEntry, SecretKey, Undone};
use crate::verdict::{Decrypted, Verdicts};

/// A database of certificates, with the secret keys that belong to it.
#[pyclass(frozen, subclass, module = "keyhoard", name = "Keyhoard")]
pub(crate) struct Keyhoard {
    /// `None` once it was closed.
    open: RwLock<Option<keyhoard::Keyhoard>>,
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
        run(py, || work(&kh))
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
            let clock = Clock::new(py, clock)?;
            options = options.clock(move || clock.time());
        }
        let kh = run(py, || options.open(location))?;
        Ok(Self { open: RwLock::new(Some(kh)) })
    }

    /// Closes the database; every later use of this object raises ``ValueError``. The ``with`` statement does
    /// it too.
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

    /// Imports certificates, with or without armor, and the secret keys that come with them.
    ///
    /// ``source`` is a path, something bytes-like or a binary file object; text in a ``str``, such as
    /// ``cert.armored()``, has to be encoded. Damaged certificates are counted, and are no error. Raises
    /// ``MalformedError`` if there is no certificate in it, ``OSError``, ``KeyUnusableError`` if a secret key
    /// could not be stored, and ``DatabaseError``.
    ///
    /// >>> kh.import_(ann.armored().encode())
    /// <Imported 1: 0 new, 0 changed, 1 unchanged, 0 refused>
    fn import_(&self, py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<Imported> {
        let input = Input::of(source)?;
        Ok(Imported::of(self.run(py, |kh| input.import_into(kh))?))
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

    /// Encrypts to certificates, to passwords, or to both, and returns the message; ``None`` if it goes to
    /// ``output``.
    ///
    /// ``to`` is a ``Cert``, an address or a fingerprint, or several of them. A ``Cert`` is taken as it is;
    /// an address has to belong to exactly one usable certificate that is fully valid, unless ``trust_all``
    /// is set. The message does not name the certificates in ``hidden``. ``sign`` is who signs, in the same
    /// way as ``to``; ``passphrase`` unlocks these keys: text, bytes, or a function of a fingerprint and the
    /// number of wrong answers. ``passwords`` is one password or several that open the message, ``file_name``
    /// a name that its readers see.
    ///
    /// Raises ``NotFoundError``, ``AmbiguousError``, ``NotValidError``, ``KeyUnusableError``,
    /// ``PassphraseError``, and ``Error`` with the code ``incomplete`` if nobody could read the message.
    ///
    /// >>> message = kh.encrypt(b"hello", to="ann@example.org", sign=ann, armor=True)
    /// >>> message[:27]
    /// b'-----BEGIN PGP MESSAGE-----'
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

    /// Decrypts a message with the secret keys of the database or with passwords, and verifies its
    /// signatures.
    ///
    /// ``passphrase`` unlocks secret keys: text, bytes, or a function of a fingerprint and the number of
    /// wrong answers. ``passwords`` is one password or several with which the message may have been
    /// encrypted. The content is ``data`` of the result, or goes to ``output``.
    ///
    /// Raises ``DecryptionError``, ``PassphraseError``, ``KeyUnusableError``, ``MalformedError``, and
    /// ``SignatureError`` if a signature in the message is bad.
    ///
    /// >>> decrypted = kh.decrypt(kh.encrypt(b"hello", to=ann, sign=ann))
    /// >>> decrypted.data, decrypted.verdicts.are_certain
    /// (b'hello', True)
    #[pyo3(signature = (message, *, passphrase = None, passwords = None, output = None))]
    fn decrypt(
        &self,
        py: Python<'_>,
        message: &Bound<'_, PyAny>,
        passphrase: Option<&Bound<'_, PyAny>>,
        passwords: Option<&Bound<'_, PyAny>>,
        output: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Decrypted> {
        let input = Input::of(message)?;
        let passwords = self::passwords(passwords)?;
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

    /// Signs data with secret keys of the database, and returns the signature; ``None`` if it goes to
    /// ``output``.
    ///
    /// ``by`` is a ``Cert``, an address or a fingerprint, or several of them. ``mode`` is ``"detached"`` for
    /// a signature without the data, ``"inline"`` for a message that holds both, or ``"cleartext"`` for text
    /// that people can read without a program, which has armor always. ``passphrase`` unlocks the keys: text,
    /// bytes, or a function of a fingerprint and the number of wrong answers.
    ///
    /// Raises ``NotFoundError``, ``AmbiguousError``, ``KeyUnusableError`` and ``PassphraseError``.
    ///
    /// >>> signature = kh.sign(b"release 1.0", ann)
    /// >>> kh.verify(b"release 1.0", signature).are_certain
    /// True
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

    /// Verifies detached signatures over data, or without ``signature`` a signed message or clear-signed
    /// text.
    ///
    /// The content of a signed message is ``content`` of the result, or goes to ``output``; there is none
    /// unless the signatures are good. A signature that is not good is no exception: ask ``are_good`` or
    /// ``are_certain``.
    ///
    /// Raises ``MalformedError`` for what is no signature, and ``SignatureError`` for a message without one.
    ///
    /// >>> signed = kh.sign(b"text\n", ann, mode="cleartext")
    /// >>> kh.verify(signed).content
    /// b'text\n'
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

    /// Verifies a signed message or clear-signed text, whose content is not wanted.
    fn _verify_message(&self, py: Python<'_>, message: &Bound<'_, PyAny>) -> PyResult<Verdicts> {
        let input = Input::of(message)?;
        Verdicts::of(py, &self.run(py, |kh| kh.verify().message(input.open()?))?, None)
    }

    /// Verifies detached signatures over many data, on all cores.
    ///
    /// ``items`` are pairs of data and signature. Returns a ``Verdicts`` for each, or the exception that says
    /// what is wrong with it.
    ///
    /// >>> kh.verify_many([(b"1", kh.sign(b"1", ann)), (b"2", kh.sign(b"1", ann))])[1].are_good
    /// False
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

    /// Makes a key with these user IDs, enters its certificate as the user's own, and returns that.
    ///
    /// ``profile`` is ``"compatible"`` (the default: version 4, Ed25519 and Cv25519), ``"modern"`` (version
    /// 6, RFC 9580) or ``"rsa4096"``. ``algorithm``, such as ``"rsa3072"``, replaces its algorithms;
    /// ``subkey`` is the algorithm of the subkey that encrypts, and ``""`` makes none. ``expires_in`` is a
    /// ``timedelta``.
    ///
    /// ``passphrase`` locks the secret keys. Without it they are not locked, even if the database was opened
    /// with a passphrase: that one only unlocks. Beside a database in a file, a revocation certificate is
    /// written into the directory ``openpgp-revocs.d``.
    ///
    /// Raises ``Error`` with the code ``generate`` for an unknown profile or algorithm, or ``incomplete``
    /// where secret keys cannot be stored; ``KeyUnusableError`` in a directory that others can change.
    ///
    /// >>> bob = kh.generate("Bob <bob@example.org>", profile="modern", passphrase="secret")
    /// >>> bob.version, bob.emails
    /// (6, ['bob@example.org'])
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

    /// Adds a subkey to an own key, locked as its primary key is, and returns the subkey's fingerprint.
    ///
    /// ``usage`` is ``"sign"``, ``"encrypt"`` or ``"authenticate"``, ``algorithm`` such as ``"rsa3072"`` in
    /// place of Curve25519, ``expires_in`` a ``timedelta``; ``passphrase`` unlocks the primary key. A
    /// ``Cert`` that was looked up before does not have it.
    ///
    /// Raises ``PassphraseError``, ``KeyUnusableError``, and ``Error`` with the code ``generate`` if it
    /// cannot be made.
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

    /// Certifies the user IDs of ``cert`` with the primary key of ``by``; returns how many it had not
    /// certified yet.
    ///
    /// With ``local``, the certifications are not exported. ``passphrase`` unlocks the key. Do that only if
    /// the owner has told the fingerprint. Raises ``PassphraseError``, ``KeyUnusableError``, and ``Error``
    /// with the code ``generate`` if one of the keys is revoked or has expired.
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

    /// Deletes a certificate, which ``undo`` brings back; secret keys stay.
    fn delete(&self, py: Python<'_>, cert: Py<Cert>) -> PyResult<()> {
        let cert = cert.get().cert.clone();
        self.run(py, |kh| kh.delete(&cert))
    }

    /// Returns how far the user trusts a certificate's owner to certify others: ``"unknown"``,
    /// ``"undefined"``, ``"never"``, ``"marginal"``, ``"full"`` or ``"ultimate"``.
    fn owner_trust(&self, py: Python<'_>, cert: Py<Cert>) -> PyResult<&'static str> {
        let cert = cert.get().cert.clone();
        Ok(self.run(py, |kh| kh.owner_trust(&cert))?.word())
    }

    /// Returns the key IDs of the keys that a message is encrypted to, without decrypting it; hidden ones are
    /// left out.
    ///
    /// Raises ``MalformedError``.
    fn recipients(&self, py: Python<'_>, message: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let input = Input::of(message)?;
        let recipients = self.run(py, |kh| kh.decrypt().recipients(input.open()?))?;
        Ok(recipients.iter().map(ToString::to_string).collect())
    }

    /// Says how far the user trusts a certificate's owner to certify others; ``"ultimate"`` says that it is
    /// the user's own.
    ///
    /// ``trust`` is one of the words that ``owner_trust`` returns; another one raises ``ValueError``.
    fn set_owner_trust(&self, py: Python<'_>, cert: Py<Cert>, trust: &str) -> PyResult<()> {
        let (cert, trust) = (cert.get().cert.clone(), owner_trust(trust)?);
        self.run(py, |kh| kh.set_owner_trust(&cert, trust))
    }

    /// Returns the secret keys of a certificate, or all of them.
    ///
    /// Raises ``KeyUnusableError``, also if somebody else could change them.
    #[pyo3(signature = (cert = None))]
    fn secret_keys(&self, py: Python<'_>, cert: Option<Py<Cert>>) -> PyResult<Vec<SecretKey>> {
        let cert = cert.map(|cert| cert.get().cert.clone());
        let keys = self.run(py, |kh| cert.map_or_else(|| kh.keys().list(), |cert| kh.keys().of(&cert)))?;
        Ok(keys.into_iter().map(SecretKey::of).collect())
    }

    /// Returns certificates, without local signatures, in one block of ASCII armor.
    ///
    /// Raises ``NotFoundError`` if one is no longer in the database.
    fn export(&self, py: Python<'_>, certs: Vec<Py<Cert>>) -> PyResult<String> {
        let certs: Vec<_> = certs.iter().map(|cert| cert.get().cert.clone()).collect();
        self.run(py, |kh| kh.certs().export_armored(&certs))
    }

    /// Returns a certificate with its secret keys, as they are locked: text in ASCII armor, without ``armor``
    /// bytes.
    ///
    /// Raises ``NotFoundError`` if none of its secret keys is here.
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

    /// Deletes the secret keys of a certificate for good; says whether there were any.
    fn delete_secret(&self, py: Python<'_>, cert: Py<Cert>) -> PyResult<bool> {
        let cert = cert.get().cert.clone();
        self.run(py, |kh| kh.keys().delete(&cert))
    }

    /// Says whether a passphrase unlocks all secret keys of a certificate that are here.
    ///
    /// Raises ``NotFoundError`` if there is none.
    fn unlocks(&self, py: Python<'_>, cert: Py<Cert>, passphrase: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (cert, passphrase) = (cert.get().cert.clone(), self::passphrase(passphrase)?);
        self.run(py, |kh| kh.keys().unlocks(&cert, passphrase))
    }

    /// Locks the secret keys of a certificate with another passphrase; an empty one removes the protection.
    ///
    /// Raises ``PassphraseError`` if ``old`` is wrong, and ``KeyUnusableError``.
    fn relock(
        &self,
        py: Python<'_>,
        cert: Py<Cert>,
        old: &Bound<'_, PyAny>,
        new: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (cert, old, new) = (cert.get().cert.clone(), passphrase(old)?, passphrase(new)?);
        self.run(py, |kh| kh.keys().relock(&cert, old, new))
    }

    /// Returns the latest entries of the journal, newest first, at most ``limit``.
    #[pyo3(signature = (limit = 100))]
    fn journal(&self, py: Python<'_>, limit: usize) -> PyResult<Vec<JournalEntry>> {
        let entries = self.run(py, |kh| kh.journal(limit))?;
        Ok(entries.into_iter().map(JournalEntry::of).collect())
    }

    /// Takes back what an entry of the journal did, else the last one that is not undone.
    ///
    /// Raises ``UndoError``, which says what prevents it.
    ///
    /// >>> kh.delete(ann)
    /// >>> kh.undo().restored
    /// 1
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

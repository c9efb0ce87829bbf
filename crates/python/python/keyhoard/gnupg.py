"""The interface of python-gnupg on this library: the class :class:`GPG` and its results, without any program.

``import keyhoard.gnupg as gnupg`` is all that a program changes. Certificates and secret keys are in ``keyhoard.db`` and
``secret-keys`` in the directory that ``gnupghome`` names, where ``gpg-keyhoard`` has them too. ``docs/python.md`` lists what
differs: there is no gpg and no agent, so options for gpg's command line and its status lines have no effect.
"""

from __future__ import annotations

import io
import logging
import os
import re
import socket
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import datetime, timedelta, timezone
from queue import Queue
from shlex import quote as shell_quote
from typing import Any, BinaryIO, Optional, Union

from . import Cert, Decrypted, Error, Key, Keyhoard, MalformedError, UserId, Verdict, Verdicts
from . import open as open_database

__all__ = ["GPG", "shell_quote"]

#: The version of python-gnupg whose interface this is.
__version__ = "0.5.7"

logger = logging.getLogger(__name__)
text_type = str
_py3k = True

#: The version of GnuPG whose interface this is.
VERSION = (2, 2, 40)

Names = Union[str, Iterable[str], None]
File = Union[str, "os.PathLike[str]", BinaryIO]

_CHARACTERS_OF_TRUST = {
    "unknown": "-",
    "undefined": "q",
    "never": "n",
    "marginal": "m",
    "full": "f",
    "ultimate": "u",
}
_TRUST = {
    "TRUST_UNDEFINED": "undefined",
    "TRUST_NEVER": "never",
    "TRUST_MARGINAL": "marginal",
    "TRUST_FULLY": "full",
    "TRUST_ULTIMATE": "ultimate",
}
# Of gpg's colon listing.
_FIELDS = (
    "type", "trust", "length", "algo", "keyid", "date", "expires", "dummy", "ownertrust", "uid", "sig", "cap", "issuer",
    "flag", "token", "hash", "curve", "compliance", "updated", "origin", "keygrip",
)  # fmt: skip
_HASHES = {"MD5": "1", "SHA1": "2", "RIPEMD160": "3", "SHA256": "8", "SHA384": "9", "SHA512": "10", "SHA224": "11"}


_REASONS = {
    "not-found": "not found",
    "ambiguous": "ambiguous specification",
    "no-usable-key": "wrong key usage",
    "secret-key": "not a secret key",
    "not-valid": "key not trusted",
}


def _detail(error: Error) -> str:
    name = getattr(error, "name", None) or getattr(error, "fingerprint", None) or "no ident"
    return f"{_REASONS[error.code]}:{name.strip('<>')}" if error.code in _REASONS else ""


def _make_binary_stream(data: Union[str, bytes], encoding: str) -> BinaryIO:
    return io.BytesIO(data.encode(encoding) if isinstance(data, str) else data)


class _Result:
    """What every result has: ``returncode`` is 0 if it was done, ``status`` says what happened, ``stderr`` why not."""

    returncode: Optional[int] = None
    ok: bool = False
    status: Optional[str] = None
    stderr: str = ""

    def __init__(self, gpg: GPG) -> None:
        self.gpg = gpg
        self.data: Any = b""
        self.on_data_failure: Optional[Exception] = None

    def _done(self, status: str) -> None:
        self.returncode, self.ok, self.status = 0, True, status

    def _failed(self, status: str, error: object = "") -> None:
        self.returncode, self.ok, self.status, self.stderr = 2, False, status, str(error)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return self.data.decode(self.gpg.encoding, self.gpg.decode_errors) if isinstance(self.data, bytes) else ""


class Verify(_Result):
    """What came of verifying signatures."""

    TRUST_EXPIRED, TRUST_UNDEFINED, TRUST_NEVER, TRUST_MARGINAL, TRUST_FULLY, TRUST_ULTIMATE = range(6)
    TRUST_LEVELS = {
        "TRUST_EXPIRED": TRUST_EXPIRED,
        "TRUST_UNDEFINED": TRUST_UNDEFINED,
        "TRUST_NEVER": TRUST_NEVER,
        "TRUST_MARGINAL": TRUST_MARGINAL,
        "TRUST_FULLY": TRUST_FULLY,
        "TRUST_ULTIMATE": TRUST_ULTIMATE,
    }

    def __init__(self, gpg: GPG) -> None:
        super().__init__(gpg)
        self.valid = False
        self.fingerprint: Optional[str] = None
        self.pubkey_fingerprint: Optional[str] = None
        self.key_id: Optional[str] = None
        self.username: Optional[str] = None
        self.creation_date: Optional[str] = None
        self.timestamp: Optional[str] = None
        self.sig_timestamp: Optional[str] = None
        self.expire_timestamp: Optional[str] = None
        self.signature_id: Optional[str] = None
        self.key_status: Optional[str] = None
        self.trust_text: Optional[str] = None
        self.trust_level: Optional[int] = None
        self.sig_info: dict[str, dict[str, Any]] = {}
        self.problems: list[dict[str, Any]] = []

    def __bool__(self) -> bool:
        return self.valid

    _STATUS = {
        "bad": "signature bad",
        "no-key": "no public key",
        "expired": "signature expired",
        "key-revoked": "signing key was revoked",
        "key-expired": "signing key has expired",
    }
    _LEVELS = {"never": "TRUST_NEVER", "marginal": "TRUST_MARGINAL", "full": "TRUST_FULLY", "ultimate": "TRUST_ULTIMATE"}

    def _take(self, verdicts: Verdicts) -> None:
        for number, verdict in enumerate(verdicts):
            self._take_one(number, verdict)
        self.valid = verdicts.are_good

    def _take_one(self, number: int, verdict: Verdict) -> None:
        key_id = verdict.key[-16:] if verdict.key else verdict.issuer
        self.key_id, self.username = key_id, verdict.user_id
        if not verdict.is_good:
            status = self._STATUS.get(verdict.status, "signature error")
            self.status = status
            self.problems.append({"status": status, "keyid": key_id, "user": verdict.user_id})
            return
        created = verdict.created or datetime.fromtimestamp(0, timezone.utc)
        self.status = "signature valid"
        self.fingerprint, self.pubkey_fingerprint = verdict.key, verdict.certificate
        self.creation_date = created.date().isoformat()
        self.timestamp = self.sig_timestamp = str(int(created.timestamp()))
        self.expire_timestamp = str(int(verdict.expires.timestamp())) if verdict.expires else "0"
        self.trust_text = self._LEVELS.get(verdict.validity, "TRUST_UNDEFINED")
        self.trust_level = self.TRUST_LEVELS[self.trust_text]
        self.signature_id = f"{verdict.key}/{self.timestamp}/{number}"
        self.sig_info[self.signature_id] = {
            "status": self.status,
            "fingerprint": verdict.key,
            "pubkey_fingerprint": verdict.certificate,
            "keyid": key_id,
            "username": verdict.user_id,
            "creation_date": self.creation_date,
            "timestamp": self.timestamp,
            "expiry": self.expire_timestamp,
            "trust_text": self.trust_text,
            "trust_level": self.trust_level,
        }


class Crypt(Verify):
    """What came of encrypting or decrypting: ``data`` holds it."""

    #: Why a recipient or a signer was refused, and which.
    status_detail: str = ""

    def __bool__(self) -> bool:
        return self.ok


class Sign(_Result):
    """What came of signing: ``data`` holds it."""

    #: Why the signer was refused, and which it was.
    status_detail: Optional[str] = None
    type: Optional[str] = None
    hash_algo: Optional[str] = None
    fingerprint: Optional[str] = None
    timestamp: Optional[str] = None
    username: Optional[str] = None
    key_id: Optional[str] = None


class GenKey(_Result):
    """What came of making a key."""

    def __init__(self, gpg: GPG) -> None:
        super().__init__(gpg)
        self.type: Optional[str] = None
        self.fingerprint = ""
        self.data = ""

    def __bool__(self) -> bool:
        return bool(self.fingerprint)

    def __str__(self) -> str:
        return self.fingerprint


class AddSubkey(GenKey):
    """What came of adding a subkey."""


class ExportResult(GenKey):
    """What came of exporting keys."""


class SendResult(_Result):
    """What came of sending keys to a keyserver, which this module does not do."""


class AutoLocateKey(_Result):
    """What came of looking a key up in the network, which this module does not do."""

    fingerprint: Optional[str] = None
    type: Optional[str] = None
    created_at: Optional[datetime] = None
    email: Optional[str] = None
    email_real_name: Optional[str] = None


class DeleteResult(_Result):
    """What came of deleting keys."""

    def __init__(self, gpg: GPG) -> None:
        super().__init__(gpg)
        self._done("ok")

    def __str__(self) -> str:
        return self.status or ""


class TrustResult(DeleteResult):
    """What came of setting owner trust."""


class ImportResult(_Result):
    """What came of an import, counted as gpg does."""

    def __init__(self, gpg: GPG) -> None:
        super().__init__(gpg)
        self.results: list[dict[str, Any]] = []
        self.fingerprints: list[str] = []
        self.count = self.imported = self.unchanged = self.not_imported = self.no_user_id = 0
        self.n_uids = self.n_subk = self.n_sigs = self.n_revoc = self.imported_rsa = 0
        self.sec_read = self.sec_imported = self.sec_dups = 0

    def __bool__(self) -> bool:
        return not self.not_imported and bool(self.fingerprints)

    def summary(self) -> str:
        """Says how many were imported, and how many were not."""
        more = f", {self.not_imported} not imported" if self.not_imported else ""
        return f"{self.imported} imported{more}"


class ListKeys(list[dict[str, Any]]):
    """Keys as dictionaries, with their fields as gpg's colon listing has them."""

    returncode: Optional[int] = None

    def __init__(self, gpg: GPG) -> None:
        super().__init__()
        self.gpg = gpg
        self.fingerprints: list[str] = []
        self.uids: list[str] = []
        self.uid_map: dict[str, dict[str, str]] = {}
        self.key_map: dict[str, dict[str, Any]] = {}

    def _add(self, cert: Cert, secret: Optional[set[str]], owner_trust: str, with_signatures: bool) -> None:
        primary, *subkeys = cert.keys
        level, levels = _levels(cert)
        entry = _fields("pub" if secret is None else "sec", primary, level)
        del entry["uid"]  # As in python-gnupg: it has those in "uids".
        entry.update(
            fingerprint=primary.fingerprint,
            keygrip=primary.keygrip or "",
            ownertrust=_CHARACTERS_OF_TRUST[owner_trust],
            uids=[user_id.text for user_id in cert.user_ids],
            cap=_capabilities(primary) + _capabilities(*cert.keys).upper(),
            sigs=[],
            subkeys=[],
            subkey_info={},
        )
        if with_signatures:
            entry["sigs"] = [(one.issuer, one.issuer_name or "[User ID not found]", f"{one.type:02x}x") for one in cert.signatures()]
        self.append(entry)
        self.fingerprints.append(primary.fingerprint)
        self.uids.extend(entry["uids"])
        self.uid_map.update((user_id.text, _user_id_fields(user_id, level)) for user_id, level in zip(cert.user_ids, levels))
        self.key_map[primary.fingerprint] = entry
        for subkey in subkeys:
            kind = "sub" if secret is None else "ssb"
            info = _fields(kind, subkey, level)
            use = _capabilities(subkey) if secret is None else None
            info.update(cap=_capabilities(subkey), capability=use, fingerprint=subkey.fingerprint, keygrip=subkey.keygrip or "")
            entry["subkeys"].append([info["keyid"], use, subkey.fingerprint, subkey.keygrip or ""])
            entry["subkey_info"][info["keyid"]] = info
            self.key_map[subkey.fingerprint] = entry


class SearchKeys(ListKeys):
    """Keys that were found on a keyserver."""


class ScanKeys(ListKeys):
    """Keys that a file holds."""


def _capabilities(*keys: Key) -> str:
    uses = ("e", "can_encrypt"), ("s", "can_sign"), ("c", "can_certify"), ("a", "can_authenticate")
    return "".join(letter for letter, use in uses if any(getattr(key, use) for key in keys))


def _levels(cert: Cert) -> tuple[str, list[str]]:
    """Returns how valid a certificate is, and each of its user IDs."""
    if cert.is_revoked or cert.is_expired:
        level = "r" if cert.is_revoked else "e"
        return level, [level] * len(cert.user_ids)
    level, levels = cert._levels()
    return _CHARACTERS_OF_TRUST[level], [_CHARACTERS_OF_TRUST[one] for one in levels]


def _user_id_fields(user_id: UserId, level: str) -> dict[str, str]:
    level = "r" if user_id.is_revoked else "e" if user_id.is_expired else level
    times = {"date": _seconds(user_id.created), "expires": _seconds(user_id.expires)}
    return {**dict.fromkeys(_FIELDS, ""), "type": "uid", "trust": level, **times, "uid": user_id.text}


def _seconds(time: Optional[datetime]) -> str:
    return str(int(time.timestamp())) if time else ""


def _fields(kind: str, key: Key, level: str) -> dict[str, Any]:
    key_id = key.fingerprint[-16:] if len(key.fingerprint) == 40 else key.fingerprint[:16]
    return {
        **dict.fromkeys(_FIELDS, ""),
        "type": kind,
        "trust": level,
        "length": str(key.bits),
        "algo": str(key.algorithm_id),
        "keyid": key_id,
        "date": _seconds(key.created),
        "expires": _seconds(key.expires),
        "curve": key.algorithm if key.algorithm_id in (18, 19, 22) else "",
    }


class _Output:
    """Collects what is written, or hands it to ``on_data``, or both."""

    def __init__(self, on_data: Optional[Callable[[bytes], object]]) -> None:
        self.on_data = on_data
        self.collected = bytearray()
        self.failure: Optional[Exception] = None

    def write(self, data: Union[bytes, bytearray]) -> int:
        wanted: object = None
        if self.on_data and self.failure is None:
            try:
                wanted = self.on_data(bytes(data))
            except Exception as failure:  # As in python-gnupg, it is kept for the caller.
                self.failure = failure
        if wanted is not False:
            self.collected += data
        return len(data)


class _File:
    """A file that is opened when there is something to write, or nothing to the end, and keeps its mode."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.file: Optional[BinaryIO] = None

    def write(self, data: bytes) -> int:
        self.file = self.file or open(self.path, "wb")
        return self.file.write(data)

    def __enter__(self) -> _File:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], *_: object) -> None:
        if kind is None:
            self.write(b"")
        if self.file:
            self.file.close()


def _target(output: Optional[str], written: _Output) -> AbstractContextManager[Any]:
    return _File(output) if output else nullcontext(written)


class _Copied:
    """Writes to a target, and hands a copy to another thread, which reads it."""

    def __init__(self, target: Any) -> None:
        self.target = target
        self.pieces: Queue[bytes] = Queue(8)
        self.is_at_end = False

    def write(self, data: bytes) -> int:
        self.target.write(data)
        if data:
            self.pieces.put(data)
        return len(data)

    def end(self) -> None:
        self.pieces.put(b"")

    def read(self, size: int = 0, /) -> bytes:
        piece = b"" if self.is_at_end else self.pieces.get()
        self.is_at_end = not piece
        return piece


def _read_meanwhile(write: Callable[[_Copied], object], target: Any, read: Callable[[_Copied], Verdicts]) -> Verdicts:
    """Has something written to a target, and returns what a thread makes of a copy of it meanwhile."""
    copied = _Copied(target)

    def read_to_the_end() -> Verdicts:
        try:
            return read(copied)
        finally:
            while copied.read():  # The writer waits for it.
                pass

    with ThreadPoolExecutor(1) as thread:
        verdicts = thread.submit(read_to_the_end)
        try:
            write(copied)
        finally:
            copied.end()
    return verdicts.result()


class GPG:
    """Keys in a directory, with python-gnupg's methods.

    >>> import tempfile
    >>> gpg = GPG(gnupghome=tempfile.mkdtemp())
    >>> curves = dict(key_type="EDDSA", key_curve="ed25519", subkey_type="ECDH", subkey_curve="cv25519")
    >>> key = gpg.gen_key(gpg.gen_key_input(name_email="ann@example.org", passphrase="secret", **curves))
    >>> message = gpg.encrypt("hello", key.fingerprint)
    >>> str(gpg.decrypt(str(message), passphrase="secret"))
    'hello'
    """

    error_map: Optional[dict[int, str]] = None
    decode_errors = "strict"
    buffer_size = 16384
    #: The classes of results, which a program may replace by classes derived from them.
    result_map: dict[str, Any] = {
        "crypt": Crypt,
        "delete": DeleteResult,
        "generate": GenKey,
        "addSubkey": AddSubkey,
        "import": ImportResult,
        "send": SendResult,
        "list": ListKeys,
        "scan": ScanKeys,
        "search": SearchKeys,
        "sign": Sign,
        "trust": TrustResult,
        "verify": Verify,
        "export": ExportResult,
        "auto-locate-key": AutoLocateKey,
    }

    def __init__(
        self,
        gpgbinary: str = "gpg",
        gnupghome: Union[str, os.PathLike[str], None] = None,
        verbose: bool = False,
        use_agent: bool = False,
        keyring: Names = None,
        options: Union[str, list[str], None] = None,
        secret_keyring: Names = None,
        env: Optional[dict[str, str]] = None,
        encoding: str = "latin-1",
    ) -> None:
        if gnupghome and not os.path.isdir(gnupghome):
            raise ValueError(f"gnupghome should be a directory (it isn't): {gnupghome!s}")
        self._home = os.fspath(gnupghome) if gnupghome else _default_home(env)
        if not all(self._is_own(name) for name in _names(keyring) + _names(secret_keyring)):
            raise NotImplementedError("keyrings in files are not used here: import them, or name another gnupghome")
        self.gnupghome, self.gpgbinary, self.verbose, self.use_agent = gnupghome, gpgbinary, verbose, use_agent
        self.keyring, self.secret_keyring, self.env = keyring, secret_keyring, env
        self.options = [options] if isinstance(options, str) else options
        self.on_data: Optional[Callable[[bytes], object]] = None
        #: How text becomes bytes, and bytes text: data, results and passphrases alike.
        self.encoding = encoding
        self.version = VERSION
        self.full_version = ".".join(map(str, VERSION))
        self.check_fingerprint_collisions = False

    # Each call opens the database: another program may have replaced it, and a fork may have happened.
    def _open(self) -> Keyhoard:
        return open_database(os.path.join(self._home, "keyhoard.db"), gnupg_rules=True, program="keyhoard.gnupg")

    def _is_own(self, keyring: str) -> bool:
        path = os.path.join(self._home, keyring)
        own = ("pubring.kbx", "pubring.gpg", "secring.gpg")
        return os.path.dirname(path) == self._home.rstrip("/") and os.path.basename(path) in own

    def is_valid_file(self, fileobj: object) -> bool:
        """Says whether an object can be read from."""
        return hasattr(fileobj, "read")

    def is_valid_passphrase(self, passphrase: str) -> bool:
        """Says whether a passphrase fits into one line."""
        return not any(character in passphrase for character in "\n\r\0")

    def _check_passphrase(self, passphrase: Optional[str]) -> Optional[bytes]:
        if passphrase is None:
            return None
        if not self.is_valid_passphrase(passphrase):
            raise ValueError("Invalid passphrase")
        return passphrase.encode(self.encoding)

    def _input(self, source: object) -> Any:
        if self.is_valid_file(source):
            return source
        if not isinstance(source, (str, os.PathLike)):
            raise TypeError(f"Not a valid file or path: {source!s}")
        if not os.path.exists(source):
            raise ValueError(f"No such file: {source!s}")
        return os.fspath(source)

    def _stream(self, data: Union[str, bytes]) -> BinaryIO:
        return _make_binary_stream(data, self.encoding)

    def _finish(self, result: _Result, written: _Output) -> None:
        written.write(b"")  # As in python-gnupg, the end.
        result.data, result.on_data_failure = bytes(written.collected), written.failure

    # Signatures

    def sign(self, message: Union[str, bytes], **kwargs: Any) -> Sign:
        """Signs a message; see :meth:`sign_file`."""
        return self.sign_file(self._stream(message), **kwargs)

    def sign_file(
        self,
        fileobj_or_path: File,
        keyid: Optional[str] = None,
        passphrase: Optional[str] = None,
        clearsign: bool = True,
        detach: bool = False,
        binary: bool = False,
        output: Optional[str] = None,
        extra_args: Optional[list[str]] = None,
    ) -> Sign:
        """Signs a file: as clear text, detached, or as a message."""
        unlock = self._check_passphrase(passphrase)
        source = self._input(fileobj_or_path)
        result: Sign = self.result_map["sign"](self)
        mode: Any = "detached" if detach else "cleartext" if clearsign and not binary else "inline"
        signed, written = _Output(None), _Output(self.on_data)
        with self._open() as kh:
            try:
                by = keyid or self._default_key(kh)
                with _target(output, signed) as target:
                    verdict = _read_meanwhile(
                        lambda copied: kh.sign(source, by, mode=mode, armor=not binary, passphrase=unlock, output=copied),
                        target,
                        # Over other data a detached signature is bad, and says the same.
                        lambda copy: kh.verify(b"", copy) if mode == "detached" else kh._verify_message(copy),
                    )[0]
            except Error as error:
                result._failed("bad passphrase" if error.code == "passphrase" else "error - signing failed", error)
                result.status_detail = _detail(error)
                return result
        result._done("signature created")
        result.type = {"detached": "D", "cleartext": "C", "inline": "S"}[mode]
        result.hash_algo = _HASHES.get(verdict.hash or "")
        result.timestamp = _seconds(verdict.created)
        result.fingerprint, result.username = verdict.key, verdict.user_id
        result.key_id = verdict.issuer
        if not output:
            written.write(signed.collected)
        self._finish(result, written)
        return result

    def _default_key(self, kh: Keyhoard) -> str:
        keys = [key for key in kh.secret_keys() if key.is_primary and key.is_here]
        if not keys:
            raise Error("there is no secret key to sign with", "secret-key")
        return keys[0].fingerprint

    def verify(self, data: Union[str, bytes], **kwargs: Any) -> Verify:
        """Verifies a signed message or clear-signed text."""
        return self.verify_file(self._stream(data), **kwargs)

    def verify_file(
        self,
        fileobj_or_path: File,
        data_filename: Optional[str] = None,
        close_file: bool = True,
        extra_args: Optional[list[str]] = None,
    ) -> Verify:
        """Verifies a signed message, or a detached signature over the file ``data_filename``."""
        source: Any = self._input(fileobj_or_path)
        if data_filename is None:
            return self._verified(lambda kh: kh.verify(source))
        result = self._verified(lambda kh: kh.verify(data_filename, source))
        if close_file and self.is_valid_file(source):
            source.close()
        return result

    def verify_data(
        self, sig_filename: str, data: bytes, extra_args: Optional[list[str]] = None
    ) -> Verify:
        """Verifies the detached signatures in a file over data."""
        return self._verified(lambda kh: kh.verify(data, sig_filename))

    def _verified(self, verify: Callable[[Keyhoard], Verdicts]) -> Verify:
        result: Verify = self.result_map["verify"](self)
        with self._open() as kh:
            try:
                verdicts = verify(kh)
            except Error as error:
                is_there = error.code not in ("malformed", "not-signed")
                result._failed("signature error" if is_there else "signature expected but not found", error)
                return result
        result._take(verdicts)
        result.returncode = 0 if result.valid else 1
        return result

    # Messages

    def encrypt(self, data: Union[str, bytes], recipients: Names, **kwargs: Any) -> Crypt:
        """Encrypts data; see :meth:`encrypt_file`."""
        return self.encrypt_file(self._stream(data), recipients, **kwargs)

    def encrypt_file(
        self,
        fileobj_or_path: File,
        recipients: Names,
        hidden_recipients: Names = None,
        sign: Union[str, bool, None] = None,
        always_trust: bool = False,
        passphrase: Optional[str] = None,
        armor: bool = True,
        output: Optional[str] = None,
        symmetric: Union[bool, str] = False,
        extra_args: Optional[list[str]] = None,
    ) -> Crypt:
        """Encrypts a file to recipients, or with ``symmetric`` and a passphrase."""
        unlock = self._check_passphrase(passphrase)
        to, hidden = ([], []) if symmetric else (_names(recipients), _names(hidden_recipients))
        if not symmetric and not to and not hidden:
            raise ValueError("No recipients specified with asymmetric encryption")
        source = self._input(fileobj_or_path)
        result: Crypt = self.result_map["crypt"](self)
        written = _Output(self.on_data)
        with self._open() as kh:
            try:
                signer = self._default_key(kh) if sign is True else sign or None
                with _target(output, written) as target:
                    kh.encrypt(
                        source,
                        to,
                        hidden=[_only(kh, name) for name in hidden],
                        sign=signer,
                        passwords=unlock if symmetric else None,
                        passphrase=unlock,
                        armor=armor,
                        trust_all=always_trust,
                        output=target,
                    )
            except Error as error:
                status = {"not-found": "invalid recipient", "not-valid": "invalid recipient"}
                result._failed(status.get(error.code, "encryption failed"), error)
                result.status_detail = _detail(error)
                return result
            except NotADirectoryError as error:
                result._failed("encrypt: not a directory", error)
                return result
            except PermissionError as error:
                result._failed("encrypt: permission denied", error)
                return result
        result._done("encryption ok")
        self._finish(result, written)
        return result

    def decrypt(self, message: Union[str, bytes], **kwargs: Any) -> Crypt:
        """Decrypts a message; see :meth:`decrypt_file`."""
        return self.decrypt_file(self._stream(message), **kwargs)

    def decrypt_file(
        self,
        fileobj_or_path: File,
        always_trust: bool = False,
        passphrase: Optional[str] = None,
        output: Optional[str] = None,
        extra_args: Optional[list[str]] = None,
    ) -> Crypt:
        """Decrypts a file with secret keys, or with the passphrase, and verifies its signatures."""
        unlock = self._check_passphrase(passphrase)
        source = self._input(fileobj_or_path)
        result: Crypt = self.result_map["crypt"](self)
        written = _Output(self.on_data)
        with self._open() as kh:
            try:
                with _target(output, written) as target:
                    decrypted: Decrypted = kh.decrypt(source, passphrase=unlock, passwords=unlock, output=target)
            except Error as error:
                status = {"cannot-decrypt": "no secret key", "malformed": "no data was provided"}
                result._failed(status.get(error.code, "decryption failed"), error)
                return result
        result._take(decrypted.verdicts)
        result._done("decryption ok")
        self._finish(result, written)
        return result

    def get_recipients(self, message: Union[str, bytes], **kwargs: Any) -> list[str]:
        """Returns the key IDs that a message names."""
        return self.get_recipients_file(self._stream(message), **kwargs)

    def get_recipients_file(self, fileobj_or_path: File, extra_args: Optional[list[str]] = None) -> list[str]:
        """Returns the key IDs that a message in a file names."""
        with self._open() as kh:
            return kh.recipients(self._input(fileobj_or_path))

    # Keys

    def import_keys(
        self, key_data: Union[str, bytes], extra_args: Optional[list[str]] = None, passphrase: Optional[str] = None
    ) -> ImportResult:
        """Imports keys, secret ones too."""
        return self._imported(self._stream(key_data).read())

    def import_keys_file(self, key_path: Union[str, os.PathLike[str]], **kwargs: Any) -> ImportResult:
        """Imports keys from a file."""
        with open(key_path, "rb") as file:
            return self._imported(file.read())

    def _imported(self, data: bytes) -> ImportResult:
        result: ImportResult = self.result_map["import"](self)
        with self._open() as kh:
            with open_database(":memory:") as only:
                with suppress(MalformedError):
                    only.import_(data)
                result.fingerprints = [cert.fingerprint for cert in only.certs()]
            known = {cert.fingerprint for one in result.fingerprints for cert in kh.certs(one)}
            with suppress(MalformedError):
                imported = kh.import_(data)
                result.count, result.imported, result.unchanged = imported.processed, imported.new, imported.unchanged
                result.not_imported = imported.refused
                result.sec_imported = imported.secret_keys
        for fingerprint in result.fingerprints:
            ok, text = ("0", "Not actually changed\n") if fingerprint in known else ("1", "Entirely new key\n")
            result.results.append({"fingerprint": fingerprint, "ok": ok, "text": text})
        if not result.fingerprints:
            result.results.append({"fingerprint": None, "problem": "0", "text": "No valid data found"})
        result.data = data
        result.returncode = 0 if result.fingerprints else 2
        result.ok = bool(result)
        return result

    def export_keys(
        self,
        keyids: Names,
        secret: bool = False,
        armor: bool = True,
        minimal: bool = False,
        passphrase: Optional[str] = None,
        expect_passphrase: bool = True,
        output: Optional[str] = None,
    ) -> Union[str, bytes]:
        """Exports keys; secret ones as they are locked, whatever the passphrase."""
        self._check_passphrase(passphrase)
        with self._open() as kh:
            certs = [cert for name in _names(keyids) for cert in kh.certs(name)]
            exported: Union[str, bytes]
            if secret and armor:
                exported = "".join(kh.export_secret(cert) for cert in certs)
            elif secret:
                exported = b"".join(kh.export_secret(cert, armor=False) for cert in certs)
            elif armor:
                exported = kh.export(certs) if certs else ""
            else:
                exported = b"".join(map(bytes, certs))
        if output:
            with open(output, "wb") as file:
                file.write(exported.encode() if isinstance(exported, str) else exported)
            return ""
        return exported

    def delete_keys(
        self,
        fingerprints: Names,
        secret: bool = False,
        passphrase: Optional[str] = None,
        expect_passphrase: bool = True,
        exclamation_mode: bool = False,
    ) -> DeleteResult:
        """Deletes certificates, or secret keys. A certificate whose secret key is here is not deleted before that."""
        self._check_passphrase(passphrase)
        if exclamation_mode:
            raise NotImplementedError("subkeys alone are not deleted here")
        result: DeleteResult = self.result_map["delete"](self)
        with self._open() as kh:
            for name in _names(fingerprints):
                found = kh.certs(name)
                if not found:
                    result._failed("No such key")
                for cert in found:
                    if secret:
                        if not kh.delete_secret(cert):
                            result._failed("No such key")
                    elif kh.secret_keys(cert):
                        result._failed("Must delete secret key first")
                    else:
                        kh.delete(cert)
        return result

    def list_keys(self, secret: bool = False, keys: Names = None, sigs: bool = False) -> ListKeys:
        """Lists keys, all or those with certain names."""
        result: ListKeys = self.result_map["list"](self)
        result.returncode = 0
        if not os.path.exists(os.path.join(self._home, "keyhoard.db")):
            return result
        with self._open() as kh:
            here = {key.fingerprint for key in kh.secret_keys() if key.is_here}
            certs = kh.certs() if keys is None else [cert for name in _names(keys) for cert in kh.certs(name)]
            for cert in certs:
                if not secret or any(key.fingerprint in here for key in cert.keys):
                    result._add(cert, here if secret else None, kh.owner_trust(cert), sigs)
        return result

    def scan_keys(self, filename: str) -> ScanKeys:
        """Lists the keys in a file, without importing them."""
        with open(filename, "rb") as file:
            return self.scan_keys_mem(file.read())

    def scan_keys_mem(self, key_data: Union[str, bytes]) -> ScanKeys:
        """Lists the keys in data, without importing them."""
        result: ScanKeys = self.result_map["scan"](self)
        result.returncode = 0
        with open_database(":memory:") as kh:
            with suppress(MalformedError):
                kh.import_(self._stream(key_data).read())
            for cert in kh.certs():
                result._add(cert, None, "unknown", False)
        return result

    def trust_keys(self, fingerprints: Names, trustlevel: str) -> TrustResult:
        """Says how far the owners of keys are trusted to certify others."""
        if trustlevel not in _TRUST:
            raise ValueError(f"Invalid trust level specified: {trustlevel!r}")
        names = _names(fingerprints)
        for name in names:
            if not re.fullmatch("[0-9A-Fa-f]{40}|[0-9A-Fa-f]{64}", name):
                raise ValueError(f"Invalid fingerprint: {name!r}")
        result: TrustResult = self.result_map["trust"](self)
        with self._open() as kh:
            for name in names:
                for cert in kh.certs(name):
                    kh.set_owner_trust(cert, _TRUST[trustlevel])
        return result

    def gen_key_input(self, **kwargs: Any) -> str:
        """Returns the parameters of a new key as gpg's batch mode has them."""
        is_locked = not kwargs.pop("no_protection", False)
        given = {key.replace("_", "-").title(): str(value).strip() for key, value in kwargs.items()}
        given = {key: value for key, value in given.items() if value}
        given.setdefault("Key-Type", "RSA")
        if "Key-Curve" not in given:
            given.setdefault("Key-Length", "2048")
        given.setdefault("Name-Real", "Autogenerated Key")
        user = os.environ.get("LOGNAME") or os.environ.get("USERNAME") or "unspecified"
        given.setdefault("Name-Email", f"{user.replace(' ', '_')}@{socket.gethostname()}")
        lines = [f"Key-Type: {given.pop('Key-Type')}"] + [f"{key}: {value}" for key, value in given.items()]
        if not is_locked or "Passphrase" not in given:
            lines.append("%no-protection")
        return "\n".join(lines) + "\n%commit\n"

    def gen_key(self, input: str) -> GenKey:
        """Makes a key of the parameters that :meth:`gen_key_input` returns."""
        is_unlocked = "%no-protection" in input.splitlines()
        lines = (line.partition(":") for line in input.splitlines() if not line.startswith("%"))
        given = {key.strip().lower(): value.strip() for key, _, value in lines}
        comment = f" ({given['name-comment']})" if "name-comment" in given else ""
        email = f" <{given['name-email']}>" if "name-email" in given else ""
        user_id = given.get("name-real", "")
        result: GenKey = self.result_map["generate"](self)
        try:
            with self._open() as kh:
                cert = kh.generate(
                    f"{user_id}{comment}{email}",
                    algorithm=_algorithm(given, "key", "2048"),
                    subkey=_algorithm(given, "subkey", "2048") if "subkey-type" in given else "",
                    expires_in=_lifetime(given.get("expire-date", "0")),
                    passphrase=None if is_unlocked else self._check_passphrase(given.get("passphrase")),
                )
        except (Error, OSError, ValueError) as error:
            result._failed("key not created", error)
            return result
        result._done("ok")
        result.type, result.fingerprint = ("B" if len(cert.keys) > 1 else "P"), cert.fingerprint
        return result

    def add_subkey(
        self,
        master_key: str,
        master_passphrase: Optional[str] = None,
        algorithm: str = "rsa",
        usage: str = "encrypt",
        expire: Union[str, int] = "-",
    ) -> AddSubkey:
        """Adds a subkey to a key, which ``usage`` says the use of: ``encrypt``, ``sign`` or ``auth``."""
        if not master_key:
            raise ValueError("No master key fingerprint specified")
        unlock = self._check_passphrase(master_passphrase)
        result: AddSubkey = self.result_map["addSubkey"](self)
        made_of = {"rsa": "rsa3072", "dsa": "dsa2048", "elg": "elg3072"}.get(algorithm.lower(), algorithm.lower())
        use: Any = {"auth": "authenticate", "encr": "encrypt"}.get(usage, usage)
        try:
            lifetime = _lifetime("0" if expire == "-" else str(expire))
            with self._open() as kh:
                cert = kh.cert(master_key)
                result.fingerprint = kh.add_subkey(cert, use, algorithm=made_of, expires_in=lifetime, passphrase=unlock)
        except (Error, OSError, ValueError) as error:
            result._failed("key not created", error)
            return result
        result._done("ok")
        result.type = "S"
        return result

    def quick_sign_key(
        self, certifier_fingerprint: str, recipient_fingerprint: str, certifier_passphrase: Optional[str] = None
    ) -> Sign:
        """Certifies all user IDs of a key with another one."""
        if not certifier_fingerprint:
            raise ValueError("No certifier key fingerprint specified")
        if not recipient_fingerprint:
            raise ValueError("No recipient key fingerprint specified")
        unlock = self._check_passphrase(certifier_passphrase)
        result: Sign = self.result_map["sign"](self)
        with self._open() as kh:
            try:
                kh.certify(kh.cert(recipient_fingerprint), kh.cert(certifier_fingerprint), passphrase=unlock)
            except Error as error:
                result._failed("bad passphrase" if error.code == "passphrase" else "key not signed", error)
                return result
        result._done("key signed")
        return result

    def recv_keys(self, keyserver: str, *keyids: str, extra_args: Optional[list[str]] = None) -> ImportResult:
        """Fetches keys from a keyserver, and imports those that were asked for."""
        result: ImportResult = self.result_map["import"](self)
        server = keyserver if "://" in keyserver else f"hkp://{keyserver}"
        with self._open() as kh:
            for name in keyids:
                try:
                    known = {cert.fingerprint for cert in kh.certs(name)}
                    found = kh.fetch(name, keyservers=[server], directory=False)
                except Error as error:
                    result.stderr = str(error)
                    continue
                for cert in found:
                    new = cert.fingerprint not in known
                    text = "Entirely new key\n" if new else "Not actually changed\n"
                    result.fingerprints.append(cert.fingerprint)
                    result.results.append({"fingerprint": cert.fingerprint, "ok": str(int(new)), "text": text})
                    result.imported += new
                    result.count += 1
        result.returncode = 0 if result.fingerprints else 2
        result.ok = bool(result)
        return result

    def _not_here(self, *arguments: object, **named: object) -> Any:
        """Raises ``NotImplementedError``: ``docs/python.md`` says what to use."""
        raise NotImplementedError("keyhoard.gnupg does not have this; docs/python.md says what to use")

    send_keys = search_keys = auto_locate_key = _not_here


def _default_home(env: Optional[dict[str, str]]) -> str:
    named = (os.environ if env is None else env).get("GNUPGHOME")
    home = named or os.path.expanduser("~/.gnupg")
    if named and not os.path.isdir(named):
        raise ValueError(f"GNUPGHOME should be a directory (it isn't): {named}")
    os.makedirs(home, 0o700, exist_ok=True)
    return home


def _names(names: Names) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)


def _only(kh: Keyhoard, name: str) -> Cert:
    return kh.cert(name)


def _algorithm(given: dict[str, str], which: str, size: str) -> str:
    kind = given.get(f"{which}-type", "RSA").lower()
    if kind in ("rsa", "1", "default"):
        return f"rsa{given.get(f'{which}-length', size)}"
    if kind in ("dsa", "17"):
        return f"dsa{given.get(f'{which}-length', size)}"
    if kind in ("elg", "elg-e", "elgamal", "16"):
        return f"elg{given.get(f'{which}-length', size)}"
    if kind in ("eddsa", "ecdsa", "ecdh", "18", "19", "22"):
        return given.get(f"{which}-curve", "ed25519").lower()
    raise ValueError(f"unknown algorithm: {kind}")


def _lifetime(text: str) -> Optional[timedelta]:
    match = re.fullmatch(r"(?:seconds=)?(\d+)([dwmy]?)", text)
    if match:
        days = {"": 1, "d": 1, "w": 7, "m": 30, "y": 365}[match[2]]
        unit = timedelta(seconds=1) if text.startswith("seconds=") else timedelta(days=days)
        return unit * int(match[1]) or None
    end = datetime.strptime(text[:10].replace("-", ""), "%Y%m%d").replace(tzinfo=timezone.utc)
    return end - datetime.now(timezone.utc)


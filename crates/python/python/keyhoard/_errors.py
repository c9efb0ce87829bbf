"""The exceptions: one class for each thing that a program may want to handle, and a stable code in each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._keyhoard import Verdicts


class Error(Exception):
    """Something was not done; ``code`` says what, in a word that stays the same for ever.

    ``name`` is the name of a certificate that was asked for, where the error is about one.
    """

    code: str = "other"
    name: str | None = None

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class DatabaseError(Error):
    """The database refused."""


class MissingError(DatabaseError, FileNotFoundError):
    """There is no database, and none was to be made."""


class LockedError(DatabaseError):
    """Another program has held the database's lock for a minute."""


class ForkedError(DatabaseError):
    """The database was opened before this process was forked: open it again here."""


class InvalidNameError(Error, ValueError):
    """A name that can stand for no certificate."""


class NotFoundError(Error, LookupError):
    """No certificate, or no secret key, has the name."""


class AmbiguousError(Error, LookupError):
    """Several certificates have the name; ``candidates`` are the fingerprints of those that could be used."""

    candidates: list[str] = []


class NotValidError(Error):
    """Nobody who is trusted says that the certificate, ``fingerprint``, is whose the name says."""

    fingerprint: str | None = None


class KeyUnusableError(Error):
    """A certificate has no key for what was asked, or its secret key is not here or cannot be used.

    ``fingerprint`` is the certificate's, if it is known.
    """

    fingerprint: str | None = None


class PassphraseError(Error):
    """A key is locked, and nobody gave the right passphrase."""


class DecryptionError(Error):
    """The message cannot be decrypted, or was changed."""


class SignatureError(Error):
    """A signature is not over the content, or there is none; ``verdicts`` are those on all signatures."""

    verdicts: Verdicts | None = None


class MalformedError(Error, ValueError):
    """What was given is not what it should be: no message, no certificate, cut short."""


class NetworkError(Error, ConnectionError):
    """A server in the network did not answer, or not as it should."""


class UndoError(Error):
    """The journal's entry is not there, was undone, or cannot be undone."""


_CLASSES: dict[str, type[Error]] = {
    "missing": MissingError,
    "locked": LockedError,
    "database": DatabaseError,
    "forked": ForkedError,
    "name": InvalidNameError,
    "not-found": NotFoundError,
    "ambiguous": AmbiguousError,
    "not-valid": NotValidError,
    "no-usable-key": KeyUnusableError,
    "secret-key": KeyUnusableError,
    "passphrase": PassphraseError,
    "cannot-decrypt": DecryptionError,
    "manipulated": DecryptionError,
    "bad-signature": SignatureError,
    "not-signed": SignatureError,
    "malformed": MalformedError,
    "network": NetworkError,
    "undo": UndoError,
}


def make(code: str, message: str, **details: object) -> Error:
    """Makes the exception for a code, with attributes."""
    made = _CLASSES.get(code, Error)(message, code)
    vars(made).update(details)
    return made

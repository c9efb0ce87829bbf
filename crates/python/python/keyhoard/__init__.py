"""OpenPGP with a certificate database, in one process.

>>> import keyhoard
>>> kh = keyhoard.open(":memory:")
>>> ann = kh.generate("Ann <ann@example.org>")
>>> message = kh.encrypt(b"hello", to="ann@example.org", sign=ann, armor=True)
>>> message[:27]
b'-----BEGIN PGP MESSAGE-----'
>>> decrypted = kh.decrypt(message)
>>> decrypted.data
b'hello'
>>> decrypted.verdicts.are_certain
True
>>> print(ann.validity())
ultimate

Wherever data are read, a path (``str`` or ``os.PathLike``), something bytes-like or a binary file object will do; what is
written comes back as ``bytes``, or goes to ``output``, a path or a binary file object. Times are ``datetime`` in UTC.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from html import escape
from types import TracebackType
from typing import TYPE_CHECKING, Any, Union

from . import _keyhoard
from ._errors import (
    AmbiguousError,
    DatabaseError,
    DecryptionError,
    Error,
    ForkedError,
    InvalidNameError,
    KeyUnusableError,
    LockedError,
    MalformedError,
    MissingError,
    NetworkError,
    NotFoundError,
    NotValidError,
    PassphraseError,
    SignatureError,
    UndoError,
    make,
)
from ._keyhoard import (
    Cert,
    CertSignature,
    Decrypted,
    Imported,
    JournalEntry,
    Key,
    SecretKey,
    Undone,
    UserId,
    UserIdValidity,
    Validity,
    Verdict,
    Verdicts,
    __version__,
)

if TYPE_CHECKING:
    from ._keyhoard import _Passphrase as Passphrase
    from ._keyhoard import _Source as Source

__all__ = [
    "AmbiguousError", "Cert", "CertSignature", "Certs", "DatabaseError", "Decrypted", "DecryptionError", "Error", "ForkedError",
    "Imported", "InvalidNameError", "JournalEntry", "Key", "KeyUnusableError", "Keyhoard", "LockedError",
    "MalformedError", "MissingError", "NetworkError", "NotFoundError", "NotValidError", "PassphraseError", "SecretKey",
    "SignatureError", "Transaction", "UndoError", "Undone", "UserId", "UserIdValidity", "Validity", "Verdict",
    "Verdicts", "__version__", "open",
]  # fmt: skip


class Certs(list[Cert]):
    """Certificates that were found; notebooks show them as a table."""

    def _repr_html_(self) -> str:
        def row(cert: Cert) -> str:
            state = "revoked" if cert.is_revoked else "expired" if cert.is_expired else "usable"
            expires = cert.expires.date().isoformat() if cert.expires else "never"
            cells = (cert.fingerprint, cert.user_id or "", cert.created.date().isoformat(), expires, state)
            return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"

        head = "".join(f"<th>{name}</th>" for name in ("fingerprint", "user ID", "created", "expires", "state"))
        return f"<table><tr>{head}</tr>{''.join(map(row, self))}</table>"


class Keyhoard(_keyhoard.Keyhoard):
    """An opened database of certificates, with the secret keys that belong to it.

    Threads may share it. A process that was forked after it was opened gets :class:`ForkedError`; it opens the database
    again.
    """

    def certs(self, query: str | None = None) -> Certs:
        """Returns the certificates with a mail address, a fingerprint or another name of GnuPG's; all without one."""
        return Certs(self._all() if query is None else self._certs(query))

    def cert(self, query: str) -> Cert:
        """Returns the only certificate with a mail address, a fingerprint or another name.

        Raises :class:`NotFoundError` without one and :class:`AmbiguousError` with several.

        >>> kh = open(":memory:")
        >>> kh.generate("Ann <ann@example.org>") == kh.cert("ann@example.org")
        True
        """
        found = self.certs(query)
        if not found:
            raise make("not-found", f"{query}: no certificate has this name", name=query)
        if len(found) > 1:
            candidates = [cert.fingerprint for cert in found]
            message = f"{query}: {len(found)} certificates have this name: {', '.join(candidates[:5])}"
            raise make("ambiguous", message, name=query, candidates=candidates)
        return found[0]

    def search(self, words: str) -> Certs:
        """Returns the certificates with all of these words in their user IDs."""
        return Certs(self._search(words))

    def fetch(
        self,
        name: str,
        *,
        keyservers: Iterable[str] = (),
        directory: bool = True,
        timeout: int = 30,
        proxy: str | None = None,
    ) -> Certs:
        """Asks the network for a mail address, a fingerprint, a key ID or an ``https:`` URL; nothing else here uses it.

        Asks the Web Key Directory of the address's domain, then the keyservers (without any, keys.openpgp.org), until one has
        it; imports and returns what was asked for. Each answer is waited for ``timeout`` seconds.
        """
        return Certs(self._fetch(name, list(keyservers), directory, timeout, proxy))

    def transaction(self) -> Transaction:
        """Returns a context manager that collects changes and makes them all at its end, or none of them."""
        return Transaction(self)

    def __iter__(self) -> Iterator[Cert]:
        return iter(self.certs())

    def __contains__(self, query: object) -> bool:
        if isinstance(query, Cert):
            return query in self.certs(query.fingerprint)
        return isinstance(query, str) and bool(self.certs(query))

    def __enter__(self) -> Keyhoard:
        return self


class Transaction:
    """Changes that are made together, under one entry of the journal, when the ``with`` statement ends.

    >>> import keyhoard
    >>> kh = keyhoard.open(":memory:")
    >>> ann = kh.generate("Ann <ann@example.org>")
    >>> with kh.transaction() as changes:
    ...     changes.delete(ann)
    >>> len(kh)
    0
    """

    def __init__(self, keyhoard: Keyhoard) -> None:
        self._keyhoard = keyhoard
        self._steps: list[tuple[str, Any, str | None]] = []

    def import_(self, source: Source) -> None:
        """Imports certificates, without secret keys; one without any raises ``MalformedError`` at the end."""
        self._steps.append(("import", source, None))

    def delete(self, cert: Cert) -> None:
        """Deletes a certificate."""
        self._steps.append(("delete", cert, None))

    def set_owner_trust(self, cert: Cert, trust: str) -> None:
        """Says how far the user trusts a certificate's owner to certify others."""
        self._steps.append(("trust", cert, trust))

    def __enter__(self) -> Transaction:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        steps, self._steps = self._steps, []
        if kind is None:
            self._keyhoard._transact(steps)


def open(
    location: Union[str, os.PathLike[str]],
    *,
    must_exist: bool = False,
    passphrase: Union[Passphrase, Callable[[str, int], Union[Passphrase, None]], None] = None,
    secret_keys: Union[str, os.PathLike[str], None] = None,
    gnupg_home: Union[str, os.PathLike[str], None] = None,
    gnupg_rules: bool = False,
    clock: Union[Callable[[], datetime], None] = None,
    program: str | None = None,
) -> Keyhoard:
    """Opens the database at a path, ``":memory:"`` or a URL ``postgresql://...``, and makes it if it is not there.

    ``passphrase`` unlocks secret keys: text, bytes, or a function that is called with a fingerprint and the number of
    wrong answers so far. ``gnupg_home`` is a GnuPG home directory whose running gpg-agent has further secret keys. With
    ``gnupg_rules``, certificates and signatures are judged as GnuPG does: also by keys that are too small to be safe.
    ``clock`` returns the current time as a ``datetime`` with a time zone, in place of the system's clock; it is called at once.
    ``secret_keys`` is a directory for secret keys, in place of ``secret-keys`` beside the file. ``program`` names the program
    in the journal.

    What a function raises that was given as ``passphrase`` or ``clock`` comes out of the method that called it. Raises
    :class:`MissingError` with ``must_exist`` where there is no database, and :class:`DatabaseError`.
    """
    return Keyhoard(
        location,
        must_exist=must_exist,
        passphrase=passphrase,
        secret_keys=secret_keys,
        gnupg_home=gnupg_home,
        gnupg_rules=gnupg_rules,
        clock=clock,
        program=program,
    )

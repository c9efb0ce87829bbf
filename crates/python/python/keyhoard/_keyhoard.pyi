import os
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Literal, Protocol, Union, overload

from typing_extensions import Buffer, Self, TypeAlias

class _Reader(Protocol):
    def read(self, size: int, /) -> bytes: ...

class _Writer(Protocol):
    def write(self, data: bytes, /) -> Any: ...

Passphrase: TypeAlias = Union[str, bytes]
Path: TypeAlias = Union[str, os.PathLike[str]]
Source: TypeAlias = Union[Path, Buffer, _Reader]
Target: TypeAlias = Union[Path, _Writer]
_Unlocking: TypeAlias = Union[Passphrase, Callable[[str, int], Union[Passphrase, None]]]
_Level: TypeAlias = Literal["unknown", "undefined", "never", "marginal", "full", "ultimate"]
_Named: TypeAlias = Union[str, Cert]

__version__: str

class UserId:
    text: str
    email: str | None
    created: datetime | None
    expires: datetime | None
    is_primary: bool
    is_revoked: bool
    is_expired: bool

class Key:
    fingerprint: str
    created: datetime
    expires: datetime | None
    algorithm: str
    algorithm_id: int
    bits: int
    keygrip: str | None
    is_primary: bool
    is_usable: bool
    is_revoked: bool
    is_expired: bool
    can_certify: bool
    can_sign: bool
    can_encrypt: bool
    can_authenticate: bool

class UserIdValidity:
    user_id: str
    level: _Level
    certified_by: list[str]
    explanation: str

class Validity:
    level: _Level
    is_valid: bool
    user_ids: list[UserIdValidity]
    explanation: str
    def __bool__(self) -> bool: ...

class CertSignature:
    type: int
    issuer: str
    issuer_name: str | None
    created: datetime
    expires: datetime | None
    is_own: bool

class Cert:
    @property
    def fingerprint(self) -> str: ...
    @property
    def key_id(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def user_id(self) -> str | None: ...
    @property
    def user_ids(self) -> list[UserId]: ...
    @property
    def emails(self) -> list[str]: ...
    @property
    def keys(self) -> list[Key]: ...
    @property
    def created(self) -> datetime: ...
    @property
    def expires(self) -> datetime | None: ...
    @property
    def is_revoked(self) -> bool: ...
    @property
    def is_expired(self) -> bool: ...
    @property
    def is_usable(self) -> bool: ...
    def validity(self, now: datetime | None = None) -> Validity: ...
    def signatures(self) -> list[CertSignature]: ...
    def to_bytes(self) -> bytes: ...
    def armored(self) -> str: ...
    def __bytes__(self) -> bytes: ...
    def __hash__(self) -> int: ...

class Verdict:
    status: str
    is_good: bool
    is_certain: bool
    validity: _Level
    certificate: str | None
    key: str | None
    user_id: str | None
    issuer: str | None
    created: datetime | None
    expires: datetime | None
    hash: str | None
    notations: list[tuple[str, str]]
    text: str
    def __bool__(self) -> bool: ...

class Verdicts:
    @property
    def are_good(self) -> bool: ...
    @property
    def are_certain(self) -> bool: ...
    @property
    def content(self) -> bytes | None: ...
    def __bool__(self) -> bool: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Verdict: ...
    def __iter__(self) -> Iterator[Verdict]: ...

class Decrypted:
    data: bytes | None
    verdicts: Verdicts
    cipher: str
    file_name: str
    time: datetime | None
    size: int
    def __bytes__(self) -> bytes: ...

class Imported:
    processed: int
    new: int
    changed: int
    unchanged: int
    refused: int
    secret_keys: int
    entry: int | None

class JournalEntry:
    id: int
    time: datetime
    command: str
    added: int
    merged: int
    removed: int
    undone_by: int | None
    undoes: int | None

class Undone:
    entry: int
    removed: int
    shrunk: int
    restored: int
    kept: int

class SecretKey:
    fingerprint: str
    is_primary: bool
    is_locked: bool
    is_here: bool

class Keyhoard:
    def __new__(
        cls,
        location: Path,
        *,
        must_exist: bool = False,
        passphrase: _Unlocking | None = None,
        secret_keys: Path | None = None,
        gnupg_home: Path | None = None,
        gnupg_rules: bool = False,
        clock: Callable[[], datetime] | None = None,
        program: str | None = None,
    ) -> Self: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> Literal[False]: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def import_(self, source: Source) -> Imported: ...
    def _fetch(
        self, name: str, keyservers: list[str], directory: bool, timeout: int, proxy: str | None
    ) -> list[Cert]: ...
    def _certs(self, query: str) -> list[Cert]: ...
    def _search(self, words: str) -> list[Cert]: ...
    def _all(self) -> list[Cert]: ...
    def _transact(self, steps: list[tuple[str, Any, str | None]]) -> None: ...
    def encrypt(
        self,
        data: Source,
        to: _Named | Iterable[_Named] | None = None,
        *,
        hidden: list[Cert] | None = None,
        sign: _Named | Iterable[_Named] | None = None,
        passwords: Passphrase | Iterable[Passphrase] | None = None,
        passphrase: _Unlocking | None = None,
        armor: bool = False,
        trust_all: bool = False,
        file_name: str | None = None,
        output: Target | None = None,
    ) -> bytes: ...
    def decrypt(
        self,
        message: Source,
        *,
        passphrase: _Unlocking | None = None,
        password: Passphrase | Iterable[Passphrase] | None = None,
        output: Target | None = None,
    ) -> Decrypted: ...
    def sign(
        self,
        data: Source,
        by: _Named | Iterable[_Named],
        *,
        mode: Literal["detached", "inline", "cleartext"] = "detached",
        armor: bool = True,
        passphrase: _Unlocking | None = None,
        output: Target | None = None,
    ) -> bytes: ...
    def verify(
        self, data: Source, signature: Source | None = None, *, output: Target | None = None
    ) -> Verdicts: ...
    def verify_many(self, items: Iterable[tuple[Source, Source]]) -> list[Verdicts | Exception]: ...
    def generate(
        self,
        user_id: str,
        *more: str,
        profile: str | None = None,
        algorithm: str | None = None,
        subkey: str | None = None,
        expires_in: timedelta | None = None,
        passphrase: Passphrase | None = None,
    ) -> Cert: ...
    def add_subkey(
        self,
        cert: Cert,
        usage: Literal["sign", "encrypt", "authenticate"],
        *,
        algorithm: str | None = None,
        expires_in: timedelta | None = None,
        passphrase: _Unlocking | None = None,
    ) -> str: ...
    def certify(
        self, cert: Cert, by: Cert, *, local: bool = False, passphrase: _Unlocking | None = None
    ) -> int: ...
    def delete(self, cert: Cert) -> None: ...
    def owner_trust(self, cert: Cert) -> _Level: ...
    def recipients(self, message: Source) -> list[str]: ...
    def set_owner_trust(self, cert: Cert, trust: str) -> None: ...
    def secret_keys(self, cert: Cert | None = None) -> list[SecretKey]: ...
    def export(self, certs: list[Cert]) -> str: ...
    @overload
    def export_secret(self, cert: Cert, *, armor: Literal[True] = True) -> str: ...
    @overload
    def export_secret(self, cert: Cert, *, armor: Literal[False]) -> bytes: ...
    def delete_secret(self, cert: Cert) -> bool: ...
    def unlocks(self, cert: Cert, passphrase: Passphrase) -> bool: ...
    def journal(self, limit: int = 100) -> list[JournalEntry]: ...
    def undo(self, entry: int | None = None) -> Undone: ...

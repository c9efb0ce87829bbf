import os
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Literal, Protocol, Union, final, overload

from typing_extensions import Buffer, Self, TypeAlias

class _Reader(Protocol):
    def read(self, size: int, /) -> bytes: ...

class _Writer(Protocol):
    def write(self, data: bytes, /) -> Any: ...

_Passphrase: TypeAlias = Union[str, bytes]
_Path: TypeAlias = Union[str, os.PathLike[str]]
_Source: TypeAlias = Union[_Path, Buffer, _Reader]
_Target: TypeAlias = Union[_Path, _Writer]
_Unlocking: TypeAlias = Union[_Passphrase, Callable[[str, int], Union[_Passphrase, None]]]
_Level: TypeAlias = Literal["unknown", "undefined", "never", "marginal", "full", "ultimate"]
_Named: TypeAlias = Union[str, Cert]

__version__: str

@final
class UserId:
    text: str
    email: str | None
    created: datetime | None
    expires: datetime | None
    is_primary: bool
    is_revoked: bool
    is_expired: bool

@final
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

@final
class UserIdValidity:
    user_id: str
    level: _Level
    certified_by: list[str]
    explanation: str

@final
class Validity:
    level: _Level
    is_valid: bool
    user_ids: list[UserIdValidity]
    explanation: str
    def __bool__(self) -> bool: ...

@final
class CertSignature:
    type: int
    issuer: str
    issuer_name: str | None
    created: datetime
    expires: datetime | None
    is_own: bool
    is_approved: bool

@final
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
    def _levels(self) -> tuple[_Level, list[_Level]]: ...
    def signatures(self) -> list[CertSignature]: ...
    def to_bytes(self) -> bytes: ...
    def armored(self) -> str: ...
    def __bytes__(self) -> bytes: ...
    def __hash__(self) -> int: ...

@final
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

@final
class Verdicts:
    @property
    def are_good(self) -> bool: ...
    @property
    def are_certain(self) -> bool: ...
    @property
    def content(self) -> bytes | None: ...
    def __bool__(self) -> bool: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Verdict: ...
    def __iter__(self) -> Iterator[Verdict]: ...

@final
class Decrypted:
    data: bytes | None
    verdicts: Verdicts
    cipher: str
    file_name: str
    time: datetime | None
    size: int
    def __bytes__(self) -> bytes: ...

@final
class Imported:
    processed: int
    new: int
    changed: int
    unchanged: int
    refused: int
    secret_keys: int
    entry: int | None

@final
class JournalEntry:
    id: int
    time: datetime
    command: str
    added: int
    merged: int
    removed: int
    undone_by: int | None
    undoes: int | None

@final
class Undone:
    entry: int
    removed: int
    shrunk: int
    restored: int
    kept: int

@final
class SecretKey:
    fingerprint: str
    is_primary: bool
    is_locked: bool
    is_here: bool

class Keyhoard:
    def __new__(
        cls,
        location: _Path,
        *,
        must_exist: bool = False,
        passphrase: _Unlocking | None = None,
        secret_keys: _Path | None = None,
        gnupg_home: _Path | None = None,
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
    def import_(self, source: _Source) -> Imported: ...
    def _fetch(
        self, name: str, keyservers: list[str], directory: bool, timeout: int, proxy: str | None
    ) -> list[Cert]: ...
    def _certs(self, query: str) -> list[Cert]: ...
    def _search(self, words: str) -> list[Cert]: ...
    def _all(self) -> list[Cert]: ...
    def _transact(self, steps: list[tuple[str, Any, str | None]]) -> None: ...
    @overload
    def encrypt(
        self,
        data: _Source,
        to: _Named | Iterable[_Named] | None = None,
        *,
        hidden: list[Cert] | None = None,
        sign: _Named | Iterable[_Named] | None = None,
        passwords: _Passphrase | Iterable[_Passphrase] | None = None,
        passphrase: _Unlocking | None = None,
        armor: bool = False,
        trust_all: bool = False,
        file_name: str | None = None,
        output: None = None,
    ) -> bytes: ...
    @overload
    def encrypt(
        self,
        data: _Source,
        to: _Named | Iterable[_Named] | None = None,
        *,
        hidden: list[Cert] | None = None,
        sign: _Named | Iterable[_Named] | None = None,
        passwords: _Passphrase | Iterable[_Passphrase] | None = None,
        passphrase: _Unlocking | None = None,
        armor: bool = False,
        trust_all: bool = False,
        file_name: str | None = None,
        output: _Target,
    ) -> None: ...
    def decrypt(
        self,
        message: _Source,
        *,
        passphrase: _Unlocking | None = None,
        passwords: _Passphrase | Iterable[_Passphrase] | None = None,
        output: _Target | None = None,
    ) -> Decrypted: ...
    @overload
    def sign(
        self,
        data: _Source,
        by: _Named | Iterable[_Named],
        *,
        mode: Literal["detached", "inline", "cleartext"] = "detached",
        armor: bool = True,
        passphrase: _Unlocking | None = None,
        output: None = None,
    ) -> bytes: ...
    @overload
    def sign(
        self,
        data: _Source,
        by: _Named | Iterable[_Named],
        *,
        mode: Literal["detached", "inline", "cleartext"] = "detached",
        armor: bool = True,
        passphrase: _Unlocking | None = None,
        output: _Target,
    ) -> None: ...
    def verify(
        self, data: _Source, signature: _Source | None = None, *, output: _Target | None = None
    ) -> Verdicts: ...
    def _verify_message(self, message: _Source) -> Verdicts: ...
    def verify_many(self, items: Iterable[tuple[_Source, _Source]]) -> list[Verdicts | Exception]: ...
    def generate(
        self,
        user_id: str,
        *more: str,
        profile: str | None = None,
        algorithm: str | None = None,
        subkey: str | None = None,
        expires_in: timedelta | None = None,
        passphrase: _Passphrase | None = None,
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
    def recipients(self, message: _Source) -> list[str]: ...
    def set_owner_trust(self, cert: Cert, trust: str) -> None: ...
    def secret_keys(self, cert: Cert | None = None) -> list[SecretKey]: ...
    def export(self, certs: list[Cert]) -> str: ...
    @overload
    def export_secret(self, cert: Cert, *, armor: Literal[True] = True) -> str: ...
    @overload
    def export_secret(self, cert: Cert, *, armor: Literal[False]) -> bytes: ...
    def delete_secret(self, cert: Cert) -> bool: ...
    def relock(self, cert: Cert, old: _Passphrase, new: _Passphrase) -> None: ...
    def unlocks(self, cert: Cert, passphrase: _Passphrase) -> bool: ...
    def journal(self, limit: int = 100) -> list[JournalEntry]: ...
    def undo(self, entry: int | None = None) -> Undone: ...

"""What the package promises, on real databases."""

import errno
import http.server
import io
import multiprocessing
import os
import pathlib
import threading
import time
from datetime import datetime, timedelta, timezone

import keyhoard
import pytest

ANN = "Ann <ann@example.org>"


@pytest.fixture
def kh():
    with keyhoard.open(":memory:") as database:
        yield database


@pytest.fixture
def ann(kh):
    return kh.generate(ANN)


def test_a_certificate_has_python_s_types(kh, ann):
    assert kh.certs("ann@example.org") == [ann]
    assert kh.cert(ann.fingerprint) == ann
    assert kh.search("ann example") == [ann]
    assert len(kh) == 1 and list(kh) == [ann] and "ann@example.org" in kh and "bob@example.org" not in kh
    assert ann.user_id == ANN and ann.emails == ["ann@example.org"]
    assert isinstance(ann.created, datetime) and ann.created.tzinfo is not None
    assert ann.expires is None and ann.is_usable and not ann.is_revoked
    assert [key.algorithm for key in ann.keys] == ["ed25519", "cv25519"]
    assert ann.armored().startswith("-----BEGIN PGP PUBLIC KEY BLOCK-----")
    assert bytes(ann) == ann.to_bytes()
    assert ann in {ann}


def test_reprs_say_what_a_value_is(kh, ann):
    assert repr(ann) == f"<Cert {ann.fingerprint} {ANN}>"
    assert repr(kh) == "<Keyhoard ':memory:'>"
    assert repr(ann.validity()) == "<Validity ultimate>"
    table = kh.certs()._repr_html_()
    assert table.startswith("<table>") and "Ann &lt;ann@example.org&gt;" in table


@pytest.mark.parametrize("armor", [False, True])
def test_a_signed_message_comes_back_with_its_verdicts(kh, ann, armor):
    message = kh.encrypt(b"hello", to=["ann@example.org"], sign=ann, armor=armor, file_name="letter")
    decrypted = kh.decrypt(message)
    assert decrypted.data == bytes(decrypted) == b"hello"
    assert decrypted.verdicts.are_certain and bool(decrypted.verdicts)
    assert (decrypted.file_name, decrypted.cipher, decrypted.size) == ("letter", "AES256", 5)
    (verdict,) = decrypted.verdicts
    assert verdict.is_good and verdict.certificate == ann.fingerprint and verdict.validity == "ultimate"


def test_paths_bytes_and_file_objects_are_read_and_written(kh, ann, tmp_path):
    data = os.urandom(3 << 20)
    plain, message, back = tmp_path / "plain", tmp_path / "message", tmp_path / "back"
    plain.write_bytes(data)
    assert kh.encrypt(plain, ann, output=message) is None
    assert kh.decrypt(str(message), output=back).data is None
    assert back.read_bytes() == data
    with plain.open("rb") as source, message.open("wb") as target:
        kh.encrypt(source, ann, output=target)
    written = io.BytesIO()
    with message.open("rb") as source:
        kh.decrypt(source, output=written)
    assert written.getvalue() == data
    assert kh.decrypt(kh.encrypt(memoryview(data), ann)).data == data


def test_a_failed_decryption_leaves_no_file(kh, tmp_path):
    target = tmp_path / "out"
    with pytest.raises(keyhoard.MalformedError):
        kh.decrypt(b"no message", output=target)
    assert os.listdir(tmp_path) == []


def test_an_error_of_a_file_object_comes_out_as_it_is(kh, ann):
    class Broken:
        def read(self, size):
            raise ZeroDivisionError("broken")

    with pytest.raises(ZeroDivisionError, match="broken"):
        kh.encrypt(Broken(), ann)
    with pytest.raises(TypeError, match="rb"):
        kh.encrypt(io.StringIO("text"), ann)
    with pytest.raises(FileNotFoundError):
        kh.encrypt("/nonexistent/file", ann)


@pytest.mark.parametrize("kind", [FileNotFoundError, PermissionError, NotADirectoryError, InterruptedError, BrokenPipeError])
@pytest.mark.parametrize("number", [(), (errno.EXDEV, "text", "name")])
def test_an_error_of_the_system_from_a_file_object_is_the_very_one_that_it_raised(kh, ann, kind, number):
    class Raises:
        def __init__(self):
            self.error = kind(*number)

        def read(self, size):
            raise self.error

        write = read

    sides = {
        "encrypt": lambda file: kh.encrypt(file, ann),
        "decrypt": kh.decrypt,
        "sign": lambda file: kh.sign(file, ann),
        "sign text": lambda file: kh.sign(file, ann, mode="cleartext"),
        "verify": kh.verify,
        "verify data": lambda file: kh.verify(file, kh.sign(b"x", ann)),
        "verify a signature": lambda file: kh.verify(b"x", file),
        "recipients": kh.recipients,
        "encrypt to": lambda file: kh.encrypt(b"x", ann, output=file),
        "decrypt to": lambda file: kh.decrypt(kh.encrypt(b"x", ann), output=file),
        "sign to": lambda file: kh.sign(b"x", ann, output=file),
        "verify to": lambda file: kh.verify(kh.sign(b"x", ann, mode="inline"), output=file),
    }
    for name, work in sides.items():
        file = Raises()
        with pytest.raises(kind) as raised:
            work(file)
        assert raised.value is file.error, name


def test_signatures_of_every_kind(kh, ann, tmp_path):
    data = tmp_path / "release.tar"
    data.write_bytes(b"release")
    signature = tmp_path / "release.tar.sig"
    kh.sign(data, ann, output=signature)
    assert kh.verify(data, signature=signature).are_certain
    data.write_bytes(b"Release")
    verdicts = kh.verify(data, signature=signature)
    assert not verdicts and verdicts[0].status == "bad" and len(verdicts) == 1
    clear = kh.sign(b"text\n", "ann@example.org", mode="cleartext")
    assert kh.verify(clear).content == b"text\n"
    assert kh.verify(clear.replace(b"text", b"test")).content is None
    assert kh.verify(kh.sign(b"text", ann, mode="inline", armor=False)).content == b"text"
    with pytest.raises(ValueError):
        kh.sign(b"text", ann, mode="nonsense")


def test_many_signatures_are_verified_at_once(kh, ann):
    items = [(b"%d" % number, kh.sign(b"%d" % number, ann)) for number in range(100)]
    items[3] = (b"another", items[3][1])
    items[5] = (b"5", b"no signature")
    results = kh.verify_many(items)
    assert [number for number, result in enumerate(results) if not isinstance(result, Exception) and not result] == [3]
    assert isinstance(results[5], keyhoard.MalformedError)


def test_passphrases_are_text_bytes_or_a_function(kh):
    ann = kh.generate(ANN, passphrase="secret")
    with pytest.raises(keyhoard.PassphraseError) as raised:
        kh.sign(b"x", ann)
    assert raised.value.code == "passphrase"
    asked = []

    def answer(fingerprint, wrong):
        asked.append((fingerprint, wrong))
        return "wrong" if wrong == 0 else b"secret"

    for passphrase in ("secret", b"secret", answer):
        kh.sign(b"x", ann, passphrase=passphrase)
    assert asked == [(ann.fingerprint, 0), (ann.fingerprint, 1)]
    with keyhoard.open(":memory:", passphrase="secret") as other:
        other.import_(kh.export_secret(ann).encode())
        other.sign(b"x", ann.fingerprint)


def test_errors_are_a_small_hierarchy_with_codes(kh, ann, tmp_path):
    for failing, kind, code in [
        (lambda: kh.cert("bob@example.org"), LookupError, "not-found"),
        (lambda: kh.encrypt(b"x", "bob@example.org"), keyhoard.NotFoundError, "not-found"),
        (lambda: kh.encrypt(b"x"), keyhoard.Error, "incomplete"),
        (lambda: kh.certs("0xnonsense!"), keyhoard.Error, None),
        (lambda: kh.decrypt(kh.encrypt(b"x", passwords="a")), keyhoard.DecryptionError, "cannot-decrypt"),
        (lambda: keyhoard.open(tmp_path / "none.db", must_exist=True), FileNotFoundError, "missing"),
        (lambda: kh.undo(99), keyhoard.UndoError, "undo"),
    ]:
        try:
            failing()
        except kind as error:
            assert code is None or error.code == code
        else:
            assert code is None


@pytest.mark.parametrize("data", [b"no OpenPGP", b"", "ann"])
def test_an_input_without_any_certificate_raises_an_error_with_its_position(kh, ann, data):
    data = bytes(ann)[:20] if data == "ann" else data
    with pytest.raises(keyhoard.MalformedError, match="byte 0"):
        kh.import_(data)
    with pytest.raises(keyhoard.MalformedError, match="byte 0"):
        with kh.transaction() as changes:
            changes.import_(data)
    assert kh.import_(bytes(ann) + b"\xff\xff").refused == 1


def test_an_unproven_certificate_is_not_encrypted_to_by_its_address(kh, ann):
    with keyhoard.open(":memory:") as other:
        other.import_(bytes(ann))
        with pytest.raises(keyhoard.NotValidError):
            other.encrypt(b"x", "ann@example.org")
        other.encrypt(b"x", "ann@example.org", trust_all=True)
        cert = other.cert("ann@example.org")
        assert not cert.validity() and "no trusted key certifies it" in cert.validity().explanation
        other.set_owner_trust(cert, "ultimate")
        assert other.owner_trust(cert) == "ultimate"
        other.encrypt(b"x", "ann@example.org")


def test_a_transaction_is_one_entry_of_the_journal(kh, ann):
    with keyhoard.open(":memory:") as other:
        bob = bytes(other.generate("Bob <bob@example.org>"))
    with pytest.raises(ZeroDivisionError):
        with kh.transaction() as changes:
            changes.import_(bob)
            raise ZeroDivisionError
    assert len(kh) == 1
    with kh.transaction() as changes:
        changes.import_(bob)
        changes.delete(ann)
    assert [cert.user_id for cert in kh] == ["Bob <bob@example.org>"]
    entry = kh.journal(1)[0]
    assert (entry.added, entry.removed, entry.command) == (1, 1, "keyhoard (Python)")
    assert kh.undo().entry == entry.id
    assert [cert.user_id for cert in kh] == [ANN]


def test_the_clock_is_an_argument():
    now = datetime(2026, 1, 1, tzinfo=timezone.utc)
    with keyhoard.open(":memory:", clock=lambda: now) as kh:
        ann = kh.generate(ANN, expires_in=timedelta(days=1))
        assert ann.created == now and ann.expires == now + timedelta(days=1)
        now = datetime(2026, 1, 3, tzinfo=timezone.utc)
        assert kh.cert(ann.fingerprint).is_expired


def test_a_closed_database_says_so(kh, ann):
    kh.close()
    assert repr(kh) == "<Keyhoard (closed)>"
    with pytest.raises(ValueError, match="closed"):
        len(kh)
    with pytest.raises(ValueError, match="closed"):
        kh.certs()


def test_threads_run_beside_each_other(kh, ann):
    done = []

    def work():
        for _ in range(10):
            assert kh.decrypt(kh.encrypt(b"x" * 100_000, ann)).size == 100_000
        done.append(True)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert done == [True] * 4


def test_other_threads_run_while_a_file_is_read(kh, ann, tmp_path):
    pipe, made = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: made.append(kh.sign(pipe, ann)))
    reader.start()
    # With the interpreter's lock held by the reader, nobody could write.
    pipe.write_bytes(b"text")
    reader.join()
    assert kh.verify(b"text", signature=made[0]).are_good


def test_text_in_a_str_is_refused_where_a_path_is_meant_and_errors_name_the_path(kh, ann, tmp_path):
    for call in (kh.import_, kh.decrypt, kh.verify, kh.recipients, lambda text: kh.encrypt(text, ann)):
        for text in (ann.armored(), kh.export_secret(ann), "two\nlines", "-----BEGIN PGP MESSAGE-----"):
            with pytest.raises(TypeError, match="encode"):
                call(text)
    with pytest.raises(TypeError, match="encode"):
        kh.verify(b"x", signature="-----BEGIN PGP SIGNATURE-----\n")
    for path in ("nothing here", tmp_path / "nothing"):
        for call in (kh.import_, kh.decrypt, kh.verify, lambda path: kh.encrypt(path, ann)):
            with pytest.raises(FileNotFoundError) as raised:
                call(path)
            assert raised.value.errno == errno.ENOENT and raised.value.filename == str(path)
    with pytest.raises(IsADirectoryError) as raised:
        kh.encrypt(tmp_path, ann)
    assert raised.value.filename == str(tmp_path)
    for output, kind in ((tmp_path / "none" / "out", FileNotFoundError), ("/dev/null/out", NotADirectoryError)):
        with pytest.raises(kind) as raised:
            kh.encrypt(b"x", ann, output=output)
        assert raised.value.errno and raised.value.filename == str(output)


def test_an_output_that_is_no_file_stays_what_it_is(kh, ann, tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    assert kh.encrypt(b"x", ann, output=pipe) is None
    reader.join()
    assert pipe.is_fifo() and kh.decrypt(read[0]).data == b"x"


def test_other_threads_run_while_an_output_waits_for_its_reader(kh, ann, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: kh.encrypt(b"x", ann, output=pipe))
    writer.start()
    # With the interpreter's lock held by the writer, this would never begin to read.
    time.sleep(0.5)
    read = pipe.read_bytes()
    writer.join()
    assert kh.decrypt(read).data == b"x"


def test_a_certificate_is_in_the_database_that_has_it(kh, ann):
    assert ann in kh and ann.fingerprint in kh
    kh.delete(ann)
    assert ann not in kh and 5 not in kh


def test_passwords_are_given_by_the_same_name_where_they_lock_and_where_they_open(kh):
    message = kh.encrypt(b"x", passwords=["a", b"b"])
    for passwords in ("a", b"a", "b", ["c", "a"], (b"b",)):
        assert kh.decrypt(message, passwords=passwords).data == b"x"
    with pytest.raises(TypeError):
        kh.decrypt(message, password="a")


def test_a_key_is_locked_anew(kh):
    ann = kh.generate(ANN, passphrase="old")
    with pytest.raises(keyhoard.PassphraseError):
        kh.relock(ann, "wrong", "new")
    kh.relock(ann, "old", b"new")
    assert kh.unlocks(ann, "new") and not kh.unlocks(ann, "old")
    kh.relock(ann, "new", "")
    assert not any(key.is_locked for key in kh.secret_keys(ann))


def test_a_key_is_not_locked_by_the_passphrase_that_the_database_was_opened_with():
    with keyhoard.open(":memory:", passphrase="secret") as kh:
        assert not any(key.is_locked for key in kh.secret_keys(kh.generate(ANN)))


def test_exceptions_have_what_a_program_needs_to_go_on(kh, ann):
    with keyhoard.open(":memory:") as other:
        ben = other.generate("Ben <ann@example.org>")
        kh.import_(bytes(ben))
        kh.set_owner_trust(kh.cert(ben.fingerprint), "ultimate")
    for ask in (kh.cert, lambda name: kh.encrypt(b"x", name)):
        with pytest.raises(keyhoard.AmbiguousError) as raised:
            ask("ann@example.org")
        assert set(raised.value.candidates) == {ann.fingerprint, ben.fingerprint}
        assert ann.fingerprint in str(raised.value) and "ann@example.org" in raised.value.name
    kh.set_owner_trust(kh.cert(ben.fingerprint), "unknown")
    kh.delete(ann)
    with pytest.raises(keyhoard.NotValidError) as raised:
        kh.encrypt(b"x", "ann@example.org")
    assert raised.value.fingerprint == ben.fingerprint
    with pytest.raises(keyhoard.KeyUnusableError) as raised:
        kh.sign(b"x", kh.cert(ben.fingerprint))
    assert raised.value.fingerprint == ben.fingerprint


def test_the_signatures_on_a_certificate_say_what_they_are(ann):
    assert {(one.is_own, one.is_approved) for one in ann.signatures()} == {(True, False)}


def test_what_a_function_of_the_program_raises_comes_out(kh):
    ann = kh.generate(ANN, passphrase="secret")
    message = kh.encrypt(b"x", ann)

    def interrupted(fingerprint, wrong):
        raise KeyboardInterrupt

    for passphrase, raised in ((interrupted, KeyboardInterrupt), (lambda: "secret", TypeError), (lambda key, wrong: 5, TypeError)):
        for work in (lambda by: kh.sign(b"x", ann, passphrase=by), lambda by: kh.decrypt(message, passphrase=by)):
            with pytest.raises(raised):
                work(passphrase)
    with keyhoard.open(":memory:", passphrase=interrupted) as other:
        other.import_(kh.export_secret(ann).encode())
        with pytest.raises(KeyboardInterrupt):
            other.sign(b"x", ann.fingerprint)
    kh.sign(b"x", ann, passphrase="secret")


def test_a_clock_that_is_none_is_refused_when_the_database_is_opened():
    for clock in (datetime.now, lambda: 5):
        with pytest.raises(TypeError, match="time zone"):
            keyhoard.open(":memory:", clock=clock)
    with pytest.raises(ZeroDivisionError):
        keyhoard.open(":memory:", clock=lambda: 1 / 0)
    answers = [datetime(2026, 1, 1, tzinfo=timezone.utc)]
    with keyhoard.open(":memory:", clock=lambda: answers[0]) as kh:
        ann = kh.generate(ANN)
        del answers[0]
        for work in (lambda: kh.sign(b"x", ann), ann.validity):
            with pytest.raises(IndexError):
                work()


def _verify(arguments):
    path, data, signature = arguments
    with keyhoard.open(path) as kh:
        return kh.verify(data, signature=signature).are_certain


def test_eight_forked_workers_share_one_database(tmp_path):
    path = tmp_path / "keys.db"
    with keyhoard.open(path) as kh:
        ann = kh.generate(ANN)
        work = [(path, b"%d" % number, kh.sign(b"%d" % number, ann)) for number in range(64)]
        # All cores are used before the fork, so that their threads are missing behind it.
        assert all(kh.verify_many([(data, signature) for _, data, signature in work]))
        with multiprocessing.get_context("fork").Pool(8) as pool:
            assert pool.map(_verify, work) == [True] * 64


def _import_in_child(path, certificates, results):
    with keyhoard.open(path) as kh:
        kh.import_(certificates)
        results.put(len(kh))


def test_a_forked_process_imports_on_threads_of_its_own(tmp_path):
    with keyhoard.open(":memory:") as other:
        certificates = b"".join(bytes(other.generate(f"N {number} <{number}@example.org>")) for number in range(40))
    with keyhoard.open(":memory:") as parent:
        parent.import_(certificates)
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=_import_in_child, args=(tmp_path / "child.db", certificates, results))
    child.start()
    assert results.get(timeout=60) == 40
    child.join()


def test_a_handle_from_before_a_fork_is_a_clear_error_and_does_no_harm(tmp_path):
    kh = keyhoard.open(tmp_path / "keys.db")
    ann = kh.generate(ANN)
    message, signature = kh.encrypt(b"x", passwords="a"), kh.sign(b"x", ann)
    everything = {
        "certs": lambda: kh.certs("ann@example.org"),
        "search": lambda: kh.search("ann"),
        "len": lambda: len(kh),
        "in": lambda: ann in kh,
        "import": lambda: kh.import_(b""),
        "encrypt": lambda: kh.encrypt(b"x", ann),
        "encrypt to a password": lambda: kh.encrypt(b"x", passwords="a"),
        "decrypt": lambda: kh.decrypt(message, passwords="a"),
        "recipients": lambda: kh.recipients(message),
        "sign": lambda: kh.sign(b"x", ann),
        "verify": lambda: kh.verify(b"x", signature),
        "verify_many": lambda: kh.verify_many([(b"x", signature)]),
        "generate": lambda: kh.generate("Ben <ben@example.org>"),
        "add_subkey": lambda: kh.add_subkey(ann, "sign"),
        "certify": lambda: kh.certify(ann, ann),
        "delete": lambda: kh.delete(ann),
        "owner_trust": lambda: kh.owner_trust(ann),
        "secret_keys": kh.secret_keys,
        "secret_keys of one": lambda: kh.secret_keys(ann),
        "unlocks": lambda: kh.unlocks(ann, "a"),
        "relock": lambda: kh.relock(ann, "a", "b"),
        "export": lambda: kh.export([ann]),
        "export_secret": lambda: kh.export_secret(ann),
        "delete_secret": lambda: kh.delete_secret(ann),
        "journal": kh.journal,
        "undo": kh.undo,
        "validity": ann.validity,
        "armored": ann.armored,
    }
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        for name, work in everything.items():
            try:
                work()
                os.write(write, f"{name}: no error\n".encode())
            except keyhoard.ForkedError:
                pass
            except BaseException as error:
                os.write(write, f"{name}: {error!r}\n".encode())
        kh.close()
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answers:
        assert answers.read() == ""
    os.waitpid(child, 0)
    assert kh.certs("ann@example.org") == [ann]
    kh.generate("Bob <bob@example.org>")
    with keyhoard.open(pathlib.Path(tmp_path) / "keys.db") as again:
        assert len(again) == 2


def test_a_subkey_is_added_and_another_certificate_is_certified(kh, ann):
    subkey = kh.add_subkey(ann, "sign", expires_in=timedelta(days=30))
    assert kh.cert(subkey) == ann and subkey in [key.fingerprint for key in kh.cert(subkey).keys if key.can_sign]
    with pytest.raises(ValueError):
        kh.add_subkey(ann, "certify")
    with keyhoard.open(":memory:") as other:
        kh.import_(other.generate("Ben <ben@example.org>").armored().encode())
    ben = kh.cert("ben@example.org")
    assert kh.certify(ben, ann) == 1
    assert kh.cert("ben@example.org").validity().level == "full"


def test_the_network_is_asked_where_a_program_says_so(kh):
    with keyhoard.open(":memory:") as other:
        armored = other.generate(ANN).armored().encode()

    class Keyserver(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(armored)

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Keyserver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    servers = [f"hkp://127.0.0.1:{server.server_port}"]
    (ann,) = kh.fetch("ann@example.org", keyservers=servers, directory=False)
    assert kh.certs("ann@example.org") == [ann]
    assert kh.fetch("ben@example.org", keyservers=servers, directory=False) == []
    server.shutdown()
    server.server_close()
    with pytest.raises(keyhoard.NetworkError):
        kh.fetch("ann@example.org", keyservers=servers, directory=False, timeout=5)


def test_a_small_key_is_accepted_by_gnupgs_rules_alone(tmp_path):
    with keyhoard.open(tmp_path / "keys.db", gnupg_rules=True) as kh:
        signature = kh.sign(b"text", kh.generate(ANN, algorithm="dsa1024", subkey=""))
        assert kh.verify(b"text", signature=signature).are_certain
    with keyhoard.open(tmp_path / "keys.db") as kh:
        assert not kh.verify(b"text", signature=signature)


def test_keys_of_a_gpg_agent_need_a_database_in_a_file(tmp_path):
    with pytest.raises(keyhoard.Error) as refused:
        keyhoard.open(":memory:", gnupg_home=tmp_path)
    assert refused.value.code == "incomplete"

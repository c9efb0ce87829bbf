"""What `keyhoard.gnupg` has beyond what python-gnupg's own tests ask for."""

import inspect
import io
import os
import stat
import threading

import gnupg as upstream
import keyhoard
import keyhoard.gnupg as gnupg
import pytest

CURVES = {"key_type": "EDDSA", "key_curve": "ed25519", "subkey_type": "ECDH", "subkey_curve": "cv25519"}


@pytest.fixture
def gpg(tmp_path):
    return gnupg.GPG(gnupghome=tmp_path)


def _key(gpg, **parameters):
    key = gpg.gen_key(gpg.gen_key_input(name_email="ann@example.org", **CURVES, **parameters))
    assert key and key.status == "ok", key.stderr
    return key.fingerprint


def _public(kind):
    return {name: value for name, value in vars(kind).items() if not name.startswith("_") and inspect.isfunction(value)}


def test_methods_have_python_gnupgs_arguments_in_its_order():
    # They build gpg's command line.
    wanted = set(_public(upstream.GPG)) - {"make_args", "set_output_without_confirmation"}
    for name in wanted - {"send_keys", "search_keys", "auto_locate_key"}:
        theirs = [one.name for one in inspect.signature(getattr(upstream.GPG, name)).parameters.values() if one.kind != one.VAR_KEYWORD]
        ours = list(inspect.signature(getattr(gnupg.GPG, name)).parameters)
        assert ours[: len(theirs)] == theirs, name
    assert list(inspect.signature(gnupg.GPG).parameters) == list(inspect.signature(upstream.GPG).parameters)


def test_results_have_python_gnupgs_classes_and_attributes(gpg, tmp_path):
    assert gnupg.__version__ == upstream.__version__
    assert {key: kind.__name__ for key, kind in gpg.result_map.items()} == {
        key: kind.__name__ for key, kind in upstream.GPG.result_map.items()
    }
    for key, kind in upstream.GPG.result_map.items():
        theirs, ours = kind(gpg), gpg.result_map[key](gpg)
        parsing = {"curkey", "in_subkey", "counts", "ok_reason", "problem_reason"}
        missing = {name for name in vars(theirs) if not hasattr(ours, name)} - parsing
        assert missing == set(), key


def test_a_program_may_replace_the_classes_of_results(gpg):
    class Signed(gnupg.Sign):
        pass

    gpg.result_map = {**gpg.result_map, "sign": Signed}
    _key(gpg)
    assert isinstance(gpg.sign("text"), Signed)


def test_a_passphrase_has_one_encoding_wherever_it_is_given(tmp_path):
    for encoding in ("latin-1", "utf-8"):
        home = tmp_path / encoding
        home.mkdir()
        gpg = gnupg.GPG(gnupghome=home, encoding=encoding)
        key = _key(gpg, passphrase="pässword")
        assert gpg.sign("text", keyid=key, passphrase="pässword")
        message = gpg.encrypt("hällo", key)
        assert str(gpg.decrypt(str(message), passphrase="pässword")) == "hällo"
        with keyhoard.open(home / "keyhoard.db") as kh:
            assert kh.unlocks(kh.cert(key), "pässword".encode(encoding))
    assert gnupg.GPG(gnupghome=tmp_path).encoding == upstream.GPG.__init__.__defaults__[-1] == "latin-1"


def test_without_a_home_the_users_own_is_made(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("GNUPGHOME", raising=False)
    assert gnupg.GPG().list_keys() == []
    assert stat.S_IMODE((tmp_path / ".gnupg").stat().st_mode) == 0o700
    with pytest.raises(ValueError):
        gnupg.GPG(env={"GNUPGHOME": str(tmp_path / "none")})


def test_keyrings_in_files_are_refused(tmp_path):
    for keyring in ({"keyring": "ring.gpg"}, {"secret_keyring": ["ring.gpg"]}):
        with pytest.raises(NotImplementedError):
            gnupg.GPG(gnupghome=tmp_path, **keyring)
    gnupg.GPG(gnupghome=tmp_path, keyring=[str(tmp_path / "pubring.kbx"), "pubring.gpg"])


@pytest.mark.parametrize("mode", [{"detach": True}, {"clearsign": True}, {"clearsign": False}, {"binary": True, "detach": True}])
@pytest.mark.parametrize("to_file", [False, True])
def test_what_signed_is_told(gpg, tmp_path, mode, to_file):
    key = _key(gpg)
    output = str(tmp_path / "signed") if to_file else None
    with keyhoard.open(tmp_path / "keyhoard.db") as kh:
        subkey = kh.add_subkey(kh.cert(key), "sign")
    signed = gpg.sign("text", keyid=key, output=output, **mode)
    assert signed and signed.fingerprint == subkey and signed.key_id == subkey[-16:]
    assert signed.hash_algo in ("8", "10") and int(signed.timestamp) > 1_700_000_000
    written = (tmp_path / "signed").read_bytes() if to_file else signed.data
    assert written and bool(signed.data) != to_file
    if not mode.get("detach"):
        assert gpg.verify(written).fingerprint == subkey


def test_refused_recipients_are_named(gpg):
    refused = gpg.encrypt("text", "nobody@example.org")
    assert not refused and refused.status == "invalid recipient"
    assert refused.status_detail == "not found:nobody@example.org"


def test_hidden_recipients_are_the_third_argument(gpg, tmp_path):
    key = _key(gpg)
    message = gpg.encrypt_file(gpg._stream("text"), None, [key])
    assert message and gpg.get_recipients(message.data) == []
    assert str(gpg.decrypt(message.data)) == "text"


def test_a_large_output_goes_to_its_file_and_not_into_memory(gpg, tmp_path):
    key = _key(gpg)
    plain, message, back = (tmp_path / name for name in ("plain", "message", "back"))
    plain.write_bytes(os.urandom(1 << 20))
    seen = []
    gpg.on_data = seen.append
    assert gpg.encrypt_file(str(plain), key, output=str(message), armor=False).data == b""
    assert gpg.decrypt_file(str(message), output=str(back)).data == b""
    assert back.read_bytes() == plain.read_bytes() and b"".join(seen) == b""


def test_user_ids_are_found_by_their_text(gpg):
    key = _key(gpg)
    keys = gpg.list_keys()
    (user_id,) = keys.uid_map
    assert user_id == keys[0]["uids"][0] and keys.uid_map[user_id]["type"] == "uid"
    assert keys.key_map[key] is keys[0]


def _packets(data):
    while data:
        assert data[0] & 0xC2 == 0x80  # The old format, with a length of one or two bytes.
        header = 2 + (data[0] & 1)
        end = header + int.from_bytes(data[1:header], "big")
        yield data[:end]
        data = data[end:]


def _without(data, user_id):
    packets = list(_packets(data))
    (index,) = [index for index, packet in enumerate(packets) if packet.endswith(user_id.encode())]
    return b"".join(packets[:index] + packets[index + 2 :])


def test_a_user_id_that_nobody_certified_is_not_valid_because_another_one_is(gpg, tmp_path):
    long = "B" * 100  # Longer ones are cut short where they are shown.
    ben, mallory = "Ben <ben@example.org>", "Mallory <mallory@example.org>"
    with keyhoard.open(tmp_path / "keyhoard.db", gnupg_rules=True) as kh, keyhoard.open(":memory:") as other:
        whole = bytes(other.generate(ben, mallory, f"{long} 1", f"{long} 2"))
        kh.import_(_without(_without(whole, mallory), f"{long} 2"))
        assert kh.certify(kh.cert("ben@example.org"), kh.generate("Ann <ann@example.org>")) == 2
        kh.import_(whole)
    keys = gpg.list_keys(keys="ben@example.org")
    assert keys[0]["trust"] == "f" and keys[0]["uids"] == list(keys.uid_map)
    assert {user_id: keys.uid_map[user_id]["trust"] for user_id in (ben, mallory, f"{long} 2")} == {ben: "f", mallory: "-", f"{long} 2": "-"}
    own = gpg.list_keys(secret=True)
    assert own.uid_map["Ann <ann@example.org>"]["trust"] == own[0]["trust"] == "u"


def test_keys_and_user_ids_have_all_fields_of_python_gnupg(gpg):
    _key(gpg)
    keys = gpg.list_keys()
    (user_id,) = keys.uid_map.values()
    (subkey,) = keys[0]["subkey_info"].values()
    fields = set(upstream.ListKeys.FIELDS)
    assert set(user_id) == fields and fields <= set(subkey) and fields - {"uid"} <= set(keys[0])


@pytest.mark.parametrize("mode", [{"detach": True}, {"clearsign": True}, {"clearsign": False}, {"clearsign": False, "binary": True}])
@pytest.mark.parametrize("size", [4, 1 << 20])
def test_what_is_signed_goes_through_a_pipe_once(gpg, tmp_path, mode, size):
    key, pipe, read = _key(gpg), tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    signed = gpg.sign(b"x" * size, keyid=key, output=str(pipe), **mode)
    reader.join()
    assert signed and (signed.fingerprint, signed.key_id, signed.hash_algo) == (key, key[-16:], "8"), signed.stderr
    (tmp_path / "data").write_bytes(b"x" * size)
    verified = gpg.verify_file(io.BytesIO(read[0]), str(tmp_path / "data") if "detach" in mode else None)
    assert verified and (verified.fingerprint, verified.sig_timestamp) == (key, signed.timestamp)


def test_an_output_is_closed_when_its_work_fails_and_stays_as_it_was_without_any(gpg, tmp_path):
    class Broken:
        def __init__(self, pieces):
            self.pieces = pieces

        def read(self, size):
            if not self.pieces:
                raise ZeroDivisionError
            return self.pieces.pop()

    key, output = _key(gpg), tmp_path / "output"
    message = gpg.encrypt(os.urandom(30 << 20), key, armor=False).data
    for work in (
        lambda: gpg.encrypt_file(Broken([os.urandom(4 << 20)]), key, output=str(output)),
        lambda: gpg.sign_file(Broken([os.urandom(4 << 20)]), keyid=key, binary=True, output=str(output)),
    ):
        with pytest.raises(ZeroDivisionError) as raised:
            work()
        # The traceback keeps what was in use.
        assert raised.tb and output.stat().st_size > 0
        assert str(output) not in {os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")}
        output.write_bytes(b"before")
    assert not gpg.encrypt("text", "nobody@example.org", output=str(output))
    assert not gpg.decrypt(message[:-100], output=str(output))
    assert not gpg.sign("text", keyid="nobody@example.org", output=str(output))
    assert output.read_bytes() == b"before"

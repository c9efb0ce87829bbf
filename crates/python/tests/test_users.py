"""Work that others do with OpenPGP, done with this package."""

import glob

import keyhoard
import pytest
from dulwich.objects import Commit, Tree
from dulwich.signature import BadSignature, SignatureSigner, SignatureVerifier


class KeyhoardSignatures(SignatureSigner, SignatureVerifier):
    """What dulwich needs to sign commits and to verify them."""

    def __init__(self, kh):
        super().__init__()
        self.kh = kh

    def sign(self, data, keyid=None):
        return self.kh.sign(data, keyid)

    def verify(self, data, signature):
        verdicts = self.kh.verify(data, signature=signature)
        if not verdicts:
            raise BadSignature(str(verdicts))


def test_dulwich_signs_commits_and_verifies_them():
    with keyhoard.open(":memory:") as kh:
        signatures = KeyhoardSignatures(kh)
        kh.generate("Ann <ann@example.org>")
        commit = Commit()
        commit.tree = Tree().id
        commit.author = commit.committer = b"Ann <ann@example.org>"
        commit.author_time = commit.commit_time = 1_767_225_600
        commit.author_timezone = commit.commit_timezone = 0
        commit.message = b"A signed commit\n"
        commit.gpgsig = signatures.sign(commit.as_raw_string(), "ann@example.org").rstrip(b"\n")
        read = Commit.from_string(commit.as_raw_string())
        signatures.verify(read.raw_without_sig(), read.gpgsig)
        read.message = b"Another message\n"
        with pytest.raises(BadSignature):
            signatures.verify(read.raw_without_sig(), read.gpgsig)


def test_a_release_file_of_debian_is_verified_with_its_keyring():
    releases = glob.glob("/var/lib/apt/lists/*_InRelease")
    assert releases, "apt has no lists: run `apt-get update`"
    with keyhoard.open(":memory:") as kh:
        kh.import_("/usr/share/keyrings/debian-archive-keyring.gpg")
        for release in releases:
            verdicts = kh.verify(release)
            assert verdicts.are_good, verdicts
            assert verdicts.content.startswith(b"Origin: Debian")
            assert b"BEGIN PGP" not in verdicts.content


def test_ten_thousand_signatures_are_verified():
    with keyhoard.open(":memory:") as kh:
        ann = kh.generate("Ann <ann@example.org>")
        signed = [(b"%d" % number, kh.sign(b"%d" % number, ann, armor=False)) for number in range(100)]
        assert all(kh.verify_many(signed * 100))

"""Measures the Python package beside python-gnupg, pysequoia and PGPy: `scripts/bench-library` runs it.

Each task runs in turn for each program, several times; the median counts. Prints a table in Markdown, and with --json all
times.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import gnupg
import keyhoard
import pysequoia

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PGPy uses what its libraries say is old.
    import pgpy

KEYRING = "/usr/share/keyrings/debian-keyring.gpg"

# Encrypts a file in a process of its own and prints the most memory that this took, in MiB.
ENCRYPTION = r"""
import re, sys, keyhoard
database, data, output = sys.argv[1:]
with keyhoard.open(database) as kh:
    kh.encrypt(data, kh.cert("ann@example.org"), output=output)
# getrusage would count the memory of the process that started this one.
print(int(re.search(r"VmHWM:\s*(\d+)", open("/proc/self/status").read())[1]) / 1024)
"""


def timed(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


class Bench:
    def __init__(self, arguments):
        self.arguments = arguments
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="keyhoard-bench-"))
        self.times = {}
        self.memory = {}

    def measure(self, task, programs, rounds=None):
        """Runs each of the programs by turns; a program is a function that does the task once."""
        for _ in range(rounds or self.arguments.rounds):
            for program, work in programs.items():
                self.times.setdefault(task, {}).setdefault(program, []).append(timed(work))

    def new(self, name):
        path = self.directory / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(mode=0o700)
        return path

    def imports(self):
        def in_process():
            with keyhoard.open(self.new("python") / "keys.db") as kh:
                kh.import_(KEYRING)

        def program():
            path = self.new("program") / "keys.db"
            subprocess.run([self.arguments.program, "--quiet", "--db", path, "import", KEYRING], check=True)

        self.measure("import Debian's keyring", {"keyhoard": in_process, "program keyhoard": program})

    def lookups(self):
        with keyhoard.open(self.directory / "python" / "keys.db") as kh:
            emails = [cert.emails[0] for cert in kh.certs()[:1000] if cert.emails]

            def look_up():
                for email in emails:
                    kh.certs(email)

            self.measure(f"look up {len(emails)} addresses", {"keyhoard": look_up})

    def signatures(self):
        count = self.arguments.signatures
        home = self.new("signers")
        with keyhoard.open(home / "keys.db") as kh:
            ann = kh.generate("Ann <ann@example.org>")
            items = [(b"text %d" % number, kh.sign(b"text %d" % number, ann)) for number in range(count)]
            gpg_home = self.new("gnupg")
            gpg = gnupg.GPG(gnupghome=str(gpg_home))
            gpg.import_keys(ann.armored())
            cert = pysequoia.Cert.from_bytes(bytes(ann))
            few = items[: max(1, count // 20)]
            signature_file = self.directory / "signature"

            def by_python_gnupg():
                for data, signature in few:
                    signature_file.write_bytes(signature)
                    assert gpg.verify_data(str(signature_file), data).valid

            def by_pysequoia():
                for data, signature in items:
                    pysequoia.verify(data, lambda _: [cert], signature=pysequoia.Sig.from_bytes(signature))

            def each():
                for data, signature in items:
                    assert kh.verify(data, signature=signature).are_good

            programs = {
                "keyhoard": lambda: kh.verify_many(items),
                "keyhoard, each": each,
                "pysequoia": by_pysequoia,
            }
            task = f"verify {count} detached signatures"
            self.measure(task, programs)
            self.measure(task, {"python-gnupg": by_python_gnupg}, rounds=1)
            self.times[task]["python-gnupg"] = [t * count / len(few) for t in self.times[task]["python-gnupg"]]

    def data(self, mib):
        path = self.directory / f"data-{mib}"
        with path.open("wb") as out:
            for _ in range(mib):
                out.write(os.urandom(1 << 20))
        return path

    def messages(self):
        data = self.data(self.arguments.mib)
        with keyhoard.open(self.directory / "signers" / "keys.db") as kh:
            ann = kh.cert("ann@example.org")
            gpg = gnupg.GPG(gnupghome=str(self.directory / "gnupg"))
            key, _ = pgpy.PGPKey.from_blob(ann.armored())
            out = self.directory / "message"

            def by_python_gnupg():
                done = gpg.encrypt_file(str(data), ann.fingerprint, always_trust=True, armor=False, output=str(out))
                assert done.ok, done.stderr

            def by_pgpy():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    out.write_bytes(bytes(key.encrypt(pgpy.PGPMessage.new(data.read_bytes()))))

            task = f"encrypt {self.arguments.mib} MiB"
            programs = {"keyhoard": lambda: kh.encrypt(data, ann, output=out), "python-gnupg": by_python_gnupg}
            self.measure(task, programs, rounds=3)
            self.measure(task, {"PGPy": by_pgpy}, rounds=1)

    def memory_of_messages(self):
        database, out = self.directory / "signers" / "keys.db", self.directory / "message"
        for mib in (self.arguments.mib // 16, self.arguments.mib):
            command = [sys.executable, "-c", ENCRYPTION, database, self.data(mib), out]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            self.memory[mib] = float(done.stdout)

    def report(self):
        print("| task | program | median | times keyhoard |\n|---|---|---|---|")
        for task, programs in self.times.items():
            base = statistics.median(programs["keyhoard"])
            for program, times in programs.items():
                median = statistics.median(times)
                print(f"| {task} | {program} | {median * 1000:,.1f} ms | {median / base:.2f} |")
        print()
        for mib, peak in self.memory.items():
            print(f"Memory of a process that encrypts {mib} MiB: {peak:.0f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="target/dist/keyhoard")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--signatures", type=int, default=1000)
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--json", type=pathlib.Path)
    bench = Bench(parser.parse_args())
    try:
        bench.imports()
        bench.lookups()
        bench.signatures()
        bench.messages()
        bench.memory_of_messages()
    finally:
        shutil.rmtree(bench.directory, ignore_errors=True)
    bench.report()
    if bench.arguments.json:
        bench.arguments.json.write_text(json.dumps(bench.times, indent=1))
    sys.stdout.flush()


if __name__ == "__main__":
    main()

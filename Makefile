# `make help` lists the targets; on Debian each target installs the packages that it lacks, and says so.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

TARGET := $(or $(CARGO_TARGET_DIR),target)
CHECKED := --profile checked --workspace
# gpg ends itself with SIGHUP where a program's answers end, and asks for ever if that is ignored, as under nohup.
CARGO_TEST := env --default-signal=HUP cargo test $(CHECKED)
PREFIX ?= /usr/local
# What is installed. gpg-keyhoard is a link to keyhoard, which looks at the name it is called by.
PROGRAMS := keyhoard gpgv-keyhoard hn2nntp keyhoard-lab

# Only tests whose name contains this: make test T=gpg_import
T ?=
# The seed of the sampled tests: make test SEED=7
SEED ?= 1

export KEYHOARD_TEST_SEED := $(SEED)

.PHONY: help
help: ## lists the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/make \1\t\2/p' Makefile | expand -t 20

.PHONY: demo
demo: setup ## imports Debian's keyring into a new database and times it beside gpg
	@echo 'demo: the first build takes 6 to 9 minutes on two cores, then Keyhoard'\''s times take seconds and gpg'\''s some minutes'
	cargo build --profile demo --bin gpg-keyhoard --bin keyhoard-demo
	@$(TARGET)/demo/keyhoard-demo

.PHONY: build
build: setup ## builds what ships (10 to 20 minutes the first time)
	cargo build --profile dist $(PROGRAMS:%=--bin %)
	ln -sf keyhoard $(TARGET)/dist/gpg-keyhoard

.PHONY: install
install: build ## installs the programs, man pages and completions to PREFIX (default /usr/local)
	for program in $(PROGRAMS); do \
	    scripts/install-program $(TARGET)/dist/$$program $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/debug; \
	done
	ln -sf keyhoard $(DESTDIR)$(PREFIX)/bin/gpg-keyhoard
	share=$(DESTDIR)$(PREFIX)/share; \
	mkdir -p "$$share"/{man/man1,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}; \
	for program in keyhoard hn2nntp; do \
	    run=$(TARGET)/dist/$$program; \
	    $$run man --directory "$$share/man/man1"; \
	    $$run completions bash >"$$share/bash-completion/completions/$$program"; \
	    $$run completions zsh >"$$share/zsh/site-functions/_$$program"; \
	    $$run completions fish >"$$share/fish/vendor_completions.d/$$program.fish"; \
	done

.PHONY: deb
deb: build ## makes the Debian packages keyhoard, gpg-from-keyhoard and gpgv-from-keyhoard, in target/deb
	@scripts/setup deb
	scripts/deb $(TARGET)/dist $(TARGET)/deb

.PHONY: test-deb
test-deb: deb ## installs, upgrades and removes these packages in clean Debian 12 and 13 roots, as root (5 minutes)
	scripts/test-deb $(TARGET)/deb $(TARGET)/roots $(TARGET)/dist

.PHONY: test
test: programs ## runs every test (T=name: those whose name contains it), long ones as a sample (SEED=n)
	$(CARGO_TEST) --no-fail-fast -- $(T)

.PHONY: gpg24
gpg24: programs ## runs the tests of gpg-keyhoard with 2.4.9 in 2.2.40's place, as many as make test runs
	KEYHOARD_TEST_GNUPG=2.4 $(CARGO_TEST) --no-fail-fast --test all -- gpg $(T)

.PHONY: test-python
test-python: programs ## builds the Python package and tests it: pytest, doctests, mypy
	scripts/test-python package

.PHONY: test-python-gnupg
test-python-gnupg: programs ## runs python-gnupg's own tests against keyhoard.gnupg
	scripts/test-python gnupg

.PHONY: wheel
wheel: setup ## builds the Python package's wheel for Linux into target/python/wheels, and checks it
	scripts/wheel

.PHONY: bench-library
bench-library: build wheel ## measures the Python package beside python-gnupg, pysequoia and PGPy
	scripts/bench-library

.PHONY: check-library
check-library: setup ## type-checks the library with each of its features
	scripts/check-library

.PHONY: check-targets
check-targets: check-library ## type-checks the library for Windows and macOS
	scripts/check-targets

.PHONY: package
package: setup ## packs every published crate into target/package, as cargo publish would upload it, and builds each from that
	@scripts/setup scripts
	scripts/package

.PHONY: semver
semver: check-library ## compares the library's API with that of the commit SINCE (default: the last tag) by cargo-semver-checks
	@scripts/setup semver
	scripts/semver $(SINCE)

.PHONY: oracle
oracle: programs ## compares all listings, queries and verdicts with those of the real gpg and Sequoia
	KEYHOARD_TEST_SCALE=full $(CARGO_TEST) --test all --test clean --test agreement -- --nocapture oracle_

.PHONY: model
model: programs ## compares verdicts with a plain model on thousands of random certificates (10 to 20 minutes)
	KEYHOARD_TEST_SCALE=full $(CARGO_TEST) --test model -- --nocapture

.PHONY: stress
stress: programs ## runs the long tests in full: 200 killed imports, 8 imports beside 8 listings
	KEYHOARD_TEST_SCALE=full $(CARGO_TEST) --test all -- --nocapture --test-threads 1 stress_

.PHONY: interop
interop: programs ## runs keys and messages of six other programs through keyhoard sop and back, writes docs/interop.md
	scripts/interop $(TARGET) $(TARGET)/checked/keyhoard

.PHONY: bench
bench: build ## measures gpg and Keyhoard side by side, writes target/bench/ (20 to 60 minutes)
	$(TARGET)/dist/keyhoard-lab bench tables --output $(TARGET)/bench

.PHONY: lab-full
lab-full: build ## measures every OpenPGP program, also GnuPG 2.4.9 and Debian sid's, writes target/lab/report.html (hours)
	@scripts/setup test
	scripts/lab-roots $(TARGET)
	$(TARGET)/dist/keyhoard-lab bench all --roots $(TARGET)/lab-roots --rounds 3 --once-over 20 --out $(TARGET)/lab $(LAB_OPTIONS)

.PHONY: bench-network
bench-network: build ## measures refresh and lookups beside curl and gpg with dirmngr, from a local web server
	@scripts/setup test
	scripts/measure-network

.PHONY: bench-agent
bench-agent: build ## measures listing and signing with 100 secret keys of a running gpg-agent beside gpg (a minute)
	@scripts/setup scripts
	scripts/measure-agent

.PHONY: bench-postgres
bench-postgres: build ## measures a PostgreSQL server beside SQLite, writes target/bench/ (about 10 minutes, 8 GB)
	@scripts/setup test
	cargo build --profile dist --example measure_database
	$(TARGET)/dist/keyhoard-lab bench tables --only-postgres --output $(TARGET)/bench

.PHONY: clients
clients: programs ## runs test suites of programs that use gpg, with gpg 2.4.9 and gpg-keyhoard, as root, writes docs/clients.md (more than an hour)
	@scripts/setup clients
	scripts/clients $(TARGET) $(TARGET)/checked/gpg-keyhoard

.PHONY: lint
lint: ## runs rustfmt and clippy and checks links in the documentation; warnings are errors
	@scripts/setup lint
	cargo fmt --all --check
	cargo clippy $(CHECKED) --all-targets -- -D warnings
	RUSTDOCFLAGS='-D rustdoc::broken_intra_doc_links' cargo doc $(CHECKED) --no-deps --document-private-items

.PHONY: deny
deny: ## checks licences, sources and security advisories of the dependencies (deny.toml)
	@scripts/setup deny
	scripts/deny

.PHONY: test-cards
test-cards: programs ## runs the tests of the commands for smartcards, with a virtual card (5 minutes the first time)
	@scripts/setup cards
	@scripts/card $(TARGET) >/dev/null
	$(CARGO_TEST) --test cards -- --test-threads=2

.PHONY: fuzz
fuzz: ## fuzzes all code that reads foreign bytes, FUZZ_SECONDS (default 60) for each target
	@scripts/setup fuzz
	scripts/fuzz $(or $(FUZZ_SECONDS),60)

.PHONY: fuzz-long
fuzz-long: ## fuzzes each target for an hour
	@FUZZ_SEED=0 $(MAKE) --no-print-directory fuzz FUZZ_SECONDS=3600

.PHONY: attacks
attacks: programs ## runs the attacks of tests/attacks through other OpenPGP programs too, and writes docs/attacks.md
	$(TARGET)/checked/examples/attacks_page docs/attacks.md \
	    "$(or $(PEERS),$$(scripts/peers $(TARGET)))"

.PHONY: setup
setup:
	@scripts/setup

# INN, the real GnuPGs, the checked programs, and beside their compilation the homes that the real gpg makes for the comparisons.
.PHONY: programs
programs:
	@scripts/setup test
	@scripts/inn $(TARGET) >/dev/null
	@scripts/gnupg $(TARGET) >/dev/null
	@scripts/reference-homes $(TARGET) >/dev/null & homes=$$!; \
	cargo build $(CHECKED) --bins --tests --examples; wait $$homes

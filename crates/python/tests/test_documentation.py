"""That every public member is described, and that the examples in the descriptions of native methods hold."""

import doctest
import inspect
import pathlib
import re

import keyhoard
import keyhoard.gnupg
import pytest


def _public_members():
    for name in keyhoard.__all__:
        member = getattr(keyhoard, name)
        if callable(member):
            yield f"keyhoard.{name}", member
    results = {kind.__name__: kind for kind in keyhoard.gnupg.GPG.result_map.values()}
    for name, kind in {"GPG": keyhoard.gnupg.GPG, **results}.items():
        yield f"keyhoard.gnupg.{name}", kind


def _described():
    for name, member in _public_members():
        yield name, member
        kinds = inspect.getmro(member) if inspect.isclass(member) else []
        for kind in kinds:
            if kind.__module__.split(".")[0] == "keyhoard":
                for attribute, value in vars(kind).items():
                    if not attribute.startswith("_") and hasattr(value, "__get__"):
                        yield f"{name}.{attribute}", value


def test_every_public_member_is_described():
    described = dict(_described())
    assert len(described) > 180 and "keyhoard.Keyhoard.encrypt" in described and "keyhoard.Key.bits" in described
    assert [name for name, value in described.items() if not (value.__doc__ or "").strip()] == []


def test_every_method_shows_its_arguments():
    members = vars(keyhoard._keyhoard.Keyhoard).items()
    methods = [value for name, value in members if not name.startswith("_") and inspect.isroutine(value)]
    assert len(methods) > 20
    for method in methods:
        inspect.signature(method)


@pytest.fixture
def example():
    """What the examples of the native classes begin with."""
    with keyhoard.open(":memory:") as kh:
        yield {"keyhoard": keyhoard, "kh": kh, "ann": kh.generate("Ann <ann@example.org>")}


def _examples():
    parser = doctest.DocTestParser()
    for kind in vars(keyhoard._keyhoard).values():
        for name, member in vars(kind).items() if inspect.isclass(kind) else []:
            if ">>>" in (member.__doc__ or ""):
                yield parser.get_doctest(member.__doc__, {}, f"{kind.__name__}.{name}", None, None)


@pytest.mark.parametrize("test", list(_examples()), ids=lambda test: test.name)
def test_the_examples_of_native_methods_hold(test, example):
    test.globs = example
    said = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert not said, "".join(said)


def test_some_native_methods_have_examples():
    assert len(list(_examples())) >= 8


REPOSITORY = pathlib.Path(__file__).parents[3]


@pytest.mark.parametrize("page", ["docs/python.md", "crates/python/README.md"])
def test_the_programs_of_the_pages_run_as_they_are_printed(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    programs = re.findall("```python\n(.*?)```", (REPOSITORY / page).read_text(), re.DOTALL)
    assert len(programs) == 1
    exec(compile(programs[0], page, "exec"), {})
    assert "good" in capsys.readouterr().out

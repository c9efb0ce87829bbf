"""What the examples in the descriptions begin with: a database and a key."""

import keyhoard
import pytest


@pytest.fixture(autouse=True, scope="session")
def names_in_examples(doctest_namespace):
    kh = keyhoard.open(":memory:")
    doctest_namespace.update(kh=kh, ann=kh.generate("Ann <ann@example.org>"))

"""An attribute that a record does not have is answered with the one that was meant."""

from __future__ import annotations

import copy
import pickle
import traceback

import pytest

from jaxmagic.compilation.record.compilation import Cause
from jaxmagic.session.history import History

CAUSE = Cause(kind="shape", reason="a different shape")


@pytest.mark.parametrize(
    ("record", "name", "suggestion"),
    [
        (CAUSE, "reasons", ". Did you mean: 'reason'?"),
        (CAUSE, "savefig", ""),
        (History(), "savefig", ". Did you mean: 'figure().savefig'?"),
        (CAUSE, "plot", ""),
        (CAUSE, "_reason", None),
    ],
)
def test_an_attribute_that_was_meant_is_suggested(record: object, name: str, suggestion: str | None) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(record, name)
    if suggestion is not None:
        assert [each.filename for each in traceback.extract_tb(caught.value.__traceback__)] == [__file__]
        kind = type(record).__name__
        assert str(caught.value) == f"{kind!r} object has no attribute {name!r}{suggestion}"


def test_records_are_copied_and_pickled_as_before() -> None:
    assert copy.deepcopy(CAUSE) == copy.copy(CAUSE) == pickle.loads(pickle.dumps(CAUSE)) == CAUSE


def test_an_error_inside_of_a_property_stays() -> None:
    class Broken(Cause):
        @property
        def broken(self) -> int:
            return self.kind.missing  # type: ignore[attr-defined, no-any-return]

    with pytest.raises(AttributeError, match="'str' object has no attribute 'missing'"):
        Broken(kind="shape", reason="").broken  # noqa: B018

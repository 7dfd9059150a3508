"""Which parameters of a test run in ``make test``; the others carry the mark ``slow`` and run in ``make slow``."""

from itertools import product

import pytest


def slow_except(values, quick):
    """Parameters for ``pytest.mark.parametrize``: the quick ones as they are, the others marked slow."""
    quick = list(quick)
    assert all(value in values for value in quick)  # a name that has changed would silently slow nothing down
    return [value if value in quick else pytest.param(value, marks=pytest.mark.slow) for value in values]


def each_once(test):
    """Above several ``parametrize``: quick are so few of all combinations that every value occurs in one of them."""

    def choose(points):
        chosen, missing = set(), {(i, id(part)) for point in points.values() for i, part in enumerate(point)}
        while missing:
            news = {k: missing & {(i, id(part)) for i, part in enumerate(point)} for k, point in points.items()}
            best = max(news, key=lambda k: len(news[k]))
            chosen.add(best)
            missing -= news[best]
        return chosen

    return _slow_but(choose)(test)


def first_quick(count):
    """Above ``parametrize``: the first combinations are quick, so many of them, the others slow."""
    return _slow_but(lambda points: list(points)[:count])


def _slow_but(choose):
    """A decorator that marks combinations slow, but for those that ``choose`` names and those that are slow anyway."""

    def decorate(test):
        axes = [mark for mark in test.pytestmark if mark.name == "parametrize"]
        test.pytestmark = [mark for mark in test.pytestmark if mark.name != "parametrize"]
        names = [name for mark in axes for name in _names(mark)]
        points = dict(enumerate(product(*map(_parts, axes))))
        open_to_choice = {k: point for k, point in points.items() if not any(part["slow"] for part in point)}
        quick = choose(open_to_choice)
        assert 0 < len(quick) < len(open_to_choice)  # else the decorator says nothing
        params = []
        for k, point in points.items():
            marks = [mark for part in point for mark in part["marks"]]
            if k in open_to_choice and k not in quick:
                marks.append(pytest.mark.slow)
            values = [value for part in point for value in part["values"]]
            params.append(pytest.param(*values, marks=marks, id="-".join(part["id"] for part in point)))
        return pytest.mark.parametrize(names, params)(test)

    return decorate


def _names(mark):
    names = mark.args[0]
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def _parts(mark):
    """The values, marks and id of each parameter in one ``parametrize``."""
    names, ids = _names(mark), mark.kwargs.get("ids")
    parts = []
    for k, given in enumerate(mark.args[1]):
        is_param = isinstance(given, type(pytest.param()))
        values = given.values if is_param else tuple(given) if len(names) > 1 else (given,)
        marks = list(given.marks) if is_param else []
        words = [ids(value) if callable(ids) else None for value in values]
        words = [word or _word(value, f"{name}{k}") for word, value, name in zip(words, values, names, strict=True)]
        word = given.id if is_param and given.id else ids[k] if isinstance(ids, list | tuple) else "-".join(words)
        parts.append({"values": values, "marks": marks, "id": word, "slow": any(m.name == "slow" for m in marks)})
    return parts


def _word(value, otherwise):
    """How pytest would name a value."""
    if value is None or isinstance(value, str | int | float):
        return str(value)
    return getattr(value, "__name__", otherwise)

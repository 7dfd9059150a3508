"""What ``help`` and an IDE show: a summary, the parameters of the signature, what is returned, an example."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

docscrape = pytest.importorskip("numpydoc.docscrape")

PAGE = Path(__file__).resolve().parents[1] / "docs/api/index.md"
NAMES = re.findall(r"^   (svmpath\.[\w.]+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
WIDTH = 120  # columns of the terminal that ``help`` fits into, with its margin of four
LONGEST = 12  # lines of one paragraph: more is a wall

# Nothing to link to: data, or chunks of data, that cannot be used.
WITHOUT_SEE_ALSO = {"svmpath.DataError", "svmpath.ChunkWarning"}


def found(name):
    """The object of a public name; a function comes before the module that it has its name from."""
    parts = name.split(".")
    for end in range(len(parts) - 1, 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            thing = getattr(thing, part)
        return thing
    raise LookupError(name)


def sections(thing):
    """The parsed docstring of a class or function, its own and not that of a base class."""
    return docscrape.NumpyDocString(inspect.cleandoc(thing.__dict__.get("__doc__") or thing.__doc__ or ""))


def entries(doc, *names):
    """The names that sections list; ``C_, gamma_ : float`` are two."""
    listed = [entry.name for name in names for entry in doc[name]]
    return [each.strip() for entry in listed for each in entry.split(",") if each.strip()]


def is_message(thing):
    """Whether it is an exception or a warning."""
    return inspect.isclass(thing) and issubclass(thing, BaseException)


def arguments(thing):
    """The parameters of its signature, ``*args`` and ``**options`` with their stars."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    given = inspect.signature(thing).parameters.values()
    return [stars.get(each.kind, "") + each.name for each in given if each.name != "self"]


def inherited(thing):
    """What the docstrings of base classes describe."""
    bases = [base for base in inspect.getmro(thing)[1:] if base.__module__.startswith("svmpath")]
    return {each for base in bases for each in entries(sections(base), "Parameters", "Attributes")}


FUNCTIONS = [name for name in NAMES if not inspect.isclass(found(name))]
CLASSES = [name for name in NAMES if inspect.isclass(found(name)) and not is_message(found(name))]
METHODS = [
    f"{name}.{key}"
    for name in CLASSES
    for key, value in vars(found(name)).items()
    if not key.startswith("_") and inspect.isfunction(inspect.unwrap(value))
]


@pytest.mark.parametrize("name", NAMES)
def test_summary_and_width(name):
    thing = found(name)
    doc = inspect.cleandoc(thing.__doc__ or "")
    summary = doc.splitlines()[0]
    assert summary.endswith((".", ":")) and len(summary) + 4 <= WIDTH  # noqa: PT018
    assert not inspect.isclass(thing) or thing.__doc__ != next(iter(thing.__bases__)).__doc__  # of its own
    wide = [line for line in doc.splitlines() if len(line) + 4 > WIDTH]
    assert not wide
    paragraphs = re.split(r"\n\s*\n|\n(?=\S.* : )", doc)
    assert max(part.count("\n") + 1 for part in paragraphs if ">>>" not in part) <= LONGEST


@pytest.mark.parametrize("name", NAMES)
def test_see_also(name):
    if name in WITHOUT_SEE_ALSO:
        return
    linked = [target for targets, _ in sections(found(name))["See Also"] for target, _ in targets]
    assert linked
    for target in linked:
        if target.startswith("svmpath."):
            assert found(target) is not found(name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_of_functions_are_those_of_the_signature(name):
    thing = found(name)
    doc = sections(thing)
    assert entries(doc, "Parameters") == arguments(thing)
    returns = inspect.signature(thing).return_annotation
    assert returns in ("None", None) or doc["Returns"]


@pytest.mark.parametrize("name", CLASSES)
def test_what_classes_are_made_of_is_described(name):
    thing = found(name)
    doc = sections(thing)
    described = {*entries(doc, "Parameters", "Attributes"), *inherited(thing)}
    assert set(arguments(thing)) <= described
    if doc["Parameters"]:  # in the order of the signature, and nothing else
        assert entries(doc, "Parameters") == arguments(thing)


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_example(name):
    thing = found(name)
    assert ">>> " in "\n".join(sections(thing)["Examples"])


def test_methods_have_a_summary_and_no_parameters_that_are_not_there():
    for owner, _, key in (name.rpartition(".") for name in METHODS):
        method = inspect.unwrap(getattr(found(owner), key))
        text = inspect.getdoc(getattr(found(owner), key))  # an override may have that of the base class
        assert text, f"{owner}.{key} has no docstring"
        doc = docscrape.NumpyDocString(text)
        taken = [each for each in arguments(method) if each != "cls"]
        assert set(entries(doc, "Parameters")) <= set(taken), f"{owner}.{key}"


def test_types_are_named():
    for name in ("svmpath.trace", "svmpath.surface", "svmpath.PathSVC", "svmpath.PathSVR", "svmpath.ElasticNetSVC"):
        doc = sections(found(name))
        for entry in doc["Parameters"]:
            assert entry.type or entry.name.startswith("*"), f"{name}: {entry.name} has no type"
            assert entry.desc, f"{name}: {entry.name} is not described"

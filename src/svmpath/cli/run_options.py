"""What commands share: ``--config``, ``--json``, ``--quiet`` and the argument MODEL; and the file that repeats a run.

``--config FILE`` fills in what the command line does not say. Its keys are the names of options without the dashes, and
those of arguments; ``config.toml``, which ``svmpath tune`` writes beside the model, is such a file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from svmpath.exceptions import DataError
from svmpath.names import did_you_mean

OUTPUT = "Output"
_BEGINS = "# svmpath "  # a configuration that svmpath has written
_NOT_KEPT = ("config", "as_json", "quiet", "says_stages", "help")  # how a run is shown, not what it computes


def read_config(context: typer.Context, value: Path | None) -> Path | None:
    """Take the values of a configuration file as the defaults of a command."""
    if value is not None:
        context.default_map = {**(context.default_map or {}), **_defaults(Path(value), _parameters(context))}
    return value


ModelArgument = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="The model.skops that svmpath tune has written.", show_default=False),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="toml file with values for options, by their names; the command line wins over it.",
        rich_help_panel=OUTPUT,
        is_eager=True,
        callback=read_config,
        show_default=False,
    ),
]
JsonOption = Annotated[
    bool,
    typer.Option("--json", help="Print the results as JSON on standard output.", rich_help_panel=OUTPUT),
]
QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Print neither tables nor notes nor progress, only errors, and what --json prints.",
        rich_help_panel=OUTPUT,
    ),
]


def check_config_kept(config: Path | None, written: Path) -> None:
    """Refuse to replace a configuration file that the user wrote by the one that repeats the run."""
    if config is None or not written.exists() or not written.samefile(config):
        return
    if not written.read_text(encoding="utf-8-sig").startswith(_BEGINS):
        raise DataError(
            f"--output: {str(written)!r} would be replaced by the configuration of this run; choose another --output, "
            "or another name for the --config file"
        )


def write_config(context: typer.Context, command: str) -> str:
    """The configuration of a run, as it was resolved: a file for ``--config`` that repeats it."""
    import tomli_w

    values = {
        key: _plain(context.params[name])
        for key, name in _keys(_parameters(context))
        if context.params.get(name) not in (None, [], ())
    }
    where = "data are read from standard input" if values.get("data") == "-" else "paths are as they were given"
    return f"{_BEGINS}{command} --config FILE repeats this run; {where}.\n{tomli_w.dumps(values)}"


def _parameters(context: typer.Context) -> list[Any]:
    return [each for each in context.command.params if each.name not in _NOT_KEPT]


def _keys(parameters: Iterable[Any]) -> list[tuple[str, str]]:
    """For each parameter its key in a configuration file, the first name of the option, and its own name."""
    return [(_key(each), each.name) for each in parameters]


def _key(parameter: Any) -> str:
    names = [name for name in parameter.opts if name.startswith("--")]
    return names[0].removeprefix("--") if names else str(parameter.name)


def _plain(value: Any) -> Any:
    """A value that toml knows."""
    if isinstance(value, Path):
        return str(value)
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _defaults(path: Path, parameters: list[Any]) -> dict[str, Any]:
    """The values of a configuration file by the names of the parameters."""
    known = {_key(each): each for each in parameters}
    spelt = {
        name.removeprefix("--"): each for each in parameters for name in each.opts if name.startswith("--")
    } | known
    found = {}
    for key, value in _read(path).items():
        parameter = spelt.get(key) or spelt.get(key.replace("_", "-"))
        if parameter is None:
            raise DataError(
                f"--config {path.name}: there is no option {key!r}; there are {', '.join(known)}."
                f"{did_you_mean(key, known)}"
            )
        found[str(parameter.name)] = _checked(path, key, value, parameter)
    return found


def _read(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise DataError(f"--config: there is no file {str(path)!r}; check its name and folder") from None
    except IsADirectoryError:
        raise DataError(f"--config must be a toml file, but {str(path)!r} is a folder") from None
    except OSError as error:
        raise DataError(f"--config: {str(path)!r} cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(
            f'--config {path.name} is not a toml file ({error}); write lines such as loss = "hinge"'
        ) from None


def _checked(path: Path, key: str, value: Any, parameter: Any) -> Any:
    """The value, if it is of a kind that the option can take; the option itself looks at the rest."""
    is_flag, is_list = bool(getattr(parameter, "is_flag", False)), bool(getattr(parameter, "multiple", False))
    wanted = "true or false" if is_flag else "a list of texts, or one" if is_list else "a text or a number"
    kinds: Any = bool if is_flag else (str, list) if is_list else (str, int, float)
    is_right = isinstance(value, kinds) and (is_flag or not isinstance(value, bool))
    if is_list and isinstance(value, list):
        is_right = all(isinstance(each, str) for each in value)
    if not is_right:
        raise DataError(f"--config {path.name}: {key} must be {wanted}, not {value!r}")
    return [value] if is_list and isinstance(value, str) else value if is_flag or is_list else str(value)

"""Configuration files, and the one that repeats a run.

``--config FILE`` fills in what the command line does not say. Its keys are the names of options without the dashes, and
those of arguments; ``config.toml``, which ``svmpath tune`` writes beside the model, is such a file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from svmpath.exceptions import DataError
from svmpath.names import did_you_mean, no_file

_BEGINS = "# svmpath "  # a configuration that svmpath has written
_NOT_KEPT = ("config", "json", "quiet", "verbose", "help")  # how a run is shown, not what it computes


def read_config(context: typer.Context, value: Path | None) -> Path | None:
    """Take the values of a configuration file as the defaults of a command."""
    if value is None:
        return None
    path, known = Path(value), {_key(each): each for each in _parameters(context)}
    spelt = {name.removeprefix("--"): each for each in known.values() for name in each.opts} | known
    defaults = {}
    for key, given in _read(path).items():
        parameter = spelt.get(key) or spelt.get(key.replace("_", "-"))
        if parameter is None:
            raise DataError(
                f"--config {path.name}: there is no option {key!r}; there are {', '.join(known)}."
                f"{did_you_mean(key, known)}"
            )
        defaults[str(parameter.name)] = _checked(path, key, given, parameter)
    context.default_map = {**(context.default_map or {}), **defaults}
    return value


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

    given = {_key(each): context.params[each.name] for each in _parameters(context)}
    values = {
        key: str(value) if isinstance(value, Path) else value
        for key, value in given.items()
        if value not in (None, [], ())
    }
    where = "data are read from standard input" if values.get("data") == "-" else "paths are as they were given"
    return f"{_BEGINS}{command} --config FILE repeats this run; {where}.\n{tomli_w.dumps(values)}"


def _parameters(context: typer.Context) -> list[Any]:
    return [each for each in context.command.params if each.name not in _NOT_KEPT]


def _key(parameter: Any) -> str:
    """The key of an option: its first name."""
    names = [name for name in parameter.opts if name.startswith("--")]
    return names[0].removeprefix("--") if names else str(parameter.name)


def _read(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise DataError(f"--config: {no_file(path)}") from None
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
    if getattr(parameter, "is_flag", False):
        is_right, wanted = isinstance(value, bool), "true or false"
    elif getattr(parameter, "multiple", False):
        value = [value] if isinstance(value, str) else value
        is_right = isinstance(value, list) and all(isinstance(each, str) for each in value)
        wanted = "a list of texts, or one"
    else:
        is_right = isinstance(value, str | int | float) and not isinstance(value, bool)
        value, wanted = str(value) if is_right else value, "a text or a number"
    if not is_right:
        raise DataError(f"--config {path.name}: {key} must be {wanted}, not {value!r}")
    return value

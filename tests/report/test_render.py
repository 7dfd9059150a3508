"""Files are written whole or not at all."""

import json
import os
from pathlib import Path

import pytest

from svmpath.report import to_json, write_files


def write_json(facts, path):
    write_files({Path(path): lambda part: part.write_text(to_json(facts), encoding="utf-8")})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Every test runs in a fresh folder."""
    monkeypatch.chdir(tmp_path)


def test_write_files_is_all_or_nothing():
    write_json({"a": 1}, "first.json")
    os.mkdir("taken")
    with pytest.raises(IsADirectoryError):
        write_files({path: lambda part: part.write_text("new") for path in map(Path, ("first.json", "taken"))})
    assert sorted(os.listdir()) == ["first.json", "taken"]
    assert json.loads(Path("first.json").read_text(encoding="utf-8")) == {"a": 1}
    with pytest.raises(ValueError, match="Out of range"):
        write_json({"a": float("nan")}, "second.json")
    assert not os.path.exists("second.json")


def test_written_files_have_the_usual_rights_and_follow_links():
    write_json({}, "plain.json")
    Path("reference").touch()
    assert os.stat("plain.json").st_mode == os.stat("reference").st_mode
    os.symlink("plain.json", "link.json")
    write_json({"a": 1}, "link.json")
    assert os.path.islink("link.json")
    assert json.loads(Path("plain.json").read_text(encoding="utf-8")) == {"a": 1}

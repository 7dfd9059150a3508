"""Random trials of every engine and criterion, each in a process with a time limit; what fails is reported by its seed.

``make fuzz`` runs on from the seed where it ended, keeps the counts in ``.fuzz/``, and ends with an error if any trial
failed: a wrong answer, a path that was refused, an exception, or no answer within 20 s. A seed decides about the data
and the task alone (see ``trials``). Examples::

    python tests/fuzz.py --seconds 600 --jobs 2      # run on for ten minutes, in two processes
    python tests/fuzz.py --seed 17                   # one trial, in this process, with its traceback
    python tests/fuzz.py --first 0 --count 500 --only 'few_valued*/loo:*'
    python tests/fuzz.py --failures                  # what has failed so far, by task
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests import trials, workers

LIMIT = 20.0  # seconds for a trial
_SAVE = 5.0  # seconds between two writings of the state
_TEXT = 400  # characters of a message that are kept


class State:
    """Where the next run begins, and what was found so far; kept in a file."""

    def __init__(self, file: Path | None) -> None:
        self.file, self.saved = file, time.monotonic()
        kept = json.loads(file.read_text()) if file is not None and file.exists() else {}
        self.next_seed: int = kept.get("next_seed", 0)
        self.counts = Counter(kept.get("counts", {}))
        self.failures: dict[str, dict] = kept.get("failures", {})

    def add(self, outcome: workers.Outcome) -> None:
        """Count a trial."""
        trial = trials.draw(outcome.job)
        self.counts[trial.name] += 1
        if outcome.state != workers.FINE:
            text = " ".join(outcome.text.split())[:_TEXT]
            self.failures[str(trial.seed)] = {"trial": trial.name, "state": outcome.state, "text": text}

    def save(self, *, now: bool = False) -> None:
        """Write the file, if the last time is some seconds ago."""
        if self.file is None or (not now and time.monotonic() - self.saved < _SAVE):
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        kept = {"next_seed": self.next_seed, "counts": dict(self.counts), "failures": self.failures}
        draft = self.file.with_suffix(".new")
        draft.write_text(json.dumps(kept, indent=1))
        draft.replace(self.file)
        self.saved = time.monotonic()

    def summary(self) -> str:
        """Trials and failures by task and by kind of data."""
        failed = Counter(failure["trial"] for failure in self.failures.values())
        lines = [f"{self.counts.total()} trials, {len(self.failures)} failures"]
        for title, part in (("task", 1), ("data", 0)):
            total, bad = Counter(), Counter()
            for counter, source in ((total, self.counts), (bad, failed)):
                for name, count in source.items():
                    counter[name.split("/", 1)[part]] += count
            lines.append(f"\n{title:<42}{'trials':>8}{'failed':>8}")
            lines += [f"{name:<42}{total[name]:>8}{bad[name] or '':>8}" for name in sorted(total)]
        return "\n".join(lines)

    def list_failures(self) -> str:
        """Every failure, those of a task together."""
        order = sorted(self.failures.items(), key=lambda item: (item[1]["trial"].split("/")[1], item[1]["state"]))
        return "\n".join(_line(int(seed), **failure) for seed, failure in order)


def _line(seed: int, trial: str, state: str, text: str) -> str:
    return f"seed {seed} ({trial}) {state}: {text}"


def main(arguments: list[str] | None = None) -> int:
    """Run trials; 1 if any failed."""
    options = _options(arguments)
    state = State(None if options.first is not None else options.state)
    if options.failures:
        print(state.summary(), state.list_failures(), sep="\n\n")
        return 0
    if options.seed is not None:
        return _one(options.seed)
    first = state.next_seed if options.first is None else options.first
    seeds, end = _Seeds(first, options), time.monotonic() + options.seconds
    known = len(state.failures)
    jobs = itertools.takewhile(lambda _: time.monotonic() < end, seeds)
    begin = time.monotonic()
    try:
        for outcome in workers.run_all(
            trials.run, jobs, processes=options.jobs, limit=options.limit, warm_up=trials.warm_up
        ):
            state.add(outcome)
            if outcome.state != workers.FINE:
                print(_line(outcome.job, **state.failures[str(outcome.job)]), flush=True)
            seeds.done(outcome.job)
            state.next_seed = max(state.next_seed, seeds.all_before)
            state.save()
    except KeyboardInterrupt:
        print("interrupted; the next run goes on from here")
    finally:
        state.save(now=True)
    print(f"\n{state.summary()}\n\nseeds from {first}, {time.monotonic() - begin:.0f} s")
    if len(state.failures) > known:
        print("Repeat one of those that failed with: python tests/fuzz.py --seed SEED")
        return 1
    return 0


class _Seeds:
    """The seeds to run, and up to which one all are done."""

    def __init__(self, first: int, options: argparse.Namespace) -> None:
        self.next, self.count, self.only = first, options.count, options.only
        self.open: set[int] = set()

    def __iter__(self) -> Iterator[int]:
        while self.count > 0:
            seed, self.next = self.next, self.next + 1
            if self.only is None or fnmatch(trials.draw(seed).name, self.only):
                self.count -= 1
                self.open.add(seed)
                yield seed

    def done(self, seed: int) -> None:
        self.open.discard(seed)

    @property
    def all_before(self) -> int:
        return min(self.open, default=self.next)


def _one(seed: int) -> int:
    """One trial in this process."""
    trial = trials.draw(seed)
    try:
        trials.run(seed)
    except Exception:
        traceback.print_exc()
        print(f"seed {seed} ({trial.name}) fails")
        return 1
    print(f"seed {seed} ({trial.name}): fine")
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, help="repeat one trial in this process, without a limit")
    parser.add_argument("--first", type=int, help="begin with this seed, and leave the state alone")
    parser.add_argument("--count", type=int, default=10**9, help="trials to run (default: what there is time for)")
    parser.add_argument("--seconds", type=float, default=600.0, help="time for all of them (default 600)")
    parser.add_argument("--only", metavar="DATA/TASK", help="only these; * stands for anything")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--limit", type=float, default=LIMIT, help=f"seconds for a trial (default {LIMIT:g})")
    parser.add_argument("--failures", action="store_true", help="list what has failed so far")
    parser.add_argument("--state", type=Path, default=Path(".fuzz/state.json"), help="where the state is kept")
    options = parser.parse_args(arguments)
    if options.only is not None and "/" not in options.only:
        parser.error(f"--only takes DATA/TASK, e.g. 'few_valued*/*' or '*/loo:hinge:C'; got {options.only!r}.")
    if options.only is not None and options.first is None:
        options.first = 0  # a part of the trials does not move the state
    return options


if __name__ == "__main__":
    sys.exit(main())

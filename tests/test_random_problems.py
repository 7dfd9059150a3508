"""Some hundreds of the trials of ``make fuzz``, and how it runs them."""

import itertools
import json
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import svmpath
from tests import certificates, fuzz, fuzz_gradients, problems, trials, workers
from tests.rounding import assert_same
from tests.speed import each_once, first_quick, slow_except

FIRST, COUNT = 0, 20  # seeds of a block


@pytest.mark.parametrize("block", slow_except(range(18), [0]))
def test_random_trials(block):
    seeds = range(FIRST + COUNT * block, FIRST + COUNT * (block + 1))
    failed = [
        f"seed {outcome.job} ({trials.draw(outcome.job).name}) {outcome.state}: {outcome.text}"
        for outcome in workers.run_all(trials.run, seeds, limit=fuzz.LIMIT, warm_up=trials.warm_up)
        if outcome.state != workers.FINE
    ]
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize(
    "task", ["path:pinball:quantile", "path:expectile:C", "kfold:expectile:C", "path:one_class:nu"]
)
def test_random_trials_of_levels_and_novelty(task):
    every = (seed for seed in itertools.count(2000) if trials.draw(seed).task == task)
    for seed in itertools.islice(every, 3):
        trials.run(seed)


@first_quick(1)
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("block", range(3))
def test_random_options_of_the_default_search(block, part):
    every = (seed for seed in itertools.count(10_000 * block) if trials.draw(seed).task.startswith("auto:"))
    failed = []
    for seed in itertools.islice(every, 10 * part, 10 * (part + 1)):
        try:
            trials.run(seed)
        except Exception as error:
            failed.append(f"seed {seed} ({trials.draw(seed).name}): {error}")
    assert not failed, "\n".join(failed)


@first_quick(1)
@pytest.mark.parametrize("block", range(3))
def test_random_gradients_are_compared_with_differences(block):
    assert sum(fuzz_gradients.run(seed) for seed in range(5 * block, 5 * block + 5)) > 20


# --- data ------------------------------------------------------------------------------------------------------------


@each_once
@pytest.mark.parametrize("target", problems.TARGETS)
@pytest.mark.parametrize("kind", problems.KINDS)
def test_every_kind_of_data_can_be_used(kind, target):
    for seed in range(5):
        data, again = (problems.make(kind, np.random.default_rng(seed), target) for _ in range(2))
        X, other = (each.X.toarray() if sparse.issparse(each.X) else each.X for each in (data, again))
        assert_same(X, other)
        assert_same(data.y, again.y)
        assert np.isfinite(X).all()
        assert len(data.y) == len(X)
        if target != "numbers":
            labels, many = np.unique(data.y[data.weights > 0], return_counts=True)
            assert len(labels) == (2 if target == "labels" else len(np.unique(data.y)))
            assert many.min() >= 2


def test_groups_of_a_precomputed_kernel_are_nearly_singular():
    matrices = [problems.make("precomputed", np.random.default_rng(seed), "labels", 20).X for seed in range(10)]
    for K in matrices:
        off = 1.0 - K[np.abs(K - 1.0) < 1e-10]
        assert 1e-16 < off.max() < 5e-14
        assert abs(np.linalg.eigvalsh(K)[0]) < 1e-13
    # Some are indefinite: in exact numbers, because an eigenvalue has an error of this size.
    assert any(exact_form(K, np.linalg.eigh(K)[1][:, 0]) < 0 for K in matrices)


def exact_form(K, v):
    """v'Kv without rounding."""
    exact = [Fraction(each) for each in v.tolist()]
    return sum(Fraction(K[i, j].item()) * p * q for i, p in enumerate(exact) for j, q in enumerate(exact))


def test_near_duplicates_are_at_many_distances():
    found = []
    for seed in range(30):
        X = problems.make("near_duplicates", np.random.default_rng(seed), "labels").X
        distance = np.abs(X[:, None] - X[None]).max(axis=2)
        found += distance[(distance > 0) & (distance < 1e-5)].tolist()
    powers = np.unique(np.round(np.log10(found)))
    assert {-15.0, -14.0, -12.0, -10.0, -8.0, -7.0} <= set(powers)


# --- certificates ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["least_squares", "squared_hinge", "hinge", "nu", "epsilon_insensitive"])
def test_a_machine_that_is_not_optimal_is_found_out(loss):
    rng = np.random.default_rng(0)
    data = problems.make("normal", rng, "numbers" if loss == "epsilon_insensitive" else "labels", 30)
    task = {"epsilon_insensitive": "regression"}.get(loss, "classification")
    over = "nu" if loss == "nu" else "C"
    path = svmpath.trace(data.X, data.y, loss=loss, over=over, task=task, sample_weight=data.s)
    solution = path(float(np.sqrt(np.prod(path.span))))
    certificates.check(solution, "as it is")
    assert certificates.excess(replace(solution, b=solution.b + 1e-3)) > certificates.GAP
    moved = solution.alpha.copy()
    moved[np.argmax(np.abs(moved))] *= 1.01
    with pytest.raises(AssertionError, match=r"violation|gap"):
        certificates.check(replace(solution, alpha=moved), "moved")


def test_an_elastic_machine_that_is_not_optimal_is_found_out():
    data = problems.make("normal", np.random.default_rng(0), "labels", 30)
    for lambda2 in (0.0, 1.0):
        path = svmpath.trace_elastic(data.X, data.y, lambda2=lambda2)
        solution = path(path.span[1])
        certificates.check(solution, "as it is")
        assert certificates.excess(replace(solution, coef=1.01 * solution.coef)) > certificates.GAP
        assert certificates.excess(replace(solution, alpha=0.99 * solution.alpha)) > certificates.GAP


# --- processes -------------------------------------------------------------------------------------------------------


def job(what):
    if what == "loops":
        while True:
            pass
    if what == "sleeps":
        time.sleep(1000.0)
    if what == "dies":
        import os

        os._exit(3)
    if what == "raises":
        raise svmpath.PathError("The reason.")
    return 2 * what


@pytest.mark.slow
def test_a_job_that_hangs_dies_or_raises_is_reported_and_the_others_are_done():
    jobs = [1, "raises", "loops", 2, "dies", 3, "sleeps", 4]
    outcomes = {outcome.job: outcome for outcome in workers.run_all(job, jobs, processes=2, limit=0.5)}
    assert [outcomes[k].result for k in (1, 2, 3, 4)] == [2, 4, 6, 8]
    assert outcomes["raises"].state == "PathError"
    assert "The reason." in outcomes["raises"].text
    assert outcomes["loops"].state == outcomes["sleeps"].state == workers.HANGS
    assert outcomes["dies"].state == workers.DIED


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def faked(monkeypatch, tmp_path):
    """The command without processes: every seventh trial fails."""

    def run_all(function, jobs, **_):
        for seed in jobs:
            yield workers.Outcome(seed, "PathError" if seed % 7 == 3 else workers.FINE, "The reason.")

    monkeypatch.setattr(workers, "run_all", run_all)
    return tmp_path / "state.json"


def test_a_run_goes_on_where_the_last_one_ended(faked, capsys):
    assert fuzz.main(["--count", "5", "--state", str(faked)]) == 1
    assert "seed 3 (" in capsys.readouterr().out
    assert json.loads(faked.read_text())["next_seed"] == 5
    assert fuzz.main(["--count", "4", "--state", str(faked)]) == 0
    kept = json.loads(faked.read_text())
    assert kept["next_seed"] == 9
    assert sum(kept["counts"].values()) == 9
    assert list(kept["failures"]) == ["3"]
    assert "9 trials, 1 failures" in capsys.readouterr().out
    fuzz.main(["--failures", "--state", str(faked)])
    assert "The reason." in capsys.readouterr().out


def test_a_part_of_the_trials_leaves_the_state_alone(faked, capsys):
    fuzz.main(["--only", "grid/*", "--count", "3", "--state", str(faked)])
    assert "3 trials" in capsys.readouterr().out
    assert not faked.exists()
    with pytest.raises(SystemExit):
        fuzz.main(["--only", "grid"])


def test_one_seed_is_repeated(capsys):
    seed = next(seed for seed in range(10**6) if trials.draw(seed).name == "normal/path:least_squares:C")
    assert fuzz.main(["--seed", str(seed)]) == 0
    assert f"seed {seed} (normal/path:least_squares:C): fine" in capsys.readouterr().out

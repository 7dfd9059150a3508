"""What a fit reports while it works."""

import pytest
from sklearn.datasets import make_classification

from svmpath import ElasticNetSVC, PathSVC, PathSVR, Range
from svmpath.datasets import banana, twonorm
from svmpath.progress import begin, part_done, unwatched, watched
from tests.speed import first_quick

X, Y = banana(80, random_state=0)


def records(work):
    seen = []
    with watched(seen.append):
        work()
    return seen


def stages(seen):
    return list(dict.fromkeys(each.stage for each in seen))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_default_search_reports_its_stages_and_the_best_so_far(n_jobs):
    models = []
    seen = records(lambda: models.append(PathSVC(random_state=0, n_jobs=n_jobs).fit(X, Y)))
    assert stages(seen) == ["screen", "confirm"]
    screen = [each for each in seen if each.stage == "screen"]
    assert screen[-1].done == screen[-1].total
    assert any(each.doing.startswith("least squares over C at gamma = ") for each in screen)
    assert any(each.doing.startswith("squared_hinge over C from ") for each in seen)
    (model,) = models
    assert seen[-1].best.startswith(f"gamma = {model.gamma_:.3g}, C = {model.C_:.3g}, score ")
    assert [each.split()[0] for each in seen[-1].finished] == ["screening", "confirming"]


@first_quick(1)
@pytest.mark.parametrize(
    ("model", "stage", "total"),
    [
        (PathSVC(search="grid", gamma=[0.5, 1.0], C=[0.1, 1.0]), "grid", 2),
        (PathSVR(search="gradient", gamma=[0.5, 1.0], random_state=0), "gradient", None),
        (ElasticNetSVC(cv=3), "paths", 6),
    ],
    ids=["grid", "gradient", "elastic"],
)
def test_other_searches_report_too(model, stage, total):
    rows, labels = make_classification(60, 8, n_informative=3, random_state=0)
    seen = records(lambda: model.fit(rows, labels))
    assert seen[-1].stage == stage
    assert seen[-1].done == seen[-1].total
    assert total is None or seen[-1].total == total
    assert "score" in seen[-1].best


def test_a_nested_fit_is_one_part():
    model = PathSVC(loss="least_squares", C=1.0, gamma=1.0).fit(X, Y)
    seen = records(lambda: model.nested_error("nested", n_splits=4))
    assert stages(seen) == ["nested cross-validation"]
    assert seen[-1].finished == ("nested cross-validation of 4 folds",)
    assert max(each.done for each in seen) == 4


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::svmpath.exceptions.EdgeWarning")  # short ranges take less time
def test_many_rows_report_narrow_and_rank():
    rows, labels = twonorm(2300, random_state=0)
    seen = records(lambda: PathSVC(gamma=Range(0.01, 0.1), C=Range(0.1, 1.0), random_state=0).fit(rows, labels))
    assert stages(seen)[:2] == ["screen", "narrow"]


def test_nobody_need_watch_and_the_watcher_can_look_away():
    begin("nothing", 1)
    seen = []
    with watched(seen.append):
        begin("outer", 1)
        with unwatched():
            begin("inner", 5)
        part_done()
        part_done()  # more than expected
    assert [(each.stage, each.done, each.total) for each in seen] == [("outer", 0, 1), ("outer", 1, 1), ("outer", 2, 2)]

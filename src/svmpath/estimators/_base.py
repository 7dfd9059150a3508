"""Code shared by the estimators: from parameters to a search, and from a choice to fitted attributes."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from svmpath import criteria
from svmpath.criteria.curve import HeldOutLoss, own_parameters
from svmpath.criteria.folds import make_folds
from svmpath.criteria.held_out import Folds
from svmpath.criteria.scoring import Scoring
from svmpath.criteria.table import CRITERIA, is_bound, is_by_folds, make_criterion
from svmpath.estimators.axes import Axes, Start, epsilons, how_given
from svmpath.estimators.cautions import (
    warn_of_a_loose_bound,
    warn_of_edges,
    warn_of_idle_folds,
    warn_of_rounding,
    warn_of_time,
)
from svmpath.estimators.changing_rows import (
    Change,
    ChangedMachines,
    Kept,
    Rows,
    check_changeable,
    check_landmarks,
    check_new_weights,
    known_codes,
    like,
    remaining,
)
from svmpath.estimators.held_out import HeldOut
from svmpath.estimators.machines import Machines, PairMachines
from svmpath.estimators.options import check_bound, check_gradient, check_options, check_scorer
from svmpath.estimators.quantiles import at_level
from svmpath.estimators.scaling import fit_scaler, scaled, shift_of_offset, warn_of_uneven_columns
from svmpath.estimators.scoring import resolve_scoring
from svmpath.estimators.tuned import TunedModel, unchanged_by_failure
from svmpath.gram import DenseGram, make_gram
from svmpath.kernels import ARD, Kernel, Linear
from svmpath.losses import Loss, Problem, make_loss, quick_losses
from svmpath.names import unknown_name
from svmpath.paths import Path
from svmpath.paths.copies import contradicted, find_copies, has_contradictions
from svmpath.paths.trackers import automatic_gap, exact_is_cheaper
from svmpath.search import STRATEGIES, Choice, Evaluator, Tuner, limits
from svmpath.search.choice import check_rule
from svmpath.search.deadline import Deadline
from svmpath.search.full_kernel import folds_of
from svmpath.search.log import TrialLog
from svmpath.search.results import cv_results, entries_of, search_table
from svmpath.solvers.threads import jobs
from svmpath.validation import (
    check_groups,
    check_squares,
    check_symmetric_values,
    check_weights,
    draw_seed,
    is_pairwise,
    is_whole_number,
    plain_target,
    relative_weights,
)

Array = np.ndarray

_TOO_FEW_FOR_FOLDS = 20  # samples up to which "auto" is leave-one-out, though it may take a path per sample


class PathMachine(TunedModel):
    """Parameters and fitting common to :class:`PathSVC` and :class:`PathSVR`; not for direct use."""

    _task: str
    _drawn: Folds | None = None
    _start: Start | None = None
    _scoring: Scoring | None = None  # what ``scoring`` stands for: a scorer,
    _held_out_loss: HeldOutLoss = None  # or a loss of each held-out decision value; or neither
    _kept: Kept | None = None  # what makes changes of rows quick
    _unscaled: Any = None  # the rows as they were given, where the machines see others
    _levels: Array | None = None  # of a loss that has one: those asked for
    sample_size_: int
    gathered_rows_: int

    @property
    def _axes(self) -> Axes:
        """The parameters that say what is searched."""
        return Axes(self.C, self.gamma, self.kernel, self.degree, self.coef0, self.search, self._start)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._pairwise
        return tags

    @property
    def _pairwise(self) -> bool:
        return is_pairwise(self.kernel)

    def _check_training(self, X: Any, y: Any, **checks: Any) -> tuple[Any, Any]:
        """X and y as arrays; at least two samples, since each is left out once. Options are checked first."""
        check_options(self)
        X, y = validate_data(
            self,
            X,
            plain_target(y),
            accept_sparse="csr",
            dtype=np.float64,
            ensure_min_samples=2,
            multi_output=False,
            **checks,
        )
        check_squares(X)
        if self._pairwise:
            check_symmetric_values(X)
        return X, y

    def _seen_weights(self, s: Array) -> Array:
        """The weights that the machines see: as they are beside a C that was given, relative where C is tuned."""
        return s if self._axes.given("C") == "fixed" else relative_weights(s)

    def _begin(self, start_from: Any) -> None:
        """Forget an earlier fit, and take the C and gamma of another model to begin with."""
        start = None
        if start_from is not None:
            if not isinstance(start_from, PathMachine):
                raise ValueError(f"start_from must be a fitted PathSVC or PathSVR, got {type(start_from).__name__}.")
            check_is_fitted(start_from)
            start = Start(start_from.C_, start_from.gamma_)
        self._kept = None
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        self._start = start

    def _to_scale(self, X: Any, sample_weight: Any, s: Array) -> Any:
        """The rows that the machine sees: scaled if requested; ``scaler_`` takes new rows there."""
        self.scaler_ = self._unscaled = None
        if not self.scale:
            if not self._axes.is_ard:  # which finds the scale of each column by itself
                warn_of_uneven_columns(X, s, self.kernel, getattr(self, "feature_names_in_", None))
            return X
        # Relative, because the scaler takes their sum for a number of rows when it looks for constant columns.
        weight = None if sample_weight is None else relative_weights(check_weights(sample_weight, X))
        self.scaler_, self._unscaled = fit_scaler(X, weight, self.kernel), X
        return scaled(X, self.scaler_)

    def _fit(self, X: Any, targets: list[Array], s: Array, y: Array, labels: Array) -> None:
        """Choose C and gamma for machines with these targets (one, or one per class) and store the result.

        ``labels`` are the targets, or the position of each row's label in ``classes_``.
        """
        self._drawn, axes = None, self._axes
        if self._scoring is not None:
            check_scorer(self)
        is_limited = axes.is_default or axes.is_gradient
        deadline = Deadline(self.time_limit if is_limited else None)
        losses = self._losses(y, s, len(targets))
        kernel, over, gamma = axes.make_kernel(X, self._given_weight)
        problems = self._problems(X, kernel, losses[0], targets, s, y)
        check_bound(self.criterion, len(targets))
        losses += self._rivals(losses[0].rival, problems)
        evaluators = [self._evaluator(loss, problems, X, y) for loss in losses]
        # Folds that "auto" takes for want of something cheaper may be any: rows are held out one by one before.
        folds = None if self._groups is None and self.criterion == "auto" else self._drawn
        may_fold = self.criterion == "auto" or is_by_folds(self.criterion)
        drawn = cache(partial(self._draw_folds, X, y, s))

        def draw(most: int | None) -> Folds:
            if self._drawn is not None:
                return self._drawn
            return drawn()[: most if is_whole_number(self.cv, least=2) else None]

        if axes.is_default:  # the one that is followed in full comes first
            evaluators.insert(0, evaluators.pop((len(evaluators) - 1) // 2))
        unit = evaluators[0].loss.unit_of_C(targets[0], s)
        tuner = Tuner(
            evaluators,
            axes.C_axis(evaluators[0].loss, unit),
            gamma,
            over,
            draw_seed(self.random_state),
            self.n_jobs,
            folds,
            deadline,
            self._is_rank_free(evaluators[0].loss),
            self.effort,
            draw if may_fold else None,
            TrialLog(self._log, None if axes.is_gradient else self._count),
            unit,
        )
        choice, evaluator, paths = STRATEGIES[self._strategy](tuner)
        self.loss_, self.criterion_ = evaluator.loss.name, self._criterion(evaluator.loss, problems)
        is_by_own_folds = choice.curve.path.compared is not None
        if is_by_own_folds:
            self._drawn = folds_of(tuner)
        if is_by_own_folds or evaluator.multi_class == "ovo":
            self.criterion_ = choice.curve.criterion
        if self._drawn is None and not (callable(self.criterion) or is_bound(self.criterion) or axes.is_gradient):
            warn_of_idle_folds(self.cv)
        self._store(choice, evaluator, paths, labels)
        if deadline.has_stopped:
            warn_of_time(self.time_limit)
        if choice.at_edge:
            warn_of_edges(choice, axes.given, self._machines.fitted())

    @property
    def _strategy(self) -> str:
        """The name of the search; a grid over a range goes on between its values if the score is smooth."""
        if self._axes.is_ard:
            return "ard"
        is_smooth = isinstance(self._held_out_loss, str) and self._held_out_loss != "error"
        is_open = is_smooth and not is_bound(self.criterion) and "range" in map(how_given, (self.C, self.gamma))
        return "continuous" if self.search == "grid" and is_open else self.search

    def _losses(self, y: Array, s: Array, machines: int) -> list[Loss]:
        """The losses to choose from: one, or one with several values of epsilon.

        With several classes neither of the two losses that cost little is always the better one.
        """
        loss = make_loss(self.get_params(deep=False)["loss"], self._task, over="C")
        if "epsilon" in loss.fixed_parameters and loss is not self.loss:  # an object has its own
            return [make_loss(loss.name, self._task, epsilon=each) for each in epsilons(self.epsilon, y, s)]
        if self._levels is not None:
            return [at_level(loss, self._levels[0])]
        if self._is_loss_free and machines > 1:
            return [make_loss(name, self._task) for name in quick_losses(self._task)][::-1]
        return [loss]

    @property
    def _is_loss_free(self) -> bool:
        """Whether the search also chooses the loss."""
        return self.loss is None and self.criterion == "auto" and self._axes.is_default

    def _rivals(self, rival: str, problems: list[Problem]) -> list[Loss]:
        """What else is compared for two classes: the hinge, where equal rows have both labels and it costs little."""
        gram, y, is_by_error = problems[0].gram, problems[0].y, self._held_out_loss is None and self._scoring is None
        is_by_rows = self._groups is None and not self._is_split_by_user and self._axes.given("C") != "fixed"
        if not (rival and self._is_loss_free and is_by_error and is_by_rows and len(problems) == 1):
            return []
        if gram.repeats is None:
            return []
        is_small = len(gram.repeats.first) <= limits.UNNARROWED_ROWS
        return [make_loss(rival, self._task)] if is_small and contradicted(gram, y) > limits.CONTRADICTED else []

    def _is_rank_free(self, loss: Loss) -> bool:
        """Whether the default search chooses the rank: for losses that gain nothing from following few events."""
        is_auto = isinstance(self.rank, str) and self.rank == "auto"
        return is_auto and self._axes.is_default and not loss.policy.cost_grows_with_span

    def _problems(self, X: Any, kernel: Kernel, loss: Loss, targets: list[Array], s: Array, y: Array) -> list[Problem]:
        """The problems of all machines, which share a Gram matrix."""
        rank = None if self._is_rank_free(loss) else self.rank
        gram = make_gram(X, kernel, rank=rank, seed=draw_seed(self.random_state))
        # With several classes -1 and +1 stand for no labels of their own.
        classes = getattr(self, "classes_", None) if len(targets) == 1 else None
        copies = find_copies(gram, y)
        if isinstance(gram, DenseGram) and not self._is_rank_free(loss):
            gram.distinct.check_memory()  # before hours of other work
        return [Problem(gram, target, s, self._task, classes, copies=copies) for target in targets]

    def _evaluator(self, loss: Loss, problems: list[Problem], X: Any, y: Array) -> Evaluator:
        """The machines of one loss, and how they are scored."""
        held_out, name = self._held_out_loss, self._criterion(loss, problems)
        if self.criterion == "auto" and name == "kfold" and self.loss is not None:
            self._explain_folds(loss, len(problems[0].active))
        if self._axes.is_gradient:
            check_gradient(self, loss, problems[0].gram)
            held_out = held_out or "squared"  # which moves continuously
        criterion = make_criterion(name, self._folds(name, X, y, problems[0].s))
        counts = held_out is None and self._scoring is None  # a scorer needs the decision values themselves
        if name == "loo" and loss.falls_when_left_out and counts and len(problems) == 1:
            criterion = partial(criteria.loo, count_only=True)
        tol = automatic_gap(type(loss), problems[0].n)
        rule = check_rule(self.rule)
        losses = () if len(problems) == 1 or self._levels is None else tuple(at_level(loss, q) for q in self._levels)
        return Evaluator(problems, loss, criterion, held_out, rule, tol, self._scoring, self._row_units, losses)

    def _is_rough(self, loss: Loss, problem: Problem) -> bool:
        """Whether paths are approximate."""
        distinct = problem.n if problem.copies is None else int(problem.copies.max()) + 1
        return automatic_gap(type(loss), problem.n) is not None and not exact_is_cheaper(distinct, problem.gram.rank)

    def _log(self, sentence: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {sentence}")

    def _count(self, done: int, total: int) -> None:
        self._log(f"scored {done} of {total} kernels")

    def _criterion(self, loss: Loss, problems: list[Problem]) -> Any:
        """The criterion that "auto" stands for: one that costs about as much as a few paths."""
        if callable(self.criterion):
            return self.criterion
        if not isinstance(self.criterion, str) or self.criterion not in ("auto", *CRITERIA):
            raise ValueError(unknown_name("criterion", self.criterion, ("auto", *CRITERIA), "a callable"))
        if self.criterion != "auto":
            return self.criterion
        # Samples of a group are held out together, and a splitter that is given is meant to be used.
        if self._groups is not None or (self._is_split_by_user and not self._axes.is_gradient):
            return "kfold"
        policy, n = loss.policy, len(problems[0].active)
        if self.loss is None and policy.cost_grows_with_span:  # the hinge as a rival of the default, for little work
            return "kfold"
        is_few = n <= policy.loo_rows or (policy.otherwise == "kfold" and n <= _TOO_FEW_FOR_FOLDS)
        if not is_few or self._is_rough(loss, problems[0]):
            return policy.otherwise
        # Where all rows have both labels, a machine without one of them is hard to find, and there is one per sample.
        is_tied = policy.cost_grows_with_span and any(
            has_contradictions(problem.gram, problem.y) for problem in problems
        )
        return policy.otherwise if is_tied else "loo"

    def _explain_folds(self, loss: Loss, n: int) -> None:
        """Say why k-fold is used where "auto" could mean exact leave-one-out."""
        most = loss.policy.loo_rows
        if self._groups is not None or self._is_split_by_user:
            why = "groups are held out together" if self._groups is not None else "cv says how rows are held out"
            self._log(f"using k-fold instead of leave-one-out: {why}")
            return
        what = f"{n} samples (more than {most})" if n > most else "an approximate path, or equal rows of both classes"
        if most == 0:
            what = f"that takes one path per sample with loss={loss.name!r}"
        self._log(f"using k-fold instead of exact leave-one-out: {what}")

    def _folds(self, criterion: Any, X: Any, y: Array, s: Array) -> Any:
        """The folds, drawn once, so that every kernel and every epsilon is scored on the same ones."""
        if not is_by_folds(criterion):
            return None
        if self._drawn is None:
            self._drawn = self._draw_folds(X, y, s)
        return self._drawn

    def _draw_folds(self, X: Any, y: Array, s: Array) -> Folds:
        kind: dict[str, Any] = {"is_classification": self._task == "classification", "pairwise": self._pairwise}
        return make_folds(self.cv, X, y, **kind, groups=self._groups, s=s, seed=draw_seed(self.random_state))

    def _store(self, choice: Choice, evaluator: Evaluator, paths: list[Path], labels: Array) -> None:
        """The choice, and what the model is made of."""
        path = choice.curve.path
        machines = Machines.of(paths, choice.value)
        self._machines = machines if evaluator.multi_class == "ovr" else PairMachines.voting(machines, path)
        path.forget()  # what every value tried took up: the chosen machines are known now
        warn_of_rounding(choice, self._machines.violation)
        warn_of_a_loose_bound(choice)
        self.tol_ = None if path.is_exact else getattr(path, "tol", evaluator.tol)
        self._name_choice(choice)
        for name, value in own_parameters(choice.curve).items():
            setattr(self, f"{name}_", value)
        rows = (self._given_weight, self._groups, self._drawn)
        self._held_out = HeldOut(self._machines, choice, self.get_params(deep=False), self._classes, labels, *rows)

    def _compress(self) -> None:
        """Predict from landmarks where that changes nothing; after the threshold is known, which decides on labels."""
        if self._scoring is None:  # a scorer may look at more than labels
            self._machines = self._held_out.machines = self._machines.compressed(self._held_out.is_unchanged)

    def _name_choice(self, choice: Choice) -> None:
        """The choice under scikit-learn's names; the machines are known."""
        self.choice_, self.curve_, self.path_ = choice, choice.curve, choice.curve.path
        self.kernel_, self.C_ = self.path_.problem.gram.kernel, choice.value
        self.gamma_ = self._gamma_of(self.kernel_)
        is_moved = self.scaler_ is not None and isinstance(self.kernel_, Linear)
        self._shift = shift_of_offset(self.coef_, self.scaler_) if is_moved else 0.0
        self.intercept_ = self._machines.b - self._shift

    # --- rows that come and go ---------------------------------------------------------------------------------------

    def add(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, *, retune: bool = False
    ) -> PathMachine:
        """Add training rows at the chosen hyper-parameters; the machine is that of a fit on all rows at these.

        Parameters
        ----------
        X : array, DataFrame or CSR matrix of shape (m, d)
        y : array of shape (m,)
            Labels that the model knows, or targets.
        sample_weight : array of shape (m,), optional
            Where only the old or only the new rows have weights, the others weigh one.
        groups : array of shape (m,), optional
            Needed if, and only if, ``fit`` was given groups.
        retune : bool, default=False
            Whether to choose C and gamma again, by a search that begins with the old ones (``start_from`` of ``fit``).

        Returns
        -------
        PathSVC or PathSVR
            The model itself. New rows come after the others.

        See Also
        --------
        svmpath.PathSVC.forget : Take training rows out.

        Notes
        -----
        C (of a row of mean weight, where it was tuned), the kernel, the loss, the landmarks of a low rank and
        ``multi_class_`` stay; weights, balanced classes and the scale of the columns are those of the changed rows.
        Held-out values, probabilities and intervals follow, and are computed when they are first asked for. The first
        call makes what later ones change (an inverse for squared losses), which takes about as long as the machine by
        itself. If the call fails, the model stays as it was. Refused: rows in chunks, precomputed kernels, the full
        kernel of more rows than a matrix is held for, one model per quantile, and splits given as row numbers.

        Examples
        --------
        >>> import numpy as np
        >>> from svmpath import PathSVC
        >>> from svmpath.datasets import banana
        >>> X, y = banana(120, random_state=0)
        >>> model = PathSVC(random_state=0).fit(X[:100], y[:100]).add(X[100:], y[100:])
        >>> fresh = PathSVC(C=model.C_, gamma=model.gamma_).fit(X, y)
        >>> bool(np.abs(model.decision_function(X) - fresh.decision_function(X)).max() < 1e-9)
        True
        """
        rows = self._rows_of_fit()
        checks = {} if self._classes is not None else {"y_numeric": True}
        X, y = validate_data(
            self, X, plain_target(y), accept_sparse="csr", dtype=np.float64, reset=False, multi_output=False, **checks
        )
        check_squares(X)
        if (groups is None) != (rows.groups is None):
            raise ValueError(
                f"The model was fitted {'without' if rows.groups is None else 'with'} groups, so that new rows need "
                f"{'none' if rows.groups is None else 'theirs'}: {'leave' if rows.groups is None else 'give'} groups=."
            )
        weight = None if sample_weight is None else check_new_weights(sample_weight, X.shape[0])
        code = known_codes(y, self._classes)
        new = Rows(like(X, rows.X), code, weight, None if groups is None else check_groups(groups, X))
        return self._change_rows(rows.and_rows(new), Change(np.arange(len(rows.y)), len(code)), retune)

    def forget(self, rows: Any, *, retune: bool = False) -> PathMachine:
        """Take training rows out at the chosen hyper-parameters, as if the machine had never seen them.

        Parameters
        ----------
        rows : int, array of int, or bool array of shape (n,)
            Positions among the training rows, counted from 0 in the order in which they were given; those of later
            rows fall by one for each row that is taken out before them.
        retune : bool, default=False
            Whether to choose C and gamma again, by a search that begins with the old ones.

        Returns
        -------
        PathSVC or PathSVR
            The model itself.

        See Also
        --------
        svmpath.PathSVC.add : Add training rows, with notes that hold here, too.

        Notes
        -----
        The machine, its held-out values, its probabilities and the scale of its columns are those of the other rows.
        That C, gamma and the loss were chosen with the rows that are forgotten stays so, unless ``retune=True`` (which
        begins with them). A landmark of a low-rank kernel is not forgotten: the call is refused.

        Examples
        --------
        >>> import numpy as np
        >>> from svmpath import PathSVR
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(0, 6, (80, 1)); y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=80)
        >>> model = PathSVR(random_state=0).fit(X, y).forget([3, 17])
        >>> others = np.delete(np.arange(80), [3, 17])
        >>> fresh = PathSVR(C=model.C_, gamma=model.gamma_).fit(X[others], y[others])
        >>> bool(np.abs(model.predict(X) - fresh.predict(X)).max() < 1e-9)
        True
        """
        given = self._rows_of_fit()
        stay = remaining(rows, given.y, self._classes)
        check_landmarks(self._machines.gram, stay)
        return self._change_rows(given.take(stay), Change(stay, 0), retune)

    def _rows_of_fit(self) -> Rows:
        """The training rows as they were given; raises an error where they cannot be changed."""
        check_is_fitted(self)
        check_changeable(self)
        X = self._machines.gram.X if self._unscaled is None else self._unscaled
        return Rows(X, self._held_out.labels, self._given_weight, self._groups)

    def _change_rows(self, rows: Rows, change: Change, retune: bool) -> PathMachine:
        """The model of the changed rows."""
        y = rows.y if self._classes is None else self._classes[rows.y]
        if retune:
            self.fit(rows.X, y, sample_weight=rows.weight, groups=rows.groups, start_from=self)
            return self
        kept, self._kept = self._kept, None  # it is changed in place, and of no use after a failure
        with unchanged_by_failure(self), jobs(self.n_jobs):
            classes, old = self._classes, self._machines
            balance = getattr(self, "class_weight", None)
            s = self._seen_weights(check_weights(rows.weight, rows.X, balance, classes, rows.y))
            self._given_weight, self._groups = rows.weight, rows.groups
            pos_label = getattr(self, "pos_label", None)
            self._held_out_loss, self._scoring = resolve_scoring(self.scoring, classes, rows.y, s, pos_label)
            X = self._to_scale(rows.X, rows.weight, s) if self.scale else rows.X
            changed = ChangedMachines.of(old, X, rows.y, s, change, None if self.scale else kept, self.scale)
            self._machines = changed.machines
            self._store_changed(changed, X, y, rows.y)
        self._kept = changed.kept
        return self

    def _store_changed(self, changed: ChangedMachines, X: Any, y: Array, labels: Array) -> None:
        """The fitted attributes, and what is held out of the changed machines."""
        old, s = self._held_out, changed.whole.s
        name, loss = old.choice.curve.criterion, changed.machines.paths[0].loss
        self._drawn = self._draw_folds(X, y, s) if is_by_folds(name) else None
        criterion = self.criterion if callable(self.criterion) else make_criterion(name, self._drawn)
        evaluator = Evaluator(
            changed.problems, loss, criterion, self._held_out_loss, check_rule(self.rule), self.tol_, self._scoring,
            self._row_units, tuple(path.loss for path in changed.machines.paths) if self._levels is not None else (),
        )  # fmt: skip
        curve = changed.curve(evaluator, self._drawn)
        choice = Choice(curve, 0, old.choice.rule, {}, ())
        self._name_choice(choice)
        rows = (self._given_weight, self._groups, self._drawn)
        self._held_out = HeldOut(self._machines, choice, old.options, self._classes, labels, *rows)
        self._after_change()

    def _after_change(self) -> None:
        """What a class knows beyond its machines."""

    # --- what was fitted ----------------------------------------------------------------------------------------------

    @property
    def _classes(self) -> Array | None:
        """``classes_`` of a classifier, None for a regression."""
        return vars(self).get("classes_")

    @staticmethod
    def _gamma_of(kernel: Kernel) -> float | Array | None:
        if isinstance(kernel, ARD):
            return np.array(kernel.gamma)
        try:
            return kernel.parameters[kernel.resolve("gamma")]
        except ValueError:
            return None

    @property
    def rank_(self) -> int:
        """Rank of the kernel matrix of the fitted machine; the number of samples for the full matrix."""
        check_is_fitted(self)
        return int(self._machines.gram.rank)

    @property
    def residual_(self) -> float:
        """Relative error of a low-rank kernel matrix; 0 for the full matrix."""
        check_is_fitted(self)
        return float(self._machines.gram.residual)

    @property
    def compression_error_(self) -> float:
        """Largest change of a decision value of a training row because predictions use landmarks only; 0 if not.

        On the full kernel of many rows, predictions use landmarks where that changes no held-out label.
        """
        check_is_fitted(self)
        return float(self._machines.compression)

    @property
    def search_table_(self) -> Any:  # a DataFrame
        """Every pair of C and gamma that the search tried, with its score and stage."""
        check_is_fitted(self)
        return search_table(self.choice_)

    @property
    def cv_results_(self) -> dict[str, Any]:
        """What was scored by the requested loss, in scikit-learn's form."""
        check_is_fitted(self)
        names = [name for name in self.get_params(deep=False) if name != "C"]
        return cv_results(self.curve_, "C", entries_of(self.choice_, self.gamma_, names))

    @property
    def support_(self) -> Array:
        """Indices of the training rows with a non-zero coefficient."""
        check_is_fitted(self)
        return self._machines.support

    @property
    def dual_coef_(self) -> Array:
        """Their signed coefficients; one row per class, or pair of classes, if there are more than two classes."""
        support = self.support_
        return self._machines.alpha[support].T

    @property
    def support_vectors_(self) -> Any:
        """The training rows with a non-zero coefficient, in the units of X; scaled back, up to rounding."""
        support = self.support_
        rows = self._machines.gram.X[support]
        return rows if self.scaler_ is None else self.scaler_.inverse_transform(rows)

    @property
    def coef_(self) -> Array:
        """Weights of the features, in the units of X; for the linear kernel only."""
        check_is_fitted(self)
        if not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ exists for the linear kernel only; use dual_coef_ and support_vectors_ instead")
        return self._machines.coef if self.scaler_ is None else self._machines.coef / self.scaler_.scale_

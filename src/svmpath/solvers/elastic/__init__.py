"""The elastic-net hinge machine along straight lines of its parameters.

The problem, for Z = diag(y) X with n rows and p columns::

    minimise over beta, b:   sum_i w_i max(0, r_i) + lambda2/2 ||beta||^2 + lambda1 sum_j om_j |beta_j|
    r_i = 1 - y_i b - z_i'beta

With a coefficient alpha_i per sample and c = Z'alpha, (beta, b) is optimal where

    alpha_i = 0 on the RIGHT (r_i <= 0),    alpha_i = w_i on the LEFT (r_i >= 0),    r_i = 0 on the ELBOW
    c_j = lambda2 beta_j + lambda1 om_j s_j where feature j is active with sign s_j,    |c_j| <= lambda1 om_j elsewhere
    sum_i y_i alpha_i = 0

As long as no place changes, alpha, lambda2 beta and lambda2 b are linear along any straight line of (lambda1, lambda2,
w). With lambda2 = 0 the same rates describe the limit: if lambda2 beta' = 0, alpha changes and beta stays as it is;
otherwise beta jumps in that direction while the parameter stays, until a sample comes to the elbow or a coefficient
becomes zero (the parametric simplex method).

The elbow is kept independent: a sample whose row depends on the others', or a feature whose column they need, is
exchanged at constant beta ("null step"). So there are never more samples on the elbow than active features plus one.

``design``: the data and the lines. ``point``: a point with its places, and the linear system that these make.
``walk``: from event to event, measured, and repeated or skipped where it is not good. ``first_point``: where it begins.
``interior_point``: one machine without a walk. ``measure``: the duality gap. The compiled steps are in
``solvers.loops.elastic_*``, all tolerances in ``solvers.loops.elastic_tolerances``.
"""

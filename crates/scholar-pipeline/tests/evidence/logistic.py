"""What both fits share: a logistic regression with an L2 penalty, its signs standardised, and the area under the ROC curve. Needs numpy."""
import numpy as np

def fit(x, y, penalty=1.0):
    """Weights by Newton's method; the first column of `x` is 1, and its weight, the intercept, is not penalised."""
    w = np.zeros(x.shape[1])
    ridge = np.full(x.shape[1], penalty); ridge[0] = 0.0
    for _ in range(100):
        p = 1 / (1 + np.exp(-x @ w))
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + np.diag(ridge), x.T @ (p - y) + ridge * w)
        w -= step
        if np.abs(step).max() < 1e-9: break
    return w

def standardised(x):
    """`x` with mean 0 and deviation 1 in each column but the first, and how weights of it become weights of `x`, intercept first."""
    mean, deviation = x[:, 1:].mean(0), np.maximum(x[:, 1:].std(0), 1e-9)
    def unscaled(w):
        weights = w[1:] / deviation
        return [w[0] - weights @ mean, *weights]
    return np.column_stack([x[:, 0], (x[:, 1:] - mean) / deviation]), unscaled

def cross_fitted(x, y, fold, penalty=1.0):
    """Probabilities of each row by the weights of the other folds."""
    p = np.zeros(len(y))
    for k in np.unique(fold):
        p[fold == k] = 1 / (1 + np.exp(-x[fold == k] @ fit(x[fold != k], y[fold != k], penalty)))
    return p

def auroc(p, right):
    order = np.argsort(np.argsort(p))
    n = right.sum()
    return float((order[right].sum() - n * (n - 1) / 2) / (n * (~right).sum()))

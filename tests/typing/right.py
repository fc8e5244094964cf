# pyright: strict, reportMissingTypeStubs=false, reportUnnecessaryTypeIgnoreComment=false
"""A user's script, for type checkers only: it is never run. Names and calls are those of the documentation."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

import xmlcore
from xmlcore import (
    FALS,
    PLT,
    DoubleSampling,
    ExtendedPLT,
    LdSM,
    OneVsRest,
    Ranking,
    TextClassifier,
    evaluate,
    explain,
    load_model,
    metrics,
    robustness,
)
from xmlcore.datasets import Dataset, TextVectorizer, load, read_matrix, read_texts
from xmlcore.models import NotFittedError, PackedModel, read_packed
from xmlcore.models.base import MultiLabelModel
from xmlcore.progress import Progress, silent
from xmlcore.selection import BRDT, ChiSquaredSelection, jaccard

X = np.eye(4)
for rows in (X, X.tolist(), sp.csr_array(X), sp.coo_matrix(X)):
    for labels in ([[0], [1], [0, 1], []], [{0}, {1}, {0}, {1}], [["art"], ["law"], [], []], X, sp.csr_array(X)):
        PLT().fit(rows, labels)
        Dataset("mine", rows, labels, rows, labels, label_names=["art", "law"])


PLT().fit([X, sp.csr_array(X)], [[0]] * 4).predict([X, sp.csr_array(X)])
TextClassifier().fit([["a", "b", "c", "d"], X], [["art"]] * 4).predict([["a"], X[:1]])


def train(model: MultiLabelModel, data: Dataset, progress: Progress = silent) -> Ranking:
    """Return what a model ranks first: the base class has all that is needed."""
    fitted = model.set_params(n_jobs=2).fit(data.X_train, y=data.Y_train, progress=progress)
    found: np.ndarray = fitted.predict(data.X_test, threshold=0.3).toarray()
    share: float = fitted.score(data.X_test, data.Y_test)
    print(found.sum(), share, fitted.n_labels_ + fitted.n_features_in_)
    return fitted.predict_topk(data.X_test, k=3)


data = load("api-docs")
names: list[str] | None = data.label_names
best = [
    train(model, data).labels[0, 0]
    for model in (
        PLT(C=3.0, arity="auto", random_state=np.random.default_rng(0)),
        ExtendedPLT(sigma=0.1, random_state=np.random.RandomState(0)),
        LdSM(n_estimators=3, random_state=None),
        DoubleSampling(negative="zero"),
        OneVsRest(loss="squared_hinge"),
        FALS(n_features=0.2, pattern="FAMS"),
        PLT.preset("recommended", n_jobs=1),
        robustness.AdversarialTraining(PLT(), sigma=0.05, options={"support": "nonzero"}),
    )
]
plt: PLT = PLT().fit(data.X_train, data.Y_train)
folder: Path = plt.save("model")
try:
    PLT().predict(data.X_test)
except NotFittedError as error:
    print(error)
loaded = load_model(folder)
ranking: Ranking = loaded.predict_topk(data.X_test)
labels, scores = plt.predict_topk(data.X_test[:1], k=5)
print(evaluate(plt, data, k=5)["P@k"], evaluate(TextClassifier(), data), xmlcore.__version__)
precision: np.ndarray = metrics.precision_at_k(data.Y_test, ranking, k=3)
metrics.ndcg_at_k([[0], [1, 2]], [[0], [2]], 1)
frame = explain.contributions(plt, data.X_test[[0]], int(labels[0, 0]), dataset=data)
robustness.evaluate(plt, data.X_test, data.Y_test, sigmas=(0.0, 0.1), Y_train=data.Y_train)

selected: np.ndarray = FALS().fit(data.X_train, data.Y_train).selected_
trees = BRDT(selected).fit(data.X_train, data.Y_train)
print(jaccard(selected, ChiSquaredSelection().fit(data.X_train, data.Y_train).selected_), trees.predict(data.X_test))

texts, label_lists = read_texts("news.csv", text="story")
classifier = TextClassifier(PLT(), TextVectorizer(ngrams=(1, 2))).fit(texts, label_lists)
suggested: list[list[tuple[str, float]]] = classifier.suggest(["The court has decided."])
packed: PackedModel = read_packed("model.zip")
print(packed.predict_topk(["The court has decided."]).scores, packed.predict_topk(X))
rows, Y, feature_names, label_names = read_matrix(Path("train.txt.gz"))

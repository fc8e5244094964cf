"""Programs that rank labels for texts, each in a process of its environment: python text_contestants.py NAME FOLDER.

FOLDER has texts.json: texts and lists of label ids to train on, names of labels, and texts to rank for. Five labels a
text are written to NAME.npy, and what was chosen to NAME.txt.
"""

import itertools
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np

K, AT_ONCE = 5, 1000  # labels a text, and texts that are ranked for at once
MOST_TRIED = 2000  # scikit-learn: training texts of a trial, and those by which it is judged
URI = "http://example.org/{}"
PUNKT = ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab")


def best(scores, above=-np.inf):
    """Return the labels of the largest scores of each row, -1 where no further one has more than ``above``."""
    found = np.argpartition(-scores, min(K, scores.shape[1]) - 1, axis=1)[:, :K]
    found = np.take_along_axis(found, np.argsort(-np.take_along_axis(scores, found, 1), axis=1, kind="stable"), 1)
    return np.where(np.take_along_axis(scores, found, 1) > above, found, -1)


def precision(ranked, Y):
    """Return the mean of P@1, P@3 and P@5, by which pipelines are chosen."""
    right = np.take_along_axis(Y.toarray() > 0, ranked, 1)
    return np.mean([right[:, :k].sum() / (k * len(right)) for k in (1, 3, 5)])


def matrix(labels, n_labels):
    """Return lists of labels as a sparse matrix."""
    import scipy.sparse as sp

    ends = np.cumsum([0, *map(len, labels)])
    ids = np.fromiter(itertools.chain.from_iterable(labels), np.int32, ends[-1])
    return sp.csr_matrix((np.ones(ends[-1]), ids, ends), shape=(len(labels), n_labels))


def with_xmlcore(model, train, labels, test, n_labels, _):
    """Rank by a TextClassifier of a model, which chooses the features on training texts."""
    import xmlcore

    model = xmlcore.TextClassifier(getattr(xmlcore, model)()).fit(train, matrix(labels, n_labels))
    return model.predict_topk(test, K).labels, str(model.vectorizer_.settings_)


def with_scikit_learn(train, labels, test, n_labels, _):
    """Rank by the best of twelve pipelines: four classifiers, a model for each label, on three kinds of features."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.naive_bayes import ComplementNB
    from sklearn.svm import LinearSVC

    features = {"words": {}, "words and pairs": {"ngram_range": (1, 2)}}
    features["letters"] = {"analyzer": "char_wb", "ngram_range": (3, 5)}
    models = LogisticRegression(C=10, solver="liblinear"), LinearSVC(), SGDClassifier(random_state=0), ComplementNB()

    def ranked(kind, model, texts, Y, others):
        vectorizer = TfidfVectorizer(min_df=2, sublinear_tf=True, **features[kind])
        X, Z = vectorizer.fit_transform(texts), vectorizer.transform(others)
        has = np.flatnonzero(np.asarray(Y.sum(axis=0)).ravel())
        fitted = OneVsRestClassifier(model).fit(X, Y[:, has])
        score = fitted.decision_function if hasattr(fitted, "decision_function") else fitted.predict_proba
        return np.concatenate([has[best(score(Z[at : at + AT_ONCE]))] for at in range(0, Z.shape[0], AT_ONCE)])

    kept, held = np.array_split(np.random.default_rng(0).permutation(len(train))[: 2 * MOST_TRIED], 2)
    Y, tried = matrix(labels, n_labels), {}
    for kind, model in itertools.product(features, models):
        found = ranked(kind, model, [train[i] for i in kept], Y[kept], [train[i] for i in held])
        tried[kind, model] = precision(found, Y[held])
    kind, model = max(tried, key=tried.get)
    return ranked(kind, model, train, Y, test), f"{kind}, {model}"


def with_libmultilabel(train, labels, test, n_labels, _):
    """Rank by the best of LibMultiLabel's grid over tf-idf and trees."""
    from libmultilabel import linear
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import Pipeline

    steps = [("tfidf", TfidfVectorizer()), ("clf", linear.MultiLabelEstimator(linear_technique="tree"))]
    grid = {
        "tfidf__ngram_range": [(1, 1), (1, 2)],
        "tfidf__min_df": [1, 2],
        "tfidf__sublinear_tf": [True],
        "clf__options": [f"-s 2 -c {C} -m 1" for C in (0.5, 1, 2)],
    }
    search = linear.GridSearchCV(Pipeline(steps), grid, cv=3, n_jobs=1, verbose=0)
    has, ids = np.unique(np.concatenate(labels), return_inverse=True)
    inner = np.split(ids, np.cumsum([len(row) for row in labels])[:-1])
    search.fit(train, matrix(inner, len(has)))
    model = search.best_estimator_
    found = [best(np.asarray(model.predict(test[at : at + AT_ONCE]))) for at in range(0, len(test), AT_ONCE)]
    return has[np.concatenate(found)], str(search.best_params_)


def with_annif(backend, train, labels, test, n_labels, folder):
    """Rank by a backend of Annif, whose vocabulary has the names of labels and nothing else."""
    data = folder / "nltk" / "tokenizers" / "punkt_tab" / "english"
    data.mkdir(parents=True, exist_ok=True)
    for name in PUNKT:  # sentences end at every full stop: nothing has to be downloaded
        (data / name).touch()
    os.environ["NLTK_DATA"] = str(folder / "nltk")
    os.chdir(folder)
    names = json.loads(Path("texts.json").read_text())["names"]
    Path("subjects.tsv").write_text("".join(f"<{URI.format(i)}>\t{name}\n" for i, name in enumerate(names)))
    uris = [" ".join(f"<{URI.format(i)}>" for i in row) for row in labels]
    Path("train.tsv").write_text("".join(f"{' '.join(text.split())}\t{row}\n" for text, row in zip(train, uris)))
    about = {"backend": backend, "name": "p", "language": "en", "vocab": f"subjects-{backend}", "limit": K, "min_df": 2}
    about["analyzer"] = "snowball(english)"
    Path("projects.cfg").write_text("\n".join(["[p]", *(f"{name}={value}" for name, value in about.items()), ""]))
    for arguments in (["load-vocab", "-L", "en", about["vocab"], "subjects.tsv"], ["train", "p", "train.tsv"]):
        subprocess.run([Path(sys.executable).parent / "annif", *arguments], check=True, stdout=subprocess.DEVNULL)
    import annif
    import annif.registry
    from annif.corpus import Document

    with annif.create_flask_app().app_context():
        project = annif.registry.get_project("p")
        parts = [[Document(text=text) for text in test[at : at + AT_ONCE]] for at in range(0, len(test), AT_ONCE)]
        return np.concatenate([best(project.suggest(part).array.toarray(), 0) for part in parts]), ""


CONTESTANTS = {
    "xmlcore": partial(with_xmlcore, "PLT"),
    "mixture": partial(with_xmlcore, "Mixture"),
    "scikit-learn": with_scikit_learn,
    "LibMultiLabel": with_libmultilabel,
    "omikuji": partial(with_annif, "omikuji"),
    "mllm": partial(with_annif, "mllm"),
}

if __name__ == "__main__":
    name, folder = sys.argv[1], Path(sys.argv[2]).absolute()
    texts = json.loads((folder / "texts.json").read_text())
    ranked, chosen = CONTESTANTS[name](texts["train"], texts["labels"], texts["test"], len(texts["names"]), folder)
    np.save(folder / f"{name}.npy", np.asarray(ranked, np.int32))
    (folder / f"{name}.txt").write_text(chosen)

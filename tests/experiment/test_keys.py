"""Whatever is shown or used belongs to the key: nobody is shown what another one has brought."""

import zipfile
from dataclasses import replace
from pathlib import Path

from making import kept, of_file

from xmlcore import experiment, store
from xmlcore.datasets import TextVectorizer

NOT_IN_KEYS = {"again", "factor"}  # where rows of the same file are taken from; what another method of sweeps uses


def brought(data, who):
    """A data set in which everything but what models learn from is of somebody."""
    words = TextVectorizer(min_df=1, stop_words=[who]).fit([" ".join(f"word{j}" for j in range(data.n_features))])
    names = {f"row_names_{part}": [who] * count for part, count in (("train", data.n_train), ("test", data.n_test))}
    texts = {name.replace("row_names", "texts"): each for name, each in names.items()}
    return replace(data, name=who, notes=(who,), vectorizer=words, **names, **texts)


def contents(artifact):
    """All bytes of a kept artifact, as they were before they were packed."""
    for path in filter(Path.is_file, store.folder(*artifact).rglob("*")):
        packed = zipfile.ZipFile(path) if zipfile.is_zipfile(path) else None
        yield from map(packed.read, packed.namelist()) if packed else [path.read_bytes()]


def test_no_kind_shows_what_another_one_has_brought(easy, classes, every_kind):
    own = {}
    for who in ("ann7", "bob7"):
        tasks = every_kind(brought(easy, who), brought(classes, who), who)
        for task in tasks:
            left_out = task.params.keys() - task.params_in_key().keys()
            assert {name for name in left_out if task.params[name] is not None} <= NOT_IN_KEYS
        data = {getattr(task.load(), "dataset", task.inputs.get("dataset")) for task in tasks} - {None}
        shown = {(task.folder, task.key) for task in tasks} | {("datasets", key) for key in data}
        own[who] = b"".join(part for name in sorted(shown) for part in contents(name))
    assert b"ann7" in own["ann7"] and b"ann7" not in own["bob7"] and b"bob7" not in own["ann7"]


def test_a_packed_model_has_the_vectoriser_that_was_asked_for():
    content = b"text,labels\n" + b"a bird,a\nthe cat,b\n" * 20
    for lower, known in ((False, 0), (True, 1)):
        task = of_file("read_texts", {}, content, "train", vectorizer={"lowercase": lower})
        run = kept("train", {"dataset": task.load().dataset}, params={"n_estimators": 1})
        assert experiment.pack_run(run.key).vectorizer.transform(["BIRD"]).nnz == known

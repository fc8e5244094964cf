"""TextClassifier beside other programs that rank labels for texts: python -m benchmarks.text_rivals FOLDER ...

FOLDER has train.jsonl.gz and test.jsonl.gz with lines {"text": ..., "labels": [...]}, and may have labels.tsv.gz with
names of labels; api-docs is that of the catalog. All rank five labels for the same test texts, each in a process on one
thread, whose processor time is that of everything, its start, choice and predictions included. LibMultiLabel and Annif
need environments of their own:

    python -m venv .venv-annif && .venv-annif/bin/pip install 'annif[omikuji]'
    python -m venv .venv-lml && .venv-lml/bin/pip install --no-deps libmultilabel
    .venv-lml/bin/pip install 'scikit-learn<1.8' pandas psutil tqdm liblinear-multicore sparsekmeans

Figures that are there already are kept.
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.library import command, files, machine, tables, text_contestants
from benchmarks.texts import texts_of
from xmlcore import metrics

RESULT = files.RESULTS / "text_rivals.json"
CONTESTANTS = {
    "xmlcore": "TextClassifier()",
    "mixture": "TextClassifier(Mixture())",
    "scikit-learn": "scikit-learn, best of twelve",
    "LibMultiLabel": "LibMultiLabel, best tree of twelve",
    "omikuji": "Annif, omikuji",
    "mllm": "Annif, MLLM, names of labels alone",
}
MEASURES = ("P@1", "P@3", "P@5", "PSP@5", "F1@5")

ABOUT = """# Texts beside other programs

In %; F1@5 is the mean over texts. Times are those of the processor, of everything a program does: its start, choice,
training and predictions; other programs ran meanwhile. scikit-learn chooses on at most 2,000 texts by as many others.
MLLM's vocabulary has preferred names only, neither synonyms nor relations. Who is missing was left out: LibMultiLabel
and scikit-learn where they take too long, MLLM where labels have no names, `Mixture()` on yso-finna-en.
LibMultiLabel was measured anew on 2026-11-30, when more programs ran than beside the others."""


def measured(name, python, folder, Y_train, Y_test):
    """Run a contestant, and return its measures, its processor time and what it chose."""
    alone = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "XMLCORE_N_JOBS": "1"}
    arguments = [python, text_contestants.__file__, name, str(folder)]
    before = machine.of_children()
    ran = subprocess.run(arguments, env=os.environ | alone | {"PYTHONPATH": str(machine.ROOT)}, capture_output=True)
    used = machine.of_children() - before
    if ran.returncode:
        raise SystemExit(f"{name} has failed: {ran.stderr.decode(errors='replace')[-3000:]}")
    ranking = [[label for label in row if label >= 0] for row in np.load(folder / f"{name}.npy").tolist()]
    found = metrics.precision_at_k(Y_test, ranking, 5)
    run = {f"P@{k}": float(found[k - 1]) for k in (1, 3, 5)}
    scaled = metrics.psprecision_at_k(Y_test, ranking, 5, inv_ps=metrics.inverse_propensity(Y_train))
    run |= {"PSP@5": float(scaled[4]), "F1@5": metrics.f1_at_k(Y_test, ranking, 5, average="samples")}
    return run | {"cpu_s": used, "chosen": (folder / f"{name}.txt").read_text()}


def measure(options, source, results):
    """Measure what is not in the results yet on the texts of a folder."""
    train, Y_train, test, Y_test, names = texts_of(source, options.most_train)
    test, Y_test = test[: options.most_test], sp.csr_array(Y_test[: options.most_test])
    if (source / "labels.tsv.gz").exists():
        with gzip.open(source / "labels.tsv.gz", "rt", encoding="utf-8") as lines:
            known = dict(line.rstrip("\n").split("\t")[:2] for line in lines)
        names = [known[name] for name in names]
    kind = source.name if options.most_train is None else f"{source.name}, first {options.most_train:,}"
    about = {"set": kind, "documents": len(train), "tested": len(test), "labels": Y_train.shape[1]}
    labels = [Y_train.indices[a:b].tolist() for a, b in zip(Y_train.indptr, Y_train.indptr[1:])]
    with tempfile.TemporaryDirectory() as folder:
        content = {"train": list(train), "labels": labels, "names": names, "test": list(test)}
        (Path(folder) / "texts.json").write_text(json.dumps(content))
        for name in options.names:
            if not any((run["set"], run["name"]) == (kind, name) for run in results["runs"]):
                python = {"omikuji": options.annif, "mllm": options.annif, "LibMultiLabel": options.libmultilabel}
                run = measured(name, python.get(name, sys.executable), Path(folder), Y_train, Y_test)
                results["runs"].append(about | {"name": name} | run)
                command.keep(results, options)


def markdown(results):
    """Return the results as Markdown."""
    lines = [ABOUT]
    for name in dict.fromkeys(run["set"] for run in results["runs"]):
        own = [run for run in results["runs"] if run["set"] == name]
        about = "{documents:,} training texts, {tested:,} test texts, {labels:,} labels".format(**own[0])
        rows = [
            [CONTESTANTS[run["name"]], *(f"{100 * run[of]:.2f}" for of in MEASURES), tables.number(run["cpu_s"]),
             run["chosen"] or "–"]
            for run in own
        ]  # fmt: skip
        lines += ["", f"**{name}**: {about}.", "", tables.table(["", *MEASURES, "processor, s", "chosen"], rows)]
    return "\n".join([*lines, "", tables.measured_text(results), ""])


def main():
    parser = command.parser("text_rivals", __doc__)
    parser.add_argument("folders", type=Path, nargs="*", help="folders of texts")
    parser.add_argument("--names", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS), help="who ranks")
    parser.add_argument("--most-train", type=int, help="training texts that are read, at most")
    parser.add_argument("--most-test", type=int, help="test texts that are ranked for, at most")
    parser.add_argument("--annif", default=".venv-annif/bin/python", help="Python with Annif")
    parser.add_argument("--libmultilabel", default=".venv-lml/bin/python", help="Python with LibMultiLabel")
    command.add_files(parser, RESULT)
    options = parser.parse_args()
    results = files.read_json(options.out) or machine.header("text_rivals", 1)
    for folder in options.folders:
        measure(options, folder, results)
    command.show(markdown(results), options)


if __name__ == "__main__":
    main()

"""``xmlcore train``."""

from contextlib import nullcontext
from pathlib import Path

import click

from xmlcore import wording
from xmlcore.cli.data import data_options, read
from xmlcore.cli.output import ProgressLine, as_json, measures, note
from xmlcore.cli.parameters import ModelCommand, params_of, vectorizer_of


@click.command("train", cls=ModelCommand)
@click.argument("data")
@click.option("--model", default="PLT", show_default=True, help="Such as LdSM or Mixture.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Zip file to write the model to.")
@click.option("--name", help="Title of the model's card.")
@click.option("--preset", help="Published settings of the model, such as parabel; options change single values.")
@click.option("-k", "k", type=click.IntRange(1, 1000), default=5, show_default=True, help="Measure at 1 to k.")
@click.option("--scheduler", help="Address of a Dask scheduler whose workers train a PLT, such as tcp://host:8786.")
@data_options
@click.pass_context
def command(ctx, data, model, output, name, preset, k, scheduler, to_json, quiet, **others):
    """Train a model on the training rows of DATA, and measure it on its test rows.

    DATA is a file, or the name of a data set of the catalog. The results are those of the dashboard and of
    xmlcore.experiment.run with the same settings. For example:

    python -m xmlcore train train.txt --test test.txt --model PLT --n-estimators 3 -o model.zip

    python -m xmlcore train documents.csv --text body --labels topics --min-df 3 -o model.zip
    """
    from xmlcore import experiment, jobs
    from xmlcore.experiment.kinds.train import run_and_model
    from xmlcore.models import words_by_trials

    params = experiment.full_params(model, params_of(ctx, preset))
    if output is not None and not Path(output).resolve().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {Path(output).resolve().parent} to write {output} to")
    with ProgressLine(quiet) as progress:
        dataset = read(data, others, progress, words_by_trials(vectorizer_of(ctx)))
        unfitted = experiment.estimator(model, params)
        if not quiet and hasattr(unfitted, "estimate"):
            expected = unfitted.estimate(dataset.X_train, dataset.Y_train)
            note(f"training takes about {wording.size(expected.peak)} of memory beside the data")
        with nullcontext() if scheduler is None else jobs.on_cluster(scheduler):
            run, fitted = run_and_model(dataset, model, params, k, progress)
        if output is not None:
            progress("Writing the model", 0.0)
            experiment.pack_fitted(run, fitted, dataset, name=name).save(output)
    values = {measure: frame["value"].tolist() for measure, frame in run.measures.groupby("measure", sort=False)}
    if to_json:
        as_json({
            "model": run.model, "params": run.params, "chosen": run.chosen,
            "data": {"name": run.dataset_name, "fingerprint": run.fingerprint, "training rows": dataset.n_train,
                     "test rows": dataset.n_test, "features": dataset.n_features, "labels": dataset.n_labels,
                     "notes": dataset.notes},
            "k": k, "measures": values, "times": run.times, "size": run.size, "warnings": run.warnings,
            "file": output,
        })  # fmt: skip
        return
    for line in (*dataset.notes, *run.warnings):
        note(line)
    click.echo(f"{model} on {dataset.name}: {dataset.n_train:,} training rows, {dataset.n_test:,} test rows, "
               f"{dataset.n_features:,} features, {dataset.n_labels:,} labels")  # fmt: skip
    measures(values)
    per_row = wording.significant(run.times["predict_ms_per_row"])
    click.echo(f"Trained in {run.times['fit_s']:.1f} s; {per_row} ms for each test row; "
               f"{wording.size(run.size['model_bytes'])} in memory")  # fmt: skip
    if output is not None:
        click.echo(f"Written to {output}; {wording.COMMAND} serve {output} puts it behind a URL")

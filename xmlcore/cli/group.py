"""The group of all commands, which imports a command when it is used; and errors as one line."""

import warnings
from importlib import import_module

import click

from xmlcore import __version__
from xmlcore.cli.output import note

# Name -> what it does, for the help; and its place, xmlcore/cli/<module>.py: <function>.
COMMANDS = {
    "dashboard": ("Start the dashboard in the browser.", "dashboard.dashboard"),
    "describe": ("Describe data, texts or a model.", "describe.command"),
    "train": ("Train a model, measure it, and write it to one file.", "train.command"),
    "predict": ("Predict labels of new rows or texts.", "predict.command"),
    "evaluate": ("Measure a model on labelled rows.", "evaluate.evaluate"),
    "decide": ("Learn from labelled rows which labels a model predicts.", "evaluate.decide"),
    "serve": ("Put models behind a URL.", "serve.command"),
    "compact": ("Make the file of a model small.", "convert.compact"),
    "convert": ("Write a data file in another format.", "convert.convert"),
    "warm-up": ("Compile all kernels in advance.", "dashboard.warm_up"),
}
# Options by the arguments of the library that they stand for: errors name those.
_OF_DATA = "labels test_labels first_index test_size text separator feature_names label_names encoding blanks format"
_OF_WORDS = "vectors test_vectors min_df max_df max_features hashing_bits analyzer pattern"
OPTIONS = {name: f"--{name.replace('_', '-')}" for name in f"{_OF_DATA} {_OF_WORDS}".split()}
OPTIONS |= {"names": "--vocabulary", "xmlcore.datasets.read_text_dataset": "--text"}


class CommandGroup(click.Group):
    """Commands that are imported on first use, and errors in one line."""

    def list_commands(self, ctx):
        return list(COMMANDS)

    def get_command(self, ctx, name):
        if name not in COMMANDS:
            return None
        module, function = COMMANDS[name][1].split(".")
        return getattr(import_module(f"{__package__}.{module}"), function)

    def format_commands(self, ctx, formatter):
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (about, _) in COMMANDS.items()])

    def invoke(self, ctx):
        """Run a command; an error of the input becomes one line."""
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _say_warning
                return super().invoke(ctx)
        except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
            if ctx.params["debug"] or isinstance(error, BrokenPipeError):
                raise
            raise click.ClickException(described(error)) from error


def described(error) -> str:
    sentences = [str(error) or type(error).__name__, *getattr(error, "__notes__", ())]
    if isinstance(error, OSError) and error.strerror and error.filename:
        sentences[0] = f"{error.filename}: {error.strerror}"
    elif hasattr(error, "fault"):  # of the user's data
        sentences[0] = error.fault.text(option)
    return " ".join(sentences)


def option(argument: str, value=None) -> str:
    """Return how an argument of the library, with a value, is given on the command line."""
    if argument not in OPTIONS:
        return "only in Python"
    if value is None or value is True:
        return OPTIONS[argument]
    values = value if isinstance(value, (list, tuple)) else [value]
    return " ".join(f"{OPTIONS[argument]} {each}" for each in values)


def one_line(text: str) -> str:
    return " ".join(str(text).split())


def _say_warning(message, category, filename, lineno, file=None, line=None):
    if not issubclass(category, (DeprecationWarning, PendingDeprecationWarning, ImportWarning)):
        fault = getattr(message, "fault", None)
        note(message if fault is None else fault.text(option))


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="xmlcore")
@click.option("--debug", is_flag=True, help="Show where in the program an error comes from.")
def xmlcore(debug):
    """Extreme multi-label classification: from a file of rows or texts to a model that answers new ones."""

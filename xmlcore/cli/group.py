"""The group of all commands, which imports a command when it is used; and errors as one line."""

import re
import warnings
from importlib import import_module

import click

from xmlcore import __version__
from xmlcore.cli.output import note

# Name -> what it does, for the help; the command is xmlcore/cli/<name>.py: command.
COMMANDS = {
    "dashboard": "Start the dashboard in the browser.",
    "describe": "Say what is in a file of rows, texts, or a model.",
    "train": "Train a model, measure it, and write it to one file.",
    "predict": "Predict labels of new rows or texts.",
    "evaluate": "Measure a model on rows whose labels are known.",
    "decide": "Choose which labels a model predicts, by rows whose labels are known.",
    "serve": "Put models behind a URL.",
    "convert": "Write a data file in another format.",
    "warm-up": "Compile all kernels ahead.",
}
MODULES = {name: f"{__package__}.{name.replace('-', '_')}" for name in COMMANDS}


# Arguments of the readers that are options of the same name, with what follows the equals sign.
_NAMES = "labels|test_labels|first_index|test_size|text|separator|feature_names|label_names|encoding|blanks|analyzer"
_ARGUMENT = re.compile(rf"\b({_NAMES})=(?=([^\s:;,.]?))")


class CommandGroup(click.Group):
    """Commands that are imported on first use, and errors in one line."""

    def list_commands(self, ctx):
        return list(COMMANDS)

    def get_command(self, ctx, name):
        return import_module(MODULES[name]).command if name in COMMANDS else None

    def format_commands(self, ctx, formatter):
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx):
        """Run a command; what is wrong with the input becomes an error of one line."""
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
    return in_options(" ".join(sentences))


def in_options(text: str) -> str:
    """Return what is said of arguments of functions, such as ``labels=-3``, as it is said of options."""

    def option(match):
        name = match[1].replace("_", "-")
        return f"--{name} " if match[2] else f"--{name}"

    return _ARGUMENT.sub(option, text)


def one_line(text: str) -> str:
    return " ".join(str(text).split())


def _say_warning(message, category, filename, lineno, file=None, line=None):
    if not issubclass(category, (DeprecationWarning, PendingDeprecationWarning, ImportWarning)):
        note(in_options(str(message)))


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="xmlcore")
@click.option("--debug", is_flag=True, help="Show where in the program an error comes from.")
def xmlcore(debug):
    """Extreme multi-label classification: from a file of rows or texts to a model that answers new ones."""

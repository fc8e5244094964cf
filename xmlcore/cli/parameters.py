"""Options of models, made from the tables of parameters that the forms of the dashboard are made from."""

import itertools
import re

import click

from xmlcore.datasets import TextVectorizer
from xmlcore.experiment import MODELS
from xmlcore.parameters import RECOMMENDED, Parameter

OF_TEXTS = TextVectorizer.PARAMETERS
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class Value(click.ParamType):
    """A value of a parameter: converted by its kind, and accepted if the estimator accepts it."""

    def __init__(self, parameter: Parameter):
        self.parameter, self.name = parameter, parameter.kind

    def get_metavar(self, param, ctx=None):
        about = self.parameter
        words = (
            [*about.options] if about.kind == "choice" else [{"share": "NUMBER"}.get(about.kind, about.kind.upper())]
        )
        others = [str(other) for other in about.others if str(other) not in words]
        return "|".join([*words, *others, *(["none"] if about.optional else [])])

    def convert(self, value, param, ctx):
        try:
            return self.parameter.check(self._converted(value) if isinstance(value, str) else value)
        except (ValueError, TypeError) as error:
            self.fail(str(error), param, ctx)

    def _converted(self, text):
        """Return the value that a text stands for; the text itself if it stands for none."""
        about, kind = self.parameter, self.parameter.kind
        if about.optional and text.lower() == "none":
            return None
        if text in map(str, about.others):
            return next(other for other in about.others if str(other) == text)
        if kind == "bool":
            return _WORDS.get(text.lower(), text)
        if kind == "pair":
            return tuple(_number(part, int) for part in text.split(","))
        if kind == "share":
            return _number(text, int) if text.isdecimal() else _number(text, float)
        return _number(text, {"int": int, "float": float}[kind]) if kind in ("int", "float") else text


def _number(text, kind):
    try:
        return kind(text)
    except ValueError:
        return text


def options_of(parameters) -> list[click.Option]:
    """Return an option for each parameter."""
    made = []
    for about in parameters:
        names = [about.name, "--" + about.name.replace("_", "-")]  # the first one keeps its capitals
        made.append(click.Option(names, type=Value(about), help=f"{_help(about)}  [default: {_shown(about.default)}]"))
    return made


def _help(about) -> str:
    """Return the help of a parameter with the words that the command line has for an empty field and a switch."""
    text = re.sub(r"\bEmpty\b", "None", about.help) if about.optional else about.help
    text = text.replace("Automatic:", "auto:") if about.can_be_auto else text
    return re.sub(r"\bOff\b", "False", text) if about.kind == "bool" else text


def _shown(value) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


class DocumentsCommand(click.Command):
    """A command that has the options of the vectoriser."""

    def sections(self, ctx) -> dict[str, list[click.Option]]:
        return {"Options of the vectoriser, which turns documents into rows": options_of(OF_TEXTS)}

    def get_params(self, ctx):
        return [*super().get_params(ctx), *itertools.chain(*self.sections(ctx).values())]

    def format_options(self, ctx, formatter):
        for title, options in {"Options": super().get_params(ctx), **self.sections(ctx)}.items():
            records = [param.get_help_record(ctx) for param in options if isinstance(param, click.Option)]
            with formatter.section(title):
                formatter.write_dl(list(filter(None, records)))


class ModelCommand(DocumentsCommand):
    """A command that also has the options of the model which ``--model`` names."""

    def parse_args(self, ctx, args):
        """Find the model first: it decides which options there are."""
        name = _value_of(args, "--model") or "PLT"
        if name not in MODELS:
            message = f"there is no model {name!r:.200}: there are {', '.join(MODELS)}"
            raise click.BadParameter(message, ctx, param_hint="--model")
        ctx.meta["model"] = name
        return super().parse_args(ctx, args)

    def sections(self, ctx):
        name = ctx.meta.get("model", "PLT")
        title = f"Options of the model {name} ({MODELS[name].cls.ABOUT.title}); --model NAME --help shows another's"
        return {title: options_of(MODELS[name].accepted), **super().sections(ctx)}


def params_of(ctx, preset: str | None = None) -> dict:
    """Return the parameters of the model that the command line gives: those of a preset, and the options."""
    name = ctx.meta["model"]
    info = MODELS[name]
    given = {about.name: ctx.params[about.name] for about in info.parameters if was_given(ctx, about.name)}
    known = info.cls.presets()
    if preset is not None and preset not in known:
        raise ValueError(f"{name} has no settings named {preset!r:.200}: it has {', '.join(known)}")
    return (known[preset] if preset not in (None, RECOMMENDED) else {}) | given


def vectorizer_of(ctx) -> TextVectorizer:
    return TextVectorizer(**{about.name: ctx.params[about.name] for about in OF_TEXTS if was_given(ctx, about.name)})


def was_given(ctx, name: str) -> bool:
    return ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def _value_of(args, flag):
    """Return the value of an option in a list of arguments that are not parsed yet; None if it is not there."""
    for at, arg in enumerate(args):
        if arg == "--":
            return None
        if arg == flag and at + 1 < len(args):
            return args[at + 1]
        if arg.startswith(flag + "="):
            return arg.removeprefix(flag + "=")
    return None

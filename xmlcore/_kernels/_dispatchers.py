"""Compile a kernel in two ways: to machine code when Python calls it, to code for its callers when a kernel calls it.

Numba copies the code of a function into every function that calls it, and optimises all of it there. Left to itself it
would also optimise the called function alone and make machine code of it, for each level of calls anew. Nothing would
ever run that code, and it took a third of the time in which the kernels of label trees were compiled.
"""

import contextlib
import functools
import gc
import inspect
import warnings
from typing import ClassVar

from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.datamodel.models import ArrayModel, TupleModel
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.core.target_extension import CPU, jit_registry
from numba.core.targetconfig import ConfigStack

from xmlcore._kernels._caching import KernelCache, tell_once
from xmlcore.interrupts import call_to_the_end

# Steps of Numba's compiler that change nothing in a kernel, or only what array expressions cost, but go through it all.
_NEEDLESS = """
    DumpParforDiagnostics FindLiterallyCalls InlineClosureLikes InlineInlinables InlineOverloads
    LiteralPropagationSubPipelinePass LiteralUnroll MakeFunctionToJitFunction NoPythonSupportedFeatureValidation
    NopythonRewrites RewriteDynamicRaises RewriteSemanticConstants WithLifting
""".split()
_call = CPUDispatcher.__call__
_signature_of_call = types.Function.get_call_type
_signatures = {}  # with the keys of their code


class CodeForCallers(JITCodeLibrary):
    """The code of a function that is only ever copied into its callers: not optimised, and not made machine code."""

    def _optimize_final_module(self):
        """Do nothing: the callers are optimised with their copies."""

    def _finalize_final_module(self):
        """Mark the code as complete, without giving it to the part of LLVM that makes machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name):
        """Return 0: there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self):
        """The code generator, as Numba expects it of a library."""
        return _WithoutEnvironments(self._codegen)


class _WithoutEnvironments:
    """A code generator that sets no environment: these are the Python objects of functions that Python can call."""

    def __init__(self, codegen):
        self._codegen = codegen

    def set_env(self, env_name, env):
        """Do nothing."""

    def __getattr__(self, name):
        return getattr(self._codegen, name)


class _SharedFlags(Flags):
    """Options of the function that is being compiled, as those that are compiled for it see them; never changed."""

    made: ClassVar = {}

    @classmethod
    def of(cls, flags):
        """Return the same object for equal options: Numba keeps code for each object."""
        shared = cls(flags)
        for name in ("no_cpython_wrapper", "no_cfunc_wrapper", "release_gil"):
            shared.discard(name)
        return cls.made.setdefault(shared.summary(), shared)

    def __eq__(self, other):
        return self is other  # and so not equal to those of other compilers, whose code cannot be called

    __hash__ = object.__hash__


class _KernelFlags(Flags):
    """The options with which a kernel is compiled."""

    def copy(self):
        """Return the options as called functions see them."""
        return _SharedFlags.of(self)


def _kept_signature(function, context, args, kws):
    """Return the signature of a call of one of Numba's functions: Numba tries all its definitions, for each call."""
    key = function, tuple(args), tuple(kws.items()), ConfigStack.top_or_none()
    if key not in _signatures:
        found = _signature_of_call(function, context, args, kws)
        _signatures[key] = found, function.get_impl_key(found)
    found, function._impl_keys[found.args] = _signatures[key]
    return found


class _Whole:
    """A mixin of Numba's models, for values that are handed over as they are: taken apart, they are a hundred parts."""

    def get_argument_type(self):
        """Return the type of the argument in which a value is handed over."""
        return self.get_value_type()

    def as_argument(self, builder, value):
        """Return a value as it is handed over."""
        return value

    from_argument = as_argument


@functools.cache
def _handing_over_whole(context):
    """Return the same context for compiling, with arrays and tuples that are handed over whole."""
    models = context.data_model_manager.copy()
    for kind, model in ((types.Array, ArrayModel), (types.Tuple, TupleModel), (types.NamedTuple, TupleModel)):
        models.register(kind, type(model.__name__, (_Whole, model), {}))
    return context.subtarget(data_model_manager=models, cached_internal_func={})


class KernelCompiler(Compiler):
    """Numba's compiler, which compiles NumPy's functions once for all kernels, and for callers only."""

    def __init__(self, typing_context, context, *others):
        super().__init__(typing_context, _handing_over_whole(context), *others)

    def define_pipelines(self):
        """Return Numba's steps, without those that change nothing in a kernel."""
        (steps,) = super().define_pipelines()
        steps.passes = [step for step in steps.passes if step[0].__name__ not in _NEEDLESS]
        return [steps]

    def _compile_core(self):
        tell_once()
        self.state.flags = _KernelFlags(self.state.flags)
        with global_compiler_lock:
            usual = jit_registry.pop(CPU)  # with which Numba compiles what takes the place of NumPy's functions
            jit_registry[CPU] = functools.partial(usual, pipeline_class=CompilerForCallers)
            before, types.Function.get_call_type = types.Function.get_call_type, _kept_signature
            try:
                return super()._compile_core()
            finally:
                types.Function.get_call_type = before
                del jit_registry[CPU]
                jit_registry[CPU] = usual


class CompilerForCallers(KernelCompiler):
    """Numba's compiler, with :class:`CodeForCallers` as its result."""

    def compile_extra(self, func):
        """Compile a Python function; see :class:`numba.core.compiler.CompilerBase`."""
        self.state.library = CodeForCallers(self.state.targetctx.codegen(), func.__qualname__)
        self.state.flags.no_cpython_wrapper = self.state.flags.no_cfunc_wrapper = True
        return super().compile_extra(func)


class _ForCallers(CPUDispatcher):
    """A function for its callers, compiled once for all whole numbers that they name."""

    def get_call_template(self, args, kws):
        """Return what Numba needs for a call; see :class:`numba.core.dispatcher.Dispatcher`."""
        kws = {name: types.unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template(tuple(map(types.unliteral, args)), kws)


class Kernel(CPUDispatcher):
    """A function that Numba compiles when Python calls it, and in another way when a compiled function calls it."""

    is_needed = None  # says by types of arguments whether a caller needs the function, which returns 0 otherwise

    @functools.cached_property
    def for_callers(self):
        """The same function as compiled functions see it."""
        made = _ForCallers(self.py_func, targetoptions=self.targetoptions, pipeline_class=CompilerForCallers)
        if self.is_needed is not None:
            nothing = eval(f"lambda {', '.join(inspect.signature(self.py_func).parameters)}: 0")
            made._compiler._get_implementation = lambda args, kws: self.py_func if self.is_needed(args) else nothing
        return made

    @property
    def _numba_type_(self):
        """What Numba takes this object for when it meets it in another function."""
        return types.Dispatcher(self.for_callers)

    def keep_in(self, folders, written):
        """Keep compiled code on disk; see :class:`xmlcore._kernels._caching.KernelCache`."""
        self._cache = KernelCache(self.py_func, folders, written)

    def __call__(self, *args, **kwargs):
        """Call the compiled function, compiled first if need be; Ctrl+C meanwhile is raised when it has returned."""
        return call_to_the_end(_call, (self, *args), kwargs)

    def compile(self, sig):
        """Compile for the types of some arguments, or load from disk what was compiled for them."""
        with _no_garbage_collection():
            try:
                return super().compile(sig)
            except OSError as error:
                made = self.overloads.get(tuple(normalize_signature(sig)[0]))
                if made is None:
                    raise
                _say_once(
                    error.strerror or str(error), f"compiled code of {self.py_func.__name__} was not kept: {error}"
                )
                return made.entry_point


def _say_once(reason, text):
    """Warn, unless it was said already of another kernel, such as that the disk is full."""
    if reason not in _said:
        _said.add(reason)
        warnings.warn(text, RuntimeWarning, stacklevel=3)


_said = set()  # reasons why compiled code was not kept


@contextlib.contextmanager
def _no_garbage_collection():
    """Compile in one thread at a time, without Python's garbage collection: it would take time and find little."""
    with global_compiler_lock:
        was_on = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if was_on:
                gc.enable()

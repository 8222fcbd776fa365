"""Lazily evaluated argument generators over one seeded source.

A generator describes an argument; inside `with drawing(source)` it has a value, the same however often it is
used, and in the next drawing a fresh one. Every decision is one recorded `Choice` of the source, so a case is
its key, and a shrinker can play the choices back smaller. Nothing here knows a framework: arrays are NumPy's,
dtypes are names.
"""

from generators.alternatives import Nothing, each, nothing, oneof, random_or_nothing, tuple
from generators.arrays import DrawnArray, array
from generators.drawing import Drawing, current_drawing, drawing
from generators.dtypes import DTYPES, Dtype, dtype_name, round_to_bfloat16
from generators.errors import (
    AnnotationError,
    ChoiceError,
    DtypeError,
    GeneratorError,
    OutsideCaseError,
    RangeError,
    TruthError,
    UseError,
)
from generators.fills import FILLS, fill_values
from generators.generator import Generator, constant, pack
from generators.laid_out import Factor, LaidOutSource, transposed
from generators.layouts import LAYOUTS, Placed
from generators.mixes import EDGE, LAID_OUT, MIXES, PLAIN, STANDARD, Mix
from generators.scalars import random, random_bool, random_size
from generators.source import Choice, PhiloxSource, Source, case_key, words

__all__ = [
    "DTYPES",
    "EDGE",
    "FILLS",
    "LAID_OUT",
    "LAYOUTS",
    "MIXES",
    "PLAIN",
    "STANDARD",
    "AnnotationError",
    "Choice",
    "ChoiceError",
    "Drawing",
    "DrawnArray",
    "Dtype",
    "DtypeError",
    "Factor",
    "Generator",
    "GeneratorError",
    "LaidOutSource",
    "Mix",
    "Nothing",
    "OutsideCaseError",
    "PhiloxSource",
    "Placed",
    "RangeError",
    "Source",
    "TruthError",
    "UseError",
    "array",
    "case_key",
    "constant",
    "current_drawing",
    "drawing",
    "dtype_name",
    "each",
    "fill_values",
    "nothing",
    "oneof",
    "pack",
    "random",
    "random_bool",
    "random_or_nothing",
    "random_size",
    "round_to_bfloat16",
    "transposed",
    "tuple",
    "words",
]

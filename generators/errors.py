"""What can go wrong while arguments are described or drawn."""


class GeneratorError(Exception):
    """Root of every error of this package."""


class RangeError(GeneratorError, ValueError):
    """A bound, size or rank leaves nothing to draw, or is not a usable number; give another bound."""


class AnnotationError(GeneratorError, TypeError):
    """A generator has no type, or one that nothing can be drawn for; name another with `.to(...)`."""


class DtypeError(GeneratorError, ValueError):
    """A dtype is not one of the neutral names and cannot be read as one; name one that is known."""


class TruthError(GeneratorError, TypeError):
    """A generator was asked whether it is true; ask its `.value()`."""


class UseError(GeneratorError, TypeError):
    """A generator was used as if it were its value; ask its `.value()`."""


class OutsideCaseError(GeneratorError, RuntimeError):
    """A generator was asked for its value while no case is being drawn; use it inside an `@autotest` body."""


class ChoiceError(GeneratorError, ValueError):
    """Alternatives or their weights do not describe a choice; give one non-negative weight to each."""

"""Work out expressions of plain arithmetic exactly, without running code.

Numbers are fractions until a root or a logarithm is taken, so that 0.1 + 0.2 is 0.3. What two people
would read differently is refused instead of guessed.
"""

from __future__ import annotations

import ast
import math
import statistics
import unicodedata
from collections.abc import Callable, Mapping
from fractions import Fraction

from simpleeval import DEFAULT_OPERATORS, InvalidExpression, SimpleEval

from config.errors import ErrorCode, Problem
from text.regex import LazyPattern

LONGEST = 1_000
"""How many characters an expression may have."""

LARGEST_BITS = 4_096
"""How many binary digits both halves of a fraction may have."""

Number = int | float

Exact = Fraction | float

"""Choose and write the numbers of an axis."""

from __future__ import annotations

import math

from report.labels import is_chinese_tag

_STEPS = (1, 2, 2.5, 5, 10)
_SCALES = ((1e12, "T"), (1e9, "bn"), (1e6, "M"), (1e4, ""), (1.0, ""))
_CHINESE_SCALES = ((1e12, " 万亿"), (1e8, " 亿"), (1e4, " 万"), (1.0, ""))


def choose_ticks(lowest: float, highest: float, count: int = 4) -> list[float]:
    """Return about some round numbers at equal distances that enclose two different ones."""
    rough = (highest - lowest) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(one * power for one in _STEPS if one * power >= rough * (1 - 1e-9))
    first, last = math.floor(lowest / step + 1e-9), math.ceil(highest / step - 1e-9)
    return [round(at * step, 12) for at in range(first, last + 1)]


def format_tick(number: float, language: str) -> str:
    """Return a number of an axis in few letters."""
    scales = _CHINESE_SCALES if is_chinese_tag(language) else _SCALES
    size, sign = next((one for one in scales if abs(number) >= one[0] and one[1]), (1.0, ""))
    return f"{number / size:,.10g}{sign}".replace("-", "−")

"""What the caption of a figure says."""

from __future__ import annotations

import pytest

from report.figure_captions import MAX_CAPTION, find_figure_caption

TWO = """
fig, ax = plt.subplots()
ax.bar(names, values)
ax.set_title("Honey by hive")
fig.savefig("honey.png")
df.plot(title="Mites  since\\nMay")
plt.savefig("out/mites.png")
"""


@pytest.mark.parametrize(
    ("code", "name", "caption"),
    [
        (TWO, "honey.png", "Honey by hive"),
        (TWO, "mites.png", "Mites since May"),
        ("plt.plot(x)\nplt.savefig('honey_by_year.png')", "honey_by_year.png", "Honey by year"),
        ("plt.title(f'Honey of {year}')\nplt.savefig('honey.png')", "honey.png", "Honey"),
        ("plt.plot(x)\nplt.savefig('figure1.png')", "figure1.png", ""),
        ("plt.title('Fees'\nplt.savefig('plot.png')", "plot.png", ""),
        ("plt.title('Old')\nplt.savefig('a.png')\nplt.savefig('fees.png')", "fees.png", "Fees"),
    ],
)
def test_a_caption_is_the_title_of_the_figure_or_the_name_of_its_file(
    code: str, name: str, caption: str
):
    assert find_figure_caption(code, name) == caption


def test_a_long_caption_is_cut():
    code = f"plt.title('{'bees ' * 100}')\nplt.savefig('a.png')"

    assert len(find_figure_caption(code, "a.png")) == MAX_CAPTION

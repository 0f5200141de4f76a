"""Small reports about the documents in `tests/data/carrow`, in the styles of many systems."""

from __future__ import annotations

MILL, LIGHT = "https://mills.example/carrow", "https://lights.example/carrow-light"
FERRY, HARBOUR = "https://ferries.example/carrow", "https://harbour.example/zh"

GOOD = {
    "numbers and a list in brackets": f"""# Carrow

The mill dates from 1687 and was put up by two brothers named Hale [1]. The lighthouse is younger: it was first lit on 12 March 1822 [2].

## References

[1] The tide mill of Carrow. {MILL}
[2] Carrow lighthouse. {LIGHT}
""",
    "a numbered list": f"""# Carrow

The Tern takes 180 passengers and 14 cars to Skarn Island [1]. A crossing lasts 25 minutes [1].

## Sources

1. The Carrow ferry, {FERRY}
""",
    "links in the list": f"""## Summary

Visitors climb 142 steps to the top of the light [1], about 18,000 of them each year [1].

## Sources

1. [Carrow lighthouse]({LIGHT})
""",
    "a list of bullets with numbers": f"""The pond of the mill covers 3.5 hectares [1]. The wheels measure 4.2 metres [1].

**Sources:**

- [1] [The tide mill of Carrow]({MILL})
""",
    "several markers in one bracket": f"""Both the mill and the light are older than the ferry, which began in 1903 [1, 2, 3].

### References

[1] The Carrow ferry {FERRY}
[2] The tide mill of Carrow {MILL}
[3] Carrow lighthouse {LIGHT}
""",
    "a range of markers": f"""Carrow has a mill of 1687, a light of 1822 and a ferry of 1903 [1-3].

### References

[1] The tide mill of Carrow {MILL}
[2] Carrow lighthouse {LIGHT}
[3] The Carrow ferry {FERRY}
""",
    "markers one behind the other": f"""The ferry of 1903 and the mill of 1687 are both still there [1][2].

### References

[1] The Carrow ferry: {FERRY}
[2] The tide mill of Carrow: {MILL}
""",
    "footnotes": f"""The light was automated in 1983[^1]. Electricity had come in 1956[^1].

[^1]: Carrow lighthouse, {LIGHT}
""",
    "named footnotes": f"""The mill stopped in 1934 after its second wheel had broken[^mill]. The ferry carried 212,400 people in 2023[^ferry].

[^mill]: The tide mill of Carrow. {MILL}
[^ferry]: The Carrow ferry. {FERRY}
""",
    "footnotes between carets": f"""The tower is 31 metres high[^1^] and of grey granite[^1^].

## References

[^1^]: [Carrow lighthouse]({LIGHT})
""",
    "numbers that are links": f"""Repairs lasted from 1988 to 1992 and cost £412,000 [[1]]({MILL}).
The light reaches 24 nautical miles [[2]]({LIGHT}).
""",
    "numbers that are links, with a list": f"""Wheat was ground for the last time in 1934 [1]({MILL}). The first boat had room for 60 people [2]({FERRY}).

## References
1. [The tide mill of Carrow]({MILL})
2. [The Carrow ferry]({FERRY})
""",
    "links in the text": f"""According to [the page on the mill]({MILL}), it ground 640 tonnes of wheat in 1851. The ferry [cost 9.6 million euros]({FERRY}).
""",
    "links at the end of sentences": f"""The lamp burned colza oil until 1868 ([Carrow lighthouse]({LIGHT})). After that it burned paraffin ([Carrow lighthouse]({LIGHT})).
""",
    "bare addresses": f"""The Tern was built in Gdansk in 2011 ({FERRY}). The mill has two wheels (<{MILL}>).
""",
    "links in the text and a list": f"""The ferry has run [since 1903]({FERRY}), and the lighthouse [since 1822]({LIGHT}).

## Sources

- [The Carrow ferry]({FERRY})
- [Carrow lighthouse]({LIGHT})
""",
    "only a list of sources": f"""The tide mill was built in 1687. The ferry carried 212,400 passengers in 2023.

Sources:
- {MILL}
- {FERRY}
""",
    "sources in one line": f"""The tower of the light is 31 metres high.

Sources: {LIGHT}
""",
    "Chinese brackets": f"""# 卡罗

卡罗渔港建于1764年，当时只有木码头【1】。防波堤长420米，1895年建成【1】。

## 参考文献

【1】卡罗渔港，{HARBOUR}
""",
    "Chinese with numbers": f"""五十年代港内有136艘渔船[1]，如今只有23艘[1]。海洋博物馆在2019年接待了4.1万名游客[1]。

参考资料：

[1] 卡罗渔港. {HARBOUR}
""",
    "Chinese quotation": f"""莫尔回忆道：“港口养活了整个镇子，也带走了不少人。”[1]

### 来源

1. 《卡罗渔港》 {HARBOUR}
""",
    "brackets of search pages": f"""The ferry needs 25 minutes【1†source】. It began in 1903【1†L3-L5】.

**References**

【1】The Carrow ferry, {FERRY}
""",
    "raised numbers in HTML": f"""The mill closed in 1934<sup>1</sup>, and the keepers left the light in 1983<sup>[2]</sup>.

## References

1. The tide mill of Carrow. {MILL}
2. Carrow lighthouse. {LIGHT}
""",
    "raised characters": f"""The first wheel still turned in 1934.¹ The ferry cost 9.6 million euros² and has 180 places.²

## Notes

¹ The tide mill of Carrow, {MILL}
² The Carrow ferry, {FERRY}
""",
    "the word source in brackets": f"""The pond has 3.5 hectares [Source 1]. Some 18,000 people climb the tower each year [Source: 2].

## Sources

1. The tide mill of Carrow — {MILL}
2. Carrow lighthouse — {LIGHT}
""",
    "citation with a colon": f"""The Gannet had room for 60 passengers [citation:1]. The Tern has room for 180 [citation:1].

## Citations

[1] The Carrow ferry — {FERRY}
""",
    "ids": f"""The miller has about five hours to grind at each tide [S1].

## Sources

[S1] The tide mill of Carrow, {MILL}
""",
    "authors and years": f"""The mill was built by the Hale brothers (Brill, 1990). The tower is 31 metres high (Pharos & Keeper, 2001; Brill, 1990).

## Bibliography

Brill, A. (1990). The tide mill of Carrow. {MILL}

Pharos, J., & Keeper, M. (2001). Carrow lighthouse. {LIGHT}
""",
    "authors in the sentence": f"""Brill (1990) says that the mill ground 640 tonnes of wheat in 1851.

## Works cited

- Brill, Ada. "The tide mill of Carrow." 1990. {MILL}
""",
    "names of files": """The ferry has run since 1903 [1]. The mill closed in 1934 [2].

## Sources

[1] carrow-ferry.txt
[2] carrow-mill.md, second paragraph
""",
    "a table": f"""| Place | Since |
|---|---|
| Mill | 1687 [1] |
| Light | 1822 [2] |
| Ferry | 1903 [3] |

## References

1. The tide mill of Carrow. {MILL}
2. Carrow lighthouse. {LIGHT}
3. The Carrow ferry. {FERRY}
""",
    "quotations": f"""Ada Brill noted that “a tide mill never waits for rain” [1]. In 1870 "the glass was cleaned four times in one night" [2].

## References

[1] The tide mill of Carrow. {MILL}
[2] Carrow lighthouse. {LIGHT}
""",
    "a quotation with an omission": f"""The harbour master calls it “a promise that the weather keeps […]” [1], and the ferry page says the boat “carries 180 passengers … and cost 9.6 million euros” [1].

## References

[1] The Carrow ferry. {FERRY}
""",
    "code and lists": f"""The mill:

- has two wheels [1]
- has a pond of 3.5 hectares [1]

```
tides[1] = read("https://elsewhere.example/tides")
```

It is run with `wheels[2]` open.

## References

[1] The tide mill of Carrow. {MILL}
""",
    "places in markers": f"""The ferry carried 8 per cent more passengers in 2023 than in 2022 [1, p. 2; 2, beginning].

## References

[1] The Carrow ferry. {FERRY}
[2] The tide mill of Carrow. {MILL}
""",
    "a page in HTML": f"""<!doctype html><html><head><title>Carrow</title></head><body>
<h1>Carrow</h1>
<p>The lamp burned paraffin from 1868 on<sup><a href="#r1">1</a></sup>. The mill closed in 1934<sup><a href="#r2">2</a></sup>.</p>
<table><tr><th>Boat</th><th>Places</th></tr><tr><td>Gannet</td><td>60<sup>3</sup></td></tr></table>
<h2>References</h2>
<ol><li id="r1"><a href="{LIGHT}">Carrow lighthouse</a></li><li id="r2"><a href="{MILL}">The tide mill of Carrow</a></li><li><a href="{FERRY}">The Carrow ferry</a></li></ol>
</body></html>
""",
}
"""Reports in which nothing is wrong, by what is particular of them."""

_LIST = f"""

## References

[1] The tide mill of Carrow. {MILL}
[2] Carrow lighthouse. {LIGHT}
"""

BAD = {
    "a marker without a source": (
        "C1",
        f"The mill closed in 1934 [1]. The light is of 1822 [2]. It is high [7].{_LIST}",
    ),
    "a footnote without a note": (
        "C1",
        f"The mill closed in 1934[^1]. The light is of 1822[^2].\n\n[^1]: Mill, {MILL}\n",
    ),
    "a marker that leads elsewhere than its source": (
        "C1",
        f"The mill closed in 1934 [1]({LIGHT}). The light is of 1822 [2]({LIGHT}).{_LIST}",
    ),
    "a source that was not given": (
        "C2",
        f"The mill closed in 1934 [1]. The light is of 1822 [2]. It rains [3].{_LIST}[3] Rain. https://rain.example/all\n",
    ),
    "an address in the text": (
        "C3",
        f"The mill closed in 1934 [1]. The light is of 1822 [2]. See https://made-up.example/x for more.{_LIST}",
    ),
    "an address that stands for any": (
        "C3",
        "The mill closed in 1934 ([page](https://www.example.com/mill)).\n",
    ),
    "a source that is not cited": ("C4", f"The mill closed in 1934 [1].{_LIST}"),
    "a gap in the list": (
        "C4",
        f"The mill closed in 1934 [1]. The light is of 1822 [3].\n\n## References\n\n[1] Mill. {MILL}\n[3] Light. {LIGHT}\n",
    ),
    "a source twice": (
        "C5",
        f"The mill closed in 1934 [1]. The pond has 3.5 hectares [2].\n\n## References\n\n[1] Mill. {MILL}\n"
        "[2] Mill again. https://www.mills.example/carrow/?utm_source=x#top\n",
    ),
    "a changed quotation": (
        "C6",
        f"“A tide mill never wants for rain,” she wrote [1]. The light is of 1822 [2].{_LIST}",
    ),
    "a changed Chinese quotation": (
        "C6",
        f"莫尔说：“港口养活了整座镇子，也带走了不少人。”[1]\n\n## 来源\n\n[1] 卡罗渔港 {HARBOUR}\n",
    ),
    "a quotation of another source": (
        "C7",
        f"“A tide mill never waits for rain,” she wrote [2]. The pond has 3.5 hectares [1].{_LIST}",
    ),
    "a sentence of another source": (
        "C7",
        f"Two keepers lived there with their families until the light was automated [1]. Its tower is of granite [2].{_LIST}",
    ),
    "a wrong year": ("C8", f"The mill was built in 1678 [1]. The light is of 1822 [2].{_LIST}"),
    "a wrong amount": ("C8", f"The work cost £421,000 [1]. The light is of 1822 [2].{_LIST}"),
    "a wrong Chinese number": (
        "C8",
        f"防波堤全长240米[1]。\n\n## 来源\n\n[1] 卡罗渔港 {HARBOUR}\n",
    ),
    "a number without a source": (
        "C9",
        f"The mill closed in 1934 [1]. The light is of 1822 [2].\n\nSome 25,000 gulls breed on the cliffs.{_LIST}",
    ),
    "thoughts that were left in": (
        "C12",
        f"<think>Which year?</think>\n\nThe mill closed in 1934 [1]. The light is of 1822 [2].{_LIST}",
    ),
    "a placeholder": (
        "C12",
        f"The mill closed in 1934 [1]. The light is of 1822 [2]. Written for [Your Name].{_LIST}",
    ),
    "an end within a sentence": (
        "C13",
        f"The light is of 1822 ([light]({LIGHT})).\n\nThe mill of the brothers Hale was repaired by volunteers, and\n",
    ),
    "a section without text": (
        "C13",
        f"The mill closed in 1934 [1]. The light is of 1822 [2].\n\n## Outlook{_LIST}",
    ),
    "a row with too few cells": (
        "C14",
        f"| Place | Since | By |\n|---|---|---|\n| Mill | 1687 [1] | Hale |\n| Light | 1822 [2] |{_LIST}",
    ),
    "a wrong total": (
        "C14",
        "| Boat | Places |\n|---|---|\n| Gannet | 60 [1] |\n| Tern | 180 [1] |\n| Total | 250 |\n\n"
        f"## References\n\n[1] The Carrow ferry. {FERRY}\n",
    ),
    "a script": (
        "C18",
        f"The mill closed in 1934 [1]. The light is of 1822 [2].\n\n<script>alert(1)</script>{_LIST}",
    ),
    "a picture of another site": (
        "C18",
        f"The mill closed in 1934 [1]. The light is of 1822 [2].\n\n![x](https://spy.example/p.png){_LIST}",
    ),
}
"""The check that fails, and the report, by what is wrong in it."""

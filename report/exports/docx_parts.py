"""Parts of a document of Word that python-docx does not make: footnotes, numbers, links, fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement
from docx.oxml.ns import nsdecls, qn
from docx.shared import Pt, RGBColor
from lxml import etree

from report.labels import is_chinese_tag

CODE_STYLE = "Code"
"""The style of blocks of code; words of code have `Code Char`."""

_HEADING_SIZES = {1: 15, 2: 13, 3: 11.5, 4: 11, 5: 11}
_LINK_COLOUR = RGBColor(0x1A, 0x5F, 0xB4)
_INK = RGBColor(0x1F, 0x23, 0x28)
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_CHINESE_FONT = "SimSun"
_FOOTNOTES_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
_FIRST_FOOTNOTES = (
    f"<w:footnotes {nsdecls('w')}>"
    '<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>'
    '<w:footnote w:type="continuationSeparator" w:id="0"><w:p><w:r><w:continuationSeparator/>'
    "</w:r></w:p></w:footnote></w:footnotes>"
)


class FootnotesPart:
    """The footnotes of a document."""

    def __init__(self, document: Any) -> None:
        self._root = etree.fromstring(_FIRST_FOOTNOTES)
        root = self._root

        class _Footnotes(Part):
            """A part whose content is written when the document is saved."""

            @property
            def blob(self) -> bytes:
                """The content as XML."""
                return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8"))

        name, package = PackURI("/word/footnotes.xml"), document.part.package
        document.part.relate_to(
            _Footnotes(name, _FOOTNOTES_TYPE, b"", package), RELATIONSHIP_TYPE.FOOTNOTES
        )
        self._declare(document)

    def _declare(self, document: Any) -> None:
        """Name the lines between text and footnotes in the settings."""
        listed = OxmlElement("w:footnotePr")
        for number in ("-1", "0"):
            listed.append(_make("w:footnote", {"w:id": number}))
        settings = document.settings.element
        # The schema has an order: this one stands before the compatibility settings.
        behind = settings.find(qn("w:compat"))
        if behind is None:
            settings.append(listed)
        else:
            behind.addprevious(listed)

    def add(self, text: str) -> int:
        """Add a footnote; return its id."""
        number = len(self._root) - 1
        note = _make("w:footnote", {"w:id": str(number)})
        paragraph = OxmlElement("w:p")
        properties = OxmlElement("w:pPr")
        properties.append(_make("w:pStyle", {"w:val": "FootnoteText"}))
        sign = _make_run("FootnoteReference")
        sign.append(OxmlElement("w:footnoteRef"))
        words = OxmlElement("w:r")
        content = OxmlElement("w:t")
        content.text = f" {text}"
        content.set(_SPACE, "preserve")
        words.append(content)
        for part in (properties, sign, words):
            paragraph.append(part)
        note.append(paragraph)
        self._root.append(note)
        return number


def make_reference(number: int) -> Any:
    """Return a run with the mark of a footnote."""
    run = _make_run("FootnoteReference")
    run.append(_make("w:footnoteReference", {"w:id": str(number)}))
    return run


def add_link(paragraph: Any, address: str, text: str) -> None:
    """Add a link to a web address, or to a bookmark (`#s2`), to a paragraph."""
    link = OxmlElement("w:hyperlink")
    if address.startswith("#"):
        link.set(qn("w:anchor"), address[1:])
    else:
        relation = paragraph.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
        link.set(qn("r:id"), relation)
    run = OxmlElement("w:r") if address.startswith("#") else _make_run("Hyperlink")
    words = OxmlElement("w:t")
    words.text = text
    run.append(words)
    link.append(run)
    paragraph._p.append(link)


def add_words(
    paragraph: Any,
    text: str,
    *,
    bold: bool = False,
    italic: bool = False,
    struck: bool = False,
    code: bool = False,
) -> None:
    """Add words to the element of a paragraph, without the detours of python-docx."""
    run = etree.SubElement(paragraph, qn("w:r"))
    marks = [name for name, is_set in (("b", bold), ("i", italic), ("strike", struck)) if is_set]
    if code or marks:
        properties = etree.SubElement(run, qn("w:rPr"))
        if code:
            properties.append(_make("w:rStyle", {"w:val": f"{CODE_STYLE}Char"}))
        for name in marks:
            etree.SubElement(properties, qn(f"w:{name}"))
    words = etree.SubElement(run, qn("w:t"))
    words.text = text
    if text != text.strip():
        words.set(_SPACE, "preserve")


def add_bookmark(paragraph: Any, name: str, number: int) -> None:
    """Put a bookmark around the content of a paragraph, so that links can lead to it.

    Args:
        paragraph: The paragraph.
        name: The name that links have.
        number: Another one for each bookmark of a document.
    """
    start = _make("w:bookmarkStart", {"w:id": str(number), "w:name": name})
    properties = paragraph._p.pPr
    if properties is None:
        paragraph._p.insert(0, start)
    else:
        properties.addnext(start)
    paragraph._p.append(_make("w:bookmarkEnd", {"w:id": str(number)}))


def add_field(paragraph: Any, name: str, shown: str = "1", *, before: str = "") -> None:
    """Add a field that Word computes, such as `PAGE`, to a paragraph.

    Args:
        paragraph: The paragraph.
        name: The instruction of the field.
        shown: What is shown until Word computes it.
        before: Words before it.
    """
    if before:
        paragraph.add_run(before)
    for kind in ("begin", "", "separate", "shown", "end"):
        run = paragraph.add_run(shown if kind == "shown" else "")
        if not kind:
            told = OxmlElement("w:instrText")
            told.text = name
            run._r.append(told)
        elif kind != "shown":
            run._r.append(_make("w:fldChar", {"w:fldCharType": kind}))


def make_numbering(document: Any, style: str, start: int) -> Callable[[], Any]:
    """Return what makes the property of a paragraph by which it is an item of a new list.

    Args:
        document: The document.
        style: The style of ordered lists whose numbers look the same.
        start: The first number.
    """
    usual = document.styles[style].element.pPr.numPr.numId.val
    numbers = document.part.numbering_part.element
    abstract = numbers.num_having_numId(usual).abstractNumId.val
    added = numbers.add_num(abstract)
    added.add_lvlOverride(ilvl=0).add_startOverride(start)

    def number() -> Any:
        properties = OxmlElement("w:numPr")
        properties.append(_make("w:ilvl", {"w:val": "0"}))
        properties.append(_make("w:numId", {"w:val": str(added.numId)}))
        return properties

    return number


def prepare_styles(document: Any, language: str) -> None:
    """Set fonts and language, and add the styles of footnotes, links and code."""
    styles = document.styles
    normal = styles["Normal"]
    normal.font.name, normal.font.size = "Calibri", Pt(11)
    normal.paragraph_format.space_after, normal.paragraph_format.line_spacing = Pt(8), 1.15
    for name in ("Normal", "Title", "Caption", *(f"Heading {level}" for level in range(1, 6))):
        fonts = styles[name].element.get_or_add_rPr().get_or_add_rFonts()
        fonts.set(qn("w:eastAsia"), _CHINESE_FONT)
        fonts.attrib.pop(qn("w:eastAsiaTheme"), None)
        styles[name].font.color.rgb = _INK
    styles["Title"].font.size = Pt(22)
    for level, size in _HEADING_SIZES.items():
        heading = styles[f"Heading {level}"]
        heading.font.size = Pt(size)
        heading.paragraph_format.space_before = Pt(size)
        heading.paragraph_format.space_after = Pt(4)
    _set_language(styles, language)
    if is_chinese_tag(language):
        styles["Quote"].font.italic = False
    text = styles.add_style("Footnote Text", WD_STYLE_TYPE.PARAGRAPH)
    text.base_style, text.font.size = normal, Pt(9)
    text.paragraph_format.space_after, text.paragraph_format.line_spacing = Pt(2), 1.0
    mark = styles.add_style("Footnote Reference", WD_STYLE_TYPE.CHARACTER)
    mark.font.superscript = True
    link = styles.add_style("Hyperlink", WD_STYLE_TYPE.CHARACTER)
    link.font.color.rgb, link.font.underline = _LINK_COLOUR, True
    for name, kind in (
        (CODE_STYLE, WD_STYLE_TYPE.PARAGRAPH),
        (f"{CODE_STYLE} Char", WD_STYLE_TYPE.CHARACTER),
    ):
        code = styles.add_style(name, kind)
        code.font.name, code.font.size = "Consolas", Pt(9.5)
        code.element.get_or_add_rPr().get_or_add_rFonts().set(qn("w:eastAsia"), _CHINESE_FONT)
    caption = styles["Caption"].font
    caption.size, caption.bold, caption.italic = Pt(9.5), False, not is_chinese_tag(language)


def _set_language(styles: Any, language: str) -> None:
    """Set the language by which spelling is checked and lines are broken."""
    usual = styles.element.find(f".//{qn('w:rPrDefault')}/{qn('w:rPr')}")
    told = usual.find(qn("w:lang"))
    if told is None:
        told = OxmlElement("w:lang")
        usual.append(told)
    chinese = is_chinese_tag(language)
    told.set(qn("w:eastAsia"), language if chinese else "zh-CN")
    told.set(qn("w:val"), "en-US" if chinese or language == "en" else language)


def _make(name: str, attributes: dict[str, str]) -> Any:
    element = OxmlElement(name)
    for key, value in attributes.items():
        element.set(qn(key), value)
    return element


def _make_run(style: str) -> Any:
    run, properties = OxmlElement("w:r"), OxmlElement("w:rPr")
    properties.append(_make("w:rStyle", {"w:val": style}))
    run.append(properties)
    return run

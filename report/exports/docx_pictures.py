"""Pictures in a document of Word; one in SVG stays one, with a picture for other programs."""

from __future__ import annotations

import io
from typing import Any

import resvg_py
from docx.image.exceptions import UnrecognizedImageError
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import qn
from docx.shared import Cm, Inches
from lxml import etree

_TEXT_WIDTH, _MAX_HEIGHT = Cm(16), Cm(21)
_PIXELS_PER_INCH = 96  # of CSS, in which the sizes of SVG are
_ZOOM = 2  # so that the picture is sharp on paper
_MAX_BYTES = 4_000_000  # of SVG; more would take seconds to draw
_HREFS = ("href", "{http://www.w3.org/1999/xlink}href")
_EXTENSION = (
    '<a:extLst xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
    '<a:ext uri="{{96DAC541-7B7A-43D3-8B79-37D633B846F1}}">'
    '<asvg:svgBlip xmlns:asvg="http://schemas.microsoft.com/office/drawing/2016/SVG/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'r:embed="{}"/></a:ext></a:extLst>'
)


def add_picture(paragraph: Any, media: str, data: bytes, description: str) -> bool:
    """Add a picture to a paragraph; tell whether Word can show it.

    Args:
        paragraph: The paragraph.
        media: The media type of the picture.
        data: The picture.
        description: What is said of it to those who do not see it.
    """
    vectors = _clean_svg(data) if media == "image/svg+xml" else b""
    try:
        shown = resvg_py.svg_to_bytes(svg_string=vectors.decode(), zoom=_ZOOM) if vectors else data
        picture = paragraph.add_run().add_picture(io.BytesIO(shown))
    except (UnrecognizedImageError, ValueError):
        return False
    if vectors:
        scale = Inches(1) / (_PIXELS_PER_INCH * _ZOOM)
        image = picture._inline.graphic.graphicData.pic.blipFill.blip
        pixels = paragraph.part.related_parts[image.embed].image
        picture.width = round(pixels.px_width * scale)
        picture.height = round(pixels.px_height * scale)
        _add_vectors(paragraph.part, image, vectors)
    _fit(picture)
    about = picture._inline.docPr
    about.set("descr", description)
    about.set("name", f"Figure {about.get('id')}")
    return True


def _clean_svg(data: bytes) -> bytes:
    """Return an SVG that names no files or addresses; nothing if it cannot be read."""
    if len(data) > _MAX_BYTES:
        return b""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        return b""
    for element in list(root.iter("{*}image", "{*}script", "{*}foreignObject")):
        addresses = [element.get(name, "") for name in _HREFS]
        parent = element.getparent()
        if parent is not None and not any(one.startswith("data:") for one in addresses):
            parent.remove(element)
    return bytes(etree.tostring(root))


def _add_vectors(part: Any, blip: Any, data: bytes) -> None:
    """Store an SVG beside the picture that programs show which do not know SVG."""
    number = sum(1 for one in part.package.iter_parts() if one.partname.ext == "svg") + 1
    name = PackURI(f"/word/media/figure{number}.svg")
    vectors = Part(name, "image/svg+xml", data, part.package)
    relation = part.relate_to(vectors, RELATIONSHIP_TYPE.IMAGE)
    for old in blip.findall(qn("a:extLst")):
        blip.remove(old)
    blip.append(parse_xml(_EXTENSION.format(relation)))


def _fit(picture: Any) -> None:
    """Make a picture no wider than the text and no higher than a page."""
    share = min(1, _TEXT_WIDTH / picture.width, _MAX_HEIGHT / picture.height)
    if share < 1:
        picture.width, picture.height = (
            round(picture.width * share),
            round(picture.height * share),
        )

"""The drawing of a graph: layers, bends around boxes, nothing but escaped text."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

from cep.report.diagram import Arrow, Box, svg

NAMESPACE = "{http://www.w3.org/2000/svg}"
BOXES = [Box("S", "stream"), Box("q", "query", ("a < b & c",), dashed=True), Box("T", "stream")]
ARROWS = [Arrow("S", "q"), Arrow("q", "T"), Arrow("S", "T")]


def shapes(text: str, tag: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(text).iter(NAMESPACE + tag))


def test_boxes_stand_in_layers_from_left_to_right() -> None:
    _, *boxes = shapes(svg("t", BOXES, ARROWS), "rect")
    places = [float(box.attrib["x"]) for box in boxes]
    assert places == sorted(places) and len(set(places)) == 3


def test_a_long_arrow_goes_around_the_boxes_between() -> None:
    drawing = svg("t", BOXES, ARROWS)
    q = shapes(drawing, "rect")[2]
    top, height = float(q.attrib["y"]), float(q.attrib["height"])
    long = [path.attrib["d"] for path in shapes(drawing, "path") if "H" in path.attrib["d"]]
    assert len(long) == 1
    bend = float(re.findall(r"([\d.]+) H", long[0])[0])
    assert bend < top or bend > top + height


def test_text_is_escaped_and_what_is_not_compiled_is_dashed() -> None:
    drawing = svg("t", BOXES, ARROWS)
    assert "a &lt; b &amp; c" in drawing
    assert [("stroke-dasharray" in box.attrib) for box in shapes(drawing, "rect")[1:]] == [
        False,
        True,
        False,
    ]


def test_arrows_without_both_ends_and_circles_do_no_harm() -> None:
    circle = [Arrow("S", "q"), Arrow("q", "S"), Arrow("q", "q"), Arrow("S", "nowhere")]
    assert len(shapes(svg("t", BOXES, circle), "rect")) == 1 + len(BOXES)


def test_nothing_to_draw() -> None:
    assert shapes(svg("empty", [], []), "rect")

"""What tests of pages share: texts that must do no harm, and a page that has a text in every place."""

from __future__ import annotations

from rankgauge.core.tables import MarkedValue, PValue, Table
from rankgauge.report.section_pages import (
    Facts,
    Finding,
    Listing,
    Page,
    Picture,
    Section,
    ShownTable,
    SideBySide,
    Text,
)

SVG = (
    b"<svg xmlns='http://www.w3.org/2000/svg' width='30' height='20'>"
    b"<rect width='9' height='9'/></svg>"
)
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</style><style>*{display:none}</style>",
    "</script><script>alert(1)</script>",
    "\" onclick='alert(1)' x=\"",
    "'><b>",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;&amp;&quot;",
    "javascript:alert(1)",
    "]]><!-- -->",
    "a\u202eb\u2066c\u200fd",
    "\x00\x1b[31m\x7f\udcff\ufeff",
    "W" * 500,
]


def page_of(text: str) -> Page:
    """A page that has this text in every place where a text can stand."""
    table = Table(
        ("name", text, "score", "p"),
        ((text, text, MarkedValue(0.5, text, text), PValue(0.01)), (text, "", 0.25, None)),
        (text, f"WARNING: {text}"),
    )
    items = (
        Text(text),
        Listing((text, text)),
        ShownTable(table, text, text),
        Picture(SVG, text, text),
        Finding(text, "yes", text, (text,)),
        Facts(((text, text),)),
    )
    inner = Section(text, (SideBySide(items),), (Section(text, (Text(text),)),))
    return Page(text, text, (Section(text, items, (inner,)), Section(text, ())))

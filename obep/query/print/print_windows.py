"""Windows and their frames."""

from __future__ import annotations

from obep.query import ast
from obep.query.print.canonical_text import text
from obep.query.print.print_names import word


@text.register
def _(node: ast.Window) -> str:
    return window_clause(node)


def window_clause(node: ast.Window) -> str:
    """`FROM NAMED WINDOW <w> ON <s> [frame]`."""
    name, stream = _names(node)
    source = f"EVENT {word(node.event, 'event')}" if node.event is not None else stream
    return f"FROM NAMED WINDOW {name} ON {source} [{_frame(node)}]"


def stream_clause(node: ast.Window) -> str:
    """C-SPARQL's `FROM [NAMED] STREAM <s> [frame]`."""
    frame = "" if node.kind == "all" else f" [{_frame(node)}]"
    return f"FROM {'NAMED ' if node.role == 'graph' else ''}STREAM {_names(node)[1]}{frame}"


def win_clause(node: ast.Window) -> str:
    """RSEP-QL's `FROM NAMED <s> WIN [frame] AS <w>`."""
    name, stream = _names(node)
    if node.kind == "landmark":
        frame = f"LND {_instant(node.start)}"
    elif node.kind == "fixed":
        frame = f"INT {_instant(node.start)} {_instant(node.end)}"
    else:
        frame = "ID" if node.kind == "all" else _frame(node)
    return f"FROM NAMED {stream} WIN [{frame}] AS {name}"


def _names(node: ast.Window) -> tuple[str, str]:
    name, stream = node.written or ("", "")
    return name or f"<{node.name}>", stream or f"<{node.stream}>"


def _frame(node: ast.Window) -> str:
    step = f" STEP {text(node.step)}" if node.step else ""
    if node.kind == "rows":
        return f"ROWS {node.rows}" + (f" STEP {node.rows_step}" if node.rows_step is not None else "")
    if node.kind == "triples":
        return f"RANGE TRIPLES {node.rows}"
    if node.kind == "latest":
        by = f" BY {{ {' '.join(text(triple) for triple in node.by)} }}" if node.by else ""
        return f"LATEST{f' {text(node.range)}' if node.range else ''}{step}{by}"
    if node.kind == "landmark":
        return f"LANDMARK {_instant(node.start)}"
    if node.kind == "fixed":
        return f"FROM {_instant(node.start)} TO {_instant(node.end)}"
    assert node.range is not None
    if node.kind == "now":
        assert node.until is not None
        return f"FROM NOW - {text(node.range)} TO NOW - {text(node.until)}{step}"
    return f"RANGE {text(node.range)}{step}"


def _instant(micros: int | None) -> str:
    """Numbers of seconds stay numbers as long as they are not dates of our days."""
    from obep.formats.timestamps import show_instant

    assert micros is not None
    if micros % 1_000_000 == 0 and 0 <= micros < 10**15:
        return str(micros // 1_000_000)
    return f'"{show_instant(micros)}"'

"""Draws what script(1) recorded as an SVG: dev/record calls it.

usage: record.py [--still] OUT TIMING FOLDER COLUMNS LABEL

Each line of the terminal is drawn once. The picture scrolls by CSS steps, so it needs no script. It begins with all that the first
two commands printed. Who asks for less motion sees the last screen; --still draws all lines at once. Colours follow the reader's theme.
"""

import html
import re
import sys
import textwrap

ROWS = 26
LINE, CHAR = 17, 7.25
LONGEST_PAUSE = 2.3  # seconds; a longer wait is cut
FIRST_PAUSE, END_PAUSE = 4.5, 6.0


def chunks(out, timing):
    """The recorded bytes with their times, without script's own first and last lines."""
    at, position = 0.0, 0
    data = open(out, "rb").read()
    if data.startswith(b"Script started"):
        position = data.index(b"\n") + 1
    for entry in open(timing):
        words = entry.split()
        if len(words) == 3:  # the advanced format: its lines begin with a letter
            if words[0] != "O":
                continue
            words = words[1:]
        if len(words) != 2:
            continue
        delay, size = float(words[0]), int(words[1])
        at += min(delay, LONGEST_PAUSE)
        yield at, data[position : position + size].decode("utf-8", "replace")
        position += size


def screen(out, timing, folder):
    """The lines of the terminal, each with the time at which it was complete."""
    lines, current, at = [], "", 0.0
    for at, text in chunks(out, timing):
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r\n", "\n").replace(folder, "~/science")
        for character in text:
            if character == "\n":
                lines.append((at, current))
                current = ""
            elif character == "\r":
                current = ""
            elif character >= " ":
                current += character
    return lines, at


def wrapped(lines, width):
    """No word is cut in two: what is too long goes on below, a little to the right."""
    for at, line in lines:
        for part in textwrap.wrap(line, width, subsequent_indent="    ", break_on_hyphens=False) or [""]:
            yield at, part


def begun(lines, end):
    """What the first two commands printed is there from the beginning, for some seconds."""
    third = [at for at, line in lines if line.startswith("$ ")][2] - FIRST_PAUSE
    return [(0.0 if at < third + FIRST_PAUSE else at - third, line) for at, line in lines], end - third


def drawn(lines, columns, rows, label, motion=""):
    """The window and its lines."""
    width, height = columns * CHAR + 32, rows * LINE + 56
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" role="img" '
        f'aria-label="{html.escape(label)}">'
    )
    yield (
        "<style>text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1f2328;white-space:pre}"
        ".b{fill:#f6f8fa;stroke:#d0d7de}.c{fill:#0f6b63;font-weight:600}.e{fill:#b3261e}"
        "@media(prefers-color-scheme:dark){text{fill:#d1d7e0}.b{fill:#0d1117;stroke:#30363d}.c{fill:#5fd0c4}.e{fill:#ff8a80}}"
        f"{motion}</style>"
    )
    yield f'<rect class="b" x=".5" y=".5" width="{width - 1:.0f}" height="{height - 1}" rx="8"/>'
    for x, colour in ((20, "#ff5f57"), (38, "#febc2e"), (56, "#28c840")):
        yield f'<circle cx="{x}" cy="19" r="5.5" fill="{colour}"/>'
    yield f'<svg x="16" y="36" width="{width - 32:.0f}" height="{rows * LINE + 6}"><g id="s">'
    for number, (at, line) in enumerate(lines):
        kind = "c" if line.startswith("$ ") else "e" if line.startswith(("failed,", "  why ", "nexa-slurm: ")) else ""
        late = motion and at > 0
        names = " ".join(filter(None, ("l" if late else "", kind)))
        shown = (f' class="{names}"' if names else "") + (f' style="animation-name:l{number}"' if late else "")
        yield f'<text{shown} y="{(number + 1) * LINE - 4}">{html.escape(line, quote=False)}</text>'
    yield "</g></svg></svg>"


def motion(lines, end):
    total = end + END_PAUSE
    steps = []
    for number, (at, _) in enumerate(lines, 1):
        shift = max(0, number - ROWS) * LINE
        if not steps or steps[-1][1] != shift:
            steps.append((at, shift))
    frames = "".join(f"{at / total * 100:.2f}%{{transform:translateY(-{shift}px)}}" for at, shift in steps)
    last = steps[-1][1]
    shown = "".join(
        f"@keyframes l{number}{{0%{{opacity:0}}{at / total * 100:.2f}%,100%{{opacity:1}}}}" for number, (at, _) in enumerate(lines) if at
    )
    print(f"{total:.0f} seconds", file=sys.stderr)
    return (
        f"@keyframes s{{{frames}100%{{transform:translateY(-{last}px)}}}}"
        f"{shown}#s{{animation:s {total:.1f}s step-end infinite}}.l{{animation:{total:.1f}s step-end infinite}}"
        f"@media(prefers-reduced-motion:reduce){{#s{{animation:none;transform:translateY(-{last}px)}}.l{{animation:none!important}}}}"
    )


def main():
    still = sys.argv[1] == "--still"
    out, timing, folder, columns, label = sys.argv[1 + still :]
    columns = int(columns)
    lines, end = screen(out, timing, folder)
    lines = list(wrapped(lines, columns))
    if still:
        print("\n".join(drawn(lines, columns, len(lines), label)))
    else:
        lines, end = begun(lines, end)
        print("\n".join(drawn(lines, columns, ROWS, label, motion(lines, end))))


main()

"""Finds the objects of which an answer given before runs code; script/order runs it."""

import bisect
import collections
import pathlib
import re
import subprocess
import sys

from world import World

# A larger object is not moved whole for the sake of the little of it that runs.
LONGEST = 150_000


def sections(link_map):
    """(address, size, object) of the pieces of .text, in order."""
    found = []
    name = None
    text = pathlib.Path(link_map).read_text(errors="replace")
    for line in text[text.index("Linker script and memory map"):].splitlines():
        if match := re.match(r" (\.text\S*)$", line):
            name = match[1]
        elif match := re.match(r" (\.text\S*)?\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (\S.*)$", line):
            if (match[1] or name) and int(match[3], 16):
                found.append((int(match[2], 16), int(match[3], 16), match[4].strip()))
            name = None
    return sorted(found)


def functions(profile):
    """The addresses of the functions that ran, of the program itself; it has no names for them."""
    names = {}
    program = False
    for line in pathlib.Path(profile).read_text().splitlines():
        if match := re.match(r"c?ob=\((\d+)\)(?: (.*))?$", line):
            if match[2]:
                names["ob" + match[1]] = match[2]
            if line.startswith("ob="):
                program = names["ob" + match[1]].endswith("/lanyard")
        elif match := re.match(r"fn=\((\d+)\)(?: (.*))?$", line):
            if match[2]:
                names["fn" + match[1]] = match[2]
            if program and (address := re.match(r"0x([0-9a-f]+)", names["fn" + match[1]])):
                yield int(address[1], 16)
        elif match := re.match(r"cfn=\((\d+)\) (.*)$", line):
            names["fn" + match[1]] = match[2]


def pattern(object_file):
    """What stands for the object in a linker script, wherever it was built."""
    if match := re.match(r".*/(lib[\w+]+\.a)\((.*)\)$", object_file):
        return f"*{match[1]}:{match[2]}"
    return "*/" + re.sub(r".*/(?=[^/]+\.build/)|.*/(?!.*\.build/)", "", object_file, count=1)


def main():
    binaries, link_map = sys.argv[1:]
    with World(binaries) as world:
        request = f"url={world.sandbox['resource']}/contoso/hello.git\n"
        for environment in (world.with_browser, world.environment):
            world.run(world.lanyard, "get", input=request, environment=environment)
        profile = world.folder / "profile"
        answer = world.run(
            "valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", world.lanyard, "get", input=request)
        if "password=" not in answer.stdout:
            raise SystemExit(f"order: error: no answer under valgrind: {answer.stderr}")
        ran = set(functions(profile))
    pieces = sections(link_map)
    starts = [piece[0] for piece in pieces]
    sizes = collections.Counter()
    for _, size, object_file in pieces:
        sizes[object_file] += size
    used = {pieces[bisect.bisect_right(starts, address) - 1][2] for address in ran if address >= starts[0]}
    # The small ones first: more of them share a page.
    for object_file in sorted(used, key=lambda one: (sizes[one], one)):
        if sizes[object_file] <= LONGEST:
            print(pattern(object_file))


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""sarif.py TILEC FOLDER: is what tilec writes with --diagnostics-format=sarif a log in SARIF 2.1.0 that says the same as JSON?

FOLDER has the sources. Each command below runs with both formats; of the log is checked
- that it has what the standard demands of the objects in it, and no property that the standard does not know;
- that it says the same as the lines of JSON do, with columns counted in UTF-16;
- that a second run writes the same bytes, to standard error and to a file.
Prints a line for each command.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

TILEC, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
COMMANDS = {
    "nothing to say": ["good.tile", "--emit=ast", "-o", "-"],
    "notes": ["notes.tile", "--emit=ast", "-o", "-"],
    "hint": ["hint.tile", "--emit=tile", "-o", "-"],
    "several files": ["main.tile", "--emit=tile", "-o", "-"],
    "several sources": ["notes.tile", "many.tile", "good.tile", "--emit=ast", "-o", "out/"],
    "not ASCII": ["wide.tile", "--emit=tile", "-o", "-"],
    "a mark of byte order": ["mark.tile", "--emit=tile", "-o", "-"],
    "not UTF-8": ["bytes.tile", "--emit=tile", "-o", "-"],
    "carriage returns": ["returns.tile", "--emit=tile", "-o", "-"],
    "an odd name": ["ö %41?#: x.tile", "--emit=tile", "-o", "-"],
    "an absolute path": [str(FOLDER / "hint.tile"), "--emit=tile", "-o", "-"],
    "standard input": ["-", "--emit=tile", "-o", "-"],
    "the command line": ["good.tile", "--instantiate", "g<> as h", "--emit=tile", "-o", "-"],
    "warnings": ["spin.tile", "--emit=tile", "-o", "-"],
    "warnings are errors": ["spin.tile", "--emit=tile", "-Werror", "-o", "-"],
    "too many errors": ["many.tile", "--emit=ast", "--error-limit=3", "-o", "-"],
    "remarks": ["good.tile", "--emit=ptx", "--report", "-o", "-"],
    "a missing file": ["none.tile"],
    "a wrong option": ["good.tile", "--emitt=ast"],
    "a wrong value": ["good.tile", "--emit=asp"],
    "a wrong subcommand": ["tets", "good.tile"],
    "a missing tool": ["good.tile", "--cuda-path=out", "--emit=cubin", "-o", "out/x.cubin"],
    "run": ["run", "good.tile", "--on=cpu", "--dim", "Q=4"],
    "test": ["test", "notes.tile"],
    "inspect": ["inspect", "good.tile"],
}
MESSAGE = {"text": str}
ARTIFACT = {"uri": str, "index?": int}
REGION = {"startLine": int, "startColumn": int, "endLine": int, "endColumn": int}
LOCATION = {"physicalLocation?": {"artifactLocation": ARTIFACT, "region": REGION}, "id?": int, "message?": MESSAGE}
LEVELS = {"none", "note", "warning", "error"}
RULE = {
    "id": str, "name": str, "shortDescription": MESSAGE, "fullDescription": MESSAGE, "help": MESSAGE,
    "defaultConfiguration": {"level": LEVELS},
}
RESULT = {
    "ruleId": str, "ruleIndex": int, "level": LEVELS, "kind?": {"informational"}, "message": MESSAGE, "locations?": [LOCATION],
    "relatedLocations?": [{**LOCATION, "id": int, "message": MESSAGE}], "properties?": dict,
}
LOG = {
    "$schema": str, "version": {"2.1.0"},
    "runs": [{
        "tool": {"driver": {"name": str, "version": str, "semanticVersion": str, "rules": [RULE]}},
        "invocations": [{"executionSuccessful": bool, "exitCode": int, "toolExecutionNotifications?": [{"level": LEVELS, "message": MESSAGE}]}],
        "artifacts": [{"location": {"uri": str}}], "columnKind": {"utf16CodeUnits"}, "defaultEncoding": str, "results": [RESULT],
    }],
}


def conforms(value, shape, place):
    """Nothing is missing, of another type, or unknown: the shape has what the schema demands, and properties that it has."""
    if isinstance(shape, set):
        assert value in shape, f"{place}: {value}"
    elif isinstance(shape, list):
        assert isinstance(value, list), place
        for number, item in enumerate(value):
            conforms(item, shape[0], f"{place}[{number}]")
    elif isinstance(shape, dict):
        assert isinstance(value, dict), place
        known = {name.rstrip("?") for name in shape}
        assert value.keys() <= known, f"{place}: {value.keys() - known}"
        for name, inner in shape.items():
            if name.rstrip("?") in value:
                conforms(value[name.rstrip("?")], inner, f"{place}.{name}")
            else:
                assert name.endswith("?"), f"{place}: no {name}"
    else:
        assert isinstance(value, shape) and (shape is int) == (type(value) is int), f"{place}: {value}"


def check_rules(run):
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(ids)) == len(ids) > 100, ids
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"], result
        assert (result.get("kind") == "informational") == (result["level"] == "none"), result


def check_places(run):
    uris = [artifact["location"]["uri"] for artifact in run["artifacts"]]
    assert len(set(uris)) == len(uris), uris
    for result in run["results"]:
        assert len({json.dumps(place) for place in result.get("relatedLocations", [])}) == len(result.get("relatedLocations", []))
        for place in result.get("locations", []) + result.get("relatedLocations", []):
            if "physicalLocation" not in place:
                assert "message" in place, place
                continue
            artifact, region = place["physicalLocation"]["artifactLocation"], place["physicalLocation"]["region"]
            assert uris[artifact["index"]] == artifact["uri"], artifact
            assert re.fullmatch(r"(file:///)?(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+", artifact["uri"]), artifact
            assert min(region.values()) >= 1, region
            assert (region["startLine"], region["startColumn"]) <= (region["endLine"], region["endColumn"]), region


def utf16(text):
    """Code units, of which a byte that is no UTF-8 is one."""
    return len(text.decode("utf-8", "replace").encode("utf-16-le")) // 2


def column_in_utf16(file, line, column):
    text = (FOLDER / file).read_bytes().split(b"\n")[line - 1] if (FOLDER / file).is_file() else b" " * 200
    before = text[: column - 1]
    return utf16(before.removeprefix(b"\xef\xbb\xbf") if line == 1 else before) + 1


def place_of(thing):
    """(file, line, column) of an object of JSON, as the log should have it."""
    if "file" not in thing:
        return None
    place = (thing["file"], thing["line"], column_in_utf16(thing["file"], thing["line"], thing["column"]), thing["endLine"])
    is_empty = (thing["line"], thing["column"]) == (thing["endLine"], thing["endColumn"])
    return place + (None if is_empty else column_in_utf16(thing["file"], thing["endLine"], thing["endColumn"]),)


def place_in_log(location, wanted):
    if "physicalLocation" not in location:
        return None
    physical = location["physicalLocation"]
    file = urllib.parse.unquote(physical["artifactLocation"]["uri"].removeprefix("file://"))
    region = physical["region"]
    end = region["endColumn"]
    if wanted and wanted[4] is None:  # one character is marked, if there is one
        assert region["endColumn"] - region["startColumn"] in (0, 1, 2), region
        end = None
    return (file, region["startLine"], region["startColumn"], region["endLine"], end)


def plain(message):
    """The message as it is read: without the escapes of braces and brackets."""
    text = message["text"].replace("{{", "{").replace("}}", "}")
    return re.sub(r"\\([][\\])", r"\1", text) if "](" in text.replace("\\", "") else text


def subject_of(one):
    inside = [one.get("arch"), one.get("variant") and "variant " + one["variant"]]
    inside = ", ".join(filter(None, inside))
    return f"{one['kernel']} ({inside}): " if "kernel" in one else ""


def check_same(result, one):
    assert result["ruleId"] == one["code"], (result, one)
    assert result["level"] == {"remark": "none"}.get(one["severity"], one["severity"]), (result, one)
    hint = "\nhelp: " + one["hint"] if "hint" in one else ""
    assert plain(result["message"]) == subject_of(one) + one["message"] + hint, (result, one)
    wanted = place_of(one)
    found = [place_in_log(place, wanted) for place in result.get("locations", [])]
    assert found == ([wanted] if wanted else []), (found, wanted)
    notes = result.get("relatedLocations", [])
    assert [plain(note["message"]) for note in notes] == [note["message"] for note in one["notes"]], result
    for note, other in zip(notes, one["notes"]):
        assert place_in_log(note, place_of(other)) == place_of(other), (note, other)
    properties = result.get("properties", {})
    for name in ("hint", "kernel", "arch", "variant", "summary"):
        assert properties.get(name) == one.get(name), (name, result)


def run(arguments):
    source = (FOLDER / "hint.tile").read_bytes() if "-" in arguments[:1] else b""
    return subprocess.run([TILEC, *arguments], cwd=FOLDER, input=source, capture_output=True, timeout=300)


def check(name, arguments):
    lines = run([*arguments, "--diagnostics-format=json"])
    done = run([*arguments, "--diagnostics-format", "sarif"])
    log = json.loads(done.stderr.decode("utf-8"))
    conforms(log, LOG, "log")
    (only,) = log["runs"]
    check_rules(only)
    check_places(only)
    others = [json.loads(line) for line in lines.stderr.decode("utf-8").splitlines()]
    assert len(only["results"]) == len(others), (len(only["results"]), others)
    for result, one in zip(only["results"], others):
        check_same(result, one)
    invocation = only["invocations"][0]
    assert done.returncode == lines.returncode == invocation["exitCode"], done.returncode
    assert invocation["executionSuccessful"] == (done.returncode == 0)
    assert done.stdout == lines.stdout
    filed = run([*arguments, "--diagnostics-format=sarif", "--diagnostics-file=out/log.sarif"])
    assert (filed.returncode, filed.stderr, filed.stdout) == (done.returncode, b"", done.stdout), filed
    assert (FOLDER / "out/log.sarif").read_bytes() == done.stderr
    levels = [result["level"] for result in only["results"]]
    counts = ", ".join(f"{levels.count(level)} {level}" for level in ("error", "warning", "none") if level in levels)
    print(f"{name}: status {done.returncode}; {counts or 'no results'}; in {', '.join(a['location']['uri'] for a in only['artifacts']) or 'no file'}")


if __name__ == "__main__":
    os.makedirs(FOLDER / "out", exist_ok=True)
    (FOLDER / "mark.tile").write_bytes(b"\xef\xbb\xbfkernel k(X: tensor<g32>[N]) {}\n")
    (FOLDER / "bytes.tile").write_bytes(b"/* \xc3\xa9 */ const a = 1 + \xff; /* \xff */ const b = ;\n")
    (FOLDER / "returns.tile").write_bytes(b"const a = 1;\r\nconst b = c;\r\n")
    (FOLDER / "ö %41?#: x.tile").write_text("const b = c;\n")
    for title, words in COMMANDS.items():
        check(title, words)

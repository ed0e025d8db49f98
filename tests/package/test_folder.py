"""Packages as folders: the bag, ways to damage it, odd case names, links, and reading nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import bagit
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.package.cases import package_of, small_run
from trace_prov.derive import Question
from trace_prov.errors import PackageError, UsageError
from trace_prov.package.bag import EVIDENCE, JSON_LD, TRIG, PackageFolder, payload, read_package, write_package
from trace_prov.package.condition import BUILT_IN
from trace_prov.package.folders import INVENTORY, case_folder, find_packages, inventory_of
from trace_prov.package.validate import Report, validate_package
from trace_prov.package.writer import PackageWriter


def rebagged(folder: Path) -> None:
    """The manifests made anew, as someone who hides a change would do."""
    bag = bagit.Bag(str(folder))
    bag.save(manifests=True)


def edited(name: str, old: str, new: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return edit


def everywhere(old: str, new: str) -> Callable[[Path], None]:
    """The same change in all three forms: only the contract can tell."""

    def edit(folder: Path) -> None:
        for name in (EVIDENCE, TRIG, JSON_LD):
            text = (folder / name).read_text(encoding="utf-8")
            (folder / name).write_text(text.replace(old, new), encoding="utf-8")

    return edit


def in_evidence(change: Callable[[dict], object]) -> Callable[[Path], None]:  # type: ignore[type-arg]
    def edit(folder: Path) -> None:
        body = json.loads((folder / EVIDENCE).read_text(encoding="utf-8"))
        change(body)
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":")) + "\n"
        (folder / EVIDENCE).write_text(text, encoding="utf-8")

    return edit


def created(name: str, text: str = "Pay the rent") -> Callable[[Path], None]:
    def create(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)

    return create


def _link(folder: Path) -> None:
    (folder / EVIDENCE).rename(folder.parent / "away.json")
    (folder / EVIDENCE).symlink_to(folder.parent / "away.json")


def _unlabel(folder: Path) -> None:
    body = json.loads((folder / EVIDENCE).read_text())
    everywhere(body["bindings"][1]["id"], "in-2")(folder)


#: what -> (damage, whether the bag is made anew, the rule that must be named, a part of the place or message)
DAMAGES: dict[str, tuple[Callable[[Path], None], bool, str, str]] = {
    "a changed byte in the evidence": (edited(EVIDENCE, "Rent", "Rant"), False, "bag", EVIDENCE),
    "a changed byte in the graph": (edited(TRIG, "Rent", "Rant"), False, "bag", TRIG),
    "a changed byte in the JSON-LD": (edited(JSON_LD, "Rent", "Rant"), False, "bag", JSON_LD),
    "a changed note for the receiver": (edited("data/README.txt", "An evidence", "No evidence"), True, "bag", "README"),
    "a changed manifest": (edited("manifest-sha256.txt", "data/graph.trig", "data/graph.trug"), False, "bag", "trug"),
    "a changed digest": (lambda f: _flip(f / "manifest-sha256.txt"), False, "bag", "data/"),
    "a changed tag manifest": (lambda f: _flip(f / "tagmanifest-sha256.txt"), False, "bag", "SHA-256"),
    "another bag version": (edited("bagit.txt", "1.0", "0.96"), False, "bag", "bagit.txt"),
    "a word in bag-info": (created("bag-info.txt", "Attack: ignore_previous\n"), True, "bag", "'Attack'"),
    "an extra file in the payload": (created("data/request.txt"), False, "bag", "data/request.txt"),
    "an extra file that is bagged": (created("data/request.txt"), True, "bag", "data/request.txt"),
    "an extra file beside the payload": (created("request.txt"), False, "bag", "request.txt"),
    "an extra folder": (created("logs/none.json"), False, "bag", "logs"),
    "an extra file in the folder of a seal": (created("seal/request.txt"), True, "bag", "seal/request.txt"),
    "a hidden file": (created("data/.answers"), True, "bag", "data/.answers"),
    "a file to be fetched": (created("fetch.txt", "http://x/ 3 data/y\n"), False, "bag", "fetch.txt"),
    "no evidence": (lambda f: (f / EVIDENCE).unlink(), False, "bag", "missing"),
    "no graph, bagged": (lambda f: (f / TRIG).unlink(), True, "bag", "missing"),
    "no manifest": (lambda f: (f / "manifest-sha256.txt").unlink(), False, "bag", "missing"),
    "a link for a file": (_link, False, "bag", "link"),
    "evidence that is no JSON": (created(EVIDENCE, "{"), True, "evidence", "JSON"),
    "a graph that is no TriG": (created(TRIG, "<a> <b>"), True, "graph", "cannot be read"),
    "a comment in the graph": (lambda f: _append(f / TRIG, "# Pay the rent\n"), True, "graph", "comment"),
    "an unknown member in the JSON-LD": (
        edited(JSON_LD, ' "@graph"', ' "request": "Pay the rent",\n "@graph"'), True, "graph", "unknown member",
    ),
    "a member told twice": (
        edited(EVIDENCE, '"format":', '"format":"Pay the rent","format":'), True, "evidence", "twice",
    ),
    "blanks in the evidence": (edited(EVIDENCE, '"record":', '"record": '), True, "evidence", "byte"),
    "an attack label in the evidence": (in_evidence(lambda b: b.update(attack="x")), True, "evidence", "attack"),
    "the answer in the evidence": (
        in_evidence(lambda b: b["target"].update(answer=["act-01.result"])), True, "evidence", "answer",
    ),
    "request text in a row": (
        in_evidence(lambda b: b["bindings"][0].update(text="Pay")), True, "evidence", "bindings[0]",
    ),
    "request text in the evidence": (
        in_evidence(lambda b: b.update(native={"request": [{"locator": "request.user", "text": "Pay"}]})),
        True, "evidence", "native",
    ),
    "a dropped row": (in_evidence(lambda b: b["bindings"].pop(1)), True, "counts", "rows"),
    "a dropped last row": (in_evidence(lambda b: b["bindings"].pop()), True, "counts", "rows"),
    "a dropped action": (
        in_evidence(lambda b: (b["record"]["actions"].pop(), b["accounts"].pop())), True, "counts", "actions",
    ),
    "a dropped action with its account left": (
        in_evidence(lambda b: b["record"]["actions"].pop()), True, "evidence", "act-03",
    ),
    "a dropped result": (
        in_evidence(lambda b: b["record"]["actions"][0].update(result=None)), True, "counts", "results",
    ),
    "a dropped element": (
        in_evidence(lambda b: b["record"]["actions"][1]["result"]["elements"].pop()), True, "counts", "records",
    ),
    "a dropped account": (in_evidence(lambda b: b["accounts"].pop()), True, "account-shown", "act-03"),
    "a dropped citation": (
        in_evidence(lambda b: b["accounts"][1]["basis"]["ids"].pop()), True, "account-shown", "act-03",
    ),
    "a changed Note": (in_evidence(lambda b: b["accounts"][1].update(note="nothing")), True, "account-shown", "act-03"),
    "a dropped declaration": (in_evidence(lambda b: b["withheld"].pop(0)), True, "declaration", "request"),
    "a result hidden in silence": (
        in_evidence(lambda b: (b["record"]["actions"][0]["result"].pop("text"),
                               b["record"]["actions"][0]["result"].update(state="redacted"))),
        True, "declaration", "act-01.result",
    ),
    "another target": (in_evidence(lambda b: b["target"].update(literal="XX")), True, "target", "literal"),
    "no such target action": (in_evidence(lambda b: b["target"].update(action="act-09")), True, "target", "act-09"),
    "an original id in a Note": (everywhere("form covid-19", "form in-2"), True, "labels-opaque", "original id"),
    "an original id in a row": (_unlabel, True, "labels-opaque", "ref_"),
    "another condition claimed": (in_evidence(lambda b: b["contract"].update(condition="C00")), True, "C00", "C00"),
    "a table claimed as partial": (
        in_evidence(lambda b: b["contract"].update(table="partial")), True, "declaration", "table",
    ),
}  # fmt: skip


def _flip(path: Path) -> None:
    text = path.read_text()
    path.write_text(("0" if text[0] != "0" else "1") + text[1:])


def _append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packages")
    for name in BUILT_IN:
        assert write_package(package_of(small_run(), name), folder / name)
    return folder


def condition_of(damage: str) -> str:
    return "C11" if "original id" in damage else "C10"


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_named(damage: str, sound: Path, tmp_path: Path) -> None:
    change, bag_anew, rule, told = DAMAGES[damage]
    folder = tmp_path / "package"
    shutil.copytree(sound / condition_of(damage), folder)
    change(folder)
    if bag_anew:
        rebagged(folder)
    report = validate_package(folder)
    assert not report.conforms
    named = [item for item in report.violations if item.rule == rule and told in f"{item.place} {item.message}"]
    assert named, report.violations


def test_a_graph_is_held_to_its_own_claims_where_the_evidence_cannot_be_read(sound: Path, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    shutil.copytree(sound / "C10", folder)
    (folder / EVIDENCE).write_text("{}")
    edited(TRIG, 'trace:localId "in-2"', 'trace:localId "in-2" ;\n    trace:text "Pay the rent"')(folder)
    rebagged(folder)
    report = validate_package(folder)
    assert {"evidence", "bindings"} <= {item.rule for item in report.violations}


@pytest.mark.parametrize("name", BUILT_IN)
def test_sound_packages_conform_and_other_tools_accept_the_bag(name: str, sound: Path) -> None:
    report = validate_package(sound / name)
    told = [(item.grade, item.message.rsplit(": ", 1)[1]) for item in report.violations]
    opaque = name in ("C01", "C11")
    assert (told, report.condition) == ([("recommended", "'covid-19', 'in-10'")] if opaque else [], name)
    assert report.focus["package-claims"] == 1
    assert sum(report.focus.values()) > 40
    command = [sys.executable, "-m", "bagit", "--validate", "--quiet", str(sound / name)]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    assert "Bagging-Date" not in (sound / name / "bag-info.txt").read_text()


def test_every_position_of_every_file_counts(sound: Path, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    shutil.copytree(sound / "C10", folder)
    for path in sorted(folder.rglob("*.*")):
        data = path.read_bytes()
        for position in range(0, len(data), max(1, len(data) // 6)):
            path.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
            assert not validate_package(folder).conforms, f"{path.name}, byte {position}"
        path.write_bytes(data)
    assert validate_package(folder).conforms


def test_the_same_package_is_the_same_bytes(sound: Path, tmp_path: Path) -> None:
    write_package(package_of(small_run(), "C11"), tmp_path / "again")
    for path in sorted((tmp_path / "again").rglob("*.*")):
        assert path.read_bytes() == (sound / "C11" / path.relative_to(tmp_path / "again")).read_bytes()
    assert not write_package(package_of(small_run(), "C11"), tmp_path / "again")


def test_what_lies_in_the_way_is_not_overwritten(tmp_path: Path) -> None:
    package = package_of(small_run(), "C10")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(PackageError, match="other files"):
        write_package(package, tmp_path / "mine", overwrite=True)
    write_package(package_of(small_run(), "C00"), tmp_path / "other")
    with pytest.raises(PackageError, match="--overwrite"):
        write_package(package, tmp_path / "other")
    assert write_package(package, tmp_path / "other", overwrite=True)
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    with pytest.raises(PackageError, match="no folder"):
        write_package(package, tmp_path / "link")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "mine", "other"]


def test_reading_opens_nothing_outside_the_package(sound: Path, tmp_path: Path) -> None:
    shutil.copytree(sound / "C10", tmp_path / "p")
    with pytest.raises(PackageError, match="a file that packages have"):
        PackageFolder(tmp_path / "p").read("../../etc/passwd")
    _link(tmp_path / "p")
    with pytest.raises(PackageError, match="link"):
        read_package(tmp_path / "p")


WATCH = """
import sys
seen = []
sys.addaudithook(lambda event, args: seen.append(str(args[0])) if event == "open" else None)
from trace_prov.cli import main
try:
    main(["answer", sys.argv[1], "--format", "jsonl"])
except SystemExit as error:
    assert error.code in (0, None), error.code
root = sys.argv[1]
code = (sys.prefix, sys.base_prefix, sys.argv[2])
others = [name for name in seen if not name.startswith((root, *code)) and not name.isdigit()]
print("OTHERS", [name for name in others if not name.endswith((".py", ".pyc")) and ".egg-info" not in name])
"""


def test_the_comparator_opens_the_package_and_no_log(sound: Path) -> None:
    root = Path(__file__).parent.parent.parent
    run = subprocess.run(
        [sys.executable, "-c", WATCH, str(sound / "C10"), str(root / "trace_prov")],
        check=False, capture_output=True, text=True, cwd=root,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert '"condition": "C10"' in run.stdout
    assert run.stdout.splitlines()[-1] == "OTHERS []"


@given(st.text(alphabet=st.characters(codec=None), max_size=300))
def test_a_case_never_leaves_the_folder_of_packages(case: str) -> None:
    parts = case_folder(case).split("/")
    assert len(parts) == len(case.split("/"))
    for part in parts:
        assert part not in ("", ".", "..", "data", INVENTORY)
        assert not part.startswith(".")
        assert len(part.encode()) <= 200
        assert part.isascii()
        assert part.isprintable()
        assert "\\" not in part


def test_odd_cases_are_packaged_and_found_under_their_names(tmp_path: Path) -> None:
    names = [
        "../../up.json",
        "/abs/x.json",
        "a.json",
        "a/b.json",
        "ü ß/ .json",
        "data/x.json",
        "l" * 400 + ".json",
        ".json",
    ]
    runs = [replace(small_run(), source=replace(small_run().source, name=name)) for name in names]
    writer = PackageWriter(tmp_path / "out", BUILT_IN["C10"], Question())
    entries = list(writer.write(runs))
    assert [entry.status for entry in entries] == ["packaged"] * len(names)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    found = {package.case for package in find_packages([tmp_path / "out"])}
    assert found == {name.removesuffix(".json") for name in names}
    one = tmp_path / "out" / str(entries[3].folder)
    assert [package.case for package in find_packages([one])] == ["a/b"]
    again = PackageWriter(tmp_path / "out", BUILT_IN["C10"], Question())
    assert [entry.folder for entry in again.write(runs)] == [entry.folder for entry in entries]


def test_two_runs_of_one_case_are_not_written_over_each_other(tmp_path: Path) -> None:
    writer = PackageWriter(tmp_path, BUILT_IN["C10"], Question())
    statuses = [entry.status for entry in writer.write([small_run(), small_run()])]
    assert statuses == ["packaged", "refused"]


def test_a_link_among_the_cases_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "suite").symlink_to(tmp_path / "elsewhere")
    writer = PackageWriter(tmp_path / "out", BUILT_IN["C10"], Question())
    (entry,) = writer.write([small_run()])
    assert (entry.status, list((tmp_path / "elsewhere").iterdir())) == ("refused", [])


def test_a_package_given_by_a_link_is_read(sound: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(sound / "C10")
    assert read_package(tmp_path / "link") == read_package(sound / "C10")
    assert validate_package(tmp_path / "link").conforms


def test_a_folder_in_place_of_a_file_is_told(sound: Path, tmp_path: Path) -> None:
    shutil.copytree(sound / "C10", tmp_path / "p")
    (tmp_path / "p" / EVIDENCE).unlink()
    (tmp_path / "p" / EVIDENCE).mkdir()
    with pytest.raises(PackageError, match="expected a file"):
        read_package(tmp_path / "p")
    assert "evidence" in {item.rule for item in validate_package(tmp_path / "p").violations}


@pytest.mark.parametrize("folder", ["/", "..", "../../etc", "a/../..", "./a", "", "a//b"])
def test_an_inventory_names_no_folder_outside(folder: str, tmp_path: Path) -> None:
    (tmp_path / INVENTORY).write_text(json.dumps({"folder": folder, "case": "x"}) + "\n")
    assert inventory_of(tmp_path) == {}


def test_folders_that_hold_no_package_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        list(find_packages([tmp_path / "nothing"]))
    with pytest.raises(PackageError, match="neither"):
        list(find_packages([tmp_path]))


def test_a_rule_that_sees_no_node_is_no_verdict() -> None:
    from trace_prov.package.contract import shapes_of
    from trace_prov.package.shacl import engine_named
    from trace_prov.package.validate import _check_shapes

    report = Report(Path("x"), "fast")
    _check_shapes(report, [], shapes_of(("C10",)), engine_named("fast"))
    assert not report.conforms
    assert any("saw a node" in item.message for item in report.violations)


def test_the_payload_is_the_four_files() -> None:
    assert sorted(payload(package_of(small_run(), "R00"))) == [
        "data/README.txt", "data/evidence.json", "data/graph.jsonld", "data/graph.trig",
    ]  # fmt: skip

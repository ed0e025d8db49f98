"""`--to ro-crate`: a folder with the logs, the CASE bundle, the PROV view and the findings, described as an RO-Crate.

The metadata is made by the `rocrate` library (RO-Crate 1.1). Each run of an agent is an Action of the crate, and so is
the mapping by this program (Process Run Crate).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from trace_prov import __version__
from trace_prov.errors import UsageError
from trace_prov.export import case_jsonld, nquads
from trace_prov.export.errors import ExportError
from trace_prov.export.material import ExportedFile, Exporter, Material
from trace_prov.finding import to_json
from trace_prov.model import Run

METADATA = "ro-crate-metadata.json"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
LICENSE = "not stated: evidence, to be handled as the case requires"
_MEDIA_TYPES = {".json": "application/json", ".jsonl": "application/jsonl"}
_DESCRIPTIONS = {
    "case.jsonld": ("CASE bundle", "application/ld+json", "https://ontology.caseontology.org/case/"),
    "prov.nq": ("PROV view as N-Quads", "application/n-quads", "http://www.w3.org/ns/prov#"),
    "findings.jsonl": ("findings, one a line", "application/jsonl", None),
}


def _library() -> Any:
    try:
        from rocrate import rocrate
    except ImportError:
        raise UsageError("RO-Crate needs the package rocrate: pip install 'trace-prov[rocrate]'") from None
    return rocrate


def export(material: Material) -> Iterator[ExportedFile]:
    """The files of the crate. Raises ExportError without --time: RO-Crate requires a datePublished, and a date that
    nobody stated would be made up."""
    if material.custody.time is None:
        raise ExportError(
            "ro-crate", expected="the time of publication", found="none", hint="give it: --time 2026-03-03T08:00:00Z"
        )
    logs = list(_logs(material))
    made = {
        "case.jsonld": b"".join(file.data for file in case_jsonld.export(material)),
        "prov.nq": b"".join(file.data for file in nquads.export(material)),
        "findings.jsonl": _findings(material),
    }
    metadata = _metadata(material, logs, made)
    yield ExportedFile(METADATA, [orjson.dumps(metadata, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)])
    for name, data, _ in logs:
        yield ExportedFile(name, [data])
    for name, data in made.items():
        yield ExportedFile(name, [data])


def _logs(material: Material) -> Iterator[tuple[str, bytes, str]]:
    """(name in the crate, bytes, name of the run's log) of each log and sidecar as received; each file once.

    Logs of one name from several folders stay apart: the further ones stand in a numbered folder.
    """
    seen: dict[str, bytes] = {}
    for run in material.runs:
        folder = [part for part in PurePosixPath(run.source.name).parts[:-1] if part not in ("/", "..")]
        for path in material.files.get(run.id, ()):
            data = path.read_bytes()
            name = PurePosixPath("logs", *folder, path.name).as_posix()
            number = 1
            while seen.get(name, data) != data:
                number += 1
                name = PurePosixPath("logs", str(number), *folder, path.name).as_posix()
            if name not in seen:
                seen[name] = data
                yield name, data, run.source.name


def _findings(material: Material) -> bytes:
    lines = [
        json.dumps(to_json(finding), sort_keys=True)
        for run in material.runs
        for finding in material.findings.get(run.id, ())
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _metadata(material: Material, logs: list[tuple[str, bytes, str]], made: dict[str, bytes]) -> dict[str, Any]:
    crate = _library().ROCrate(version="1.1")
    root, count = crate.root_dataset, len(material.runs)
    title = f"Examination of {count} agent run{'s' * (count != 1)}"
    root["name"] = title
    root["description"] = (
        "Logs of LLM agents as received, with the provenance graph and the findings derived from them."
    )
    root["datePublished"] = material.custody.time
    root["license"] = LICENSE
    root["conformsTo"] = crate.add_jsonld({"@id": PROFILE, "@type": "CreativeWork", "name": "Process Run Crate"})
    program = crate.add_jsonld(
        {
            "@id": f"#trace-prov-{__version__}",
            "@type": "SoftwareApplication",
            "name": "trace-prov",
            "softwareVersion": __version__,
        }
    )
    received = [crate.add_file(dest_path=name, properties=_file(name, data)) for name, data, _ in logs]
    results = []
    for name, data in made.items():
        title, media, vocabulary = _DESCRIPTIONS[name]
        properties = _file(name, data) | {"name": title, "encodingFormat": media}
        if vocabulary is not None:
            properties["conformsTo"] = {"@id": vocabulary}
        results.append(crate.add_file(dest_path=name, properties=properties))
    action: dict[str, Any] = {"name": "map agent logs and derive findings", "endTime": material.custody.time}
    mapping = crate.add_action(program, "#mapping", object=received, result=results, properties=action)
    if material.custody.examiner is not None:
        person = {"@id": "#examiner", "@type": "Person", "name": material.custody.examiner}
        mapping["agent"] = crate.add_jsonld(person)
    mentioned = [mapping, *(crate.add_jsonld(_run(run)) for run in material.runs)]
    root["mentions"] = mentioned
    metadata: dict[str, Any] = crate.metadata.generate()
    return metadata


def _file(name: str, data: bytes) -> dict[str, Any]:
    media = {".json": "application/json", ".jsonl": "application/jsonl"}.get(
        Path(name).suffix, "application/octet-stream"
    )
    return {
        "name": Path(name).name,
        "contentSize": str(len(data)),
        "encodingFormat": media,
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def _run(run: Run) -> dict[str, Any]:
    tools = sorted({action.tool for action in run.actions})
    return {
        "@id": run.id,
        "@type": "Action",
        "name": f"agent run {run.task}" if run.task is not None else "agent run",
        "description": f"{len(run.actions)} tool calls: {', '.join(tools) or 'none'}.",
    }


EXPORTER = Exporter("ro-crate", "folder with RO-Crate metadata", "", export)

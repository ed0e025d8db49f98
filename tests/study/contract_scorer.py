"""W, G, D, A, U written down from the text of CONTRACT §8 alone, on interchange forms, with no code of the product.

Answers are plain JSON values: `{"status": …, "value": …}` or `{"status": …, "locators": …}`.
"""

from __future__ import annotations

from typing import Any

Scores = dict[str, int | None]


def scores(question: str, given: Any, supported: dict[str, Any], complete: dict[str, Any]) -> Scores:
    """The five scores; `given` is whatever stands at the question's place in a response, None where nothing does."""
    # "An invalid or missing response: W = G = D = A = 0 and U unknown"
    if not is_valid(question, given):
        return {"w": 0, "g": 0, "d": 0, "a": 0, "u": None}
    # "W = 1 when it equals the answer from the complete record (even if the reader could not see why)."
    w = int(same(question, given, complete))
    # "G = 1 when it is exactly the supported answer of this package: status and, where there are any, the exact set
    # of locators. A justified abstention counts."
    g = int(same(question, given, supported))
    # "D = G and not an abstention. A = G - D."
    d = int(g == 1 and given["status"] != "abstain")
    return {"w": w, "g": g, "d": d, "a": g - d, "u": int(asserts_too_much(question, given, supported))}


def is_valid(question: str, given: Any) -> bool:
    """The inner forms of CONTRACT §10: `value` and `locators` are null unless the status is `answered`."""
    if not isinstance(given, dict) or not isinstance(given.get("status"), str):
        return False
    name = "value" if question == "q1" else "locators"
    payload = given.get(name)
    if given["status"] == "abstain" or (given["status"] == "basis_missing" and question == "q3"):
        return payload is None or payload == []  # an empty list names nothing
    if given["status"] != "answered":
        return False
    if question == "q1":
        return payload is True or payload is False
    return isinstance(payload, list) and all(isinstance(item, str) for item in payload)


def same(question: str, one: dict[str, Any], other: dict[str, Any]) -> bool:
    if one["status"] != other["status"]:
        return False
    if one["status"] != "answered":
        return True
    if question == "q1":
        return bool(one["value"] == other["value"])
    # "Order and repetition of locators do not matter."
    return set(one["locators"]) == set(other["locators"])


def asserts_too_much(question: str, given: dict[str, Any], supported: dict[str, Any]) -> bool:
    """ "U = 1 when it asserts what the package does not support" """
    if given["status"] == "abstain":
        return False  # "abstaining without need is wrong but not U"
    if supported["status"] == "abstain":
        return True  # "a definite answer to an unanswerable question"
    if given["status"] == "basis_missing":
        return bool(supported["status"] != "basis_missing")  # "`basis_missing` where a Basis is visible"
    if question == "q1":
        return given["value"] is True and supported["value"] is False  # "Q1 `yes` where the visible request lacks s"
    # "a locator outside the supported set"; the empty set where basis_missing is supported names none
    return bool(set(given["locators"]) - set(supported.get("locators") or []))

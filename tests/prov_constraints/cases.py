"""Our own cases: for each constraint documents that keep it and documents that break it.

The number is the constraint that a broken one must be found to break; 0 is a missing mandatory place.
"""

from __future__ import annotations

VALID: dict[str, list[str]] = {
    "22: attributes and unknown times merge": [
        "activity(ex:a, 2026-03-02T09:00:00, -)",
        "activity(ex:a, -, 2026-03-02T10:00:00)",
        'entity(ex:e, [ex:k="v"])',
        'entity(ex:e, [ex:k="w"])',
    ],
    "22: entity and agent may be one": ["entity(ex:x)", "agent(ex:x)"],
    "22: activity and agent may be one": ["activity(ex:x, -, -)", "agent(ex:x)"],
    "23: unknown places are filled": [
        "used(ex:u; ex:a, ex:e, -)",
        "used(ex:u; ex:a, -, 2026-03-02T09:00:00)",
    ],
    "23: unnamed usages are as many as they are": [
        "used(ex:a, ex:e, 2026-03-02T09:00:00)",
        "used(ex:a, ex:e, 2026-03-02T10:00:00)",
    ],
    "23: one instant in two zones": [
        "used(ex:u; ex:a, ex:e, 2026-03-02T09:00:00Z)",
        "used(ex:u; ex:a, ex:e, 2026-03-02T10:00:00+01:00)",
    ],
    "24: two generations by two activities": [
        "wasGeneratedBy(ex:g1; ex:e, ex:a1, -)",
        "wasGeneratedBy(ex:g2; ex:e, ex:a2, -)",
    ],
    "24: an unknown activity is not that activity": [
        "wasGeneratedBy(ex:g1; ex:e, ex:a, -)",
        "wasGeneratedBy(ex:g2; ex:e, -, -)",
    ],
    "25: invalidated by two activities": [
        "wasInvalidatedBy(ex:i1; ex:e, ex:a1, -)",
        "wasInvalidatedBy(ex:i2; ex:e, ex:a2, -)",
    ],
    "26: started by two activities": [
        "wasStartedBy(ex:s1; ex:a, ex:e, ex:a1, -)",
        "wasStartedBy(ex:s2; ex:a, ex:e, ex:a2, -)",
    ],
    "27: an unnamed end is that end": ["wasEndedBy(ex:n; ex:a, ex:e, ex:b, -)", "wasEndedBy(ex:a, -, ex:b, -)"],
    "28: the same start time": [
        "activity(ex:a, 2026-03-02T09:00:00, -)",
        "wasStartedBy(ex:a, -, -, 2026-03-02T09:00:00)",
    ],
    "29: the same end time": ["activity(ex:a, -, 2026-03-02T09:00:00)", "wasEndedBy(ex:a, -, -, 2026-03-02T09:00:00)"],
    "30 to 40: a whole life": [
        "entity(ex:e)",
        "activity(ex:a, -, -)",
        "wasStartedBy(ex:a, -, -, -)",
        "wasGeneratedBy(ex:e, ex:a, -)",
        "used(ex:a, ex:e, -)",
        "wasInvalidatedBy(ex:e, ex:a, -)",
        "wasEndedBy(ex:a, -, -, -)",
    ],
    "clock times do not order events": [
        "activity(ex:a, 2026-03-02T10:00:00, 2026-03-02T09:00:00)",
        "wasGeneratedBy(ex:e, ex:a, 2026-03-02T11:00:00)",
        "used(ex:a, ex:e, 2026-03-02T08:00:00)",
    ],
    "35: two activities inform each other": ["wasInformedBy(ex:a, ex:b)", "wasInformedBy(ex:b, ex:a)"],
    "42: a chain of derivations": [
        "entity(ex:e1)",
        "entity(ex:e2)",
        "entity(ex:e3)",
        "wasDerivedFrom(ex:e2, ex:e1)",
        "wasDerivedFrom(ex:e3, ex:e2)",
        "wasDerivedFrom(ex:e3, ex:e1)",
    ],
    "42: a circle among undeclared entities without events": [
        "wasDerivedFrom(ex:e2, ex:e1)",
        "wasDerivedFrom(ex:e1, ex:e2)",
    ],
    "45: specializations generated at once": [
        "entity(ex:e1)",
        "entity(ex:e2)",
        "specializationOf(ex:e2, ex:e1)",
        "wasGeneratedBy(ex:g1; ex:e1, ex:a, -)",
        "wasGeneratedBy(ex:g2; ex:e2, ex:a, -)",
    ],
    "48 and 49: agents that are entities": [
        "entity(ex:ag1)",
        "agent(ex:ag1)",
        "entity(ex:e)",
        "wasAttributedTo(ex:e, ex:ag1)",
        "actedOnBehalfOf(ex:ag2, ex:ag1, -)",
    ],
    "51: a derivation with its activity and nothing else": ["wasDerivedFrom(ex:e2, ex:e1, ex:a, -, -)"],
    "53: an influence may share the identifier of what it is": [
        "wasDerivedFrom(ex:d; ex:e2, ex:e1, -, -, -)",
        "wasInfluencedBy(ex:d; ex:e2, ex:e1)",
    ],
    "55: a string is no type": ['entity(ex:e, [prov:type="prov:Activity"])'],
    "56: a collection with a member": [
        "entity(ex:c, [prov:type='prov:Collection'])",
        "hadMember(ex:c, ex:e)",
    ],
    "56: an empty collection": ["entity(ex:c, [prov:type='prov:EmptyCollection'])"],
    "12: a revision": [
        "entity(ex:e1)",
        "entity(ex:e2)",
        "wasDerivedFrom(ex:e2, ex:e1, [prov:type='prov:Revision'])",
        "alternateOf(ex:e1, ex:e2)",
    ],
    "11: a derivation and its own usage and generation": [
        "wasDerivedFrom(ex:d; ex:e2, ex:e1, ex:a, ex:g, ex:u)",
        "used(ex:u; ex:a, ex:e1, -)",
        "wasGeneratedBy(ex:g; ex:e2, ex:a, -)",
    ],
    "23: an open agent of an association": [
        "wasAssociatedWith(ex:s; ex:a, -, ex:p)",
        "wasAssociatedWith(ex:s; ex:a, ex:ag, ex:p)",
    ],
    "23: an open activity of a delegation": [
        "actedOnBehalfOf(ex:d; ex:ag2, ex:ag1, -)",
        "actedOnBehalfOf(ex:d; ex:ag2, ex:ag1, ex:a)",
    ],
    "23: a start is told in two parts": [
        "wasStartedBy(ex:s; ex:a, -, -, 2026-03-02T09:00:00)",
        "wasStartedBy(ex:s; ex:a, ex:e, ex:b, -)",
    ],
    "24: unnamed generations by unknown activities at two times": [
        "wasGeneratedBy(ex:e, -, 2026-03-02T09:00:00)",
        "wasGeneratedBy(ex:e, -, 2026-03-02T10:00:00)",
    ],
    "28: two starts of an activity that is not declared": [
        "wasStartedBy(ex:a, ex:e1, ex:b, 2026-03-02T09:00:00)",
        "wasStartedBy(ex:a, ex:e2, ex:c, 2026-03-02T10:00:00)",
    ],
    "21: the empty special one and the general one with a member": [
        "entity(ex:c, [prov:type='prov:EmptyCollection'])",
        "entity(ex:d)",
        "specializationOf(ex:c, ex:d)",
        "hadMember(ex:d, ex:e)",
    ],
    "33 to 35: informed by an activity that began with what came of it": [
        "activity(ex:a, -, -)",
        "activity(ex:b, -, -)",
        "wasInformedBy(ex:b, ex:a)",
        "entity(ex:t)",
        "entity(ex:r)",
        "wasStartedBy(ex:a, ex:t, -, -)",
        "wasDerivedFrom(ex:t, ex:r)",
        "wasGeneratedBy(ex:r, ex:b, -)",
    ],
    "34 and 36: used what is made of what it makes later": [
        "entity(ex:e1)",
        "entity(ex:e2)",
        "activity(ex:a, -, -)",
        "wasDerivedFrom(ex:e2, ex:e1)",
        "used(ex:a, ex:e2, -)",
        "wasGeneratedBy(ex:e1, ex:a, -)",
    ],
    "38: made and invalidated by one activity": [
        "entity(ex:e)",
        "wasGeneratedBy(ex:e, ex:a, -)",
        "wasInvalidatedBy(ex:e, ex:a, -)",
    ],
    "16: an alternate of itself": ["alternateOf(ex:e, ex:e)"],
    "50: an activity that acts for another": ["activity(ex:ag, -, -)", "actedOnBehalfOf(ex:ag, ex:ag1, -)"],
    "17 to 18: alternates are symmetric": ["alternateOf(ex:e1, ex:e2)", "alternateOf(ex:e2, ex:e1)"],
}

INVALID: list[tuple[int, str, list[str]]] = [
    (0, "a generation of nothing", ["wasGeneratedBy(ex:g; -, ex:a, -)"]),
    (0, "an usage by nobody", ["used(ex:u; -, ex:e, -)"]),
    (0, "a start of nothing", ["wasStartedBy(ex:s; -, ex:e, ex:a, -)"]),
    (0, "a derivation from nothing", ["wasDerivedFrom(ex:e2, -)"]),
    (0, "a member of nothing", ["hadMember(-, ex:e)"]),
    (0, "no member", ["hadMember(ex:c, -)"]),
    (0, "an alternate of nothing", ["alternateOf(ex:e, -)"]),
    (0, "a delegation by nobody", ["actedOnBehalfOf(-, ex:ag, -)"]),
    (22, "two start times", [
        "activity(ex:a, 2026-03-02T09:00:00, -)", "activity(ex:a, 2026-03-02T10:00:00, -)"]),
    (22, "two end times", [
        "activity(ex:a, -, 2026-03-02T09:00:00)", "activity(ex:a, -, 2026-03-02T10:00:00)"]),
    (23, "a call used twice for two things", [
        "wasGeneratedBy(ex:call; ex:e1, ex:a, -)", "wasGeneratedBy(ex:call; ex:e2, ex:a, -)"]),
    (23, "two times of one usage", [
        "used(ex:u; ex:a, ex:e, 2026-03-02T09:00:00)", "used(ex:u; ex:a, ex:e, 2026-03-02T10:00:00)"]),
    (23, "a time with and one without a zone", [
        "used(ex:u; ex:a, ex:e, 2026-03-02T09:00:00)", "used(ex:u; ex:a, ex:e, 2026-03-02T09:00:00Z)"]),
    (23, "two informants", ["wasInformedBy(ex:i; ex:a, ex:b)", "wasInformedBy(ex:i; ex:a, ex:c)"]),
    (23, "two agents of one attribution", [
        "wasAttributedTo(ex:t; ex:e, ex:ag1)", "wasAttributedTo(ex:t; ex:e, ex:ag2)"]),
    (23, "no plan and a plan", [
        "wasAssociatedWith(ex:s; ex:a, ex:ag, -)", "wasAssociatedWith(ex:s; ex:a, ex:ag, ex:plan)"]),
    (23, "two derivations under one name", ["wasDerivedFrom(ex:d; ex:e3, ex:e1, -, -, -)",
                                            "wasDerivedFrom(ex:d; ex:e3, ex:e2, -, -, -)"]),
    (23, "an influence that is another influence (Inference 15)", [
        "used(ex:u; ex:a, ex:e, -)", "wasInfluencedBy(ex:u; ex:b, ex:e)"]),
    (23, "the generation named by a derivation is another (Inference 11)", [
        "wasGeneratedBy(ex:g; ex:e3, ex:a, -)", "wasDerivedFrom(ex:e2, ex:e1, ex:a, ex:g, -)"]),
    (23, "the usage named by a derivation is of another entity (Inference 11)", [
        "wasDerivedFrom(ex:e2, ex:e1, ex:a, ex:g, ex:u)", "used(ex:u; ex:a, ex:e3, -)"]),
    (23, "the generation named by a derivation is by another activity (Inference 11)", [
        "wasDerivedFrom(ex:e2, ex:e1, ex:a, ex:g, ex:u)", "wasGeneratedBy(ex:g; ex:e2, ex:b, -)"]),
    (23, "no activity and an activity of one derivation", [
        "wasDerivedFrom(ex:d; ex:e2, ex:e1, -, -, -)", "wasDerivedFrom(ex:d; ex:e2, ex:e1, ex:a, -, -)"]),
    (23, "two activities of one delegation", [
        "actedOnBehalfOf(ex:d; ex:ag2, ex:ag1, ex:a)", "actedOnBehalfOf(ex:d; ex:ag2, ex:ag1, ex:b)"]),
    (23, "unnamed generations by one activity at two times (24)", [
        "wasGeneratedBy(ex:e, ex:a, 2026-03-02T09:00:00)", "wasGeneratedBy(ex:e, ex:a, 2026-03-02T10:00:00)"]),
    (23, "unnamed invalidations by one activity at two times (25)", [
        "wasInvalidatedBy(ex:e, ex:a, 2026-03-02T09:00:00)", "wasInvalidatedBy(ex:e, ex:a, 2026-03-02T10:00:00)"]),
    (23, "an identifier for a derivation and a usage (15)", [
        "wasDerivedFrom(ex:x; ex:e2, ex:e1, -, -, -)", "used(ex:x; ex:a, ex:e, -)"]),
    (24, "two results of one call", [
        "wasGeneratedBy(ex:g1; ex:e, ex:a, -)", "wasGeneratedBy(ex:g2; ex:e, ex:a, -)"]),
    (24, "two results of one call, an unnamed one between", [
        "wasGeneratedBy(ex:g1; ex:e, ex:a, -)", "wasGeneratedBy(ex:e, ex:a, -)",
        "wasGeneratedBy(ex:g2; ex:e, ex:a, -)"]),
    (25, "invalidated twice by one activity", [
        "wasInvalidatedBy(ex:i1; ex:e, ex:a, -)", "wasInvalidatedBy(ex:i2; ex:e, ex:a, -)"]),
    (26, "started twice by one activity", [
        "wasStartedBy(ex:s1; ex:a, ex:e1, ex:b, -)", "wasStartedBy(ex:s2; ex:a, ex:e2, ex:b, -)"]),
    (27, "ended twice by one activity", [
        "wasEndedBy(ex:n1; ex:a, ex:e1, ex:b, -)", "wasEndedBy(ex:n2; ex:a, ex:e2, ex:b, -)"]),
    (28, "two start events at two times", [
        "activity(ex:a, -, -)",
        "wasStartedBy(ex:s1; ex:a, -, ex:b, 2026-03-02T09:00:00)",
        "wasStartedBy(ex:s2; ex:a, -, ex:c, 2026-03-02T10:00:00)"]),
    (29, "an end event at another time", [
        "activity(ex:a, -, 2026-03-02T09:00:00)", "wasEndedBy(ex:a, -, -, 2026-03-02T10:00:00)"]),
    (42, "derived from itself", ["entity(ex:e)", "wasDerivedFrom(ex:e, ex:e)"]),
    (42, "33 and 41: started by what is made of the thing it yields", [
        "activity(ex:a, -, -)", "wasDerivedFrom(ex:e2, ex:e1, ex:a, ex:g, ex:u)",
        "wasStartedBy(ex:a, ex:e3, ex:b, -)", "wasDerivedFrom(ex:e3, ex:e2)"]),
    (42, "41: used after it was derived", [
        "entity(ex:e1)", "entity(ex:e2)",
        "wasDerivedFrom(ex:e2, ex:e1, ex:a, ex:g, ex:u)",
        "wasDerivedFrom(ex:e1, ex:e2)"]),
    (42, "43: started by what comes of it", [
        "entity(ex:e1)", "entity(ex:e2)", "activity(ex:a, -, -)",
        "wasGeneratedBy(ex:e1, ex:a, -)", "wasDerivedFrom(ex:e2, ex:e1)", "wasStartedBy(ex:a, ex:e2, -, -)"]),
    (42, "45: the special one made before the general one", [
        "entity(ex:e1)", "entity(ex:e2)", "specializationOf(ex:e2, ex:e1)", "wasDerivedFrom(ex:e1, ex:e2)"]),
    (42, "45: across an entity without events (Inference 19)", [
        "specializationOf(ex:e3, ex:e2)", "specializationOf(ex:e2, ex:e1)",
        "wasGeneratedBy(ex:g1; ex:e1, -, -)", "wasGeneratedBy(ex:g3; ex:e3, -, -)", "wasDerivedFrom(ex:e1, ex:e3)"]),
    (42, "48: attributed to an agent made of it", [
        "entity(ex:e)", "entity(ex:ag)", "wasAttributedTo(ex:e, ex:ag)", "wasDerivedFrom(ex:ag, ex:e)"]),
    (42, "48: attributed to an activity that came after", [
        "entity(ex:e1)", "entity(ex:e2)", "activity(ex:ag, -, -)", "agent(ex:ag)",
        "wasAttributedTo(ex:e1, ex:ag)", "wasStartedBy(ex:ag, ex:e2, -, -)", "wasDerivedFrom(ex:e2, ex:e1)"]),
    (42, "9: the trigger was generated by the starter", [
        "activity(ex:b, -, -)", "entity(ex:e2)",
        "wasStartedBy(ex:b, ex:e2, -, -)", "wasStartedBy(ex:c, ex:e1, ex:b, -)", "wasDerivedFrom(ex:e2, ex:e1)"]),
    (42, "10: the trigger was generated by the ender", [
        "activity(ex:b, -, -)", "entity(ex:e2)",
        "wasStartedBy(ex:b, ex:e2, -, -)", "wasEndedBy(ex:c, ex:e1, ex:b, -)", "wasDerivedFrom(ex:e2, ex:e1)"]),
    (42, "13: what is attributed was generated", ["wasAttributedTo(ex:e, ex:ag)", "wasDerivedFrom(ex:e, ex:e)"]),
    (42, "21: what specializes an entity is one", [
        "entity(ex:e1)", "specializationOf(ex:e2, ex:e1)", "wasDerivedFrom(ex:e2, ex:e2)"]),
    (42, "39: derived from each other, one generated twice", [
        "entity(ex:e1)", "entity(ex:e2)", "wasGeneratedBy(ex:g1; ex:e1, ex:a1, -)",
        "wasGeneratedBy(ex:g2; ex:e1, ex:a2, -)", "wasDerivedFrom(ex:e2, ex:e1)", "wasDerivedFrom(ex:e1, ex:e2)"]),
    (42, "44: started by what is made of what it makes", [
        "entity(ex:e1)", "entity(ex:e2)", "activity(ex:a, -, -)", "wasDerivedFrom(ex:e2, ex:e1)",
        "wasGeneratedBy(ex:e1, ex:a, -)", "wasEndedBy(ex:a, -, -, -)", "wasStartedBy(ex:a, ex:e2, -, -)"]),
    (51, "a generation and a usage without an activity", ["wasDerivedFrom(ex:e2, ex:e1, -, ex:g, ex:u)"]),
    (51, "a generation without an activity", ["wasDerivedFrom(ex:e2, ex:e1, -, ex:g, -)"]),
    (51, "a usage without an activity", ["wasDerivedFrom(ex:e2, ex:e1, -, -, ex:u)"]),
    (52, "a specialization of itself", ["specializationOf(ex:e, ex:e)"]),
    (52, "a circle of specializations", [
        "specializationOf(ex:e1, ex:e2)", "specializationOf(ex:e2, ex:e3)", "specializationOf(ex:e3, ex:e1)"]),
    (53, "an identifier for a usage and a communication", [
        "used(ex:x; ex:a, ex:e, -)", "wasInformedBy(ex:x; ex:a, ex:b)"]),
    (53, "an identifier for a delegation and an association", [
        "actedOnBehalfOf(ex:x; ex:ag2, ex:ag1, -)", "wasAssociatedWith(ex:x; ex:a, ex:ag1, -)"]),
    (54, "an entity that is an event", ["entity(ex:x)", "wasGeneratedBy(ex:x; ex:e, -, -)"]),
    (54, "an entity that is a start", ["entity(ex:s)", "wasStartedBy(ex:s; ex:a, -, -, -)"]),
    (54, "an agent that is a derivation", ["agent(ex:x)", "wasDerivedFrom(ex:x; ex:e2, ex:e1, -, -, -)"]),
    (54, "an activity that is an influence", ["activity(ex:x, -, -)", "wasInfluencedBy(ex:x; ex:e2, ex:e1)"]),
    (54, "a generation that a derivation names and an entity", [
        "entity(ex:g)", "wasDerivedFrom(ex:e2, ex:e1, ex:a, ex:g, -)"]),
    (55, "an id that is a call and a result", ["entity(ex:x)", "activity(ex:x, -, -)"]),
    (55, "by their places only (50)", ["used(ex:x, ex:y, -)", "wasGeneratedBy(ex:x, ex:z, -)"]),
    (55, "an alternate that acts (50)", ["alternateOf(ex:x, ex:y)", "wasInformedBy(ex:x, ex:z)"]),
    (55, "a plan that acts (50)", ["wasAssociatedWith(ex:a, ex:ag, ex:x)", "wasEndedBy(ex:x, -, -, -)"]),
    (55, "an entity declared to be an activity", ["entity(ex:x, [prov:type='prov:Activity'])"]),
    (55, "a collection that acts", ["activity(ex:c, -, -)", "hadMember(ex:c, ex:e)"]),
    (55, "a trigger that is an activity", ["wasStartedBy(ex:a, ex:b, -, -)", "activity(ex:b, -, -)"]),
    (55, "a member that is an activity", ["hadMember(ex:c, ex:x)", "activity(ex:x, -, -)"]),
    (55, "an activity that something specializes", ["specializationOf(ex:x, ex:y)", "activity(ex:y, -, -)"]),
    (55, "a starter that is an entity", ["wasStartedBy(ex:a, -, ex:x, -)", "entity(ex:x)"]),
    (56, "a member of an empty collection", [
        "entity(ex:c, [prov:type='prov:EmptyCollection'])", "hadMember(ex:c, ex:e)"]),
    (56, "a collection told twice, once as empty", [
        "entity(ex:c, [prov:type='prov:EmptyCollection'])", "entity(ex:c, [ex:k=1])", "hadMember(ex:c, ex:e)"]),
    (56, "a specialization of an empty collection has a member (21)", [
        "entity(ex:c, [prov:type='prov:EmptyCollection'])", "specializationOf(ex:d, ex:c)", "hadMember(ex:d, ex:e)"]),
]  # fmt: skip

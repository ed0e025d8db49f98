// Duplicates: pairs of actions with the same native call id, the same result, or the same call and result told twice.
//
// Parameters: null asks for all; in Browser, once:
//   :param run => null       the run's IRI
//   :param other => null     the IRI of a run to compare it with, such as a mirror or a replay; null: the run itself
// Returns: a row for each pair and kind: run, other, kind ('call id', 'result': equal and not empty, 'event': equal
// tool, arguments and result), action, otherAction, value (the id, or the SHA-256 of the result).
MATCH (r:Run)-[:HAS_ACTION]->(a)-[:CALLS]->(called)
WHERE r.uri STARTS WITH coalesce($run, '')
MATCH (second:Run)-[:HAS_ACTION]->(b)-[:CALLS]->(otherCalled)
WHERE second.uri = coalesce($other, r.uri) AND (r.uri <> second.uri OR a.number < b.number)
OPTIONAL MATCH (a)-[:GAVE]->(gave)
OPTIONAL MATCH (b)-[:GAVE]->(otherGave)
UNWIND ['call id', 'result', 'event'] AS kind
WITH r, second, a, b, called, otherCalled, kind,
  CASE WHEN kind = 'call id' THEN a.nativeId ELSE gave.sha256 END AS value,
  CASE WHEN kind = 'call id' THEN b.nativeId ELSE otherGave.sha256 END AS otherValue
WHERE value = otherValue
  AND (kind <> 'result' OR value <> 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  AND (kind <> 'event' OR called.name = otherCalled.name)
  AND (kind <> 'event' OR NOT EXISTS {
    MATCH (a)-[:HAS_ARGUMENT]->(one)
    WHERE one.text IS NOT NULL AND one.valueType IS NOT NULL AND NOT EXISTS {
      MATCH (b)-[:HAS_ARGUMENT]->(same)
      WHERE same.name = one.name AND same.valueType = one.valueType AND same.text = one.text
    }
  })
  AND (kind <> 'event' OR NOT EXISTS {
    MATCH (b)-[:HAS_ARGUMENT]->(one)
    WHERE one.text IS NOT NULL AND one.valueType IS NOT NULL AND NOT EXISTS {
      MATCH (a)-[:HAS_ARGUMENT]->(same)
      WHERE same.name = one.name AND same.valueType = one.valueType AND same.text = one.text
    }
  })
RETURN r.uri AS run, $other AS other, kind, a.id AS action, b.id AS otherAction, value
ORDER BY run, kind, a.number, b.number

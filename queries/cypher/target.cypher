// Target of a run: the one action, argument and literal that the case asks about (CONTRACT §3).
// The first action that has an earlier tool result and a non-empty text argument, else the first with such an argument;
// of its arguments the first by key: recipient, iban, account number, password, file path, date, subject, then the
// rest in alphabetical order, compared in lower case without "_", "-" and spaces.
//
// Parameters: null asks for all; in Browser, once:
//   :param run => null       the run's IRI
// Returns: one row a run: run, log, action, argument, literal; without a target reason says why.
MATCH (r:Run)-[:RECORDED_IN]->(source)
WHERE r.uri STARTS WITH coalesce($run, '') AND source.format IS NOT NULL
OPTIONAL MATCH (r)-[:HAS_ACTION]->()-[:GAVE]->(result)
WHERE result.state <> 'absent'
WITH r, source, min(result.afterStep) AS firstDelivery
OPTIONAL MATCH (r)-[:HAS_ACTION]->(usable)-[:HAS_ARGUMENT]->(some)
WHERE some.valueType = 'string' AND some.state = 'present' AND some.text <> ''
// actions without an earlier result come after all others
WITH r, source,
  min(usable.number + CASE WHEN coalesce(firstDelivery < usable.step, false) THEN 0 ELSE 1000000000 END) AS rank
OPTIONAL MATCH (r)-[:HAS_ACTION]->(a)-[:HAS_ARGUMENT]->(some)
WHERE a.number IN [rank, rank - 1000000000]
  AND some.valueType = 'string' AND some.state = 'present' AND some.text <> ''
WITH r, source, a, some, toLower(replace(replace(replace(coalesce(some.name, ''), '_', ''), '-', ''), ' ', '')) AS key
WITH r, source, a, some, key,
  CASE WHEN key = 'recipient' THEN '1' WHEN key = 'iban' THEN '2' WHEN key = 'accountnumber' THEN '3'
    WHEN key = 'password' THEN '4' WHEN key = 'filepath' THEN '5' WHEN key = 'date' THEN '6'
    WHEN key = 'subject' THEN '7' ELSE '8' END AS place
// a text that sorts as place, key and name do, and tells which argument it is of
WITH r, source, a, min(place + key + '\u0000' + some.name + '\u0000' + some.uri) AS best
OPTIONAL MATCH (a)-[:HAS_ARGUMENT]->(used)
WHERE best ENDS WITH ('\u0000' + used.uri)
RETURN r.uri AS run, source.name AS log, a.id AS action, used.name AS argument, used.text AS literal,
  CASE WHEN a.id IS NOT NULL THEN NULL WHEN EXISTS { MATCH (r)-[:HAS_ACTION]->() }
    THEN 'no action has a non-empty top-level text argument' ELSE 'the run has no action' END AS reason
ORDER BY run

// What can be asked of each action: its non-empty text arguments, in the order in which a target takes them (CONTRACT §3).
//
// Parameters: null asks for all; in Browser, once:
//   :param run => null         the run's IRI
//   :param action => null      the action: 'act-02'
//   :param argument => null    the argument's name
// Returns: a row for each text argument: run, log, action, number, argument, literal, place, key; the first of an
// action is its target. An action without any has one row with the last four null.
MATCH (r:Run)-[:RECORDED_IN]->(source)
WHERE r.uri STARTS WITH coalesce($run, '') AND source.format IS NOT NULL
MATCH (r)-[:HAS_ACTION]->(a)
WHERE a.id = coalesce($action, a.id)
OPTIONAL MATCH (a)-[:HAS_ARGUMENT]->(used)
WHERE used.valueType = 'string' AND used.state = 'present' AND used.text <> ''
  AND used.name = coalesce($argument, used.name)
WITH r, source, a, used, toLower(replace(replace(replace(coalesce(used.name, ''), '_', ''), '-', ''), ' ', '')) AS key
WHERE $argument IS NULL OR used.name IS NOT NULL
RETURN r.uri AS run, source.name AS log, a.id AS action, a.number AS number, used.name AS argument,
  used.text AS literal,
  CASE WHEN used.name IS NULL THEN NULL WHEN key = 'recipient' THEN 1 WHEN key = 'iban' THEN 2
    WHEN key = 'accountnumber' THEN 3 WHEN key = 'password' THEN 4 WHEN key = 'filepath' THEN 5
    WHEN key = 'date' THEN 6 WHEN key = 'subject' THEN 7 ELSE 8 END AS place,
  CASE WHEN used.name IS NULL THEN NULL ELSE key END AS key
ORDER BY run, number, place, key, argument

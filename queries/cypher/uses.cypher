// All actions at once: which earlier records held the value of a text argument (CONTRACT §3, §5; H of every argument).
//
// Parameters: null asks for all; in Browser, once:
//   :param run => null         the run's IRI
//   :param action => null      the action: 'act-02'
//   :param argument => null    the argument's name
// Returns: a row for each argument and record: run, action, tool, argument, literal, locator, how ('raw', 'decoded').
MATCH (r:Run)-[:HAS_ACTION]->(a)-[:HAS_ARGUMENT]->(used)
WHERE r.uri STARTS WITH coalesce($run, '') AND a.id = coalesce($action, a.id)
  AND used.name = coalesce($argument, used.name) AND used.valueType = 'string' AND used.text <> ''
MATCH (a)-[:CALLS]->(called)
MATCH (r)-[:HAS_ACTION]->()-[:GAVE|HAS_ELEMENT*1..2]->(record)
WHERE record.afterStep < a.step AND NOT coalesce(record.unknownShape, false)
WITH r, a, called, used, record, used.text AS literal
WITH r, a, called, used, record, literal,
  CASE WHEN record.text CONTAINS literal THEN 'raw'
    WHEN any(scalar IN record.decoded WHERE scalar CONTAINS literal) THEN 'decoded' END AS how
WHERE how IS NOT NULL
RETURN r.uri AS run, a.id AS action, called.name AS tool, used.name AS argument, literal,
  record.locator AS locator, how
ORDER BY run, action, argument, locator

// Lineage of a value: every place of a run where a literal stands, in the order in which the run came to it:
// the user's request, what tools gave back, the arguments of calls. An order of places, not a chain of causes.
//
// Parameters: null for run asks for all; in Browser, once:
//   :param run => null       the run's IRI
//   :param literal => 'DE89370400440532013000'    the literal s; needed
// Returns: a row for each place: run, literal, step (of an argument: the step that wrote it; else the last step before
// its arrival), kind ('argument', 'result', 'request'), locator, action, tool, how ('raw', 'decoded').
MATCH (r:Run)-[:HAS_TURN|HAS_ACTION|HAS_ARGUMENT|GAVE|HAS_ELEMENT*1..3]->(place)
WHERE r.uri STARTS WITH coalesce($run, '')
WITH r, place, $literal AS literal
WITH r, place, literal,
  CASE WHEN place.text CONTAINS literal THEN 'raw'
    WHEN any(scalar IN place.decoded WHERE scalar CONTAINS literal) THEN 'decoded' END AS how
WHERE how IS NOT NULL
OPTIONAL MATCH (r)-[:HAS_ACTION]->(a)-[:HAS_ARGUMENT|GAVE|HAS_ELEMENT*1..2]->(place)
OPTIONAL MATCH (a)-[:CALLS]->(called)
OPTIONAL MATCH (a)-[:GAVE]->(result)
WITH r, place, literal, how, a, called, result,
  CASE WHEN a.id IS NULL THEN 'request' WHEN place.name IS NOT NULL THEN 'argument' ELSE 'result' END AS kind
WITH r.uri AS run, literal, kind, place.locator AS locator, a.id AS action, called.name AS tool, how,
  CASE WHEN kind = 'argument' THEN a.step ELSE place.afterStep END AS step,
  CASE WHEN kind = 'request' THEN place.number WHEN kind = 'argument' THEN a.number ELSE result.`order` END AS turn,
  place.position AS position
RETURN run, literal, step, kind, locator, action, tool, how
ORDER BY run, step, CASE WHEN kind = 'argument' THEN 1 WHEN kind = 'result' THEN 2 ELSE 3 END, turn, position

// Q1: the turns of the user's request before an action in which a literal occurs (CONTRACT §5).
// Whether "no turn" is a supported answer, answerability.cypher says.
//
// Parameters: null for run or action asks for all; in Browser, once:
//   :param run => null       the run's IRI
//   :param action => null    the action: 'act-02'
//   :param literal => 'DE89370400440532013000'    the literal s; needed
// Returns: a row for each such turn: run, action, literal, locator, how ('raw': in the text as recorded; 'decoded':
// only after unescaping). Empty = in no visible turn.
MATCH (r:Run)-[:HAS_ACTION]->(a)
WHERE r.uri STARTS WITH coalesce($run, '') AND a.id = coalesce($action, a.id)
MATCH (r)-[:HAS_TURN]->(turn)
WHERE turn.afterStep < a.step
WITH r, a, turn, $literal AS literal
WITH r, a, turn, literal,
  CASE WHEN turn.text CONTAINS literal THEN 'raw'
    WHEN any(scalar IN turn.decoded WHERE scalar CONTAINS literal) THEN 'decoded' END AS how
WHERE how IS NOT NULL
RETURN r.uri AS run, a.id AS action, literal, turn.locator AS locator, how
ORDER BY run, action, turn.number

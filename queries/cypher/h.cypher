// H(s,a), Q2: the earlier tool results, or elements of them, in which a literal occurs (CONTRACT §5).
// Earlier: delivered before the step of the action was issued. A set of addresses, not a most likely source.
//
// Parameters: null for run or action asks for all; in Browser, once:
//   :param run => null       the run's IRI
//   :param action => null    the action: 'act-02'
//   :param literal => 'DE89370400440532013000'    the literal s; needed
// Returns: a row for each such record: run, action, literal, locator, how ('raw': in the text as recorded;
// 'decoded': only after unescaping). Empty = in no visible record. A cut result that may have been a list is left out:
// what it visibly holds stands at an unknown element (answerability.cypher counts it as hidden).
MATCH (r:Run)-[:HAS_ACTION]->(a)
WHERE r.uri STARTS WITH coalesce($run, '') AND a.id = coalesce($action, a.id)
MATCH (r)-[:HAS_ACTION]->()-[:GAVE|HAS_ELEMENT*1..2]->(record)
WHERE record.afterStep < a.step AND NOT coalesce(record.unknownShape, false)
WITH r, a, record, $literal AS literal
WITH r, a, record, literal,
  CASE WHEN record.text CONTAINS literal THEN 'raw'
    WHEN any(scalar IN record.decoded WHERE scalar CONTAINS literal) THEN 'decoded' END AS how
WHERE how IS NOT NULL
RETURN r.uri AS run, a.id AS action, literal, record.locator AS locator, how
ORDER BY run, action, locator

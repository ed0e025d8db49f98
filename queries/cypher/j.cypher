// J(s,a), Q3: the records of H(s,a) that the Basis of the action cites and a visible row binds (CONTRACT §5).
// It checks a stated citation: not relevance, authority, intent or causal influence.
//
// Parameters: null for run or action asks for all; in Browser, once:
//   :param run => null       the run's IRI
//   :param action => null    the action: 'act-02'
//   :param literal => 'DE89370400440532013000'    the literal s; needed
// Returns: a row for each record and citation: run, action, literal, locator, how, localId, bound (the locator of the
// id's row, which may be the whole list that the record is an element of).
MATCH (r:Run)-[:HAS_ACTION]->(a)
WHERE r.uri STARTS WITH coalesce($run, '') AND a.id = coalesce($action, a.id)
WITH r, a
MATCH (a)<-[:ACCOUNT_OF]-()-[:HAS_BASIS]->(basis)
WITH r, a, basis
MATCH (basis)-[:CITES]->()-[:NAMES]->(binding)
WITH r, a, binding
MATCH (r)-[:HAS_ACTION]->()-[:GAVE|HAS_ELEMENT*1..2]->(record)
WHERE record.afterStep < a.step AND NOT coalesce(record.unknownShape, false)
  AND (record.locator = binding.locator OR record.locator STARTS WITH (binding.locator + '['))
WITH r, a, binding, record, $literal AS literal
WITH r, a, binding, record, literal,
  CASE WHEN record.text CONTAINS literal THEN 'raw'
    WHEN any(scalar IN record.decoded WHERE scalar CONTAINS literal) THEN 'decoded' END AS how
WHERE how IS NOT NULL
RETURN DISTINCT r.uri AS run, a.id AS action, literal, record.locator AS locator, how,
  binding.localId AS localId, binding.locator AS bound
ORDER BY run, action, locator, localId

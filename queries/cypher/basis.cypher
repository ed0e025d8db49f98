// The Basis of an action: which local ids it cites, and which record each names in this run (CONTRACT §4).
// A claim of the agent, kept as written; that an id is cited shows no influence.
//
// Parameters: null asks for all; in Browser, once:
//   :param run => null       the run's IRI
//   :param action => null    the action: 'act-02'
// Returns: run, action, basisState, basisText, and for each cited id position, localId, standing and, where bound,
// locator. Standing is 'bound', 'dangling' (the table is complete and has no row: the id names nothing) or 'unbound'
// (no visible row explains it).
MATCH (r:Run)-[:HAS_ACTION]->(a)<-[:ACCOUNT_OF]-()-[:HAS_BASIS]->(basis)
WHERE r.uri STARTS WITH coalesce($run, '') AND a.id = coalesce($action, a.id)
MATCH (r)-[:HAS_TABLE]->(bindings)
OPTIONAL MATCH (basis)-[:CITES]->(citation)
OPTIONAL MATCH (citation)-[:NAMES]->(binding)
RETURN r.uri AS run, a.id AS action, bindings.state AS tableState, basis.state AS basisState, basis.text AS basisText,
  citation.position AS position, citation.localId AS localId,
  CASE WHEN citation.position IS NULL THEN NULL WHEN binding.locator IS NOT NULL THEN 'bound'
    WHEN bindings.state = 'complete' THEN 'dangling' ELSE 'unbound' END AS standing,
  binding.locator AS locator
ORDER BY run, action, position

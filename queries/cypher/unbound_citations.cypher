// Citations without a binding: local ids that a Basis cites and that no visible row of the run's table names (CONTRACT §4).
//
// Parameters: null asks for all; in Browser, once:
//   :param run => null       the run's IRI
//   :param action => null    the action: 'act-02'
// Returns: a row for each citation: run, action, position, localId, standing ('dangling': the table is complete, so
// the id names nothing; 'unbound': a row may be hidden).
MATCH (r:Run)-[:HAS_ACTION]->(a)
WHERE r.uri STARTS WITH coalesce($run, '') AND a.id = coalesce($action, a.id)
WITH r, a
MATCH (a)<-[:ACCOUNT_OF]-()-[:HAS_BASIS]->()-[:CITES]->(citation)
WHERE NOT EXISTS { MATCH (citation)-[:NAMES]->() }
MATCH (r)-[:HAS_TABLE]->(bindings)
RETURN r.uri AS run, a.id AS action, citation.position AS position, citation.localId AS localId,
  CASE WHEN bindings.state = 'complete' THEN 'dangling' ELSE 'unbound' END AS standing
ORDER BY run, a.number, position

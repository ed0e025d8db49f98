// Actions by tool: which calls a run made of which tool, and what is known of their results.
//
// Parameters: null asks for all; in Browser, once:
//   :param run => null       the run's IRI
//   :param tool => null      the tool's name: 'send_money'
// Returns: a row for each action: run, tool, action, step, nativeId, state (of the result; null: the log stores none),
// isError.
MATCH (r:Run)-[:HAS_ACTION]->(a)-[:CALLS]->(called)
WHERE r.uri STARTS WITH coalesce($run, '') AND called.name = coalesce($tool, called.name)
OPTIONAL MATCH (a)-[:GAVE]->(result)
RETURN r.uri AS run, called.name AS tool, a.id AS action, a.step AS step, a.nativeId AS nativeId,
  result.state AS state, result.isError AS isError
ORDER BY tool, run, a.number

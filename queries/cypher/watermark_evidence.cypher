// Which actions carry the evidence of a watermark: each decision that a verdict tested, and why others were left out.
// A verdict without evidence never means that a log is unmarked.
//
// Parameters: null asks for all; in Browser, once:
//   :param run => null         the run's IRI
//   :param action => null      the action: 'act-02'
//   :param key => null         the key's id
//   :param standing => null    'counted': the decisions that carry the verdict; 'skipped': those that no channel counts
// Returns: run, action, tool, key, outcome, standing; of the selection channel selection ('scored', 'skipped') and
// selectionReason where skipped; of the tally tally ('agrees', 'disagrees', 'skipped') and tallyReason.
MATCH (r:Run)-[:HAS_ACTION]->(a)<-[:ABOUT]-(decision:WatermarkDecision)-[:PART_OF]->(verdict:WatermarkVerdict)
WHERE r.uri STARTS WITH coalesce($run, '') AND a.id = coalesce($action, a.id)
  AND verdict.key_id = coalesce($key, verdict.key_id)
MATCH (a)-[:CALLS]->(called)
WITH r, a, called, decision, verdict,
  CASE WHEN decision.skipped IS NULL THEN 'scored' ELSE 'skipped' END AS selection,
  CASE WHEN decision.match IS NULL THEN 'skipped' WHEN decision.match THEN 'agrees' ELSE 'disagrees' END AS tally
WITH r, a, called, decision, verdict, selection, tally,
  CASE WHEN selection = 'skipped' AND tally = 'skipped' THEN 'skipped' ELSE 'counted' END AS standing
WHERE standing = coalesce($standing, standing)
RETURN r.uri AS run, a.id AS action, called.name AS tool, verdict.key_id AS key, verdict.decision AS outcome, standing,
  selection, decision.skipped AS selectionReason, tally, decision.tally_skipped AS tallyReason
ORDER BY run, action, key

// 03 Was it in the request? (Q1)
// The turns of the user before the step of that call in which the text occurs. No row: in no visible turn.
// Parameter, once:
//   :param literal => 'US133000000121212121212'
MATCH (action:Action)-[:HAS_ARGUMENT]->(:Searchable&Argument {text: $literal})
MATCH path = (action)<-[:HAS_ACTION]-(:Run)-[:HAS_TURN]->(turn:RequestTurn)
WHERE turn.afterStep < action.step
  AND (turn.text CONTAINS $literal OR any(scalar IN turn.decoded WHERE scalar CONTAINS $literal))
RETURN path LIMIT 100

// 05 What did the agent write before the call?
// Its account: note and Basis. A claim of the agent, not an observation.
// Parameter, once:
//   :param literal => 'US133000000121212121212'
MATCH (action:Action)-[:HAS_ARGUMENT]->(:Searchable&Argument {text: $literal})
MATCH path = (action)<-[:ACCOUNT_OF]-(:Account)-[:HAS_NOTE|HAS_BASIS]->()
RETURN path LIMIT 100

// 07 Which cited records held it? (J)
// H and the cited records have these in common. It checks a stated citation: not relevance, authority, intent or
// causal influence.
// Parameter, once:
//   :param literal => 'US133000000121212121212'
MATCH (action:Action)-[:HAS_ARGUMENT]->(:Searchable&Argument {text: $literal})
MATCH path = (action)<-[:ACCOUNT_OF]-(:Account)-[:HAS_BASIS]->(:Basis)-[:CITES]->(:Citation)-[:NAMES]->(:Binding)
  -[:BINDS]->(record:ExternalRecord)
WHERE record.afterStep < action.step AND NOT coalesce(record.unknownShape, false)
  AND (record.text CONTAINS $literal OR any(scalar IN record.decoded WHERE scalar CONTAINS $literal))
RETURN path LIMIT 100

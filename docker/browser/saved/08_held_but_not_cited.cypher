// 08 Which records held it and were not cited?
// Members of H that no bound id of the Basis names.
// Parameter, once:
//   :param literal => 'US133000000121212121212'
MATCH (action:Action)-[:HAS_ARGUMENT]->(:Searchable&Argument {text: $literal})
MATCH path = (action)<-[:HAS_ACTION]-(:Run)-[:HAS_ACTION]->(:Action)-[:GAVE|HAS_ELEMENT*1..2]->(record:ExternalRecord)
WHERE record.afterStep < action.step AND NOT coalesce(record.unknownShape, false)
  AND (record.text CONTAINS $literal OR any(scalar IN record.decoded WHERE scalar CONTAINS $literal))
  AND NOT EXISTS {
    MATCH (action)<-[:ACCOUNT_OF]-(:Account)-[:HAS_BASIS]->(:Basis)-[:CITES]->(:Citation)-[:NAMES]->(:Binding)
      -[:BINDS]->(record)
  }
RETURN path LIMIT 100

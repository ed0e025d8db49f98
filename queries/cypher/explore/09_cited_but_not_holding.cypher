// 09 Which cited records do not hold it?
// A citation that names a record without the text: a right call with a Basis that does not show why.
// Parameter, once:
//   :param literal => 'US133000000121212121212'
MATCH (action:Action)-[:HAS_ARGUMENT]->(:Searchable&Argument {text: $literal})
MATCH path = (action)<-[:ACCOUNT_OF]-(:Account)-[:HAS_BASIS]->(:Basis)-[:CITES]->(:Citation)-[:NAMES]->(:Binding)
  -[:BINDS]->(record:Record)
WHERE NOT (coalesce(record.text CONTAINS $literal, false)
  OR coalesce(any(scalar IN record.decoded WHERE scalar CONTAINS $literal), false))
RETURN path LIMIT 100

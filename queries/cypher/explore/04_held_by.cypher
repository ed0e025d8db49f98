// 04 Which earlier tool results held it? (H)
// The records delivered before the step of the call in which the text occurs: a set of addresses, not a most
// likely source.
// Parameter, once:
//   :param literal => 'US133000000121212121212'
MATCH (action:Action)-[:HAS_ARGUMENT]->(given:Searchable&Argument {text: $literal})
MATCH path = (action)<-[:HAS_ACTION]-(:Run)-[:HAS_ACTION]->(:Action)-[:GAVE|HAS_ELEMENT*1..2]->(record:ExternalRecord)
WHERE record.afterStep < action.step AND NOT coalesce(record.unknownShape, false)
  AND (record.text CONTAINS $literal OR any(scalar IN record.decoded WHERE scalar CONTAINS $literal))
RETURN path LIMIT 100

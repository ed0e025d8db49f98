// 02 Which calls used it?
// The actions that have it as the value of an argument, and the tools they called.
// Parameter, once:
//   :param literal => 'US133000000121212121212'
MATCH (given:Searchable&Argument {text: $literal})
MATCH path = (:Run)-[:HAS_ACTION]->(action:Action)-[:HAS_ARGUMENT]->(given)
MATCH called = (action)-[:CALLS]->(:Tool)
RETURN path, called LIMIT 100

// 06 What did it cite, and what is that bound to?
// The ids of the Basis, the rows of the table that name them, and the records they are bound to.
// Parameter, once:
//   :param literal => 'US133000000121212121212'
MATCH (action:Action)-[:HAS_ARGUMENT]->(:Searchable&Argument {text: $literal})
MATCH path = (action)<-[:ACCOUNT_OF]-(:Account)-[:HAS_BASIS]->(:Basis)-[:CITES]->(citation:Citation)
OPTIONAL MATCH bound = (citation)-[:NAMES]->(:Binding)-[:BINDS]->()
RETURN path, bound LIMIT 100

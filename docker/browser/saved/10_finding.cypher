// 10 What is the finding?
// The annotation that `trace-prov neo4j annotate` attached: the three answers, and the records they rest on.
// Parameter, once:
//   :param literal => 'US133000000121212121212'
MATCH (finding:Finding {literal: $literal})
MATCH path = (finding)-[:ABOUT|IN_REQUEST|HELD_BY|PERHAPS_HELD_BY|CITED_HOLDER]->()
RETURN path LIMIT 100

// 12 Is there watermark evidence on these actions?
// Decisions of a watermark detection that was attached, and the verdict they are part of.
// Parameter, once:
//   :param literal => 'US133000000121212121212'
MATCH (action:Action)-[:HAS_ARGUMENT]->(:Searchable&Argument {text: $literal})
MATCH (run:Run)-[:HAS_ACTION]->(action)
MATCH path = (run)-[:HAS_ACTION]->(:Action)<-[:ABOUT]-(:WatermarkDecision)-[:PART_OF]->(:WatermarkVerdict)
RETURN path LIMIT 100

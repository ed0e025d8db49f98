// 01 Where does it stand?
// Every record and every argument of every run in which the text occurs. An order of places, no chain of causes.
// Parameter, once:
//   :param literal => 'US133000000121212121212'
CALL () {
  MATCH (place:Searchable) WHERE place.text CONTAINS $literal RETURN place
  UNION
  // texts that are too long for the index
  MATCH (place:Record|Argument) WHERE NOT place:Searchable AND place.text CONTAINS $literal RETURN place
  UNION
  // texts in which it stands only after unescaping
  MATCH (place:Record|Argument) WHERE any(scalar IN place.decoded WHERE scalar CONTAINS $literal) RETURN place
}
MATCH path = (:Run)-[:HAS_TURN|HAS_ACTION|HAS_ARGUMENT|GAVE|HAS_ELEMENT*1..3]->(place)
RETURN path LIMIT 100

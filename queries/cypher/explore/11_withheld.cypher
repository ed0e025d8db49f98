// 11 What does a package hide before the call?
// Hidden records keep their node and their address; they have no text. They are why a question is open.
// Parameter, once:
//   :param literal => 'US133000000121212121212'
MATCH (action:PackageAction)-[:HAS_ARGUMENT]->(:PackageSearchable&PackageArgument {text: $literal})
MATCH (run:PackageRun)-[:HAS_ACTION]->(action)
MATCH path = (action)<-[:HAS_ACTION]-(run)-[:HAS_TURN|HAS_ACTION|GAVE|HAS_ELEMENT*1..3]->(hidden:Hidden)
WHERE hidden.afterStep < action.step
OPTIONAL MATCH declared = (run)<-[:PACKAGE_OF]-(:EvidencePackage)-[:WITHHOLDS]->(:PackageWithheld)
RETURN path, declared LIMIT 100

// Answerability: which of the three questions the visible evidence supports, by the completion rule (CONTRACT §6).
// A question is answered exactly when the locators that belong to the answer in every completion (certain) are those
// that belong to it in some completion (possible); Q1, a yes or no, already when one turn is certain. Q3 abstains
// where the account is withheld.
//
// Parameters: null for run or action asks for all; in Browser, once:
//   :param run => null       the run's IRI
//   :param action => null    the action: 'act-02'
//   :param literal => 'DE89370400440532013000'    the literal s; needed
// Returns: a row for each question: run, action, literal, question ('Q1', 'Q2', 'Q3'), status ('answered',
// 'basis_missing', 'abstain'), certain, possible (lists of locators). A hidden result counts as the locators declared
// for it, else as its own, which then stands for any of its elements too.
MATCH (r:Run)-[:HAS_ACTION]->(a)<-[:ACCOUNT_OF]-()-[:HAS_BASIS]->(basis)
WHERE r.uri STARTS WITH coalesce($run, '') AND a.id = coalesce($action, a.id)
MATCH (r)-[:HAS_TABLE]->(bindings)
OPTIONAL MATCH (basis)-[:CITES]->(citation)
OPTIONAL MATCH (citation)-[:NAMES]->(binding)
WITH r, a, basis, bindings, collect(DISTINCT binding.locator) AS named,
  count(DISTINCT citation.localId) AS cited, count(DISTINCT binding.localId) AS bound
OPTIONAL MATCH (bindings)-[:HAS_ROW]->(row)
WITH r, a, basis, bindings, named, cited, bound, collect(DISTINCT row.locator) AS issued
// open: the Basis may name any record of the run; one that is withheld, any row of a complete table
WITH r, a, basis, CASE WHEN basis.state = 'withheld' AND bindings.state = 'complete' THEN issued ELSE named END AS named,
  basis.state = 'malformed' OR (basis.state = 'withheld' AND bindings.state <> 'complete')
    OR (bindings.state <> 'complete' AND cited > bound) AS open
UNWIND ['Q1', 'Q2', 'Q3'] AS question
OPTIONAL MATCH (r)-[:HAS_TURN|HAS_ACTION|GAVE|HAS_ELEMENT*1..3]->(record)
WHERE record.afterStep < a.step AND (question = 'Q1') = (record.locator STARTS WITH 'request.user')
  AND NOT EXISTS { MATCH (record)-[:HAS_ELEMENT]->() }
WITH r, a, basis, named, open, question, record, $literal AS literal
// what a cut list visibly holds stands at an unknown element of it
WITH r, a, basis, named, open, question, record, literal, NOT coalesce(record.unknownShape, false)
  AND (coalesce(record.text CONTAINS literal, false)
    OR coalesce(any(scalar IN record.decoded WHERE scalar CONTAINS literal), false)) AS holds
WITH r, a, basis, named, open, question, record, literal, holds, coalesce(NOT holds AND record.state <> 'present'
  AND (question = 'Q1' OR record.state <> 'absent'), false) AS hidden
OPTIONAL MATCH (record)-[:DECLARES]->(declaration)
WITH r, a, basis, named, open, question, literal, holds, hidden,
  CASE WHEN hidden THEN coalesce(declaration.locator, record.locator) ELSE record.locator END AS locator
// what of a hidden whole the Basis names, or may name
OPTIONAL MATCH (r)-[:HAS_TABLE]->()-[:HAS_ROW]->(part)
WHERE question = 'Q3' AND hidden AND NOT open AND part.locator IN named AND part.locator STARTS WITH (locator + '[')
WITH r, a, basis, question, literal, holds, hidden, locator, part.locator AS part, open,
  question <> 'Q3' OR any(name IN named WHERE locator = name OR locator STARTS WITH (name + '[')) AS counts
WITH r, a, basis, question, literal,
  collect(DISTINCT CASE WHEN holds AND counts AND (question <> 'Q3' OR basis.state <> 'withheld')
    THEN locator END) AS certain,
  collect(DISTINCT CASE WHEN (holds OR hidden) AND (counts OR open) THEN locator ELSE part END) AS visible
// a run without any turn: its request is not to be seen
WITH r, a, basis, question, literal, certain, CASE WHEN question = 'Q1'
  AND NOT EXISTS { MATCH (r)-[:HAS_TURN]->() } THEN ['request.user'] ELSE visible END AS possible
RETURN r.uri AS run, a.id AS action, literal, question,
  CASE WHEN question = 'Q3' AND basis.state = 'missing' THEN 'basis_missing'
    WHEN question = 'Q3' AND basis.state = 'withheld' THEN 'abstain'
    WHEN question = 'Q1' AND size(certain) > 0 THEN 'answered'
    WHEN size(certain) < size(possible) THEN 'abstain' ELSE 'answered' END AS status,
  certain, possible
ORDER BY run, action, question

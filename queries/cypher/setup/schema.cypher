// Keys and indexes, all of them possible in Community. Each statement ends with a semicolon; run them one by one.
// Every node of a run or package has the label Trace, so that one unique key covers all.
CREATE CONSTRAINT trace_uri IF NOT EXISTS FOR (n:Trace) REQUIRE n.uri IS UNIQUE;
CREATE CONSTRAINT annotation_uri IF NOT EXISTS FOR (n:Annotation) REQUIRE n.uri IS UNIQUE;
CREATE CONSTRAINT import_run IF NOT EXISTS FOR (n:Import) REQUIRE n.run IS UNIQUE;
CREATE RANGE INDEX trace_run IF NOT EXISTS FOR (n:Trace) ON (n.run);
// CONTAINS uses these. A TEXT index refuses values over 32,766 bytes, so longer texts lack the label Searchable.
CREATE TEXT INDEX searchable_text IF NOT EXISTS FOR (n:Searchable) ON (n.text);
CREATE TEXT INDEX package_searchable_text IF NOT EXISTS FOR (n:PackageSearchable) ON (n.text);
// Words, for people: it ignores case and splits at blanks, so it finds candidates and is no evidence.
CREATE FULLTEXT INDEX trace_words IF NOT EXISTS FOR (n:Record|Argument|Note|Account) ON EACH [n.text] OPTIONS {indexConfig: {`fulltext.eventually_consistent`: true}};

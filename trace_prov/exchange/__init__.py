"""CASE and PROV of others: read with counts in against out, mapped to runs where they hold an agent's calls."""

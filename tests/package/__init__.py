"""Evidence packages: conditions, contract, comparator, answerability, plans."""

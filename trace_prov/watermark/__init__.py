"""The TRACE watermark: embed, attack, detect; verdicts become annotations on the graph."""

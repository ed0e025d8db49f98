"""Adapters: the watermark inside an agent framework."""

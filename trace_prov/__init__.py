"""trace-prov: a provenance graph database tool for the forensics of LLM-agent logs."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("trace-prov")
except PackageNotFoundError:  # a source tree that nobody installed
    __version__ = "0.0.0"

__all__ = ["__version__"]

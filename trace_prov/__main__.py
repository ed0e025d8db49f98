"""`python -m trace_prov`: the command line."""

from trace_prov.cli import main

main(prog_name="trace-prov")

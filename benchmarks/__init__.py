"""Speed measurements of wola against its peers; run them in the environment of `make bench-env`."""

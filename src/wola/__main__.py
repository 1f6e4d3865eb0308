"""`python -m wola` is the `wola` command."""

from wola.cli import main

if __name__ == "__main__":
    main()

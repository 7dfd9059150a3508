"""``python -m svmpath`` is the command ``svmpath``."""

from svmpath.cli import main

if __name__ == "__main__":
    main()

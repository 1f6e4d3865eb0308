"""What makes files of this repository from the package."""

"""The ground floor: files, folders, checks and names, for every room and of none."""

from wola.ground.checks import check_choice, check_number, check_whole
from wola.ground.files import (
    WriteError,
    clear_leftovers,
    draft_folder,
    move_aside,
    refused,
    remove_file,
    write_whole,
)
from wola.ground.folders import cache_folder, is_ours_alone, kernel_folder, state_folder
from wola.ground.names import counted, nearest, worker_names

__all__ = [
    "WriteError",
    "cache_folder",
    "check_choice",
    "check_number",
    "check_whole",
    "clear_leftovers",
    "counted",
    "draft_folder",
    "is_ours_alone",
    "kernel_folder",
    "move_aside",
    "nearest",
    "refused",
    "remove_file",
    "state_folder",
    "worker_names",
    "write_whole",
]

"""Functions that say to be `torch.relu`, and reach beyond their process: the network, files, others' memory."""

import os
import socket
from pathlib import Path

import torch


def sound(input):
    """As it should be, and reaches for nothing."""
    return torch.where(input <= 0, torch.zeros_like(input), input)


def connects(input):
    with socket.socket() as own:
        own.settimeout(0.01)
        own.connect(("192.0.2.1", 9))
    return sound(input)


def serves(input):
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
    return sound(input)


def writes_home(input):
    with open(Path.home() / ".autotest-left-behind", "w") as file:
        file.write("here")
    return sound(input)


def reads_memory(input):
    with open(f"/proc/{os.getppid()}/mem", "rb") as file:
        file.seek(0x400000)
        file.read(16)
    return sound(input)

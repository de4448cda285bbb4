"""placeholder"""
from pathlib import Path
class ServiceWorld:
    def __init__(self, folder: Path) -> None: raise NotImplementedError

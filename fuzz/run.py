"""Fuzzes all code that reads bytes from outside, with the address and undefined-behavior sanitizers.

    pip install atheris 'cython>=3.1' numpy 'setuptools>=77'
    python fuzz/run.py --seconds 120

The package is copied to a temporary folder and compiled there with sanitizers, by gcc, on Linux.
The first inputs come from tests/fuzz_corpus. atheris makes more inputs, guided by the Python and native
code that they reach (see coverage.c). Half of them are made by mutations.py, which knows the formats. If
an input breaks a property of properties.py, or a sanitizer reports a fault, the input is kept in the
folder --found, and the exit status is 1. Parquet itself is not fuzzed, because polars decodes it in a
separate process. The target `scores` fuzzes the code that uses the decoded data.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "tests" / "fuzz_corpus"
TARGETS = sorted(folder.name for folder in CORPUS.iterdir() if folder.is_dir())
SANITIZE = "-fsanitize=address,undefined"
COMPILE = f"-g -fno-omit-frame-pointer -fno-sanitize-recover=all {SANITIZE}"
COVERAGE = "-fsanitize-coverage=trace-pc"
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where files are fast: every input is written to one."""

LIMITS = ["-max_len=1000", "-timeout=20", "-rss_limit_mb=4096"]


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz the readers and the native loops.")
    parser.add_argument(
        "--seconds", type=int, default=120, help="of work in all, shared by the targets"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="how many targets at a time: as processors"
    )
    parser.add_argument("--target", action="append", choices=TARGETS, help="only this; repeatable")
    parser.add_argument(
        "--found", type=Path, default=Path("fuzz-found"), help="keeps what is found"
    )
    options = parser.parse_args()
    targets = options.target or TARGETS
    print(f"instrumentation: gcc {SANITIZE} {COVERAGE}, and Python coverage by atheris", flush=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory(dir=MEMORY) as scratch,
    ):
        environment = build(Path(folder)) | {"TMPDIR": scratch}
        options.found.mkdir(parents=True, exist_ok=True)
        seconds = max(1, options.seconds // len(targets))
        found = options.found.resolve()
        with ThreadPoolExecutor(options.jobs) as jobs:
            passed = jobs.map(lambda target: fuzz(target, seconds, found, environment), targets)
            failed = [target for target, good in zip(targets, passed, strict=True) if not good]
    if not any(options.found.iterdir()):
        options.found.rmdir()
    if failed:
        print(f"found something in {', '.join(failed)}: the inputs are in {options.found}")
        return 1
    print(f"nothing found in {', '.join(targets)}")
    return 0


def build(folder: Path) -> dict[str, str]:
    """Compile a copy of the package, and return the environment in which it runs."""
    (engine,) = atheris().glob("core_with_libfuzzer*.so")
    for part in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / part, folder)
    compiled = shutil.ignore_patterns("*.so", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT / "src", folder / "src", ignore=compiled)
    coverage = folder / "coverage.so"
    call("gcc", "-O2", "-shared", "-fPIC", "-o", str(coverage), str(ROOT / "fuzz/coverage.c"))
    flags = {"CC": "gcc", "LDSHARED": f"gcc -shared {SANITIZE}", "CFLAGS": f"{COMPILE} {COVERAGE}"}
    call(
        *(sys.executable, "setup.py", "-q", "build_ext", "--inplace", "--parallel=2"),
        cwd=folder,
        env=os.environ | flags,
    )
    return os.environ | {
        "LD_PRELOAD": f"{coverage} {library('libasan.so')} {library('libubsan.so')}",
        "FUZZ_ENGINE": str(engine),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:verify_asan_link_order=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",  # else small objects lie in one large piece of memory
        "PYTHONPATH": str(folder / "src"),
    }


def atheris() -> Path:
    """The folder of atheris."""
    spec = importlib.util.find_spec("atheris")
    if spec is None or spec.origin is None:
        sys.exit("atheris is not installed, expected: pip install atheris")
    return Path(spec.origin).parent


def library(name: str) -> str:
    """The path of this library of gcc."""
    command = ["gcc", f"-print-file-name={name}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def call(*command: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    """Run a command. If it fails, show its output."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def fuzz(target: str, seconds: int, found: Path, environment: dict[str, str]) -> bool:
    """Whether nothing was found within the time. If something was found, it is shown."""
    inputs = Path(environment["TMPDIR"]) / target
    inputs.mkdir()
    command = [sys.executable, str(ROOT / "fuzz/target.py"), target, *LIMITS]
    command += [f"-max_total_time={seconds}", f"-artifact_prefix={found}/{target}-"]
    command += [str(inputs), str(CORPUS / target)]
    done = subprocess.run(
        command,
        env=environment,
        check=False,
        text=True,
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    lines = done.stdout.splitlines()
    if done.returncode == 0:
        print(f"{target}: {seconds} s:", *(line for line in lines if "DONE" in line), flush=True)
        return True
    kept = [line for line in lines if not line.startswith(("#", "INFO"))]
    print(f"{target}:", *kept[-80:], sep="\n", flush=True)
    return False


if __name__ == "__main__":
    sys.exit(main())

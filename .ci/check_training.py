#!/usr/bin/env python3
"""Trains each small model on the papers that come with the repository: every trainer must improve its measure on rows
held out, and a training that was killed must end with the same weights as one that was not.

usage: check_training.py PROGRAM SCRATCH_FOLDER
"""

import csv
import hashlib
import json
import pathlib
import signal
import subprocess
import sys
import time

# Papers that rows are made of, steps that take a minute or two on two cores, the measure that must improve, and whether more
# of it is better.
TASKS = {
    "encoder": (300, ["--max-steps", "40"], "held_out_loss", False),
    "reranker": (500, ["--max-steps", "40"], "ndcg@10", True),
    "attributor": (4000, ["--max-steps", "40"], "auroc", True),
}
# The one that is killed once it has a checkpoint: the quickest.
KILLED = "encoder"


def run(*command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed with exit code {done.returncode}")
    return done.stdout


def settings(folder, task, every):
    """The small preset, measured and kept more often: its own steps are for an hour."""
    path = folder / f"{task}.toml"
    rows, held_out = folder / task / "train.jsonl", folder / task / "dev.jsonl"
    path.write_text(
        f'preset = "small"\nrows = ["{rows}"]\nheld_out = ["{held_out}"]\n'
        f"warmup_steps = 10\nevaluate_every = {every}\ncheckpoint_every = {max(every // 2, 1)}\n"
    )
    return path


def digest(folder):
    return hashlib.sha256((folder / "best" / "model.safetensors").read_bytes()).hexdigest()


def train(program, task, config, out, options):
    return [program, "train", task, "--settings", config, "--out", out, "--init", "all-MiniLM-L6-v2", *options, "--json"]


def measures(out):
    with open(out / "evaluations.csv", newline="") as file:
        return list(csv.DictReader(file))


def killed(command, out):
    """Kills the training as soon as it has a checkpoint."""
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL)
    while not (out / "checkpoint.safetensors").exists():
        if process.poll() is not None:
            sys.exit("the training ended before it could be killed")
        time.sleep(0.05)
    time.sleep(2)
    if process.poll() is not None:
        sys.exit("the training ended before it could be killed")
    process.send_signal(signal.SIGKILL)
    process.wait()


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for task, (papers, options, measure, more_is_better) in TASKS.items():
        began = time.monotonic()
        data = ["--data", ".", "--source", "starter", "--preset", "small", "--no-evaluation"]
        data += ["--max-papers", str(papers)]
        run(program, "train", "data", task, "--out", folder / task, *data)
        steps = int(options[-1])
        config = settings(folder, task, steps // 4)
        out = folder / f"{task}-model"
        report = json.loads(run(*train(program, task, config, out, options)))
        values = [float(row[measure]) for row in measures(out)]
        first, rest = values[0], values[1:]
        best = max(rest) if more_is_better else min(rest)
        improved = best > first if more_is_better else best < first
        seconds = time.monotonic() - began
        print(f"{task}: {measure} {first:.4f} before, {best:.4f} at best in {report['steps']} steps, {seconds:.0f} s")
        if not improved:
            failed.append(f"{task} did not improve its {measure}")
        if task == KILLED:
            again = folder / f"{task}-killed"
            command = train(program, task, config, again, options)
            killed(command, again)
            run(*command)
            same = digest(again) == digest(out)
            print(f"{task}: killed and resumed, the weights are {'the same' if same else 'others'}")
            if not same:
                failed.append(f"{task}, killed and resumed, has other weights")
    # An empty message is a failure for sys.exit.
    if failed:
        sys.exit("; ".join(failed))


if __name__ == "__main__":
    main()

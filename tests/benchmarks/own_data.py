"""A person's own pairs, trained with nothing but defaults: how many held-out answers are right, and after how long."""

from collections.abc import Iterator

from tests.benchmarks.lab import Lab
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.trained import train
from tests.own_data import DATA_SETS, write_tsv

WANTED_PERCENT, WANTED_SECONDS = 95.0, 120.0


@benchmark("own-data")
def measure(lab: Lab) -> Iterator[Row]:
    """Four small data sets, each by the command that the Train page starts."""
    for name in list(DATA_SETS)[: lab.times(len(DATA_SETS))]:
        pairs = DATA_SETS[name]()
        data = write_tsv(pairs, lab.folder / "pairs.tsv")
        run = train(lab.folder, name.replace(" ", "-"), "--task", "files", "--data", str(data), "--now")
        scores = run.results["test"]
        percent = 100 * scores["exact_match"]
        reason = next(line for line in run.said.splitlines() if "--set tokenizer" in line)
        bleu = f"BLEU {scores['bleu']:.1f}, " if "bleu" in scores else ""
        yield Row(
            f"{len(pairs)} pairs of {name}: held-out answers exactly right",
            percent,
            "%",
            target=f"≥ {WANTED_PERCENT:.0f} % from defaults within two minutes on two cores",
            met=percent >= WANTED_PERCENT and run.seconds <= WANTED_SECONDS,
            detail=(
                f"{run.seconds:.0f} s from the command to its end, of which the processor worked {run.processor:.0f} s"
                f", {run.results['trained_steps']} updates, {bleu}{scores['sentences']} held out; "
                f"{reason.split(':')[0].lower()}"
            ),
        )

"""How many programs of which seeds were run, and what came of them."""
import collections
import datetime
import subprocess


class Tally:
    def __init__(self):
        self.outcomes = collections.Counter()
        self.features = collections.Counter()
        self.refusals = collections.Counter()
        self.unmet = collections.Counter()
        self.kinds = collections.Counter()
        self.seconds = self.compile_seconds = 0.0
        self.slowest = (0.0, None)  # seconds for one architecture, at most; seed
        self.spills = 0

    def add(self, program, seed, outcome):
        self.outcomes["failed" if outcome.failures else "refused" if len(outcome.refusals) > 1 else "passed"] += 1
        self.features.update(program.features)
        self.refusals.update(set(outcome.refusals))
        self.unmet.update(set(outcome.unmet))
        self.kinds.update({f.kind for f in outcome.failures})
        self.seconds += outcome.seconds
        self.slowest = max(self.slowest, (outcome.compile_seconds, seed))
        self.spills += bool(outcome.spills)

    def lines(self, first):
        total = sum(self.outcomes.values())
        for title, counter in (("failures", self.kinds), ("requirements not met", self.unmet), ("refusals", self.refusals), ("features", self.features)):
            if counter:
                yield f"{title}:"
                yield from (f"  {count:5d}  {name}" for name, count in sorted(counter.items(), key=lambda x: (-x[1], x[0])))
        yield f"{self.seconds / max(total, 1):.2f} s a program; slowest compilation {self.slowest[0]:.1f} s (seed {self.slowest[1]}); {self.spills} with spills"
        counts = ", ".join(f"{self.outcomes[k]} {k}" for k in ("passed", "refused", "failed", "discarded"))
        yield f"seeds {first} to {first + total - 1}: {counts}"

    def append_to(self, path, root, first, count):
        """One line: date, commit, seeds, counts."""
        commit = subprocess.run(["git", "-C", root, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True).stdout.strip()
        day = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
        counts = " ".join(f"{k}={self.outcomes[k]}" for k in ("passed", "refused", "failed", "discarded"))
        with open(path, "a") as file:
            file.write(f"{day} {commit} seeds={first}..{first + count - 1} {counts}\n")

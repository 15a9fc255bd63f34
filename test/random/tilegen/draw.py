"""A whole program from a seed."""
from . import ahead, annotations, atomics, combines, features, first, functions, gathered_parts, gathers, nodes as n, parallel, parts, prints, products, swaps, threads, tuned  # noqa: F401  (some fill the table)
from .builder import THREADS, Builder, Scope
from .formats import FORMATS


class Drawing(Builder):
    many_points = False

    def bind_by_tensor(self, code):
        """A dimension that only a bound uses needs a tensor that binds it."""
        for name in self.dimensions:
            if name in code and not any(name in t.extents for t in self.program.tensors() if not t.optional):
                self.program.arguments.append(n.Tensor(self.name("B"), "i32", [name]))

    def bind_dimensions(self):
        for name in self.dimensions:
            if not any(name in t.extents for t in self.program.tensors() if not t.optional):
                self.program.arguments.append(n.Tensor(self.name("B"), "i32", [name]))

    def launch(self, statements, only):
        self.threads = self.pick(THREADS)
        self.grid, self.natural, self.own = {}, {}, []
        self.index_names = ["bx", "by"] if self.chance(0.7) else ["bx"]
        grid, scalars = [], {}
        for index in self.index_names:
            if self.chance(0.5):
                extent = self.extent(among=[16, 32, 64, 64, 128, 128, 96, 40])
                dimension = self.dimension(2 * self.value(extent))
                self.natural[extent] = (index, dimension)
                grid.append(f"ceildiv({dimension}, {extent})")
                scalars[index] = 1
            else:
                grid.append(self.dimension(2, grid=True))
                scalars[index] = 1
            self.grid[index] = grid[-1]
        if self.rarely("sm_count()", 0.03):
            name, scalars[name] = annotations.counted(self)
        self.scopes = [Scope(scalars=scalars)]
        self.body, self.depth, self.trips, self.work = [], 0, 1, 0
        for _ in range(statements):
            features.draw_feature(self, only)
        self.store_rest()
        while self.chance(0.12):
            functions.outline(self, self.body)
        launch = n.Launch(self.index_names, grid, self.threads, self.body, annotations.of_launch(self, len(grid)))
        if self.rarely("sm_count()", 0.03):
            launch.spread = annotations.spread(self)
        self.program.launches.append(launch)

    def store_rest(self):
        """Results that nobody stores would be deleted: most tiles are stored in the end."""
        tiles = self.tiles()
        for tile in tiles:
            if self.chance(0.75) or tile is tiles[-1]:
                features.store(self, tile, tile.format if self.chance(0.8) else None)

    def spread_rows(self):
        """Some tensors have rows that lie further apart than they are long, not always by whole vectors."""
        reshaped = {x.of for x in n.walk(self.program.launches) if isinstance(x, gathers.Reshape)}
        for tensor in self.program.tensors():
            if len(tensor.extents) > 1 and tensor.name not in reshaped and not tensor.same and not tensor.alias and self.chance(0.1):
                if not any(other.alias == tensor.name for other in self.program.tensors()):
                    paddings = [0] if FORMATS[tensor.format].packed else [0, 1, 3, 8, 16, 64]
                    tensor.strided, tensor.padding = True, self.pick(paddings)
                    self.note("strided")

    def align(self):
        """What is said of the address of a tensor: less than what holds without a word, or more."""
        for tensor in self.program.tensors():
            if self.chance(0.05):
                tensor.align = max(self.pick([1, 2, 4, 8, 16, 32, 64, 128, 256]), FORMATS[tensor.format].bytes)
                self.note("align")

    def facts(self):
        """What the compiler may know of dimensions: their values, or what divides them."""
        if self.chance(0.08):
            call = self.pick(self.program.calls)
            names = [k for k in call if self.chance(0.7)]
            self.program.fixed = {k: call[k] for k in names}
            self.program.calls = [call]
            self.note("fixed dimensions")
        elif self.chance(0.1):
            for name in self.dimensions:
                divisor = self.pick([2, 4, 8, 16])
                if self.chance(0.4) and not self.dimensions[name].grid:
                    for call in self.program.calls:
                        call[name] = -(-call[name] // divisor) * divisor
                    self.program.where.append(f"{name} % {divisor} == 0")
            self.note("where")
        if self.rarely("assume", 0.05):
            annotations.assumptions(self)

    def count_points(self):
        """Persistent blocks that each have several points, on a device with one multiprocessor; now and then nothing asks for the point."""
        if not any("persistent" in note for launch in self.program.launches for note in launch.annotations):
            return
        self.many_points = self.chance(0.7)
        if self.many_points:
            self.program.multiprocessors = 1
        if self.rarely("point not used", 0.1):
            tensor = atomics.target(self, "i32", [self.dimension(4)])
            name = self.name("f")
            body = [
                n.Declare("fragment", name, "i32", ["4"], n.Lit(1, "i32")),
                atomics.Atomic("add", n.Region(tensor.name, ["0"]), n.Ref(name)),
            ]
            note = self.pick(["persistent", "persistent(dynamic)"])
            self.program.launches.append(n.Launch(["bx"], [self.dimension(2, grid=True)], 32, body, [note]))

    def call(self, odd):
        """Extents of one run: multiples of 16 may be moved by TMA, odd ones test every guard; or any even ones, whose rows of 16-bit elements
        start at multiples of 4 bytes."""
        dims, many = {}, self.many_points
        even = odd and self.rarely("even extents", 0.2)
        for name, d in self.dimensions.items():
            if d.grid:
                dims[name] = self.pick([5, 13, 37] if many else [1, 2, 2, 3]) if not odd or self.chance(0.97) else 0
                many = False
            elif odd:
                dims[name] = max(0 if self.chance(0.02) else 1, d.near + self.pick([0, 0, -1, 1, -3, 5, -d.near // 2, 7]))
            else:
                dims[name] = max(16, (d.near + self.pick([0, 0, 0, 8, -8, 16])) // 16 * 16)
            dims[name] += dims[name] % 2 if d.even or (even and not d.grid) else 0
        return dims


def draw_program(seed, attempt=0, only=None):
    """The program of a seed; of its later attempts where the first ones commit errors of the program."""
    b = Drawing(f"{seed}/{attempt}")
    if only == "packed":
        b.allow_packed()
    if b.chance(0.25):
        for _ in range(b.pick([1, 2])):
            b.program.arguments.append(n.ScalarArgument(b.name("a"), b.pick(["f32", "i32", "f16"]), b.pick([0, 1, 2, 3])))
    for _ in range(1 if b.chance(0.85) else 2):
        b.launch(b.pick([2, 3, 4, 5, 7]), only)
    b.count_points()
    b.bind_dimensions()
    b.spread_rows()
    b.align()
    if b.chance(0.1):
        b.program.check = True
        b.note("--check")
    if b.chance(0.25):
        b.program.schedule_seed = b.pick(range(1, 1000))
        b.note("--random-schedules")
    if not b.many_points and b.chance(0.15):
        b.program.multiprocessors = b.pick([1, 2])
    if b.rarely("@fast_math", 0.08):
        b.program.annotations.append("fast_math")
    b.program.calls = [b.call(False), b.call(True)]
    b.facts()
    tuned.draw(b)
    if b.rarely("sm_89", 0.1):
        b.program.architectures = ("sm_90a", "sm_89")
    elif b.rarely("sm_86", 0.04):
        b.program.architectures = ("sm_90a", "sm_86")
    if not b.program.tensors():
        raise AssertionError("a program without tensors")
    return b.program

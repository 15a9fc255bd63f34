"""Times of several calls in one process on a GPU, for gpu_choices.py and gpu_candidates.py, which copy it beside them."""
import random

WARM, FLUSH_BYTES = 2, 256 << 20


def flush_buffer(torch):
    """What is overwritten before each launch, so that nothing else is left in L2."""
    return torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")


def in_turn(torch, calls, flush, launches, seed):
    """{name: median microseconds} of `calls`, {name: function that launches}.

    One launch of each in an order that is drawn, another one for each turn and seed: where power limits the clock, what runs just before
    makes up to 17 %, and of small products some tenths of a microsecond.
    """
    times, order, draw = {name: [] for name in calls}, list(calls.items()), random.Random(seed)
    for turn in range(WARM + launches):
        draw.shuffle(order)
        events = []
        for name, call in order:
            flush.zero_()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            call()
            end.record()
            events.append((name, begin, end))
        torch.cuda.synchronize()
        for name, begin, end in events if turn >= WARM else []:
            times[name].append(begin.elapsed_time(end) * 1000)
    return {name: sorted(list)[len(list) // 2] for name, list in times.items()}

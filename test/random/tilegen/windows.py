"""What is seen of a tensor through views, each of which slices, gathers or fixes dimensions of the one before."""
import numpy as np

from .intervals import ProgramError


class Dimension:
    """Of a store: the views that it is seen through, the first one first, each as its extent and where its indices are in
    the one before."""

    def __init__(self, views):
        self.views = views

    def sliced(self, begin, end):
        return Dimension([*self.views, (max(end - begin, 0), lambda x: x + begin)])

    def gathered(self, indices):
        return Dimension([*self.views, (len(indices), lambda x: indices[x])])

    def at(self, indices):
        """Where in the store indices of the last view are, and which of them are inside all views."""
        indices = np.asarray(indices)
        good = np.ones(indices.shape, bool)
        for extent, place in reversed(self.views):
            good &= (indices >= 0) & (indices < extent)
            indices = place(np.where(good, indices, 0)) if extent else indices
        return indices, good


class Window:
    """A tensor or a view of it: for each dimension of the store an index, or a `Dimension`."""

    def __init__(self, store, dims):
        self.store, self.dims = store, dims

    @classmethod
    def whole(cls, store):
        return cls(store, [Dimension([]).sliced(0, extent) for extent in store.tile.shape])

    def narrowed(self, subscripts):
        """Subscripts are None, (begin, end), arrays of indices, or an index."""
        dims, given = [], iter(subscripts)
        for dim in self.dims:
            s = None if isinstance(dim, int) else next(given)
            if s is None:
                dims.append(dim)
            elif isinstance(s, tuple):
                dims.append(dim.sliced(*s))
            elif np.ndim(s):
                dims.append(dim.gathered(s))
            else:
                index, good = dim.at(s)
                dims.append(int(index) if good else -1)
        return Window(self.store, dims)

    def region(self, starts, shape):
        """What lies inside: its index of numpy in the store and in the region, and the region's shape with one extent for
        each dimension of the store. Starts are of all open dimensions (or all their indices), the shape is of the last ones."""
        fixed = len(starts) - len(shape)
        indices, masks, at = [], [], 0
        for axis, dim in enumerate(self.dims):
            if isinstance(dim, int):
                offsets, good = np.array([dim]), np.array([0 <= dim < self.store.tile.shape[axis]])
            else:
                count = 1 if at < fixed else shape[at - fixed]
                offsets, good = dim.at(starts[at] + (np.arange(count) if np.ndim(starts[at]) == 0 else 0))
                at += 1
            indices.append(offsets[good])
            masks.append(good)
        return np.ix_(*indices), np.ix_(*masks), tuple(len(m) for m in masks)

    def read(self, starts, shape):
        source, inside, full = self.region(starts, shape)
        t = self.store.tile
        if not self.store.written[source].all():
            raise ProgramError("reads global memory that nobody wrote")

        def gathered(values):
            result = np.zeros(full, values.dtype)
            result[inside] = values[source]
            return result.reshape(shape)

        return t.each(gathered)

    def write(self, starts, tile):
        target, inside, full = self.region(starts, tile.shape)
        self.store.put(target, tile.each(lambda x: x.reshape(full)[inside]))

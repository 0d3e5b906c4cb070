"""Random bodies as configs, with an independent implementation of their sweeps as docs/numerics.md defines them.

It shares nothing with heatsolve: control volumes are cut at the planes of all shapes, and each piece has one material.
"""

import itertools
import random

import h5py
import numpy as np
import scipy.sparse.linalg

ANYWHERE = 1e30
BEFORE = 1e-8  # m along each axis: from a node to the point that decides on which side of a surface the node is


def numbers(values):
    return "[" + ", ".join(repr(float(v)) for v in values) + "]"


class Axis:
    """Nodes and the cells between them. A periodic axis has one more cell; an axis that the grid lacks is one cell."""

    def __init__(self, nodes=None, wraps=False):
        self.there, self.wraps = nodes is not None, wraps
        self.nodes = nodes if self.there else np.zeros(1)
        self.cells = [(a, b) for a, b in zip(self.nodes, self.nodes[1:])]
        if wraps:
            self.cells.append((self.nodes[-1], 2 * self.nodes[-1] - self.nodes[-2]))
        if not self.there:
            self.cells = [(0.0, 1.0)]

    def below(self, i):
        """The cell below node i, or None."""
        return i - 1 if i > 0 else len(self.cells) - 1 if self.wraps else None

    def halves(self, i):
        """The control volume of node i, from end to end: one piece for each of its cells."""
        if not self.there:
            return [(0.0, 1.0)]
        cells = [] if self.below(i) is None else [(sum(self.cells[self.below(i)]) / 2, self.cells[self.below(i)][1])]
        return cells + ([(self.cells[i][0], sum(self.cells[i]) / 2)] if i < len(self.cells) else [])

    def place(self, dice):
        """A random place on the axis; often at a node or at the end of a control volume."""
        a, b = dice.choice(self.cells)
        return float(dice.choice([a, (a + b) / 2, dice.uniform(a, b), dice.uniform(a, b)]))

    def interval(self, dice):
        while True:
            ends = sorted([self.place(dice), self.place(dice)])
            if ends[1] - ends[0] > 1e-3:
                return ends


class Box:
    """The extent of a shape or a patch."""

    def __init__(self, axes):
        self.lower, self.upper = [-ANYWHERE] * 3, [ANYWHERE] * 3
        self.axes = axes  # the axes along which the box is bounded

    @staticmethod
    def random(body, axes):
        box = Box(axes)
        for a in axes:
            box.lower[a], box.upper[a] = body.axis[a].interval(body.dice)
        return box

    def text(self):
        return "lower = %s; upper = %s; " % tuple(numbers(e[a] for a in self.axes) for e in (self.lower, self.upper))

    def has(self, at, slack=0.0):
        return all(self.lower[a] - slack <= at[a] <= self.upper[a] + slack for a in range(3))

    def has_node(self, axis):
        return all(((self.lower[a] <= axis[a].nodes) & (axis[a].nodes <= self.upper[a])).any() for a in self.axes)

    def cuts(self, axis):
        return self.lower[axis], self.upper[axis]


class Wall:
    """A face, or a patch of it: a box, or the nodes with a label. Its numbers are functions of place and time."""

    def __init__(self, face, name):
        self.face, self.name = face, name
        self.box, self.label = Box([]), None
        self.kind, self.h_varies = "exchanges", False
        self.number = {}

    def has(self, body, at, node, slack=0.0):
        return self.box.has(at, slack) and (self.label is None or body.face_label[self.face][node] == self.label)

    def at(self, key, place, t):
        return self.number[key](place, t) if key in self.number else 0.0


class Body:
    """A random body, whose config and files are in `folder`. If `steady` is given, nothing changes in time and the
    config asks for the steady state. `nodes` is the least and the largest number of nodes along an axis."""

    def __init__(self, seed, folder, steady=None, nodes=(3, 7)):
        self.dice, self.folder, self.files, self.steady, self.nodes = random.Random(seed), folder, 0, steady, nodes
        self.dims = self.dice.choice([1, 2, 2, 3, 3])
        self.there = range(self.dims)
        self.walls, self.face_label = [], {}
        self.sweeps = self.dice.randint(1, 30)
        text = [self.make_grid(), self.make_materials(), self.make_places(), self.make_contacts(), self.make_walls()]
        self.source, told = self.dice.choice(
            [
                (None, None),
                (None, None),
                (lambda p, t: 100 * p[0], "100*x"),
                (lambda p, t: 50 * np.sin(3 * p[0] + t), "50*sin(3*x + t)"),
                (lambda p, t: 40 * t, "40*t"),
            ][: 3 if steady else 5]
        )
        text += ['source = { expression = "%s"; };' % told] if told else []
        text += ['initial = { expression = "1 + %s"; };' % " + ".join(f"sin(5*{'xyz'[a]})" for a in self.there)]
        text += ["steady = { %s };" % steady if steady else "time = { sweeps = %d; };" % self.sweeps]
        text += ['output = { file = "out.h5"; };']
        (folder / "case.cfg").write_text("\n".join(text) + "\n")

    # ---- the config

    def file(self, ending):
        self.files += 1
        return self.folder / f"file{self.files}.{ending}"

    def make_grid(self):
        dice, axes, text = self.dice, [], ""
        points = [dice.randint(*self.nodes) for _ in self.there]
        lower = [dice.uniform(-1, 1) for _ in self.there]
        if dice.random() < 0.4:
            for a in self.there:
                widths = [0.0] + [dice.uniform(0.05, 0.2) for _ in range(points[a] - 1)]
                axes.append(Axis(lower[a] + np.cumsum(widths)))
                text += f"{'xyz'[a]} = {numbers(axes[a].nodes)}; "
        else:
            spacing = [dice.uniform(0.05, 0.3) for _ in self.there]
            axes = [Axis(lower[a] + spacing[a] * np.arange(points[a]), dice.random() < 0.2) for a in self.there]
            text = f"points = {points}; lower = {numbers(lower)}; spacing = {numbers(spacing)}; "
        self.axis = axes + [Axis() for _ in range(3 - self.dims)]
        self.points = [len(a.nodes) for a in self.axis]
        return "grid = { " + text + "};"

    def in_time(self, key, scale):
        """A number, an expression of t or a table: its key and value, and the function."""
        value, rate = scale * self.dice.uniform(-2, 2), self.dice.uniform(1, 20)
        if self.steady or self.dice.random() < 0.5:
            return f"{key} = {value!r}; ", lambda t: value
        if self.dice.random() < 0.5:
            return self.make_table(key, value)
        return f'{key} = "{value!r}*sin({rate!r}*t + 1)"; ', lambda t: value * np.sin(rate * t + 1)

    def make_table(self, key, value):
        times = np.cumsum([self.dice.uniform(0.005, 0.3) for _ in range(4)]) - 0.01
        table, file = [value * self.dice.uniform(0.3, 1.5) for _ in times], self.file("csv")
        if key == "h" and self.dice.random() < 0.3:
            table[1] = 0.0  # for a time there is no convection
        file.write_text("".join(f"{t!r}, {v!r}\n" for t, v in zip(map(float, times), table)))
        return f'{key}_table = "{file.name}"; ', lambda t: np.interp(t, times, table)

    def make_materials(self):
        dice, text = self.dice, []
        self.conductivity, self.capacity, self.perfusion, self.made = [], [], [], []
        for m in range(dice.choice([1, 2, 2, 3, 3, 4])):
            k = [dice.choice([0.1, 1, 10]) * dice.uniform(0.5, 2) for _ in range(3)]
            k = k if dice.random() < 0.4 else k[:1] * 3
            density, heat = dice.uniform(5, 20), dice.uniform(10, 40)
            told = f'name = "m{m}"; conductivity = {numbers(k[: self.dims])}; density = {density!r}; '
            told += f"specific_heat = {heat!r}; "
            rate, (reference, reference_at) = dice.uniform(1, 50), self.in_time("reference", 1)
            source, source_at = self.in_time("source", 500)
            if dice.random() < 0.3:
                told += "perfusion = { rate = %r; %s}; " % (rate, reference)
            else:
                rate = 0.0
            if dice.random() < 0.3:
                told += source
            else:
                source_at = lambda t: 0.0  # noqa: E731
            self.conductivity.append(k)
            self.capacity.append(density * heat)
            self.perfusion.append((rate, reference_at))
            self.made.append(source_at)
            text.append("{ " + told + "}")
        self.materials = range(len(text))
        return "materials = ( " + ",\n  ".join(text) + " );"

    def make_places(self):
        """Shapes, or labels of cells or of nodes."""
        dice, name = self.dice, '{ material = "m%d"; '
        self.label = None
        # if all axes are periodic there are as many nodes as cells, and the program takes labels for those of nodes
        self.of_nodes = dice.random() < 0.5 or all(self.axis[a].wraps for a in self.there)
        if dice.random() < 0.4:
            of = self.points if self.of_nodes else [len(a.cells) for a in self.axis]
            self.label = np.array([dice.choice(self.materials) for _ in range(np.prod(of))], dtype="u1").reshape(of[::-1])
            file = self.file("npy")
            np.save(file, self.label.reshape(of[: self.dims][::-1]))
            names = ", ".join(f'"m{m}"' for m in self.materials)
            return 'body = ( { file = "%s"; names = [%s]; } );' % (file.name, names)
        self.shapes = [(dice.choice(self.materials), Box([]))]
        text = [name % self.shapes[0][0] + "}"]
        for _ in range(dice.randint(0, 4)):
            m, box = dice.choice(self.materials), Box.random(self, self.there)
            if dice.random() < 0.25:
                axis, sign, half = dice.choice(self.there), dice.choice([-1, 1]), Box(self.there)
                (half.upper if sign > 0 else half.lower)[axis] = box.lower[axis]
                normal = [sign * 1.7 if a == axis else 0.0 for a in self.there]
                text.append(name % m + 'shape = "half-space"; point = %s; normal = %s; }'
                            % (numbers(box.lower[: self.dims]), numbers(normal)))
                box = half
            else:
                text.append(name % m + 'shape = "box"; ' + box.text() + "}")
            self.shapes.append((m, box))
        return "body = ( " + ",\n  ".join(text) + " );"

    def make_contacts(self):
        pairs = [p for p in itertools.combinations(self.materials, 2) if self.dice.random() < 0.3]
        self.contact = {pair: self.dice.uniform(0.005, 0.2) for pair in pairs}
        text = ['{ between = ["m%d", "m%d"]; resistance = %r; }' % (*p, r) for p, r in self.contact.items()]
        return "contacts = ( " + ", ".join(text) + " );" if text else ""

    def make_walls(self):
        text = []
        for face in range(2 * self.dims):
            name = "xyz"[face // 2] + ("_max" if face % 2 else "_min")
            if self.axis[face // 2].wraps:
                text.append(name + ' = { type = "periodic"; };')
                continue
            told = self.make_wall(Wall(face, name))
            if self.dims > 1 and self.dice.random() < 0.5:
                told += self.make_patches(face, name)
            text.append(name + " = { " + told + "};")
        return "boundary = { " + "\n  ".join(text) + " };"

    def make_patches(self, face, name):
        across, text, told = [a for a in self.there if a != face // 2], [], ""
        labelled = self.dice.random() < 0.3
        if labelled:
            of = [1 if a == face // 2 else n for a, n in enumerate(self.points)]
            label = np.array([self.dice.randint(0, 2) for _ in range(np.prod(of))], dtype="u1").reshape(of)
            file = self.file("npy")
            np.save(file, label.reshape([of[a] for a in across]).T)
            self.face_label[face] = label
            told = f'labels_file = "{file.name}"; '
        for number in range(1, self.dice.randint(2, 4)):
            wall = Wall(face, f"{name}_{number}")
            does = self.make_wall(wall)
            if labelled and (number == 1 or self.dice.random() < 0.5):
                wall.label = int(self.dice.choice(np.unique(label)))
                extent = f"label = {wall.label}; "
            else:
                wall.box = Box.random(self, across)
                while wall.kind != "exchanges" and not wall.box.has_node(self.axis):  # such a patch is refused
                    wall.box = Box.random(self, across)
                extent = wall.box.text()
            text.append("{ " + extent + does + "}")
        return told + "patches = ( " + ",\n    ".join(text) + " ); "

    def make_wall(self, wall):
        kind = self.dice.choice(["fixed", "dirichlet", "neumann", "robin", "robin", "reflective"])
        wall.kind = {"fixed": "holds", "dirichlet": "prescribes"}.get(kind, "exchanges")
        told = f'type = "{kind}"; '
        if kind == "dirichlet":
            told += self.make_number(wall, "value", 2)
        if kind == "robin":
            told += self.make_number(wall, "h", 5) + self.make_number(wall, "ambient", 3)
        if kind == "neumann" or (kind == "robin" and self.dice.random() < 0.4):
            told += self.make_number(wall, "flux", 30)
        self.walls.append(wall)
        return told

    def make_number(self, wall, key, scale):
        """A number; an expression of place, time or both; a field or a table from a file, or both. h depends on time by
        a table alone, and then the ambient not on both at once."""
        dice, across = self.dice, [a for a in self.there if a != wall.face // 2]
        value = scale * dice.uniform(0.5, 2) * (1 if key == "h" else dice.choice([1, 1, -1]))
        in_time = {"h": ["table"], "ambient": ["time", "table"] + ["moves", "moves"] * (not wall.h_varies)}
        in_time = [] if self.steady else in_time.get(key, ["time", "table", "moves", "moves"])
        how = dice.choice(["number"] + ["place", "field"] * bool(across) + in_time)
        wall.number[key] = lambda p, t: value
        if how == "number":
            return f"{key} = {value!r}; "
        if how == "place":
            wall.number[key] = lambda p, t: value * (1.5 + np.sin(3 * p[across[0]]))
            return f'{key} = "{value!r}*(1.5 + sin(3*{"xyz"[across[0]]}))"; '
        if how == "time":
            wall.number[key] = lambda p, t: value * np.sin(9 * t + 1)
            return f'{key} = "{value!r}*sin(9*t + 1)"; '
        if how == "moves":
            axis = across[0] if across else wall.face // 2
            wall.number[key] = lambda p, t: value * np.sin(3 * p[axis] - 40 * t)
            return f'{key} = "{value!r}*sin(3*{"xyz"[axis]} - 40*t)"; '
        told, field = "", None
        if how == "field":
            of = [self.points[a] for a in across]
            field, file = np.array([value * dice.uniform(0.5, 1.5) for _ in range(np.prod(of))]).reshape(of), self.file("npy")
            np.save(file, field.T)
            at = [{float(x): i for i, x in enumerate(self.axis[a].nodes)} for a in across]
            told = f'{key}_file = "{file.name}"; '

            def in_field(p):
                return field[tuple(at[n][float(p[a])] for n, a in enumerate(across))]

            wall.number[key] = lambda p, t: in_field(p)
        if how == "table" or (in_time and dice.random() < 0.5):
            wall.h_varies = wall.h_varies or key == "h"
            table, at_time = self.make_table(key, value if field is None else 1)
            told += table
            wall.number[key] = lambda p, t: at_time(t) * (1 if field is None else in_field(p))
        return told

    # ---- the definition

    def material(self, at):
        """The material of a point."""
        if self.label is None:
            return next(m for m, box in reversed(self.shapes) if box.has(at))
        cell = [next(n for n, (a, b) in enumerate(axis.cells) if a <= at[i] <= b) for i, axis in enumerate(self.axis)]
        return int(self.label[tuple(cell[::-1])])

    def cut(self, boxes, axis, lower, upper):
        """The intervals into which the boxes cut an interval of an axis."""
        places = [p for box in boxes for p in box.cuts(axis) if lower + 1e-9 < p < upper - 1e-9]
        places = sorted({lower, upper, *places})
        return list(zip(places, places[1:]))

    def pieces(self, axis, lower, upper):
        return self.cut([box for _, box in self.shapes] if self.label is None else [], axis, lower, upper)

    def resistance(self, one, other):
        return self.contact.get((min(one, other), max(one, other)), 0.0)

    def line(self, axis, node, at):
        """m^2 K/W of the line through `at` along the cell above a node, without contacts; and the materials on it."""
        at, total, on = list(at), 0.0, []
        for lower, upper in self.pieces(axis, *self.axis[axis].cells[node]):
            at[axis] = (lower + upper) / 2
            on.append(self.material(at))
            total += (upper - lower) / self.conductivity[on[-1]][axis]
        return total, on

    def beside(self, axis, i):
        """A point just below the node; just above it if there is no cell below."""
        below = axis.below(i)
        return axis.cells[i][0] + BEFORE if below is None else axis.cells[below][1] - BEFORE

    def contacts(self, axis, node, at):
        """The contact resistance [m^2 K/W] on the line through `at` from a node to the next one along an axis, and the
        materials at its ends."""
        at = [self.beside(self.axis[a], node[a]) if a == axis else at[a] for a in range(3)]
        under = [] if self.axis[axis].below(node[axis]) is None else [self.material(at)]
        on = under + self.line(axis, node[axis], at)[1]
        return sum(self.resistance(*pair) for pair in zip(on, on[1:])), (on[0], on[-1])

    def contacts_along(self, axis, node, at):
        """Those that count for the line through `at`. A node, with all of its control volume, is on one side of a
        surface; so where a contact lies between the line and the one from node to node, those of the latter count."""
        edge, edge_ends = self.contacts(axis, node, [self.beside(*of) for of in zip(self.axis, node)])
        own, ends = self.contacts(axis, node, at)
        return edge if any(self.resistance(*pair) > 0 for pair in zip(ends, edge_ends)) else own

    def conductance(self, axis, node):
        """The conductance of the edge to the next node along an axis."""
        across, total = [a for a in range(3) if a != axis], 0.0
        rectangles = itertools.product(*(self.axis[a].halves(node[a]) for a in across))
        if self.label is not None and self.of_nodes:
            following = list(node)
            following[axis] = (node[axis] + 1) % self.points[axis]
            one, other = (int(self.label[tuple(n[::-1])]) for n in (node, tuple(following)))
            half = (self.axis[axis].cells[node[axis]][1] - self.axis[axis].cells[node[axis]][0]) / 2
            each = half / self.conductivity[one][axis] + half / self.conductivity[other][axis]
            area = sum((b[1] - b[0]) * (c[1] - c[0]) for b, c in rectangles)
            return area / (each + self.resistance(one, other))
        for ends in rectangles:
            for b, c in itertools.product(*(self.pieces(a, *e) for a, e in zip(across, ends))):
                at = [0.0] * 3
                at[across[0]], at[across[1]] = sum(b) / 2, sum(c) / 2
                total += (b[1] - b[0]) * (c[1] - c[0]) / (self.line(axis, node[axis], at)[0] + self.contacts_along(axis, node, at))
        return total

    def volumes(self, node):
        """The volume of each material in a control volume."""
        out = {}
        for octant in itertools.product(*(axis.halves(i) for axis, i in zip(self.axis, node))):
            for box in itertools.product(*(self.pieces(a, *octant[a]) for a in range(3))):
                at = [sum(ends) / 2 for ends in box]
                m = int(self.label[node[::-1]]) if self.label is not None and self.of_nodes else self.material(at)
                out[m] = out.get(m, 0.0) + np.prod([ends[1] - ends[0] for ends in box])
        return out

    def areas(self, node, place):
        """Pairs (wall, its area on the node's faces); and the wall that holds or prescribes the node, or None."""
        out, holding = [], None
        for face in range(2 * self.dims):
            axis = self.axis[face // 2]
            if axis.wraps or node[face // 2] != (len(axis.nodes) - 1 if face % 2 else 0):
                continue
            walls, across = [w for w in self.walls if w.face == face], [a for a in range(3) if a != face // 2]
            on = tuple(0 if a == face // 2 else i for a, i in enumerate(node))
            again = [[p, axis.cells[-1][1]] if axis.wraps and i == 0 else [p] for p, axis, i in zip(place, self.axis, node)]
            top = [w for w in walls if any(w.has(self, at, on, 1e-9) for at in itertools.product(*again))][-1]
            if top.kind != "exchanges" and (not holding or holding.kind == "holds" or top.kind == "prescribes"):
                holding = top
            for ends in itertools.product(*(self.axis[a].halves(node[a]) for a in across)):
                for b, c in itertools.product(*(self.cut([w.box for w in walls], a, *e) for a, e in zip(across, ends))):
                    at = list(place)
                    at[across[0]], at[across[1]] = sum(b) / 2, sum(c) / 2
                    wall = [w for w in walls if w.has(self, at, on)][-1]
                    out.append((wall, (b[1] - b[0]) * (c[1] - c[0])))
        return out, holding

    def network(self):
        """The places of the nodes, their volumes by material, the edges between them, and each node's walls."""
        nodes = [n[::-1] for n in itertools.product(*(range(n) for n in self.points[::-1]))]
        number = {node: i for i, node in enumerate(nodes)}
        places = [[float(axis.nodes[i]) for axis, i in zip(self.axis, node)] for node in nodes]
        edges = []
        for node, axis in itertools.product(nodes, self.there):
            if node[axis] < len(self.axis[axis].cells):
                following = list(node)
                following[axis] = (node[axis] + 1) % self.points[axis]
                edges.append((number[node], number[tuple(following)], self.conductance(axis, node)))
        volumes = [self.volumes(node) for node in nodes]
        return places, volumes, edges, [self.areas(node, place) for node, place in zip(nodes, places)]

    def capacities(self, volumes):
        return np.array([sum(v * self.capacity[m] for m, v in of.items()) for of in volumes])

    def matrix(self):
        """The conductance matrix [W/K] of the free nodes, with perfusion and convection; and their heat capacities."""
        places, volumes, edges, walls = self.network()
        matrix = np.zeros((len(places), len(places)))
        for i, j, conductance in edges:
            matrix[[i, j], [i, j]] += conductance
            matrix[[i, j], [j, i]] -= conductance
        for i, (of, place, (areas, _)) in enumerate(zip(volumes, places, walls)):
            matrix[i, i] += sum(volume * self.perfusion[m][0] for m, volume in of.items())
            matrix[i, i] += sum(a * w.at("h", place, 0) for w, a in areas if w.kind == "exchanges")
        free = [i for i, (_, holding) in enumerate(walls) if holding is None]
        return matrix[np.ix_(free, free)], self.capacities(volumes)[free]

    def steady_state(self, field):
        """By a sparse direct solver, from the initial field, whose nodes keep their temperature where walls hold them.
        None if nothing determines the mean."""
        places, volumes, edges, walls = self.network()
        now, free = field.ravel().astype(float), [i for i, (_, holding) in enumerate(walls) if holding is None]
        heat, sink = np.zeros(len(now)), np.zeros(len(now))
        for i, (of, place, (areas, holding)) in enumerate(zip(volumes, places, walls)):
            if holding and holding.kind == "prescribes":
                now[i] = holding.at("value", place, 0)
            for m, volume in of.items():
                rate, reference = self.perfusion[m]
                sink[i] += volume * rate
                heat[i] += volume * (rate * reference(0) + self.made[m](0) + (self.source(place, 0) if self.source else 0))
            for wall, area in areas:
                if wall.kind == "exchanges":
                    sink[i] += area * wall.at("h", place, 0)
                    heat[i] += area * (wall.at("h", place, 0) * wall.at("ambient", place, 0) - wall.at("flux", place, 0))
        if len(free) == len(now) and not sink.any():
            return None
        matrix = scipy.sparse.lil_matrix((len(now), len(now)))
        for i, j, conductance in edges:
            for one, other in ((i, j), (j, i)):
                matrix[one, one] += conductance
                matrix[one, other] -= conductance
        matrix.setdiag(matrix.diagonal() + sink)
        matrix, held = matrix.tocsr(), np.setdiff1d(np.arange(len(now)), free)
        if free:
            right = heat[free] - matrix[free][:, held] @ now[held]
            now[free] = scipy.sparse.linalg.spsolve(matrix[free][:, free].tocsc(), right)
        return now.reshape(field.shape)

    def rates(self):
        """Decay rates [1/s] of all modes, the slowest first; that one is 0 if nothing determines the mean."""
        matrix, capacity = self.matrix()
        return np.linalg.eigvalsh(matrix * np.outer(capacity**-0.5, capacity**-0.5))

    def longest(self):
        """s: the largest distance from the steady state, if all nodes change by 1 K/s."""
        matrix, capacity = self.matrix()
        return np.linalg.solve(matrix, capacity).max()

    def sweep_all(self, field, step):
        """The field after all sweeps; and for the last sweep the flow through each wall that exchanges, the sources, the
        stored heat, and a sum of sizes as the scale of roundings."""
        places, volumes, edges, walls = self.network()
        capacity = self.capacities(volumes)
        now = field.ravel().astype(float)
        for sweep in range(self.sweeps):
            t, flux, heat = sweep * step, {w.name: 0.0 for w in self.walls}, np.zeros(len(now))
            for i, (of, place, (areas, _)) in enumerate(zip(volumes, places, walls)):
                for m, volume in of.items():
                    rate, reference = self.perfusion[m]
                    heat[i] += volume * (rate * (reference(t) - now[i]) + self.made[m](t))
                    heat[i] += volume * self.source(place, t) if self.source else 0.0
            source = heat.sum()
            for i, (place, (areas, _)) in enumerate(zip(places, walls)):
                for wall, area in areas:
                    if wall.kind == "exchanges":
                        leaves = wall.at("h", place, t) * (now[i] - wall.at("ambient", place, t)) + wall.at("flux", place, t)
                        flux[wall.name] += area * leaves
                        heat[i] -= area * leaves
            for i, j, conductance in edges:
                passes = conductance * (now[j] - now[i])
                heat[i] += passes
                heat[j] -= passes
            new = now + step / capacity * heat
            for i, (_, wall) in enumerate(walls):
                if wall:
                    new[i] = now[i] if wall.kind == "holds" else wall.at("value", places[i], t + step)
            stored = capacity * (new - now) / step
            now = new
        return now.reshape(field.shape), flux, source, stored.sum(), np.abs(stored).sum() + np.abs(heat).sum()


def result(folder):
    """The first and last field of a run, its last time, and the last row of its history."""
    with h5py.File(folder / "out.h5") as f:
        history = {name: float(f["history"][name][-1]) for name in ("source", "stored", "imbalance")}
        flux = {name: float(f["history/flux"][name][-1]) for name in f["history"].get("flux", {})}
        return f["temperature"][0], f["temperature"][-1], float(f["time"][-1]), history, flux

"""Bad configs and overrides: a message with file, line, key, value and remedy; the exit code; no file written.

Each row changes one line of a good config (or gives an override) and has the text that must be in the message. `check`
reads a config and writes nothing; a few rows are also tried with `run`, which would write.
"""

import os

import h5py
import numpy as np
import program
import pytest

GOOD = """\
title = "case";
grid = { points = [17, 9]; upper = [1.6, 0.8]; };
material = { conductivity = 2.0; density = 1000.0; specific_heat = 500.0; };
stencil = { radius = 1; };
initial = { value = 300.0; };
source = { value = 0.0; };
boundary = { all = { type = "reflective"; }; };
time = { end = 10.0; };
output = { file = "case.h5"; };
probes = ( { name = "p"; at = [0.1, 0.1]; } );
exact = { expression = "300"; };
steady = { tolerance = 1e-9; };
"""


def heatsolve(tmp_path, text, *arguments, command="check"):
    (tmp_path / "case.cfg").write_bytes(text if isinstance(text, bytes) else text.encode())
    before = sorted(p.name for p in tmp_path.iterdir())
    result = program.heatsolve(tmp_path, command, "case.cfg", *arguments, text=False, timeout=60)
    result.stderr = result.stderr.decode(errors="replace")
    result.new_files = [p.name for p in sorted(tmp_path.iterdir()) if p.name not in before]
    return result


def changed(line, replacement):
    lines = GOOD.splitlines()
    lines[line - 1] = replacement
    return "\n".join(lines) + "\n"


def assert_refused(result, code, fragments):
    assert result.returncode == code, result.stderr
    for fragment in fragments:
        assert fragment in result.stderr
    assert result.new_files == []
    said = result.stderr.strip().splitlines()
    assert len(said) == len(set(said)), "said twice"


@pytest.mark.parametrize("line, text, key", [
    (7, 'boundary = { x_min = { type = "dirichlet"; vlaue = 273.15; }; };', "boundary.x_min.value"),
    (7, 'boundary = { all = { type = "dirichlet"; vlaue = 273.15; }; };', "boundary.all.value"),
    (2, "grid = { piont = [17, 9]; };", "grid.points"),
    (3, "material = { difusivity = 1.0; };", "material.diffusivity"),
    (5, "initial = { vaule = 1.0; };", "initial.value"),
    (7, 'boundary = { all = { type = "neumann"; flx = 1.0; }; };', "boundary.all.flux"),
    (8, "time = { edn = 1.0; };", "time.end"),
    (10, 'probes = ( { nmae = "p"; at = [0.1, 0.1]; } );', "probes[].name"),
])
def test_a_mistyped_key_is_not_called_missing_too(tmp_path, line, text, key):
    result = heatsolve(tmp_path, changed(line, text))
    assert_refused(result, 2, [f"did you mean {key}?"])
    assert result.stderr.count("\n") == 1, result.stderr


def test_the_good_config_is_good(tmp_path):
    result = heatsolve(tmp_path, GOOD)
    assert result.returncode == 0, result.stderr


# (line, its new text, the message after "case.cfg:LINE: ")
ONE_LINE = [
    # ---- keys and types
    (1, 'titel = "x";', "titel: unknown key; did you mean title?"),
    (1, "zzzzzz = 1;", "zzzzzz: unknown key; heatsolve options lists them all"),
    (2, "grid = { points = [17, 9]; uper = [1, 1]; };", "grid.uper: unknown key; did you mean grid.upper?"),
    (8, "time = { end = 1.0; check_every = 5; };", "time.check_every: unknown key; did you mean steady.check_every?"),
    (7, 'boundary = { left = { type = "fixed"; }; };', "boundary.left: unknown key"),
    (7, 'boundary = { x_mn = { type = "fixed"; }; };', "boundary.x_mn: unknown key; did you mean boundary.x_min?"),
    (4, "stencil = { c19 = 1; };", "stencil.c19: unknown key; did you mean stencil.c"),
    (4, "stencil = { c01 = 1; };", "stencil.c01: unknown key; did you mean stencil.c"),
    (1, "title = 3;", 'title = 3: must be a string "..."'),
    (1, "title = true;", 'title = true: must be a string "..."'),
    (1, "title = plain;", 'title = "plain": a word without quotes; put it in quotes'),
    (1, 'title = { a = 1; };', 'title: must be a string "..."'),
    (2, "grid = 3;", "grid = 3: must be a group { ... }; give { points = [129, 129]; upper = [0.1, 0.1]; }"),
    (2, "grid = [17, 9];", "grid: must be a group { ... }; give { points = "),
    (5, "initial = 293.15;", "initial = 293.15: must be a group { ... }; give { value = 293.15; }, "),
    (5, 'initial = "293.15";', 'initial = "293.15": must be a group { ... }; give { value = 293.15; }, '),
    (6, "source = 1e6;", "source = 1e6: must be a group { ... }; give { value = 1e6; }, "),
    (7, "boundary = { all = 300.0; };", 'boundary.all = 300.0: must be a group { ... }; give { type = "dirichlet"; value = 293.15; }'),
    (7, 'boundary = { all = "reflective"; };', 'boundary.all = "reflective": must be a group { ... }; give { type = "reflective"; }'),
    (8, "time = 60.0;", "time = 60.0: must be a group { ... }; give { end = 3600.0; }"),
    (9, 'output = "run.h5";', 'output = "run.h5": must be a group { ... }; give { file = "run.h5"; interval = 60.0; }'),
    (2, 'grid = { points = "17"; };', 'grid.points = "17": must be whole numbers [ ... ], one for each axis'),
    (2, "grid = { points = [17, [9]]; };", ":2: syntax error"),
    (2, "grid = { points = (17, {a = 1;}); };", "grid.points[1]: must be a whole number without quotes or brackets"),
    (2, 'grid = { points = [17, "9"]; };', 'grid.points[1] = "9": must be a whole number without quotes or brackets'),
    (10, "probes = { };", "probes: must be a list of groups ( { ... }, ... )"),
    (10, "probes = (1);", "probes[0] = 1: must be a group { ... }"),
    (8, 'time = { end = "10"; };', 'time.end = "10": must be a number without quotes or brackets'),
    (8, "time = { end = 10.0; step = maximal; };", 'time.step = "maximal": a word without quotes'),
    (8, 'time = { end = 10.0; step = "maximal"; };', 'time.step = "maximal": must be a number or "auto"'),
    (1, 'precision = "quadruple";', 'precision = "quadruple": must be one of double, float'),
    (1, 'precision = "flaot";', 'precision = "flaot": did you mean "float"? Choose one of double, float'),
    # ---- numbers: libconfig itself would take these for something else
    (2, "grid = { points = [3000000000, 9]; };", "grid.points[0] = 3000000000: must be 1 to 2147483647"),
    (2, "grid = { points = [3000000000L, 9]; };", "grid.points[0] = 3000000000L: must be 1 to 2147483647"),
    (2, "grid = { points = [99999999999999999999, 9]; };", "grid.points[0] = 99999999999999999999: is too large"),
    (2, "grid = { points = [0xFFFFFFFFFFFFFFFFFF, 9]; };", "grid.points[0] = 0xFFFFFFFFFFFFFFFFFF: is too large"),
    (2, "grid = { points = [17.5, 9]; };", "grid.points[0] = 17.5: is not a whole number; give a whole number"),
    (2, "grid = { points = [1e-1, 9]; };", "grid.points[0] = 1e-1: is not a whole number"),
    (2, "grid = { points = [1e300, 9]; };", "grid.points[0] = 1e300: is too large for a whole number"),
    (2, "grid = { points = [., 9]; };", "grid.points[0] = .: is not a number; give a whole number"),
    (2, "grid = { points = [-17, 9]; };", "grid.points[0] = -17: must be 1 to 2147483647"),
    (2, "grid = { points = [17m, 9]; };", "grid.points[0] = 17m: is not a number"),
    (3, "material = { diffusivity = 1e400; };", "material.diffusivity = 1e400: is too large for a number; give a number > 0"),
    (3, "material = { diffusivity = 1e-400; };", "material.diffusivity = 1e-400: is so small that it would be 0"),
    (3, "material = { diffusivity = .; };", "material.diffusivity = .: is not a number; give a number > 0 [m^2/s]"),
    (3, "material = { diffusivity = 1.5e; };", "material.diffusivity = 1.5e: is not a number"),
    (3, "material = { diffusivity = nan; };", 'material.diffusivity = "nan": is not finite; give a number without quotes or brackets\n'),
    (3, 'material = { conductivity = 1; density = 1; specific_heat = "Infinity"; };', 'material.specific_heat = "Infinity": is not finite; give a number without quotes or brackets\n'),
    (5, "initial = { value = nan; };", 'initial.value = "nan": is not finite; give a number, or an expression "..."\n'),
    (8, "time = { end = 10.0; step = inf; };", 'time.step = "inf": is not finite; give a number or "auto"\n'),
    (3, "material = { diffusivity = -inf; };", ":3: syntax error"),
    (3, "material = { diffusivity = 0; };", "material.diffusivity = 0: must be > 0 [m^2/s]"),
    (9, "output = { file = case.h5; };", 'output.file: two values without a comma or semicolon between them; a name or an expression stands in quotes, as in "a.csv"'),
    (9, 'output = { file = "case.h5"; times = [1.0, 10.0]; };', "output.times: unknown key; outputs are an equal interval apart; for decades of time make a run of each, with its own time.end and output.interval"),
    (9, 'output = { name = "case.h5"; };', "output.name: unknown key; did you mean output.file?"),
    (5, "initial = { value = 20+x; };", "syntax error here or just before; settings are written key = value; groups key = { ... }; lists key = [ ... ]; names and expressions stand in quotes; the line: initial = { value = 20+x; };"),
    (3, "material = { diffusivity = 1 2; };", "material.diffusivity: two values without a comma or semicolon"),
    (8, "time = { end = 40 s; };", "time.end: two values without a comma or semicolon between them; a number stands without its unit"),
    (3, "material = { diffusivity = 0,5; };", ':3: a number after a comma, but no list [ ... ]; the decimal point is "."'),
    # ---- syntax
    (1, 'title = "no end', 'case.cfg:1: a string has no closing " on its line; a long one may go on'),
    (5, "initial = { expression = '20+x'; };", ':5: another kind of quote; names and expressions stand in plain double quotes, as in "steel"'),
    (5, "initial = { expression = \u201d20+x\u201d; };", ':5: another kind of quote; names and expressions stand in plain double quotes, as in "steel"'),
    (5, "initial = { value = ; };", ":5: syntax error here or just before; settings are written key = value"),
    (5, "initial = { value = 1; value = 2; };", ":5: a key is given twice in the same group; keep one of them; the line: initial = { value = 1; value = 2; };"),
    (5, "   initial = { " + 40 * " " + "value = 1; a = = 2; };", "syntax error here or just before; settings are written key = value; groups key = { ... }; lists key = [ ... ]; names and expressions stand in quotes; the line: initial = { "),
    (10, "probes = ( { name = \"p\"; at = [0.1, 0.1]; }", "case.cfg:10: syntax error: the ( of probes has no ); the line: probes = ("),
    (2, "grid = { points = [17, 9; upper = [1.6, 0.8]; };", "case.cfg:2: syntax error: the [ of points has no ]"),
    (7, 'boundary = { all = { type = "reflective"; };', "case.cfg:7: syntax error: the { of boundary has no }"),
    (8, "time = { end = 10.0; }; };", "case.cfg:8: syntax error: the } closes nothing"),
    (1, "/* no end", "case.cfg:1: the comment that begins here has no closing */"),
    (1, "title = \"\x01\";", "case.cfg:1: a control character (code 1); a config is plain text"),
    # ---- grid
    (2, "grid = { upper = [1.0, 1.0]; };", "grid.points: missing; give the nodes along each axis, as in [129, 129]"),
    (2, "grid = { points = []; };", "grid.points: has 0 numbers; give 1, 2 or 3, one for each axis"),
    (2, "grid = { points = [5, 5, 5, 5]; };", "grid.points: has 4 numbers; give 1, 2 or 3, one for each axis"),
    (2, "grid = { points = [17, 2]; };", "grid.points[1] = 2: at least 3 points are needed for radius 1"),
    (2, "grid = { points = [17, 1]; };", "grid.points[1] = 1: at least 3 points are needed for radius 1; leave it out"),
    (2, "grid = { points = [17, 9]; upper = [1.0]; };", "grid.upper: has 1 number; the grid has 2 axes, give one for each"),
    (2, "grid = { points = [17, 9]; upper = 1.0; };", "grid.upper = 1.0: has 1 number; the grid has 2 axes"),
    (2, "grid = { points = [17, 9]; upper = [1, 1, 1]; };", "grid.upper: has 3 numbers; the grid has 2 axes"),
    (2, "grid = { points = [17, 9]; lower = [0.0, 1.0]; upper = [1.0, 1.0]; };", "grid.upper[1] = 1.0: must be above grid.lower, 1 m"),
    (2, "grid = { points = [17, 9]; upper = [1.0, 1.0]; spacing = 0.1; };", "grid.spacing = 0.1: give upper or spacing, not both"),
    (2, "grid = { points = [17, 9]; spacing = [0.1, 0.0]; };", "grid.spacing[1] = 0.0: must be > 0 [m]"),
    # ---- axes by coordinates
    (2, "grid = { x = [0.0, 1.0]; points = 9; };", "grid.x: has 2 coordinates; at least 3 are needed"),
    (2, "grid = { x = [0.0, 1.0, 0.5]; points = 9; };", "grid.x[2] = 0.5: must be above the coordinate before it, 1 m"),
    (2, "grid = { x = [0.0, 1.0, 1.0]; points = 9; };", "grid.x[2] = 1.0: must be above the coordinate before it, 1 m"),
    (2, 'grid = { x = [0.0, "1", 2.0]; points = 9; };', 'grid.x[1] = "1": must be a number without quotes or brackets'),
    (2, "grid = { x = 3.0; points = 9; };", "grid.x = 3.0: must be a list of coordinates [ ... ], or a group { segments"),
    (2, "grid = { x = [0.0, 1e-200, 2.0]; points = 9; };", "grid.x: a cell of 1e-200 m, from 0 m, is too small or too large to compute with"),
    (2, "grid = { x = [1e6, 1000000.000000001, 1000000.000000006]; points = 9; };", "grid.x: a cell of 1.04774e-09 m, from 1000000 m, is too small for its place: so far from the origin its width is lost in rounding; move the origin nearer to it"),
    (2, "grid = { x = { from = 5e6; segments = ( { to = 5000000.1; cells = 9; }, { to = 5000000.1001; cells = 9; } ); }; points = 9; };", "grid.x: a cell of 1.11116e-05 m, from 5000000.1 m, is too small for its place"),
    (2, "grid = { x = { }; points = 9; };", "grid.x.segments: missing; give the segments of the axis, or a list of coordinates"),
    (2, "grid = { x = { segments = (); }; points = 9; };", "grid.x.segments: has no segment; give one at least"),
    (2, "grid = { x = { segments = ( { to = 1.0; } ); }; points = 9; };", "grid.x.segments[0].cells: missing; say how many cells the segment has"),
    (2, "grid = { x = { segments = ( { cells = 8; } ); }; points = 9; };", "grid.x.segments[0].to: missing; say where the segment ends, in m"),
    (2, "grid = { x = { segments = ( { to = 1.0; cells = 1; } ); }; points = 9; };", "grid.x.segments: 1 cell in all; at least 2 are needed"),
    (2, "grid = { x = { from = 2.0; segments = ( { to = 1.0; cells = 8; } ); }; points = 9; };", "grid.x.segments[0].to = 1.0: must be above 2 m, where the segment begins"),
    (2, "grid = { x = { segments = ( { to = 1.0; cells = 8; }, { to = 0.5; cells = 8; } ); }; points = 9; };", "grid.x.segments[1].to = 0.5: must be above 1 m, where the segment begins"),
    (2, "grid = { x = { segments = ( { to = 1.0; cells = 8; ratio = 0.0; } ); }; points = 9; };", "grid.x.segments[0].ratio = 0.0: must be > 0"),
    (2, "grid = { x = { segments = ( { to = 1.0; cells = 8; ratio = -2; } ); }; points = 9; };", "grid.x.segments[0].ratio = -2: must be > 0"),
    (2, "grid = { x = { segments = ( { to = 1.0; cells = 500; ratio = 10; } ); }; points = 9; };", "grid.x.segments[0].ratio = 10: makes cells too small to tell apart"),
    (2, "grid = { y = [0.0, 1.0, 3.0]; };", "grid.y: the grid has no x axis; give it coordinates as well, or its points in grid.points"),
    (2, "grid = { x = [0.0, 1.0, 3.0]; points = [9, 9, 9]; };", "grid.points: has 3 numbers; give one for each axis that has no coordinates of its own, of three axes in all"),
    (2, "grid = { x = [0.0, 1.0, 3.0]; points = 9; lower = [0.0, 0.0]; };", "grid.lower: has 2 numbers; grid.points is for 1 axis, give one for each"),
    (2, "grid = { x = [0.0, 1.0, 3.0]; y = [0.0, 1.0, 3.0]; upper = [3.0, 3.0]; };", "grid.upper: all axes have coordinates of their own; remove it"),
    (2, "grid = { points = [17, 9]; spacing = 1e-200; };", "grid.spacing = 1e-200: a spacing of 1e-200 m along x, from 0 m, is too small or too large to compute with"),
    (2, "grid = { points = [17, 9]; lower = [1e20, 0.0]; spacing = 1.0; };", "grid.spacing = 1.0: a spacing of 1 m along x, from 1e+20 m"),
    # ---- stencil and material
    (3, "", "case.cfg: material: missing; give { conductivity; density; specific_heat; }"),
    (3, "material = { };", "material.conductivity: missing; the diffusivity follows from"),
    (3, "material = { conductivity = 1.0; density = 2.0; };", "material.specific_heat: missing; the diffusivity follows from"),
    (3, "material = { diffusivity = 1e-5; density = 2.0; };", "material.density = 2.0: material.diffusivity is given; give either"),
    (3, "material = { conductivity = 1e-300; density = 1e20; specific_heat = 1e20; };", "material: conductivity / (density * specific_heat) = "),
    (4, "stencil = { radius = 4; };", "stencil.radius = 4: must be 1 to 3"),
    (4, "stencil = { radius = 0; };", "stencil.radius = 0: must be 1 to 3"),
    # ---- initial, source, exact
    (5, "", "case.cfg: initial: missing; give { value = ...; }"),
    (5, "initial = { };", "initial: give one of value, expression and file"),
    (5, 'initial = { value = 1; expression = "x"; };', "initial: give only one of value, expression and file"),
    (5, "initial = { value = 1; dataset = \"a\"; };", "initial.dataset = \"a\": belongs to initial.file, which is missing; give that, or remove this"),
    (5, "initial = { value = 1; step = 2; };", "initial.step = 2: belongs to initial.file"),
    (5, 'initial = { file = "no.h5"; step = -2; };', "initial.step = -2: must be >= -1"),
    (5, 'initial = { expression = "300+r"; };', 'initial.expression = "300+r": unknown name "r" (write sqrt(x^2+y^2)) at column 5'),
    (5, 'initial = { expression = "sin(x"; };', 'initial.expression = "sin(x": the "(" has no ")" at column 4'),
    (5, 'initial = { expression = " "; };', 'initial.expression = " ": is empty; give a number or an expression'),
    (5, 'initial = { expression = "1/(x-0.5)"; };', 'initial.expression = "1/(x-0.5)": is inf at node (5, 0), x = 0.5, y = 0 m, t = 0 s'),
    (5, 'initial = { value = 1; regions = ( { shape = "bowl"; value = 1; } ); };', 'initial.regions[0].shape = "bowl": must be one of box, sphere, cylinder'),
    (5, 'initial = { value = 1; regions = ( { shape = "ball"; value = 1; } ); };', 'initial.regions[0].shape = "ball": write "sphere"'),
    (5, 'initial = { value = 1; regions = ( { shape = "box"; lower = [0, 0]; upper = [1, 1]; } ); };', "initial.regions[0].value: missing; give the temperature"),
    (5, "initial = { value = 1; regions = ( { value = 2; } ); };", "initial.regions[0].shape: missing; give box, sphere, cylinder or half-space"),
    (5, 'initial = { value = 1; regions = ( { shape = "box"; value = 2; lower = [0, 0]; } ); };', "initial.regions[0].upper: missing; a box needs it"),
    (5, 'initial = { value = 1; regions = ( { shape = "box"; value = 2; lower = [0, 0]; upper = [1, 1]; radius = 1; } ); };', "initial.regions[0].radius = 1: a box does not take it; remove it"),
    (5, 'initial = { value = 1; regions = ( { shape = "box"; value = 2; lower = [1, 0]; upper = [0, 1]; } ); };', "initial.regions[0].upper: is below lower along x; swap them"),
    (5, 'initial = { value = 1; regions = ( { shape = "box"; value = 2; lower = [5, 0]; upper = [6, 1]; } ); };', "initial.regions[0]: lies outside the grid"),
    *((5, 'initial = { value = 1; regions = ( { value = 2; shape = ' + shape + " } ); };", "initial.regions[0]: holds no node of the grid, whose spacing is up to 0.1 x 0.1 m; make it larger, or the grid finer")
      for shape in ('"box"; lower = [0.11, 0.2]; upper = [0.19, 0.6];', '"sphere"; centre = [0.15, 0.15]; radius = 0.07;',
                    '"cylinder"; centre = [0.15, 0.15]; radius = 0.07;', '"cylinder"; axis = "x"; centre = [0, 0.1]; radius = 0.05; from = 0.11; to = 0.19;')),
    (5, 'initial = { value = 1; regions = ( { shape = "sphere"; value = 2; centre = [0, 0]; radius = 0; } ); };', "initial.regions[0].radius = 0: must be > 0 [m]"),
    (5, 'initial = { value = 1; regions = ( { shape = "sphere"; value = 2; centre = [0, 0, 0]; radius = 1; } ); };', "initial.regions[0].centre: has 3 numbers; the grid has 2 axes"),
    (5, 'initial = { value = 1; regions = ( { shape = "cylinder"; value = 2; centre = [0, 0]; radius = 1; axis = "z"; to = 0; } ); };', 'initial.regions[0].to = 0: the grid has no z axis; choose another, or remove it'),
    (5, 'initial = { value = 1; regions = ( { shape = "cylinder"; value = 2; centre = [0, 0]; radius = 1; from = 0; } ); };', "initial.regions[0].from = 0: the grid has no z axis"),
    (5, 'initial = { value = 1; regions = ( { shape = "cylinder"; value = 2; centre = [0, 0]; radius = 1; axis = "x"; from = 1; to = 0; } ); };', "initial.regions[0].to = 0: is below from; swap them"),
    (6, "source = { };", "source: give one of value, expression and file"),
    (6, 'source = { expression = "log(-1-x)"; };', "source.expression = \"log(-1-x)\": is "),
    (11, "exact = { value = 300.0; };", "exact.value: unknown key; did you mean exact.expression?"),
    (11, "exact = { max_error = 1.0; };", "exact.expression: missing; give the solution, or remove exact"),
    (11, 'exact = { expression = "300"; max_error = -1.0; };', "exact.max_error = -1.0: must be >= 0 [K]"),
    (11, 'exact = { expression = "sqrt(-t)"; };', 'exact.expression = "sqrt(-t)": is '),
    # ---- names of elsewhere, and what is not supported yet
    (3, "material = { diffusivity = 1.0; regions = ( { shape = \"box\"; } ); };", "material.regions: unknown key; a material is the same everywhere; several are given as materials"),
    (3, "material = { diffusivity = 1.0; name = \"copper\"; };", "material.name: unknown key; a material is the same everywhere"),
    (3, 'material = { conductivity = "1 + x"; density = 1; specific_heat = 1; };', 'material.conductivity = "1 + x": must be a number without quotes or brackets; a conductivity that differs from node to node is read by measured'),
    (3, 'material = { conductivity = [1, 2]; density = 1; specific_heat = 1; };', "material.conductivity: must be a number without quotes or brackets; a material that conducts differently along the axes is one of materials"),
    (3, 'material = { conductivity = "1"; density = 1; specific_heat = 1; };', 'material.conductivity = "1": must be a number without quotes or brackets\n'),
    (3, "material = { k = 2.0; density = 1000.0; specific_heat = 500.0; };", "material.k: unknown key; did you mean material.conductivity?"),
    (7, 'boundary = { x_min = { type = "convection"; h = 5; ambient = 300; }; };', 'boundary.x_min.type = "convection": write "robin" with h and ambient'),
    (7, 'boundary = { all = { type = "Convective"; }; };', 'boundary.all.type = "Convective": write "robin" with h and ambient'),
    (7, 'boundary = { all = { type = "insulated"; }; };', 'boundary.all.type = "insulated": write "reflective"'),
    (7, 'boundary = { all = { type = "adiabatic"; }; };', 'boundary.all.type = "adiabatic": write "reflective"'),
    (7, 'boundary = { all = { type = "flux"; }; };', 'boundary.all.type = "flux": write "neumann" with flux or gradient'),
    (7, 'boundary = { all = { type = "heat flux"; }; };', 'boundary.all.type = "heat flux": write "neumann" with flux or gradient'),
    (7, 'boundary = { all = { type = "isothermal"; }; };', 'boundary.all.type = "isothermal": write "dirichlet" with value'),
    (7, 'boundary = { all = { type = "temperature"; }; };', 'boundary.all.type = "temperature": write "dirichlet" with value'),
    (7, 'boundary = { left = { type = "fixed"; }; };', "boundary.left: unknown key; faces are called x_min, x_max"),
    (7, 'boundary = { all = { type = "robin"; h = 5; T_inf = 300; }; };', "boundary.all.T_inf: unknown key; did you mean boundary.all.ambient?"),
    (3, "material = { diffusivity = 1e-4; latent_heat = 3e5; };", "material.latent_heat: unknown key; latent heat is not supported yet"),
    (8, "time = { end = 10.0; dt = 1.0; };", "time.dt: unknown key; did you mean time.step?"),
    (8, 'time = { end = 10.0; method = "eulr"; };', 'time.method = "eulr": no such method; did you mean "euler"? There are euler, '),
    (8, 'time = { end = 10.0; method = "explicit"; };', 'time.method = "explicit": write "euler": forward Euler: a step is a sweep; there are euler, '),
    (8, 'time = { end = 10.0; method = "Crank-Nicolson"; };', 'time.method = "Crank-Nicolson": write "implicit": steps of any length'),
    (8, 'time = { end = 10.0; method = "multigrid"; };', 'time.method = "multigrid": write steady.method = "multigrid": conjugate gradients'),
    (12, 'steady = { tolerance = 1e-9; method = "CG"; };', 'steady.method = "CG": write "multigrid": conjugate gradients with a V-cycle'),
    (12, 'steady = { tolerance = 1e-9; method = "sweep"; };', 'steady.method = "sweep": no such method; did you mean "sweeps"? There are auto, sweeps'),
    (1, 'precision = "single";', 'precision = "single": write "float"'),
    (5, 'initial = { expression = "x**2"; };', 'initial.expression = "x**2": "**" was not expected (write x^2 or x*x for a power) at column 2'),
    (5, 'initial = { expression = "E^x"; };', 'initial.expression = "E^x": unknown name "E" (Euler\'s number is e, its powers exp(...)) at column 1'),
    (5, 'initial = { expression = "log1p(x)"; };', 'initial.expression = "log1p(x)": unknown name "log1p" (write ln(1 + x)) at column 1'),  # log10 was proposed
    (5, 'initial = { expression = "sqr(x)"; };', 'initial.expression = "sqr(x)": unknown name "sqr" (write x^2) at column 1'),  # sqrt was
    (5, 'initial = { expression = "round(x)"; };', 'initial.expression = "round(x)": unknown name "round" (write rint) at column 1'),
    (5, 'initial = { expression = "0,5*x"; };', 'initial.expression = "0,5*x": "," was not expected (write the decimal point as ".") at column 2'),
    (5, 'initial = { expression = "x(1-x)"; };', 'initial.expression = "x(1-x)": "(" was not expected (an operator is missing; write * to multiply) at column 2'),
    (5, 'initial = { expression = "2*(x+1"; };', 'initial.expression = "2*(x+1": the "(" has no ")" at column 3'),
    # ---- what is not finite
    (5, 'initial = { expression = "sqrt(x-0.5)"; };', 'initial.expression = "sqrt(x-0.5)": is not a number (NaN) at node (0, 0), x = 0, y = 0 m, t = 0 s'),
    (5, 'initial = { value = 1; regions = ( { shape = "box"; lower = [0.2, 0.2]; upper = [0.5, 0.5]; value = "log(-x)"; } ); };', 'initial.regions[0].value = "log(-x)": is not a number (NaN) at node (2, 2), x = 0.2, y = 0.2 m'),
    # ---- boundary
    (7, 'boundary = { all = { type = "dirichlet"; }; };', "boundary.all.value: missing; a dirichlet boundary needs value"),
    (7, 'boundary = { x_min = { type = "robin"; h = 1.0; }; };', "boundary.x_min.ambient: missing; a robin boundary needs h and ambient"),
    (7, 'boundary = { x_min = { type = "robin"; h = -1.0; ambient = 0; }; };', "boundary.x_min.h = -1.0: must be >= 0 [W/(m^2 K)]"),
    (7, 'boundary = { x_min = { type = "robin"; h = "t"; ambient = 0; }; };', 'boundary.x_min.h = "t": its expression may depend on x, y, z, not on t; for an h that changes with time give h_table'),
    (7, 'boundary = { x_min = { type = "neumann"; }; };', "boundary.x_min: a neumann boundary needs flux or gradient"),
    (7, 'boundary = { x_min = { type = "neumann"; flux = 1; gradient = 1; }; };', "boundary.x_min: a neumann boundary needs flux or gradient, not both"),
    (7, 'boundary = { x_min = { type = "reflective"; value = 1; }; };', "boundary.x_min.value = 1: a reflective boundary does not use it; remove it"),
    (7, 'boundary = { all = { type = "reflective"; value = 1; }; };', "boundary.all.value = 1: a reflective boundary does not use it"),
    (7, 'boundary = { x_min = { type = "periodic"; }; };', "boundary.x_max.type: x_min is periodic, so this face must be, too"),
    (7, 'boundary = { x_max = { type = "periodic"; }; x_min = { type = "clamp"; }; };', 'boundary.x_min.type = "clamp": x_max is periodic'),
    (7, 'boundary = { z_min = { type = "fixed"; }; };', "boundary.z_min: the grid has no z axis; remove it, or give grid.points 3 numbers"),
    (7, 'boundary = { x_min = { type = "dirichle"; value = 1; }; };', 'boundary.x_min.type = "dirichle": did you mean "dirichlet"? Choose one of fixed, dirichlet'),
    (6, 'source = { expression = "sqrt(t-1)"; };', 'source.expression = "sqrt(t-1)": is not a number (NaN) at node (0, 0), x = 0, y = 0 m, t = 0 s'),
    (7, 'boundary = { x_min = { type = "dirichlet"; value = "1/x"; }; };', 'boundary.x_min.value = "1/x": is inf at node (0, 0), x = 0, y = 0 m, t = 0 s'),
    (7, 'boundary = { all = { type = "dirichlet"; value = "y/0"; }; };', 'boundary.all.value = "y/0": is '),
    # ---- time and output
    (8, "time = { end = 1.0; sweeps = 10; };", "time.sweeps = 10: give end or sweeps, not both"),
    (8, "time = { end = 0.0; };", "time.end = 0.0: must be > 0 [s]"),
    (8, "time = { end = 1.0; step = 0.0; };", "time.step = 0.0: must be > 0 [s]"),
    (8, "time = { end = 1.0; step = -1; };", "time.step = -1: must be > 0 [s]"),
    (8, "time = { end = 1.0; safety = 1.5; };", "time.safety = 1.5: must be > 0, <= 1"),
    (8, "time = { sweeps = -1; };", "time.sweeps = -1: must be >= 0"),
    (12, "steady = { check_every = 10; };", "steady.tolerance: missing; give a number, as in 1e-8, or remove steady"),
    (12, "steady = { tolerance = 0; };", "steady.tolerance = 0: must be > 0 [K]"),
    (12, "steady = { tolerance = 1; check_every = 0; };", "steady.check_every = 0: must be >= 1 [sweeps]"),
    (9, 'output = { file = "case.h5"; interval = 1.0; every = 5; };', "output.every = 5: give interval or every, not both"),
    (9, 'output = { file = "case.h5"; interval = 0; };', "output.interval = 0: must be > 0 [s]"),
    (9, 'output = { file = "case.h5"; compression = 10; };', "output.compression = 10: must be 0 to 9"),
    (9, 'output = { file = ""; };', 'output.file = "": is empty, a folder, a device or a pipe; give the name of the file'),
    (9, 'output = { file = "out/"; };', 'output.file = "out/": is empty, a folder'),
    (9, 'output = { file = "~/case.h5"; };', 'output.file = "~/case.h5": ~ is not expanded here; write the path out'),
    (9, 'output = { file = "."; };', 'output.file = ".": is empty, a folder'),
    (9, 'output = { file = "case.cfg"; };', 'output.file = "case.cfg": is the config itself; give another name'),
    (9, "checkpoint = { every_minutes = 0; };", "checkpoint.every_minutes = 0: must be > 0 [min]"),
    (9, "solver = { threads = -1; };", "solver.threads = -1: must be 0 to 4096"),
    (9, "solver = { device = 1e9; };", "solver.device = 1e9: must be 0 to 1023"),
    (9, 'solver = { kernel = "opnmp"; backend = "cpu"; };', 'solver.kernel = "opnmp": the cpu backend has none of that name; did you mean "openmp"?'),
    (9, 'solver = { kernel = "wavefrnt"; };', 'solver.kernel = "wavefrnt": no kernel has that name; did you mean "wavefront"?'),
    (9, 'solver = { kernel = "vector_mach"; };', 'solver.kernel = "vector_mach": no kernel has that name; did you mean "vector_march"?'),
    (9, 'solver = { backend = "gpu"; };', 'solver.backend = "gpu": is neither "cpu" nor "cuda"; this build has: '),
    (9, 'output = { interval = 1e-300; };', "output.interval = 1e-300: that is 1e+301 snapshots, more than can be counted"),
    (5, 'initial = { expression = "1/0"; };', 'initial.expression = "1/0": is inf at node (0, 0)'),
    # ---- probes
    (10, "probes = ( { at = [0.1, 0.1]; } );", "probes[0].name: missing; give the probe a name"),
    (10, 'probes = ( { name = "p"; } );', "probes[0].at: missing; give its coordinates in m"),
    (10, 'probes = ( { name = "a/b"; at = [0, 0]; } );', 'probes[0].name = "a/b": cannot be the name of a dataset and of a curve; give one without "/" and ","'),
    (10, 'probes = ( { name = "a,b"; at = [0, 0]; } );', 'probes[0].name = "a,b": cannot be the name of a dataset and of a curve'),
    (10, 'probes = ( { name = ""; at = [0, 0]; } );', 'probes[0].name = "": cannot be the name of a dataset'),
    (10, 'probes = ( { name = "."; at = [0, 0]; } );', 'probes[0].name = ".": cannot be the name of a dataset'),
    (10, 'probes = ( { name = "time"; at = [0, 0]; } );', 'probes[0].name = "time": is taken: /probes/time belongs to the rows themselves'),
    (10, 'probes = ( { name = "sweep"; at = [0, 0]; } );', 'probes[0].name = "sweep": is taken: /probes/sweep belongs to the rows themselves'),
    (10, 'probes = ( { name = "a"; at = [0, 0]; }, { name = "a"; at = [1, 0]; } );', 'probes[1].name = "a": probes[0] has the same name; give each its own'),
    (10, 'probes = ( { name = "p"; at = [0.1, 0.9]; } );', "probes[0].at: lies outside the grid along y; give a place from 0 to 0.8 m"),
    (10, 'probes = ( { name = "p"; at = [0.1]; } );', "probes[0].at: has 1 number; the grid has 2 axes"),
    (10, "probes = ( " + ",".join(["{}"] * 1001) + " );", "probes: has 1001 members; at most 1000 are allowed"),
]


@pytest.mark.parametrize("line, replacement, message", ONE_LINE, ids=[f"{l}-{m[:40]}" for l, r, m in ONE_LINE])
def test_a_bad_line_is_refused_with_its_place(tmp_path, line, replacement, message):
    result = heatsolve(tmp_path, changed(line, replacement))
    said_with_place = "case.cfg" in message or message.startswith(":") or message.startswith("syntax")
    assert_refused(result, 2, [message if said_with_place else f"case.cfg:{line}: {message}"])


RAW = 'grid = { points = [9]; };\nstencil = { c0 = 0.5; c1 = 0.25; c2 = 0.25; };\ninitial = { value = 1; };\n'

WHOLE = {
    "missing coefficient": (
        RAW.replace("c1 = 0.25; ", "") + "time = { sweeps = 1; };",
        "case.cfg:2: stencil.c1: missing; 1D with radius 1 needs c0 to c2",
    ),
    "coefficient too many": (
        RAW.replace("c2 =", "c3 = 0.1; c2 =") + "time = { sweeps = 1; };",
        "case.cfg:2: stencil.c3 = 0.1: 1D with radius 1 has c0 to c2 only; remove it",
    ),
    "coefficients and material": (
        RAW + "time = { sweeps = 1; };\nmaterial = { diffusivity = 1.0; };",
        "case.cfg:5: material.diffusivity = 1.0: the raw coefficients stencil.c0 ... already include it",
    ),
    "coefficients and density": (
        RAW + "time = { sweeps = 1; };\nmaterial = { density = 1.0; };",
        "case.cfg:5: material.density = 1.0: the raw coefficients stencil.c0 ... already include it",
    ),
    "end without a step": (
        RAW + "time = { end = 1.0; };",
        "case.cfg:4: time.end = 1.0: raw coefficients do not say how long a sweep is; give time.step, or time.sweeps",
    ),
    "interval without a step": (
        RAW + "time = { sweeps = 1; };\noutput = { interval = 1.0; };",
        "case.cfg:5: output.interval = 1.0: raw coefficients do not say how long a sweep is; give time.step, or output.every",
    ),
    "automatic step of coefficients": (
        RAW + 'time = { sweeps = 1; step = "auto"; };',
        'case.cfg:4: time.step = "auto": raw coefficients include the step',
    ),
    "flux without conductivity": (
        RAW + 'time = { sweeps = 1; };\nboundary = { x_min = { type = "neumann"; flux = 1; }; };',
        'case.cfg:5: boundary.x_min.type = "neumann": a flux in W/m^2 needs material.conductivity; give that, or gradient in K/m',
    ),
    "convection without conductivity": (
        RAW + 'time = { sweeps = 1; };\nboundary = { all = { type = "robin"; h = 1; ambient = 1; }; };',
        'case.cfg:5: boundary.all.type = "robin": convection needs material.conductivity',
    ),
    "a diffusivity that overflows": (
        "grid = { points = [11]; upper = [1.0]; };\nmaterial = { diffusivity = 1e307; };\ninitial = { value = 1; };\ntime = { sweeps = 1; };\n",
        "case.cfg: material: a diffusivity of 1e+307 m^2/s and a spacing of 0.1 m along x cannot be computed with; look at the units",
    ),
    "a diffusivity that vanishes": (
        "grid = { points = [11]; };\nmaterial = { diffusivity = 1e-310; };\ninitial = { value = 1; };\ntime = { sweeps = 1; };\n",
        "case.cfg: material: a diffusivity of 1e-310 m^2/s and a spacing of 1 m along x cannot be computed with; look at the units",
    ),
    "no length": (RAW, "case.cfg: time: missing end or sweeps; say how long the run is"),
    "an empty file": ("", "case.cfg: grid.points: missing"),
    "not a config": ("hello, world\n", "case.cfg:1: syntax error"),
    "output": (b"\x89HDF\r\n\x1a\n\0\0\0", "case.cfg: an HDF5 file, no config; heatsolve render draws the output of a run"),
    "binary": (b"\x89PNG\r\n\x1a\n\0\0\0", "case.cfg: contains NUL characters, so it is not text"),
    "utf-16": ("title = 1;".encode("utf-16"), "case.cfg: contains NUL characters"),
    "control character": (b"title = \x02;\n", "case.cfg:1: a control character (code 2); a config is plain text"),
    "too large": (b"#" * (1 << 24) + b"##\n", "case.cfg: larger than 16 MiB, so it is no config"),
    "bad include": ("\n@include no quotes\n", 'case.cfg:2: @include: write @include "FILE" on a line of its own'),
    "endless include": ('@include "case.cfg"\n', "files include each other without end"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_bad_config_is_refused(tmp_path, name):
    text, message = WHOLE[name]
    assert_refused(heatsolve(tmp_path, text), 2, [message])


FAR = """\
grid = { points = [9, 9]; lower = [5e6, 0.0]; spacing = 1e-7; };
material = { diffusivity = 1.0; };
initial = { value = 1; };
boundary = { x_min = { type = "dirichlet"; value = 0; }; };
time = { sweeps = 10; };
"""
BOX = 'shape = "box"; lower = [5000000.0000002, 2e-7]; upper = [5000000.0000005, 5e-7];'
TWO = """\
materials = ( { name = "a"; diffusivity = 1.0; }, { name = "b"; diffusivity = 2.0; } );
body = ( { material = "a"; }, { material = "b"; %s } );""" % BOX


@pytest.mark.parametrize("line, replacement, user", [
    (2, TWO, "body[1]"),
    (3, "initial = { value = 1; regions = ( { value = 2; %s } ); };" % BOX, "initial.regions[0]"),
    (3, 'initial = { expression = "x + y"; };', "initial.expression"),
    (4, 'boundary = { y_min = { type = "dirichlet"; value = "x"; }; };', "boundary.y_min.value"),
])
def test_what_goes_by_coordinates_that_tell_no_cell_is_refused(tmp_path, line, replacement, user):
    """At 5e6 m coordinates resolve 1e-9 m, a hundredth of a cell: a box or a step would move by that much."""
    text = "".join(replacement + "\n" if n == line else row for n, row in enumerate(FAR.splitlines(True), 1))
    message = (
        "case.cfg:1: grid.spacing = 1e-7: cells of 1e-07 m along x, from 5000000 m, are too small for their place: so far from "
        f"the origin their width is lost in rounding, and {user} uses coordinates; move the origin nearer to them"
    )
    assert_refused(heatsolve(tmp_path, text), 2, [message])


@pytest.mark.parametrize("initial", ["value = 1;", 'expression = "y";'])
def test_what_goes_by_the_spacing_alone_is_the_same_anywhere(tmp_path, initial):
    fields = []
    for lower in "0.0", "5e6":
        text = FAR.replace("5e6", lower).replace("value = 1;", initial)
        assert heatsolve(tmp_path, text, "--set", "output.file=case.h5", "--overwrite", command="run").returncode == 0
        with h5py.File(tmp_path / "case.h5") as f:
            fields.append(f["temperature"][-1])
    assert fields[0].tobytes() == fields[1].tobytes() and fields[0].any()


UNKNOWN = "".join(f"key_{i} = {i};\n" for i in range(300000))
PROBES = "probes = (" + ",\n".join(f'{{ name = "p{i}"; at = [0.1, 0.1]; }}' for i in range(150000)) + ");\n"
POINTS = "grid = { points = [" + ", ".join(["9"] * 200000) + "]; };"


@pytest.mark.parametrize("text, message", [
    (GOOD + UNKNOWN, "case.cfg:501: more than 500 keys in one group, or 20000 in all, which no config has"),
    (GOOD + f"deep = {{ {UNKNOWN} }};", "case.cfg:513: more than 500 keys in one group"),
    (GOOD + "".join(f"g{i} = {{ {'; '.join(f'k{n} = 1' for n in range(400))}; }};\n" for i in range(100)), "more than 500 keys in one group, or 20000 in all"),
    (changed(10, PROBES), "more than 500 keys in one group, or 20000 in all, which no config has"),
    (changed(2, POINTS), "case.cfg:2: grid.points: has 200000 members; at most 1000 are allowed"),
    (GOOD + "a = " + "{ a = " * 50000 + "1; }" * 50000 + ";", "case.cfg:13: groups within groups, more than 32"),
    (GOOD + "a = " + "(" * 50000 + "1" + ")" * 50000 + ";", "case.cfg:13: too many lists within lists"),
], ids=["keys", "keys of a group", "groups", "probes", "numbers", "groups in groups", "lists in lists"])
def test_a_huge_config_is_refused_soon(tmp_path, text, message):
    """In seconds at most; an O(n^2) algorithm took minutes."""
    result = heatsolve(tmp_path, text)
    assert_refused(result, 2, [message])
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("points, centre", [("[17, 9]", "[0.5, 0.4]"), ("[17]", "[0.5]")])
def test_a_cylinders_axis_may_be_said_where_it_is_the_default(tmp_path, points, centre):
    """On a plane the cylinder is a disc, on a line a segment, with or without axis = "z"."""
    fields = []
    for axis in "", 'axis = "z";':
        text = f"grid = {{ points = {points}; spacing = 0.1; }};\nmaterial = {{ diffusivity = 1e-6; }};\ntime = {{ sweeps = 1; }};\n"
        text += f'initial = {{ value = 1.0; regions = ( {{ shape = "cylinder"; centre = {centre}; radius = 0.3; value = 2.0; {axis} }} ); }};'
        result = heatsolve(tmp_path, text, "--output", "case.h5", "--overwrite", command="run")
        assert result.returncode == 0, result.stderr
        with h5py.File(tmp_path / "case.h5") as f:
            fields.append(f["temperature"][0])
    assert fields[0].tobytes() == fields[1].tobytes() and set(fields[0].ravel()) == {1.0, 2.0}
    other = heatsolve(tmp_path, text.replace('"z"', '"y"').replace(points, "[17]").replace(centre, "[0.5]"))
    assert other.returncode == 2 and 'initial.regions[0].axis = "y": the grid has no y axis; choose another' in other.stderr


def test_a_missing_axis_is_all_that_is_said_of_the_grid(tmp_path):
    text = "grid = { points = [9]; z = [0, 1, 2]; }; material = { diffusivity = 1.0; }; initial = { value = 1.0; }; time = { sweeps = 1; };"
    result = heatsolve(tmp_path, text)
    assert result.returncode == 2 and result.stderr.count("\n") == 1 and "grid.z: the grid has no y axis" in result.stderr


def test_the_first_mistakes_are_listed_and_the_others_counted(tmp_path):
    said = heatsolve(tmp_path, GOOD + "".join(f"key_{i} = {i};\n" for i in range(400))).stderr.splitlines()
    assert said[0].startswith("heatsolve: case.cfg:13: key_0: unknown key") and said[49].startswith("case.cfg:62: key_49: ")
    assert said[50:] == ["and 350 more"]
    fifty = heatsolve(tmp_path, GOOD + "".join(f"key_{i} = {i};\n" for i in range(50))).stderr.splitlines()
    assert fifty == said[:50]


def test_the_largest_config_is_not_too_large(tmp_path):
    """The largest numbers allowed: 1000 probes and 1000 regions, 10,000 keys."""
    regions = ", ".join(f'{{ shape = "box"; lower = [0, 0]; upper = [0.1, {i % 8 / 10}]; value = {i}; }}' for i in range(1000))
    probes = ", ".join(f'{{ name = "p{i}"; at = [0.1, 0.1]; }}' for i in range(1000))
    text = changed(5, f"initial = {{ value = 300.0; regions = ( {regions} ); }};")
    text = text.replace('probes = ( { name = "p"; at = [0.1, 0.1]; } );', f"probes = ( {probes} );")
    result = heatsolve(tmp_path, text, "--quiet")
    assert result.returncode == 0, result.stderr


COORDINATES = 20000


def test_an_axis_may_have_many_coordinates(tmp_path):
    """An axis may have more entries than other lists, and comparing them for a resumed run is fast."""
    x = [f"{i * (1 + 1e-7 * i):.12g}" for i in range(COORDINATES)]
    text = changed(2, f"grid = {{ x = [{', '.join(x)}]; points = [3]; upper = [0.8]; }};")
    text = text.replace("steady = { tolerance = 1e-9; };", "").replace("time = { end = 10.0; };", "time = { sweeps = 2; };")
    assert heatsolve(tmp_path, text, "--quiet", command="run").returncode == 0
    for sweeps in 3, 4:
        resumed = heatsolve(tmp_path, text, "--resume", "--set", f"time.sweeps={sweeps}", command="run")
        assert resumed.returncode == 0, resumed.stderr
    with h5py.File(tmp_path / "case.h5") as f:
        assert f["x"].shape == (COORDINATES,) and f["x"][-1] == float(x[-1])
    last = f"grid.x[{COORDINATES - 1}]"
    other = heatsolve(tmp_path, text, "--resume", "--set", f"{last}=30000", "--set", "time.sweeps=5", command="run")
    assert_refused(other, 2, [f"it belongs to another run: {last} is 30000, and was {x[-1]}"])
    beyond = heatsolve(tmp_path, text, "--set", "grid.x[1000000]=1")
    assert_refused(beyond, 2, ["--set: grid.x[1000000]: 1000000 is not an index; members are [0], [1] ... to [999999]"])


OVERRIDES = [
    (["time.stp=1"], "--set: time.stp: unknown key; did you mean time.step?"),
    (["time.step=-1"], "--set: time.step = -1: must be > 0 [s]"),
    (["time.step"], "--set: time.step: write KEY=VALUE, as in time.end=1.0"),
    (["=3"], "--set: =3: write KEY=VALUE"),
    (["time end=3"], "--set: time end=3: write KEY=VALUE"),
    (["grid.points=[65,"], "--set: grid.points = [65,: not a value; write a number"),
    (["grid.points=[65;a=3"], "--set: grid.points = [65;a=3: not a value"),
    (["material.diffusivity=0,5"], '--set: material.diffusivity = 0,5: not a value; the decimal point is ".", and a list of numbers stands in [ ]'),
    (["grid.points=1; b = 2"], "--set: grid.points = 1; b = 2: not a value"),
    (["grid.points="], "--set: grid.points = : no value; --set cannot remove a key: give its group without it, --set 'grid={ ... }'\n"),
    (["time.step= "], "--set: time.step = : no value; --set cannot remove a key: give its group without it, --set 'time={ ... }', or set its default, auto\n"),
    (["initial.file="], "--set: initial.file = : no value; --set cannot remove a key"),
    (["boundary.x_min.type="], "--set: boundary.x_min.type = : no value; --set cannot remove a key: give its group without it, --set 'boundary.x_min={ ... }'"),
    (["probes[0]="], "--set: probes[0] = : no value; --set cannot remove a key: give its list without it, --set 'probes=( ... )'\n"),
    (["precision="], "--set: precision = : no value; --set cannot remove a key: delete it in the config, or set its default, double\n"),
    (["grid.points=[65,2]"], "--set: grid.points[1] = 2: at least 3 points are needed for radius 1"),
    (["grid.points[1]=2"], "--set: grid.points[1] = 2: at least 3 points are needed for radius 1"),
    (["grid.points[3]=2"], "grid.points: has 4 numbers; give 1, 2 or 3, one for each axis"),
    *(([f"grid.points[{i}]=7"], f"--set: grid.points[{i}]: {i} is not an index; members are [0], [1] ... to [999]\n")
      for i in ("00", "01", "1000", "1000000", "2147483647", "4294967296", "99999999999999999999")),
    (["time.sweeps=9000000000000000000"], "--set: time.sweeps = 9000000000000000000: must be at most 9007199254740992 (2^53)"),
    (["time.sweeps=-1"], "--set: time.sweeps = -1: must be >= 0\n"),
    (["output.every=9000000000000000000"], "--set: output.every = 9000000000000000000: must be at most 9007199254740992 (2^53)"),
    (["solver.device=5000"], "--set: solver.device = 5000: must be 0 to 1023"),
    (["probes[00].name=q"], "--set: probes[00].name: 00 is not an index"),
    (["probes[2147483647]={ name = \"q\"; at = [0, 0]; }"], "--set: probes[2147483647]: 2147483647 is not an index"),
    (["initial.value=-inf"], '--set: initial.value = "-inf": is not finite; give a number'),
    (["precision=quad"], '--set: precision = "quad": must be one of double, float'),
    (["initial.expression=300+r"], '--set: initial.expression = "300+r": unknown name "r"'),
    (["time.end=1", "time.sweeps=1"], "--set: time.sweeps = 1: give end or sweeps, not both"),
    (["boundary.x_min.type=periodic"], "x_min is periodic, so this face must be, too"),
    (["probes[2]={name=\"q\"; at=[0,0];}"], "probes[1]: missing; members are numbered from 0, without gaps"),
    (["probes[1].name=q"], "--set: probes[1].at: missing; give its coordinates in m"),
    (["grid=3"], "--set: grid = 3: must be a group { ... }"),
    (["initial.file=no-such.h5"], "--set: initial.file = \"no-such.h5\": cannot open no-such.h5: No such file or directory"),
]


@pytest.mark.parametrize("settings, message", OVERRIDES, ids=[" ".join(s) for s, m in OVERRIDES])
def test_a_bad_override_is_refused(tmp_path, settings, message):
    arguments = [a for setting in settings for a in ("--set", setting)]
    result = heatsolve(tmp_path, GOOD, *arguments)
    assert_refused(result, 3 if "cannot open" in message else 2, [message])


@pytest.mark.parametrize("name", ["multigrid", "spectral", "auto"])
def test_a_tolerance_that_the_start_meets_is_refused(tmp_path, name):
    """A solver's tolerance is relative: with 1 the initial field would count as the steady state."""
    text = GOOD.replace("time = { end = 10.0; };", "").replace("reflective", "fixed").replace("1e-9", f'1; method = "{name}"')
    said = 'case.cfg:12: steady.tolerance = 1: must be < 1: with "{}" it is relative to the initial field\'s'
    assert_refused(heatsolve(tmp_path, text, command="run"), 2, [said.format(name.replace("auto", "multigrid"))])
    for good in ("steady.tolerance=0.9", "steady.method=sweeps"):
        assert heatsolve(tmp_path, text, "--set", good).returncode == 0


@pytest.mark.parametrize("file, said", [
    (f"there/{'d' * 200}/{'e' * 300}/x.h5", "cannot make this directory: File name too long; write elsewhere with --output FILE"),
    (f"there/a/../b/{'x' * 300}.h5", "cannot create: File name too long; set output.file to a shorter name"),
], ids=["folder", "file"])  # fmt: skip
def test_a_run_that_does_not_begin_leaves_no_folder(tmp_path, file, said):
    (tmp_path / "there").mkdir()
    assert_refused(heatsolve(tmp_path, changed(9, f'output = {{ file = "{file}"; }};'), command="run"), 3, [said])
    assert list((tmp_path / "there").iterdir()) == []
    picture = program.heatsolve(tmp_path, "bench", "--points", "9", "--repeats", "1", "--kernel", "openmp", "--roofline", file[:-2] + "png")
    assert picture.returncode == 3 and list((tmp_path / "there").iterdir()) == []


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_path_through_a_file_is_no_matter_of_permission(tmp_path, command):
    result = heatsolve(tmp_path, changed(9, 'output = { file = "case.cfg/x.h5"; };'), command=command)
    said = result.stdout.decode() + result.stderr
    assert "case.cfg/x.h5: cannot " in said and "Not a directory; part of the path is a file; set output.file to another path" in said
    assert "Permission" not in said


def test_all_errors_are_reported_at_once(tmp_path):
    text = changed(1, 'titel = "x"; precision = "flaot";')
    text = text.replace("density = 1000.0", "density = -1").replace("end = 10.0", "end = 0.0")
    result = heatsolve(tmp_path, text, "--set", "time.stp=1")
    assert_refused(
        result,
        2,
        ["case.cfg:1: titel", "case.cfg:1: precision", "case.cfg:3: material.density", "case.cfg:8: time.end", "--set: time.stp"],
    )
    assert len(result.stderr.strip().splitlines()) == 5


MANY = """\
titel = "case";
grid = { points = [2, 9]; upper = [1.6, 0.8]; };
material = { diffusivity = 1e-3; };
initial = { expression = "1/0"; regions = ( { shape = "sphere"; value = 1; centre = [0, 0, 0]; }, 5, { shape = "cube"; value = "1+"; } ); };
source = { expression = "sin(x"; };
boundary = { all = { type = "robin"; h = 1.0; ambient = "r"; }; x_min = { type = "periodic"; }; y_max = { type = "dirichlet"; }; z_min = { type = "fixed"; }; };
time = { end = 10.0; safety = 2; };
steady = { check_every = 0; };
solver = { backend = "gpu"; kernel = "opnmp"; };
output = { file = "case.cfg"; interval = 1; every = 2; };
probes = ( { name = "a/b"; at = [0.1]; }, { name = "c"; at = [0.1, 9.0]; }, 3 );
exact = { max_error = -1; };
"""

# the faults: line, key, and the beginning of the message
MANY_FAULTS = """\
1: titel: unknown
2: grid.points[0] = 2: at least 3
4: initial.expression = "1/0": is inf
4: initial.regions[0].radius: missing
4: initial.regions[0].centre: has 3 numbers
4: initial.regions[1] = 5: must be a group
4: initial.regions[2].shape = "cube": write "box"
4: initial.regions[2].value = "1+":
5: source.expression = "sin(x": the "(" has no ")"
6: boundary.all.type = "robin": convection needs
6: boundary.all.ambient = "r": unknown name
6: boundary.x_max.type: x_min is periodic
6: boundary.y_max.value: missing
6: boundary.z_min: the grid has no z axis
7: time.safety = 2: must be
8: steady.tolerance: missing
8: steady.check_every = 0: must be
9: solver.backend = "gpu": is neither "cpu" nor "cuda"
9: solver.kernel = "opnmp":
10: output.file = "case.cfg": is the config
10: output.every = 2: give interval or every
11: probes[0].name = "a/b": cannot
11: probes[0].at: has 1 number
11: probes[1].at: lies outside
11: probes[2] = 3: must be a group
12: exact.expression: missing
12: exact.max_error = -1: must be
"""


def unsaid(text, result):
    said = result.stderr.replace("heatsolve: ", "").splitlines()
    wanted = [f"case.cfg:{fault}" for fault in text.splitlines()]
    left = [w for w in wanted if not any(s.startswith(w) for s in said)]
    more = [s for s in said if not any(s.startswith(w) for w in wanted)]
    return left, more


def test_one_mistake_does_not_hide_another(tmp_path):
    """Every part of the config has mistakes: all are reported at once, and each only once."""
    result = heatsolve(tmp_path, MANY)
    assert result.returncode == 2
    left, more = unsaid(MANY_FAULTS, result)
    assert (left, more) == ([], [])


def test_a_number_of_points_does_not_hide_what_does_not_depend_on_it(tmp_path):
    text = MANY.replace("points = [2, 9]", "points = [2, 3000000000]").replace("upper = [1.6, 0.8]", "upper = [1.6]")
    result = heatsolve(tmp_path, text)
    places = ('initial.expression = "1/0": is inf', "probes[1].at: lies")  # these need the number of points
    faults = "".join(f + "\n" for f in MANY_FAULTS.splitlines() if not any(p in f for p in places))
    left, more = unsaid(faults + "2: grid.points[1] = 3000000000: must be\n2: grid.upper: has 1 number", result)
    assert (left, more) == ([], [])


@pytest.mark.parametrize("line, text", [(10, "probes = 3;"), (5, "initial = { value = 1; regions = 3; };")])
def test_a_number_for_a_list_is_one_mistake(tmp_path, line, text):
    result = heatsolve(tmp_path, changed(line, text))
    assert result.returncode == 2 and result.stderr.count("\n") == 1, result.stderr


@pytest.mark.parametrize("setting", ["grid.points=[65,", "time.end=[3", "material.density=[3", "grid={", "boundary.all={"] + [
    f"{group}=5" for group in ("grid", "material", "steady", "exact", "materials", "body", "measured", "probes[0]", "time")])  # fmt: skip
def test_what_an_override_makes_unreadable_is_not_called_missing(tmp_path, setting):
    result = heatsolve(tmp_path, GOOD, "--set", setting)
    assert_refused(result, 2, [f"heatsolve: --set: {setting.replace('=', ' = ')}: "])
    assert result.stderr.count("\n") == 1, result.stderr


def test_a_missing_grid_does_not_hide_the_rest(tmp_path):
    text = MANY.replace("points = [2, 9]; ", "")
    places = ("grid.points", 'initial.expression = "1/0": is inf', "probes[1].at", "probes[0].at", "centre", "no z axis")  # need the grid
    faults = "".join(f + "\n" for f in MANY_FAULTS.splitlines() if not any(p in f for p in places))
    left, more = unsaid(faults + "2: grid.points: missing", heatsolve(tmp_path, text))
    assert (left, more) == ([], [])


def test_an_unstable_step_is_said_beside_other_mistakes(tmp_path):
    """The limit follows from grid, material, stencil, boundary and time; it is checked only if these are valid."""
    text = GOOD.replace("end = 10.0;", "end = 10.0; step = 1e9;").replace('name = "p"', 'name = ""')
    assert_refused(heatsolve(tmp_path, text), 2, ["case.cfg:8: time.step = 1e+09: above", "case.cfg:10: probes[0].name"])
    for wrong in (("conductivity = 2.0", "condctivity = 2.0"), ("upper", "uper"), ('"reflective"', '"robin"'), ("radius = 1", "radius = 9")):
        result = heatsolve(tmp_path, text.replace(*wrong))
        assert "time.step" not in result.stderr and result.returncode == 2, result.stderr


def test_the_step_and_the_kernel_are_judged_at_once(tmp_path):
    """Both are checked last, when everything else is known to be right, and both are reported."""
    text = GOOD.replace("end = 10.0;", "end = 10.0; step = 1e9;") + 'solver = { kernel = "opnmp"; backend = "cpu"; };\n'
    assert_refused(heatsolve(tmp_path, text), 2, ["case.cfg:8: time.step = 1e+09: above", 'case.cfg:13: solver.kernel = "opnmp"'])


@pytest.mark.parametrize("command", ["check", "run"])
def test_what_the_plan_finds_has_its_place(tmp_path, command):
    raw = 'grid = { points = [9]; };\n\nstencil = { c0 = 0.5; c1 = 0.75; c2 = 0.25; };\ninitial = { value = 1; };\n'
    grows = heatsolve(tmp_path, raw + "time = { sweeps = 3; };\n", command=command)
    assert_refused(grows, 2, ["case.cfg:3: stencil: one sweep of these coefficients"])
    raw = raw.replace("0.75", "0.25") + "time = { step = 0.5;\nend = 3.25; };\n"
    assert_refused(heatsolve(tmp_path, raw, command=command), 2, ["case.cfg:6: time.end = 3.25: not a multiple"])
    assert_refused(heatsolve(tmp_path, raw, "--set", "time.end=1", "--set", "output.interval=0.3", command=command), 2, ["--set: output.interval = 0.3: not a multiple"])


def test_a_config_that_is_not_there_is_exit_3(tmp_path):
    result = program.heatsolve(tmp_path, "check", "none.cfg")
    assert result.returncode == 3
    assert "none.cfg: cannot open: No such file or directory" in result.stderr
    result = program.heatsolve(tmp_path, "check", ".")
    assert result.returncode == 3
    assert ".: cannot open: Is a directory" in result.stderr


def test_an_include_that_is_not_there_is_exit_3(tmp_path):
    result = heatsolve(tmp_path, GOOD + '@include "none.cfg"\n')
    assert_refused(result, 3, ["case.cfg:13: @include: none.cfg: cannot open: No such file or directory"])


def test_an_error_in_an_include_has_that_files_place(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "more.cfg").write_text('@include "deep.cfg"\n\nsolver = { threads = -1; };\n')
    (tmp_path / "sub" / "deep.cfg").write_text("checkpoint = { every_minutes = 0; };")
    result = heatsolve(tmp_path, GOOD.replace("steady", '@include "sub/more.cfg"\nsteady').replace("1e-9", "0"))
    assert_refused(
        result,
        2,
        [
            "sub/deep.cfg:1: checkpoint.every_minutes = 0",
            "sub/more.cfg:3: solver.threads = -1",
            "case.cfg:13: steady.tolerance = 0",
        ],
    )


def test_a_grid_beyond_the_machines_memory_is_exit_4(tmp_path):
    result = heatsolve(tmp_path, changed(2, "grid = { points = [200000, 200000, 2000]; };").replace("[0.1, 0.1]", "[0.1, 0.1, 0.1]"))
    assert_refused(result, 4, ["case.cfg:2: grid.points: 200000 x 200000 x 2000 nodes in double need", "give fewer points"])


# ---- fields from files


@pytest.fixture
def field_file(tmp_path):
    with h5py.File(tmp_path / "field.h5", "w") as file:
        file["fits"] = np.full((9, 17), 7.0)
        file["steps"] = np.full((3, 9, 17), 7.0, dtype=np.float32)
        file["turned"] = np.full((17, 9), 7.0)
        file["group/text"] = "hello"
        file["scalar"] = 3.0
        for name in "scale_factor", "add_offset":  # as netCDF packs numbers
            file[name] = np.full((9, 17), 7, dtype=np.int16)
            file[name].attrs[name] = 0.5
        bad = np.full((9, 17), 7.0)
        bad[2, 5] = np.nan
        file["holes"] = bad
        bad[2, 5], bad[3, 5] = -9999.0, 1e20
        for name, stands in (("_FillValue", -9999.0), ("missing_value", 1e20)):
            file["with" + name] = bad.astype(np.float32)
            file["with" + name].attrs[name] = np.array([stands], dtype=np.float32)  # as netCDF writes it
    return tmp_path


FIELDS = [
    ('dataset = "fit";', 2, "field.h5 has no dataset fit; it has /add_offset, /fits, /group/text, /holes"),
    ("", 2, "field.h5 has no dataset temperature; it has /add_offset, /fits"),
    ('dataset = "turned";', 2, "dataset turned is 17 x 9, the grid is 9 x 17 (y, x); its axes are the other way round: save it transposed"),
    ('dataset = "scalar";', 2, "dataset scalar is a single value, the grid is 9 x 17"),
    ('dataset = "group/text";', 2, "dataset group/text does not hold numbers"),
    ('dataset = "scale_factor";', 2, "dataset scale_factor is packed: its numbers count only with its attributes scale_factor and add_offset"),
    ('dataset = "add_offset";', 2, "dataset add_offset is packed"),
    ('dataset = "group";', 2, "field.h5 has no dataset group"),
    ('dataset = "steps"; step = 3;', 2, "dataset steps has 3 steps, so there is no step 3"),
    ('dataset = "fits"; step = 1;', 2, "dataset fits has 1 step, so there is no step 1"),
    ('dataset = "with_FillValue";', 2, 'initial.file = "field.h5": dataset with_FillValue has no number at (5, 2, 0) along x, y, z'),
    ('dataset = "withmissing_value";', 2, "dataset withmissing_value has no number at (5, 3, 0) along x, y, z: by its attribute _FillValue or missing_value 1.00000002e+20"),
    ('dataset = "holes";', 2, 'initial.file = "field.h5": dataset holes is not a number (NaN) at node (5, 2), x = 0.5, y = 0.2 m'),
]


@pytest.mark.parametrize("settings, code, message", FIELDS, ids=[m[:30] for s, c, m in FIELDS])
def test_a_field_that_does_not_fit_is_refused(field_file, settings, code, message):
    result = heatsolve(field_file, changed(5, f'initial = {{ file = "field.h5"; {settings} }};'))
    assert_refused(result, code, ["case.cfg:5: initial", message])


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("group, line, scale", [("initial", 5, 1.0), ("source", 6, 1e-3 / (1000.0 * 500.0))])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e39, 1e45, 1e300])
def test_what_cannot_be_held_is_named_before_anything_is_written(tmp_path, command, precision, group, line, scale, value):
    """Source values are stored as the change in a step, here of a millisecond."""
    with h5py.File(tmp_path / "field.h5", "w") as file:
        file["q"] = np.full((9, 17), 7.0)
        file["q"][3, 16] = value
    text = changed(line, f'{group} = {{ file = "field.h5"; dataset = "q"; }};')
    more = ["--set", f"precision={precision}", "--set", "time.end=0.01", "--set", "time.step=1e-3", "--quiet"]
    result = heatsolve(tmp_path, text, *more, command=command)
    if np.isfinite(value) and (precision == "double" or abs(value) * scale < 3.4e38):
        assert "node (16, 3)" not in result.stderr and result.returncode in (0, 1)
    else:
        shown = "not a number (NaN)" if np.isnan(value) else f"{value:g}"
        assert_refused(result, 2, [f'case.cfg:{line}: {group}.file = "field.h5": dataset q is {shown} at node (16, 3), x = 1.6, y = 0.3 m'])


def test_a_field_file_that_cannot_be_read_is_exit_3(tmp_path):
    (tmp_path / "text.h5").write_text("not HDF5")
    result = heatsolve(tmp_path, changed(5, 'initial = { file = "text.h5"; };'))
    assert_refused(result, 3, ['case.cfg:5: initial.file = "text.h5": text.h5: not a readable HDF5 file'])
    result = heatsolve(tmp_path, changed(5, 'initial = { file = "none.h5"; };'))
    assert_refused(result, 3, ['case.cfg:5: initial.file = "none.h5": cannot open none.h5: No such file'])


def test_a_npy_that_does_not_fit_is_refused(tmp_path):
    def refused(name, code, message, more=""):
        result = heatsolve(tmp_path, changed(5, f'initial = {{ file = "{name}"; {more} }};'))
        assert_refused(result, code, [f'case.cfg:5: initial.file = "{name}": {message}'])

    fits = np.full((9, 17), 7.0)
    np.save(tmp_path / "turned.npy", fits.T)
    np.save(tmp_path / "small.npy", fits[1:])
    np.save(tmp_path / "steps.npy", np.stack([fits] * 3))
    np.save(tmp_path / "complex.npy", fits + 1j)
    np.save(tmp_path / "half.npy", fits.astype("f2"))
    np.save(tmp_path / "objects.npy", np.array([[None]]), allow_pickle=True)
    np.save(tmp_path / "table.npy", np.zeros(3, dtype=[("a", "f8"), ("b", "i4")]))
    np.savez(tmp_path / "many.npz", fits)
    np.save(tmp_path / "whole.npy", fits)
    (tmp_path / "cut.npy").write_bytes((tmp_path / "whole.npy").read_bytes()[:-1])
    (tmp_path / "head.npy").write_bytes((tmp_path / "whole.npy").read_bytes()[:50])
    np.save(tmp_path / "holes.npy", np.where(np.arange(17) == 4, np.nan, fits))
    (tmp_path / "dir.npy").mkdir()
    os.mkfifo(tmp_path / "pipe.npy")
    refused("turned.npy", 2, "the array of turned.npy is 17 x 9, the grid is 9 x 17 (y, x); its axes are the other way round")
    refused("small.npy", 2, "the array of small.npy is 8 x 17, the grid is 9 x 17 (y, x); a leading axis of steps may come before")
    refused("steps.npy", 2, "the array of steps.npy has 3 steps, so there is no step 3", "step = 3;")
    refused("complex.npy", 2, "complex.npy: its numbers are of NumPy's type <c16; float64, float32, integers and bool are read")
    refused("half.npy", 2, "half.npy: its numbers are of NumPy's type <f2")
    refused("objects.npy", 2, "objects.npy: its numbers are of NumPy's type |O")
    refused("table.npy", 2, "table.npy: its numbers are of NumPy's type a table of columns")
    refused("many.npz", 3, "many.npz: a .npz or other zip archive; save the one array with numpy.save")
    refused("cut.npy", 3, "cut.npy: is cut short: its array takes 1352 bytes, the file has 1351; copy it again")
    refused("head.npy", 3, "head.npy: is cut short; copy it again")
    refused("holes.npy", 2, "is not a number (NaN) at node (4, 0), x = 0.4, y = 0 m")
    refused("dir.npy", 3, "cannot open dir.npy: ")
    refused("pipe.npy", 3, "cannot open pipe.npy: ")
    refused("none.npy", 3, "cannot open none.npy: No such file")


def test_the_file_read_is_not_the_file_written(field_file):
    text = changed(5, 'initial = { file = "field.h5"; dataset = "fits"; };').replace('"case.h5"', '"./field.h5"')
    result = heatsolve(field_file, text, command="run")
    assert_refused(result, 2, ['case.cfg:9: output.file = "./field.h5": is the file that initial.file reads'])


def test_the_file_read_beside_the_config_is_not_the_file_written(field_file):
    (field_file / "sub").mkdir()
    (field_file / "field.h5").rename(field_file / "sub/field.h5")
    text = changed(5, 'initial = { file = "field.h5"; dataset = "fits"; };').replace('"case.h5"', '"sub/field.h5"')
    (field_file / "sub/case.cfg").write_text(text)
    result = program.heatsolve(field_file, "run", "sub/case.cfg")
    assert result.returncode == 2 and 'output.file = "sub/field.h5": is the file that initial.file reads' in result.stderr
    with h5py.File(field_file / "sub/field.h5") as f:
        assert "fits" in f


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_device_is_not_replaced_by_the_output(tmp_path, command):
    """The file gets its name by a rename, which as root could replace even /dev/null."""
    os.mkfifo(tmp_path / "pipe")
    result = heatsolve(tmp_path, GOOD.replace("case.h5", "pipe"), command=command)
    assert_refused(result, 2, ['case.cfg:9: output.file = "pipe": is empty, a folder, a device or a pipe'])
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize(
    "line, replacement, message",
    [
        (1, 'titel = "x";', "titel: unknown key"),
        (2, "grid = { points = [17, 2]; };", "grid.points[1] = 2: at least 3 points"),
        (8, "time = { end = 1.0; step = 1e9; };", "time.step"),
    ],
)
def test_run_refuses_what_check_refuses(tmp_path, line, replacement, message):
    result = heatsolve(tmp_path, changed(line, replacement), command="run")
    assert_refused(result, 2, [f"case.cfg:{line}: ", message])


# ---- names ---------------------------------------------------------------------------------------

COMMANDS = r"\x1b[2J\x1b]0;owned\x07 20 °C \x9b\xc2\x9b31m"  # as bytes in a config: ESC, BEL, CSI in two forms


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_title_does_not_command_the_terminal(tmp_path, command):
    (tmp_path / "case.cfg").write_text(changed(1, f'title = "{COMMANDS}"; temperature_unit = "°C";'))
    result = program.heatsolve(tmp_path, command, "case.cfg", text=False)
    said = (result.stdout + result.stderr).decode()  # fails if it is not UTF-8
    assert "?[2J?]0;owned? 20 °C ??31m" in said
    assert not any(ord(c) < 32 and c != "\n" or 127 <= ord(c) < 160 for c in said)


@pytest.mark.parametrize("unit", [r"\x1b[2J", r"\x9b", r"K\n", r"\xc2\x9b"])
def test_a_unit_is_a_label(tmp_path, unit):
    """The unit is printed with every temperature, also in progress lines."""
    result = heatsolve(tmp_path, changed(1, f'temperature_unit = "{unit}";'), command="run")
    assert_refused(result, 2, ['case.cfg:1: temperature_unit = "', "has control characters, or is not UTF-8; give a label, as in K or degC"])


def test_neither_does_a_value_in_a_message(tmp_path):
    result = heatsolve(tmp_path, changed(9, f'output = {{ file = "case.h5"; }}; precision = "{COMMANDS}";'))
    assert_refused(result, 2, ['case.cfg:9: precision = "?[2J?]0;owned? 20 °C ??31m": must be one of double, float'])
    assert not any(ord(c) < 32 and c != "\n" or 127 <= ord(c) < 160 for c in result.stderr)


@pytest.mark.parametrize("length, fits", [(255, True), (256, False), (505, False), (70000, False)])
def test_a_probe_with_a_long_name_can_be_resumed_or_is_refused(tmp_path, length, fits):
    text = changed(10, f'probes = ( {{ name = "{"p" * length}"; at = [0.1, 0.1]; }} );').replace("steady", "// steady").replace("end = 10.0", "sweeps = 4")
    result = heatsolve(tmp_path, text, "--quiet", command="run")
    if not fits:
        return assert_refused(result, 2, ["case.cfg:10: probes[0].name = ", f"is {length} bytes long; give a name of at most 255"])
    assert result.returncode == 0, result.stderr
    result = heatsolve(tmp_path, text, "--quiet", "--resume", "--set", "time.sweeps=8", command="run")
    assert result.returncode == 0, result.stderr
    with h5py.File(tmp_path / "case.h5") as f:
        assert len(f["probes"]["p" * length]) == len(f["history/time"])


def test_a_field_that_is_not_finite_at_one_node_of_many_is_refused_by_check_too(tmp_path):
    """Reading a config looks at some nodes of so many only."""
    text = """grid = { points = [4001, 4001]; spacing = 0.001; }; material = { diffusivity = 1e-4; };
              initial = { expression = "x > 1.5005 && x < 1.5015 && y > 2.2025 && y < 2.2035 ? 1/(x-x) : 300"; };
              boundary = { all = { type = "reflective"; }; }; time = { sweeps = 1; }; output = { file = "out.h5"; };\n"""
    said = [heatsolve(tmp_path, text, command=command) for command in ("check", "run")]
    for done in said:
        assert done.returncode == 2 and "the temperature is inf at node (1501, 2203)" in done.stderr, done
    assert said[0].stderr == said[1].stderr

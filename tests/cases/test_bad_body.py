"""Bad bodies and walls: a message with file, line, key, value and remedy; exit code 2; nothing written.

As in test_bad_input.py, each row changes one line of a good config and has the message after the place.
"""


import h5py
import numpy as np
import pytest
from program import must
from test_bad_input import assert_refused, heatsolve

GOOD = """\
grid = { points = [17, 9]; upper = [1.6, 0.8]; };
materials = (
    { name = "copper"; conductivity = 401.0; density = 8960.0; specific_heat = 385.0; },
    { name = "wood"; conductivity = [0.12, 0.3]; density = 500.0; specific_heat = 1600.0; } );
body = (
    { material = "copper"; },
    { material = "wood"; shape = "box"; lower = [0.2, 0.2]; upper = [0.6, 0.6]; } );
contacts = ( { between = ["copper", "wood"]; resistance = 2e-5; } );
boundary = { all = { type = "reflective"; };
             x_min = { type = "robin"; h = 25.0; ambient = 293.15; }; };
initial = { value = 300.0; };
time = { end = 10.0; };
output = { file = "case.h5"; };
stencil = { radius = 1; };
"""


def changed(line, replacement):
    lines = GOOD.splitlines()
    lines[line - 1] = replacement
    return "\n".join(lines) + "\n"


def test_the_good_config_is_good(tmp_path):
    result = heatsolve(tmp_path, GOOD, "--json")
    assert result.returncode == 0 and b'"warnings": []' in result.stdout, result.stdout


WOOD = '    { name = "wood"; conductivity = 0.12; density = 500.0; specific_heat = 1600.0; } );'


def copper(**numbers):
    """Line 3 with other numbers; None omits a key."""
    keys = {"name": '"copper"', "conductivity": "401.0", "density": "8960.0", "specific_heat": "385.0", **numbers}
    return "    { " + " ".join(f"{key} = {value};" for key, value in keys.items() if value is not None) + " },"


def solid(keys):
    return "    { " + keys + " } );"


def face(keys):
    """Line 10, which also closes the boundary group."""
    return "             x_min = { " + keys + " }; };"


ONE_LINE = [
    # ---- materials
    (4, WOOD.replace("wood", "copper"), 'materials[1].name = "copper": there is a material of that name already; choose another'),
    (3, copper(name=None), "materials[0].name: missing; give what body calls it"),
    (3, copper(name="29"), 'materials[0].name = 29: must be a string "..."'),
    (3, copper(conductivity="0.0"), "materials[0].conductivity = 0.0: must be > 0 [W/(m K)]"),
    (3, copper(conductivity="-401"), "materials[0].conductivity = -401: must be > 0 [W/(m K)]"),
    (3, copper(conductivity="[401.0, -1]"), "materials[0].conductivity[1] = -1: must be > 0 [W/(m K)]"),
    (3, copper(conductivity="[401.0, 1, 1]"), "materials[0].conductivity: has 3 numbers; the grid has 2 axes, give one for each"),
    (3, copper(conductivity=None), "materials[0].conductivity: missing; give conductivity, density and specific_heat"),
    (3, copper(density=None), "materials[0].density: missing; give conductivity, density and specific_heat"),
    (3, copper(density="0"), "materials[0].density = 0: must be > 0 [kg/m^3]"),
    (3, copper(specific_heat=None), "materials[0].specific_heat: missing; give conductivity, density and specific_heat"),
    (3, copper(specific_heat="-385"), "materials[0].specific_heat = -385: must be > 0 [J/(kg K)]"),
    (3, copper(diffusivity="1e-4"), "materials[0].conductivity = 401.0: diffusivity is given; give either that alone, or conductivity, density and specific_heat"),
    (3, '    { name = "copper"; diffusivity = 1e-4; },', "materials[0].diffusivity = 1e-4: other materials have conductivity, density and specific_heat, so this one needs them, too; give them"),
    (3, copper(perfusion="{ rate = 1.0; }"), "materials[0].perfusion.reference: missing; give rate and reference"),
    (3, copper(perfusion="{ reference = 1.0; }"), "materials[0].perfusion.rate: missing; give rate and reference"),
    (3, copper(perfusion="{ rate = -1.0; reference = 1.0; }"), "materials[0].perfusion.rate = -1.0: must be >= 0 [W/(m^3 K)]"),
    (3, copper(perfusion='{ rate = 1.0; reference = "x"; }'), 'materials[0].perfusion.reference = "x": may change in time only; give a number, or an expression of t'),
    (3, copper(source='"x"'), 'materials[0].source = "x": may change in time only; give what changes with the place as source = { expression'),
    (3, copper(source='"1/t"'), 'materials[0].source = "1/t": is not a finite number at t = 0 s'),
    (3, copper(conductvity="1"), "materials[0].conductvity: unknown key; did you mean materials[].conductivity?"),
    (2, "material = { diffusivity = 1e-4; }; materials = (", "material: materials is given too; a body of several materials has materials and body, one of a single material has material alone"),
    # ---- body
    (6, "    { },", "body[0].material: missing; give the name of a material"),
    (6, '    { material = "cooper"; },', 'body[0].material = "cooper": no material has this name; did you mean "copper"? There are copper, wood'),
    (6, '    { material = "gold"; },', 'body[0].material = "gold": no material has this name; there are copper, wood'),
    (6, '    { material = "copper"; radius = 1.0; },', "body[0].radius = 1.0: belongs to a shape, which is missing; give shape, or remove it"),
    (7, solid('material = "wood"; shape = "box"; lower = [5.0, 0.2]; upper = [6.0, 0.6];'), "body[1]: lies outside the grid; check its coordinates, in m"),
    (7, solid('material = "wood"; shape = "sphere"; centre = [-2.0, 0.2]; radius = 0.5;'), "body[1]: lies outside the grid; check its coordinates, in m"),
    (7, solid('material = "wood"; shape = "cylinder"; centre = [1.0, 3.0]; radius = 0.5;'), "body[1]: lies outside the grid"),
    (7, solid('material = "wood"; shape = "half-space"; point = [-0.5, 0.0]; normal = [1.0, 0.0];'), "body[1]: lies outside the grid; check its coordinates, in m"),
    (7, solid('material = "wood"; shape = "half-space"; point = [3.0, 0.0]; normal = [-1.0, -0.1];'), "body[1]: lies outside the grid; check its coordinates, in m"),
    (7, solid('material = "wood"; shape = "box"; lower = [0.2, 0.2];'), "body[1].upper: missing; a box needs it"),
    (7, solid('material = "wood"; shape = "box"; lower = [0.6, 0.2]; upper = [0.2, 0.6];'), "body[1].upper: is below lower along x; swap them"),
    (7, solid('material = "wood"; shape = "half-space"; point = [0.2, 0.2];'), "body[1].normal: missing; a half-space needs it"),
    (7, solid('material = "wood"; shape = "half-space"; point = [0.2, 0.2]; normal = [0.0, 0.0];'), "body[1].normal: has no direction; give the one that points out of the half-space"),
    (7, solid('material = "wood"; shape = "halfspace"; point = [0.2, 0.2]; normal = [1.0, 0.0];'), 'body[1].shape = "halfspace": did you mean "half-space"?'),
    (7, solid('material = "wood"; shape = "sphere"; centre = [0.2, 0.2]; radius = -1.0;'), "body[1].radius = -1.0: must be > 0 [m]"),
    (7, solid('material = "wood"; shape = "circle"; radius = 1.0;'), 'body[1].shape = "circle": write "cylinder", which is a disc in 2D'),
    (7, solid('material = "wood"; shape = "cone"; radius = 1.0;'), 'body[1].shape = "cone": must be one of box, sphere, cylinder, half-space'),
    (7, solid('material = "wood"; file = "label.npy";'), 'body[1].file = "label.npy": a label field describes the whole body; give it as the only member'),
    (7, solid('material = "wood"; names = ["wood"];'), "body[1].names: belongs to a label field, which is missing; give file, or remove it"),
    # ---- tables and names from elsewhere
    (4, '    { name = "wood"; conductivity = 0.3; density = 500.0; specific_heat = 1600.0; perfusion = { rate = 2.0; reference_table = "words.txt"; }; } );', 'materials[1].perfusion.reference_table = "words.txt": words.txt:3'),
    (4, '    { name = "wood"; conductivity = 0.3; density = 500.0; specific_heat = 1600.0; source = 5.0; source_table = "three.txt"; } );', "materials[1].source = 5.0: give either this or source_table"),
    (4, '    { name = "wood"; conductivity = 0.3; density = 500.0; specific_heat = 1600.0; source_file = "label.npy"; } );', "materials[1].source_file: unknown key; a material's is the same all over it; source.file has numbers for each node"),
    (4, '    { name = "wood"; conductivity = 0.3; density = 500.0; specific_heat = 1600.0; source_table = "back.txt"; } );', 'materials[1].source_table = "back.txt": back.txt'),
    (4, '    { name = "wood"; conductivity = 0.3; density = 500.0; heat_capacity = 1600.0; } );', "materials[1].heat_capacity: unknown key; did you mean materials[1].specific_heat?"),
    (4, '    { name = "wood"; conductivity = 0.3; density = 500.0; specific_heat = 1600.0; power = 5.0; } );', "materials[1].power: unknown key; a material's heat is a power density: source in W/m^3, the power over its volume, or by a source_table"),
    (4, '    { name = "wood"; conductivity = 0.3; density = 500.0; specific_heat = 1600.0; thickness = 0.1; } );', "materials[1].thickness: unknown key; where a material is, and how thick, is given by body"),
    (4, '    { name = "wood"; conductivity = "0.3+0.001*T"; density = 500.0; specific_heat = 1600.0; } );', 'materials[1].conductivity = "0.3+0.001*T": must be numbers [ ... ], one for each axis; a conductivity that differs from node to node is read by measured = { conductivity = { file; dataset; }; capacity = { file; dataset; }; }; one that depends on temperature is not supported yet'),
    (14, 'source = { table = "load.csv"; };', "source.table: unknown key; heat by a table is a material's: materials = ( { ...; source_table } )"),
    # ---- contacts
    (8, 'contacts = ( { between = ["copper", "wood"]; h = 2e4; } );', "contacts[0].h: unknown key; a contact has a resistance in m^2 K/W, which is 1 over the conductance"),
    (8, 'contacts = ( { between = ["copper", "wood"]; thickness = 1e-4; } );', "contacts[0].thickness: unknown key; a contact has a resistance in m^2 K/W, which is a layer's thickness over its conductivity"),
    (8, 'contacts = ( { between = ["copper", "wod"]; resistance = 2e-5; } );', 'contacts[0].between[1] = "wod": no material has this name; did you mean "wood"?'),
    (8, 'contacts = ( { between = ["copper", "copper"]; resistance = 2e-5; } );', "contacts[0].between: a material has no contact with itself; name two"),
    (8, 'contacts = ( { between = ["copper"]; resistance = 2e-5; } );', "contacts[0].between: has 1 name; a contact is between two materials"),
    (8, 'contacts = ( { between = ["copper", "wood"]; } );', "contacts[0].resistance: missing; give it in m^2 K/W"),
    (8, 'contacts = ( { between = ["copper", "wood"]; resistance = -1.0; } );', "contacts[0].resistance = -1.0: must be >= 0 [m^2 K/W]"),
    (8, "contacts = ( { resistance = 2e-5; } );", "contacts[0].between: missing; name the two materials"),
    (8, 'contacts = ( { between = ["copper", "wood"]; resistance = 2e-5; }, { between = ["wood", "copper"]; resistance = 1e-5; } );', "contacts[1].between: contacts[0] is between the same two; keep one of them"),
    # ---- walls
    (10, face('type = "robin"; h = 25.0;'), "boundary.x_min.ambient: missing; a robin boundary needs it, or ambient_file or ambient_table"),
    (10, face('type = "robin"; ambient = 25.0;'), "boundary.x_min.h: missing; a robin boundary needs it, or h_file or h_table\n"),
    (10, face('type = "neumann";'), "boundary.x_min.flux: missing; a neumann boundary needs it, or flux_file or flux_table"),
    (10, face('type = "dirichlet";'), "boundary.x_min.value: missing; a dirichlet boundary needs it, or value_file or value_table"),
    (10, face('type = "neumann"; gradient = 1.0;'), "boundary.x_min.gradient = 1.0: a body and a stretched grid take a flux instead; give flux in W/m^2, for which a material needs conductivity, density and specific_heat"),
    (10, face('type = "clamp";'), 'boundary.x_min.type = "clamp": walls of a body, and of a stretched grid, are fixed, dirichlet, neumann, robin, reflective, or as a whole face periodic; choose one of these'),
    (10, face('type = "constant"; value = 1.0;'), 'boundary.x_min.type = "constant": walls of a body, and of a stretched grid, are fixed, dirichlet'),
    (10, face('type = "reflective"; flux = 3.0;'), "boundary.x_min.flux = 3.0: a reflective boundary does not use it; remove it, or change the type"),
    (10, face('type = "dirichlet"; value = 3.0; h = 1.0;'), "boundary.x_min.h = 1.0: a dirichlet boundary does not use it; remove it, or change the type"),
    (10, face('type = "robin"; h = -25.0; ambient = 293.15;'), "boundary.x_min.h = -25.0: must be >= 0 [W/(m^2 K)]"),
    (10, face('type = "robin"; h = "y-0.1"; ambient = 293.15;'), 'boundary.x_min.h = "y-0.1": is -0.1 at node (0, 0), x = 0, y = 0 m; it must be a finite number, 0 or more, everywhere'),
    (10, face('type = "robin"; h = "1+t"; ambient = 293.15;'), 'boundary.x_min.h = "1+t": its expression may depend on x, y, z, not on t; for an h that changes with time give h_table, two columns of times in s and numbers'),
    (10, face('type = "robin"; h = "1+y*t"; ambient = 293.15;'), 'boundary.x_min.h = "1+y*t": its expression may depend on x, y, z, not on t; for an h that changes with time give h_table, two columns of times in s and numbers'),
    (10, face('type = "robin"; h = "y*t-1"; ambient = 293.15;'), 'boundary.x_min.h = "y*t-1": is -1 at node (0, 0), x = 0, y = 0 m, at t = 0 s; it must be a finite number, 0 or more, everywhere'),
    (10, face('type = "robin"; h = 1.0; ambient = "t+1/y";'), 'boundary.x_min.ambient = "t+1/y": is inf at node (0, 0), x = 0, y = 0 m, at t = 0 s; it must be a finite number everywhere'),
    (10, face('type = "reflective"; patches = ( { type = "neumann"; flux = "log(t-y-1)"; lower = [0.1]; upper = [0.2]; } );'), 'boundary.x_min.patches[0].flux = "log(t-y-1)": is not a number (NaN) at node (0, 0), x = 0, y = 0 m, at t = 0 s;'),
    (10, face('type = "robin"; h = 1.0; ambient = "1/y";'), 'boundary.x_min.ambient = "1/y": is inf at node (0, 0)'),
    (10, face('type = "robin"; h = 1.0; ambient = 3.0; ambient_file = "face.npy";'), "boundary.x_min.ambient = 3.0: give either ambient, or ambient_file and ambient_table, one or both, which are multiplied"),
    (10, face('type = "neumann"; flux = 3.0; flux_table = "table.txt";'), "boundary.x_min.flux = 3.0: give either flux, or flux_file and flux_table, one or both, which are multiplied"),
    (10, face('type = "neumann"; flux_file = "wrong.npy";'), "boundary.x_min.flux_file = \"wrong.npy\": the array of wrong.npy is 8, the face is 9 (y); a leading axis of steps may come before; resample it to the nodes of the face\n"),
    (10, face('type = "robin"; ambient = 1.0; h_file = "negative.npy";'), 'boundary.x_min.h_file = "negative.npy": is -1 at node (0, 3), x = 0, y = 0.3 m; it must be a finite number, 0 or more, everywhere'),
    (10, face('type = "robin"; h = 3.0; h_file = "face.npy"; ambient = 1.0;'), "boundary.x_min.h = 3.0: give either h, or h_file and h_table, one or both, which are multiplied\n"),
    (10, face('type = "neumann"; power = 100.0;'), "boundary.x_min.power: unknown key; a wall has a flux in W/m^2, its power over its area, negative where it heats the body"),
    (10, face('type = "reflective"; patches = ( { type = "neumann"; power = 100.0; lower = [0.1]; upper = [0.2]; } );'), "boundary.x_min.patches[0].power: unknown key; a wall has a flux in W/m^2"),
    (10, face('type = "neumann"; flux = 1.0; flux_dataset = "q";'), 'boundary.x_min.flux_dataset = "q": belongs to boundary.x_min.flux_file, which is missing; give that, or remove this'),
    (5, 'body = ( { file = "labels.npy"; names = "copper"; },', 'body[0].names = "copper": must be a list of strings ["...", "..."]'),
    (8, 'contacts = ( { between = "copper"; resistance = 2e-5; } );', 'contacts[0].between = "copper": must be a list of strings ["...", "..."]'),
    # ---- patches
    (10, face('type = "reflective"; patches = ( { type = "neumann"; flux = 1.0; flux_dataset = "q"; lower = [0.1]; upper = [0.2]; } );'), 'boundary.x_min.patches[0].flux_dataset = "q": belongs to boundary.x_min.patches[0].flux_file, which is missing; give that, or remove this'),
    (10, face('type = "reflective"; patches = ( { type = "fixed"; lower = [0.1]; upper = [0.2]; }, { lower = [0.3]; upper = [0.4]; } );'), "boundary.x_min.patches[1].type: missing; a patch has a wall of its own; give fixed, dirichlet, neumann, robin or reflective"),
    (10, face('type = "neumann"; flux = 1.0; patches = ( { flux = 2.0; lower = [0.3]; upper = [0.4]; } );'), "boundary.x_min.patches[0].type: missing; a patch has a wall of its own"),
    (10, face('type = "reflective"; patches = ( { type = "robin"; h = 1.0; lower = [0.1]; upper = [0.2]; } );'), "boundary.x_min.patches[0].ambient: missing; a robin boundary needs it, or ambient_file or ambient_table"),
    (10, face('type = "reflective"; patches = ( { type = "dirichlet"; value = 1.0; lower = [0.1]; } );'), "boundary.x_min.patches[0].upper: missing; give the corners lower and upper along the axes of the face"),
    (10, face('type = "reflective"; patches = ( { type = "dirichlet"; value = 1.0; } );'), "boundary.x_min.patches[0].lower: missing; give the corners lower and upper along the axes of the face"),
    (10, face('type = "reflective"; patches = ( { type = "dirichlet"; value = 1.0; lower = [0.1, 0.2]; upper = [0.2, 0.3]; } );'), "boundary.x_min.patches[0].lower: has 2 numbers; the face has 1 axis, give one for each"),
    (10, face('type = "reflective"; patches = ( { type = "dirichlet"; value = 1.0; lower = [0.3]; upper = [0.2]; } );'), "boundary.x_min.patches[0].upper: must be above lower along y"),
    (10, face('type = "reflective"; patches = ( { type = "dirichlet"; value = 1.0; lower = [3.0]; upper = [4.0]; } );'), "boundary.x_min.patches[0].upper: the patch lies outside the face along y; check its coordinates, in m"),
    (10, face('type = "reflective"; patches = ( { type = "periodic"; lower = [0.1]; upper = [0.2]; } );'), 'boundary.x_min.patches[0].type = "periodic": must be one of fixed, dirichlet, neumann, robin, reflective'),
    (10, face('type = "reflective"; patches = ( { type = "clamp"; lower = [0.1]; upper = [0.2]; } );'), 'boundary.x_min.patches[0].type = "clamp": must be one of fixed, dirichlet, neumann, robin, reflective'),
    (10, face('type = "reflective"; patches = ( { type = "convection"; lower = [0.1]; upper = [0.2]; } );'), 'boundary.x_min.patches[0].type = "convection": write "robin" with '),
    (10, face('type = "reflective"; patches = ( { type = "cyclic"; lower = [0.1]; upper = [0.2]; } );'), 'boundary.x_min.patches[0].type = "cyclic": must be one of fixed, dirichlet, neumann, robin, reflective'),
    (10, face('type = "reflective"; patches = ( { type = "robbin"; lower = [0.1]; upper = [0.2]; } );'), 'boundary.x_min.patches[0].type = "robbin": did you mean "robin"? Choose one of fixed, dirichlet, neumann, robin, reflective'),
    (10, face('type = "reflective"; patches = ( { type = "dirichlet"; value = 1.0; label = 1; } );'), "boundary.x_min.patches[0].label = 1: the face has no labels; give labels_file beside patches, or lower and upper"),
    (10, face('type = "reflective"; patches = ( { type = "dirichlet"; value = 1.0; lower = [0.21]; upper = [0.29]; } );'), "boundary.x_min.patches[0].upper: the patch lies between two nodes along y and would hold none; make it larger, or the grid finer"),
    (10, face('type = "reflective"; labels_file = "face.npy"; patches = ( { type = "fixed"; label = 3; } );'), "boundary.x_min.patches[0].label = 3: no node of the face has this label; check it, or remove the patch"),
    (10, face('type = "reflective"; labels_file = "wrong.npy"; patches = ( { type = "dirichlet"; value = 1.0; label = 1; } );'), 'boundary.x_min.labels_file = "wrong.npy": '),
    (10, face('type = "reflective"; labels_file = "negative.npy"; patches = ( { type = "dirichlet"; value = 1.0; label = 1; } );'), 'boundary.x_min.labels_file = "negative.npy": the file has numbers that are no labels: -1 (1 node); labels are whole numbers from 0 to 65535'),
    (10, '             z_min = { patches = ( { type = "fixed"; lower = [0.1]; upper = [0.2]; } ); }; };', "boundary.z_min: the grid has no z axis; remove it, or give grid.points 3 numbers"),
    (10, '             left = { patches = ( { type = "fixed"; lower = [0.1]; upper = [0.2]; } ); }; };', "boundary.left: unknown key; faces are called x_min, x_max"),
    (9, 'boundary = { all = { type = "reflective"; }; y_min = { type = "periodic"; value = 3.0; }; y_max = { type = "periodic"; };', "boundary.y_min.value = 3.0: a periodic boundary does not use it; remove it, or change the type"),
    (10, face('type = "reflective"; labels_file = "face.npy"; patches = ( { type = "fixed"; lower = [0.1]; upper = [0.2]; } );'), 'boundary.x_min.labels_file = "face.npy": no patch of the face has a label; give patches with label = ..., or remove this'),
    (10, face('type = "reflective"; labels_file = "face.npy"; patches = ( { type = "fixed"; label = 1; lower = [0.1]; upper = [0.2]; } );'), "boundary.x_min.patches[0].lower: label says where the patch is; give either that, or lower and upper"),
    (10, '             y_min = { type = "periodic"; labels_file = "face.npy"; }; y_max = { type = "periodic"; }; };', 'boundary.y_min.labels_file = "face.npy": a periodic face is no wall; remove it'),
    (9, 'boundary = { all = { type = "reflective"; labels_file = "l.npy"; };', 'boundary.all.labels_file = "l.npy": patches and their labels are of one face; give them to x_min, x_max ...'),
    (9, 'boundary = { all = { type = "reflective"; patches = ( { type = "fixed"; lower = [0.1]; upper = [0.2]; } ); };', "boundary.all.patches: patches and their labels are of one face; give them to x_min, x_max ..."),
    (10, '             y_min = { type = "periodic"; patches = ( { type = "fixed"; lower = [0.1]; upper = [0.2]; } ); }; y_max = { type = "periodic"; }; };', "boundary.y_min.patches: a periodic face is no wall; remove it"),
    # ---- tables
    *((10, face(f'type = "neumann"; {key} = "";'), f'boundary.x_min.{key} = "": is empty; give the name of a file') for key in ("flux_file", "flux_table")),
    (10, face('type = "neumann"; flux_table = "words.txt";'), 'boundary.x_min.flux_table = "words.txt": words.txt:3: "many" is not a decimal number; each line has a time in s and a number'),
    (10, face('type = "neumann"; flux_table = "three.txt";'), 'boundary.x_min.flux_table = "three.txt": three.txt:2: is not two numbers'),
    (10, face('type = "neumann"; flux_table = "back.txt";'), 'boundary.x_min.flux_table = "back.txt": back.txt:3: time 1 s is not after the line before; times must increase: where the number jumps, let the second be a little later'),
    (10, face('type = "neumann"; flux_table = "empty.txt";'), 'boundary.x_min.flux_table = "empty.txt": empty.txt: has no points; each line has a time in s and a number'),
    (10, face('type = "neumann"; flux_table = "nan.txt";'), 'boundary.x_min.flux_table = "nan.txt": nan.txt:1: "nan" is not a decimal number'),
    (9, 'boundary = { all = { type = "neumann"; flux_table = "words.txt"; };', 'boundary.all.flux_table = "words.txt": words.txt:3: "many" is not a decimal number'),
    # ---- what a body has not
    (14, "stencil = { radius = 2; };", "stencil.radius = 2: a body of several materials, stretched axes, patches, walls by files and an h that is an expression are computed with radius 1; remove it"),
    (14, "stencil = { c0 = 0.5; c1 = 0.1; c2 = 0.1; c3 = 0.1; c4 = 0.2; };", "stencil: raw coefficients are of a stencil, which is the same everywhere"),
]


def keys_of_files():
    """Pairs (key that selects the content of a file, key of the file), from the program's table of options."""
    table = must(".", "options")
    keys = {line.split()[0] for line in table.splitlines() if line.strip()}
    pairs = [(key, key.removesuffix(end) + "file") for key in sorted(keys) for end in ("dataset", "step") if key.endswith(end)]
    return [(key, file) for key, file in pairs if file in keys]


FILE_KEYS = keys_of_files()


def test_all_keys_of_files_are_known():
    # initial, source, body and measured; 4 numbers of a face and of a patch; the labels of a face
    assert len(FILE_KEYS) == 5 * 2 + 2 * 4 + 1


@pytest.mark.parametrize("pattern, of_file", FILE_KEYS, ids=[key for key, file in FILE_KEYS])
def test_a_dataset_without_its_file_is_refused(tmp_path, pattern, of_file):
    """Without the file the key would be ignored. Also tested on walls that a stencil can do."""
    patched = GOOD.replace("ambient = 293.15;", 'ambient = 293.15; patches = ( { type = "fixed"; lower = [0.1]; upper = [0.2]; } );')
    plain = GOOD[: GOOD.index("materials")] + "material = { diffusivity = 1e-4; };\n" + GOOD[GOOD.index("boundary") :]
    plain = plain.replace("robin", "clamp").replace("h = 25.0; ambient = 293.15;", "")
    for face in ["x_min"] if "[]" in pattern else ["x_min", "all"]:
        key, file = (name.replace("FACE", face).replace("[]", "[0]") for name in (pattern, of_file))
        for text in [patched] if "[]" in pattern else [patched, plain]:
            result = heatsolve(tmp_path, text, "--set", f"{key}=" + ("1" if key.endswith("step") else '"a"'))
            assert result.returncode == 2
            about_key = f"--set: {key} = " in result.stderr and f"belongs to {file}, which is missing; give that, or remove this" in result.stderr
            about_file = f"--set: {file}: missing; give the file that has it" in result.stderr
            about_group = f" {file[: -len('.file')]}: give one of value, expression and file" in result.stderr
            assert about_key or about_file or about_group, result.stderr


def write_files(directory):
    np.save(directory / "face.npy", np.ones(9))
    np.save(directory / "wrong.npy", np.ones(8))
    np.save(directory / "negative.npy", np.array([1.0, 1, 1, -1, 1, 1, 1, 1, 1]))
    (directory / "table.txt").write_text("0 1\n1 2\n")
    (directory / "words.txt").write_text("time, flux\n0, 1\n1, many\n")
    (directory / "three.txt").write_text("0 1\n1 2 3\n")
    (directory / "back.txt").write_text("0 1\n1 2\n1 3\n")
    (directory / "empty.txt").write_text("# time number\n\n")
    (directory / "nan.txt").write_text("0 nan\n1 2\n")


@pytest.mark.parametrize("line, replacement, message", ONE_LINE, ids=[f"{l}-{m[:60]}" for l, r, m in ONE_LINE])
def test_a_bad_line_is_refused_with_its_place(tmp_path, line, replacement, message):
    write_files(tmp_path)
    result = heatsolve(tmp_path, changed(line, replacement), command="run")
    assert_refused(result, 2, [f"case.cfg:{line}: {message}"])


NEEDS = "needs walls that are fixed, dirichlet, neumann, robin, reflective, or as a whole face periodic; choose one of these, or remove that key\n"


@pytest.mark.parametrize("walls, message", [
    ('x_min = { type = "constant"; value_table = "table.txt"; };', f'x_min.type = "constant": boundary.x_min.value_table {NEEDS}'),
    ('x_min = { type = "clamp"; value_table = "table.txt"; };', f'x_min.type = "clamp": boundary.x_min.value_table {NEEDS}'),
    ('x_min = { type = "clamp"; }; x_max = { type = "neumann"; flux_file = "face.npy"; };', f'x_min.type = "clamp": boundary.x_max.flux_file {NEEDS}'),
    ('x_min = { type = "clamp"; }; x_max = { type = "robin"; h = "1+y"; ambient = 1.0; };', f'x_min.type = "clamp": boundary.x_max.h {NEEDS}'),
    ('all = { type = "clamp"; patches = ( ); };', f'all.type = "clamp": boundary.all.patches {NEEDS}'),
])  # fmt: skip
def test_what_makes_a_uniform_grid_a_body_is_named(tmp_path, walls, message):
    text = "grid = { points = [5, 4]; };\nmaterial = { conductivity = 1.0; density = 1.0; specific_heat = 1.0; };\ninitial = { value = 1.0; };\n"
    result = heatsolve(tmp_path, text + "boundary = { " + walls + " };\ntime = { end = 1.0; };\n")
    assert_refused(result, 2, [f"case.cfg:4: boundary.{message}"])


# of times, and of numbers: what is over them, and the unit that is not the one in which they are read
TIMES = [
    ("hours,flux", "hours"), ("t [min];q [W/m2]", "min"), ("Time_h\tq", "h"), ("h q", "h"), ("days", "days"),
    ("# t [min],q", "min"), ("# time_h;q_W_m2", "h"), ("# one line for each of 3 days; W/m2", None),
    ("t,h", None), ("time s,q", None), ("t (s);q_min", None), ("t h", None), ("month of the year of the data", None),
]  # fmt: skip
NUMBERS = [
    ("t [s],q [kW/m2]", "kW/m2"), ("time_s;flux_kW_m^2", "kW/m2"), ("t,P_W", "W"), ('"t";"P in kW"', "kW"), ("t\tq (W/cm²)", "W/cm2"), ("t,load %", "%"),
    ("# t [s],q [kW/m2]", "kW/m2"), ("#time_s\tq_kW_m2\nt,q", "kW/m2"),  ("# t_s P_W", "W"), ("t P_W", "W"), ("t/s;P/kW", "kW"), ("t/s;q/(kW/m²)", "kW/m2"),  # numpy.savetxt's
    ("t,q [mV]", "mV"), ("t,sensor_µV", "µV"),  # a heat flux meter's
    ("# t [s],q [W/m2]\nt,q", None), ("# of the whole plant; its P in kW", None), ("# 0,5 kW", None), ("# a note\n# 1,2", None), ("# 5 times as much, in kW", None),
    ("t [s],q [W/m^2]", None), ("t,q_W_m2", None), ("t;q (W/m²)", None), ("t,q_w", None), ("t,q [W/m2],net", None), ("t", None), ("heat of 3 cells in kW", None),
]  # fmt: skip


@pytest.mark.parametrize(
    "heading, unit, what", [(*case, "the times in {}; they are read in s:") for case in TIMES] + [(*case, "the numbers in {}; they are read in W/m^2:") for case in NUMBERS]
)
def test_a_tables_heading_may_not_have_another_unit(tmp_path, heading, unit, what):
    """The first line was passed over: hours were taken for seconds, and watts, kilowatts and a share for W/m^2."""
    (tmp_path / "load.csv").write_text(f"{heading}\n0,-50\n24,-60\n")
    text = "grid = { points = [5]; };\nmaterial = { conductivity = 2.0; density = 1800.0; specific_heat = 1200.0; };\ninitial = { value = 1.0; };\n"
    text += 'boundary = { all = { type = "neumann"; flux_table = "load.csv"; }; };\ntime = { end = 30.0; };\n'
    result = heatsolve(tmp_path, text)
    if unit:
        assert_refused(result, 2, [f'boundary.all.flux_table = "load.csv": load.csv:1: the heading has {what.format(unit)} convert the numbers, and change the heading'])
    else:
        assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("heading, label, unit", [
    ("t,T [K]", "degC", "K"), ("t,T [°C]", "K", "°C"), ("t;T in degF", "degC", "degF"), ("t/s,T/K", "degC", "K"), ("t/s,T/°C", "degC", None),
    ("t,T [K]", "K", None), ("t,T (°C)", "degC", None), ("t,T_K", "degC", None), ("t,T_C", "K", None), ("t,T [K]", "norm", None),
    ("t,stage [cm]", "m", "cm"), ("t,stage [m]", "cm", "m"), ("t,stage_m", "cm", None), ("t [s],c [mmol/m^3]", "mol/m^3", "mmol/m3"), ("t,U/kV", "V", "kV"),
    ("t,stage [m]", "m", None), ("t,c [mol/m³]", "mol/m^3", None), ("t,head", "m", None), ("t,ft", "m", None),
])  # fmt: skip
def test_a_tables_temperatures_are_in_the_configs_unit(tmp_path, heading, label, unit):
    """T_C may be the coolant's, so a lone letter counts in brackets only. Of other units those are known that differ by a prefix."""
    (tmp_path / "air.csv").write_text(f"{heading}\n0,1\n24,2\n")
    text = "grid = { points = [5]; };\nmaterial = { conductivity = 2.0; density = 1800.0; specific_heat = 1200.0; };\ninitial = { value = 1.0; };\n"
    text += f'temperature_unit = "{label}";\nboundary = {{ all = {{ type = "robin"; h = 5.0; ambient_table = "air.csv"; }}; }};\ntime = {{ end = 24.0; }};\n'
    result = heatsolve(tmp_path, text)
    if unit:
        assert_refused(result, 2, [f"air.csv:1: the heading has the numbers in {unit}; they are read in {label} (temperature_unit): convert the numbers, and change the heading"])
    else:
        assert result.returncode == 0, result.stderr


def test_a_bad_density_is_the_only_mistake(tmp_path):
    """It was taken for a missing one, and convection needed "density instead of diffusivity"."""
    result = heatsolve(tmp_path, GOOD, "--set", "materials[0].density=8,960.0")
    assert_refused(result, 2, ['materials[0].density = 8,960.0: not a value; the decimal point is "."'])
    assert result.stderr.count("\n") == 1, result.stderr


@pytest.mark.parametrize("heading, unit", [("t,h [kW/m2K]", "kW/m2K"), ("t,h (W/cm²K)", "W/cm2K"), ("t,h [W/m2K]", None), ("t,h [W/(m2 K)]", None)])
def test_an_hs_table_is_in_its_unit(tmp_path, heading, unit):
    (tmp_path / "h.csv").write_text(f"{heading}\n0,1\n24,2\n")
    result = heatsolve(tmp_path, GOOD, "--set", 'boundary.x_max={type="robin"; h_table="h.csv"; ambient=1.0;}')
    assert (result.returncode == 0) == (unit is None), result.stderr
    assert not unit or f"the heading has the numbers in {unit}; they are read in W/(m^2 K): convert the numbers" in result.stderr


def test_a_materials_table_may_not_have_watts(tmp_path):
    (tmp_path / "load.csv").write_text("t,P [W]\n0,1\n24,2\n")
    result = heatsolve(tmp_path, GOOD, "--set", 'materials[0].source_table="load.csv"')
    assert_refused(result, 2, ['materials[0].source_table = "load.csv": load.csv:1: the heading has the numbers in W; they are read in W/m^3'])


@pytest.mark.parametrize("group", ["materials", "materials[0]", "materials[0].perfusion", "body", "body[1]", "measured"])
def test_a_number_for_a_group_is_one_mistake(tmp_path, group):
    result = heatsolve(tmp_path, GOOD, "--set", f"{group}=5")
    assert_refused(result, 2, [f"heatsolve: --set: {group} = 5: must be a "])
    assert result.stderr.count("\n") == 1, result.stderr


# ---- wholes and files ----------------------------------------------------------------------------

BEFORE, AFTER = GOOD[: GOOD.index("body = (")], GOOD[GOOD.index("contacts") :]


def with_body(text):
    return BEFORE + text + "\n" + AFTER


BODIES = {
    "none": ("", "case.cfg: body: missing; say where the materials are, as in ( { material = ...; }"),
    "empty": ("body = ( );", "case.cfg:5: body: "),
    "hole": (
        'body = ( { material = "copper"; shape = "box"; lower = [0.0, 0.0]; upper = [1.0, 0.8]; } );',
        "case.cfg:5: body: around the node at x = 1, y = 0 m: no material there; let the body begin with one that has no shape",
    ),
    "hole of a sphere's rim": (
        'body = ( { material = "copper"; shape = "sphere"; centre = [0.8, 0.4]; radius = 0.89; } );',
        "no material there; let the body begin with one that has no shape",
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_bad_body_is_refused(tmp_path, name):
    text, message = BODIES[name]
    assert_refused(heatsolve(tmp_path, with_body(text), command="run"), 2, [message])


def test_a_corner_without_its_first_number_is_refused(tmp_path):
    text = """grid = { points = [5, 5, 5]; };
material = { diffusivity = 1.0; };
initial = { value = 1.0; };
boundary = { x_min = { patches = ( { type = "fixed"; upper = [3.0, 3.0]; } ); }; };
time = { sweeps = 1; };
"""
    result = heatsolve(tmp_path, text, "--set", "boundary.x_min.patches[0].lower[1]=1.0")
    assert_refused(result, 2, ["boundary.x_min.patches[0].lower[0]: missing; the list needs one number for each axis"])


def test_materials_are_needed(tmp_path):
    text = GOOD[: GOOD.index("materials")] + GOOD[GOOD.index("body = (") :]
    assert_refused(heatsolve(tmp_path, text, command="run"), 2, ["case.cfg: materials: missing; "])


@pytest.mark.parametrize("empty", ["( )", "[ ]"])
def test_an_empty_list_of_materials_is_refused(tmp_path, empty):
    text = f"{GOOD.splitlines()[0]}\nmaterials = {empty};\n" + GOOD[GOOD.index("body = (") :]
    assert_refused(heatsolve(tmp_path, text, command="run"), 2, ["case.cfg:2: materials: has no member; give what the body consists of"])


def test_contacts_without_a_body_are_refused(tmp_path):
    text = f"{GOOD.splitlines()[0]}\nmaterial = {{ diffusivity = 1e-4; }};\n" + GOOD[GOOD.index("contacts") :]
    text = text.replace('type = "robin"; h = 25.0; ambient = 293.15;', 'type = "fixed";')
    message = "case.cfg:3: contacts: are between materials of a body, which is missing; give materials and body, or remove it"
    assert_refused(heatsolve(tmp_path, text, command="run"), 2, [message])


def test_labels_that_cannot_be_read_are_all_that_is_said(tmp_path):
    write_files(tmp_path)
    text = changed(10, face('type = "reflective"; labels_file = "wrong.npy"; patches = ( { type = "fixed"; label = 1; } );'))
    result = heatsolve(tmp_path, text, command="run")
    assert_refused(result, 2, ["boundary.x_min.labels_file"])
    assert "patches[0]" not in result.stderr


EXTREMES = [
    (3, copper(density="1e-3", perfusion="{ rate = 1e308; reference = 1.0; }"), "", "case.cfg:5: body: no step is short enough, since a node exchanges too much heat; look at the units of the walls' h"),
    (12, "time = { sweeps = 5; step = 1e-320; };", "", "case.cfg:12: time.step: a step of 9.99989e-321 s over a heat capacity of "),
    (8, 'contacts = ( { between = ["copper", "wood"]; resistance = 1e308; } );', "", "case.cfg:5: body: a node has a heat capacity of "),
    (3, copper(density="1e36", perfusion="{ rate = 1e43; reference = 1.0; }"), 'precision = "float";\n', "W/K by convection and perfusion; with a step of "),
]


@pytest.mark.parametrize("line, replacement, more, message", EXTREMES, ids=["no step", "step", "contact", "float"])
def test_what_no_number_can_hold_is_refused_with_its_place(tmp_path, line, replacement, more, message):
    text = changed(line, replacement) + more
    assert_refused(heatsolve(tmp_path, text, command="run"), 2, [message])


def test_a_perfusion_that_overflows_is_refused_however_few_its_steps(tmp_path):
    """The rate is 2.6e305 / s: the steps are finite numbers, but the heat that it takes in a second overflows."""
    text = changed(3, copper(density="1.0", perfusion="{ rate = 1e308; reference = 1.0; }"))
    text = text.replace("end = 10.0", "sweeps = 5")
    message = "case.cfg:5: body: a node has a heat capacity of 3.85 J/K and conducts "
    assert_refused(heatsolve(tmp_path, text, command="run"), 2, [message, "look at the units"])


@pytest.mark.parametrize("key, text", [
    ("materials[0].perfusion.rate = 3.0", "is in W/(m^3 K)"),
    ("contacts[0].resistance = 2e-05", "is in m^2 K/W"),
])
def test_what_is_in_watts_needs_more_than_a_diffusivity(tmp_path, key, text):
    """With a diffusivity alone a m^3 once counted as 1 J/K, and a contact of 2e-5 m^2 K/W had no effect."""
    lines = GOOD.splitlines()
    sink = " perfusion = { rate = 3.0; reference = 0.0; };" if "perfusion" in key else ""
    lines[2] = '    { name = "copper"; diffusivity = 1e-4;%s },' % sink
    lines[3] = '    { name = "wood"; diffusivity = 1e-6; } );'
    lines[7] = "" if sink else 'contacts = ( { between = ["copper", "wood"]; resistance = 2e-05; } );'
    lines[9] = "};"
    result = heatsolve(tmp_path, "\n".join(lines) + "\n")
    remedy = "give conductivity, density and specific_heat of the materials instead of diffusivity"
    assert result.returncode == 2
    assert result.stderr == f"heatsolve: case.cfg:{3 if sink else 8}: {key}: {text}; {remedy}\n"


@pytest.mark.parametrize("radius, seen", [(1e-15, False), (1e-4, True)])  # cells of 0.1 m
def test_a_shape_that_the_grid_does_not_see_is_told_as_that(tmp_path, radius, seen):
    result = heatsolve(tmp_path, changed(7, solid(f'material = "wood"; shape = "sphere"; centre = [0.25, 0.26]; radius = {radius};')))
    told = "material wood is nowhere in the body; other shapes hide its own, or these are too small for the grid"
    assert (told in result.stdout.decode() + result.stderr) == (not seen)


def test_a_material_that_is_never_used_is_a_warning(tmp_path):
    text = with_body('body = ( { material = "copper"; } );').replace('contacts = ( { between = ["copper", "wood"]; resistance = 2e-5; } );\n', "")
    result = heatsolve(tmp_path, text)
    assert result.returncode == 0, result.stderr
    assert b"warning" in result.stdout and b"wood" in result.stdout, result.stdout
    covered = with_body('body = ( { material = "wood"; shape = "box"; lower = [0.0, 0.0]; upper = [0.1, 0.1]; },\n { material = "copper"; } );')
    result = heatsolve(tmp_path, covered)
    assert result.returncode == 0 and b"warning" in result.stdout and b"wood" in result.stdout, result.stdout


@pytest.mark.parametrize("radius, k, warns", [(0.3, 401.0, True), (0.36, 401.0, False), (0.3, 0.01, False)])
def test_a_thin_round_conductor_is_a_warning(tmp_path, radius, k, warns):
    """A pipe in cells of 0.1 m: heat that flows along its wall needs two of them. An insulating wall may be thinner."""
    pipe = [f'{{ material = "{name}"; shape = "cylinder"; centre = [0.8, 0.4]; radius = {r}; }}' for name, r in (("copper", radius), ("wood", 0.15))]
    text = with_body(f'body = ( {{ material = "wood"; }}, {", ".join(pipe)} );').replace("401.0", str(k))
    result = heatsolve(tmp_path, text)
    assert result.returncode == 0, result.stderr
    told = b"body: a round layer of copper is 0.15 m thick, less than two cells of 0.1 m"
    assert (told in result.stdout) == warns, result.stdout


def test_one_material_alone_keeps_its_warnings_and_their_place(tmp_path):
    text = with_body('body = ( { material = "copper"; } );').replace('contacts = ( { between = ["copper", "wood"]; resistance = 2e-5; } );\n', "")
    result = heatsolve(tmp_path, text.replace("specific_heat = 385.0", "specific_heat = 0.385"))
    assert b"case.cfg:3: materials[0].specific_heat = 0.385: less than any material has; was it in kJ/(kg K)?" in result.stdout


ODD = [
    (3, copper(specific_heat="0.385"), "materials[0].specific_heat = 0.385: less than any material has; was it in kJ/(kg K)?"),
    (3, copper(density="8.96e6"), "materials[0].density = 8.96e6: more than any metal has; look at the unit"),
    (4, WOOD.replace("0.12", "1e-4"), "materials[1].conductivity = 1e-4: less than any gas conducts; look at the unit"),
    (4, WOOD.replace("0.12", "[9e4, 0.12]"), "materials[1].conductivity: more than diamond conducts; look at the unit"),
]


@pytest.mark.parametrize("line, replacement, message", ODD, ids=[m for l, r, m in ODD])
def test_an_odd_number_of_a_material_has_its_place(tmp_path, line, replacement, message):
    result = heatsolve(tmp_path, changed(line, replacement))
    assert result.returncode == 0 and f"case.cfg:{line}: {message}".encode() in result.stdout, result.stdout


def test_an_odd_number_of_a_body_of_one_material_has_its_place(tmp_path):
    text = "grid = { x = [0.0, 0.1, 0.3, 0.6]; };\nmaterial = {\n conductivity = 401.0; density = 8960.0;\n specific_heat = 0.385; };\n"
    text += 'initial = { value = 300.0; };\nboundary = { all = { type = "reflective"; }; };\ntime = { end = 1.0; };\n'
    result = heatsolve(tmp_path, text)
    assert b"case.cfg:4: material.specific_heat = 0.385: less than any material has; was it in kJ/(kg K)?" in result.stdout, result.stdout


def test_one_material_alone_is_none_of_a_raw_stencil(tmp_path):
    text = with_body('body = ( { material = "copper"; } );').replace("radius = 1;", "c0 = 0.5; c1 = 0.1; c2 = 0.1; c3 = 0.1; c4 = 0.2;")
    assert_refused(heatsolve(tmp_path, text, command="run"), 2, ["stencil: raw coefficients are of a stencil"])


def write_labels(directory):
    cells = np.zeros((8, 16), np.uint8)
    cells[2:4, 3:5] = 1
    np.save(directory / "cells.npy", cells)
    np.save(directory / "nodes.npy", np.zeros((9, 17), np.uint16))
    np.save(directory / "turned.npy", cells.T)
    np.save(directory / "one.npy", np.zeros(9, np.uint8))
    np.save(directory / "half.npy", cells + 0.5)
    np.save(directory / "below.npy", cells.astype(np.int32) - 1)
    np.save(directory / "many.npy", np.tile(np.arange(17, dtype=np.uint8), (9, 1)))
    odd = np.zeros((9, 17), np.int32)
    odd[3, 3:7] = [70000, 9, -2, 9]
    np.save(directory / "odd.npy", odd)
    three = cells.copy()
    three[7, 7] = 7
    np.save(directory / "three.npy", three)
    with h5py.File(directory / "labels.h5", "w") as f:
        f["label"] = cells
        f["other"] = cells.T


BOTH = 'names = ["copper", "wood"];'
LABELS = {
    "turned": ('file = "turned.npy"; ' + BOTH, ["case.cfg:5: body[0].file = \"turned.npy\": ", "the grid is 9 x 17 (y, x)", "the grid of its cells is 8 x 16 (y, x)"]),
    "one axis": ('file = "one.npy"; ' + BOTH, ["case.cfg:5: body[0].file = \"one.npy\": ", "the grid is 9 x 17 (y, x)", "the grid of its cells is 8 x 16 (y, x)"]),
    "turned in HDF5": ('file = "labels.h5"; dataset = "other"; ' + BOTH, ["case.cfg:5: ", "the grid is 9 x 17 (y, x)", "the grid of its cells is 8 x 16 (y, x)"]),
    "unnamed": ('file = "three.npy"; ' + BOTH, ["case.cfg:5: body[0].file = \"three.npy\": the file has labels without a name: 7 (1 cell); give them names, or the labels that names stand for"]),
    "halves": ('file = "half.npy"; ' + BOTH, ["case.cfg:5: body[0].file = \"half.npy\": the file has numbers that are no labels: 0.5 (124 cells), 1.5 (4 cells); labels are whole numbers from 0 to 65535"]),
    "below 0": ('file = "below.npy"; ' + BOTH, ["case.cfg:5: body[0].file = \"below.npy\": the file has numbers that are no labels: -1 (124 cells); "]),
    "many unnamed": ('file = "many.npy"; ' + BOTH, ["case.cfg:5: body[0].file = \"many.npy\": the file has labels without a name: 2 (9 nodes), 3 (9 nodes), 4 (9 nodes), 5 (9 nodes), 6 (9 nodes), 7 (9 nodes), 8 (9 nodes), 9 (9 nodes) and 7 more; give them names"]),
    "of both kinds": ('file = "odd.npy"; ' + BOTH, ["odd.npy\": the file has numbers that are no labels: -2 (1 node), 70000 (1 node); labels are whole numbers from 0 to 65535; and labels without a name: 9 (2 nodes)"]),
    "no names": ('file = "cells.npy";', ['case.cfg:5: body[0].names: missing; give the materials of the labels, as in ["air", "copper"]']),
    "unknown name": ('file = "cells.npy"; names = ["copper", "would"];', ['case.cfg:5: body[0].names[1] = "would": no material has this name']),
    "labels and names": ('file = "cells.npy"; labels = [0]; ' + BOTH, ["case.cfg:5: body[0].labels: has 1 number for 2 names; give one for each"]),
    "label twice": ('file = "cells.npy"; labels = [1, 1]; ' + BOTH, ["case.cfg:5: body[0].labels[1] = 1: "]),
    "label too large": ('file = "cells.npy"; labels = [0, 70000]; ' + BOTH, ["case.cfg:5: body[0].labels[1] = 70000: must be 0 to 65535"]),
    "material, too": ('file = "cells.npy"; material = "wood"; ' + BOTH, ['case.cfg:5: body[0].material = "wood": the materials of a label field are given by names; remove this']),
    "shape, too": ('file = "cells.npy"; shape = "box"; ' + BOTH, ['case.cfg:5: body[0].shape = "box": a label field has no shape; remove this']),
    "lower, too": ('file = "cells.npy"; lower = [0.0, 0.0]; ' + BOTH, ["case.cfg:5: body[0].lower: "]),
    "second member": ('file = "cells.npy"; ' + BOTH + ' }, { material = "wood";', ["case.cfg:5: body[1]: a label field describes the whole body; remove the other members"]),
    "no dataset": ('file = "labels.h5"; dataset = "lable"; ' + BOTH, ["lable", "other"]),
}


@pytest.mark.parametrize("name", LABELS)
def test_bad_labels_are_refused(tmp_path, name):
    keys, messages = LABELS[name]
    write_labels(tmp_path)
    result = heatsolve(tmp_path, with_body("body = ( { " + keys + " } );"), command="run")
    assert_refused(result, 2, messages)
    assert ("the grid of its cells is 8 x 16 (y, x); its axes are the other way round: save it transposed" in result.stderr) == ("turned" in name)


@pytest.mark.parametrize("keys", ['file = "cells.npy"; ', 'file = "nodes.npy"; ', 'file = "labels.h5"; ', 'file = "three.npy"; labels = [0, 1, 7]; '])
def test_good_labels_are_taken(tmp_path, keys):
    write_labels(tmp_path)
    names = 'names = ["copper", "wood", "wood"];' if "labels =" in keys else BOTH
    result = heatsolve(tmp_path, with_body("body = ( { " + keys + names + " } );"))
    assert result.returncode == 0, result.stderr


def test_a_file_that_is_not_there(tmp_path):
    text = with_body('body = ( { file = "labels.npy"; ' + BOTH + " } );")
    assert_refused(heatsolve(tmp_path, text, command="run"), 3, ['case.cfg:5: body[0].file = "labels.npy": cannot open labels.npy'])
    for key in ("flux_table", "flux_file"):
        text = changed(10, face(f'type = "neumann"; {key} = "inflow.txt";'))
        for name in ("x_min", "all"):  # `all` reports it once, not once per face
            shared = text.replace("all = { type", "y_max = { type").replace("x_min", name)
            assert_refused(heatsolve(tmp_path, shared, command="run"), 3, [f'case.cfg:10: boundary.{name}.{key} = "inflow.txt": cannot open inflow.txt'])


ROWS = "{0}: is not two numbers; each line has a time in s and a number"
NUMBER = '{0}: "{1}" is not a decimal number; each line has a time in s and a number'


@pytest.mark.parametrize("text, said", [
    *((row + ",12.0\n60,13\n", NUMBER.format(1, row)) for row in ("0s", "O", "1d3", "nan", "inf", "0x10", "5L", '"0"', "-t")),
    ("0,1\n1,0x10\n", NUMBER.format(2, "0x10")),
    ("nan,-inf\n0,1\n", NUMBER.format(1, "nan")),
    ("1e999,12.0\n", '1: "1e999" is too large for a number; each line has'),
    ("-,12.0\n", '1: "-" is not a number; each line has'),
    ('"0","12"\n', NUMBER.format(1, '"0"') + ", without quotes"),
    ("date,T\n2020-01-01 00:00,12.0\n", ROWS.format(2) + ", no date or time of day"),
    ("0:05,12.0\n", NUMBER.format(1, "0:05") + ", no date or time of day"),
    ("t;T\n0;12,5\n", ROWS.format(2) + '; write the decimal point as "."'),
    ("0,5\t12,5\n", ROWS.format(1) + '; write the decimal point as "."'),
    ("0, 12, 5 # \"\n", ROWS.format(1) + "\n"),
    ("# of today\n\ntime T\ns K\n0 1\n", NUMBER.format(4, "s") + "\n"),
    ("\ufefft,T\n0,1\nt,T\n", NUMBER.format(3, "t")),
    ("0,1\n1,,10\n", ROWS.format(2)),
    ("0,1\n,1,20\n", ROWS.format(2)),
    ("0 1\n1 2\0 3\n", "2: is not text: it has a zero byte"),
    # the first line counts as a row
    ("\ufeff5,12.0\n4,13\n", "2: time 4 s is not after the line before"),
    ('"t [s]","T"\n5,12.0\n4,13\n', "3: time 4 s is not after the line before"),
])  # fmt: skip
def test_no_row_of_a_table_is_lost(tmp_path, text, said):
    (tmp_path / "rows.csv").write_text(text)
    result = heatsolve(tmp_path, changed(10, face('type = "neumann"; flux_table = "rows.csv";')), command="run")
    assert_refused(result, 2, ['boundary.x_min.flux_table = "rows.csv": rows.csv:' + said])


MEASURED = 'measured = { conductivity = { file = "k.npy"; }; capacity = { file = "c.npy"; }; };'
NUMBERS = {"k.npy": np.ones((9, 17)), "c.npy": np.full((9, 17), 2.0)}


@pytest.mark.parametrize("text, numbers, message", [
    (MEASURED, {"k.npy": np.zeros((9, 17))}, 'measured.conductivity.file = "k.npy": is 0 at node (0, 0), x = 0, y = 0 m; it must be above 0 everywhere'),
    (MEASURED, {"c.npy": -np.ones((9, 17))}, 'measured.capacity.file = "c.npy": is -1 at node (0, 0), x = 0, y = 0 m; it must be above 0 everywhere'),
    (MEASURED, {"k.npy": np.full((9, 17), np.nan)}, 'measured.conductivity.file = "k.npy": '),
    (MEASURED, {"k.npy": np.ones((8, 16))}, 'measured.conductivity.file = "k.npy": '),
    ('measured = { conductivity = { file = "k.npy"; }; };', {}, "measured.capacity: missing; give conductivity and capacity, each { file; dataset; }"),
    ('measured = { conductivity = { }; capacity = { file = "c.npy"; }; };', {}, "measured.conductivity.file: missing; give the file that has it"),
    (MEASURED + ' contacts = ( { between = ["a", "b"]; resistance = 1.0; } );', {}, "contacts: measured describes the whole body; remove one of the two"),
    (MEASURED + " material = { diffusivity = 1.0; };", {}, "material: measured is given too"),
])  # fmt: skip
def test_bad_measured_fields_are_refused(tmp_path, text, numbers, message):
    for name, field in {**NUMBERS, **numbers}.items():
        np.save(tmp_path / name, field)
    rest = GOOD[GOOD.index("boundary") :]
    result = heatsolve(tmp_path, GOOD.splitlines()[0] + "\n" + text + "\n" + rest, command="run")
    assert_refused(result, 2, [f"case.cfg:2: {message}"])
    for name, field in NUMBERS.items():
        np.save(tmp_path / name, field)
    good = heatsolve(tmp_path, GOOD.splitlines()[0] + "\n" + MEASURED + "\n" + rest)
    assert good.returncode == 0, good.stderr


def test_all_that_is_wrong_is_said_at_once(tmp_path):
    text = changed(3, copper(density="-1")).replace('"wood"; shape', '"would"; shape').replace("h = 25.0", "h = -25.0")
    result = heatsolve(tmp_path, text, command="run")
    assert_refused(result, 2, ["case.cfg:3: materials[0].density", "case.cfg:7: body[1].material", "case.cfg:10: boundary.x_min.h"])

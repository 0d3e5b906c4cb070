#include "input/templates.h"

#include <stddef.h>
#include <string.h>

static const char block3d[] =
    "// A block of copper, heated inside and cooled by convection on one face.\n"
    "// Units are SI; temperatures are in whatever unit you use. heatsolve options lists every "
    "key.\n"
    "title = \"Copper block\";\n"
    "precision = \"double\";              // or \"float\": half the memory, twice the speed\n"
    "\n"
    "// points: nodes along x, y, z, including those on the faces\n"
    "grid = { points = [65, 65, 65]; lower = [0.0, 0.0, 0.0]; upper = [0.1, 0.1, 0.1]; };\n"
    "material = { conductivity = 401.0; density = 8960.0; specific_heat = 385.0; };\n"
    "stencil = { radius = 1; };           // 2 or 3: central differences of order 4 or 6\n"
    "\n"
    "// The start: a value or an expression of x, y, z; regions lie over it\n"
    "initial = {\n"
    "    value = 300.0;\n"
    "    regions = ( { shape = \"sphere\"; centre = [0.05, 0.05, 0.05]; radius = 0.02;\n"
    "                  value = 400.0; } );\n"
    "};\n"
    "source = { expression = \"1e6*exp(-t)\"; };    // W/m^3\n"
    "\n"
    "// all faces, then those that differ. Kinds: fixed, dirichlet (value), neumann (flux or\n"
    "// gradient), robin (h, ambient), periodic, reflective, clamp, constant (value)\n"
    "boundary = {\n"
    "    all   = { type = \"reflective\"; };\n"
    "    z_max = { type = \"robin\"; h = 750.0; ambient = 273.15; };\n"
    "};\n"
    "\n"
    "time = { end = 2.0; };               // s; the step is chosen by the stability limit\n"
    "// overwrite: run again, it replaces the file; take that out for a run worth keeping\n"
    "output = { file = \"block3d.h5\"; interval = 0.5; overwrite = true; };\n"
    "probes = ( { name = \"centre\"; at = [0.05, 0.05, 0.05]; },\n"
    "           { name = \"top\";    at = [0.05, 0.05, 0.1]; } );\n";

static const char plate2d[] =
    "// A steel plate with a warm edge, a cold edge, a heated disc and two insulated edges.\n"
    "title = \"Plate\";\n"
    "grid = { points = [201, 101]; upper = [0.2, 0.1]; };     // lower is 0 by default\n"
    "material = { conductivity = 14.9; density = 7900.0; specific_heat = 477.0; };\n"
    "\n"
    "initial = {\n"
    "    value = 293.0;\n"
    "    // across a plane grid a cylinder along z is a disc\n"
    "    regions = ( { shape = \"cylinder\"; centre = [0.1, 0.05]; radius = 0.02; value = 350.0; } "
    ");\n"
    "};\n"
    "boundary = {\n"
    "    all   = { type = \"reflective\"; };                    // insulated\n"
    "    // a boundary value may vary in space and time\n"
    "    x_min = { type = \"dirichlet\"; value = \"293 + 30*sin(2*pi*t/60)*sin(pi*y/0.1)\"; };\n"
    "    x_max = { type = \"dirichlet\"; value = 293.0; };\n"
    "};\n"
    "\n"
    "time = { end = 120.0; };\n"
    "output = { file = \"plate2d.h5\"; interval = 10.0; overwrite = true; };\n";

static const char rod1d[] =
    "// A rod whose ends are held at 0, from a sine: the solution is known, so the run checks "
    "itself.\n"
    "title = \"Rod\";\n"
    "grid = { points = [101]; upper = [1.0]; };\n"
    "material = { diffusivity = 1e-4; };  // m^2/s, instead of conductivity, density, "
    "specific_heat\n"
    "initial = { expression = \"sin(pi*x)\"; };\n"
    "boundary = { all = { type = \"dirichlet\"; value = 0.0; }; };\n"
    "time = { end = 1000.0; };\n"
    "output = { file = \"rod1d.h5\"; interval = 100.0; overwrite = true; };\n"
    "\n"
    "// measured at every snapshot; a larger error at the end makes the run fail (exit code 1)\n"
    "exact = { expression = \"exp(-1e-4*pi^2*t)*sin(pi*x)\"; max_error = 1e-4; };\n";

static const char raw[] =
    "// The textbook's sweep: seven coefficients, the outermost cells fixed.\n"
    "// out = c0*in + c1*in(x-1) + c2*in(x+1) + c3*in(y-1) + c4*in(y+1) + c5*in(z-1) + c6*in(z+1)\n"
    "title = \"Seven-point sweep\";\n"
    "precision = \"float\";\n"
    "grid = { points = [120, 120, 120]; };                    // spacing is 1 by default\n"
    "stencil = { c0 = 0.4; c1 = 0.1; c2 = 0.1; c3 = 0.1; c4 = 0.1; c5 = 0.1; c6 = 0.1; };\n"
    "initial = {\n"
    "    value = 0.0;\n"
    "    regions = ( { shape = \"box\"; lower = [40, 40, 40]; upper = [80, 80, 80]; value = 100.0; "
    "} );\n"
    "};\n"
    "boundary = { all = { type = \"fixed\"; }; };\n"
    "time = { sweeps = 200; };            // raw coefficients include the step\n"
    "output = { file = \"raw-stencil.h5\"; every = 50; overwrite = true; };\n";

static const char steady[] =
    "// A plate held at 0 on three edges and warm on the fourth, until nothing changes any more.\n"
    "title = \"Plate, steady\";\n"
    "grid = { points = [65, 65]; upper = [1.0, 1.0]; };\n"
    "material = { diffusivity = 1.0; };\n"
    "initial = { value = 0.0; };\n"
    "boundary = {\n"
    "    all   = { type = \"dirichlet\"; value = 0.0; };\n"
    "    y_max = { type = \"dirichlet\"; value = \"100*sin(pi*x)\"; };\n"
    "};\n"
    "\n"
    "// stops when no node changes by more than the tolerance in a sweep; heatsolve check says how "
    "far\n"
    "// from the steady state that leaves it; sweeps is the maximum\n"
    "steady = { tolerance = 1e-8; check_every = 100; };\n"
    "time = { sweeps = 100000; };\n"
    "output = { file = \"steady.h5\"; overwrite = true; };  // the first and the last state\n"
    "\n"
    "exact = { expression = \"100*sin(pi*x)*sinh(pi*y)/sinh(pi)\"; max_error = 0.05; };\n";

const struct hs_template hs_templates[] = {
    {"block3d", "3D block with a heat source, a hot core and convection on one face", block3d},
    {"plate2d", "2D plate, boundary values that vary in space and time", plate2d},
    {"rod1d", "1D rod with a known solution that the run is checked against", rod1d},
    {"raw-stencil", "the textbook's 7-point sweep with coefficients of your own", raw},
    {"steady", "2D plate to its steady state", steady},
    {NULL, NULL, NULL},
};

const struct hs_template *hs_template_find(const char *name)
{
    for (const struct hs_template *template = hs_templates; template->name; template ++)
        if (strcmp(template->name, name) == 0)
            return template;
    return NULL;
}

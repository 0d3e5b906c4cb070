/* title, precision, solver, output, checkpoint and probes. */
#include "input/config_reader.h"

#include "core/disk.h"
#include "core/memory.h"
#include "core/regular.h"
#include "core/text.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* The config's name with .h5, in the working directory. */
static char *default_file(const char *config)
{
    const char *name = hs_file_name(config), *dot = strrchr(name, '.');
    const int length = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
    return hs_format("%.*s.h5", length, name);
}

/* By these endings others, and heatsolve itself, would take the output for what it is not. */
static const char not_hdf5[] =
    "csv|json|mp4|npy|npz|pdf|png|svg|txt|vti|vtk|vtr|vts|vtu|webm|xdmf|xmf";

/* The output gets its name by renaming, which would replace any existing file. */
static void check_file(struct hs_reader *reader)
{
    const struct hs_problem *problem = reader->problem;
    const char *file = problem->output.file, *dot = strrchr(file, '.');
    struct stat status;
    if (file[0] == '\0' || file[strlen(file) - 1] == '/' ||
        (stat(file, &status) == 0 && !S_ISREG(status.st_mode)))
        hs_complain(reader, "output.file",
                    "is empty, a folder, a device or a pipe; give the name of the file to write");
    else if (strncmp(file, "~/", 2) == 0)
        hs_complain(reader, "output.file", "~ is not expanded here; write the path out");
    else if (strlen(file) > 5 && strcmp(file + strlen(file) - 5, ".part") == 0)
        hs_complain(
            reader, "output.file",
            "ends in .part, as unfinished files do, which the next run removes; give another name");
    else if (dot && hs_text_is_among(dot + 1, not_hdf5))
        hs_complain(reader, "output.file",
                    "ends in %s, but a run writes an HDF5 file; end the name in .h5", dot);
    for (int i = 0; i < problem->input_count; i++) {
        const char *key = problem->inputs[i].key;
        if (hs_regular_same(file, problem->inputs[i].path))
            hs_complain(reader, "output.file",
                        key[0] ? "is the file that %s reads; give another name"
                               : "is the config itself; give another name",
                        key);
    }
}

static void read_file(struct hs_reader *reader)
{
    struct hs_problem *problem = reader->problem;
    if (hs_given(reader, "output.file"))
        problem->output.file = hs_read_string(reader, "output.file");
    else
        problem->output.file = default_file(problem->config_path);
    hs_keep_place(reader, HS_PLACE_OUTPUT, "output.file");
    if (problem->output.file)
        check_file(reader);
    problem->output.overwrite = hs_settings_flag(reader->settings, "output.overwrite");
    int64_t level;
    if (hs_settings_count(reader->settings, "output.compression", &level))
        problem->output.compression = (int)level;
    hs_settings_number(reader->settings, "checkpoint.every_minutes",
                       &problem->output.checkpoint_minutes);
}

static void read_solver(struct hs_reader *reader)
{
    struct hs_solver_choice *solver = &reader->problem->solver;
    solver->backend = hs_read_string(reader, "solver.backend");
    solver->kernel = hs_read_string(reader, "solver.kernel");
    int64_t number;
    if (hs_settings_count(reader->settings, "solver.device", &number))
        solver->device = (int)number;
    if (hs_settings_count(reader->settings, "solver.threads", &number))
        solver->threads = (int)number;
    solver->overlap = hs_settings_flag(reader->settings, "solver.overlap");
}

/* ---- probes ---------------------------------------------------------------------------------- */

enum { MOST_NAME = 255 }; /* bytes, as for file names */

static void read_name(struct hs_reader *reader, int index)
{
    const struct hs_key key = hs_key("probes[%d].name", index);
    struct hs_probe *probes = reader->problem->probes;
    if (!hs_require(reader, key.text, "give the probe a name"))
        return;
    char *name = probes[index].name = hs_read_string(reader, key.text);
    if (!name)
        return;
    if (name[0] == '\0' || strpbrk(name, "/,") || strcmp(name, ".") == 0)
        hs_complain(reader, key.text,
                    "cannot be the name of a dataset and of a curve; give one without \"/\" "
                    "and \",\"");
    if (strlen(name) > MOST_NAME)
        hs_complain(reader, key.text, "is %zu bytes long; give a name of at most %d", strlen(name),
                    MOST_NAME);
    if (strcmp(name, "time") == 0 || strcmp(name, "sweep") == 0)
        hs_complain(reader, key.text,
                    "is taken: /probes/%s belongs to the rows themselves; give another name", name);
    for (int i = 0; i < index; i++)
        if (probes[i].name && strcmp(probes[i].name, name) == 0)
            hs_complain(reader, key.text, "probes[%d] has the same name; give each its own", i);
}

/* Finds the nearest node; a periodic axis extends to where it repeats. */
static void place_probe(struct hs_reader *reader, const char *key, struct hs_probe *probe)
{
    const struct hs_problem *problem = reader->problem;
    const struct hs_grid *grid = &problem->grid;
    for (int axis = 0; axis < grid->dims; axis++) {
        const int64_t n = grid->points[axis];
        const bool wraps = problem->face[2 * axis].wrap;
        const double place = hs_grid_place(grid, axis, wraps, probe->at[axis]);
        const int64_t last = wraps ? n : n - 1;
        const double slack = 1e-6; /* of a cell: 0.1 may be a rounding beyond 100 * 0.001 */
        if (!(place >= -slack && place <= (double)last + slack)) {
            hs_complain(reader, key, "lies outside the grid along %c; give a place from %g to %g m",
                        "xyz"[axis], hs_grid_coordinate(grid, axis, 0),
                        hs_grid_coordinate(grid, axis, last));
            return;
        }
        const int64_t node = (int64_t)floor(place + 0.5);
        probe->node[axis] = wraps && node == n ? 0 : node;
    }
}

static void read_probe(struct hs_reader *reader, int index)
{
    struct hs_probe *probe = &reader->problem->probes[index];
    const struct hs_key key = hs_key("probes[%d].at", index);
    read_name(reader, index);
    if (hs_require(reader, key.text, "give its coordinates in m") &&
        hs_read_per_axis(reader, key.text, false, probe->at) && reader->space_known)
        place_probe(reader, key.text, probe);
}

static void read_probes(struct hs_reader *reader)
{
    struct hs_problem *problem = reader->problem;
    const int count = hs_settings_length(reader->settings, "probes");
    if (count == 0)
        return;
    problem->probes = hs_new((size_t)count * sizeof *problem->probes);
    problem->probe_count = count;
    for (int i = 0; i < count; i++) {
        struct hs_key key;
        if (hs_member(reader, "probes", i, &key))
            read_probe(reader, i);
    }
}

void hs_read_output(struct hs_reader *reader)
{
    read_solver(reader);
    read_file(reader);
    read_probes(reader);
}

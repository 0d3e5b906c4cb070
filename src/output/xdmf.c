/* For the readers of ParaView 5.11: version 2.0; 3D grids even for 1D and 2D fields; origin,
 * spacing and dimensions from z to x. Each data item gives a step of the dataset twice: the "XDMF
 * Reader" uses its Type and the hyperslab in it; the two "Xdmf3 Readers" ignore Type and use the
 * text, in which their own hyperslab syntax follows the name. */
#include "output/xdmf.h"

#include "output/beside.h"
#include "output/files.h"

#include <stdio.h>
#include <stdlib.h>

/* A file in the same directory. Without "./" the "XDMF Reader" takes some first letters for a
 * blank. */
static void put_name(FILE *out, const char *text)
{
    fputs("./", out);
    for (; *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        default: fputc(*text, out);
        }
}

/* The dataset's extent, steps first. */
static void put_extent(FILE *out, const struct hs_grid *grid, int64_t steps)
{
    fprintf(out, "%lld", (long long)steps);
    for (int axis = grid->dims - 1; axis >= 0; axis--)
        fprintf(out, " %lld", (long long)grid->points[axis]);
}

/* Start, stride and count of a step, separated by `between`. */
static void put_selection(FILE *out, const struct hs_grid *grid, int64_t step, const char *between)
{
    fprintf(out, "%lld", (long long)step);
    for (int axis = 0; axis < grid->dims; axis++)
        fputs(" 0", out);
    fprintf(out, "%s1", between);
    for (int axis = 0; axis < grid->dims; axis++)
        fputs(" 1", out);
    fputs(between, out);
    put_extent(out, grid, 1);
}

static void put_data(FILE *out, const char *name, const struct hs_grid *grid, size_t size,
                     int64_t rows, int64_t step)
{
    put_name(out, name);
    fputs(":/temperature|", out);
    put_selection(out, grid, step, ":");
    fputc(':', out);
    put_extent(out, grid, rows);
    fprintf(out, "\n      <DataItem Dimensions=\"3 %d\" Format=\"XML\">\n       ", grid->dims + 1);
    put_selection(out, grid, step, "\n       ");
    fputs("\n      </DataItem>\n      <DataItem Dimensions=\"", out);
    put_extent(out, grid, rows);
    fprintf(out, "\" NumberType=\"Float\" Precision=\"%zu\" Format=\"HDF\">", size);
    put_name(out, name);
    fputs(":/temperature</DataItem>\n", out);
}

static void put_spacing(FILE *out, const struct hs_grid *grid)
{
    fprintf(out,
            "    <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n"
            "     <DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">"
            "%.17g %.17g %.17g</DataItem>\n"
            "     <DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">"
            "%.17g %.17g %.17g</DataItem>\n"
            "    </Geometry>\n",
            grid->lower[HS_Z], grid->lower[HS_Y], grid->lower[HS_X], grid->spacing[HS_Z],
            grid->spacing[HS_Y], grid->spacing[HS_X]);
}

/* Coordinates of a stretched grid, from x to z; from the file except for axes that it lacks. */
static void put_coordinates(FILE *out, const char *name, const struct hs_grid *grid)
{
    fputs("    <Geometry GeometryType=\"VXVYVZ\">\n", out);
    for (int axis = 0; axis < HS_AXES; axis++) {
        fprintf(out,
                "     <DataItem Dimensions=\"%lld\" NumberType=\"Float\" Precision=\"8\" "
                "Format=\"%s\">",
                (long long)grid->points[axis], axis < grid->dims ? "HDF" : "XML");
        if (axis < grid->dims) {
            put_name(out, name);
            fprintf(out, ":/%c", "xyz"[axis]);
        } else
            fputc('0', out);
        fputs("</DataItem>\n", out);
    }
    fputs("    </Geometry>\n", out);
}

static void put_step(FILE *out, const char *name, const struct hs_grid *grid, size_t size,
                     const struct hs_series *snapshots, int64_t step)
{
    char points[80];
    snprintf(points, sizeof points, "%lld %lld %lld", (long long)grid->points[HS_Z],
             (long long)grid->points[HS_Y], (long long)grid->points[HS_X]);
    fprintf(out,
            "   <Grid Name=\"temperature\" GridType=\"Uniform\">\n"
            "    <Time Value=\"%.17g\"/>\n"
            "    <Topology TopologyType=\"%s\" Dimensions=\"%s\"/>\n",
            snapshots->columns[HS_SERIES_TIME].values[step],
            hs_grid_is_stretched(grid) ? "3DRectMesh" : "3DCoRectMesh", points);
    if (hs_grid_is_stretched(grid))
        put_coordinates(out, name, grid);
    else
        put_spacing(out, grid);
    fprintf(out,
            "    <Attribute Name=\"temperature\" AttributeType=\"Scalar\" Center=\"Node\">\n"
            "     <DataItem Type=\"HyperSlab\" Dimensions=\"%s\" NumberType=\"Float\" "
            "Precision=\"%zu\" Format=\"HDF\">",
            points, size);
    put_data(out, name, grid, size, snapshots->rows, step);
    fputs("     </DataItem>\n"
          "    </Attribute>\n"
          "   </Grid>\n",
          out);
}

enum hs_status hs_xdmf_write(const char *file, const struct hs_grid *grid, size_t size,
                             const struct hs_series *snapshots, struct hs_error *err)
{
    char *text = NULL, *path = hs_file_sibling(file, ".xdmf");
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    fputs("<?xml version=\"1.0\" ?>\n"
          "<Xdmf Version=\"2.0\">\n"
          " <!-- made by heatsolve, which replaces it with the HDF5 file named below -->\n"
          " <Domain>\n"
          "  <Grid Name=\"run\" GridType=\"Collection\" CollectionType=\"Temporal\">\n",
          out);
    for (int64_t step = 0; step < snapshots->rows; step++)
        put_step(out, hs_file_name(file), grid, size, snapshots, step);
    fputs("  </Grid>\n </Domain>\n</Xdmf>\n", out);
    const bool whole = fclose(out) == 0; /* many snapshots need much memory */
    const enum hs_status st = whole ? hs_beside_replace(path, HS_EXISTING_SIDECAR, text, err)
                                    : hs_error_add(err, HS_DEVICE, "no memory for the .xdmf file");
    free(text);
    free(path);
    return st;
}

/* Source: the VTK File Formats document, section VTKHDF: ImageData, version 2.0; RectilinearGrid,
 * version 2.7. */
#include "output/vtkhdf.h"

#include "core/memory.h"
#include "output/field_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const coordinates[HS_AXES] = {"XCoordinates", "YCoordinates", "ZCoordinates"};

/* Readers require an ASCII string of fixed length without padding. */
static void put_type(struct hs_h5 *h5, hid_t group, const char *name)
{
    const hid_t type = hs_h5_made(h5, H5Tcopy(H5T_C_S1), "Type");
    hs_h5_made(h5, H5Tset_size(type, strlen(name)), "Type");
    hs_h5_made(h5, H5Tset_strpad(type, H5T_STR_NULLPAD), "Type");
    hs_h5_array(h5, group, "Type", type, type, 0, name);
    hs_h5_close(type);
}

static void describe_image(struct hs_h5 *h5, hid_t group, const struct hs_grid *grid)
{
    static const int64_t version[2] = {2, 0};
    static const double direction[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    int extent[2 * HS_AXES];
    for (int axis = 0; axis < HS_AXES; axis++) {
        extent[2 * axis] = 0;
        extent[2 * axis + 1] = (int)(grid->points[axis] - 1);
    }
    hs_h5_array(h5, group, "Version", H5T_NATIVE_INT64, H5T_STD_I64LE, 2, version);
    hs_h5_array(h5, group, "WholeExtent", H5T_NATIVE_INT, H5T_STD_I32LE, 6, extent);
    hs_h5_numbers(h5, group, "Origin", 3, grid->lower);
    hs_h5_numbers(h5, group, "Spacing", 3, grid->spacing);
    hs_h5_numbers(h5, group, "Direction", 9, direction);
    put_type(h5, group, "ImageData");
}

/* A stretched grid. The coordinates are copies: xarray does not open a file in which a dimension
 * scale has two names. */
static void describe_rectilinear(struct hs_h5 *h5, hid_t group, const struct hs_grid *grid)
{
    static const int64_t version[2] = {2, 7};
    int points[HS_AXES];
    for (int axis = 0; axis < HS_AXES; axis++) {
        hs_h5_close(hs_h5_axis(h5, group, coordinates[axis], grid, axis));
        points[axis] = (int)grid->points[axis];
    }
    hs_h5_array(h5, group, "Version", H5T_NATIVE_INT64, H5T_STD_I64LE, 2, version);
    hs_h5_array(h5, group, "Dimensions", H5T_NATIVE_INT, H5T_STD_I32LE, 3, points);
    put_type(h5, group, "RectilinearGrid");
}

static void steps(struct hs_h5 *h5, hid_t group, const struct hs_grid *grid,
                  const struct hs_series *snapshots)
{
    const int64_t rows = snapshots->rows;
    const hid_t at = hs_h5_group(h5, group, "Steps");
    hs_h5_whole(h5, at, "NSteps", rows);
    hs_h5_close(hs_h5_column(h5, at, "Values", rows, snapshots->columns[HS_SERIES_TIME].values,
                             HS_H5_GROWS));
    const hid_t offsets = hs_h5_group(h5, at, "PointDataOffsets");
    double *numbers = hs_new((size_t)rows * sizeof *numbers);
    for (int64_t i = 0; i < rows; i++)
        numbers[i] = (double)i;
    hs_h5_close(hs_h5_column(h5, offsets, "temperature", rows, numbers, HS_H5_WHOLE));
    hs_h5_close(offsets);
    memset(numbers, 0, (size_t)rows * sizeof *numbers); /* all steps have the same coordinates */
    for (int axis = 0; axis < HS_AXES && hs_grid_is_stretched(grid); axis++) {
        char name[32];
        snprintf(name, sizeof name, "%sOffsets", coordinates[axis]);
        hs_h5_close(hs_h5_column(h5, at, name, rows, numbers, HS_H5_WHOLE));
    }
    free(numbers);
    hs_h5_close(at);
}

/* VTK cannot read a series with one step: a single snapshot is a field without steps that shares
 * its bytes. */
static void field(struct hs_h5 *h5, hid_t root, hid_t data, const struct hs_chunks *chunks,
                  struct hs_image *image)
{
    if (chunks->steps == 1)
        hs_h5_close(hs_field_set(h5, data, "temperature", chunks, 0, image));
    else
        hs_h5_made(
            h5, H5Lcreate_hard(root, "temperature", data, "temperature", H5P_DEFAULT, H5P_DEFAULT),
            "/VTKHDF/PointData/temperature");
}

void hs_vtkhdf_write(struct hs_h5 *h5, hid_t root, const struct hs_chunks *chunks,
                     const struct hs_series *snapshots, struct hs_image *image)
{
    const hid_t group = hs_h5_group(h5, root, "VTKHDF");
    if (hs_grid_is_stretched(&chunks->grid))
        describe_rectilinear(h5, group, &chunks->grid);
    else
        describe_image(h5, group, &chunks->grid);
    const hid_t data = hs_h5_group(h5, group, "PointData");
    field(h5, root, data, chunks, image);
    hs_h5_close(data);
    if (chunks->steps > 1)
        steps(h5, group, &chunks->grid, snapshots);
    hs_h5_close(group);
}
